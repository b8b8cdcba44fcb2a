"""The ``helsinki evaluate`` command: rate a player against fixed opponents, with a verifiable result."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.table import Table

from helsinki_env.cli.commands.evaluate_positions import positions, suite, verify_positions
from helsinki_env.cli.options import config_file, out_file, out_folder
from helsinki_env.cli.parallel_runs import ALL_CORES, Workers, check_players, play_tournament
from helsinki_env.cli.precompile import precompile_plan
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import Node, UserError, short_repr
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import write_json
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console, results_table
from helsinki_env.utils.yaml_files import configs_folder, list_yaml

if TYPE_CHECKING:
    from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
    from helsinki_env.evaluation.gauntlet.leaderboard import Leaderboard


def run(
    player: Annotated[str, tyro.conf.Positional],
    gauntlet: str | None = None,
    stage: str = "quick",
    out: Path = Path("runs/evaluate"),
    workers: Workers = ALL_CORES,
    write: Path | None = None,
    sealed: str | None = None,
    trust: bool = False,
) -> int:
    """Rate a player on a fixed scale, against fixed opponents and on fixed deals, with a verifiable certificate.

    Running the same command again resumes an interrupted run and produces the same certificate. After a quick run, the
    same command with --stage full plays only the missing games. The games do not depend on the number of processes or
    machines.

    Example: helsinki evaluate run heuristic --out runs/evaluate

    Example: helsinki evaluate run net:runs/quick --stage full --out runs/evaluate-quick

    Example: helsinki evaluate run my_bots:Builder --out runs/builder

    Example: helsinki evaluate run "program:./bot --fast" --out runs/bot

    Example: helsinki evaluate run net --stage full --out runs/net --write docs/leaderboard.md

    Args:
        player: random, greedy, heuristic, mc:N, ismcts:N, net, net:CHECKPOINT or net:MODEL.onnx, net+search:N,
            program:COMMAND for a program that exchanges JSON, llm:listed:MODEL or llm:unlisted:MODEL for a language
            model, MODULE:ATTRIBUTE for Python code, or another name in docs/players.md.
        gauntlet: a name in configs/gauntlets or the path to a YAML file; default: helsinki.
        stage: stage of the gauntlet, which sets the number of games: quick, full or another stage that it defines.
        out: folder for the run and certificate.json.
        workers: worker processes that play the games.
        write: page to which the player's row is added, such as docs/leaderboard.md; the certificate is saved in a
            folder next to it.
        sealed: text from the source named in the seal that helsinki evaluate seal wrote to the run folder. The seal and
            the text determine the deals.
        trust: allow code named in the gauntlet to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.agents.llm.usage import ModelUsage
        from helsinki_env.agents.registry import files_digest
        from helsinki_env.agents.replaced_actions import ReplacedActions
        from helsinki_env.evaluation.gauntlet.certificate import (
            COUNTED_PREFIX,
            SEAL_FILE,
            certified_name,
            check_seal,
            expected_opponent_scores,
            make_certificate,
            seal_gauntlet,
        )
        from helsinki_env.evaluation.gauntlet.gauntlet import ReferenceRatings
        from helsinki_env.evaluation.gauntlet.leaderboard import certificate_row, format_rating_interval

    player = _player_name(player)
    chosen = _gauntlet(gauntlet, trust)
    if (out / "certificate.json").exists() and certified_name(out / "certificate.json", "suite") is not None:
        raise UserError(f"--out: found {out}, the folder of a test on positions; choose another one")
    page = None if write is None else _leaderboard(write, chosen)
    check_players([player], chosen.reference.matchups[0].config)  # fail before the kernels of its matchups are compiled
    pins = ReferenceRatings.of(chosen)
    deals = None
    if sealed is not None:
        text, digest = (
            Node(sealed, UserError, "--sealed").text(),
            files_digest(player, chosen.reference.matchups[0].config),
        )
        deals = check_seal(out / SEAL_FILE, chosen, player, digest, stage) | {"text": text}
        chosen = seal_gauntlet(chosen, deals["seal"], text)
    plan = chosen.plan(COUNTED_PREFIX + player, stage)
    if page is not None:  # fail before hours of games
        if out.resolve().is_relative_to(page.folder.parent):
            raise UserError(
                f"--out: found {out}, the folder of the certificates of {page.path}; expected another folder"
            )
        with _about("--write"):
            page.check_rated(pins, player, files_digest(player, plan.matchups[0].config), plan.games)
        out_file(page.file_of(player), "--write")
    out_folder(out)
    precompile_plan(plan)
    try:
        play_tournament(plan, out, workers)
    except UserError as problem:  # such as a folder that holds the run of another player
        raise UserError(str(problem).replace(COUNTED_PREFIX, "")) from problem
    certificate = make_certificate(chosen, pins, player, stage, out, deals)
    write_json(out / "certificate.json", certificate)
    wrote = [out / "certificate.json"]
    if page is not None:
        with _about("--write"):
            wrote += [page.write_rated(pins, certificate), page.path]
    console = plain_console()
    expected = expected_opponent_scores(
        plan, pins, [matchup["rating"] for matchup in certificate["certified"]["matchups"]]
    )
    for table in _tables(certificate["certified"], format_rating_interval, expected):
        console.print(table)
    measured, rating = certificate["measured"], certificate["certified"]["rating"]
    counts, usage = ReplacedActions.from_mapping(measured), ModelUsage.from_mapping(measured)
    interval = f" ({format_rating_interval(rating)})" if rating["deals"] >= _DEALS_FOR_INTERVAL else ""
    replaced, cost = counts.summary or "none", [usage.report(player, counts)] if usage else []
    for line in (
        f"{player}: {rating['rating']:.0f}{interval}, mean over the matchups; {chosen.zero} is 0",
        f"{measured['decisions']:,} actions, {measured['seconds_per_decision']:.3g} s each; replaced: {replaced}",
        *cost,
        certificate_row(certificate),
        f"Wrote {', '.join(map(str, wrote))}",
    ):
        console.print(line)
    return 0


