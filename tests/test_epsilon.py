"""Epsilon-random players: the fraction of random actions, and unchanged actions otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.registry import PlayerError, files_digest, make_player
from helsinki_env.engine.playout import random_keys
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.match import play_match


def test_the_share_of_random_actions_is_epsilon_and_rows_are_independent() -> None:
    observations, _ = GameVectorEnv(1, HelsinkiConfig()).reset(seed=3)
    rows = 4000
    observation, mask = (np.repeat(observations[name], rows, axis=0) for name in ("observation", "action_mask"))
    keys = random_keys(rows, seed=1)
    base, player = make_player("greedy"), make_player("epsilon:0.25:greedy")
    assert player.name == "epsilon:0.25:greedy"
    actions, usual = player.act(observation, mask, keys), base.act(observation, mask, keys)
    legal = int(mask[0].sum())
    expected = 0.25 * (1 - 1 / legal)  # a random action may equal the player's action
    assert abs((actions != usual).mean() - expected) < 0.03
    assert len(set(actions.tolist())) == legal
    assert (player.act(observation[:50], mask[:50], keys[:50]) == actions[:50]).all()


def test_the_coin_is_independent_of_the_random_numbers_of_the_player() -> None:
    observations, _ = GameVectorEnv(1, HelsinkiConfig()).reset(seed=3)
    rows = 20_000
    observation, mask = (np.repeat(observations[name], rows, axis=0) for name in ("observation", "action_mask"))
    actions = make_player("epsilon:0.2:random").act(observation, mask, random_keys(rows, seed=1))
    counts = np.bincount(actions, minlength=mask.shape[1])[mask[0] == 1]
    legal = len(counts)
    assert abs(counts / rows - 1 / legal).max() < 4 * np.sqrt((1 - 1 / legal) / legal / rows)


def test_nested_players_take_their_random_actions_independently() -> None:
    observations, _ = GameVectorEnv(1, HelsinkiConfig()).reset(seed=3)
    rows = 20_000
    observation, mask = (np.repeat(observations[name], rows, axis=0) for name in ("observation", "action_mask"))
    inputs = observation, mask, random_keys(rows, seed=1)
    usual, legal = make_player("greedy").act(*inputs), int(mask[0].sum())
    changed = (make_player("epsilon:0.3:epsilon:0.3:greedy").act(*inputs) != usual).mean()
    assert changed == pytest.approx((1 - 0.7**2) * (1 - 1 / legal), abs=0.015)


def test_the_ends_are_the_player_and_random() -> None:
    observations, _ = GameVectorEnv(64, HelsinkiConfig()).reset(seed=1)
    inputs = observations["observation"], observations["action_mask"], random_keys(64)
    np.testing.assert_array_equal(make_player("epsilon:0:greedy").act(*inputs), make_player("greedy").act(*inputs))
    assert (make_player("epsilon:1:greedy").act(*inputs) != make_player("greedy").act(*inputs)).any()


def test_a_mixture_is_between_both_players() -> None:
    results = play_match(["epsilon:0.3:greedy", "greedy"], games=100, seed=2)
    assert results.result(0).high < 0.5
    assert play_match(["epsilon:0.3:greedy", "random"], games=60, seed=2).result(0).low > 0.5


def test_the_files_are_those_of_the_player() -> None:
    assert files_digest("epsilon:0.1:net") == files_digest("net")


@pytest.mark.parametrize(
    "name", ["epsilon:", "epsilon:0.1", "epsilon:2:greedy", "epsilon:nan:greedy", "epsilon:x:greedy"]
)
def test_other_arguments_are_rejected(name: str) -> None:
    with pytest.raises(PlayerError, match=r"expected a probability from 0 to 1, .*epsilon:0\.2:heuristic"):
        make_player(name)
