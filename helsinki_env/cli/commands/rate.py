"""The ``helsinki rate`` command: rate the players of a run, run sequential tests, and write reports."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

import helsinki_env
from helsinki_env.cli.options import OptionalText, game_text, out_folder, read_list
from helsinki_env.data import UserError
from helsinki_env.records import read_records
from helsinki_env.utils.terminal import plain_console, results_table

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.load import RatableGames
    from helsinki_env.evaluation.rating.ratings import Ratings
    from helsinki_env.evaluation.rating.sprt import Hypotheses


@dataclass(frozen=True)
class RatingOptions:
    """Options for ratings and their confidence intervals, shared by several commands."""

    seed: int = 0
    """random seed for resampling the confidence intervals; the games use the seed of the run."""
    resamples: int = 1000
    """number of resamples."""
    reference: OptionalText = None
    """player with rating zero; default: random if it plays, otherwise the weakest player."""

    @property
    def command_line(self) -> str:
        """The options as they appear on a command line."""
        reference = "" if self.reference is None else f" --reference {shlex.quote(self.reference)}"
        return f"--seed {self.seed} --resamples {self.resamples}{reference}"


RatingGroup = Annotated[RatingOptions, tyro.conf.arg(name="")]
DEFAULT_RATING = RatingOptions()


def main(
    run: Annotated[Path, tyro.conf.Positional],
    out: Path | None = None,
    rating: RatingGroup = DEFAULT_RATING,
    payoff: bool = False,
    better: str | None = None,
    at_most: float = 0,
    at_least: float = 10,
    unit: Literal["elo", "points"] = "elo",
    alpha: float = 0.05,
    beta: float = 0.05,
    cap: int | None = None,
) -> None:
    """Rate the players of a run, or test whether one player is better than another.

    Example: helsinki rate runs/arena --out runs/arena/report

    Example: helsinki rate runs/arena --payoff

    Args:
        run: folder of a helsinki arena run, or a file of records.
        out: folder for the report (ladder.md, ladder.json and figures).
        rating: rating options.
        payoff: also rank the players with alpha-rank, Nash averaging and soft Condorcet; payoff.json is added to --out.
        better: two players A,B: instead of rating, run a sequential test of whether A is better than B. The test reads
            the deals in order and stops as soon as it is conclusive.
        at_most: difference under the null hypothesis that A is not better.
        at_least: difference under the alternative hypothesis that A is better.
        unit: unit of both differences: elo, or points (percentage points above 50% of the pairings in which A finishes
            ahead of B).
        alpha: maximum probability of a false positive.
        beta: maximum probability of a false negative.
        cap: maximum number of deals.
    """
    console, of_records = plain_console(), run.is_file()
    if of_records and out is not None:
        raise UserError(f"--out: found with the file {run}, expected the folder of a run for a report")
    if better is None and (at_most, at_least, unit, alpha, beta, cap) != (0, 10, "elo", 0.05, 0.05, None):
        raise UserError("--better: found nothing, expected two players A,B for the options of its test")
    if better is not None:
        if out is not None:
            raise UserError("--out: found with --better, which writes no report; leave one of them out")
        if payoff or rating != DEFAULT_RATING:
            option = "--payoff" if payoff else "--reference, --seed or --resamples"
            raise UserError(f"{option}: found with --better, which rates no players; leave one of them out")
        _test(console, run, better, _hypotheses(at_most, at_least, unit, alpha, beta, cap))
        return
    if out is not None:
        out_folder(out)
        _check_page(out)
    if of_records:
        from helsinki_env.evaluation.rating.ratings import rate

        records = _played(run)
        print_ratings(console, [rate(matchup, **vars(rating)) for matchup in records])
        if payoff:
            _payoff(console, records, None)
        return
    matchups, provenance = rate_run(run, rating)
    print_ratings(console, matchups)
    for line in provenance.get("replaced", ()):
        console.print(line)
    if provenance["missing_games"]:
        console.print(f"{provenance['missing_games']:,} games of the run are missing")
    if payoff:
        _payoff(console, [matchup for matchup in _played(run) if len(matchup)], out)
    if out is not None:
        from helsinki_env.evaluation.rating.report import ratings_data

        command = f"{shlex.join(['helsinki', 'rate', str(run), '--out', str(out)])} {rating.command_line}"
        write_report(out / "ladder.md", ratings_data(matchups, provenance, command))
        console.print(f"Wrote {out / 'ladder.md'}, ladder.json and figures")


def _check_page(out: Path) -> None:
    """Raise UserError if the report would replace files that are not an earlier report."""
    from helsinki_env.evaluation.rating.report import read_report

    if any((out / name).exists() for name in ("ladder.md", "ladder.json")):
        try:
            read_report(out / "ladder.json")
        except UserError as problem:
            raise UserError(f"--out: found other files in {out} ({problem}); choose another folder") from None


def _payoff(console: Console, matchups: Sequence[RatableGames], out: Path | None) -> None:
    """Print the payoff rankings of each matchup, and write them to payoff.json."""
    from helsinki_env.evaluation.rating.shares import payoff_ranking
    from helsinki_env.utils.files import write_json

    rankings = [payoff_ranking(matchup) for matchup in matchups]
    for ranking in rankings:
        columns = ("player", "mean score", "alpha-rank", "Nash average", "against Nash", "soft Condorcet")
        table = results_table(columns, "player", f"{ranking.name}: rankings from the payoff table")
        scores = ranking.mean_scores
        for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
            shares = (scores[i], ranking.alpha[i], ranking.nash[i], ranking.against_nash[i])
            table.add_row(ranking.players[i], *(f"{share:.1%}" for share in shares), f"{ranking.condorcet[i]:.0f}")
        console.print(table)
    if out is not None:
        write_json(out / "payoff.json", [ranking.to_dict() for ranking in rankings])
        console.print(f"Wrote {out / 'payoff.json'}")


def rate_run(run: Path, rating: RatingOptions) -> tuple[list[Ratings], dict[str, Any]]:
    """Return the ratings of every matchup that has games, and their provenance."""
    from helsinki_env.agents.llm.usage import run_notes
    from helsinki_env.evaluation.arena.load import load_run
    from helsinki_env.evaluation.arena.plan import environment_versions
    from helsinki_env.evaluation.arena.store import RunFolder
    from helsinki_env.evaluation.rating.ratings import rate

    folder = RunFolder.open(run)
    plan, played, lines = folder.plan, load_run(run), run_notes(folder.times())
    rated = [rate(matchup, **vars(rating)) for matchup in played if len(matchup)]
    provenance = {
        "environment": environment_versions(plan.matchups),
        "package": helsinki_env.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "seed": plan.seed,
        "plan": plan.digest,
        "games": sum(len(matchup) for matchup in played),
        "missing_games": sum(matchup.missing for matchup in played),
        "resampling": {"seed": rating.seed, "resamples": rating.resamples},
        "matchups": {
            matchup.name: {"configuration": matchup.config.digest} | matchup.designs for matchup in plan.matchups
        },
        **({"networks": networks} if (networks := folder.networks) else {}),
        **({"replaced": lines} if lines else {}),
    }
    return rated, provenance


def _played(path: Path) -> Sequence[RatableGames]:
    """Return the games of a run or a file of records, grouped by matchup."""
    from helsinki_env.evaluation.arena.load import group_records, load_run

    if not path.is_file():
        return load_run(path)
    matchups = group_records(read_records(path), game_text)
    if not matchups:
        raise UserError(f"{path}: found no records, expected some from helsinki simulate --out")
    return matchups


def print_ratings(console: Console, matchups: list[Ratings]) -> None:
    """Print the ratings of each matchup."""
    for ratings in matchups:
        console.print(_table(ratings))
        console.print(_seats(ratings))


def write_report(page: Path, data: dict[str, Any], images: str = "") -> None:
    """Write a report (`rating_report_files`): the page, its JSON file, and figures in `images`, next to the page."""
    from helsinki_env.evaluation.rating.report import rating_report_files
    from helsinki_env.utils.files import atomic_write

    for path, content in rating_report_files(data, name=page.stem, images=images).items():
        with atomic_write(page.parent / path) as file:
            file.write(content)


def _table(ratings: Ratings) -> Table:
    statistics = ratings.statistics
    columns = ("#", "player", "rating", "95% interval", "won", "points", "games", "P(#)")
    title = f"{ratings.matchup}: {ratings.games:,} games of {ratings.deals:,} deals"
    table = results_table(columns, "player", title)
    for rank, i in enumerate(ratings.order):
        reference = ratings.players[i] == ratings.reference
        table.add_row(
            str(rank + 1),
            ratings.players[i],
            f"{ratings.elo[i]:.0f}",
            "reference" if reference else f"{ratings.low[i]:.0f} to {ratings.high[i]:.0f}",
            f"{statistics.win_rate[i]:.1%}",
            f"{statistics.points[i]:.1f}",
            f"{statistics.games[i]:,}",
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
    """Print the result of the sequential test for each matchup with both players."""
    names = read_list(better)
    if len(names) != 2 or names[0] == names[1]:
        raise UserError(f"--better: found {better!r}, expected two players, A,B")
    played = _played(run)
    chosen = [matchup for matchup in played if set(names) <= set(matchup.players) and len(matchup.seating)]
    if not chosen:
        players = "; ".join(f"{matchup.name}: {', '.join(matchup.players)}" for matchup in played)
        raise UserError(f"--better: found {better!r}, expected two players of one matchup ({players})")
    if hypotheses.is_extreme:
        console.print(
            "The hypotheses are far from 50%, where errors are up to three times as frequent as --alpha and --beta say."
        )
    for matchup in chosen:
        for line in _conclusion(matchup, names, hypotheses):
            console.print(line)


def _conclusion(matchup: RatableGames, names: list[str], hypotheses: Hypotheses) -> list[str]:
    from helsinki_env.evaluation.rating.shares import head_to_head_by_unit
    from helsinki_env.evaluation.rating.sprt import expected_blocks, run_sprt

    one, two = (matchup.players.index(name) for name in names)
    blocks = head_to_head_by_unit(matchup.seating, matchup.places, matchup.deal, one, two)
    state = run_sprt(blocks, hypotheses)
    lower, upper = hypotheses.bounds
    tested = f"{hypotheses.low:.1%} or less against {hypotheses.high:.1%} or more"
    answers = {
        "better": f"{names[0]} is better than {names[1]}",
        "not better": f"{names[0]} is not better than {names[1]} by that difference",
        "running": "undecided so far: play more deals",
        "undecided": "undecided at the cap",
    }
    ratio = f"log likelihood ratio {state.log_ratio:+.2f}, bounds {lower:+.2f} and {upper:+.2f}"
    lines = [
        f"{matchup.name}: {answers[state.decision]} ({tested} of pairings ahead)",
        f"  {state.blocks:,} of {len(blocks):,} deals used; mean {state.mean:.1%}, {ratio}",
    ]
    if len(blocks) > 1 and blocks.std() > 0:
        at_low, between, at_high = expected_blocks(hypotheses, float(blocks.std(ddof=1)))
        lines.append(
            f"  expected deals: {at_low:,.0f} if {hypotheses.low:.1%} is true, {at_high:,.0f} if "
            f"{hypotheses.high:.1%} is, {between:,.0f} between them"
        )
    return lines