def seal(
    player: Annotated[str, tyro.conf.Positional],
    source: str,
    gauntlet: str | None = None,
    stage: str = "quick",
    out: Path = Path("runs/evaluate"),
    trust: bool = False,
) -> int:
    """Write a seal: a commitment to a player's code before the deals of evaluate run --sealed are known.

    Publish the seal before the text from its source is known.

    Example: helsinki evaluate seal net --source "drand, default network, round 6000000: randomness" --out runs/sealed

    Args:
        player: name of the player, as for evaluate run.
        source: public source of the future text, such as a round of a public random beacon.
        gauntlet: a name in configs/gauntlets or the path to a YAML file; default: helsinki.
        stage: stage of the gauntlet, as for evaluate run.
        out: folder for the run.
        trust: allow code named in the gauntlet to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra("stats"):
        from helsinki_env.agents.registry import files_digest
        from helsinki_env.evaluation.gauntlet.certificate import COUNTED_PREFIX, SEAL_FILE, write_seal

    player, chosen = _player_name(player), _gauntlet(gauntlet, trust)
    config = chosen.reference.matchups[0].config
    check_players([player], config)
    Node(source, UserError, "--source").text()
    chosen.plan(COUNTED_PREFIX + player, stage)  # rejects an unknown stage
    path = out / SEAL_FILE
    out_file(path)
    digest = files_digest(player, config)
    plain_console().print(f"{player}: seal {write_seal(path, chosen, player, digest, stage, source)}")
    words = ["helsinki", "evaluate", "run", player, "--stage", stage, "--out", str(out)]
    words += [] if gauntlet is None else ["--gauntlet", gauntlet]
    words += ["--trust"] if trust else []
    plain_console().print(f"Wrote {path}; next: {shlex.join(words)} --sealed TEXT")
    return 0


def verify(
    certificate: Annotated[Path, tyro.conf.Positional],
    player: Annotated[str | None, tyro.conf.Positional] = None,
    gauntlet: str | None = None,
    suite: str | None = None,
    games: int = 100,
    seed: int | None = None,
    processes: int | None = None,
    trust: bool = False,
) -> int:
    """Check a certificate: recompute its results and replay a random sample of its games or positions.

    Example: helsinki evaluate verify runs/evaluate/certificate.json heuristic

    Example: helsinki evaluate verify runs/positions/certificate.json heuristic --games 400

    Args:
        certificate: certificate.json of evaluate run or evaluate positions.
        player: player that replays the games; default: the player named in the certificate.
        gauntlet: gauntlet of the certificate, unless it is a bundled gauntlet.
        suite: position suite of the certificate, unless it is a bundled suite.
        games: minimum number of games to replay, or number of positions in which to query the player again.
        seed: random seed for the sample; default: a new one for each check.
        processes: number of parallel processes; default: one per CPU core.
        trust: allow code named in the gauntlet or the certificate to run: program:COMMAND and MODULE:ATTRIBUTE. Read
            the code first.
    """
    with requires_extra("stats"):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.evaluation.gauntlet.certificate import certified_name, read_unverified_certificate
        from helsinki_env.evaluation.gauntlet.gauntlet import ReferenceRatings
        from helsinki_env.evaluation.gauntlet.leaderboard import format_rating_interval

    player = None if player is None else _player_name(player)
    if (named := certified_name(certificate, "suite")) is not None:
        if gauntlet is not None or processes is not None:
            option = "--processes" if gauntlet is None else "--gauntlet"
            raise UserError(f"{option}: found with a certificate of positions, expected it with one of evaluate run")
        return verify_positions(certificate, player, suite or named, games, seed, trust)
    if suite is not None:
        raise UserError("--suite: found with a certificate of evaluate run, expected it with one of positions")
    if gauntlet is None and (bundled := certified_name(certificate, "gauntlet")) in list_yaml("gauntlets"):
        gauntlet = bundled
    chosen = _gauntlet(gauntlet, trust)
    check_players([] if player is None else [player], chosen.reference.matchups[0].config)
    claim = read_unverified_certificate(certificate, chosen, ReferenceRatings.of(chosen), player, trust=trust)
    sample_seed = secrets.randbelow(2**32) if seed is None else seed
    units = claim.sample(games, sample_seed)
    precompile_plan(claim.plan)
    count = claim.plan.games_of(units)
    display = ProgressDisplay(count)
    with (
        save_on_interrupt(
            lambda: f"{display.done:,} of {count:,} games match; start again with: {rerun_command_line()}"
        ),
        display,
        shared_budget([claim.player]),
    ):
        claim.play(units, processes or cpu_count(), display.advance)
    other = "" if claim.player == claim.named else f" (the certificate names {claim.named})"
    console, rating = plain_console(), f"{claim.rating['rating']:.0f} ({format_rating_interval(claim.rating)})"
    lines = [
        f"{claim.path}: {claim.player}{other} has {rating}: all figures follow from the ranks",
        f"{count:,} of {claim.plan.games:,} games replayed with --seed {sample_seed}: the same",
    ]
    if claim.sealed:
        lines.append("sealed: {source}; the text is {text!r}".format(**claim.sealed))
    if seed is None and count < claim.plan.games:  # a seed known in advance would reveal which games are not checked
        share = f"{claim.undetected_fraction(len(units)):.1%}"
        lines.append(
            f"at most {share} of the games are modified (95% confidence); --games {claim.plan.games} replays all"
        )
    for line in lines:
        console.print(line)
    return 0


def reference(
    gauntlet: str | None = None,
    out: Path = Path("runs/evaluate"),
    workers: Workers = ALL_CORES,
    write: Path | None = None,
    trust: bool = False,
) -> int:
    """Measure the reference ratings of a gauntlet's opponents, which define its scale, and write them next to its file.

    Running the same command again resumes an interrupted run and produces the same ratings.

    Example: helsinki evaluate reference --gauntlet my_gauntlet.yaml --out runs/reference

    Args:
        gauntlet: a name in configs/gauntlets or the path to a YAML file; default: helsinki.
        out: folder for the run.
        workers: worker processes that play the games.
        write: page whose table of opponents is replaced, such as docs/leaderboard.md.
        trust: allow code named in the gauntlet to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.evaluation.gauntlet.certificate import COUNTED_PREFIX
        from helsinki_env.evaluation.gauntlet.gauntlet import (
            ReferenceRatings,
            estimate_reference_ratings,
            reference_ratings_path,
        )
        from helsinki_env.evaluation.gauntlet.leaderboard import opponents_table

    chosen = _gauntlet(gauntlet, trust)
    page = None if write is None else _leaderboard(write, chosen)
    target = reference_ratings_path(chosen)
    out_file(target, "--gauntlet")
    if page is not None:  # fail before hours of games
        with _about("--write"):
            page.check_opponents_table()
    for stage in chosen.stages:  # reject a file that cannot rate players before measuring it
        chosen.plan(COUNTED_PREFIX + chosen.zero, stage)
    out_folder(out)
    precompile_plan(chosen.reference)
    play_tournament(chosen.reference, out, workers)
    write_json(target, estimate_reference_ratings(chosen, out, "helsinki " + _command(chosen)))
    pins, console = ReferenceRatings.of(chosen), plain_console()
    console.print(opponents_table(chosen, pins))
    if page is not None:
        with _about("--write"):
            outdated = page.write_opponents_table(pins)
        for problem in outdated:
            console.print(f"Skipped: {problem}")
    console.print(f"Wrote {target}" + ("" if page is None else f" and {page.path}"))
    return 0


