"""Read games from plain data: this module checks types and ranges, `check_position` checks consistency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    cell_list,
    distinct_integers,
    exact_mapping,
    fill_record,
    hex_uint64,
    record_to_namespace,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLOURS, ROOFS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import HelsinkiGame, apply_setup
from helsinki_env.games.helsinki.position.checks import check_position
from helsinki_env.games.helsinki.position.plain import CARRIED_OUT, ENV_VERSION, FLAGS, MOVES, NUMBERS, WILDS
from helsinki_env.games.helsinki.state import DECK, PAID, PHASES, TILES, UNSEEN, new_states
from helsinki_env.games.helsinki.tables import build_tables

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
_TURN = {"drew", "built", "lifted_now"}
#: For each phase: required and optional pending keys.
_PENDING: dict[str, tuple[set[str], set[str]]] = {
    "START": (set(), set()),
    "MOVE": (set(), {"move"}),
    "MAIN": (set(), {"only_build", *_TURN}),
    "PAY": ({"card", "to_pay"}, {"paid", "substitute", *_TURN}),
    "PLACE": ({"card"}, {"paid", "any_side", *_TURN}),
    "WILD": ({"action", "resume", "wilds_left"}, _TURN),
    "LIFT": ({"action", "resume"}, _TURN),
    "ROOF": ({"resume", "roofs_left"}, {"action", "lifted", "last_roof", *_TURN}),
    "DISCARD": (set(), {"last_discard", "turn_over", *_TURN}),
    "END": (set(), _TURN),
}
_CELLS, _SPACES = 49, 8


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
    p = record_to_namespace(states[0])
    phase = data["phase"].choice(PHASES)
    p.phase = PHASES.index(phase)
    p.seat = bounded_integer(data["to_move"], "a seat", 0, p.players - 1)
    p.round_number = bounded_integer(data["round"], "a round", 1, MAX_OBSERVED)
    p.last_round, p.done = data["last_round"].boolean(), data["done"].boolean()
    _read_cards(p, config.component_set, data)
    _read_supplies(p, config.component_set, data)
    for seat, entry in enumerate(data["seats"].entries("seats", length=p.players)):
        _read_seat(p, config, seat, exact_mapping(entry, _SEAT_KEYS))
    _read_pending(p, config.component_set, data["pending"], phase)
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


def _read_cards(p: SimpleNamespace, components: Components, data: Mapping[str, Node]) -> None:
    types, pile = components.types, data["draw_pile"]
    cards = _cards(pile, types, DECK)
    p.pile[: len(cards)] = cards[::-1]
    p.pile_size = len(cards)
    p.discard[:types] = _counts(data["discard_pile"], types)
    for slot, card in enumerate(data["display"].entries("card types or null", length=len(p.display))):
        if card.value is not None:
            p.display[slot] = bounded_integer(card, "null or a card type", 0, types - 1)


def _read_supplies(p: SimpleNamespace, components: Components, data: Mapping[str, Node]) -> None:
    supply = exact_mapping(data["tile_supply"], COLOURS)
    for i, colour in enumerate(COLOURS):
        for j, count in enumerate(supply[colour].entries("tile counts by roofs", length=len(ROOFS))):
            p.supply[4 * i + j] = bounded_integer(count, "a supply of tiles", 0, components.tile_copies[j])
    p.wild_supply = bounded_integer(data["wild_tiles"], "a supply", 0, components.wild_tiles)
    p.superstructure_supply = bounded_integer(data["superstructures"], "a supply", 0, components.superstructures)
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


def _read_seat(p: SimpleNamespace, config: HelsinkiConfig, seat: int, data: Mapping[str, Node]) -> None:
    components, types = config.component_set, config.component_set.types
    _read_board(p, components, seat, data)
    p.meadow[seat] = bounded_integer(data["meadow"], "coats of arms", 0, len(components.coats))
    p.used[seat] = bit_set(distinct_integers(data["used"], "an action", "actions", len(BOARD_ACTIONS)))
    if isinstance(data["hand"].value, Mapping):
        data["hand"].fail("card counts: a copy made for one seat cannot be played on")
    hand, known = (_counts(data[key], types) for key in ("hand", "known"))
    for card, (held, seen) in enumerate(zip(hand, known, strict=True)):
        if seen > held:
            data["known"].entries("card counts")[card].fail(f"at most the {held} in hand")
    p.hand[seat][:types], p.known[seat][:types] = hand, known
    if data["token"].value is not None:
        p.token[seat] = bounded_integer(data["token"], "null or a space", 0, _SPACES - 1)
    p.points[seat] = bounded_integer(data["points"], "points", 0, MAX_OBSERVED)
    if data["bonus"].value is not None:
        p.bonus[seat] = _bonus_index(data["bonus"], components)
    p.limit_lifted[seat] = data["limit_lifted"].boolean()


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


def _read_pending(p: SimpleNamespace, components: Components, data: Node, phase: str) -> None:
    types, strengths = components.types, dict(zip(BOARD_ACTIONS, components.strengths, strict=True))
    moves, wilds = ([strengths[name] for name in group] for group in (MOVES, WILDS))
    needed, allowed = _PENDING[phase]
    known = needed | allowed | {"reshuffled", "unseen_draws"}
    ranges = {
        "move": (min(moves), max(moves)),
        "card": (0, types - 2),
        "to_pay": (1, PAID),
        "wilds_left": (1, max(wilds)),
        "lifted": (0, _CELLS - 1),
        "roofs_left": (1, 5),
        "last_roof": (0, _CELLS - 1),
        "last_discard": (0, types - 1),
    }
    readers: dict[str, Callable[[Node], None]] = {
        "paid": lambda entry: _read_paid(p, entry, types),
        "action": lambda entry: _read_action(p, entry, phase),
        "resume": lambda entry: _read_resume(p, entry),
        "reshuffled": lambda entry: _read_reshuffled(p, entry, types),
        "unseen_draws": lambda entry: _read_unseen(p, entry, types),
    }
    for key, entry in data.items():
        if key not in known:
            entry.fail(f"in phase {phase} only the keys {', '.join(sorted(known))}")
        if key in FLAGS:
            if not entry.boolean():
                entry.fail("true, or no such key")
            setattr(p, FLAGS[key], 1)
        elif key in ranges:
            setattr(p, NUMBERS[key][0], entry.integer(*ranges[key]))
        else:
            readers[key](entry)
    for key in sorted(needed):
        if not data[key].is_present:
            data[key].fail(f"this key: phase {phase} needs it")


def _read_paid(p: SimpleNamespace, entry: Node, types: int) -> None:
    cards = _cards(entry, types, PAID)
    if not cards:
        entry.fail("at least one card type, or no such key")
    p.paid[: len(cards)] = cards
    p.paid_count = len(cards)


def _read_action(p: SimpleNamespace, entry: Node, phase: str) -> None:
    fitting = [name for name in CARRIED_OUT[phase] if name]
    p.action = BOARD_ACTIONS.index(entry.choice(fitting, f"in phase {phase} "))


def _read_resume(p: SimpleNamespace, entry: Node) -> None:
    p.resume = PHASES.index(entry.choice(("MOVE", "MAIN", "END")))


def _read_reshuffled(p: SimpleNamespace, entry: Node, types: int) -> None:
    counts = _counts(entry, types)
    if not any(counts):
        entry.fail("at least one card, or no such key")
    p.reshuffled[:types] = counts


def _read_unseen(p: SimpleNamespace, entry: Node, types: int) -> None:
    for seat, cards in enumerate(entry.entries("lists of card types, one for each seat", length=p.players)):
        found = _cards(cards, types, UNSEEN)
        p.unseen[seat][: len(found)] = found
