"""The error of this package."""

__all__ = ["GauntletError"]


class GauntletError(ValueError):
    """A gauntlet or a certificate that is none. The message names what was found, what is expected and the remedy."""