def combine(certificates: Annotated[tuple[Path, ...], tyro.conf.Positional], json: Path | None = None) -> int:
    """Combine a player's certificates from several gauntlets into a mean rating with its confidence interval.

    Example: helsinki evaluate combine runs/helsinki/certificate.json runs/copenhagen/certificate.json

    Args:
        certificates: one certificate.json for each gauntlet.
        json: output file for the result.
    """
    with requires_extra("stats"):
        from helsinki_env.evaluation.gauntlet.certificate import combined_rating
        from helsinki_env.evaluation.gauntlet.leaderboard import format_rating_interval

    if json is not None:
        out_file(json, "--json")
    found, console = combined_rating(certificates), plain_console()
    for name, rating in found["gauntlets"].items():
        console.print(f"{name}: {rating['rating']:.0f} ({format_rating_interval(rating)}), {rating['games']:,} games")
    console.print(
        f"{found['player']}: {found['rating']:.0f} ({format_rating_interval(found)}), mean over the gauntlets"
    )
    if json is not None:
        write_json(json, found)
        console.print(f"Wrote {json}")
    return 0


main = {
    "run": run,
    "verify": verify,
    "reference": reference,
    "positions": positions,
    "suite": suite,
    "seal": seal,
    "combine": combine,
}


def _player_name(player: str) -> str:
    """Return the name without surrounding spaces; raise UserError if it is empty."""
    if not player.strip():
        raise UserError(
            f"found {short_repr(player)} as the player, expected a name, such as helsinki evaluate run heuristic"
        )
    return player.strip()


