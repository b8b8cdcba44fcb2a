"""Practice, puzzles and the teaching mode in a real browser, without hidden information."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiGame
from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.help import lesson_table
from helsinki_env.web.player_workers import PlayerEndedError, PlayerFailedError, PlayerPool
from helsinki_env.web.practice import (
    INTERVALS,
    Exercises,
    _position_of,
    grade,
    mistakes,
    note_results,
    puzzle,
    puzzles,
)
from helsinki_env.web.practice_session import PracticeSession, exercise_view
from helsinki_env.web.records import SavedGames
from helsinki_env.web.sessions import taught_message
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError
from helsinki_env.web.views import choices, encode_message
from tests.games import EACH_GAME, TestedGame
from tests.support.browser import Player, sit
from tests.support.server import Server, in_thread, seated, serving, until


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("practice")


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Server]:
    with serving(data) as running:
        yield running


def play_badly(server: Server, game: str, seed: int = 3) -> str:
    """Play a game with random actions of a human against greedy and return its table."""
    table, rng = str(server.make("human", "greedy", game=game, seed=seed)["table"]), random.Random(seed)
    with seated(server, table) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        while not view["done"]:
            if view["decisions"]:
                action = rng.choice(view["decisions"])["id"]
                line.send(json.dumps({"type": "decide", "number": view["number"], "action": action}))
            number = view["number"]
            view = until(
                line,
                lambda new, number=number: (
                    new["type"] == "table" and new["number"] > number and (new["decisions"] or new["done"])
                ),
            )
    return table


@cache
def net_for(config: Any) -> Any:
    return make_player("net", config)


def evaluate(one: Any, action: int) -> Any:
    observation, mask, _ = one.table.question()
    net = net_for(one.table.config)
    return evaluate_actions(net, one.table.config, observation, mask, np.zeros(1, np.uint64), np.array([action]))[0]


@pytest.fixture(scope="module")
def examined(server: Server) -> str:
    """The table of a finished game, once its mistakes have become exercises."""
    table = play_badly(server, "copenhagen", seed=11)
    while not server.ask("GET", "/api/practice")[1]["total"]:
        time.sleep(0.05)
    return table


@pytest.mark.thorough
@EACH_GAME
def test_a_mistake_is_asked_again_graded_and_planned(
    game: TestedGame, server: Server, data: Path, browser: Any
) -> None:
    store = TableStore(data)
    with store.transaction():
        store.rows.execute("DELETE FROM exercises")  # of other tests
    table = play_badly(server, game.name)
    player = Player(browser, server.address + "/practice")
    player.page.wait_for_selector("#lesson >> text=Find the best action", timeout=60_000)
    view = player.wait(lambda view: view["decisions"])
    assert view["table"].startswith(f"{table}-")
    exercises = Exercises(store, None)  # type: ignore[arg-type]
    exercise = exercises.next()
    assert exercise is not None
    assert exercise.name == view["table"]
    best = evaluate(exercise, exercise.taken).best
    answer = next(one for one in view["decisions"] if one["id"] == best)
    heard = len(player.answers)
    player.page.evaluate(
        "([number, action]) => line.send(JSON.stringify({ type: 'decide', number, action }))", [view["number"], best]
    )
    player.page.wait_for_selector("#lesson.good >> text=Correct")
    assert player.answers[heard]["good"]
    assert "in 1 day" in player.page.inner_text("#lesson")
    assert "In the game you chose" in player.page.inner_text("#lesson")
    before = store.rows.execute("SELECT level, due FROM exercises WHERE name = ?", (exercise.name,)).fetchone()
    assert before[0] == 1
    assert abs(before[1] - time.time() - INTERVALS[0] * 86_400) < 60
    player.page.click("#lesson >> text=Next position")
    view = player.wait(lambda view: view["table"] != exercise.name and view["decisions"])
    again = exercises.next()
    assert again is not None
    taken = next(one for one in view["decisions"] if one["id"] == again.taken)
    player.page.evaluate(
        "([number, action]) => line.send(JSON.stringify({ type: 'decide', number, action }))",
        [view["number"], taken["id"]],
    )
    player.page.wait_for_selector("#lesson.bad >> text=This loses")
    assert "in ten minutes" in player.page.inner_text("#lesson")
    assert answer["words"]
    assert player.wrong == []
    store.close()


def test_intervals_grow_with_each_correct_answer(examined: str, data: Path) -> None:
    store = TableStore(data)
    exercises = Exercises(store, None)  # type: ignore[arg-type]
    exercise = exercises.next()
    assert exercise is not None
    days = []
    for _ in range(4):
        days.append(exercises.answered(exercise, True))
        exercise = exercise._replace(level=exercise.level + 1)
    assert days == list(INTERVALS[:4])
    assert exercises.answered(exercise, False) < 0.01
    store.close()


def test_puzzles_are_positions_with_a_better_action(server: Server, browser: Any) -> None:
    assert {one["game"] for one in puzzles()} == {"helsinki", "copenhagen"}
    for number in range(0, len(puzzles()), 5):
        one = puzzle(number)
        graded = grade(one.table, evaluate(one, one.taken), one.taken)
        assert graded["regret"] > 0.1
        assert graded["why"], "puzzles have a reason in words"
    player = Player(browser, server.address + "/puzzles", advice="yes")  # which has no effect in puzzles
    view = player.wait(lambda view: view["decisions"])
    assert view["log"]
    assert all(one["words"] for one in view["log"])
    assert "; ;" not in player.page.inner_text("#log")
    taken = puzzle(0).taken
    player.page.evaluate(
        "([number, action]) => line.send(JSON.stringify({ type: 'decide', number, action }))", [view["number"], taken]
    )
    player.page.wait_for_selector("#lesson.bad >> text=The best action")
    player.page.click("#lesson >> text=Next position")
    player.page.wait_for_selector("#lesson >> text=Puzzle 2 of")
    player.page.reload()
    player.page.wait_for_selector("#lesson >> text=Puzzle 2 of")
    assert player.wrong == []


def test_rules_and_marks_belong_to_the_shown_exercise(server: Server, browser: Any) -> None:
    border = next(number for number, one in enumerate(puzzles()) if one["game"] == "copenhagen")
    player = Player(browser, server.address + "/puzzles", puzzle=str(border - 1))
    read = []
    for number in (border, border + 1):
        player.page.wait_for_selector(f"#lesson >> text=Puzzle {number} of")
        player.wait(lambda view: view["decisions"])
        assert player.page.locator("#picture .latest").count() == 0, "nothing has changed since the last own action"
        player.page.click("#learn")
        player.page.wait_for_selector("#rules-text section")
        read.append(player.page.inner_text("#rules-text"))
        player.page.click("#rules-close")
        player.page.click("#lesson >> text=Skip")
    assert read[0] != read[1]


def test_the_start_page_leads_to_practice(server: Server, browser: Any) -> None:
    page = Player(browser, server.address).page
    page.wait_for_selector("#practice a")
    page.click("#practice >> text=Learn from your mistakes")
    page.wait_for_selector("#lesson h2, #lesson .told")


def test_teaching_questions_a_weak_action(server: Server, browser: Any) -> None:
    player = sit(browser, server, "human", "greedy", game="helsinki", seed=3, teach="yes")
    rng = random.Random(3)
    for _ in range(60):
        view = player.turn()
        assert not view["done"], "no action was weak"
        one = rng.choice([one for one in view["decisions"] if one["turn"] is None] or view["decisions"])
        before = len(player.answers)
        if one["turn"] is not None or (view["selection"] and one["kind"] == view["selection"]["kind"]):
            player.page.evaluate(
                "([number, action]) => line.send(JSON.stringify({ type: 'decide', number, action }))",
                [view["number"], one["id"]],
            )
        else:
            player.page.locator("#choices button").get_by_text(one["words"], exact=True).click()
            while len(player.answers) == before:
                player.page.wait_for_timeout(20)
            if player.answers[-1]["regret"] >= 0.05:
                break
        player.wait(lambda new, number=view["number"]: new["number"] > number)
    player.page.wait_for_selector("#armed:not([hidden])")
    said = player.page.inner_text("#armed")
    assert "of the win probability" in said
    assert player.answers[-1]["hint"] in said
    player.press("Escape")
    assert player.view["number"] == view["number"], "the action did not count"
    player.page.locator("#choices button").get_by_text(one["words"], exact=True).click()
    player.page.wait_for_timeout(500)
    player.page.click("#armed >> text=Yes")
    player.wait(lambda new: new["number"] > view["number"])
    assert player.wrong == []


@pytest.mark.thorough
@EACH_GAME
def test_nothing_hidden_is_in_exercises_grades_and_hints(game: TestedGame) -> None:
    compared = 0
    for number, data in enumerate(puzzles()):
        if data["game"] != game.name:
            continue
        one, other = puzzle(number), puzzle(number)
        other.table.game = determinize(one.table.game, seed=number)
        compared += other.table.game != one.table.game
        other.table.name = one.table.name
        assert encode_message(exercise_view(one, choices(one.table.game))) == encode_message(
            exercise_view(other, choices(other.table.game))
        )
        for action in one.table.game.legal_actions().tolist()[:6]:
            evaluations = [evaluate(each, action) for each in (one, other)]
            told = [grade(each.table, said, action) for each, said in zip((one, other), evaluations, strict=True)]
            assert told[0] == told[1]
            taught = [
                taught_message(each.table, said, action) for each, said in zip((one, other), evaluations, strict=True)
            ]
            assert taught[0] == taught[1]
    assert compared >= 5


def decided(exercise: Any, **more: Any) -> dict[str, Any]:
    action = choices(exercise.table.game)[0]["id"]
    return {"type": "decide", "number": 0, "action": action, "more": [], "once": "", **more}


@pytest.mark.thorough
def test_a_message_while_an_answer_is_graded_is_an_error_and_ends_no_process(tmp_path: Path) -> None:
    async def answered() -> None:
        store, pool, sent = TableStore(tmp_path), PlayerPool(), list[str]()
        practice = PracticeSession("puzzles", Exercises(store, pool), pool, sent.append)
        practice.begin()
        practice.handle(decided(puzzle(0)))
        await asyncio.sleep(0)
        for message in (decided(puzzle(0)), {"type": "next", "once": ""}):
            with pytest.raises(TableError, match="is being graded"):
                practice.handle(message)
        while "graded" not in (said := json.loads(sent[-1])["type"]):
            assert said != "error", sent[-1]
            await asyncio.sleep(0.02)
        (process,) = multiprocessing.active_children()
        practice.handle(decided(puzzle(0)))
        number = len(sent)
        while len(sent) == number:
            await asyncio.sleep(0.02)
        assert multiprocessing.active_children() == [process]
        practice.handle({"type": "next", "once": ""})
        assert json.loads(sent[-1])["table"] == "puzzle-1"
        practice.close()
        pool.close()
        store.close()

    in_thread(answered())


@pytest.mark.thorough
def test_an_answer_that_cannot_be_saved_is_an_error(examined: str, data: Path) -> None:
    async def answered() -> None:
        store, pool, sent = TableStore(data), PlayerPool(), list[str]()
        exercises = Exercises(store, pool)
        exercise = exercises.next()
        practice = PracticeSession("practice", exercises, pool, sent.append)
        practice._next()
        store.rows.execute("PRAGMA query_only = ON")
        practice.handle(decided(exercise))
        while (said := json.loads(sent[-1]))["type"] == "table":
            await asyncio.sleep(0.02)
        assert said["type"] == "error"
        assert "cannot be written, so nothing has changed" in said["message"]
        store.rows.execute("PRAGMA query_only = OFF")
        practice.handle(decided(exercise))
        while (said := json.loads(sent[-1]))["type"] != "graded":
            await asyncio.sleep(0.02)
        assert said["days"] > 0, "the next answer counts"
        practice.close()
        pool.close()
        store.close()

    in_thread(answered())


def test_skipping_leads_through_all_due_exercises(tmp_path: Path) -> None:
    store, sent = TableStore(tmp_path), list[str]()
    store.rows.executemany(
        "INSERT INTO exercises (name, game, title, position, taken, regret, due) VALUES (?, '', '', ?, 0, ?, 0)",
        [(f"exercise-{i}", _position_of(puzzle(0).table, puzzle(0).table.number), -i) for i in range(4)],
    )
    pool: Any = None
    practice = PracticeSession("practice", Exercises(store, pool), pool, sent.append)
    for _ in range(8):
        practice._next()
    shown = [message["table"] for message in map(json.loads, sent) if message["type"] == "table"]
    assert shown == 2 * [f"exercise-{i}" for i in range(4)]
    store.close()


def test_actions_of_a_continued_game_are_nobodys_mistakes(tmp_path: Path) -> None:
    """Nor does the result count for a rating, even if the source has been deleted."""
    store = TableStore(tmp_path)
    game = HelsinkiGame(seed=1)
    actions = list[tuple[int, int, str]]()
    while not game.done:
        action = game.legal_actions()[0]
        actions.append((game.seat, int(action), ""))
        game.step(action)
    chairs = SeatAssignment(HUMAN, "me"), SeatAssignment("heuristic", "heuristic")
    table = GameTable("a" * 12, "", game.config, 1, chairs, actions)
    store.add(table, "source", 10)
    asked = list[int]()

    class Asked:
        async def evaluate_all(self, config: Any, evaluator: str, inputs: Any, batch: int) -> AsyncIterator[Any]:
            asked.append(len(inputs[0]))
            for _ in inputs[0]:
                yield SimpleNamespace(regret=lambda action: 0.5)

    pool: Any = Asked()
    found = in_thread(mistakes(pool, table, store.branch_start(table.name) or 0))
    own = [number for number, (seat, _, _) in enumerate(actions) if seat == 0 and number >= 10]
    assert found
    assert {number for number, _, _ in found} <= set(own)
    assert asked[0] <= len(own)
    with suppress(TableError):
        SavedGames(store).remove("source")
    in_thread(note_results(store))
    assert store.rows.execute("SELECT players FROM examined").fetchall() == [("[]",)]
    store.close()


def test_a_guided_game_is_not_rated(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    table = lesson_table(spec_by_name("helsinki"), "Easy")
    while not table.game.done:
        table.decide(table.number, int(table.game.legal_actions()[0]), "")
    store.add(table)
    in_thread(note_results(store))
    assert store.rows.execute("SELECT players FROM examined").fetchall() == [("[]",)]
    store.close()


def test_a_rematch_of_a_guided_game_is_a_usual_game(server: Server) -> None:
    lesson = server.ask("POST", "/api/lessons", {"game": "helsinki"})[1]["table"]
    again = server.ask("POST", f"/api/tables/{lesson}/again", {})[1]["table"]
    with seated(server, lesson) as (_, guided), seated(server, again) as (_, usual):
        assert (guided["name"], usual["name"]) == ("Guided game", "")


def test_a_process_that_ends_loses_no_exercises(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    game, actions = HelsinkiGame(seed=1), list[tuple[int, int, str]]()
    while not game.done:
        actions.append((game.seat, int(game.legal_actions()[0]), ""))
        game.step(actions[-1][1])
    chairs = SeatAssignment(HUMAN, "me"), SeatAssignment("heuristic", "heuristic")
    store.add(GameTable("a" * 12, "", game.config, 1, chairs, actions))
    collected = []
    for error in (PlayerEndedError("the process of net ended"), PlayerFailedError("net: cannot play this game")):

        class Failing:
            async def evaluate_all(self, *_: Any, error: Exception | None = error) -> AsyncIterator[Any]:
                if error is not None:
                    raise error
                yield

        pool: Any = Failing()
        in_thread(Exercises(store, pool)._examine())
        collected += store.rows.execute("SELECT collected FROM examined").fetchone()
    assert collected == [0, 1]
    store.close()


def test_an_exercise_stays_after_its_table_is_deleted(server: Server, examined: str) -> None:
    total = server.ask("GET", "/api/practice")[1]["total"]
    assert total
    assert server.ask("DELETE", f"/api/tables/{examined}")[0] == 200
    assert server.ask("GET", "/api/practice")[1]["total"] == total
