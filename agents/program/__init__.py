"""Programs as players, in any language, over standard input and output."""
