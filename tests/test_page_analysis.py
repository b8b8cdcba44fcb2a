"""The analysis pages of `helsinki play` in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.evaluation.match import play_match
from helsinki_env.records import Record, replay_steps
from helsinki_env.web.names import verbatim
from tests.games import GAMES, ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.browser import Player
from tests.support.server import Server
from tests.test_accessibility import problems
from tests.test_records import bring

pytestmark = pytest.mark.thorough


def played(game: TestedGame, seed: int = 5) -> Record:
    return next(play_match(["greedy", "random"], game.spec.config(num_players=2), games=2, seed=seed).records())


def position_of(record: Record, number: int) -> str:
    """The position after a number of actions as indented JSON."""
    game = next(game for i, (game, _) in enumerate(replay_steps(record)) if i == number)
    return json.dumps(game.spec.to_dict(game), indent=1)


def paste(browser: Any, server: Server, text: str, **more: Any) -> Player:
    """A page with a pasted and opened text."""
    player = Player(browser, f"{server.address}/analysis", **more)
    player.page.fill("#text", text)
    player.page.click("#open")
    return player


def shown(player: Player) -> str:
    """The position label of the viewer."""
    return str(player.page.inner_text(".where"))


def ask_who_plays_on(page: Any) -> None:
    page.click("#play-on")
    page.wait_for_selector("#seats[open]")


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_pasted_game_is_stepped_through_judged_and_played_on(game: TestedGame, server: Server, browser: Any) -> None:
    record = played(game)
    count = len(record.decisions)
    player = paste(browser, server, record.to_json())
    page = player.page
    page.wait_for_selector("#tools:not([hidden])")
    assert "/analysis/" in page.url
    assert shown(player).startswith(f"0 of {count}")
    player.press("ArrowRight", "ArrowRight")
    assert shown(player).startswith(f"2 of {count}")
    page.wait_for_selector(".costliest:not([hidden])", timeout=120_000)
    assert page.get_attribute(".graph", "aria-label").startswith("Win probabilities")
    assert page.is_hidden("#start")
    player.press("End")
    assert page.is_disabled("#play-on")
    page.click(".costliest button")
    number = int(shown(player).split()[0])
    assert 0 < number <= count
    player.press("ArrowLeft")
    ask_who_plays_on(page)
    before = next(one for i, (one, _) in enumerate(replay_steps(record)) if i == number - 1)
    choices = [one.input_value() for one in page.locator("#chairs select").all()]
    assert choices == ["human" if seat == before.seat else record.players[seat] for seat in (0, 1)]
    page.click("#new button.main")
    view = player.wait(lambda view: view["number"] >= number - 1)
    assert (view["number"], view["mine"], view["seat"]) == (number - 1, [before.seat], before.seat)
    assert {one["id"] for one in view["decisions"]} == set(before.legal_actions().tolist())
    assert player.wrong == []


def judged_at_length(browser: Any, server: Server, seed: int) -> Player:
    """A page that shows the network's evaluation and has started one by a long search."""
    player = paste(browser, server, played(GAMES[0], seed=seed).to_json())
    player.page.wait_for_selector(".costliest:not([hidden])", timeout=120_000)
    player.page.select_option("#evaluator", "net+search:400")
    player.page.wait_for_selector("#start:not([hidden])")
    player.page.click("#start")
    player.page.wait_for_selector("#progress:not([hidden])")
    return player


def test_a_judge_is_chosen_stopped_and_gone_on_with(server: Server, browser: Any) -> None:
    player = judged_at_length(browser, server, seed=9)
    page = player.page
    assert page.inner_text("#start") == "Stop"
    page.click("#start")
    page.wait_for_selector("#progress", state="hidden")
    assert page.inner_text("#start") in ("Evaluate", "Resume")
    page.select_option("#evaluator", "net")
    page.wait_for_selector(".costliest:not([hidden])")
    page.reload()
    page.wait_for_selector(".costliest:not([hidden])", timeout=120_000)
    assert page.input_value("#evaluator") == "net"
    assert player.wrong == []


