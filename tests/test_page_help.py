"""Help at the table and on the start page in a real browser, without hidden information."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.web.names import verbatim
from helsinki_env.web.store import TableStore
from tests.games import EACH_GAME, TestedGame
from tests.support.browser import Player, decide_by_key, one_by_one, sit, until
from tests.support.sent import assert_explained, assert_nothing_hidden_was_sent
from tests.support.server import Server, seated
from tests.support.server import until as hear


def closed_spot(view: dict[str, Any]) -> str:
    """A spot of another player's board, which no legal action uses."""
    return next(str(name) for name in view["spots"] if name.startswith("cell 1 "))


@EACH_GAME
def test_a_click_on_something_closed_says_why(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game=game.name)
    number = player.turn()["number"]
    player.page.mouse.click(*player.point(closed_spot(player.view)))
    player.page.wait_for_selector("#explained .why")
    assert "other player" in player.page.inner_text("#explained .why") or "another" in player.page.inner_text(
        "#explained"
    )
    assert player.view["number"] == number
    player.press("Escape")
    assert not player.page.is_visible("#explained")
    assert player.wrong == []


def test_a_resting_pointer_reads_what_is_there(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    player.page.mouse.move(*player.point("action 14"))
    player.page.wait_for_selector("#explained:not([hidden])")
    assert "Score 2 points" in player.page.inner_text("#explained")
    player.page.mouse.move(2, 2)
    player.page.wait_for_selector("#explained", state="hidden")


def test_the_arrow_keys_walk_through_the_picture(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    player.turn()
    player.page.focus("#picture")
    player.press("ArrowRight")
    player.page.wait_for_selector("#explained:not([hidden])")
    first = player.page.inner_text("#explained")
    player.press("ArrowRight", "ArrowRight", "ArrowDown")
    player.page.wait_for_function("first => document.querySelector('#explained').innerText !== first", arg=first)
    assert player.page.inner_text("#said")


def test_a_long_touch_explains_what_could_be_used(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", touch=True, width=390)
    number = player.turn()["number"]
    x, y = player.point("space 3")
    player.page.touchscreen.tap(*player.point("action 14"))
    player.page.wait_for_selector("#explained .why")
    player.page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).dispatchEvent("
        "new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: x, clientY: y }))",
        [x, y],
    )
    player.page.wait_for_selector("#explained >> text=A space on the")
    assert player.view["number"] == number


def test_a_long_touch_explains_without_a_context_menu(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", touch=True, width=390)
    number = player.turn()["number"]
    x, y = player.point("space 3")
    send = (
        "([kind, type, x, y]) => document.elementFromPoint(x, y).dispatchEvent(new window[kind](type, { bubbles: true,"
        " cancelable: true, clientX: x, clientY: y, pointerType: 'touch', detail: 1 }))"
    )
    player.page.evaluate(send, ["PointerEvent", "pointerdown", x, y])
    player.page.wait_for_selector("#explained >> text=A space on the")
    player.page.evaluate(send, ["PointerEvent", "pointerup", x, y])
    player.page.evaluate(send, ["PointerEvent", "click", x, y])
    player.page.wait_for_timeout(300)
    assert player.view["number"] == number
    player.page.evaluate(send, ["PointerEvent", "pointerdown", x, y])
    player.page.evaluate(send, ["PointerEvent", "pointerup", x, y])
    player.page.evaluate(send, ["PointerEvent", "click", x, y])
    player.wait(lambda view: view["number"] > number)
    assert player.wrong == []


def test_keys_with_single_characters_can_be_switched_off(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    view = player.turn()
    key = player.key_of(one_by_one(view)[0])
    player.page.uncheck("#shortcuts")
    player.page.focus("#picture")
    player.press(key, "?")
    player.page.reload()
    player.turn()
    player.press(key)
    player.page.wait_for_timeout(300)
    assert player.view["number"] == view["number"]
    assert not player.page.is_visible("#rules")
    player.page.check("#shortcuts")
    player.page.focus("#picture")
    player.press(key)
    player.wait(lambda new: new["number"] > view["number"])


def test_keys_do_nothing_behind_an_open_window(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    view = player.turn()
    player.page.evaluate("document.querySelector('#invitation').showModal()")
    player.press(player.key_of(one_by_one(view)[0]))
    player.page.wait_for_timeout(300)
    assert player.view["number"] == view["number"]


def test_a_menu_of_actions_gives_the_focus_back(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    player.turn()
    player.page.evaluate("document.querySelector('#menu').append(document.createElement('button'))")
    player.page.evaluate("document.querySelector('#menu').hidden = false")
    player.page.focus("#menu button")
    player.press("Escape")
    assert player.page.evaluate("document.activeElement.id") == "picture"


def test_an_invalid_field_in_closed_details_is_shown(server: Server, browser: Any) -> None:
    page = browser.new_page()
    page.goto(server.address)
    page.click("summary >> text=Clock")
    page.fill("#minutes", "0.5")
    page.click("summary >> text=Clock")
    page.wait_for_selector("#minutes", state="hidden")
    page.click("button >> text=Start")
    page.wait_for_selector("#minutes", state="visible")


def test_the_rules_open_on_the_first_visit_and_by_a_key(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", rules="")
    player.page.wait_for_selector("#rules[open] h3")
    player.press("Escape")
    player.page.wait_for_selector("#rules", state="hidden")
    player.page.reload()
    player.turn()
    assert not player.page.is_visible("#rules")
    player.press("?")
    player.page.wait_for_selector("#rules[open] h3")
    text = player.page.inner_text("#rules")
    assert "discard down to 7" in text
    number = player.view["number"]
    player.press("1")
    player.page.wait_for_timeout(200)
    assert player.view["number"] == number, "keys do not act behind the rules"
    assert player.wrong == []


def test_what_a_place_wins_is_written_at_it(server: Server, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "random", game="copenhagen", seed=5), random.Random(4)
    view = until(player, "PLACE", rng)
    meant = next(one for one in view["decisions"] if one["turn"] == player.held() and one["wins"])
    player.page.mouse.move(*player.point(*meant["covers"]))
    assert player.page.text_content(".ghost text.gain")
    assert "pays" in player.page.inner_text("#meant")


@pytest.mark.thorough
@EACH_GAME
def test_the_score_sheet_adds_up_and_is_open_at_the_end(game: TestedGame, server: Server, browser: Any) -> None:
    over = server.make_over("random", "greedy", game=game.name, seed=3)
    player = Player(browser, f"{server.address}/tables/{over}")
    view = player.wait(lambda view: view["done"])
    assert player.page.is_visible("#sheet-table")
    shown = player.page.eval_on_selector_all("#sheet-table .total td", "all => all.map(e => Number(e.textContent))")
    assert shown == [chair["score"] for chair in view["seats"]]
    assert "at the end" not in player.page.inner_text("#sheet-table")


@pytest.mark.thorough
def test_nothing_hidden_is_sent_with_explanations(server: Server, data: Path, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "greedy", game="helsinki", seed=8), random.Random(2)
    for _ in range(14):
        view = player.turn()
        spot = rng.choice([name for name in view["spots"] if not any(name in one["at"] for one in view["decisions"])])
        heard = len(player.answers)
        player.page.evaluate(
            "asked => line.send(JSON.stringify({ type: 'explain', ...asked }))",
            {"spot": spot, "number": view["number"]},
        )
        for _ in range(200):
            if len(player.answers) > heard:
                break
            player.page.wait_for_timeout(20)
        assert player.answers[-1]["spot"] == spot
        decide_by_key(player, rng)
    table = player.view["table"]
    assert_nothing_hidden_was_sent(player, data, table)
    leak = next(one for one in player.answers) | {"why": "The next card is red."}
    store = TableStore(data)
    with pytest.raises(AssertionError):
        assert_explained(store.load(table), leak, 1)
    store.close()


def test_before_the_device_is_handed_over_nothing_is_explained(server: Server) -> None:
    made = server.make("human", "human", game="helsinki")
    with seated(server, made["table"]) as (line, view):
        assert view["handover"] == 0
        line.send(json.dumps({"type": "explain", "number": 0, "spot": "card 3"}))
        assert "must take the device first" in hear(line, lambda _: True)["message"]


def test_a_request_about_an_earlier_picture_has_no_answer(server: Server) -> None:
    with seated(server, server.make("human", "greedy", game="helsinki", seed=8)["table"]) as (line, view):
        for number in (view["number"] + 1, view["number"]):
            line.send(json.dumps({"type": "explain", "number": number, "spot": "cell 9 9"}))
        line.send(json.dumps({"type": "ping"}))
        assert "cell 9 9" in hear(line, lambda new: new["type"] == "error")["message"]
        assert hear(line, lambda _: True)["type"] == "pong", "one answer, to the request about this picture"


@pytest.mark.thorough
@EACH_GAME
def test_the_start_page_begins_games_in_one_click(game: TestedGame, server: Server, browser: Any) -> None:
    title = game.name.capitalize()
    player = Player(browser, server.address)
    player.page.click(f"[aria-label='Play {title} against Medium']")
    view = player.wait(lambda view: True)
    assert [chair["name"] for chair in view["seats"]] == [verbatim("You"), "Medium"]
    assert "Medium" in player.page.text_content("#picture svg"), "the picture has the names of the table"
    player.page.goto(server.address)
    player.page.wait_for_selector(f".game[aria-label={title}] .view svg")
    player.page.click(f".game[aria-label={title}] >> text=How to play")
    player.page.wait_for_selector("#rules[open] h3")
    player.press("Escape")
    player.page.click(f".game[aria-label={title}] .learn")
    player.page.wait_for_selector("#lesson >> text=Step 1 of")
    assert player.wrong == []


def test_each_game_has_its_own_invitation(server: Server, browser: Any) -> None:
    player = Player(browser, server.address, rules="")
    player.page.click(".game[aria-label=Helsinki] .learn >> text=New here?")
    player.page.wait_for_selector("#lesson >> text=Step 1 of")
    player.page.goto(server.address)
    player.page.wait_for_selector(".game[aria-label=Helsinki] .learn >> text=Guided game")
    player.page.wait_for_selector(".game[aria-label=Copenhagen] .learn >> text=New here?")
    player.page.click("[aria-label='Play Copenhagen against Easy']")
    player.page.wait_for_selector("#rules[open] h3")
    player.press("Escape")
    player.page.goto(server.address)
    player.page.wait_for_selector(".game[aria-label=Copenhagen] .learn >> text=Guided game")


@pytest.mark.nightly
def test_a_rematch_swaps_seats(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="copenhagen", seed=2)
    rng = random.Random(1)
    while not player.turn()["done"]:
        decide_by_key(player, rng)
    old = player.view["table"]
    player.page.click("#player >> text=Swap seats")
    view = player.wait(lambda view: view["table"] != old)
    assert [chair["player"] for chair in view["seats"]] == ["random", "human"]
    assert player.wrong == []


def test_a_rematch_keeps_the_configuration(server: Server) -> None:
    made = server.make("human", "random", "greedy", game="helsinki", options={"first_game": True})
    status, again, _ = server.ask("POST", f"/api/tables/{made['table']}/again", {})
    assert status == 201
    with seated(server, again["table"]) as (_, view):
        assert [chair["player"] for chair in view["seats"]] == ["human", "random", "greedy"]
        assert view["svg"].count("(covered)") == 5
    linked = server.make("human", "human", game="helsinki", sharing="links")
    status, answer, _ = server.ask("POST", f"/api/tables/{linked['table']}/again", {})
    assert status == 400
    assert "links of their own" in answer["error"]
    assert server.ask("POST", "/api/tables/nowhere/again", {})[0] == 404
