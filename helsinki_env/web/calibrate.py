"""Measure the ratings of the difficulty levels: `python -m helsinki_env.web.calibrate GAME --games 2000 --out FOLDER`.

Adjacent levels play against each other. The difference between two ratings is the log odds of a win, and its variance
is estimated from the variation between deals. The rating of a level is the sum of the differences between it and
greedy, which has 0 points. The command saves finished blocks of games in the folder, so that it can resume. `--write`
updates `level_ratings.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.agents.registry import files_digest
from helsinki_env.data import digest_of
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.utils.files import atomic_write
from helsinki_env.web.levels import ELO, MIXTURES, ZERO, level, level_name

_BLOCK = 50
"""Number of games in a block; a block is saved as a whole."""
_SEED = 4711


def block_file(game: str, lower: int, block: int, games: int) -> str:
    """Return the file name of a block, which depends on the players, the networks and the package version."""
    config = spec_by_name(game).config(num_players=2)
    pair = [MIXTURES[number - 1] for number in (lower, lower + 1)]
    networks = [files_digest(name, config) for one in pair for name in (one.weaker, one.stronger)]
    players = digest_of({"players": pair, "networks": networks, "package": helsinki_env.__version__})
    return f"{game}-{lower}-{players[:8]}-{block}-{games}.json"


def block_wins(game: str, lower: int, block: int, games: int) -> list[float]:
    """Play a block of games between a level and the next level; return the higher level's wins per deal."""
    config = spec_by_name(game).config(num_players=2)
    players = [level(str(number), config) for number in (lower, lower + 1)]
    results = play_match(players, config, games=games, seed=_SEED + 1000 * lower + block)
    own = (fractional_wins(results.places) * (results.seating == 1)).sum(axis=1)
    return [float(one) for one in own.reshape(-1, 2).sum(axis=1)]


def ratings_of(wins: dict[int, list[float]]) -> list[dict[str, Any]]:
    """Return the ratings of all levels with 95% confidence intervals.

    `wins` maps each level except the last to the next level's wins against it, a number from 0 to 2 for each deal.
    """
    steps: dict[int, tuple[float, float]] = {}
    for lower, deals in wins.items():
        games, won = 2 * len(deals), sum(deals)
        share = (won + 0.5) / (games + 1)
        between = float(np.var(np.array(deals) / 2, ddof=1)) / len(deals) if len(deals) > 1 else 0.25
        variance = max(between, 0.25 / (games + 1) ** 2) / (share * (1 - share)) ** 2
        steps[lower] = math.log(share / (1 - share)), variance
    found = []
    for number in range(1, len(MIXTURES) + 1):
        way = range(ZERO, number) if number >= ZERO else range(number, ZERO)
        if any(one not in steps for one in way):
            continue
        sign = 1 if number >= ZERO else -1
        rating = sign * sum(steps[one][0] for one in way)
        error = 1.96 * math.sqrt(sum(steps[one][1] for one in way))
        found.append(
            {
                "level": number,
                "rating": round(ELO * rating, 1),
                "low": round(ELO * (rating - error), 1),
                "high": round(ELO * (rating + error), 1),
                "games": sum(2 * len(wins.get(one, [])) for one in (number - 1, number)),
            }
        )
    return found


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(f"{text}\n".encode())


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m helsinki_env.web.calibrate", description=__doc__)
    parser.add_argument("game", help="Name of the game.")
    parser.add_argument("--games", type=int, default=2000, help="Number of games of each level.")
    parser.add_argument("--out", type=Path, required=True, help="Folder for finished blocks.")
    parser.add_argument("--write", action="store_true", help="Update level_ratings.json of the package.")
    given = parser.parse_args(arguments)
    if given.games < 4 or given.games % 4:
        parser.error(f"--games: found {given.games}, expected a multiple of 4, for both seats of each neighbor")
    given.out.mkdir(parents=True, exist_ok=True)
    wins: dict[int, list[float]] = {}
    last = len(MIXTURES) - 1
    for lower in range(1, len(MIXTURES)):
        # The first and the last level have a single neighbor, so their matches are twice as long.
        total = given.games if lower in (1, last) else given.games // 2
        wins[lower] = []
        for block in range(-(-total // _BLOCK)):
            size = min(_BLOCK, total - block * _BLOCK)
            file = given.out / block_file(given.game, lower, block, size)
            if not file.exists():
                _write(file, json.dumps(block_wins(given.game, lower, block, size)))
            wins[lower] += json.loads(file.read_text(encoding="utf-8"))
        share = sum(wins[lower]) / (2 * len(wins[lower]))
        print(f"{level_name(lower + 1)} against {level_name(lower)}: {share:.1%} of {2 * len(wins[lower])}", flush=True)
    levels = ratings_of(wins)
    for one in levels:
        print(f"{level_name(one['level'])}: {one['rating']} (95% CI {one['low']} to {one['high']}, n = {one['games']})")
    if given.write:
        path = Path(__file__).with_name("level_ratings.json")
        data = json.loads(path.read_text(encoding="utf-8"))
        command = f"python -m helsinki_env.web.calibrate {given.game} --games {given.games} --out FOLDER --write"
        data[given.game] = {"command": command, "seed": _SEED, "players": 2, "levels": levels}
        _write(path, json.dumps(data, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
