"""Search players: they evaluate actions in determinizations of the game, with playouts by the heuristic."""
