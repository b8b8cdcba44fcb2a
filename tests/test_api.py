"""What the libraries themselves check of an environment, with every warning an error but those named here.

And what all public functions have in common: a value of the wrong kind is a ValueError that says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import gymnasium.utils.env_checker
import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from helsinki_env import Game
from helsinki_env.engine.hidden import deals, redeal, redeal_many
from helsinki_env.engine.playout import player_words
from helsinki_env.games.helsinki import notation, observation
from tests.games import EACH_GAME, TestedGame

# PettingZoo expects plain arrays and says so for dicts, although it recommends them for action masks.
DICT_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])


def only_dict_warnings(caught: list[warnings.WarningMessage]) -> None:
    assert {str(warning.message) for warning in caught} == DICT_WARNINGS


@EACH_GAME
@PLAYERS
@pytest.mark.parametrize("make", ["raw_env", "env"])
def test_pettingzoo_api(game: TestedGame, make: str, players: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(getattr(game.module, make)(num_players=players), num_cycles=1000)
    only_dict_warnings(caught)


@EACH_GAME
@PLAYERS
def test_pettingzoo_seed(game: TestedGame, players: int) -> None:
    seed_test(lambda: game.module.env(num_players=players), num_cycles=200)


@EACH_GAME
def test_pettingzoo_render(game: TestedGame) -> None:
    render_test(game.module.env, custom_tests={"svg": lambda drawn: drawn.startswith("<svg")})


@pytest.mark.skip(reason="max_cycles_test steps a parallel environment without masks; here one agent decides at a time")
def test_pettingzoo_max_cycles() -> None: ...


@pytest.mark.skip(reason="state_test needs state(); what all seats know together would show every hand")
def test_pettingzoo_state() -> None: ...


@EACH_GAME
@PLAYERS
def test_gymnasium_checks(game: TestedGame, players: int) -> None:
    made = gymnasium.make(game.seat_id, num_players=players)
    with pytest.warns(UserWarning, match="illegal action") as caught:
        gymnasium.utils.env_checker.check_env(made.unwrapped)  # it samples actions without the mask
    assert {str(warning.message).split(":")[0] for warning in caught} == {"illegal action"}
    made.reset(seed=1)
    made.step(made.get_wrapper_attr("action_masks")().argmax())  # within the passive checker


@EACH_GAME
def test_stable_baselines3_checks(game: TestedGame) -> None:
    env_checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with pytest.warns(UserWarning, match="illegal action"):  # it samples actions without the mask
        env_checker.check_env(game.seat_env())


@EACH_GAME
def test_maskable_ppo_runs_and_takes_legal_decisions_only(game: TestedGame) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env_util = pytest.importorskip("stable_baselines3.common.env_util")
    env = env_util.make_vec_env(game.seat_id, n_envs=2, seed=1, env_kwargs={"seat": "rotate", "illegal": "raise"})
    model = sb3_contrib.MaskablePPO(
        "MultiInputPolicy",
        env,
        n_steps=96,
        batch_size=64,
        n_epochs=1,
        policy_kwargs={"net_arch": [8]},
        device="cpu",
        seed=1,
    )
    model.learn(2 * 2 * 96)  # an illegal decision would raise an error
    assert model.num_timesteps == 2 * 2 * 96
    assert len(model.ep_info_buffer) > 0  # games have ended, and training went on after them
    masks = env.env_method("action_masks")
    assert all(mask.any() and mask.dtype == bool for mask in masks)
    env.close()


#: What somebody may pass where a number belongs.
NO_NUMBERS: tuple[Any, ...] = (None, True, "2", 1.5, float("nan"), [1], np.array([1, 2]), -1, 10**30)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_numbers_of_the_wrong_kind_are_value_errors(value: Any) -> None:
    game = Game(seed=1)
    game.step(0)
    seen = game.observation()
    calls: list[Callable[[], Any]] = [
        lambda: notation.card_name(value),
        lambda: player_words(value),
        lambda: player_words(2, value),
        lambda: redeal_many(game, value, 0, 1),
        lambda: deals(game.config, seen, value, 1),
    ]
    if value is not None:  # there it stands for something
        calls += [
            lambda: observation.split(seen, value),
            lambda: game.observation(value),
            lambda: redeal(game, value, 1),
        ]
    for call in calls:
        with pytest.raises(ValueError, match=r"found .*, expected "):
            call()


def test_what_is_no_observation_is_a_value_error() -> None:
    values: list[Any] = [None, 3, [], "abc", np.zeros((2, 0)), np.zeros(1384)]
    for value in values:
        with pytest.raises(ValueError, match="observation: found shape"):
            observation.split(value)
