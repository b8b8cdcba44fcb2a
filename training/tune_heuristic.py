"""Tune the heuristic's weights by self-play: ``python -m helsinki_env.training.tune_heuristic --minutes 20``.

Method: CMA-ES (Hansen 2016, "The CMA evolution strategy: a tutorial", arXiv:1604.00772; the package `cma`) on the
logarithms of the weights. A candidate plays every deck from all seats against the weights to beat; what counts are its
own points and by how many it is ahead. All candidates of a generation play the same decks, so that luck does not choose
between them, and each generation plays new ones, so that none is learnt by heart. Every few generations the mean of the
search replaces the weights to beat. The same seed and number of generations find the same weights.
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

from helsinki_env.agents.heuristic.player import play_out_with_heuristic
from helsinki_env.agents.heuristic_api import heuristic_of
from helsinki_env.data import Node, UserError
from helsinki_env.engine import loops
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import default_config, default_spec, game_names, spec_by_name, spec_of
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.terminal import prepare_output

__all__ = ["points_lead", "tune_weights"]

#: The weights to beat are replaced every so many generations.
_REPLACE = 5


def points_lead(
    candidate: Any, opponent: Any, config: Any, decks: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return by how many points a candidate is ahead of the mean of its opponents, and its own points, for each deck.

    Args:
        candidate: plays every deck once from each seat.
        opponent: plays all other seats.
        config: what is played.
        decks: how many.
        seed: of the decks.

    Returns:
        Two arrays, float64 (decks,), each the mean over the seats.
    """
    seats, spec = config.num_players, spec_of(config)
    ahead, own = np.zeros(decks), np.zeros(decks)
    for seat in range(seats):
        states = spec.new_states(config, decks)
        spec.apply_setup(states, config)
        numbers = np.arange(decks, dtype=np.uint64)
        loops.batch_deal(config.tables[0], states, np.full(decks, seed, np.uint64), numbers, np.zeros(decks, np.uint64))
        play_out_with_heuristic(
            config, states, [candidate if other == seat else opponent for other in range(MAX_SEATS)]
        )
        scores, places = np.zeros((2, decks, MAX_SEATS), np.int64)
        loops.batch_scores(config.tables[0], states, scores, places)
        others = (scores.sum(axis=1) - scores[:, seat]) / (seats - 1)
        ahead += (scores[:, seat] - others) / seats
        own += scores[:, seat] / seats
    return ahead, own


def tune_weights(
    start: Any = None,
    *,
    game: Any = None,
    generations: int = 10**6,
    minutes: float = 20.0,
    decks: int = 400,
    seed: int = 0,
    sigma: float = 0.25,
    players: Sequence[int] = (2, 3, 4),
    threads: int = 1,
    only: Sequence[str] = (),
) -> Any:
    """Return better weights.

    Args:
        start: where to begin; default: at the weights of the game's heuristic.
        game: a configuration of the game; default: the usual game.
        generations: at most so many.
        minutes: no new generation begins after so long.
        decks: decks for each number of players and candidate.
        seed: of the search and the decks.
        sigma: first step of the search, as a factor (0.25: about a quarter up or down).
        players: numbers of players to tune for.
        threads: candidates that are tried side by side.
        only: the weights to change; default: all but those that the guide leaves alone.

    Raises:
        ValueError: for numbers that are none.
        MissingExtraError: if the package `cma` is not installed.
    """
    for name, whole in (("generations", generations), ("decks", decks), ("threads", threads)):
        Node(whole, UserError, name).integer(1)
    for name, number in (("minutes", minutes), ("sigma", sigma)):
        Node(number, UserError, name).number(0, inside=True)
    Node(seed, UserError, "seed").integer(0, 10**9)
    with requires_extra("cma"):
        import cma

    game = game or default_config()
    guide = heuristic_of(game)
    start = start or guide.weights
    names = [
        item.name for item in fields(start) if item.name in only or (not only and item.name not in guide.not_tuned)
    ]
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

            def loss(x: npt.NDArray[np.float64], deal: int = generation, rival: Any = best) -> float:
                played = [points_lead(weights(x), rival, c, decks, seed * 10**6 + deal) for c in configs]
                return -float(np.mean([ahead.mean() + own.mean() for ahead, own in played]))

            losses = list(pool.map(loss, candidates))
            search.tell(candidates, losses)
            if (generation + 1) % _REPLACE == 0:
                best = weights(search.mean)
                found = [points_lead(best, start, c, 4 * decks, seed * 10**6 + 999_999) for c in configs]
                shown = ", ".join(
                    f"{c.num_players} players {a.mean():+.2f} ± {1.96 * a.std() / len(a) ** 0.5:.2f} "
                    f"({o.mean():.1f} points)"
                    for c, (a, o) in zip(configs, found, strict=True)
                )
                print(f"generation {generation + 1}, {(time.monotonic() - begin) / 60:.1f} min: {shown}", flush=True)
                print({name: float(f"{getattr(best, name):.3g}") for name in names}, flush=True)
    return weights(search.mean)


def main() -> None:
    """Parse the command line and print the weights that were found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=10**6, help="at most so many")
    parser.add_argument("--minutes", type=float, default=20.0, help="no new generation begins after so long")
    parser.add_argument("--decks", type=int, default=400, help="for each number of players and candidate")
    parser.add_argument("--seed", type=int, default=0, help="of the search and the decks")
    parser.add_argument(
        "--sigma", type=float, default=0.25, help="first step, as a factor: 0.25 is a quarter up or down"
    )
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 4], help="numbers of players to tune for")
    parser.add_argument("--threads", type=int, default=1, help="candidates that are tried side by side")
    usual = "the weights to change; default: all but those that the guide leaves alone"
    parser.add_argument("--only", nargs="+", default=[], metavar="WEIGHT", help=usual)
    parser.add_argument("--game", choices=game_names(), default=default_spec().name, help="whose heuristic")
    given = vars(parser.parse_args())
    found = tune_weights(game=spec_by_name(given.pop("game")).config(), **given)
    print("\n".join(f"    {name}: float = {value:.3g}" for name, value in asdict(found).items()))


if __name__ == "__main__":
    prepare_output()
    with requires_extra("cma", program=True):
        try:
            main()
        except UserError as problem:
            sys.exit(f"helsinki_env.training.tune_heuristic: {problem}")
