"""Position suites test a player on single positions with known action values instead of whole games."""

from helsinki_env.data import UserError

__all__ = ["PositionsError"]


class PositionsError(UserError):
    """Invalid suite or certificate. The message states the value found, the value expected and a remedy."""
