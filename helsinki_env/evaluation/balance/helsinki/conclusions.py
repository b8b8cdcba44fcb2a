"""Derive conclusions from estimates: which actions are too strong, too weak, balanced or undecided.

Every player may use every action, so only relative strength matters. The *deviation* of an action is its marginal
effect (`power`) minus the mean effect of all actions. It is compared with an equivalence margin around zero (Wellek
2010, "Testing Statistical Hypotheses of Equivalence and Noninferiority"). There is one conclusion for each action and
player count, based on player classes of different strength:

- **overpowered**: the simultaneous intervals for the two strongest classes both lie entirely above the margin, the
  estimate is above zero for every class, and the adjusted p value is small enough;
- **underpowered**: the same conditions, but below the margin and below zero;
- **balanced**: the intervals for the two strongest classes both lie entirely within the margin;
- **undecided**: everything else.

The null hypothesis of the p value is "the deviation is within the margin" (Hodges and Lehmann 1954, "Testing the
approximate validity of statistical hypotheses", Journal of the Royal Statistical Society B 16). The p value is the
probability of an estimate at least as extreme, on either side, if the true deviation lies at the nearer edge. Both of
the two strongest classes must be outside the margin, so the larger p value counts (intersection-union test; Berger
1982, Technometrics 24). It is adjusted for multiple testing across all actions and player counts (Holm 1979, "A simple
sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6).

**Changes since an earlier study.** Conclusions depend on the intervals for the two strongest player classes. Each
change is attributed to one of these reasons. They are tested in this order, the first two by deriving the conclusions
again:

1. Intervals are wider or narrower: with the earlier interval widths, the earlier conclusion still holds.
2. Another class is a study player: without the new classes, the earlier conclusion still holds.
3. The earlier study used another estimator, whose estimates differ with three or four players.
4. The effect for the strongest class changed significantly.
5. Otherwise, the change is attributed to chance: the action is close to an edge of the margin.

Intervals of differences are simultaneous (Bonferroni) and treat the studies as independent. If the studies share deals,
the intervals are too wide rather than too narrow.

The conclusions depend only on the findings, the margin and the confidence level. They can therefore be recomputed from
the JSON file of a study, even with another margin or level.

Letters in shapes: A actions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, short_repr, shorten, with_digest
from helsinki_env.evaluation.balance.effects import deviations, simultaneous_quantile
from helsinki_env.evaluation.balance.helsinki.base import StudyError
from helsinki_env.evaluation.rating.shares import to_json_data
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import linalg, stats

__all__ = [
    "Conclusion",
    "ConclusionError",
    "EffectEstimates",
    "Finding",
    "compare_with_baseline",
    "draw_conclusions",
    "findings",
    "summarize_conclusions",
]

Array = npt.NDArray[np.float64]
ConclusionLabel = Literal["overpowered", "underpowered", "balanced", "undecided"]
ChangeReason = Literal["wider", "narrower", "evaluators", "estimator", "effect", "chance"]
"""Reason for a change since an earlier study."""

STRONGEST_CLASSES = 2
"""Number of strongest player classes that must agree. These classes are the study players."""
_COUNTS = {2: "two", 3: "three", 4: "four"}


class ConclusionError(UserError):
    """Invalid findings. The message states the value found and the value expected."""


@dataclass(frozen=True)
class EffectEstimates:
    """Estimated effects of all actions for one player class and one player count."""

    players: int
    player: str
    strength: int  # rank of the class; higher is stronger
    power: Array  # marginal effect of each action, win %, float64 (A,)
    covariance: Array  # covariance of `power`, float64 (A, A)


@dataclass(frozen=True)
class Finding:
    """Estimates for one action, one player class and one player count, in win %."""

    players: int
    player: str
    strength: int  # rank of the class; higher is stronger
    action: str
    power: float  # marginal effect of having the action, compared with being denied it
    deviation: float  # `power` minus the mean effect of all actions
    error: float  # standard error of the deviation
    low: float  # interval of the deviation, simultaneous over all actions, player counts and classes
    high: float


@dataclass(frozen=True)
class Conclusion:
    """Conclusion about one action at one player count."""

    players: int
    action: str
    label: ConclusionLabel
    why: str  # reason for the conclusion, with the estimates
    p: float  # p value of "the deviation is within the margin", the larger one of the two strongest classes
    adjusted: float  # Holm-adjusted p value over all actions and player counts


def rejected_players(qualification: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the players that the qualification results reject as study players."""
    return {entry["player"] for entry in qualification if not entry["admitted"]}


