"""The rules of a configuration of Helsinki in words; every number comes from the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from helsinki_env.drawing.lines import pluralize
from helsinki_env.engine.component_reader import orientations
from helsinki_env.games.helsinki.action_words import cost_text
from helsinki_env.games.helsinki.actions import SIDES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLOURS, ROOFS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.text.position_text import cell_name, cells_text

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import CardVariant

__all__ = ["rule_lines"]

#: Effects of the board actions; the strength replaces the braces.
_EFFECTS = {
    "move_1_to_6": "before the move: this move is at least 4 and at most {} spaces",
    "move_1_to_5": "before the move: this move is at least 4 and at most {} spaces",
    "two_wild_tiles": "place at most {}, each on an empty cell next to a pavilion or wild tile of your board",
    "one_wild_tile": "place at most {}, each on an empty cell next to a pavilion or wild tile of your board",
    "any_side": "before PLACE: the tile enters from one of the three other sides instead",
    "extra_card": "instead of DRAW: draw as usual, and {} from the draw pile",
    "extra_superstructure": "after a build: place at most {} on free roofs of the new tile",
    "second_pavilion": "after a build: build once more",
    "one_card_fewer": "before the first PAY: {} fewer to pay",
    "move_superstructure": "LIFT one of your superstructures and place it on another free roof of your board",
    "move_back": "instead of the move: {} counterclockwise",
    "no_hand_limit": "before the first DISCARD: your hand has no limit until the end of your next turn",
    "draw_and_build": "after drawing: build in the same turn",
    "any_card_as_wild": "before the first PAY: the next card paid has another color",
    "two_points": "score {}",
}
#: Units of the strengths, for effects that do not give them.
_UNITS = {
    "two_wild_tiles": "wild tile",
    "one_wild_tile": "wild tile",
    "extra_card": "more card",
    "extra_superstructure": "superstructure",
    "move_back": "space",
    "two_points": "point",
}


def rule_lines(config: HelsinkiConfig) -> list[str]:
    """Return the rules of a configuration, in lines."""
    components = config.component_set
    lines = [
        "Rules of Helsinki for this game",
        "",
        f"Players: {config.num_players}, numbered from 0 in clockwise order. Player 0 begins.",
        "Each player fills the rows and columns of a board. The most points win.",
        "",
        *_board(components),
        "",
        *_cards(components, config.num_players),
        "",
        *_supply(components),
        "",
        *_turn(components),
        "",
        *_board_actions(config),
        "",
        *_end(config),
        "",
        *_notation(),
    ]
    return lines


def _board(components: Components) -> Iterator[str]:
    yield "BOARD"
    yield "A board has 7 x 7 cells. r2c5 is row 2, column 5. Row 0 is in the north, column 0 in the west."
    yield (
        f"The statue is on {cell_name(components.statue)} from the beginning. It counts as built, but it is no tile "
        "and has no roof."
    )
    yield f"Coats of arms lie on {cells_text(components.coats)}. A tile that covers one moves it to your meadow."


def _cards(components: Components, players: int) -> Iterator[str]:
    yield "CARDS"
    yield (
        "A card is written as color number/roofs+superstructures: its number is the cost in cards, itself included; "
        "it builds a tile of its color with this number of roofs."
    )
    deck = components.deck(players)
    for index, variant in enumerate(components.variants):
        counts = [deck[len(components.variants) * colour + index] for colour in range(len(COLOURS))]
        copies = ", ".join(f"{colour} {count}" for colour, count in zip(COLOURS, counts, strict=True))
        yield f"  {_face(variant)}: {copies}"
    yield f"  wild: {deck[components.wild_type]}. A wild card builds nothing and pays for any color."
    if players == 2:
        yield f"One random card with the number {components.any_removed2_number} is removed, and nobody sees it."
    yield f"The draw pile and the display begin with {components.deck_size(players)} cards."


def _face(variant: CardVariant) -> str:
    shown = f"+{variant.superstructures}" if variant.superstructures else ""
    return f"{variant.number}/{variant.roofs}{shown}"


def _supply(components: Components) -> Iterator[str]:
    yield "TILES"
    copies = ", ".join(f"{count} of {roofs} roofs" for roofs, count in zip(ROOFS, components.tile_copies, strict=True))
    yield f"Pavilion tiles of each color: {copies}."
    yield f"Wild tiles: {components.wild_tiles}, of 1 roof each, without color."
    yield f"Superstructures: {components.superstructures}. A roof carries at most 1."
    yield "Orientations of the tiles: rows from north to south, / between rows, X a roof, . nothing."
    drawn: dict[str, list[str]] = {}
    for colour, names in zip(COLOURS, components.tiles, strict=True):
        for roofs, name in zip(ROOFS, names, strict=True):
            drawn.setdefault(name, []).append(f"{colour} {roofs}")
    for name, tiles in drawn.items():
        shapes = orientations(components.shapes[name])
        yield f"  {', '.join(tiles)}: " + "  ".join(f"o{i} {'/'.join(rows)}" for i, rows in enumerate(shapes))


def _turn(components: Components) -> Iterator[str]:
    limit = components.hand_limit
    yield "START"
    yield "Player 0 chooses a space of the senate board. The token of player i starts 2 x i spaces further, clockwise."
    yield "The spaces 0 to 7 form a clockwise ring: 0 and 1 north, 2 and 3 east, 4 and 5 south, 6 and 7 west."
    yield "Display slot i is between the spaces i and i + 1. A token on space s is next to the slots s - 1 and s."
    yield "In order of play, each player then draws 2 cards from the draw pile."
    yield ""
    yield "A TURN"
    yield "1. MOVE your token 1 to 3 spaces clockwise. Tokens may share a space."
    yield "2. DRAW or BUILD, not both."
    yield "DRAW: take the cards of the two slots next to your token. Both are refilled, the lower slot first."
    yield f"Hand limit: if you hold more than {limit} cards after drawing, DISCARD down to {limit}."
    yield "BUILD: play a card. Its tile must be in the supply, payable, and fit on your board."
    yield "PAY: number - 1 further cards of the color of the card, or wild cards."
    yield (
        "PLACE: the tile comes from outside the board, from the side of your token, and moves straight on until the "
        "next step would put it on a built cell. It must be stopped, and lie wholly on the board."
    )
    yield "The lane is the lowest row or column that the tile covers."
    yield "If the tile touches a pavilion tile of its color edge to edge, draw 1 card from the draw pile."
    yield "ROOF: place the superstructures of the card on free roofs of the new tile, as long as the supply lasts."
    yield "PAY, DISCARD and ROOF choose one item at a time, in ascending order of card or cell."
    yield "3. END the turn, or continue with a board action."
    yield "Every legal action allows the turn to be completed. If END is the only legal action, it is taken for you."


def _board_actions(config: HelsinkiConfig) -> Iterator[str]:
    components = config.component_set
    yield "BOARD ACTIONS"
    yield "USE pays coats of arms from your meadow. Each player may use each board action once in a game."
    for action, name in enumerate(BOARD_ACTIONS):
        strength = components.strengths[action]
        unit = _UNITS.get(name, "")
        effect = _EFFECTS[name].format(pluralize(strength, unit) if unit else strength)
        covered = "; covered: no player may use it" if action in config.covered else ""
        denied = [str(seat) for seat, actions in enumerate(config.denied) if action in actions]
        barred = f"; denied to player {' and '.join(denied)}" if denied else ""
        yield f"  {name} ({cost_text(components.costs[action])}): {effect}{covered}{barred}"
    anywhere = ("two_points", "one_wild_tile", "two_wild_tiles", "move_superstructure")
    yield f"{', '.join(anywhere)}: before the move, before drawing or building, and before END."
    yield "A board action is legal only where it changes more than the coats and its own mark."


def _end(config: HelsinkiConfig) -> Iterator[str]:
    components = config.component_set
    yield "END OF THE GAME"
    yield "When the draw pile becomes empty for the first time, the round in progress is the last one."
    yield "When a card is needed later, the discard pile is shuffled into a new draw pile."
    yield f"Full row: {components.points_row} points. Full column: {components.points_column} points."
    yield (
        f"Superstructure: {components.points_crossing} points if its row and its column are full, "
        f"{components.points_line} if one of them is."
    )
    yield "Points made in play are added. Of tied players, the one with the higher number is ahead."
    if config.dry_roads:
        values = components.bonus_cards[: config.num_players]
        yield f"Dry roads: the bonus cards {', '.join(map(str, values))} are in play."
        yield (
            f"Once pavilion and wild tiles cover {cells_text(components.crosswalks)} and connect them edge to edge, "
            "you take the highest bonus card left and score it, once."
        )
    yield "Hidden: the draw pile, the hands of the others except for cards taken from the display, and a removed card."


def _notation() -> Iterator[str]:
    yield "HOW TO WRITE AN ACTION"
    yield "START space. MOVE spaces. DRAW. BUILD card. PAY card. WILD cell. LIFT cell. ROOF cell. DISCARD card."
    yield f"PLACE side oK lane L: side {', '.join(SIDES)}; orientation oK of the tile as above; lane L from 0 to 6."
    yield "USE board action. END."
