"""Compare estimators of a board action's effect on simulated games with known effects and on real games.

    python -m benchmarks.effect_estimators                           # 200 simulated studies of each kind: half an hour
    python -m benchmarks.effect_estimators runs/balance/screening    # a tournament in which seats were denied actions
    python -m benchmarks.effect_estimators runs/planted --planted    # a run of configs/arena/planted.yaml: known effect

The estimators return how many more games per 100 a seat wins with an action:

- ``least squares``: linear regression of wins on the actions denied to the seat and its opponents;
- ``winner``: marginal effects in a multinomial logit model of the winner, as in the studies;
- ``stages``: Plackett-Luce with a separate scale for every stage below the first;
- ``whole``: Plackett-Luce of full rankings, as in earlier studies.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    ablation_features,
    contrasts,
    estimate_win_effects,
    least_squares,
    marginal_effects,
)
from helsinki_env.evaluation.balance.helsinki.estimates import ablation_games
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.evaluation.rating.plackett_luce import orders_of_finish
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from tests.support.screens import KINDS, simulated, true_effects

Array = npt.NDArray[np.float64]
Estimator = Callable[[AblationGames], tuple[Array, Array]]
"""Function that returns effects, float64 (A,), and their covariance, float64 (A, A)."""


def linear(study: AblationGames) -> tuple[Array, Array]:
    """Estimate effects with least squares."""
    seats = study.denied.shape[1]
    found = least_squares(contrasts(study.denied), 100.0 * (fractional_wins(study.places) - 1 / seats), study.block)
    assert found is not None
    return -found.theta[seats - 1 :], found.covariance[seats - 1 :, seats - 1 :]


def winner(study: AblationGames) -> tuple[Array, Array]:
    """Estimate effects with a multinomial logit model of the winner."""
    found = estimate_win_effects(study)
    return found.power, found.covariance


def whole(study: AblationGames) -> tuple[Array, Array]:
    """Estimate effects with a Plackett-Luce model of full rankings."""
    found = estimate_win_effects(study, depth=None)
    return found.power, found.covariance


def stages(study: AblationGames) -> tuple[Array, Array]:
    """Estimate effects with a Plackett-Luce model that has a scale for each stage below the first."""
    seats = study.denied.shape[1]
    features = ablation_features(study)
    game, order, part = orders_of_finish(study.places)
    ordered = np.take_along_axis(features[game], order[:, :, None], axis=1)
    k, scales = features.shape[2], max(seats - 2, 0)

    def scores(x: Array) -> tuple[float, Array]:
        """Return the negative log-likelihood and the gradient of each ranking, float64 (N, K + scales)."""
        theta, value = x[:k], 0.0
        gradient = np.zeros((len(ordered), k + scales))
        for stage in range(seats - 1):
            scale = 1.0 if stage == 0 else np.exp(x[k + stage - 1])
            left = ordered[:, stage:]
            utility = left @ theta
            chances = np.exp(scale * (utility - utility.max(axis=1, keepdims=True)))
            chances /= chances.sum(axis=1, keepdims=True)
            value -= float(part @ np.log(chances[:, 0]))
            residual = -chances
            residual[:, 0] += 1
            gradient[:, :k] += scale * np.einsum("gs,gsk->gk", residual, left)
            if stage:
                gradient[:, k + stage - 1] += scale * (residual * utility).sum(axis=1)
        return value, gradient * part[:, None]

    def loss(x: Array) -> tuple[float, Array]:
        value, gradient = scores(x)
        return value, -gradient.sum(axis=0)

    x = minimize(loss, np.zeros(k + scales), jac=True, method="BFGS").x
    step = 1e-4
    hessian = np.array([(loss(x + step * e)[1] - loss(x - step * e)[1]) / (2 * step) for e in np.eye(k + scales)])
    _, unit = np.unique(study.block, return_inverse=True)
    sums = np.zeros((unit.max() + 1, k + scales))
    np.add.at(sums, unit.ravel()[game], scores(x)[1])
    influence = sums @ np.linalg.inv((hessian + hessian.T) / 2)
    covariance = influence.T @ influence * (len(sums) / (len(sums) - 1))
    power, slope = marginal_effects(features, x[:k], seats)
    return 100 * power, 1e4 * slope @ covariance[:k, :k] @ slope.T


ESTIMATORS: dict[str, Estimator] = {"least squares": linear, "winner": winner, "stages": stages, "whole": whole}


def simulate(studies: int) -> None:
    """Print the bias, precision and coverage of each estimator for each kind of game."""
    power = np.linspace(-0.3, 0.5, 15)
    print("games, seats, estimator: slope of the truth on the estimate, mean standard error, coverage of 95% intervals")
    for kind in KINDS:
        for seats in (3, 4):
            truth = true_effects(power, seats, luck=0.5, kind=kind)
            runs = [simulated(power, seats, 400, seed, luck=0.5, kind=kind) for seed in range(studies)]
            for name, estimator in ESTIMATORS.items():
                found = [estimator(run) for run in runs]
                error = np.array([np.sqrt(np.diag(covariance)) for _, covariance in found])
                effect = np.array([one for one, _ in found])
                slope = np.polyfit(effect.mean(axis=0), truth, 1)[0]
                within = (np.abs(effect - truth) < 1.96 * error).mean()
                print(f"{kind}, {seats}, {name}: {slope:.3f}, {error.mean():.2f}, {within:.1%}", flush=True)


def compare(folder: Path) -> None:
    """For each matchup of a run, print the slope of least squares on each estimate and their distance."""
    centre = np.eye(15) - 1 / 15
    print(
        "matchup, estimator: slope of least squares on the estimate, squared distance in standard errors of the former"
    )
    for table in load_run(folder):
        if len(table) == 0 or not table.denied.any():
            continue
        study = ablation_games(table)
        direct, covariance = linear(study)
        direct, covariance = centre @ direct, centre @ covariance @ centre
        for name, estimator in ESTIMATORS.items():
            found = centre @ estimator(study)[0]
            apart = direct - found
            chi = float(apart @ np.linalg.pinv(covariance, rcond=1e-9) @ apart)
            slope = np.polyfit(found, direct, 1)[0]
            print(f"{table.name}, {len(table):,} games, {name}: {slope:.3f}, {chi:.1f}", flush=True)


def planted(folder: Path, studies: int = 100) -> None:
    """Print the true effect that was planted, and how often the intervals of small studies contain it."""
    parts = [ablation_games(table) for table in load_run(folder)]
    lacks = [study.denied[:, :, BOARD_ACTIONS.index("two_wild_tiles")] for study in parts]
    won = [fractional_wins(study.places) for study in parts]
    has, without = [
        np.concatenate([100 * share[lack == kind] for share, lack in zip(won, lacks, strict=True)]) for kind in (0, 1)
    ]
    truth = has.mean() - without.mean()
    print(f"{sum(map(len, lacks)):,} games: {truth:.2f} games per 100", flush=True)
    held: dict[str, list[bool]] = {name: [] for name in ESTIMATORS}
    found: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    for i in range(studies):
        # Study i uses the i-th part of the deals of each matchup.
        own = [study.block * studies // (study.block.max() + 1) == i for study in parts]
        study = AblationGames(
            np.concatenate([lack[chosen][:, :, None] for lack, chosen in zip(lacks, own, strict=True)]),
            np.concatenate([part.places[chosen] for part, chosen in zip(parts, own, strict=True)]),
            np.concatenate([part.block[chosen] for part, chosen in zip(parts, own, strict=True)]),  # the same deals
        )
        for name, estimator in ESTIMATORS.items():
            effect, covariance = estimator(study)
            found[name].append(float(effect[0]))
            held[name].append(bool(abs(effect[0] - truth) < 1.96 * np.sqrt(covariance[0, 0])))
    for name in ESTIMATORS:
        mean, within = np.mean(found[name]), sum(held[name])
        print(f"{name}: mean of {studies} studies {mean:.2f}, {within} intervals contain the true effect", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, nargs="?", help="run with denied actions; default: simulation")
    parser.add_argument("--planted", action="store_true", help="the run is of configs/arena/planted.yaml")
    parser.add_argument("--studies", type=int, default=200, help="number of simulated studies of every kind")
    asked = parser.parse_args()
    if asked.folder is None:
        simulate(asked.studies)
    elif asked.planted:
        planted(asked.folder)
    else:
        compare(asked.folder)
