"""The heuristic player: plans whole turns by a tuned evaluation, and guides the playouts of the search players."""
