"""One sentence for everything that a picture shows. Nothing hidden from the viewer is read."""

from __future__ import annotations

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.helsinki.action_words import action_sentence, cost_text
from helsinki_env.games.helsinki.actions import SIDES
from helsinki_env.games.helsinki.components import COLOURS, ROOFS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.shapes import tile_cells

__all__ = ["card_text", "help_text"]

_SIZE = 7


def card_text(components: Components, card: int) -> str:
    """Return what a card is for."""
    if card == components.wild_type:
        return "A wild card pays as a card of any color; it starts no pavilion."
    color, roofs = COLOURS[components.card_color(card)], components.card_roofs(card)
    extra = components.card_superstructures(card)
    tile = f"a {color} tile of {roofs} roofs"
    if extra:
        tile += f" with {pluralize(extra, 'superstructure')}"
    number = components.card_number(card)
    cost = "itself alone" if number == 1 else f"{number} cards, itself included"
    return f"This card builds {tile} and costs {cost}."


def help_text(game: HelsinkiGame, viewer: int | None, spot: str) -> str:
    """Return a description of a spot of the picture (`render.svg_and_spots`); empty for an unknown one."""
    name, *numbers = spot.split()
    values = [int(one) for one in numbers if one.isdigit()]
    c, g = game.config.component_set, game.state
    if name == "space" and values:
        side = SIDES[values[0] // 2]
        return f"A space on the {side} side: a token here pushes tiles in from there, and draws the cards next to it."
    if name == "slot" and values:
        card = int(g.display[values[0]])
        return card_text(c, card) if card >= 0 else "An empty place of the display."
    if name == "card" and values:
        return card_text(c, values[0])
    if name == "action" and values:
        return action_sentence(c, values[0]) + _status(game, viewer, values[0])
    if name == "kind" and values:
        color, roofs = COLOURS[values[0] // len(ROOFS)], ROOFS[values[0] % len(ROOFS)]
        left = pluralize(int(g.supply[values[0]]), "tile")
        return f"The common supply has {left} of {color} with {roofs} roofs."
    if name == "cell" and len(values) == 2:
        return _cell(game, *values)
    if name in ("board", "seat") and values:
        return (
            f"A player's board: a full row scores {c.points_row}, a full column {c.points_column}. "
            f"Coats in the meadow pay for board actions: {int(g.meadow[values[0]])} there."
        )
    return {
        "draw": f"The draw pile has {pluralize(int(g.pile_size), 'card')}: when it is empty, the round is the last.",
        "discard": "The discard pile: it becomes the new draw pile when that is empty.",
        "now": "The next step of the turn in progress.",
    }.get(name, "")


def _status(game: HelsinkiGame, viewer: int | None, action: int) -> str:
    """Return whether an action of the action board is out of use."""
    if action in game.config.covered:
        return " It is covered in this game."
    if viewer is not None and int(game.state.used[viewer]) >> action & 1:
        return " You have used it."
    return ""


def _cell(game: HelsinkiGame, seat: int, cell: int) -> str:
    """Return a description of a cell of a board."""
    c, t, g = game.config.component_set, game.config.tables[0], game.state
    if cell == c.statue:
        return "The statue: it counts as a filled cell, stops tiles, and carries no superstructure."
    if int(g.superstructures[seat]) >> cell & 1:
        return (
            f"A superstructure: {pluralize(c.points_crossing, 'point')} if its row and column are full, "
            f"{c.points_line} if one of them is."
        )
    if int(g.wild[seat]) >> cell & 1:
        return "A wild tile: it fills a cell and has no color."
    for tile in range(int(g.tile_count[seat])):
        piece = g.tile_piece[seat, tile]
        if int(tile_cells(t, int(piece), g.tile_cell[seat, tile])) >> cell & 1:
            color = COLOURS[int(piece) // 32]
            return f"A {color} pavilion: another {color} tile that touches it draws a bonus card."
    for number, coat in enumerate(c.coats):
        if coat == cell and int(g.coats[seat]) >> number & 1:
            cheapest = cost_text(min(c.costs))
            return f"A coat of arms: cover it to win it; coats pay for board actions, which cost from {cheapest}."
    row, column = divmod(cell, _SIZE)
    built = int(g.built[seat])
    in_row = _SIZE - sum(built >> (_SIZE * row + i) & 1 for i in range(_SIZE))
    in_column = _SIZE - sum(built >> (_SIZE * i + column) & 1 for i in range(_SIZE))
    text = f"An empty cell: its row needs {pluralize(in_row, 'more cell')}, its column {in_column}."
    if game.config.dry_roads and cell in c.crosswalks:
        text = "A cell next to a crosswalk: connect all four of them with tiles for a bonus card."
    return text
