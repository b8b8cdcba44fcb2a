"""Players of Copenhagen: a greedy baseline, and the heuristic for the search players."""

LEVELS = (
    ("greedy", "Easy", "takes the largest immediate gain; wins 5 of 100 two-player games against Medium"),
    ("heuristic", "Medium", "plans its turn; wins 95 of 100 two-player games against Easy"),
    ("net", "Hard", "a trained network; wins 95 of 100 two-player games against Medium"),
    ("net+search:50", "Hardest", "the network, thinking ahead; stronger than Hard (docs/ladder-copenhagen.md)"),
)
"""Computer opponents by level, from easy to hard: name, label, and strength (docs/strength.md)."""
