"""Practice: spaced repetition of positions from finished games in which the user missed a better action.

An exercise shows the information that its seat had in the game. The evaluator has the same information.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sqlite3
import time
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.base import seat_key
from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR, Evaluation
from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.web.help import log_text
from helsinki_env.web.levels import Estimate, own_rating, player_rating
from helsinki_env.web.names import is_lesson, shown_names
from helsinki_env.web.player_workers import PlayerEndedError, PlayerFailedError, PlayerPool
from helsinki_env.web.reasons import reason_text
from helsinki_env.web.store import StoreError, TableStore, finished_tables
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError, TakenAction

MISTAKE = 0.05
"""Minimum regret, in win probability, for an action to become an exercise."""
GOOD = 0.02
"""Maximum regret of a correct answer."""
INTERVALS = (1.0, 3.0, 7.0, 16.0, 35.0, 80.0)
"""Days until an exercise is repeated after 1, 2, ... correct answers in a row."""
_RETRY = 600.0
"""Seconds until an exercise is repeated after a wrong answer."""
_REST = 2.0
"""Minimum number of seconds between two examinations."""
_MAX_EXERCISES = 1000
_MAX_PER_GAME = 8
_DAY = 86_400.0
_BATCH = 16
_log = logging.getLogger(__name__)


class Exercise(NamedTuple):
    """A position, and the action that was taken in it."""

    name: str
    game: str
    title: str
    table: GameTable  # before the action
    taken: int
    regret: float
    level: int  # number of correct answers in a row
    answers: int

    @property
    def seat(self) -> int:
        """The seat to move; its view is shown."""
        return self.table.game.seat


def _position_of(table: GameTable, number: int) -> str:
    """Return a table's position before an action as JSON."""
    actions = [[one.seat, one.action, one.said] for one in table.decisions[:number]]
    return json.dumps(
        {
            "config": config_to_dict(table.config),
            "seed": str(table.seed),
            "start": table.start,
            "chairs": [[chair.player, chair.name] for chair in table.chairs],
            "actions": actions,
        }
    )


def _table_at(name: str, title: str, position: str) -> GameTable:
    """Create a table from a position; raise ValueError if the position can no longer be played."""
    data = json.loads(position)
    chairs = tuple(SeatAssignment(player, called) for player, called in data["chairs"])
    actions = [(seat, action, said) for seat, action, said in data["actions"]]
    return GameTable(name, title, config_from_dict(data["config"]), int(data["seed"]), chairs, actions, data["start"])


async def evaluate_own(pool: PlayerPool, table: GameTable, action: int) -> Evaluation:
    """Return the network's evaluation of an action of the seat to move, from that seat's observation.

    Raises:
        PlayerFailedError: if the network cannot evaluate the game.
        TableError: if the action is illegal.
    """
    observation, mask, _ = table.question()
    if not 0 <= action < mask.shape[1] or not mask[0, action]:
        raise TableError(f"action: found {action}, expected a legal action")
    key = np.array([seat_key(0, table.game.seat, table.number)])  # not the players' key, which is derived from the seed
    extra = np.array([action], np.int64)
    return (await pool.evaluate(table.config, DEFAULT_EVALUATOR, observation, mask, key, extra))[0]


async def mistakes(pool: PlayerPool, table: GameTable, first: int = 0) -> list[tuple[int, int, float]]:
    """Return the worst mistakes of the humans at a table, each as (index of the action, action, regret).

    The actions before `first` were taken in another game, which the table continues.
    """
    now = table.game.spec.game(table.config, seed=table.seed) if not table.start else None
    if now is None:
        return []  # games that start from a saved position are not examined
    own, rows = list[TakenAction](), list[tuple[Any, ...]]()
    for taken in table.decisions:
        timely = table.clock is None or taken.number not in table.clock.expired
        if taken.number >= first and timely and table.chairs[taken.seat].is_person and len(now.legal_actions()) > 1:
            own.append(taken)
            key = seat_key(0, taken.seat, taken.number)
            rows.append((now.observation(), now.action_mask(), key, np.int64(taken.action)))
        now.step(taken.action)
    if not rows:
        return []
    inputs = [np.array(values) for values in zip(*rows, strict=True)]
    answers = [one async for one in pool.evaluate_all(table.config, DEFAULT_EVALUATOR, inputs, _BATCH)]
    regrets = [(taken, answer.regret(taken.action)) for taken, answer in zip(own, answers, strict=True)]
    found = [(taken.number, taken.action, regret) for taken, regret in regrets if regret and regret >= MISTAKE]
    return sorted(found, key=lambda one: -one[2])[:_MAX_PER_GAME]


