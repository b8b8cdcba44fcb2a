"""Labels and descriptions of the board actions, with the numbers of a component file."""

from __future__ import annotations

from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS, STRENGTHS
from helsinki_env.games.helsinki.components import Components

__all__ = ["action_label", "action_phrase", "cost_text"]

#: Label under each board action's picture, in lines.
_LABELS: dict[str, tuple[str, ...]] = {
    "move_1_to_6": ("Move 1\u20136",),
    "two_wild_tiles": ("Two wild", "tiles"),
    "any_side": ("Any side",),
    "extra_card": ("Extra card",),
    "extra_superstructure": ("Extra super-", "structure"),
    "move_1_to_5": ("Move 1\u20135",),
    "one_wild_tile": ("One wild", "tile"),
    "second_pavilion": ("Second", "pavilion"),
    "one_card_fewer": ("One card", "fewer"),
    "move_superstructure": ("Move super-", "structure"),
    "move_back": ("Move back",),
    "no_hand_limit": ("No hand", "limit"),
    "draw_and_build": ("Draw and", "build"),
    "any_card_as_wild": ("Any card", "as wild"),
    "two_points": ("Two points",),
}
#: The same for a number other than the published one; `s` is the plural ending.
_NUMBERED: dict[str, tuple[str, ...]] = {
    "move_1_to_6": ("Move 1\u2013{n}",),
    "two_wild_tiles": ("{n} wild", "tile{s}"),
    "extra_card": ("{n} extra", "card{s}"),
    "extra_superstructure": ("{n} super-", "structure{s}"),
    "move_1_to_5": ("Move 1\u2013{n}",),
    "one_wild_tile": ("{n} wild", "tile{s}"),
    "one_card_fewer": ("{n} card{s}", "fewer"),
    "move_back": ("Move back {n}",),
    "two_points": ("{n} point{s}",),
}
_SPACES = {4: "4 spaces", 5: "4 or 5 spaces", 6: "4 to 6 spaces"}


def action_label(components: Components, name: str) -> tuple[str, ...]:
    """Return the label under a board action's picture, in lines; a trailing hyphen joins a line to the next."""
    strength = components.strengths[BOARD_ACTIONS.index(name)]
    if name not in STRENGTHS or strength == STRENGTHS[name].published:
        return _LABELS[name]
    return tuple(line.format(n=strength, s="s" * (strength > 1)) for line in _NUMBERED[name])


def action_phrase(components: Components, name: str) -> str:
    """Return a unique description of a board action, such as ``move 4 or 5 spaces``.

    Numbers other than the published ones follow the name: ``two points: 5 (2 coats)``.
    """
    strength, cost = components.strengths[BOARD_ACTIONS.index(name)], components.costs[BOARD_ACTIONS.index(name)]
    words, number = name.replace("_", " "), str(strength)
    if name in ("move_1_to_6", "move_1_to_5"):
        number = _SPACES[strength]
    if name in STRENGTHS and strength != STRENGTHS[name].published:
        words = f"{words}: {number}"
    elif number in _SPACES.values():
        words = f"move {number}"
    return words if cost == 1 else f"{words} ({cost_text(cost)})"


def cost_text(cost: int) -> str:
    """Return the cost of a board action: ``2 coats``, or ``no coat``."""
    return f"{cost} coat{'s' * (cost > 1)}" if cost else "no coat"
