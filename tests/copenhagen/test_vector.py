"""The vector environment of Copenhagen: the games that are played one by one, and what comes back at their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helsinki_env import CopenhagenConfig, CopenhagenVectorEnv
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.games.copenhagen.episodes import RandomEpisodes

B = 24 if JIT else 3


def played(env: CopenhagenVectorEnv, steps: int, seed: int = 0) -> list[Any]:
    """Everything that an environment returns in some steps of random play."""
    obs, info = env.reset(seed=seed)
    words = random_keys(env.num_envs, seed=seed + 1)
    found: list[Any] = [(obs, info)]
    for _ in range(steps):
        found.append(env.step(sample_actions(found[-1][0]["action_mask"], words)))
    return found


def test_threads_and_sizes_change_nothing() -> None:
    one = played(CopenhagenVectorEnv(B, 3), 300)
    two = played(CopenhagenVectorEnv(B, 3, num_threads=2), 300)
    few = played(CopenhagenVectorEnv(2, 3), 300)
    for a, b, c in zip(one, two, few, strict=True):
        assert (a[0]["observation"] == b[0]["observation"]).all()
        assert (a[-1]["seat"] == b[-1]["seat"]).all()
        assert (a[0]["observation"][:2] == c[0]["observation"]).all()


def finished(points: list[int], filled: list[int], reward: str) -> np.ndarray[Any, Any]:
    """The rewards at the end of a game with these points and numbers of filled cells."""
    env = CopenhagenVectorEnv(1, len(points), reward=reward)
    env.reset(seed=0)
    g = env.states[0]
    for seat, (made, cells) in enumerate(zip(points, filled, strict=True)):
        g.points[seat], g.filled[seat] = made, 2**cells - 1
    g.pile[g.pile_size - 1], g.pile_size, g.end_card = 5, g.pile_size, 1  # the next card ends the game
    obs, info = env._started(np.zeros(1, np.bool_))
    for _ in range(3):  # two cards are taken, nothing else is to be decided
        if not obs["action_mask"].any():
            break
        obs, _, _, _, info = env.step([int(obs["action_mask"][0].argmax())])
    assert info["_rewards"][0]
    rewards: np.ndarray[Any, Any] = info["rewards"][0]
    return rewards


def test_those_who_share_a_place_get_equal_shares() -> None:
    # Two of three win together: each gets half of a win, (3 / 2 - 1) / 2; the loser -1 / 2.
    assert finished([5, 5, 2], [9, 9, 9], "win").tolist() == [0.25, 0.25, -0.5]
    # First, and two who share the second place: 1, and the mean of 0 and -1.
    assert finished([8, 3, 3], [9, 9, 9], "rank").tolist() == [1.0, -0.5, -0.5]
    # Two of two share everything: half of a win each, (2 / 2 - 1) / 1; the mean of 1 and -1.
    assert finished([5, 5], [9, 9], "win").tolist() == [0.0, 0.0]
    assert finished([5, 5], [9, 9], "rank").tolist() == [0.0, 0.0]
    # Two of three share the first place: the mean of 1 and 0 each; a lone winner of three: (3 - 1) / 2.
    assert finished([5, 5, 2], [9, 9, 9], "rank").tolist() == [0.5, 0.5, -1.0]
    assert finished([8, 3, 3], [9, 9, 9], "win").tolist() == [1.0, -0.5, -0.5]
    # Two of four win together, (4 / 2 - 1) / 3 each; by rank the means of 1 and 1/3, and of -1/3 and -1.
    assert finished([5, 2, 5, 2], [9] * 4, "win") == pytest.approx([1 / 3, -1 / 3, 1 / 3, -1 / 3])
    assert finished([5, 2, 5, 2], [9] * 4, "rank") == pytest.approx([2 / 3, -2 / 3, 2 / 3, -2 / 3])
    # Three of four win together, (4 / 3 - 1) / 3 each; by rank the mean of 1, 1/3 and -1/3.
    assert finished([5, 5, 2, 5], [9] * 4, "win") == pytest.approx([1 / 9, 1 / 9, -1 / 3, 1 / 9])
    assert finished([5, 5, 2, 5], [9] * 4, "rank") == pytest.approx([1 / 3, 1 / 3, -1, 1 / 3])
    # All four share all places.
    assert finished([4, 4, 4, 4], [9, 9, 9, 9], "rank").tolist() == [0.0] * 4
    assert finished([4, 4, 4, 4], [9, 9, 9, 9], "win").tolist() == [0.0] * 4
    # Fewer empty cells break a tie.
    assert finished([5, 5, 2], [9, 10, 9], "win").tolist() == [-0.5, 1.0, -0.5]
    # Points above the mean of the others.
    assert finished([5, 3, 1], [9, 9, 9], "margin").tolist() == [3.0, 0.0, -3.0]


@pytest.mark.parametrize("reward", ["win", "rank", "margin"])
def test_rewards_sum_to_zero(reward: str) -> None:
    env = CopenhagenVectorEnv(B, 4, reward=reward, autoreset_mode="SameStep")
    ended = 0
    for _, _, over, _, info in played(env, 500)[1:]:
        if over.any():
            ended += int(over.sum())
            assert np.abs(info["rewards"].sum(axis=1)).max() < 1e-5
            assert all(final["action_mask"].sum() == 0 for final in info["final_obs"][over])
    assert ended >= B


def test_what_is_played_can_change_with_a_reset_and_from_deal_to_deal() -> None:
    env = CopenhagenVectorEnv(B, 2)
    env.reset(seed=0, options={"num_players": 3, "denied": [[1], ["both_actions"], []]})
    assert env.game(0).config == CopenhagenConfig(3, denied=[[1], [4], []])
    env.reset(seed=0, options={"denied": None, "episodes": RandomEpisodes(num_players=(2, 4), denied=(0, 4))})
    assert set(env.states["players"].tolist()) == {2, 4}
    assert (env.states["denied"] & 1 == 0).all()
    with pytest.raises(ValueError, match=r"options: found 'covered'"):
        env.reset(options={"covered": []})
    with pytest.raises(ValueError, match="config: found 5, expected a CopenhagenConfig"):
        CopenhagenVectorEnv(config=5)  # type: ignore[arg-type]


def test_a_state_is_kept_and_brought_back_and_one_that_cannot_be_is_refused() -> None:
    env = CopenhagenVectorEnv(B, 3)
    played(env, 40)
    state = env.get_state()
    words = random_keys(B, seed=3)
    obs, _ = env.set_state(state)
    first = env.step(sample_actions(obs["action_mask"], words.copy()))
    obs, _ = env.set_state(state)
    again = env.step(sample_actions(obs["action_mask"], words.copy()))
    assert (first[0]["observation"] == again[0]["observation"]).all()
    for name, value in (("seat", 3), ("phase", 9), ("pile_size", 120), ("players", 5), ("hand", -1), ("points", 50)):
        broken = {key: array.copy() for key, array in state.items()}
        broken["states"][name][1] = value
        with pytest.raises(ValueError, match="states: game 1: "):
            env.set_state(broken)
    assert env.get_state()["states"].tobytes() != state["states"].tobytes(), "nothing was taken over"


def test_what_is_not_legal_is_said_in_words() -> None:
    env = CopenhagenVectorEnv(2)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match=r"game 0: .*TAKE 6.* is not legal in phase MAIN of seat 0"):
        env.step([6, 0])


def test_it_draws_its_games() -> None:
    env = CopenhagenVectorEnv(2, render_mode="svg")
    env.reset(seed=0)
    first, second = env.render() or ()
    assert first.startswith("<svg")
    assert "COPENHAGEN" in first.upper()
    assert first != second
