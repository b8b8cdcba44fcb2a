"""Players of somebody else that go wrong, however they do: told in a line that names player, error, file and line."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helsinki_env.data import UserError
from helsinki_env.extras import MissingExtraError

__all__ = ["PlayerError", "faults_told"]

_OURS = Path(__file__).resolve().parents[1]
_PACKAGES = ("agents", "helsinki_env", "training")


class PlayerError(UserError):
    """A player that cannot be made or does not decide; the message names it, and says what went wrong."""


@contextmanager
def faults_told(name: str, what: str) -> Iterator[None]:
    """Turn whatever goes wrong in the block into an error that names the player: a call to end the process, too.

    Args:
        name: of the player.
        what: did not happen, such as "cannot be made".

    Raises:
        PlayerError: as it is, or instead of any other error.
        MissingExtraError: as it is.
    """
    try:
        yield
    except (PlayerError, MissingExtraError):
        raise
    except (Exception, SystemExit) as problem:
        text = " ".join(str(problem).split())
        raise PlayerError(f"player {name}: {what}: {type(problem).__name__}: {text}{_place(problem)}") from problem


def _place(problem: BaseException) -> str:
    """Return where in somebody else's code an error was raised; empty if it was not there."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return f" ({problem.filename}, line {problem.lineno})"
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        path = Path(frame.filename)
        ours = any(path.is_relative_to(_OURS / package) for package in _PACKAGES)
        if not ours and path.is_file() and "importlib" not in path.parts:
            return f" ({frame.filename}, line {frame.lineno})"
    return ""
