"""Users see what the golden files say: help, errors, names, observations, records, drawings and a report."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.support import surface
from tests.support.blocks import ROOT

#: Plays games in processes of its own. `test_balance.py` checks the words of reports with every change.
_SLOW = {"study.md"}
_WITH_COMMANDS = {"", ".ipynb", ".md", ".py", ".sh", ".yaml"}
FILES = [
    pytest.param(path, make, marks=[pytest.mark.nightly] if path.name in _SLOW else [], id=path.name)
    for path, make in surface.golden_files()
]


@pytest.mark.parametrize(("path", "make"), FILES)
def test_the_surface_is_as_written(path: Path, make: Callable[[], str]) -> None:
    """`python -m tests.regenerate` writes the files again where a change is meant."""
    for number, (expected, found) in enumerate(
        zip_longest(path.read_text().splitlines(), make().splitlines()), start=1
    ):
        assert found == expected, f"{path.name}, line {number}"


def test_commands_held_as_text_use_options_that_exist() -> None:
    """Nightly tests, notebooks, configurations and pages hold commands that nothing else runs with every change."""
    _, *sections = re.split(r"^\$ helsinki ", (surface.GOLDEN / "help.txt").read_text(), flags=re.MULTILINE)
    options = {text.partition(" --help")[0]: set(re.findall(r"--[a-z][a-z-]*", text)) for text in sections}
    folders = (".ci", "agents", "benchmarks", "configs", "docs", "helsinki_env", "notebooks", "tests", "training")
    files = {path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in _WITH_COMMANDS}
    files = {path for path in {*files, *ROOT.glob("*.md")} if path.is_file()}
    wrong, seen = [], 0
    for path in files - {ROOT / "docs/notes/renamed-options.md"}:  # names the former ones
        text = path.read_text(encoding="utf-8", errors="ignore").replace("\\\n", " ")
        for words, first, second, rest in re.findall(r"(helsinki ([a-z]+)(?: ([a-z]+))?)([^\n`\"';|&#]*)", text):
            name = f"{first} {second}" if f"{first} {second}" in options else first
            asked = re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest) if name in options else []
            seen += len(asked)
            wrong += [f"{path}: {words} {option}" for option in asked if option not in options[name]]
    assert seen > 300
    assert not wrong