def test_an_answer_that_comes_late_does_not_hide_what_was_asked_since(server: Server, browser: Any) -> None:
    """The user selects another evaluator before the page learns that the first one stopped."""
    player = judged_at_length(browser, server, seed=10)
    page = player.page
    late: list[tuple[Any, Any]] = []
    page.route("**/evaluation*", lambda route: stop(route) if route.request.method == "DELETE" else route.continue_())

    def stop(route: Any) -> None:
        late.append((route, route.fetch()))

    page.click("#start")
    while not late:
        page.wait_for_timeout(10)
    page.select_option("#evaluator", "net")
    page.wait_for_selector(".costliest:not([hidden])")
    ((route, answer),) = late
    assert answer.json()["state"] == "stopped"
    with page.expect_event("requestfinished", lambda request: request.method == "DELETE"):
        route.fulfill(response=answer)
    page.wait_for_timeout(100)  # wait for the page's scripts
    assert page.is_visible(".costliest")
    assert page.is_hidden("#start")
    assert page.input_value("#evaluator") == "net"
    assert player.wrong == []


def test_what_is_wrong_is_marked_in_the_text(server: Server, browser: Any) -> None:
    text = position_of(played(GAMES[0]), 40)
    mistake = text.replace('"round": ', '"round": -')
    player = paste(browser, server, mistake)
    page = player.page
    page.wait_for_selector("#error mark")
    marked = page.inner_text("#error mark")
    assert marked.startswith('"round": -')
    assert "round: found -" in page.inner_text("#error")
    chosen = page.evaluate(
        "(() => { const t = document.querySelector('#text');"
        " return t.value.slice(t.selectionStart, t.selectionEnd) })()"
    )
    assert chosen == marked
    assert page.evaluate("document.activeElement.id") == "text"
    page.fill("#text", text)
    page.click("#open")
    page.wait_for_selector("#tools:not([hidden])")
    assert [said for said in player.wrong if "400" not in said] == []


def test_what_is_told_late_of_a_text_does_not_disturb_the_next(server: Server, browser: Any) -> None:
    """The rejection of the first text arrives while the user edits another one."""
    player = Player(browser, f"{server.address}/analysis")
    page, late = player.page, []
    page.route("**/api/records/look", lambda route: late.append((route, route.fetch())))
    page.fill("#text", position_of(played(GAMES[0]), 40).replace('"round": ', '"round": -'))
    page.click("#open")
    while not late:
        page.wait_for_timeout(10)
    page.fill("#text", "something else")
    ((route, answer),) = late
    assert answer.status == 400
    with page.expect_event("requestfinished"):
        route.fulfill(response=answer)
    page.wait_for_timeout(100)  # wait for the page's scripts
    assert page.is_hidden("#error")
    assert page.evaluate("(() => { const t = document.querySelector('#text'); return t.selectionEnd })()") == 14
    assert [said for said in player.wrong if "400" not in said] == []


@pytest.mark.parametrize("text", ["", "garbage", "{", '{"a": "<img src=x onerror=alert(1)>"}', "[1, 2"])
def test_what_is_no_game_is_said_so(text: str, server: Server, browser: Any) -> None:
    player = paste(browser, server, text)
    player.page.wait_for_selector("#error:not([hidden])")
    assert player.page.inner_text("#error p")
    assert player.page.url.endswith("/analysis")
    assert player.page.locator("#error img").count() == 0
    assert [said for said in player.wrong if "400" not in said] == []


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_position_is_judged_and_played_on(game: TestedGame, server: Server, browser: Any) -> None:
    record = played(game)
    begin = next(one for i, (one, _) in enumerate(replay_steps(record)) if i == 50)
    player = paste(browser, server, position_of(record, 50), width=390)
    page = player.page
    page.wait_for_selector(".choices-evaluated li", timeout=120_000)
    assert page.locator(".picture svg").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ask_who_plays_on(page)
    page.click("#new button.main")
    view = player.wait(lambda view: True)
    assert (view["number"], view["seat"], view["mine"]) == (0, begin.seat, [begin.seat])
    assert player.wrong == []


