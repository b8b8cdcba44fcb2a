"""Designs of the study of the action board, and the estimates from its games."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from helsinki_env.evaluation.arena.designs import (
    MAX_DENIABLE_IDS,
    MIN_SCREENING_DEALS,
    DesignError,
    base_design,
    random_sets,
    relabeled,
)
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    WinEffects,
    estimate_win_effects,
    simultaneous_quantile,
)
from helsinki_env.evaluation.balance.helsinki.conclusions import EffectEstimates, findings
from tests.support.screens import DESIGN, KINDS, Kind, simulated, true_effects


def test_the_base_design_denies_every_action_and_every_pair_equally_often() -> None:
    design = base_design()
    assert design.shape == (42, MAX_DENIABLE_IDS)
    assert set(design.sum(axis=1)) == {5}
    together = design.T.astype(int) @ design.astype(int)
    assert set(np.diag(together)) == {14}
    assert set(together[np.triu_indices(MAX_DENIABLE_IDS, 1)]) == {4}


def pairs_identified(design: npt.NDArray[np.bool_]) -> bool:
    """Whether the runs identify all pairs of actions; a constant and single actions are sums of pairs."""
    one, two = np.triu_indices(MAX_DENIABLE_IDS, 1)
    single = design.astype(np.float64)
    columns = np.concatenate([single, single[:, one] * single[:, two]], axis=1)
    return int(np.linalg.matrix_rank(columns)) == len(one)


def test_copies_keep_the_balance_and_tell_pairs_apart() -> None:
    assert DESIGN.shape == (336, MAX_DENIABLE_IDS)
    assert is_balanced(DESIGN)
    assert pairs_identified(DESIGN)
    assert not pairs_identified(base_design())
    assert (relabeled(8, seed=0) == DESIGN).all()
    assert (relabeled(8, seed=1) != DESIGN).any()


def is_balanced(design: npt.NDArray[np.bool_]) -> bool:
    """Whether every run denies five actions, every action is in 14 of 42 runs, and every pair in 4."""
    copies = len(design) / 42
    together = design.T.astype(np.int64) @ design.astype(np.int64)
    expected = np.where(np.eye(MAX_DENIABLE_IDS) > 0, 14 * copies, 4 * copies)
    return bool((design.sum(axis=1) == 5).all() and (together == expected).all())


def test_every_run_of_the_base_design_matters_for_its_balance() -> None:
    design = base_design()
    assert is_balanced(design)
    assert not is_balanced(design[1:])
    wrong = design.copy()
    wrong[3] = wrong[4]
    assert not is_balanced(wrong)
    with pytest.raises(DesignError, match="copies: found 0"):
        relabeled(0, seed=0)


def test_random_sets_have_all_sizes_and_all_actions() -> None:
    sets = random_sets(20_000, 0, 10, np.random.default_rng(3))
    sizes = np.bincount(sets.sum(axis=1), minlength=MAX_DENIABLE_IDS + 1)
    assert (np.abs(sizes[:11] - 20_000 / 11) < 200).all()
    assert (sizes[11:] == 0).all()
    assert (np.abs(sets.mean(axis=0) - 1 / 3) < 0.015).all()


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_powers_are_found_in_points_of_the_share_of_wins(seats: int) -> None:
    power = np.zeros(MAX_DENIABLE_IDS)
    power[3], power[9] = 0.4, -0.2
    found = estimate_win_effects(simulated(power, seats, 2000, seed=1))
    # What denial does to the share, straight from the model without luck of the deck: every seat in turn denied
    # nothing but the action, against nobody denied anything, is close to p (1 - p) times the power.
    fair = 1 / seats
    about = 100 * power * fair * (1 - fair)
    assert (np.abs(found.power - about) < 4 * found.error + 0.12 * np.abs(about)).all()
    assert found.power.argmax() == 3
    assert found.power.argmin() == 9
    assert (found.blocks, found.games) == (2000, 2000 * seats)
    assert found.seat.sum() == pytest.approx(100)


def numerical(study: AblationGames, found: WinEffects, action: int) -> float:
    """The average marginal effect by brute force: every seat with and without the action in its own game."""
    seats = study.denied.shape[1]
    theta = found.fit.theta
    seat_effect = np.append(theta[: seats - 1], -theta[: seats - 1].sum())
    utility = seat_effect + study.denied @ theta[seats - 1 :]

    def share(seat: int, denied: bool) -> npt.NDArray[np.float64]:
        own = utility.copy()
        own[:, seat] += (denied - study.denied[:, seat, action].astype(float)) * theta[seats - 1 + action]
        worth = np.exp(own)
        chance: npt.NDArray[np.float64] = worth[:, seat] / worth.sum(axis=1)
        return chance

    return float(np.mean([share(seat, False) - share(seat, True) for seat in range(seats)])) * 100


def test_marginal_effects_equal_brute_force() -> None:
    power = np.linspace(-0.3, 0.5, MAX_DENIABLE_IDS)
    study = simulated(power, 3, 300, seed=2)
    found = estimate_win_effects(study)
    for action in (0, 7, 14):
        assert found.power[action] == pytest.approx(numerical(study, found, action), abs=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize(("seats", "few"), [(2, 24), (4, 12)])
def test_a_screen_of_the_least_size_holds_nearly_what_it_says_and_a_smaller_one_does_not(seats: int, few: int) -> None:
    def held(blocks: int) -> int:
        studies = (simulated(np.zeros(MAX_DENIABLE_IDS), seats, blocks, seed) for seed in range(100))
        found = (
            findings([EffectEstimates(seats, "x", 0, run.power, run.covariance)])
            for run in map(estimate_win_effects, studies)
        )
        return sum(all(one.low <= 0 <= one.high for one in of_run) for of_run in found)

    assert held(MIN_SCREENING_DEALS) >= 86
    assert held(few) <= 75


@pytest.mark.thorough
@pytest.mark.parametrize("seats", [3, pytest.param(4, marks=pytest.mark.thorough)])
def test_effects_do_not_depend_on_how_lower_ranks_come_about(seats: int) -> None:
    power = np.linspace(-0.3, 0.5, MAX_DENIABLE_IDS)
    study, truth = simulated(power, seats, 4000, seed=4, kind="stages"), true_effects(power, seats, kind="stages")
    found, whole = estimate_win_effects(study), estimate_win_effects(study, depth=None)
    assert np.polyfit(found.power, truth, 1)[0] == pytest.approx(1, abs=0.08)
    assert np.polyfit(whole.power, truth, 1)[0] > 1.2, "whole rankings understate the effects in these games"
    assert (np.abs(found.power - truth) < 4 * found.error).all()
    others = study.places.copy()
    lower = others > 0
    others[lower] = seats - others[lower]  # the same winners, the ranks below upside down
    assert estimate_win_effects(AblationGames(study.denied, others, study.block)).power == pytest.approx(
        found.power, abs=1e-9
    )


def test_two_seats_have_no_lower_ranks() -> None:
    study = simulated(np.linspace(-0.3, 0.5, MAX_DENIABLE_IDS), 2, 200, seed=5)
    assert (estimate_win_effects(study).power == estimate_win_effects(study, depth=None).power).all()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seats", [3, 4])
def test_intervals_cover_the_truth_whatever_decides_the_games(seats: int, kind: Kind) -> None:
    power = np.linspace(-0.3, 0.5, MAX_DENIABLE_IDS)
    truth = true_effects(power, seats, luck=0.5, kind=kind)
    runs = [estimate_win_effects(simulated(power, seats, 400, seed, luck=0.5, kind=kind)) for seed in range(200)]
    within = np.mean([np.abs(run.power - truth) < 1.96 * run.error for run in runs])
    slope = np.polyfit(np.mean([run.power for run in runs], axis=0), truth, 1)[0]
    print(f"{kind}, {seats} seats: intervals cover {within:.1%} of true effects, slope of the truth {slope:.3f}")
    assert 0.93 < within < 0.97
    assert 0.95 < slope < 1.05


@pytest.mark.nightly
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_intervals_cover_the_truth_as_often_as_they_say(seats: int) -> None:
    power = np.zeros(MAX_DENIABLE_IDS)
    power[5] = 0.3
    runs = [estimate_win_effects(simulated(power, seats, 400, seed=seed, luck=0.5)) for seed in range(200)]
    nothing = [action for action in range(MAX_DENIABLE_IDS) if action != 5]
    within = np.mean([np.abs(run.power[nothing]) < 1.96 * run.error[nothing] for run in runs])
    together = np.mean(
        [
            (np.abs(run.power[nothing]) < simultaneous_quantile(run.covariance) * run.error[nothing]).all()
            for run in runs
        ]
    )
    print(f"{seats} seats: single intervals cover {within:.1%}, all fourteen at once {together:.1%}")
    assert 0.93 < within < 0.97
    assert 0.90 < together < 0.99