def strongest_of(data: Mapping[str, Any], players: int) -> Mapping[str, Any]:
    """Return the screening results for the strongest study player, or for the strongest class if no class qualifies."""
    left_out = rejected_players(data.get("qualification", ()))
    entries: list[Mapping[str, Any]] = [entry for entry in data["screening"] if entry["players"] == players]
    return ([entry for entry in entries if entry["player"] not in left_out] or entries)[-1]


def findings(measured: Sequence[EffectEstimates], level: float = 0.95) -> list[Finding]:
    """Return the findings for all actions, with intervals that hold simultaneously for the whole study.

    Classes and player counts are treated as independent. If they share deals, the intervals are too wide rather than
    too narrow (Royen 2014, Far East Journal of Theoretical Statistics 48).
    """
    centered = [deviations(one.power, one.covariance) for one in measured]
    quantile = simultaneous_quantile(linalg.block_diag(*(covariance for _, covariance in centered)), level)
    out = []
    for one, (deviation, covariance) in zip(measured, centered, strict=True):
        error = np.sqrt(np.diag(covariance))
        columns = (one.power, deviation, error, deviation - quantile * error, deviation + quantile * error)
        for action, *numbers in zip(BOARD_ACTIONS, *(column.tolist() for column in columns), strict=True):
            out.append(Finding(one.players, one.player, one.strength, action, *numbers))
    return out