def test_a_file_of_games_is_chosen_from_and_found_again(tmp_path: Path, server: Server, browser: Any) -> None:
    games = [played(GAMES[0], seed) for seed in (1, 2, 3)]
    (tmp_path / "games.jsonl").write_text("".join(game.to_json() + "\n" for game in games))
    player = Player(browser, f"{server.address}/analysis")
    page = player.page
    page.set_input_files("#file", tmp_path / "games.jsonl")
    page.wait_for_selector("#games li")
    assert page.locator("#games li").count() == 3
    assert page.evaluate("document.activeElement.id") == "found-title"
    page.click("#games li:nth-child(3) button")
    page.wait_for_selector("#tools:not([hidden])")
    assert shown(player).startswith(f"0 of {len(games[2].decisions)}")
    title = page.inner_text("#title")
    with page.expect_download() as saving:
        page.click("#save")
    assert Record.from_json(Path(saving.value.path()).read_text()) == games[2]
    with page.expect_download() as saving:
        page.click("#save-page")
    assert Path(saving.value.path()).read_text().startswith("<!doctype html>")
    page.goto(f"{server.address}/analysis")
    page.click("#kept a")
    page.wait_for_selector("#tools:not([hidden])")
    assert page.inner_text("#title") == title
    assert player.wrong == []


def test_an_own_game_is_taken_apart_from_its_table_and_from_the_list(server: Server, browser: Any) -> None:
    over = server.make_over("greedy", "random", game="copenhagen", seed=2)
    player = Player(browser, f"{server.address}/tables/{over}")
    player.wait(lambda view: view["done"])
    for leave in ("#player button", "#finished li:first-child button:has-text('Analyze')"):
        player.page.click(leave)
        player.page.wait_for_selector("#tools:not([hidden])")
        assert "greedy" in player.page.inner_text("#title")
        player.page.goto(server.address)
    assert player.wrong == []


def test_a_game_that_starts_from_a_position_offers_no_analysis(server: Server, browser: Any) -> None:
    """There is no record of it, because records start from a deal."""
    text = position_of(played(GAMES[1]), 50)
    brought = bring(server, text)
    over = server.make_over("greedy", "random", **{"from": {"record": brought, "decisions": 0}})
    listed = {one["table"]: one["from_position"] for one in server.ask("GET", "/api/tables?over=true")[1]}
    assert listed[over]
    player = Player(browser, f"{server.address}/tables/{over}")
    player.wait(lambda view: view["done"])
    page = player.page
    assert page.locator("#player button:has-text('Analyze')").count() == 0
    page.goto(server.address)
    page.wait_for_selector(f"#finished a[href='/tables/{over}']")
    item = page.locator("#finished li").filter(has=page.locator(f"a[href='/tables/{over}']"))
    assert item.locator("button").all_inner_texts() == ["Delete"]
    assert player.wrong == []


def test_a_game_of_a_tournament_is_taken_apart(server: Server, browser: Any) -> None:
    made = server.ask("POST", "/api/tournaments", {"players": ["random", "greedy"], "games": 10, "seed": 1})[1]
    player = Player(browser, f"{server.address}/tournaments/{made['tournament']}")
    player.page.click("#latest button >> nth=0", timeout=120_000)
    player.page.wait_for_selector("#tools:not([hidden])")
    assert {"random", "greedy"} <= set(player.page.inner_text("#title").replace(",", "").split())
    assert player.wrong == []


