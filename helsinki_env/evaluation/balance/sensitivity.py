"""Test which conclusions depend on reconstructed facts by playing with alternatives to uncertain components.

Some facts of the published components are reconstructed (marked [D] in the component files). A sensitivity analysis
plays the same matchups with the reference components and with alternatives. Each alternative is a component file that
changes one fact and states why the change is plausible. Three kinds of conclusions from games with the reference are
checked with each alternative:

- an action or ability has a larger or smaller effect than the mean (matchups with random `boards`);
- one player is stronger than the next (matchups between several players);
- a seat wins more or less often than expected by chance.

A conclusion *holds* with an alternative if its 95% interval lies on the same side of 0 as with the reference. It is
*contradicted* if the interval lies on the other side, and *open* otherwise. Independently of this, an estimate
*differs* if it is farther from that of the reference than the root of the sum of the squared half-widths of both
intervals. This test is conservative, because both share their deals. Alternatives that do not change the rules of a
matchup (`unaffected`), such as other removed cards where none are removed, are not counted. The report also contains
the mean points and rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, UserError, read_yaml
from helsinki_env.engine.component_reader import changed_fact
from helsinki_env.evaluation.arena.designs import MIN_SCREENING_DEALS
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.arena.plan import MatchupPlan, Plan, plan_from_dict
from helsinki_env.evaluation.balance.denied import denied_items
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    deviations,
    estimate_win_effects,
    simultaneous_half_widths,
)
from helsinki_env.evaluation.figure_style import LINE_COLORS, figure_to_svg, styled_figure
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal, student_quantile
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.utils.markdown import code_span, escape_markdown, markdown_table, printable
from helsinki_env.utils.yaml_files import find_yaml

__all__ = [
    "SensitivityConfig",
    "SensitivityError",
    "find_conclusions",
    "sensitivity_report_files",
    "sensitivity_results",
]

Array = npt.NDArray[np.float64]

LEAST_DEALS = 20
"""Minimum number of deals in a matchup."""


class SensitivityError(UserError):
    """Invalid sensitivity analysis. The message names the file, the key, the value found and the value expected."""


@dataclass(frozen=True)
class Alternative:
    """A component file that changes one reconstructed fact."""

    components: str  # file name
    fact: str
    reason: str  # reason why the change is plausible


@dataclass(frozen=True)
class SensitivityConfig:
    """Configuration of a sensitivity analysis: its matchups are played with the reference and with each alternative."""

    name: str
    seed: int
    reference: str  # component file
    alternatives: tuple[Alternative, ...]
    matchups: tuple[Mapping[str, Any], ...]  # matchups as in a tournament file, without components
    unaffected: tuple[tuple[str, ...], ...]  # for each matchup, the alternatives that do not change its rules

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> SensitivityConfig:
        """Read an analysis from a file.

        Args:
            name_or_path: path of the file, or its name in ``configs/sensitivity``.
            trust: whether players named in the file may run code.

        Raises:
            SensitivityError: if the file is invalid; the message names the file, the key and both values.
            ArenaError: if a matchup is invalid.
            PlayerError: if the file names code and is not trusted.
        """
        data = read_yaml(find_yaml(name_or_path, "sensitivity", SensitivityError), SensitivityError)
        data.mapping(("seed", "reference", "alternatives", "matchups"))
        names = [item.text("a component file") for item in data["alternatives"].entries("component files", least=1)]
        reference = data["reference"].text("a component file")
        if len({*names, reference}) <= len(names):
            data["alternatives"].fail("each file once, and not the reference")
        matchups = tuple(read_matchup(entry) for entry in data["matchups"].entries("at least one matchup", least=1))
        unaffected = tuple(
            tuple(name.choice(names) for name in entry["unaffected"].entries("component files"))
            if "unaffected" in entry.value
            else ()
            for entry in data["matchups"].entries("matchups")
        )
        matchups = tuple({key: value for key, value in matchup.items() if key != "unaffected"} for matchup in matchups)
        seed = data["seed"].integer(0)
        with data.prefix_errors():
            plans = plan_from_dict({"seed": seed, "matchups": [dict(matchup) for matchup in matchups]}).matchups
        denying = [plan.boards is not None or plan.screening is not None for plan in plans]
        check_deals(data["matchups"], plans, [MIN_SCREENING_DEALS if one else LEAST_DEALS for one in denying])
        found = cls(
            name=Path(name_or_path).stem,
            seed=seed,
            reference=reference,
            alternatives=tuple(Alternative(name, *changed_fact(name, SensitivityError)) for name in names),
            matchups=matchups,
            unaffected=unaffected,
        )
        check_code((player for matchup in found.plan.matchups for player in matchup.players), data.file, trust=trust)
        return found

    @property
    def components(self) -> tuple[str, ...]:
        """The component files: the reference, then the alternatives."""
        return (self.reference, *(one.components for one in self.alternatives))

    @property
    def plan(self) -> Plan:
        """The tournament, with every matchup for every component file."""
        matchups = [
            {
                **matchup,
                "name": _matchup(matchup["name"], components),
                "game": {**matchup["game"], "components": components},
            }
            for matchup in self.matchups
            for components in self.components
        ]
        return plan_from_dict({"seed": self.seed, "matchups": matchups})


def read_matchup(entry: Node) -> Mapping[str, Any]:
    """Return a matchup of a file. Its game must not set components, because the caller does."""
    matchup: dict[str, Any] = entry.mapping().value
    entry["name"].text("the name of the matchup")
    if "components" in entry["game"].mapping().value:
        entry["game"]["components"].fail("no components, because the analysis sets them", found="them")
    return matchup


def check_deals(matchups: Node, plans: Sequence[MatchupPlan], least: Sequence[int] = ()) -> None:
    """Check that every matchup of a file has enough deals for its intervals, by default for standard errors."""
    for entry, plan, deals in zip(
        matchups.entries("matchups"), plans, least or [LEAST_DEALS] * len(plans), strict=True
    ):
        if plan.blocks < deals:
            entry["games"].fail(f"at least {deals * plan.seats}, {deals} deals")


def _matchup(matchup: str, components: str) -> str:
    return f"{matchup} / {components}"


# --- results


def sensitivity_results(
    config: SensitivityConfig, games: Sequence[MatchupGames], provenance: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the results as JSON-serializable data.

    Args:
        config: the analysis.
        games: the games of the analysis, from `load_run`; matchups without games are omitted.
        provenance: environment and package versions, plan digest, and the command.
    """
    played = {matchup.name: matchup for matchup in games if len(matchup)}
    matchups = []
    for matchup, unaffected in zip(config.matchups, config.unaffected, strict=True):
        found = {name: played.get(_matchup(matchup["name"], name)) for name in config.components}
        measured = {name: _measured(one) for name, one in found.items() if one is not None}
        if config.reference in measured:
            matchups.append({"name": matchup["name"], "unaffected": list(unaffected), "measured": measured})
    return {
        "provenance": {**provenance, "seed": config.seed},
        "reference": config.reference,
        "alternatives": [vars(one) for one in config.alternatives],
        "missing": sum(matchup.missing for matchup in games),
        "matchups": matchups,
        "conclusions": [one for matchup in matchups for one in find_conclusions(config.reference, matchup)],
    }


