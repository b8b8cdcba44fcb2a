"""Search for a balanced action board: the smallest change after which no action is too strong or too weak."""
