"""Position suites: test a player on single positions with known action values instead of whole games."""

from helsinki_env.data import UserError

__all__ = ["PositionsError"]


class PositionsError(UserError):
    """Invalid suite or certificate; the message gives value found, value expected and remedy."""
