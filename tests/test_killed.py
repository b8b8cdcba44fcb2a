"""Commands that are killed while they run, and then resumed, give the same files as uninterrupted ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

from tests.support.blocks import ROOT
from tests.support.killed import killed_once
from tests.test_objectives import FILE as OBJECTIVES
from tests.test_training import TINY

pytestmark = pytest.mark.nightly

SENSITIVITY = """
seed: 1
reference: default
alternatives: [coats_inside]
matchups:
  - {name: ladder, game: {game: helsinki, num_players: 2}, games: 60, players: [random, greedy]}
  - {name: all, game: {game: helsinki, num_players: 2}, games: 1200, players: [heuristic], boards: {denied: [0, 9]}}
"""
RESPONSES = """
seed: 3
games: 60
seeds: [0]
training: {ppo: {total_timesteps: 20000, num_envs: 32}, evaluation: {times: 1, games: 2, final_games: 2}}
responses:
  - {game: helsinki, to: net, by: train}
  - {game: helsinki, to: greedy, by: "mc:100"}
"""
TRIALS = """
seed: 4
preset: FOLDER/tiny.yaml
all: {ppo: {total_timesteps: 1024}}
variants:
  baseline: {}
  higher_rate: {ppo: {learning_rate: 0.0006}}
"""
SEARCH = """
objectives: FOLDER/objectives.yaml
changes: {actions.two_points.cost: [0, 2], actions.two_wild_tiles.cost: [0, 2], actions.move_back.cost: [0]}
most: 2
games: {search: 1, test: 4}
variants: {random: 6, rounds: 1, in_each_round: 2}
"""
FILES = {
    "objectives.yaml": OBJECTIVES,
    "sensitivity.yaml": SENSITIVITY,
    "responses.yaml": RESPONSES,
    "trials.yaml": TRIALS,
    "tiny.yaml": TINY,
    "search.yaml": SEARCH,
}


@pytest.mark.parametrize(
    ("command", "begun", "results"),
    [
        ("helsinki balance sensitivity sensitivity.yaml --processes 1", "**/*.games", ["report/**/*"]),
        ("helsinki balance score default --objectives objectives.yaml --processes 1", "**/*.games", ["score.json"]),
        ("helsinki mini --components small --num-players 2,3 --iterations 128", "units/*.json", ["mini.json"]),
        (
            "best_responses.py responses.yaml --only 0 --players 2",
            "*/state.safetensors",
            ["results/*.json", "*.jsonl", "*/best.safetensors"],
        ),
        ("best_responses.py responses.yaml --only 1 --players 3", "*.jsonl", ["results/*.json", "*.jsonl"]),
        (
            "training_trials.py train trials.yaml --seeds 1",
            "baseline-1/state.safetensors",
            ["higher_rate-1/latest.safetensors", "*/latest.safetensors"],
        ),
        (
            "training_trials.py train trials.yaml --seeds 1; training_trials.py test trials.yaml --seeds 1 --players 2",
            "games/**/*.games",
            ["tests.json"],
        ),
        *(
            (
                f"search_comparison.py --search search.yaml --objectives objectives.yaml --methods {methods} --seeds 0",
                "*-0/**/*.games",
                ["comparison.json"],
            )
            for methods in ("random,model", "ntbea", "tpe")
        ),
    ],
)
def test_a_killed_command_is_resumed_with_the_same_result(
    command: str, begun: str, results: list[str], tmp_path: Path
) -> None:
    """Compare the files that match the patterns; those of the first do not exist when the command is killed.

    Of several commands, only the last is killed.
    """
    if "tpe" in command:
        pytest.importorskip("optuna", reason="Optuna is not a development dependency")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace("FOLDER", str(tmp_path)))
    *before, words = [arguments(one) for one in command.split("; ")]
    settings: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
    out = tmp_path / "out"
    for one in (*before, words):
        subprocess.run(one, check=True, stdout=subprocess.DEVNULL, **settings)
    whole = contents(out, results)
    out.rename(tmp_path / "whole")
    for one in before:
        subprocess.run(one, check=True, stdout=subprocess.DEVNULL, **settings)
    killed_once(words, out, begun, **settings)
    assert not any(out.glob(results[0]))
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **settings)
    assert contents(out, results) == whole


def arguments(command: str) -> list[str]:
    """Return the arguments that start a command, which writes to the folder "out" because its files name the folder."""
    name, *rest = command.split()
    start = ["-m", "helsinki_env.cli.main"] if name == "helsinki" else [str(ROOT / "benchmarks" / name)]
    return [sys.executable, *start, *rest, "--out", "out"]


def contents(folder: Path, patterns: list[str]) -> dict[str, bytes]:
    """Return the content of the files that match; of networks only the weights, because their files state a time."""
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    assert paths
    return {str(path.relative_to(folder)): content(path) for path in paths}


def content(path: Path) -> bytes:
    """Return the bytes of a file, or the weights of a network."""
    if path.suffix != ".safetensors":
        return path.read_bytes()
    return b"".join(array.tobytes() for _, array in sorted(load_file(path).items()))
