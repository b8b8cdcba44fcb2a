"""The command ``helsinki evaluate``: rate any player against fixed opponents, with a verifiable result."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.table import Table

from helsinki_env.cli.options import out_file, out_folder
from helsinki_env.cli.parallel_runs import address_of, check_players
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError, short_repr
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import write_json
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console
from helsinki_env.utils.yaml_files import configs_folder

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.plan import Plan
    from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
    from helsinki_env.evaluation.gauntlet.leaderboard import Leaderboard
    from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
    from helsinki_env.evaluation.gauntlet.verify import UnverifiedCertificate

__all__ = ["main"]

#: Default number of games replayed to verify a certificate.
_AGAIN = 100


def main(
    player: Annotated[str | None, tyro.conf.Positional] = None,
    gauntlet: str | None = None,
    stage: str | None = None,
    out: Path | None = None,
    processes: int | None = None,
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")] = None,
    verify: Path | None = None,
    games: int | None = None,
    seed: int | None = None,
    reference: bool = False,
    write: Path | None = None,
    trust: bool = False,
) -> int:
    """Rate a player on a fixed scale: against fixed opponents on fixed decks, with a certificate that others can check.

    The same command goes on with a run that was stopped, at any moment, and comes to the same certificate; --stage full
    in the same folder goes on from --stage quick. Games do not depend on the number of processes or machines.

    Example: helsinki evaluate heuristic --out runs/evaluate

    Example: helsinki evaluate net:runs/quick --stage full --out runs/evaluate-quick

    Example: helsinki evaluate my_bots:Builder --out runs/builder

    Example: helsinki evaluate "program:./bot --fast" --out runs/bot

    Example: helsinki evaluate --verify runs/evaluate/certificate.json heuristic

    Example: helsinki evaluate net --stage full --out runs/net --write docs/leaderboard.md

    Args:
        player: random, greedy, heuristic, mc:N, ismcts:N, net, net:CHECKPOINT or net:MODEL.onnx, net+search:N,
            program:COMMAND for a program that reads and writes JSON, MODULE:ATTRIBUTE for one in Python, or a name that
            a package brings.
        gauntlet: a name in configs/gauntlets or the path of a YAML file; default: helsinki.
        stage: how much is played: quick, full, or another one of the gauntlet; default: quick.
        out: folder of the run; certificate.json goes there. Default: runs/evaluate.
        processes: how many play side by side; default: one for each processor.
        ray: spread the games over the Ray cluster at this address; without one over a new cluster on this machine.
        verify: instead of rating, check this certificate and play some of its games again.
        games: of --verify, how many at least; default 100.
        seed: of --verify, which of them; default: drawn anew each time.
        reference: instead of rating, measure the ratings of the gauntlet's opponents, which are its scale, and write
            them beside its file.
        write: a page that gets the player's row, such as docs/leaderboard.md; the certificate is kept in the folder
            beside it. With --reference its table of opponents is written anew.
        trust: run code that the gauntlet or the certificate of --verify names: program:COMMAND and MODULE:ATTRIBUTE.
            Read the code first.
    """
    with requires_extra("arena" if ray is None else "ray"):
        from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
        from helsinki_env.evaluation.gauntlet.leaderboard import Leaderboard
        from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
        from helsinki_env.evaluation.gauntlet.verify import read_unverified_certificate

    address = address_of(ray)
    if reference and (verify is not None or player is not None):
        raise UserError("--reference: found a player or --verify too, expected one of the three")
    if write is not None and verify is not None:
        raise UserError("--write: found with --verify, which writes nothing")
    if verify is None and (games is not None or seed is not None):
        raise UserError("--games, --seed: found without --verify, whose games they choose; a gauntlet has its own")
    if stage is not None and (reference or verify is not None):
        raise UserError("--stage: found with --reference or --verify, expected a player: what they play is given")
    if verify is not None and (out is not None or ray is not None):
        raise UserError("--out, --ray: found with --verify, which plays some games on this machine and keeps none")
    if player is not None and not player.strip():
        raise UserError(
            f"found {short_repr(player)} as the player, expected a name, such as helsinki evaluate heuristic"
        )
    out = out or Path("runs/evaluate")
    chosen = Gauntlet.from_yaml(default_spec().name if gauntlet is None else gauntlet, trust=trust)
    chosen.check_networks()
    playing = {"processes": processes, "ray": ray is not None, "address": address}
    page = None
    if write is not None:
        out_file(write, "--write")
        page = Leaderboard(write, chosen)
    if reference:
        _measure(chosen, out, page, playing)
    elif verify is not None:
        check_players([player] if player else [], chosen.reference.tables[0].config)
        claim = read_unverified_certificate(verify, chosen, ReferenceRatings.of(chosen), player, trust=trust)
        _verify(claim, _AGAIN if games is None else games, seed, processes)
    elif player is None:
        raise UserError("found no player, expected one, such as helsinki evaluate heuristic; or --verify CERTIFICATE")
    else:
        check_players([player.strip()], chosen.reference.tables[0].config)  # before anything is compiled for it
        _rate(chosen, ReferenceRatings.of(chosen), player.strip(), stage or "quick", out, page, playing)
    return 0


def _play(plan: Plan, out: Path, playing: Mapping[str, Any]) -> None:
    """Play the missing games of a tournament."""
    from helsinki_env.evaluation.arena.run import run_arena

    out_folder(out)
    precompile_groups(part for table in plan.tables for part in groups_for(table.players, table.config))
    waiting = ProgressDisplay(plan.games)
    with (
        save_on_interrupt(
            lambda: f"{waiting.done:,} of {plan.games:,} games are kept in {out}; go on with: {rerun_command_line()}"
        ),
        waiting,
    ):
        run_arena(plan, out, **playing, resumed=waiting.resume, progress=waiting.advance)


def _rate(
    gauntlet: Gauntlet,
    pins: ReferenceRatings,
    player: str,
    stage: str,
    out: Path,
    page: Leaderboard | None,
    playing: Mapping[str, Any],
) -> None:
    from helsinki_env.agents.registry import files_digest
    from helsinki_env.agents.replaced_actions import ReplacedActions
    from helsinki_env.evaluation.gauntlet.certificate import COUNTED_PREFIX, expected_opponent_scores, make_certificate
    from helsinki_env.evaluation.gauntlet.leaderboard import certificate_row, format_rating_interval

    plan = gauntlet.plan(COUNTED_PREFIX + player, stage)
    if page is not None:  # fail now, not after hours
        if out.resolve().is_relative_to(page.folder.parent):
            raise UserError(
                f"--out: found {out}, where the certificates of {page.path} are kept; expected another folder"
            )
        with _about("--write"):
            page.check_rated(pins, player, files_digest(player, plan.tables[0].config), plan.games)
        out_file(page.file_of(player), "--write")
    _play(plan, out, playing)
    found = make_certificate(gauntlet, pins, player, stage, out)
    write_json(out / "certificate.json", found)
    wrote = [out / "certificate.json"]
    if page is not None:
        with _about("--write"):
            wrote += [page.write_rated(pins, found), page.path]
    console = plain_console()
    expected = expected_opponent_scores(plan, pins, [table["rating"] for table in found["certified"]["tables"]])
    for table in _tables(found["certified"], format_rating_interval, expected):
        console.print(table)
    measured, rating = found["measured"], found["certified"]["rating"]
    replaced = ReplacedActions.from_mapping(measured).summary or "none"
    for line in (
        (
            f"{player}: {rating['rating']:.0f} ({format_rating_interval(rating)}), the mean over the tables; "
            f"{gauntlet.zero} is 0"
        ),
        f"{measured['decisions']:,} decisions of {measured['seconds_per_decision']:.3g} s; replaced: {replaced}",
        certificate_row(found),
        f"Wrote {', '.join(map(str, wrote))}",
    ):
        console.print(line, highlight=False, soft_wrap=True)


#: Intervals from fewer deals are uninformative: two deals give "0.0% to 99.1%".
_DEALS_FOR_INTERVAL = 8


def _tables(
    certified: Mapping[str, Any], interval: Callable[[Mapping[str, Any]], str], expected: Mapping[str, float]
) -> list[Table]:
    """Return the result tables to print: each matchup of the gauntlet, and each opponent."""
    title = f"{certified['gauntlet']}, version {certified['version']}, {certified['stage']}"
    enough = certified["rating"]["decks"] >= _DEALS_FOR_INTERVAL
    few = "" if enough else f"no intervals from fewer than {_DEALS_FOR_INTERVAL} deals: choose a longer --stage"
    rated = Table(title=f"{title}: {certified['rating']['games']:,} games", caption=few)
    for name in ("table", "games", "rating", "95% interval", "games won"):
        rated.add_column(name, justify="left" if name == "table" else "right", no_wrap=name != "table")
    for one in certified["tables"]:
        cells = (f"{one['games']:,}", f"{one['rating']:.0f}", interval(one) if enough else "")
        rated.add_row(one["table"], *cells, _share(one["won"], enough))
    met = Table(title=f"How often {certified['player']} finished ahead of its opponents")
    for name in ("opponent", "meetings", "ahead", "expected from its rating"):
        met.add_column(name, justify="left" if name == "opponent" else "right")
    for one in certified["opponents"]:
        met.add_row(one["opponent"], f"{one['meetings']:,}", _share(one, enough), f"{expected[one['opponent']]:.1%}")
    return [rated, met]


def _share(found: Mapping[str, float], enough: bool) -> str:
    """Return a win rate as text, with its interval if there are enough deals."""
    share = f"{found['share']:.1%}"
    return f"{share} ({found['low']:.1%} to {found['high']:.1%})" if enough else share


def _measure(gauntlet: Gauntlet, out: Path, page: Leaderboard | None, playing: Mapping[str, Any]) -> None:
    from helsinki_env.evaluation.gauntlet.certificate import COUNTED_PREFIX
    from helsinki_env.evaluation.gauntlet.leaderboard import opponents_table
    from helsinki_env.evaluation.gauntlet.reference_ratings import (
        ReferenceRatings,
        estimate_reference_ratings,
        reference_ratings_path,
    )

    target = reference_ratings_path(gauntlet)
    out_file(target, "--gauntlet")
    if page is not None:  # fail now, not after hours
        with _about("--write"):
            page.check_opponents_table()
    for stage in gauntlet.stages:  # reject a file that cannot rate players before measuring it
        gauntlet.plan(COUNTED_PREFIX + gauntlet.zero, stage)
    _play(gauntlet.reference, out, playing)
    write_json(target, estimate_reference_ratings(gauntlet, out, "helsinki " + _command(gauntlet)))
    pins, console = ReferenceRatings.of(gauntlet), plain_console()
    console.print(opponents_table(gauntlet, pins), highlight=False, soft_wrap=True)
    if page is not None:
        with _about("--write"):
            outdated = page.write_opponents_table(pins)
        for problem in outdated:
            console.print(f"Left out: {problem}", highlight=False, soft_wrap=True)
    console.print(f"Wrote {target}" + ("" if page is None else f" and {page.path}"), highlight=False, soft_wrap=True)


@contextmanager
def _about(option: str) -> Iterator[None]:
    """Add the option's name to error messages about its value."""
    try:
        yield
    except UserError as problem:
        raise UserError(f"{option}: {problem}") from None


