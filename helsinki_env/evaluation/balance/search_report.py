"""Report of a search: a Markdown page with a figure, a JSON file with all numbers, and the proposed component file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from helsinki_env.evaluation.balance.objectives import GROUPS, Aim, Measurement
from helsinki_env.evaluation.balance.search import SearchConfig, SearchResult, Tested
from helsinki_env.evaluation.figure_style import LINE_COLORS, figure_to_svg, label_panel, styled_figure
from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.evaluation.rating.shares import to_json_data
from helsinki_env.utils.markdown import code_span, escape_markdown, markdown_table, printable

__all__ = ["PROPOSAL", "farthest", "search_report_files", "search_results", "summary_sentences", "wanted_text"]

PROPOSAL = "proposal.yaml"
"""Name of the component file, or game file, with the proposed changes."""


def wanted_text(aim: Aim) -> str:
    """Return the bounds of an aim as text."""
    low, high = (f"{bound:g}" for bound in (aim.low, aim.high))
    if aim.low == aim.high:
        return high
    if not isfinite(aim.low):
        return f"at most {high}"
    return f"{low} to {high}" if isfinite(aim.high) else f"at least {low}"


class FarthestMeasurement(NamedTuple):
    """The measurement of a matchup that is farthest from the bounds of an aim.

    Attributes:
        measurement: the measurement.
        name: its name, as text.
        missed, total: number of measurements of this aim in this matchup outside the bounds, and in all.
    """

    measurement: Measurement
    name: str
    missed: int
    total: int


def farthest(measurements: Iterable[Measurement]) -> Iterator[FarthestMeasurement]:
    """Yield the farthest measurement of each aim in each matchup, given measurements in this order."""
    for _, group in groupby(measurements, key=lambda one: (one.aim, one.matchup)):
        own = list(group)
        worst = max(own, key=lambda one: (one.distance, abs(one.value)))
        yield FarthestMeasurement(worst, worst.name.replace("_", " "), sum(one.distance > 0 for one in own), len(own))


def search_results(config: SearchConfig, result: SearchResult, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results as JSON-serializable data.

    Args:
        config: the search.
        result: its result.
        provenance: environment and package versions, and the command.
    """
    objectives = config.objectives
    measurements = []
    for k, name in enumerate(result.names):
        tested = [[one.values[k], one.errors[k]] for one in result.tested]
        measurements.append({**name._asdict(), "tested": tested})
    proposal = result.proposal
    data: dict[str, Any] = {
        "provenance": {**provenance, "seed": objectives.seed, "games": result.games},
        "search": config.name,
        "objectives": config.objectives_name,
        "components": config.components,
        "aims": [{"measure": aim.measure, "wanted": wanted_text(aim), "weight": aim.weight} for aim in objectives.aims],
        "tested": [
            {"change": config.describe(one.variant), **{key: getattr(one, key) for key in _SCORES}}
            for one in result.tested
        ],
        "proposal": None if proposal is None else config.describe(proposal.variant),
        "measurements": measurements,
        "changes": [
            {"change": config.describe(config.change(config.unchanged, *change)), "gain": gain, "error": error}
            for change, (gain, error) in zip(config.changes, result.changes, strict=True)
        ],
        "effects": result.effects,
        "played": [{**one._asdict(), "variant": config.describe(one.variant)} for one in result.played],
    }
    return dict(to_json_data(data))


_SCORES = ("score", "error", "gain", "low", "high")


def search_report_files(config: SearchConfig, result: SearchResult, data: Mapping[str, Any]) -> dict[Path, bytes]:
    """Return the files of a report, given the results from `search_results`."""
    page = "\n\n".join(_page(config, result, data)) + "\n"
    files = {
        Path("search.md"): page.encode(),
        Path("search.json"): (json.dumps(data, indent=1) + "\n").encode(),
        Path("images/search.svg"): _figure(result),
    }
    if result.proposal is not None:
        content = config.content(result.proposal.variant)
        comment = f"# Proposed by the search {printable(config.name)}: {config.describe(result.proposal.variant)}\n"
        files[Path(PROPOSAL)] = (comment + yaml.safe_dump(content, sort_keys=False)).encode()
    return files


def summary_sentences(config: SearchConfig, result: SearchResult) -> list[str]:
    """Return the result of a search in sentences."""
    before, proposal = result.tested[0], result.proposal
    if proposal is None:
        return [
            f"No change improves the score of {before.score:.2f} significantly.",
            *(f"Tested: {config.describe(one.variant)}: {_interval(one)}." for one in result.tested[1:]),
        ]
    return [
        f"Proposal: {config.describe(proposal.variant)}.",
        f"It reduces the score from {before.score:.2f} to {proposal.score:.2f}: {_interval(proposal)}.",
    ]


def _interval(one: Tested) -> str:
    return f"improvement {one.gain:+.2f} ({one.low:+.2f} to {one.high:+.2f})"


