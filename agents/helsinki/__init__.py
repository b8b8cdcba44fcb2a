"""What only Helsinki has: its greedy player, the thinking of its heuristic, and a player forced to use an action."""
