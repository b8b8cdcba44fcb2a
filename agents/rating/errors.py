"""The error of this package."""

from helsinki_env.data import UserError

__all__ = ["RatingError"]


class RatingError(UserError):
    """Results that cannot be rated. The message names what was found, what is expected, and the remedy."""