def test_links_are_shown_where_several_people_play_on(server: Server, browser: Any) -> None:
    player = paste(browser, server, played(GAMES[0]).to_json())
    page = player.page
    page.wait_for_selector("#tools:not([hidden])")
    ask_who_plays_on(page)
    for chair in page.locator("#chairs select").all():
        chair.select_option("human")
    page.check("#sharing input[value=links]")
    page.click("#new button.main")
    page.wait_for_selector("#links a")
    assert page.locator("#links a").count() == 2
    player.press("Escape")
    assert page.is_hidden("#seats")


def test_pages_can_be_used_by_everybody(server: Server, browser: Any) -> None:
    player = paste(browser, server, position_of(played(GAMES[0]), 40).replace('"round": ', '"round": -'))
    player.page.wait_for_selector("#error mark")
    assert problems(player.page) == []
    for text in (played(GAMES[0]).to_json(), position_of(played(GAMES[1]), 40)):
        player = paste(browser, server, text)
        player.page.wait_for_selector("#tools:not([hidden])")
        player.page.wait_for_selector("#start", state="hidden", timeout=120_000)
        player.page.wait_for_selector("#progress", state="hidden")
        assert problems(player.page) == []
        ask_who_plays_on(player.page)
        assert problems(player.page) == []


@ONE_GAME_OR_EACH_NIGHTLY
def test_mistakes_are_walked_through_with_reasons_and_a_report(game: TestedGame, server: Server, browser: Any) -> None:
    player = paste(browser, server, played(game, seed=3).to_json())
    page = player.page
    page.wait_for_selector(".costliest:not([hidden])", timeout=120_000)
    costly = page.locator(".costliest ol button").count()
    assert costly >= 2
    where = page.inner_text(".where")
    player.press("n")
    assert page.inner_text(".where") == where, "single letters need the focus"
    page.focus(".costliest ol button")
    seen = []
    for _ in range(costly):
        player.press("n")
        assert page.inner_text(".words b").startswith("−")
        seen.append(page.inner_text(".where"))
    assert len(set(seen)) == costly
    player.press("n")
    assert page.inner_text(".where") == seen[-1], "there is no next one"
    player.press("p")
    assert page.inner_text(".where") == seen[-2]
    page.click(".report summary")
    rows = page.eval_on_selector_all(
        ".report tbody tr", "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert len(rows) == 2
    for number, (name, best, *means) in enumerate(rows):
        assert name.startswith(str(number + 1))
        assert 0 <= int(best.split("%")[0]) <= 100
        assert all(0 <= float(mean.rstrip("%")) <= 100 for mean in means)
    assert player.wrong == []


def test_players_have_the_names_of_tables(server: Server, browser: Any) -> None:
    over = server.make_over("greedy", "heuristic", game="helsinki", seed=2)
    player = Player(browser, f"{server.address}/tables/{over}")
    player.wait(lambda view: view["done"])
    player.page.click("#player >> text=Analyze this game")
    player.page.wait_for_selector(".standing li", timeout=120_000)
    names = player.page.eval_on_selector_all(".standing .name", "all => all.map(one => one.textContent)")
    assert names == ["Easy", "Medium"]
    assert player.page.inner_text(".standing .token >> nth=0") == "1"
    drawn = player.page.eval_on_selector_all(".scene text.named", "all => all.map(one => one.textContent)")
    assert {"Easy", "Medium", "1", "2"} <= set(drawn)


def test_branches_are_named_and_listed(server: Server, browser: Any) -> None:
    player = paste(browser, server, played(GAMES[0], seed=4).to_json())
    page = player.page
    page.wait_for_selector("#tools:not([hidden])")
    address = page.url
    assert page.is_hidden("#branches")
    ask_who_plays_on(page)
    page.fill("#branch-title", "What if north")
    page.click("#new button.main")
    assert player.wait(lambda view: True)["name"] == verbatim("What if north")
    page.goto(address)
    page.wait_for_selector("#branches:not([hidden])")
    page.click("#branches summary")
    page.click("#branches >> text=What if north")
    page.wait_for_selector("#choices button, #headline")
    page.wait_for_selector("#title >> text=What if north")
    assert player.wrong == []