def _gauntlet(name: str | None, trust: bool) -> Gauntlet:
    """Read a gauntlet (None: the gauntlet of the default game) and check its networks."""
    from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet

    gauntlet = Gauntlet.from_yaml(config_file(name or default_spec().name, "gauntlets", "--gauntlet"), trust=trust)
    gauntlet.check_networks()
    return gauntlet


def _leaderboard(path: Path, gauntlet: Gauntlet) -> Leaderboard:
    """Return the page given by the option --write."""
    from helsinki_env.evaluation.gauntlet.leaderboard import Leaderboard

    out_file(path, "--write")
    return Leaderboard(path, gauntlet)


#: Intervals from fewer deals are uninformative: two deals give "0.0% to 99.1%".
_DEALS_FOR_INTERVAL = 8


def _tables(
    certified: Mapping[str, Any], interval: Callable[[Mapping[str, Any]], str], expected: Mapping[str, float]
) -> list[Table]:
    """Return tables of results by matchup and by opponent."""
    title = f"{certified['gauntlet']}, version {certified['version']}, {certified['stage']}"
    enough = certified["rating"]["deals"] >= _DEALS_FOR_INTERVAL
    few = "" if enough else f"no intervals from fewer than {_DEALS_FOR_INTERVAL} deals: use a longer --stage"
    rated = results_table(
        ("matchup", "games", "rating", "95% interval", "games won"),
        "matchup",
        f"{title}: {certified['rating']['games']:,} games",
        few,
    )
    for one in certified["matchups"]:
        cells = (f"{one['games']:,}", f"{one['rating']:.0f}", interval(one) if enough else "")
        rated.add_row(one["matchup"], *cells, _share(one["won"], enough))
    columns = ("opponent", "meetings", "ahead", "expected from its rating")
    met = results_table(columns, "opponent", f"How often {certified['player']} finished ahead of its opponents")
    for one in certified["opponents"]:
        met.add_row(one["opponent"], f"{one['meetings']:,}", _share(one, enough), f"{expected[one['opponent']]:.1%}")
    return [rated, met]


def _share(found: Mapping[str, float], enough: bool) -> str:
    """Return a win rate as text, with its confidence interval if there are enough deals."""
    share = f"{found['share']:.1%}"
    return f"{share} ({found['low']:.1%} to {found['high']:.1%})" if enough else share


@contextmanager
def _about(option: str) -> Iterator[None]:
    """Prefix error messages about an option's value with the option's name."""
    try:
        yield
    except UserError as problem:
        raise UserError(f"{option}: {problem}") from None


def _command(gauntlet: Gauntlet) -> str:
    """Return the command that measures the opponents, without the --out option."""
    shipped = gauntlet.path.parent == configs_folder() / "gauntlets"
    if shipped and gauntlet.name == default_spec().name:
        return "evaluate reference"
    return f"evaluate reference --gauntlet {gauntlet.name if shipped else gauntlet.path.name}"
