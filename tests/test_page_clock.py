"""Clocks in a real browser: set up in the form, shown next to the seats, and what the page says without time."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.browser import Player
from tests.support.server import Server

pytestmark = pytest.mark.thorough


def seconds(text: str) -> int:
    minutes, rest = re.fullmatch(r"(\d+):(\d\d)", text).groups()  # type: ignore[union-attr]
    return 60 * int(minutes) + int(rest)


def test_a_clock_is_set_up_and_shown(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    page = player.page
    page.click("#new summary >> text=Clock")
    assert page.is_disabled("#increment")
    page.fill("#minutes", "90")
    page.fill("#increment", "5")
    said = page.inner_text("#new #clock-rule")
    assert "Each person has 90:00 for the whole game. Each turn adds 5 seconds." in said
    assert "the player greedy takes the rest of your turn" in said
    page.click("#new > button.main")
    player.wait(lambda view: view["decisions"])
    page.wait_for_selector("#seats .clock.running")
    assert page.locator("#seats .clock").count() == 1, "players have no clock"
    before = seconds(page.inner_text("#seats .clock"))
    assert 80 * 60 < before <= 90 * 60
    changed = "before => document.querySelector('.clock').textContent !== before"
    page.wait_for_function(changed, arg=page.inner_text("#seats .clock"))
    assert seconds(page.inner_text("#seats .clock")) < 90 * 60
    assert page.inner_text("#clock-rule") == said
    assert player.wrong == []


def test_without_a_number_there_is_no_clock(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    player.page.click("#new > button.main")
    player.wait(lambda view: view["decisions"])
    assert player.page.locator(".clock").count() == 0
    assert not player.page.is_visible("#clock-rule")
    assert player.clocks == []


def test_a_reload_stops_no_clock_of_a_shared_device(server: Server, browser: Any) -> None:
    made = server.make("human", "human", seed=2, clock={"minutes": 5})
    player = Player(browser, f"{server.address}/tables/{made['table']}")
    page = player.page
    page.wait_for_selector("text=I am Player 1: show the table")
    assert page.locator("#seats .clock.running").count() == 0, "nobody has the device yet"
    page.click("text=I am Player 1: show the table")
    page.wait_for_selector("#seats .clock.running")
    page.reload()
    page.wait_for_selector("text=I am Player 1: show the table")
    page.wait_for_selector("#seats > :first-child .clock.running")
    page.click("text=I am Player 1: show the table")
    player.wait(lambda view: view["handover"] is None)
    while player.view["handover"] is None:
        number = player.wait(lambda view: view["decisions"])["number"]
        page.locator("#choices button").first.click()
        player.wait(lambda view, number=number: view["number"] > number)
    page.reload()
    page.wait_for_selector("text=I am Player 2: show the table")
    assert page.locator("#seats .clock.running").count() == 0, "the turn has not begun"
    assert player.wrong == []


def test_the_page_says_who_plays_without_time(server: Server, browser: Any) -> None:
    made = server.make("human", "random", seed=2, clock={"minutes": 0.01})
    player = Player(browser, f"{server.address}/tables/{made['table']}", pace="3000")
    player.page.wait_for_selector("#headline >> text=Time is up: greedy plays for Player 1")
    assert player.page.inner_text("#seats .clock") == "0:00"
    assert player.page.locator("#choices button").count() == 0
    assert player.wrong == []
