"""The ``helsinki balance`` command: find board actions that are too strong or too weak, and balance the board."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

import helsinki_env
from helsinki_env.cli.commands.train import learn
from helsinki_env.cli.options import config_file, game_option, out_file, out_folder, read_list
from helsinki_env.cli.parallel_runs import ALL_CORES, WorkerOptions, Workers, check_players, tournament_runner
from helsinki_env.cli.precompile import group_name, groups_for, precompile_groups
from helsinki_env.data import Node, UserError, parse_json, read_json
from helsinki_env.engine.spec import default_spec, spec_of
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, check_no_link, write_json
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console, results_table

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.plan import MatchupPlan

_STUDY = Path("runs/balance")


def run(
    config: Annotated[str, tyro.conf.Positional] = "standard",
    out: Path = _STUDY,
    parts: str | None = None,
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Run a balance study of the board actions. Each part is a resumable tournament.

    The games depend only on the study file, not on the number of processes, the machine or interruptions.

    Example: helsinki balance run configs/balance/quick.yaml --out runs/quick-balance

    Args:
        config: study to run: a name in configs/balance or the path to a YAML file.
        out: folder for the study.
        parts: comma-separated parts to play: qualification, screening, variants, quality, covers, again. Default: all.
        workers: worker processes that play the games.
        trust: allow code named in the file to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.evaluation.arena.run import reuse_workers

        results = _module("results")
    study_module = _module("study")
    all_parts, error = study_module.STUDY_PARTS, study_module.StudyError

    chosen = all_parts if parts is None else tuple(read_list(parts))
    for part in chosen:
        if part not in all_parts:
            raise error(f"--parts: found {part!r}, expected some of {', '.join(all_parts)}")
    study = study_module.StudyConfig.from_yaml(config_file(config, "balance", "CONFIG"), trust=trust)
    matchups = [matchup for plan in study.known_plans for matchup in plan.matchups]
    for name, game in dict.fromkeys((name, matchup.config) for matchup in matchups for name in matchup.players):
        check_players([name], game)
    out_folder(out)
    study.open(out)
    precompile_groups(groups_for({name for matchup in matchups for name in matchup.players}))
    console, play = plain_console(), tournament_runner(out, workers)
    with reuse_workers(), shared_budget(name for matchup in matchups for name in matchup.players):
        for part in (part for part in all_parts if part in chosen):
            plan = results.plan_of(study, out, part)
            if plan is None:
                console.print(f"{part}: not part of the study")
            else:
                play(part, plan)
    console.print(f"Wrote {out}; next: helsinki balance report {out} --out balance")
    return 0


def report(
    study: Annotated[Path, tyro.conf.Positional] = _STUDY,
    out: Path | None = None,
    from_json: Path | None = None,
    baseline: Path | None = None,
) -> int:
    """Write the report of a study as self-contained HTML, as Markdown with figures, and as JSON with all numbers.

    The report of an unfinished study covers the games played so far. The same games always give a byte-identical
    report.

    Example: helsinki balance report runs/balance --out docs/balance

    Example: helsinki balance report runs/new --baseline docs/balance/balance.json --out docs/balance

    Args:
        study: folder of the study.
        out: folder for the report; default: the subfolder report of the study, or the folder of the --from-json file.
        from_json: balance.json of an earlier report, which is regenerated without reading any games.
        baseline: balance.json of another study, such as one from an earlier version; the report lists the conclusions
            that differ and explains why.
    """
    results = _module("results")
    before = None if baseline is None else results.read_results(baseline)
    if from_json is not None:
        if study != _STUDY:
            raise UserError(f"--from-json: found with {study}, expected one of them: a study or the JSON of its report")
        out = out or from_json.parent
        out_folder(out)
        data = results.read_results(from_json)
    else:
        out = out or _report_folder(study)
        out_folder(out)
        words = ["helsinki", "balance", "report", str(study), "--out", str(out)]
        words += [] if baseline is None else ["--baseline", str(baseline)]
        data = results.study_results(results.read_study(study), study, shlex.join(words))
    if before is not None:
        data = _module("conclusions").compare_with_baseline(data, before)
    _write_report(out, _module("report").study_report_files(data), data["summary"])
    plain_console().print(f"Wrote {out}/balance.html, balance.md, balance.json and images/")
    return 0


def effects(
    run: Annotated[Path, tyro.conf.Positional] = Path("runs/arena"),
    out: Path | None = None,
    title: str = "Marginal effects",
) -> int:
    """Estimate marginal effects from a tournament of any game in which actions were disabled for random seats.

    Example: helsinki arena configs/arena/abilities.yaml --out runs/abilities

    Example: helsinki balance effects runs/abilities --out docs/abilities.md --title "What abilities are worth"

    Args:
        run: folder of a tournament with denied actions.
        out: Markdown page to write; default: effects.md in the run folder.
        title: title of the page.
    """
    with requires_extra("stats"):
        from helsinki_env.evaluation.balance.denied import ablation_report_files
    from helsinki_env.evaluation.arena.load import load_run
    from helsinki_env.evaluation.arena.store import RunFolder

    page = out or run / "effects.md"
    if page.suffix != ".md":
        raise UserError(f"--out: found {page}, expected a file name that ends in .md")
    out_file(page)
    _check_effects(page)
    plan = RunFolder.open(run).plan
    words = ["effects", str(run), *(["--out", str(out)] if out else []), "--title", title]
    provenance = {**_provenance(plan.matchups, words), "seed": plan.seed, "plan": plan.digest}
    files, data = ablation_report_files(load_run(run), page.stem, title, provenance)
    _write_report(page.parent, files, ())
    write_json(page.with_suffix(".json"), data)
    plain_console().print(f"Wrote {page}, {page.stem}.json and images/{page.stem}.svg")
    return 0


def _check_effects(page: Path) -> None:
    """Raise UserError if the page would replace files that are not an earlier page of effects."""
    data = page.with_suffix(".json")
    if page.exists() or data.exists():
        try:
            read_json(data, UserError).mapping(("provenance", "matchups"))
        except UserError as problem:
            raise UserError(f"--out: found another file at {page} ({problem}); choose another name") from None


def tune(
    config: Annotated[str | None, tyro.conf.Positional] = None,
    out: Path = Path("runs/tune"),
    player: str | None = None,
    num_players: str | None = None,
    max_changes: int | None = None,
    evaluator: str | None = None,
    proposal: Path | None = None,
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Search for a small change to the action board after which no action is an outlier.

    The file lists the values that may change: costs and strengths, or the five covered actions. Marginal effects are
    estimated from games with denied actions on the published board, on boards with random values, and on the best
    candidates. The command proposes a change only if a test on fresh deals shows that the board is better balanced.

    The report is written to OUT/report, along with a component file for the proposed board. Running the same command
    again resumes an interrupted search.

    Example: helsinki balance tune quick --out runs/tune

    Example: helsinki balance tune standard --num-players 2,3 --max-changes 3 --out runs/tune-3

    Example: helsinki balance tune covered --out runs/covered --evaluator net

    Example: helsinki balance tune --proposal docs/balance/tune/standard/tune.json --evaluator net --out runs/evaluated

    Args:
        config: search to run: a name in configs/tune or the path to a YAML file; default: quick.
        out: folder for all games of the search.
        player: player in all seats; default: the player in the file.
        num_players: comma-separated player counts, a subset of those in the file.
        max_changes: maximum number of changed values; default: the number in the file.
        evaluator: a second player that tests the proposal on fresh deals; it can be added after the search.
        proposal: tune.json of an earlier search, whose proposal is tested without a new search.
        workers: worker processes that play the games.
        trust: allow code named in the file or the --proposal to run: program:COMMAND and MODULE:ATTRIBUTE. Read the
            code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.evaluation.balance.search_report import PROPOSAL

        results, report = _module("tune.results"), _module("tune.report")
    if proposal is not None:
        if evaluator is None or any(value is not None for value in (config, player, num_players, max_changes)):
            raise UserError(
                f"--proposal: found {proposal}, expected it with --evaluator and without a file, --player, "
                "--num-players and --max-changes; --proposal tests it without a search"
            )
        search, earlier = results.read_found(proposal, trust=trust)
    else:
        path = config_file(config or "quick", "tune", "CONFIG")
        search, earlier = _module("tune.config").TuneConfig.from_yaml(path, trust=trust), None
    if num_players is not None:
        chosen = _read_numbers(num_players)
        for n in chosen:
            Node(str(n), UserError, "--num-players").choice([str(count) for count in search.players])
        search = search.only(chosen)
    if player is not None:
        weaker = "random" if player == search.weaker else search.weaker
        if player == weaker:
            raise UserError("--player: found 'random', expected a player that is stronger than random")
        search = replace(search, player=player, weaker=weaker)
    if max_changes is not None:
        Node(max_changes, UserError, "--max-changes").integer(1)
        search = replace(search, most=max_changes)
    if evaluator == search.player:
        raise UserError(f"--evaluator: found {evaluator!r}, expected another player than the one that searches")
    all_players = [search.player, search.weaker, *([] if evaluator is None else [evaluator])]
    check_players(all_players)
    out_folder(out)
    report_folder = _report_folder(out)
    search.open(out)
    precompile_groups(groups_for(all_players))
    tuning = results.BoardTuning(search, out, tournament_runner(out, workers))
    saved = f"games saved in {out}; resume with: {rerun_command_line()}"
    with save_on_interrupt(lambda: saved), shared_budget(all_players):
        if earlier is None:
            options = {"--player": player, "--num-players": num_players, "--max-changes": max_changes}
            given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
            command = shlex.join(["helsinki", "balance", "tune", search.name, *given])
            data = results.tune_results(tuning, evaluator, command)
        else:
            data = results.reevaluate_proposal(tuning, earlier, evaluator)
    board: Path | None = tuning.proposal
    files = report.tune_report_files(data, board.read_bytes() if board else None)
    _write_report(
        report_folder, files, [*data["summary"], *([data["reevaluation"]["summary"]] if data["reevaluation"] else [])]
    )
    next_command = f"; next: {report.play_command(data, f'{report_folder}/{PROPOSAL}')}" if board else ""
    plain_console().print(f"Wrote {report_folder}{next_command}")
    return 0


def retrain(
    config: Annotated[str, tyro.conf.Positional] = "quick",
    out: Path = Path("runs/retrained"),
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Check whether the conclusions also hold for networks trained without the action.

    The command trains networks on this machine one after another: with all actions, and without each tested action. The
    networks then play against each other. The report is written to OUT/report. Running the same command again resumes
    an interrupted run.

    Example: helsinki balance retrain quick --out runs/retrained

    Example: helsinki balance retrain standard --out runs/retrained-standard

    Args:
        config: experiment to run: a name in configs/retrained or the path to a YAML file.
        out: folder for all networks and games.
        workers: worker processes that play the games.
        trust: allow code named in the preset to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        retraining = _module("retraining")
    with requires_extra("train"):
        from helsinki_env.agents.net.description import AFTERSTATE_KIND
        from helsinki_env.training.preset import Preset
        from helsinki_env.training.run import Training, train_to_the_end
    settings = retraining.RetrainingConfig.from_yaml(config_file(config, "retrained", "CONFIG"))
    preset = Preset.from_yaml(settings.preset, trust=trust)
    if preset.learner != AFTERSTATE_KIND or preset.rules != default_spec().name:
        raise UserError(
            f"{config}: preset: found {settings.preset}, which trains a {preset.learner} network for {preset.rules}, "
            f"expected one that trains a {AFTERSTATE_KIND} network for {default_spec().name}"
        )
    varied = any(matchup.components for matchup in preset.matchups)
    if preset.start or preset.against or preset.covered or preset.components != "default" or varied:
        raise UserError(
            f"{config}: preset: found {settings.preset}, expected one without start, against, covered and "
            "components, so that its networks learn from scratch on the published board with all actions"
        )
    taught = {count for matchup in preset.matchups for count in matchup.players}
    if missing := set(settings.players) - taught:
        raise UserError(
            f"{config}: found games of {min(missing)} players, expected some of {', '.join(map(str, sorted(taught)))}, "
            f"as in the preset {settings.preset}"
        )
    for action in settings.claims:
        replace(preset, covered=(action,)).check()  # fail before the first network is trained
    out_folder(out)
    report_folder = _report_folder(out)
    settings.open(out)
    precompile_groups([group_name("training"), *groups_for(["net", *preset.opponents, *preset.evaluation.opponents])])
    console = plain_console()

    def train(learner: Any, folder: Path) -> None:
        def run(training: Training) -> dict[str, Any]:
            console.print(f"training {learner.name}")
            return learn(training, console, rerun_command_line)

        covered = (learner.without,) if learner.without else ()
        train_to_the_end(replace(preset, covered=covered), folder, learner.seed, run)

    retrained = retraining.RetrainingStudy(settings, out, train, tournament_runner(out, workers))
    with save_on_interrupt(lambda: f"networks and games saved in {out}; resume with: {rerun_command_line()}"):
        data = retraining.retraining_results(retrained)
    _write_report(report_folder, retraining.retraining_report_files(data), data["summary"])
    console.print(f"Wrote {report_folder}")
    return 0


def sensitivity(
    config: Annotated[str, tyro.conf.Positional] = "helsinki",
    out: Path = Path("runs/sensitivity"),
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Check which conclusions depend on reconstructed facts about the components.

    The command plays the same matchups with the reference components and with alternatives for each uncertain fact. The
    report is written to OUT/report. Running the same command again resumes an interrupted run.

    Example: helsinki balance sensitivity helsinki --out runs/sensitivity

    Example: helsinki balance sensitivity copenhagen --out runs/sensitivity-copenhagen

    Args:
        config: analysis to run: a name in configs/sensitivity or the path to a YAML file.
        out: folder for all games.
        workers: worker processes that play the games.
        trust: allow code named in the file to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.evaluation.balance import sensitivity as analysis
    from helsinki_env.evaluation.arena.load import load_run

    settings = analysis.SensitivityConfig.from_yaml(config_file(config, "sensitivity", "CONFIG"), trust=trust)
    plan = settings.plan
    all_players = _checked_players(plan.matchups)
    out_folder(out)
    report_folder = _report_folder(out)
    precompile_groups(groups_for(all_players))
    tournament_runner(out, workers)("games", plan)
    provenance = {**_provenance(plan.matchups, ["sensitivity", config, "--out", str(out)]), "plan": plan.digest}
    data = analysis.sensitivity_results(settings, load_run(out / "games"), provenance)
    files = analysis.sensitivity_report_files(
        data, settings.name, f"What depends on our guesses: {settings.name.capitalize()}"
    )
    _write_report(report_folder, files, ())
    write_json(report_folder / f"{settings.name}.json", data)
    plain_console().print(f"Wrote {report_folder}/{settings.name}.md, {settings.name}.json and images/")
    return 0


def score(
    components: Annotated[str | None, tyro.conf.Positional] = None,
    objectives: str = "standard",
    out: Path = Path("runs/score"),
    seed: int | None = None,
    serve: bool = False,
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Score a component file against the aims of a designer. A lower score is better, and 0 meets all aims.

    All games and the file score.json with all measurements are saved in OUT. Running the same command again resumes an
    interrupted run, or reuses finished games.

    With --serve, the command reads requests from the standard input, one JSON object per line, and writes an answer to
    each, so that any optimizer can use it: {"components": NAME, PATH or CONTENT, "seed": SEED} is answered by {"score":
    X, "standard_error": X, "games": N, "measurements": [...]}, and an invalid request by {"error": TEXT}. Both keys are
    optional; COMPONENTS and --seed are their defaults.

    Example: helsinki balance score mine.yaml

    Example: echo '{"components": {"base": "default", "actions": {"two_points": {"cost": 2}}}}' |
    helsinki balance score --serve

    Args:
        components: component file: a name in configs/components or the path to a YAML file; default: that of the game.
        objectives: matchups and aims: a name in configs/objectives or the path to a YAML file.
        out: folder for all games.
        seed: seed of the games; default: that of the objectives. Use another one for the best of several files, whose
            score is too good otherwise.
        serve: answer requests from the standard input.
        workers: worker processes that play the games.
        trust: allow code named in the file to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.evaluation.arena.run import reuse_workers
        from helsinki_env.evaluation.balance.objectives import GROUPS, Objectives
        from helsinki_env.evaluation.balance.search_report import farthest, wanted_text
        from helsinki_env.evaluation.match_stats import student_quantile
    from helsinki_env.evaluation.arena.plan import environment_versions

    settings = Objectives.from_yaml(config_file(objectives, "objectives", "--objectives"), trust=trust)
    matchups = settings.plan(components, out).matchups
    all_players = _checked_players(matchups)
    out_folder(out)
    precompile_groups(groups_for(all_players))
    if serve:
        with reuse_workers(), shared_budget(all_players):
            _serve_scores(settings, {"components": components, "seed": seed}, out, workers)
        return 0
    found = settings.score(
        components, out, seed=seed, play=lambda plan, run: tournament_runner(out, workers)(run.name, plan)
    )
    quantile = student_quantile(GROUPS)
    table = results_table(("aim", "matchup", "measured", "wanted", "missed"), "aim", "Farthest from each aim")
    for worst, name, missed, total in farthest(found.measurements):
        value = f"{worst.value:.1f} ± {quantile * worst.error:.1f}"
        table.add_row(name, worst.matchup, value, wanted_text(settings.aims[worst.aim]), f"{missed} of {total}")
    plain_console().print(table)
    plain_console().print(
        f"Score: {found.value:.2f} ± {quantile * found.error:.2f} ({found.games:,} games; ±: 95% interval)"
    )
    origin = {
        "components": matchups[0].config.components,
        "objectives": objectives,
        "seed": settings.seed if seed is None else seed,
        "environment": environment_versions(matchups),
        "package": helsinki_env.__version__,
    }
    write_json(out / "score.json", {**origin, **found.to_dict()})
    plain_console().print(f"Wrote all measurements to {out}/score.json")
    return 0


def _serve_scores(objectives: Any, default: Mapping[str, Any], out: Path, workers: WorkerOptions) -> None:
    """Answer requests on the standard input until it ends; `default` has the values of omitted keys."""
    from helsinki_env.evaluation.arena.run import run_arena

    play = partial(run_arena, **workers.arguments)
    for line in filter(bytes.strip, sys.stdin.buffer):
        try:
            request = parse_json(line.decode(), UserError, what="the request").mapping(tuple(default))
            seed = request["seed"].integer(0) if request["seed"].is_present else default["seed"]
            components = request.get("components", default["components"]).value
            answer = objectives.score(components, out, seed=seed, play=play).to_dict()
        except ValueError as problem:
            answer = {"error": str(problem)}
        print(json.dumps(answer), flush=True)


def search(
    config: Annotated[str, tyro.conf.Positional] = "standard",
    out: Path = Path("runs/search"),
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Search for changes of the components that bring a game closer to the aims of a designer.

    The file lists values that may change in a component file of either game, and names an objectives file, which lists
    matchups and aims. The command proposes a change only if a test on fresh deals shows that the score improves.

    The report is written to OUT/report, along with the proposed component file. Running the same command again resumes
    an interrupted search.

    Example: helsinki balance search standard --out runs/search

    Args:
        config: search to run: a name in configs/search or the path to a YAML file.
        out: folder for all games of the search.
        workers: worker processes that play the games.
        trust: allow code named in the objectives to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    with requires_extra(workers.extra):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.evaluation.arena.run import reuse_workers
        from helsinki_env.evaluation.balance import search as searching
        from helsinki_env.evaluation.balance import search_report

    settings = searching.SearchConfig.from_yaml(config_file(config, "search", "CONFIG"), trust=trust)
    matchups = settings.objectives.plan(settings.components, out).matchups
    all_players = _checked_players(matchups)
    out_folder(out)
    report_folder = _report_folder(out)
    settings.open(out)
    precompile_groups(groups_for(all_players))
    saved = f"games saved in {out}; resume with: {rerun_command_line()}"
    with save_on_interrupt(lambda: saved), reuse_workers(), shared_budget(all_players):
        measure = searching.measure_by_playing(settings, out, tournament_runner(out, workers))
        result = searching.search(settings, measure, settings.is_valid)
    provenance = _provenance(matchups, ["search", config, "--out", str(out)])
    data = search_report.search_results(settings, result, provenance)
    files = search_report.search_report_files(settings, result, data)
    _write_report(report_folder, files, search_report.summary_sentences(settings, result))
    play = ["helsinki", "play", *game_option(spec_of(matchups[0].config).name), "--components"]
    play.append(f"{report_folder}/{search_report.PROPOSAL}")
    plain_console().print(f"Wrote {report_folder}" + (f"; next: {shlex.join(play)}" if result.proposal else ""))
    return 0


main = {
    "run": run,
    "report": report,
    "effects": effects,
    "tune": tune,
    "retrain": retrain,
    "sensitivity": sensitivity,
    "score": score,
    "search": search,
}


def _module(name: str) -> Any:
    """Import and return a module of the default game's studies; `denied` estimates marginal effects in any game."""
    return import_module(f"helsinki_env.evaluation.balance.{default_spec().name}.{name}")


