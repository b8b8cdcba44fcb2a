"""The catalogues of the browser pages: they contain every text of the scripts, the pages and the server."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web import help as helps
from helsinki_env.web.boards import Boards, _groups
from helsinki_env.web.levels import level_data
from helsinki_env.web.requests import _PAGES, page_html
from helsinki_env.web.setups import levels_of, offered_options
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from helsinki_env.web.views import choices
from tests.games import EACH_GAME, TestedGame
from tests.support.languages import (
    CODES,
    PACKAGE,
    Translator,
    catalogue,
    page_texts,
    python_texts,
    script_texts,
    segments,
)

EACH_LANGUAGE = pytest.mark.parametrize("code", CODES)
#: What remains as it is: the names of the games, the phases of the analysis, and players.
SAME = {"HELSINKI", "COPENHAGEN", "Helsinki", "Copenhagen", "Anna"}


def keys(code: str) -> dict[str, str]:
    """A catalogue without the forms of values."""
    return {key: text for key, text in catalogue(code).items() if not re.fullmatch(r"\w+\|\w+", key)}


def pages() -> Iterator[str]:
    yield from page_texts(page_html(file) for file in _PAGES)


@EACH_LANGUAGE
def test_all_catalogues_have_the_same_keys_and_placeholders(code: str) -> None:
    assert list(keys(code)) == list(keys("de"))
    forms = {key.partition("|")[2] for key in catalogue(code)} - {""}
    for key, text in keys(code).items():
        assert text.strip(), key
        assert set(re.findall(r"\{(\w+)", text)) == set(re.findall(r"\{(\w+)", key)), key
        assert set(re.findall(r"\{\w+\|(\w+)\}", text)) <= forms, key


def test_catalogues_have_every_text_of_scripts_and_pages() -> None:
    known = {tuple(segments(key)) for key in keys("de")}
    scripts = set(script_texts())
    assert len(scripts) > 200
    assert {text for text in scripts if tuple(segments(text)) not in known} == set()
    assert set(pages()) - set(keys("de")) == set()


def test_every_key_is_used() -> None:
    shown = {tuple(segments(text)) for text in (*script_texts(), *pages())}
    files = (path.stem for path in PACKAGE.parent.glob("configs/components/*.yaml"))
    words = set(re.findall(r"[^\W_]+", " ".join((*python_texts(), *files)).lower()))
    for key in keys("de"):
        found = re.findall(r"\w+", " ".join(segments(key)).lower())
        plural = {word for word in found if word.removesuffix("s") in words}
        assert tuple(segments(key)) in shown or set(found) <= words | plural, key


# texts of the server


def pictured(svg: str) -> Iterator[str]:
    """The lettering and the titles of a picture, as the page translates them."""
    for text in re.findall(r'<path aria-label="([^"]*)"|<title>(.*?)</title>', svg):
        words = re.sub(r"^(Player \d)(?: \(you\))?(?: |$)", "", "".join(text))
        words = re.sub(r"\b[Pp]layer \d", "Anna", words).replace("points, 12 end", "12 points end")
        if not re.fullmatch("[A-Z]+", words) or words in ("NORTH", "EAST", "SOUTH", "WEST"):  # phases are machine words
            yield words


def game_texts(name: str, players: int, seed: int, **options: Any) -> Iterator[str]:
    """The texts of a random game."""
    spec, rng = spec_by_name(name), random.Random(seed)
    config = spec.config(num_players=players, **options)
    chairs = tuple(SeatAssignment(HUMAN, "Anna") for _ in range(players))
    table, module = GameTable("", "", config, seed, chairs), helps.help_module(name)
    assert module is not None
    assert spec.render is not None
    while not table.game.done:
        game, legal = table.game, choices(table.game)
        for one in legal:
            yield from (one["words"], one["said"], *one["wins"])
        if table.number % 8 == 0:
            picture = spec.render().svg(game, viewer=game.seat)
            yield from pictured(str(picture))
            for spot in picture.spots:
                yield module.help_text(game, game.seat, spot)
                if not any(spot in one["at"] for one in legal):
                    yield module.why_not(game, spot)
            for line in (line for sheet in helps.score_sheet(game) for line in sheet):
                yield from (line["label"], line["note"])
        rare = [one for one in legal if one["kind"] in ("BUILD", "USE", "PLACE")]
        best = rng.choice(rare if rare and rng.random() < 0.7 else legal)
        table.decide(table.number, best["id"], best["said"])
    yield from pictured(str(spec.render().svg(table.game, viewer=0)))
    yield from (text for section in helps.rules_text(config) for text in section.values())


def setup_texts(name: str) -> Iterator[str]:
    """The texts of a game on the start page, its guided game and its reasons."""
    spec = spec_by_name(name)
    for level in levels_of(spec):
        yield from (level.label, level.says)
    yield from (level["says"] for level in level_data(name))
    for option in offered_options(spec):
        yield from (option["label"], option["says"], *(choice.replace("_", " ") for choice in option["choices"]))
    for group in _groups(Boards._published(spec)):
        yield from (group["title"], *group["heads"], *(row["label"] for row in group["rows"]))
    lesson = helps.lesson_message(spec)
    yield from (lesson["end"], *(step["text"] for step in lesson["steps"]))
    module = helps.help_module(name)
    assert module is not None
    for fact in module.WEIGHTS:
        yield from (module.fact_words(fact, more, 0) for more in (1, 2))


@pytest.mark.thorough
@EACH_GAME
def test_catalogues_have_every_text_of_a_game(game: TestedGame) -> None:
    options = {"dry_roads": True, "covered": (0, 7)} if game.name == "helsinki" else {}
    texts = game_texts(game.name, 4, 2, **options)
    alike = {re.sub(r"\b([2-9]|1\d)\b", "2", re.sub("blue|green|purple|yellow", "red", text)) for text in texts}
    found = {*alike, *setup_texts(game.name)}
    players = {"random", "greedy", "heuristic", "net", "net+search:25", "net+search:100"}
    for code in CODES:
        translator = Translator(code, SAME | players)
        for text in found:
            translator.translate(text)
        assert translator.missing == set(), code


@EACH_LANGUAGE
def test_catalogues_have_the_reasons_why_a_table_rejects_a_request(code: str) -> None:
    translator = Translator(code, SAME)
    for file in ("sessions.py", "tables.py", "practice_session.py"):
        for node in ast.walk(ast.parse((PACKAGE / "web" / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "TableError" and len(node.args) == 1:
                argument = node.args[0]
                parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
                if all(isinstance(part, ast.Constant | ast.FormattedValue) for part in parts):
                    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in parts)
                    if not text.startswith(("next: ", "sit: ", "more: ")):  # not of a page
                        assert translator.translate(text) != text, text
