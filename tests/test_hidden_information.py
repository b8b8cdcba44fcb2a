"""Hidden information does not reach a seat: other hidden cards change nothing that it sees.

Rules page, section 7. Hidden are the order of the draw pile, cards drawn from it by others, which card was removed with
two players, and chance. Public are hand sizes, cards known to be in a hand, the composition of a reshuffled pile.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import HelsinkiConfig, HelsinkiGame, load_components
from helsinki_env.agents.base import Player, choose_action
from helsinki_env.agents.net.network import TorchModel
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.positions import PositionError
from helsinki_env.games.helsinki import notation
from tests.games import EACH_GAME, EACH_LAYOUT, TestedGame
from tests.oracles.helsinki import ReferenceGame
from tests.support import policies, positions
from tests.support.agreement import random_config
from tests.support.networks import opinionated, saved
from tests.support.observations import observations

Position = dict[str, Any]


def dealt_anew(position: Position, viewer: int, rng: random.Random) -> Position:
    """Another position that must look the same to the viewer."""
    other = copy.deepcopy(position)
    pile, hidden = other["draw_pile"], [s for number, s in enumerate(other["seats"]) if number != viewer]
    draws = other["pending"].get("unseen_draws", [[] for _ in other["seats"]])
    drawn = [cards for number, cards in enumerate(draws) if number != viewer]
    from_pile = (
        "reshuffled" in other["pending"]
    )  # the cards of the pile and of the draws from it are then public together
    if from_pile:
        for seat, cards in zip(hidden, drawn, strict=True):
            _swap_draws(seat, cards, pile, rng)
    pool = [] if from_pile else list(pile)
    # What was begun can be finished, so these hands are not free to be just anything; they stay what they are.
    bound = other["phase"] in ("PAY", "DISCARD") or other["pending"].get("only_build", False)
    open_cards = []
    for seat, cards in zip(hidden, drawn, strict=True):
        stays = [
            held if bound and seat is other["seats"][other["to_move"]] else known + min(cards.count(card), held - known)
            for card, (held, known) in enumerate(zip(seat["hand"], seat["known"], strict=True))
        ]
        open_cards.append(stays)
        pool += [card for card, held in enumerate(seat["hand"]) for _ in range(held - stays[card])]
    if other["players"] == 2:
        pool += _removed_cards(position)
    rng.shuffle(pool)
    if other["players"] == 2:
        data = load_components(position["components"])
        pool.remove(next(card for card in pool if data.card_number(card) == data.any_removed2_number))
    for seat, stays in zip(hidden, open_cards, strict=True):
        for card in [pool.pop() for _ in range(sum(seat["hand"]) - sum(stays))]:
            stays[card] += 1
        seat["hand"] = stays
    if not from_pile:
        pile[:] = pool
    rng.shuffle(pile)
    other["chance"]["word"] = f"0x{rng.getrandbits(64):016x}"
    return other


def _swap_draws(seat: Position, draws: list[int], pile: list[int], rng: random.Random) -> None:
    """What another seat drew unseen and still holds could as well be another card of the same pile."""
    for i, card in enumerate(draws):
        if pile and seat["hand"][card] > seat["known"][card] and rng.random() < 0.7:
            j = rng.randrange(len(pile))
            seat["hand"][card] -= 1
            seat["hand"][pile[j]] += 1
            draws[i], pile[j] = pile[j], card


def _removed_cards(position: Position) -> list[int]:
    """The removed card of the deck."""
    counts = list(load_components(position["components"]).deck(position["players"]))
    pending = position["pending"]
    placed = position["draw_pile"] + [card for card in position["display"] if card is not None]
    placed += pending.get("paid", []) + ([pending["card"]] if "card" in pending else [])
    for card in placed:
        counts[card] -= 1
    for hand in (position["discard_pile"], *(seat["hand"] for seat in position["seats"])):
        counts = [left - held for left, held in zip(counts, hand, strict=True)]
    return [card for card, left in enumerate(counts) for _ in range(left)]


def _playable(position: Position, viewer: int, rng: random.Random, mover: int) -> tuple[Position, HelsinkiGame]:
    """Sample until the acting seat can complete its turn, if its hand is sampled."""
    for _ in range(10_000):
        anew = dealt_anew(position, viewer, rng)
        try:
            return anew, notation.from_dict(anew)
        except PositionError:
            if viewer == mover:
                raise
    raise AssertionError("no deal lets the seat to move go on")


def check_nothing_hidden_is_seen(position: Position, rng: random.Random) -> int:
    """Compare for every seat; return for how many of them something hidden did change."""
    game, changed = notation.from_dict(position), 0
    for viewer in range(position["players"]):
        anew, other = _playable(position, viewer, rng, game.seat)
        assert other.observation(viewer).tobytes() == game.observation(viewer).tobytes()
        assert notation.to_dict(other, viewer) == notation.to_dict(game, viewer)
        assert ReferenceGame.from_dict(anew).to_dict(viewer) == notation.to_dict(game, viewer)
        if viewer == game.seat:  # nor does legality tell
            assert other.legal_actions().tolist() == game.legal_actions().tolist()
        changed += [seat["hand"] for seat in anew["seats"]] != [seat["hand"] for seat in position["seats"]]
    return changed


def moments(game: ReferenceGame, rng: random.Random, style: str, most: int) -> Iterator[Position]:
    """The positions of a game played on, at some of the decisions."""
    for _ in range(most):
        if rng.random() < 0.1:
            yield game.to_dict()
        if game.done:
            return
        game.step(policies.choose(rng, style, game, game.legal_actions()))


@given(st.integers(0, 10**9), st.sampled_from(policies.STYLES))
@settings(max_examples=6 if JIT else 2)
def test_hidden_cards_do_not_show_in_games(number: int, style: str) -> None:
    rng = random.Random(number)
    for position in moments(ReferenceGame(random_config(rng), number), rng, style, 10_000):
        check_nothing_hidden_is_seen(position, rng)


@given(st.integers(0, 10**9), st.sampled_from(positions.THEMES))
@settings(max_examples=40 if JIT else 3)
def test_hidden_cards_do_not_show_after_built_positions(number: int, theme: str) -> None:
    rng = random.Random(number)
    position = positions.build(rng, theme)
    check_nothing_hidden_is_seen(position, rng)
    for later in moments(ReferenceGame.from_dict(position), rng, "rare", 20):
        check_nothing_hidden_is_seen(later, rng)


def players_of(components: str, folder: Path) -> list[Player]:
    """One of every kind; the network is a small one with odd evaluations."""
    config = HelsinkiConfig(components=components)
    names = ["random", "greedy", "heuristic"]
    if not JIT:
        return [make_player(name, config) for name in names]
    network = opinionated(components)
    path = saved(folder / f"{components}.safetensors", network, components)
    names += ["mc:8", "ismcts:8", f"net:{path}", f"net+search:8:{path}"]
    players = [make_player(name, config) for name in names]
    return [*players, NetPlayer(TorchModel(network), config, "net, drawing", sample=True)]


@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
def test_hidden_cards_change_no_player_s_choice(components: str, tmp_path: Path) -> None:
    players = players_of(components, tmp_path)
    asked, differed = 0, 0
    for number in range(60 if JIT else 24):
        rng = random.Random(number)
        built = ReferenceGame.from_dict(positions.build(rng, positions.THEMES[number % len(positions.THEMES)]))
        for position in moments(built, rng, "rare", 30):
            if position["done"] or position["components"] != components:
                continue
            game = notation.from_dict(position)
            other = notation.from_dict(dealt_anew(position, game.seat, rng))
            differed += game.state.hand.tobytes() != other.state.hand.tobytes()
            for player in players:
                assert choose_action(player, other, number) == choose_action(player, game, number), player.name
                asked += 1
    assert asked > (250 if JIT else 10)
    assert differed > 0.3 * asked / len(players)


def test_the_comparison_above_is_not_empty() -> None:
    rng = random.Random(1)
    games = (moments(ReferenceGame(HelsinkiConfig(num_players=n), n), rng, "eager", 120) for n in (2, 3, 4))
    changed = [check_nothing_hidden_is_seen(position, rng) for game in games for position in game]
    assert sum(changed) > 1.5 * len(changed)
    thin = [positions.build(random.Random(n), "thin pile") for n in range(100)]
    draws = [position for position in thin if "unseen_draws" in position["pending"]]
    assert sum(check_nothing_hidden_is_seen(position, rng) > 0 for position in draws) > 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_is_public_shows(players: int) -> None:
    """All seats see each of these changes."""
    game = HelsinkiGame(HelsinkiConfig(num_players=players, dry_roads=True), seed=1)
    game.step(0)
    position = notation.to_dict(game)
    card = position["draw_pile"][0]
    changes = {
        "round": 5,
        "last_round": True,
        "draw_pile": position["draw_pile"][1:],
        "discard_pile": [int(other == card) for other in range(51)],
        "display": [None, *position["display"][1:]],
        "wild_tiles": 11,
        "superstructures": 29,
        "bonus_cards": [3],
        "covered": [3],
        "denied": [[3], *([] for _ in range(players - 1))],
    }
    ours = {"meadow": 1, "used": [4], "token": 5, "points": 2, "limit_lifted": True, "coats_on_board": [1]}
    for key, value in changes.items():
        _assert_seen_by_all(position, position | {key: value})
    for key, value in ours.items():
        seat = position["seats"][1] | {key: value}
        _assert_seen_by_all(position, position | {"seats": [position["seats"][0], seat, *position["seats"][2:]]})


def _assert_seen_by_all(before: Position, after: Position) -> None:
    """The plain rules read positions unchecked, so the counts of cards need not add up here."""
    data = load_components("default")
    pairs = zip(observations(before, data), observations(after, data), strict=True)
    assert all(one != other for one, other in pairs)


# what is the same for every game


@EACH_GAME
def test_what_is_dealt_anew_shows_to_no_viewer(game: TestedGame) -> None:
    rng, compared, changed = random.Random(f"views {game.name}"), 0, 0
    for one in some_games(game):
        viewer = rng.randrange(one.num_players)
        other = determinize(one, viewer, rng.getrandbits(63))
        assert other.observation(viewer).tobytes() == one.observation(viewer).tobytes()
        assert other.config == one.config
        assert (other.seat, other.round, other.phase) == (one.seat, one.round, one.phase)
        if viewer == one.seat:
            assert np.array_equal(other.action_mask(), one.action_mask())
        assert other.ranks().tolist() == one.ranks().tolist()
        compared += 1
        changed += other.state.tobytes() != one.state.tobytes()
    assert compared > (100 if JIT else 5)
    assert changed > 0.9 * compared


@EACH_LAYOUT
def test_what_others_hold_is_dealt_anew(game: TestedGame) -> None:
    """Or the comparisons here would be of the same games."""
    rng, differed, asked = random.Random(f"hands {game.name}"), 0, 0
    for one in some_games(game):
        other = determinize(one, seed=rng.getrandbits(63))
        asked += 1
        differed += one.state.hand.tobytes() != other.state.hand.tobytes()
    assert differed > 0.3 * asked


@EACH_LAYOUT
@pytest.mark.parametrize("name", ["random", "greedy", "heuristic"])
def test_no_simple_player_s_choice_depends_on_what_is_hidden(game: TestedGame, name: str) -> None:
    check_choices(game, name)


@EACH_LAYOUT
@pytest.mark.parametrize("name", ["mc:8", "ismcts:8"])
def test_no_player_s_choice_depends_on_what_is_hidden(game: TestedGame, name: str) -> None:
    if not JIT:
        pytest.skip("too slow without the compiler")
    check_choices(game, name)


def check_choices(game: TestedGame, name: str) -> None:
    rng, asked = random.Random(f"{name} {game.name}"), 0
    players: dict[Any, Player] = {}
    for number, one in enumerate(some_games(game)):
        player = players.setdefault(one.config.components, make_player(name, one.config))
        chosen = choose_action(player, one, number)
        assert one.action_mask()[chosen]
        for _ in range(2):
            assert choose_action(player, determinize(one, seed=rng.getrandbits(63)), number) == chosen
        asked += 1
    assert asked > (100 if JIT else 5)


@cache
def some_games(game: TestedGame) -> list[Any]:
    """Games at some of their decisions: from the deal on, and from positions in which rare things are near."""
    rng, found = random.Random(f"games {game.name}"), []
    for number in range(3 if JIT else 1):
        config = game.configs[number]
        one = game.spec.game(config, seed=number)
        while not one.done:
            if rng.random() < (0.2 if JIT else 0.05):
                found.append(one.clone())
            one.step(int(rng.choice(one.legal_actions())))
    for _ in range(50 if JIT else 5):
        one = game.built(rng)
        if not one.done:
            found.append(one)
    return found
