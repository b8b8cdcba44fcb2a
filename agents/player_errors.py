"""Errors of third-party players, reported in one line that names player, error, file and line."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import helsinki_env
from helsinki_env.data import UserError
from helsinki_env.utils.extras import MissingExtraError

__all__ = ["PlayerError", "converted_player_errors"]

_PACKAGE = Path(helsinki_env.__file__).parent
_OURS = (_PACKAGE, *((_PACKAGE / name).resolve() for name in ("agents", "training")))


class PlayerError(UserError):
    """A player that cannot be created or does not act; the message names the player and the cause."""


@contextmanager
def converted_player_errors(name: str, what: str) -> Iterator[None]:
    """Convert errors in the block, `SystemExit` included, to an error that names the player.

    Args:
        name: name of the player.
        what: what failed, such as "cannot be made".

    Raises:
        PlayerError: unchanged, or in place of any other error.
        MissingExtraError: unchanged.
    """
    try:
        yield
    except (PlayerError, MissingExtraError):
        raise
    except (Exception, SystemExit) as problem:
        text = " ".join(str(problem).split())
        raise PlayerError(f"player {name}: {what}: {type(problem).__name__}: {text}{_place(problem)}") from problem


def _place(problem: BaseException) -> str:
    """Return the location in third-party code where an error was raised; empty if there is none."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return f" ({problem.filename}, line {problem.lineno})"
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        path = Path(frame.filename)
        ours = any(path.is_relative_to(folder) for folder in _OURS)
        if not ours and path.is_file() and "importlib" not in path.parts:
            return f" ({frame.filename}, line {frame.lineno})"
    return ""
