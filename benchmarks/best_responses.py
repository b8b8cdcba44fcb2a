"""Measure how exploitable players are: train best responses to them, and let other players respond.

python benchmarks/best_responses.py benchmarks/best_responses.yaml --out runs/responses
python benchmarks/best_responses.py benchmarks/best_responses.yaml --out runs/responses --only 0,2 --players 2
python benchmarks/best_responses.py benchmarks/search_responses.yaml --out runs/search_responses

The command resumes, also in the middle of a training run or of the final games. Each response has one seat in every
game, and the target has all others; each deal is played once with the response in each seat. The final games use deals
that no training used. The excess of the win rate over chance level is a lower bound on what one seat can gain against
the target in all others; with two players, this bounds the target's exploitability.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helsinki_env
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.bench.paired import described
from helsinki_env.cli.commands.simulate import MatchFile, play_into
from helsinki_env.data import Node, UserError, check_same_settings, read_json, read_yaml
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match import Match, Results
from helsinki_env.training.evaluate import against_row
from helsinki_env.training.preset import Preset
from helsinki_env.training.run import train_to_the_end
from helsinki_env.utils.files import is_file, write_json
from helsinki_env.utils.yaml_files import merge_mappings


def response_preset(file: Node, game: str, to: str, players: int) -> Preset:
    """Return the preset that trains a best response."""
    changes = {"minutes": 10_000, **file["training"].mapping().value}
    preset = Preset.from_dict(merge_mappings(Preset.from_yaml("best_response").to_dict(), changes))
    preset = preset if game == preset.rules else preset.for_game(game, "best_response")
    return preset.best_response_to(to, players)


def results(file: Node, out: Path, only: list[int], counts: list[int]) -> Iterator[dict[str, Any]]:
    """Train and play every response; yield a row for each response, player count and seed of the training."""
    for index, response in enumerate(file["responses"].entries("responses")):
        if index not in only:
            continue
        game, to, by = (response[key].text("a name") for key in ("game", "to", "by"))
        seeds: list[int | None] = file["seeds"].value if by == "train" else [None]
        for players in counts:
            spec = spec_by_name(game)
            config = spec.config(num_players=players)
            preset = response_preset(file, game, to, players) if by == "train" else None
            for seed in seeds:
                name = f"{game}-{to}-{by}-{players}" + ("" if seed is None else f"-{seed}")
                settings: dict[str, Any] = {
                    "seed": file["seed"].integer(0),
                    "games": file["games"].integer(2),
                    "response": name,
                    "package": helsinki_env.__version__,
                    "environment": spec.environment,
                    "files": {player: files_digest(player, config) for player in (to, by) if player != "train"},
                    "training": None if preset is None else preset.to_dict(),
                }
                path = out / "results" / f"{name.replace(':', '_')}.json"
                if not is_file(path):
                    player = by
                    if preset is not None and seed is not None:
                        train_to_the_end(preset, out / name, seed)
                        player = f"net:{out / name}"
                    seated = [make_player(player, config), *[make_player(to, config)] * (players - 1)]
                    match = Match(seated, config, settings["seed"])
                    played = final_games(match, settings["games"], out / f"{path.stem}.jsonl")
                    # Not a setting, because a run can be resumed with a later revision.
                    write_json(path, {**settings, "revision": described(), "result": against_row(played, to)})
                row = read_json(path, UserError).mapping().value
                check_same_settings(path, settings, {key: row.get(key) for key in settings}, UserError)
                yield {"game": game, "to": to, "by": by, "training_seed": seed, **row["result"]}


def final_games(match: Match, games: int, path: Path) -> Results:
    """Play the games that are missing in a file of records, and return all; Ctrl-C and SIGTERM save those finished."""
    with MatchFile(path, match, games, resume=is_file(path)) as file:
        try:
            return play_into(file)
        except KeyboardInterrupt:
            file.keep()
            total = match.round_up_games(games)
            raise UserError(f"interrupted: {len(file):,} of {total:,} games saved; run the command again") from None


def chosen(option: str, text: str, allowed: list[str]) -> list[int]:
    """Return the numbers in a comma-separated list; raise UserError unless all are allowed."""
    return [int(Node(one, UserError, option).choice(allowed)) for one in text.split(",")]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="file with the responses")
    parser.add_argument("--out", type=Path, default=Path("runs/responses"))
    parser.add_argument("--only", default=None, help="comma-separated indices of responses; default: all")
    parser.add_argument("--players", default="2,3,4", help="comma-separated player counts")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: save the finished games
    file = read_yaml(options.file, UserError)
    file.mapping(("seed", "games", "seeds", "training", "responses"))
    listed = [str(index) for index in range(len(file["responses"].entries("responses")))]
    only = chosen("--only", options.only or ",".join(listed), listed)
    counts = chosen("--players", options.players, ["2", "3", "4"])
    print("| Game | Target | Response | Players | Win rate (95% CI) | Above chance level |\n" + "| --- " * 6 + "|")
    for row in results(file, options.out, only, counts):
        by = row["by"] if row["training_seed"] is None else f"trained, seed {row['training_seed']}"
        rate, low, high, chance = (100 * x for x in (row["share"], row["low"], row["high"], 1 / row["players"]))
        print(
            f"| {row['game'].title()} | `{row['to']}` | {by} | {row['players']} | {rate:.1f}% ({low:.1f}-{high:.1f}) | "
            f"{rate - chance:+.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    try:
        main()
    except UserError as problem:
        sys.exit(f"best_responses.py: {problem}")
