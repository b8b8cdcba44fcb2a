"""Read games from plain data: this module checks types and ranges, `check_position` checks consistency."""

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
    cell_list,
    distinct_integers,
    exact_mapping,
    fill_record,
    hex_uint64,
    record_to_namespace,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLOURS, ROOFS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import ENV_VERSION, HelsinkiGame, apply_setup
from helsinki_env.games.helsinki.position.checks import CARRIED_OUT, MOVES, check_position
from helsinki_env.games.helsinki.position.write import SEAT_FIELDS
from helsinki_env.games.helsinki.state import DECK, PAID, PHASES, RECORD, TILES, UNSEEN, Bounds, new_states
from helsinki_env.games.helsinki.tables import bounds_of, build_tables

__all__ = ["from_dict"]

_KEYS = (
    "game",
    "version",
    "components",
    "players",
    "covered",
    "denied",
    "dry_roads",
    "phase",
    "to_move",
    "round",
    "last_round",
    "done",
    "draw_pile",
    "discard_pile",
    "display",
    "tile_supply",
    "wild_tiles",
    "superstructures",
    "bonus_cards",
    "seats",
    "pending",
    "chance",
)
_SEAT_KEYS = (
    "pavilions",
    "wild",
    "superstructures",
    "coats_on_board",
    "meadow",
    "used",
    "hand",
    "known",
    "token",
    "points",
    "bonus",
    "limit_lifted",
)
_CELLS = 49


def from_dict(position: Mapping[str, Any]) -> HelsinkiGame:
    """Return the game that `to_dict` wrote, with identical future play.

    Every accepted position can be played to its end, and all later positions are accepted too. It need not be reachable
    in a game; the `checks` module lists what may differ.

    Raises:
        PositionError: (a ValueError) naming the key, the value found and the value expected.
    """
    given = Node(position, PositionError, file="position").mapping(_KEYS)
    if isinstance(given["draw_pile"].value, int):
        given["draw_pile"].fail("a list of card types: a copy made for one seat cannot be played on")
    data = exact_mapping(given, _KEYS)
    data["game"].choice(["helsinki"])
    data["version"].integer(
        ENV_VERSION, ENV_VERSION, f"{ENV_VERSION}: positions of other versions are played by other rules"
    )
    config = _config(data)
    states = new_states(1, config.component_set.types)
    apply_setup(states, config)
    p, bounds = record_to_namespace(states[0]), bounds_of(config.tables[0])
    p.phase = PHASES.index(data["phase"].choice(PHASES))
    p.seat = bounded_integer(data["to_move"], "a seat", 0, p.players - 1)
    for name in ("round_number", "last_round", "done"):
        setattr(p, name, RECORD[name].from_json(data[RECORD[name].public_name], bounds))
    _read_cards(p, bounds, data)
    _read_supplies(p, config.component_set, bounds, data)
    for seat, entry in enumerate(data["seats"].entries("seats", length=p.players)):
        _read_seat(p, config.component_set, bounds, seat, exact_mapping(entry, _SEAT_KEYS))
    _read_pending(p, config.component_set, bounds, data["pending"])
    p.chance = hex_uint64(exact_mapping(data["chance"], ("word",))["word"])
    fill_record(states, p)
    game = HelsinkiGame._from_valid_state(config, states[0])
    check_position(game)
    return game


# value types


def _cards(entry: Node, types: int, most: int) -> list[int]:
    cards = bounded_integers(entry, "a card type", "card types", types - 1)
    if len(cards) > most:
        entry.fail(f"at most {most} cards")
    return cards


def _counts(entry: Node, types: int) -> list[int]:
    return bounded_integers(entry, "a card count", "card counts, one for each card type", DECK, types)


# the parts of a position


