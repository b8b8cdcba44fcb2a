"""The pages in other languages, in a real browser."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any

import pytest

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from helsinki_env.web.views import choices
from tests.games import ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.browser import Player, one_by_one, sit
from tests.support.languages import CODES, Translator, catalogue, segments
from tests.support.server import Server

pytestmark = pytest.mark.thorough

#: All texts that a person can read or hear; the drawn lettering of pictures is not text.
_READ = """() => {
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) found.add(texts.currentNode.data);
  for (const name of ["aria-label", "title", "placeholder", "label", "aria-valuetext"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) found.add(one.getAttribute(name));
  }
  return [document.title, ...found].map((text) => text.trim().replace(/\\s+/g, " ")).filter(Boolean);
}"""


@cache
def english_texts(code: str) -> re.Pattern[str]:
    """A pattern of all texts of the English catalogue that differ in a language; values are numbers or any text."""
    found = []
    for key, text in catalogue(code).items():
        letters = re.sub("[^A-Za-z]", "", "".join(segments(key)))
        if "|" not in key and len(letters) > 3 and segments(key) != segments(text):
            parts = re.split(r"\{(\w+)\}", key)
            found.append(
                "".join(
                    r"[\d.,]+" if len(one) == 1 and i % 2 else ".+?" if i % 2 else re.escape(one)
                    for i, one in enumerate(parts)
                )
            )
    return re.compile("|".join(found))


class Reader:
    """Reads a page and asserts that it shows no English text."""

    def __init__(self, page: Any, code: str = "de") -> None:
        self.page, self._code, self._known = page, code, set[str]()

    def read(self) -> set[str]:
        found = set(self.page.evaluate(_READ))
        for text in found - self._known:
            is_english = english_texts(self._code).fullmatch(text) is not None
            assert not is_english, text
        self._known |= found
        return found


def act(player: Player, rng: random.Random) -> None:
    """Take an action with the fingers."""
    view, page = player.view, player.page
    page.tap("#headline")  # two taps at one place are a double click, whose second is ignored
    alone = one_by_one(view)
    builds = [one for one in alone if one["kind"] == "BUILD"]
    if view["selection"] and not builds:
        while page.is_disabled("#settle"):
            page.locator("#choices button[aria-pressed=false]").first.tap()
        page.tap("#settle")
    elif alone and alone[0]["turn"] is not None:
        page.touchscreen.tap(*player.point(*rng.choice(alone)["covers"]))
        while page.is_disabled("#here"):
            page.tap(rng.choice(("#rotate", "#flip")))
        page.tap("#here")
    else:
        page.tap(f"#choices button[title='{rng.choice(builds or alone)['text']}']")
    player.wait(lambda new: new["number"] > view["number"])


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_whole_game_in_german_on_a_phone(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(
        browser, server, "human", "random", game=game.name, seed=3, width=390, height=844, touch=True, language="de"
    )
    reader, rng = Reader(player.page), random.Random(1)
    assert player.page.get_attribute("html", "lang") == "de"
    player.page.tap("#learn")
    player.page.wait_for_selector("#rules-text p")
    assert "Spielregeln" in reader.read()
    player.page.tap("#rules-close")
    while not player.turn()["done"]:
        reader.read()
        if player.view["number"] % 5 == 0:
            explain(player, rng, reader)
        act(player, rng)
    assert any(text.startswith("Das Spiel ist aus") for text in reader.read())
    assert player.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert player.wrong == []


def explain(player: Player, rng: random.Random, reader: Reader) -> None:
    """Read why some parts of the picture cannot be used."""
    count = len(player.answers)
    for spot in rng.sample(sorted(player.view["spots"]), 6):
        player.page.evaluate(
            "([spot, number]) => line.send(JSON.stringify({ type: 'explain', spot, number }))",
            [spot, player.view["number"]],
        )
    player.page.wait_for_timeout(150)
    assert len(player.answers) > count
    for answer in player.answers[count:]:
        for text in filter(None, (answer["help"], answer["why"])):
            german = player.page.evaluate("async (text) => (await import('/static/language.js')).t(text)", text)
            assert german == Translator("de").translate(text), "the tests translate as the page does"
            assert german != text
            is_english = english_texts("de").fullmatch(german) is not None
            assert not is_english, german


@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=[] if code == CODES[0] else [pytest.mark.nightly]) for code in CODES]
)
def test_each_page_is_in_the_language_of_the_browser(code: str, server: Server, browser: Any) -> None:
    context = browser.new_context(locale={"de": "de-CH", "fr": "fr-BE", "nl": "nl-NL"}[code])
    page = context.new_page()
    reader = Reader(page, code)
    asked = {"players": ["random", "greedy"], "games": 10}
    tournament = server.ask("POST", "/api/tournaments", asked)[1]["tournament"]
    signs = {
        "": ".scale",
        "/analysis": "#kept li",
        "/puzzles": ".spot",
        "/practice": "#lesson:not([hidden])",
        "/tournaments": "#players input",
        f"/tournaments/{tournament}": "#scale:not([hidden])",
    }
    for path, sign in signs.items():
        page.goto(server.address + path)
        page.wait_for_selector(sign, state="attached", timeout=120_000)
        page.wait_for_timeout(300)
        reader.read()
        assert page.get_attribute("html", "lang") == code


def sentences(name: str) -> set[str]:
    """What players do and did in a random game, as the picture and the log say it."""
    spec, rng, found = spec_by_name(name), random.Random(4), {"wins the game"}
    assert spec.render is not None
    chairs = (SeatAssignment(HUMAN, "Anna"), SeatAssignment(HUMAN, "Berta"))
    table = GameTable("", "", spec.config(num_players=2), 3, chairs)
    while not table.game.done:
        legal = choices(table.game)
        svg = str(spec.render().svg(table.game, viewer=table.game.seat))
        found |= {one["said"] for one in legal} | set(re.findall(r'aria-label="Player \d \(you\) (.*?)"', svg))
        rare = [one for one in legal if one["kind"] in ("BUILD", "USE", "PLACE")]
        table.decide(table.number, rng.choice(rare or legal)["id"], "")
    return found


@pytest.mark.parametrize(
    ("code", "verb"), [("en", r"(?!\w*s\b)\w+"), ("de", r"\w+st"), ("fr", r"(l’)?\w+ez"), ("nl", r"\w+")]
)
def test_you_are_addressed_in_the_second_person(code: str, verb: str, server: Server, browser: Any) -> None:
    player = Player(browser, server.address, language=code)
    read = """async (texts) => {
      const { doing, t } = await import('/static/language.js');
      return texts.map((text) => [t('You'), t(text), doing(t('You'), t(text)), doing('Anna', t(text))]);
    }"""
    texts = sorted(sentences("helsinki") | sentences("copenhagen"))
    assert {"draws or builds", "may end the turn"} <= set(texts)
    for you, words, own, other in player.page.evaluate(read, texts):
        assert re.match(rf"{you} {verb}\b", own), own
        assert other == f"Anna {words}"


def test_a_puzzle_a_guided_game_and_links_in_dutch(server: Server, browser: Any) -> None:
    player = Player(browser, f"{server.address}/puzzles", language="nl")
    page, reader = player.page, Reader(player.page, "nl")
    page.wait_for_selector(".spot")
    page.click("#choices button")
    page.wait_for_selector(".lesson.good, .lesson.bad", timeout=120_000)
    reader.read()
    page.goto(server.address)
    page.select_option("#chairs select >> nth=1", "human")
    page.check("[name=sharing][value=links]")
    page.fill("#minutes", "5", force=True)
    page.click("#new button.main")
    page.wait_for_selector("#links a")
    reader.read()
    page.click(".game .learn >> nth=0")
    page.wait_for_selector("#lesson .told")
    assert any(text.startswith("Welkom! Linksboven") for text in reader.read())
    assert player.wrong == []


def test_a_person_chooses_the_language_and_a_game_is_analyzed_in_it(server: Server, browser: Any) -> None:
    made = server.make("greedy", "greedy", game="copenhagen")
    player = Player(browser, f"{server.address}/tables/{made['table']}")
    player.wait(lambda view: view["done"])
    page = player.page
    page.goto(server.address)
    page.select_option("#language", "fr")
    page.wait_for_selector("html[lang=fr]")
    reader = Reader(page, "fr")
    page.click("#finished button >> text=Analyser")
    page.wait_for_selector(".report", state="attached", timeout=120_000)
    reader.read()
    page.click("#play-on")
    page.wait_for_selector("#seats[open] #chairs li")
    reader.read()
    assert player.wrong == []


def test_names_are_not_translated(server: Server, browser: Any) -> None:
    """People, tables and tournaments have names that are texts of the catalogue, or contain them."""
    chairs = [{"player": "human", "name": "Medium"}, {"player": "human", "name": "Easy. Delete"}]
    made = server.ask("POST", "/api/tables", {"chairs": chairs, "title": "Start", "seed": 1})[1]
    player = Player(browser, f"{server.address}/tables/{made['table']}", language="de")
    page = player.page
    page.click("text=Ich bin Medium: Tisch zeigen")
    player.turn()
    assert page.inner_text("#headline") == "Medium, du bist am Zug"
    assert page.inner_text("#title") == "Start"
    assert page.locator("#seats .name").all_inner_texts() == ["Medium", "Easy. Delete"]
    while player.view["handover"] is None:
        number = player.view["number"]
        page.locator("#choices button").first.click()
        player.wait(lambda view, number=number: view["number"] > number)
    page.wait_for_selector("text=Gib das Gerät an Easy. Delete")
    assert page.locator("#log b").all_inner_texts()[-1] == "Medium"
    asked: list[str] = []

    def dismiss(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.goto(server.address)
    row = page.locator("#tables li", has=page.get_by_role("link", name="Start", exact=True))
    assert "Medium, Easy. Delete" in row.inner_text()
    row.get_by_text("Löschen").click()
    assert asked == ["Den Tisch „Start“ löschen?"]
    over = server.make_over("random", "random", seed=2, title="Delete")
    page.goto(server.address)
    page.locator("#finished li", has=page.get_by_role("link", name="Delete", exact=True)).wait_for()
    server.ask("POST", "/api/tournaments", {"players": ["random", "greedy"], "games": 10, "title": "Games"})
    page.goto(f"{server.address}/tournaments")
    page.get_by_role("link", name="Games", exact=True).wait_for()
    page.get_by_label("Das Turnier Games löschen").wait_for()
    assert server.ask("DELETE", f"/api/tables/{over}")[0] == 200
    assert player.wrong == []


def test_default_names_are_translated(server: Server, browser: Any) -> None:
    chairs = [{"player": "human"}, {"player": "greedy"}]
    made = server.ask("POST", "/api/tables", {"chairs": chairs, "seed": 1})[1]
    player = Player(browser, f"{server.address}/tables/{made['table']}", language="de")
    player.turn()
    assert player.page.locator("#seats .name").all_inner_texts()[0] == "Spieler 1"
    lesson = server.ask("POST", "/api/lessons", {"game": "helsinki"})[1]["table"]
    player.page.goto(f"{server.address}/tables/{lesson}")
    player.page.wait_for_selector("#title >> text=Geführtes Spiel")
    player.page.wait_for_selector("#seats .name >> text=Du")
