"""What the network thinks, as the page of a table shows it: in a real browser, by keys and on screens of any width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.games import EACH_GAME, TestedGame
from tests.support.server import Server, serving
from tests.test_page import ARGUMENTS, CHROMIUM, Player, playwright, pytestmark

__all__ = ["pytestmark"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page_advice")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        yield started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)


class Advised(Player):
    """Somebody in front of a browser who may be told what the network thinks."""

    opinions: list[dict[str, Any]]

    def _heard(self, text: str) -> None:
        message = json.loads(text)
        if message["type"] == "opinion":
            self.opinions = [*getattr(self, "opinions", []), message]
        else:
            super()._heard(text)

    def told(self, number: int, deeper: int = 0) -> dict[str, Any]:
        """Wait for what is told at a number of decisions, and return it."""
        name = f"after it, by {deeper} trials" if deeper else "How likely it would take it"
        for _ in range(3000):
            last = getattr(self, "opinions", [{}])[-1]
            if last.get("number") == number and last["deeper"] == deeper:
                self.page.wait_for_selector(f'.advised h3:has-text("{name}")')
                return last
            self.page.wait_for_timeout(10)
        raise AssertionError(f"nothing is told within 30 seconds; wrong: {self.wrong}")

    def shown(self) -> list[str]:
        return self.page.locator("ol.thought .words").all_inner_texts()


def sit(browser: Any, server: Server, *players: str, game: str = "helsinki", seed: int = 1, **more: Any) -> Advised:
    made = server.make(*players, game=game, seed=seed)
    player = Advised(browser, f"{server.address}/tables/{made['table']}", **more)
    player.wait(lambda view: True)
    return player


@EACH_GAME
def test_nothing_is_asked_until_it_is_wanted_and_then_at_every_turn(
    game: TestedGame, server: Server, browser: Any
) -> None:
    player = sit(browser, server, "human", "greedy", game=game.name, seed=3)
    player.turn()
    assert player.page.inner_text("#advised") == ""
    player.page.check("#advise")
    for _ in range(3):
        view = player.turn()
        opinion = player.told(view["number"])
        assert player.shown() == [one["words"] for one in opinion["choices"][:5]]
        shares = [round(100 * share) for share in opinion["shares"]]
        assert player.page.locator(".shares .figure").all_inner_texts() == [f"{share} %" for share in shares]
        number = view["number"]
        player.press("1") if view["decisions"][0]["turn"] is None else player.press("ArrowUp", "Enter")
        player.wait(lambda new, number=number: new["number"] > number)
    player.page.reload()
    view = player.turn()
    player.told(view["number"])
    player.page.uncheck("#advise")
    assert player.page.inner_text("#advised") == ""
    assert player.wrong == []


def test_a_decision_that_is_clicked_is_shown_and_not_taken(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", advice="yes")
    view = player.turn()
    opinion = player.told(view["number"])
    player.page.locator("button.thought").nth(1).click()
    assert player.page.inner_text(".choice.meant span") == opinion["choices"][1]["words"]
    assert player.page.locator(".spot.meant").count() == 1
    assert player.view["number"] == view["number"]
    assert player.wrong == []


def test_it_thinks_deeper_and_can_be_stopped_by_keys(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", "greedy", game="copenhagen", advice="yes")
    view = player.turn()
    player.told(view["number"])
    player.page.locator(".deeper button").nth(0).focus()
    player.press("Enter")
    opinion = player.told(view["number"], 25)
    assert player.shown()[0] == opinion["choices"][0]["words"]
    assert player.page.evaluate("document.activeElement.textContent") == "25"
    assert opinion["choices"][0]["words"] in player.page.inner_text("#said")
    player.page.evaluate(
        "[...document.querySelectorAll('.deeper button')].at(-1).click(), document.activeElement.click()"
    )
    assert player.page.locator(".deeper button").all_inner_texts() == ["25", "100", "400"]
    assert player.page.evaluate("document.activeElement.textContent") == "25"
    assert player.view["number"] == view["number"]
    assert player.wrong == []


def test_before_the_device_is_handed_over_nothing_is_told(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "human", seed=2, advice="yes")
    assert player.view["curtain"] is not None
    assert player.page.inner_text("#advised") == "At your next turn."
    player.page.click("#curtain button")
    view = player.turn()
    player.told(view["number"])
    player.press("1")
    player.wait(lambda new: new["curtain"] is not None)
    assert player.page.inner_text("#advised") == "At your next turn."
    assert player.wrong == []


def test_who_watches_is_told_whose_view_it_is(server: Server, browser: Any) -> None:
    player = sit(browser, server, "greedy", "random", pace="3000", advice="yes")
    player.page.click("text=Stop")
    view = player.wait(lambda new: new["paused"])
    player.told(view["number"])
    assert f"by what {view['seats'][view['seat']]['name']} sees" in player.page.inner_text("#advised")
    assert player.page.locator("button.thought").count() == 0
    assert player.wrong == []


@pytest.mark.parametrize("width", [390, 1024, 2560])
def test_it_fits_on_any_screen(width: int, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", *["greedy"] * 3, game="copenhagen", width=width, advice="yes")
    player.told(player.turn()["number"])
    assert player.page.evaluate("document.documentElement.scrollWidth") <= width
    for box in player.page.locator(".advised *").all():
        found = box.bounding_box()
        assert found is None or found["x"] + found["width"] <= width
    assert player.wrong == []
