"""One game of any kind, move by move."""
