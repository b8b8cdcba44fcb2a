"""A copy of an environment continues as the environment does, however it is copied, in every mode.

Each copy takes the same actions as a twin that was never copied, and returns the same: whatever the next step relies on
has come along.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from helsinki_env import CopenhagenConfig, HelsinkiConfig, copenhagen_v0, helsinki_v0
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.seat import GameSeatEnv, GameSeatVectorEnv
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.envs.vector import GameVectorEnv

WAYS: dict[str, Callable[[Any], Any]] = {
    "clone": lambda env: env.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "copy of a copy": lambda env: copy.copy(copy.deepcopy(env)),
    "in a container": lambda env: copy.deepcopy({"env": [env]})["env"][0],
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "old pickle": lambda env: pickle.loads(pickle.dumps(env, protocol=2)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}
#: The last one's records are of a further layout, for which everything is compiled.
CONFIGS = [
    pytest.param(HelsinkiConfig(2), id="helsinki"),
    pytest.param(CopenhagenConfig(3), id="copenhagen"),
    pytest.param(HelsinkiConfig(4, components="alternative"), marks=pytest.mark.nightly, id="further layout"),
]
MODES = tuple(AutoresetMode)
SIZE, BEFORE, AFTER = 3, 40, 130


def lowest(observation: Any, mask: Any, words: Any) -> Any:
    """An opponent that is no name: its decisions come through Python."""
    return mask.argmax(axis=1)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return same(one.tolist(), other.tolist())
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)


def continued(env: Any, actions: list[Any]) -> list[Any]:
    """Take actions; return copies of all that comes back."""
    return [copy.deepcopy(env.step(action)) for action in actions]


def planned(env: Any, steps: int) -> list[Any]:
    """Play at random; return the actions. Stop where games that are over would have to be reset."""
    obs, _ = env.reset(seed=7)
    batch = obs["action_mask"].ndim == 2
    words = random_keys(len(obs["action_mask"]) if batch else 1, 1)
    actions: list[Any] = []
    while len(actions) < steps:
        masks = np.asarray(obs["action_mask"] if batch else obs["action_mask"][None])
        action = sample_actions(masks, words)
        actions.append(action if batch else int(action[0]))
        obs, _, ended, *_ = env.step(actions[-1] if not isinstance(env, GameTorchEnv) else torch.from_numpy(action))
        if np.any(np.asarray(ended)) and getattr(env, "autoreset_mode", None) in (None, AutoresetMode.DISABLED):
            break
    return actions


def check_copies(make: Callable[[], Any], steps: int = BEFORE + AFTER) -> None:
    """Copy an environment at several moments; each copy, and the environment itself, continue as a twin does."""
    actions = planned(make(), steps)
    if isinstance(make(), GameTorchEnv):
        actions = [torch.from_numpy(action) for action in actions]
    for moment in (0, min(BEFORE, len(actions) // 2)):
        env, twin = make(), make()
        env.reset(seed=7), twin.reset(seed=7)
        assert same(continued(env, actions[:moment]), continued(twin, actions[:moment]))
        copies = {name: way(env) for name, way in WAYS.items()}
        expected = continued(twin, actions[moment:])
        for name, other in copies.items():
            assert same(continued(other, actions[moment:]), expected), (name, moment)
        assert same(continued(env, actions[moment:]), expected), moment
    unborn = {name: way(make()) for name, way in WAYS.items()}
    first = make().reset(seed=7)
    for name, other in unborn.items():
        assert same(other.reset(seed=7), first), name


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("copies", [True, False])
@pytest.mark.parametrize("config", CONFIGS)
def test_copies_of_a_batch(config: Any, copies: bool, mode: AutoresetMode) -> None:
    check_copies(lambda: GameVectorEnv(SIZE, config, mode, copy=copies))


@pytest.mark.thorough
@pytest.mark.parametrize("config", CONFIGS[:2])
def test_copies_of_a_batch_with_threads_and_random_episodes(config: Any) -> None:
    episodes = spec_of(config).episodes(num_players=(2, 3, 4))
    check_copies(lambda: GameVectorEnv(130, config, num_threads=2, copy=False, episodes=episodes), BEFORE + 20)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("copies", [pytest.param(True, marks=pytest.mark.thorough), False])
@pytest.mark.parametrize("opponent", ["random", lowest], ids=["random", "function"])
@pytest.mark.parametrize("config", CONFIGS)
def test_copies_of_a_batch_with_one_learning_seat(
    config: Any, opponent: Any, copies: bool, mode: AutoresetMode
) -> None:
    check_copies(
        lambda: GameSeatVectorEnv(SIZE, config, opponent, "rotate", autoreset_mode=mode, copy=copies), BEFORE + 20
    )


@pytest.mark.parametrize("config", CONFIGS)
def test_copies_of_one_learning_seat(config: Any) -> None:
    check_copies(lambda: GameSeatEnv(config, lowest))


@pytest.mark.parametrize("config", CONFIGS)
def test_copies_of_a_batch_of_tensors(config: Any) -> None:
    check_copies(lambda: GameTorchEnv(SIZE, config, "cpu"))


def test_a_copy_of_a_batch_of_tensors_shares_no_memory() -> None:
    env = GameTorchEnv(2, HelsinkiConfig(), "cpu")
    obs, info = env.reset(seed=1)
    before = copy.deepcopy((obs, info))
    other = copy.copy(env)
    other.step(other.sample())
    assert same((obs, info), before)
    assert other.memory.states.data_ptr() != env.memory.states.data_ptr()


def test_arrays_that_were_handed_out_before_a_copy_are_not_written_by_it() -> None:
    env = GameVectorEnv(SIZE, HelsinkiConfig(), copy=False)
    obs, info = env.reset(seed=1)
    before = copy.deepcopy((obs, info))
    for way in WAYS.values():
        other = way(env)
        again, *_ = other.step(obs["action_mask"].argmax(axis=1))
        assert same((obs, info), before)
        assert again["observation"] is not obs["observation"]


class Moves:
    """A PettingZoo environment, stepped as the others are."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def reset(self, seed: int) -> Any:
        self.env.reset(seed=seed)
        return self.env.last()[0], self._told()

    def step(self, action: int) -> Any:
        self.env.step(action)
        over = all(self.env.terminations.values())
        return self.env.last()[0], self.env.rewards, over, False, self._told()

    def _told(self) -> Any:
        return self.env.agent_selection, self.env.infos, self.env.terminations

    def clone(self) -> Moves:
        return Moves(self.env.clone())

    def __copy__(self) -> Moves:
        return Moves(copy.copy(self.env))


