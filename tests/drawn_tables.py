"""Positions for tests of drawings: tables whose tiles follow the rules of placement, as position dicts.

Scores during play and the order of the cards are arbitrary. The component file alone determines these positions, so
the tests of drawings do not need the engine.
"""

from __future__ import annotations

import random
from typing import Any

from helsinki_env.games.helsinki.components import COLORS, ROOFS, Components

SIZE = 7
Cells = list[tuple[int, int]]


def orientations(drawing: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the distinct rotations and reflections of a shape's drawing."""
    found: list[tuple[str, ...]] = []
    for start in (drawing, tuple(row[::-1] for row in drawing)):
        rows = start
        for _ in range(4):
            if rows not in found:
                found.append(rows)
            rows = tuple("".join(column) for column in zip(*rows[::-1], strict=True))
    return found


def push(built: set[int], drawing: tuple[str, ...], side: int, lane: int) -> list[int] | None:
    """Slide a tile in from a side (0 north, clockwise) to where it stops; None if it may not lie there."""
    roofs = [(r, c) for r, row in enumerate(drawing) for c, mark in enumerate(row) if mark == "X"]
    height, width = len(drawing), len(drawing[0])
    dr, dc = ((1, 0), (0, -1), (-1, 0), (0, 1))[side]
    row, column = ((-height, lane), (lane, SIZE), (SIZE, lane), (lane, -width))[side]
    if lane + (width if side in (0, 2) else height) > SIZE:
        return None
    for _ in range(2 * SIZE):
        ahead = [(row + r + dr, column + c + dc) for r, c in roofs]
        if any(0 <= r < SIZE and 0 <= c < SIZE and SIZE * r + c in built for r, c in ahead):
            here: Cells = [(row + r, column + c) for r, c in roofs]
            inside = all(0 <= r < SIZE and 0 <= c < SIZE for r, c in here)
            return sorted(SIZE * r + c for r, c in here) if inside else None
        row, column = row + dr, column + dc
    return None


def _neighbours(cell: int) -> list[int]:
    row, column = divmod(cell, SIZE)
    near = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [SIZE * r + c for r, c in near if 0 <= r < SIZE and 0 <= c < SIZE]


def _fit(built: set[int], cells: list[int]) -> float:
    """Return the value of a placement: higher if it fills rows and columns and leaves no hole."""
    after = built | set(cells)
    touching = sum(near in built for cell in cells for near in _neighbours(cell))
    rims = sum(4 - len(_neighbours(cell)) for cell in cells)
    holes = sum(c not in after and all(n in after for n in _neighbours(c)) for c in range(SIZE * SIZE))
    return touching + 0.7 * rims - 3 * holes


def _board(
    rng: random.Random, components: Components, supply: dict[str, list[int]], tiles: int, greed: float
) -> tuple[list[dict[str, Any]], set[int]]:
    """Push up to this many tiles onto an empty board, out of the common supply."""
    built = {components.statue}
    pavilions: list[dict[str, Any]] = []
    for _ in range(tiles):
        options = []
        for colour, name in enumerate(COLORS):
            for size, roofs in enumerate(ROOFS):
                if not supply[name][size]:
                    continue
                for drawing in orientations(components.shapes[components.tiles[colour][size]]):
                    for side in range(4):
                        for lane in range(SIZE):
                            cells = push(built, drawing, side, lane)
                            if cells is not None:
                                options.append((name, roofs, cells))
        if not options:
            break
        sample = rng.sample(options, min(len(options), 1 + int(60 * greed)))
        name, roofs, cells = max(sample, key=lambda option: _fit(built, option[2]))
        supply[name][roofs - 2] -= 1
        built.update(cells)
        pavilions.append({"colour": name, "roofs": roofs, "cells": cells})
    return pavilions, built


def table(
    components: Components, players: int, seed: int = 1, tiles: int = 5, *, greed: float = 0.6, **over: Any
) -> dict[str, Any]:
    """Return a position with about this many tiles on every board; keyword arguments replace top-level keys.

    `tiles` 0 is a fresh table, 5 a middle game, 16 a board with full rows. Wild tiles, superstructures, coats
    and used actions follow from how far the boards are.
    """
    rng = random.Random(seed)
    supply = {name: list(components.tile_copies) for name in COLORS}
    stock = {"wild": components.wild_tiles, "roofs": components.superstructures}
    deck = [kind for kind, count in enumerate(components.deck(players)) for _ in range(count)]
    rng.shuffle(deck)
    display: list[int | None] = [deck.pop() for _ in range(8)]
    start = rng.randrange(8)
    seats = []
    for number in range(players):
        pavilions, built = _board(rng, components, supply, tiles, greed)
        coats = [cell for cell in components.coats if cell not in built]
        wild = []
        for _ in range(min(tiles // 4, stock["wild"])):
            edge = [
                c
                for c in range(SIZE * SIZE)
                if c not in built and any(n in built and n != components.statue for n in _neighbours(c))
            ]
            if not edge:
                break
            cell = max(edge, key=lambda c: (sum(n in built for n in _neighbours(c)), rng.random()))
            wild.append(cell)
            built.add(cell)
            stock["wild"] -= 1
        coats = [cell for cell in coats if cell not in built]
        won = len(components.coats) - len(coats)
        spent = rng.randint(0, won)
        roofs = sorted({rng.choice(p["cells"]) for p in pavilions if rng.random() < 0.6})[: stock["roofs"]]
        stock["roofs"] -= len(roofs)
        hand, known = [0] * components.types, [0] * components.types
        for _ in range(min(len(deck), 2 if not tiles else rng.randint(1, components.hand_limit))):
            kind = deck.pop()
            hand[kind] += 1
            known[kind] += rng.random() < 0.4
        seats.append(
            {
                "pavilions": pavilions,
                "wild": sorted(wild),
                "superstructures": roofs,
                "coats_on_board": sorted(coats),
                "meadow": won - spent,
                "used": sorted(rng.sample(range(15), spent)),
                "hand": hand,
                "known": known,
                "token": (start + 2 * number + (rng.randrange(8) if tiles else 0)) % 8,
                "points": rng.choice((0, 0, 2)) if tiles else 0,
                "bonus": None,
                "limit_lifted": False,
            }
        )
    discard = [0] * components.types
    for _ in range(min(2 * len(deck) // 3 if tiles < 12 else len(deck), 4 * tiles * players)):
        discard[deck.pop()] += 1
    position: dict[str, Any] = {
        "game": "helsinki",
        "version": 0,
        "components": components.name,
        "players": players,
        "covered": [],
        "denied": [[] for _ in range(players)],
        "dry_roads": False,
        "phase": "MAIN",
        "to_move": 0,
        "round": 1 + tiles,
        "last_round": not deck,
        "done": False,
        "draw_pile": deck,
        "discard_pile": discard,
        "display": display,
        "tile_supply": supply,
        "wild_tiles": stock["wild"],
        "superstructures": stock["roofs"],
        "bonus_cards": [],
        "seats": seats,
        "pending": {},
        "chance": {"word": "0x0000000000000001"},
    }
    return position | over
