"""The rules once more for a graphics card: the same functions, compiled a second time."""
