"""What differs from a former study, and why: verdicts that are others now, and figures that have surely changed.

Verdicts rest on intervals of the two strongest classes of player, so they change for three reasons that say different
things of the game: with more or fewer games intervals are narrower or wider; another class judges; or the action is
worth something else to the players there are now. Each reason is tried in that order by judging once more: with
the intervals of the former study about the estimates of this one; without the classes that only this one has; and by
the difference of what the action is worth to the strongest class of either, beyond what chance explains. If none of
them explains a verdict, it lies so near the edge of the band that chance does. A former study that used another
estimator has other figures with three and four players for that reason alone. It is the reason given where widths and
evaluators do not explain a change.

Differences have intervals that hold for all of them at once (Bonferroni); the studies count as independent. With the
same decks they are not, and the intervals are too wide rather than too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from agents.helsinki.balance.results import findings_of, rounded
from agents.helsinki.balance.study import StudyError
from agents.helsinki.balance.verdicts import Finding, Reason, judge, with_enough
from helsinki_env.data import sealed
from helsinki_env.extras import needs

with needs("arena"):
    from scipy import stats

__all__ = ["with_former"]

Data = Mapping[str, Any]
Cell = tuple[int, str]
"""A number of players and an action."""


def with_former(data: Data, former: Data) -> dict[str, Any]:
    """Return what a study found, with what differs from a former one under ``former``, and a new digest.

    Args:
        data: what it found, from `agents.helsinki.balance.results`.
        former: what the former study found, likewise.

    Raises:
        StudyError: if there is no number of players of which both have verdicts.
    """
    verdicts = {(one["players"], one["action"]): one["verdict"] for one in data["verdicts"]}
    before = {(one["players"], one["action"]): one["verdict"] for one in former["verdicts"]}
    both = [cell for cell in verdicts if cell in before]
    if not both:
        raise StudyError(
            f"former: found verdicts for {_counts(before)}, expected some for {_counts(verdicts)} (a study has "
            "verdicts as soon as at least two classes of player have games)"
        )
    now, then = _groups(findings_of(data)), _groups(findings_of(former))
    study, known = data["study"], _classes(then)
    same_width = _words(study, _as_wide_as(now, then))
    same_judges = _words(study, [one for group in now.values() for one in group if one.player in known])
    quantile = float(stats.norm.isf((1 - study["level"]) / 2 / len(both)))
    differences = []
    for cell in both:
        one, other = now[cell][0], then[cell][0]
        half = quantile * math.hypot(one.error, other.error)
        moved = one.deviation - other.deviation
        why: Reason | None = None
        if verdicts[cell] != before[cell]:
            if same_width.get(cell) == before[cell]:
                # about the same estimates only wider intervals undo a decision, and only narrower ones make it
                why = "wider" if verdicts[cell] == "undecided" else "narrower"
            elif same_judges.get(cell) == before[cell]:
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
                    **{f"former_{key}": value for key, value in _told(other).items()},
                    **_told(one),
                    "difference": moved,
                    "difference_low": moved - half,
                    "difference_high": moved + half,
                }
            )
    told = {
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
    return sealed({key: value for key, value in data.items() if key != "digest"} | {"former": rounded(told)})


def _told(one: Finding) -> dict[str, Any]:
    return {"player": one.player, "deviation": one.deviation, "low": one.low, "high": one.high}


def _counts(cells: Mapping[Cell, str]) -> str:
    return f"{', '.join(str(n) for n in sorted({players for players, _ in cells})) or 'no number of'} players"


def _groups(findings: Sequence[Finding]) -> dict[Cell, list[Finding]]:
    """Return the findings of each number of players and action, strongest class first."""
    groups: dict[Cell, list[Finding]] = {}
    for one in sorted(findings, key=lambda one: -one.strength):
        groups.setdefault((one.players, one.action), []).append(one)
    return groups


def _classes(groups: Mapping[Cell, Sequence[Finding]]) -> set[str]:
    return {one.player for group in groups.values() for one in group}


def _as_wide_as(now: Mapping[Cell, list[Finding]], then: Mapping[Cell, list[Finding]]) -> list[Finding]:
    """Return findings with intervals as wide as those of another study: the strongest as its strongest, and so on."""
    found: list[Finding] = []
    for cell, group in now.items():
        others = then.get(cell, [])
        for one, other in zip_longest(group, others[: len(group)]):
            width = one if other is None else other
            half = (width.high - width.low) / 2
            found.append(replace(one, error=width.error, low=one.deviation - half, high=one.deviation + half))
    return found


def _words(study: Data, findings: Sequence[Finding]) -> dict[Cell, str]:
    """Return the verdicts on findings; none for numbers of players with too few classes of player."""
    enough = with_enough(findings)
    judged = judge(enough, study["band"], study["level"]) if enough else []
    return {(one.players, one.action): one.verdict for one in judged}
