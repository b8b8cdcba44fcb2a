"""The kernels for graphics cards: simulated or compiled without a card, and run where there is one."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import torch

from helsinki_env import CopenhagenConfig, HelsinkiConfig, RandomEpisodes
from helsinki_env.engine import vectors
from helsinki_env.engine.kernel import JIT, kernel
from helsinki_env.engine.loops import observe_part
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.copenhagen.episodes import RandomEpisodes as CopenhagenEpisodes
from helsinki_env.games.helsinki import shapes
from tests.simulated import near_an_end, three_games
from tests.support.tictactoe import TicTacToeConfig
from tests.test_layers import ROOT

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="the extra cuda is not installed"
)
needs_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card")
DRAWN: dict[str, tuple[Any, Any]] = {
    "helsinki": (HelsinkiConfig(), RandomEpisodes((2, 3, 4), covered=(0, 9), denied=(0, 4), dry_roads=(False, True))),
    "wide": (HelsinkiConfig(components="alternative"), RandomEpisodes((2, 3, 4))),
    "copenhagen": (CopenhagenConfig(), CopenhagenEpisodes((2, 3, 4), denied=(0, 4))),
    "a stranger": (TicTacToeConfig(), None),
}
_PLAYERS = [f"{game} {players}" for game in ("helsinki", "copenhagen") for players in (2, 3, 4)]


@kernel
def _observe_in_parts(tables, states, out, lanes):
    for b in range(len(states)):
        g = states[b]
        for lane in range(lanes):
            observe_part(tables[0], g, g.seat, out[b], lane, lanes)


@pytest.mark.thorough
@pytest.mark.parametrize("name", DRAWN)
def test_lanes_write_an_observation_together(name: str) -> None:
    config, episodes = DRAWN[name]
    games, steps = (60, 300) if JIT else (3, 40)
    env = GameVectorEnv(games, config, episodes=episodes)
    obs, _ = env.reset(seed=1)
    words, out = random_keys(games, 1), np.empty_like(obs["observation"])
    for _ in range(steps):
        for lanes in (1, 7, 32):
            out[:] = 99
            _observe_in_parts(config.tables, env.states, out, lanes)
            assert np.array_equal(out, obs["observation"])
        obs, *_ = env.step(sample_actions(obs["action_mask"], words))


def _loop_of(word: Any) -> Any:
    return numba.njit(vectors.FALLBACK_LOOPS[word])


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="without the compiler there are no loops")
def test_a_loop_says_what_its_word_says() -> None:
    rng = np.random.default_rng(1)
    for width, planes in ((16, 1), (64, 1), (64, 3), (64, 5)):
        word = vectors.spreader(width, planes)
        loop = _loop_of(word)
        for _ in range(30):
            sets = tuple(rng.integers(-(2**63), 2**63 - 1, planes))
            found, expected = rng.integers(-9, 9, (1, 90), dtype=np.int8).repeat(2, 0)
            loop(found, 5, sets)
            word.plain(expected, 5, sets)
            assert np.array_equal(found, expected)
    mark = vectors.marker(32)
    loop = _loop_of(mark)
    for _ in range(30):
        found, expected = np.zeros((2, 50), np.int8)
        members = (rng.integers(0, 2**32),)
        loop(found, 7, members)
        mark.plain(expected, 7, members)
        assert np.array_equal(found, expected)
    source = rng.integers(0, 3, 90).astype(np.int8)
    for word in (vectors.gatherer(32), vectors.gatherer(64), vectors.byte_summer(10, 16), vectors.byte_summer(51, 64)):
        loop = _loop_of(word)
        for begin in range(20):
            assert loop(source, begin) == word.plain(source, begin)
    for word, more in (
        (vectors.copier(16), (source, 3)),
        (vectors.copier(8, plus=1), (source, 9)),
        (vectors.clearer(33), ()),
        (vectors.storer(8), (np.int64(-(2**60) + 12345),)),
        (vectors.storer(4), (np.int64(2**40 + 77),)),
    ):
        found, expected = np.full((2, 50), 55, np.int8)
        _loop_of(word)(found, 4, *more)
        word.plain(expected, 4, *more)
        assert np.array_equal(found, expected)
    numbers = [*rng.integers(-(2**63), 2**63 - 1, 30), *(np.int64(1) << np.arange(63))]
    for word in (vectors.reverse_bytes, vectors.leading_zeros):
        loop = _loop_of(word)
        for number in map(np.int64, numbers):
            assert loop(number) == word.plain(number), word.plain.__name__


@pytest.mark.skipif(not JIT, reason="without the compiler there are no loops")
def test_a_slide_by_a_loop_is_a_slide() -> None:
    t, rng = HelsinkiConfig().tables[0], np.random.default_rng(2)
    loop = _loop_of(shapes.slides_of)
    for _ in range(200):
        built, row = rng.integers(0, 2**49), int(rng.integers(0, 80))
        packed = shapes.profile(built & rng.integers(0, 2**49), row % 4)
        arguments = t.low_of_kind, t.high_of_kind, t.lanes_of_kind, row, packed
        assert loop(*arguments) == shapes.slides_of.plain(*arguments)


@needs_extra
@pytest.mark.skipif(not JIT, reason="nothing is compiled without the compiler")
@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [*(pytest.param(game, marks=pytest.mark.nightly) for game in ("helsinki", "copenhagen")), "a stranger"]
)
def test_kernels_of_a_card_need_no_stack_and_round_as_a_processor(name: str) -> None:
    from tests.support.gpus import Asked, compiled_for_hopper

    kernels = Asked(GameTorchEnv(2, DRAWN[name][0], "cpu")).kernels
    assert sorted(kernels) == ["find_illegal", "mark_all", "observe_all", "reset_kernel", "sample_all", "step_kernel"]
    for kernel_name, (function, types) in kernels.items():
        found = compiled_for_hopper(function, types)
        print(f"{name} {kernel_name}: {found.registers} registers")
        assert (found.stack, found.spilled) == (0, 0), kernel_name
        assert found.fused == 0, f"{kernel_name}: rewards would differ in the last bit"
        assert found.registers <= 96, kernel_name  # five blocks of 128 threads on a multiprocessor


@needs_extra
@pytest.mark.thorough
@pytest.mark.parametrize("game", ["helsinki", pytest.param("copenhagen", marks=pytest.mark.nightly)])
def test_a_simulated_card_plays_the_same_games(game: str, tmp_path: Path) -> None:
    torch.save(near_an_end(three_games(game)), tmp_path / "near.pt")
    settings = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "tests.simulated", game, str(tmp_path / "near.pt")]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("the same games")


@needs_card
@needs_extra
@pytest.mark.parametrize("name", [*_PLAYERS, *DRAWN])
def test_a_card_plays_the_same_games(name: str) -> None:
    """100,000 games of each number of players, dealt anew at least once: all memory is that of the processor."""
    if name in DRAWN:
        config, episodes, games = *DRAWN[name], 20_000
    else:
        game, players = name.split()
        config, episodes, games = spec_by_name(game).config(num_players=int(players)), None, 100_000
    here, there = (GameTorchEnv(games, config, device, episodes) for device in ("cpu", "cuda"))
    here.reset(seed=1), there.reset(seed=1)
    again = 0
    for step in range(400):
        for env in (here, there):
            env.step(env.sample())
        again += int(here.memory.ended.sum())
        if step % 10 == 0:
            for part in vars(here.memory):
                assert torch.equal(getattr(there.memory, part).cpu(), getattr(here.memory, part)), f"{part}, {step}"
    assert again > games
    here.play_random(7), there.play_random(7)
    for part in vars(here.memory):
        assert torch.equal(getattr(there.memory, part).cpu(), getattr(here.memory, part)), part
    assert int(there.illegal_actions) == 0


@needs_card
@needs_extra
def test_a_card_refuses_or_counts_illegal_decisions() -> None:
    env = GameTorchEnv(1000, HelsinkiConfig(), "cuda", check=True)
    env.reset(seed=1)
    actions = env.sample().clone()
    actions[700], actions[300] = -1, 10**6
    before = env.memory.states.clone()
    with pytest.raises(ValueError, match="game 300: "):
        env.step(actions)
    assert torch.equal(env.memory.states, before)
    env.check = False
    env.step(actions)
    assert int(env.illegal_actions) == 2
    assert (env.memory.states != before).any(1).sum() == 998
    assert env.game(300).round == 1


@needs_extra
@pytest.mark.nightly
def test_the_script_for_a_card_runs_on_a_processor(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHON": sys.executable, "DEVICE": "cpu", "PYTHONPATH": str(ROOT)}
    command = ["bash", "benchmarks/gpu_session.sh", str(tmp_path), "machine", "speed", "training"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + (tmp_path / "training.log").read_text()
    assert "steps per second" in (tmp_path / "training.log").read_text()
    wrong = subprocess.run(
        [*command[:3], "speeds"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("There is no part 'speeds'. Parts: machine")
    del environment["PYTHON"]
    command = ["bash", "benchmarks/gpu_session.sh", str(tmp_path), "install", "machine"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    assert "numba-cuda" in (tmp_path / "machine.log").read_text()
    for game in ("helsinki", "copenhagen"):
        assert [row["batch"] for row in json.loads((tmp_path / f"speed-{game}.json").read_text())["rows"]] == [64, 256]
