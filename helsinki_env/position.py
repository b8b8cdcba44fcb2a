"""A position as data: plain JSON that restores a game byte for byte, and copies that show only what a seat may see.

The keys
--------
Card counts are lists indexed by card type, cells are ``7 * row + column``, actions and sides numbers as in the rules
page. ``draw_pile`` has the next card first. ``pending`` is the decision in progress; it holds only what differs from
nothing, so between decisions of a fresh turn it is ``{}``:

=============  ==========================================================================================
move           6 or 5: ``move_1_to_6`` or ``move_1_to_5`` is paid, the move comes next
drew, built    true once cards were drawn, a pavilion was built in this turn
only_build     true in MAIN after ``draw_and_build`` or ``second_pavilion``
card           the card being built; it and ``paid`` have left the hand
paid           cards paid for it so far, in order
to_pay         how many more are to be paid
substitute     true: ``any_card_as_wild`` is paid, its card of another colour comes next
any_side       true: ``any_side`` is paid
action         the action of the action board being carried out (a name)
resume         the phase that goes on after WILD, LIFT or ROOF
wilds_left     wild tiles still to be placed
lifted         the cell whose superstructure is being moved
roofs_left     superstructures still to be put on roofs
last_roof      the roof that got the last one (they go in increasing order)
last_discard   the card type discarded last (they go in non-decreasing order)
lifted_now     true: ``no_hand_limit`` was used in this very turn
turn_over      true: cards are discarded as the last thing of the turn
reshuffled     card counts: a draw pile made from the discard pile, less what everybody has seen leave it
unseen_draws   for each seat the cards it drew from that pile into its hand
=============  ==========================================================================================

``chance`` holds the game's random word: ``{"word": "0x..."}`` with 16 hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from helsinki_env.components import ACTIONS, COLOURS, ROOFS, ComponentError, Components
from helsinki_env.config import ConfigError, GameConfig
from helsinki_env.core.build import coats_to_place, hand_by_colour
from helsinki_env.core.coats import usable_actions
from helsinki_env.core.state import PAID, PHASES, TILES, UNSEEN, new_states
from helsinki_env.game import Game, Phase, apply_setup

__all__ = ["VERSION", "from_dict", "to_dict"]

VERSION = 0
"""Version of the environment, `helsinki_v0`."""

_KEYS = [
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
]
_SEAT_KEYS = [
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
]

# Pending keys and the fields of the record that hold them, with the value that means "nothing".
_FLAGS = {
    "drew": "drew",
    "built": "has_built",
    "only_build": "only_build",
    "substitute": "substitute",
    "any_side": "any_side",
    "lifted_now": "lifted_now",
    "turn_over": "turn_over",
}
_NUMBERS = {
    "move": ("move", 0),
    "card": ("card", -1),
    "to_pay": ("to_pay", 0),
    "wilds_left": ("wilds_left", 0),
    "lifted": ("lifted", -1),
    "roofs_left": ("roofs_left", 0),
    "last_roof": ("last_roof", -1),
    "last_discard": ("last_discard", -1),
}
_TURN = {"drew", "built", "lifted_now"}
#: For each phase: pending keys that it needs, and those that it may have besides.
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
#: What may be carried out in these phases, None for the superstructures of a build.
_CARRIED_OUT: dict[str, tuple[str | None, ...]] = {
    "WILD": ("one_wild_tile", "two_wild_tiles"),
    "LIFT": ("move_superstructure",),
    "ROOF": (None, "move_superstructure", "extra_superstructure"),
}


def cell_list(cells: int) -> list[int]:
    """Return the cells of a set (bit = cell), ascending."""
    found = []
    while cells:
        lowest = cells & -cells
        found.append(lowest.bit_length() - 1)
        cells ^= lowest
    return found


def to_dict(game: Game, seat: int | None = None) -> dict[str, Any]:
    """Return a game as plain data for JSON.

    Args:
        game: the game.
        seat: None for the whole position; else a copy with only what this seat may see (rules page, section 7): other
            hands become ``{"size": n, "known": counts}``, the draw pile its size, and chance is left out.
    """
    g, components = _plain(game.state), game.config.loaded
    types, players = components.types, game.num_players
    position: dict[str, Any] = {
        "game": "helsinki",
        "version": VERSION,
        "components": game.config.components,
        "players": players,
        "covered": list(game.config.covered),
        "denied": [list(actions) for actions in game.config.denied],
        "dry_roads": game.config.dry_roads,
        "phase": str(game.phase),
        "to_move": g.seat,
        "round": g.round_number,
        "last_round": bool(g.last_round),
        "done": bool(g.done),
        "draw_pile": g.pile[: g.pile_size][::-1],
        "discard_pile": g.discard[:types],
        "display": [None if card < 0 else card for card in g.display],
        "tile_supply": {colour: g.supply[4 * i : 4 * i + 4] for i, colour in enumerate(COLOURS)},
        "wild_tiles": g.wild_supply,
        "superstructures": g.superstructure_supply,
        "bonus_cards": [value for i, value in enumerate(components.bonus_cards) if g.bonus_cards >> i & 1],
        "seats": [_seat_to_dict(game, g, i) for i in range(players)],
        "pending": _pending_to_dict(g, types, players),
        "chance": {"word": f"0x{g.chance:016x}"},
    }
    if seat is not None:
        _hide(position, game._checked_seat(seat))
    return position


def _plain(state: Any) -> SimpleNamespace:
    """Return a record as plain numbers and lists: reading it field by field is ten times slower."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def _seat_to_dict(game: Game, g: SimpleNamespace, seat: int) -> dict[str, Any]:
    components = game.config.loaded
    tiles = range(g.tile_count[seat])
    return {
        "pavilions": [_pavilion_to_dict(game, g.tile_piece[seat][i], g.tile_cell[seat][i]) for i in tiles],
        "wild": cell_list(g.wild[seat]),
        "superstructures": cell_list(g.superstructures[seat]),
        "coats_on_board": sorted(cell for i, cell in enumerate(components.coats) if g.coats[seat] >> i & 1),
        "meadow": g.meadow[seat],
        "used": [action for action in range(15) if g.used[seat] >> action & 1],
        "hand": g.hand[seat][: components.types],
        "known": g.known[seat][: components.types],
        "token": None if g.token[seat] < 0 else g.token[seat],
        "points": g.points[seat],
        "bonus": None if g.bonus[seat] < 0 else components.bonus_cards[g.bonus[seat]],
        "limit_lifted": bool(g.limit_lifted[seat]),
    }


