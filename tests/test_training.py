"""Training: trajectories of each seat, resumed runs, presets, and that training learns."""

from __future__ import annotations

import copy
import itertools
import json
import os
import pickle
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from gymnasium.vector import AutoresetMode
from safetensors.numpy import save

from helsinki_env import HelsinkiConfig, HelsinkiGame, HelsinkiVectorEnv
from helsinki_env.agents.base import Player, init_streams, next_keys
from helsinki_env.agents.helsinki.features import table_parts
from helsinki_env.agents.net.afterstates import AfterstateBatch, AfterstateEncoder
from helsinki_env.agents.net.checkpoint import load_checkpoint
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.network import AfterstateTensors, Network, NetworkOutput, TorchModel
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.agents.search.workspace import new_workspace
from helsinki_env.cli.main import main
from helsinki_env.data import UserError
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.play import TimedGameResults, play_games
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.training.checkpoint_io import Arrays, StateError, read_state, write_state
from helsinki_env.training.evaluate import PromotionConfig, evaluate_against, promotion_test
from helsinki_env.training.learner import OpponentPool
from helsinki_env.training.matchups import MatchupConfig, divide_games
from helsinki_env.training.ppo import PPO, PPOConfig
from helsinki_env.training.preset import Preset, PresetError
from helsinki_env.training.pretraining import Pretraining, PretrainingConfig, generate_samples
from helsinki_env.training.progress import Progress, Report
from helsinki_env.training.random_streams import RandomStream
from helsinki_env.training.rollout import EVALUATED_CHOICES, MIN_PROBABILITY, Rollout, RolloutCollector
from helsinki_env.training.run import RunError, Training
from helsinki_env.training.search_targets import SearchTargetConfig
from helsinki_env.training.values import (
    VALUE_COMPONENTS,
    compute_gae,
    to_seat_order,
    to_viewer_order,
    value_losses,
    viewer_value,
)
from helsinki_env.utils.files import hold_lock_file
from tests.support.killed import signalled_after_save
from tests.support.networks import contrary, opinionated, same_weights, saved, untrained
from tests.support.riddle import riddle

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.skipif(not JIT, reason="too slow")]

ROOT = Path(__file__).resolve().parent.parent
CPU = torch.device("cpu")
Floats = npt.NDArray[np.float32]
Metadata = dict[str, Any]


# trajectories


def naive_advantages(
    decision: npt.NDArray[np.int64],
    seat: npt.NDArray[np.int64],
    ended: npt.NDArray[np.bool_],
    outcome: Floats,
    expected: Floats,
    after: Floats,
    discount: float,
    decay: float,
) -> npt.NDArray[np.float64]:
    """The definition: one list of decisions for each seat of each game, differences along it, weighted and summed."""
    steps, games = decision.shape
    result = np.full(expected.shape, np.nan)
    for b in range(games):
        begin = 0
        while begin < steps:
            end = next((t for t in range(begin, steps) if ended[t, b]), None)
            last = steps - 1 if end is None else end
            for s in set(seat[begin : last + 1, b].tolist()):
                own = [decision[t, b] for t in range(begin, last + 1) if seat[t, b] == s and decision[t, b] >= 0]
                differences = []
                for this, following in zip(own, [*own[1:], None], strict=False):  # one more if there is none
                    if following is not None:
                        comes = discount * expected[following]
                    elif end is not None:
                        comes = outcome[end, b]
                    else:
                        comes = discount * after[this]
                    differences.append(comes - expected[this])
                for i, k in enumerate(own):
                    weights = (discount * decay) ** np.arange(len(own) - i)
                    result[k] = (weights[:, None] * np.array(differences[i:])).sum(axis=0)
            begin = last + 1
    return result


@pytest.mark.parametrize("players", [2, 3, 4])
def test_advantages_follow_each_seat_through_repeated_turns_and_ends(players: int) -> None:
    rng = np.random.default_rng(players)
    steps, games = 60, 9
    seat = rng.integers(players, size=(steps, games))  # in any order, often several times in a row
    learnt = rng.random((steps, games)) < 0.7
    learnt[:, 0] = False  # a game of which nothing is learnt
    learnt[:, 1] = True
    decision = np.where(learnt, np.cumsum(learnt.ravel()).reshape(steps, games) - 1, -1)
    ended = rng.random((steps, games)) < 0.08
    ended[:, 2] = False  # one that never ends
    ended[-1, 3] = True  # one that ends with the last step
    outcome = rng.normal(size=(steps, games, VALUE_COMPONENTS)).astype(np.float32)
    expected, after = rng.normal(size=(2, int(learnt.sum()), VALUE_COMPONENTS)).astype(np.float32)
    assert ended.sum(axis=0).max() > 3
    for discount, decay in ((0.97, 0.9), (1.0, 1.0), (1.0, 0.0), (0.5, 0.92)):
        found = compute_gae(decision, seat, ended, outcome, expected, after, 4, discount, decay)
        naive = naive_advantages(decision, seat, ended, outcome, expected, after, discount, decay)
        assert found.shape == (int(learnt.sum()), VALUE_COMPONENTS)
        np.testing.assert_allclose(found, naive, rtol=1e-4, atol=1e-5)


def test_advantages_worked_out_by_hand() -> None:
    """Discount and decay are a half, and there is one component.

    In the first game seat 0 expects 0.4, seat 1 expects 0.2, seat 1 has no choice, seat 0 expects 0.6 and ends it, with
    1. Before its end comes, the first decision of seat 0 gains 0.5 * 0.6 - 0.4 = -0.1, the second 1 - 0.6 = 0.4, so the
    first is worth -0.1 + 0.25 * 0.4 = 0. Seat 1 gains 1 - 0.2. In the second game seat 1 expected 0.3, then 0.9, and
    everything is cut off: 0.5 * 0.9 - 0.3 = 0.15.
    """
    found = compute_gae(
        decision=np.array([[0, -1], [1, -1], [-1, 2], [3, -1]]),
        seat=np.array([[0, 0], [1, 0], [1, 1], [0, 0]]),
        ended=np.array([[False, False], [False, False], [False, False], [True, False]]),
        outcome=np.array([[0, 0], [0, 0], [0, 0], [1, 7]], np.float32)[..., None],
        expected=np.array([[0.4], [0.2], [0.3], [0.6]], np.float32),
        after=np.array([[5], [5], [0.9], [5]], np.float32),
        seats=2,
        gamma=0.5,
        gae_lambda=0.5,
    )
    np.testing.assert_allclose(found[:, 0], [0.0, 0.8, 0.15, 0.4], atol=1e-6)


def test_values_by_seat_and_from_the_viewer_are_the_same_values() -> None:
    values = np.array([[1, 2, 0, 0], [1, 2, 3, 0], [1, 2, 3, 4]], np.float32)
    viewer, players = np.array([1, 2, 3]), np.array([2, 3, 4])
    found = to_seat_order(values, viewer, players)
    np.testing.assert_array_equal(found, [[2, 1, 0, 0], [2, 3, 1, 0], [2, 3, 4, 1]])
    np.testing.assert_array_equal(to_viewer_order(found, viewer, players), values)


def test_an_advantage_is_in_the_own_share_and_in_points_ahead_of_the_others() -> None:
    values = np.array([[0.3, 0.7, 0, 0, 10, 14, 0, 0], [0.1, 0.2, 0.7, 0, 6, 9, 3, 99]], np.float32)
    found = viewer_value(values, np.array([1, 0]), np.array([2, 3]), 0.5)
    np.testing.assert_allclose(found, [0.7 + 0.5 * 4, 0.1 + 0.5 * (6 - 6)], rtol=1e-6)


def test_losses_of_what_is_said_of_positions() -> None:
    logits = torch.tensor([[0.0, 0.0, -1e9, -1e9], [30.0, 0.0, 0.0, -1e9]], requires_grad=True)
    said = NetworkOutput(logits, torch.tensor([[10.0, 20.0, 99.0, 99.0], [10.0, 20.0, 30.0, 99.0]]), logits, logits)
    wins = torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    scores = torch.tensor([[10.0, 10.0, 0.0, 0.0], [10.0, 20.0, 30.0, 0.0]])
    win_loss, score_loss = value_losses(said, wins, scores)
    assert win_loss.item() == pytest.approx(np.log(2) / 2)  # the first is even, the second certain and right
    assert score_loss.item() == pytest.approx(0.5)  # ten points off at one seat of one of the two
    win_loss.backward()
    wrong = torch.tensor([[0.0, 1.0, 0.0, 0.0]])
    certain = NetworkOutput(torch.tensor([[200.0, 0.0, -1e9, -1e9]]), said.scores[:1], logits, logits)
    assert value_losses(certain, wrong, scores[:1])[0].item() == 50.0  # and not more, however certain it was
    assert torch.isfinite(logits.grad).all()  # type: ignore[arg-type]  # it has one
    assert (logits.grad[:, 3] == 0).all()  # type: ignore[index]  # nobody sits there


# playing

TABLES = (MatchupConfig(share=3, players=(2,)), MatchupConfig(players=(3, 4), covered=(0, 3), dry_roads=(False, True)))


class Last:
    """An opponent that can be followed: it takes the legal decision with the highest id."""

    name = "last"

    def act(self, observation: npt.NDArray[Any], action_mask: npt.NDArray[np.int8], keys: Any) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = action_mask.shape[1] - 1 - np.argmax(action_mask[:, ::-1], axis=1)
        return found


def stage(
    games: int = 24, apart: float = 0.5, seed: int = 3, tables: tuple[MatchupConfig, ...] = TABLES
) -> RolloutCollector:
    return RolloutCollector(HelsinkiConfig(), tables, games, apart, seed, CPU)


@pytest.fixture(scope="module")
def played() -> tuple[Rollout, npt.NDArray[np.bool_]]:
    """A rollout in which most games end several times, and in which games the learner has one seat."""
    at = stage()
    return at.play(opinionated(), (Last(),), 700, 5, False), at.against_opponent


