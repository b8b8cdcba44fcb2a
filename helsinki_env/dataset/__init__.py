"""Datasets of transitions for offline learning: Parquet shards with a card, from recorded games or from fresh play.

``helsinki dataset`` writes a dataset, `helsinki_env.dataset.reading.Dataset` reads it. A folder holds:

========================  ====================================================================================
dataset.json, README.md   the card: command, seed, versions, players, columns, and the checksum of each file
data-00000.parquet        transitions, one row for each action
games-00000.jsonl         the records of the same games
trajectories-00000.jsonl  the same games as OpenSpiel's trajectories, if asked for
========================  ====================================================================================

A shard is a fixed range of games, and its files depend only on the arguments. An interrupted run resumes with the
missing shards, and the folder is then byte for byte that of an uninterrupted run.
"""
