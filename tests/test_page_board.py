"""A user's board: edited on the start page, checked at each field, and played."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.web.practice import _position_of, _table_at
from helsinki_env.web.records import SavedGames
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import TableError
from tests.support.browser import Player
from tests.support.server import Server, decide_first, seated, serving


def fill_in(player: Player, label: str, value: str) -> None:
    player.page.fill(f"#board [aria-label='{label}']", value)


def said_at(player: Player, key: str, text: str) -> None:
    """Use the board and expect a message at a field."""
    player.page.click("#board >> text=Use this board")
    player.page.wait_for_selector(f"[id='wrong-{key}'] >> text={text}")
    wrong = player.page.locator("#board [aria-invalid=true]")
    assert [wrong.nth(i).get_attribute("data-key") for i in range(wrong.count())] == [key]


def played(player: Player) -> dict[str, Any]:
    player.page.click("#board >> text=Use this board")
    player.page.wait_for_selector("#board >> text=The next table has this board")
    assert player.page.locator("#board .wrong:not(:empty)").count() == 0
    player.page.click("#new > button.main")
    return player.wait(lambda view: view["decisions"])


def answer(player: Player, message: dict[str, Any]) -> dict[str, Any]:
    player.page.evaluate("message => line.send(JSON.stringify(message))", message)
    while not player.answers:
        player.page.wait_for_timeout(20)
    return player.answers[-1]


@pytest.mark.thorough
def test_a_board_is_edited_checked_and_played(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    player.page.click("#board summary")
    fill_in(player, "two points, cost", "9")
    said_at(player, "actions.two_points.cost", "found 9, expected a whole number of coats of arms from 0 to 3")
    fill_in(player, "two points, cost", "")
    said_at(player, "actions.two_points.cost", "found nothing, expected a whole number")
    fill_in(player, "two points, cost", "1.5")
    said_at(player, "actions.two_points.cost", "found 1.5, expected a whole number")
    fill_in(player, "two points, cost", "2")
    fill_in(player, "two points, strength", "5")
    view = played(player)
    assert (
        "5 points (2 coats): Score 5 points now."
        in answer(player, {"type": "explain", "number": player.view["number"], "spot": "action 14"})["help"]
    )
    with seated(server, view["table"]) as (_, again):
        assert again["svg"] == player.view["svg"], "the saved table has the same board"
    assert [said for said in player.wrong if "400" not in said] == []


@pytest.mark.thorough
def test_a_board_of_copenhagen(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    player.page.select_option("#game", "copenhagen")
    player.page.click("#board summary")
    fill_in(player, "cards, player 2", "9")
    said_at(player, "cards.hands[1]", "found 9, expected a whole number from 0 to 7")
    fill_in(player, "cards, player 2", "4")
    fill_in(player, "cards, 2 players", "1")
    said_at(player, "cards.copies.players_2", "found 1, expected at least 3")
    fill_in(player, "cards, 2 players", "14")
    fill_in(player, "2 players, 3 cells", "")
    said_at(player, "tiles.copies.players_2[1]", "found nothing, expected a whole number")
    fill_in(player, "2 players, 3 cells", "5")
    fill_in(player, "points that end the game", "20")
    player.page.uncheck("#board >> text=both actions")
    view = played(player)
    assert f"ability {view['viewer']} 4" in view["spots"]
    denied = answer(player, {"type": "explain", "number": player.view["number"], "spot": f"ability {view['viewer']} 4"})
    assert denied["why"] == "Both actions is denied to you in this game."
    player.answers.clear()
    rules = " ".join(one["text"] for one in answer(player, {"type": "rules"})["sections"])
    assert "The first player with 20 points wins" in rules
    assert [said for said in player.wrong if "400" not in said] == []


@pytest.mark.thorough
def test_the_published_board_comes_back(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    player.page.click("#board summary")
    fill_in(player, "two points, strength", "5")
    player.page.click("#board >> text=Use this board")
    player.page.wait_for_selector("#board >> text=The next table has this board")
    player.page.click("#board >> text=Published board")
    assert player.page.input_value("[aria-label='two points, strength']") == "2"
    player.page.click("#new > button.main")
    player.wait(lambda view: view["decisions"])
    assert (
        "2 points" in answer(player, {"type": "explain", "number": player.view["number"], "spot": "action 14"})["help"]
    )


def test_a_saved_board_is_shown_and_deleted(tmp_path: Path, browser: Any) -> None:
    with serving(tmp_path) as server:
        player = Player(browser, server.address, language="de")
        page, asked = player.page, list[str]()

        def accept(dialog: Any) -> None:
            asked.append(dialog.message)
            dialog.accept()

        page.on("dialog", accept)
        page.click("#board summary")
        said, boards = page.locator("#board p[role=status]"), page.locator("#board .tables li")
        fill_in(player, "zwei Punkte, Stärke", "5")
        page.click("#board >> text=Dieses Tableau nehmen")
        boards.get_by_text("zwei Punkte, Stärke: 5").wait_for()
        options = {"components": server.ask("GET", "/api/games/helsinki/board")[1]["saved"][0]["components"]}
        table = server.make_over("random", "random", game="helsinki", seed=1, options=options)
        page.click("#board >> text=Veröffentlichtes Tableau")
        boards.get_by_text("Zeigen").click()
        assert page.input_value("[aria-label='zwei Punkte, Stärke']") == "5"
        boards.get_by_text("Löschen").click()
        said.get_by_text("Es gibt noch Spiele mit diesem Tableau (Tische: 1,").wait_for()
        assert server.ask("GET", "/api/tables?over=true")[1][0]["table"] == table, "the game is still there"
        assert server.ask("DELETE", f"/api/tables/{table}")[0] == 200
        boards.get_by_text("Löschen").click()
        said.get_by_text("Das Tableau ist gelöscht.").wait_for()
        assert page.is_hidden("#board .tables")
        assert asked == ["Das Tableau „zwei Punkte, Stärke: 5“ und seine Aufgaben löschen?"] * 2
        assert not list((tmp_path / "boards").iterdir())
        chairs = [{"player": "human"}, {"player": "random"}]
        status, answered, _ = server.ask("POST", "/api/tables", {"chairs": chairs, "options": options})
        assert (status, "expected a saved board" in answered["error"]) == (400, True)
        assert [wrong for wrong in player.wrong if "400" not in wrong] == []


def test_what_uses_a_board_keeps_it(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        made = server.ask("POST", "/api/boards", {"game": "copenhagen", "values": {"rules.goal": 2}})[1]
        path = f"/api/boards/{made['components']}"
        assert server.ask("GET", "/api/games/helsinki/board")[1]["saved"] == []
        saved = server.ask("GET", "/api/games/copenhagen/board")[1]["saved"]
        assert saved == [made | {"values": {"rules.goal": 2}}]
        over = server.make_over("random", "greedy", game="copenhagen", seed=1, options=made)
        record = server.ask("POST", "/api/records", json.dumps({"table": over}).encode())[1]["record"]
        store = TableStore(tmp_path)
        position = store.boards.portable_text(_position_of(store.load(over), 1))
        with store.transaction():
            row = ("x", "copenhagen", "", position, 0, 0.1, 0.0)
            store.rows.execute(
                "INSERT INTO exercises (name, game, title, position, taken, regret, due) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        server.ask("DELETE", f"/api/tables/{over}")
        status, answered, _ = server.ask("DELETE", path)
        assert (status, "games saved for analysis: 1" in answered["error"]) == (400, True)
        server.ask("DELETE", f"/api/records/{record}")
        assert server.ask("DELETE", path)[0] == 200
        assert store.rows.execute("SELECT count(*) FROM exercises").fetchone() == (0,)
        assert server.ask("DELETE", path)[0] == 400
        store.close()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"game": "copenhagen", "values": {"board.coats": 3}}, "values: found the key 'board.coats'"),
        ({"values": {"rules.goal": 3}}, "values: found the key 'rules.goal'"),
        ({"values": {"rules.hand_limit": "x"}}, "values.rules.hand_limit: found 'x'"),
        ({"values": {"rules.hand_limit": -1}}, "rules.hand_limit: found -1"),
    ],
)
def test_numbers_that_no_board_has(body: Any, message: str, server: Server) -> None:
    status, found, _ = server.ask("POST", "/api/boards", body)
    assert status in (400, 422)
    assert found["error"].startswith(message)


def test_boards_that_do_not_exist_are_rejected(server: Server) -> None:
    chairs = [{"player": "human"}, {"player": "random"}]
    for name in ("own-000000000000", "own-../../x", "own-"):
        status, answered, _ = server.ask("POST", "/api/tables", {"chairs": chairs, "options": {"components": name}})
        assert status == 400
        assert "expected a saved board" in answered["error"]


@pytest.mark.thorough
def test_games_with_an_own_board_are_played_in_a_moved_folder(tmp_path: Path) -> None:
    before, moved = tmp_path / "before", tmp_path / "moved"
    with serving(before) as server:
        made = server.ask("POST", "/api/boards", {"game": "copenhagen", "values": {"rules.goal": 2}})[1]
        options = made | {"denied": ["both_actions"]}
        table = server.make("human", "greedy", game="copenhagen", seed=1, options=options)["table"]
        over = server.make_over("random", "greedy", game="copenhagen", seed=1, options=made)
        record = server.ask("POST", "/api/records", json.dumps({"table": over}).encode())[1]["record"]
        with seated(server, table) as (line, view):
            decide_first(line, view)
        server.end()
    store = TableStore(before)
    saved = " ".join(map(str, store.rows.execute("SELECT config FROM tables UNION SELECT record FROM records")))
    assert str(tmp_path) not in saved
    position = store.boards.portable_text(_position_of(store.load(table), 1))
    store.close()
    shutil.move(before, moved)
    shutil.rmtree(moved / "boards")
    store = TableStore(moved)
    for config in (store.load(table).config, SavedGames(store).load(record).begin.config):
        assert config.component_set.goal == 2
        assert Path(config.components).is_relative_to(moved)
    assert _table_at("x", "", store.boards.local_text(position)).config.component_set.goal == 2
    assert store.load(table).config.denied == ((4,), (4,))
    store.close()
    with serving(moved) as server, seated(server, table) as (_, view):
        assert view["number"] >= 1
        assert server.ask("GET", f"/api/records/{record}")[0] == 200


def test_the_database_decides_what_is_on_a_board(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        made = server.ask("POST", "/api/boards", {"values": {"rules.hand_limit": 5}})[1]
        table = server.make("human", "greedy", options=made)["table"]
    path = tmp_path / "boards" / f"{made['components']}.yaml"
    path.write_text(path.read_text().replace("hand_limit: 5", "hand_limit: 6"))
    store = TableStore(tmp_path)
    assert store.load(table).config.component_set.hand_limit == 5
    with store.transaction():
        store.rows.execute("DELETE FROM boards")
    path.write_text(path.read_text().replace("hand_limit: 5", "hand_limit: 6"))
    store.load(table)
    assert store.rows.execute("SELECT count(*) FROM boards").fetchone() == (0,), "its name is of another content"
    store.close()


def test_games_of_an_earlier_version_have_the_path_of_their_board(tmp_path: Path) -> None:
    before, moved = tmp_path / "before", tmp_path / "moved"
    with serving(before) as server:
        made = server.ask("POST", "/api/boards", {"values": {"rules.hand_limit": 5}})[1]
        table = server.make("human", "greedy", options=made)["table"]
    store = TableStore(before)
    path = before / "boards" / f"{made['components']}.yaml"
    with store.transaction():
        store.rows.execute("UPDATE tables SET config = json_set(config, '$.components', ?)", (str(path),))
        store.rows.execute("DELETE FROM boards")
    assert store.load(table).config.component_set.hand_limit == 5
    store.close()
    shutil.move(before, moved)
    shutil.rmtree(moved / "boards")
    store = TableStore(moved)
    assert store.load(table).config.component_set.hand_limit == 5
    with store.transaction():
        store.rows.execute("DELETE FROM boards")
    shutil.rmtree(moved / "boards")
    with pytest.raises(TableError, match="components"):
        store.load(table)
    store.close()
