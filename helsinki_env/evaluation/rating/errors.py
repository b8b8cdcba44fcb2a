"""The error of this package."""

from helsinki_env.data import UserError

__all__ = ["RatingError"]


class RatingError(UserError):
    """Results that cannot be rated; the message gives the value found, the value expected and the remedy."""