@pytest.mark.thorough
def test_a_rollout_is_what_happened(played: tuple[Rollout, npt.NDArray[np.bool_]]) -> None:
    """Every game is played once more on plain environments with the same seeds."""
    rollout, opposed = played
    network, writer = opinionated(), AfterstateEncoder(most=EVALUATED_CHOICES)
    assert (opposed[:18].sum(), opposed[18:].sum()) == (9, 3)  # half of them, at tables of all kinds
    begin, met, forced, opponents, seats_had, points = 0, 0, 0, 0, set(), []
    for i, (table, size) in enumerate(((TABLES[0], 18), (TABLES[1], 6))):
        env = HelsinkiVectorEnv(size, autoreset_mode=AutoresetMode.SAME_STEP, episodes=table.episodes(HelsinkiConfig()))
        obs, info = env.reset(seed=3 * 1009 + i)
        seat, rows, deals = info["seat"], np.arange(begin, begin + size), np.arange(size)
        for t in range(len(rollout.decision)):
            mask, decision = obs["action_mask"], rollout.decision[t, rows]
            free = mask.sum(axis=1) > 1
            players = env.states["players"].astype(np.int64)
            own = np.where(opposed[rows], deals % players, -1)  # the learner moves on by a seat in each deal
            mine = (own < 0) | (own == seat)
            np.testing.assert_array_equal(rollout.seat[t, rows], seat)
            np.testing.assert_array_equal(decision >= 0, free & mine)
            forced, opponents = forced + (~free).sum(), opponents + (free & ~mine).sum()
            actions = Last().act(None, mask, None)  # type: ignore[arg-type]  # it does not look
            b, k = np.flatnonzero(decision >= 0), decision[decision >= 0]
            actions[b] = rollout.action[k]
            np.testing.assert_array_equal(rollout.viewer[k], seat[b])
            np.testing.assert_array_equal(rollout.players[k], players[b])
            if t % 70 == 0 and len(b):
                met += len(b)
                written = writer.write(obs["observation"][b], mask[b], 4)
                check_what_was_kept(rollout, k, written, network)
            seats_had |= {(int(players[c]), int(seat[c])) for c in b if own[c] >= 0}
            obs, _, ended, _, info = env.step(actions)
            seat = info["seat"]
            np.testing.assert_array_equal(rollout.ended[t, rows], ended)
            for c in np.flatnonzero(ended):
                n = int(players[c])
                wins, scores = rollout.outcome[t, rows[c], :4], rollout.outcome[t, rows[c], 4:]
                np.testing.assert_array_equal(wins[:n], info["places"][c, :n] == 0)
                np.testing.assert_array_equal(scores[:n], info["scores"][c, :n])
                assert not wins[n:].any()
                assert not scores[n:].any()
                points.append(info["scores"][c, :n].mean())
                deals[c] += 1
        begin += size
    assert (rollout.outcome[~rollout.ended] == 0).all()
    assert rollout.ended.sum() == rollout.games == len(points)
    assert rollout.games > 60
    assert rollout.points == pytest.approx(np.mean(points))
    assert min(met, forced, opponents) > 50
    assert seats_had >= {(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    assert len(seats_had) > 6
    assert sorted(rollout.decision[rollout.decision >= 0]) == list(range(len(rollout.action)))


def check_what_was_kept(rollout: Rollout, k: npt.NDArray[np.int64], written: AfterstateBatch, network: Network) -> None:
    with torch.no_grad():
        x = AfterstateTensors.of(written)
        said = network(x.seats, x.table)
        log_probs = network.log_probs(x, said).numpy()
    tried = (np.exp(log_probs) >= MIN_PROBABILITY) | (written.action == rollout.action[k][written.row])
    kept = rollout.inputs.take(k)
    for name in ("first", "action", "advice", "position", "seats", "table", "ended"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(written.keep(tried), name))
    values = torch.cat([torch.softmax(said.win_logits, 1), said.scores], 1).numpy()
    for i, decision in enumerate(k):
        choices = slice(written.first[i], written.first[i + 1])
        at = choices.start + int(np.flatnonzero(written.action[choices] == rollout.action[decision])[0])
        among = np.log(np.exp(log_probs[choices])[tried[choices]].sum())  # the others are left out
        assert rollout.log_prob[decision] == pytest.approx(log_probs[at] - among, abs=1e-4)
        expected = (np.exp(log_probs[choices])[:, None] * values[written.position[choices]]).sum(axis=0)
        n, viewer = int(rollout.players[decision]), int(rollout.viewer[decision])
        for name, value in (("expected", expected), ("after", values[written.position[at]])):
            found = getattr(rollout, name)[decision]
            for s in range(n):
                assert found[s] == pytest.approx(value[(s - viewer) % n], abs=1e-4)
                assert found[4 + s] == pytest.approx(value[4 + (s - viewer) % n], abs=1e-3)
            assert not found[n:4].any()
            assert not found[4 + n :].any()


@pytest.mark.thorough
def test_without_discount_and_decay_a_return_is_what_came_of_the_game(
    played: tuple[Rollout, npt.NDArray[np.bool_]],
) -> None:
    rollout, _ = played
    r = rollout
    gained = compute_gae(r.decision, r.seat, r.ended, r.outcome, r.expected, r.after, 4, 1.0, 1.0)
    returns, known = r.expected + gained, 0
    for b in range(r.decision.shape[1]):
        ends = np.flatnonzero(r.ended[:, b])
        for t in np.flatnonzero(r.decision[:, b] >= 0):
            later = ends[ends >= t]
            if len(later):
                np.testing.assert_allclose(returns[r.decision[t, b]], r.outcome[later[0], b], atol=1e-3)
                known += 1
    assert known > 0.8 * len(r.action)
    assert known < len(r.action)


def test_the_learner_has_every_seat_equally_often() -> None:
    at = RolloutCollector(HelsinkiConfig(), [MatchupConfig(players=(2, 3, 4))], 64, 1.0, 3, CPU)
    had: Counter[tuple[int, int]] = Counter()
    for _ in range(120):
        at.envs[0].reset()  # the next episode of every game
        had.update(zip(at.envs[0].states["players"].tolist(), at.own.tolist(), strict=True))
    for players in (2, 3, 4):
        games = [had[players, seat] for seat in range(players)]
        assert min(games) > 0.9 * sum(games) / players
        assert max(games) < 1.1 * sum(games) / players


def same_rollouts(one: Rollout, other: Rollout) -> bool:
    names = ("action", "log_prob", "expected", "after", "decision", "seat", "ended", "outcome")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.thorough
def test_a_rollout_depends_on_where_the_games_stand_weights_seed_and_number_alone() -> None:
    network, at = opinionated(), stage()
    assert at.play(network, (Last(),), 200, 0, False).games > 10  # seats have moved on
    stood = at.state()
    found = [at.play(network, (Last(),), 20, 1, False), at.play(network, (Last(),), 20, 2, False)]
    elsewhere = stage(seed=3)
    for played_on in (at, elsewhere):
        played_on.restore({name: array.copy() for name, array in stood.items()})
        again = [played_on.play(network, (Last(),), 20, number, False) for number in (1, 2)]
        assert all(same_rollouts(*pair) for pair in zip(found, again, strict=True))
    at.restore(stood)
    assert not same_rollouts(at.play(network, (Last(),), 20, 2, False), found[0])
    at.restore(stood)
    assert not same_rollouts(at.play(opinionated(seed=1), (Last(),), 20, 1, False), found[0])


def test_a_rollout_without_an_action_of_the_learner_is_explained() -> None:
    at = RolloutCollector(
        HelsinkiConfig(), (MatchupConfig(),), 4, 0.0, 3, CPU, random_start_fraction=1.0, random_start_actions=10_000
    )
    with pytest.raises(UserError, match="found no action of the learner in 8 steps of 4 games, expected some; incr"):
        at.play(opinionated(), (), 8, 0, False)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (0.75, "player 'odd': act returned float64 of shape .*, expected whole numbers"),
        (10**6, r"player 'odd': found the illegal action 10000\d\d, expected one of"),
    ],
)
def test_invalid_actions_of_opponents_are_named(action: float, message: str) -> None:
    class Odd(Last):
        name = "odd"

        def act(self, observation: npt.NDArray[Any], action_mask: npt.NDArray[np.int8], keys: Any) -> Any:
            return super().act(observation, action_mask, keys) + action

    with pytest.raises(ValueError, match=message):
        stage(apart=1.0).play(opinionated(), (Odd(),), 8, 0, False)


