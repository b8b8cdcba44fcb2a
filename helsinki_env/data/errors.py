"""The base class of the errors that users cause."""

__all__ = ["UserError"]


class UserError(ValueError):
    """Something that a user gave cannot be used; the message names it, what is expected, and the remedy.

    Commands show these errors as one line. Any other error is a fault of the program.
    """