def _measured(games: MatchupGames) -> dict[str, Any]:
    """Return the games, mean points and rounds with 95% half-widths, and claims (with 95% intervals) of a matchup."""
    claims: dict[str, list[float]] = {}
    if games.denied.any() and len((found := denied_items(games))[0]) > 1:
        names, _, denied, _ = found
        wins = estimate_win_effects(AblationGames(denied, games.places, games.deal))
        deviation, covariance = deviations(wins.power, wins.covariance)
        claims |= _intervals(names, deviation, simultaneous_half_widths(covariance))
    if len(games.players) > 1:
        ratings = rate(games, reference=games.players[0], resamples=100)
        gaps = np.diff(np.eye(len(games.players)), axis=0)
        errors = np.sqrt(np.diag(gaps @ ratings.covariance @ gaps.T))
        names = [f"{one} over {other}" for other, one in pairwise(games.players)]
        quantile = _quantile(ratings.deals, simultaneous=len(gaps))
        claims |= _intervals(names, gaps @ ratings.elo, quantile * errors)
    shares = 100 * mean_by_deal(fractional_wins(games.places), games.deal)
    seats = shares.shape[1] if shares.shape[1] > 2 else 1  # of two seats, the second wins what the first does not
    mean, half = _mean(shares[:, :seats] - 100 / shares.shape[1], simultaneous=seats)
    claims |= _intervals([f"seat {seat + 1}" for seat in range(seats)], mean, half)
    of_games = np.column_stack([games.scores.mean(axis=1), games.rounds])
    points, rounds = np.transpose(_mean(mean_by_deal(of_games, games.deal))).tolist()
    return {"games": len(games), "points": points, "rounds": rounds, "claims": claims}


