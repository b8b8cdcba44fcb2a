"""What a seat may see: every piece against the position, nothing hidden in it, nothing lost on the way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine import loops
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen import observation
from helsinki_env.games.copenhagen.components import COLOURS, load_components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame, Phase
from tests.copenhagen.positions import END_CARD, rich
from tests.copenhagen.test_legal import choose

BOX = load_components()
PHASES = list(Phase)


def games(count: int, seed: int) -> Iterator[CopenhagenGame]:
    """Positions of games that are dealt and of turns that begin with random positions."""
    rng = random.Random(seed)
    for number in range(count):
        players = 2 + number % 3
        if number % 2:
            game, turns = CopenhagenGame(CopenhagenConfig(players, [[1], *[[]] * (players - 1)]), seed=number), 200
        else:
            game, turns = CopenhagenGame.from_dict(rich(rng, players)), 12
        for _ in range(turns):
            yield game
            if game.done:
                break
            game.step(choose(rng, [int(action) for action in game.legal_actions()]))


def flags(members: list[int]) -> list[int]:
    return [int(ability in members) for ability in range(5)]


def seen(position: dict[str, Any], viewer: int) -> dict[str, Any]:
    """The pieces of an observation from a position in the public format, plainly."""
    players, pending, pile = position["players"], position["pending"], position["draw_pile"]
    denied = position.get("denied", [[]] * players)
    out = {piece.name: np.zeros(piece.shape, int) for piece in observation.FIELDS}
    for turn in range(players):
        one = position["seats"][(viewer + turn) % players]
        tile, number, brick, coat = (plane.reshape(45) for plane in out["boards"][turn])
        for count, laid in enumerate(one["tiles"]):
            tile[laid["cells"]] = COLOURS.index(laid["colour"]) + 1
            number[laid["cells"]] = count + 1
            brick[laid["brick"]] = 1
        tile[one["white"]] = 6
        for cell in BOX.coats:
            coat[cell] = tile[cell] == 0
        for y in BOX.coat_rows:
            out["row_coats"][turn, y] = not tile[5 * y : 5 * y + 5].all()
        out["seats"][turn] = 1, sum(one["hand"]), min(127, one["points"])
        out["abilities"][turn], out["used"][turn] = flags(one["abilities"]), flags(one["used"])
        out["denied"][turn] = flags(denied[(viewer + turn) % players])
        out["known"][turn] = one["known"]
    out["phase"][PHASES.index(position["phase"])] = 1
    end_card = END_CARD in pile
    out["table"][:] = players, viewer, position["round"], len(pile), end_card, position["white_tiles"]
    out["tile_supply"][:] = [position["tile_supply"][colour] for colour in COLOURS]
    place = pending.get("place", -1)
    where = (place // 45 + 1, place % 45 + 1) if place >= 0 else (0, 0)
    tile = pending.get("tile")
    out["pending"][:] = (
        pending.get("first", -1) + 1,
        *flags(pending.get("using", [])),
        COLOURS.index(tile["colour"]) + 1 if tile else 0,
        tile["size"] if tile else 0,
        pending.get("recolour", -1) + 1,
        *where,
        pending.get("due", 0),
        pending.get("last_discard", -1) + 1,
    )
    out["paid"][:] = pending.get("paid", [0] * 5)
    out["rewards"][:] = pending.get("rewards", 0)
    out["display"][:] = [0 if card is None else card + 1 for card in position["display"]]
    out["hand"][:] = position["seats"][viewer]["hand"]
    out["discard"][:] = position["discard_pile"]
    if players > 2 and end_card:
        out["reshuffled"][:] = [pile.count(colour) for colour in range(5)]
    return out


def test_layout() -> None:
    shapes = {piece.name: piece.shape for piece in observation.FIELDS}
    assert list(shapes) == [
        *("boards", "row_coats", "seats", "abilities", "used", "denied", "phase", "table", "tile_supply", "pending"),
        *("paid", "rewards", "display", "hand", "known", "discard", "reshuffled"),
    ]
    assert shapes["boards"] == (4, 4, 9, 5)
    assert shapes["pending"] == (13,)
    assert sum(piece.size for piece in observation.FIELDS) == observation.OBSERVATION_SIZE


def test_every_piece_says_what_the_position_says() -> None:
    for game in games(24 if JIT else 4, seed=1):
        position = game.to_dict()
        for viewer in range(game.num_players):
            found = observation.unpack(game.observation(viewer))
            for name, expected in seen(position, viewer).items():
                assert (found[name] == expected).all(), (name, position)


def test_default_is_the_seat_to_move() -> None:
    for game in games(4, seed=2):
        assert (game.observation() == game.observation(game.seat)).all()


def test_an_observation_is_written_over_whatever_was_there() -> None:
    game = CopenhagenGame(seed=1)
    out = np.full((1, observation.OBSERVATION_SIZE), 77, np.int8)
    loops.batch_observe(game.config.tables[0], game._states, np.array([0]), out)
    assert (out[0] == game.observation(0)).all()


def test_batches_are_split_like_single_ones() -> None:
    both = np.stack([CopenhagenGame(seed=1).observation(), CopenhagenGame(seed=2).observation()])
    assert observation.unpack(both)["boards"].shape == (2, 4, 4, 9, 5)
    with pytest.raises(ValueError, match=f"expected .*{observation.OBSERVATION_SIZE}"):
        observation.unpack(both[:, 1:])


def hidden_otherwise(rng: random.Random, game: CopenhagenGame, viewer: int) -> CopenhagenGame:
    """The same game with what `viewer` may not see dealt anew: hands of others, the order of the draw pile, chance."""
    position = game.to_dict()
    pile = position["draw_pile"]
    behind = pile[::-1].index(END_CARD) if END_CARD in pile else None
    unseen = [card for card in pile if card != END_CARD]
    others = [one for i, one in enumerate(position["seats"]) if i != viewer]
    if position["players"] > 2 and END_CARD in pile:  # what is in a reshuffled pile is known
        rng.shuffle(unseen)
    else:
        sizes = [sum(one["hand"]) - sum(one["known"]) for one in others]
        for one in others:
            unseen += [c for c in range(5) for _ in range(one["hand"][c] - one["known"][c])]
        rng.shuffle(unseen)
        for one, size in zip(others, sizes, strict=True):
            drawn, unseen = unseen[:size], unseen[size:]
            one["hand"] = [one["known"][colour] + drawn.count(colour) for colour in range(5)]
    if behind is not None:
        unseen.insert(len(unseen) - behind, END_CARD)
    position["draw_pile"] = unseen
    position["chance"] = {"word": f"0x{rng.getrandbits(64):016x}"}
    return CopenhagenGame.from_dict(position)


def test_hidden_information_changes_nothing_that_others_see() -> None:
    rng, different = random.Random(5), 0
    for game in games(30 if JIT else 3, seed=3):
        if game.phase != "MAIN" or game.to_dict()["pending"] or game.done:
            continue  # a player who is building needs what is in hand
        viewer = rng.randrange(game.num_players)
        if viewer == game.seat:
            continue
        other = hidden_otherwise(rng, game, viewer)
        different += other != game
        assert (other.observation(viewer) == game.observation(viewer)).all()
        assert other.to_dict(viewer) == game.to_dict(viewer)
    assert different > 20 or not JIT


def test_a_copy_for_one_seat_hides_the_rest() -> None:
    for game in games(12, seed=4):
        whole = game.to_dict()
        for viewer in range(game.num_players):
            copy = game.to_dict(seat=viewer)
            assert "chance" not in copy
            assert copy["draw_pile"] == len(whole["draw_pile"])
            assert copy["end_card"] == (END_CARD in whole["draw_pile"])
            assert ("reshuffled" in copy) == (game.num_players > 2 and copy["end_card"])
            for i, one in enumerate(copy["seats"]):
                hand = whole["seats"][i]["hand"]
                expected = hand if i == viewer else {"size": sum(hand), "known": whole["seats"][i]["known"]}
                assert one == whole["seats"][i] | {"hand": expected}


def test_nothing_is_lost_and_nothing_is_made() -> None:
    """Cards, tiles and bricks at every step; nobody is known to hold more than is held."""
    for game in games(40 if JIT else 4, seed=6):
        found = game.to_dict()
        players = found["players"]
        for colour, name in enumerate(COLOURS):
            cards = [*found["draw_pile"], *found["display"]].count(colour) + found["discard_pile"][colour]
            cards += sum(one["hand"][colour] for one in found["seats"])
            assert cards == BOX.cards[players - 2]
            for size in (2, 3, 4, 5):
                laid = sum(t["colour"] == name and t["size"] == size for one in found["seats"] for t in one["tiles"])
                assert laid + found["tile_supply"][name][size - 2] == BOX.copies[players - 2][size - 2]
        assert found["white_tiles"] + sum(len(one["white"]) for one in found["seats"]) == BOX.white_tiles
        for one in found["seats"]:
            cells = [cell for t in one["tiles"] for cell in t["cells"]] + one["white"]
            assert len(set(cells)) == len(cells)
            assert all(0 <= known <= held for known, held in zip(one["known"], one["hand"], strict=True))
            assert set(one["used"]) <= set(one["abilities"])
        assert (found["draw_pile"].count(END_CARD) == 1) or players > 2 or found["done"]
