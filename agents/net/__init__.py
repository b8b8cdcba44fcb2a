"""The trained player: inputs -> network -> checkpoint -> player, with and without search.

Only `network`, `checkpoint`, `export` and training need PyTorch. Exported networks run without it.
"""
