"""User errors, and values in their messages: short and cheap for any input."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from reprlib import Repr


class UserError(ValueError):
    """An invalid user input; the message names it, the expected value and the remedy.

    Commands show these errors as one line. Any other error is a bug in the program.
    """


class _ShortRepr(Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 4, 100, 100, 60
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 8

    def repr_int(self, x: int, level: int) -> str:
        # Python raises ValueError when it converts integers of thousands of digits to text.
        return f"a number of {x.bit_length():,} bits" if x.bit_length() > 1000 else super().repr_int(x, level)


_REPR = _ShortRepr()


def short_repr(value: object) -> str:
    """Return the `repr` of a value, shortened to a readable length."""
    return shorten(_REPR.repr(value))


def shorten(text: object, most: int = 160) -> str:
    """Return a text, with its middle removed if it is longer than `most` characters."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[: most - 43]}...{whole[-40:]}"


def choices_text(known: Iterable[object], word: object) -> str:
    """Return the end of a message, ``"one of a, b, c"``, with suggestions if the word resembles a known one."""
    names = [str(name) for name in known]
    near = get_close_matches(word, names, n=2) if isinstance(word, str) and len(word) <= 100 else []
    listed = ", ".join(names) if len(names) <= 100 else f"{', '.join(names[:20])} and {len(names) - 20} more"
    return f"one of {shorten(listed, 800)}" + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")
