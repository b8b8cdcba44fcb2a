"""Ratings from results: a model of rankings, intervals that respect shared decks, sequential tests, a report.

Nothing here knows the rules of a game: results are who sat where, and in which order they finished.
"""

from agents.rating.errors import RatingError

try:
    import scipy  # noqa: F401  # asked for here once, for all modules
except ModuleNotFoundError as problem:
    raise RatingError(f"ratings need the module {problem.name}: pip install 'helsinki-env[arena]'") from problem
