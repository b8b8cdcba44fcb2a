"""Players of Copenhagen: a greedy baseline, and the heuristic for the search players."""
