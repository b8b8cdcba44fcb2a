"""How fast the environment is on this machine: decisions per second, and as a ratio to a yardstick of the same run.

Machines are shared, throttled and noisy, so a bare figure says little about the code. The yardstick is a compiled loop
that writes 1 KB of observation and a mask for each step and does nothing else: about what any environment of this size
must do at least. Every figure is the median of repeated measurements, and play is uniformly random and legal; but for
the players that think, whose figures come last: they play their own games.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from agents.base import decide
from agents.heuristic.playouts import play_out_guided
from agents.registry import make_player
from helsinki_env.engine import loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.playout import choose_uniformly, play_out, player_words
from helsinki_env.engine.spec import spec_of, usual_spec
from helsinki_env.engine.states import copy_states
from helsinki_env.envs.aec import GameAECEnv, OrderEnforced
from helsinki_env.envs.threads import Slices
from helsinki_env.envs.vector import GameVectorEnv

__all__ = ["Measurement", "run_benchmark"]

_YARD_BYTES, _YARD_MASK = 1024, 554


@dataclass(frozen=True)
class Measurement:
    """One row of the benchmark.

    Attributes:
        name: what was measured.
        batch: games side by side.
        threads: threads that share a step.
        per_second: decisions per second of the environment alone (clone: games copied per second; players that think:
            their own decisions).
        with_choosing: the same with the time for choosing random legal decisions, None where it is not apart.
        ratio: `per_second` divided by the yardstick's steps per second on one thread.
    """

    name: str
    batch: int
    threads: int
    per_second: float
    with_choosing: float | None
    ratio: float


@kernel
def _write_rows(observations: Any, masks: Any, value: int) -> None:
    for b in range(len(observations)):
        for i in range(observations.shape[1]):
            observations[b, i] = value
        for i in range(masks.shape[1]):
            masks[b, i] = value


def _median_rate(run: Callable[[], int], seconds: float) -> float:
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


def yardstick(batch: int, seconds: float) -> float:
    """Return steps per second of the yardstick on one thread; it is the same for every game."""
    observations = np.zeros((batch, _YARD_BYTES), np.int8)
    masks = np.zeros((batch, _YARD_MASK), np.int8)

    def run() -> int:
        _write_rows(observations, masks, 1)
        return batch

    return _median_rate(run, seconds)


def _split_rates(choose: Callable[[], None], step: Callable[[], int], seconds: float) -> tuple[float, float]:
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


def _kernel_row(config: Any, batch: int, threads: int, seconds: float) -> tuple[float, float]:
    """Step and mask only, on bare records; games that end are dealt anew in the same pass."""
    spec, slices = spec_of(config), Slices(threads)
    tables, states = config.tables[0], spec.new_states(config, batch)
    spec.apply_setup(states, config)
    seeds, streams = np.zeros(batch, np.uint64), np.arange(batch, dtype=np.uint64)
    episodes, masks = np.zeros(batch, np.uint64), np.zeros((batch, spec.ids(config)), np.int8)
    loops.batch_deal(tables, states, seeds, streams, episodes)
    loops.batch_mask(tables, states, masks)
    words, actions = player_words(batch, 1), np.zeros(batch, np.int64)

    def part(begin: int, end: int) -> None:
        loops.batch_step(tables, states[begin:end], actions[begin:end], masks[begin:end])

    def step() -> int:
        slices.run(part, batch)
        over = np.flatnonzero(states["done"])
        if len(over):
            fresh = states[over]
            episodes[over] += np.uint64(1)
            loops.batch_deal(tables, fresh, seeds[over], streams[over], episodes[over])
            states[over] = fresh
            first = masks[over]
            loops.batch_mask(tables, fresh, first)
            masks[over] = first
        return batch

    def choose() -> None:
        choose_uniformly(masks, words, actions)

    try:
        return _split_rates(choose, step, seconds)
    finally:
        slices.close()


def _vector_row(config: Any, batch: int, threads: int, seconds: float, copy: bool = True) -> tuple[float, float]:
    env = GameVectorEnv(batch, config, num_threads=threads, copy=copy)
    words, actions = player_words(batch, 1), np.zeros(batch, np.int64)
    last = {"obs": env.reset(seed=0)[0]}

    def choose() -> None:
        choose_uniformly(last["obs"]["action_mask"], words, actions)

    def step() -> int:
        last["obs"] = env.step(actions)[0]
        return batch

    try:
        return _split_rates(choose, step, seconds)
    finally:
        env.close()


def _aec_row(config: Any, wrapped: bool, seconds: float) -> tuple[float, float]:
    env: Any = OrderEnforced(GameAECEnv(config)) if wrapped else GameAECEnv(config)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    uniform = rng.random(4096).tolist()
    count = 0

    def play() -> tuple[int, float]:
        """Play a piece of a game as a user would; return decisions and the time for choosing them."""
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

    play()
    alone: list[float] = []
    both: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(alone) < 3:
        steps, choosing, begin = 0, 0.0, time.perf_counter()
        while time.perf_counter() - begin < seconds / 10:
            more, used = play()
            steps, choosing = steps + more, choosing + used
        spent = time.perf_counter() - begin
        alone.append(steps / (spent - choosing))
        both.append(steps / spent)
    return statistics.median(alone), statistics.median(both)


def _clone_row(config: Any, batch: int, seconds: float) -> tuple[float, float]:
    """Return games cloned per second, and the bytes per second of that as a share of a plain copy of as many bytes."""
    env = GameVectorEnv(batch, config)
    env.reset(seed=0)
    target = copy_states(env.states)
    raw, plain = np.zeros(target.nbytes, np.uint8), np.zeros(target.nbytes, np.uint8)

    def clone() -> int:
        copy_states(env.states, target)
        return batch

    def copy() -> int:
        np.copyto(plain, raw)
        return batch

    rate = _median_rate(clone, seconds)
    return rate, rate / _median_rate(copy, seconds)


def _playout_row(config: Any, batch: int, seconds: float) -> float:
    env = GameVectorEnv(batch, config)
    env.reset(seed=0)
    words, tables = player_words(batch, 1), env.config.tables[0]

    def run() -> int:
        return play_out(tables, copy_states(env.states), words, spec_of(config).ids(config))

    return _median_rate(run, seconds)


def _guided_row(config: Any, batch: int, seconds: float) -> float:
    """Decisions per second of games that the heuristic plays to the end in the kernel, as the search players do."""
    env = GameVectorEnv(batch, config)
    env.reset(seed=0)

    def run() -> int:
        return play_out_guided(env.config, copy_states(env.states))

    return _median_rate(run, seconds)


def _heuristic_row(config: Any, batch: int, seconds: float) -> float:
    """Decisions per second of the heuristic alone, in games that it plays against itself on the vector environment."""
    env = GameVectorEnv(batch, config)
    player, words, actions = make_player("heuristic", env.config), np.zeros(batch, np.uint64), np.zeros(batch, np.int64)
    last = {"obs": env.reset(seed=0)[0]}

    def think() -> int:
        actions[:] = player.act(last["obs"]["observation"], last["obs"]["action_mask"], words)
        return batch

    def step() -> None:
        last["obs"] = env.step(actions)[0]

    try:
        think()
        return _split_rates(step, think, seconds)[0]
    finally:
        env.close()


def _search_row(config: Any, name: str) -> float:
    """Decisions per second of a player in a whole game against itself, over those in which it has a choice."""
    game = spec_of(config).game(config, seed=0)
    player = make_player(name, config)
    decide(player, game)  # compiles
    spent, count, word = 0.0, 0, 0
    while not game.done:
        begin = time.perf_counter()
        action = decide(player, game, word)
        if len(game.legal_actions()) > 1:
            spent += time.perf_counter() - begin
            count += 1
        game.step(action)
        word += 1
    return count / spent


def run_benchmark(
    batches: tuple[int, ...] = (1, 64, 1024, 4096),
    threads: tuple[int, ...] = (1, 2),
    seconds: float = 1.0,
    players: tuple[str, ...] = ("mc:200", "ismcts:400"),
    report: Callable[[Measurement], None] | None = None,
    config: Any = None,
) -> dict[str, Any]:
    """Measure everything; return machine, versions, yardstick and rows as plain data for JSON.

    Args:
        batches: numbers of games side by side.
        threads: numbers of threads.
        seconds: time for each row.
        players: who plays a whole game each, however long it takes.
        report: called with each row as soon as it is there.
        config: what is played; default: the usual game.
    """
    config = usual_spec().config() if config is None else config
    yard = yardstick(4096, seconds)
    rows: list[Measurement] = []

    def add(name: str, batch: int, used: int, alone: float, both: float | None) -> None:
        rows.append(Measurement(name, batch, used, alone, both, alone / yard))
        if report is not None:
            report(rows[-1])

    for name, row in (("kernel: step + mask", _kernel_row), ("vector env: step + mask + observation", _vector_row)):
        for batch in batches:
            for count in threads:
                if batch >= 2 * count or count == 1:
                    add(name, batch, count, *row(config, batch, count, seconds))
    for count in threads:
        if (largest := max(batches)) >= 2 * count:
            add("vector env, copy=False", largest, count, *_vector_row(config, largest, count, seconds, copy=False))
    add("AEC, raw", 1, 1, *_aec_row(config, False, seconds))
    add("AEC, wrapped", 1, 1, *_aec_row(config, True, seconds))
    for batch in batches:
        rate, share = _clone_row(config, batch, seconds)
        add(f"clone ({share:.0%} of a plain memory copy)", batch, 1, rate, None)
    for batch in batches:
        add("random playout in the kernel", batch, 1, _playout_row(config, batch, seconds), None)
    largest = max(batches)
    add("playout by the heuristic in the kernel", largest, 1, _guided_row(config, largest, seconds), None)
    add("heuristic, its decisions on the vector env", largest, 1, _heuristic_row(config, largest, seconds), None)
    for player in players:
        rate = _search_row(config, player)
        add(f"{player}, decisions with a choice ({1000 / rate:,.1f} ms each)", 1, 1, rate, None)
    return {
        "helsinki_env": helsinki_env.__version__,
        "machine": _machine(),
        "game": spec_of(config).name,
        "state_bytes": spec_of(config).new_states(config, 0).dtype.itemsize,
        "yardstick": {"steps_per_second": yard, "bytes": _YARD_BYTES + _YARD_MASK, "threads": 1},
        "rows": [asdict(row) for row in rows],
    }


def _machine() -> dict[str, Any]:
    import numba

    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
