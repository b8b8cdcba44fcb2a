"""Players specific to Helsinki: greedy, the heuristic's kernels, and a player that is forced to use a board action."""

LEVELS = (
    ("greedy", "Easy", "looks one turn ahead; wins 18 of 100 two-player games against Medium"),
    ("heuristic", "Medium", "plans its turn and the next; wins 82 of 100 two-player games against Easy"),
    ("net", "Hard", "a trained network; wins 89 of 100 two-player games against Medium"),
    ("net+search:100", "Hardest", "the network, thinking ahead; wins 62 of 100 two-player games against Hard"),
)
"""Computer opponents by level, from easy to hard: name, label, and strength (docs/strength.md)."""
