"""Drawing tools for any game: a canvas, a palette, letters, and the pieces of a table."""
