"""Costs and strengths of the fifteen board actions: published values and bounds.

A component file may set other values under ``actions`` (rules page, section 1, "Costs and strengths"). Within the
bounds, every turn can be completed and every number fits into its field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helsinki_env.data import Node

BOARD_ACTIONS = (
    "move_1_to_6",
    "two_wild_tiles",
    "any_side",
    "extra_card",
    "extra_superstructure",
    "move_1_to_5",
    "one_wild_tile",
    "second_pavilion",
    "one_card_fewer",
    "move_superstructure",
    "move_back",
    "no_hand_limit",
    "draw_and_build",
    "any_card_as_wild",
    "two_points",
)
"""The 15 board actions in id order. A component file sets their positions on the action board, not their ids."""

MAX_COST = 3
"""Maximum cost of a board action in coats of arms; the minimum is 0."""


@dataclass(frozen=True)
class Strength:
    """Bounds for the strength of a board action.

    Attributes:
        of: unit of the strength, in the plural.
        published: published value.
        least: minimum value; a lower value would add nothing to the free actions of a turn.
        most: maximum value.
        why: reason for the bounds.
    """

    of: str
    published: int
    least: int
    most: int
    why: str


_MOVES = "1 to 3 spaces are free, and no move is longer than 6"
_WILDS = "0 has no effect, and one turn must not fill a line"
STRENGTHS = {
    "move_1_to_6": Strength("spaces", 6, 4, 6, _MOVES),
    "two_wild_tiles": Strength("wild tiles", 2, 1, 5, _WILDS),
    "extra_card": Strength("cards", 1, 1, 5, "0 has no effect, and a turn cannot use more"),
    "extra_superstructure": Strength("superstructures", 1, 1, 5, "a tile has five roofs at most"),
    "move_1_to_5": Strength("spaces", 5, 4, 6, _MOVES),
    "one_wild_tile": Strength("wild tiles", 1, 1, 5, _WILDS),
    "one_card_fewer": Strength("cards fewer", 1, 1, 7, "no tile asks for more than seven further cards"),
    "move_back": Strength("spaces back", 1, 1, 4, "five spaces back are three forward, which are free"),
    "two_points": Strength("points", 2, 1, 10, "0 has no effect, and more would decide a game"),
}
"""Board actions with a strength, by name; the effect of the others is fixed."""

_INSTEAD = "change its cost instead, or cover the action"
_COATS = f"a whole number of coats of arms from 0 to {MAX_COST} (cover the action to disable it)"

PUBLISHED_COSTS = (1,) * len(BOARD_ACTIONS)
"""Published cost of each board action in coats of arms, by id."""

PUBLISHED_STRENGTHS = tuple(STRENGTHS[name].published if name in STRENGTHS else 0 for name in BOARD_ACTIONS)
"""Published strength of each board action, by id; 0 if it has none."""


def read_actions(data: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the costs and strengths by id; missing values default to the published ones.

    Raises:
        ValueError: if a value is invalid (raised as `data.error`); the message names board action, value and bounds.
    """
    if not data.is_present:
        return PUBLISHED_COSTS, PUBLISHED_STRENGTHS
    costs, strengths = list(PUBLISHED_COSTS), list(PUBLISHED_STRENGTHS)
    for name, entry in data.mapping(BOARD_ACTIONS).items():
        numbers = entry.mapping(("cost", "strength"))
        if numbers["cost"].is_present:
            costs[BOARD_ACTIONS.index(name)] = numbers["cost"].integer(0, MAX_COST, _COATS)
        if numbers["strength"].is_present:
            strengths[BOARD_ACTIONS.index(name)] = _strength(name, numbers["strength"])
    return tuple(costs), tuple(strengths)


def _strength(name: str, data: Node) -> int:
    """Return the strength of a board action; fail if it has none."""
    if name not in STRENGTHS:
        remedy = f"leave it out: only {', '.join(STRENGTHS)} have one"
        data.fail(f"no such key, as {name} has a cost but no strength", remedy)
    known = STRENGTHS[name]
    limits = f"a whole number of {known.of} from {known.least} to {known.most}"
    return data.integer(known.least, known.most, f"{limits} ({known.why}; {_INSTEAD})")


def changed_numbers(costs: Sequence[int], strengths: Sequence[int]) -> dict[str, Any]:
    """Return the values that a digest includes: `two_points`, and all values that differ from the published ones."""
    points = BOARD_ACTIONS.index("two_points")
    changed: dict[str, list[int]] = {}
    for action, (cost, strength) in enumerate(zip(costs, strengths, strict=True)):
        box = PUBLISHED_COSTS[action], strength if action == points else PUBLISHED_STRENGTHS[action]
        if (cost, strength) != box:
            changed[BOARD_ACTIONS[action]] = [cost, strength]
    return {"points_two_points": strengths[points]} | ({"actions": changed} if changed else {})
