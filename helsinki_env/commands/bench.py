"""`helsinki bench`: how fast the environment is on this machine (`helsinki_env.commands.speed`), as a table."""

from __future__ import annotations

from pathlib import Path

from agents.registry import make_player
from helsinki_env.commands.options import game_text, out_file
from helsinki_env.commands.speed import Measurement, run_benchmark
from helsinki_env.engine.spec import spec_named, usual_spec
from helsinki_env.files import write_json

__all__ = ["main"]


def _rounded(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"


def _share(ratio: float) -> str:
    return f"{ratio:.4f}" if ratio >= 0.001 else f"{ratio:.1e}"


def main(
    json: Path | None = None,  # the name of the option
    seconds: float = 1.0,
    batches: tuple[int, ...] = (1, 64, 1024, 4096),
    threads: tuple[int, ...] = (1, 2),
    players: tuple[str, ...] = ("mc:200", "ismcts:400"),
    game: str | None = None,
) -> None:
    """Measure the environment's speed on this machine, with a yardstick in the same run.

    Example: helsinki bench --seconds 2 --json bench.json
    Example: helsinki bench --game copenhagen

    Args:
        json: also write all figures to this file.
        seconds: time for each row.
        batches: numbers of games side by side.
        threads: numbers of threads.
        players: who plays a whole game each, however long it takes; nobody: --players without a name.
        game: which game, such as copenhagen; default: helsinki.
    """
    from rich.table import Table

    from helsinki_env.commands.ahead import make_ahead, of_game, parts_of
    from helsinki_env.terminal import plain_console

    if not batches or not threads:
        raise ValueError(f"bench: found {batches=}, {threads=}; expected numbers above 0")
    if json is not None:
        out_file(json, "--json")
    config = (usual_spec() if game is None else spec_named(game)).config()
    for player in players:
        make_player(player, config)
    make_ahead([of_game("game", config), *parts_of(["greedy", "heuristic", *players], config)])
    console = plain_console()
    table = Table(title=f"{game_text(config)}: uniformly random legal play but for the last rows; medians")
    for name in ("measured", "games", "threads", "decisions/s", "with choosing", "x yardstick"):
        table.add_column(name, justify="left" if name == "measured" else "right")

    def report(row: Measurement) -> None:
        chosen = "" if row.with_choosing is None else f"{row.with_choosing:,.0f}"
        table.add_row(row.name, f"{row.batch}", f"{row.threads}", _rounded(row.per_second), chosen, _share(row.ratio))
        if not console.is_terminal:
            console.print(f"{row.name}, {row.batch} games, {row.threads} threads: {_rounded(row.per_second)}/s")

    with console.status("measuring ..."):
        result = run_benchmark(tuple(batches), tuple(threads), seconds, tuple(players), report, config)
    console.print(table)
    yard, machine = result["yardstick"], result["machine"]
    console.print(
        f"Yardstick: {yard['steps_per_second']:,.0f} steps/s of {yard['bytes']} bytes on one thread. State: "
        f"{result['state_bytes']} bytes a game. {machine['processor']}, {machine['cores']} cores, Python "
        f"{machine['python']}, NumPy {machine['numpy']}, Numba {machine['numba']}."
    )
    if json is not None:
        write_json(json, result)
        console.print(f"Wrote {json}")
