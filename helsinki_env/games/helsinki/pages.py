"""Generate Helsinki's documentation pages from code, for `python -m helsinki_env.pages docs`."""

from __future__ import annotations

from helsinki_env.games.helsinki import notation, observation
from helsinki_env.games.helsinki.actions import KINDS
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, load_components
from helsinki_env.games.helsinki.game import action_table

__all__ = ["PAGES", "actions_page", "observation_page"]

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
    "Board planes: `tile` is 1 to 5 for a pavilion tile by colour (blue, green, purple, red, yellow), 6 for a wild",
    "tile, 7 for the statue; `number` says the how-manyth pavilion tile of the board it is, from 1; `superstructure`",
    "and `coat` are 1 where one stands or lies.",
    "",
    "`turn_order` is the own place in the turn order, from 0; `token` a space + 1; `points` those made in play (at",
    "most 127); `bonus` the value of the bonus card taken; `action`, `lifted`, `last_roof` and `last_discard` are + 1;",
    "`resume` is the index of a phase.",
    "",
    "Costs and strengths of actions are not told: like the points of a row they are facts of the component file, the",
    "same for the whole game.",
)


def actions_page() -> str:
    """Return the page of all actions with the default components, as Markdown."""
    components = load_components()
    table = action_table(components.types)
    lines = [
        "# Decisions",
        "",
        "Written by `python -m helsinki_env.pages docs`. An action is one integer: the offset of its kind plus an",
        f"argument. With the default components there are {table.size} ids and {components.types} card types; with",
        "another component file sizes and offsets follow its number of card types.",
        "",
        "| kind | ids | argument | first and last as text |",
        "| --- | --- | --- | --- |",
    ]
    for kind, name in enumerate(KINDS):
        first, last = table.offsets[kind], table.offsets[kind] + table.sizes[kind] - 1
        ids = f"{first} to {last}" if last > first else f"{first}"
        texts = dict.fromkeys(f"`{notation.action_to_string(i)}`" for i in (first, last))
        lines.append(f"| {name} | {ids} | {_ARGUMENTS[name]} | {', '.join(texts)} |")
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
    """Return the page of observation fields with the default components, as Markdown."""
    layout = observation.observation_layout()
    lines = [
        "# Observation",
        "",
        f"Written by `python -m helsinki_env.pages docs`. One flat `int8` array of {layout.size} entries, seen from",
        "one seat: seats come in the order self, next clockwise, and so on; those that nobody sits on are zero.",
        "Nothing is negative; codes are shifted by one so that 0 means none.",
        "`observation.unpack(obs)` returns the pieces by name as views of these shapes.",
        "",
        layout.markdown(),
        *_NOTES,
    ]
    return "\n".join(lines) + "\n"


PAGES = {"actions.md": actions_page, "observation.md": observation_page}
