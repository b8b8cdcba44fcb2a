"""The scripts of docs/training-elsewhere.md run, nightly each in its own environment."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from helsinki_env import HelsinkiSeatVectorEnv, helsinki_v0
from helsinki_env.engine.kernel import JIT
from helsinki_env.envs.flat import scale_observation
from helsinki_env.evaluation.match_stats import PlayerResult
from tests.support.blocks import ROOT, Block, blocks, clone, run_shell, shortened

PAGE = (ROOT / "docs" / "training-elsewhere.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
#: What makes the scripts short. Whether they learn is not asked here.
SHORTER = (
    ("150_000", "2000"),
    ("50_000", "2000"),
    ("make_sb3_env(128", "make_sb3_env(16"),
    ("in range(8)", "in range(1)"),
    ("train_batch_size_per_learner=4000, minibatch_size=500", "train_batch_size_per_learner=400, minibatch_size=100"),
    ("total_frames=20 * 128 * 32", "total_frames=128 * 32"),
    ("in range(26)", "in range(1)"),
    ("games=1000", "games=20"),
)


def script(library: str) -> str:
    (found,) = [code for code in SCRIPTS if library in code]
    return str(found)


def sections() -> dict[str, list[Block]]:
    """Return the Python and shell blocks of each section. Blocks marked as text are not tested."""
    found: dict[str, list[Block]] = {}
    for block in (one for one in blocks(ROOT / "docs" / "training-elsewhere.md") if one.language != "text"):
        headings = [line[3:] for line in PAGE.splitlines()[: block.line] if line.startswith("## ")]
        found.setdefault(headings[-1], []).append(block)
    return found


def brief(code: str) -> str:
    for long, short in SHORTER:
        code = code.replace(long, short)
    return code


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("library", sections())
def test_each_library_runs_in_an_environment_of_its_own(library: str, tmp_path: Path) -> None:
    """With what the page installs and no more: other libraries need other versions."""
    with clone(tmp_path / "clone") as folder:
        for block in sections()[library]:
            if block.language == "bash":
                run_shell(shortened(block.text), folder)
            else:
                (folder / "script.py").write_text(brief(block.text), encoding="utf-8")
                assert " games won (" in run_shell("python script.py", folder)[0]


def test_what_makes_the_scripts_short_is_there() -> None:
    assert all(long in PAGE for long, _ in SHORTER)


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="too slow")
def test_the_example_for_stable_baselines3_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    short = brief(script("sb3_contrib"))
    names: dict[str, Any] = {"__name__": "example", "print": lambda shown: names.update(shown=shown)}
    exec(compile(short, "Stable-Baselines3", "exec"), names)
    assert isinstance(names["shown"], PlayerResult)
    assert names["model"].num_timesteps >= 4000
    assert (tmp_path / "first.zip").is_file()


@pytest.mark.parametrize("library", ["sb3_contrib", "ray.rllib", "torchrl", "open_spiel"])
def test_what_the_examples_import_from_here_exists(library: str) -> None:
    imported = [node for node in ast.walk(ast.parse(script(library))) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imported if node.module and node.module.split(".")[0] == "helsinki_env"]
    assert ours
    for node in ours:
        module = import_module(str(node.module))
        assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


def test_the_examples_of_other_libraries_are_short() -> None:
    for library in ("ray.rllib", "torchrl", "open_spiel"):
        assert len([line for line in script(library).splitlines() if line.strip()]) <= 60


def test_what_rllib_needs_of_an_environment() -> None:
    """Only the agent whose decision is due is asked; at the end all are told, each its own reward."""
    names: dict[str, Any] = {"np": np, "scale_observation": scale_observation}
    (function,) = [node for node in ast.parse(script("ray.rllib")).body if isinstance(node, ast.FunctionDef)]
    exec(ast.unparse(function), names)
    convert = names["convert"]
    env = helsinki_v0.env(reward="margin")
    env.reset(seed=1)
    space, first = env.observation_space("player_0"), env.agent_selection
    found = convert(**env.observe(first))
    assert found["observations"].shape == space["observation"].shape
    assert found["action_mask"].shape == space["action_mask"].shape
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    told: dict[str, float] = {}
    while env.agents:
        obs, reward, terminated, truncated, _ = env.last()
        agent = env.agent_selection
        if terminated or truncated:
            told[agent] = reward
            env.step(None)
        else:
            assert reward == 0
            env.step(int(obs["action_mask"].argmax()))
    assert set(told) == {"player_0", "player_1"}
    assert sum(told.values()) == pytest.approx(0)


def test_what_torchrl_needs_of_a_vector() -> None:
    """It asks for the mode by attribute, deals finished games anew by mask, and seeds by a reset."""
    env = HelsinkiSeatVectorEnv(4, autoreset_mode="Disabled")
    assert env.autoreset_mode is AutoresetMode.DISABLED
    assert env.unwrapped is env
    obs, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    np.testing.assert_array_equal(obs["observation"], again["observation"])
    for _ in range(2000):
        obs, _, ended, _, _ = env.step(obs["action_mask"].argmax(axis=1))
        if ended.any():
            fresh, _ = env.reset(options={"reset_mask": ended})
            np.testing.assert_array_equal(fresh["observation"][~ended], obs["observation"][~ended])
            assert not (fresh["observation"][ended] == obs["observation"][ended]).all()
            return
    pytest.fail("no game has ended")
