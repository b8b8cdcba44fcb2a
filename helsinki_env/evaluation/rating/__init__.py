"""Ratings from results: a ranking model, intervals that account for shared deals, sequential tests, a report.

This package is independent of game rules: a result is a seating and an order of finish. Ratings require SciPy;
sequential tests, which training uses, do not.
"""

from helsinki_env.data import UserError

__all__ = ["RatingError"]


class RatingError(UserError):
    """Results that cannot be rated; the message gives value found, value expected and remedy."""
