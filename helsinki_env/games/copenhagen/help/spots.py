"""One sentence for everything that a picture shows. Nothing hidden from the viewer is read."""

from __future__ import annotations

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.ability_words import ability_sentence
from helsinki_env.games.copenhagen.components import COLOURS, COLUMNS, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.game import CopenhagenGame

__all__ = ["help_text"]


def help_text(game: CopenhagenGame, viewer: int | None, spot: str) -> str:
    """Return a description of a spot of the picture (`render.svg_and_spots`); empty for an unknown one."""
    name, *numbers = spot.split()
    values = [int(one) for one in numbers if one.isdigit()]
    c, g = game.config.component_set, game.state
    if name == "slot" and values:
        if g.display[values[0]] < 0:
            return "An empty place of the row: it is filled at the end of the turn."
        return f"A {COLOURS[int(g.display[values[0]])]} card of the row: take two that lie next to each other."
    if name == "card" and values:
        color = COLOURS[values[0]]
        return f"Your {color} cards: each pays for one cell of a {color} tile."
    if name == "kind" and values:
        color, size = COLOURS[values[0] // len(TILE_SIZES)], TILE_SIZES[values[0] % len(TILE_SIZES)]
        left = pluralize(int(g.supply[values[0]]), "tile")
        return (
            f"A {color} tile of {size} cells: it costs {size} {color} cards, or {size - 1} if it touches {color}. "
            f"The supply has {left}."
        )
    if name == "ability" and len(values) == 2:
        return ability_sentence(values[1]) + _state(game, *values)
    if name == "cell" and len(values) == 2:
        return _cell(game, *values)
    if name in ("board", "seat") and values:
        return f"A player's facade: a full row scores {c.points_row}, a full column {c.points_column}."
    ends = " It holds the End of Game card." if g.end_card else ""
    return {
        "draw": f"The draw pile has {pluralize(int(g.pile_size), 'card')}.{ends}",
        "discard": "The discard pile: the cards that were paid or discarded.",
        "now": "The next step of the turn in progress.",
    }.get(name, "")


def _state(game: CopenhagenGame, seat: int, ability: int) -> str:
    if not int(game.state.owned[seat]) >> ability & 1:
        return " This player does not own it: it is a reward for a coat of arms."
    return " It is used: a coat of arms can turn it back." if int(game.state.used[seat]) >> ability & 1 else ""


def _cell(game: CopenhagenGame, seat: int, cell: int) -> str:
    """Return a description of a cell of a facade."""
    c, g = game.config.component_set, game.state
    if int(g.white[seat]) >> cell & 1:
        return "A white tile: a window without a color."
    for color, name in enumerate(COLOURS):
        if int(g.coloured[seat, color]) >> cell & 1:
            shows = "its brick" if int(g.bricks[seat]) >> cell & 1 else "a window"
            return f"A {name} tile, here {shows}: a {name} tile that touches it costs one card less."
    if cell in c.coats:
        return "A coat of arms: cover it for a reward."
    row, column = divmod(cell, COLUMNS)
    filled = int(g.filled[seat])
    in_row = COLUMNS - sum(filled >> (COLUMNS * row + x) & 1 for x in range(COLUMNS))
    in_column = ROWS - sum(filled >> (COLUMNS * y + column) & 1 for y in range(ROWS))
    coat = " A coat of arms lies next to the row." if row in c.coat_rows else ""
    return f"An empty cell: its row needs {pluralize(in_row, 'more cell')}, its column {in_column}.{coat}"
