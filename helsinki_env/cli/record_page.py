"""The page of a recorded game, written by ``helsinki replay --html``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from helsinki_env.cli.options import out_file
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError
from helsinki_env.records import Record, replay
from helsinki_env.records.animation import GameEvaluation, page
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.files import atomic_write

__all__ = ["check_page", "write_page"]

#: The evaluator name that disables evaluation.
_NONE = "none"


def check_page(path: Path | None, judge: str | None, seat: int | None) -> None:
    """Check, before any work, that the options are consistent and the page can be written.

    Raises:
        ValueError: if not.
    """
    if path is None:
        if judge is not None:
            raise UserError(f"--judge: found {judge}, but no --html: a judgement is shown in that page alone")
        return
    if path.suffix.lower() != ".html":
        raise UserError(f"--html: found {path}, expected a name ending in .html")
    if seat is not None and judge not in (None, _NONE):
        raise UserError(f"--judge: found {judge} with --seat {seat}, expected none: it judges by what every seat saw")
    out_file(path, "--html")


def write_page(record: Record, path: Path, judge: str | None, seat: int | None) -> None:
    """Write a record as a page.

    Args:
        record: the game.
        path: the file, replaced if it exists.
        judge: name of the evaluator, or none; None uses the default one if it is available.
        seat: the viewing seat, without evaluation; None shows everything.

    Raises:
        RecordError: if the record cannot be replayed.
        ValueError: if the evaluator cannot evaluate the game, or the game has no drawings.
    """
    replay(record)  # report an invalid record before the evaluation starts
    judgement = None if judge == _NONE or seat is not None else _judgement(record, judge)
    with ProgressDisplay(len(record.decisions) + 1, "pictures") as waiting:
        text = page(record, judgement, seat=seat, progress=_counted(waiting))
    with atomic_write(path, follow=True) as file:
        file.write(text.encode())
    print(f"Wrote {path}")


def _judgement(record: Record, judge: str | None) -> GameEvaluation | None:
    from helsinki_env.agents.analysis import analyze  # takes a while to import
    from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR
    from helsinki_env.agents.registry import make_player

    if judge is None:
        try:
            make_player(DEFAULT_EVALUATOR, record.config)
        except (MissingExtraError, UserError) as problem:
            print(f"helsinki replay: the page shows no judgement: {problem}", file=sys.stderr)
            return None
    with ProgressDisplay(len(record.decisions), "decisions") as waiting:
        return analyze(record, judge or DEFAULT_EVALUATOR, progress=_counted(waiting)).judgement


def _counted(waiting: ProgressDisplay) -> Callable[[int, int], None]:
    """Return a progress callback that updates the display."""
    return lambda done, _: waiting.advance(done - waiting.done)
