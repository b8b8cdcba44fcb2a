"""The network and its players: inputs, outputs, actions with and without search, and files."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import pickle
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from safetensors.torch import save_file

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.base import choose_action, init_streams, next_keys
from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.helsinki.features import FEATURES, seat_parts, table_parts
from helsinki_env.agents.helsinki.weights import QUICK
from helsinki_env.agents.heuristic import HeuristicPlayer
from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.agents.net import network as network_module
from helsinki_env.agents.net.afterstates import MAX_EVALUATED_CHOICES, AfterstateBatch, AfterstateEncoder
from helsinki_env.agents.net.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from helsinki_env.agents.net.features import FeatureSpec, game_features, offsets_for_types
from helsinki_env.agents.net.network import AfterstateTensors, Network, NetworkConfig, NetworkOutput, TorchModel
from helsinki_env.agents.net.player import NetPlayer, choice_log_probs
from helsinki_env.agents.net.search import NetSearchPlayer, NetSearchSettings
from helsinki_env.agents.registry import make_player
from helsinki_env.agents.search.player import FlatPlayer
from helsinki_env.engine.determinization import determinize_batch
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.engine.spec import config_to_dict
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.components import COLORS, load_components
from helsinki_env.games.helsinki.state_from_observation import states_from_observations
from tests.support import positions
from tests.support.networks import SMALL, opinionated, same_weights, saved, untrained
from tests.support.players import check_rows_alone
from tests.support.riddle import riddle
from tests.support.wide import wide_components
from tests.test_restore import built_games, dealt_games, observed

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.skipif(not JIT, reason="too slow")]

Ints = npt.NDArray[np.int64]


#: What a program may have chosen for itself, and how it takes it back.
CHOICES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "float64": (partial(torch.set_default_dtype, torch.float64), partial(torch.set_default_dtype, torch.float32)),
    "bfloat16": (partial(torch.set_default_dtype, torch.bfloat16), partial(torch.set_default_dtype, torch.float32)),
    "device": (partial(torch.set_default_device, "meta"), partial(torch.set_default_device, None)),
    "errors": (partial(np.seterr, all="raise"), partial(np.seterr, all="warn", under="ignore")),
}


def played_games(name: str) -> list[list[int]]:
    """The decisions of a few matches of both games."""
    matches = [
        play_match([name, "greedy"], config, games=2, seed=3) for config in (HelsinkiConfig(), CopenhagenConfig())
    ]
    return [game.tolist() for match in matches for game in match.decisions]


usual_games = cache(played_games)


@pytest.mark.thorough
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", ["net", pytest.param("net+search:4", marks=pytest.mark.nightly)])
def test_networks_play_alike_whatever_a_program_has_chosen(name: str, choice: str) -> None:
    begin, end = CHOICES[choice]
    expected = usual_games(name)
    game = HelsinkiGame(seed=4)
    game.step(0)
    seen = game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64)
    begin()
    try:
        assert played_games(name) == expected
        assert np.isfinite(evaluate_actions(make_player(name), game.config, *seen)[0].probabilities).all()
    finally:
        end()


def test_a_network_computes_with_one_thread_and_leaves_the_programs_number_of_them() -> None:
    seen: set[int] = set()

    class Watched(Network):
        def forward(self, seats: torch.Tensor, table: torch.Tensor) -> NetworkOutput:
            seen.add(torch.get_num_threads())
            return super().forward(seats, table)

    torch.set_num_threads(2)
    try:
        player = NetPlayer(TorchModel(Watched(config=SMALL)))
        play_match([player, "random"], games=8, threads=3, batch=2)
        assert seen == {1}
        assert torch.get_num_threads() == 2
        with ThreadPoolExecutor(1) as pool:  # threads that begin later
            assert pool.submit(torch.get_num_threads).result() == 2
    finally:
        torch.set_num_threads(1)


def test_the_number_of_threads_is_not_read_while_another_player_changes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    number, reading, left = 4, threading.Event(), threading.Event()

    def get() -> int:
        found = number
        if threading.current_thread() is not threading.main_thread():
            reading.set()
            left.wait(0.2)
        return found

    def change(to: int) -> None:
        nonlocal number
        number = to

    monkeypatch.setattr(torch, "get_num_threads", get)
    monkeypatch.setattr(torch, "set_num_threads", change)

    def enter() -> None:
        with network_module.single_torch_thread():
            pass

    with ThreadPoolExecutor(1) as pool:
        with network_module.single_torch_thread():
            other = pool.submit(enter)
            assert reading.wait(30)
        left.set()
        other.result()
    assert number == 4


@cache
def all_games(components: str) -> list[HelsinkiGame]:
    """Games of all kinds and in all phases in which a decision is due."""
    games = [game for game in (*dealt_games(6, components), *built_games(120, components)) if not game.done]
    return random.Random(0).sample(games, len(games))


def some_games(count: int, components: str = "default") -> list[HelsinkiGame]:
    return all_games(components)[:count]


def rows(count: int, components: str = "default") -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    _, observation, mask = observed(some_games(count, components))
    return observation, mask


def words(count: int, seed: int = 0) -> npt.NDArray[np.uint64]:
    return next_keys(init_streams(seed, np.arange(count), 0))


def assert_same(one: AfterstateBatch, other: AfterstateBatch) -> None:
    for name in ("first", "action", "advice", "position", "begin", "seats", "table", "ended"):
        found, expected = getattr(one, name), getattr(other, name)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=name)


# inputs: choices


@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
def test_every_legal_decision_is_a_choice_and_the_heuristic_advises(components: str) -> None:
    config = HelsinkiConfig(components=components)
    observation, mask = rows(600, components)
    inputs = AfterstateEncoder(config).write(observation, mask)
    favourite = HeuristicPlayer(config, QUICK).act(observation, mask, words(len(mask)))
    assert len(inputs) == len(mask)
    np.testing.assert_array_equal(inputs.row, np.nonzero(mask)[0])
    np.testing.assert_array_equal(inputs.action, np.nonzero(mask)[1])
    assert inputs.advice.max() == 0
    assert inputs.advice.min() == -8
    for b, chosen in enumerate(favourite):
        choices = slice(inputs.first[b], inputs.first[b + 1])
        assert inputs.advice[choices][inputs.action[choices] == chosen] == 0
    np.testing.assert_array_equal(np.diff(inputs.begin), np.minimum(mask.sum(axis=1), MAX_EVALUATED_CHOICES))
    assert inputs.begin[-1] == len(inputs.seats) == len(inputs.table) == len(inputs.ended)
    # Every position is one that some choice of that decision leads to, and only such.
    np.testing.assert_array_equal(np.unique(inputs.position), np.arange(len(inputs.table)))
    assert (inputs.position >= inputs.begin[inputs.row]).all()
    assert (inputs.position < inputs.begin[inputs.row + 1]).all()


@pytest.mark.parametrize("most", [1, 3, MAX_EVALUATED_CHOICES])
def test_of_many_choices_the_likeliest_are_looked_at_and_the_others_stand_with_the_favourite(most: int) -> None:
    observation, mask = rows(600)
    inputs = AfterstateEncoder(most=most).write(observation, mask)
    every = AfterstateEncoder(most=554).write(observation, mask)
    crowded = 0
    for b in range(len(inputs)):
        choices = slice(inputs.first[b], inputs.first[b + 1])
        advice, position = inputs.advice[choices], inputs.position[choices]
        favourite = inputs.begin[b]  # its position comes first
        assert advice[position == favourite].max() == 0
        looked = np.flatnonzero((position != favourite) | (np.cumsum((position == favourite) & (advice == 0)) == 1))
        looked = np.array([i for i in looked if position[i] != favourite or advice[i] == 0], np.int64)
        others = np.setdiff1d(np.arange(len(advice)), looked)
        assert len(set(position[looked].tolist())) == len(looked) == min(most, len(advice))
        assert (position[others] == favourite).all()
        assert not len(others) or advice[others].max() <= advice[looked].min()
        crowded += len(others) > 0
        for i in looked.tolist():  # as it would be if all were looked at
            np.testing.assert_array_equal(inputs.seats[position[i]], every.seats[every.position[choices][i]])
            np.testing.assert_array_equal(inputs.table[position[i]], every.table[every.position[choices][i]])
    assert crowded > (20 if most == MAX_EVALUATED_CHOICES else 100)


def test_a_row_depends_on_nothing_beside_it() -> None:
    observation, mask = rows(300)
    writer = AfterstateEncoder()
    together = writer.write(observation, mask, 4)
    alone = [writer.write(observation[b : b + 1], mask[b : b + 1], 4) for b in range(len(mask))]
    assert_same(together, AfterstateBatch.join(alone))
    order = np.random.default_rng(0).permutation(len(mask))
    assert_same(writer.write(observation[order], mask[order], 4), together.take(order))


def test_rows_can_be_taken_and_joined() -> None:
    observation, mask = rows(60)
    writer = AfterstateEncoder()
    inputs = writer.write(observation, mask)
    for chosen in ([0], [59, 3, 3, 0, 17], list(range(60)), []):
        some = np.array(chosen, np.int64)
        taken = inputs.take(some)
        assert len(taken) == len(chosen)
        if chosen:
            assert_same(taken, writer.write(observation[some], mask[some], inputs.seats.shape[1]))
            np.testing.assert_array_equal(taken.row, np.repeat(np.arange(len(some)), mask[some].sum(axis=1)))
    parts = [inputs.take(np.arange(begin, begin + 20)) for begin in (40, 0, 20)]
    assert_same(AfterstateBatch.join(parts), inputs.take(np.r_[40:60, 0:20, 20:40]))


def test_choices_can_be_left_out() -> None:
    observation, mask = rows(80)
    inputs = AfterstateEncoder().write(observation, mask)
    generator = np.random.default_rng(4)
    wanted = generator.random(len(inputs.action)) < 0.4
    wanted[inputs.first[:-1]] |= np.add.reduceat(wanted, inputs.first[:-1]) == 0  # at least one of each decision
    kept = inputs.keep(wanted)
    assert len(kept) == len(inputs)
    np.testing.assert_array_equal(kept.action, inputs.action[wanted])
    np.testing.assert_array_equal(kept.advice, inputs.advice[wanted])
    np.testing.assert_array_equal(kept.row, inputs.row[wanted])
    for name in ("seats", "table", "ended"):  # every choice leads where it led
        found, there = getattr(kept, name), getattr(inputs, name)
        np.testing.assert_array_equal(found[kept.position], there[inputs.position[wanted]])
    assert sorted(set(kept.position.tolist())) == list(range(len(kept.table)))  # and nothing else is left
    assert (kept.position >= kept.begin[kept.row]).all()
    assert (kept.position < kept.begin[kept.row + 1]).all()
    assert_same(inputs.keep(np.ones(len(wanted), np.bool_)), inputs)


def test_what_is_not_looked_at_is_out_of_the_question() -> None:
    observation, mask = rows(400)
    few, many = AfterstateEncoder(most=2).write(observation, mask), AfterstateEncoder(most=500).write(observation, mask)
    np.testing.assert_array_equal(few.action, many.action)
    looked_at = few.position != few.begin[few.row]
    looked_at |= few.advice == 0
    assert (np.add.reduceat(looked_at, few.first[:-1]) <= 2).all()
    assert (few.advice[~looked_at] == few.advice.min()).all()
    np.testing.assert_array_equal(few.advice[looked_at], many.advice[looked_at])


def test_threads_may_share_a_writer() -> None:
    observation, mask = rows(300)
    writer = AfterstateEncoder()
    whole = writer.write(observation, mask, 4)
    parts = np.array_split(np.arange(len(mask)), 6)
    with ThreadPoolExecutor(3) as pool:
        written = list(pool.map(lambda part: writer.write(observation[part], mask[part], 4), parts))
    assert_same(AfterstateBatch.join(written), whole)


# inputs: positions


class Described:
    """The described positions of some inputs, by name of the part."""

    def __init__(self, inputs: AfterstateBatch, types: int) -> None:
        self.inputs, at = inputs, offsets_for_types(FEATURES, types)
        self.of_seats, self.of_table = (
            self._slices(seat_parts(types), at.seat),
            self._slices(table_parts(types), at.table),
        )

    @staticmethod
    def _slices(parts: tuple[FeatureSpec, ...], at: Ints) -> dict[str, slice]:
        return {part.name: slice(begin, end) for part, begin, end in zip(parts, at[:-1], at[1:], strict=True)}

    def seat(self, position: int, turn: int) -> dict[str, list[int]]:
        return {name: self.inputs.seats[position, turn, where].tolist() for name, where in self.of_seats.items()}

    def table(self, position: int) -> dict[str, list[int]]:
        return {name: self.inputs.table[position, where].tolist() for name, where in self.of_table.items()}


def flags(size: int, marked: Any) -> list[int]:
    """A list of zeros, but for ones at the marked places."""
    return [int(i in marked) for i in range(size)]


def steps(size: int, value: int) -> list[int]:
    return [int(value > i) for i in range(size)]


def built(seat: dict[str, Any]) -> set[int]:
    return {24, *seat["wild"], *(cell for tile in seat["pavilions"] for cell in tile["cells"])}


def by_colour(counts: list[int], components: str) -> list[int]:
    data, found = load_components(components), [0] * 6
    for card, count in enumerate(counts):
        found[data.card_color(card) if card != data.wild_type else 5] += count
    return found


def expected_seat(position: dict[str, Any], viewer: int, turn: int) -> dict[str, list[int]]:
    """Return the inputs of a seat from the position as plain data."""
    number = (viewer + turn) % position["players"]
    seat, own = position["seats"][number], position["seats"][viewer]
    cells = built(seat)
    lines = [[7 * line + i for i in range(7)] for line in range(7)] + [
        [7 * i + line for i in range(7)] for line in range(7)
    ]
    missing = [sum(cell not in cells for cell in line) for line in lines]
    draws = position["pending"].get("unseen_draws", [[]] * position["players"])
    gone = {*seat["used"], *position["denied"][number], *position["covered"]}
    return {
        "built": flags(49, cells),
        "superstructures": flags(49, seat["superstructures"]),
        "coats": flags(49, seat["coats_on_board"]),
        "empty cells by line": [flag for count in missing for flag in flags(8, [count])],
        "token": flags(8, [seat["token"]]),
        "spaces ahead of the viewer": flags(8, [(seat["token"] - own["token"]) % 8]),
        "cards in hand, at least": steps(8, sum(seat["hand"])),
        "coats in the meadow, at least": steps(8, seat["meadow"]),
        "present": [1],
        "points": [seat["points"]],
        "bonus points": [seat["bonus"] or 0],
        "limit lifted": [int(seat["limit_lifted"])],
        "unseen draws": [len(draws[number])],
        "used": flags(15, seat["used"]),
        "denied": flags(15, position["denied"][number]),
        "still to be had": flags(15, set(range(15)) - gone),
        "known cards": seat["known"],
        "known cards by colour": by_colour(seat["known"], position["components"]),
    }


def expected_card(card: int | None, components: str) -> list[int]:
    """None, five colours and wild, number 1 to 6, superstructures 0 to 2, roofs 2 to 5."""
    data = load_components(components)
    if card is None:
        return [1] + [0] * 19
    if card == data.wild_type:
        return [0] * 6 + [1] + [0] * 13
    variant = data.variants[card % len(data.variants)]
    return [
        0,
        *flags(6, [data.card_color(card)]),
        *flags(6, [min(6, variant.number) - 1]),
        *flags(3, [min(2, variant.superstructures)]),
        *flags(4, [variant.roofs - 2]),
    ]


def expected_table(position: dict[str, Any], viewer: int, blank: set[int]) -> dict[str, list[int]]:
    """Return the inputs of the table; the slots in `blank` look empty."""
    components = position["components"]
    seat, data = position["seats"][viewer], load_components(components)
    colours = [{cell for tile in seat["pavilions"] if tile["colour"] == c for cell in tile["cells"]} for c in COLORS]
    token = seat["token"]
    slots = [None if s in blank else position["display"][s] for s in ((token + ahead) % 8 for ahead in range(8))]
    pile = len(position["draw_pile"])
    bonus = sorted(data.bonus_cards)
    return {
        "own board by colour": [flag for cells in colours for flag in flags(49, cells)],
        "hand": seat["hand"],
        "hand by colour, at least": [flag for count in by_colour(seat["hand"], components) for flag in steps(7, count)],
        "display, from the own token": [fact for card in slots for fact in expected_card(card, components)],
        "covered": flags(15, position["covered"]),
        "players": flags(3, [position["players"] - 2]),
        "turn order": flags(4, [viewer]),
        "dry roads": [int(position["dry_roads"])],
        "last round": [int(position["last_round"])],
        "round": [position["round"]],
        "draw pile": [pile],
        "draw pile nearly empty, at most": [int(pile <= 2 * step) for step in range(8)],
        "wild tiles": [position["wild_tiles"]],
        "superstructures left": [position["superstructures"]],
        "tile supply": [count for c in COLORS for count in position["tile_supply"][c]],
        "bonus cards": [int(card in position["bonus_cards"]) for card in bonus],
        "discard": position["discard_pile"],
        "reshuffled": position["pending"].get("reshuffled", [0] * data.types),
    }


def drawn_slots(game: HelsinkiGame, action: int) -> set[int]:
    """The slots that a decision refills."""
    if notation.action_to_string(action, game.config.components) not in ("DRAW", "USE extra_card"):
        return set()
    token = int(game.state.token[game.seat])
    return {token, (token + 7) % 8}


@pytest.mark.thorough
@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
def test_a_choice_stands_for_the_end_of_the_turn_that_it_leads_to(components: str) -> None:
    """Carried out once more with the rules alone: hidden cards dealt as the writer does, the heuristic goes on."""
    config = HelsinkiConfig(components=components)
    games = some_games(240, components)
    observation, mask = rows(240, components)
    inputs = AfterstateEncoder(config, most=554).write(observation, mask)
    described = Described(inputs, config.component_set.types)
    dealt = states_from_observations(config, observation)
    determinize_batch(config, dealt, dealt["seat"].astype(np.int64), np.full(len(games), mix(GOLDEN), np.uint64))
    heuristic, seen, odd = HeuristicPlayer(config, QUICK), Counter[str](), 0
    for choice, (b, action) in enumerate(zip(inputs.row.tolist(), inputs.action.tolist(), strict=True)):
        game = HelsinkiGame.from_state(games[b].config, dealt[b])
        viewer, blank, taken = game.seat, drawn_slots(game, action), 0
        while True:
            name, taken = notation.action_to_string(action, components), taken + 1
            seen[name.split(" ")[0]] += 1
            seen["extra card"] += name == "USE extra_card"
            game.step(action)
            if game.done or game.seat != viewer:
                break
            action = choose_action(heuristic, game)
            blank |= drawn_slots(game, action)
        position, at = notation.to_dict(game), int(inputs.position[choice])
        found = [described.seat(at, turn) for turn in range(game.num_players)] + [described.table(at)]
        expected = [expected_seat(position, viewer, turn) for turn in range(game.num_players)]
        expected.append(expected_table(position, viewer, blank))
        same = [{name: told[name] for name in wanted} for told, wanted in zip(found, expected, strict=True)] == expected
        # Within a turn the heuristic remembers how it judged a board; now and then that tips the scales.
        assert same or taken > 1
        odd += not same
        if same:
            assert inputs.ended[at] == (float(game.ranking()[0] == viewer) if game.done else -1.0)
        assert not inputs.seats[at, game.num_players :].any()
        seen["one decision"] += taken == 1
        seen["ended"] += game.done
        seen["won"] += game.done and game.ranking()[0] == viewer
    assert odd < 0.005 * len(inputs.action)
    assert set(a.KINDS) <= set(seen)
    assert min(seen.values()) >= 3, seen


def test_what_the_heuristic_expects_is_told_and_who_leads() -> None:
    inputs = AfterstateEncoder().write(*rows(300))
    described = Described(inputs, 51)
    for at in range(len(inputs.table)):
        present = int(inputs.seats[at, :, described.of_seats["present"]].sum())
        told = [described.seat(at, turn) for turn in range(present)]
        expected = [seat["expected points"][0] for seat in told]
        if max(expected) == 127:  # more than any game brings
            continue
        for turn, seat in enumerate(told):
            ahead = expected[turn] - max(expected[:turn] + expected[turn + 1 :])
            assert abs(seat["lead in expected points"][0] - ahead) <= 1  # both are rounded
        if inputs.ended[at] >= 0 and expected[0] > max(expected[1:]) + 1:
            assert inputs.ended[at] == 1.0  # in a game that is over these are the points


def test_decisions_that_end_the_turn_at_once_are_what_really_happens() -> None:
    """No cards are dealt anew here: what is told agrees with the true game in everything that is no draw."""
    games = some_games(800)
    observation, mask = rows(800)
    inputs = AfterstateEncoder(most=554).write(observation, mask)
    described, seen = Described(inputs, 51), Counter[str]()
    for choice, (b, action) in enumerate(zip(inputs.row.tolist(), inputs.action.tolist(), strict=True)):
        game = games[b].clone()
        viewer = game.seat
        game.step(action)
        if not game.done and game.seat == viewer:
            continue
        seen[notation.action_to_string(action).split(" ")[0]] += 1
        position, at = notation.to_dict(game), int(inputs.position[choice])
        for turn in range(game.num_players):
            found, expected = described.seat(at, turn), expected_seat(position, viewer, turn)
            assert {name: found[name] for name in expected} == expected
        found, expected = described.table(at), expected_table(position, viewer, drawn_slots(games[b], action))
        hidden = {"reshuffled"}  # what the draws left of it
        if notation.action_to_string(action).startswith(("PLACE", "USE extra_card")):
            hidden |= {"hand", "hand by colour, at least"}  # perhaps a card from the draw pile
        for name in expected:
            assert found[name] == expected[name] or name in hidden, name
        if game.done:
            assert inputs.ended[at] == (game.ranking()[0] == viewer)
    assert {"DRAW", "END", "PLACE", "ROOF", "DISCARD"} <= set(seen)
    assert min(seen.values()) >= 3, seen


# the network


def network_and_inputs(count: int = 300) -> tuple[Network, AfterstateBatch, npt.NDArray[np.int8]]:
    observation, mask = rows(count)
    return opinionated(), AfterstateEncoder().write(observation, mask, 4), observation


@torch.no_grad()
def said(network: Network, inputs: AfterstateBatch) -> tuple[Any, npt.NDArray[np.float32]]:
    x = AfterstateTensors.of(inputs)
    assessed = network(x.seats, x.table)
    positions = (values[: len(inputs.table)] for values in assessed)
    return NetworkOutput(*positions), network.log_probs(x, assessed).numpy()


def test_probabilities_of_the_choices_of_a_decision_add_up_to_one() -> None:
    network, inputs, _ = network_and_inputs()
    _, log_probs = said(network, inputs)
    assert (log_probs <= 1e-6).all()
    sums = np.add.reduceat(np.exp(log_probs.astype(np.float64)), inputs.first[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-5)
    np.testing.assert_allclose(log_probs[np.diff(inputs.first)[inputs.row] == 1], 0.0, atol=1e-6)


def test_a_learner_is_asked_about_few_numbers_of_rows_and_the_rows_filled_up_teach_it_nothing() -> None:
    network, inputs, _ = network_and_inputs()
    told = [inputs.take(np.arange(n)) for n in range(5, len(inputs), 5)]
    asked = [AfterstateTensors.of(some) for some in told]
    assert len({len(x.table) for x in asked}) <= len(asked[-1].table) // 64
    i, x = next((i, x) for i, x in zip(told, asked, strict=True) if len(x.table) > len(i.table) + 32)
    weights = list(network.parameters())
    seats, table, ended = (torch.from_numpy(array) for array in (i.seats, i.table, i.ended))
    alone = x._replace(seats=seats, table=table, ended=ended)
    found = []
    for some in (x, alone):
        log_probs = network.log_probs(some, network(some.seats, some.table))
        learnt = torch.autograd.grad(log_probs.square().sum(), weights, allow_unused=True, materialize_grads=True)
        found.append((log_probs, *learnt))
    for filled, plain in zip(*found, strict=True):
        torch.testing.assert_close(filled, plain, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("make", [untrained, opinionated])
def test_numpy_and_pytorch_prefer_alike(make: Callable[[], Network]) -> None:
    network, inputs = make(), network_and_inputs()[1]
    model = TorchModel(network)
    _, expected = said(network, inputs)
    found = choice_log_probs(inputs, model(inputs.seats, inputs.table), model)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_shares_add_up_to_one_and_where_nobody_sits_there_is_none() -> None:
    network, inputs, _ = network_and_inputs()
    wins = TorchModel(network)(inputs.seats, inputs.table).wins
    present = inputs.seats[:, :, Described(inputs, 51).of_seats["present"]].sum(axis=(1, 2))
    assert set(present.tolist()) == {2, 3, 4}
    absent = np.arange(4) >= present[:, None]
    assert (wins[absent] == 0).all()
    assert (wins[~absent] > 0).all()
    np.testing.assert_allclose(wins.sum(axis=1), 1.0, atol=1e-6)
    assert (torch.softmax(said(network, inputs)[0].win_logits, 1).numpy()[absent] == 0).all()


def test_empty_seats_at_the_table_change_nothing() -> None:
    games = [game for game in some_games(800) if game.num_players == 2]
    _, observation, mask = observed(games)
    model = TorchModel(opinionated())
    found: list[npt.NDArray[np.float64]] = []
    for seats in (2, 3, 4):
        inputs = AfterstateEncoder().write(observation, mask, seats)
        assert inputs.seats.shape[1] == seats
        assessed = model(inputs.seats, inputs.table)
        log_probs = choice_log_probs(inputs, assessed, model)
        found.append(np.concatenate((assessed.win_logits.ravel(), assessed.scores.ravel(), log_probs)))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5, atol=1e-5)


def test_the_choice_that_leads_to_the_best_position_is_preferred() -> None:
    network, inputs, _ = network_and_inputs(2000)
    for head in (network.trust, network.liking):
        torch.nn.init.zeros_(head.weight)
        torch.nn.init.zeros_(head.bias)
    model = TorchModel(network)
    assessed = model(inputs.seats, inputs.table)
    log_probs = choice_log_probs(inputs, assessed, model)
    share = np.where(inputs.ended >= 0, inputs.ended, assessed.wins[:, 0])[inputs.position]
    ended = 0
    for b in range(len(inputs)):
        choices = slice(inputs.first[b], inputs.first[b + 1])
        order = np.argsort(share[choices], kind="stable")
        assert (np.diff(log_probs[choices][order]) >= -1e-5).all()
        ended += len(set(inputs.ended[inputs.begin[b] : inputs.begin[b + 1]].tolist())) > 1
    assert ended > 5  # choices between a game that is over and one that is not, or between won and lost


def test_a_network_that_knows_nothing_goes_by_the_heuristic() -> None:
    """Unless the game ends in this turn: then it knows who wins."""
    observation, mask = rows(800)
    for seed in range(3):
        inputs, log_probs = NetPlayer(TorchModel(untrained(seed=seed))).policy(observation, mask)
        open_end = np.maximum.reduceat(inputs.ended, inputs.begin[:-1]) < 0
        behind = np.array([
            inputs.advice[choices][np.argmax(log_probs[choices])]
            for choices in (slice(*pair) for pair in zip(inputs.first[:-1], inputs.first[1:], strict=True))
        ])  # fmt: skip
        assert open_end.sum() > 300
        assert (behind[open_end] > -0.1).all()


def test_a_row_does_not_depend_on_rows_with_other_numbers_of_players() -> None:
    player, games = make_player("net"), []
    assert isinstance(player, NetPlayer)
    for seed in range(30):
        game = HelsinkiGame(HelsinkiConfig(num_players=2 + seed % 3), seed=seed)
        for _ in range(3 * seed):
            game.step(int(game.legal_actions()[-1]))
        games.append(game)
    observation = np.array([game.observation() for game in games])
    mask = np.array([game.action_mask() for game in games])
    inputs, together = player.policy(observation, mask)
    for row in range(len(games)):
        _, alone = player.policy(observation[row : row + 1], mask[row : row + 1])
        np.testing.assert_array_equal(together[inputs.first[row] : inputs.first[row + 1]], alone)


def test_a_network_of_bad_sizes_is_refused() -> None:
    bad: list[tuple[str, Any]] = [("width", 0), ("seat", 1.5), ("blocks", -1), ("seat_hidden", True)]
    for name, value in bad:
        with pytest.raises(ValueError, match=f"{name}: found {value}, expected a whole number from"):
            NetworkConfig(**{name: value})
    assert len(list(Network(config=NetworkConfig(blocks=0)).blocks)) == 0


# the player


@pytest.mark.thorough
@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
def test_decisions_are_legal_and_depend_on_their_row_alone(components: str, sample: bool) -> None:
    observation, mask = rows(500, components)
    player = NetPlayer(
        TorchModel(opinionated(components)), HelsinkiConfig(components=components), "mine", sample=sample
    )
    actions = check_rows_alone(player, "mine", observation, mask, words(len(mask)))
    other = player.act(observation, mask, words(len(mask), seed=1))
    assert (other != actions).any() == sample


def test_a_drawn_decision_depends_on_its_row_alone_even_at_the_edge_of_its_share() -> None:
    """Random numbers right where one choice ends and the next begins: the other rows must not tip the balance."""
    observation, mask = rows(300)
    open_rows = np.flatnonzero(mask.sum(axis=1) > 1)[:60]
    observation, mask = observation[open_rows], mask[open_rows]
    player = NetPlayer(TorchModel(opinionated()), sample=True)
    edges, alone = np.zeros(len(mask), np.uint64), np.zeros(len(mask), np.int64)
    for b in range(len(mask)):
        one = observation[b : b + 1], mask[b : b + 1]
        shares = np.cumsum(np.exp(player.policy(*one)[1]))
        edges[b] = min(max(int(shares[0] / shares[-1] * 2**53) + b % 5 - 2, 0), 2**53 - 1) << 11
        alone[b] = player.act(*one, edges[b : b + 1])[0]
    assert (alone != mask.argmax(axis=1)).any()  # both sides of the edge come up
    assert (alone == mask.argmax(axis=1)).any()
    many = np.tile(np.arange(len(mask)), 20)
    np.testing.assert_array_equal(player.act(observation[many], mask[many], edges[many]), alone[many])


def test_a_sampling_network_follows_its_probabilities() -> None:
    game = next(game for game in some_games(800) if 3 <= len(game.legal_actions()) <= 6)
    network = opinionated()
    torch.nn.init.constant_(network.sharpness, -3.0)
    torch.nn.init.zeros_(network.trust.weight)
    torch.nn.init.zeros_(network.trust.bias)
    player, n = NetPlayer(TorchModel(network), sample=True), 4000
    observation, mask = game.observation()[None], game.action_mask()[None]
    inputs, log_probs = player.policy(observation, mask)
    expected = np.exp(log_probs)
    assert expected.max() < 0.9
    random_words = np.random.default_rng(0).integers(2**64, size=n, dtype=np.uint64)
    chosen = player.act(observation.repeat(n, 0), mask.repeat(n, 0), random_words)
    found = np.bincount(chosen, minlength=554)[inputs.action] / n
    np.testing.assert_allclose(found, expected, atol=0.04)
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.nightly
def test_a_wide_component_file(tmp_path: Path) -> None:
    components = wide_components(tmp_path)
    config = HelsinkiConfig(components=components)
    _, observation, mask = observed(list(dealt_games(1, components)))
    network = Network(config, SMALL)
    actions = NetPlayer(TorchModel(network), config).act(observation, mask, words(len(mask)))
    assert mask[np.arange(len(mask)), actions].all()


# search


def searching(budget: int, network: Network | None = None, **settings: Any) -> NetSearchPlayer:
    return NetSearchPlayer(budget, TorchModel(network or opinionated()), settings=NetSearchSettings(**settings))


@pytest.mark.parametrize("budget", [1, 2, 30])
def test_searched_decisions_are_legal_and_depend_on_their_row_and_their_words_alone(budget: int) -> None:
    observation, mask = rows(150)
    drawn = words(len(mask))
    actions = check_rows_alone(searching(budget, trust=1.0), f"net+search:{budget}", observation, mask, drawn, every=3)
    np.testing.assert_array_equal(searching(budget, trust=1.0).act(observation, mask, drawn), actions)


def test_trials_change_decisions_and_so_do_words_and_settings() -> None:
    observation, mask = rows(100)
    drawn = words(len(mask))
    alone = NetPlayer(TorchModel(opinionated())).act(observation, mask, drawn)
    usual = searching(30).act(observation, mask, drawn)
    assert (usual != alone).any()
    assert (searching(30).act(observation, mask, words(len(mask), seed=1)) != usual).any()
    assert (searching(30, turns=0).act(observation, mask, drawn) != usual).any()
    assert (searching(30, arms=2.0).act(observation, mask, drawn) != usual).any()
    # With full trust, the player takes the network's preferred action.
    np.testing.assert_array_equal(searching(30, trust=1e9).act(observation, mask, drawn), alone)
    np.testing.assert_array_equal(searching(30, share=1e9).act(observation, mask, drawn), alone)


@pytest.mark.thorough
def test_the_networks_own_opinion_counts_for_more_where_there_are_more_trials() -> None:
    assert [searching(budget).trust for budget in (1, 25, 100, 400)] == [20, 20, 20, 80]
    assert searching(100, trust=30.0).trust == 30
    observation, mask = rows(60)
    drawn = words(len(mask))
    many = searching(200).act(observation, mask, drawn)
    np.testing.assert_array_equal(searching(200, trust=40.0, share=0.0).act(observation, mask, drawn), many)
    assert (searching(200, share=0.0).act(observation, mask, drawn) != many).any()


def test_what_is_forced_needs_no_search() -> None:
    """These searches would take hours."""
    forced = [game for game in some_games(2000) if len(game.legal_actions()) == 1]
    assert len(forced) > 100
    _, observation, mask = observed(forced)
    actions = searching(1_000_000).act(observation, mask, words(len(mask)))
    np.testing.assert_array_equal(actions, mask.argmax(axis=1))


def test_search_sees_what_the_heuristic_misses() -> None:
    """The row would bring points and lose; only the search plays on to the end and sees it."""
    game, right, tempting = riddle()
    alone = NetPlayer(TorchModel(untrained()))
    assert choose_action(alone, game) == tempting
    for word in range(10):
        assert choose_action(searching(48, untrained()), game, word) == right


@pytest.mark.parametrize("budget", [0, 2.5, True, "3"])
def test_invalid_budgets(budget: Any) -> None:
    for make in (searching, FlatPlayer):
        with pytest.raises(ValueError, match=f"budget: found {budget!r}, expected a whole number"):
            make(budget)


# files


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return saved(tmp_path / "net.safetensors", opinionated(), note="made for a test")


def test_a_checkpoint_brings_back_weights_and_description(checkpoint: Path) -> None:
    network, content = load_checkpoint(checkpoint)
    assert same_weights(network, opinionated())
    assert not same_weights(network, opinionated(seed=1))
    assert not network.training
    assert content["note"] == "made for a test"
    assert content["environment"] == "helsinki_v0"
    assert content["types"] == 51
    assert [path.name for path in checkpoint.parent.iterdir()] == ["net.safetensors"]  # no temporary file is left


def test_players_by_name(checkpoint: Path) -> None:
    observation, mask = rows(100)
    expected = NetPlayer(TorchModel(opinionated())).act(observation, mask, words(100))
    folder = checkpoint.parent / "run"
    saved(folder / "best.safetensors", opinionated())
    for name in (f"net:{checkpoint}", f"net:{folder}"):
        player = make_player(name)
        assert player.name == name
        np.testing.assert_array_equal(player.act(observation, mask, words(100)), expected)
    for name in (f"net+search:2:{checkpoint}", f"net+search:2:{folder}"):
        player = make_player(name)
        assert player.name == name
        assert mask[np.arange(100), player.act(observation, mask, words(100))].all()


def test_a_network_plays_a_whole_game(checkpoint: Path) -> None:
    for config in (HelsinkiConfig(), HelsinkiConfig(num_players=4, dry_roads=True, covered="first_game")):
        player, game = make_player(f"net:{checkpoint}", config), HelsinkiGame(config, seed=5)
        while not game.done:
            game.step(choose_action(player, game))


@pytest.mark.parametrize("argument", ["", ":net", "x:net", "0:net", "-1", "1.5:net", "1000001", "٣"])
def test_a_search_by_a_network_says_what_it_needs(argument: str) -> None:
    message = re.escape(
        f"player 'net+search:{argument}': expected the number of simulations, from 1 to 1,000,000, optionally "
        "with a network, "
        "such as net+search:100 or net+search:100:runs/quick"
    )
    with pytest.raises(CheckpointError, match=message):
        make_player(f"net+search:{argument}")


def test_a_network_for_other_components_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    other = saved(tmp_path / "other.safetensors", opinionated("alternative"), "alternative")
    types = HelsinkiConfig(components="alternative").component_set.types
    for name in (f"net:{checkpoint}", f"net+search:9:{checkpoint}"):
        with pytest.raises(CheckpointError, match=f"51 card types, expected {types}.*component file") as caught:
            make_player(name, HelsinkiConfig(components="alternative"))
        assert str(checkpoint) in str(caught.value)
    assert make_player(f"net:{other}", HelsinkiConfig(components="alternative"))
    with pytest.raises(CheckpointError, match=f"{types} card types, expected 51"):
        make_player(f"net:{other}")


def rewrite(path: Path, **changes: object) -> None:
    network, content = load_checkpoint(path)
    weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    save_file(weights, path, {"helsinki": json.dumps(content | changes)})


LARGE = {"seat_hidden": 8192, "seat": 8192, "width": 8192, "blocks": 1_000_000}


def flip(path: Path) -> None:
    """Change one bit of a weight."""
    content = bytearray(path.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)


def retype(path: Path, dtype: torch.dtype, value: float = 1.0) -> None:
    """Put numbers of another type, or other numbers, where the network has its own."""
    network, content = load_checkpoint(path)
    weights = {name: torch.full_like(tensor, value, dtype=dtype) for name, tensor in network.state_dict().items()}
    del content["weights"]
    save_file(weights, path, {"helsinki": json.dumps(content)})


def truncate(path: Path, rest: int) -> None:
    path.write_bytes(path.read_bytes()[:rest])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: p.unlink(), "found no such file; train one with 'helsinki train"),
        (lambda p: truncate(p, -100), "found an incomplete safetensors file"),
        (lambda p: truncate(p, 100), "found an incomplete safetensors file"),
        (lambda p: truncate(p, 0), "found an incomplete safetensors file"),
        (lambda p: p.write_bytes(b"weights"), "found an incomplete safetensors file"),
        (lambda p: torch.save({"weights": torch.zeros(3)}, p), "found a pickle, which can execute code"),
        (lambda p: save_file({"a": torch.zeros(1)}, p), "without the description 'helsinki'"),
        (lambda p: save_file({"a": torch.zeros(1)}, p, {"helsinki": "{"}), "without the description 'helsinki'"),
        (lambda p: save_file({"a": torch.zeros(1)}, p, {"helsinki": "[]"}), "without the description 'helsinki'"),
        (lambda p: rewrite(p, environment="helsinki_v9"), "environment: found 'helsinki_v9'.*'helsinki_v0'.*train"),
        (lambda p: rewrite(p, observation="0" * 16), "observation: found '0000000000000000', expected"),
        (lambda p: rewrite(p, actions="0" * 16), "actions: found '0000000000000000', expected"),
        (lambda p: rewrite(p, inputs="0" * 16), "inputs: found '0000000000000000', expected"),
        (lambda p: rewrite(p, inputs=None), "inputs: found None, expected"),
        (lambda p: rewrite(p, format=1), "format: found 1, expected"),
        (lambda p: rewrite(p, types=46), "found '[0-9a-f]{16}', expected"),
        (lambda p: rewrite(p, network={"width": 64}), "network: found {'width': 64}"),
        (lambda p: rewrite(p, network={"breadth": 64}), r"network\.breadth: no such key \(found 64\)"),
        (lambda p: rewrite(p, network=None), "network: found None"),
        (lambda p: rewrite(p, game={"num_players": 7}), r"game\.num_players: found 7"),
        (lambda p: rewrite(p, game={"components": "alternative"}), "types: found 51"),
        (lambda p: rewrite(p, types=True), "types: found True"),
        (lambda p: rewrite(p, types=10**9), "types: found 1000000000"),
        (lambda p: rewrite(p, network=LARGE), r"blocks: found 1000000"),
        (lambda p: rewrite(p, network=LARGE | {"blocks": 64}), "expected the size of the saved weights"),
        (lambda p: rewrite(p, weights="0" * 16), "the digest of the weights, which were changed or damaged"),
        (lambda p: flip(p), "the digest of the weights, which were changed or damaged"),
        (lambda p: retype(p, torch.float64), r"bias: found torch\.float64"),
        (lambda p: retype(p, torch.float32, math.nan), "found NaN or infinity"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused_with_the_reason(
    checkpoint: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(checkpoint)
    for load in (load_checkpoint, lambda path: make_player(f"net:{path}")):
        with pytest.raises(CheckpointError, match=message) as caught:
            load(checkpoint)
        assert str(checkpoint) in str(caught.value)


class Payload:
    """A class that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def torch_file(payload: object, **options: Any) -> bytes:
    file = io.BytesIO()
    torch.save({"weights": payload}, file, **options)
    return file.getvalue()


