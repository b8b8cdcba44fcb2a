"""The error of this package."""

__all__ = ["RatingError"]


class RatingError(ValueError):
    """Results that cannot be rated. The message names what was found, what is expected, and the remedy."""
