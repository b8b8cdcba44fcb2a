"""Players implemented as external programs in any language, which communicate over standard input and output."""
