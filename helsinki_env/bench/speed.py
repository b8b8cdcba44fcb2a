"""Measure the environment's speed on this machine: actions per second, and the ratio to a baseline in the same run.

Absolute rates depend on the machine and its load. The baseline is a compiled loop that only writes a 1 KB observation
and a mask for each step. Any environment of this size must write about as much, and the baseline is the same for every
game. All rates are medians of repeated measurements with uniformly random legal actions, except those of the heuristic
and of search players, which choose their own actions.

`measure_tensors` measures tensor environments on a GPU or CPU. The tables can be printed in terminals and written to
pages.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import helsinki_env
from helsinki_env.agents.registry import make_player
from helsinki_env.bench.measures import (
    median_rate,
    playouts,
    prepare_aec_steps,
    prepare_heuristic_playouts,
    prepare_search_actions,
    prepare_steps,
    split_rates,
)
from helsinki_env.engine import loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import default_spec, spec_of
from helsinki_env.engine.states import copy_states
from helsinki_env.envs.aec import GameAECEnv, OrderEnforced
from helsinki_env.envs.threads import ThreadPool
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.utils import markdown
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count

_BASELINE_BYTES, _BASELINE_MASK = 1024, 554


@dataclass(frozen=True)
class Measurement:
    """A row of the benchmark."""

    name: str  # description of the measurement
    batch: int  # number of games in the batch
    threads: int  # number of threads for a step
    #: Actions per second of the environment alone, copied games per second (clone), or a search player's own actions.
    per_second: float
    #: The same, including sampling random legal actions; None if not measured.
    with_choosing: float | None
    ratio: float  # `per_second` divided by the baseline's steps per second in one thread


@kernel
def _write_rows(observations: Any, masks: Any, value: int) -> None:
    for b in range(len(observations)):
        for i in range(observations.shape[1]):
            observations[b, i] = value
        for i in range(masks.shape[1]):
            masks[b, i] = value


def baseline_rate(batch: int, seconds: float) -> float:
    """Return the baseline's steps per second in one thread."""
    observations = np.zeros((batch, _BASELINE_BYTES), np.int8)
    masks = np.zeros((batch, _BASELINE_MASK), np.int8)

    def run() -> int:
        _write_rows(observations, masks, 1)
        return batch

    return median_rate(run, seconds)


def _kernel_row(config: Any, batch: int, threads: int, seconds: float) -> tuple[float, float]:
    """Measure steps with masks on raw states; finished games are reset in the same call."""
    spec, slices = spec_of(config), ThreadPool(threads)
    tables, states = config.tables[0], spec.new_states(config, batch)
    spec.apply_setup(states, config)
    seeds, streams = np.zeros(batch, np.uint64), np.arange(batch, dtype=np.uint64)
    episodes, masks = np.zeros(batch, np.uint64), np.zeros((batch, spec.num_actions(config)), np.int8)
    loops.batch_deal(tables, states, seeds, streams, episodes)
    loops.batch_mask(tables, states, masks)
    keys, actions = random_keys(batch, 1), np.zeros(batch, np.int64)

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
        sample_actions(masks, keys, actions)

    try:
        return split_rates(choose, step, seconds)
    finally:
        slices.close()


def _vector_row(config: Any, batch: int, threads: int, seconds: float, copy: bool = True) -> tuple[float, float]:
    env = GameVectorEnv(batch, config, num_threads=threads, copy=copy)
    try:
        return prepare_steps(env)(seconds)
    finally:
        env.close()


def _aec_row(config: Any, wrapped: bool, seconds: float) -> tuple[float, float]:
    return prepare_aec_steps(OrderEnforced(GameAECEnv(config)) if wrapped else GameAECEnv(config))(seconds)


def _clone_row(config: Any, batch: int, seconds: float) -> tuple[float, float]:
    """Return cloned games per second, and this speed relative to a plain memory copy."""
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

    rate = median_rate(clone, seconds)
    return rate, rate / median_rate(copy, seconds)


def _heuristic_row(config: Any, batch: int, seconds: float) -> float:
    """Return the heuristic's actions per second in games against itself, without the vector environment."""
    env = GameVectorEnv(batch, config)
    player, keys, actions = make_player("heuristic", env.config), np.zeros(batch, np.uint64), np.zeros(batch, np.int64)
    last = {"obs": env.reset(seed=0)[0]}

    def think() -> int:
        actions[:] = player.act(last["obs"]["observation"], last["obs"]["action_mask"], keys)
        return batch

    def step() -> None:
        last["obs"] = env.step(actions)[0]

    try:
        think()
        return split_rates(step, think, seconds)[0]
    finally:
        env.close()


