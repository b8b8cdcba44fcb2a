"""The gauntlet: rate any player on a fixed scale, against fixed opponents on fixed deals."""

from helsinki_env.data import UserError

__all__ = ["GauntletError"]


class GauntletError(UserError):
    """Invalid gauntlet or certificate; the message gives value found, value expected and remedy."""
