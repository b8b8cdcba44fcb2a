"""The trained player: inputs -> network -> checkpoint -> player, alone and with search.

Only `network`, `checkpoint`, `pytorch`, `export` and what trains need PyTorch; an exported network plays without.
"""
