"""Games of any kind as records, read, checked and played again: as text, as a film of pictures, as a page."""
