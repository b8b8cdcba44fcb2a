"""The ``helsinki ladder`` command: play a tournament and write a page with ratings and figures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import tyro

from helsinki_env.cli.commands import arena
from helsinki_env.cli.commands.rate import DEFAULT_RATING, RatingGroup, print_ratings, rate_run, write_report
from helsinki_env.cli.options import out_file
from helsinki_env.cli.parallel_runs import WorkerOptions
from helsinki_env.data import UserError
from helsinki_env.utils.terminal import plain_console

_RUN = Path("runs/ladder")


def main(
    config: Annotated[str, tyro.conf.Positional] = "ladder",
    run: Path = _RUN,
    out: Path | None = None,
    from_json: Path | None = None,
    rating: RatingGroup = DEFAULT_RATING,
    overwrite: bool = False,
    processes: int | None = None,
    trust: bool = False,
) -> int:
    """Play or resume a tournament, and write a page with the ratings of its players.

    The command writes the page, NAME.json, and figures in images/. With the same games and seed, these files are
    byte-identical.

    Example: helsinki ladder configs/arena/ladder.yaml --run runs/ladder --out runs/ladder/ladder.md

    Args:
        config: tournament to play: a name in configs/arena or the path to a YAML file.
        run: folder for the run.
        out: Markdown page to write; default: ladder.md in the run folder, or the page of the --from-json file.
        from_json: NAME.json of an earlier page; the page and its figures are regenerated without playing any games.
        rating: rating options.
        overwrite: replace an existing page outside the run folder.
        processes: number of parallel processes; default: one per CPU core.
        trust: allow code named in the file to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    from helsinki_env.evaluation.rating.report import ratings_data, read_report

    if from_json is not None:
        if rating != DEFAULT_RATING or processes is not None:
            option = "--processes" if processes is not None else "--reference, --seed or --resamples"
            raise UserError(f"{option}: found with --from-json, which neither plays nor rates; leave one of them out")
        if config != "ladder" or run != _RUN or trust:
            raise UserError("--from-json: found with CONFIG, --run or --trust, which play games; leave one of them out")
        if not from_json.is_file():
            raise UserError(f"--from-json: found {from_json}, expected the NAME.json of an earlier page")
    if out is None:
        out = run / "ladder.md" if from_json is None else from_json.with_suffix(".md")
    if out.suffix != ".md":
        raise UserError(f"--out: found {out}, expected a file name that ends in .md")
    out_file(out)
    own = from_json.parent if from_json is not None else run
    for path in (out, out.with_suffix(".json")):
        if path.exists() and not overwrite and not path.resolve().is_relative_to(own.resolve()):
            raise UserError(f"--out: found {path} there already, expected a new page; --overwrite replaces it")
    console = plain_console()
    if from_json is not None:
        data = read_report(from_json)
    else:
        status = arena.main(config=config, out=run, workers=WorkerOptions(processes), trust=trust)
        if status:
            return status
        matchups, provenance = rate_run(run, rating)
        print_ratings(console, matchups)
        words = ["helsinki", "ladder", config, "--run", str(run), "--out", str(out)]
        command = f"{shlex.join(words)} {rating.command_line}{' --trust' if trust else ''}"
        data = ratings_data(matchups, provenance, command)
    write_report(out, data, images="images")
    console.print(f"Wrote {out}, {out.stem}.json and figures in images/")
    return 0