def test_opponents_that_read_the_history_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "readers.py").write_text(
        "class Reader:\n    name, wants_history = 'reader', True\n"
        "    def act(self, observation, action_mask, keys, histories=None): return action_mask.argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="opponents: found readers:Reader, which reads the history of a game"):
        OpponentPool((HelsinkiConfig(),), ["readers:Reader"], tmp_path, 1, False)


def test_games_with_a_random_start_teach_only_later_actions() -> None:
    def begun(fraction: float) -> RolloutCollector:
        tables = (MatchupConfig(),)
        return RolloutCollector(
            HelsinkiConfig(), tables, 40, 0.5, 3, CPU, random_start_fraction=fraction, random_start_actions=30
        )

    at = begun(1.0)
    left = at.random_left.copy()
    assert set(left.tolist()) <= set(range(1, 31))
    assert len(set(left.tolist())) > 10
    stood = at.state()
    rollout = at.play(opinionated(), (Last(),), 200, 0, False)
    assert rollout.games > 20
    # An action of the environment without a choice is no random action either.
    first = (rollout.decision >= 0).argmax(axis=0)
    assert (first >= left)[at.own < 0].all()
    assert first.max() < 200
    again = begun(1.0)
    again.restore(stood)
    assert same_rollouts(again.play(opinionated(), (Last(),), 200, 0, False), rollout)
    with pytest.raises(StateError, match="random_left"):
        again.restore({name: array for name, array in stood.items() if name != "random_left"})

    some = begun(0.5)
    assert 10 < (some.random_left > 0).sum() < 30
    never = begun(0.0)
    never.play(opinionated(), (Last(),), 20, 0, False)
    assert not never.random_left.any()


def test_tables_get_their_share_of_the_games() -> None:
    kinds = [MatchupConfig(share=share) for share in (0.3, 0.2, 0.5, 0.0001)]
    assert [size for *_, size in divide_games(kinds, HelsinkiConfig(), 512)] == [154, 102, 256]
    assert [size for *_, size in divide_games(kinds, HelsinkiConfig(), 1)] in ([1], [1, 0])
    assert sum(size for *_, size in divide_games(kinds, HelsinkiConfig(), 7)) == 7
    assert stage(apart=0.0).own.max() == -1
    assert stage(apart=1.0).own.min() >= 0


FILES = "default", "coats_inside", "other_shapes"
SEVERAL = (MatchupConfig(share=3, components=FILES), MatchupConfig(players=(3,), components=("default",)))


def test_component_files_get_even_parts_of_the_games_and_are_adjacent() -> None:
    parts = divide_games(SEVERAL, HelsinkiConfig(), 64)
    found = [(part.config.components, part.matchup.players, part.games) for part in parts]
    assert found == [
        ("default", (2,), 16),
        ("default", (3,), 16),
        ("coats_inside", (2,), 16),
        ("other_shapes", (2,), 16),
    ]


def test_each_game_is_seen_with_its_own_components(tmp_path: Path) -> None:
    at = stage(24, 0.5, tables=SEVERAL)
    met: list[list[npt.NDArray[Any]]] = [[], [], []]

    class Met(Last):
        def __init__(self, seen: list[npt.NDArray[Any]]) -> None:
            self.seen = seen

        def act(self, observation: npt.NDArray[Any], action_mask: npt.NDArray[np.int8], keys: Any) -> Any:
            self.seen.append(observation)
            return super().act(observation, action_mask, keys)

    assert [config.components for config in at.configs] == list(FILES)
    network = opinionated()
    every = [np.arange(0, 12), np.arange(12, 18), np.arange(18, 24)]
    for number in range(20):
        before, mask, own, seat = at.observation.copy(), at.mask.copy(), at.own.copy(), at.seat.copy()
        rollout = at.play(network, [Met(seen) for seen in met], 1, number, False)
        mine = (mask.sum(axis=1) > 1) & ((own < 0) | (own == seat))
        for config, games, seen in zip(at.configs, every, met, strict=True):
            rows = games[mine[games]]
            encoder = AfterstateEncoder(config, EVALUATED_CHOICES)
            expected = encoder.write(before[rows], mask[rows], at.most_players)
            found = rollout.inputs.take(rollout.decision[0, rows])
            assert {part.tobytes() for part in found.seats} <= {part.tobytes() for part in expected.seats}
            opposed = games[(mask[games].sum(axis=1) > 1) & (own[games] >= 0) & (own[games] != seat[games])]
            if len(opposed):
                np.testing.assert_array_equal(seen.pop(), before[opposed])
    assert met == [[], [], []]
    pool = OpponentPool(at.configs, ["heuristic"], tmp_path, 1, False)
    assert [player.config.components for player in pool.choose(0)] == list(FILES)


def test_a_description_lists_all_component_files_of_the_games_that_are_played(preset: Preset, tmp_path: Path) -> None:
    text = (ROOT / "configs" / "components" / "default.yaml").read_text()
    files = [tmp_path / folder / "mine.yaml" for folder in ("one", "other")]
    for points, file in enumerate(files, 3):
        file.parent.mkdir()
        file.write_text(text.replace("points_row: 2 ", f"points_row: {points} "))
    matchups = (MatchupConfig(components=tuple(map(str, files))), MatchupConfig(1e-6, components=("coats_inside",)))
    several = replace(preset, matchups=matchups, search=SearchTargetConfig())
    found = Training(several, tmp_path / "run").describe()["components"]
    assert set(found.values()) == {HelsinkiConfig(components=file).component_set.digest for file in files}
    untrained = replace(several.pretraining, samples=0), replace(several.ppo, total_timesteps=0)
    idle = replace(several, pretraining=untrained[0], ppo=untrained[1])
    assert Training(idle, tmp_path / "run").describe()["components"] == {}


@pytest.mark.thorough
def test_a_run_is_not_resumed_with_changed_component_files(preset: Preset, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    text = (ROOT / "configs" / "components" / "default.yaml").read_text()

    def asked() -> Preset:
        promotion = replace(preset.promotion, components=("default", str(mine)))
        return replace(preset, minutes=0.0001, promotion=promotion)

    mine.write_text(text)
    assert not Training(asked(), tmp_path / "run", 5).run()["finished"]
    Training(asked(), tmp_path / "run", 5, resume=True)
    mine.write_text(text.replace("points_row: 2 ", "points_row: 3 "))
    with pytest.raises(RunError, match=r"components\..*mine\.yaml: found '\w{16}', expected '\w{16}' as for"):
        Training(asked(), tmp_path / "run", 5, resume=True)


def test_components_that_do_not_fit_are_explained() -> None:
    for components, message in (
        (["nowhere"], r"matchups\[0\]\.components: found 'nowhere'"),
        (["default", "alternative"], r"\.components\[1\]: found 'alternative' with 539 actions, expected 554"),
        (3, r"matchups\[0\]\.components: found 3"),
        ([3], r"matchups\[0\]\.components\[0\]: found 3"),
    ):
        with pytest.raises(PresetError, match=message):
            Preset.from_dict({"matchups": [{"components": components}]})
    with pytest.raises(PresetError, match="components: found some, expected none: search targets"):
        Preset.from_dict({"matchups": [{"components": ["coats_inside"]}], "search": {"share": 0.1}})


@pytest.mark.thorough
def test_a_run_with_several_component_files_ends_and_is_the_same_again(tmp_path: Path) -> None:
    file = tmp_path / "several.yaml"
    text = TINY.replace("denied: [0, 3]", "components: [default, coats_inside, other_shapes]")
    file.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("search:")))
    preset = Preset.from_yaml(file)
    for name in ("one", "again"):
        assert Training(preset, tmp_path / name, 5).run()["finished"]
    (one, description), (again, _) = (
        load_checkpoint(tmp_path / name / "latest.safetensors") for name in ("one", "again")
    )
    assert same_weights(one, again)
    expected = {name: HelsinkiConfig(components=name).component_set.digest for name in FILES}
    assert description["components"] == expected  # players do not warn with any of them


# who is met


def names_met(pool: OpponentPool, rollouts: list[int]) -> list[str]:
    return [player.name for rollout in rollouts for player in pool.choose(rollout)]


def test_past_selves_are_met_from_the_next_rollout_on_and_half_of_the_time(tmp_path: Path) -> None:
    pool, rollouts = (
        OpponentPool((HelsinkiConfig(),), ["random", "greedy"], tmp_path, 7, False, size=3),
        list(range(300)),
    )
    early = names_met(pool, rollouts[:50])
    assert set(early) == {"random", "greedy"}
    for number in range(5):
        saved(tmp_path / f"{number}.safetensors", untrained(seed=number))
        pool.add(f"{number}.safetensors", untrained(seed=number), 50 + number)
    found = names_met(pool, rollouts)
    assert found[:50] == early
    for number in range(5):
        assert f"{number}.safetensors" not in found[: 51 + number]
    late = found[55:]
    # Of those that are there at last: the first, and the newest two.
    assert set(late) == {"random", "greedy", "0.safetensors", "3.safetensors", "4.safetensors"}
    assert 0.4 < np.mean([not name.endswith(".safetensors") for name in late]) < 0.6
    # In another order, by somebody who was started later, by somebody else.
    assert names_met(pool, rollouts[::-1])[::-1] == found
    restarted = OpponentPool((HelsinkiConfig(),), ["random", "greedy"], tmp_path, 7, False, size=3)
    restarted.past = list(pool.past)
    assert names_met(restarted, rollouts) == found
    other = OpponentPool((HelsinkiConfig(),), ["random", "greedy"], tmp_path, 8, False, size=3)
    other.past = list(pool.past)
    assert names_met(other, rollouts) != found


def test_old_past_selves_are_not_kept_in_memory(tmp_path: Path) -> None:
    pool = OpponentPool((HelsinkiConfig(),), ["random"], tmp_path, 7, False, size=3)
    network = untrained()
    for number in range(30):
        saved(tmp_path / f"{number}.safetensors", network)
        pool.add(f"{number}.safetensors", network, number)
    assert len(pool._loaded) <= 2 * 3 + 1
    restarted = OpponentPool((HelsinkiConfig(),), ["random"], tmp_path, 7, False, size=3)
    restarted.past = list(pool.past)
    assert names_met(pool, list(range(60))) == names_met(restarted, list(range(60)))


def test_past_versions_are_loaded_on_the_device_of_the_run(tmp_path: Path) -> None:
    saved(tmp_path / "0.safetensors", untrained())
    pool = OpponentPool((HelsinkiConfig(),), [], tmp_path, 0, False, device="meta")
    assert {weight.device.type for weight in pool.load("0.safetensors").parameters()} == {"meta"}


def test_a_past_self_decides_as_it_did(tmp_path: Path) -> None:
    network = opinionated()
    pool = OpponentPool((HelsinkiConfig(),), [], tmp_path, 0, False)
    with pytest.raises(ValueError, match="opponents: found no opponent yet"):
        pool.choose(0)
    pool.add("0.safetensors", copy.deepcopy(network), 0)
    saved(tmp_path / "0.safetensors", network)
    restarted = OpponentPool((HelsinkiConfig(),), [], tmp_path, 0, False)
    restarted.past = [("0.safetensors", 0)]
    obs, _ = HelsinkiVectorEnv(50).reset(seed=1)
    words = next_keys(init_streams(0, np.arange(50), 0))
    expected = NetPlayer(TorchModel(network), sample=True).act(obs["observation"], obs["action_mask"], words)
    for there in (pool, restarted):
        (player,) = there.choose(1)
        found = player.act(obs["observation"], obs["action_mask"], words)
        np.testing.assert_array_equal(found, expected)


def played_by(network: Network) -> NetPlayer:
    return NetPlayer(TorchModel(network))


def always(network: Network) -> Callable[[Any], Player]:
    """A function that creates the player of a network for a game."""
    return lambda game: NetPlayer(TorchModel(network), game)