def _command(gauntlet: Gauntlet) -> str:
    """Return the command that measures the opponents, without the folder of its run."""
    shipped = gauntlet.path.parent == configs_folder() / "gauntlets"
    usual = shipped and gauntlet.name == default_spec().name
    named = gauntlet.name if shipped else gauntlet.path.name
    return "evaluate --reference" + ("" if usual else f" --gauntlet {named}")


def _verify(claim: UnverifiedCertificate, games: int, seed: int | None, processes: int | None) -> None:
    from helsinki_env.evaluation.gauntlet.leaderboard import format_rating_interval

    drawn = secrets.randbelow(2**32) if seed is None else seed
    chunks = claim.sample(games, drawn)
    precompile_groups(part for table in claim.plan.tables for part in groups_for(table.players, table.config))
    count = claim.plan.games_of(chunks)
    waiting = ProgressDisplay(count)
    with (
        save_on_interrupt(
            lambda: f"{waiting.done:,} of {count:,} games were the same; begin again with: {rerun_command_line()}"
        ),
        waiting,
    ):
        claim.play(chunks, processes or cpu_count(), waiting.advance)
    other = "" if claim.player == claim.named else f" (the certificate names {claim.named})"
    every = claim.plan.games
    console, rating = plain_console(), f"{claim.rating['rating']:.0f} ({format_rating_interval(claim.rating)})"
    said = [
        f"{claim.path}: {claim.player}{other} has {rating}: all figures follow from the places",
        f"{count:,} of {every:,} games played again with --seed {drawn}: the same",
    ]
    if seed is None and count < every:  # a seed known in advance would reveal the games that are not checked
        most = f"{claim.undetected_fraction(len(chunks)):.1%}"
        said.append(f"at most {most} of them were changed (95 % certain); --games {every} plays all again")
    for line in said:
        console.print(line, highlight=False, soft_wrap=True)
