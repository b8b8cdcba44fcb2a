"""Gauntlets rate any player on a fixed scale, in games against fixed opponents on fixed deals."""

from helsinki_env.data import UserError

__all__ = ["GauntletError"]


class GauntletError(UserError):
    """Invalid gauntlet or certificate. The message states the value found, the value expected and a remedy."""