def _checked_players(matchups: Sequence[MatchupPlan]) -> set[str]:
    """Create every player once, so that an invalid name is reported before the first game; return the names."""
    for matchup in matchups:
        check_players(matchup.players, matchup.config)
    return {name for matchup in matchups for name in matchup.players}


def _provenance(matchups: Sequence[MatchupPlan], words: Sequence[str]) -> dict[str, Any]:
    """Return the versions and the command of a report, given the words after ``helsinki balance``."""
    from helsinki_env.evaluation.arena.plan import environment_versions

    return {
        "environment": environment_versions(matchups),
        "package": helsinki_env.__version__,
        "command": shlex.join(["helsinki", "balance", *words]),
    }


def _report_folder(run: Path) -> Path:
    """Return the folder for the report of a run; raise OSError if it or its images would be written elsewhere."""
    folder = run / "report"
    for one in (folder, folder / "images"):
        check_no_link(one)
    out_folder(folder)
    return folder


def _write_report(folder: Path, files: Mapping[Path, bytes], sentences: Iterable[str]) -> None:
    """Write the files of a report and print its summary."""
    for path, content in files.items():
        with atomic_write(folder / path) as file:
            file.write(content)
    for sentence in sentences:
        plain_console().print(f"- {sentence}")


def _read_numbers(text: str) -> tuple[int, ...]:
    numbers = read_list(text)
    if not numbers or not all(number in ("2", "3", "4") for number in numbers):
        raise UserError(f"--num-players: found {text!r}, expected some of 2, 3, 4, separated by commas")
    return tuple(map(int, numbers))
