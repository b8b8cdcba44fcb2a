"""Speed measurements for any version of the project, and the process that runs them.

All games use uniformly random legal actions, except those of the heuristic and of search players. Preparing a
measurement includes compilation. A prepared measurement is a function that takes a time in seconds and returns actions
per second.

    PYTHONPATH=CHECKOUT python -P measures.py

measures the project in a checkout. For each line of input, a `MeasurementRequest` as JSON, it writes a line with the
rate or with the reason why there is none. It uses only long-standing public names of the project and imports them on
demand. If a version lacks a name, only the rows that need it are missing.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, TextIO

import numpy as np

#: Number of steps before timing, so that the games of a batch are in different phases.
_MIXED = 128
#: Number of games per call in heuristic playouts.
_GUIDED = 256
#: A search player chooses every fifth action of a game; the first one differs between repetitions.
_EVERY = 5

#: Function that takes seconds and returns actions per second.
Rate = Callable[[float], float]
#: Function that takes seconds and returns actions per second, both of the environment alone and with action selection.
Rates = Callable[[float], tuple[float, float]]


def medians(period: Callable[[], tuple[float, ...]], seconds: float) -> tuple[float, ...]:
    """Return the median of each rate over at least three periods that last at least `seconds` in total."""
    found: list[tuple[float, ...]] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 3:
        found.append(period())
    return tuple(map(statistics.median, zip(*found, strict=True)))


def median_rate(run: Callable[[], int], seconds: float) -> float:
    """Return the median count per second over periods of at least a tenth of `seconds`."""

    def period() -> tuple[float]:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 10:
            count += run()
        return (count / (time.perf_counter() - start),)

    run()
    return medians(period, seconds)[0]


def split_rates(choose: Callable[[], object], step: Callable[[], int], seconds: float) -> tuple[float, float]:
    """Return median actions per second, (steps alone, with action selection), from a single run."""
    clock = time.perf_counter

    def period() -> tuple[float, float]:
        stepping, choosing, count = 0.0, 0.0, 0
        while stepping + choosing < seconds / 10:
            begin = clock()
            choose()
            middle = clock()
            count += step()
            stepping += clock() - middle
            choosing += middle - begin
        return count / stepping, count / (stepping + choosing)

    choose()
    step()
    alone, both = medians(period, seconds)
    return alone, both


def _first_name(*names: str) -> Any:
    """Return the object of the first name ``"module:attribute"`` that exists; earlier revisions used other names."""
    for name in names:
        module, _, attribute = name.partition(":")
        with suppress(ImportError, AttributeError):
            return getattr(import_module(module), attribute)
    raise ImportError(f"found none of the names {', '.join(names)}")


def _sampling() -> tuple[Any, Any]:
    """Return the kernel that samples actions, and the function that creates its random keys."""
    module = "helsinki_env.engine.playout"
    return (
        _first_name(f"{module}:sample_actions", f"{module}:choose_uniformly"),
        _first_name(f"{module}:random_keys", f"{module}:player_words"),
    )


def prepare_steps(env: Any) -> Rates:
    """Prepare a measurement of steps of a batch environment, for all seats or for one learning seat."""
    sample_actions, random_keys = _sampling()
    keys, actions = random_keys(env.num_envs, 1), np.zeros(env.num_envs, np.int64)
    last = {"obs": env.reset(seed=0)[0]}

    def choose() -> None:
        sample_actions(last["obs"]["action_mask"], keys, actions)

    def step() -> int:
        last["obs"] = env.step(actions)[0]
        return len(actions)

    for _ in range(_MIXED):
        choose()
        step()
    return partial(split_rates, choose, step)


def prepare_aec_steps(env: Any) -> Rates:
    """Prepare a measurement of games in any PettingZoo environment with action masks, in a typical user's loop."""
    env.reset(seed=0)
    uniform = np.random.default_rng(0).random(4096).tolist()
    count = 0

    def play() -> tuple[int, float]:
        """Play up to 200 steps; return the number of steps and the time for action selection."""
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
        def period() -> tuple[float, float]:
            steps, choosing, begin = 0, 0.0, time.perf_counter()
            while not steps or time.perf_counter() - begin < seconds / 10:
                more, used = play()
                steps, choosing = steps + more, choosing + used
            spent = time.perf_counter() - begin
            return steps / (spent - choosing), steps / spent

        alone, both = medians(period, seconds)
        return alone, both

    play()
    return rates


