"""The command ``helsinki rate``: ratings of the players of a run, sequential tests, and the report files."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

import helsinki_env
from helsinki_env.cli.options import game_text, out_folder
from helsinki_env.data import UserError
from helsinki_env.records import read_records
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.load import RatableGames
    from helsinki_env.evaluation.rating.ratings import Ratings
    from helsinki_env.evaluation.rating.sprt import Hypotheses

__all__ = ["main", "print_ratings", "rate_run", "write_report"]

RunPath = Annotated[Path, tyro.conf.Positional]


def main(
    run: RunPath,
    out: Path | None = None,
    seed: int = 0,
    resamples: int = 1000,
    reference: str | None = None,
    better: str | None = None,
    at_most: float = 0,
    at_least: float = 10,
    unit: Literal["elo", "points"] = "elo",
    alpha: float = 0.05,
    beta: float = 0.05,
    cap: int | None = None,
) -> None:
    """Rate the players of a run, or test whether one is better than another.

    Example: helsinki rate runs/arena --out runs/arena/report

    Args:
        run: the folder of a run, as helsinki arena makes it, or a file of records.
        out: write the report to this folder: ladder.md, ladder.json and figures.
        seed: of the resampling that intervals come from.
        resamples: how many.
        reference: the player whose rating is zero; default: random, else the weakest.
        better: instead of ratings, test whether the first of these two players (A,B) is better than the second: look
            at the decks in order and stop as soon as it is known.
        at_most: the test shall say no if A is better by this much only.
        at_least: it shall say yes if A is better by this much.
        unit: of these two: elo, or points, percentage points of the share of meetings in which A is ahead, from 50 %.
        alpha: largest probability of a wrong yes.
        beta: largest probability of a wrong no.
        cap: give up after so many decks.
    """
    console, of_records = plain_console(), run.is_file()
    if of_records and out is not None:
        raise UserError(f"--out: found the file {run}, expected the folder of a run: a report says how it was played")
    if better is not None:
        if out is not None:
            raise UserError("--out: found together with --better, which writes no report; run the two one by one")
        _test(console, run, better, _hypotheses(at_most, at_least, unit, alpha, beta, cap))
        return
    if out is not None:
        out_folder(out)
    if of_records:
        from helsinki_env.evaluation.rating.ratings import rate

        print_ratings(
            console, [rate(table, reference=reference, resamples=resamples, seed=seed) for table in _played(run)]
        )
        return
    tables, provenance = rate_run(run, reference=reference, resamples=resamples, seed=seed)
    print_ratings(console, tables)
    for line in provenance.get("replaced", ()):
        console.print(line, highlight=False, soft_wrap=True)
    if provenance["missing_games"]:
        console.print(f"{provenance['missing_games']:,} games of the run are not played yet", highlight=False)
    if out is not None:
        from helsinki_env.evaluation.rating.report import ratings_data

        command = f"helsinki rate {run} --out {out} --seed {seed} --resamples {resamples}"
        command += "" if reference is None else f" --reference {reference}"
        write_report(out / "ladder.md", ratings_data(tables, provenance, command))
        console.print(f"Wrote {out / 'ladder.md'}, ladder.json and figures", highlight=False, soft_wrap=True)


def rate_run(
    run: Path, *, reference: str | None = None, resamples: int = 1000, seed: int = 0
) -> tuple[list[Ratings], dict[str, Any]]:
    """Return the ratings of every matchup of a run with games, and their source.

    Args:
        run: folder of the run.
        reference: the player with rating zero.
        resamples: number of resamples for intervals.
        seed: seed of the resampling.

    Raises:
        ArenaError: if the run cannot be read.
        RatingError: if its games allow no ratings.
    """
    from helsinki_env.agents.replaced_actions import run_replacement_warnings
    from helsinki_env.evaluation.arena.load import load_run
    from helsinki_env.evaluation.arena.plan import environment_versions
    from helsinki_env.evaluation.arena.store import RunFolder
    from helsinki_env.evaluation.rating.ratings import rate

    folder = RunFolder.open(run)
    plan, played, lines = folder.plan, load_run(run), run_replacement_warnings(folder.times())
    rated = [rate(table, reference=reference, resamples=resamples, seed=seed) for table in played if len(table)]
    provenance = {
        "environment": environment_versions(plan.tables),
        "package": helsinki_env.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "seed": plan.seed,
        "plan": plan.digest,
        "games": sum(len(table) for table in played),
        "missing_games": sum(table.missing for table in played),
        "resampling": {"seed": seed, "resamples": resamples},
        "tables": {table.name: {"configuration": table.config.digest} | table.designs for table in plan.tables},
        **({"networks": networks} if (networks := folder.networks) else {}),
        **({"replaced": lines} if lines else {}),
    }
    return rated, provenance


def _played(path: Path) -> Sequence[RatableGames]:
    """Return the games of a run or of a file of records, by matchup."""
    from helsinki_env.evaluation.arena.load import group_records, load_run

    if not path.is_file():
        return load_run(path)
    tables = group_records(read_records(path), game_text)
    if not tables:
        raise UserError(f"{path}: found no games, expected some: helsinki simulate --out writes such files")
    return tables


def print_ratings(console: Console, tables: list[Ratings]) -> None:
    """Print the ratings of each matchup."""
    for ratings in tables:
        console.print(_table(ratings))
        console.print(_seats(ratings), highlight=False, soft_wrap=True)


def write_report(page: Path, data: dict[str, Any], images: str = "") -> None:
    """Write the report; each file is written atomically.

    Args:
        page: path of the page, NAME.md; NAME.json is written to the same folder.
        data: contents of the report, see `helsinki_env.evaluation.rating.report.rating_report_files`.
        images: folder of the figures, relative to the page.
    """
    from helsinki_env.evaluation.rating.report import rating_report_files
    from helsinki_env.utils.files import atomic_write

    for path, content in rating_report_files(data, name=page.stem, images=images).items():
        with atomic_write(page.parent / path) as file:
            file.write(content)


def _table(ratings: Ratings) -> Table:
    stands = ratings.statistics
    table = Table(title=f"{ratings.table}: {ratings.games:,} games of {ratings.decks:,} decks")
    for name in ("#", "player", "rating", "95 % interval", "won", "points", "games", "P(#)"):
        if name == "player":
            table.add_column(name, min_width=11, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for rank, i in enumerate(ratings.order):
        reference = ratings.players[i] == ratings.reference
        table.add_row(
            str(rank + 1),
            ratings.players[i],
            f"{ratings.elo[i]:.0f}",
            "reference" if reference else f"{ratings.low[i]:.0f} to {ratings.high[i]:.0f}",
            f"{stands.win_rate[i]:.1%}",
            f"{stands.points[i]:.1f}",
            f"{stands.games[i]:,}",
            f"{ratings.rank[i, rank]:.0%}",
        )
    return table


def _seats(ratings: Ratings) -> str:
    seats = ", ".join(
        f"{seat}: {round(effect):+d} ({round(low):+d} to {round(high):+d})"
        for seat, (effect, low, high) in enumerate(zip(ratings.seat, ratings.seat_low, ratings.seat_high, strict=True))
    )
    return f"Elo points by seat: {seats}; equal players win {ratings.statistics.chance_level:.1%} of their games"


def _hypotheses(at_most: float, at_least: float, unit: str, alpha: float, beta: float, cap: int | None) -> Hypotheses:
    from helsinki_env.evaluation.rating.sprt import Hypotheses, expected_score

    low, high = (expected_score(by) if unit == "elo" else 0.5 + by / 100 for by in (at_most, at_least))
    return Hypotheses(low, high, alpha, beta, cap)


def _test(console: Console, run: Path, better: str, hypotheses: Hypotheses) -> None:
    """Print the sequential test's result for each matchup with both players."""
    names = [name.strip() for name in better.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise UserError(f"--better: found {better!r}, expected two players, A,B")
    played = _played(run)
    chosen = [table for table in played if set(names) <= set(table.players) and len(table.seating)]
    if not chosen:
        players = "; ".join(f"{table.name}: {', '.join(table.players)}" for table in played)
        raise UserError(f"--better: found {better!r}, expected two players of one table ({players})")
    for table in chosen:
        for line in _verdict(table, names, hypotheses):
            console.print(line, highlight=False, soft_wrap=True)


def _verdict(table: RatableGames, names: list[str], hypotheses: Hypotheses) -> list[str]:
    from helsinki_env.evaluation.rating.shares import head_to_head_by_unit
    from helsinki_env.evaluation.rating.sprt import expected_blocks, run_sprt

    one, two = (table.players.index(name) for name in names)
    blocks = head_to_head_by_unit(table.seating, table.places, table.deck, one, two)
    state = run_sprt(blocks, hypotheses)
    lower, upper = hypotheses.bounds
    asked = f"{hypotheses.low:.1%} or less against {hypotheses.high:.1%} or more"
    answers = {
        "better": f"{names[0]} is better than {names[1]}",
        "not better": f"{names[0]} is not better than {names[1]} by so much",
        "running": "undecided so far: play more decks",
        "undecided": "undecided at the cap",
    }
    ratio = f"log likelihood ratio {state.log_ratio:+.2f}, bounds {lower:+.2f} and {upper:+.2f}"
    lines = [
        f"{table.name}: {answers[state.verdict]} ({asked} of meetings ahead)",
        f"  {state.blocks:,} of {len(blocks):,} decks looked at; mean {state.mean:.1%}, {ratio}",
    ]
    if len(blocks) > 1 and blocks.std() > 0:
        at_low, between, at_high = expected_blocks(hypotheses, float(blocks.std(ddof=1)))
        lines.append(
            f"  decks to expect: {at_low:,.0f} if {hypotheses.low:.1%} is true, {at_high:,.0f} if "
            f"{hypotheses.high:.1%} is, {between:,.0f} between them"
        )
    return lines