def run_benchmark(
    batches: Sequence[int] = (1, 64, 1024, 4096),
    threads: Sequence[int] = (1, 2),
    seconds: float = 1.0,
    players: Sequence[str] = ("mc:200", "ismcts:400"),
    report: Callable[[Measurement], None] | None = None,
    config: Any = None,
) -> dict[str, Any]:
    """Measure all rows and pass each to `report`; return the results as JSON-serializable data."""
    config = default_spec().config() if config is None else config
    baseline = baseline_rate(4096, seconds)
    rows: list[Measurement] = []

    def add(name: str, batch: int, used: int, alone: float, both: float | None) -> None:
        rows.append(Measurement(name, batch, used, alone, both, alone / baseline))
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
        add("random playout in the kernel", batch, 1, playouts(GameVectorEnv(batch, config))(seconds), None)
    largest = max(batches)
    add(
        "playout by the heuristic in the kernel",
        largest,
        1,
        prepare_heuristic_playouts(GameVectorEnv(largest, config))(seconds),
        None,
    )
    add("heuristic, actions on the vector env", largest, 1, _heuristic_row(config, largest, seconds), None)
    for player in players:
        rate = prepare_search_actions(make_player(player, config), spec_of(config).game(config, seed=0))()
        add(f"{player}, actions with a choice ({1000 / rate:,.1f} ms each)", 1, 1, rate, None)
    return {
        "helsinki_env": helsinki_env.__version__,
        "machine": machine(),
        "game": spec_of(config).name,
        "state_bytes": spec_of(config).new_states(config, 0).dtype.itemsize,
        "baseline": {"steps_per_second": baseline, "bytes": _BASELINE_BYTES + _BASELINE_MASK, "threads": 1},
        "rows": [asdict(row) for row in rows],
    }


def machine() -> dict[str, Any]:
    """Return the CPU, system and package versions."""
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
        "cores": cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


#: Number of steps of a tensor environment between clock checks.
_STEPS = 20


class TensorRow(NamedTuple):
    """Batch size and median actions per second."""

    batch: int
    per_second: float  # the environment alone, for given actions
    with_choosing: float  # with sampling of random actions
    without_observations: float  # the same, with one observation every `_STEPS` steps


def _tensor_row(config: Any, batch: int, device: str, seconds: float) -> TensorRow:
    with requires_extra("train"):
        import torch

        from helsinki_env.envs.tensors import GameTorchEnv

    env = GameTorchEnv(batch, config, device)
    env.reset(seed=0)

    def now() -> float:
        if env.device.type == "cuda":
            torch.cuda.synchronize(env.device)
        return time.perf_counter()

    actions = [env.sample().clone()]

    def step() -> None:
        env.step(actions[0])

    def choose() -> None:
        actions[0] = env.sample()

    def both_of_them() -> None:
        choose()
        step()

    for _ in range(3):
        both_of_them()
    alone: list[float] = []
    both: list[float] = []
    playing: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(alone) < 3:
        # Steps need new actions, so the time for steps alone is calculated as a difference.
        begin = now()
        for _ in range(_STEPS):
            choose()
        middle = now()
        for _ in range(_STEPS):
            both_of_them()
        total = now() - middle
        alone.append(batch * _STEPS / (total - (middle - begin)))
        both.append(batch * _STEPS / total)
        begin = now()
        env.play_random(_STEPS)
        playing.append(batch * _STEPS / (now() - begin))
    return TensorRow(batch, *map(statistics.median, (alone, both, playing)))


def measure_tensors(
    config: Any, batches: Sequence[int], device: str, seconds: float, report: Callable[[TensorRow], None]
) -> dict[str, Any]:
    """Measure uniformly random legal play for each batch size; return results and conditions as a dictionary."""
    with requires_extra("train"):
        import torch
    rows = []
    for batch in batches:
        rows.append(_tensor_row(config, batch, device, seconds))
        report(rows[-1])
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "CPU, one thread"
    return {"device": name, "torch": torch.__version__, "rows": [row._asdict() for row in rows]}


class SpeedTable(NamedTuple):
    """A table for terminals and Markdown pages."""

    title: str  # title above the table
    head: Sequence[str]  # column names
    rows: Sequence[Sequence[str]]  # rows of plain-text cells

    def show(self, console: Console) -> None:
        """Print the table; cells are wrapped between words in narrow terminals, and anywhere in very narrow ones."""
        table = Table(title=self.title, box=SIMPLE_HEAD, padding=0, show_edge=False)
        columns = list(zip(self.head, *self.rows, strict=True))
        least = [max(len(word) for cell in column for word in cell.split()) for column in columns]
        room = console.width - sum(least) - (len(columns) - 1)
        for i, (column, width) in enumerate(zip(columns, least, strict=True)):
            more = min(max(room, 0), max(map(len, column)) - width)
            table.add_column(column[0], justify="right" if i else "left", width=width + more, overflow="fold")
            room -= more
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        rows = [[markdown.escape_markdown(cell) for cell in row] for row in self.rows]
        return f"{markdown.markdown_table(self.head, rows)}\n"


