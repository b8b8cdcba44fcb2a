"""The tournament pages in a real browser: start, watch, stop and resume, by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.records import read_records
from tests.support.server import Server, serving

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page")) as running:
        yield running


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """A page whose console must stay clean."""
    opened = browser.new_context(viewport={"width": 1100, "height": 900}, accept_downloads=True).new_page()
    opened.set_default_timeout(120_000)
    wrong: list[str] = []
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: dialog.accept())
    opened.goto(server.address + "/tournaments")
    opened.wait_for_selector("#players input")
    yield opened
    assert wrong == []


def choose(page: Any, *players: str) -> None:
    for box in page.query_selector_all("#players input"):
        box.set_checked(box.get_attribute("value") in players)


def state(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('#state').textContent.startsWith(text)", arg=text)


def test_a_tournament_is_played_and_looked_at(page: Any, tmp_path: Path) -> None:
    page.select_option("#game", "copenhagen")
    choose(page, "random", "greedy", "heuristic")
    page.fill("#games", "30")
    assert page.inner_text("#count").startswith("30 games: 5 deals for 3 line-ups of 2 players")
    page.click("#begin")
    page.wait_for_url("**/tournaments/*")
    state(page, "Finished")
    page.wait_for_selector("#scale:not([hidden])")
    assert page.inner_text("#far") == "30 of 30 games"
    names = page.locator("#standings tbody th").all_inner_texts()
    assert sorted(names) == ["greedy", "heuristic", "random"]
    assert names[2] == "random"
    assert page.locator("#chart .name").all_text_contents() == names
    assert page.locator("#pairs tbody tr").count() == 3
    assert page.locator("#latest li").count() == 8
    assert not page.is_visible("#toggle")
    with page.expect_download() as got:
        page.click("text=Download games")
    got.value.save_as(tmp_path / "games.jsonl")
    assert len(list(read_records(tmp_path / "games.jsonl"))) == 30
    page.click("#remove")
    page.wait_for_url("**/tournaments")


def test_by_keys_alone_it_is_begun_stopped_and_gone_on_with(page: Any) -> None:
    page.focus("#games")
    page.keyboard.press("Tab")
    for wanted in page.eval_on_selector_all(
        "#players input", "all => all.map(box => /^mc:400|ismcts/.test(box.value))"
    ):
        if page.evaluate("document.activeElement.checked") != wanted:
            page.keyboard.press("Space")
        page.keyboard.press("Tab")
    page.focus("#begin")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tournaments/*")
    state(page, "Playing")
    page.focus("#toggle")
    for before, after in (("Playing", "Stopped"), ("Stopped", "Playing"), ("Playing", "Stopped")):
        state(page, before)
        page.keyboard.press("Enter")
        state(page, after)
        assert page.evaluate("document.activeElement.id") == "toggle"
    assert page.inner_text("#toggle") == "Resume"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # delete: without games there is no download
    page.wait_for_url("**/tournaments")


def test_what_cannot_be_played_is_said(page: Any) -> None:
    choose(page, "random")
    assert page.inner_text("#count") == "Choose 2 to 8 players; chosen: 1."
    assert page.is_disabled("#begin")
    choose(page, *(f"{name}:{budget}" for name in ("mc", "ismcts") for budget in (100, 400)))
    page.select_option("#seats", "4")
    page.fill("#games", "10")
    assert page.inner_text("#count").startswith("12 games: 3 deals for one line-up of 4 players")
    choose(page, "random", "greedy")
    assert page.inner_text("#count").startswith("24 games: 2 deals for 3 line-ups of 4 players")


@pytest.mark.nightly
def test_a_page_goes_on_when_the_server_comes_back(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        asked = {"players": ["random", "greedy"], "games": 10}
        name = running.ask("POST", "/api/tournaments", asked)[1]["tournament"]
        page = browser.new_context().new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{running.address}/tournaments/{name}")
        state(page, "Finished")
        port = running.address.rpartition(":")[2]
        running.process.kill()
        running.process.wait()
        page.wait_for_function("() => document.querySelector('#line').textContent.includes('does not respond')")
        with serving(tmp_path, "--port", port):
            page.wait_for_function("() => document.querySelector('#line').textContent === ''")
            page.wait_for_selector("#scale:not([hidden])")
        page.context.close()


@pytest.mark.parametrize("width", [390, 1024, 2560])
def test_it_fits_the_screen(width: int, page: Any, server: Server) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    players = ["random", "greedy", "heuristic"]
    asked = {
        "players": players,
        "seats": 4,
        "games": 10,
        "title": "A name that is as long as a name of a tournament may well be",
    }
    name = server.ask("POST", "/api/tournaments", asked)[1]["tournament"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{server.address}/tournaments/{name}")
    page.wait_for_selector("#latest li")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    nameless = page.eval_on_selector_all(
        "button, select, input, a, [role=region]",
        "all => all.filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).length",
    )
    assert nameless == 0
    page.goto("about:blank")
    server.ask("DELETE", f"/api/tournaments/{name}")
