"""Define actions for a user interface, with descriptions and the regions to click on the drawn table.

The `ui_actions` module of each game creates these objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from helsinki_env.engine.component_reader import mirrored, rotations

__all__ = [
    "ActionSelection",
    "SelectionItem",
    "TileOrientation",
    "UIAction",
    "lesson_steps",
    "spot_parts",
    "tile_orientations",
]

ShapeRows = tuple[str, ...]


@dataclass(frozen=True)
class UIAction:
    """A legal action, as shown to human players.

    Spots are names of regions in the picture that the game's `render.svg` draws.

    Attributes:
        id: action id.
        kind: action kind, as in `GameSpec.action_kinds`.
        text: notation of the action.
        words: description for the player, such as ``Move 2 spaces``. It is unique among the legal actions.
        said: description for a log, in the past tense and without a subject, such as ``moved 2 spaces``.
        at: spots to click for this action; empty if it is available only as text.
        covers: spots of the cells that a tile would cover.
        marked: spot of the cell with the tile's mark, which may be the only difference between two orientations.
        turn: orientation of the placed tile.
        lane: origin or location of the tile: the two numbers of the notation other than `turn`.
        rotated: orientations after one, two and three quarter turns clockwise.
        flipped: orientations of the left-right mirror image after zero, one, two and three quarter turns.
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
        """Return the fields as a dict of JSON types."""
        return asdict(self)


def spot_parts(spot: str) -> tuple[str, list[int]]:
    """Return the first word and the numbers in the name of a spot, such as ``cell 1 24``."""
    name, *others = spot.split()
    return name, [int(one) for one in others if one.isdigit()]


def lesson_steps(text: str) -> tuple[tuple[str, str], ...]:
    """Return the (action, explanation) steps of a guided game from paragraphs whose first line is the action."""
    steps = (paragraph.split("\n", 1) for paragraph in text.strip().split("\n\n"))
    return tuple((action, " ".join(explanation.split())) for action, explanation in steps)


@dataclass(frozen=True)
class SelectionItem:
    """An action that can be part of a selection.

    Attributes:
        touch: the action, which may be illegal until other actions of the selection are applied.
        most: maximum number of times that the action can be chosen.
        part: index of the part of the selection to which the action belongs.
    """

    touch: UIAction
    most: int = 1
    part: int = 0


@dataclass(frozen=True)
class ActionSelection:
    """Several actions of one kind that a human player may choose in any order.

    The rules fix the order of these actions, so that there is only one way to express each choice. The web page accepts
    any order and sends the actions part by part, with ascending ids in each part.

    Attributes:
        kind: action kind, as in `GameSpec.action_kinds`.
        counts: number of actions to choose in each part; the sum is at least two.
        items: available actions, ordered by id.
        pairs: compatible pairs (id, id, whether `between` is needed), ascending; None if all pairs are compatible.
        between: action that some pairs need between their two actions.
    """

    kind: str
    counts: tuple[int, ...]
    items: tuple[SelectionItem, ...]
    pairs: tuple[tuple[int, int, bool], ...] | None = None
    between: UIAction | None = None

    def extreme_selections(self) -> tuple[list[int], list[int]]:
        """Return the first and the last complete selection, each as ids in the order required by the rules."""
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
        """Return the fields as a dict of JSON types; each item is its action's dict with `most` and `part`."""
        items = [{**item.touch.to_dict(), "most": item.most, "part": item.part} for item in self.items]
        return {**asdict(self), "items": items}


@dataclass(frozen=True)
class TileOrientation:
    """An orientation of a tile: the orientations that result from turning and mirroring it, and a description.

    See `UIAction` for `rotated` and `flipped`. The description is empty for the tile as printed.
    """

    rotated: tuple[int, ...]
    flipped: tuple[int, ...]
    words: str


_WORDS = ("", "turned right", "upside down", "turned left")


def tile_orientations(orientations: Sequence[ShapeRows]) -> tuple[TileOrientation, ...]:
    """Return the distinct orientations of a tile, beginning with the tile as printed."""
    words: dict[ShapeRows, str] = {}
    for side, start in (("", orientations[0]), ("mirrored", mirrored(orientations[0]))):
        for turned, rows in zip(_WORDS, rotations(start), strict=True):
            words.setdefault(rows, ", ".join(filter(None, (side, turned))))
    index = {rows: i for i, rows in enumerate(orientations)}
    found = []
    for rows in orientations:
        rotated, flipped = (tuple(index[turned] for turned in rotations(start)) for start in (rows, mirrored(rows)))
        found.append(TileOrientation(rotated[1:], flipped, words[rows]))
    return tuple(found)
