"""With `copy=False`, environments rewrite only changed entries, and the result equals new arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from helsinki_env import CopenhagenConfig, HelsinkiConfig, RandomEpisodes
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.envs.vector import GameVectorEnv

GAMES, STEPS = (16, 300) if JIT else (2, 60)
CONFIGS = [config(num_players=players) for config in (HelsinkiConfig, CopenhagenConfig) for players in (2, 3, 4)]
MODES = list(AutoresetMode)


def pair(config: Any, mode: AutoresetMode, episodes: Any = None, games: int = GAMES) -> list[GameVectorEnv]:
    return [GameVectorEnv(games, config, mode, episodes, copy=copy) for copy in (False, True)]


def check_alike(kept: dict[str, Any], fresh: dict[str, Any]) -> None:
    np.testing.assert_array_equal(kept["observation"], fresh["observation"])
    np.testing.assert_array_equal(kept["action_mask"], fresh["action_mask"])


def play(envs: list[GameVectorEnv], steps: int, seed: int) -> int:
    """Play both at random side by side; return how many games ended."""
    words, ended = random_keys(envs[0].num_envs, seed), 0
    results: Any = [env.reset(seed=seed) for env in envs]
    for _ in range(steps):
        check_alike(results[0][0], results[1][0])
        actions = sample_actions(results[1][0]["action_mask"], words)
        results = [env.step(actions) for env in envs]
        over = results[1][2]
        ended += int(over.sum())
        if envs[0].autoreset_mode == AutoresetMode.DISABLED and over.any():
            check_alike(results[0][0], results[1][0])
            results = [env.reset(options={"reset_mask": over}) for env in envs]
    check_alike(results[0][0], results[1][0])
    return ended


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_rows_are_as_new(config: Any, mode: AutoresetMode) -> None:
    ended = play(pair(config, mode), STEPS, seed=1)
    assert ended > GAMES // 2 or not JIT


@pytest.mark.skipif(not JIT, reason="too slow")
@pytest.mark.thorough
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_a_million_rows_are_as_new(config: Any, mode: AutoresetMode) -> None:
    """128 games, 18 ways to play them, 440 decisions each."""
    assert play(pair(config, mode, games=128), 440, seed=8) > 128


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_rows_are_as_new_when_another_deal_has_other_players_and_options(mode: AutoresetMode) -> None:
    episodes = RandomEpisodes(num_players=(2, 3, 4), covered=(0, 5), denied=(0, 3), dry_roads=(False, True))
    ended = play(pair(HelsinkiConfig(), mode, episodes), STEPS, seed=2)
    assert ended > GAMES // 2 or not JIT


@pytest.mark.thorough
def test_rows_are_as_new_for_other_components() -> None:
    ended = play(pair(HelsinkiConfig(components="alternative"), AutoresetMode.NEXT_STEP), STEPS, seed=3)
    assert ended > GAMES // 2 or not JIT


def test_rows_are_as_new_after_another_state_is_brought_in() -> None:
    envs = pair(HelsinkiConfig(num_players=3), AutoresetMode.NEXT_STEP)
    play(envs, 40, seed=4)
    states = [env.get_state() for env in envs]
    play(envs, 90, seed=5)
    results: Any = [env.set_state(state) for env, state in zip(envs, states, strict=True)]
    check_alike(results[0][0], results[1][0])
    words = random_keys(GAMES, 6)
    for _ in range(60):
        actions = sample_actions(results[1][0]["action_mask"], words)
        results = [env.step(actions) for env in envs]
        check_alike(results[0][0], results[1][0])


def test_rows_are_as_new_on_several_threads() -> None:
    alone = GameVectorEnv(GAMES, HelsinkiConfig(), copy=False)
    shared = GameVectorEnv(GAMES, HelsinkiConfig(), copy=False, num_threads=2)
    play([shared, alone], STEPS // 4, seed=7)
    shared.close()
