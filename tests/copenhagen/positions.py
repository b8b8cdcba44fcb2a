"""Positions of Copenhagen for tests: made by hand, or at random with the rare things in them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import COLOURS, load_components
from helsinki_env.games.copenhagen.game import CopenhagenGame

Position = dict[str, Any]
Tile = dict[str, Any]
BLUE, GREEN, PURPLE, RED, YELLOW = range(5)
END_CARD = 5
COMPONENTS = load_components()


# Tiles, plainly


@cache
def orientations(colour: int, size: int) -> tuple[tuple[frozenset[tuple[int, int]], tuple[int, int]], ...]:
    """Distinct (cells, brick) of a tile as (x, y) from its lower left corner: turned clockwise, then mirrored first."""
    drawing = COMPONENTS.drawings[colour][size - 2]
    height = len(drawing)
    marks = {(x, height - 1 - i): m for i, row in enumerate(drawing) for x, m in enumerate(row) if m != "."}
    found = []
    for flip in (1, -1):
        points = {(flip * x, y): mark for (x, y), mark in marks.items()}
        for _ in range(4):
            left, low = min(x for x, _ in points), min(y for _, y in points)
            moved = {(x - left, y - low): mark for (x, y), mark in points.items()}
            brick = next(cell for cell, mark in moved.items() if mark == "B")
            if (frozenset(moved), brick) not in found:
                found.append((frozenset(moved), brick))
            points = {(y, -x): mark for (x, y), mark in points.items()}
    return tuple(found)


def supported(cell: int, filled: Iterable[int]) -> bool:
    return cell < 5 or cell - 5 in filled


@cache
def lyings(colour: int, size: int) -> dict[int, tuple[frozenset[int], int]]:
    """Cells and brick of a tile by the argument of PLACE, wherever it is on the board."""
    found = {}
    for orientation, (cells, brick) in enumerate(orientations(colour, size)):
        for y in range(9):
            for x in range(5):
                at = [(x + i, y + j) for i, j in cells]
                if all(i < 5 and j < 9 for i, j in at):
                    lying = frozenset(5 * j + i for i, j in at)
                    found[45 * orientation + 5 * y + x] = lying, 5 * (y + brick[1]) + x + brick[0]
    return found


def placements(colour: int, size: int, filled: set[int]) -> dict[int, tuple[frozenset[int], int]]:
    """Those on empty cells with support."""
    return {
        argument: (cells, brick)
        for argument, (cells, brick) in lyings(colour, size).items()
        if not cells & filled and any(supported(cell, filled) for cell in cells)
    }


def near(cells: Iterable[int]) -> set[int]:
    """Cells that touch one of some cells edge to edge."""
    found = set()
    for cell in cells:
        x, y = cell % 5, cell // 5
        around = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        found |= {5 * j + i for i, j in around if 0 <= i < 5 and 0 <= j < 9}
    return found


def tile(colour: int, cells: Sequence[int], brick: int) -> Tile:
    return {"colour": COLOURS[colour], "size": len(cells), "cells": sorted(cells), "brick": brick}


def row(y: int, colours: Sequence[int] = (BLUE, GREEN), bricks: Sequence[int] = (0, 3)) -> list[Tile]:
    """Two tiles that fill four cells of a row, all but the last."""
    return [
        tile(colour, [5 * y + x, 5 * y + x + 1], 5 * y + brick)
        for colour, x, brick in zip(colours, (0, 2), bricks, strict=True)
    ]


# Positions


def seat(
    hand: Sequence[int] = (0, 0, 0, 0, 0),
    tiles: Sequence[Tile] = (),
    white: Sequence[int] = (),
    abilities: Sequence[int] = (0,),
    used: Sequence[int] = (),
    points: int = 0,
    known: Sequence[int] | None = None,
) -> dict[str, Any]:
    return {
        "tiles": list(tiles),
        "white": sorted(white),
        "abilities": sorted(abilities),
        "used": sorted(used),
        "hand": list(hand),
        "known": [0] * 5 if known is None else list(known),
        "points": points,
    }


def position(
    *seats: Mapping[str, Any],
    display: Sequence[int | None] = (0, 1, 2, 3, 4, 0, 1),
    discard: Sequence[int] = (0, 0, 0, 0, 0),
    pile: Sequence[int] | None = None,
    **keys: Any,
) -> Position:
    """A position with these seats (two if fewer are given): what is nowhere else is in the draw pile, ascending.

    Args:
        seats: as `seat` makes them.
        display: colours.
        discard: counts, at least.
        pile: the next cards to be drawn; cards that are then left over are on the discard pile. Default: all of them,
            and the End of Game card last.
        keys: of the position, in place of what they would be.
    """
    all_seats = [*seats, *(seat() for _ in range(2 - len(seats)))]
    players = len(all_seats)
    left = [COMPONENTS.cards[players - 2]] * 5
    for held in [*(one["hand"] for one in all_seats), discard]:
        left = [a - b for a, b in zip(left, held, strict=True)]
    for card in (*display, *(pile or ())):
        if card is not None and card != END_CARD:
            left[card] -= 1
    thrown = list(discard)
    if pile is None:
        cards = [colour for colour in range(5) for _ in range(left[colour])] + [END_CARD] * (players == 2)
    else:
        cards, thrown = list(pile), [a + b for a, b in zip(discard, left, strict=True)]
    assert min(left) >= 0
    supply = {
        name: [
            copies - sum(t["colour"] == name and t["size"] == size for one in all_seats for t in one["tiles"])
            for size, copies in zip((2, 3, 4, 5), COMPONENTS.copies[players - 2], strict=True)
        ]
        for name in COLOURS
    }
    made = {
        "game": "copenhagen",
        "version": 0,
        "components": "copenhagen",
        "players": players,
        "phase": "MAIN",
        "to_move": 0,
        "round": 5,
        "done": False,
        "draw_pile": cards,
        "discard_pile": thrown,
        "display": list(display),
        "tile_supply": supply,
        "white_tiles": COMPONENTS.white_tiles - sum(len(one["white"]) for one in all_seats),
        "seats": all_seats,
        "pending": {},
        "chance": {"word": "0x0123456789abcdef"},
    }
    return made | keys


def game(*seats: Mapping[str, Any], **keys: Any) -> CopenhagenGame:
    return CopenhagenGame.from_dict(position(*seats, **keys))


def act(kind: str, argument: int = 0) -> int:
    """The id of a decision."""
    return actions.encode(actions.KINDS.index(kind), argument)


def legal(of: CopenhagenGame, kind: str) -> list[int]:
    """Arguments of the legal decisions of a kind."""
    found = [actions.decode(int(action)) for action in of.legal_actions()]
    return [argument for k, argument in found if actions.KINDS[k] == kind]


def legal_kinds(of: CopenhagenGame) -> list[str]:
    return sorted({actions.KINDS[actions.decode(int(action))[0]] for action in of.legal_actions()})


def argument_of(colour: int, cells: Sequence[int], brick: int) -> int:
    """The argument of PLACE by which a tile comes to lie on these cells."""
    return next(a for a, lying in lyings(colour, len(cells)).items() if lying == (frozenset(cells), brick))


def build(of: CopenhagenGame, colour: int, cells: Sequence[int], brick: int) -> None:
    """Build a tile that needs no ability."""
    of.step(act("BUILD", 4 * colour + len(cells) - 2))
    of.step(act("PLACE", argument_of(colour, cells, brick)))


# At random


def rich(rng: random.Random, players: int | None = None) -> Position:
    """A random position at the beginning of a turn: grown boards, hands of few colours, many abilities."""
    count = players or rng.choice((2, 2, 3, 4))
    left = [COMPONENTS.cards[count - 2]] * 5
    supply = {(c, s): COMPONENTS.copies[count - 2][s - 2] for c in range(5) for s in (2, 3, 4, 5)}
    white_left = COMPONENTS.white_tiles
    seats = []
    for _ in range(count):
        tiles, white, filled = _grown(rng, supply, rng.choice((0, 3, 8, 12)), min(white_left, rng.randint(0, 3)))
        white_left -= len(white)
        abilities = {0, *(a for a in range(1, 5) if rng.random() < 0.7)}
        used = {a for a in abilities if rng.random() < 0.3}
        hand = [0] * 5
        colours = rng.sample(range(5), rng.choice((1, 2, 2, 3, 5)))
        for _ in range(rng.randint(0, 7)):
            colour = rng.choice(colours)
            if left[colour]:
                hand[colour], left[colour] = hand[colour] + 1, left[colour] - 1
        known = [rng.randint(0, held) for held in hand]
        seats.append(seat(hand, tiles, white, sorted(abilities), sorted(used), rng.randint(0, 11), known))
        assert len(filled) == len(white) + sum(len(t["cells"]) for t in tiles)
    rest = [colour for colour in range(5) for _ in range(left[colour])]
    rng.shuffle(rest)
    display, rest = rest[:7], rest[7:]
    pile = rest[: rng.randint(0, len(rest))]
    if count == 2 or rng.random() < 0.5:
        pile.insert(max(0, len(pile) - rng.randint(0, 9)), END_CARD)
    return position(
        *seats,
        display=display,
        pile=pile,
        to_move=rng.randrange(count),
        chance={"word": f"0x{rng.getrandbits(64):016x}"},
    )


def _grown(
    rng: random.Random, supply: dict[tuple[int, int], int], most: int, whites: int
) -> tuple[list[Tile], list[int], set[int]]:
    """A board with up to `most` coloured tiles, some colours more often than others."""
    tiles: list[Tile] = []
    white: list[int] = []
    filled: set[int] = set()
    weights = [rng.random() + 0.1 for _ in range(5)]
    for number in range(most):
        colour, size = rng.choices(range(5), weights)[0], rng.choice((2, 3, 4, 5))
        fits = placements(colour, size, filled)
        if fits and supply[colour, size]:
            # low ones fill rows and leave the rest of the board open
            cells, brick = min(rng.sample(sorted(fits.values(), key=str), min(3, len(fits))), key=lambda v: sum(v[0]))
            tiles.append(tile(colour, sorted(cells), brick))
            filled |= cells
            supply[colour, size] -= 1
        if number < whites:
            free = [cell for cell in range(45) if cell not in filled and supported(cell, filled)]
            if free:
                white.append(rng.choice(free))
                filled.add(white[-1])
    return tiles, white, filled
