"""The command ``helsinki balance``: the study of overpowered board actions, and its report."""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import tyro

import helsinki_env
from helsinki_env.cli.commands.balance_retrain import retrain
from helsinki_env.cli.commands.balance_tune import tune
from helsinki_env.cli.options import out_file, out_folder
from helsinki_env.cli.parallel_runs import address_of, check_players, tournament_runner
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.data import UserError
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, write_json
from helsinki_env.utils.terminal import plain_console

__all__ = ["effects", "main", "report", "run"]


def _study(name: str) -> Any:
    """Return a module of the default game's study; `denied` estimates marginal effects in any game."""
    return import_module(f"helsinki_env.evaluation.balance.{default_spec().name}.{name}")


def run(
    config: Annotated[str, tyro.conf.Positional] = "standard",
    out: Path = Path("runs/balance"),
    parts: str | None = None,
    processes: int | None = None,
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")] = None,
    trust: bool = False,
) -> int:
    """Play a study of the board actions. Each part is a tournament that resumes after an interruption.

    The games depend only on the study's file, not on processes, machines or interruptions.

    Example: helsinki balance run configs/balance/quick.yaml --out runs/quick-balance

    Args:
        config: study: a name in configs/balance or the path of a YAML file.
        out: folder of the study.
        parts: comma-separated parts to play: gate, screen, variants, quality, covers, again, confirm. Default: all.
        processes: number of parallel processes; default: one per CPU core.
        ray: address of the Ray cluster that plays the games; without an address, a new cluster on this machine.
        trust: run code that the file names: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra("stats" if ray is None else "ray"):
        from helsinki_env.evaluation.arena.workers import reuse_workers

        results = _study("results")
    study_module = _study("study")
    all_parts, error = study_module.STUDY_PARTS, study_module.StudyError

    address_of(ray)
    chosen = all_parts if parts is None else tuple(part.strip() for part in parts.split(","))
    for part in chosen:
        if part not in all_parts:
            raise error(f"--parts: found {part!r}, expected some of {', '.join(all_parts)}")
    study = study_module.StudyConfig.from_yaml(config, trust=trust)
    tables = [table for plan in study.known_plans for table in plan.tables]
    for name, game in dict.fromkeys((name, table.config) for table in tables for name in table.players):
        check_players([name], game)
    out_folder(out)
    study.open(out)
    precompile_groups(groups_for({name for table in tables for name in table.players}))
    console, play = plain_console(), tournament_runner(out, processes, ray)
    with reuse_workers():
        for part in (part for part in all_parts if part in chosen):
            plan = results.plan_of(study, out, part)
            if plan is None:
                console.print(f"{part}: not part of the study", highlight=False)
            else:
                play(part, plan)
    console.print(f"Wrote {out}; next: helsinki balance report {out} --out balance", highlight=False, soft_wrap=True)
    return 0


def report(
    study: Annotated[Path, tyro.conf.Positional] = Path("runs/balance"),
    out: Path | None = None,
    from_json: Path | None = None,
    baseline: Path | None = None,
) -> int:
    """Write the report of a study: self-contained HTML, Markdown with figures, and all numbers as JSON.

    The report of an unfinished study covers the games so far. The same games give the same bytes.

    Example: helsinki balance report runs/balance --out docs/balance

    Example: helsinki balance report runs/new --baseline docs/balance/balance.json --out docs/balance

    Args:
        study: folder of the study.
        out: folder of the report; default: report in the folder of the study, or the folder of the --from-json file.
        from_json: balance.json of an earlier report, to write that report again without reading games.
        baseline: balance.json of another study, such as one of an earlier version; the report lists the conclusions
            that differ, with reasons.
    """
    results = _study("results")
    before = None if baseline is None else results.read_results(baseline)
    if from_json is not None:
        out = out or from_json.parent
        out_folder(out)
        data = results.read_results(from_json)
    else:
        out = out or study / "report"
        out_folder(out)
        command = f"helsinki balance report {study} --out {out}" + (f" --baseline {baseline}" if baseline else "")
        data = results.study_results(results.read_study(study), study, command)
    if before is not None:
        data = _study("baseline").compare_with_baseline(data, before)
    console = plain_console()
    for sentence in data["summary"]:
        console.print(f"- {sentence}", highlight=False, soft_wrap=True)
    for path, content in _study("report").study_report_files(data).items():
        with atomic_write(out / path) as file:
            file.write(content)
    console.print(f"Wrote {out}/balance.html, balance.md, balance.json and images/", highlight=False, soft_wrap=True)
    return 0


def effects(
    run: Annotated[Path, tyro.conf.Positional] = Path("runs/arena"),
    out: Path | None = None,
    title: str = "Marginal effects",
) -> int:
    """Estimate marginal effects from a tournament of any game that disabled actions for its seats at random.

    Example: helsinki arena configs/arena/abilities.yaml --out runs/abilities

    Example: helsinki balance effects runs/abilities --out docs/abilities.md --title "What abilities are worth"

    Args:
        run: folder of the tournament, whose file has boards with denied actions.
        out: Markdown page to write; default: effects.md in the folder of the run.
        title: title of the page.
    """
    with requires_extra("stats"):
        from helsinki_env.evaluation.balance.denied import ablation_report_files
    from helsinki_env.evaluation.arena.load import load_run
    from helsinki_env.evaluation.arena.plan import environment_versions
    from helsinki_env.evaluation.arena.store import RunFolder

    page = out or run / "effects.md"
    if page.suffix != ".md":
        raise UserError(f"--out: found {page}, expected a file name that ends in .md")
    out_file(page)
    plan = RunFolder.open(run).plan
    command = ["helsinki", "balance", "effects", str(run), *(["--out", str(out)] if out else []), "--title", title]
    provenance = {
        "environment": environment_versions(plan.tables),
        "package": helsinki_env.__version__,
        "seed": plan.seed,
        "plan": plan.digest,
        "command": shlex.join(command),
    }
    files, data = ablation_report_files(load_run(run), page.stem, title, provenance)
    for path, content in files.items():
        with atomic_write(page.parent / path) as file:
            file.write(content)
    write_json(page.with_suffix(".json"), data)
    plain_console().print(f"Wrote {page}, {page.stem}.json and images/{page.stem}.svg", highlight=False, soft_wrap=True)
    return 0


main = {"run": run, "report": report, "effects": effects, "tune": tune, "retrain": retrain}
