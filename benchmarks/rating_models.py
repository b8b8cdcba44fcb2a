"""Compare ratings from full rankings with ratings from winners alone, using the games of a tournament.

    helsinki arena --players random,greedy,heuristic,net --games 1200 --num-players 4 --seed 31 --out runs/rate4
    python -m benchmarks.rating_models runs/rate4

Print expected and observed frequencies for both models: how often one player finishes ahead of another (what
ratings describe) and how often each player wins.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.rating.plackett_luce import fit
from helsinki_env.evaluation.rating.ratings import ELO, build_model
from helsinki_env.evaluation.rating.shares import cross_table, expected_cross_table, player_statistics


def compare(folder: Path) -> None:
    """Print expected and observed frequencies for every matchup with three or more seats."""
    for table in load_run(folder):
        count, seats = len(table.players), table.places.shape[1]
        if seats < 3 or not len(table):
            continue
        happened = cross_table(count, table.seating, table.places, table.deal)
        won = player_statistics(count, table.seating, table.places, table.scores, table.deal)
        print(f"{table.name}, {len(table):,} games")
        model = build_model(table.players, table.seating, table.places, table.deal)
        for name, depth in (("whole rankings", None), ("winner alone", 1)):
            theta = fit(replace(model.rankings, depth=depth), model.virtual).theta
            strength, seat = model.player_map @ theta, model.seat_map @ theta
            utility = strength[table.seating] + seat
            ahead = expected_cross_table(count, table.seating, utility)
            chance = np.exp(utility - utility.max(axis=1, keepdims=True))
            chance /= chance.sum(axis=1, keepdims=True)
            sums = np.bincount(table.seating.ravel(), chance.ravel(), minlength=count)
            print(f"  {name}: " + ", ".join(f"{p} {ELO * s:.0f}" for p, s in zip(table.players, strength, strict=True)))
            for i in range(count):
                expected = sums[i] / won.games[i]
                between = f"{won.low[i]:.1%} to {won.high[i]:.1%}"
                print(f"    {table.players[i]} wins {won.win_rate[i]:.1%} ({between}), expected {expected:.1%}")
                for j in range(i):
                    between = f"{happened.low[i, j]:.1%} to {happened.high[i, j]:.1%}"
                    text = f"{happened.share[i, j]:.1%} ({between}), expected {ahead[i, j]:.1%}"
                    print(f"    {table.players[i]} ahead of {table.players[j]}: {text}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="run with three or four seats")
    compare(parser.parse_args().folder)