def _config(data: Mapping[str, Node]) -> HelsinkiConfig:
    players = bounded_integer(data["players"], "seats", 2, 4)
    denied = data["denied"].entries("lists of actions, one for each seat", length=players)
    try:
        return HelsinkiConfig(
            num_players=players,
            covered=distinct_integers(data["covered"], "an action", "actions", len(BOARD_ACTIONS)),
            denied=[distinct_integers(actions, "an action", "actions", len(BOARD_ACTIONS)) for actions in denied],
            dry_roads=data["dry_roads"].boolean(),
            components=data["components"].text("the name of a component file, or a path"),
        )
    except PositionError:
        raise
    except (ValueError, OSError) as problem:
        raise PositionError(f"position: {problem}") from None


def _read_cards(p: SimpleNamespace, bounds: Bounds, data: Mapping[str, Node]) -> None:
    types, pile = bounds.types, data["draw_pile"]
    cards = _cards(pile, types, DECK)
    p.pile[: len(cards)] = cards[::-1]
    p.pile_size = len(cards)
    p.discard[:types] = _counts(data["discard_pile"], types)
    p.display = RECORD["display"].from_json(data["display"], bounds)


def _read_supplies(p: SimpleNamespace, components: Components, bounds: Bounds, data: Mapping[str, Node]) -> None:
    supply = exact_mapping(data["tile_supply"], COLOURS)
    for i, colour in enumerate(COLOURS):
        for j, count in enumerate(supply[colour].entries("tile counts by roofs", length=len(ROOFS))):
            p.supply[4 * i + j] = bounded_integer(count, "a supply of tiles", 0, components.tile_copies[j])
    for name in ("wild_supply", "superstructure_supply"):
        setattr(p, name, RECORD[name].from_json(data[RECORD[name].public_name], bounds))
    for card in data["bonus_cards"].entries("bonus cards"):
        index = _bonus_index(card, components)
        if p.bonus_cards >> index & 1:
            card.fail("each bonus card once")
        p.bonus_cards |= 1 << index


def _bonus_index(entry: Node, components: Components) -> int:
    values = components.bonus_cards
    expected = f"one of {', '.join(map(str, values))}"
    value = entry.integer(values[0], values[-1], expected)
    if value not in values:
        entry.fail(expected)
    return values.index(value)


def _read_seat(p: SimpleNamespace, components: Components, bounds: Bounds, seat: int, data: Mapping[str, Node]) -> None:
    _read_board(p, components, seat, data)
    for field in SEAT_FIELDS:
        getattr(p, field.name)[seat] = field.from_json(data[field.public_name], bounds)
    if isinstance(data["hand"].value, Mapping):
        data["hand"].fail("card counts: a copy made for one seat cannot be played on")
    hand, known = (_counts(data[key], bounds.types) for key in ("hand", "known"))
    for card, (held, seen) in enumerate(zip(hand, known, strict=True)):
        if seen > held:
            data["known"].entries("card counts")[card].fail(f"at most the {held} in hand")
    p.hand[seat][: bounds.types], p.known[seat][: bounds.types] = hand, known
    if data["bonus"].value is not None:
        p.bonus[seat] = _bonus_index(data["bonus"], components)


def _read_board(p: SimpleNamespace, components: Components, seat: int, data: Mapping[str, Node]) -> None:
    p.built[seat] = 1 << components.statue
    for pavilion in data["pavilions"].entries("pavilion tiles"):
        _read_pavilion(p, components, seat, pavilion)
    p.wild[seat] = _free_cells(data["wild"], p.built[seat])
    p.built[seat] |= p.wild[seat]
    p.superstructures[seat] = bit_set(distinct_integers(data["superstructures"], "a cell", "cells", _CELLS))
    if p.superstructures[seat] & ~(p.built[seat] & ~(1 << components.statue)):
        data["superstructures"].fail("cells of pavilion or wild tiles")
    for cell in distinct_integers(data["coats_on_board"], "a cell", "cells", _CELLS):
        if cell not in components.coats or p.built[seat] >> cell & 1:
            data["coats_on_board"].fail(f"those of {sorted(components.coats)} that are not built", found=str(cell))
        p.coats[seat] |= 1 << components.coats.index(cell)