def grade(table: GameTable, evaluation: Evaluation, action: int) -> dict[str, Any]:
    """Return the grade of an answer as a dict, with the best action and the reasons for it in words."""
    regret = evaluation.regret(action) or 0.0
    words = {}
    if table.game.spec.list_ui_actions is not None:
        words = {one.id: one.words for one in table.game.spec.list_ui_actions(table.game, table.game.seat)}
    best = evaluation.best
    return {
        "action": action,
        "regret": round(regret, 4),
        "good": regret <= GOOD,
        "best": best,
        "words": words.get(best, ""),
        "win": round(float(evaluation.expected[table.game.seat]), 4),
        "why": reason_text(table.game, best, action) if best != action else "",
    }


class Exercises:
    """The exercises in the database of tables, and the examination of finished tables."""

    def __init__(self, store: TableStore, pool: PlayerPool) -> None:
        self._store, self._rows, self._pool = store, store.rows, pool
        self._task: asyncio.Task[None] | None = None
        self._left = 0  # number of tables to examine
        self._ended = -_REST  # end of the last examination, on the monotonic clock

    # the list

    def counts(self, waits: bool = False) -> dict[str, int]:
        """Return the numbers of exercises, of due exercises, and of finished games that have not been examined yet.

        A page without an exercise that `waits` gets 1 while the number of games is unknown, and repeats its request.
        """
        total, due = self._rows.execute(
            "SELECT count(*), coalesce(sum(due <= ?), 0) FROM exercises", (time.time(),)
        ).fetchone()
        unknown = waits and self._task is not None and self._left < 0
        return {
            "total": int(total),
            "due": int(due),
            "left": int(unknown and not due) if self._left < 0 else self._left,
        }

    def next(self, skip: Collection[str] = ()) -> Exercise | None:
        """Return the exercise that has been due for the longest time and is not in `skip`, or None."""
        rows = self._rows.execute(
            "SELECT name, game, title, position, taken, regret, level, answers FROM exercises "
            "WHERE due <= ? ORDER BY due, regret DESC",
            (time.time(),),
        )
        for name, game, title, position, taken, regret, level, answers in rows:
            if name in skip:
                continue
            try:
                table = _table_at(name, title, self._store.boards.local_text(position))
            except ValueError:  # saved by another version
                continue
            return Exercise(name, game, title, table, taken, regret, level, answers)
        return None

    def answered(self, exercise: Exercise, good: bool) -> float:
        """Save an answer and return the number of days until the exercise is repeated."""
        level = exercise.level + 1 if good else 0
        days = INTERVALS[min(level, len(INTERVALS)) - 1] if good else _RETRY / _DAY
        with self._store.transaction():
            self._rows.execute(
                "UPDATE exercises SET level = ?, due = ?, answers = answers + 1, correct = correct + ? WHERE name = ?",
                (level, time.time() + days * _DAY, int(good), exercise.name),
            )
        return days

    # the rating of the person

    def own_ratings(self) -> dict[str, Estimate]:
        """Return the user's estimated rating in each game, from finished games against rated players.

        A game counts only if it has two players and the default options and starts from a deal. Games in which an
        action was taken back or a clock ran out do not count.
        """
        rows = self._rows.execute("SELECT game, ranks, players FROM examined WHERE taken_back = 0 ORDER BY made")
        games: dict[str, list[tuple[list[float], int, list[int]]]] = {}
        for game, ranks, text in rows:
            players = json.loads(text)
            rated = [0.0 if player == HUMAN else player_rating(game, player) for player in players]
            if players.count(HUMAN) == 1 and None not in rated:
                known = [float(rating) for rating in rated if rating is not None]
                games.setdefault(game, []).append((known, players.index(HUMAN), json.loads(ranks)))
        estimates = {game: own_rating(played) for game, played in games.items()}
        return {game: one for game, one in estimates.items() if one is not None}

    # the examination of finished tables

    def examine(self) -> None:
        """Collect the mistakes of finished tables in the background, unless this is running or has just ended."""
        if self._task is None and time.monotonic() - self._ended > _REST:
            self._left = -1  # unknown
            self._task = asyncio.create_task(self._examine())

    async def _examine(self) -> None:
        try:
            await note_results(self._store)
            names = [
                row[0] for row in self._rows.execute("SELECT name FROM examined WHERE NOT collected ORDER BY made")
            ]
            self._left = len(names)
            for name in names:
                await self._collect(name)
                self._left -= 1
        except (PlayerFailedError, StoreError, sqlite3.Error) as problem:  # no caller awaits this task
            _log.warning("practice: %s", problem)
        finally:
            self._task, self._left, self._ended = None, 0, time.monotonic()

    async def _collect(self, name: str) -> None:
        rows: list[tuple[Any, ...]] = []
        now = time.time()
        try:
            table = await self._store.load_in_thread(name)
            named, names = shown_names(table.title, table.chairs, table.game.spec.name)
            title = named or ", ".join(names)
            first = self._store.branch_start(name) or 0
            for number, action, regret in await mistakes(self._pool, table, first) if table.game.done else ():
                position = self._store.boards.portable_text(_position_of(table, number))
                rows.append((f"{name}-{number}", table.game.spec.name, title, position, action, regret, now))
        except TableError:  # deleted, or saved by another version
            pass
        except PlayerEndedError as problem:  # for example for lack of memory; the next examination tries again
            _log.warning("practice: table %s: %s", name, problem)
            return
        except PlayerFailedError as problem:  # the network does not support the configuration
            _log.warning("practice: table %s: %s", name, problem)
        with self._store.transaction():
            self._rows.execute("UPDATE examined SET collected = 1 WHERE name = ?", (name,))
            self._rows.executemany(
                "INSERT OR IGNORE INTO exercises (name, game, title, position, taken, regret, due) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            self._rows.execute(
                "DELETE FROM exercises WHERE name NOT IN (SELECT name FROM exercises ORDER BY regret DESC LIMIT ?)",
                (_MAX_EXERCISES,),
            )

    async def close(self) -> None:
        """Stop the examination."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


async def note_results(store: TableStore) -> None:
    """Save the ranks of all finished tables with a human, unless they are already saved."""
    entries = {entry.name: entry for entry in store.unexamined()}
    for name in await finished_tables(store, list(entries.values())):
        try:
            table = await store.load_in_thread(name)
        except TableError:
            continue
        branched = store.branch_start(name) is not None
        usual = table.config == table.game.spec.config(num_players=2) and not table.start and not branched
        own = (table.clock is None or not table.clock.expired) and not is_lesson(table.title, table.chairs)
        # The ratings of the levels apply only to the published game with two players.
        players = json.dumps([chair.player for chair in table.chairs] if usual and own else [])
        ranks = json.dumps(table.game.ranks().tolist())
        with store.transaction():
            store.rows.execute(
                "INSERT OR IGNORE INTO examined (name, game, made, ranks, players, taken_back) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (name, table.game.spec.name, entries[name].made, ranks, players, store.taken_back(name)),
            )


# puzzles


@cache
def puzzles() -> tuple[dict[str, Any], ...]:
    """Return the bundled puzzles, each with `game`, `config`, `seed`, `actions` (before the position) and `taken`."""
    found: list[dict[str, Any]] = json.loads((files("helsinki_env.web") / "puzzles.json").read_text(encoding="utf-8"))
    return tuple(found)


def puzzle(number: int) -> Exercise:
    """Return a bundled puzzle by its index."""
    data = puzzles()[number]
    config = config_from_dict(dict(data["config"]))
    chairs = tuple(SeatAssignment(HUMAN, f"Player {seat + 1}") for seat in range(config.num_players))
    table = GameTable(secrets.token_hex(6), f"Puzzle {number + 1}", config, int(data["seed"]), chairs)
    for action in data["actions"]:
        table.decide(table.number, action, log_text(table.game, action))
    return Exercise(f"puzzle-{number}", data["game"], table.title, table, int(data["taken"]), 0.0, 0, 0)
