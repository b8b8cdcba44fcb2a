"""The error of this package."""

from helsinki_env.data import UserError

__all__ = ["GauntletError"]


class GauntletError(UserError):
    """An invalid gauntlet or certificate; the message gives the value found, the value expected and the remedy."""