def playouts(env: Any) -> Rate:
    """Prepare a measurement of random playouts of a batch to the end of the games, in compiled code."""
    from helsinki_env.engine.playout import play_out

    random_keys = _sampling()[1]
    ids = env.reset(seed=0)[0]["action_mask"].shape[1]
    keys, tables = random_keys(env.num_envs, 1), env.config.tables[0]

    def run() -> int:
        return play_out(tables, env.states.copy(), keys, ids)

    return partial(median_rate, run)


def prepare_heuristic_playouts(env: Any) -> Rate:
    """Prepare a measurement of compiled playouts with the heuristic, as in the search players."""
    play_out_guided = _first_name(
        "helsinki_env.agents.heuristic:play_out_with_heuristic",
        "helsinki_env.agents.heuristic.player:play_out_with_heuristic",
        "helsinki_env.agents.heuristic.playouts:play_out_with_heuristic",
        "agents.heuristic.playouts:play_out_guided",
    )
    env.reset(seed=0)
    begin = 0

    def run() -> int:
        nonlocal begin
        some = env.states[begin : begin + _GUIDED].copy()
        begin = (begin + _GUIDED) % env.num_envs
        return int(play_out_guided(env.config, some))

    return partial(median_rate, run)


def prepare_sampling(env: Any) -> Rate:
    """Prepare a measurement of sampling random legal actions for a batch of games in different phases."""
    sample_actions, random_keys = _sampling()
    keys, actions = random_keys(env.num_envs, 1), np.zeros(env.num_envs, np.int64)
    mask = env.reset(seed=0)[0]["action_mask"]
    for _ in range(_MIXED):
        mask = env.step(sample_actions(mask, keys))[0]["action_mask"]

    def run() -> int:
        sample_actions(mask, keys, actions)
        return len(actions)

    return partial(median_rate, run)


def _random_lines(first: Any, games: int) -> list[list[int]]:
    """Return the actions of random games from the start to the end."""
    rng, lines = random.Random(0), []
    for _ in range(games):
        game, line = first.clone(), []
        while not game.done:
            line.append(int(rng.choice(game.legal_actions())))
            game.step(line[-1])
        lines.append(line)
    return lines


def stepping_one(first: Any) -> Rate:
    """Prepare a measurement of `Game.step`, one game after another."""
    lines = _random_lines(first, 5)

    def run() -> int:
        for line in lines:
            step = first.clone().step
            for action in line:
                step(action)
        return sum(map(len, lines))

    return partial(median_rate, run)


def masking_one(first: Any) -> Rate:
    """Prepare a measurement of `Game.action_mask` on games that have just taken an action."""
    games = [first.clone()]
    for action in _random_lines(first, 1)[0]:
        games.append(games[-1].clone())
        games[-1].step(action)

    method = "action_mask" if hasattr(first, "action_mask") else "legal_mask"  # name in earlier revisions
    masks = [getattr(game, method) for game in games]

    def run() -> int:
        for mask in masks:
            mask()
        return len(masks)

    return partial(median_rate, run)


def prepare_search_actions(
    player: Any, first: Any, line: Sequence[int] = (), every: int = 1, turn: int = 0
) -> Callable[[], float]:
    """Return a function that plays a game and returns the player's choices per second.

    The game follows the actions in `line`, or the player's own actions if `line` is empty. The player
    is timed on every `every`-th choice, starting at index `turn`.
    """
    decide = _first_name("helsinki_env.agents.base:choose_action", "agents.base:decide")

    def rate() -> float:
        game, spent, queries, choices, number = first.clone(), 0.0, 0, 0, 0
        while not game.done:
            action = line[number] if line else -1
            if len(game.legal_actions()) < 2:
                action = int(game.legal_actions()[0])
            else:
                if choices % every == turn % every:
                    begin = time.perf_counter()
                    decision = decide(player, game, number)
                    spent += time.perf_counter() - begin
                    queries += 1
                    action = action if line else decision
                choices += 1
            game.step(action)
            number += 1
        return queries / spent

    decide(player, first)  # compiles the player
    return rate


class MeasurementRequest(NamedTuple):
    """A request for a measurement."""

    row: str  # key of `MEASUREMENT_KINDS`, or name of a player
    game: str  # name of the game
    games: int  # batch size of rows that use batches
    threads: int  # number of threads of the multithreaded row
    line: list[int]  # actions of a complete game with seed 0, in which players are queried
    turn: int  # number of previous repetitions
    seconds: float  # measurement time, which search players may exceed


