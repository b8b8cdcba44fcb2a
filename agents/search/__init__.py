"""Search players, which evaluate actions in determinizations of the game by playouts with the heuristic."""