def _pavilion_to_dict(game: Game, piece: int, corner: int) -> dict[str, Any]:
    cells = int(game._tables["roofs_mask"][piece]) << corner
    return {"colour": COLOURS[piece // 32], "roofs": ROOFS[piece // 8 % 4], "cells": cell_list(cells)}


def _pending_to_dict(g: SimpleNamespace, types: int, players: int) -> dict[str, Any]:
    pending: dict[str, Any] = {key: True for key, name in _FLAGS.items() if getattr(g, name)}
    for key, (name, nothing) in _NUMBERS.items():
        if getattr(g, name) != nothing:
            pending[key] = getattr(g, name)
    if g.paid_count:
        pending["paid"] = g.paid[: g.paid_count]
    if g.action >= 0:
        pending["action"] = ACTIONS[g.action]
    if PHASES[g.phase] in _CARRIED_OUT:
        pending["resume"] = PHASES[g.resume]
    if any(g.reshuffled):
        pending["reshuffled"] = g.reshuffled[:types]
        unseen = [[card for card in cards if card >= 0] for cards in g.unseen[:players]]
        if any(unseen):
            pending["unseen_draws"] = unseen
    return pending


def _hide(position: dict[str, Any], seat: int) -> None:
    """Take out of a position what a seat may not see."""
    del position["chance"]
    position["draw_pile"] = len(position["draw_pile"])
    for i, other in enumerate(position["seats"]):
        if i != seat:
            other["hand"] = {"size": sum(other["hand"]), "known": other["known"]}
    unseen = position["pending"].get("unseen_draws", [])
    for i, cards in enumerate(unseen):
        if i != seat:
            unseen[i] = [None] * len(cards)


# reading


def _fail(key: str, found: object, expected: str) -> NoReturn:
    shown = repr(found)
    raise ValueError(
        f"position: {key}: found {shown if len(shown) < 200 else shown[:200] + '...'}, expected {expected}"
    )


def _keys(data: object, path: str, keys: Iterable[str]) -> Mapping[str, Any]:
    wanted = list(keys)
    where = f"{path}." if path else ""
    if not isinstance(data, Mapping):
        _fail(path or "the whole", data, f"a mapping with the keys {', '.join(wanted)}")
    for key in data:
        if key not in wanted:
            _fail(f"{where}{key}", data[key], f"no such key; the keys are {', '.join(wanted)}")
    for key in wanted:
        if key not in data:
            _fail(f"{where}{key}", None, "this key: it is missing")
    return data


def _whole(value: object, key: str, low: int, high: int, what: str = "a whole number") -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        _fail(key, value, f"{what} from {low} to {high}")
    return int(value)


def _flag(value: object, key: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        _fail(key, value, "true or false")
    return bool(value)


def _list(value: object, key: str, what: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list | tuple) or (length is not None and len(value) != length):
        _fail(key, value, f"a list of {length if length is not None else ''} {what}".replace("  ", " "))
    return list(value)


def _set(value: object, key: str, what: str, high: int) -> list[int]:
    """Return different whole numbers from 0 to `high`."""
    found: list[int] = []
    for i, item in enumerate(_list(value, key, what)):
        number = _whole(item, f"{key}[{i}]", 0, high, what.rstrip("s"))
        if number in found:
            _fail(f"{key}[{i}]", item, f"each of the {what} once")
        found.append(number)
    return found


def _counts(value: object, key: str, types: int) -> list[int]:
    counts = _list(value, key, "card counts, one for each card type", types)
    return [_whole(count, f"{key}[{i}]", 0, 100, "a card count") for i, count in enumerate(counts)]


def from_dict(position: Mapping[str, Any]) -> Game:
    """Return the game that `to_dict` wrote; both go on alike.

    Supplies, points, coats and the composition of the draw pile are taken as given, so that a study may start with a
    short supply, a full meadow or other hidden cards.

    Raises:
        ValueError: naming the key, what stood there and what was expected.
    """
    data = _keys(position, "", _KEYS)
    if data["game"] != "helsinki":
        _fail("game", data["game"], "'helsinki'")
    if isinstance(data["version"], bool) or data["version"] != VERSION:
        _fail("version", data["version"], f"{VERSION}: positions of other versions are played by other rules")
    game = Game.__new__(Game)
    config = _config(data)
    game._attach(config, new_states(1, config.loaded.types))
    g, components = game.state, game.config.loaded
    apply_setup(game._states, game.config)
    phase = data["phase"]
    if phase not in PHASES:
        _fail("phase", phase, f"one of {', '.join(PHASES)}")
    g.phase = PHASES.index(phase)
    g.seat = _whole(data["to_move"], "to_move", 0, game.num_players - 1, "a seat")
    g.round_number = _whole(data["round"], "round", 1, 10_000)
    g.last_round = _flag(data["last_round"], "last_round")
    g.done = _flag(data["done"], "done")
    _read_cards(g, components, data)
    _read_supplies(g, components, data)
    seats = _list(data["seats"], "seats", "seats", game.num_players)
    for seat, item in enumerate(seats):
        _read_seat(game, seat, _keys(item, f"seats[{seat}]", _SEAT_KEYS))
    _read_pending(game, data["pending"], phase)
    _read_chance(g, data["chance"])
    _check_cards_add_up(game)
    _check_draw_pile(g)
    _check_unseen(g, phase)
    _check_phase(game, phase)
    return game


def _config(data: Mapping[str, Any]) -> GameConfig:
    try:
        return GameConfig(
            num_players=data["players"],
            covered=data["covered"],
            denied=data["denied"],
            dry_roads=data["dry_roads"],
            components=data["components"],
        )
    except (ConfigError, ComponentError) as problem:
        text = str(problem).replace("num_players", "players", 1)
        raise ValueError(f"position: {text}") from None


def _read_cards(g: Any, components: Components, data: Mapping[str, Any]) -> None:
    types = components.types
    if isinstance(data["draw_pile"], int):
        _fail(
            "draw_pile",
            data["draw_pile"],
            "a list of card types: a copy made for one seat cannot be played on",
        )
    pile = _list(data["draw_pile"], "draw_pile", "card types")
    if len(pile) > len(g.pile):
        _fail("draw_pile", pile, f"at most {len(g.pile)} cards")
    for i, card in enumerate(pile):
        g.pile[len(pile) - 1 - i] = _whole(card, f"draw_pile[{i}]", 0, types - 1, "a card type")
    g.pile_size = len(pile)
    g.discard[:types] = _counts(data["discard_pile"], "discard_pile", types)
    for slot, card in enumerate(_list(data["display"], "display", "card types or null", 8)):
        if card is not None:
            g.display[slot] = _whole(card, f"display[{slot}]", 0, types - 1, "null or a card type")


def _read_supplies(g: Any, components: Components, data: Mapping[str, Any]) -> None:
    supply = _keys(data["tile_supply"], "tile_supply", COLOURS)
    for i, colour in enumerate(COLOURS):
        counts = _list(supply[colour], f"tile_supply.{colour}", "tile counts by roofs", len(ROOFS))
        for j, count in enumerate(counts):
            most = components.tile_copies[j]
            g.supply[4 * i + j] = _whole(count, f"tile_supply.{colour}[{j}]", 0, most, "a supply of tiles")
    g.wild_supply = _whole(data["wild_tiles"], "wild_tiles", 0, components.wild_tiles, "a supply")
    g.superstructure_supply = _whole(
        data["superstructures"], "superstructures", 0, components.superstructures, "a supply"
    )
    for i, value in enumerate(_list(data["bonus_cards"], "bonus_cards", "bonus cards")):
        index = _bonus_index(components, value, f"bonus_cards[{i}]")
        if int(g.bonus_cards) >> index & 1:
            _fail(f"bonus_cards[{i}]", value, "each bonus card once")
        g.bonus_cards |= 1 << index
    if g.bonus_cards and not g.dry_roads:
        _fail("bonus_cards", data["bonus_cards"], "[]: they belong to Dry roads")


def _bonus_index(components: Components, value: object, key: str) -> int:
    if isinstance(value, bool) or value not in components.bonus_cards:
        _fail(key, value, f"one of {', '.join(map(str, components.bonus_cards))}")
    return components.bonus_cards.index(value)


def _read_seat(game: Game, seat: int, data: Mapping[str, Any]) -> None:
    g, components, path = game.state, game.config.loaded, f"seats[{seat}]"
    types = components.types
    g.built[seat] = 1 << components.statue
    for i, item in enumerate(_list(data["pavilions"], f"{path}.pavilions", "pavilion tiles")):
        _read_pavilion(game, seat, item, f"{path}.pavilions[{i}]")
    wild = sum(1 << cell for cell in _set(data["wild"], f"{path}.wild", "cells", 48))
    _no_overlap(int(g.built[seat]), wild, f"{path}.wild", data["wild"])
    g.wild[seat] = wild
    g.built[seat] |= wild
    roofs = sum(1 << c for c in _set(data["superstructures"], f"{path}.superstructures", "cells", 48))
    if roofs & ~(int(g.built[seat]) & ~(1 << components.statue)):
        _fail(f"{path}.superstructures", data["superstructures"], "cells of pavilion or wild tiles")
    g.superstructures[seat] = roofs
    for cell in _set(data["coats_on_board"], f"{path}.coats_on_board", "cells", 48):
        if cell not in components.coats or int(g.built[seat]) >> cell & 1:
            _fail(f"{path}.coats_on_board", cell, f"those of {sorted(components.coats)} that are not built")
        g.coats[seat] |= np.uint8(1 << components.coats.index(cell))
    g.meadow[seat] = _whole(data["meadow"], f"{path}.meadow", 0, len(components.coats), "coats of arms")
    g.used[seat] = sum(1 << action for action in _set(data["used"], f"{path}.used", "actions", 14))
    if isinstance(data["hand"], Mapping):
        _fail(f"{path}.hand", data["hand"], "card counts: a copy made for one seat cannot be played on")
    g.hand[seat, :types] = _counts(data["hand"], f"{path}.hand", types)
    g.known[seat, :types] = _counts(data["known"], f"{path}.known", types)
    for card in range(types):
        if g.known[seat, card] > g.hand[seat, card]:
            _fail(f"{path}.known[{card}]", int(g.known[seat, card]), f"at most the {g.hand[seat, card]} in hand")
    if data["token"] is not None:
        g.token[seat] = _whole(data["token"], f"{path}.token", 0, 7, "null or a space")
    g.points[seat] = _whole(data["points"], f"{path}.points", 0, 10_000, "points")
    if data["bonus"] is not None:
        index = _bonus_index(components, data["bonus"], f"{path}.bonus")
        if index in g.bonus[:seat] or int(g.bonus_cards) >> index & 1 or not g.dry_roads:
            _fail(
                f"{path}.bonus",
                data["bonus"],
                "a bonus card of Dry roads that nobody else has and that is not left",
            )
        g.bonus[seat] = index
    g.limit_lifted[seat] = _flag(data["limit_lifted"], f"{path}.limit_lifted")


def _no_overlap(built: int, cells: int, key: str, found: object) -> None:
    if built & cells:
        _fail(key, found, f"cells that are empty; {cell_list(built & cells)} are built already")


def _read_pavilion(game: Game, seat: int, item: object, path: str) -> None:
    g, t, components = game.state, game._tables, game.config.loaded
    data = _keys(item, path, ("colour", "roofs", "cells"))
    if data["colour"] not in COLOURS:
        _fail(f"{path}.colour", data["colour"], f"one of {', '.join(COLOURS)}")
    roofs = _whole(data["roofs"], f"{path}.roofs", ROOFS[0], ROOFS[-1], "roofs")
    cells = _set(data["cells"], f"{path}.cells", "cells", 48)
    built = sum(1 << cell for cell in cells)
    _no_overlap(int(g.built[seat]), built, f"{path}.cells", cells)
    colour = COLOURS.index(data["colour"])
    kind = 4 * colour + roofs - 2
    corner = 7 * min((c // 7 for c in cells), default=0) + min((c % 7 for c in cells), default=0)
    for orientation in range(int(t.orientations[kind])):
        piece = 8 * kind + orientation
        if built and int(t.roofs_mask[piece]) == built >> corner and len(cells) == roofs:
            break
    else:
        shape = components.tiles[colour][roofs - 2]
        _fail(
            f"{path}.cells",
            cells,
            f"{roofs} cells in the shape {shape} ({'/'.join(components.shapes[shape])})",
        )
    tile = int(g.tile_count[seat])
    if tile == TILES:
        _fail(path, item, f"at most {TILES} pavilion tiles on a board")
    g.tile_piece[seat, tile], g.tile_cell[seat, tile] = piece, corner
    g.tile_count[seat] += 1
    g.built[seat] |= built


def _read_chance(g: Any, data: object) -> None:
    word = _keys(data, "chance", ("word",))["word"]
    try:
        if not isinstance(word, str) or len(word) != 18 or not word.startswith("0x"):
            raise ValueError
        g.chance = int(word, 16)
    except ValueError:
        _fail("chance.word", word, "'0x' and 16 hexadecimal digits")


def _read_pending(game: Game, data: object, phase: str) -> None:
    g, types = game.state, game.config.loaded.types
    needed, allowed = _PENDING[phase]
    known = needed | allowed | {"reshuffled", "unseen_draws"}
    if not isinstance(data, Mapping):
        _fail("pending", data, "a mapping, {} if no decision is in progress")
    for key in data:
        if key not in known:
            _fail(f"pending.{key}", data[key], f"in phase {phase} only the keys {', '.join(sorted(known))}")
    for key in sorted(needed):
        if key not in data:
            _fail(f"pending.{key}", None, f"this key: phase {phase} needs it")
    limits: dict[str, tuple[int, int]] = {
        "move": (5, 6),
        "card": (0, types - 2),
        "to_pay": (1, PAID),
        "wilds_left": (1, 2),
        "lifted": (0, 48),
        "roofs_left": (1, 5),
        "last_roof": (0, 48),
        "last_discard": (0, types - 1),
    }
    readers: dict[str, Callable[[Any, str], None]] = {
        "paid": lambda value, key: _read_paid(g, value, key, types),
        "action": lambda value, key: _read_action(g, value, key, phase),
        "resume": lambda value, key: _read_resume(g, value, key),
        "reshuffled": lambda value, key: g.reshuffled.__setitem__(slice(types), _counts(value, key, types)),
        "unseen_draws": lambda value, key: _read_unseen(g, value, key, types),
    }
    for key, value in data.items():
        path = f"pending.{key}"
        if key in _FLAGS:
            if not _flag(value, path):
                _fail(path, value, "true, or no such key")
            g[_FLAGS[key]] = 1
        elif key in limits:
            g[_NUMBERS[key][0]] = _whole(value, path, *limits[key])
        else:
            readers[key](value, path)


def _read_paid(g: Any, value: object, key: str, types: int) -> None:
    cards = _list(value, key, "card types")
    if not 1 <= len(cards) <= PAID:
        _fail(key, value, f"from 1 to {PAID} card types")
    for i, card in enumerate(cards):
        g.paid[i] = _whole(card, f"{key}[{i}]", 0, types - 1, "a card type")
    g.paid_count = len(cards)


def _read_action(g: Any, value: object, key: str, phase: str) -> None:
    fitting = [name for name in _CARRIED_OUT[phase] if name]
    if value not in fitting:
        _fail(key, value, f"in phase {phase} one of {', '.join(fitting)}")
    g.action = ACTIONS.index(str(value))


def _read_resume(g: Any, value: object, key: str) -> None:
    if value not in ("MOVE", "MAIN", "END"):
        _fail(key, value, "MOVE, MAIN or END")
    g.resume = PHASES.index(str(value))


def _read_unseen(g: Any, value: object, key: str, types: int) -> None:
    for seat, cards in enumerate(_list(value, key, "lists, one for each seat", int(g.players))):
        found = _list(cards, f"{key}[{seat}]", "card types")
        if len(found) > UNSEEN:
            _fail(f"{key}[{seat}]", found, f"at most {UNSEEN} card types")
        for i, card in enumerate(found):
            g.unseen[seat, i] = _whole(card, f"{key}[{seat}][{i}]", 0, types - 1, "a card type")


def _check_cards_add_up(game: Game) -> None:
    """Every card of the deck is somewhere: pile, discards, display, hands, in front of the player who builds."""
    g, components = game.state, game.config.loaded
    types = components.types
    found = g.discard[:types].astype(np.int64) + g.hand[:, :types].sum(axis=0)
    shown = [*g.pile[: g.pile_size], *g.display[g.display >= 0], *g.paid[: g.paid_count]]
    if g.card >= 0:
        shown.append(g.card)
    np.add.at(found, np.array(shown, np.int64), 1)
    expected = np.array(components.deck(game.num_players))
    removed = 1 if game.num_players == 2 else 0
    for card in range(types):
        spare = removed and components.card_number(card) == components.any_removed2_number
        if not expected[card] - bool(spare) <= found[card] <= expected[card]:
            _fail(
                f"all cards of type {card}",
                int(found[card]),
                f"{expected[card]} of them in piles, display and hands",
            )
    if found.sum() != expected.sum() - removed:
        _fail(
            "all cards",
            int(found.sum()),
            f"{expected.sum() - removed} cards: one card {components.any_removed2_number} is removed unseen",
        )


def _check_draw_pile(g: Any) -> None:
    """Rules page, section 4: only in the last round is there a reshuffled pile."""
    unseen = g.unseen[g.unseen >= 0]
    if not g.reshuffled.any():
        if unseen.size:
            _fail("pending.unseen_draws", unseen.tolist(), "no draws without pending.reshuffled")
        return
    if not g.last_round:
        _fail("pending.reshuffled", "a pile", "no such key before the last round")


def _check_unseen(g: Any, phase: str) -> None:
    """A seat draws from a reshuffled pile in its last turn only: the extra card, and a card for each of two builds."""
    building = phase in ("PAY", "PLACE") or bool(g.only_build)
    second = bool(g.used[g.seat] >> ACTIONS.index("second_pavilion") & 1) and not building
    so_far = int(g.drew) + (1 + second if g.has_built else 0)
    for seat in range(g.players):
        most = UNSEEN if seat < g.seat else so_far if seat == g.seat else 0
        found = g.unseen[seat][g.unseen[seat] >= 0]
        if found.size > most and not g.done:
            _fail(f"pending.unseen_draws[{seat}]", found.tolist(), f"at most {most} draws of this seat by now")


def _check_phase(game: Game, phase: str) -> None:
    """The position can be played on: tokens, hand and pending fit the phase, and some decision is legal."""
    g, path = game.state, "phase"
    players = game.num_players
    waiting = (g.token[:players] < 0).any()
    if waiting != (phase == "START") or (phase == "START" and (g.token[:players] >= 0).any()):
        _fail("seats.token", g.token[:players].tolist(), "spaces, or null for every seat in phase START")
    if phase == "START" and (g.seat or g.hand.any() or g.tile_count.any() or g.done):
        _fail(path, phase, "START only for seat 0, with empty hands and boards")
    if g.done:
        if phase != "END" or g.drew or g.has_built:
            _fail("done", True, "phase END with nothing pending once the game is over")
        return
    if g.has_built and g.tile_count[g.seat] == 0:
        _fail("pending.built", True, "a pavilion tile on the board of the seat to move")
    if phase == "END" and not (g.drew or g.has_built):
        _fail(path, phase, "pending.drew or pending.built to be true in phase END")
    if phase == "MAIN" and bool(g.drew or g.has_built) != bool(g.only_build):
        _fail(path, phase, "pending.only_build in MAIN exactly if the seat has drawn or built already")
    if phase == "DISCARD":
        _check_discard(g, game.config.loaded.hand_limit)
    if phase in ("PAY", "PLACE"):
        _check_build(game)
    if phase == "WILD":
        _check_wild(g)
    if phase == "ROOF":
        _check_roof(g)
    if phase in _CARRIED_OUT and (PHASES[g.resume] == "END") != bool(g.drew or g.has_built):
        _fail("pending.resume", PHASES[g.resume], "END exactly if the seat has drawn or built already")
    if g.lifted_now and not (g.drew and g.limit_lifted[g.seat]):
        _fail("pending.lifted_now", True, "pending.drew and limit_lifted of the seat to move to be true too")
    _check_used(g, phase)
    if not game.legal_mask().any():
        _fail(path, phase, "a phase in which some decision is legal; with this board and hand none is")


def _check_discard(g: Any, limit: int) -> None:
    if g.hand[g.seat].sum() <= limit:
        _fail("phase", "DISCARD", f"a hand above the limit of {limit} in phase DISCARD")
    if g.turn_over and not (g.drew or g.has_built):
        _fail("pending.turn_over", True, "pending.drew or pending.built to be true at the end of a turn")
    if not g.turn_over and not g.drew:
        _fail("phase", "DISCARD", "pending.drew to be true: the limit is checked after drawing")
    if g.limit_lifted[g.seat]:
        _fail(f"seats[{g.seat}].limit_lifted", True, "false while cards are discarded")


def _check_build(game: Game) -> None:
    """The tile is there, and the cards paid so far could be paid in this order."""
    g, components = game.state, game.config.loaded
    card, paid, used = int(g.card), g.paid[: g.paid_count].tolist(), int(g.used[g.seat])
    if g.substitute and paid:
        _fail("pending.substitute", True, "no card paid before the substitute")
    colour, roofs = components.card_colour(card), components.card_roofs(card)
    if g.supply[4 * colour + roofs - 2] == 0:
        _fail("pending.card", card, f"a card whose tile ({COLOURS[colour]}, {roofs} roofs) is in the supply")
    due = components.card_number(card) - 1
    if len(paid) + int(g.to_pay) not in (due, due - (used >> ACTIONS.index("one_card_fewer") & 1)):
        _fail("pending.paid", paid, f"{due} cards paid or still to be paid, one less after one_card_fewer")
    _check_build_ends(game, card)
    if g.substitute:
        return
    fits = [components.card_colour(other) in (colour, -1) for other in paid]
    in_order = paid[1:] if used >> ACTIONS.index("any_card_as_wild") & 1 and not all(fits[:1]) else paid
    if not all(fits[len(paid) - len(in_order) :]) or in_order != sorted(in_order):
        _fail("pending.paid", paid, "cards of the colour or wild in ascending order, after a substitute if any")


def _check_build_ends(game: Game, card: int) -> None:
    """No dead ends: what is still to be paid after the substitute is in hand, and the tile can be placed."""
    g, t = game.state, game._tables
    same, wild, _ = hand_by_colour(t, g, g.seat, np.int64(t.colour[card]))
    if g.substitute and same + wild < g.to_pay - 1:
        _fail("pending.to_pay", int(g.to_pay), f"at most 1 more than the {same + wild} cards in hand that can be paid")
    if not g.any_side and coats_to_place(t, g, np.int64(t.kind[card]), usable_actions(g, g.seat)) > g.meadow[g.seat]:
        _fail("pending.card", card, "a card whose tile can be placed on the board of the seat to move")


def _check_wild(g: Any) -> None:
    most = min(1 if ACTIONS[g.action] == "one_wild_tile" else 2, int(g.wild_supply))
    if g.wilds_left > most:
        _fail("pending.wilds_left", int(g.wilds_left), f"at most {most}, by the action and the supply")


def _check_used(g: Any, phase: str) -> None:
    """What the decision in progress came from is marked as used."""
    building = phase in ("PAY", "PLACE") or bool(g.only_build)
    came_from: list[tuple[str, str, bool | int | str]] = [
        ("draw_and_build", "drew", bool(g.drew and (g.has_built or building))),
        ("second_pavilion", "built", bool(g.has_built and building)),
        ("move_1_to_6", "move", int(g.move) if g.move == 6 else 0),
        ("move_1_to_5", "move", int(g.move) if g.move == 5 else 0),
        ("any_card_as_wild", "substitute", bool(g.substitute)),
        ("any_side", "any_side", bool(g.any_side)),
        ("no_hand_limit", "lifted_now", bool(g.lifted_now)),
    ]
    if g.action >= 0:
        came_from.append((ACTIONS[g.action], "action", ACTIONS[g.action]))
    for action, key, found in came_from:
        if found and not g.used[g.seat] >> ACTIONS.index(action) & 1:
            _fail(f"pending.{key}", found, f"{action} to be among the used actions of the seat to move")


def _check_roof(g: Any) -> None:
    if g.action >= 0 and (g.roofs_left != 1 or g.last_roof >= 0):
        _fail("pending.roofs_left", int(g.roofs_left), f"1, and no last_roof, for {ACTIONS[g.action]}")
    moving = g.action >= 0 and ACTIONS[g.action] == "move_superstructure"
    if moving != (g.lifted >= 0):
        _fail("pending.lifted", int(g.lifted), "the cell that move_superstructure emptied, and only then")
    if not moving and g.superstructure_supply < g.roofs_left:
        _fail("pending.roofs_left", int(g.roofs_left), f"at most the supply of {g.superstructure_supply}")
    if not moving and g.tile_count[g.seat] == 0:
        _fail("phase", Phase.ROOF, "a pavilion tile on the board of the seat to move")
    if moving and not int(g.built[g.seat]) >> int(g.lifted) & 1:
        _fail("pending.lifted", int(g.lifted), "a built cell")