@pytest.mark.nightly
@pytest.mark.parametrize("players", [(2,), pytest.param((2, 3, 4), marks=pytest.mark.nightly)])
def test_the_gate_lets_through_who_is_better_and_nobody_else(players: tuple[int, ...]) -> None:
    config = PromotionConfig(deals=48, parallel_deals=16, players=players, covered=(0, 9), denied=(0, 9))
    equal = promotion_test(always(untrained()), always(untrained()), HelsinkiConfig(), config, 1)
    assert equal.decision in ("not better", "undecided")
    assert equal.mean == 0.5  # both win every deck equally often
    better = promotion_test(always(untrained()), always(contrary()), HelsinkiConfig(), config, 1)
    assert better.decision == "better"
    assert better.blocks < 48  # the test stops early
    worse = promotion_test(always(contrary()), always(untrained()), HelsinkiConfig(), config, 1)
    assert worse.decision == "not better"
    assert worse.mean == pytest.approx(1 - better.mean, abs=0.15)


def test_the_gate_says_the_same_however_many_decks_are_played_at_once() -> None:
    config = PromotionConfig(deals=36, parallel_deals=36, players=(2, 3))
    one = other = partial(make_player, "random")  # players that use a random key for every action
    states = [promotion_test(one, other, HelsinkiConfig(), replace(config, parallel_deals=lot), 1) for lot in (36, 7)]
    assert states[0] == states[1]
    assert states[0].mean != 0.5


