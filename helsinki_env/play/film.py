"""A record as a film: plain data from which a page shows the game step by step, without any of its rules.

Pictures of a game differ in few of their elements. A film holds every element once, and of each picture only in what it
differs from the one before, which makes of 35 MB of pictures less than one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from helsinki_env.data import UserError
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.touch import Touch
from helsinki_env.play.record import Record, positions

__all__ = ["Judgement", "film", "pictures"]

#: Where an element begins; a closing tag belongs to what stands before it. Drawings write any other < as &lt;.
_BEGINS = re.compile("<(?!/)")


@dataclass(frozen=True)
class Judgement:
    """What somebody who judges thinks of the course of a game of D decisions by n seats.

    Attributes:
        judge: who judges, the name of a player.
        shares: every seat's share of the win before each decision, and at the end; D + 1 rows of n numbers from 0 to 1.
        costs: D numbers: the share of the win that each decision cost the seat that took it, 0 or more; None where it
            had no choice, or was not judged.
        better: D ids: the decision that was thought best, where it is another one; else None.
    """

    judge: str
    shares: tuple[tuple[float, ...], ...] = field(repr=False)
    costs: tuple[float | None, ...] = field(repr=False)
    better: tuple[int | None, ...] = field(repr=False)

    def to_dict(self, record: Record) -> dict[str, Any]:
        """Return the judgement as plain data for a film, with what would have been better in words.

        Args:
            record: the game that is judged.

        Raises:
            ValueError: if it is one of another number of decisions.
        """
        count = len(record.decisions)
        found = len(self.shares), len(self.costs), len(self.better)
        if found != (count + 1, count, count):
            expected = f"{count + 1}, {count} and {count}, as of a game of {count} decisions"
            raise UserError(f"judgement: found {found} shares, costs and better decisions, expected {expected}")
        asked = zip(positions(record), (*self.better, None), strict=True)
        better = [None if best is None else _worded(game, best).words for (game, _), best in asked]
        return {
            "judge": self.judge,
            "shares": [[round(share, 4) for share in row] for row in self.shares],
            "costs": [None if cost is None else round(cost, 4) for cost in self.costs],
            "better": better[:-1],
        }


def film(
    record: Record,
    judgement: Judgement | None = None,
    seat: int | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return a game as plain data for JSON, which the viewer (`viewer/viewer.js`) shows.

    Args:
        record: the game, of D decisions by n seats; it need not have been played to its end.
        judgement: what somebody thinks of its course.
        seat: the seat that looks, which sees no more than it saw at the table; None sees all cards.
        progress: is told after each picture how many there are, and of how many: D + 1.

    Returns:
        ``game`` (its name), ``players`` (n names), ``result`` (null, or ``scores`` and ``places``), ``steps`` (D times
        ``seat``, ``round``, ``turn`` from 0, ``said`` in words, and ``forced``, whether there was no choice),
        ``scores`` (D + 1 rows of n: points if the game had ended there), ``elements`` (texts), ``frames`` (D + 1 lists
        of ``[at, gone, [elements]]``: how the numbers of the elements of a picture follow from those of the one before;
        the joined texts are its SVG) and ``judgement`` (null, or as `Judgement.to_dict` says).

    Raises:
        ValueError: if the game has no drawings, there is no such seat, or a judgement is to be shown to a seat: it
            judges by what every seat saw.
        RecordError: if a decision is not legal, or the result is not that of the record.
    """
    if seat is not None and not 0 <= seat < record.config.num_players:
        raise UserError(f"seat: found {seat}, expected 0 to {record.config.num_players - 1}")
    if seat is not None and judgement is not None:
        raise UserError(f"judgement: found one for what seat {seat} sees, expected None: it says what others hold")
    elements, frames = _cut(_counted(pictures(record, seat), len(record.decisions) + 1, progress))
    result = {"scores": list(record.scores), "places": list(record.places or ())} if record.scores else None
    return {
        "game": record.spec.name,
        "players": list(record.players),
        "result": result,
        "steps": list(_steps(record)),
        "scores": [game.scores().tolist() for game, _ in positions(record)],
        "elements": elements,
        "frames": frames,
        "judgement": None if judgement is None else judgement.to_dict(record),
    }


def pictures(record: Record, seat: int | None = None) -> Iterator[str]:
    """Yield the SVG of the table before the first decision and after each; arguments and errors: see `film`."""
    spec, config = record.spec, record.config
    if spec.to_dict is None or spec.render is None:
        raise UserError(f"record: found a game of {spec.name}, which has no drawings")
    render, last = spec.render(), None
    for game, action in positions(record):
        yield render.svg(spec.to_dict(game, seat), config.loaded, last_decision=last, viewer=seat)
        last = None if action is None else spec.describe(action, config)


def _counted(svgs: Iterable[str], count: int, progress: Callable[[int, int], None] | None) -> Iterator[str]:
    for number, svg in enumerate(svgs, 1):
        yield svg
        if progress is not None:
            progress(number, count)


def _steps(record: Record) -> Iterator[dict[str, Any]]:
    turn, before = -1, None
    for game, action in positions(record):
        if action is None:
            return
        mover = (game.round, game.seat)
        turn, before = turn + (mover != before), mover
        yield {
            "seat": game.seat,
            "round": game.round,
            "turn": turn,
            "said": _worded(game, action).said,
            "forced": len(game.legal_actions()) == 1,
        }


def _worded(game: BoardGame, action: int) -> Touch:
    """Return a legal decision in words, in its notation alone if the game says no more."""
    spec = game.spec
    text = spec.describe(action, game.config)
    touches = () if spec.touches is None else spec.touches(game, game.seat)
    return next((touch for touch in touches if touch.id == action), Touch(action, "", text, text, text))


Splice = tuple[int, int, list[int]]
"""From which element on how many are gone, and the numbers of those that take their place."""


def _cut(svgs: Iterable[str]) -> tuple[list[str], list[list[Splice]]]:
    """Return the texts of all different elements, and for each picture what differs from the one before."""
    numbers: dict[str, int] = {}
    frames, before = [], list[int]()
    for svg in svgs:
        # Every picture begins with an element, so nothing stands before the first one.
        now = [numbers.setdefault(f"<{text}", len(numbers)) for text in _BEGINS.split(svg)[1:]]
        frames.append(_differences(before, now))
        before = now
    return list(numbers), frames


def _differences(before: Sequence[int], now: Sequence[int]) -> list[Splice]:
    """Return what is to be done, from the last place to the first, so that each leaves the places before it alone."""
    found = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    return [(start, end - start, list(now[i:j])) for kind, start, end, i, j in reversed(found) if kind != "equal"]
