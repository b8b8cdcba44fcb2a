"""The vector environment of Copenhagen: rewards, options and random episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helsinki_env import CopenhagenConfig, CopenhagenVectorEnv
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.episodes import RandomEpisodes

B = 24 if JIT else 3


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


@pytest.mark.parametrize(
    ("points", "filled", "reward", "expected"),
    [
        # Two of three share the first rank: half a win each, (3 / 2 - 1) / 2; the loser -1 / 2.
        ([5, 5, 2], [9] * 3, "win", [1 / 4, 1 / 4, -1 / 2]),
        ([5, 5, 2], [9] * 3, "rank", [1 / 2, 1 / 2, -1]),  # the mean of 1 and 0 each
        ([8, 3, 3], [9] * 3, "win", [1, -1 / 2, -1 / 2]),  # a lone winner of three: (3 - 1) / 2
        ([8, 3, 3], [9] * 3, "rank", [1, -1 / 2, -1 / 2]),  # the mean of 0 and -1 each
        ([5, 5], [9] * 2, "win", [0, 0]),
        ([5, 5], [9] * 2, "rank", [0, 0]),
        # Two of four win together: (4 / 2 - 1) / 3 each; by rank the means of 1 and 1/3, and of -1/3 and -1.
        ([5, 2, 5, 2], [9] * 4, "win", [1 / 3, -1 / 3, 1 / 3, -1 / 3]),
        ([5, 2, 5, 2], [9] * 4, "rank", [2 / 3, -2 / 3, 2 / 3, -2 / 3]),
        # Three of four win together: (4 / 3 - 1) / 3 each; by rank the mean of 1, 1/3 and -1/3.
        ([5, 5, 2, 5], [9] * 4, "win", [1 / 9, 1 / 9, -1 / 3, 1 / 9]),
        ([5, 5, 2, 5], [9] * 4, "rank", [1 / 3, 1 / 3, -1, 1 / 3]),
        ([4] * 4, [9] * 4, "rank", [0] * 4),
        ([4] * 4, [9] * 4, "win", [0] * 4),
        ([5, 5, 2], [9, 10, 9], "win", [-1 / 2, 1, -1 / 2]),  # fewer empty cells break a tie
        ([5, 3, 1], [9] * 3, "margin", [3, 0, -3]),  # points above the mean of the others
    ],
)
def test_tied_players_receive_equal_rewards(
    points: list[int], filled: list[int], reward: str, expected: list[float]
) -> None:
    assert finished(points, filled, reward) == pytest.approx(expected)


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
