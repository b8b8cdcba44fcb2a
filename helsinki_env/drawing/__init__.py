"""Drawing tools for any game: a canvas, a palette, a stroke font, and the pieces on a table."""