def _mean(by_deal: Array, simultaneous: int = 1) -> tuple[Array, Array]:
    """Return means over deals, (N,), and the half-widths of their 95% intervals, given values (D, N)."""
    deals = len(by_deal)
    return by_deal.mean(axis=0), _quantile(deals, simultaneous) * by_deal.std(axis=0, ddof=1) / np.sqrt(deals)


def _quantile(deals: int, simultaneous: int) -> float:
    """Return the quantile with which a number of intervals hold simultaneously with 95% (Bonferroni)."""
    return student_quantile(deals, 1 - 0.05 / simultaneous)


def _intervals(names: Sequence[str], values: Array, half: Array) -> dict[str, list[float]]:
    return {name: [float(v), float(v - h), float(v + h)] for name, v, h in zip(names, values, half, strict=True)}


def find_conclusions(reference: str, matchup: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the conclusions of the reference in a matchup, each with the alternatives grouped by result.

    A conclusion holds in an alternative if the interval lies on the same side of zero as in the reference. It is
    contradicted if the interval lies on the other side, and open otherwise. It differs if the two estimates differ by
    more than the half-width of the interval of their difference.

    Args:
        reference: name of the reference component file.
        matchup: a matchup of `sensitivity_results`.
    """
    skipped = {reference, *matchup["unaffected"]}
    others = {name: found["claims"] for name, found in matchup["measured"].items() if name not in skipped}
    for claim, (value, low, high) in matchup["measured"][reference]["claims"].items():
        if low <= 0 <= high:
            continue
        sign = 1 if value > 0 else -1
        results: dict[str, list[str]] = {"holds": [], "open": [], "contradicted": [], "differs": []}
        estimates = [value]
        for name, claims in others.items():
            if claim not in claims:
                continue
            estimate, *ends = claims[claim]
            estimates.append(estimate)
            near, far = min(sign * end for end in ends), max(sign * end for end in ends)
            results["holds" if near > 0 else "contradicted" if far < 0 else "open"].append(name)
            if abs(estimate - value) > np.hypot((high - low) / 2, (ends[1] - ends[0]) / 2):
                results["differs"].append(name)
        yield {
            "matchup": matchup["name"],
            "claim": claim,
            "estimate": [value, low, high],
            "range": [min(estimates), max(estimates)],
            **results,
        }


# --- report

_METHOD = (
    "Facts of the components without a source are reconstructed. Every alternative changes one of them; matchups and "
    "deals' seeds are the same, disabled actions are drawn separately. Effects are percentage points of the win rate "
    "relative to the mean of all actions or abilities, with 95% intervals. Leads are Elo points; seats are "
    "percentage points above the chance level, without the second of two seats, whose value is that of the first with "
    "the other sign. The intervals of the effects of a matchup, of its leads and of its seats hold simultaneously. A "
    "conclusion of the reference holds in an alternative if the 95% "
    "interval there is on the same side of 0. It is contradicted if the interval is on the other side, and open "
    "otherwise; then more games may decide. The size differs in an alternative if the difference from the reference "
    "is larger than both half-widths together (root of the sum of squares). Alternatives that do not change the rules "
    "of a matchup are not counted there; their games show what chance alone does."
)


def sensitivity_report_files(data: Mapping[str, Any], name: str, title: str) -> dict[Path, bytes]:
    """Return the report page of an analysis and its figures.

    Args:
        data: the results from `sensitivity_results`.
        name: prefix of the file names.
        title: title of the page.
    """
    provenance, conclusions = data["provenance"], data["conclusions"]
    games = sum(one["games"] for matchup in data["matchups"] for one in matchup["measured"].values())
    missing = f" {data['missing']:,} more games are planned and not played yet." if data["missing"] else ""
    total = sum(len(one[kind]) for one in conclusions for kind in _RESULTS)
    counts = {kind: sum(len(one[kind]) for one in conclusions) for kind in _RESULTS}
    differing = sum(len(one["differs"]) for one in conclusions)
    paragraphs = [
        f"# {escape_markdown(title)}",
        (
            f"{games:,} games with seed {provenance['seed']}, plan {code_span(provenance['plan'])}; "
            f"{provenance['environment']}, helsinki-env {provenance['package']}.{missing} Generated by"
        ),
        f"    {printable(provenance['command'])}",
        _METHOD,
        "## Result",
        (
            f"The reference {code_span(data['reference'])} has {len(conclusions)} conclusions. Of {total} comparisons "
            f"with {len(data['alternatives'])} alternatives, {counts['holds']} hold, {counts['open']} are open, and "
            f"{counts['contradicted']} are contradicted. The size differs in {differing}. {_null_comparisons(data)}"
        ),
        "## Alternatives",
        _alternatives(data),
    ]
    files = {}
    for number, matchup in enumerate(data["matchups"], 1):
        image = Path("images", f"{name}-{number}.svg")
        files[image] = _figure(matchup, data["reference"])
        rows = [_row(one) for one in conclusions if one["matchup"] == matchup["name"]]
        paragraphs += [
            f"## {escape_markdown(matchup['name'])}",
            f"![Estimates of the reference and of all alternatives]({image.as_posix()})",
            markdown_table(
                ("conclusion", "reference", "95% CI", "range", "holds", "open", "contradicted", "size differs with"),
                rows,
            )
            if rows
            else "The reference has no conclusion.",
        ]
    return {Path(f"{name}.md"): ("\n\n".join(paragraphs) + "\n").encode(), **files}


_RESULTS = ("holds", "open", "contradicted")


def _null_comparisons(data: Mapping[str, Any]) -> str:
    """Return a sentence about the comparisons with alternatives that do not change the rules of a matchup."""
    reference, kinds = data["reference"], (*_RESULTS, "differs")
    found = dict.fromkeys(kinds, 0)
    for matchup in data["matchups"]:
        names = (reference, *matchup["unaffected"])
        measured = {name: one for name, one in matchup["measured"].items() if name in names}  # some may be missing
        same = {"name": matchup["name"], "unaffected": [], "measured": measured}
        for one in find_conclusions(reference, same):
            for kind in kinds:
                found[kind] += len(one[kind])
    if not (total := sum(found[kind] for kind in _RESULTS)):
        return ""
    return (
        f"Of {total} more comparisons with unchanged rules, {found['holds']} hold, {found['open']} are open, "
        f"{found['contradicted']} are contradicted and {found['differs']} differ in size."
    )


def _alternatives(data: Mapping[str, Any]) -> str:
    """Return the table of alternatives, with mean points and rounds in every matchup and their 95% half-widths."""
    rows = []
    for one in ({"components": data["reference"], "fact": "", "reason": ""}, *data["alternatives"]):
        name = one["components"]
        found = [matchup["measured"][name] for matchup in data["matchups"] if name in matchup["measured"]]
        kinds = (*_RESULTS, "differs")
        counts = {kind: sum(name in claim[kind] for claim in data["conclusions"]) for kind in kinds}
        rows.append(
            (
                code_span(name),
                escape_markdown(one["fact"]),
                escape_markdown(one["reason"]),
                *(str(counts[kind]) if one["fact"] else "" for kind in kinds),
                *(
                    " / ".join("{:.2f} ± {:.2f}".format(*matchup[key]) for matchup in found)
                    for key in ("points", "rounds")
                ),
            )
        )
    results = *_RESULTS, "size differs"
    head = ("components", "fact", "why plausible", *results, "points by matchup", "rounds by matchup")
    return markdown_table(head, rows, left=3)


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    value, low, high = one["estimate"]
    against, other = (", ".join(map(code_span, one[kind])) or "none" for kind in ("contradicted", "differs"))
    return (
        escape_markdown(one["claim"].replace("_", " ")),
        f"{value:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        f"{one['range'][0]:+.1f} to {one['range'][1]:+.1f}",
        f"{len(one['holds'])} of {sum(len(one[kind]) for kind in _RESULTS)}",
        str(len(one["open"])),
        against,
        other,
    )


def _figure(matchup: Mapping[str, Any], reference: str) -> bytes:
    """Draw the estimates of a matchup: the reference with intervals, and each alternative as a dot."""
    measured = {name: one for name, one in matchup["measured"].items() if name not in matchup["unaffected"]}
    claims = sorted(measured[reference]["claims"].items(), key=lambda item: item[1][0])
    with styled_figure(1, 1, 6.4, 0.9 + 0.26 * len(claims)) as (figure, panels):
        axis = panels[0, 0]
        for y, (claim, (value, low, high)) in enumerate(claims):
            others = [one["claims"][claim][0] for one in measured.values() if claim in one["claims"]]
            axis.plot(others, [y] * len(others), "o", color=LINE_COLORS[1], alpha=0.5, markersize=3.5)
            axis.plot((low, high), (y, y), color=LINE_COLORS[0], linewidth=1.5)
            axis.plot(value, y, "o", color=LINE_COLORS[0], markersize=5)
        axis.axvline(0, color="#888888", linewidth=0.8)
        axis.set_yticks(range(len(claims)), [claim.replace("_", " ") for claim, _ in claims])
        axis.set_xlabel("estimate; blue: the reference with its 95% interval, orange: alternatives")
        return figure_to_svg(figure)
