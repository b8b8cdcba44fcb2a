"""Decisions for hands: in words, and where on the drawn table each of them is clicked.

A game's `touch` module makes these of the games it plays; pages that people play on need nothing else of a game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Item", "Selection", "Touch", "Turn", "turns"]

Drawing = tuple[str, ...]


@dataclass(frozen=True)
class Touch:
    """A legal decision, for people.

    Spots are names of rectangles that the game's `render.spots` gives.

    Attributes:
        id: which decision it is.
        kind: its kind, as in `GameSpec.kinds`.
        text: its notation.
        words: the same in plain words, as one says it to a player: ``Move 2 spaces``. No two legal ones are the same.
        said: the same in the past and without a subject, for a log: ``moved 2 spaces``.
        at: spots that mean this decision; empty if it can only be read.
        covers: spots of the cells on which a tile comes to lie.
        marked: that of them where the tile looks different; orientations may differ in nothing else.
        turn: of a tile that is placed, its orientation.
        lane: from where it comes or where it lies, in the two numbers that the notation has for it besides `turn`.
        rotated: the orientations that one, two and three quarter turns clockwise make of this one.
        flipped: the orientation of its mirror image (left-right), and those that quarter turns make of that.
    """

    id: int
    kind: str
    text: str
    words: str
    said: str
    at: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    marked: str | None = None
    turn: int | None = None
    lane: tuple[int, int] | None = None
    rotated: tuple[int, ...] | None = None
    flipped: tuple[int, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Item:
    """An action that can be part of a selection.

    Attributes:
        touch: the action; it need not be legal before others of the selection.
        most: how often it can be chosen.
        part: number of the part of the selection to which it belongs.
    """

    touch: Touch
    most: int = 1
    part: int = 0


@dataclass(frozen=True)
class Selection:
    """Several actions of one kind in a row, which people choose in any order.

    Rules give such actions one order, so that an agent has one way to say the same thing. A page accepts any order and
    sends the actions part by part, in each part by ascending id.

    Attributes:
        kind: their kind, as in `GameSpec.kinds`.
        counts: number of actions of each part; their sum is at least two.
        items: what can be chosen, by id.
        pairs: if not all items go together, the pairs of ids that do, ascending, with whether `between` is needed.
        between: the action that comes between the two of a pair that needs it.
    """

    kind: str
    counts: tuple[int, ...]
    items: tuple[Item, ...]
    pairs: tuple[tuple[int, int, bool], ...] | None = None
    between: Touch | None = None

    def ways(self) -> tuple[list[int], list[int]]:
        """Return the first and the last complete selection, each as ids in the order of the rules."""
        if self.pairs is not None:
            first, last = (
                [a, *([self.between.id] if needed and self.between else []), b]
                for a, b, needed in (self.pairs[0], self.pairs[-1])
            )
            return first, last
        first, last = [], []
        for part, count in enumerate(self.counts):
            ids = [item.touch.id for item in self.items if item.part == part for _ in range(item.most)]
            first += ids[:count]
            last += ids[-count:]
        return first, last

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data for JSON, each item as its touch with `most` and `part`."""
        items = [{**item.touch.to_dict(), "most": item.most, "part": item.part} for item in self.items]
        return {**asdict(self), "items": items}


@dataclass(frozen=True)
class Turn:
    """An orientation of a tile: where quarter turns and the mirror lead (see `Touch`), and how it was reached in words.

    The words are empty for the tile as it is printed.
    """

    rotated: tuple[int, ...]
    flipped: tuple[int, ...]
    words: str


_WORDS = ("", "turned right", "upside down", "turned left")


def turns(orientations: Sequence[Drawing]) -> tuple[Turn, ...]:
    """Return what leads from each of a tile's orientations to the others.

    Args:
        orientations: the distinct ones, the tile as printed first; rows from top to bottom.
    """
    words: dict[Drawing, str] = {}
    for mirrored, start in enumerate((orientations[0], _mirrored(orientations[0]))):
        rows = start
        for turned in _WORDS:
            words.setdefault(rows, ", ".join(filter(None, ("mirrored" * mirrored, turned))))
            rows = _rotated(rows)
    index = {rows: i for i, rows in enumerate(orientations)}
    found = []
    for rows in orientations:
        rotated, flipped = (tuple(index[turned] for turned in _around(start)) for start in (rows, _mirrored(rows)))
        found.append(Turn(rotated[1:], flipped, words[rows]))
    return tuple(found)


def _around(rows: Drawing) -> list[Drawing]:
    """Return a drawing after no, one, two and three quarter turns."""
    found = [rows]
    for _ in range(3):
        found.append(_rotated(found[-1]))
    return found


def _rotated(rows: Drawing) -> Drawing:
    return tuple("".join(column) for column in zip(*rows[::-1], strict=True))


def _mirrored(rows: Drawing) -> Drawing:
    return tuple(row[::-1] for row in rows)
