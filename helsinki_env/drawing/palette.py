"""Define the colors of the drawings.

Tiles are saturated mid-tones, players differ mainly in lightness, and sides are pale, so that the three color codes
cannot be confused. Patterns (`pieces.PATTERNS`) and the letters on cards also encode the colors of tiles and cards.
"""

from __future__ import annotations

from typing import NamedTuple


class ColorShades(NamedTuple):
    """The shades of one color that are used in drawings, as ``#rrggbb``."""

    base: str
    light: str
    dark: str
    line: str


PAVILIONS = (
    ColorShades("#3f7fc4", "#76aae0", "#2f639d", "#1c3f68"),  # blue
    ColorShades("#4f9d57", "#83c088", "#3b7c43", "#214a28"),  # green
    ColorShades("#8a5fb0", "#b08fd0", "#6c478e", "#412957"),  # purple
    ColorShades("#cd4f42", "#e5857a", "#a63a30", "#651f18"),  # red
    ColorShades("#efb834", "#f9d877", "#cc9420", "#795510"),  # yellow
)
WILD = ColorShades("#b9b3a6", "#dcd8ce", "#989184", "#55503f")

# the colors of the players' tokens; the last shade is used for digits
PLAYERS = (
    ColorShades("#343b49", "#5d677a", "#1d222c", "#ffffff"),  # charcoal
    ColorShades("#fffaf0", "#ffffff", "#d9cdb6", "#33302a"),  # ivory
    ColorShades("#ef86b4", "#f9b9d5", "#c45486", "#3d1026"),  # pink
    ColorShades("#3fc6c0", "#8fe4df", "#1f8f8a", "#06302e"),  # turquoise
)

SIDE_SHADES = (
    ColorShades("#bcdcd0", "#d9eee6", "#6fa592", "#2c5a4b"),  # north: mint, like the cathedral's domes
    ColorShades("#edbfa6", "#f8dccd", "#c78663", "#6d3d22"),  # east: salmon
    ColorShades("#b9c9e0", "#dae4f1", "#7f97ba", "#34496b"),  # south: slate blue
    ColorShades("#efd9a0", "#f9ebc8", "#c7a55a", "#665020"),  # west: ochre
)

SEA = "#27485c"
SEA_LIGHT = "#3a5f75"
PANEL = "#fbf6ea"
PANEL_EDGE = "#e2d7bf"
INK = "#26303d"
SOFT_INK = "#6d6a60"
FAINT = "#b5ac98"
PAVING = "#eadfc8"
PAVING_CELL = "#f5eddb"
PAVING_LINE = "#d8cbb0"
GOLD = "#e9b63d"
GOLD_DARK = "#a97a12"
CARD = "#fffdf6"
BACK = "#3d5a73"
BACK_LIGHT = "#6d8ba5"
STONE = "#cfc6b4"
STONE_DARK = "#a89d87"
