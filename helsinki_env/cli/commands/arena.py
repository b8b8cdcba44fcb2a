"""The ``helsinki arena`` command: play resumable tournaments between many players."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.table import Table

from helsinki_env.cli.options import AS_PUBLISHED, GameVariant, config_file, game_text, out_folder, read_list
from helsinki_env.cli.parallel_runs import ALL_CORES, Workers, play_tournament
from helsinki_env.cli.precompile import precompile_plan
from helsinki_env.data import UserError, read_json
from helsinki_env.engine.spec import config_to_dict
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.terminal import plain_console, results_table


def main(
    config: Annotated[str | None, tyro.conf.Positional] = None,
    players: str | None = None,
    games: int | None = None,
    num_players: int | None = None,
    variant: GameVariant = AS_PUBLISHED,
    seed: int | None = None,
    unit_games: int | None = None,
    out: Path = Path("runs/arena"),
    form: Annotated[Literal["parquet", "jsonl"], tyro.conf.arg(name="format")] = "parquet",
    workers: Workers = ALL_CORES,
    trust: bool = False,
) -> int:
    """Play a tournament of all line-ups, with each deal played in every rotation of the seats.

    Running the same command again resumes an interrupted run and produces the same games. If you increase --games, only
    the missing games are played. The games depend on the seed, not on the number of processes or machines.

    Example: helsinki arena --players random,greedy --games 200 --num-players 3 --out runs/arena

    Example: helsinki arena --game copenhagen --players random,greedy --games 200 --out runs/copenhagen

    Example: helsinki arena example --out runs/example

    Args:
        config: tournament to play: a name in configs/arena or the path to a YAML file. It replaces the options for a
            single matchup.
        players: comma-separated players: random, greedy, heuristic, mc:N, ismcts:N, net, net:CHECKPOINT, net+search:N,
            mlp:FOLDER, forced:ACTION:PLAYER, epsilon:P:PLAYER, response:N:PLAYER, counted:PLAYER, program:COMMAND,
            llm:listed:MODEL or MODULE:ATTRIBUTE; docs/players.md describes all. Default: random,greedy.
        games: number of games per line-up, rounded up to whole rotations of the seats; default: 2000.
        num_players: number of players in a game: 2, 3 or 4; default: the number in --game-config, or 2. With fewer
            names than seats, players take several seats.
        variant: game configuration.
        seed: random seed for deals and players; default: the seed in the file, or 0.
        unit_games: number of games in a work unit, the smallest part of a run that is saved; default: the number in the
            file, or 60.
        out: folder for the run.
        form: output format: games.parquet, or games.jsonl, which has one record per line for helsinki replay and needs
            no extra.
        workers: worker processes that play the games.
        trust: allow code named in the file to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    from helsinki_env.agents.llm.usage import run_notes
    from helsinki_env.evaluation.arena.plan import plan_from_dict, plan_from_yaml

    extra = workers.extra
    if form == "parquet":
        with requires_extra(extra):
            import_module("helsinki_env.evaluation.arena.parquet")
    options_given = {"players": players, "games": games, "num_players": num_players, **vars(variant)}
    given = [name for name, value in options_given.items() if value is not None and value is not False]
    changes = {name: value for name, value in (("seed", seed), ("unit_games", unit_games)) if value is not None}
    if config is None:
        played = variant.config(num_players, 2)
        names = read_list("random,greedy" if players is None else players)
        matchup: dict[str, Any] = {"players": names, "game": config_to_dict(played), "name": game_text(played)}
        if games is not None:
            matchup["games"] = games
        plan = plan_from_dict({**changes, "matchups": [matchup]})
    elif given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UserError(f"{named}: found with the file {config}, which defines the games; leave one of them out")
    else:
        plan = plan_from_yaml(config_file(config, "arena", "CONFIG"), changes, trust=trust)
    out_folder(out)
    precompile_plan(plan)
    console, started = plain_console(), time.monotonic()
    path, display = play_tournament(plan, out, workers, form=form)
    for table in _tables(out):
        console.print(table)
    for line in run_notes(read_json(out / "times.json", UserError).value):
        console.print(line)
    resumed = f", {display.before:,} of them from an earlier run" if display.before else ""
    seconds = time.monotonic() - started
    console.print(f"{plan.games:,} games with seed {plan.seed}{resumed}; {seconds:.1f} s")
    console.print(f"Wrote {path} and {out / 'times.json'}")
    return 0


def _tables(out: Path) -> Iterator[Table]:
    """Yield one results table for each matchup of a finished run."""
    from helsinki_env.evaluation.arena.load import load_run
    from helsinki_env.evaluation.match_stats import player_result

    entries = read_json(out / "times.json", UserError).entries("times of players")
    times = {(entry["matchup"].text(), entry["player"].text()): entry for entry in entries}
    for games in load_run(out, whole=True):
        columns = ("player", "games", "games won", "95% interval", "points", "rank", "ms/action")
        table = results_table(columns, "player", f"{games.name} ({len(games):,} games)")
        for i, player in enumerate(games.players):
            s = player_result(player, None, games.seating == i, games.places, games.scores, games.deal)
            entry = times.get((games.name, player))
            ms = 1000 * entry["seconds"].number(0) / max(1, entry["decisions"].integer(0)) if entry else None
            table.add_row(
                player,
                f"{s.games:,}",
                f"{s.share:.1%}",
                f"{s.low:.1%} to {s.high:.1%}",
                f"{s.score:.1f}",
                f"{s.place:.2f}",
                "–" if ms is None else f"{ms:.3g}",
            )
        yield table
