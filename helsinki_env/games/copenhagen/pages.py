"""Generated documentation pages of Copenhagen; `python -m helsinki_env.pages docs` writes them."""

from __future__ import annotations

from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen import notation
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS
from helsinki_env.games.copenhagen.observation import LAYOUT

__all__ = ["PAGES", "actions_page", "observation_page"]

_ARGUMENTS = {
    "TAKE": "slot of the display",
    "BUILD": "4 * colour + size - 2: the tile",
    "PLACE": "45 * orientation + cell of the lower left corner of its bounding box",
    "PAY": "colour of the card",
    "DISCARD": "colour of the card",
    "USE": "ability",
    "RECOLOUR": "the colour whose cards count as the tile's",
    "WHITE": "cell that gets a white tile",
    "ABILITY": "ability that is taken",
    "REACTIVATE": "none",
    "END": "none",
}


def actions_page() -> str:
    """Return the page of all actions, as Markdown."""
    lines = [
        "# Decisions in Copenhagen",
        "",
        "Written by `python -m helsinki_env.pages docs`. An action is one integer: the offset of its kind plus an",
        f"argument. There are {a.NUM_ACTIONS} ids. Colours are numbered in the order {', '.join(COLOURS)}; cells",
        "are `5 * y + x`, x from the left, y from the ground.",
        "",
        "| kind | ids | argument | first and last as text |",
        "| --- | --- | --- | --- |",
    ]
    for kind, name in enumerate(a.KINDS):
        first, last = a.KIND_OFFSETS[kind], a.KIND_OFFSETS[kind] + a.KIND_SIZES[kind] - 1
        ids = f"{first} to {last}" if last > first else f"{first}"
        texts = dict.fromkeys(f"`{notation.action_to_string(i)}`" for i in (first, last))
        lines.append(f"| {name} | {ids} | {_ARGUMENTS[name]} | {', '.join(texts)} |")
    lines += ["", "## Abilities", "", "| number | ability |", "| --- | --- |"]
    lines += [f"| {i} | `{name}` |" for i, name in enumerate(ABILITIES)]
    return "\n".join(lines) + "\n"


def observation_page() -> str:
    """Return the page of the observation's fields, as Markdown."""
    lines = [
        "# Observation in Copenhagen",
        "",
        f"Written by `python -m helsinki_env.pages docs`. One flat `int8` array of {LAYOUT.size} entries, seen from",
        "one seat: seats come in the order self, next clockwise, and so on; those that nobody sits on are zero.",
        "Nothing is negative; codes are shifted by one so that 0 means none.",
        "`helsinki_env.games.copenhagen.observation.unpack(obs)` returns the pieces by name as views of these shapes.",
        "",
        LAYOUT.markdown(),
    ]
    return "\n".join(lines) + "\n"


PAGES = {"actions-copenhagen.md": actions_page, "observation-copenhagen.md": observation_page}
