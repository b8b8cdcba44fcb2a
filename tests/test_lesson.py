"""The guided games: their scripts fit the games, and a real browser plays them by mouse, keyboard and touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.registry import make_player
from helsinki_env.web.help import has_lesson, lesson_message, lesson_table
from helsinki_env.web.views import choices
from tests.games import EACH_GAME, GAMES, TestedGame
from tests.support.browser import Player
from tests.support.server import Server


@EACH_GAME
def test_every_step_is_possible_when_it_comes(game: TestedGame) -> None:
    assert has_lesson(game.spec)
    table = lesson_table(game.spec, "Easy")
    opponent = make_player(table.chairs[1].player, table.config)
    kinds = set()
    for step in lesson_message(game.spec)["steps"]:
        while table.game.seat == 1:
            observations, masks, keys = table.question()
            table.decide(table.number, int(np.asarray(opponent.act(observations, masks, keys))[0]), "")
        found = {one["text"]: one for one in choices(table.game)}
        assert step["action"] in found, f"step {step}: expected one of {[*found]}"
        kinds.add(found[step["action"]]["kind"])
        assert len(step["text"].split()) <= 55
        table.decide(table.number, found[step["action"]]["id"], "")
    assert len(kinds) >= 6


@pytest.fixture
def lesson(game: TestedGame, server: Server) -> str:
    status, made, _ = server.ask("POST", "/api/lessons", {"game": game.name})
    assert status == 201
    return f"{server.address}/tables/{made['table']}?lesson"


def follow(player: Player, how: str, steps: int) -> None:
    """Take the actions of the lesson until a number of steps is done."""
    for done in range(steps):
        view = player.turn()
        player.page.wait_for_selector(f"#lesson >> text=Step {done + 1} of")
        if how == "touch":
            player.page.wait_for_timeout(600)  # a second tap at the same place within this time is ignored
        if player.page.is_visible("#placing"):
            assert player.page.locator("#places button").count() == 1
            tile = player.page.eval_on_selector_all(
                ".ghost .open",
                "all => all.map(r => r.getBoundingClientRect()).map(b => [b.x + b.width / 2, b.y + b.height / 2])",
            )
            x, y = tile[0]
            if how == "mouse":
                player.page.mouse.click(x, y)
            elif how == "touch":
                player.page.touchscreen.tap(x, y)
                player.page.wait_for_timeout(600)
                player.page.touchscreen.tap(x, y)
            else:
                player.press("ArrowUp", "Enter")
        elif how == "keyboard":
            player.press(str(player.page.get_attribute("#choices button", "aria-keyshortcuts")))
        else:
            assert player.page.locator("#choices button").count() == 1
            box = player.page.locator(".spot .light").first.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            (player.page.touchscreen.tap if how == "touch" else player.page.mouse.click)(x, y)
        player.wait(lambda new, number=view["number"]: new["number"] > number)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "how"),
    [
        pytest.param(game, how, marks=[] if how in always else pytest.mark.nightly, id=f"{game.name}-{how}")
        for game, always in zip(GAMES, (["touch"], ["mouse", "keyboard"]), strict=True)
        for how in ("mouse", "keyboard", "touch")
    ],
)
def test_the_guided_game_from_beginning_to_end(game: TestedGame, how: str, lesson: str, browser: Any) -> None:
    player = Player(browser, lesson, touch=how == "touch")
    steps = len(lesson_message(game.spec)["steps"])
    follow(player, how, steps)
    player.turn()
    player.page.click("#lesson >> text=Play on")
    assert not player.page.is_visible("#lesson")
    assert player.page.locator("#choices button, #places button").count() >= 1
    assert player.wrong == []


@EACH_GAME
def test_a_lesson_is_resumed_and_left_at_any_time(game: TestedGame, lesson: str, browser: Any) -> None:
    player = Player(browser, lesson)
    follow(player, "mouse", 2)
    player.page.reload()
    player.page.wait_for_selector("#lesson >> text=Step 3 of")
    player.turn()
    player.page.click("#lesson >> text=Leave the lesson")
    assert not player.page.is_visible("#lesson")
    player.page.reload()
    player.turn()
    assert not player.page.is_visible("#lesson")
    assert player.wrong == []
