"""Balance study of Helsinki's action board, which tests which of its fifteen actions are too strong or too weak."""