PICKLES: dict[str, Callable[[object], bytes]] = {
    "torch": torch_file,
    "old torch": partial(torch_file, _use_new_zipfile_serialization=False),
    **{f"protocol {n}": partial(pickle.dumps, protocol=n) for n in range(6)},
}


@pytest.mark.parametrize(
    ("part", "reason"),
    [("ahead", "copenhagen has no look-ahead features"), ("turned", "copenhagen has no rotational symmetry")],
)
def test_only_networks_of_a_game_that_has_it_are_told_of_next_turns_or_turn_boards(
    part: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = dataclasses.replace(game_features(CopenhagenConfig()), next_turn_parts=None)
    monkeypatch.setattr(network_module, "game_features", lambda config: without)
    with_it = dataclasses.replace(SMALL, **{part: True})
    with pytest.raises(ValueError, match=f"{part}: found True, expected False: copenhagen"):
        Network(CopenhagenConfig(), with_it)
    network = Network(CopenhagenConfig(), SMALL)
    told = {"game": config_to_dict(network.game), "network": dataclasses.asdict(with_it)}
    path = save_checkpoint(tmp_path / "net.safetensors", network, told)
    with pytest.raises(CheckpointError, match=rf"net\.safetensors: network.* {reason}"):
        load_checkpoint(path)
    with pytest.raises(ValueError, match=f"{part}: found True, expected False: an MLP reads"):
        MLPNetwork(config=with_it)
    with pytest.raises(ValueError, match=f"{part}: found 1, expected True or False"):
        NetworkConfig(**{part: 1})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", PICKLES)
def test_nothing_in_a_file_is_executed(kind: str, tmp_path: Path) -> None:
    trap = tmp_path / "executed"
    data = PICKLES[kind](Payload(trap))
    for name in ("net.safetensors", "net.pt"):
        path = tmp_path / name
        path.write_bytes(data)
        for load in (load_checkpoint, lambda path: make_player(f"net:{path}")):
            with pytest.raises(CheckpointError, match=r"found a pickle|found an incomplete safetensors file") as caught:
                load(path)
            assert str(path) in str(caught.value)
    assert not trap.exists()
    torch.load(tmp_path / "net.pt", weights_only=False) if "torch" in kind else pickle.loads(data)
    assert trap.exists()  # it would have been
