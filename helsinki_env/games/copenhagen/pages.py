"""Generate the documentation pages of Copenhagen, for `python -m helsinki_env.pages docs`."""

from __future__ import annotations

from helsinki_env.engine import layout
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen import notation
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS
from helsinki_env.games.copenhagen.observation import LAYOUT

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
    """Return the Markdown page that lists all actions."""
    lines = [
        "# Actions in Copenhagen",
        "",
        "Written by `python -m helsinki_env.pages docs`. An action is one integer: the offset of its kind plus an",
        f"argument. There are {a.NUM_ACTIONS} ids. Colours are numbered in the order {', '.join(COLOURS)}; cells",
        "are `5 * y + x`, x from the left, y from the ground.",
        "",
        *layout.action_table_lines(zip(a.KINDS, a.KIND_SIZES, strict=True), _ARGUMENTS, notation.action_to_string),
    ]
    lines += ["", "## Abilities", "", "| number | ability |", "| --- | --- |"]
    lines += [f"| {i} | `{name}` |" for i, name in enumerate(ABILITIES)]
    return "\n".join(lines) + "\n"


def observation_page() -> str:
    """Return the Markdown page that lists the fields of the observation."""
    return layout.observation_page(
        "Observation in Copenhagen", LAYOUT, "helsinki_env.games.copenhagen.observation.unpack"
    )


PAGES = {"actions-copenhagen.md": actions_page, "observation-copenhagen.md": observation_page}
