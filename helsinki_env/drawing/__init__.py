"""What drawings of any game are made of: a canvas, a palette, letters, and the pieces of a table."""
