"""What networks that learnt with and without actions say of the verdicts: the report is made of these plain data.

What is judged is the deviation, as in a study: what having an action is worth, less the mean worth of all fifteen. By
*habit* it is what the screen says of a network that has learnt with all actions. *Retrained* it is what a seat wins
less than its fair share that is denied the action and has learnt without it, among others that have it, less the mean
worth that the screen of the same seed found. Networks that learnt in the same way differ in strength, and that goes
into it: what the one without wins *at home*, where nobody has the action, tells by how much. With **strength set off**
it is the deviation by habit less what was regained beyond that, all of it from the same decks (a difference of
differences). A claim **stands** if for every seed the interval lies wholly beyond the band on the side that is claimed;
it **falls** if for every seed none of it does; else it is **undecided**. With strength set off, when seeds differ by
little but chance, the mean over the seeds is judged. Intervals hold for all actions, seeds and numbers of players at
once, in each of the three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.arena.load import Table
from agents.balance.effects import Effects, estimate, simultaneous_quantile
from agents.helsinki.balance.parts import StudyError
from agents.helsinki.balance.results import rounded, versions
from agents.helsinki.balance.retrained.config import RetrainedConfig
from agents.helsinki.balance.retrained.run import WAYS, Learner, Retrained
from agents.helsinki.balance.screen import study_of
from agents.helsinki.balance.verdicts import Measured, findings
from agents.standing import by_deck, share_interval, student_quantile, win_shares
from helsinki_env.data import read_json, sealed
from helsinki_env.games.helsinki.action_numbers import ACTIONS

__all__ = ["of_seat", "results", "word"]

Array = npt.NDArray[np.float64]


def results(retrained: Retrained) -> dict[str, Any]:
    """Train and play what is missing, and return everything that was found, with a digest of it all."""
    config = retrained.config
    retrained.train()
    effects = {key: estimate(study_of(table)) for key, table in retrained.screens().items()}
    screen = _screens(config, effects)
    shares = {}
    for (action, seed, n, way), table in retrained.meetings().items():
        without = retrained.player(Learner(seed, action)) if way == "at home" else None
        shares[action, seed, n, way] = of_seat(table, action, without)
    meetings = _meetings(config, effects, shares)
    together = _together(config, meetings)
    verdicts = [
        {
            "action": action,
            "players": n,
            "claim": claim,
            "habit": _says(config, claim, [_of(entry, action) for entry in screen if entry["players"] == n]),
            "retrained": _says(config, claim, _met(meetings, action, n)),
            "set_off": _says(config, claim, [together[action, n]]),
            "worth": together[action, n],
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
        "actions": list(ACTIONS),
        "networks": [_network(retrained, learner, digests) for learner in retrained.learners],
        "provenance": {**versions(), "parts": retrained.tournaments.played},
    }
    return sealed(rounded(data))


def of_seat(table: Table, action: str, player: str | None = None) -> Array:
    """Return the part of its games that the seat wins that does without an action, deck by deck, float64 (D,).

    Args:
        table: games of a meeting, in which every deck is dealt once for each rotation of the seats.
        action: which one it does without.
        player: whose seat it is, where all do without; None: the seat that is denied the action.
    """
    if player is not None:
        without = table.seating == table.players.index(player)
    else:
        without = table.denied >> ACTIONS.index(action) & 1 == 1
    return by_deck((win_shares(table.places) * without).sum(axis=1), table.deck)


def _screens(config: RetrainedConfig, effects: Mapping[tuple[int, int], Effects]) -> list[dict[str, Any]]:
    """What the screens say of all actions, in the form in which `agents.helsinki.balance.figures` draws it."""
    measured = [
        Measured(n, f"seed {seed}", seed, found.power, found.covariance) for (seed, n), found in effects.items()
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


def _met(meetings: Sequence[Mapping[str, Any]], action: str, n: int) -> list[Mapping[str, Any]]:
    return [one for one in meetings if (one["action"], one["players"]) == (action, n)]


def _meetings(
    config: RetrainedConfig,
    effects: Mapping[tuple[int, int], Effects],
    shares: Mapping[tuple[str, int, int, str], Array],
) -> list[dict[str, Any]]:
    """What a seat wins that does without an action, and what the action is worth by that."""
    told: list[dict[str, Any]] = []
    errors: list[float] = []
    for action in config.claims:
        for seed in config.training_seeds:
            for n in config.players:
                by_way = {way: shares[action, seed, n, way] for way in WAYS}
                habit, without = by_way["habit"], by_way["retrained"]
                power, all_powers = 100 * (1 / n - without.mean()), effects[seed, n]
                mean = np.full(len(ACTIONS), 1 / len(ACTIONS))
                errors.append(
                    float(np.hypot(100 * without.std(ddof=1) / np.sqrt(len(without)), _error(mean, all_powers)))
                )
                regained, half = _mean(100 * (without - habit))
                stronger = 100 * (by_way["at home"] - 1 / n)
                beyond, half_beyond = _mean(100 * (without - habit) - stronger)
                from_mean = np.eye(len(ACTIONS))[ACTIONS.index(action)] - mean
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
                        "set_off": {
                            "stronger": float(stronger.mean()),
                            "regained": beyond,
                            "regained_low": beyond - half_beyond,
                            "regained_high": beyond + half_beyond,
                            "deviation": float(from_mean @ all_powers.power - beyond),
                            "error": float(
                                np.hypot(half_beyond / student_quantile(len(without)), _error(from_mean, all_powers))
                            ),
                        },
                    }
                )
    _add_intervals(told, errors, config.level)
    set_off = [one["set_off"] for one in told]
    _add_intervals(set_off, [one["error"] for one in set_off], config.level)
    return told


def _together(config: RetrainedConfig, meetings: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    """Return by action and number of players what an action is worth with strength set off, the mean over the seeds."""
    found = {}
    for action in config.claims:
        for n in config.players:
            of_seeds = [one["set_off"] for one in _met(meetings, action, n)]
            error = float(np.linalg.norm([one["error"] for one in of_seeds])) / len(of_seeds)
            found[action, n] = {"deviation": float(np.mean([one["deviation"] for one in of_seeds])), "error": error}
    _add_intervals(list(found.values()), [one["error"] for one in found.values()], config.level)
    return found


def _error(contrast: Array, effects: Effects) -> float:
    """Return the standard error of a contrast of what actions are worth."""
    return float(np.sqrt(contrast @ effects.covariance @ contrast))


def _add_intervals(told: Sequence[dict[str, Any]], errors: Sequence[float], level: float) -> None:
    """Add intervals of deviations that hold for all of them at once."""
    quantile = simultaneous_quantile(np.diag(np.square(errors)), level)
    for one, error in zip(told, errors, strict=True):
        one["deviation_low"] = one["deviation"] - quantile * error
        one["deviation_high"] = one["deviation"] + quantile * error


def _won(share: Array) -> dict[str, float]:
    middle, low, high = (float(100 * end[0]) for end in share_interval(share[:, None], np.ones((len(share), 1))))
    return {"share": middle, "low": low, "high": high}


def _mean(values: Array) -> tuple[float, float]:
    """Return a mean over decks and the half width of its 95 % interval."""
    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    return float(values.mean()), float(student_quantile(len(values)) * error)


def _says(config: RetrainedConfig, claim: str, seeds: Sequence[Mapping[str, Any]]) -> str:
    """Return what intervals of the same action of all seeds say of a claim."""
    return word([(one["deviation_low"], one["deviation_high"]) for one in seeds], claim, config.band)


def word(intervals: Sequence[tuple[float, float]], claim: str, band: float) -> str:
    """Return what intervals of deviations say of a claim: stands, falls, or undecided.

    Args:
        intervals: of every seed, (low, high), in points of a hundred.
        claim: too strong, or too weak.
        band: within which actions count as equally strong.
    """
    sides = [(low, high) if claim == "too strong" else (-high, -low) for low, high in intervals]
    if all(low > band for low, _ in sides):
        return "stands"
    return "falls" if all(high <= band for _, high in sides) else "undecided"


def _network(retrained: Retrained, learner: Learner, digests: Mapping[str, str]) -> dict[str, Any]:
    """How a network was trained and how strong it is, from the summary of its training."""
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
    config: RetrainedConfig, verdicts: Sequence[Mapping[str, Any]], meetings: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return what came of it in sentences."""
    said = []
    for one in verdicts:
        says = f"{one['habit']} by habit, {one['retrained']} retrained, {one['set_off']} with strength set off"
        if one["habit"] == one["retrained"] == one["set_off"]:
            says = f"{one['habit']}, by habit and retrained alike, with and without strength set off"
        said.append(f"'{one['action'].replace('_', ' ')}' with {one['players']} players, '{one['claim']}': {says}.")
    seeds = "one seed" if config.seeds == 1 else f"all {config.seeds} seeds"
    said.append(
        f"A verdict stands if for {seeds} the interval lies wholly beyond the band of ±{config.band:g} win-share "
        f"points on that side, and falls if for all of them none of it does ({100 * config.level:g} % for all "
        "intervals together)."
    )
    return said + [_all_together(meetings, config.training_seeds, n) for n in config.players if config.seeds > 1]


def _all_together(meetings: Sequence[Mapping[str, Any]], seeds: Sequence[int], n: int) -> str:
    """Return what learning without actions came to on average: seeds count as one each, as their networks meet."""
    by_seed = [[one["set_off"] for one in meetings if (one["seed"], one["players"]) == (seed, n)] for seed in seeds]
    stronger, regained = (
        _mean(np.array([np.mean([one[key] for one in of_seed]) for of_seed in by_seed]))
        for key in ("stronger", "regained")
    )
    return (
        f"With {n} players, all actions together, 95 % intervals over {len(seeds)} seeds: where nobody has the action, "
        f"who learnt without it wins {_plus_minus(stronger)} of a hundred games more than its fair share; with that "
        f"set off, it regains {_plus_minus(regained)} where it alone is denied the action."
    )


def _plus_minus(found: tuple[float, float]) -> str:
    return f"{found[0]:+.1f} ({found[0] - found[1]:+.1f} to {found[0] + found[1]:+.1f})"
