"""Compare a study with an earlier one: changed conclusions, the reason for each, and significantly changed estimates.

Conclusions rest on the intervals of the two strongest classes of player, so they change for three main reasons:

- The number of games makes the intervals narrower or wider.
- Another class is an evaluator.
- The marginal effect of the action differs for today's players.

Each reason is tested in this order by deriving the conclusions again. The first test uses the interval widths of the
earlier study with the estimates of this one. The second omits the classes that only this study has. The third checks
whether the effect on the strongest class changed by more than chance explains.

A change that none of them explains is chance: the action is close to the edge of the margin. With three or four
players, an earlier study with another estimator has other estimates for that reason alone. This reason is given if
widths and evaluators do not explain a change.

Differences have simultaneous intervals (Bonferroni); the studies are treated as independent. If they share deals, the
intervals are too wide rather than too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from helsinki_env.data import with_digest
from helsinki_env.evaluation.balance.helsinki.base import StudyError, to_json_data
from helsinki_env.evaluation.balance.helsinki.conclusions import (
    ChangeReason,
    Finding,
    draw_conclusions,
    with_enough_classes,
)
from helsinki_env.evaluation.balance.helsinki.results import findings_of
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import stats

__all__ = ["compare_with_baseline"]

Data = Mapping[str, Any]
ConclusionKey = tuple[int, str]
"""A number of players and an action."""


def compare_with_baseline(data: Data, former: Data) -> dict[str, Any]:
    """Return the results of a study with the changes since an earlier one under ``former``, and a new digest.

    Args:
        data: results from `helsinki_env.evaluation.balance.helsinki.results`.
        former: results of the earlier study, in the same form.

    Raises:
        StudyError: if no number of players has conclusions in both studies.
    """
    verdicts, before = (
        {(one["players"], one["action"]): one["verdict"] for one in each["verdicts"]} for each in (data, former)
    )
    both = [cell for cell in verdicts if cell in before]
    if not both:
        raise StudyError(
            f"former: found verdicts for {_counts(before)}, expected some for {_counts(verdicts)} (a study has "
            "verdicts as soon as at least two classes of player have games)"
        )
    now, then = _groups(findings_of(data)), _groups(findings_of(former))
    study, known = data["study"], _classes(then)
    same_width = _labels(study, _with_widths_of(now, then))
    same_evaluators = _labels(study, [one for group in now.values() for one in group if one.player in known])
    quantile = float(stats.norm.isf((1 - study["level"]) / 2 / len(both)))
    differences = []
    for cell in both:
        one, other = now[cell][0], then[cell][0]
        half = quantile * math.hypot(one.error, other.error)
        moved = one.deviation - other.deviation
        why: ChangeReason | None = None
        if verdicts[cell] != before[cell]:
            if same_width.get(cell) == before[cell]:
                # with the same estimates only wider intervals lose a conclusion, and only narrower ones reach it
                why = "wider" if verdicts[cell] == "undecided" else "narrower"
            elif same_evaluators.get(cell) == before[cell]:
                why = "judges"
            elif former.get("estimator") != data.get("estimator") and cell[0] > 2:
                why = "estimator"
            else:
                why = "worth" if abs(moved) > half else "chance"
        if why is not None or abs(moved) > half:
            differences.append(
                {
                    "players": cell[0],
                    "action": cell[1],
                    "former_verdict": before[cell],
                    "verdict": verdicts[cell],
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
        "verdicts": len(both),
        "differences": differences,
    }
    rest = {key: value for key, value in data.items() if key != "digest"}
    return with_digest(rest | {"former": to_json_data(comparison)})


def _interval(one: Finding) -> dict[str, Any]:
    return {"player": one.player, "deviation": one.deviation, "low": one.low, "high": one.high}


def _counts(cells: Mapping[ConclusionKey, str]) -> str:
    return f"{', '.join(str(n) for n in sorted({players for players, _ in cells})) or 'no number of'} players"


def _groups(findings: Sequence[Finding]) -> dict[ConclusionKey, list[Finding]]:
    """Return the findings for each number of players and action, strongest class first."""
    groups: dict[ConclusionKey, list[Finding]] = {}
    for one in sorted(findings, key=lambda one: -one.strength):
        groups.setdefault((one.players, one.action), []).append(one)
    return groups


def _classes(groups: Mapping[ConclusionKey, Sequence[Finding]]) -> set[str]:
    return {one.player for group in groups.values() for one in group}


def _with_widths_of(
    now: Mapping[ConclusionKey, list[Finding]], then: Mapping[ConclusionKey, list[Finding]]
) -> list[Finding]:
    """Return findings with the interval widths of another study, matched by the strength order of the classes."""
    out: list[Finding] = []
    for cell, group in now.items():
        others = then.get(cell, [])
        for one, other in zip_longest(group, others[: len(group)]):
            width = one if other is None else other
            half = (width.high - width.low) / 2
            out.append(replace(one, error=width.error, low=one.deviation - half, high=one.deviation + half))
    return out


def _labels(study: Data, findings: Sequence[Finding]) -> dict[ConclusionKey, str]:
    """Return the conclusions from findings, without numbers of players that have too few classes."""
    enough = with_enough_classes(findings)
    conclusions = draw_conclusions(enough, study["band"], study["level"]) if enough else []
    return {(one.players, one.action): one.verdict for one in conclusions}
