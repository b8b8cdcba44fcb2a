"""Players of Copenhagen: a greedy baseline, and the heuristic that the search players use."""
