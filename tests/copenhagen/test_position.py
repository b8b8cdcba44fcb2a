"""Positions of Copenhagen as data: keys, and messages for impossible positions."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helsinki_env import notation
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.position import PositionError
from tests.copenhagen.positions import (
    BLUE,
    GREEN,
    PURPLE,
    RED,
    Position,
    act,
    argument_of,
    build,
    game,
    position,
    rich,
    row,
    seat,
    tile,
)
from tests.games import rare_action
from tests.oracles.copenhagen import END_CARD

ANY, ADDITIONAL, DISCOUNT, CHANGE, BOTH = range(5)
KEYS = [
    *("game", "version", "components", "players", "phase", "to_move", "round", "done", "draw_pile", "discard_pile"),
    *("display", "tile_supply", "white_tiles", "seats", "pending", "chance"),
]


def read(data: Any) -> CopenhagenGame:
    return CopenhagenGame.from_dict(json.loads(json.dumps(data)))


def test_the_keys_and_their_order() -> None:
    assert list(CopenhagenGame(seed=1).to_dict()) == KEYS
    with_denied = CopenhagenGame(CopenhagenConfig(denied=[[1], []]), seed=1).to_dict()
    assert list(with_denied) == [*KEYS[:4], "denied", *KEYS[4:]]
    assert with_denied["denied"] == [[1], []]
    copied = list(CopenhagenGame(CopenhagenConfig(3), seed=1).to_dict(seat=2))
    assert copied == [*KEYS[:10], "end_card", *KEYS[10:-1]]


def test_a_copy_for_one_seat_is_refused() -> None:
    with pytest.raises(PositionError, match=r"draw_pile: found .* a copy for one seat"):
        read(CopenhagenGame(seed=1).to_dict(seat=0))


# Impossible positions


def main() -> Position:
    """Seat 0 in MAIN: two tiles, a white one, some cards."""
    return position(
        seat([1, 2, 0, 2, 1], row(0), white=[4], abilities=[0, 1, 4], used=[4], known=[1, 0, 0, 0, 1], points=1),
        seat([0, 0, 3, 0, 0], [tile(PURPLE, [3, 4, 8], 8)][:0]),
    )


def taking() -> Position:
    one = read(main())
    one.step(act("TAKE", 1))
    one.step(act("USE", ANY))
    return one.to_dict()


def additional() -> Position:
    one = read(main())
    for action in (act("TAKE", 1), act("TAKE", 2), act("USE", ADDITIONAL)):
        one.step(action)
    return one.to_dict()


def discarding() -> Position:
    one = game(seat([2, 2, 2, 1, 0], abilities=[0, 1]))
    for action in (act("TAKE", 5), act("TAKE", 6), act("DISCARD", BLUE)):
        one.step(action)
    return one.to_dict()


def placing() -> Position:
    one = game(seat([1, 2, 0, 0, 0], abilities=[0, DISCOUNT, CHANGE]))
    for action in (act("BUILD", 1), act("USE", CHANGE), act("RECOLOUR", GREEN)):
        one.step(action)
    return one.to_dict()


def paying() -> Position:
    one = read(placing())
    one.step(act("PLACE", argument_of(BLUE, [0, 5, 6], 0)))
    one.step(act("PAY", BLUE))
    return one.to_dict()


def coat() -> Position:
    one = game(seat([0, 0, 0, 2, 0], [tile(BLUE, [2, 7], 2)]))
    build(one, RED, [12, 17], 12)
    return one.to_dict()


def over() -> Position:
    one = game(seat(used=[0]), pile=[4, END_CARD, 3])
    one.step(act("TAKE", 4))
    one.step(act("TAKE", 5))
    return one.to_dict()


def change(data: Position, path: str, value: Any) -> None:
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    inner: Any = data
    for key in way:
        inner = inner[key]
    if value is None and path.startswith("pending"):
        del inner[last]
    else:
        inner[last] = value


CASES: list[tuple[Callable[[], Position], dict[str, Any], str]] = [
    # of the wrong kind
    (main, {"game": "helsinki"}, "game: found 'helsinki'"),
    (main, {"version": 1}, "version: found 1"),
    (main, {"players": 5}, "players: found 5"),
    (main, {"phase": "MOVE"}, "phase: found 'MOVE'"),
    (main, {"to_move": 2}, "to_move: found 2"),
    (main, {"round": 0}, "round: found 0"),
    (main, {"round": 120}, "round: found 120"),
    (main, {"done": 1}, "done: found 1"),
    (main, {"draw_pile": [6]}, r"draw_pile\[0\]: found 6"),
    (main, {"discard_pile": [0] * 4}, "discard_pile: found"),
    (main, {"display": [0] * 6}, "display: found"),
    (main, {"display.0": 5}, r"display\[0\]: found 5"),
    (main, {"tile_supply.blue.0": 3}, r"tile_supply.blue\[0\]: found 3"),
    (main, {"white_tiles": 13}, "white_tiles: found 13"),
    (main, {"seats.0.abilities": [0, 0]}, r"seats\[0\].abilities\[1\]: found 0"),
    (main, {"seats.0.hand": {"size": 2, "known": [0] * 5}}, "hand: found .* a copy for one seat"),
    (main, {"seats.0.points": -1}, r"seats\[0\].points: found -1"),
    (main, {"chance.word": "0x12"}, "chance.word: found '0x12'"),
    (main, {"pending": {"coat": 1}}, "pending.coat: found 1"),
    (main, {"pending": {"due": 1}}, "pending.due: found 1"),
    (paying, {"pending.due": None}, "pending.due: found nothing"),
    (paying, {"pending.paid": [0] * 5}, "pending.paid: found .* at least one card"),
    (placing, {"pending.using": []}, r"pending.using: found \[\]"),
    # cards
    (main, {"seats.0.hand.0": 2}, "draw_pile, .* and seats.hand: found 15"),
    (main, {"seats.0.known.1": 3}, r"seats\[0\].known: found"),
    (main, {"display.0": None}, "draw_pile, .*: found 13"),
    # the End of Game card
    (lambda: position(pile=[0, 1]), {}, "draw_pile: found .* End of Game card"),
    (lambda: position(pile=[END_CARD, *[0] * 9, 1]), {}, "draw_pile: .* among the last 10"),
    (lambda: position(pile=[0, END_CARD, END_CARD]), {}, "draw_pile: found .* one End of Game card"),
    # boards
    (main, {"seats.0.tiles.0.brick": 5}, r"seats\[0\].tiles\[0\]: found .* in the shape BW"),
    (main, {"seats.0.tiles.0.size": 3}, r"seats\[0\].tiles\[0\]: found .* in the shape WW/B"),
    (main, {"seats.0.tiles.0.cells": [1, 2], "seats.0.tiles.0.brick": 1}, r"tiles\[1\].cells: found .* empty cells"),
    (lambda: position(seat(tiles=[tile(BLUE, [5, 6], 5)])), {}, r"tiles\[0\].cells: found .* on the ground"),
    (
        lambda: position(seat(tiles=[tile(BLUE, [5, 6], 5), tile(RED, [0, 1], 0)])),
        {},
        r"tiles\[0\].cells: found \[5, 6\]",
    ),
    (main, {"seats.0.white": [10], "white_tiles": 11}, r"seats\[0\].white: found \[10\], expected"),
    (main, {"seats.0.white": [0]}, r"seats\[0\].white: found .* empty cells"),
    (main, {"white_tiles": 12}, "white_tiles: found 12"),
    (main, {"tile_supply.blue.0": 2}, r"tile_supply.blue\[0\]: found 2"),
    # abilities and points
    (main, {"seats.0.abilities": [1, 4]}, r"seats\[0\].abilities: found \[1, 4\]"),
    (main, {"seats.0.used": [2]}, r"seats\[0\].used: found \[2\]"),
    (main, {"denied": [[1], []]}, r"seats\[0\].abilities: found \[1\]"),
    (main, {"denied": [[0], []]}, r"denied\[0\]\[0\]: found 0"),
    (main, {"seats.1.points": 12}, r"seats\[1\].points: found 12"),
    # hands
    (lambda: position(seat([8, 0, 0, 0, 0])), {}, r"seats\[0\].hand: found"),
    (lambda: position(seat(), seat([8, 0, 0, 0, 0])), {}, r"seats\[1\].hand: found"),
    # the decision in progress
    (lambda: position(display=[None, 1, 2, 3, 4, 0, 1]), {}, "display: found .* a card in every slot"),
    (main, {"phase": "END"}, "display: found .* cards were taken"),
    (main, {"phase": "DISCARD"}, "display: found .* cards were taken"),
    (main, {"phase": "TAKE"}, r"pending.using: found \[\]"),
    (main, {"phase": "TAKE", "pending": {"first": 2}}, "display: found"),
    (main, {"pending": {"using": [2]}}, r"pending.using: found \[2\]"),
    (main, {"pending": {"using": [4]}}, "display: found .* cards were taken"),
    (main, {"pending": {"last_discard": 0}}, "pending.last_discard: found 0"),
    (taking, {"seats.0.used": [4]}, r"seats\[0\].used: found \[4\]"),
    (taking, {"pending.first": 0}, "display: found"),
    (taking, {"pending.using": [1]}, r"pending.using: found \[1\]"),
    (additional, {"seats.0.used": [4]}, r"seats\[0\].used: found"),
    (additional, {"pending.using": None}, r"pending.using: found \[\]"),
    (discarding, {"pending.last_discard": 4}, "discard_pile: found"),
    (discarding, {"phase": "END"}, r"seats\[0\].hand: found .* in phase END"),
    (placing, {"pending.tile.size": 5, "tile_supply.blue.3": 0}, "pending.tile: found 'blue 5'"),
    (placing, {"pending.recolour": 0}, "pending.recolour: found 0"),
    (placing, {"pending.recolour": 2}, "pending.recolour: found 2"),
    (placing, {"pending.recolour": None}, "pending.using: found"),
    (placing, {"pending.tile.size": 5}, "phase: found .* a phase with a legal action"),
    (paying, {"pending.due": 1}, "pending.due: found 1"),
    (paying, {"pending.place": 44}, "pending.place: found 44"),
    (paying, {"pending.paid": [0, 0, 1, 0, 0]}, "pending.paid: found .* only"),
    (paying, {"pending.paid": [0, 1, 0, 0, 0]}, "pending.paid: found .* discard pile"),
    (coat, {"pending.rewards": 2}, "pending.rewards: found 2"),
    (coat, {"pending.rewards": None}, "pending.rewards: found nothing"),
    # the end
    (over, {"phase": "MAIN"}, "phase: found .* expected END"),
    (over, {"done": False}, "draw_pile: found .* in it during a game"),
    (over, {"pending": {"rewards": 1}}, "pending.rewards: found 1"),
    (over, {"seats.1.points": 13}, r"seats\[1\].points: found 13"),
    (over, {"seats.0.points": 13}, "draw_pile: found .* the game ended by points"),
    (coat, {"pending.using": [4]}, r"pending.using: found .* some of the abilities owned: \[0\]"),
    (main, {"done": True, "phase": "END"}, r"done: found True"),
]


@pytest.mark.parametrize(("made", "changes", "message"), CASES)
def test_what_cannot_happen_is_refused(made: Callable[[], Position], changes: dict[str, Any], message: str) -> None:
    data = copy.deepcopy(made())
    for path, value in changes.items():
        change(data, path, value)
    with pytest.raises(PositionError, match=message):
        read(data)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_must_be_there(key: str) -> None:
    data = main()
    del data[key]
    with pytest.raises(PositionError, match=f"{key}: found nothing"):
        read(data)


def test_end_alone_is_never_asked() -> None:
    one = game(seat(abilities=[0, 1]))
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    data = one.to_dict()
    data["seats"][0]["used"] = [1]
    with pytest.raises(PositionError, match=r"phase: found .*another phase: END is applied automatically"):
        read(data)


# What is accepted


def leaves(data: Any) -> list[tuple[Any, Any]]:
    """Every list or mapping in a position with a key that leads further."""
    pairs = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    return [(data, key) for key, _ in pairs] + [found for _, inner in pairs for found in leaves(inner)]


def mutate(rng: random.Random, data: Position) -> None:
    """Change something small: a number, a list's length, an order, a phase, a key that is there or not."""
    inner, key = rng.choice(leaves(data))
    value = inner[key]
    if isinstance(value, bool):
        inner[key] = not value
    elif isinstance(value, int):
        inner[key] = max(0, value + rng.choice((-2, -1, 1, 2)))
    elif isinstance(value, list) and value:
        rng.choice((rng.shuffle, lambda cards: cards.pop(), lambda cards: cards.append(rng.randrange(6))))(value)
    elif key == "phase":
        inner[key] = rng.choice(("MAIN", "TAKE", "DISCARD", "END", "PLACE", "RECOLOUR", "PAY", "COAT"))
    elif key == "pending":
        pending = {"first": rng.randrange(7), "using": [rng.randrange(5)], "last_discard": rng.randrange(5)}
        pending |= {"rewards": rng.randint(1, 3), "recolour": rng.randrange(5), "due": rng.randint(1, 3)}
        added = rng.choice(sorted(pending))
        inner[key] = value | {added: pending[added]}
    else:
        inner[key] = rng.choice((None, 0, 1))


