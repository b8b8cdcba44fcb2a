"""The notebooks run from top to bottom and show what they promise; committed outputs are small."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import tempfile
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.engine.kernel import JIT
from tests.support.notebooks import FOLDER, NOTEBOOKS, read, run, texts

pytestmark = [
    pytest.mark.skipif(find_spec(package) is None and not os.environ.get("CI"), reason=f"needs the extra {extra}")
    for extra, package in (("dev", "nbclient"), ("stats", "matplotlib"), ("export", "onnxscript"))
]

ROOT = FOLDER.parent
#: The only one that defines something: a player is its subject.
OWN_PLAYER = "05_your_own_player"
#: These put out the same on every machine. Networks do not: sums differ in their last digits.
SAME_EVERYWHERE = ("01_play_one_game", "05_your_own_player", "07_rate_your_player")
MOST_BYTES = 300_000
#: What the running notebook must have put out somewhere.
PROMISED = {
    "01_play_one_game": (
        "seat 0 (heuristic): 18 points",
        "the same game: True",
        "BUILD ",
        "not legal",
        "player_1 gets",
        "you: 2 points - heuristic: 22 points",
        "margin  {'player_0': -1.5, 'player_1': -1.5, 'player_2': 3.0}",
    ),
    "02_train_an_agent": ("finished: False", "finished: True", "against heuristic:", "0 differ", "net:first.onnx"),
    "03_benchmark_policies": ("heuristic in seat 1:", "games were saved before", "reference", "net against heuristic:"),
    "04_balance": ("screening: 1,200 games", "the conclusions follow from the data: True", "balance.html"),
    "05_your_own_player": (
        "a player: True",
        "against random: grabber",
        "the same games: True",
        "largest absolute sum of the rewards of a game: 0.0",
        "points in 20 games",
    ),
    "06_put_a_game_in_balance": (
        "proof: 8,000 games",
        "Change one number of the action board: 'two points'",
        "tune.md",
    ),
    "07_rate_your_player": (
        "| `net+search:100:first` | ",
        "300 reference games, 96 games of the quick stage",
        "program:python3 bot.py: -",
        "illegal actions: 0",
        "24 of 96 games replayed: the same",
        "certified.rating.rating: found 99.0, expected -",
    ),
    "08_behavior_cloning": (
        "40 games, ",
        "observation  int8     [1385] ",
        "epoch 4: loss",
        "agreement: ",
        "clone against heuristic: ",
    ),
    "09_exact_exploitability": (
        "21,666 histories, 16,860 of them terminal",
        "random: exploitability 0.8718",
        "greedy: exploitability 0.7429",
        "100 iterations: first seat -0.600",
        "128,000 games: exploitability 0.",
        "of 1.143",
    ),
}
PICTURES = {
    "01_play_one_game": 2,
    "02_train_an_agent": 1,
    "03_benchmark_policies": 2,
    "04_balance": 1,
    "06_put_a_game_in_balance": 1,
}

#: They train and play tournaments and studies, which tests of their own do as well: run nightly.
LONG = (
    "07_rate_your_player",
    "02_train_an_agent",
    "03_benchmark_policies",
    "04_balance",
    "05_your_own_player",
    "06_put_a_game_in_balance",
    "08_behavior_cloning",
    "09_exact_exploitability",
)

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@cache
def code(path: Path) -> str:
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code")


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="too slow")
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.nightly] if path.stem in LONG else []) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_the_notebook_runs(path: Path, tmp_path: Path) -> None:
    done = run(path, tmp_path)  # an error in a cell is raised here
    found = texts(done)
    shown = "\n".join(text for kind, text in found if "svg" not in kind)
    for promise in PROMISED.get(path.stem, ()):
        assert promise in shown
    assert [text for kind, text in found if kind == "stderr"] == []
    pictures = [text for kind, text in found if kind == "image/svg+xml"]
    assert len(pictures) >= PICTURES.get(path.stem, 0)
    assert all("<svg" in picture for picture in pictures)
    everything = "\n".join(text for _, text in found)
    for place in (tmp_path, ROOT, Path(sys.prefix), tempfile.gettempdir(), Path.home()):
        assert str(place) not in everything
    if path.stem in SAME_EVERYWHERE:
        stale = f"the outputs are stale: python -m tests.support.notebooks {path.name}"
        assert texts(read(path)) == found, stale
    assert [kind for kind, _ in texts(read(path))] == [kind for kind, _ in found]


@each
def test_the_notebook_says_what_is_learnt_and_what_to_try(path: Path) -> None:
    cells = read(path).cells
    assert cells[0].cell_type == cells[-1].cell_type == "markdown"
    assert re.match(r"# \w", cells[0].source)
    learnt = cells[0].source.partition("**What you will learn**")[2]
    assert learnt.count("\n- ") >= 3
    assert "**How long it takes**:" in learnt
    assert cells[-1].source.partition("## What to try next")[2].count("\n- ") >= 3


@each
def test_what_the_notebook_imports_exists(path: Path) -> None:
    """Asked of all of them every day: the long ones run nightly."""
    found = [node for node in ast.walk(ast.parse(code(path))) if isinstance(node, ast.ImportFrom)]
    assert found
    for node in found:
        module = import_module(str(node.module))
        assert all(hasattr(module, name.name) for name in node.names), ast.unparse(node)


def test_what_is_told_of_the_real_study_is_what_it_says() -> None:
    shown = "\n".join(text for kind, text in texts(read(FOLDER / "04_balance.ipynb")) if kind == "stdout")
    told = json.loads((ROOT / "docs" / "balance" / "balance.json").read_text(encoding="utf-8"))["summary"]
    assert told
    assert all(f"- {sentence}\n" in f"{shown}\n" for sentence in told)


@each
def test_the_notebook_only_calls_the_library(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(code(path))))
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if path.stem == OWN_PLAYER:
        assert len(classes) == 1
        assert all(node.args.args[0].arg == "self" for node in functions)
    else:
        assert not classes
        assert not functions
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert not any(alias.name.startswith("_") for alias in node.names)


def test_each_notebook_leads_to_the_next_one_in_the_readme() -> None:
    order = re.findall(r"(?m)^\d\. \[.*?\]\((.*?)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(order) == [path.name for path in NOTEBOOKS]
    for name, following in pairwise(order):
        assert re.search(rf"Next notebook: \[.*\]\({following}\)", read(FOLDER / name).cells[-1].source), name


@each
def test_links_lead_to_files_that_exist(path: Path) -> None:
    text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert target.startswith("https://") or (path.parent / target).exists(), target


@each
def test_committed_outputs_are_light_and_clean(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    data: dict[str, Any] = json.loads(text)
    assert data["metadata"]["language_info"] == {"name": "python"}
    executed = [cell for cell in data["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in executed] == list(range(1, len(executed) + 1))
    assert all(set(cell["metadata"]) <= {"tags"} for cell in data["cells"])
    outputs = [output for cell in executed for output in cell["outputs"]]
    assert outputs
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    here = {str(place) for place in (Path.home(), tempfile.gettempdir(), ROOT)} - {"/"}
    for place in (*here, "/home/", "/Users/", ":\\\\", "\\u001b["):
        assert place not in text, f"{path.name} holds {place}"


def test_every_notebook_is_listed() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        assert listed.count(f"]({path.name})") == 1
