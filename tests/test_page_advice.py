"""Network evaluations on the page of a table in a real browser, by keyboard and on screens of any width."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.games import ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.browser import Player, decide_by_key, sit
from tests.support.server import Server

pytestmark = pytest.mark.thorough


def told(player: Player, deeper: int = 0) -> dict[str, Any]:
    """Wait for the evaluation of the current action and return it."""
    number = player.turn()["number"]
    name = f"after the action ({deeper} simulations)" if deeper else "Probability that the network takes it"
    for _ in range(12_000):
        if any((one["number"], one["deeper"]) == (number, deeper) for one in player.evaluations[-1:]):
            player.page.wait_for_selector(f'.advised h3:has-text("{name}")')
            return player.evaluations[-1]
        player.page.wait_for_timeout(10)
    raise AssertionError(f"nothing is told within two minutes; wrong: {player.wrong}")


def shown(player: Player) -> list[str]:
    found: list[str] = player.page.locator(".thoughts .words").all_inner_texts()
    return found


@ONE_GAME_OR_EACH_NIGHTLY
def test_nothing_is_asked_until_it_is_wanted_and_then_at_every_turn(
    game: TestedGame, server: Server, browser: Any
) -> None:
    player = sit(browser, server, "human", "greedy", game=game.name, seed=3)
    rng = random.Random(1)
    player.turn()
    assert player.page.inner_text("#advised") == ""
    player.page.check("#advise")
    for _ in range(3):
        opinion = told(player)
        assert shown(player) == [one["words"] for one in opinion["choices"][:5]]
        shares = [round(100 * share) for share in opinion["shares"]]
        assert player.page.locator(".shares .figure").all_inner_texts() == [f"{share}%" for share in shares]
        decide_by_key(player, rng)
    player.views.clear()
    player.evaluations.clear()
    player.page.reload()
    told(player)
    player.page.uncheck("#advise")
    assert player.page.inner_text("#advised") == ""
    assert player.wrong == []


def test_a_decision_that_is_clicked_is_shown_and_not_taken(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", game="helsinki", advice="yes")
    opinion = told(player)
    player.page.locator("button.thought").nth(1).click()
    assert player.page.inner_text(".choice.meant span") == opinion["choices"][1]["words"]
    assert player.page.locator(".spot.meant").count() == 1
    assert player.view["number"] == 0
    assert player.wrong == []


def test_it_thinks_deeper_and_can_be_stopped_by_keys(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", "greedy", game="copenhagen", advice="yes")
    told(player)
    player.page.locator(".deeper button").nth(0).focus()
    player.press("Enter")
    opinion = told(player, 25)
    assert shown(player)[0] == opinion["choices"][0]["words"]
    assert player.page.evaluate("document.activeElement.textContent") == "25"
    assert opinion["choices"][0]["words"] in player.page.inner_text("#said")
    player.page.evaluate(
        "[...document.querySelectorAll('.deeper button')].at(-1).click(), document.activeElement.click()"
    )
    assert player.page.locator(".deeper button").all_inner_texts() == ["25", "100", "400"]
    assert player.page.evaluate("document.activeElement.textContent") == "25"
    assert player.view["number"] == 0
    assert player.wrong == []


@pytest.mark.thorough
def test_before_the_device_is_handed_over_nothing_is_told(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "human", game="helsinki", seed=2, advice="yes")
    assert player.view["handover"] is not None
    assert player.page.inner_text("#advised") == "Available at your next turn."
    player.page.click("#handover button")
    told(player)
    while player.view["handover"] is None:
        decide_by_key(player, random.Random(1))
    assert player.page.inner_text("#advised") == "Available at your next turn."
    assert player.wrong == []


def test_who_watches_is_told_whose_view_it_is(server: Server, browser: Any) -> None:
    player = sit(browser, server, "greedy", "random", game="helsinki", pace="3000", advice="yes")
    player.page.click("text=Stop")
    view = player.wait(lambda new: new["paused"])
    player.page.wait_for_selector(".shares")
    assert f"based on what {view['seats'][view['seat']]['name']} sees" in player.page.inner_text("#advised")
    assert player.page.locator("button.thought").count() == 0
    assert player.wrong == []


@pytest.mark.parametrize("width", [390, 1024, 2560])
def test_it_fits_on_any_screen(width: int, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", *["greedy"] * 3, game="copenhagen", width=width, advice="yes")
    told(player)
    assert player.page.evaluate("document.documentElement.scrollWidth") <= width
    for box in player.page.locator(".advised *").all():
        found = box.bounding_box()
        assert found is None or found["x"] + found["width"] <= width
    assert player.wrong == []
