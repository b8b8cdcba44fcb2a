"""The base class of user errors."""

__all__ = ["UserError"]


class UserError(ValueError):
    """An invalid user input; the message names it, the expected value and the remedy.

    Commands show these errors as one line. Any other error is a bug in the program.
    """