@pytest.mark.thorough
def test_what_is_accepted_plays_to_the_end() -> None:
    """Random positions, a little changed: those that are read play on, and all positions on the way are read, too."""
    rng, accepted, refused = random.Random(7), 0, 0
    for _ in range(600 if JIT else 40):
        one = CopenhagenGame.from_dict(rich(rng))
        for _ in range(rng.randrange(8)):
            if not one.done:
                one.step(rare_action(one, rng))
        data = one.to_dict()
        for _ in range(rng.randint(1, 2)):
            mutate(rng, data)
        try:
            one = read(data)
        except PositionError:
            refused += 1
            continue
        accepted += 1
        for step in range(300):
            if step < 12 or one.phase != "MAIN":
                assert read(one.to_dict()) == one
            if one.done:
                break
            legal = [int(action) for action in one.legal_actions()]
            assert legal
            one.step(rng.choice(legal))
        assert one.done
    if JIT:
        assert accepted > 40
        assert refused > 300


def test_the_last_round_that_can_be_told_is_never_passed() -> None:
    rng = random.Random(8)
    for _ in range(15 if JIT else 2):
        data = rich(rng)
        with pytest.raises(PositionError, match="round: found 127") as refused:
            read(data | {"round": 127})
        most = int(str(refused.value).split("at most ")[1].split(":")[0])
        one = read(data | {"round": most})
        while not one.done:
            one.step(rare_action(one, rng))
            assert read(one.to_dict()) == one
        assert one.round <= 127


def test_a_position_with_very_many_tiles_is_read(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text("base: copenhagen\ntiles: {copies: {players_2: [20, 20, 20, 20]}}\n")
    game = CopenhagenGame(CopenhagenConfig(components=str(path)), seed=1)
    rng = random.Random(1)
    while not game.done:
        assert notation.from_dict(notation.to_dict(game)) == game
        game.step(rng.choice(game.legal_actions().tolist()))
