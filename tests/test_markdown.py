"""Pages show any name as text, and no name sends commands to a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from helsinki_env.utils import markdown

DOCS = Path(__file__).resolve().parent.parent / "docs"
NASTY = (
    "a | b",
    r"a \| b \\",
    "<script>alert(1)</script>",
    "`code` ``more`` `",
    "*strong* __main__ _x_ ~~gone~~",
    "[here](javascript:x) ![p](x.png) <https://x.org>",
    "&lt;b&gt; &amp;",
    "# heading #",
    "1. one\n\n# two\n| three |",
    "\x1b[31mred\x1b[0m \x9b2J \x00",
    "half \ud800 a letter",
    r"$\frac$ $a$",
    "runs/step-1000.safetensors",
)


class Read(HTMLParser):
    """The words of a page and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words, self.tags = "", set[str]()
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)


def rendered(page: str) -> Read:
    return Read(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(page))


def shown(name: str) -> str:
    """What a reader is to see of a name."""
    return markdown.printable(" ".join(name.split()))


@pytest.mark.parametrize("name", NASTY)
def test_text_and_code_show_what_they_are_given(name: str) -> None:
    for write, tags in ((markdown.escape_markdown, {"p"}), (markdown.code_span, {"p", "code"})):
        page = rendered(f"before {write(name)} after")
        assert page.words.strip() == f"before {shown(name)} after"
        assert page.tags == tags
    page = rendered(f"## {markdown.escape_markdown(name)}\n\nmore")
    assert page.words.split("\n")[0] == shown(name)
    assert page.tags == {"h2", "p"}
    cells = [markdown.escape_markdown(name), markdown.code_span(name), "last"]
    page = rendered(
        "\n".join([markdown.table_row(["1", "2", "3"]), markdown.table_row(["---"] * 3), markdown.table_row(cells)])
    )
    assert [line for line in page.words.split("\n") if line][3:] == [shown(name), shown(name), "last"]
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td", "code"}


def test_code_within_text() -> None:
    assert markdown.escape_outside_code("run `helsinki rate *`, 5 % *more*") == r"run `helsinki rate *`, 5 % \*more\*"
    assert rendered(markdown.escape_outside_code("a `b")).words.strip() == "a `b"
    assert markdown.link("a_b [1].md", "runs/a b(1).md") == r"[a_b \[1\].md](runs/a%20b%281%29.md)"


def renamed(data: Any, names: Mapping[str, str]) -> Any:
    """The same data with other names, in keys too."""
    if isinstance(data, str):
        return names.get(data, data)
    if isinstance(data, dict):
        return {names.get(key, key): renamed(value, names) for key, value in data.items()}
    return [renamed(value, names) for value in data] if isinstance(data, list) else data


#: Short enough for a figure.
SHORT = "a|b <b>`*y*` [l](x) $\\frac$ \x1b[1m\n# h\ud800"


def test_ladders_show_tables_and_players_by_their_names() -> None:
    pytest.importorskip("matplotlib")
    from helsinki_env.evaluation.rating.report import rating_report_files

    data = json.loads((DOCS / "ladder.json").read_text(encoding="utf-8"))
    data["matchups"] = data["matchups"][:1]
    before = rendered(rating_report_files(data)[Path("ladder.md")].decode())
    table, players = data["matchups"][0]["name"], [row["player"] for row in data["matchups"][0]["players"]]
    names = {table: f"{SHORT}t", players[0]: f"{SHORT}p", players[-1]: f"{SHORT}q"}
    files = rating_report_files(renamed(data, names))
    page = rendered(files[Path("ladder.md")].decode())
    assert page.tags == before.tags
    for name in names.values():
        assert re.search(rf"^{re.escape(markdown.printable(name))}$", page.words, re.MULTILINE)
    assert all(b"\x1b" not in content for content in files.values())


def test_studies_show_players_by_their_names() -> None:
    pytest.importorskip("matplotlib")
    from helsinki_env.evaluation.balance.helsinki.report import study_report_files

    data = json.loads((DOCS / "balance" / "balance.json").read_text(encoding="utf-8"))
    for part in (
        "screening",
        "conclusions",
        "pairs",
        "covers",
        "variants",
        "quality",
        "skill",
    ):  # their figures take long
        data[part] = []
    player = data["qualification"][0]["player"]
    bad = renamed(data, {player: SHORT})
    bad["study"]["name"] = SHORT
    before, after = study_report_files(data), study_report_files(bad)
    assert all(b"\x1b" not in content for content in after.values())
    for path, read in ((Path("balance.html"), Read), (Path("balance.md"), rendered)):
        page = read(after[path].decode())
        assert page.tags <= read(before[path].decode()).tags | {"code"}
        assert markdown.printable(SHORT) in page.words
