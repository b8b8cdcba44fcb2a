"""Evaluators, screening experiment and confirmatory tests of a study: estimates from their games.

1. The qualification rejects players that lose strength when actions are disabled.
2. The screening experiment estimates the marginal effect of each action for one class of player.
3. The confirmatory test plays fresh games on the *candidates*, the actions farthest from the mean.

In the confirmatory test the strongest player plays against itself with one handicapped seat. That seat is denied the
action, is the only one with it, or must use it as soon as it may. The result is its win rate minus the chance level.
For the first two handicaps a sequential test (`helsinki_env.evaluation.rating.sprt`), deal by deal, compares two
hypotheses. Either the effect of the action equals the mean of all actions, or it is a point more (less, for a weak
action).
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    MarginEffects,
    WinEffects,
    estimate_margin_effects,
    estimate_win_effects,
)
from helsinki_env.evaluation.balance.helsinki.study import (
    Candidate,
    ConfirmationConfig,
    StudyConfig,
    qualification_matchup,
    screening_matchup,
)
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.evaluation.rating.sprt import Hypotheses, log_likelihood_ratios, run_sprt
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

Array = npt.NDArray[np.float64]

HANDICAP_KINDS = ("denied", "alone", "forced")
"""Handicaps of the seat in the confirmatory test."""
#: Distance of a candidate from the mean, in percentage points of the win rate.
_APART = 1.0
_STEPS = 100


def qualification_data(config: StudyConfig, tables: Mapping[str, MatchupGames]) -> list[dict[str, Any]]:
    """Return whether players keep their rating relative to the reference when actions are disabled."""
    results = []
    for player in (entry.player for entry in config.classes):
        for n in config.players:
            names = [qualification_matchup(player, n, denied) for denied in (False, True)]
            if not all(name in tables for name in names):
                continue
            ratings = [rate(tables[name], reference=config.gate.reference, seed=config.seed) for name in names]
            elo = [float(r.elo[r.players.index(player)]) for r in ratings]
            error = [float(r.error[r.players.index(player)]) for r in ratings]
            lost, half = elo[0] - elo[1], 1.96 * math.hypot(*error)
            results.append(
                {
                    "player": player,
                    "players": n,
                    "games": sum(len(tables[name]) for name in names),
                    "full_board": elo[0],
                    "full_board_error": error[0],
                    "five_denied": elo[1],
                    "five_denied_error": error[1],
                    "lost": lost,
                    "lost_low": lost - half,
                    "lost_high": lost + half,
                    "admitted": lost - half <= config.gate.lost,
                }
            )
    return results


def ablation_games(table: MatchupGames) -> AblationGames:
    """Return the denied actions and ranks of a table of games."""
    return AblationGames(decode_action_sets(table.denied), table.places, table.block)


@dataclass(frozen=True)
class ScreeningEstimates:
    """Estimates from a screening experiment; actions in the order of their ids."""

    effects: WinEffects
    margins: MarginEffects
    #: Win rate of seats that used an action minus that of seats that had it and did not, percentage points, float64
    #: (15,). It is biased, because winners have more to spend.
    naive: Array
    usage: Array  # fraction of the seats with an action that used it, float64 (15,)
    worth_of_games: float  # effective number of independent games, given the correlation within paired games


def estimate_screening(table: MatchupGames) -> ScreeningEstimates:
    """Return the estimates from a screening experiment; RatingError if there are too few games."""
    study = ablation_games(table)
    effects = estimate_win_effects(study)
    alone = estimate_win_effects(replace(study, block=np.arange(len(table))))
    share, usage = naive_effects(table)
    return ScreeningEstimates(
        effects=effects,
        margins=estimate_margin_effects(study.denied, table.scores, table.block),
        naive=share,
        usage=usage,
        worth_of_games=len(table) * float(np.trace(alone.covariance) / np.trace(effects.covariance)),
    )


def naive_effects(table: MatchupGames) -> tuple[Array, Array]:
    """Return the naive estimate of each action and its use among seats that had it, float64 (15,) each."""
    used = decode_action_sets(table.used)
    had = ~decode_action_sets(table.denied) & ~decode_action_sets(table.covered)[:, None]
    won = fractional_wins(table.places)[..., None]
    share = np.full(len(BOARD_ACTIONS), np.nan)
    counts = [kind.sum(axis=(0, 1)) for kind in (used, had & ~used)]
    wins = [(won * kind).sum(axis=(0, 1)) for kind in (used, had & ~used)]
    some = (counts[0] > 0) & (counts[1] > 0)
    share[some] = 100 * (wins[0][some] / counts[0][some] - wins[1][some] / counts[1][some])
    return share, used.sum(axis=(0, 1)) / np.maximum(1, had.sum(axis=(0, 1)))


def select_candidates(
    config: StudyConfig, screen: Mapping[str, MatchupGames], left_out: Container[str] = ()
) -> list[Candidate]:
    """Return the candidates for every number of players: the actions farthest from the mean.

    Players that are not evaluators (`left_out`) are used only if no other class is available.
    """
    candidates = []
    for n in config.players:
        names = config.names(n)
        player = ([name for name in names if name not in left_out] or names)[-1]
        if config.confirm.player in names:
            player = config.confirm.player
        power = estimate_win_effects(ablation_games(screen[screening_matchup(player, n)])).power
        mean = float(power.mean())
        for action in np.argsort(-np.abs(power - mean), kind="stable")[: config.confirm.suspects].tolist():
            candidates.append(Candidate(n, player, BOARD_ACTIONS[action], bool(power[action] > mean), mean))
    return candidates


def _worth_by_deal(table: MatchupGames, candidate: Candidate, way: str) -> Array:
    """Return the effect of the action by deal, as a win rate, float64 (D,), in the order of the deals."""
    seats = table.places.shape[1]
    if way == "forced":
        special = table.seating == 0
    else:
        special = decode_action_sets(table.denied)[..., BOARD_ACTIONS.index(candidate.action)] == (way == "denied")
    won = (fractional_wins(table.places) * special).sum(axis=1) - special.sum(axis=1) / seats
    means = mean_by_deal(won, table.deck)
    return -means if way == "denied" else means


def confirmation_data(
    table: MatchupGames, candidate: Candidate, way: str, config: ConfirmationConfig
) -> dict[str, Any]:
    """Return the result of the confirmatory test of a candidate with one handicap.

    ``worth`` is the effect of having the action in win %. For "forced", which is not tested, it is the effect of having
    to use it early. ``path`` is the log likelihood ratio after some of the deals, float64 (N, 2): deals, log ratio.
    """
    worth = _worth_by_deal(table, candidate, way)
    sign = 1.0 if candidate.above else -1.0
    # The test needs scores from 0 to 1: halve the win rates around one half.
    low = 0.5 + sign * candidate.mean / 200
    hypotheses = Hypotheses(low, low + _APART / 200, config.error, config.error, max(16, config.decks))
    scores = 0.5 + sign * worth / 2
    steps = np.unique(np.linspace(1, len(worth), min(len(worth), _STEPS)).round().astype(np.int64))
    ratios = log_likelihood_ratios(scores, hypotheses)
    test = None if way == "forced" else run_sprt(scores, hypotheses)
    return {
        "way": way,
        "worth": 100 * float(worth.mean()),
        "error": 100 * float(worth.std(ddof=1)) / math.sqrt(len(worth)),
        "decks": len(worth),
        "verdict": test.verdict if test else None,
        "stopped_after": test.blocks if test else None,
        "path": np.stack([steps, ratios[steps - 1]], axis=1),
        "bounds": hypotheses.bounds,
    }
