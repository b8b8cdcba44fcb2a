"""Players implemented as external programs in any language, over standard input and output."""
