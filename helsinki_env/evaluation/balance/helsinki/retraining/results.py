"""Collect the results of a retraining study as plain data, the input of the report.

As in a study, conclusions rest on the deviation: the effect of having an action minus the mean effect of all fifteen.
*Habit* (zero-shot) is the estimate from the screening experiment of a network trained with all actions. *Retrained*
uses a seat that is denied the action and has learned without it, among others that have it. Its effect is the seat's
win rate below the chance level, minus the mean effect in the screening experiment of the same seed.

A claim **stands** if for every seed the interval lies entirely beyond the margin on the claimed side. It **falls** if
for every seed no part of the interval does. Otherwise it is **undecided**. Intervals hold simultaneously for all
actions, seeds and numbers of players, separately for habit and retrained.

Networks trained in the same way differ in strength by more than a conclusion allows for. The gain from training without
an action (*regained*) is therefore also reported as the mean over actions, with an interval over seeds. Each seed
counts as one observation, because its networks played each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import read_json, with_digest
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.effects import WinEffects, estimate_win_effects, simultaneous_quantile
from helsinki_env.evaluation.balance.helsinki.base import StudyError, software_versions, to_json_data
from helsinki_env.evaluation.balance.helsinki.conclusions import EffectEstimates, findings
from helsinki_env.evaluation.balance.helsinki.retraining.run import (
    TEST_CONDITIONS,
    RetrainingConfig,
    RetrainingStudy,
    TrainingJob,
)
from helsinki_env.evaluation.balance.helsinki.screening import ablation_games
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal, proportion_interval, student_quantile
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS

__all__ = ["claim_conclusion", "retraining_results"]

Array = npt.NDArray[np.float64]
Data = Mapping[str, Any]


def retraining_results(retrained: RetrainingStudy) -> dict[str, Any]:
    """Train and play what is missing, and return all results with a digest."""
    config = retrained.config
    retrained.train()
    effects = {key: estimate_win_effects(ablation_games(table)) for key, table in retrained.screens().items()}
    screen = _screens(config, effects)
    shares = {}
    for (action, seed, n, way), table in retrained.meetings().items():
        without = retrained.player(TrainingJob(seed, action)) if way == "at home" else None
        shares[action, seed, n, way] = _win_rate_without(table, action, without)
    meetings = _meetings(config, effects, shares)
    verdicts = [_verdict(config, action, n, screen, meetings) for action in config.claims for n in config.players]
    digests = retrained.tournaments.networks
    data = {
        "asked": config.to_dict(),
        "summary": _summary(config, verdicts, meetings),
        "verdicts": verdicts,
        "meetings": meetings,
        "screen": screen,
        "actions": list(BOARD_ACTIONS),
        "networks": [_network(retrained, learner, digests) for learner in retrained.learners],
        "provenance": {**software_versions(), "parts": retrained.tournaments.played},
    }
    return with_digest(to_json_data(data))


def _win_rate_without(table: MatchupGames, action: str, player: str | None) -> Array:
    """Return the win share of the seat that is denied the action, or of a player's seat, by deal, float64 (D,)."""
    if player is not None:
        without = table.seating == table.players.index(player)
    else:
        without = table.denied >> BOARD_ACTIONS.index(action) & 1 == 1
    return mean_by_deal((fractional_wins(table.places) * without).sum(axis=1), table.deck)


def _screens(config: RetrainingConfig, effects: Mapping[tuple[int, int], WinEffects]) -> list[dict[str, Any]]:
    """Return the screening estimates of all actions in the form that `figures` draws."""
    estimates = [EffectEstimates(n, f"seed {seed}", seed, e.power, e.covariance) for (seed, n), e in effects.items()]
    found = findings(estimates, config.level)
    return [
        {
            "seed": seed,
            "player": f"seed {seed}",
            "players": n,
            "games": effects[seed, n].games,
            "mean_power": float(effects[seed, n].power.mean()),
            "actions": [
                {
                    "action": one.action,
                    "power": one.power,
                    "deviation": one.deviation,
                    "deviation_low": one.low,
                    "deviation_high": one.high,
                }
                for one in found
                if (one.strength, one.players) == (seed, n)
            ],
        }
        for seed, n in effects
    ]


def _meetings(
    config: RetrainingConfig,
    effects: Mapping[tuple[int, int], WinEffects],
    shares: Mapping[tuple[str, int, int, str], Array],
) -> list[dict[str, Any]]:
    """Return the win rate of the seat without an action, and the resulting effect of the action."""
    meetings: list[dict[str, Any]] = []
    errors: list[float] = []
    mean = np.full(len(BOARD_ACTIONS), 1 / len(BOARD_ACTIONS))
    for action in config.claims:
        for seed in config.training_seeds:
            for n in config.players:
                by_way = {way: shares[action, seed, n, way] for way in TEST_CONDITIONS}
                habit, without = by_way["habit"], by_way["retrained"]
                power, screened = 100 * (1 / n - without.mean()), effects[seed, n]
                variance = 1e4 * without.var(ddof=1) / len(without) + mean @ screened.covariance @ mean
                errors.append(float(np.sqrt(variance)))
                regained, half = _mean(100 * (without - habit))
                meetings.append(
                    {
                        "action": action,
                        "seed": seed,
                        "players": n,
                        "decks": len(without),
                        "won": {way: _won(share) for way, share in by_way.items()},
                        "regained": regained,
                        "regained_low": regained - half,
                        "regained_high": regained + half,
                        "power": float(power),
                        "deviation": float(power - screened.power.mean()),
                    }
                )
    quantile = simultaneous_quantile(np.diag(np.square(errors)), config.level)
    for one, error in zip(meetings, errors, strict=True):
        one["deviation_low"] = one["deviation"] - quantile * error
        one["deviation_high"] = one["deviation"] + quantile * error
    return meetings


