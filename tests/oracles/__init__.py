"""Reference implementations of the rules in plain Python, written from the rules pages alone."""