@pytest.mark.parametrize("name", ["env", "raw_env"])
@pytest.mark.parametrize("module", [helsinki_v0, copenhagen_v0], ids=["helsinki", "copenhagen"])
def test_copies_of_one_game_for_every_agent(module: Any, name: str) -> None:
    check_copies(lambda: Moves(getattr(module, name)(num_players=3)), 1000)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("copies", [True, False])
@pytest.mark.parametrize("config", CONFIGS)
def test_a_state_continues_in_its_own_and_in_a_new_environment(config: Any, copies: bool, mode: AutoresetMode) -> None:
    def make() -> GameVectorEnv:
        return GameVectorEnv(SIZE, config, mode, copy=copies)

    actions = planned(make(), BEFORE + AFTER)
    moment = min(BEFORE, len(actions) // 2)
    env, twin = make(), make()
    env.reset(seed=7), twin.reset(seed=7)
    last = continued(env, actions[:moment])[-1]
    assert same(continued(twin, actions[:moment])[-1], last)
    state = pickle.loads(pickle.dumps(env.get_state()))
    expected = continued(twin, actions[moment:])
    for other in (env, make()):
        obs, info = other.set_state(state)
        assert same(obs, last[0])
        assert same(info["seat"], last[4]["seat"])
        assert same(continued(other, actions[moment:]), expected)
