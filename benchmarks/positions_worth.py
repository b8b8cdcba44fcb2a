"""Validate a position suite by its correlation with game ratings, and compute the required number of positions.

The intervals of the correlations are conservative: errors of the ratings are resampled, although the ratings vary
already, and are treated as independent.

Play a tournament of two-player games, then compare:

    P=random,greedy,heuristic,net,epsilon:0.1:net
    helsinki arena --players $P --games 30 --num-players 2 --out runs/worth
    python benchmarks/positions_worth.py runs/worth --out runs/worth-positions
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from helsinki_env.agents.base import FloatArray
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.gauntlet.leaderboard import certificate_name
from helsinki_env.evaluation.positions.certificate import ask_player
from helsinki_env.evaluation.positions.suite import Suite
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.utils.files import write_json
from helsinki_env.utils.markdown import code_span, markdown_table

#: Players below this rating are easy to distinguish and are excluded from the second correlation.
_WEAK = -300.0
#: Difference to detect, in Elo points, and sum of the normal quantiles for 95% confidence and 80% power.
_DIFFERENCE, _QUANTILES = 50.0, 1.96 + 0.84
_RESAMPLES = 2000


def regrets_of(suite: Suite, player: str, folder: Path) -> FloatArray:
    """Return a player's regret in every position, float64 (N,)."""
    answers = ask_player(suite, player, folder / f"{certificate_name(player)}.json").actions
    return np.array(
        [
            position.regrets[np.searchsorted(position.actions, action)]
            for position, action in zip(suite.positions, answers, strict=True)
        ]
    )


def correlations(elo: FloatArray, error: FloatArray, regrets: FloatArray, seed: int) -> dict[str, Any]:
    """Return the correlations between ratings, (P,), and regrets, (P, N), with bootstrap intervals.

    Each resample draws players and positions with replacement and adds normally distributed errors to the ratings.
    """
    rng, players, positions = np.random.default_rng(seed), len(elo), regrets.shape[1]
    resampled = []
    for _ in range(_RESAMPLES):
        chosen = rng.integers(players, size=players)
        means = regrets[chosen][:, rng.integers(positions, size=positions)].mean(axis=1)
        ratings = elo[chosen] + error[chosen] * rng.standard_normal(players)
        if len(set(chosen.tolist())) > 2:
            resampled.append([np.corrcoef(ratings, -means)[0, 1], spearmanr(ratings, -means)[0]])
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    means = regrets.mean(axis=1)
    found = np.corrcoef(elo, -means)[0, 1], spearmanr(elo, -means)[0]
    return {
        name: [round(float(value), 3) for value in (found[i], low[i], high[i])]
        for i, name in enumerate(("pearson", "spearman"))
    } | {"players": players}


def positions_needed(elo: FloatArray, regrets: FloatArray) -> dict[str, float]:
    """Return the number of positions required to distinguish two players that differ by 50 Elo points.

    The noise is the standard deviation of paired differences, as a median over pairs of players within 200 points.
    """
    slope = -np.polyfit(elo, regrets.mean(axis=1), 1)[0]
    pairs = [(i, j) for i in range(len(elo)) for j in range(i) if abs(elo[i] - elo[j]) < 200]
    noise = float(np.median([(regrets[i] - regrets[j]).std(ddof=1) for i, j in pairs]))
    needed = (_QUANTILES * noise / (_DIFFERENCE * slope)) ** 2
    return {"regret_per_50_elo": 100 * _DIFFERENCE * float(slope), "noise": 100 * noise, "positions": float(needed)}


def main() -> None:
    """Print the results and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a finished run of helsinki arena")
    parser.add_argument("--suite", help="position suite; default: the bundled one of the game")
    parser.add_argument("--out", type=Path, required=True, help="folder for the answers and worth.json")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the bootstrap")
    given = parser.parse_args()
    games = load_run(given.run)[0]
    ratings = rate(games, reference="greedy", seed=given.seed)
    suite = Suite.read(given.suite or spec_of(games.config).name)
    regrets = np.stack([regrets_of(suite, player, given.out) for player in ratings.players])
    error = (ratings.high - ratings.low) / (2 * 1.96)
    strong = ratings.elo > _WEAK
    order = np.argsort(-ratings.elo).tolist()
    rows = [
        [
            code_span(ratings.players[i]),
            f"{ratings.elo[i]:.0f}",
            f"{ratings.low[i]:.0f} to {ratings.high[i]:.0f}",
            f"{100 * regrets[i].mean():.2f}",
            f"{100 * 1.96 * regrets[i].std(ddof=1) / regrets.shape[1] ** 0.5:.2f}",
        ]
        for i in order
    ]
    print(markdown_table(("player", "rating", "95% interval", "regret", "±"), rows))
    worth = {
        "all": correlations(ratings.elo, error, regrets, given.seed),
        "strong": correlations(ratings.elo[strong], error[strong], regrets[strong], given.seed),
        "needed": positions_needed(ratings.elo[strong], regrets[strong]),
    }
    for name, figures in worth.items():
        print(name, figures)
    write_json(given.out / "worth.json", {"games": ratings.games, "positions": regrets.shape[1], **worth})


if __name__ == "__main__":
    main()
