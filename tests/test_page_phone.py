"""Tables on a phone, lettering of the picture, the last turn again, notices, and levels, in a real browser."""

from __future__ import annotations

import random
from typing import Any

import pytest

from helsinki_env.web.names import verbatim
from tests.games import EACH_GAME, TestedGame
from tests.support.browser import Player, decide_by_key, sit, until
from tests.support.server import Server


def boxes(player: Player, selector: str) -> list[dict[str, float]]:
    found: list[dict[str, float]] = player.page.eval_on_selector_all(
        selector, "all => all.map(e => e.getBoundingClientRect().toJSON())"
    )
    return [box for box in found if box["width"]]


@pytest.mark.thorough
@EACH_GAME
def test_a_phone_has_one_bar_with_large_targets(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(
        browser, server, "human", "greedy", game=game.name, seed=5, width=390, height=844, touch=True, look="follow"
    )
    view = until(player, "PLACE", random.Random(1))
    place = next(one for one in view["decisions"] if one["turn"] == player.held())
    player.page.touchscreen.tap(*player.point(*place["covers"]))
    player.page.wait_for_selector("#here:not(:disabled)")
    buttons = boxes(player, "#rotate, #flip, #here, #undo")
    assert len({round(box["y"]) for box in buttons}) == 1, "they are in one row"
    assert all(box["height"] >= 44 and box["bottom"] <= 844 for box in buttons)
    (sheet,) = boxes(player, "#act")
    assert sheet["height"] <= 0.37 * 844
    assert all(box["height"] >= 44 for box in boxes(player, ".views button, #learn"))
    scale = player.page.evaluate("document.querySelector('#picture > svg').getScreenCTM().a")
    assert scale * view["spots"][place["covers"][0]][2] >= 35, "cells are large enough for fingers"
    assert player.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert player.wrong == []


def test_a_phone_shows_each_part_of_the_table(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", game="helsinki", seed=5, width=390, touch=True)
    player.turn()
    seen = set()
    for label in ("Cards", "Actions", "Supply", "Easy", "Whole table"):
        player.page.click(f".views button >> text={label}")
        seen.add(player.page.get_attribute("#picture > svg", "viewBox"))
    assert len(seen) == 5


def test_the_own_board_is_below_the_cards(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", game="copenhagen", seed=5, width=390, touch=True, look="follow")
    player.turn()
    assert player.page.locator("#picture svg").count() == 2
    player.page.click("#picture .below")
    assert player.page.locator("#picture svg").count() == 1
    assert player.page.get_attribute("[data-look=own]", "aria-pressed") == "true"


@pytest.mark.thorough
@EACH_GAME
def test_the_picture_has_names_numbers_from_1_and_words(game: TestedGame, server: Server, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "greedy", game=game.name, seed=5), random.Random(1)
    for _ in range(3):
        player.turn()
        decide_by_key(player, rng)
    view = player.turn()
    texts = player.page.eval_on_selector_all("#picture text.named", "all => all.map(one => one.textContent)")
    assert {"1", "2"} <= set(texts)
    assert "0" not in texts
    last = view["log"][-1]
    assert any(text.startswith(f"{view['seats'][last['seat']]['name']} {last['words'][:12]}") for text in texts)
    assert not any("Player 0" in text for text in texts)


def test_the_log_names_the_cards_that_were_drawn(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", seed=5)
    draw = next(one for one in until(player, "MAIN", random.Random(1))["decisions"] if one["kind"] == "DRAW")
    assert draw["said"].startswith("took a ")
    assert " and a " in draw["said"]


def test_the_last_turn_is_shown_again(server: Server, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "greedy", game="copenhagen", seed=5), random.Random(1)
    while player.turn()["number"] < 8:
        decide_by_key(player, rng)
    view = player.turn()
    player.page.click("#again")
    other = next(one for one in reversed(view["log"]) if one["seat"] == 1)
    player.page.wait_for_selector(f"#headline >> text={other['words']}", timeout=20_000)
    player.page.wait_for_selector("#headline >> text=Your turn", timeout=20_000)
    assert player.page.locator(".spot").count() > 0
    player.page.click("#again")
    assert player.page.inner_text("#again") == "Stop"
    player.page.click("#again")
    assert player.page.inner_text("#headline") == "Your turn"
    assert player.wrong == []


def test_a_notice_appears_while_the_page_is_not_in_sight(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", seed=5)
    player.page.evaluate(
        "() => { window.told = []; window.Notification = class { static permission = 'granted';"
        " static requestPermission = async () => 'granted';"
        " constructor(title, options) { told.push([title, options.body]) } close() {} };"
        " Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }) }"
    )
    if not player.page.is_visible("#notices"):
        pytest.skip("this browser has no notices")
    player.page.check("#notices")
    rng = random.Random(1)
    for _ in range(4):
        player.turn()
        decide_by_key(player, rng)
    player.turn()
    assert player.page.evaluate("told.length") >= 1
    assert player.page.evaluate("told[0][0]") == "Your turn"


def test_without_notices_the_title_says_whose_turn_it_is(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", seed=5)
    player.page.evaluate(  # as in Chrome for Android
        "() => { window.Notification = class { static permission = 'granted';"
        " static requestPermission = async () => 'granted';"
        " constructor() { throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.') } };"
        " Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }) }"
    )
    if not player.page.is_visible("#notices"):
        pytest.skip("this browser has no notices")
    player.page.check("#notices")
    rng = random.Random(1)
    for _ in range(4):
        player.turn()
        decide_by_key(player, rng)
    player.turn()
    assert player.page.title().startswith("● ")
    assert player.wrong == []


@EACH_GAME
def test_a_level_is_chosen_by_its_rating(game: TestedGame, server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    card = f".game[aria-label={game.name.capitalize()}]"
    player.page.click(f"{card} .scale summary")
    player.page.focus(f"{card} input[type=range]")
    player.press("Home", "ArrowRight", "ArrowRight")
    said = player.page.inner_text(f"{card} .scale")
    assert "rating 0 (95% 0 to 0)" in said
    player.press("ArrowLeft")
    player.page.click(f"{card} >> text=Play level 2")
    view = player.wait(lambda view: view["decisions"])
    assert [chair["name"] for chair in view["seats"]] == [verbatim("You"), "Level 2"]
    assert view["seats"][1]["player"] == "level:2"
    assert player.wrong == []
