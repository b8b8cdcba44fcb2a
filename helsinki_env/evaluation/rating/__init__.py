"""Ratings from results: a ranking model, intervals that account for shared deals, sequential tests, a report.

This package is independent of game rules: a result is a seating and an order of finish. Ratings require SciPy, which
the modules import. Sequential tests do not, because training depends on them.
"""

from helsinki_env.data import UserError

__all__ = ["RatingError"]


class RatingError(UserError):
    """Results that cannot be rated; the message gives the value found, the value expected and the remedy."""
