"""The error of this package."""

from helsinki_env.data import UserError

__all__ = ["GauntletError"]


class GauntletError(UserError):
    """A gauntlet or a certificate that is none. The message names what was found, what is expected and the remedy."""
