"""The pages of `helsinki play` in a real browser: by keyboard and by mouse, on screens of any width."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.engine.spec import config_from_dict
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.games import ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.browser import Player, decide_by_key, one_by_one, pick_by_mouse, sit, until
from tests.support.server import Server, serving


@pytest.mark.thorough
@ONE_GAME_OR_EACH_NIGHTLY
def test_a_whole_game_by_keys_alone(game: TestedGame, server: Server, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "greedy", game=game.name, seed=3, motion=True), random.Random(1)
    while not player.turn()["done"]:
        decide_by_key(player, rng)
    assert "The game is over" in player.page.inner_text("#headline")
    assert player.wrong == []


@pytest.mark.thorough
@ONE_GAME_OR_EACH_NIGHTLY
def test_a_tile_is_placed_by_mouse(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game=game.name, seed=4)
    rng = random.Random(2)
    while True:
        view = until(player, "PLACE", rng)
        places = [one for one in view["decisions"] if one["turn"] is not None]
        held = player.held()
        if len([one for one in places if one["turn"] == held]) > 2 and {one["turn"] for one in places} > {held}:
            break
        decide_by_key(player, rng)
    meant = next(one for one in reversed(places) if one["turn"] == held)
    turns = {one["turn"] for one in places}
    player.page.mouse.move(*player.point(*meant["covers"]))
    assert player.tile() == set(meant["covers"])
    player.press("r")
    assert player.held() == next(turn for turn in (*meant["rotated"], held) if turn in turns)
    flipped = next(one["flipped"] for one in places if one["turn"] == player.held())
    player.press("f")
    assert player.held() == next(turn for turn in flipped if turn in turns)
    while player.held() != held:
        player.press(rng.choice("rf"))
    player.press("Escape")
    assert player.tile() == set()
    player.page.mouse.move(5, 5)
    player.page.mouse.click(*player.point(*meant["covers"]))
    after = player.wait(lambda new: new["number"] > view["number"])
    assert after["log"][view["number"]]["seat"] == 0
    assert player.wrong == []


@ONE_GAME_OR_EACH_NIGHTLY
def test_each_tile_begins_in_its_first_orientation(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game=game.name, seed=4)
    rng, reset = random.Random(2), False
    while not reset:
        view = until(player, "PLACE", rng)
        player.press("r")
        last = player.held()
        player.page.mouse.click(*player.point(*next(one["covers"] for one in view["decisions"] if one["turn"] == last)))
        player.wait(lambda new, at=view["number"]: new["number"] > at)
        turns = {one["turn"] for one in until(player, "PLACE", rng)["decisions"] if one["turn"] is not None}
        assert player.held() == min(turns)
        reset = last in turns - {min(turns)}


@pytest.mark.thorough
def test_the_points_of_the_whole_turn_are_marked(server: Server, browser: Any) -> None:
    def scores(view: dict[str, Any]) -> list[int]:
        return [seat["score"] for seat in view["seats"]]

    player, rng, found = sit(browser, server, "human", "greedy", game="helsinki", seed=4), random.Random(2), 0
    while not found:
        decide_by_key(player, rng)
        view = player.turn()
        earlier = [one for one in player.views if one["number"] < view["number"]]
        first = next(one for one in reversed(earlier) if not one["turn"])
        won = [now - before for now, before in zip(scores(view), scores(first), strict=True)]
        assert player.page.locator("#seats .won").all_inner_texts() == [f"{points:+d}" for points in won if points]
        found += any(won) and scores(view) == scores(earlier[-1])  # of an earlier step


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_click_where_the_tile_cannot_lie_places_nothing(game: TestedGame, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game=game.name, seed=4)
    view = until(player, "PLACE", random.Random(2))
    places = [one for one in view["decisions"] if one["turn"] == player.held()]
    closed = next(
        name
        for name in view["spots"]
        if name.startswith("cell 0 ") and not any(name in one["at"] for one in view["decisions"])
    )
    player.page.mouse.click(*player.point(closed))
    player.page.wait_for_selector("#explained .why")
    assert player.tile() == set()
    assert player.page.is_disabled("#here")
    assert player.view["number"] == view["number"]
    meant = places[0]
    player.page.mouse.click(*player.point(meant["at"][-1]))  # in Helsinki, a cell that the tile passes
    after = player.wait(lambda new: new["number"] > view["number"])
    covered = {one["said"] for one in places if meant["at"][-1] in one["at"]}
    assert after["log"][view["number"]]["words"] in covered
    assert player.wrong == []


def test_a_tile_is_placed_by_two_touches(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="copenhagen", seed=4, touch=True, width=390, look="follow")
    view = until(player, "PLACE", random.Random(2))
    places = [one for one in view["decisions"] if one["turn"] is not None]
    meant = next(one for one in places if one["turn"] == min(one["turn"] for one in places))
    at = player.point(*meant["covers"])
    player.page.touchscreen.tap(*at)
    player.page.wait_for_selector(".ghost .tile", state="attached")
    player.page.wait_for_timeout(300)  # the following click is ignored
    assert player.tile() == set(meant["covers"])
    assert player.view["number"] == view["number"]
    player.page.touchscreen.tap(*at)
    after = player.wait(lambda new: new["number"] > view["number"])
    assert after["log"][view["number"]]["words"] == meant["said"]


def test_a_question_stays_when_somebody_else_looks(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", confirm="yes")
    player.press("1")
    seen = len(player.views)
    Player(browser, player.page.url).wait(lambda view: True)
    assert player.page.is_visible("#armed")
    assert len(player.views) == seen, "nothing has changed, so nothing is sent"


def test_a_wrong_key_is_refused_once_and_for_all(server: Server, browser: Any) -> None:
    made = server.make("human", "human", sharing="links")
    page = browser.new_context().new_page()
    page.goto(f"{server.address}/tables/{made['table']}#key=wrong")
    page.wait_for_selector("#error:not([hidden])")
    assert "cannot open" in page.inner_text("#headline")
    assert "link" in page.inner_text("#error")
    forget = f"/api/tables/{made['table']}"  # possible once the connection is closed
    assert any(server.ask("DELETE", forget)[0] == 200 or page.wait_for_timeout(50) for _ in range(200))


def test_a_player_is_stopped_by_a_press_during_which_it_decides(server: Server, browser: Any) -> None:
    player = sit(browser, server, "greedy", "greedy", game="helsinki", pace="400")
    stop = "#player button >> text=Stop"
    player.page.hover(stop)
    player.page.mouse.down()
    seen = player.view["number"]
    player.wait(lambda view: view["number"] >= seen + 2)
    player.page.mouse.up()
    stopped = player.wait(lambda view: view["paused"] or view["done"])
    assert not stopped["done"]
    player.page.click("#player button >> text=Resume")
    player.wait(lambda view: view["number"] > stopped["number"])
    player.page.focus(stop)
    seen = player.view["number"]
    player.wait(lambda view: view["number"] >= seen + 2)
    player.press("Enter")
    assert not player.wait(lambda view: view["paused"] or view["done"])["done"]
    assert player.wrong == []


def test_what_was_decided_is_taken_back_while_players_decide(server: Server, browser: Any) -> None:
    players, rng = ("human", "greedy", "greedy", "greedy"), random.Random(5)
    player = sit(browser, server, *players, game="helsinki", pace="400")
    while True:
        view = player.turn()
        decide_by_key(player, rng)
        if not player.view["decisions"]:
            break
    first = player.view["takeback"][0]
    back = "#log button >> nth=-1"
    player.page.focus(back)
    player.wait(lambda now: now["number"] > view["number"] + 1)
    player.press("Enter")
    player.page.wait_for_selector("#armed:not([hidden])")
    asked = player.view["number"]
    player.wait(lambda now: now["number"] > asked)
    player.page.click("#armed button >> text=Yes")
    player.wait(lambda now: now["number"] == first)
    assert player.wrong == []


@ONE_GAME_OR_EACH_NIGHTLY
def test_what_others_have_built_is_marked_until_the_own_decision(
    game: TestedGame, server: Server, browser: Any
) -> None:
    player, rng, seen = sit(browser, server, "human", "greedy", game=game.name, seed=6), random.Random(5), 0
    while seen < 2:
        before = player.turn()["number"]
        decide_by_key(player, rng)
        view = player.turn()
        others = [one["words"] for one in view["log"] if one["number"] >= before and one["seat"] == 1]
        built = any(words.startswith(("pushed", "laid")) for words in others)
        marked = player.page.locator("#picture .latest").count()
        if built:
            assert marked
        elif all(words.startswith(("moved", "took", "discarded")) for words in others):
            assert not marked
        seen += built


@ONE_GAME_OR_EACH_NIGHTLY
def test_what_glows_is_clicked(game: TestedGame, server: Server, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "random", game=game.name, seed=5), random.Random(3)
    for _ in range(12):
        view = player.turn()
        if any(one["turn"] is not None for one in view["decisions"]):
            decide_by_key(player, rng)
            continue
        alone = one_by_one(view)
        if not alone:
            pick_by_mouse(player, rng)
            player.page.click("#settle")
            player.wait(lambda new, number=view["number"]: new["number"] > number)
            continue
        meant = rng.choice(alone)
        player.page.mouse.click(*player.point(meant["at"][0]))
        after = player.wait(lambda new, number=view["number"]: new["number"] > number)
        assert after["log"][view["number"]]["words"] == meant["said"]


def test_it_asks_before_what_cannot_be_undone(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", confirm="yes")
    number = player.turn()["number"]
    player.press("1")
    assert "cannot be undone" in player.page.inner_text("#armed")
    player.press("Escape")
    assert not player.page.is_visible("#armed")
    assert player.view["number"] == number
    player.press("1", "Enter")
    player.wait(lambda view: view["number"] > number)


def test_undo(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki")
    view = until(player, "MOVE", random.Random(1))
    number = view["number"]
    player.press("2")
    assert player.wait(lambda new: new["number"] == number + 1)["undo"] == number
    player.press("u")
    again = player.wait(lambda new: new["number"] == number)
    assert [one["id"] for one in again["decisions"]] == [one["id"] for one in view["decisions"]]
    player.press("2")
    player.wait(lambda new: new["number"] == number + 1)
    player.page.click("#turn button")
    player.wait(lambda new: new["number"] == number)
    player.page.click("#log button")
    assert "deleted" in player.page.inner_text("#armed")
    player.press("Enter")
    player.wait(lambda new: new["number"] < number)


def test_the_device_is_handed_on(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "human", game="helsinki")
    for seat in (0, 1):
        player.wait(lambda view, seat=seat: view["handover"] == seat)
        assert player.page.inner_text("#handover h2").startswith("Hand the device to")
        assert not player.page.is_visible("#picture")
        player.press("Enter")  # the button has the focus
        player.turn()
        while player.view["handover"] is None:
            decide_by_key(player, random.Random(1))
    assert player.wrong == []


def test_the_start_page(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    player.page.select_option("#game", "helsinki")
    player.page.select_option("#players", "3")
    assert player.page.locator("#chairs li").count() == 3
    player.page.fill("#chairs input >> nth=0", "Ann <b>")
    player.page.select_option("#chairs select >> nth=2", "random")
    player.page.check("[name='option first_game']")
    player.page.select_option("[name='option components']", "more_small_tiles")
    player.page.click("#new button.main")
    view = player.wait(lambda view: True)
    assert [chair["player"] for chair in view["seats"]] == ["human", "heuristic", "random"]
    assert player.page.inner_text("#seats .name >> nth=0") == "Ann <b>"
    assert view["svg"].count("(covered)") == 5
    player.page.goto(server.address)
    player.page.wait_for_selector(f"#tables a[href='/tables/{view['table']}']")
    assert player.wrong == []


@pytest.mark.thorough
def test_long_lists_of_tables_come_in_parts(tmp_path: Path, browser: Any) -> None:
    store = TableStore(tmp_path)
    config = config_from_dict({"num_players": 2})
    over = GameTable("", "", config, 3, (SeatAssignment(HUMAN, "Ann"), SeatAssignment("random", "Bob")))
    rng = random.Random(1)
    while not over.game.done:
        over.decide(over.number, rng.choice(over.game.legal_actions().tolist()), "")
    for number in range(63):
        over.name, over.title = f"t{number:03}", f"Game {number}"
        store.add(over)
    store.add(GameTable("begun", "", config, 3, over.chairs))
    store.close()
    with serving(tmp_path) as running:
        parts = [running.ask("GET", f"/api/tables?over=true&offset={first}&limit=25") for first in (0, 25, 50)]
        names = [one["table"] for _, part, _ in parts for one in part]
        assert (len(names), len(set(names)), names[0], names[-1]) == (63, 63, "t062", "t000")
        assert {headers["x-total-count"] for _, _, headers in parts} == {"63"}
        assert [one["table"] for one in running.ask("GET", "/api/tables?over=false")[1]] == ["begun"]
        assert len(running.ask("GET", "/api/tables")[1]) == 64
        player = Player(browser, running.address)
        page = player.page
        page.wait_for_selector("#finished >> text=Game 62")
        assert page.locator("#tables a").count() == 1
        page.click("#finished >> text=Show 25 more (38 left)")
        page.wait_for_selector("#finished >> text=Game 13")
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("[aria-label='Delete the table Game 20']")
        page.wait_for_selector("#finished >> text=Show 12 more (12 left)")
        assert page.locator("#finished >> text=Game 20").count() == 0
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Delete the table Game 19"
        page.click("#finished >> text=Show 12 more (12 left)")
        page.wait_for_selector("#finished >> text=Game 0")
        assert page.locator("#finished a").count() == 62
        assert not page.is_visible("#finished .more")
        assert player.wrong == []


def test_a_double_click_makes_one_table(server: Server, browser: Any) -> None:
    before = len(server.ask("GET", "/api/tables")[1])
    page = browser.new_context().new_page()
    page.goto(server.address)
    page.select_option("#chairs select >> nth=1", "human")
    page.check("[name=sharing][value=links]")
    page.dblclick("#new button.main")
    page.wait_for_selector("#links a, #links input")
    page.wait_for_load_state("networkidle")
    assert len(server.ask("GET", "/api/tables")[1]) == before + 1


@pytest.mark.thorough
@pytest.mark.parametrize("width", [390, 1024, 2560])
def test_it_fits_the_screen(width: int, server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "random", game="helsinki", width=width, height=900, look="follow")
    until(player, "PLACE", random.Random(4))
    assert player.page.evaluate("document.documentElement.scrollWidth") <= width
    nameless = player.page.eval_on_selector_all(
        "button, select, input, a",
        "all => all.filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).length",
    )
    assert nameless == 0
    box = player.page.locator("#picture > svg").bounding_box()
    assert box["width"] >= 0.55 * min(width, 1400)
    player.page.goto(server.address)
    player.page.wait_for_selector("#chairs li")
    assert player.page.evaluate("document.documentElement.scrollWidth") <= width


def test_pages_name_no_game() -> None:
    static = Path(__file__).resolve().parent.parent / "helsinki_env" / "web" / "static"
    for path in filter(Path.is_file, static.iterdir()):
        words = path.read_text(encoding="utf-8").lower().replace("helsinki_env", "")
        assert "helsinki" not in words, path.name
        assert "copenhagen" not in words, path.name
