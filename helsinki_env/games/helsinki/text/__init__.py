"""Describe the rules, positions and events of Helsinki in words, for `helsinki_env.text`.

All numbers in the rules are taken from the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.spec import RuleSection
from helsinki_env.games.helsinki.action_words import action_effect, action_sentence, cost_text, label_of
from helsinki_env.games.helsinki.actions import SIDES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.text.position_text import cell_name, cells_text, describe_events, position_lines

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import CardVariant

__all__ = ["cell_name", "describe_events", "position_lines", "rule_sections"]


def rule_sections(config: HelsinkiConfig) -> list[RuleSection]:
    """Return the sections of the rules for a configuration."""
    c = config.component_set
    covered = ", ".join(label_of(c, action) for action in config.covered)
    sections = [
        RuleSection(
            "Goal",
            [
                "Fill the rows and columns of your board with pavilions and put superstructures on their roofs.",
                "After the last round, the player with the most points wins.",
            ],
        ),
        RuleSection(
            "Board",
            details=[
                "A board has 7 x 7 cells. r2c5 is row 2, column 5. Row 0 is in the north, column 0 in the west.",
                f"The statue is on {cell_name(c.statue)} from the beginning. It is no tile and has no roof.",
                f"Coats of arms lie on {cells_text(c.coats)}. A tile that covers one moves it to your meadow.",
            ],
        ),
        RuleSection("Cards", details=[*_cards(c, config.num_players)]),
        RuleSection("Tiles", details=[*_supply(c)]),
        RuleSection(
            "Start",
            details=[
                "Player 0 chooses a space of the senate board.",
                "The token of player i starts 2 x i spaces further, clockwise.",
                "The spaces 0 to 7 form a clockwise ring: 0 and 1 north, 2 and 3 east, 4 and 5 south, 6 and 7 west.",
                "Display slot i is between the spaces i and i + 1.",
                "A token on space s is next to the slots s - 1 and s.",
                "In order of play, each player then draws 2 cards from the draw pile.",
            ],
        ),
        RuleSection(
            "A turn",
            ["Move your token 1 to 3 spaces clockwise. Then either draw cards or build a pavilion."],
            [
                "1. MOVE. Tokens may share a space.",
                "2. DRAW or BUILD, not both.",
                "3. END the turn, or continue with a board action.",
                "PAY, DISCARD and ROOF choose one item at a time, in ascending order of card or cell.",
                "Every legal action allows the turn to be completed.",
                "If END is the only legal action, it is taken for you.",
            ],
            page=["The turn ends by itself when nothing else is possible; otherwise, you end it."],
        ),
        RuleSection(
            "Draw",
            [
                "Take the two cards next to your token into your hand.",
                f"If you then hold more than {c.hand_limit} cards, discard down to {c.hand_limit}.",
            ],
            ["Both slots are refilled, the lower slot first."],
        ),
        RuleSection(
            "Build",
            [
                "Play a card from your hand. Its number says how many cards you pay in all, this one included.",
                "The others must have the same color or be wild.",
                "The card shows a tile: push it in from the side of the board where your token is.",
                "It moves straight on until the next step would put it on a tile or the statue.",
                "It must be stopped, and lie wholly on the board. You may rotate and flip it.",
                "If it touches a pavilion of its own color edge to edge, draw a card from the draw pile.",
            ],
            [
                "The tile must be in the supply, payable, and fit on your board.",
                "The lane of PLACE is the lowest row or column that the tile covers.",
            ],
        ),
        RuleSection(
            "Superstructures",
            [
                "A card can show superstructures.",
                "Put them on free roofs of the tile that you have just built, as long as the supply lasts.",
            ],
        ),
        RuleSection(
            "Coats of arms",
            [
                f"Cover one of the {len(c.coats)} coats of arms on your board to win it.",
                "A coat pays for an action of the action board, also in the same turn.",
                "Each player can use each action once in a game.",
            ],
            page=[f"These actions are covered, so no player uses them: {covered}."] if covered else [],
        ),
        RuleSection(
            "Points",
            [
                f"Full row: {c.points_row} points. Full column: {c.points_column} points.",
                "The statue counts as a filled cell.",
                f"Superstructure: {c.points_crossing} points if both its lines are full, {c.points_line} if one is.",
                "Points made in play are added. A tie goes to the player later in turn order.",
            ],
        ),
        RuleSection(
            "End",
            ["The round in which the draw pile becomes empty for the first time is the last one."],
            [
                "When a card is needed later, the discard pile is shuffled into a new draw pile.",
                "Hidden: the draw pile, a removed card, and the hands of the others except for cards from the display.",
            ],
            page=["When a card is needed later, the discard pile is shuffled into a new draw pile."],
        ),
    ]
    if config.dry_roads:
        sections.append(
            RuleSection(
                "Dry roads",
                [
                    "Connect the four cells next to your crosswalks with tiles that touch each other edge to edge.",
                    "You then take the highest bonus card that is left and score it, once.",
                    f"The bonus cards {', '.join(map(str, c.bonus_cards[: config.num_players]))} are in play.",
                ],
                [f"These cells are {cells_text(c.crosswalks)}."],
            )
        )
    printed = [BOARD_ACTIONS.index(name) for row in c.action_rows for name in row]
    sections += [
        RuleSection(
            "Action board", details=[*_board_actions(config)], page=[action_sentence(c, action) for action in printed]
        ),
        RuleSection(
            "How to write an action",
            details=[
                "START space. MOVE spaces. DRAW. BUILD card. PAY card. WILD cell. LIFT cell. ROOF cell. DISCARD card.",
                f"PLACE side oK lane L: side {', '.join(SIDES)}, orientation oK of the tile above, lane L from 0 to 6.",
                "USE board action. END.",
            ],
        ),
    ]
    return sections


def _cards(components: Components, players: int) -> Iterator[str]:
    yield "A card is written as color number/roofs+superstructures. It builds a tile of its color and number of roofs."
    deck = components.deck(players)
    for index, variant in enumerate(components.variants):
        counts = [deck[len(components.variants) * colour + index] for colour in range(len(COLORS))]
        copies = ", ".join(f"{colour} {count}" for colour, count in zip(COLORS, counts, strict=True))
        yield f"  {_face(variant)}: {copies}"
    yield f"  wild: {deck[components.wild_type]}. A wild card builds nothing and pays for any color."
    if players == 2:
        yield f"One random card with the number {components.any_removed2_number} is removed unseen."
    yield f"The draw pile and the display begin with {components.deck_size(players)} cards."


def _face(variant: CardVariant) -> str:
    shown = f"+{variant.superstructures}" if variant.superstructures else ""
    return f"{variant.number}/{variant.roofs}{shown}"


def _supply(components: Components) -> Iterator[str]:
    copies = ", ".join(f"{count} of {roofs} roofs" for roofs, count in zip(ROOFS, components.tile_copies, strict=True))
    yield f"Pavilion tiles of each color: {copies}."
    yield f"Wild tiles: {components.wild_tiles}, of 1 roof each, without color."
    yield f"Superstructures: {components.superstructures}. A roof carries at most 1."
    yield "Orientations of the tiles: rows from north to south, / between rows, X a roof, . nothing."
    drawn: dict[str, list[str]] = {}
    for colour, names in zip(COLORS, components.tiles, strict=True):
        for roofs, name in zip(ROOFS, names, strict=True):
            drawn.setdefault(name, []).append(f"{colour} {roofs}")
    for name, tiles in drawn.items():
        shapes = orientations(components.shapes[name])
        yield f"  {', '.join(tiles)}: " + "  ".join(f"o{i} {'/'.join(rows)}" for i, rows in enumerate(shapes))


def _board_actions(config: HelsinkiConfig) -> Iterator[str]:
    components = config.component_set
    yield "USE pays coats of arms from your meadow."
    for action, name in enumerate(BOARD_ACTIONS):
        covered = " Covered: no player may use it." if action in config.covered else ""
        denied = [str(seat) for seat, actions in enumerate(config.denied) if action in actions]
        barred = f" Denied to player {' and '.join(denied)}." if denied else ""
        yield f"  {name} ({cost_text(components.costs[action])}): {action_effect(components, action)}{covered}{barred}"
    anywhere = ("two_points", "one_wild_tile", "two_wild_tiles", "move_superstructure")
    yield f"{', '.join(anywhere)}: before the move, before drawing or building, and before END."
    yield "A board action is legal only where it changes more than the coats and its own mark."
