"""Describe the rules, positions and events of Copenhagen in words, for `helsinki_env.text`.

All numbers in the rules are taken from the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.spec import RuleSection
from helsinki_env.games.copenhagen.ability_words import ability_effect, ability_sentence
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, COLUMNS, DISPLAY, ROWS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.text.position_text import cell_name, cells_text, describe_events, position_lines

__all__ = ["cell_name", "describe_events", "position_lines", "rule_sections"]


def rule_sections(config: CopenhagenConfig) -> list[RuleSection]:
    """Return the sections of the rules for a configuration."""
    c, players = config.component_set, config.num_players
    return [
        RuleSection(
            "Goal",
            [
                "Cover the facade of your house with tiles. Full rows and columns score points.",
                f"The first player with {c.goal} points wins at that moment.",
            ],
        ),
        RuleSection(
            "Board",
            details=[
                f"A board has {COLUMNS} columns and {ROWS} rows.",
                "The cell x,y is column x from the left, row y from below.",
                f"Coats of arms lie on the cells {cells_text(c.coats)}.",
                f"Coats of arms lie next to the rows {', '.join(map(str, c.coat_rows)) or 'none'}.",
            ],
        ),
        RuleSection("Cards and tiles", details=[*_parts(c, players)]),
        RuleSection(
            "A turn",
            ["Either take cards or construct."],
            [
                "Then END the turn, or continue with an ability. If END is the only legal action, it is taken for you.",
                "Every legal action allows what it begins to be completed.",
                f"The order of DISCARD and PAY is {', '.join(COLORS)}.",
            ],
        ),
        RuleSection(
            "Take cards",
            [
                f"Take two cards that lie next to each other in the display of {DISPLAY}.",
                f"If you then hold more than {c.hand_limit} cards, discard down to {c.hand_limit}.",
                "At the end of the turn the display is filled up.",
            ],
            ["TAKE the card of the lower slot first."],
        ),
        RuleSection(
            "Construct",
            [
                "Choose a tile of the common supply and pay one card of its color for each of its cells.",
                "Pay one card less if the tile touches a tile of its color edge to edge.",
                "One cell of the tile must have the ground or a filled cell directly below it.",
                "You may rotate and flip it.",
            ],
            [
                "BUILD a tile, then PLACE it on empty cells. Nothing falls.",
                "The cards are paid when the tile is placed.",
                "Only after RECOLOUR you PAY them one by one, and at least 1 of them has the new color.",
            ],
        ),
        RuleSection(
            "Points",
            [
                f"Full row: {c.points_row} points, or {c.points_row_windows} if it shows windows only.",
                f"Full column: {c.points_column} points, or {c.points_column_windows} if it shows windows only.",
                "Each colored tile shows one brick.",
            ],
        ),
        RuleSection(
            "Coats of arms",
            [
                "Cover a coat of arms, or fill a row next to one, for a reward.",
                "Choose a white tile of one window, a new ability, or turn your used abilities back.",
                f"The common supply has {c.white_tiles} white tiles.",
            ],
            [
                "  WHITE: place a white tile on an empty cell in row 0 or directly above a filled cell.",
                "  It scores lines, too.",
                "  ABILITY: take an ability that you do not own.",
                "  REACTIVATE: all your used abilities become active.",
                "The turn ends with the last reward, or with the construction if it brings none.",
            ],
        ),
        RuleSection(
            "Abilities",
            ["Every player owns Any cards. An ability is used once and then lies face down."],
            [*_abilities(config)],
            page=[ability_sentence(ability) for ability in range(len(ABILITIES))],
        ),
        RuleSection(
            "End",
            [
                f"The game ends when a player has {c.goal} points, or when the End of Game card is drawn.",
                "Most points win, and a tie goes to the player with fewer empty cells.",
            ],
            ["At that number of points the game ends before any reward.", *_end(c.last_cards, players)],
        ),
        RuleSection(
            "How to write an action",
            details=[
                "TAKE slot. BUILD color size. PLACE K at x,y. PAY color. DISCARD color. USE ability. RECOLOUR color.",
                "WHITE x,y. ABILITY ability. REACTIVATE. END.",
                "PLACE: K is the number of the orientation oK above.",
                "The cell x,y is the lower left corner of the box around the tile.",
            ],
        ),
    ]


def _parts(components: Components, players: int) -> Iterator[str]:
    yield f"Cards of each color: {components.cards[players - 2]}. Colors: {', '.join(COLORS)}."
    hands = ", ".join(f"player {seat} {count}" for seat, count in enumerate(components.hands[:players]))
    yield f"Cards dealt: {hands}."
    yield f"The display has the slots 0 to {DISPLAY - 1} in a row, from left to right."
    copies = zip(TILE_SIZES, components.copies[players - 2], strict=True)
    yield f"Tiles of each color: {', '.join(f'{count} of {size} cells' for size, count in copies)}."
    yield "Orientations of the tiles: upper row first, / between rows, B the brick, W a window, . nothing."
    drawn: dict[tuple[str, ...], list[str]] = {}
    for colour, drawings in zip(COLORS, components.drawings, strict=True):
        for size, drawing in zip(TILE_SIZES, drawings, strict=True):
            drawn.setdefault(drawing, []).append(f"{colour} {size}")
    for drawing, tiles in drawn.items():
        shapes = orientations(drawing)
        yield f"  {', '.join(tiles)}: " + "  ".join(f"o{i} {'/'.join(rows)}" for i, rows in enumerate(shapes))


def _abilities(config: CopenhagenConfig) -> Iterator[str]:
    yield "USE turns an active ability to its used side."
    for ability, name in enumerate(ABILITIES):
        denied = [str(seat) for seat, abilities in enumerate(config.denied) if ability in abilities]
        barred = f" Denied to player {' and '.join(denied)}." if denied else ""
        yield f"  {name}: {ability_effect(ability)}{barred}"
    yield "An ability is legal only where it changes more than its own side."


def _end(last: int, players: int) -> Iterator[str]:
    if players == 2:
        yield f"The End of Game card is among the last {last} cards of the draw pile."
    else:
        yield "When the draw pile is empty and a card is needed, the discard pile is shuffled into a new draw pile."
        yield f"The End of Game card is then among its last {last} cards."
    yield "Players that are equal in both share the rank."
    yield "Hidden: the draw pile, and the hands of the others except for cards taken from the display."
