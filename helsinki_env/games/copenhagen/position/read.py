"""Create games from plain data: this module rejects invalid values, `check_position` rejects inconsistent ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from helsinki_env.data import Node
from helsinki_env.engine.positions import (
    MAX_OBSERVED,
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
from helsinki_env.games.copenhagen.components import ABILITIES, CELLS, COLOURS, COLUMNS, DISPLAY, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame, apply_setup
from helsinki_env.games.copenhagen.position.checks import check_position
from helsinki_env.games.copenhagen.position.write import POSITION_VERSION
from helsinki_env.games.copenhagen.state import END_CARD, PHASES, PILE, TILES, new_states
from helsinki_env.games.copenhagen.tables import build_tables

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
_SEAT_KEYS = ("tiles", "white", "abilities", "used", "hand", "known", "points")
_TURN = {"using", "last_discard"}
#: Required and optional pending keys for each phase.
_PENDING: dict[str, tuple[set[str], set[str]]] = {
    "MAIN": (set(), _TURN),
    "TAKE": (set(), {"first", "using"}),
    "DISCARD": (set(), {"last_discard"}),
    "END": (set(), {"last_discard"}),
    "PLACE": ({"tile"}, {"recolour", *_TURN}),
    "RECOLOUR": ({"tile", "using"}, _TURN),
    "PAY": ({"tile", "using", "recolour", "place", "due"}, {"paid", *_TURN}),
    "COAT": ({"rewards"}, _TURN),
}
#: Points are below the goal during the game; the last turn can add all lines of a board.
_MOST_POINTS = 1000


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
    states = new_states(1)
    apply_setup(states, config)
    p = record_to_namespace(states[0])
    phase = data["phase"].choice(PHASES)
    p.phase = PHASES.index(phase)
    p.seat = bounded_integer(data["to_move"], "a seat", 0, p.players - 1)
    p.round_number = bounded_integer(data["round"], "a round", 1, MAX_OBSERVED)
    p.done = int(data["done"].boolean())
    _read_cards(p, data)
    _read_supplies(p, config.component_set, data)
    for seat, entry in enumerate(data["seats"].entries("seats", length=p.players)):
        _read_seat(p, config.component_set, seat, exact_mapping(entry, _SEAT_KEYS))
    _read_pending(p, data["pending"], phase)
    p.chance = hex_uint64(exact_mapping(data["chance"], ("word",))["word"])
    fill_record(states, p)
    game = CopenhagenGame._from_valid_state(config, states[0])
    check_position(game)
    return game


# types of values


def _counts(entry: Node) -> list[int]:
    return bounded_integers(entry, "a card count", "card counts, one for each colour", PILE, len(COLOURS))


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


def _read_cards(p: SimpleNamespace, data: Mapping[str, Node]) -> None:
    pile = data["draw_pile"]
    cards = bounded_integers(pile, "a colour, or 5 for the End of Game card,", "cards", END_CARD)
    if len(cards) > PILE:
        pile.fail(f"at most {PILE} cards", found=f"{len(cards)} cards")
    p.pile[: len(cards)] = cards[::-1]
    p.pile_size = len(cards)
    p.end_card = int(END_CARD in cards)
    p.discard = _counts(data["discard_pile"])
    if p.players > 2 and p.end_card:  # then the draw pile is the reshuffled discard pile, with public contents
        p.reshuffled = [cards.count(colour) for colour in range(len(COLOURS))]
    for slot, card in enumerate(data["display"].entries("colours or null", length=DISPLAY)):
        if card.value is not None:
            p.display[slot] = bounded_integer(card, "null or a colour", 0, len(COLOURS) - 1)


def _read_supplies(p: SimpleNamespace, components: Components, data: Mapping[str, Node]) -> None:
    supply = exact_mapping(data["tile_supply"], COLOURS)
    for i, colour in enumerate(COLOURS):
        for j, count in enumerate(supply[colour].entries("tile counts by size", length=len(TILE_SIZES))):
            p.supply[4 * i + j] = bounded_integer(count, "a supply of tiles", 0, components.copies[p.players - 2][j])
    p.white_tiles = bounded_integer(data["white_tiles"], "a supply", 0, components.white_tiles)


def _read_seat(p: SimpleNamespace, components: Components, seat: int, data: Mapping[str, Node]) -> None:
    for tile in data["tiles"].entries("coloured tiles"):
        _read_tile(p, components, seat, tile)
    p.white[seat] = _free_cells(data["white"], p.filled[seat])
    p.filled[seat] |= p.white[seat]
    p.owned[seat] = bit_set(distinct_integers(data["abilities"], "an ability", "abilities", len(ABILITIES)))
    p.used[seat] = bit_set(distinct_integers(data["used"], "an ability", "abilities", len(ABILITIES)))
    if isinstance(data["hand"].value, Mapping):
        data["hand"].fail("card counts: a copy made for one seat cannot be played on")
    p.hand[seat], p.known[seat] = (_counts(data[key]) for key in ("hand", "known"))
    p.points[seat] = bounded_integer(data["points"], "points", 0, _MOST_POINTS)


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


# the operation in progress


def _read_pending(p: SimpleNamespace, data: Node, phase: str) -> None:
    needed, allowed = (set(), set()) if p.done else _PENDING[phase]
    ranges = {
        "first": (0, DISPLAY - 1),
        "recolour": (0, len(COLOURS) - 1),
        "place": (0, actions.KIND_SIZES[actions.KIND_PLACE] - 1),
        "due": (1, TILE_SIZES[-1]),
        "last_discard": (0, len(COLOURS) - 1),
        "rewards": (1, CELLS),
    }
    for key, entry in data.items():
        if key not in needed | allowed:
            where = "once the game is over none" if p.done else f"in phase {phase} only the keys"
            entry.fail(f"{where} {', '.join(sorted(needed | allowed))}".strip())
        if key == "tile":
            p.tile = _kind(entry)[0]
        elif key == "using":
            p.using = bit_set(distinct_integers(entry, "an ability", "abilities", len(ABILITIES)))
            if not p.using:
                entry.fail("at least one ability, or no such key")
        elif key == "paid":
            p.paid = _counts(entry)
            if not any(p.paid):
                entry.fail("at least one card, or no such key")
        else:
            setattr(p, key, entry.integer(*ranges[key]))
    for key in sorted(needed):
        if not data[key].is_present:
            data[key].fail(f"this key: phase {phase} needs it")