def test_the_gate_can_alternate_between_component_files(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def watched(*args: Any, **named: Any) -> TimedGameResults:
        found.extend([args[1].component_set.name] * len(args[2]))
        assert all(player.config == args[1] for player in args[0])
        return play_games(*args, **named)

    monkeypatch.setattr("helsinki_env.training.evaluate.play_games", watched)
    components = ("default", "coats_inside", "other_shapes")
    config = PromotionConfig(deals=18, parallel_deals=18, players=(2,), components=components)
    created = partial(make_player, "heuristic")
    assert promotion_test(created, created, HelsinkiConfig(), config, 1).mean == 0.5
    assert Counter(found) == dict.fromkeys(components, 12)  # six deals each, in both seats
    with pytest.raises(PresetError, match=r"promotion.components\[1\]: found .*alternative.* with .* actions"):
        Preset.from_dict({"promotion": {"components": ["default", "alternative"]}})


@pytest.mark.nightly
def test_at_the_gate_everybody_has_every_hand_and_every_board(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def watched(*args: Any, **named: Any) -> TimedGameResults:
        played = play_games(*args, **named)
        found.append((args[2], args[3], named["disabled"], played.scores))
        return played

    monkeypatch.setattr("helsinki_env.training.evaluate.play_games", watched)
    config = PromotionConfig(deals=60, parallel_deals=30, players=(2, 3, 4), covered=(2, 2), denied=(5, 5))
    assert promotion_test(always(untrained()), always(untrained()), HelsinkiConfig(), config, 1).mean == 0.5
    assert len(found) == 6  # three player counts, twice
    seeds, boards = set(), set()
    for seating, deck, barred, scores in found:
        seats, times = seating.shape[1], {2: 2, 3: 6, 4: 4}[seating.shape[1]]
        assert len(seating) == 10 * times
        assert (seating.reshape(10, times, seats).mean(axis=1) == 0.5).all(), "each has each seat equally often"
        for values in (deck, barred.covered, barred.denied, scores):  # the same player twice: the same game
            by_deck = values.reshape(10, times, -1)
            assert (by_deck == by_deck[:, :1]).all()
        assert len({row.tobytes() for row in seating}) == times, "no game is played twice"
        seeds |= set(deck.tolist())
        boards |= set(barred.denied.ravel().tolist())
        sizes = np.bitwise_count(barred.denied.view(np.uint16)).reshape(10, times * seats)
        assert (sizes == np.array([0, 5] * 5)[:, None]).all(), "every other deck is played on another board"
        assert (np.bitwise_count(barred.covered.view(np.uint16)).reshape(10, -1)[1::2] == 2).all()
    assert len(seeds) == 60
    assert len(boards) > 40


@pytest.mark.parametrize(("key", "most"), [("denied", 4), ("covered", 0)])
def test_the_promotion_test_cannot_disable_more_actions_than_the_game_has(key: str, most: int) -> None:
    preset = Preset.from_yaml("copenhagen").to_dict()
    promotion = preset["promotion"] | {key: [0, most + 1]}
    with pytest.raises(PresetError, match=f"promotion.{key}: found .*, expected at most {most} in the game copenhagen"):
        Preset.from_dict(preset | {"promotion": promotion})


def test_what_a_preset_covers_is_covered_at_every_table_and_at_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [{}, {"players": [3], "denied": [3, 7], "dry_roads": [False, True]}]
    promotion_config = {"deals": 16, "denied": [5, 5], "players": [2]}
    preset = Preset.from_dict({"covered": ["two_points", 3], "matchups": tables, "promotion": promotion_config})
    assert Preset.from_dict(preset.to_dict()) == preset
    expected = 1 << BOARD_ACTIONS.index("two_points") | 1 << 3
    for table in preset.matchups:
        env = GameVectorEnv(16, preset.game, episodes=table.episodes(preset.game))
        env.reset(seed=1)
        assert (env.states["covered"] == expected).all()
    found = []

    def watched(*args: Any, **named: Any) -> TimedGameResults:
        found.append(named["disabled"])
        return play_games(*args, **named)

    monkeypatch.setattr("helsinki_env.training.evaluate.play_games", watched)
    promotion_test(always(untrained()), always(untrained()), preset.game, preset.promotion, 1)
    assert (found[0].covered == expected).all()
    assert np.bitwise_count(found[0].denied.view(np.uint16)).any()


@pytest.mark.thorough
def test_measuring_is_one_seat_against_the_others_in_all_seats() -> None:
    player = NetPlayer(TorchModel(untrained()))
    found = evaluate_against(player, HelsinkiConfig(), ["random", "greedy"], [2, 3], 12, 5)
    assert [(s["players"], s["opponent"]) for s in found] == [
        (2, "random"),
        (2, "greedy"),
        (3, "random"),
        (3, "greedy"),
    ]
    for s in found:
        assert s["games"] == 12
        assert s["low"] <= s["share"] <= s["high"]
        assert s["times_fair"] == pytest.approx(s["share"] * s["players"])
    assert found[0]["share"] == found[2]["share"] == 1.0
    assert found[0]["score"] > found[0]["other_score"] + 5
    assert evaluate_against(player, HelsinkiConfig(), ["random"], [2], 12, 5) == found[:1]
    assert evaluate_against(player, HelsinkiConfig(), ["random"], [2], 12, 6) != found[:1]


def test_random_streams_are_independent() -> None:
    numbers = [(), (0,), (1,), (1, 0), (1, 1)]
    drawn = {(use, *n): use.generator(5, *n).integers(2**63) for use in RandomStream for n in numbers}
    assert drawn[RandomStream.DATASET, 1] == drawn[RandomStream.DATASET, 1, 0]  # zeros at the end do not count
    assert len(set(drawn.values())) == len(RandomStream) * 3


# learning


def lessons_of(share: float, stray: float, players: int = 3) -> tuple[Any, list[HelsinkiGame], HelsinkiVectorEnv]:
    env = HelsinkiVectorEnv(40, players)
    env.reset(seed=2)
    desk = new_workspace(HelsinkiConfig())
    lessons = generate_samples(desk, feature_offsets(HelsinkiConfig()), env.states, random_keys(40, 1), share, stray)
    return lessons, [env.game(b) for b in range(40)], env


def test_lessons_are_positions_of_whole_games_and_what_came_of_them() -> None:
    lessons, games, _ = lessons_of(1.0, 0.0)
    assert all(game.done for game in games)
    # Every turn but the very last is in it.
    assert len(lessons.table) == sum(3 * game.round - 1 for game in games)
    parts = [part.name for part in table_parts(51)]
    at = feature_offsets(HelsinkiConfig()).table[parts.index("turn order")]
    viewers = lessons.table[:, at : at + 4].argmax(axis=1)
    row = 0
    for game in games:
        for turn in range(3 * game.round - 1):
            viewer = turn % 3
            assert viewers[row] == viewer
            order = [(viewer + i) % 3 for i in range(3)]
            assert lessons.scores[row].tolist() == [*(game.scores()[seat] for seat in order), 0]
            assert lessons.wins[row].tolist() == [*(float(game.ranking()[0] == seat) for seat in order), 0.0]
            row += 1
    assert lessons.seats.shape[:2] == (row, 4)
    assert not lessons.seats[:, 3].any()


def test_a_part_of_the_turns_is_kept_and_straying_makes_worse_games() -> None:
    lessons, games, _ = lessons_of(0.3, 0.0)
    assert 0.25 < len(lessons.table) / sum(3 * game.round - 1 for game in games) < 0.35
    _, strays, _ = lessons_of(0.3, 0.3)
    assert np.mean([game.scores() for game in strays]) < np.mean([game.scores() for game in games]) - 3


def test_points_are_means_over_games_of_any_length() -> None:
    config, kinds = PretrainingConfig(samples=1000, games=30), [MatchupConfig(players=(2, 4))]
    start = Pretraining(untrained(), HelsinkiConfig(), kinds, config, 1, False)
    start._generate(0)
    games = [start.envs[0].game(b) for b in range(30)]
    assert all(game.done for game in games)
    expected = np.mean([np.mean(game.scores()) for game in games])
    assert start.update().points == pytest.approx(expected)
    start.close()


def test_a_dataset_without_samples_is_explained() -> None:
    config = PretrainingConfig(samples=100, games=2, share=1e-7)
    start = Pretraining(untrained(), HelsinkiConfig(), [MatchupConfig()], config, 1, False)
    with pytest.raises(
        UserError, match="pretraining: found no sample in 2 games with share 1e-07, expected some; incr"
    ):
        start.update()
    start.close()


@pytest.mark.thorough
def test_the_warm_start_learns_who_will_win() -> None:
    config = PretrainingConfig(samples=50_000, games=200, minibatch_size=256, learning_rate=5e-3)
    start, losses = Pretraining(untrained(), HelsinkiConfig(), [MatchupConfig()], config, 1, False), []
    points: list[float] = []
    while start.done < 1.0:
        progress = start.update()
        losses.append(progress.losses)
        points.append(progress.points)
        assert progress.part == "pretraining"
        assert progress.decisions == start.positions
        assert progress.games == 200 * len(losses)
    start.close()
    assert losses[0]["win_loss"] == pytest.approx(np.log(2), abs=0.01)  # it knows nothing
    assert np.mean([loss["win_loss"] for loss in losses[-8:]]) < 0.67
    assert np.mean([loss["score_loss"] for loss in losses[-8:]]) < 0.6 * losses[0]["score_loss"]
    assert len(set(points)) == len(points)  # other games every time


def test_the_learning_rate_rises_within_the_first_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    config = PretrainingConfig(samples=40_000, games=40, minibatch_size=32, learning_rate=0.01)
    start, rates = Pretraining(untrained(), HelsinkiConfig(), [MatchupConfig()], config, 1, False), []
    step = start.optimizer.step

    def watched() -> None:
        rates.append(start.optimizer.param_groups[0]["lr"])
        step()

    monkeypatch.setattr(start.optimizer, "step", watched)
    start.update()
    start.close()
    assert start.positions < 2000  # 5% of the samples
    assert len(rates) > 5
    np.testing.assert_allclose(np.diff(rates), rates[0], rtol=0.2)
    assert rates[-1] == pytest.approx(0.01 * start.positions / 2000)


@pytest.mark.parametrize("fast", [False, True], ids=["float32", "bfloat16"])
def test_updates_change_weights_and_leave_numbers_finite(fast: bool) -> None:
    network = untrained()
    start = Pretraining(network, HelsinkiConfig(), TABLES, PretrainingConfig(samples=1000, games=10), 1, fast)
    config = PPOConfig(total_timesteps=500, num_steps=8, minibatch_size=64, fixed_opponent_fraction=0.25)
    ppo = PPO(network, stage(16, 0.25), config, 1, lambda _: (Last(),), fast)
    parts: tuple[Pretraining, PPO] = (start, ppo)
    for part in parts:
        before = copy.deepcopy(network)
        for _ in range(2):
            progress = part.update()
            assert all(np.isfinite(loss) for loss in progress.losses.values()), progress.losses
        assert not same_weights(network, before)
        assert all(torch.isfinite(weights).all() for weights in network.state_dict().values())
        part.close()


class Riddles(RolloutCollector):
    """Games that begin with the same riddle in every rollout."""

    def __init__(self, games: int) -> None:
        super().__init__(HelsinkiConfig(), [MatchupConfig()], games, 0.0, 1, CPU)
        self.riddle = self.state()
        self.riddle["env0.states"][:] = riddle()[0].state

    def play(self, *args: Any) -> Rollout:
        self.restore(self.riddle)
        return super().play(*args)


def searched(game: HelsinkiGame) -> float:
    """The share of the win of the first seat if both do their best: every decision is tried."""
    if game.done:
        return float(game.ranking()[0] == 0)
    values = []
    for action in game.legal_actions():
        after = game.clone()
        after.step(action)
        values.append(searched(after))
    return max(values) if game.seat == 0 else min(values)


@pytest.mark.thorough
def test_a_position_is_learnt_to_its_value() -> None:
    game, right, tempting = riddle()
    values = {}
    for action in game.legal_actions().tolist():
        after = game.clone()
        after.step(action)
        values[action] = searched(after)
    assert [action for action, value in values.items() if value == 1.0] == [right]
    assert values[tempting] == 0.0
    network = untrained()
    torch.nn.init.constant_(
        network.trust.bias, 1.0
    )  # the heuristic errs here; who trusts it blindly tries nothing else
    observation, mask = game.observation()[None], game.action_mask()[None]

    def opinion() -> tuple[float, float]:
        """The probability of the right decision, and the share of the win that is expected."""
        model = TorchModel(copy.deepcopy(network))
        inputs, log_probs = NetPlayer(model).policy(observation, mask)
        assert (inputs.ended < 0).all()  # the game is not over with it: its value has to be learnt
        share = model(inputs.seats, inputs.table).wins[inputs.position, 0]
        return float(np.exp(log_probs[inputs.action == right])[0]), float((np.exp(log_probs) * share).sum())

    config = PPOConfig(total_timesteps=10**9, num_envs=64, num_steps=9, minibatch_size=128, learning_rate=2e-3)
    ppo = PPO(network, Riddles(64), config, 1, lambda _: (Last(),), False)
    before, _ = opinion()
    assert before < 0.25
    for _ in range(40):
        ppo.update()
    ppo.close()
    probability, share = opinion()
    assert probability > 0.9
    assert share == pytest.approx(searched(game), abs=0.05)
    # The other seat has learnt from its own trajectory what it has left then.
    game.step(right)
    while game.seat == 0:
        game.step(game.legal_actions()[0])
    inputs = AfterstateEncoder().write(game.observation()[None], game.action_mask()[None])
    assert set(inputs.ended.tolist()) == {0.0}
    assert TorchModel(network)(inputs.seats, inputs.table).wins[:, 0].max() < 0.1


# runs

TINY = """
minutes: 60
precision: float32
matchups: [{players: [2, 3], denied: [0, 3]}]
network: {width: 32, seat: 16, seat_hidden: 16, blocks: 1}
pretraining: {samples: 1500, games: 12}
ppo: {total_timesteps: 1500, num_envs: 12, num_steps: 16, fixed_opponent_fraction: 0.25, minibatch_size: 128}
search: {share: 0.05, trials: 8}
promotion: {deals: 16, parallel_deals: 16, players: [2]}
evaluation: {times: 2, games: 4, final_games: 4, opponents: [random], players: [2]}
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("presets") / "tiny.yaml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="module")
def preset(tiny: Path) -> Preset:
    return Preset.from_yaml(tiny)


@pytest.fixture(scope="module")
def whole(preset: Preset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted run."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert Training(preset, folder, 5).run()["finished"]
    return folder


@pytest.fixture(scope="module", params=["helsinki", "copenhagen"])
def finished(
    request: pytest.FixtureRequest, preset: Preset, whole: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Preset, Path]:
    """An uninterrupted run of each game: its preset and its folder."""
    if request.param == "helsinki":
        return preset, whole
    folder = tmp_path_factory.mktemp("runs")
    (folder / "tiny.yaml").write_text(f"{TINY}rules: {request.param}\n")
    other = Preset.from_yaml(folder / "tiny.yaml")
    assert Training(other, folder / "whole", 5).run()["finished"]
    return other, folder / "whole"


def without_seconds(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: without_seconds(value) for key, value in content.items() if key not in ("seconds", "minutes")}
    return [without_seconds(item) for item in content] if isinstance(content, list) else content


def check_same(folder: Path, whole: Path) -> None:
    """Everything that a run leaves but for the time it took."""
    (arrays, told), (expected, expected_told) = (read_state(path / "state.safetensors") for path in (folder, whole))
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        assert arrays[name].tobytes() == array.tobytes(), name
    assert without_seconds(told.value) == without_seconds(expected_told.value)
    for name in ("best.safetensors", "latest.safetensors", *(f"past/{n:04d}.safetensors" for n in range(3))):
        assert same_weights(load_checkpoint(folder / name)[0], load_checkpoint(whole / name)[0]), name
    for name in ("curve.json", "summary.json"):
        found, wanted = (without_seconds(json.loads((path / name).read_text())) for path in (folder, whole))
        if name == "summary.json":
            assert found.pop("checkpoint") == str(folder / "best.safetensors")
            wanted.pop("checkpoint")
        assert found == wanted


@pytest.mark.thorough
def test_what_a_run_leaves(whole: Path, preset: Preset) -> None:
    summary = json.loads((whole / "summary.json").read_text())
    assert summary["finished"]
    assert summary["seed"] == 5
    assert Preset.from_dict(summary["preset"]) == preset
    assert summary["results"][0]["opponent"] == "random"
    assert summary["results"][0]["games"] == 4
    curve = json.loads((whole / "curve.json").read_text())
    assert len(curve) == 3  # after pretraining, in the middle, at the end
    assert curve[0]["promotion_test"] is None
    assert curve[0]["decisions"] == 0
    assert curve[0]["positions"] == curve[-1]["positions"] >= 1500
    assert curve[1]["promotion_test"]["deals"] == 16
    assert 750 <= curve[1]["decisions"] < curve[2]["decisions"]
    assert curve[2]["decisions"] >= 1500
    best, content = load_checkpoint(whole / "best.safetensors")
    assert content["preset"] == preset.to_dict()
    assert content["decisions"] == curve[2]["decisions"]
    told = read_state(whole / "state.safetensors")[1].value
    passed = [
        number
        for number, entry in enumerate(curve)
        if entry["promotion_test"] and entry["promotion_test"]["decision"] == "better"
    ]
    assert told["run_state"]["best_at"] == max(passed, default=0)
    assert same_weights(best, load_checkpoint(whole / "past" / f"{told['run_state']['best_at']:04d}.safetensors")[0])
    learner = load_checkpoint(whole / "latest.safetensors")[0]
    assert not same_weights(learner, load_checkpoint(whole / "past" / "0000.safetensors")[0])
    assert not list(whole.rglob("*.tmp"))


@pytest.mark.thorough
def test_another_seed_makes_another_player(preset: Preset, whole: Path, tmp_path: Path) -> None:
    networks = []
    for seed in (5, 6):
        training = Training(preset, tmp_path / str(seed), seed)
        training.learner.phases["pretraining"].update()
        training.learner.phases["pretraining"].close()
        networks.append(training.network)
    assert not same_weights(*networks)


@pytest.mark.thorough
def test_a_run_can_have_the_largest_seed(preset: Preset, tmp_path: Path) -> None:
    assert Training(preset, tmp_path, 2**53).run()["finished"]
    with pytest.raises(RunError, match="seed: found"):
        Training(preset, tmp_path / "more", 2**53 + 1)


class Stopped(Exception):  # noqa: N818  # no error
    """Raised to stop a run."""


def run_in_parts(preset: Preset, folder: Path, stops: list[int], pause: float = 0.0) -> list[str]:
    """Train with stops after given numbers of updates, then to the end; return the stops."""
    parts = []
    for stop in [*stops, 10**9]:
        left = stop

        def report(now: Report) -> None:
            nonlocal left
            left -= 1
            if not left:
                parts.append(now.progress.part)
                raise Stopped

        training = Training(preset, folder, 5, resume=(folder / "state.safetensors").exists())
        try:
            assert training.run(report)["finished"]
        except Stopped:
            time.sleep(pause)
            continue
        break
    return parts


@pytest.mark.thorough
def test_a_run_that_breaks_off_anywhere_goes_on_as_if_nothing_had_happened(
    preset: Preset, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "helsinki_env.training.run._SAVE_INTERVAL", -1.0
    )  # after each update but the one that breaks off
    parts = run_in_parts(preset, tmp_path, [2, 3, 8, 4, 4, 2, 3, 5, 3, 4])
    assert Counter(parts) == {
        "pretraining": 2,
        "self-play": 3,
        "evaluation": 2,
        "promotion test": 2,
        "final evaluation": 1,
    }
    check_same(tmp_path, whole)


@pytest.mark.nightly
def test_tensorboard_shows_every_update_of_a_run_that_broke_off_once(
    preset: Preset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    monkeypatch.setattr("helsinki_env.training.run._SAVE_INTERVAL", -1.0)
    run_in_parts(preset, tmp_path, [4, 8, 5], pause=1.1)  # files are read by the second in which they were begun
    counts = read_state(tmp_path / "state.safetensors")[1].value
    pretraining, ppo = counts["pretraining"]["updates"], counts["ppo"]["updates"]
    shown = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()

    def steps(name: str) -> list[int]:
        return [event.step for event in shown.Scalars(name)]

    assert steps("pretraining/win_loss") == list(range(1, pretraining + 1))
    assert steps("self-play/win_loss") == list(range(pretraining + 1, pretraining + ppo + 1))
    assert steps("strength/2 players against random")[0] == pretraining
    assert len(steps("strength/2 players against random")) == 3


@pytest.mark.nightly
def test_a_run_goes_on_from_what_was_saved_long_before(preset: Preset, whole: Path, tmp_path: Path) -> None:
    """Nothing is saved but at the end of pretraining and where strength is measured."""
    parts = run_in_parts(preset, tmp_path, [5, 14, 3, 9])
    assert set(parts) == {"pretraining", "self-play"}
    assert len(parts) == 4
    check_same(tmp_path, whole)


@pytest.mark.nightly
def test_a_run_that_stops_for_want_of_time_goes_on_with_more(
    preset: Preset, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Five seconds go by whenever somebody looks, so that the number of stops does not depend on the machine.
    ticks = itertools.count(0.0, 5.0)
    monkeypatch.setattr("helsinki_env.training.run.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    minutes, stops = 0.001, 0
    while True:
        training = Training(replace(preset, minutes=minutes), tmp_path, 5, resume=stops > 0)
        summary = training.run()
        if summary["finished"]:
            break
        assert summary["results"][0]["games"] == 4  # what there is plays, and is measured
        assert not json.loads((tmp_path / "summary.json").read_text())["finished"]
        positions = training.learner.positions
        assert load_checkpoint(tmp_path / "best.safetensors")[1]["positions"] == positions
        stops, minutes = stops + 1, minutes + 1.0
    assert stops > 1
    check_same(tmp_path, whole)
    # Resuming a finished run prints its table again.
    again = Training(preset, tmp_path, 5, resume=True).run()
    assert without_seconds(again["results"]) == json.loads((whole / "summary.json").read_text())["results"]
    check_same(tmp_path, whole)


DRIVER = """
import sys
from helsinki_env.training import run
from helsinki_env.cli.main import main
run._SAVE_INTERVAL = -1.0  # save after every update
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.nightly
@pytest.mark.parametrize(("game", "against"), [("helsinki", None), ("copenhagen", None), ("helsinki", "greedy")])
def test_a_run_that_is_killed_or_stopped_goes_on_as_if_nothing_had_happened(
    game: str, against: str | None, tmp_path: Path
) -> None:
    """Run the real command; send Ctrl-C after the first save, then SIGKILL and Ctrl-C at random moments."""
    rng, folder = random.Random(0), tmp_path / "run"
    tiny, whole = tmp_path / "tiny.yaml", tmp_path / "whole"
    tiny.write_text(f"{TINY}rules: {game}\n")
    preset = Preset.from_yaml(tiny)
    assert Training(preset if against is None else preset.best_response_to(against), whole, 5).run()["finished"]
    state, killed, stopped = folder / "state.safetensors", 0, 0
    command = [sys.executable, "-c", DRIVER, "train", "--preset", str(tiny), "--out", str(folder), "--seed", "5"]
    command += ["--device", "cpu", *([] if against is None else ["--against", against])]
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE", "COLUMNS": "300", "PYTHONPATH": str(ROOT)}
    for attempt in range(5):
        resumed = state.exists()
        words = [*command, *(["--resume"] if resumed else [])]
        number = (signal.SIGKILL if attempt % 2 else signal.SIGINT) if attempt < 4 else None
        done = signalled_after_save(words, state, number, 1.5 * rng.random() if attempt else 0.0, environment)
        killed += done.returncode == -signal.SIGKILL
        if done.returncode == 130:
            stopped += 1
            go_on = shlex.join(words[3:] if resumed else [*words[3:], "--resume"])
            assert f"interrupted: run saved in {folder} after its last update; resume with" in done.stderr
            assert done.stderr.endswith(f": helsinki {go_on}\n")
        for path in [path for path in folder.rglob("*.safetensors") if path != state]:
            load_checkpoint(path)
        read_state(state)
    assert killed >= 1
    assert stopped >= 1
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Saved {folder / 'best.safetensors'}; play it as net:{folder}" in done.stdout
    check_same(folder, whole)
    assert not list(folder.rglob("*.tmp"))  # files of killed runs are removed


WRITER = """
import os, random, signal, sys, time
from pathlib import Path
from types import SimpleNamespace
import torch
from helsinki_env.agents.net.checkpoint import load_checkpoint
from helsinki_env.agents.net.network import Network
from tests.support.networks import same_weights, saved
torch.set_num_threads(1)
path, rng = Path(sys.argv[1]), random.Random(0)
networks = [Network(), Network()]
saved(path, networks[0])
seen, left = set(), 0
for number in range(1000):
    if left > 5 and len(seen) == 2:
        break
    before = path.stat().st_ino
    child = os.fork()
    if not child:
        while True:
            for network in networks[:: 1 if number % 2 else -1]:
                saved(path, network)
    while path.stat().st_ino == before:  # until it has written once, however long that takes
        time.sleep(0.001)
    time.sleep(0.05 * rng.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left += len(list(path.parent.glob(".*.tmp")))
    found = load_checkpoint(path)[0]
    seen.add([same_weights(found, network) for network in networks].index(True))
saved(path, networks[0])
print(sorted(seen), left, len(list(path.parent.glob(".*.tmp"))))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_checkpoint_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "net.safetensors")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen, killed, leftovers = done.stdout.rsplit(maxsplit=2)
    assert seen == "[0, 1]"
    assert int(killed) > 5  # it was killed in the middle of writing
    assert int(leftovers) == 0


@pytest.mark.nightly
def test_a_run_that_cannot_be_begun_or_resumed_says_why_and_what_to_do(
    finished: tuple[Preset, Path], tmp_path: Path
) -> None:
    preset, whole = finished
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "found a training run, .*--resume.* --out"),
        (
            {"seed": 6, "resume": True},
            "seed: found 6, expected 5 as for the earlier results; use the same settings, or choose another --out",
        ),
        (
            {"preset": replace(preset, ppo=replace(preset.ppo, gae_lambda=0.5)), "resume": True},
            r"preset\.ppo\.gae_lambda: found 0\.5, expected 0\.92 as for the earlier results; use the same settings",
        ),
        (
            {"preset": replace(preset, precision="bfloat16", opponents=("greedy",)), "resume": True},
            r"preset\.opponents\[0\]: found 'greedy', expected 'heuristic'; preset\.precision: found 'bfloat16'",
        ),
    ]
    for changes, message in cases:
        with pytest.raises(RunError, match=message) as caught:
            Training(changes.get("preset", preset), whole, changes.get("seed", 5), resume="resume" in changes)
        assert str(whole) in str(caught.value)
    with pytest.raises(RunError, match=r"found no training run, .*omit --resume") as caught:
        Training(preset, tmp_path / "empty", 5, resume=True)
    assert str(tmp_path / "empty") in str(caught.value)
    assert not (tmp_path / "empty").exists()


def test_a_network_in_the_folder_is_not_overwritten(preset: Preset, tmp_path: Path) -> None:
    for name in ("best.safetensors", "summary.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_bytes(b"precious")
        for resume in (False, True):
            with pytest.raises(RunError, match=rf"found {name} without state\.safetensors, .*choose another folder"):
                Training(preset, folder, 5, resume=resume)
        assert [path.read_bytes() for path in folder.iterdir()] == [b"precious"]


def test_training_that_diverges_says_so(preset: Preset, tmp_path: Path) -> None:
    wild = replace(preset, pretraining=replace(preset.pretraining, learning_rate=1e12))
    with pytest.raises(RunError, match=r"pretraining: found losses that are not finite, .*lower learning_rate"):
        Training(wild, tmp_path, 5).run()


def test_weights_that_are_not_finite_are_never_saved(
    preset: Preset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The losses of an update precede its last step."""
    training = Training(preset, tmp_path, 5)
    update = training.learner.phases["pretraining"].update

    def broken() -> Progress:
        progress = update()
        with torch.no_grad():
            training.network.win.bias[0] = torch.nan
        return progress

    monkeypatch.setattr(training.learner.phases["pretraining"], "update", broken)
    with pytest.raises(RunError, match=r"pretraining: found weights that are not finite, .*lower learning_rate"):
        training.run()
    assert training.keep()
    arrays, _ = read_state(tmp_path / "state.safetensors")
    assert all(np.isfinite(array).all() for name, array in arrays.items() if name.startswith("network."))


@pytest.mark.thorough
def test_a_run_is_resumed_against_the_very_same_players(preset: Preset, whole: Path, tmp_path: Path) -> None:
    rival = tmp_path / "rival.safetensors"
    shutil.copy(whole / "best.safetensors", rival)
    met = replace(preset.evaluation, opponents=(f"net:{rival}",))
    asked = replace(preset, minutes=0.0001, evaluation=met)
    assert not Training(asked, tmp_path / "run", 5).run()["finished"]
    Training(asked, tmp_path / "run", 5, resume=True)
    shutil.copy(whole / "past" / "0000.safetensors", rival)
    with pytest.raises(RunError, match=r"files\.net:.*rival\.safetensors: found '\w{16}', expected '"):
        Training(asked, tmp_path / "run", 5, resume=True)


@pytest.mark.thorough
def test_nothing_is_played_before_a_resumed_run_begins(preset: Preset, whole: Path, tmp_path: Path) -> None:
    """Whoever only looks whether it is done, or finds another process there, leaves no thread behind."""
    shutil.copytree(whole, tmp_path / "run")
    before = set(threading.enumerate())
    training = Training(preset, tmp_path / "run", 5, resume=True)
    assert training.learner.ppo.counts["updates"] > 0
    assert set(threading.enumerate()) <= before


@pytest.mark.thorough
def test_a_broken_state_is_refused_and_nothing_in_it_is_executed(finished: tuple[Preset, Path], tmp_path: Path) -> None:
    preset, whole = finished
    from tests.test_net import Payload

    data = (whole / "state.safetensors").read_bytes()
    state, trap = tmp_path / "state.safetensors", tmp_path / "executed"
    for content in (data[:-50], data[:50], b"", pickle.dumps(Payload(trap)), (whole / "best.safetensors").read_bytes()):
        state.write_bytes(content)
        with pytest.raises(RunError, match=r"not the state of a training run.*another folder") as caught:
            Training(preset, tmp_path, 5, resume=True)
        assert str(state) in str(caught.value)
    assert not trap.exists()


def without(name: str) -> Callable[[Metadata, Arrays], None]:
    def damage(metadata: Metadata, arrays: Arrays) -> None:
        del arrays[name]

    return damage


def with_metadata(*keys: str, value: Any) -> Callable[[Metadata, Arrays], None]:
    def damage(metadata: Metadata, arrays: Arrays) -> None:
        at = metadata
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value

    return damage


def with_array(name: str, change: Callable[[Any], Any]) -> Callable[[Metadata, Arrays], None]:
    def damage(metadata: Metadata, arrays: Arrays) -> None:
        arrays[name] = change(arrays[name])

    return damage


DAMAGES: dict[str, tuple[Callable[[Metadata, Arrays], None], str]] = {
    "no run state": (lambda metadata, _: metadata.pop("run_state"), "run_state: found nothing"),
    "run state as text": (with_metadata("run_state", value="far"), "run_state: found 'far'"),
    "another part": (with_metadata("run_state", "part", value="end"), r"run_state\.part: found 'end'"),
    "measured so often": (with_metadata("run_state", "measured", value=99), r"run_state\.measured: found 99, expected"),
    "best of none": (with_metadata("run_state", "best_at", value=-1), r"run_state\.best_at: found -1, expected"),
    "a past elsewhere": (
        with_metadata("run_state", "past", value=[["../../x.safetensors", 0]]),
        r"run_state\.past\[0\]\[0\]: found '\.\./\.\./x\.safetensors'",
    ),
    "a past of one": (with_metadata("run_state", "past", value=[5]), r"past\[0\]: found 5"),
    "no seconds": (with_metadata("run_state", "seconds", value=None), r"run_state\.seconds: found None"),
    "a curve of numbers": (with_metadata("run_state", "curve", value=[5]), r"curve\[0\]: found 5"),
    "no counts": (lambda metadata, _: metadata.pop("ppo"), "ppo: found nothing"),
    "half a game": (with_metadata("ppo", "games", value=0.5), r"ppo\.games: found 0\.5"),
    "no weights": (without("network.win.weight"), r"network\.win\.weight: found nothing"),
    "no best": (without("best.norm.bias"), r"best\.norm\.bias: found nothing"),
    "no games": (without("stage.env0.states"), r"env0\.states: found nothing"),
    "weights of another type": (
        with_array("network.win.weight", lambda array: array.astype(np.float64)),
        r"network\.win\.weight: found float64 of shape",
    ),
    "more weights": (
        with_array("best.win.bias", lambda array: np.zeros(5, array.dtype)),
        r"best\.win\.bias: found float32 of shape \(5,\)",
    ),
    "a memory of somebody else's": (
        lambda _, arrays: arrays.__setitem__("optimiser.x.step", np.zeros(1)),
        r"optimiser\.x\.step: found an unexpected entry",
    ),
    "half a memory": (without("optimiser.0.exp_avg"), "optimiser: found an incomplete optimizer state"),
    "games that cannot be": (
        with_array("stage.env0.states", lambda array: np.full_like(array, 255)),
        r"states: game 0: \w+.*: found",
    ),
    "more updates than there can be": (with_metadata("ppo", "updates", value=10**30), r"ppo\.updates: found 1000"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_state_that_does_not_fit_is_refused_by_name(preset: Preset, whole: Path, tmp_path: Path, kind: str) -> None:
    damage, message = DAMAGES[kind]
    folder = shutil.copytree(whole, tmp_path / "run")
    state = folder / "state.safetensors"
    arrays, metadata = read_state(state)
    damage(metadata.value, arrays)
    write_state(state, arrays, metadata.value)
    with pytest.raises(RunError, match=message) as caught:
        Training(preset, folder, 5, resume=True)
    assert str(caught.value).startswith(f"{state}: ")
    assert "start a new run in another folder" in str(caught.value)


@pytest.mark.thorough
def test_a_flipped_bit_of_a_state_is_noticed(preset: Preset, whole: Path, tmp_path: Path) -> None:
    content = bytearray((whole / "state.safetensors").read_bytes())
    content[-1000] ^= 1
    (tmp_path / "state.safetensors").write_bytes(content)
    with pytest.raises(RunError, match="the digest of the arrays: they were changed or damaged"):
        Training(preset, tmp_path, 5, resume=True)


@pytest.mark.thorough
def test_two_processes_do_not_train_in_one_folder(preset: Preset, whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole, tmp_path / "run")
    leftovers = [folder / ".state.safetensors.helsinki-env-0.tmp", folder / "past" / ".0.helsinki-env-0.tmp"]
    for leftover in leftovers:
        leftover.touch()
    with hold_lock_file(folder / "lock", RuntimeError("busy")):  # as the other one does
        training = Training(preset, folder, 5, resume=True)
        with pytest.raises(RunError, match="another process that trains here; wait for it") as caught:
            training.run()
        assert str(folder) in str(caught.value)
        assert all(leftover.exists() for leftover in leftovers)  # the other one may be writing them
    assert training.run()["finished"]
    assert not any(leftover.exists() for leftover in leftovers)


def test_the_first_of_two_runs_in_a_folder_is_not_overwritten(preset: Preset, tmp_path: Path) -> None:
    short = replace(preset, minutes=0.0001)
    one, other = Training(short, tmp_path / "run", 5), Training(short, tmp_path / "run", 6)
    one.run()
    before = (tmp_path / "run" / "state.safetensors").read_bytes()
    with pytest.raises(RunError, match="found a training run, expected an empty folder"):
        other.run()
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == before
    one, other = (Training(short, tmp_path / "run", 5, resume=True) for _ in range(2))
    one.run()
    before = (tmp_path / "run" / "state.safetensors").read_bytes()
    with pytest.raises(RunError, match=r"another process has continued in the meantime, .*; resume it again"):
        other.run()
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == before


def test_a_state_without_a_digest_is_not_read(tmp_path: Path) -> None:
    state = tmp_path / "state.safetensors"
    state.write_bytes(save({"network.bias": np.zeros(3)}, {"run": "{}"}))
    with pytest.raises(StateError, match="digest: found nothing, expected the digest of the arrays"):
        read_state(state)


# the command


@pytest.mark.thorough
def test_the_command_stops_when_told_and_goes_on(
    tiny: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    words = ["train", "--preset", str(tiny), "--out", str(tmp_path), "--seed", "5", "--device", "cpu"]
    assert main([*words, "--minutes", "0.0001"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        f"Stopped after 0.0001 minutes, before the end of the training. Resume with: helsinki {' '.join(words[:7])}"
        in shown
    )
    assert "--device cpu --threads 1 --resume --minutes 0.0002" in shown
    assert main(words) == 2
    assert "found a training run" in capsys.readouterr().err
    assert main([*words, "--resume"]) == 0
    shown = capsys.readouterr().out
    assert "\u2026" not in shown, "lines in a file are not cut"
    table = [line for line in shown.splitlines() if line.startswith(("\u2503", "\u2502"))]
    assert "95% interval" in table[0]
    assert any("random" in line for line in table)
    assert max(map(len, table)) <= 80, "it fits a terminal and a file"
    assert f"Saved {tmp_path / 'best.safetensors'}; play it as net:{tmp_path}" in shown
    check_same(tmp_path, whole)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "quik"], "--preset: found 'quik', expected .*quick"),
        (
            ["--game", "copenhagen", "--preset", "standard"],
            r"standard: a preset for helsinki, not for copenhagen: .*: best_response, copenhagen, gpu, quick\)",
        ),
        (["--game", "chess"], "rules: found 'chess'"),
        (["--minutes", "0"], "--minutes: found 0.0"),
        (["--threads", "0"], "--threads: found 0"),
        (["--resume"], "found no training run"),
    ],
)
def test_what_is_asked_wrongly_is_one_line_and_status_2(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--out", str(tmp_path / "run"), *words]) == 2
    shown = capsys.readouterr().err
    assert re.search(message, shown), shown
    assert shown.startswith("helsinki train: ")
    assert shown.count("\n") == 1
    assert not (tmp_path / "run").exists()


# presets


@pytest.mark.parametrize("name", ["quick", "standard", "strong"])
def test_the_presets_are_valid_and_come_back_from_plain_data(name: str) -> None:
    preset = Preset.from_yaml(name)
    assert preset.pretraining.samples > 100_000
    assert preset.ppo.total_timesteps > 100_000
    assert Preset.from_dict(json.loads(json.dumps(preset.to_dict()))) == preset


def test_a_preset_for_another_game_asks_for_nothing_that_it_does_not_tell() -> None:
    for name in ("quick", "best_response"):
        own, other = Preset.from_yaml(name), Preset.from_yaml(name).for_game("copenhagen", name)
        assert (own.network.turned, own.network.ahead) == (True, True)
        assert (other.network.turned, other.network.ahead) == (False, True)
        Network(other.game, other.network)
    assert Preset.from_yaml("copenhagen").for_game("copenhagen", "copenhagen") == Preset.from_yaml("copenhagen")


def test_a_preset_may_change_another_one(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("base: standard\nminutes: 3\nmatchups: [{players: [2]}]\nppo: {num_envs: 64, learning_rate: null}\n")
    preset, base = Preset.from_yaml(own), Preset.from_yaml("standard")
    assert (preset.minutes, preset.ppo.num_envs, preset.network) == (3, 64, base.network)
    assert preset.ppo.learning_rate == PPOConfig().learning_rate != base.ppo.learning_rate
    assert [matchup.players for matchup in preset.matchups] == [(2,)]
    assert preset.ppo.total_timesteps == base.ppo.total_timesteps


def test_the_quick_preset_stops_in_time() -> None:
    assert Preset.from_yaml("quick").minutes <= 6


def test_games_that_measure_have_as_many_players_as_those_that_teach(tmp_path: Path) -> None:
    def players(text: str) -> list[tuple[int, ...]]:
        (tmp_path / "own.yaml").write_text(text)
        made = Preset.from_yaml(tmp_path / "own.yaml")
        return [made.promotion.players, made.evaluation.players]

    assert players("minutes: 1\n") == [(2,), (2,)]
    assert players("matchups: [{players: [3], share: 0.5}, {players: [4, 2], share: 0.5}]\n") == [(2, 3, 4)] * 2
    assert players("matchups: [{players: [3]}]\npromotion: {players: [4]}\n") == [(4,), (3,)]
    assert players("matchups: [{players: [3]}]\nevaluation: {players: [2, 4]}\n") == [(3,), (2, 4)]


def test_a_single_value_stands_for_a_list_of_one() -> None:
    one = Preset.from_dict(
        {
            "opponents": "greedy",
            "evaluation": {"opponents": "random", "players": 3},
            "matchups": [{"players": 3, "covered": 2}],
        }
    )
    lists = {"opponents": ["random"], "players": [3]}
    tables = [{"players": [3], "covered": [2, 2]}]
    assert one == Preset.from_dict({"opponents": ["greedy"], "evaluation": lists, "matchups": tables})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minuets: 3", r"minuets: no such key \(found 3\)"),
        ("minutes: -1", "minutes: found -1"),
        ("minutes: soon", "minutes: found 'soon'"),
        ("minutes: .nan", "minutes: found nan"),
        ("precision: half", "precision: found 'half'"),
        (
            "components: nowhere",
            "components: found 'nowhere', expected .*one of alternative, .*default",
        ),
        ("ppo: {update_epochs: 0}", r"ppo\.update_epochs: found 0"),
        ("ppo: {clip_coef: high}", r"ppo\.clip_coef: found 'high'"),
        ("ppo: {clip_coef: 0}", r"ppo\.clip_coef: found 0, expected a number above 0"),
        ("ppo: {learning_rate: 0}", r"ppo\.learning_rate: found 0, expected a number above 0"),
        ("ppo: {max_grad_norm: 0}", r"ppo\.max_grad_norm: found 0, expected a number above 0"),
        ("pretraining: {learning_rate: 0}", r"pretraining\.learning_rate: found 0, expected a number above 0"),
        ("pretraining: {max_grad_norm: 0}", r"pretraining\.max_grad_norm: found 0, expected a number above 0"),
        ("ppo: {minibatch_size: 1.5}", r"ppo\.minibatch_size: found 1.5"),
        ("ppo: {learning_rate: .inf}", r"ppo\.learning_rate: found inf"),
        ("ppo: {fixed_opponent_fraction: .nan}", r"ppo\.fixed_opponent_fraction: found nan"),
        (
            "ppo: {fixed_opponent_fraction: 0.01, num_envs: 99}",
            r"ppo\.fixed_opponent_fraction: found 0\.01, expected 0, or a fraction that is at least one of the 99",
        ),
        ("ppo: {random_start_fraction: 2}", r"ppo\.random_start_fraction: found 2"),
        ("ppo: {random_start_actions: 0}", r"ppo\.random_start_actions: found 0"),
        ("learner: mlp\nppo: {random_start_fraction: 0.5}", r"ppo\.random_start_fraction: found 0\.5, expected 0"),
        ("learner: mlp\nsearch: {share: 0.5}", r"search\.share: found 0\.5, expected 0 for an MLP"),
        ("search: {share: 0.5, player: nett}", r"search\.player: found 'nett', expected one of heuristic, net"),
        ("learner: mlp\nstart: net", r"start: found 'net', expected none for an MLP"),
        ("ppo: {num_envs: 1000000000}", r"ppo\.num_envs: found 1000000000"),
        ("pretraining: {share: .nan}", r"pretraining\.share: found nan"),
        ("matchups: [{share: .nan}]", r"matchups\[0\]\.share: found nan"),
        ("matchups: [{players: [2.0]}]", r"matchups\[0\]\.players: found \(2\.0,\)"),
        ("promotion: {players: [2.0]}", r"promotion\.players: found \[2\.0\]"),
        ("promotion: {elo: .nan}", r"promotion\.elo: found nan"),
        ("minutes: .inf", "minutes: found inf"),
        ("ppo: {num_steps: true}", r"ppo\.num_steps: found True"),
        ("ppo: {gae_lambda: 1.1}", r"ppo\.gae_lambda: found 1.1"),
        ("ppo: {rate: 1}", r"ppo\.rate: no such key \(found 1\)"),
        ("ppo: {fixed_opponent_fraction: 0.1}\nopponents: []", "opponents: found none"),
        ("evaluation: {opponents: []}", "evaluation.opponents: found"),
        ("ppo: 5", "ppo: found 5"),
        ("pretraining: {share: 0}", r"pretraining\.share: found 0"),
        ("pretraining: {epsilon: 2}", r"pretraining\.epsilon: found 2"),
        ("network: {width: 64, heads: 2}", r"network\.heads: no such key \(found 2\)"),
        ("network: {width: 0}", r"network\.width: found 0"),
        ("matchups: []", r"matchups: found \[\]"),
        ("matchups: {players: 2}", "matchups: found {'players': 2}"),
        ("matchups: [2]", r"matchups\[0\]: found 2"),
        ("matchups: [{}, {seats: 2}]", r"matchups\[1\]\.seats: no such key \(found 2\)"),
        ("matchups: [{players: [2, 5]}]", r"matchups\[0\]\.players: found \(2, 5\)"),
        ("matchups: [{covered: [9, 16]}]", r"matchups\[0\]\.covered: found \(9, 16\)"),
        ("matchups: [{dry_roads: maybe}]", r"matchups\[0\]\.dry_roads: found \('maybe',\)"),
        ("matchups: [{share: 0}]", r"matchups\[0\]\.share: found 0"),
        ("matchups: [{share: 1.0e+308}]", r"matchups\[0\]\.share: found 1e\+308, expected a number between"),
        ("start: 0", "start: found 0, expected a player"),
        ("start: model.onnx", "start: found 'model.onnx', expected a checkpoint, because exported models cannot"),
        ("against: []", r"against: found \[\], expected a player"),
        ("covered: [two_pints]", r"covered\[0\]: found 'two_pints'"),
        ("covered: two_points\nmatchups: [{covered: [1, 2]}]", r"matchups\[0\]\.covered: found \[1, 2\]"),
        ("covered: [1]\npromotion: {covered: [0, 3]}", r"promotion\.covered: found \[0, 3\]"),
        ("rules: copenhagen\ncovered: [1]", r"covered: no such key"),
        ("opponents: [gredy]", "opponents: player 'gredy': found an unknown name, .*; did you mean 'greedy'"),
        ("opponents: 5", "opponents: player: found 5"),
        ("promotion: {deals: 3}", r"promotion\.deals: found 3"),
        ("promotion: {denied: 5}", r"promotion\.denied: found 5"),
        ("promotion: {covered: [0, 16]}", r"promotion\.covered\[1\]: found 16"),
        ("promotion: {players: [2, 5]}", r"promotion\.players: found \[2, 5\]"),
        ("promotion: {players: 2}", r"promotion\.players: found 2"),
        ("promotion: {elo: 0}", r"promotion\.elo: found 0"),
        ("evaluation: {players: 5}", r"evaluation\.players: found \(5,\)"),
        ("evaluation: {opponents: [net:none]}", r"evaluation\.opponents: none: found no such file"),
        (
            "evaluation: {opponents: [random, greedy, random]}",
            r"evaluation\.opponents: found \['random', 'greedy', 'random'\], expected every player once",
        ),
        ("evaluation: {players: [2, 2]}", r"evaluation\.players: found \(2, 2\), expected some of 2, 3 and 4, each"),
        ("matchups: [{players: [2, 3, 2]}]", r"matchups\[0\]\.players: found \(2, 3, 2\), expected some of 2, 3 and 4"),
        ("evaluation: {times: 0}", r"evaluation\.times: found 0"),
        ("- 3", r"found \[3\]"),
        ("minutes: 3\nminutes: 4", "the key 'minutes' twice"),
        ("base: standard\npretrainng: null", "pretrainng: found None, expected a key of the base 'standard'"),
        ("base: standard\nppo: {learning_rat: null}", r"ppo\.learning_rat: found None, expected a key of the base"),
        ("base: standrad", "base: found 'standrad', .*; did you mean 'standard'"),
        ("base: varied", "base: found 'varied', expected a file without a base"),
        ("base: standard\nppo: {num_envs: 0}", r"ppo\.num_envs: found 0"),
    ],
)
def test_a_preset_with_a_mistake_names_it(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(PresetError, match=message) as caught:
        Preset.from_yaml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1
