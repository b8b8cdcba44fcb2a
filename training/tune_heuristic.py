"""Tune the heuristic's weights by self-play: ``python -m helsinki_env.training.tune_heuristic --minutes 20``.

Method: CMA-ES (Hansen 2016, "The CMA evolution strategy: a tutorial", arXiv:1604.00772; the `cma` package) on the
logarithms of the weights. A candidate plays every deal from all seats against the reference weights. Its fitness is the
sum of its points and its lead. All candidates in a generation play the same deals, and each generation uses new deals.
Every few generations, the mean of the search distribution replaces the reference weights. The result depends only on
the seed and the number of generations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic import play_out_with_heuristic
from helsinki_env.agents.heuristic_api import heuristic_of
from helsinki_env.data import Node, UserError
from helsinki_env.engine import loops
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import default_config, default_spec, game_names, spec_by_name, spec_of
from helsinki_env.evaluation.match_stats import mean_and_half_width
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.terminal import prepare_output

__all__ = ["points_lead", "tune_weights"]

#: Number of generations after which the reference weights are replaced.
_REPLACE = 5


def points_lead(
    candidate: Any, opponent: Any, config: Any, deals: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return a candidate's lead over the mean of its opponents, and its points, float64 (deals,) each.

    The candidate plays every deal once from each seat, and the results are averaged over the seats.
    """
    seats, spec = config.num_players, spec_of(config)
    lead, own = np.zeros(deals), np.zeros(deals)
    for seat in range(seats):
        states = spec.new_states(config, deals)
        spec.apply_setup(states, config)
        numbers = np.arange(deals, dtype=np.uint64)
        loops.batch_deal(config.tables[0], states, np.full(deals, seed, np.uint64), numbers, np.zeros(deals, np.uint64))
        play_out_with_heuristic(
            config, states, [candidate if other == seat else opponent for other in range(MAX_SEATS)]
        )
        scores, ranks = np.zeros((2, deals, MAX_SEATS), np.int64)
        loops.batch_scores(config.tables[0], states, scores, ranks)
        others = (scores.sum(axis=1) - scores[:, seat]) / (seats - 1)
        lead += (scores[:, seat] - others) / seats
        own += scores[:, seat] / seats
    return lead, own


def tune_weights(
    start: Any = None,
    *,
    game: Any = None,
    generations: int = 10**6,
    minutes: float = 20.0,
    deals: int = 400,
    seed: int = 0,
    sigma: float = 0.25,
    players: Sequence[int] = (2, 3, 4),
    threads: int = 1,
    only: Sequence[str] = (),
) -> Any:
    """Tune the weights of a heuristic and return them.

    Args:
        start: initial weights; default: the weights of the game's heuristic.
        game: game configuration; default: the default game.
        generations: maximum number of generations.
        minutes: time in minutes after which no new generation is started.
        deals: number of deals per candidate and player count.
        seed: random seed for the search and the deals.
        sigma: initial step size of the search, as a factor; 0.25 means about 25% up or down.
        players: player counts.
        threads: number of candidates evaluated in parallel.
        only: names of the weights to tune; default: all tunable weights.

    Raises:
        ValueError: for invalid numbers.
        MissingExtraError: if the `cma` package is not installed.
    """
    for name, whole in (("generations", generations), ("deals", deals), ("threads", threads)):
        Node(whole, UserError, name).integer(1)
    for name, number in (("minutes", minutes), ("sigma", sigma)):
        Node(number, UserError, name).number(0, inside=True)
    Node(seed, UserError, "seed").integer(0, 10**9)
    with requires_extra("cma"):
        import cma

    game = game or default_config()
    heuristic = heuristic_of(game)
    start = start or heuristic.weights
    known = [item.name for item in fields(start)]
    for name in only:
        Node(name, UserError, "only").choice(known)
    names = [name for name in known if name in only or (not only and name not in heuristic.not_tuned)]
    first = np.log([max(getattr(start, name), 1e-3) for name in names])

    def weights(x: npt.NDArray[np.float64]) -> Any:
        return type(start)(**{**asdict(start), **dict(zip(names, np.exp(x).tolist(), strict=True))})

    options = {"seed": seed + 1, "verbose": -9, "maxiter": generations}
    search = cma.CMAEvolutionStrategy(first, sigma, options)
    best, begin = start, time.monotonic()
    configs = [game.replace(num_players=count) for count in players]
    with ThreadPoolExecutor(threads) as pool:
        for generation in range(generations):
            if time.monotonic() - begin > 60 * minutes:
                break
            candidates = search.ask()

            def loss(x: npt.NDArray[np.float64], deal: int = generation, opponent: Any = best) -> float:
                results = [points_lead(weights(x), opponent, c, deals, seed * 10**6 + deal) for c in configs]
                return -float(np.mean([lead.mean() + own.mean() for lead, own in results]))

            losses = list(pool.map(loss, candidates))
            search.tell(candidates, losses)
            if (generation + 1) % _REPLACE == 0:
                best = weights(search.mean)
                results = [points_lead(best, start, c, 4 * deals, seed * 10**6 + 999_999) for c in configs]
                shown = ", ".join(
                    "{} players {:+.2f} ± {:.2f} ".format(c.num_players, *mean_and_half_width(a))
                    + f"({o.mean():.1f} points)"
                    for c, (a, o) in zip(configs, results, strict=True)
                )
                print(f"generation {generation + 1}, {(time.monotonic() - begin) / 60:.1f} min: {shown}", flush=True)
                print({name: float(f"{getattr(best, name):.3g}") for name in names}, flush=True)
    return weights(search.mean)


def main() -> None:
    """Parse the command line and print the tuned weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=10**6, help="maximum number of generations")
    parser.add_argument(
        "--minutes", type=float, default=20.0, help="time limit for starting a new generation, in minutes"
    )
    parser.add_argument("--deals", type=int, default=400, help="number of deals for each candidate and player count")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the search and the deals")
    parser.add_argument(
        "--sigma", type=float, default=0.25, help="initial step size, as a factor: 0.25 is about 25%% up or down"
    )
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 4], help="player counts")
    parser.add_argument("--threads", type=int, default=1, help="number of candidates evaluated in parallel")
    only = "names of the weights to change; default: all tunable weights"
    parser.add_argument("--only", nargs="+", default=[], metavar="WEIGHT", help=only)
    parser.add_argument("--game", choices=game_names(), default=default_spec().name, help="game of the heuristic")
    options = vars(parser.parse_args())
    weights = tune_weights(game=spec_by_name(options.pop("game")).config(), **options)
    print("\n".join(f"    {name}: float = {value:.3g}" for name, value in asdict(weights).items()))


if __name__ == "__main__":
    prepare_output()
    with requires_extra("cma", program=True):
        try:
            main()
        except UserError as problem:
            sys.exit(f"helsinki_env.training.tune_heuristic: {problem}")
