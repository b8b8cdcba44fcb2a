"""Accessibility of the pages: axe-core finds nothing serious."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.games import EACH_GAME, TestedGame
from tests.support.browser import Player, decide_by_key, sit, until
from tests.support.server import Server

pytestmark = pytest.mark.thorough


def problems(page: Any) -> list[str]:
    """The serious findings of axe-core: the rule and the first element that violates it."""
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(reduced_motion="reduce")  # text that is fading in has less contrast than it will have
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_the_start_page(server: Server, browser: Any) -> None:
    server.make("human", "greedy")
    player = Player(browser, server.address)
    player.page.wait_for_selector("#tables li")
    player.page.click("summary")
    assert problems(player.page) == []


@EACH_GAME
def test_a_table(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", game=game.name)
    assert problems(player.page) == []
    phase = next(name for name in game.spec.phases if "PLACE" in name)
    until(player, phase, random.Random(4))
    player.press("ArrowUp")
    assert player.page.is_visible("#placing")
    assert problems(player.page) == []


@pytest.mark.parametrize("width", [390, 1300])
def test_a_puzzle_and_its_grade(width: int, server: Server, browser: Any) -> None:
    player = Player(browser, server.address + "/puzzles", width=width)
    view = player.wait(lambda view: view["decisions"])
    assert problems(player.page) == []
    player.page.evaluate(
        "([number, action]) => line.send(JSON.stringify({ type: 'decide', number, action }))",
        [view["number"], view["decisions"][0]["id"]],
    )
    player.page.wait_for_selector("#lesson.good, #lesson.bad")
    assert problems(player.page) == []


def test_a_question(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", game="helsinki", confirm="yes")
    player.turn()
    player.press("1")
    assert player.page.is_visible("#armed")
    assert problems(player.page) == []


def test_the_curtain_and_the_end(server: Server, browser: Any) -> None:
    assert problems(sit(browser, server, "human", "human", game="helsinki").page) == []
    over = server.make_over("random", "greedy", game="copenhagen")
    watched = Player(browser, f"{server.address}/tables/{over}")
    watched.wait(lambda view: view["done"])
    assert problems(watched.page) == []


def test_what_the_network_thinks(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", "greedy", "greedy", game="copenhagen", advice="yes")
    player.page.wait_for_selector("button.thought")
    assert problems(player.page) == []


def test_tournaments(server: Server, browser: Any) -> None:
    made = server.ask("POST", "/api/tournaments", {"players": ["random", "greedy", "heuristic"], "games": 12})[1]
    page = Player(browser, f"{server.address}/tournaments/{made['tournament']}").page
    page.wait_for_selector("#chart circle")
    assert problems(page) == []
    page.goto(f"{server.address}/tournaments")
    page.wait_for_selector("#tournaments a")
    page.click("summary")
    assert problems(page) == []


def test_a_problem_would_be_found(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    player.page.wait_for_selector("#chairs li")
    player.page.evaluate(
        "document.querySelector('#players').parentElement.replaceWith(document.createElement('button'))"
    )
    assert [one.split()[0] for one in problems(player.page)] == ["button-name"]


@EACH_GAME
def test_forced_colors(game: TestedGame, server: Server, browser: Any) -> None:
    """With the colors of the system, controls have borders, the focus is visible, and the picture keeps its colors."""
    player = sit(browser, server, "human", "greedy", game=game.name)
    player.turn()
    before = player.page.eval_on_selector_all("#picture rect", "all => all.map(r => getComputedStyle(r).fill)")
    player.page.emulate_media(forced_colors="active")
    assert player.page.evaluate("matchMedia('(forced-colors: active)').matches")
    fills = player.page.eval_on_selector_all("#picture rect", "all => all.map(r => getComputedStyle(r).fill)")
    assert fills == before
    bare = player.page.eval_on_selector_all(
        "button", "all => all.filter(b => b.checkVisibility() && !parseFloat(getComputedStyle(b).borderTopWidth))"
        ".map(b => b.outerHTML.slice(0, 100))",
    )  # fmt: skip
    assert bare == []
    for _ in range(6):
        player.press("Tab")
        focus = "getComputedStyle(document.activeElement).outlineStyle"
        assert player.page.evaluate(focus) != "none", player.page.evaluate("document.activeElement.outerHTML")
    assert problems(player.page) == []


@EACH_GAME
def test_twice_the_size(game: TestedGame, server: Server, browser: Any) -> None:
    """A window of 1,280 x 1,024 pixels with a zoom of 200% shows 640 x 512: nothing needs scrolling sideways."""
    player = sit(browser, server, "human", "greedy", game=game.name, width=640, height=512)
    view = player.turn()
    assert player.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    choice = player.page.locator("#choices button").first
    choice.scroll_into_view_if_needed()
    box = choice.bounding_box()
    assert min(box["x"], box["y"]) >= 0
    assert box["x"] + box["width"] <= 640
    assert box["y"] + box["height"] <= 512
    choice.click()
    if view["selection"]:
        assert choice.get_attribute("aria-pressed") == "true"
    else:
        player.wait(lambda new: new["number"] > view["number"])


@EACH_GAME
def test_a_turn_in_the_tree_of_a_screen_reader(game: TestedGame, server: Server, browser: Any) -> None:
    """The accessibility tree names every action of a whole turn, and the status says what has happened since."""
    player, rng, messages = sit(browser, server, "human", "greedy", game=game.name), random.Random(3), list[str]()
    view = player.turn()
    while not messages or view["log"][-1]["seat"] == 0:
        tree = player.page.locator("body").aria_snapshot()
        assert "heading" in tree
        for one in view["decisions"]:
            if one["turn"] is None:
                assert re.search(rf'- button "[^"]*{re.escape(one["words"])}', tree), (one, tree)
        decide_by_key(player, rng)
        view = player.turn()
        messages.append(player.page.text_content("#said"))
    assert all(messages)
