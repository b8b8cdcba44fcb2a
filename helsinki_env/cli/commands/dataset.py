"""The ``helsinki dataset`` command: write transitions for offline learning, from recorded or newly played games."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import tyro

from helsinki_env.agents.evaluation import Evaluator
from helsinki_env.agents.registry import innermost_name, make_player
from helsinki_env.cli.options import out_folder, read_game_config, read_list
from helsinki_env.cli.parallel_runs import check_players
from helsinki_env.cli.precompile import precompile_plan
from helsinki_env.cli.progress import ProgressDisplay, saved_progress
from helsinki_env.data import UserError
from helsinki_env.engine.spec import config_to_dict
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console


def main(
    source: Annotated[Path | None, tyro.conf.Positional] = None,
    players: str | None = None,
    games: int | None = None,
    num_players: int | None = None,
    game: str | None = None,
    seed: int | None = None,
    evaluator: str | None = None,
    openspiel: bool = False,
    minari: str | None = None,
    shard_games: int = 200,
    out: Path = Path("runs/dataset"),
    processes: int | None = None,
) -> int:
    """Write transitions (observation, action mask, action, reward, terminated) as Parquet shards with a dataset card.

    The games come from a tournament or a file of records, or are newly played. Running the same command again resumes
    an interrupted run and produces the same files. Memory use does not grow with the number of games.

    Example: helsinki dataset --players net --games 1000 --seed 1 --out runs/dataset

    Example: helsinki dataset runs/arena --openspiel --out runs/dataset

    Example: helsinki dataset games.jsonl --evaluator net+search:100 --shard-games 20 --out runs/values

    Args:
        source: folder of a tournament or a file of records, instead of new games; for covered actions and other
            variants, play a tournament first.
        players: comma-separated players of the new games, as for helsinki arena; default: greedy.
        games: number of games per line-up, rounded up to whole rotations of the seats; default: 1000. Games that
            repeat another game of the same deal are left out, for example those of one deterministic player.
        num_players: number of players in a game: 2, 3 or 4; default: 2. With fewer names than seats, players take
            several seats.
        game: name of the game, such as copenhagen; default: helsinki.
        seed: random seed for deals and players; default: 0.
        evaluator: player, such as net+search:100, whose action and win probabilities are added to the transitions.
        openspiel: also write the games as OpenSpiel trajectories.
        minari: also write a Minari dataset with this id, with one episode per seat and game.
        shard_games: number of games per shard, which is written as a whole; new games are rounded up to whole
            rotations.
        out: folder for the dataset.
        processes: number of parallel processes; default: one per CPU core.
    """
    with requires_extra("stats"):
        from helsinki_env.dataset.writing import FreshGames, RecordedGames, write_dataset
    if minari is not None:
        from helsinki_env.dataset.minari import check_dataset_id, write_minari

        check_dataset_id(minari)
    fresh = {"players": players, "games": games, "num-players": num_players, "game": game, "seed": seed}
    given = {f"--{name}": value for name, value in fresh.items() if value is not None}
    if source is not None and given:
        raise UserError(f"{', '.join(given)}: found with {source}, which has its own games; leave one of them out")
    out_folder(out)
    chosen: FreshGames | RecordedGames
    if source is None:
        config = read_game_config(None, num_players, None, False, None, 2, game)
        names = ["greedy"] if players is None else read_list(players)
        matchup = {"players": names, "games": 1000 if games is None else games, "game": config_to_dict(config)}
        plan = plan_from_dict({"seed": seed or 0, "unit_games": shard_games, "matchups": [matchup]})
        check_players(names, config)
        for name in names:
            if innermost_name(name).startswith("llm:"):
                raise UserError(
                    f"--players: found {name}, expected other players; play helsinki arena, which counts replaced "
                    "actions, and give its folder to helsinki dataset"
                )
        precompile_plan(plan)
        chosen = FreshGames(plan)
    else:
        if not source.name.isprintable():
            raise UserError(f"SOURCE: found {source.name!r}, expected a name that can be printed")
        chosen = RecordedGames(source, shard_games)
    if evaluator is not None and not isinstance(make_player(evaluator, chosen.config), Evaluator):
        raise UserError(f"--evaluator: found {evaluator}, expected one of net, net+search:N and mc:N")
    given |= {"--evaluator": evaluator} if evaluator else {}
    given |= ({"--openspiel": ""} if openspiel else {}) | {"--shard-games": shard_games}
    words = [str(word) for option in given.items() for word in option if word != ""]
    command = shlex.join(["helsinki", "dataset", *([] if source is None else [source.name]), *words])
    with saved_progress(chosen.games, "games", out) as display:
        workers, callbacks = processes or cpu_count(), (display.resume, display.advance)
        card = write_dataset(chosen, out, command, evaluator, openspiel, workers, *callbacks)
    console = plain_console()
    written = card["games"] - card["copies"]
    shards = len(card["shards"])
    counts = f"{written:,} games, {card['rows']:,} transitions, {shards:,} shard{'' if shards == 1 else 's'}"
    console.print(f"Wrote {out}: {counts}")
    if card["copies"]:
        console.print(f"Left out {card['copies']:,} games that repeat another game of the same deal.")
    if minari is not None:
        done = f"the dataset in {out} is complete, the Minari dataset is deleted; start again with: "
        with save_on_interrupt(lambda: done + rerun_command_line()), ProgressDisplay(written) as display:
            episodes = write_minari(out, minari, display.advance)
        console.print(f"Wrote the Minari dataset {minari}: {episodes:,} episodes")
    return 0
