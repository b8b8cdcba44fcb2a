"""Records: games of any kind as text, read, checked and played again."""
