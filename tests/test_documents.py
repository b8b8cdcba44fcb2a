"""The documentation: its examples run, its generated pages are those of the code, its links lead somewhere."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from agents.registry import player_names
from helsinki_env.pages import PAGES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLAYERS = (ROOT / "docs" / "players.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES_WITH_LINKS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize(
    ("page", "number"),
    [
        (name, number)
        for name, text in (("README", README), ("players", PLAYERS))
        for number in range(text.count("```python"))
    ],
)
def test_the_examples_run(page: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = EXAMPLE.findall({"README": README, "players": PLAYERS}[page])[number]
    exec(compile(code, f"{page} example {number + 1}", "exec"), {"__name__": "example"})
    if "print(" in code:
        assert capsys.readouterr().out.strip()


def test_every_player_is_described() -> None:
    for name in player_names():
        assert f"| `{name}" in PLAYERS


def test_the_first_example_is_short() -> None:
    code = EXAMPLE.findall(README)[0]
    assert len(code.strip().splitlines()) <= 12


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_those_of_the_code(name: str) -> None:
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), f"docs/{name} is stale: python -m helsinki_env.pages docs"


@pytest.mark.parametrize("page", PAGES_WITH_LINKS, ids=lambda path: path.name)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    for target in targets:
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


@pytest.mark.parametrize(
    "module",
    [
        "helsinki_env",
        "helsinki_env.game",
        "helsinki_env.notation",
        "helsinki_env.observation",
        "helsinki_env.redeal",
        "helsinki_env.restore",
        "helsinki_env.envs.seat",
        "helsinki_env.envs.vector",
        "helsinki_env.helsinki_v0",
        "agents.base",
    ],
)
def test_examples_in_docstrings_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
