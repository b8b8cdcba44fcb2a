"""Players specific to Helsinki: greedy, the kernels of the heuristic, and a player forced to use an action."""
