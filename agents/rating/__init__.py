"""Ratings from results: a model of rankings, intervals that respect shared decks, sequential tests, a report.

Nothing here knows the rules of a game: results are who sat where, and in which order they finished. Ratings need SciPy,
which the modules that use it ask for; sequential tests do not, for training decides by them.
"""