class MeasurementKind(NamedTuple):
    """A kind of measurement."""

    name: str  # description for users
    prepare: Callable[[MeasurementRequest], Rate]
    single: bool = False  # whether one game at a time is measured
    threaded: bool = False  # whether several threads are used


def _named(request: MeasurementRequest, name: str) -> Any:
    """Return a game-specific public object of the package, such as `HelsinkiVectorEnv`."""
    return getattr(import_module("helsinki_env"), request.game.capitalize() + name)


def _batch(request: MeasurementRequest, **options: Any) -> Any:
    return _named(request, "VectorEnv")(request.games, **options)


def _alone(rates: Rates) -> Rate:
    return lambda seconds: rates(seconds)[0]


def _raw(request: MeasurementRequest) -> Any:
    return import_module(f"helsinki_env.{request.game}_v0").raw_env()


def _first(request: MeasurementRequest) -> Any:
    env = _raw(request)
    env.reset(seed=0)
    return env.game


def _threaded(request: MeasurementRequest) -> Rate:
    return _alone(prepare_steps(_batch(request, num_threads=request.threads)))


def _seat(request: MeasurementRequest) -> Rate:
    return _alone(prepare_steps(_named(request, "SeatVectorEnv")(request.games, opponents="random")))


def _player(request: MeasurementRequest) -> Rate:
    make_player = _first_name("helsinki_env.agents.registry:make_player", "agents.registry:make_player")

    first = _first(request)
    every = _EVERY if request.line else 1
    rate = prepare_search_actions(make_player(request.row, first.config), first, request.line, every, request.turn)
    return lambda seconds: rate()


MEASUREMENT_KINDS = {
    "env": MeasurementKind(
        "vector env: step + mask + observation", lambda request: _alone(prepare_steps(_batch(request)))
    ),
    "views": MeasurementKind(
        "vector env, copy=False", lambda request: _alone(prepare_steps(_batch(request, copy=False)))
    ),
    "four": MeasurementKind(
        "vector env, four players", lambda request: _alone(prepare_steps(_batch(request, num_players=4)))
    ),
    "threads": MeasurementKind("vector env, several threads", _threaded, threaded=True),
    "seat": MeasurementKind("seat env: actions of the learner", _seat),
    "playouts": MeasurementKind("random playouts", lambda request: playouts(_batch(request))),
    "choice": MeasurementKind("uniform choice", lambda request: prepare_sampling(_batch(request))),
    "guided": MeasurementKind("playouts by the heuristic", lambda request: prepare_heuristic_playouts(_batch(request))),
    "aec": MeasurementKind("AEC, raw", lambda request: _alone(prepare_aec_steps(_raw(request))), single=True),
    "step": MeasurementKind("one game: step", lambda request: stepping_one(_first(request)), single=True),
    "mask": MeasurementKind(
        "one game: action_mask after a step", lambda request: masking_one(_first(request)), single=True
    ),
}
"""Rows of a comparison by key, for two players unless stated otherwise."""


def row_of(key: str) -> MeasurementKind:
    """Return a row by its key in `MEASUREMENT_KINDS` or by the name of a player."""
    return MEASUREMENT_KINDS.get(key) or MeasurementKind(f"{key}, actions with a choice", _player, single=True)


def _answer(request: MeasurementRequest, prepared: dict[tuple[str, str], Rate]) -> dict[str, Any]:
    """Run a measurement, keeping its preparation until another row is requested."""
    key = request.row, request.game
    try:
        if key not in prepared:
            prepared.clear()
            prepared[key] = row_of(request.row).prepare(request)
        return {"rate": prepared[key](request.seconds)}
    except Exception as problem:
        return _reason(problem)


def _reason(problem: Exception) -> dict[str, Any]:
    return {"why": f"{type(problem).__name__}: {' '.join(str(problem).split())}"}


def _serve(questions: TextIO, answers: TextIO) -> None:
    """Answer requests until the end of the input; the first answer gives the path of the measured package."""

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        say({"package": import_module("helsinki_env").__file__})
    except Exception as problem:
        return say(_reason(problem))
    prepared: dict[tuple[str, str], Rate] = {}
    for line in questions:
        say(_answer(MeasurementRequest(**json.loads(line)), prepared))


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as channel:
        os.dup2(2, 1)  # keeps other output separate from the answers
        _serve(sys.stdin, channel)
