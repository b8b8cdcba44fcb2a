"""Every state from outside is checked before any field of it is used."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from helsinki_env import CopenhagenConfig, HelsinkiConfig, HelsinkiGame, HelsinkiVectorEnv, RandomEpisodes
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.kernels import REPORT
from helsinki_env.envs.seat import GameSeatVectorEnv
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.envs.vector import GameVectorEnv
from tests.support.blocks import ROOT

CONFIGS = [pytest.param(HelsinkiConfig(3), id="helsinki"), pytest.param(CopenhagenConfig(2), id="copenhagen")]


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="too slow")
def test_no_value_of_a_record_crashes_or_hangs_what_takes_it() -> None:
    """In a process of its own: what is not checked ends it, or never ends."""
    command = [sys.executable, "-m", "tests.support.hostile_states", "helsinki", "copenhagen"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    shown = "\n".join(done.stdout.splitlines()[-3:]) + done.stderr
    assert done.returncode == 0, shown
    counted = [line for line in done.stdout.splitlines() if line.endswith("neither")]
    assert len(counted) == 2, shown
    assert all(line.endswith("accepted, [] neither") for line in counted), counted
    assert all(int(line.split()[0]) > 1000 for line in counted), counted


@pytest.mark.parametrize("field", ["used", "owned", "filled", "white"])
def test_sets_that_are_negative_are_rejected_at_once(field: str) -> None:
    env = GameVectorEnv(1, CopenhagenConfig())
    env.reset(seed=1)
    state = env.get_state()
    state["states"][field][...] = -1
    with pytest.raises(ValueError, match=rf"states: game 0: {field}\[0\]: found -1, expected 0 to"):
        env.set_state(state)
    with pytest.raises(ValueError, match=rf"{field}\[0\]: found -1"):
        spec_of(env.config).game.from_state(env.config, state["states"][0])


def over(env: GameTorchEnv) -> dict[str, Any]:
    """Play until a game is over; return the state."""
    env.reset(seed=1)
    for _ in range(2000):
        if bool(env.step(env.sample())[2].any()):
            return env.get_state()
    raise AssertionError("no game ends")


def changed_reports(state: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    rows = state["reports"].numpy().copy()
    rows.view(REPORT)[field] = value
    return state | {"reports": torch.from_numpy(rows)}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_batch_of_tensors_checks_all_of_a_state(config: Any) -> None:
    env = GameTorchEnv(3, config, "cpu")
    state = over(env)
    kept = copy.deepcopy(state)
    wrong: list[tuple[Any, str]] = [
        (state | {"states": torch.full_like(state["states"], 255)}, r"states: game 0: \w+.*: found"),
        (state | {"states": torch.zeros_like(state["states"])}, "states: game 0: .*: found"),
        (state | {"states": state["states"].numpy()}, "states: found ndarray, expected a tensor"),
        (state | {"states": state["states"].to("meta")}, "states: found Tensor, expected a tensor with values"),
        (state | {"states": state["states"].to_sparse()}, "states: found Tensor, expected a tensor with values"),
        (state | {"states": state["states"].to(torch.int16)}, r"states: found .* of torch\.int16"),
        (state | {"keys": state["keys"][:2]}, r"keys: found \(2,\) of torch\.int64, expected \(3,\)"),
        (state | {"illegal": torch.tensor([-1])}, "illegal: found -1"),
        (changed_reports(state, "ended", 1 - state["reports"].numpy().view(REPORT)["ended"]), "ended: found"),
        (changed_reports(state, "rewards", math.nan), "reports: game 0: rewards: found"),
        (changed_reports(state, "scores", -9), "reports: game 0: scores: found"),
        (changed_reports(state, "places", 100), "reports: game 0: places: found"),
        ({}, "state: found , expected what get_state returns: states, runs"),
        (None, "state: found NoneType, expected what get_state returns"),
        ([1], "state: found list, expected what get_state returns"),
    ]
    for given, message in wrong:
        with pytest.raises(ValueError, match=message):
            env.set_state(given)
        assert all(torch.equal(value, kept[name]) for name, value in env.get_state().items())
    odd = state["reports"].numpy().copy()
    odd.view(REPORT).view(np.uint8).reshape(3, -1)[:, REPORT.fields["ended"][1]] = 2  # type: ignore[index]
    with pytest.raises(ValueError, match="reports: game 0: ended: found"):
        env.set_state(state | {"reports": torch.from_numpy(odd)})
    assert env.set_state(kept)[0]["observation"].shape[0] == 3


def test_a_batch_of_tensors_has_no_columns_for_more_players() -> None:
    four, two = (GameTorchEnv(2, HelsinkiConfig(players), "cpu") for players in (4, 2))
    four.reset(seed=1), two.reset(seed=1)
    with pytest.raises(ValueError, match="states: game 0: players: found 4, expected at most 2"):
        two.set_state(four.get_state())


@pytest.mark.parametrize("config", CONFIGS)
def test_a_seating_with_a_flag_that_is_none_is_rejected(config: Any) -> None:
    env = GameSeatVectorEnv(2, config)
    env.reset(seed=1)
    state = env.get_state()
    state["seatings"]["over"].view(np.uint8)[1] = 7
    with pytest.raises(ValueError, match=r"seatings: game 1: found .*, expected over to be True or False"):
        env.set_state(state)


@pytest.mark.parametrize(("field", "value"), [("players", -128), ("players", 100), ("denied", -1)])
@pytest.mark.parametrize("config", CONFIGS)
def test_a_setup_is_checked_before_it_is_read(config: Any, field: str, value: int) -> None:
    env = GameVectorEnv(2, config)
    spec = spec_of(config)
    setup = spec.new_states(config, 2)
    spec.apply_setup(setup, config)
    setup[field][1] = value
    with pytest.raises(ValueError, match=rf"options\['setup'\]: states: game 1: {field}.*: found {value}, expected"):
        env.reset(seed=1, options={"setup": setup})


def test_a_state_is_restored_whatever_default_device_a_program_has_chosen() -> None:
    env = GameTorchEnv(3, HelsinkiConfig(), "cpu")
    env.reset(seed=1)
    saved = env.get_state()
    torch.set_default_device("meta")
    try:
        env.reset(seed=2)
        env.set_state(saved)
    finally:
        torch.set_default_device(None)
    for name, value in env.get_state().items():
        np.testing.assert_array_equal(value, saved[name])


def test_a_game_made_of_a_record_has_its_disabled_actions() -> None:
    env = HelsinkiVectorEnv(1, episodes=RandomEpisodes(covered=5, denied=(2, 3)))
    env.reset(seed=1)
    game = HelsinkiGame.from_state(env.config, env.states[0])
    assert len(game.config.covered) == 5
    assert HelsinkiGame.from_dict(game.to_dict()) == game
    assert HelsinkiGame.from_state(game.config, env.states[0]).config == game.config


def test_a_game_is_made_of_no_record_that_cannot_be_played_on() -> None:
    game = HelsinkiGame(seed=1)
    for field, value, key in (
        ("seat", 3, "to_move: found 3"),
        ("pile_size", 0, "draw_pile, .* and pending.paid: found"),
        ("phase", 10, "phase: found 10"),
        ("round_number", 0, "round_number: found 0"),
    ):
        state = game.state.copy()
        state[field] = value
        with pytest.raises(ValueError, match=f"states: game 0: {key}"):
            HelsinkiGame.from_state(game.config, state)
    assert HelsinkiGame.from_state(game.config, game.state) == game
