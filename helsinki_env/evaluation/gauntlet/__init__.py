"""The gauntlet: rate any player against fixed opponents on fixed deals, with one number on a fixed scale."""

from helsinki_env.data import UserError

__all__ = ["GauntletError"]


class GauntletError(UserError):
    """An invalid gauntlet or certificate; the message gives the value found, the value expected and the remedy."""
