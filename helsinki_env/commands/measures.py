"""What is timed, said so that any version of the project can be timed by it; and the process that times one.

Everything is uniformly random legal play, but for the players that think. A measurement is prepared once, which also
compiles, and then made as often as one likes: it takes seconds and returns decisions per second.

    PYTHONPATH=CHECKOUT python -P measures.py

times the project of a checkout: a line of JSON with what is asked, see `Asked` and `ROWS`, is answered by a line with
the rate, or with the reason why there is none. Of the project only public names that have been there for long are used,
and nothing of it is imported before it is needed: what one version lacks costs that version that row alone.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TextIO

import numpy as np

__all__ = ["ROWS", "Asked", "Row", "choosing", "guided", "median_rate", "playing", "playouts"]
__all__ += ["row_of", "split_rates", "stepping", "thinking"]

#: Steps before anything is timed, so that the games of a batch have come to different phases.
_MIXED = 128
#: Games that the heuristic plays to the end before somebody looks at the clock again.
_GUIDED = 256
#: One in so many decisions of a game is asked of a player that thinks; the next time it is the one after.
_EVERY = 5

#: Takes seconds, returns decisions per second.
Rate = Callable[[float], float]
#: The same, of the environment alone and with choosing the decisions.
Rates = Callable[[float], tuple[float, float]]


def median_rate(run: Callable[[], int], seconds: float) -> float:
    """Return the median of counts per second over pieces of at least a tenth of `seconds`."""
    run()
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rates) < 3:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 10:
            count += run()
        rates.append(count / (time.perf_counter() - start))
    return statistics.median(rates)


def split_rates(choose: Callable[[], object], step: Callable[[], int], seconds: float) -> tuple[float, float]:
    """Return medians of decisions per second, (step alone, with choosing), from one run that times both."""
    alone: list[float] = []
    both: list[float] = []
    choose()
    step()
    clock = time.perf_counter
    end = clock() + seconds
    while clock() < end or len(alone) < 3:
        stepping, choosing, count = 0.0, 0.0, 0
        while stepping + choosing < seconds / 10:
            begin = clock()
            choose()
            middle = clock()
            count += step()
            stepping += clock() - middle
            choosing += middle - begin
        alone.append(count / stepping)
        both.append(count / (stepping + choosing))
    return statistics.median(alone), statistics.median(both)


def stepping(env: Any) -> Rates:
    """Prepare steps of a batch, of all seats or of one that learns."""
    from helsinki_env.playout import choose_uniformly, player_words

    words, actions = player_words(env.num_envs, 1), np.zeros(env.num_envs, np.int64)
    last = {"obs": env.reset(seed=0)[0]}

    def choose() -> None:
        choose_uniformly(last["obs"]["action_mask"], words, actions)

    def step() -> int:
        last["obs"] = env.step(actions)[0]
        return len(actions)

    for _ in range(_MIXED):
        choose()
        step()
    return partial(split_rates, choose, step)


def playing(env: Any) -> Rates:
    """Prepare games of a PettingZoo environment, played as a user would; any that has masks will do."""
    env.reset(seed=0)
    uniform = np.random.default_rng(0).random(4096).tolist()
    count = 0

    def play() -> tuple[int, float]:
        """Play a piece of a game; return decisions and the time for choosing them."""
        nonlocal count
        choosing, steps = 0.0, 0
        clock = time.perf_counter
        for _ in range(200):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            begin = clock()
            legal = observation["action_mask"].nonzero()[0]
            action = legal[int(uniform[count & 4095] * len(legal))]
            count += 1
            choosing += clock() - begin
            env.step(action)
            steps += 1
        return steps, choosing

    def rates(seconds: float) -> tuple[float, float]:
        alone: list[float] = []
        both: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(alone) < 3:
            steps, choosing, begin = 0, 0.0, time.perf_counter()
            while not steps or time.perf_counter() - begin < seconds / 10:
                more, used = play()
                steps, choosing = steps + more, choosing + used
            spent = time.perf_counter() - begin
            alone.append(steps / (spent - choosing))
            both.append(steps / spent)
        return statistics.median(alone), statistics.median(both)

    play()
    return rates


def playouts(env: Any) -> Rate:
    """Prepare random games of a batch to their end, in compiled code."""
    from helsinki_env.playout import play_out, player_words

    ids = env.reset(seed=0)[0]["action_mask"].shape[1]
    words, tables = player_words(env.num_envs, 1), env.config.tables[0]

    def run() -> int:
        return play_out(tables, env.states.copy(), words, ids)

    return partial(median_rate, run)


def guided(env: Any) -> Rate:
    """Prepare games that the heuristic plays to the end in compiled code, as the search players do."""
    from agents.heuristic.playouts import play_out_guided

    env.reset(seed=0)
    begin = 0

    def run() -> int:
        nonlocal begin
        some = env.states[begin : begin + _GUIDED].copy()
        begin = (begin + _GUIDED) % env.num_envs
        return play_out_guided(env.config, some)

    return partial(median_rate, run)


def choosing(env: Any) -> Rate:
    """Prepare the choice of random legal decisions for a batch whose games are at different phases."""
    from helsinki_env.playout import choose_uniformly, player_words

    words, actions = player_words(env.num_envs, 1), np.zeros(env.num_envs, np.int64)
    mask = env.reset(seed=0)[0]["action_mask"]
    for _ in range(_MIXED):
        mask = env.step(choose_uniformly(mask, words))[0]["action_mask"]

    def run() -> int:
        choose_uniformly(mask, words, actions)
        return len(actions)

    return partial(median_rate, run)


def _random_lines(first: Any, games: int) -> list[list[int]]:
    """Return random legal decisions from the beginning of a game to its end, for each of some games."""
    rng, lines = random.Random(0), []
    for _ in range(games):
        game, line = first.clone(), []
        while not game.done:
            line.append(int(rng.choice(game.legal_actions())))
            game.step(line[-1])
        lines.append(line)
    return lines


def stepping_one(first: Any) -> Rate:
    """Prepare `Game.step`, one game after another."""
    lines = _random_lines(first, 5)

    def run() -> int:
        for line in lines:
            step = first.clone().step
            for action in line:
                step(action)
        return sum(map(len, lines))

    return partial(median_rate, run)


def masking_one(first: Any) -> Rate:
    """Prepare `Game.legal_mask` after a decision."""
    games = [first.clone()]
    for action in _random_lines(first, 1)[0]:
        games.append(games[-1].clone())
        games[-1].step(action)

    def run() -> int:
        for game in games:
            game.legal_mask()
        return len(games)

    return partial(median_rate, run)


def thinking(player: Any, first: Any, line: Sequence[int] = (), every: int = 1, turn: int = 0) -> Callable[[], float]:
    """Prepare decisions of a player that thinks.

    Args:
        player: who is asked.
        first: the game as it begins.
        line: how the game goes; default: as the player decides.
        every: of those decisions that are a choice, one in so many is asked.
        turn: which of them.

    Returns:
        A function that plays the game and returns decisions with a choice per second.
    """
    from agents.base import decide

    def rate() -> float:
        game, spent, asked, choices, number = first.clone(), 0.0, 0, 0, 0
        while not game.done:
            action = line[number] if line else -1
            if len(game.legal_actions()) < 2:
                action = int(game.legal_actions()[0])
            else:
                if choices % every == turn % every:
                    begin = time.perf_counter()
                    decision = decide(player, game, number)
                    spent += time.perf_counter() - begin
                    asked += 1
                    action = action if line else decision
                choices += 1
            game.step(action)
            number += 1
        return asked / spent

    decide(player, first)  # compiles
    return rate


class Asked(NamedTuple):
    """What is measured.

    Attributes:
        row: a key of `ROWS`, or the name of a player.
        game: the name of the game.
        games: how many are played side by side, where they are.
        threads: of the row with several.
        line: decisions of a game to its end, with seed 0, along which players are asked.
        turn: how often that has been done before.
        seconds: how long it may take; players that think take as long as they do.
    """

    row: str
    game: str
    games: int
    threads: int
    line: list[int]
    turn: int
    seconds: float


class Row(NamedTuple):
    """Something to measure.

    Attributes:
        name: for people.
        prepare: for it.
        single: whether it is of one game at a time.
        threaded: whether it has several threads.
    """

    name: str
    prepare: Callable[[Asked], Rate]
    single: bool = False
    threaded: bool = False


def _named(asked: Asked, name: str) -> Any:
    """Return a public name of the package that says of which game it is; AttributeError if there is none."""
    return getattr(import_module("helsinki_env"), asked.game.capitalize() + name)


def _batch(asked: Asked, **options: Any) -> Any:
    return _named(asked, "VectorEnv")(asked.games, **options)


def _alone(rates: Rates) -> Rate:
    return lambda seconds: rates(seconds)[0]


def _raw(asked: Asked) -> Any:
    return import_module(f"helsinki_env.{asked.game}_v0").raw_env()


def _first(asked: Asked) -> Any:
    env = _raw(asked)
    env.reset(seed=0)
    return env.game


def _threaded(asked: Asked) -> Rate:
    return _alone(stepping(_batch(asked, num_threads=asked.threads)))


def _seat(asked: Asked) -> Rate:
    return _alone(stepping(_named(asked, "SeatVectorEnv")(asked.games, opponents="random")))


def _player(asked: Asked) -> Rate:
    from agents.registry import make_player

    first = _first(asked)
    every = _EVERY if asked.line else 1
    rate = thinking(make_player(asked.row, first.config), first, asked.line, every, asked.turn)
    return lambda seconds: rate()


ROWS = {
    "env": Row("vector env: step + mask + observation", lambda asked: _alone(stepping(_batch(asked)))),
    "views": Row("vector env, copy=False", lambda asked: _alone(stepping(_batch(asked, copy=False)))),
    "four": Row("vector env, four players", lambda asked: _alone(stepping(_batch(asked, num_players=4)))),
    "threads": Row("vector env, several threads", _threaded, threaded=True),
    "seat": Row("seat env: decisions of the learner", _seat),
    "playouts": Row("random playouts", lambda asked: playouts(_batch(asked))),
    "choice": Row("uniform choice", lambda asked: choosing(_batch(asked))),
    "guided": Row("playouts by the heuristic", lambda asked: guided(_batch(asked))),
    "aec": Row("AEC, raw", lambda asked: _alone(playing(_raw(asked))), single=True),
    "step": Row("Game.step", lambda asked: stepping_one(_first(asked)), single=True),
    "mask": Row("Game.legal_mask after a step", lambda asked: masking_one(_first(asked)), single=True),
}
"""Rows of a comparison, by what they are asked for as. Two players, unless the name says otherwise."""


def row_of(key: str) -> Row:
    """Return a row by what it is asked for as: one of `ROWS`, or a player."""
    return ROWS.get(key) or Row(f"{key}, decisions with a choice", _player, single=True)


def _answer(asked: Asked, prepared: dict[tuple[str, str], Rate]) -> dict[str, Any]:
    """Measure; what was prepared for the same row is used again, and that for another one let go."""
    key = asked.row, asked.game
    try:
        if key not in prepared:
            prepared.clear()
            prepared[key] = row_of(asked.row).prepare(asked)
        return {"rate": prepared[key](asked.seconds)}
    except Exception as problem:
        return _reason(problem)


def _reason(problem: Exception) -> dict[str, Any]:
    return {"why": f"{type(problem).__name__}: {' '.join(str(problem).split())}"}


def _serve(questions: TextIO, answers: TextIO) -> None:
    """Answer questions to their end; the first answer says which package is measured."""

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        say({"package": import_module("helsinki_env").__file__})
    except Exception as problem:
        return say(_reason(problem))
    prepared: dict[tuple[str, str], Rate] = {}
    for line in questions:
        say(_answer(Asked(**json.loads(line)), prepared))


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as channel:
        os.dup2(2, 1)  # whatever else is printed is no answer
        _serve(sys.stdin, channel)
