"""Standalone pages of games in a real browser without a network: keyboard, mouse and slider."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.cli.main import main
from helsinki_env.evaluation.match import play_match
from helsinki_env.records import Record, read_records, replay_steps, write_records
from helsinki_env.records.animation import VIEWER, GameEvaluation, make_animation, page, sandboxed_frame
from tests.games import GAMES, ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.test_accessibility import problems

pytestmark = pytest.mark.thorough

MOST_BYTES = 2_000_000
#: A player name that contains code.
HOSTILE = "</script><img src=x onerror=hit()><script>hit()</script>&amp;\u202e"


class Reader:
    """A browser with an open file, its console errors and its network requests."""

    def __init__(self, browser: Any, file: Path, width: int = 1300, height: int = 900) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self.wrong.append(asked.url) if asked.url != file.as_uri() else None)
        self.page.goto(file.as_uri())
        self.page.wait_for_selector(".scene svg")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def number(self) -> int:
        """The number of actions before the shown position."""
        return int(self.page.inner_text(".where").split()[0])

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))


def game_of(game: TestedGame, seats: int, folder: Path) -> tuple[Record, Path]:
    """A game and its file."""
    record = next(play_match(["greedy", *["random"] * (seats - 1)], game.spec.config(seats), games=seats).records())
    file = folder / "games.jsonl"
    write_records(file, [record])
    return record, file


def judgement_of(record: Record) -> GameEvaluation:
    """An evaluation of a two-player game: the tenth action is bad, the twentieth worse."""
    count = len(record.decisions)
    costs: list[float | None] = [0.0] * count
    costs[9], costs[19] = 0.08, 0.31
    shares = tuple((number / count, 1 - number / count) for number in range(count + 1))
    better: list[int | None] = [None] * count
    before = [game for game, _ in replay_steps(record)]
    better[19] = next(int(action) for action in before[19].legal_actions() if action != record.decisions[19])
    return GameEvaluation("mine", shares, tuple(costs), tuple(better))


def test_the_viewer_names_no_game() -> None:
    for path in VIEWER.iterdir():
        words = path.read_text(encoding="utf-8").lower().replace("helsinki_env", "")
        assert not any(game.name in words for game in GAMES), path.name


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_game_of_four_is_stepped_through_by_keys(game: TestedGame, browser: Any, tmp_path: Path) -> None:
    record, games = game_of(game, 4, tmp_path)
    file = tmp_path / "game.html"
    assert main(["replay", str(games), "--html", str(file), "--evaluator", "none"]) == 0
    assert file.stat().st_size < MOST_BYTES
    steps = make_animation(replace(record, decisions=record.decisions[:30], scores=None, ranking=None, places=None))[
        "steps"
    ]
    reader = Reader(browser, file)
    assert reader.text(".words") == "The game begins."
    reader.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert reader.number == 2
    assert steps[1]["said"] in reader.text(".words")
    assert steps[1]["said"] == reader.text(".course [aria-current]")
    starts = [number for number in range(1, 30) if steps[number]["turn"] != steps[number - 1]["turn"]]
    reader.press("Home", "PageDown", "PageDown", "PageDown")
    assert reader.number == starts[2]
    reader.press("ArrowRight", "PageUp")
    assert reader.number == starts[2]
    reader.press("PageUp")
    assert reader.number == starts[1]
    reader.press("End", "ArrowRight")
    assert reader.number == len(record.decisions)
    winner = record.players[(record.places or ()).index(0)]
    assert f"The game is over: {winner}" in reader.text(".words")
    assert [points in reader.text(".standing") for points in map(str, record.scores or ())] == [True] * 4
    assert reader.page.is_hidden(".costliest")
    assert reader.page.is_hidden(".values")
    assert reader.wrong == []


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Path]:
    """A game with an evaluation, and its page."""
    folder = tmp_path_factory.mktemp("judged")
    record, _ = game_of(GAMES[1], 2, folder)
    file = folder / "judged.html"
    file.write_text(page(record, judgement_of(record)), encoding="utf-8")
    return record, file


def test_buttons_slider_graph_and_lists(judged: tuple[Record, Path], browser: Any) -> None:
    record, file = judged
    reader = Reader(browser, file)
    reader.page.click("[aria-label='Next action']")
    assert reader.number == 1
    reader.page.click("[aria-label='Go to the end']")
    assert reader.number == len(record.decisions)
    reader.page.fill("input[type=range]", "20")
    assert reader.number == 20
    assert "−31%" in reader.text(".words")
    assert "better: " in reader.text(".words")
    assert [text.count("−") for text in reader.page.locator(".costliest li").all_inner_texts()] == [1, 1]
    assert reader.page.locator(".graph .costly").count() == 2
    reader.page.click(".costliest li >> nth=1")
    assert reader.number == 10
    assert "−8%" in reader.text(".course [aria-current]")
    box = reader.page.locator(".graph").bounding_box()
    reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 30)
    assert abs(reader.number - len(record.decisions) / 2) < 4
    assert f"{round(100 * reader.number / len(record.decisions))}%" in reader.text(".standing li >> nth=0")
    assert reader.page.text_content(".graph").count("%") == 5
    reader.page.click("button:text-is('Points')")
    assert reader.page.text_content(".graph").count("%") == 0
    reader.page.click(".course .step >> nth=3")
    assert reader.number == 3
    assert reader.wrong == []


def test_it_plays_by_itself_until_somebody_takes_over(judged: tuple[Record, Path], browser: Any) -> None:
    reader = Reader(browser, judged[1])
    reader.press("Space")
    reader.page.locator(".where", has_text=re.compile("^[2-9]")).wait_for()
    reader.press("ArrowLeft")
    assert reader.page.is_visible("[aria-label='Play (Space)']")
    assert reader.page.get_attribute(".words", "aria-live") == "polite"


def test_what_a_decision_brought_is_marked(judged: tuple[Record, Path], browser: Any) -> None:
    record, file = judged
    reader = Reader(browser, file)
    laid = next(n for n, step in enumerate(make_animation(record)["steps"], 1) if step["said"].startswith("laid"))
    reader.page.fill("input[type=range]", str(laid))
    assert reader.page.locator(".scene .fresh").count() == 1
    reader.press("ArrowLeft")
    assert reader.page.locator(".scene .fresh").count() == 0


@pytest.mark.parametrize("width", [390, 1024, 2560])
def test_it_fits_the_screen(width: int, judged: tuple[Record, Path], browser: Any) -> None:
    reader = Reader(browser, judged[1], width)
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
    box = reader.page.locator(".scene svg").bounding_box()
    assert box["width"] >= min(width - 30, 600)
    reader.page.click("text=Larger")
    assert reader.page.locator(".scene svg").bounding_box()["width"] >= 1200
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
    assert problems(reader.page) == []


def test_names_are_text_and_nothing_else(judged: tuple[Record, Path], browser: Any, tmp_path: Path) -> None:
    record = replace(judged[0], players=(HOSTILE, "b"))
    file = tmp_path / "hostile.html"
    file.write_text(page(record, judgement_of(record)), encoding="utf-8")
    reader = Reader(browser, file)
    reader.press("PageDown", "PageDown")
    assert "<img src=x onerror=hit()>" in reader.page.title()
    assert reader.text(".standing .name >> nth=0").startswith("</script><img src=x onerror=hit()>")
    assert reader.page.locator("img").count() == 0
    assert reader.wrong == []


def test_a_notebook_shows_it_in_a_frame_of_its_own(judged: tuple[Record, Path], browser: Any, tmp_path: Path) -> None:
    record, _ = judged
    begun = replace(record, decisions=record.decisions[:12], scores=None, places=None, players=(HOSTILE, "b"))
    assert sandboxed_frame(page(begun)) == begun._repr_html_()
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><p>A notebook</p>{begun._repr_html_()}", encoding="utf-8")
    context = browser.new_context(offline=True)
    notebook = context.new_page()
    notebook.goto(file.as_uri())
    inside = notebook.frame_locator("iframe")
    inside.locator(".scene svg").wait_for()
    inside.locator("[aria-label='Next action']").click()
    inside.locator("body").press("End")
    assert inside.locator(".where").inner_text().startswith("12 of 12")
    assert notebook.locator("img").count() == 0


def test_the_usual_judge_says_what_decisions_cost(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    record, games = game_of(GAMES[1], 2, tmp_path)
    short = replace(record, decisions=record.decisions[:25], scores=None, places=None)
    write_records(games, [short])
    assert list(read_records(games)) == [short]
    assert main(["replay", str(games), "--html", str(tmp_path / "game.html")]) == 0
    reader = Reader(browser, tmp_path / "game.html")
    assert "evaluated by net" in reader.text(".costliest")
    assert reader.page.is_visible("button:text-is('Win probability')")
    assert reader.wrong == []