def _won(share: Array) -> dict[str, float]:
    ends = proportion_interval(share[:, None], np.ones((len(share), 1)))
    return {key: float(100 * end[0]) for key, end in zip(("share", "low", "high"), ends, strict=True)}


def _mean(values: Array) -> tuple[float, float]:
    """Return a mean over independent values, such as deals, and the half width of its 95% interval."""
    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    return float(values.mean()), float(student_quantile(len(values)) * error)


def _verdict(
    config: RetrainingConfig, action: str, n: int, screen: Sequence[Data], meetings: Sequence[Data]
) -> dict[str, Any]:
    """Return the conclusions on a claim from the intervals of its action over all seeds."""
    claim = config.claims[action]
    estimates = {
        "habit": [one for e in screen if e["players"] == n for one in e["actions"] if one["action"] == action],
        "retrained": [one for one in meetings if (one["action"], one["players"]) == (action, n)],
    }
    conclusions = {
        way: claim_conclusion([(one["deviation_low"], one["deviation_high"]) for one in found], claim, config.band)
        for way, found in estimates.items()
    }
    return {"action": action, "players": n, "claim": claim, **conclusions}


def claim_conclusion(intervals: Sequence[tuple[float, float]], claim: str, band: float) -> str:
    """Return the conclusion on a claim (stands, falls, undecided) from intervals of deviations, one for each seed."""
    sides = [(low, high) if claim == "too strong" else (-high, -low) for low, high in intervals]
    if all(low > band for low, _ in sides):
        return "stands"
    return "falls" if all(high <= band for _, high in sides) else "undecided"


def _network(retrained: RetrainingStudy, learner: TrainingJob, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return training details and strength of a network, from its training summary."""
    data = read_json(retrained.folder_of(learner) / "summary.json", StudyError)
    return {
        "name": learner.name,
        "seed": learner.seed,
        "without": learner.without,
        "digest": digests[retrained.player(learner)],
        **{key: data[key].integer(0) for key in ("positions", "decisions")},
        "minutes": data["seconds"].number(0) / 60,
        "standings": [
            {key: one[key].value for key in ("players", "opponent", "games", "share", "low", "high")}
            for one in data["standings"].entries("match results")
        ],
    }


def _summary(config: RetrainingConfig, verdicts: Sequence[Data], meetings: Sequence[Data]) -> list[str]:
    """Return the outcome as sentences."""
    sentences = []
    for one in verdicts:
        conclusion = f"{one['habit']} (habit), {one['retrained']} (retrained)"
        if one["habit"] == one["retrained"]:
            conclusion = f"{one['habit']} (habit and retrained)"
        action = one["action"].replace("_", " ")
        sentences.append(f"'{action}' with {one['players']} players, {one['claim']}: {conclusion}.")
    seeds = "one seed" if config.seeds == 1 else f"all {config.seeds} seeds"
    sentences.append(
        f"A claim stands if for {seeds} the whole interval lies beyond the margin of ±{config.band:g} games of 100 on "
        f"the claimed side. It falls if for {seeds} no part of the interval does ({100 * config.level:g}% for all "
        "intervals together)."
    )
    return sentences + [_averages(meetings, n) for n in config.players if config.seeds > 1]


def _averages(meetings: Sequence[Data], n: int) -> str:
    """Return the effect of training without an action, the mean over actions, with an interval over seeds."""
    by_seed: dict[int, list[Data]] = {}
    for one in meetings:
        if one["players"] == n:
            by_seed.setdefault(one["seed"], []).append(one)
    regained = [np.mean([one["regained"] for one in own]) for own in by_seed.values()]
    at_home = [np.mean([one["won"]["at home"]["share"] for one in own]) for own in by_seed.values()]
    return (
        f"With {n} players, on average over all actions and {len(by_seed)} seeds, a seat that alone is denied an "
        f"action gains {_over_seeds(regained, '+')} games of 100 from training without it. Where the action is covered "
        f"for all, a network trained without it wins {_over_seeds(at_home)} of 100; the chance level is {100 / n:.3g}."
    )


def _over_seeds(values: Sequence[float], sign: str = "") -> str:
    middle, half = _mean(np.array(values))
    return f"{middle:{sign}.1f} ({middle - half:{sign}.1f} to {middle + half:{sign}.1f})"
