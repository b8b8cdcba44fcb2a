"""Positions as JSON: either exact, byte for byte, or a copy with only the information of one seat.

The keys
--------
Card counts are lists by card type, cells are ``7 * row + column``, and board actions and sides are numbered as on the
rules page. ``draw_pile`` lists the next card first. ``pending`` contains the values of the pending action that differ
from the defaults; it is ``{}`` at the start of a turn:

=============  ==========================================================================================
move           6 or 5 if ``move_1_to_6`` or ``move_1_to_5`` is paid for and the move comes next
drew, built    true if cards were drawn, or a pavilion was built, in this turn
only_build     true in MAIN after ``draw_and_build`` or ``second_pavilion``
card           card being built; this card and those in ``paid`` have left the hand
paid           cards paid for the build so far, in order
to_pay         number of cards still to be paid
substitute     true if ``any_card_as_wild`` is paid for and its card of another color comes next
any_side       true if ``any_side`` is paid for
action         name of the board action in progress
resume         phase that follows WILD, LIFT or ROOF
wilds_left     wild tiles still to be placed
lifted         cell whose superstructure is being moved
roofs_left     superstructures still to be placed
last_roof      cell of the superstructure placed last (in increasing cell order)
last_discard   card type discarded last (in non-decreasing order)
lifted_now     true if ``no_hand_limit`` was used in this turn
turn_over      true if cards are being discarded at the end of the turn
reshuffled     card counts of a reshuffled draw pile, without cards that visibly left it
unseen_draws   cards that each seat drew face down from that pile
=============  ==========================================================================================

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
    bit_set,
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
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import ENV_VERSION, HelsinkiGame, apply_setup
from helsinki_env.games.helsinki.position.checks import CARRIED_OUT, MOVES, check_position
from helsinki_env.games.helsinki.state import DECK, PAID, PHASES, RECORD, TILES, UNSEEN, Bounds, new_states
from helsinki_env.games.helsinki.tables import bounds_of, build_tables

__all__ = ["ENV_VERSION", "PositionError", "check_position", "from_dict", "read_game", "to_dict"]


SEAT_FIELDS = tuple(RECORD[name] for name in ("meadow", "used", "token", "points", "limit_lifted"))
"""Fields of a seat with the same values in records and positions."""
#: Keys of ``pending`` after the flags and the numbers.
_LAST_KEYS = ("paid", "action", "resume")

_KEYS = (
    "game", "version", "components", "players", "covered", "denied", "dry_roads", "phase", "to_move", "round",
    "last_round", "done", "draw_pile", "discard_pile", "display", "tile_supply", "wild_tiles", "superstructures",
    "bonus_cards", "seats", "pending", "chance",
)  # fmt: skip
_SEAT_KEYS = (
    "pavilions", "wild", "superstructures", "coats_on_board", "meadow", "used", "hand", "known", "token", "points",
    "bonus", "limit_lifted",
)  # fmt: skip
_CELLS = 49


# writing


def to_dict(game: HelsinkiGame, seat: int | None = None) -> dict[str, Any]:
    """Return a game as a JSON-serializable dict.

    Args:
        game: the game.
        seat: seat whose view is returned (rules page, section 7); None returns the whole position. In the view of a
            seat, other hands become ``{"size": n, "known": counts}``, the draw pile becomes its size, and chance is
            omitted.
    """
    p, components = record_to_namespace(game.state), game.config.component_set
    types, players = components.types, game.num_players
    position: dict[str, Any] = {
        "game": "helsinki",
        "version": ENV_VERSION,
        "components": game.config.components,
        "players": players,
        "covered": list(game.config.covered),
        "denied": [list(actions) for actions in game.config.denied],
        "dry_roads": game.config.dry_roads,
        "phase": str(game.phase),
        "to_move": p.seat,
        "round": p.round_number,
        "last_round": bool(p.last_round),
        "done": bool(p.done),
        "draw_pile": p.pile[: p.pile_size][::-1],
        "discard_pile": p.discard[:types],
        "display": RECORD["display"].to_json(p),
        "tile_supply": {colour: p.supply[4 * i : 4 * i + 4] for i, colour in enumerate(COLORS)},
        "wild_tiles": p.wild_supply,
        "superstructures": p.superstructure_supply,
        "bonus_cards": [value for i, value in enumerate(components.bonus_cards) if p.bonus_cards >> i & 1],
        "seats": [_seat(game, p, i) for i in range(players)],
        "pending": _pending(p, types, players),
        "chance": {"word": f"0x{p.chance:016x}"},
    }
    if seat is not None:
        _hide(position, game.validate_seat(seat))
    return position


def _seat(game: HelsinkiGame, p: SimpleNamespace, seat: int) -> dict[str, Any]:
    components = game.config.component_set
    tiles = range(p.tile_count[seat])
    shown = {field.name: field.to_json(p, seat) for field in SEAT_FIELDS}
    return {
        "pavilions": [_pavilion(game, p.tile_piece[seat][i], p.tile_cell[seat][i]) for i in tiles],
        "wild": cell_list(p.wild[seat]),
        "superstructures": cell_list(p.superstructures[seat]),
        "coats_on_board": sorted(cell for i, cell in enumerate(components.coats) if p.coats[seat] >> i & 1),
        "meadow": shown["meadow"],
        "used": shown["used"],
        "hand": p.hand[seat][: components.types],
        "known": p.known[seat][: components.types],
        "token": shown["token"],
        "points": shown["points"],
        "bonus": None if p.bonus[seat] < 0 else components.bonus_cards[p.bonus[seat]],
        "limit_lifted": shown["limit_lifted"],
    }


def _pavilion(game: HelsinkiGame, piece: int, corner: int) -> dict[str, Any]:
    cells = int(game.config.tables[0]["roofs_mask"][piece]) << corner
    return {"colour": COLORS[piece // 32], "roofs": ROOFS[piece // 8 % 4], "cells": cell_list(cells)}


def _pending(p: SimpleNamespace, types: int, players: int) -> dict[str, Any]:
    found = RECORD.pending_to_json(
        p, paid=lambda count: p.paid[:count], action=BOARD_ACTIONS.__getitem__, resume=PHASES.__getitem__
    )
    if p.phase not in RECORD["resume"].required:
        found.pop("resume", None)
    pending = dict(sorted(found.items(), key=lambda item: (item[0] in _LAST_KEYS, item[1] is not True)))
    if any(p.reshuffled):
        pending["reshuffled"] = p.reshuffled[:types]
        unseen = [[card for card in cards if card >= 0] for cards in p.unseen[:players]]
        if any(unseen):
            pending["unseen_draws"] = unseen
    return pending


def _hide(position: dict[str, Any], seat: int) -> None:
    """Remove the information hidden from a seat (section 7)."""
    hide_from_others(position, seat)
    unseen = position["pending"].get("unseen_draws", [])
    for i, cards in enumerate(unseen):
        if i != seat:
            unseen[i] = [None] * len(cards)


# reading


def from_dict(position: Mapping[str, Any], config: HelsinkiConfig | None = None) -> HelsinkiGame:
    """Return the game of a position written by `to_dict`, including its random state.

    Every accepted position can be played to the end of the game, and all later positions are accepted, too. A position
    need not be reachable; the `checks` module lists the values that may be chosen freely.

    Args:
        position: the position, as a JSON-serializable dict.
        config: game configuration of the position, including its components; None uses the one in the position.

    Raises:
        PositionError: (a ValueError) if the position is invalid; names the key, the value found and the expected value.
    """
    game = read_game(position, config)
    check_position(game)
    return game


def read_game(position: Mapping[str, Any], config: HelsinkiConfig | None = None) -> HelsinkiGame:
    """Return the game of a position as `from_dict` does, but check only individual values."""
    data = read_header(position, "helsinki", ENV_VERSION, _KEYS)
    config = _config(data) if config is None else config
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
    p.chance = read_chance(data["chance"])
    fill_record(states, p)
    return HelsinkiGame._from_valid_state(config, states[0])


# types of values


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
    config: HelsinkiConfig = read_config(
        HelsinkiConfig,
        data,
        num_players=players,
        covered=distinct_integers(data["covered"], "an action", "actions", len(BOARD_ACTIONS)),
        denied=[distinct_integers(actions, "an action", "actions", len(BOARD_ACTIONS)) for actions in denied],
        dry_roads=data["dry_roads"].boolean(),
    )
    return config


def _read_cards(p: SimpleNamespace, bounds: Bounds, data: Mapping[str, Node]) -> None:
    types, pile = bounds.types, data["draw_pile"]
    cards = _cards(pile, types, DECK)
    p.pile[: len(cards)] = cards[::-1]
    p.pile_size = len(cards)
    p.discard[:types] = _counts(data["discard_pile"], types)
    p.display = RECORD["display"].from_json(data["display"], bounds)


def _read_supplies(p: SimpleNamespace, components: Components, bounds: Bounds, data: Mapping[str, Node]) -> None:
    p.supply = read_tile_supply(data["tile_supply"], COLORS, "tile counts by roofs", components.tile_copies)
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
        data["hand"].fail("card counts: a copy for one seat cannot be continued")
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
    p.wild[seat] = free_cells(data["wild"], p.built[seat], _CELLS)
    p.built[seat] |= p.wild[seat]
    p.superstructures[seat] = bit_set(distinct_integers(data["superstructures"], "a cell", "cells", _CELLS))
    if p.superstructures[seat] & ~(p.built[seat] & ~(1 << components.statue)):
        data["superstructures"].fail("cells of pavilion or wild tiles")
    for cell in distinct_integers(data["coats_on_board"], "a cell", "cells", _CELLS):
        if cell not in components.coats or p.built[seat] >> cell & 1:
            data["coats_on_board"].fail(f"those of {sorted(components.coats)} that are not built", found=str(cell))
        p.coats[seat] |= 1 << components.coats.index(cell)


@lru_cache(maxsize=8)
def _pieces(components: Components) -> dict[tuple[int, int], int]:
    """Map each (kind, cells as a set in the north-west corner) to its piece, 8 * kind + orientation."""
    t = build_tables(components)[0]
    pieces = [
        8 * kind + orientation for kind in range(len(t.orientations)) for orientation in range(t.orientations[kind])
    ]
    return {(piece // 8, int(t.roofs_mask[piece])): piece for piece in pieces}


def _read_pavilion(p: SimpleNamespace, components: Components, seat: int, pavilion: Node) -> None:
    data = exact_mapping(pavilion, ("colour", "roofs", "cells"))
    colour = COLORS.index(data["colour"].choice(COLORS))
    roofs = bounded_integer(data["roofs"], "roofs", ROOFS[0], ROOFS[-1])
    cells = free_cells(data["cells"], p.built[seat], _CELLS)
    corner = bounding_corner(cells, 7)
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
