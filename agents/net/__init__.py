"""The trained player: inputs -> network -> checkpoint -> player, alone and with search.

Only `network`, `checkpoint` and what trains them need PyTorch; an exported network plays without.
"""
