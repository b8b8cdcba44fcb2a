"""Confirmatory test of a candidate on fresh games: a sequential test, deal by deal, with a maximum number of deals.

The strongest player plays against itself with one handicapped seat. That seat is denied the action, is the only one
with it, or must use it as soon as it may. The result is its win rate against the chance level. The first two ways are
tested: does the effect of the action equal the mean of all actions, or is it a point more (less, for a weak action)?
See `helsinki_env.evaluation.rating.sprt`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.effects import estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.screening import ablation_games
from helsinki_env.evaluation.balance.helsinki.study import Candidate, ConfirmationConfig, StudyConfig, screening_matchup
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal
from helsinki_env.evaluation.rating.sprt import Hypotheses, SprtState, log_likelihood_ratios, run_sprt
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = ["HANDICAP_KINDS", "ConfirmatoryResult", "confirmatory_result", "select_candidates"]

Array = npt.NDArray[np.float64]

HANDICAP_KINDS = ("denied", "alone", "forced")
"""Handicaps of the seat."""
#: Distance of a candidate from the mean, in percentage points of the win rate.
_APART = 1.0
_STEPS = 100


@dataclass(frozen=True)
class ConfirmatoryResult:
    """Results of fresh games for a candidate and one handicap.

    Attributes:
        worth: effect of having the action (for "forced": of having to use it early), win %.
        error: standard error over deals.
        decks: number of deals played.
        test: result of the sequential test; None for "forced", which is not tested.
        path: log likelihood ratio after some of the deals, float64 (N, 2): deals, log ratio.
        bounds: decision bounds of the test.
    """

    worth: float
    error: float
    decks: int
    test: SprtState | None
    path: Array
    bounds: tuple[float, float]


def _worth_by_deck(table: MatchupGames, suspect: Candidate, way: str) -> Array:
    """Return the effect of the action by deal, as a win rate, float64 (D,), in the order of the deals."""
    seats = table.places.shape[1]
    if way == "forced":
        special = table.seating == 0
    else:
        special = decode_action_sets(table.denied)[..., BOARD_ACTIONS.index(suspect.action)] == (way == "denied")
    won = (fractional_wins(table.places) * special).sum(axis=1) - special.sum(axis=1) / seats
    means = mean_by_deal(won, table.deck)
    return -means if way == "denied" else means


def confirmatory_result(
    table: MatchupGames, suspect: Candidate, way: str, config: ConfirmationConfig
) -> ConfirmatoryResult:
    """Return the results of a table of games for a candidate.

    Args:
        table: the games.
        suspect: the candidate.
        way: one of `HANDICAP_KINDS`.
        config: configuration of the test.
    """
    worth = _worth_by_deck(table, suspect, way)
    sign = 1.0 if suspect.above else -1.0
    # The test needs scores from 0 to 1: halve the win rates around one half.
    low = 0.5 + sign * suspect.mean / 200
    hypotheses = Hypotheses(low, low + _APART / 200, config.error, config.error, max(16, config.decks))
    scores = 0.5 + sign * worth / 2
    steps = np.unique(np.linspace(1, len(worth), min(len(worth), _STEPS)).round().astype(np.int64))
    ratios = log_likelihood_ratios(scores, hypotheses)
    return ConfirmatoryResult(
        worth=100 * float(worth.mean()),
        error=100 * float(worth.std(ddof=1)) / sqrt(len(worth)),
        decks=len(worth),
        test=None if way == "forced" else run_sprt(scores, hypotheses),
        path=np.stack([steps, ratios[steps - 1]], axis=1),
        bounds=hypotheses.bounds,
    )


def select_candidates(
    config: StudyConfig, screen: Sequence[MatchupGames], left_out: Container[str] = ()
) -> list[Candidate]:
    """Return the candidates for every number of players: the actions farthest from the mean.

    Args:
        config: the study.
        screen: games of the screening experiment.
        left_out: players that are not evaluators; they are used if no other class is available.
    """
    found = []
    tables = {table.name: table for table in screen}
    for n in config.players:
        names = config.names(n)
        player = ([one for one in names if one not in left_out] or names)[-1]
        if config.confirm.player in names:
            player = config.confirm.player
        power = estimate_win_effects(ablation_games(tables[screening_matchup(player, n)])).power
        mean = float(power.mean())
        for action in np.argsort(-np.abs(power - mean), kind="stable")[: config.confirm.suspects].tolist():
            found.append(Candidate(n, player, BOARD_ACTIONS[action], bool(power[action] > mean), mean))
    return found
