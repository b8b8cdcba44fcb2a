"""Position suites: test a player on single positions with known action values, instead of whole games."""

from helsinki_env.data import UserError

__all__ = ["PositionsError"]


class PositionsError(UserError):
    """An invalid suite or certificate; the message gives the value found, the value expected and the remedy."""
