"""A user's board: edited on the start page, checked at each field, and played."""

from __future__ import annotations

from typing import Any

from tests.support.browser import Player
from tests.support.server import Server, seated


def test_a_board_is_edited_checked_and_played(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    page = player.page
    page.click("#board summary")
    page.fill("[aria-label='Cost of two points']", "9")
    page.click("#board >> text=Use this board")
    page.wait_for_selector("#wrong-two_points >> text=found 9, expected a whole number of coats of arms from 0 to 3")
    assert page.get_attribute("[aria-label='Cost of two points']", "aria-invalid") == "true"
    page.fill("[aria-label='Cost of two points']", "2")
    page.fill("[aria-label='Strength of two points']", "5")
    page.click("#board >> text=Use this board")
    page.wait_for_selector("#board >> text=The next table has this board")
    assert page.inner_text("#wrong-two_points") == ""
    page.click("#new > button.main")
    view = player.wait(lambda view: view["decisions"])
    page.evaluate("line.send(JSON.stringify({ type: 'explain', spot: 'action 14' }))")
    while not player.answers:
        page.wait_for_timeout(20)
    assert "5 points (2 coats): Score 5 points now." in player.answers[-1]["help"]
    with seated(server, view["table"]) as (_, again):
        assert again["svg"] == player.view["svg"], "the saved table has the same board"
    assert [said for said in player.wrong if "400" not in said] == []


def test_boards_that_do_not_exist_are_rejected(server: Server) -> None:
    chairs = [{"player": "human"}, {"player": "random"}]
    for name in ("own-000000000000", "own-../../x", "own-"):
        status, answer, _ = server.ask("POST", "/api/tables", {"chairs": chairs, "options": {"components": name}})
        assert status == 400
        assert "expected a saved board" in answer["error"]
    status, answer, _ = server.ask("POST", "/api/boards", {"game": "copenhagen", "actions": {}})
    assert status == 400
    assert "expected a game with board actions" in answer["error"]
    assert server.ask("GET", "/api/games/copenhagen/board")[1] == []
