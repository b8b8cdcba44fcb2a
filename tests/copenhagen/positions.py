"""Positions of Copenhagen for tests, written by hand or built at random.

`position` and `seat` write a position of which a test states only the interesting part. `built_position` builds a
whole position with full boards, abilities, hands and piles that play can reach: tiles have support, points match the
lines, abilities and white tiles match the activated coats of arms, and the cards make up the deck.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, TILE_SIZES, Components, load_components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from tests.oracles.copenhagen import (
    ADDITIONAL_CARD,
    ANY_CARDS,
    BOTH_ACTIONS,
    CELLS,
    CHANGE_OF_COLOURS,
    COAT,
    COLUMNS,
    DISCARD,
    DISCOUNT,
    END,
    END_CARD,
    MAIN,
    PAY,
    PHASES,
    PLACE,
    RECOLOUR,
    ROWS,
    SLOTS,
    TAKE,
    WHITE,
    Placement,
    ReferenceGame,
    column_cells,
    decode,
    open_placements,
    placements_on_board,
    row_cells,
    supported,
)

Position: TypeAlias = dict[str, Any]

BOX = load_components("copenhagen")
BLUE, GREEN, PURPLE, RED, YELLOW = range(5)


# -- positions written by hand -------------------------------------------------------------------------------


def cell(x: int, y: int) -> int:
    """The number of a cell, x from the left and y from the bottom."""
    return COLUMNS * y + x


def hand_of(**cards: int) -> list[int]:
    """Counts by color: ``hand_of(blue=2, red=1)``."""
    return [cards.get(colour, 0) for colour in COLORS]


def tile(colour: int, cells: Iterable[int], brick: int | None = None) -> Position:
    """A tile on a board; its lowest cell shows the brick by default."""
    lies = sorted(cells)
    return {"colour": COLORS[colour], "size": len(lies), "cells": lies, "brick": lies[0] if brick is None else brick}


def row(y: int, colours: Sequence[int] = (BLUE, GREEN), bricks: Sequence[int] = (0, 3)) -> list[Position]:
    """Two tiles that fill the first four cells of a row."""
    return [
        tile(colour, [5 * y + x, 5 * y + x + 1], 5 * y + brick)
        for colour, x, brick in zip(colours, (0, 2), bricks, strict=True)
    ]


def _numbers(abilities: Iterable[int | str]) -> list[int]:
    return sorted(ABILITIES.index(one) if isinstance(one, str) else one for one in abilities)


def seat(
    hand: Sequence[int] = (0,) * 5,
    tiles: Iterable[Position] = (),
    white: Iterable[int] = (),
    abilities: Iterable[int | str] = (ANY_CARDS,),
    used: Iterable[int | str] = (),
    points: int = 0,
    known: Sequence[int] = (0,) * 5,
) -> Position:
    """One player; abilities by number or name."""
    return {
        "tiles": list(tiles),
        "white": sorted(white),
        "abilities": _numbers(abilities),
        "used": _numbers(used),
        "hand": list(hand),
        "known": list(known),
        "points": points,
    }


def position(
    *seats: Position,
    display: Sequence[int | None] = (0, 1, 2, 3, 4, 0, 1),
    discard: Sequence[int] = (0,) * 5,
    pile: Sequence[int] | None = None,
    **keys: Any,
) -> Position:
    """A position of at least two players, by default in MAIN of seat 0.

    Args:
        seats: as `seat` returns them.
        display: colors.
        discard: counts by color, at least.
        pile: the next cards of the draw pile; all cards that are left go to the discard pile. By default the draw pile
            holds them in ascending order, with the End of Game card last in a game of two.
        keys: keys of the position to replace.
    """
    given = [*seats, *(seat() for _ in range(2 - len(seats)))]
    players = len(given)
    left = [BOX.cards[players - 2]] * len(COLORS)
    for counts in [discard, *(one["hand"] for one in given)]:
        left = [have - count for have, count in zip(left, counts, strict=True)]
    for card in (*display, *(pile or ())):
        if card is not None and card != END_CARD:
            left[card] -= 1
    assert min(left) >= 0, "more cards of a color than the deck holds"
    if pile is None:
        pile = [colour for colour, count in enumerate(left) for _ in range(count)] + [END_CARD] * (players == 2)
    else:
        discard = [a + b for a, b in zip(discard, left, strict=True)]
    supply = {colour: list(BOX.copies[players - 2]) for colour in COLORS}
    for one in given:
        for built in one["tiles"]:
            supply[built["colour"]][TILE_SIZES.index(built["size"])] -= 1
    return {
        "game": "copenhagen",
        "version": 0,
        "components": "copenhagen",
        "players": players,
        "phase": MAIN,
        "to_move": 0,
        "round": 5,
        "done": False,
        "draw_pile": list(pile),
        "discard_pile": list(discard),
        "display": list(display),
        "tile_supply": supply,
        "white_tiles": BOX.white_tiles - sum(len(one["white"]) for one in given),
        "seats": given,
        "pending": {},
        "chance": {"word": "0x0123456789abcdef"},
    } | keys


def game(*seats: Position, **keys: Any) -> CopenhagenGame:
    """The game at such a position."""
    return CopenhagenGame.from_dict(position(*seats, **keys))


def act(kind: str, argument: int = 0) -> int:
    """The id of an action."""
    return actions.encode(actions.KINDS.index(kind), argument)


def argument_of(colour: int, cells: Iterable[int], brick: int) -> int:
    """The argument of PLACE that puts a tile on these cells."""
    there = frozenset(cells)
    lies = placements_on_board(BOX.drawings[colour][len(there) - 2])
    return next(one.argument for one in lies if (one.cells, one.brick) == (there, brick))


def build(of: CopenhagenGame, colour: int, cells: Sequence[int], brick: int) -> None:
    """Build a tile that needs no ability."""
    of.step(act("BUILD", 4 * colour + len(cells) - 2))
    of.step(act("PLACE", argument_of(colour, cells, brick)))


# -- ways to play --------------------------------------------------------------------------------------------

_WEIGHTS = {"USE": 12.0, "BUILD": 8.0, "PLACE": 6.0, "WHITE": 2.0, "ABILITY": 1.5, "TAKE": 2.0}


def choose_rare(rng: random.Random, game: ReferenceGame) -> int:
    """Return a legal action, with preference for abilities, building and coats of arms."""
    legal = game.legal_actions()
    by_kind: dict[str, list[int]] = {}
    for action in legal:
        by_kind.setdefault(decode(action)[0], []).append(action)
    kinds = list(by_kind)
    kind = rng.choices(kinds, [_WEIGHTS.get(kind, 1.0) for kind in kinds])[0]
    actions = by_kind[kind]
    if kind in (PLACE, WHITE) and rng.random() < 0.8:
        return max(actions, key=lambda action: (_gain(game, *decode(action)), rng.random()))
    return rng.choice(actions)


def choose_uniformly(rng: random.Random, game: ReferenceGame) -> int:
    """Return a uniformly random legal action."""
    return rng.choice(game.legal_actions())


def _gain(game: ReferenceGame, kind: str, argument: int) -> float:
    """Return the value of a placement: lines, coats of arms, and low cells."""
    me, data = game.seats[game.seat], game.components
    cells, bricks = frozenset({argument}), me.bricks()
    if kind == PLACE:
        assert game.pending.tile is not None
        colour, size = game.pending.tile
        drawing = tuple(data.drawings[colour][TILE_SIZES.index(size)])
        (lies,) = (p for p in placements_on_board(drawing) if p.argument == argument)
        cells, bricks = lies.cells, bricks | {lies.brick}
    return _worth(cells, bricks, me.filled(), data)


def _worth(cells: frozenset[int], bricks: set[int], filled: frozenset[int], data: Components) -> float:
    """Return the value of filling cells; `bricks` are those after it."""
    after = filled | cells
    rows = [row_cells(y) for y in range(ROWS) if row_cells(y) <= after and not row_cells(y) <= filled]
    columns = [column_cells(x) for x in range(COLUMNS) if column_cells(x) <= after and not column_cells(x) <= filled]
    windows = sum(bricks.isdisjoint(row) for row in rows) + 3 * sum(bricks.isdisjoint(column) for column in columns)
    coats = sum(covered in data.coats for covered in cells) + sum(row_cells(y) in rows for y in data.coat_rows)
    height = sum(covered // COLUMNS for covered in cells) / len(cells)
    return 3 * coats + 2 * len(rows) + 4 * len(columns) + windows - 0.6 * height


# -- positions built at random -------------------------------------------------------------------------------


@dataclass
class _Board:
    """A board under construction with its tiles and abilities."""

    tiles: list[tuple[int, int, Placement]] = field(default_factory=list)
    white: set[int] = field(default_factory=set)
    abilities: set[int] = field(default_factory=lambda: {ANY_CARDS})
    used: set[int] = field(default_factory=set)
    tower: int | None = None  # a column with windows only, as far as possible

    def filled(self) -> frozenset[int]:
        return frozenset(self.white).union(*(placement.cells for _, _, placement in self.tiles))

    def taste(self, lies: Placement) -> float:
        """Return how well a placement suits the tower."""
        if self.tower is None:
            return 0.0
        cells = column_cells(self.tower)
        return 2.0 * len(cells & lies.cells) - 20.0 * (lies.brick in cells)

    def points(self, data: Components) -> int:
        """Return the points of all full lines."""
        filled = self.filled()
        bricks = {placement.brick for _, _, placement in self.tiles}
        points = 0
        for y in range(ROWS):
            if row_cells(y) <= filled:
                points += data.points_row_windows if bricks.isdisjoint(row_cells(y)) else data.points_row
        for x in range(COLUMNS):
            if column_cells(x) <= filled:
                points += data.points_column_windows if bricks.isdisjoint(column_cells(x)) else data.points_column
        return points

    def activated(self, data: Components) -> int:
        """Return the number of coats of arms that are covered or next to a full row."""
        filled = self.filled()
        return sum(c in filled for c in data.coats) + sum(row_cells(y) <= filled for y in data.coat_rows)


def built_position(config: CopenhagenConfig, rng: random.Random) -> Position:
    """A position in any phase that play can reach and in which much is possible.

    Actions lead from a position at the beginning of a turn to a random phase, or to the nearest position if they
    cannot reach it.
    """
    nothing_left = rng.random() < 0.08
    goal = PLACE if nothing_left else rng.choice(PHASES)
    game = ReferenceGame.from_dict(_beginning_of_a_turn(config, rng, goal, nothing_left), config)
    found = game.to_dict()
    for _ in range(12):
        if goal == MAIN and rng.random() < 0.6:
            break
        game.step(choose_rare(rng, game))
        if game.done:
            if rng.random() < 0.1:
                found = game.to_dict()
            break
        found = game.to_dict()
        if game.phase == goal and (goal != PAY or rng.random() < 0.6):
            break
    return found


#: The ability that leads to each phase.
_HELPFUL = {
    RECOLOUR: CHANGE_OF_COLOURS,
    PAY: CHANGE_OF_COLOURS,
    END: BOTH_ACTIONS,
    DISCARD: ADDITIONAL_CARD,
    PLACE: DISCOUNT,
    TAKE: ADDITIONAL_CARD,
}


def rich(rng: random.Random, players: int | None = None) -> Position:
    """A random position at the beginning of a turn."""
    return _beginning_of_a_turn(CopenhagenConfig(players or rng.choice((2, 2, 3, 4))), rng, rng.choice(PHASES))


def _beginning_of_a_turn(
    config: CopenhagenConfig, rng: random.Random, goal: str, nothing_left: bool = False
) -> Position:
    """Return a position in MAIN.

    With `nothing_left`, other seats own the white tiles and the acting seat owns the abilities, as far as their coats
    of arms allow. The next reward may then have no choice.
    """
    data, players = config.component_set, config.num_players
    to_move = rng.randrange(players)
    supply = [list(data.copies[players - 2]) for _ in COLORS]
    boards = [_Board() for _ in range(players)]
    white_left = data.white_tiles
    for number in sorted(rng.sample(range(players), players), key=lambda one: one == to_move):
        wanted = rng.choice((0, 2, 4, 6, 8, 8, 10, 12))
        if number == to_move:
            wanted = max(wanted, rng.choice((0, 5, 8)))
        taste = rng.choice(("abilities", "abilities", "white", "mixed"))
        if nothing_left:
            wanted, taste = max(wanted, 8), "abilities only" if number == to_move else "white only"
        order = rng.sample(range(1, len(ABILITIES)), len(ABILITIES) - 1)
        helpful = _HELPFUL.get(goal)
        if number == to_move and helpful is not None:
            order.sort(key=lambda ability, first=helpful: ability != first)  # type: ignore[misc]
        order = [ability for ability in order if ability not in config.denied[number]]
        board = boards[number]
        board.tower = rng.choice((None, rng.randrange(COLUMNS)))
        for _ in range(wanted):
            _build_one(board, supply, data, rng)
            white_left -= _take_rewards(board, order, taste, white_left, data, rng)
        how_often = 0.0 if nothing_left else rng.choice((0.0, 0.15, 0.5))
        board.used = {ability for ability in board.abilities if rng.random() < how_often}
        if number == to_move and rng.random() < 0.8:
            board.used.discard(helpful if helpful is not None else ANY_CARDS)
    display, hands, draw_pile, discard_pile = _cards(config, rng, to_move, goal)
    written: Position = {
        "game": "copenhagen",
        "version": 0,
        "components": config.components,
        "players": players,
    }
    if any(config.denied):
        written["denied"] = [list(abilities) for abilities in config.denied]
    return written | {
        "phase": MAIN,
        "to_move": to_move,
        "round": 1 + max(len(board.tiles) for board in boards) + rng.randrange(1, 10),
        "done": False,
        "draw_pile": draw_pile,
        "discard_pile": discard_pile,
        "display": display,
        "tile_supply": {name: supply[colour] for colour, name in enumerate(COLORS)},
        "white_tiles": white_left,
        "seats": [
            {
                "tiles": [
                    {"colour": COLORS[colour], "size": size, "cells": sorted(lies.cells), "brick": lies.brick}
                    for colour, size, lies in board.tiles
                ],
                "white": sorted(board.white),
                "abilities": sorted(board.abilities),
                "used": sorted(board.used),
                "hand": hands[number],
                "known": _known(hands[number], data.hands[number], rng),
                "points": board.points(data),
            }
            for number, board in enumerate(boards)
        ],
        "pending": {},
        "chance": {"word": f"0x{rng.getrandbits(64):016x}"},
    }


def _build_one(board: _Board, supply: list[list[int]], data: Components, rng: random.Random) -> None:
    """Place one tile of the supply without ending the game."""
    filled = board.filled()
    there = [(colour, size) for colour in range(len(COLORS)) for size in TILE_SIZES if supply[colour][size - 2]]
    options = [
        (colour, size, placement)
        for colour, size in rng.sample(there, min(4, len(there)))
        for placement in open_placements(tuple(data.drawings[colour][size - 2]), filled)
    ]
    if not options:
        return
    if rng.random() < 0.75:
        options = rng.sample(options, min(40, len(options)))
        bricks = {lies.brick for _, _, lies in board.tiles}
        worth = [_worth(lies.cells, bricks | {lies.brick}, filled, data) + board.taste(lies) for _, _, lies in options]
        chosen = options[max(range(len(options)), key=lambda i: (worth[i], rng.random()))]
    else:
        chosen = rng.choice(options)
    board.tiles.append(chosen)
    if board.points(data) >= data.goal:
        board.tiles.pop()
        return
    supply[chosen[0]][chosen[1] - 2] -= 1


def _take_rewards(
    board: _Board, order: list[int], taste: str, white_left: int, data: Components, rng: random.Random
) -> int:
    """Take abilities and white tiles for activated coats of arms; return the number of white tiles.

    Some rewards flip abilities back instead, which leaves no trace.
    """
    put = 0
    while len(board.white) + len(board.abilities) - 1 < board.activated(data):
        wish = taste.removesuffix(" only")
        if taste == "mixed" or (taste == wish and rng.random() < 0.2):
            wish = rng.choice(("abilities", "white", "nothing"))
        missing = [ability for ability in order if ability not in board.abilities]
        if wish == "white" and put < white_left:
            filled = board.filled()
            places = [c for c in range(CELLS) if c not in filled and supported(c, filled)]
            rng.shuffle(places)
            for place in places:
                board.white.add(place)
                if board.points(data) < data.goal:
                    put += 1
                    break
                board.white.discard(place)
            else:
                return put
        elif wish != "nothing" and missing:
            board.abilities.add(missing[0])
        else:
            return put  # used abilities were flipped back
    return put


def _cards(
    config: CopenhagenConfig, rng: random.Random, to_move: int, goal: str
) -> tuple[list[int | None], list[list[int]], list[int], list[int]]:
    """Return display, hands, draw pile (the next card first) and discard pile."""
    data, players = config.component_set, config.num_players
    cards = [colour for colour in range(len(COLORS)) for _ in range(data.cards[players - 2])]
    rng.shuffle(cards)
    display: list[int | None] = [cards.pop() for _ in range(SLOTS)]
    hands = [[0] * len(COLORS) for _ in range(players)]
    for number in rng.sample(range(players), players):
        size = rng.randint(0, data.hand_limit)
        if number == to_move and (goal in (DISCARD, PAY, COAT) or rng.random() < 0.5):
            size = rng.randint(max(0, data.hand_limit - 2), data.hand_limit)
        liking = [rng.choice((0.2, 1.0, 4.0)) for _ in COLORS]
        for _ in range(min(size, len(cards))):
            card = rng.choices(cards, [liking[colour] for colour in cards])[0]
            cards.remove(card)
            hands[number][card] += 1
    in_pile = rng.choice((rng.randint(0, 3), rng.randint(0, 12), rng.randint(0, len(cards))))
    draw_pile, rest = cards[:in_pile], cards[in_pile:]
    if players == 2 or rng.random() < 0.5:
        beneath = rng.randint(0, min(len(draw_pile), data.last_cards - 1))
        draw_pile.insert(len(draw_pile) - beneath, END_CARD)
    return display, hands, draw_pile, [rest.count(colour) for colour in range(len(COLORS))]


def _known(hand: list[int], dealt: int, rng: random.Random) -> list[int]:
    """Return the known part of a hand: all cards except some that were dealt."""
    cards = [colour for colour, count in enumerate(hand) for _ in range(count)]
    rng.shuffle(cards)
    shown = cards[rng.randint(0, dealt) :]
    return [shown.count(colour) for colour in range(len(COLORS))]