def _page(config: SearchConfig, result: SearchResult, data: Mapping[str, Any]) -> Iterator[str]:
    provenance = data["provenance"]
    yield f"# Search: {escape_markdown(config.name)}"
    yield (
        f"{result.games:,} games with seed {provenance['seed']}; {provenance['environment']}, helsinki-env "
        f"{provenance['package']}. Objectives: {code_span(config.objectives_name)}. Changed components: "
        f"{code_span(config.components)}. Generated by"
    )
    yield f"    {printable(provenance['command'])}"
    yield "\n".join(f"- {escape_markdown(sentence)}" for sentence in summary_sentences(config, result))
    yield "![Score of each variant in the order of play, and the scores of the final test](images/search.svg)"
    yield "*Scores of fewer games are higher, because noise adds to distances. Lines of the final test: 95% intervals.*"
    yield "## Final test"
    yield (
        "Scores in fresh games, with standard errors; lower is better. The intervals of the improvements hold "
        "simultaneously (95%)."
    )
    yield markdown_table(
        ("change", "score", "improvement", "95% CI"),
        [
            (
                escape_markdown(config.describe(one.variant)),
                f"{one.score:.2f} ± {one.error:.2f}",
                *((f"{one.gain:+.2f}", f"{one.low:+.2f} to {one.high:+.2f}") if number else ("", "")),
            )
            for number, one in enumerate(result.tested)
        ],
    )
    yield "## Aims"
    yield "The measurement farthest from its bounds, with its standard error, in the games of the final test."
    yield _aims(config, result)
    yield "## Single changes"
    yield "Predicted improvement of the score by each change alone, with its posterior standard deviation."
    rows = [(escape_markdown(one["change"]), f"{one['gain']:+.2f} ± {one['error']:.2f}") for one in data["changes"]]
    order = sorted(range(len(rows)), key=lambda i: -data["changes"][i]["gain"])
    yield markdown_table(("change", "improvement"), [rows[i] for i in order])
    if result.effects is not None:
        yield "## Effects on the game"
        yield (
            "Effect of each change on the measurements, estimated by least squares from the variants with random "
            "changes. The 95% intervals of a column hold simultaneously; bold: the interval excludes 0. The JSON file "
            "also has those on the effects and the use of actions."
        )
        single = [name for name in result.names if config.objectives.aims[name.aim].measure not in _MANY]
        for matchup in dict.fromkeys(name.matchup for name in single):
            yield f"### {escape_markdown(matchup)}"
            yield _effects(config, result, matchup)


def _effects(config: SearchConfig, result: SearchResult, matchup: str) -> str:
    """Return the table of the effects of changes on the measurements of a matchup that have a column of their own."""
    assert result.effects is not None
    columns = {  # an aim may have several measurements, and several aims the same measurement
        name.name: k
        for k, name in enumerate(result.names)
        if name.matchup == matchup and config.objectives.aims[name.aim].measure not in _MANY
    }
    rows = []
    for number, change in enumerate(config.changes):
        cells = []
        for k in columns.values():
            value, half = result.effects[:, number, k]
            text = f"{value:+.2f} ± {half:.2f}"
            cells.append(f"**{text}**" if abs(value) > half else text)
        rows.append((escape_markdown(config.describe(config.change(config.unchanged, *change))), *cells))
    return markdown_table(("change", *columns), rows)


#: Measures with a measurement for each action, which are in the JSON file only.
_MANY = ("effects", "use")


def _score(one: Tested) -> float:
    return one.score


def _aims(config: SearchConfig, result: SearchResult) -> str:
    chosen = [result.tested[0], *([result.proposal] if result.proposal else sorted(result.tested[1:], key=_score)[:1])]
    columns = []
    for one in chosen:
        distances = config.objectives.distances(result.names, np.array(one.values)).tolist()
        measured = zip(result.names, one.values, one.errors, distances, strict=True)
        columns.append(list(farthest(Measurement(*name, *values) for name, *values in measured)))
    rows = []
    for worst in zip(*columns, strict=True):
        number, matchup = worst[0].measurement.aim, worst[0].measurement.matchup
        cells = []
        for one, name, missed, total in worst:
            text = f"{one.value:.1f} ± {one.error:.1f}"
            cells.append(escape_markdown(f"{name}: {text}, {missed} of {total} missed" if total > 1 else text))
        aim = config.objectives.aims[number]
        rows.append((aim.measure, escape_markdown(matchup), wanted_text(aim), *cells))
    head = ("before", "proposal" if result.proposal else "best finalist")
    return markdown_table(("aim", "matchup", "wanted", *head[: len(chosen)]), rows, left=5)


def _figure(result: SearchResult) -> bytes:
    """Draw the score of each variant in the order of play, and the scores of the final test with 95% intervals."""
    with styled_figure(1, 2, 7.2, 3.0) as (figure, panels):
        left, right = panels[0]
        for label, color, is_random in (
            ("random", LINE_COLORS[5], True),
            ("chosen by the model", LINE_COLORS[0], False),
        ):
            found = [(i, one.score) for i, one in enumerate(result.played, 1) if (one.part == "random") == is_random]
            if found:
                left.plot(*zip(*found, strict=True), "o", color=color, markersize=3.5, label=label)
        left.axhline(result.played[0].score, color="#888888", linestyle="--", linewidth=1, label="before")
        left.set_ylim(bottom=0)
        label_panel(left, "Search, few games", "variants in the order of play", "score (lower is better)")
        for i, one in enumerate(result.tested):
            color = LINE_COLORS[1] if one is result.proposal else "#888888"
            half = student_quantile(GROUPS) * one.error
            right.errorbar(i, one.score, yerr=half, fmt="o", color=color, markersize=5, capsize=3)
        names = [f"finalist {i}" if one is not result.proposal else "proposal" for i, one in enumerate(result.tested)]
        right.set_xticks(range(len(names)), ["before", *names[1:]])
        right.set_xlim(-0.5, len(names) - 0.5)
        right.set_ylim(bottom=0)
        label_panel(right, "Final test, fresh games", legend=None)
        return figure_to_svg(figure)
