"""Generate the documentation pages of Helsinki, for `python -m helsinki_env.pages docs`."""

from __future__ import annotations

from helsinki_env.engine import layout
from helsinki_env.games.helsinki import notation, observation
from helsinki_env.games.helsinki.actions import KINDS
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, load_components
from helsinki_env.games.helsinki.game import action_table

_ARGUMENTS = {
    "START": "space of player 0's token",
    "MOVE": "steps - 1, clockwise",
    "DRAW": "none",
    "BUILD": "card type whose tile is built",
    "PAY": "card type played for it",
    "PLACE": "(side * 8 + orientation) * 7 + lane",
    "WILD": "cell",
    "LIFT": "cell whose superstructure is moved",
    "ROOF": "cell that gets a superstructure",
    "DISCARD": "card type",
    "USE": "action of the action board",
    "END": "none",
}
_NOTES = (
    "Board planes: `tile` is 1 to 5 for a pavilion tile by color (blue, green, purple, red, yellow), 6 for a wild",
    "tile and 7 for the statue. `number` is the number of the pavilion tile in building order, from 1.",
    "`superstructure` and `coat` are 1 for a cell with one.",
    "",
    "`turn_order` is the viewer's place in the turn order, from 0. `token` is a space + 1. `points` are those made in",
    "play (at most 127). `bonus` is the value of the bonus card taken. `action`, `lifted`, `last_roof` and",
    "`last_discard` are + 1. `resume` is the index of a phase.",
    "",
    "Costs and strengths of board actions are not part of the observation. Like the points of a row, they are facts of",
    "the component file and stay the same for the whole game.",
)


def actions_page() -> str:
    """Return the page that lists all actions with the default components, as Markdown."""
    components = load_components()
    table = action_table(components.types)
    lines = [
        "# Actions",
        "",
        "Written by `python -m helsinki_env.pages docs`. An action is one integer: the offset of its kind plus an",
        f"argument. With the default components there are {table.size} ids and {components.types} card types; with",
        "another component file sizes and offsets follow its number of card types.",
        "",
        *layout.action_table_lines(zip(KINDS, table.sizes, strict=True), _ARGUMENTS, notation.action_to_string),
    ]
    lines += ["", "## Card types", "", "| type | card | type | card |", "| --- | --- | --- | --- |"]
    half = (components.types + 1) // 2
    for left in range(half):
        pair = [left, left + half] if left + half < components.types else [left]
        cells = [f"{card} | `{notation.card_to_string(card)}`" for card in pair]
        lines.append("| " + " | ".join(cells + [" | "] * (2 - len(pair))) + " |")
    lines += ["", "## Actions of the action board", "", "| USE | action | id |", "| --- | --- | --- |"]
    lines += [f"| {i} | `{name}` | {table.encode(KINDS.index('USE'), i)} |" for i, name in enumerate(BOARD_ACTIONS)]
    return "\n".join(lines) + "\n"


def observation_page() -> str:
    """Return the page that lists the observation fields with the default components, as Markdown."""
    fields = observation.observation_layout()
    return layout.observation_page("Observation", fields, "observation.unpack", _NOTES)


PAGES = {"actions.md": actions_page, "observation.md": observation_page}
