"""The command ``helsinki ladder``: play a tournament and write the page with ratings and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from helsinki_env.cli.commands import arena
from helsinki_env.cli.commands.rate import print_ratings, rate_run, write_report
from helsinki_env.cli.options import out_file
from helsinki_env.data import UserError
from helsinki_env.utils.terminal import plain_console

__all__ = ["main"]


def main(
    config: Annotated[str, tyro.conf.Positional] = "ladder",
    run: Path = Path("runs/ladder"),
    out: Path | None = None,
    source: Annotated[Path | None, tyro.conf.arg(name="from")] = None,
    seed: int = 0,
    resamples: int = 1000,
    reference: str | None = None,
    overwrite: bool = False,
    processes: int | None = None,
    trust: bool = False,
) -> int:
    """Play a tournament, or go on with it, and write the page with the ratings of its players.

    The page, NAME.json beside it and the figures in images/ are the same bytes for the same games and seed.

    Example: helsinki ladder configs/arena/ladder.yaml --run runs/ladder --out runs/ladder/ladder.md

    Args:
        config: what is played: a name in configs/arena or the path of a YAML file.
        run: folder of the run.
        out: the page, a file name that ends in .md; default: ladder.md in the folder of the run, or the page of --from.
        source: instead of playing, make the page and its figures again from the NAME.json beside an earlier one.
        seed: of the resampling that intervals come from; that of the games stands in the file.
        resamples: how many.
        reference: the player whose rating is zero; default: random, else the weakest.
        overwrite: replace a page that stands outside the folder of the run.
        processes: how many play side by side; default: one for each processor.
        trust: run code that the file names: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    from helsinki_env.evaluation.rating.report import ratings_data, read_report

    if out is None:
        out = run / "ladder.md" if source is None else source.with_suffix(".md")
    if out.suffix != ".md":
        raise UserError(f"--out: found {out}, expected a file name that ends in .md")
    out_file(out)
    own = source.parent if source is not None else run
    if out.exists() and not overwrite and not out.resolve().is_relative_to(own.resolve()):
        raise UserError(f"--out: found {out} there already, expected a new page; --overwrite replaces it")
    console = plain_console()
    if source is not None:
        data = read_report(source)
    else:
        status = arena.main(config=config, out=run, processes=processes, trust=trust)
        if status:
            return status
        tables, provenance = rate_run(run, reference=reference, resamples=resamples, seed=seed)
        print_ratings(console, tables)
        command = f"helsinki ladder {config} --run {run} --out {out} --seed {seed} --resamples {resamples}"
        command += "" if reference is None else f" --reference {reference}"
        command += " --trust" if trust else ""
        data = ratings_data(tables, provenance, command)
    write_report(out, data, images="images")
    console.print(f"Wrote {out}, {out.stem}.json and figures in images/", highlight=False, soft_wrap=True)
    return 0