def format_rate(rate: float) -> str:
    """Format a rate as an integer with commas, or with three digits if it is below a thousand."""
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"


def _ratio_text(ratio: float) -> str:
    return f"{ratio:.4f}" if ratio >= 0.001 else f"{ratio:.1e}"


def machine_text(machine: dict[str, Any]) -> str:
    """Describe the machine on which a measurement was made in one sentence."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}, "
        f"NumPy {machine['numpy']}, Numba {machine['numba']}."
    )


def cells(row: Measurement) -> list[str]:
    """Return the table cells for a row."""
    chosen = "" if row.with_choosing is None else f"{row.with_choosing:,.0f}"
    rates = [format_rate(row.per_second), chosen, _ratio_text(row.ratio)]
    return [row.name, f"{row.batch:,}", f"{row.threads}", *rates]


def speed_table(result: dict[str, Any], what: str) -> SpeedTable:
    """Return the results of `run_benchmark` as a table."""
    head = ("measured", "games", "threads", "actions/s", "with sampling", "x baseline")
    title = f"{what}: uniformly random legal play except in the last rows; medians"
    return SpeedTable(title, head, [cells(Measurement(**row)) for row in result["rows"]])


def baseline_text(result: dict[str, Any]) -> str:
    """Describe the baseline in two sentences."""
    baseline = result["baseline"]
    rate = f"Baseline: {baseline['steps_per_second']:,.0f} steps/s of {baseline['bytes']:,} bytes on one thread."
    return f"{rate} State: {result['state_bytes']:,} bytes per game."


def measured_part(result: dict[str, Any], command: str) -> str:
    """Return the results of `run_benchmark` as a section of a page."""
    table = speed_table(result, result["game"].capitalize())
    intro = f"Measured with `{command}`: {machine_text(result['machine'])} {baseline_text(result)}"
    return _part([intro, f"{table.title}:", table.markdown()])


def comparison_table(result: dict[str, Any], game: str) -> SpeedTable:
    """Return the results of a `Comparison` for one game as a table."""
    commit, rows = result["against"]["revision"], []
    for row in (row for row in result["rows"] if row["game"] == game):
        rates = [format_rate(row[key]) if key in row else "-" for key in ("then_median", "now_median")]
        rows.append([row["name"], f"{row['games']:,}", f"{row['threads']}", *rates, *_ratios(row)])
    title = f"{game.capitalize()}: actions/s, this code against {commit}, medians of {result['pairs']} pairs"
    return SpeedTable(title, ("measured", "games", "threads", commit, "this code", *_RATIOS), rows)


def within_table(result: dict[str, Any]) -> SpeedTable:
    """Return the results of a `Comparison` within the running project as a table."""
    rows = [[row["name"], *_ratios(row)] for row in result["within"]]
    return SpeedTable("Ratios within this code, in the same pairs", ("measured", *_RATIOS), rows)


def missing_measurements(result: dict[str, Any]) -> list[str]:
    """Return one sentence for each reason why measurements of a `Comparison` are missing."""
    sides = {"now": "here", "then": f"at {result['against']['revision']}"}
    found: dict[str, list[str]] = {}
    for row in result["rows"]:
        for side, why in row["lacks"].items():
            found.setdefault(f"Not measured {sides[side]}: {why}", []).append(f"{row['game']}: {row['name']}")
    return [f"{reason} ({'; '.join(rows)})." for reason, rows in found.items()]


def compared_part(result: dict[str, Any], command: str) -> str:
    """Return the results of a `Comparison` as a section of a page."""
    old, games = result["against"], dict.fromkeys(row["game"] for row in result["rows"])
    intro = (
        f"Measured with `{command}`: this code (commit {result['revision']}) against commit {old['revision']} of "
        f"{old['date']}, {result['pairs']} pairs, {result['seconds']:g} s for each row, pair and side."
    )
    tables = [comparison_table(result, game) for game in games] + ([within_table(result)] if result["within"] else [])
    titled = [text for table in tables for text in (f"{table.title}:", table.markdown())]
    return _part(
        [
            f"{intro} {machine_text(result['machine'])}",
            *titled,
            *map(markdown.escape_markdown, missing_measurements(result)),
        ]
    )


_RATIOS = ("times as fast", "lowest to highest", "95% interval")


def _ratios(row: dict[str, Any]) -> list[str]:
    """Return the table cells for a median, its range and its interval."""
    if "median" not in row:
        return ["-", "", ""]
    ranges = [row[name] for name in ("interval_95",) if row[name]]
    found = [f"{low:.2f} to {high:.2f}" for low, high in [(row["lowest"], row["highest"]), *ranges]]
    return [f"{row['median']:.2f}", *found, *[""] * (2 - len(found))]


def _part(texts: Sequence[str]) -> str:
    return "\n" + "\n\n".join(text.strip() for text in texts) + "\n\n"
