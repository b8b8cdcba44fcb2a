"""Print a Markdown table of the win rates of all seats, with the tie rule of the game and with shared wins.

helsinki balance score default --objectives seats --out runs/seats
python docs/make_seats.py runs/seats
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal, student_quantile
from helsinki_env.utils.markdown import markdown_table

#: Seats of two, three and four players; the intervals of a player hold simultaneously for them (Bonferroni).
_SEATS = 9


def win_rates(wins: npt.NDArray[np.float64], deal: npt.NDArray[np.int64]) -> Iterator[str]:
    """Yield the win rate of each seat with its interval, given the wins, float64 (G, S)."""
    by_deal = 100 * mean_by_deal(wins, deal)
    quantile = student_quantile(len(by_deal), 1 - 0.05 / _SEATS)
    half = quantile * by_deal.std(axis=0, ddof=1) / np.sqrt(len(by_deal))
    yield from (f"{value:.1f} ± {error:.1f}" for value, error in zip(by_deal.mean(axis=0), half, strict=True))


def row(games: MatchupGames) -> tuple[str, ...]:
    """Return the row of a matchup with one player in all seats."""
    best = games.scores == games.scores.max(axis=1, keepdims=True)
    tied = 100 * (best.sum(axis=1) > 1).mean()
    by_rule = win_rates(fractional_wins(games.places), games.deal)
    shared = win_rates(best / best.sum(axis=1, keepdims=True), games.deal)
    points = " / ".join(f"{value:.2f}" for value in games.scores.mean(axis=0))
    return games.name, " / ".join(by_rule), f"{tied:.1f}%", " / ".join(shared), points


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of helsinki balance score")
    run = parser.parse_args().run
    found = [games for path in sorted(run.glob("*/run.json")) for games in load_run(path.parent, whole=True)]
    head = ("games", "games won by seat, in %", "tied", "if ties were shared", "points by seat")
    print(markdown_table(head, [row(games) for games in found]))


if __name__ == "__main__":
    main()
