"""Games in tensors equal the games of the other batches, number for number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import helsinki_env
from helsinki_env import (
    CopenhagenConfig,
    HelsinkiConfig,
    HelsinkiGame,
    HelsinkiTorchEnv,
    IllegalActionError,
    RandomEpisodes,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.tensors import GameTorchEnv, masked_sample
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.copenhagen.episodes import RandomEpisodes as CopenhagenEpisodes

GAMES, STEPS = (24, 700) if JIT else (2, 150)
#: Configuration, what is drawn for each episode.
PLAYED: dict[str, tuple[Any, Any]] = {
    **{f"helsinki {n}": (HelsinkiConfig(num_players=n), None) for n in (2, 3, 4)},
    **{f"copenhagen {n}": (CopenhagenConfig(num_players=n), None) for n in (2, 3, 4)},
    "dry roads": (HelsinkiConfig(num_players=3, dry_roads=True, covered="first_game", reward="rank"), None),
    "wide": (HelsinkiConfig(num_players=4, components="alternative", denied=[["two_points"], [], [10], []]), None),
    "margin": (CopenhagenConfig(num_players=3, reward="margin"), None),
    "episodes": (
        HelsinkiConfig(),
        RandomEpisodes((2, 3, 4), covered=(0, 7), denied=2, dry_roads=(False, True)),
    ),
    "copenhagen episodes": (CopenhagenConfig(), CopenhagenEpisodes(num_players=(2, 4), denied=(0, 4))),
}


def same(found: torch.Tensor, expected: Any) -> bool:
    return found.numpy().dtype == expected.dtype and np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize(
    "name", [pytest.param("wide", marks=pytest.mark.thorough), *(name for name in PLAYED if name != "wide")]
)
def test_the_same_games_as_the_other_batches(name: str) -> None:
    config, episodes = PLAYED[name]
    env = GameTorchEnv(GAMES, config, "cpu", episodes, check=True)
    other = GameVectorEnv(GAMES, config, episodes=episodes)
    (obs, info), (expected, said) = env.reset(seed=7), other.reset(seed=7)
    words, endings = random_keys(GAMES, 7), 0
    for _ in range(STEPS):
        assert same(obs["observation"], expected["observation"])
        assert same(obs["action_mask"], expected["action_mask"])
        assert same(info["seat"], said["seat"])
        actions = sample_actions(expected["action_mask"], words)
        assert same(env.sample(), actions)
        obs, reward, terminated, truncated, info = env.step(env.memory.chosen)
        expected, expected_reward, ended, _, said = other.step(actions)
        assert same(reward, expected_reward)
        assert same(terminated, ended)
        assert not truncated.any()
        for key in ("rewards", "scores", "places", "rounds"):
            assert same(info[key], said.get(key, np.zeros_like(info[key])))
        endings += int(ended.sum())
    assert endings > GAMES or not JIT
    assert env.memory.states.numpy().tobytes() == other.states.tobytes()
    assert int(env.illegal_actions) == 0


@pytest.mark.parametrize("name", [name for name in PLAYED if name != "wide"])
def test_random_play_in_one_call_is_that_of_single_steps(name: str) -> None:
    config, episodes = PLAYED[name]
    many, single = (GameTorchEnv(GAMES, config, "cpu", episodes) for _ in range(2))
    with pytest.raises(ValueError, match="no game is dealt yet"):
        many.play_random(1)
    for env in (many, single):
        env.reset(seed=9)
    for steps in (1, 7, STEPS):
        result = many.play_random(steps)
        for _ in range(steps):
            expected = single.step(single.sample())
        assert torch.equal(result[0]["observation"], expected[0]["observation"])
        for part in vars(many.memory):
            assert torch.equal(getattr(many.memory, part), getattr(single.memory, part)), part
    for wrong in (0, -1, 2.5, True, "3"):
        with pytest.raises(ValueError, match=r"steps: found .*, expected a positive integer"):
            many.play_random(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("config", [HelsinkiConfig(num_players=3), CopenhagenConfig()], ids=["helsinki", "copenhagen"])
def test_an_illegal_decision_is_refused_or_counted(config: Any) -> None:
    checking, counting = (GameTorchEnv(3, config, "cpu", check=check) for check in (True, False))
    for env in (checking, counting):
        env.reset(seed=1)
        actions = env.sample().clone()
        actions[1] = int((env.memory.masks[1] == 0).nonzero()[0, 0])
        before, expected = env.memory.states.clone(), spec_of(config).why_illegal(env.game(1), int(actions[1]))
        if env.check:
            with pytest.raises(IllegalActionError) as problem:
                env.step(actions)
            assert str(problem.value) == f"game 1: {expected}"
            assert torch.equal(env.memory.states, before)
        else:
            env.step(actions)
            changed = (env.memory.states != before).any(1)
            assert changed.tolist() == [True, False, True]
            assert int(env.illegal_actions) == 1
            for wild in (-1, 10**6):
                actions[1] = wild
                env.step(env.sample().where(actions != wild, actions))
            assert int(env.illegal_actions) == 3


def test_the_second_reset_deals_the_next_games() -> None:
    env, other = HelsinkiTorchEnv(4, device="cpu"), helsinki_env.HelsinkiVectorEnv(4)
    env.reset(seed=3), other.reset(seed=3)
    (obs, _), (expected, _) = env.reset(), other.reset()
    assert same(obs["observation"], expected["observation"])
    assert env.memory.states.numpy().tobytes() == other.states.tobytes()


def test_a_state_brings_the_games_back() -> None:
    env = HelsinkiTorchEnv(8, 4, device="cpu")
    env.reset(seed=3)

    def play() -> list[torch.Tensor]:
        return [env.step(env.sample())[0]["observation"].clone() for _ in range(STEPS)]

    play()
    state = env.get_state()
    one = play()
    obs, _ = env.set_state(state)
    assert torch.equal(obs["observation"], env.memory.observations)
    assert all(map(torch.equal, one, play()))
    with pytest.raises(ValueError, match="runs: found"):
        env.set_state(state | {"runs": state["runs"][:3]})


def test_a_game_comes_out_as_an_object() -> None:
    env = HelsinkiTorchEnv(3, 3, device="cpu")
    with pytest.raises(ValueError, match="call reset"):
        env.game(0)
    env.reset(seed=9)
    assert env.game(2) == HelsinkiGame(HelsinkiConfig(num_players=3), seed=9, stream=2)
    for wrong in (3, -4, "1", True):
        with pytest.raises(ValueError, match="game: found"):
            env.game(wrong)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    ("actions", "found"),
    [
        ([0, 0], "found list"),
        (torch.zeros(3, dtype=torch.int64), r"found torch.int64 of shape \(3,\)"),
        (torch.zeros(2), "found torch.float32"),
        (torch.zeros(2, dtype=torch.bool), "found torch.bool"),
    ],
)
def test_what_is_no_decisions_is_refused(actions: Any, found: str) -> None:
    env = HelsinkiTorchEnv(2, device="cpu")
    with pytest.raises(ValueError, match="call reset"):
        env.step(actions)
    env.reset(seed=0)
    before = env.memory.states.clone()
    with pytest.raises(ValueError, match=found):
        env.step(actions)
    assert torch.equal(env.memory.states, before)


def test_arguments_that_are_none_are_refused() -> None:
    for arguments, message in (
        ({"num_envs": 0}, "num_envs: found 0"),
        ({"device": "tpu"}, "device: found 'tpu'"),
        ({"device": None}, "device: found None"),
        ({"episodes": CopenhagenEpisodes()}, "expected RandomEpisodes"),
        ({"config": CopenhagenConfig()}, "expected a HelsinkiConfig"),
    ):
        with pytest.raises(ValueError, match=message):
            HelsinkiTorchEnv(**{"device": "cpu"} | arguments)
    with pytest.raises(ValueError, match="seed: found -1"):
        HelsinkiTorchEnv(device="cpu").reset(seed=-1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics card")
def test_a_card_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="PyTorch finds no GPU"):
        HelsinkiTorchEnv(2)


def test_decisions_follow_the_softmax_of_what_is_legal() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.tensor([0.0, 1.0, 50.0, -1.0]).log_softmax(0).repeat(40_000, 1)
    masks = torch.tensor([1, 1, 0, 1], dtype=torch.int8).repeat(40_000, 1)
    masks[-1] = 0
    chosen = masked_sample(logits, masks, generator)
    assert chosen[-1] == 0
    found = chosen[:-1].bincount(minlength=4) / (len(chosen) - 1)
    expected = torch.tensor([0.0, 1.0, -torch.inf, -1.0]).softmax(0)
    assert torch.allclose(found, expected, atol=0.01)


def test_the_classes_come_when_they_are_asked_for() -> None:
    assert helsinki_env.CopenhagenTorchEnv(1, 4, device="cpu").config == CopenhagenConfig(num_players=4)
    with pytest.raises(AttributeError, match="no attribute 'TorchEnv'"):
        helsinki_env.TorchEnv  # noqa: B018  # that is the point
