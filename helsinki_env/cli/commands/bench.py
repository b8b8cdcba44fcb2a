"""`helsinki bench`: measure the environment's speed (`speed`), or compare it with another revision (`paired`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from helsinki_env.agents.registry import make_player
from helsinki_env.bench.measures import MEASUREMENT_KINDS
from helsinki_env.bench.paired import Checkout, Comparison
from helsinki_env.bench.speed import (
    Measurement,
    baseline_text,
    cells,
    compared_part,
    comparison_table,
    format_rate,
    machine_text,
    measured_part,
    missing_measurements,
    run_benchmark,
    speed_table,
    within_table,
)
from helsinki_env.cli.options import SectionPage, game_text, out_file, read_integers, read_list
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError, choices_text, shorten
from helsinki_env.engine.spec import default_spec, game_names, spec_by_name, spec_of
from helsinki_env.utils.files import write_json
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console

#: Page section for the comparison; the section with the results of a game is named after the game.
_AGAINST = "against"
_BATCHES, _THREADS, _PLAYERS = "1,64,1024,4096", "1,2", "mc:200,ismcts:400"
#: Default number of measurements of each revision.
_PAIRS = 9
_TENSOR_BATCHES = "1024,4096,16384,65536,262144"


def _measure_tensors(config: Any, batches: Sequence[int], device: str, seconds: float, json: Path | None) -> None:
    """Benchmark the tensor environments and show the results."""
    from rich.table import Table

    from helsinki_env.bench.speed import TensorRow, measure_tensors

    console = plain_console()
    table = Table(title=f"{game_text(config)} in tensors on {device}: uniformly random legal play; medians")
    for name in ("games", "actions/s", "with sampling", "without observations"):
        table.add_column(name, justify="right")

    def report(row: TensorRow) -> None:
        table.add_row(f"{row.batch}", *map(format_rate, row[1:]))

    with console.status("measuring ..."):
        result = measure_tensors(config, batches, device, seconds, report)
    console.print(table)
    console.print(f"{result['device']}, PyTorch {result['torch']}.")
    if json is not None:
        write_json(json, result, follow=True)
        console.print(f"Wrote {json}")


def main(
    json: Path | None = None,  # shadows the module because the option has this name
    seconds: float = 1.0,
    batches: str | None = None,
    threads: str = _THREADS,
    players: str = _PLAYERS,
    game: str | None = None,
    against: str | None = None,
    pairs: int = _PAIRS,
    only: str = "",
    write: Path | None = None,
    device: str | None = None,
) -> None:
    """Measure the environment's speed on this machine, relative to a baseline in the same run or to another revision.

    Example: helsinki bench --seconds 2 --json bench.json

    Example: helsinki bench --game copenhagen

    Example: helsinki bench --against HEAD~1 --only env,aec

    Example: helsinki bench --device cuda --batches 4096,65536

    Args:
        json: output file for all results.
        seconds: duration of each measurement.
        batches: comma-separated batch sizes, in games; default: 1,64,1024,4096, or 1,024 to 262,144 with --device. With
            --against, only the largest one is measured.
        threads: comma-separated thread counts; with --against, only the largest one is measured.
        players: comma-separated players to measure, each in a complete game, or none.
        game: name of the game, such as copenhagen; default: helsinki, or all games with --against or --write.
        against: git revision to compare with; the command alternates between it and the current code.
        pairs: number of measurements of each revision; confidence intervals require at least 6.
        only: comma-separated benchmarks to compare: env, views, four, threads, seat, playouts, choice, guided, aec,
            step, mask or a player; default: all.
        write: page whose marked sections are replaced with the results.
        device: measure the tensor environments on this device instead: cuda or cpu.
    """
    from helsinki_env.cli.precompile import group_name, groups_for, precompile_groups

    if batches is None:
        batches = _BATCHES if device is None else _TENSOR_BATCHES
    batch_sizes = read_integers(batches, "--batches")
    thread_counts = read_integers(threads, "--threads")
    player_names = [] if players == "none" else read_list(players)
    if device is not None and (against is not None or write is not None):
        raise UserError("--device: found with --against or --write, which measure on the CPU; leave one of them out")
    if pairs != _PAIRS and against is None:
        raise UserError("--pairs: found without --against, which compares two revisions; add it, or leave out --pairs")
    everything = game is None and (against is not None or write is not None)
    first = default_spec().name if game is None else game
    names = [first, *(name for name in game_names() if everything and name != first)]
    configs = [spec_by_name(name).config() for name in names]
    if device is not None:
        for option, used in (("only", only != ""), ("threads", threads != _THREADS), ("players", players != _PLAYERS)):
            if used:
                raise UserError(
                    f"--{option}: found with --device, which measures the tensor environments; leave one of them out"
                )
        if json is not None:
            out_file(json, "--json")
        _measure_tensors(configs[0], batch_sizes, device, seconds, json)
        return
    for config in configs:
        for player in player_names:
            make_player(player, config)
    rows = _rows(read_list(only), player_names, against)
    alone = configs if against is None or write is not None else []
    parts = [*([] if against is None else [_AGAINST]), *(spec_of(config).name for config in alone)]
    page = None if write is None else SectionPage(write, parts)
    if json is not None:
        out_file(json, "--json")
    checkout = None if against is None else Checkout(against)
    for config in configs:
        single = [group_name(part, config) for part in ("game", "seat")]
        precompile_groups([*single, *groups_for(["greedy", "heuristic", *player_names], config)])
    console = plain_console()
    results: dict[str, Any] = {}
    if checkout is not None:
        with checkout:
            comparison = Comparison(checkout, configs, rows, max(batch_sizes), max(thread_counts), seconds)
            results[_AGAINST] = _compare(console, comparison, pairs, json)
    for config in alone:
        results[spec_of(config).name] = _measure(console, config, batch_sizes, thread_counts, seconds, player_names)
    if page is not None:
        texts = [compared_part if part == _AGAINST else measured_part for part in parts]
        command = rerun_command_line(without=() if json is None else ("--json", str(json)))
        page.write({part: text(results[part], command) for part, text in zip(parts, texts, strict=True)})
        console.print(f"Wrote {write}")
    if json is not None:
        write_json(json, results if len(results) > 1 else results[parts[0]], follow=True)
        console.print(f"Wrote {json}")


def _rows(only: Sequence[str], players: Sequence[str], against: str | None) -> list[str]:
    """Return the benchmarks to compare; raise ValueError if one is unknown."""
    known = [*MEASUREMENT_KINDS, *players]
    if only and against is None:
        raise UserError("--only: found no --against, expected the revision to compare with")
    for name in only:
        if name not in known:
            raise UserError(f"--only: found {shorten(name)}, expected {choices_text(known, name)}")
    return [name for name in known if name in only] if only else known


def _compare(console: Console, comparison: Comparison, pairs: int, json: Path | None) -> dict[str, Any]:
    """Measure pairs, show the results and return them. Ctrl-C ends early and reports the pairs measured so far."""

    def show() -> dict[str, Any]:
        data = comparison.data()
        for game in dict.fromkeys(row["game"] for row in data["rows"]):
            comparison_table(data, game).show(console)
        for sentence in missing_measurements(data):
            console.print(sentence)
        if data["within"]:
            within_table(data).show(console)
        return data

    def save() -> str:
        comparison.checkout.remove()
        if not any(row.rates["now"] for row in comparison.rows):
            return f"no results; start again with: {rerun_command_line()}"
        data = show()
        if json is not None:
            write_json(json, data, follow=True)
        where = "" if json is None else f", and saved in {json}"
        return (
            f"{comparison.pairs} of {pairs} pairs, and the incomplete next one, shown{where}; "
            f"start again with: {rerun_command_line()}"
        )

    with save_on_interrupt(save):
        commit, rows = comparison.checkout.commit, len(comparison.rows)
        console.print(f"Compiling revision {commit} for this run")
        with ProgressDisplay(rows, "rows") as display:
            comparison.warm(display.advance)
        with ProgressDisplay(rows * pairs, "rows") as display:
            while comparison.pairs < pairs:
                comparison.measure_pair(display.advance)
                if not console.is_terminal:
                    console.print(f"{comparison.pairs} of {pairs} pairs")
    return show()


def _measure(
    console: Console,
    config: Any,
    batches: Sequence[int],
    threads: Sequence[int],
    seconds: float,
    players: Sequence[str],
) -> dict[str, Any]:
    """Benchmark a game, show the results table and return the results."""
    measured: list[Measurement] = []

    def show(row: Measurement) -> None:
        name, games, count, rate, *_ = cells(row)
        console.print(f"{name}, {games} games, {count} threads: {rate}/s")

    def report(row: Measurement) -> None:
        measured.append(row)
        if not console.is_terminal:
            show(row)

    def save() -> str:
        if console.is_terminal:
            for row in measured:
                show(row)
        return f"{len(measured)} rows shown; start again with: {rerun_command_line()}"

    with save_on_interrupt(save), console.status("measuring ..."):
        result = run_benchmark(batches, threads, seconds, players, report, config)
    speed_table(result, game_text(config)).show(console)
    console.print(baseline_text(result), machine_text(result["machine"]))
    return result
