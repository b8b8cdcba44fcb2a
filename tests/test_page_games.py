"""Whole games in real browsers: mouse, several people, reloads, crashes, and all data sent."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from helsinki_env.web.views import change_between, choices, encode_message, picture, table_view
from tests.games import EACH_GAME, GAMES, ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.browser import Player, decide_by_key, one_by_one, pick_by_mouse, sit
from tests.support.sent import assert_nothing_hidden_was_sent
from tests.support.server import Server, serving

pytestmark = pytest.mark.thorough


def decide_by_mouse(player: Player, rng: random.Random) -> str:
    """Take an action by mouse and return the target: a tile, a spot, a menu or a button."""
    view = player.view
    alone = one_by_one(view)
    meant = rng.choice([one for one in alone if one["kind"] == "BUILD"] or view["decisions"])
    if meant not in alone:
        pick_by_mouse(player, rng)
        player.page.click("#settle")
        player.wait(lambda new: new["number"] > view["number"])
        return "spot"
    if meant["turn"] is not None:
        by = "tile"
        while player.held() != meant["turn"]:
            player.page.click(rng.choice(("#rotate", "#flip")))
        player.page.mouse.move(*player.point(*meant["covers"]))
        assert player.tile() == set(meant["covers"])
        player.page.mouse.click(*player.point(*meant["covers"]))
    elif meant["at"]:
        spot = meant["at"][0]
        there = [one for one in alone if one["turn"] is None and spot in one["at"]]
        player.page.mouse.click(*player.point(spot))
        by = "menu" if len(there) > 1 else "spot"
        if len(there) > 1:
            player.page.locator("#menu button").get_by_text(meant["words"], exact=True).click()
    else:
        by = "button"
        player.page.locator("#choices button").get_by_text(meant["words"], exact=True).click()
    after = player.wait(lambda new: new["number"] > view["number"])
    taken = after["log"][view["number"]]
    same = [meant["said"]]
    if by == "tile":  # several actions may cover the same cells
        same = [one["said"] for one in view["decisions"] if set(one["covers"]) == set(meant["covers"])]
    assert taken["words"] in same
    return by


@pytest.mark.parametrize(
    "game", [pytest.param(GAMES[0], marks=pytest.mark.nightly), GAMES[1]], ids=lambda game: game.name
)
def test_a_whole_game_by_mouse_alone(game: TestedGame, server: Server, data: Path, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "heuristic", game=game.name, seed=21), random.Random(4)
    by: Counter[str] = Counter()
    while not player.turn()["done"]:
        by[decide_by_mouse(player, rng)] += 1
    assert "The game is over" in player.page.inner_text("#headline")
    assert by["spot"] > by["button"], by
    assert by["tile"] >= 3, by
    assert player.wrong == []
    assert assert_nothing_hidden_was_sent(player, data, player.view["table"]) > 50


@ONE_GAME_OR_EACH_NIGHTLY
def test_four_people_hand_on_one_device(game: TestedGame, server: Server, data: Path, browser: Any) -> None:
    player, rng = sit(browser, server, *["human"] * 4, game=game.name, seed=5), random.Random(6)
    curtains: list[int] = []
    while len(curtains) < 9:  # two whole rounds
        seat = player.wait(lambda view: view["handover"] is not None)["handover"]
        curtains.append(seat)
        name = player.view["seats"][seat]["name"]
        assert player.page.inner_text("#handover h2") == f"Hand the device to {name}"
        assert not player.page.is_visible("#picture")
        assert player.page.locator("#choices button").count() == 0
        assert (player.view["svg"], player.view["spots"], player.view["decisions"]) == ("", {}, [])
        player.page.click("#handover button")
        player.turn()
        while player.view["handover"] is None:
            decide_by_mouse(player, rng)
    assert curtains[:4] == [0, 1, 2, 3]
    assert curtains == [*range(4), *range(4), 0]
    assert player.wrong == []
    assert assert_nothing_hidden_was_sent(player, data, player.view["table"]) > 20


@ONE_GAME_OR_EACH_NIGHTLY
def test_two_browsers_by_the_links_of_their_seats(game: TestedGame, server: Server, data: Path, browser: Any) -> None:
    made, rng = server.make("human", "human", sharing="links", game=game.name, seed=8), random.Random(2)
    players = [Player(browser, server.address + link["link"]) for link in made["links"]]
    for seat, player in enumerate(players):
        assert player.wait(lambda view: True)["mine"] == [seat]
    mover = next(player for player in players if player.view["decisions"])
    while mover.view["log"][-1:] == [] or mover.view["log"][-1]["turn"] < 8:
        decide_by_key(mover, rng)
        number = mover.view["number"]
        for player in players:
            player.wait(lambda view, number=number: view["number"] == number)
        (mover,) = (player for player in players if player.view["decisions"])
    for player in players:
        assert player.wrong == []
        assert {view["viewer"] for view in player.views} == set(player.view["mine"])
        assert assert_nothing_hidden_was_sent(player, data, made["table"]) > 10


@EACH_GAME
def test_what_must_not_be_sent_would_be_found(game: TestedGame, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    table = GameTable(
        "t", "", game.spec.config(num_players=2), 6, (SeatAssignment(HUMAN, "A"), SeatAssignment(HUMAN, "B"))
    )
    store.add(table)
    store.close()

    def told(drawn: int, **more: Any) -> str:
        view = table_view(
            table, (0,), 0, None, None, None, lambda _: picture(table, drawn), lambda: choices(table.game)
        )
        return encode_message(view | more)

    def sent(*texts: str) -> Any:
        return SimpleNamespace(responses=[], frames=[*texts])

    known = told(0)
    assert assert_nothing_hidden_was_sent(sent(known), tmp_path, "t") == 1
    for leak in (told(1), told(0, seed=6), told(0, chance=int(table.game.state.chance))):
        with pytest.raises(AssertionError):
            assert_nothing_hidden_was_sent(sent(leak), tmp_path, "t")
        with pytest.raises(AssertionError):
            assert_nothing_hidden_was_sent(sent(known, change_between(known, leak)), tmp_path, "t")
    store = TableStore(tmp_path)
    store.write("t", table.decide(0, int(table.game.legal_actions()[0]), "decided"))
    store.close()
    change = change_between(known, told(0))
    assert assert_nothing_hidden_was_sent(sent(known, change), tmp_path, "t") == 2
    with pytest.raises(AssertionError):
        assert_nothing_hidden_was_sent(sent(known, encode_message(json.loads(change) | {"seed": 6})), tmp_path, "t")


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_page_is_loaded_again_in_the_middle_of_a_turn(game: TestedGame, server: Server, browser: Any) -> None:
    player, rng = sit(browser, server, "human", "greedy", game=game.name, seed=3), random.Random(3)
    while player.turn()["undo"] is None:
        decide_by_key(player, rng)
    before, seen = player.view, len(player.views)
    player.page.reload()
    assert player.wait(lambda _: len(player.views) > seen) == before
    player.turn()
    player.page.click("#undo")
    after = player.wait(lambda view: view["number"] == before["number"] - 1)
    assert after["seat"] == before["seat"]
    assert player.wrong == []


@pytest.mark.nightly
@EACH_GAME
def test_a_game_goes_on_by_itself_after_a_crash(game: TestedGame, tmp_path: Path, browser: Any) -> None:
    rng = random.Random(7)
    with serving(tmp_path) as running:
        player = sit(browser, running, "human", "greedy", game=game.name, seed=9)
        for _ in range(6):
            player.turn()
            decide_by_key(player, rng)
        before, seen = player.turn(), len(player.views)
        running.end(signal.SIGKILL)
        player.page.wait_for_selector("#line:has-text('No connection')")
        port = running.address.rpartition(":")[2]
    with serving(tmp_path, "--port", port):
        again = player.wait(lambda _: len(player.views) > seen)
        assert again == before
        player.page.wait_for_selector("#line:not(:has-text('No connection'))", state="attached")
        for _ in range(6):
            player.turn()
            decide_by_key(player, rng)
        assert player.view["number"] > before["number"] + 5
    assert assert_nothing_hidden_was_sent(player, tmp_path, before["table"]) > 12
