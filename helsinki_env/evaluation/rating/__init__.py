"""Ratings from game results: a ranking model, intervals that account for shared deals, sequential tests and a report.

This package is independent of the game rules: a result consists of a seating and an order of finish. Ratings require
SciPy. Sequential tests, which training uses, do not.
"""

from helsinki_env.data import UserError

__all__ = ["RatingError"]


class RatingError(UserError):
    """Results that cannot be rated. The message states the value found, the value expected and a remedy."""
