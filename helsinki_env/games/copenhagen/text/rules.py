"""The rules of a configuration of Copenhagen in words; every number comes from the configuration."""

from __future__ import annotations

from collections.abc import Iterator

from helsinki_env.engine.component_reader import orientations
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, COLUMNS, DISPLAY, ROWS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.text.position_text import cells_text

__all__ = ["rule_lines"]

_EFFECTS = {
    "any_cards": "after the first TAKE: the second card comes from any slot further up than the next one",
    "additional_card": "after taking two cards: TAKE one more from any slot",
    "construction_discount": "before PLACE: the tile costs 1 card less",
    "change_of_colours": "before PLACE: RECOLOUR, so that all cards of one color count as the color of the tile",
    "both_actions": "after taking cards and discarding: construct in the same turn",
}


def rule_lines(config: CopenhagenConfig) -> list[str]:
    """Return the rules of a configuration, in lines."""
    components, players = config.component_set, config.num_players
    return [
        "Rules of Copenhagen for this game",
        "",
        f"Players: {players}, numbered from 0 in clockwise order. Player 0 begins.",
        f"Each player fills rows and columns of a facade. {components.goal} points or more end the game.",
        "",
        *_board(components),
        "",
        *_parts(components, players),
        "",
        *_turn(components),
        "",
        *_construction(components),
        "",
        *_abilities(config),
        "",
        *_end(components, players),
        "",
        "HOW TO WRITE AN ACTION",
        "TAKE slot. BUILD color size. PLACE K at x,y. PAY color. DISCARD color. USE ability. RECOLOUR color.",
        "WHITE x,y. ABILITY ability. REACTIVATE. END.",
        "PLACE: K is the number of the orientation oK above; x,y is the lower left corner of the box around the tile.",
    ]


def _board(components: Components) -> Iterator[str]:
    yield "BOARD"
    yield f"A board has {COLUMNS} columns and {ROWS} rows. The cell x,y is column x from the left, row y from below."
    yield f"Coats of arms lie on the cells {cells_text(components.coats)}."
    rows = ", ".join(map(str, components.coat_rows)) or "none"
    yield f"Coats of arms lie next to the rows {rows}."


def _parts(components: Components, players: int) -> Iterator[str]:
    yield "CARDS AND TILES"
    yield f"Cards of each color: {components.cards[players - 2]}. Colors: {', '.join(COLOURS)}."
    hands = ", ".join(f"player {seat} {count}" for seat, count in enumerate(components.hands[:players]))
    yield f"Cards dealt: {hands}."
    yield f"The display has the slots 0 to {DISPLAY - 1} in a row."
    copies = zip(TILE_SIZES, components.copies[players - 2], strict=True)
    yield f"Tiles of each color: {', '.join(f'{count} of {size} cells' for size, count in copies)}."
    yield f"White tiles: {components.white_tiles}, of 1 cell each, which shows a window."
    yield "Orientations of the tiles: upper row first, / between rows, B the brick, W a window, . nothing."
    drawn: dict[tuple[str, ...], list[str]] = {}
    for colour, drawings in zip(COLOURS, components.drawings, strict=True):
        for size, drawing in zip(TILE_SIZES, drawings, strict=True):
            drawn.setdefault(drawing, []).append(f"{colour} {size}")
    for drawing, tiles in drawn.items():
        shapes = orientations(drawing)
        yield f"  {', '.join(tiles)}: " + "  ".join(f"o{i} {'/'.join(rows)}" for i, rows in enumerate(shapes))


def _turn(components: Components) -> Iterator[str]:
    limit = components.hand_limit
    yield "A TURN"
    yield "Take cards or construct, not both."
    yield "TAKE two cards from slots next to each other, the lower slot first. Empty slots are refilled after the turn."
    yield f"Hand limit: if you hold more than {limit} cards after taking, DISCARD down to {limit}."
    yield f"The order of DISCARD and PAY is {', '.join(COLOURS)}."
    yield "Then END the turn, or continue with an ability. If END is the only legal action, it is taken for you."
    yield "Every legal action allows what it begins to be completed."


def _construction(components: Components) -> Iterator[str]:
    yield "CONSTRUCTION"
    yield "BUILD a tile that is left in the supply, then PLACE it on empty cells."
    yield "At least 1 cell of the tile is in row 0 or directly above a filled cell. Nothing falls."
    yield "Cost: 1 card of the color of the tile for each cell; 1 less if it touches a tile of its color edge to edge."
    yield "The cards are paid when the tile is placed."
    yield "Only after RECOLOUR you PAY them one by one, and at least 1 of them has the new color."
    yield f"Full row: {components.points_row} points, or {components.points_row_windows} if it shows windows only."
    column = f"{components.points_column} points, or {components.points_column_windows}"
    yield f"Full column: {column} if it shows windows only."
    yield "A covered coat of arms, or a full row with a coat of arms next to it, brings 1 reward each:"
    yield "  WHITE: place a white tile on an empty cell in row 0 or directly above a filled cell. It scores lines, too."
    yield "  ABILITY: take an ability that you do not own."
    yield "  REACTIVATE: all your used abilities become active."
    yield "The turn ends with the last reward, or with the construction if it brings none."


def _abilities(config: CopenhagenConfig) -> Iterator[str]:
    yield "ABILITIES"
    yield f"Every player owns {ABILITIES[0]} from the beginning. USE turns an active ability to its used side."
    for ability, name in enumerate(ABILITIES):
        denied = [str(seat) for seat, abilities in enumerate(config.denied) if ability in abilities]
        barred = f"; denied to player {' and '.join(denied)}" if denied else ""
        yield f"  {name}: {_EFFECTS[name]}{barred}"
    yield "An ability is legal only where it changes more than its own side."


def _end(components: Components, players: int) -> Iterator[str]:
    yield "END OF THE GAME"
    yield f"The game ends when a player has {components.goal} points or more, before any reward,"
    yield "or when the End of Game card is drawn."
    last = components.last_cards
    if players == 2:
        yield f"The End of Game card is among the last {last} cards of the draw pile."
    else:
        yield "When the draw pile is empty and a card is needed, the discard pile is shuffled into a new draw pile."
        yield f"The End of Game card is then among its last {last} cards."
    yield "The most points win. Of players with equal points, those with fewer empty cells are ahead."
    yield "Players that are equal in both share the rank."
    yield "Hidden: the draw pile, and the hands of the others except for cards taken from the display."
