"""The documentation: its examples run, its generated pages are those of the code, its links lead somewhere."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from helsinki_env.pages import PAGES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES_WITH_LINKS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("number", range(len(re.findall(r"```python\n", README))))
def test_the_readme_s_examples_run(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[number]
    exec(compile(code, f"README example {number + 1}", "exec"), {"__name__": "readme"})
    if "print(" in code:
        assert capsys.readouterr().out.strip()


def test_the_first_example_is_short() -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
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