def with_enough_classes(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings for player counts with enough player classes for a conclusion."""
    classes: dict[int, set[str]] = {}
    for one in findings:
        classes.setdefault(one.players, set()).add(one.player)
    return [one for one in findings if len(classes[one.players]) >= STRONGEST_CLASSES]


def findings_of(data: Mapping[str, Any]) -> list[Finding]:
    """Return the findings in the data of a study, without rejected players."""
    rejected = rejected_players(data["qualification"])
    keys = ("action", "power", "deviation", "deviation_error", "deviation_low", "deviation_high")
    return [
        Finding(entry["players"], entry["player"], entry["strength"], *(action[key] for key in keys))
        for entry in data["screening"]
        if entry["player"] not in rejected
        for action in entry["actions"]
    ]


def draw_conclusions(
    findings: Sequence[Finding], equivalence_margin: float = 1.0, level: float = 0.95
) -> list[Conclusion]:
    """Return the conclusion for each action and player count, in the order of the findings.

    Args:
        findings: findings for at least two player classes for each action and player count.
        equivalence_margin: half-width of the equivalence margin, win %.
        level: confidence level of the intervals in `findings`. The significance level of the adjusted p values is 1 -
            level.

    Raises:
        ConclusionError: if findings are missing, duplicated or not finite, or two classes have the same strength.
    """
    _check(findings, equivalence_margin, level)
    groups = _groups(findings)
    p = [_p(group[:STRONGEST_CLASSES], equivalence_margin) for group in groups.values()]
    conclusions = []
    for ((players, action), group), single, adjusted in zip(groups.items(), p, holm(p).tolist(), strict=True):
        label, why = _decide(group, adjusted, equivalence_margin, level)
        conclusions.append(Conclusion(players, action, label, why, single, adjusted))
    return conclusions


def _check(findings: Sequence[Finding], margin: float, level: float) -> None:
    if not margin >= 0:
        raise ConclusionError(f"equivalence_margin: found {margin}, expected win percentage points, at least 0")
    if not 0 < level < 1:
        raise ConclusionError(f"level: found {level}, expected a probability between 0 and 1")
    classes: dict[int, dict[str, int]] = {}
    seen: set[tuple[int, str, str]] = set()
    for one in findings:
        name = f"{short_repr(one.action)}, {one.players} players, {short_repr(one.player)}"
        if not (one.error > 0 and one.low <= one.deviation <= one.high and math.isfinite(one.high - one.low)):
            raise ConclusionError(
                f"{name}: found {one.deviation} ({one.low} to {one.high}), error {one.error}, expected finite numbers, "
                "an estimate within its interval, and a positive error"
            )
        if (one.players, one.player, one.action) in seen:
            raise ConclusionError(f"{name}: found twice, expected once")
        seen.add((one.players, one.player, one.action))
        if classes.setdefault(one.players, {}).setdefault(one.player, one.strength) != one.strength:
            raise ConclusionError(
                f"{name}: found strength {one.strength}, expected the same strength in all findings of a class"
            )
    actions = {one.action for one in findings}
    for players, strengths in classes.items():
        if len(strengths) < STRONGEST_CLASSES:
            raise ConclusionError(
                f"{players} players: found classes {short_repr(list(strengths))}, expected at least {STRONGEST_CLASSES}"
            )
        if len(set(strengths.values())) < len(strengths):
            raise ConclusionError(f"{players} players: found strengths {short_repr(strengths)}, expected all different")
        for player in strengths:
            missing = sorted(action for action in actions if (players, player, action) not in seen)
            if missing:
                raise ConclusionError(
                    f"{players} players, {player!r}: found no {', '.join(map(shorten, missing))}, expected all actions"
                )


def holm(p: npt.ArrayLike) -> Array:
    """Return Holm-adjusted p values, float64 (M,), which control the family-wise error rate under any dependence."""
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    steps = np.minimum(values[order] * np.arange(len(values), 0, -1), 1.0)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def _p(strongest: Sequence[Finding], margin: float) -> float:
    """Return the p value of "the deviation is within the margin for one class, or outside on different sides"."""
    if len({one.deviation > 0 for one in strongest}) > 1:
        return 1.0
    largest = max(
        _upper_tail((abs(one.deviation) - margin) / one.error) + _upper_tail((abs(one.deviation) + margin) / one.error)
        for one in strongest
    )
    return min(1.0, largest)  # rounding errors may push the sum above 1


def _upper_tail(z: float) -> float:
    """Return the probability that a standard normal variable exceeds z."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def _decide(group: Sequence[Finding], adjusted: float, margin: float, level: float) -> tuple[ConclusionLabel, str]:
    """Return the conclusion about an action and its reason, given the findings of all classes, strongest first."""
    strongest = group[:STRONGEST_CLASSES]
    numbers = ", ".join(f"{one.player} {one.deviation:+.1f} ({one.low:+.1f} to {one.high:+.1f})" for one in strongest)
    measured = f"games per 100, compared with the average action: {numbers}"
    both = f"the margin of {margin:g} for both of the strongest players"
    if all(-margin <= one.low and one.high <= margin for one in strongest):
        return "balanced", f"within {both}; {measured}"
    above = all(one.low > margin for one in strongest)
    below = all(one.high < -margin for one in strongest)
    if not above and not below:
        return "undecided", f"{_why_undecided(strongest, margin)}; {measured}"
    side = "above" if above else "below"
    opposite = ", ".join(f"{one.player} {one.deviation:+.1f}" for one in group if (one.deviation > 0) != above)
    if opposite:
        return "undecided", f"{side} {both}, but on the other side for {opposite}; {measured}"
    if adjusted > 1 - level:
        return "undecided", (
            f"{side} {both}, but not significantly among all actions (adjusted p {adjusted:.2g}, expected at most "
            f"{1 - level:.2g}); {measured}"
        )
    return "overpowered" if above else "underpowered", f"{side} {both}; {measured}"


def _why_undecided(strongest: Sequence[Finding], margin: float) -> str:
    """Explain why the intervals for the strongest classes are neither all beyond the margin nor all within it."""
    wide = [one.player for one in strongest if one.low <= margin < one.high or one.low < -margin <= one.high]
    if wide:
        return f"for {' and '.join(wide)} the interval contains an edge of the margin of {margin:g}"
    return f"the strongest players disagree whether the action is above, within or below the margin of {margin:g}"


def summarize_conclusions(conclusions: Sequence[Conclusion], findings: Sequence[Finding]) -> list[str]:
    """Summarize conclusions and their findings in plain language for non-statisticians.

    Each sentence names a conclusion, its player counts, and the actions it applies to, largest deviation first. The
    numbers are deviations for the strongest class with simultaneous intervals. A final sentence explains them.
    """
    groups = _groups(findings)
    sentences = []
    for label, called in _CALLED.items():
        counts: dict[str, tuple[int, ...]] = {}
        for conclusion in conclusions:
            if conclusion.label == label:
                counts[conclusion.action] = (*counts.get(conclusion.action, ()), conclusion.players)
        for together in sorted(set(counts.values()), key=lambda players: (-len(players), players)):
            named = {
                action: [groups[players, action][0] for players in together]
                for action, own in counts.items()
                if own == together
            }
            names = sorted(named, key=lambda action: -abs(sum(one.deviation for one in named[action])))
            listed = ", ".join(f"'{name.replace('_', ' ')}' ({', '.join(map(_amount, named[name]))})" for name in names)
            sentences.append(f"{called} with {_listed([_COUNTS.get(n, str(n)) for n in together])} players: {listed}.")
    if sentences:
        sentences.append(
            "In brackets: how many games per 100 the action wins more (+) or fewer (-) than the average action, with "
            "the interval, for each player count."
        )
    return sentences


_CALLED: dict[ConclusionLabel, str] = {
    "overpowered": "Too strong",
    "underpowered": "Too weak",
    "balanced": "Balanced",
    "undecided": "Undecided, because estimates are uncertain or differ between players,",
}


def _amount(one: Finding) -> str:
    return f"{one.deviation:+.1f} ± {(one.high - one.low) / 2:.1f}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1])] * (len(words) > 1) + [words[-1]])


Data = Mapping[str, Any]
ConclusionKey = tuple[int, str]
"""Player count and action."""


def compare_with_baseline(data: Data, former: Data) -> dict[str, Any]:
    """Return the results of a study with a new digest, and the changes since an earlier study under ``former``.

    Args:
        data: results of the study, from `helsinki_env.evaluation.balance.helsinki.results`.
        former: results of the earlier study, in the same format.

    Raises:
        StudyError: if no player count has conclusions in both studies.
    """
    conclusions, before = (
        {(one["players"], one["action"]): one["label"] for one in each["conclusions"]} for each in (data, former)
    )
    both = [cell for cell in conclusions if cell in before]
    if not both:
        raise StudyError(
            f"former: found conclusions for {_counts(before)}, expected at least one of {_counts(conclusions)}; "
            "conclusions need games of at least two classes of player"
        )
    now, then = _groups(findings_of(data)), _groups(findings_of(former))
    study, known = data["study"], _classes(then)
    same_width = _labels(study, _with_widths_of(now, then))
    same_study_players = _labels(study, [one for group in now.values() for one in group if one.player in known])
    quantile = float(stats.norm.isf((1 - study["level"]) / 2 / len(both)))
    differences = []
    for cell in both:
        one, other = now[cell][0], then[cell][0]
        half = quantile * math.hypot(one.error, other.error)
        moved = one.deviation - other.deviation
        why: ChangeReason | None = None
        if conclusions[cell] != before[cell]:
            if same_width.get(cell) == before[cell]:
                # Only wider intervals can make a conclusion undecided, and only narrower intervals can decide one.
                why = "wider" if conclusions[cell] == "undecided" else "narrower"
            elif same_study_players.get(cell) == before[cell]:
                why = "evaluators"
            elif former.get("estimator") != data.get("estimator") and cell[0] > 2:
                why = "estimator"
            else:
                why = "effect" if abs(moved) > half else "chance"
        if why is not None or abs(moved) > half:
            differences.append(
                {
                    "players": cell[0],
                    "action": cell[1],
                    "former_label": before[cell],
                    "label": conclusions[cell],
                    "why": why,
                    **{f"former_{key}": value for key, value in _interval(other).items()},
                    **_interval(one),
                    "difference": moved,
                    "difference_low": moved - half,
                    "difference_high": moved + half,
                }
            )
    comparison = {
        "study": former["study"]["name"],
        "seed": former["study"]["seed"],
        "data": former["digest"],
        "networks": {
            name: digest for name, digest in former["provenance"]["networks"].items() if not name.startswith("forced:")
        },
        "joined": sorted(_classes(now) - known),
        "conclusions": len(both),
        "differences": differences,
    }
    rest = {key: value for key, value in data.items() if key != "digest"}
    return with_digest(rest | {"former": to_json_data(comparison)})


def _interval(one: Finding) -> dict[str, Any]:
    return {"player": one.player, "deviation": one.deviation, "low": one.low, "high": one.high}


def _counts(cells: Mapping[ConclusionKey, str]) -> str:
    return f"{', '.join(str(n) for n in sorted({players for players, _ in cells})) or 'no'} players"


def _groups(findings: Sequence[Finding]) -> dict[ConclusionKey, list[Finding]]:
    """Return the findings grouped by player count and action, strongest class first."""
    groups: dict[ConclusionKey, list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.players, one.action), []).append(one)
    return {cell: sorted(group, key=lambda one: -one.strength) for cell, group in groups.items()}


def _classes(groups: Mapping[ConclusionKey, Sequence[Finding]]) -> set[str]:
    return {one.player for group in groups.values() for one in group}


def _with_widths_of(
    now: Mapping[ConclusionKey, list[Finding]], then: Mapping[ConclusionKey, list[Finding]]
) -> list[Finding]:
    """Return the findings with the interval widths of another study. Classes are matched in order of strength."""
    out: list[Finding] = []
    for cell, group in now.items():
        others = then.get(cell, [])
        for one, other in zip_longest(group, others[: len(group)]):
            width = one if other is None else other
            half = (width.high - width.low) / 2
            out.append(replace(one, error=width.error, low=one.deviation - half, high=one.deviation + half))
    return out


def _labels(study: Data, findings: Sequence[Finding]) -> dict[ConclusionKey, str]:
    """Return the conclusions drawn from findings for all player counts with enough player classes."""
    enough = with_enough_classes(findings)
    conclusions = draw_conclusions(enough, study["equivalence_margin"], study["level"]) if enough else []
    return {(one.players, one.action): one.label for one in conclusions}