def _free_cells(entry: Node, built: int) -> int:
    """Return cells that are not built, as a set."""
    cells = bit_set(distinct_integers(entry, "a cell", "cells", _CELLS))
    if cells & built:
        entry.fail(f"cells that are empty; {cell_list(cells & built)} are built already")
    return cells


@lru_cache(maxsize=8)
def _pieces(components: Components) -> dict[tuple[int, int], int]:
    """Map (kind, cells) to the tile orientation 8 * kind + orientation; cells are a set in the north-west corner."""
    t = build_tables(components)[0]
    pieces = [
        8 * kind + orientation for kind in range(len(t.orientations)) for orientation in range(t.orientations[kind])
    ]
    return {(piece // 8, int(t.roofs_mask[piece])): piece for piece in pieces}


def _read_pavilion(p: SimpleNamespace, components: Components, seat: int, pavilion: Node) -> None:
    data = exact_mapping(pavilion, ("colour", "roofs", "cells"))
    colour = COLOURS.index(data["colour"].choice(COLOURS))
    roofs = bounded_integer(data["roofs"], "roofs", ROOFS[0], ROOFS[-1])
    cells = _free_cells(data["cells"], p.built[seat])
    corner = 7 * min((cell // 7 for cell in cell_list(cells)), default=0)
    corner += min((cell % 7 for cell in cell_list(cells)), default=0)
    piece = _pieces(components).get((4 * colour + roofs - 2, cells >> corner))
    if piece is None:
        shape = components.tiles[colour][roofs - 2]
        data["cells"].fail(f"{roofs} cells in the shape {shape} ({'/'.join(components.shapes[shape])})")
    tile = p.tile_count[seat]
    if tile == TILES:
        pavilion.fail(f"at most {TILES} pavilion tiles on a board")
    p.tile_piece[seat][tile], p.tile_cell[seat][tile] = piece, corner
    p.tile_count[seat] += 1
    p.built[seat] |= cells


# the pending action


def _read_pending(p: SimpleNamespace, components: Components, bounds: Bounds, data: Node) -> None:
    moves = [components.strengths[BOARD_ACTIONS.index(name)] for name in MOVES]
    RECORD.pending_from_json(
        p,
        data,
        PHASES,
        bounds,
        move=lambda entry: entry.integer(min(moves), max(moves)),
        paid=lambda entry: _read_paid(p, entry, bounds.types),
        action=lambda entry: _read_action(entry, PHASES[p.phase]),
        resume=lambda entry: PHASES.index(entry.choice(("MOVE", "MAIN", "END"))),
        reshuffled=lambda entry: _read_reshuffled(p, entry, bounds.types),
        unseen_draws=lambda entry: _read_unseen(p, entry, bounds.types),
    )


def _read_paid(p: SimpleNamespace, entry: Node, types: int) -> int:
    cards = _cards(entry, types, PAID)
    if not cards:
        entry.fail("at least one card type, or no such key")
    p.paid[: len(cards)] = cards
    return len(cards)


def _read_action(entry: Node, phase: str) -> int:
    fitting = [name for name in CARRIED_OUT[phase] if name]
    return BOARD_ACTIONS.index(entry.choice(fitting, f"in phase {phase} "))


def _read_reshuffled(p: SimpleNamespace, entry: Node, types: int) -> None:
    counts = _counts(entry, types)
    if not any(counts):
        entry.fail("at least one card, or no such key")
    p.reshuffled[:types] = counts


def _read_unseen(p: SimpleNamespace, entry: Node, types: int) -> None:
    for seat, cards in enumerate(entry.entries("lists of card types, one for each seat", length=p.players)):
        found = _cards(cards, types, UNSEEN)
        p.unseen[seat][: len(found)] = found
