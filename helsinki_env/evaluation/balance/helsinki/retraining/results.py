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
from helsinki_env.evaluation.balance.helsinki.conclusions import EffectEstimates, findings
from helsinki_env.evaluation.balance.helsinki.part_configs import StudyError
from helsinki_env.evaluation.balance.helsinki.results import software_versions, to_json_data
from helsinki_env.evaluation.balance.helsinki.retraining.config import RetrainingConfig
from helsinki_env.evaluation.balance.helsinki.retraining.run import TEST_CONDITIONS, RetrainingStudy, TrainingJob
from helsinki_env.evaluation.balance.helsinki.screening import ablation_games
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal, proportion_interval, student_quantile
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS

__all__ = ["claim_conclusion", "retraining_results", "win_rate_without_action"]

Array = npt.NDArray[np.float64]


def retraining_results(retrained: RetrainingStudy) -> dict[str, Any]:
    """Train and play what is missing, and return all results with a digest."""
    config = retrained.config
    retrained.train()
    effects = {key: estimate_win_effects(ablation_games(table)) for key, table in retrained.screens().items()}
    screen = _screens(config, effects)
    shares = {}
    for (action, seed, n, way), table in retrained.meetings().items():
        without = retrained.player(TrainingJob(seed, action)) if way == "at home" else None
        shares[action, seed, n, way] = win_rate_without_action(table, action, without)
    meetings = _meetings(config, effects, shares)
    verdicts = [
        {
            "action": action,
            "players": n,
            "claim": claim,
            "habit": _says(config, claim, [_of(entry, action) for entry in screen if entry["players"] == n]),
            "retrained": _says(
                config, claim, [one for one in meetings if (one["action"], one["players"]) == (action, n)]
            ),
        }
        for action, claim in config.claims.items()
        for n in config.players
    ]
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


def win_rate_without_action(table: MatchupGames, action: str, player: str | None = None) -> Array:
    """Return the win share of the seat without the action, by deal, float64 (D,).

    Args:
        table: games of a meeting, in which every deal is played once for each rotation of the seats.
        action: the missing action.
        player: player in this seat, if all seats lack the action; None: the seat that is denied the action.
    """
    if player is not None:
        without = table.seating == table.players.index(player)
    else:
        without = table.denied >> BOARD_ACTIONS.index(action) & 1 == 1
    return mean_by_deal((fractional_wins(table.places) * without).sum(axis=1), table.deck)


def _screens(config: RetrainingConfig, effects: Mapping[tuple[int, int], WinEffects]) -> list[dict[str, Any]]:
    """Return the screening estimates of all actions in the form that `figures` draws."""
    measured = [
        EffectEstimates(n, f"seed {seed}", seed, found.power, found.covariance) for (seed, n), found in effects.items()
    ]
    found = findings(measured, config.level)
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
                if (one.player, one.players) == (f"seed {seed}", n)
            ],
        }
        for seed, n in effects
    ]


def _of(entry: Mapping[str, Any], action: str) -> Mapping[str, Any]:
    return next(one for one in entry["actions"] if one["action"] == action)


def _meetings(
    config: RetrainingConfig,
    effects: Mapping[tuple[int, int], WinEffects],
    shares: Mapping[tuple[str, int, int, str], Array],
) -> list[dict[str, Any]]:
    """Return the win rate of the seat without an action, and the resulting effect of the action."""
    told: list[dict[str, Any]] = []
    errors: list[float] = []
    for action in config.claims:
        for seed in config.training_seeds:
            for n in config.players:
                by_way = {way: shares[action, seed, n, way] for way in TEST_CONDITIONS}
                habit, without = by_way["habit"], by_way["retrained"]
                power, all_powers = 100 * (1 / n - without.mean()), effects[seed, n]
                mean = np.full(len(BOARD_ACTIONS), 1 / len(BOARD_ACTIONS))
                errors.append(
                    float(np.sqrt(1e4 * without.var(ddof=1) / len(without) + mean @ all_powers.covariance @ mean))
                )
                regained, half = _mean(100 * (without - habit))
                told.append(
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
                        "deviation": float(power - all_powers.power.mean()),
                    }
                )
    quantile = simultaneous_quantile(np.diag(np.square(errors)), config.level)
    for one, error in zip(told, errors, strict=True):
        one["deviation_low"] = one["deviation"] - quantile * error
        one["deviation_high"] = one["deviation"] + quantile * error
    return told


def _won(share: Array) -> dict[str, float]:
    middle, low, high = (float(100 * end[0]) for end in proportion_interval(share[:, None], np.ones((len(share), 1))))
    return {"share": middle, "low": low, "high": high}


def _mean(values: Array) -> tuple[float, float]:
    """Return a mean over independent values, such as deals, and the half width of its 95% interval."""
    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    return float(values.mean()), float(student_quantile(len(values)) * error)


def _says(config: RetrainingConfig, claim: str, seeds: Sequence[Mapping[str, Any]]) -> str:
    """Return the conclusion on a claim from the intervals of an action over all seeds."""
    return claim_conclusion([(one["deviation_low"], one["deviation_high"]) for one in seeds], claim, config.band)


def claim_conclusion(intervals: Sequence[tuple[float, float]], claim: str, band: float) -> str:
    """Return the conclusion on a claim from intervals of deviations: stands, falls, or undecided.

    Args:
        intervals: interval of every seed, (low, high), win %.
        claim: too strong, or too weak.
        band: half width of the equivalence margin.
    """
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
            for one in data["standings"].entries("how it did")
        ],
    }


def _summary(
    config: RetrainingConfig, verdicts: Sequence[Mapping[str, Any]], meetings: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the outcome as sentences."""
    said = []
    for one in verdicts:
        says = f"{one['habit']} by habit, {one['retrained']} retrained"
        if one["habit"] == one["retrained"]:
            says = f"{one['habit']}, by habit and retrained alike"
        said.append(f"'{one['action'].replace('_', ' ')}' with {one['players']} players, '{one['claim']}': {says}.")
    seeds = "one seed" if config.seeds == 1 else f"all {config.seeds} seeds"
    said.append(
        f"A verdict stands if for {seeds} the interval lies wholly beyond the band of ±{config.band:g} win-share "
        f"points on that side, and falls if for all of them none of it does ({100 * config.level:g} % for all "
        "intervals together)."
    )
    return said + [_on_average(meetings, n) for n in config.players if config.seeds > 1]


def _on_average(meetings: Sequence[Mapping[str, Any]], n: int) -> str:
    """Return the effect of training without an action, the mean over actions, with an interval over seeds."""
    by_seed: dict[int, list[Mapping[str, Any]]] = {}
    for one in meetings:
        if one["players"] == n:
            by_seed.setdefault(one["seed"], []).append(one)
    regained = [np.mean([one["regained"] for one in of_seed]) for of_seed in by_seed.values()]
    at_home = [np.mean([one["won"]["at home"]["share"] for one in of_seed]) for of_seed in by_seed.values()]
    return (
        f"With {n} players, on average over all actions and {len(by_seed)} seeds, a seat that alone is denied an "
        f"action wins {_told(regained, '+')} of a hundred games more if it has learnt without it; where nobody has the "
        f"action, who has learnt so wins {_told(at_home)} of a hundred, {100 / n:.3g} being fair."
    )


def _told(by_seed: Sequence[float], sign: str = "") -> str:
    middle, half = _mean(np.array(by_seed))
    return f"{middle:{sign}.1f} ({middle - half:{sign}.1f} to {middle + half:{sign}.1f})"
