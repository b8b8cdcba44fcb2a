"""Labels, effects and descriptions of the board actions, with the costs and strengths of a component file."""

from __future__ import annotations

from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS, STRENGTHS
from helsinki_env.games.helsinki.components import Components

#: The lines of the label under each board action's picture.
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
#: Labels for strengths that differ from the published ones; `s` is the plural ending.
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
#: The effect of each board action; `n` is its strength and `s` the plural ending.
_EFFECTS: dict[str, str] = {
    "move_1_to_6": "Before the move: this move is at least 4 and at most {n} spaces.",
    "two_wild_tiles": "Place at most {n} wild tile{s} next to your pavilions or wild tiles. "
    "A wild tile fills a cell and wins a coat there.",
    "any_side": "Before you place a tile: it enters from one of the other three sides instead.",
    "extra_card": "Instead of a normal draw: draw as usual, and {n} more card{s} from the draw pile.",
    "extra_superstructure": "After a build: place at most {n} superstructure{s} on free roofs of the new tile.",
    "move_1_to_5": "Before the move: this move is at least 4 and at most {n} spaces.",
    "one_wild_tile": "Place at most {n} wild tile{s} next to your pavilions or wild tiles. "
    "A wild tile fills a cell and wins a coat there.",
    "second_pavilion": "After a build: build once more in this turn.",
    "one_card_fewer": "Before the first payment: pay {n} card{s} fewer for the pavilion that you build.",
    "move_superstructure": "Move one of your superstructures to another free roof of your board.",
    "move_back": "Instead of the normal move: move {n} space{s} counterclockwise.",
    "no_hand_limit": "Before the first discard: your hand has no limit until the end of your next turn.",
    "draw_and_build": "After drawing: build in the same turn.",
    "any_card_as_wild": "Before the first payment: pay one card of another color as if it were wild.",
    "two_points": "Score {n} point{s} now.",
}
_SPACES = {4: "4 spaces", 5: "4 or 5 spaces", 6: "4 to 6 spaces"}


def action_label(components: Components, name: str) -> tuple[str, ...]:
    """Return the lines of the label under a board action's picture; a line that ends in a hyphen joins the next."""
    strength = components.strengths[BOARD_ACTIONS.index(name)]
    if name not in STRENGTHS or strength == STRENGTHS[name].published:
        return _LABELS[name]
    return tuple(line.format(n=strength, s="s" * (strength > 1)) for line in _NUMBERED[name])


def label_of(components: Components, action: int) -> str:
    """Return the label of a board action as a single line."""
    return " ".join(action_label(components, BOARD_ACTIONS[action])).replace("- ", "")


def action_effect(components: Components, action: int) -> str:
    """Return the effect of a board action as a sentence."""
    strength = components.strengths[action]
    return _EFFECTS[BOARD_ACTIONS[action]].format(n=strength, s="" if strength == 1 else "s")


def action_sentence(components: Components, action: int) -> str:
    """Return the label, cost and effect of a board action."""
    cost = cost_text(components.costs[action])
    return f"{label_of(components, action)} ({cost}): {action_effect(components, action)}"


def action_phrase(components: Components, name: str) -> str:
    """Return a unique description of a board action, such as ``move 4 or 5 spaces``.

    A strength or cost that differs from the published one follows the name: ``two points: 5 (2 coats)``.
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
    """Return the cost of a board action in words: ``2 coats``, or ``no coat``."""
    return f"{cost} coat{'s' * (cost > 1)}" if cost else "no coat"
