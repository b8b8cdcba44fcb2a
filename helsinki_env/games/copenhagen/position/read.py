"""Create games from plain data: this module rejects invalid values, `check_position` rejects inconsistent ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from helsinki_env.data import Node
from helsinki_env.engine.positions import (
    PositionError,
    bit_set,
    bounded_integer,
    bounded_integers,
    distinct_integers,
    exact_mapping,
    fill_record,
    hex_uint64,
    record_to_namespace,
)
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import ABILITIES, CELLS, COLOURS, COLUMNS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame, apply_setup
from helsinki_env.games.copenhagen.position.checks import check_position
from helsinki_env.games.copenhagen.position.write import POSITION_VERSION, SEAT_FIELDS
from helsinki_env.games.copenhagen.state import END_CARD, PHASES, PILE, RECORD, TILES, Bounds, new_states
from helsinki_env.games.copenhagen.tables import bounds_of, build_tables

__all__ = ["from_dict"]

_KEYS = (
    "game",
    "version",
    "components",
    "players",
    "denied",
    "phase",
    "to_move",
    "round",
    "done",
    "draw_pile",
    "discard_pile",
    "display",
    "tile_supply",
    "white_tiles",
    "seats",
    "pending",
    "chance",
)
_SEAT_KEYS = ("tiles", "white", *(field.public_name for field in SEAT_FIELDS))


def from_dict(position: Mapping[str, Any], config: CopenhagenConfig | None = None) -> CopenhagenGame:
    """Return the game that `to_dict` wrote; both continue identically.

    Every accepted position can be played to the end, and every later position is accepted too. It need not be
    reachable; `check_position` lists what a study may choose freely.

    Args:
        position: plain data.
        config: the configuration of the position, including components; by default, the one that the position names.

    Raises:
        PositionError: (a ValueError) if the position is invalid; names the key, the value found and the value expected.
    """
    given = Node(position, PositionError, file="position").mapping()
    if isinstance(given["draw_pile"].value, int):
        given["draw_pile"].fail("a list of colours: a copy made for one seat cannot be played on")
    data = exact_mapping(given, _KEYS, optional=("denied",))
    data["game"].choice(["copenhagen"])
    data["version"].integer(
        POSITION_VERSION, POSITION_VERSION, f"{POSITION_VERSION}: positions of other versions are played by other rules"
    )
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
        RECORD.pending_from_json(p, data["pending"], PHASES, bounds, tile=lambda entry: _kind(entry)[0])
    p.chance = hex_uint64(exact_mapping(data["chance"], ("word",))["word"])
    fill_record(states, p)
    game = CopenhagenGame._from_valid_state(config, states[0])
    check_position(game)
    return game


# the parts of a position


def _config(data: Mapping[str, Node]) -> CopenhagenConfig:
    players = bounded_integer(data["players"], "seats", 2, 4)
    denied: list[list[int]] | None = None
    if "denied" in data:
        seats = data["denied"].entries("lists of abilities, one for each seat", length=players)
        denied = [distinct_integers(abilities, "an ability", "abilities", len(ABILITIES), low=1) for abilities in seats]
    try:
        return CopenhagenConfig(
            num_players=players,
            denied=denied,
            components=data["components"].text("the name of a component file, or a path"),
        )
    except PositionError:
        raise
    except (ValueError, OSError) as problem:
        raise PositionError(f"position: {problem}") from None


def _read_cards(p: SimpleNamespace, bounds: Bounds, data: Mapping[str, Node]) -> None:
    pile = data["draw_pile"]
    cards = bounded_integers(pile, "a colour, or 5 for the End of Game card,", "cards", END_CARD)
    if len(cards) > PILE:
        pile.fail(f"at most {PILE} cards", found=f"{len(cards)} cards")
    p.pile[: len(cards)] = cards[::-1]
    p.pile_size = len(cards)
    p.end_card = int(END_CARD in cards)
    p.discard = RECORD["discard"].from_json(data["discard_pile"], bounds)
    if p.players > 2 and p.end_card:  # then the draw pile is the reshuffled discard pile, with public contents
        p.reshuffled = [cards.count(colour) for colour in range(len(COLOURS))]
    p.display = RECORD["display"].from_json(data["display"], bounds)


def _read_supplies(p: SimpleNamespace, components: Components, bounds: Bounds, data: Mapping[str, Node]) -> None:
    supply = exact_mapping(data["tile_supply"], COLOURS)
    for i, colour in enumerate(COLOURS):
        for j, count in enumerate(supply[colour].entries("tile counts by size", length=len(TILE_SIZES))):
            p.supply[4 * i + j] = bounded_integer(count, "a supply of tiles", 0, components.copies[p.players - 2][j])
    p.white_tiles = RECORD["white_tiles"].from_json(data["white_tiles"], bounds)


def _read_seat(p: SimpleNamespace, components: Components, bounds: Bounds, seat: int, data: Mapping[str, Node]) -> None:
    for tile in data["tiles"].entries("coloured tiles"):
        _read_tile(p, components, seat, tile)
    p.white[seat] = _free_cells(data["white"], p.filled[seat])
    p.filled[seat] |= p.white[seat]
    if isinstance(data["hand"].value, Mapping):
        data["hand"].fail("card counts: a copy made for one seat cannot be played on")
    for field in SEAT_FIELDS:
        getattr(p, field.name)[seat] = field.from_json(data[field.public_name], bounds)


def _free_cells(entry: Node, filled: int) -> int:
    """Return cells as a set; they must be empty."""
    cells = distinct_integers(entry, "a cell", "cells", CELLS)
    twice = [cell for cell in cells if filled >> cell & 1]
    if twice:
        entry.fail(f"empty cells; {twice} are filled already")
    return bit_set(cells)


@lru_cache(maxsize=8)
def _pieces(components: Components) -> dict[tuple[int, int, int], int]:
    """Return the piece, 8 * kind + orientation, by kind, cells (as a set) and brick, in the lower left corner."""
    t = build_tables(components)[0]
    pieces = [
        actions.ORIENTATIONS * kind + orientation
        for kind in range(len(t.orientations))
        for orientation in range(t.orientations[kind])
    ]
    return {(piece // 8, int(t.cells[piece]), int(t.brick[piece])): piece for piece in pieces}


def _kind(entry: Node, *more: str) -> tuple[int, dict[str, Node]]:
    """Return the kind of a tile, and the other keys of its entry."""
    data = exact_mapping(entry, ("colour", "size", *more))
    colour = COLOURS.index(data["colour"].choice(COLOURS))
    return 4 * colour + bounded_integer(data["size"], "a size", TILE_SIZES[0], TILE_SIZES[-1]) - TILE_SIZES[0], data


def _read_tile(p: SimpleNamespace, components: Components, seat: int, tile: Node) -> None:
    kind, data = _kind(tile, "cells", "brick")
    cells = _free_cells(data["cells"], p.filled[seat])
    brick = bounded_integer(data["brick"], "a cell", 0, CELLS - 1)
    lying = [cell for cell in range(CELLS) if cells >> cell & 1]
    corner = COLUMNS * min((cell // COLUMNS for cell in lying), default=0)
    corner += min((cell % COLUMNS for cell in lying), default=0)
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
