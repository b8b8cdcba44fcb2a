"""Convert games to positions, which are dicts of JSON types, and back.

A position restores a game byte for byte, unless it is a copy with only the information of one seat. Colors and
abilities are numbers, card counts are lists by color, and cells are ``5 * y + x``. ``draw_pile`` begins with the next
card; 5 is the End of Game card. ``pending`` is the operation in progress, with these keys where they apply:

============  ===========================================================================================
first         slot of the first of two cards, in TAKE until the second card is taken
using         ids of the abilities used for the operation in progress, until it is complete
tile          ``{"colour": "blue", "size": 4}`` in PLACE, RECOLOUR and PAY
recolour      color that counts as the color of the tile, once chosen
place         the argument of PLACE, in PAY
due           cards still to be paid, in PAY
paid          card counts paid so far for this tile, in PAY
last_discard  color of the last card discarded in this turn
rewards       pending rewards, including the current one, in COAT
============  ===========================================================================================

``chance`` holds the random state of the game: ``{"word": "0x..."}`` with 16 hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from helsinki_env.data import Node
from helsinki_env.engine.positions import (
    PositionError,
    bounded_integer,
    bounded_integers,
    bounding_corner,
    cell_list,
    distinct_integers,
    exact_mapping,
    fill_record,
    free_cells,
    hide_from_others,
    read_chance,
    read_config,
    read_header,
    read_tile_supply,
    record_to_namespace,
)
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import ABILITIES, CELLS, COLORS, COLUMNS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame, apply_setup
from helsinki_env.games.copenhagen.position.checks import check_position
from helsinki_env.games.copenhagen.state import END_CARD, PHASES, PILE, RECORD, TILES, Bounds, new_states
from helsinki_env.games.copenhagen.tables import bounds_of, build_tables

__all__ = ["POSITION_VERSION", "PositionError", "check_position", "from_dict", "read_game", "to_dict"]


POSITION_VERSION = 0
"""Version of the environment, `copenhagen_v0`."""

SEAT_FIELDS = tuple(RECORD[name] for name in ("owned", "used", "hand", "known", "points"))
"""Fields of a seat that have the same values in records and positions."""

_KEYS = (
    "game", "version", "components", "players", "denied", "phase", "to_move", "round", "done", "draw_pile",
    "discard_pile", "display", "tile_supply", "white_tiles", "seats", "pending", "chance",
)  # fmt: skip
_SEAT_KEYS = ("tiles", "white", *(field.public_name for field in SEAT_FIELDS))


# writing


def to_dict(game: CopenhagenGame, seat: int | None = None) -> dict[str, Any]:
    """Return a game as a dict of JSON types.

    Args:
        game: the game.
        seat: the seat whose view is returned (rules, section 5); None returns the whole position. In a view, other
            hands are replaced by ``{"size": n, "known": counts}`` and the draw pile by its size, and chance is omitted.
            A view also has ``end_card``, whether the End of Game card is in the draw pile, and ``reshuffled``, the
            contents of a draw pile made from the discard pile.
    """
    p, players = record_to_namespace(game.state), game.num_players
    position: dict[str, Any] = {
        "game": "copenhagen",
        "version": POSITION_VERSION,
        "components": game.config.components,
        "players": players,
        "denied": [list(abilities) for abilities in game.config.denied],
        "phase": str(game.phase),
        "to_move": p.seat,
        "round": p.round_number,
        "done": bool(p.done),
        "draw_pile": p.pile[: p.pile_size][::-1],
        "discard_pile": p.discard,
        "end_card": bool(p.end_card),
        "reshuffled": p.reshuffled,
        "display": RECORD["display"].to_json(p),
        "tile_supply": {colour: p.supply[4 * i : 4 * i + 4] for i, colour in enumerate(COLORS)},
        "white_tiles": p.white_tiles,
        "seats": [_seat(game, p, i) for i in range(players)],
        "pending": RECORD.pending_to_json(p, tile=_kind),
        "chance": {"word": f"0x{p.chance:016x}"},
    }
    if not any(position["denied"]):
        del position["denied"]
    if seat is None:
        del position["end_card"], position["reshuffled"]
    else:
        _hide(position, game.validate_seat(seat))
    return position


def _seat(game: CopenhagenGame, p: SimpleNamespace, seat: int) -> dict[str, Any]:
    tiles = range(p.tile_count[seat])
    return {
        "tiles": [_tile(game, p.tile_piece[seat][i], p.tile_cell[seat][i]) for i in tiles],
        "white": cell_list(p.white[seat]),
        **{field.public_name: field.to_json(p, seat) for field in SEAT_FIELDS},
    }


def _kind(kind: int) -> dict[str, Any]:
    return {"colour": COLORS[kind // 4], "size": TILE_SIZES[kind % 4]}


def _tile(game: CopenhagenGame, piece: int, corner: int) -> dict[str, Any]:
    t = game.config.tables
    cells = int(t["cells"][0, piece]) << corner
    return {**_kind(piece // 8), "cells": cell_list(cells), "brick": int(t["brick"][0, piece]) + corner}


def _hide(position: dict[str, Any], seat: int) -> None:
    """Remove the information that is hidden from a seat (section 5)."""
    hide_from_others(position, seat)
    # With three or four players, a draw pile that contains the End of Game card was made from the discard pile.
    # [R] The key remains until this card is drawn, even if no other card is left.
    if position["players"] == 2 or not position["end_card"]:
        del position["reshuffled"]


# reading


def from_dict(position: Mapping[str, Any], config: CopenhagenConfig | None = None) -> CopenhagenGame:
    """Return the game for a position from `to_dict`, including its random state.

    Every accepted position can be played to the end of the game, and all later positions are accepted, too. A position
    need not be reachable; the `checks` module lists the values that may be chosen freely.

    Args:
        position: the position, as a dict of JSON types.
        config: the game configuration, including components. By default, it is read from the position.

    Raises:
        PositionError: (a ValueError) if the position is invalid. The message names the key, the value found and the
            expected value.
    """
    game = read_game(position, config)
    check_position(game)
    return game


def read_game(position: Mapping[str, Any], config: CopenhagenConfig | None = None) -> CopenhagenGame:
    """Return the game for a position, like `from_dict`, but check only individual values."""
    data = read_header(position, "copenhagen", POSITION_VERSION, _KEYS, optional=("denied",))
    config = _config(data) if config is None else config
    bounds = bounds_of(config.tables[0])
    states = new_states(1)
    apply_setup(states, config)
    p = record_to_namespace(states[0])
    p.phase = PHASES.index(data["phase"].choice(PHASES))
    p.seat = bounded_integer(data["to_move"], "a seat", 0, p.players - 1)
    p.round_number = RECORD["round_number"].from_json(data["round"], bounds)
    p.done = int(data["done"].boolean())
    _read_cards(p, bounds, data)
    _read_supplies(p, config.component_set, bounds, data)
    for seat, entry in enumerate(data["seats"].entries("seats", length=p.players)):
        _read_seat(p, config.component_set, bounds, seat, exact_mapping(entry, _SEAT_KEYS))
    if p.done:
        for _, entry in data["pending"].items():
            entry.fail("once the game is over none")
    else:
        RECORD.pending_from_json(p, data["pending"], PHASES, bounds, tile=lambda entry: _read_kind(entry)[0])
    p.chance = read_chance(data["chance"])
    fill_record(states, p)
    return CopenhagenGame._from_valid_state(config, states[0])


# the parts of a position


def _config(data: Mapping[str, Node]) -> CopenhagenConfig:
    players, denied = bounded_integer(data["players"], "seats", 2, 4), None
    if "denied" in data:
        seats = data["denied"].entries("lists of abilities, one for each seat", length=players)
        denied = [distinct_integers(abilities, "an ability", "abilities", len(ABILITIES), low=1) for abilities in seats]
    config: CopenhagenConfig = read_config(CopenhagenConfig, data, num_players=players, denied=denied)
    return config


def _read_cards(p: SimpleNamespace, bounds: Bounds, data: Mapping[str, Node]) -> None:
    pile = data["draw_pile"]
    cards = bounded_integers(pile, "a colour, or 5 for the End of Game card,", "cards", END_CARD)
    if len(cards) > PILE:
        pile.fail(f"at most {PILE} cards", found=f"{len(cards)} cards")
    p.pile[: len(cards)] = cards[::-1]
    p.pile_size = len(cards)
    p.end_card = int(END_CARD in cards)
    p.discard = RECORD["discard"].from_json(data["discard_pile"], bounds)
    if p.players > 2 and p.end_card:  # the draw pile is the reshuffled discard pile, whose contents are public
        p.reshuffled = [cards.count(colour) for colour in range(len(COLORS))]
    p.display = RECORD["display"].from_json(data["display"], bounds)


def _read_supplies(p: SimpleNamespace, components: Components, bounds: Bounds, data: Mapping[str, Node]) -> None:
    copies = components.copies[p.players - 2]
    p.supply = read_tile_supply(data["tile_supply"], COLORS, "tile counts by size", copies)
    p.white_tiles = RECORD["white_tiles"].from_json(data["white_tiles"], bounds)


def _read_seat(p: SimpleNamespace, components: Components, bounds: Bounds, seat: int, data: Mapping[str, Node]) -> None:
    for tile in data["tiles"].entries("coloured tiles"):
        _read_tile(p, components, seat, tile)
    p.white[seat] = free_cells(data["white"], p.filled[seat], CELLS)
    p.filled[seat] |= p.white[seat]
    if isinstance(data["hand"].value, Mapping):
        data["hand"].fail("card counts: a copy for one seat cannot be continued")
    for field in SEAT_FIELDS:
        getattr(p, field.name)[seat] = field.from_json(data[field.public_name], bounds)


@lru_cache(maxsize=8)
def _pieces(components: Components) -> dict[tuple[int, int, int], int]:
    """Map each (kind, set of cells in the lower left corner, brick) to its piece, 8 * kind + orientation."""
    t = build_tables(components)[0]
    pieces = [
        actions.ORIENTATIONS * kind + orientation
        for kind in range(len(t.orientations))
        for orientation in range(t.orientations[kind])
    ]
    return {(piece // 8, int(t.cells[piece]), int(t.brick[piece])): piece for piece in pieces}


def _read_kind(entry: Node, *more: str) -> tuple[int, dict[str, Node]]:
    """Return the kind of a tile and the other values of its entry."""
    data = exact_mapping(entry, ("colour", "size", *more))
    colour = COLORS.index(data["colour"].choice(COLORS))
    return 4 * colour + bounded_integer(data["size"], "a size", TILE_SIZES[0], TILE_SIZES[-1]) - TILE_SIZES[0], data


def _read_tile(p: SimpleNamespace, components: Components, seat: int, tile: Node) -> None:
    kind, data = _read_kind(tile, "cells", "brick")
    cells = free_cells(data["cells"], p.filled[seat], CELLS)
    brick = bounded_integer(data["brick"], "a cell", 0, CELLS - 1)
    corner = bounding_corner(cells, COLUMNS)
    piece = _pieces(components).get((kind, cells >> corner, brick - corner))
    if piece is None:
        drawing = "/".join(components.drawings[kind // 4][kind % 4])
        tile.fail(f"cells and a brick in the shape {drawing}, turned or flipped")
    number = p.tile_count[seat]
    if number == TILES:
        tile.fail(f"at most {TILES} coloured tiles on a board")
    p.tile_piece[seat][number], p.tile_cell[seat][number] = piece, corner
    p.tile_count[seat] += 1
    p.filled[seat] |= cells
    p.coloured[seat][kind // 4] |= cells
    p.bricks[seat] |= 1 << brick
