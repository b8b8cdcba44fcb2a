"""Datasets of transitions for offline learning: Parquet shards with a dataset card, from recorded or new games.

``helsinki dataset`` writes a dataset, and `helsinki_env.dataset.reading.Dataset` reads it. A dataset folder contains:

========================  ====================================================================================
dataset.json, README.md   the dataset card: command, seed, versions, players, columns, and file checksums
data-00000.parquet        transitions, one row per action
games-00000.jsonl         the records of the same games
trajectories-00000.jsonl  the same games as OpenSpiel trajectories, if requested
========================  ====================================================================================

A shard is a fixed range of games, and its files depend only on the arguments. A resumed run writes the missing shards,
and the resulting folder is byte-identical to that of an uninterrupted run.
"""
