"""Estimate the effects of single actions or abilities from a run in which seats were randomly denied some of them.

The `boards` key of the matchup defines the random restrictions. `helsinki_env.evaluation.balance.effects` estimates the
effect on winning in a multinomial logit model, and the effect on the margin in points in a linear model. Both models
include seat effects. Intervals are simultaneous over all items that were denied in a matchup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.designs import MIN_SCREENING_DEALS
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    estimate_margin_effects,
    estimate_win_effects,
    simultaneous_half_widths,
)
from helsinki_env.evaluation.figure_style import LINE_COLORS, figure_to_svg, styled_figure
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.utils.markdown import code_span, escape_markdown, markdown_table, printable

__all__ = ["AblationEffect", "ablation_effects", "ablation_report_files", "denied_items"]


_METHOD = (
    "Every seat was denied its own random set. The effect of an item is how many more games per 100 a seat wins with "
    "the item than without it: the average marginal effect in a logit model of the winner with seat effects. Points "
    "are the effect on the score margin over the mean of the other seats. All intervals of a column hold "
    "simultaneously with 95% probability; deals are the independent units. Some components are reconstructed; "
    "docs/balance-results.md shows what depends on them."
)


@dataclass(frozen=True)
class AblationEffect:
    """The effect of having an action or ability in a matchup, compared with being denied it."""

    name: str
    power: tuple[float, float, float]  # effect on the win rate in percentage points, simultaneous 95% interval
    points: tuple[float, float, float]  # effect on the margin over the mean of the other seats, with its interval
    denied: int  # number of seats that were denied it, summed over all games
    used: float  # fraction of seats with access to it that used or took it


def ablation_effects(matchup: MatchupGames) -> list[AblationEffect]:
    """Return the effects of all items (board actions or abilities) that some seats of a matchup were denied.

    Raises:
        RatingError: if nothing was denied or an effect is not identifiable.
    """
    names, ids, denied, covered = denied_items(matchup)
    used = (matchup.used[:, :, None] >> np.array(ids)) & 1 > 0
    wins = estimate_win_effects(AblationGames(denied, matchup.places, matchup.deal))
    points = estimate_margin_effects(denied, matchup.scores, matchup.deal)
    intervals = zip(_intervals(wins.power, wins.covariance), _intervals(points.power, points.covariance), strict=True)
    out = []
    for i, (power, margin) in enumerate(intervals):
        had = ~denied[:, :, i] & ~covered[:, :, i]
        share = float(used[:, :, i][had].mean())
        out.append(AblationEffect(names[i], power, margin, int(denied[:, :, i].sum()), share))
    return out


def denied_items(matchup: MatchupGames) -> tuple[list[str], list[int], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the items (board actions or abilities) that some seats of a matchup were denied.

    Returns:
        names and ids of the A items, the items denied to each seat, bool (G, S, A), and the items covered for all seats
        of a game, bool (G, 1, A), which do not count as denied.

    Raises:
        RatingError: if nothing was denied.
    """
    all_names = spec_of(matchup.config).deniable
    if not len(matchup):
        raise RatingError(f"matchup {matchup.name!r}: found no games yet, expected some (helsinki arena plays them)")
    # The effect of an action that is covered whenever it is denied is not identifiable.
    ids = [number for number in all_names if ((matchup.denied & ~matchup.covered[:, None]) >> number & 1).any()]
    if not ids:
        raise RatingError(
            f"matchup {matchup.name!r}: found nothing denied to any seat, expected random sets; use boards with denied "
            "in its file"
        )
    covered = ((matchup.covered[:, None] >> np.array(ids)) & 1 > 0)[:, None]
    denied = ((matchup.denied[:, :, None] >> np.array(ids)) & 1 > 0) & ~covered
    return [all_names[number] for number in ids], ids, denied, covered


def _intervals(values: Any, covariance: Any) -> list[tuple[float, float, float]]:
    """Return each value with the endpoints of its simultaneous 95% interval."""
    half = simultaneous_half_widths(covariance)
    return [(float(v), float(v - h), float(v + h)) for v, h in zip(values, half, strict=True)]


def ablation_report_files(
    matchups: Sequence[MatchupGames], name: str, title: str, provenance: Mapping[str, Any]
) -> tuple[dict[Path, bytes], dict[str, Any]]:
    """Return the report page with its figure, and the same results as JSON-serializable data.

    Args:
        matchups: the matchups of a run; matchups without games are omitted.
        name: prefix of the file names.
        title: title of the page.
        provenance: seed, plan digest, environment and package versions, and the command.

    Raises:
        RatingError: if the effects of a matchup are not identifiable.
    """
    matchups = [matchup for matchup in matchups if len(matchup)] or matchups
    effects_by_matchup = {matchup.name: ablation_effects(matchup) for matchup in matchups}
    data = {
        "provenance": dict(provenance),
        "matchups": {
            matchup.name: {
                "players": matchup.config.num_players,
                "player": list(matchup.players),
                "games": len(matchup),
                "effects": [asdict(one) for one in effects_by_matchup[matchup.name]],
            }
            for matchup in matchups
        },
    }
    games = sum(len(matchup) for matchup in matchups)
    paragraphs = [
        f"# {escape_markdown(title)}",
        (
            f"{games:,} games with seed {provenance['seed']}, plan {code_span(provenance['plan'])}; "
            f"{provenance['environment']}, helsinki-env {provenance['package']}. Generated by"
        ),
        f"    {printable(provenance['command'])}",
        _METHOD,
        f"![Effect of each item](images/{name}.svg)",
        *(text for matchup in matchups for text in _section(matchup, effects_by_matchup[matchup.name])),
    ]
    page = ("\n\n".join(paragraphs) + "\n").encode()
    return {Path(f"{name}.md"): page, Path("images", f"{name}.svg"): _figure(matchups, effects_by_matchup)}, data


def _section(matchup: MatchupGames, found: Sequence[AblationEffect]) -> Iterator[str]:
    """Yield the paragraphs about a matchup."""
    names = ", ".join(code_span(player) for player in matchup.players)
    yield f"## {escape_markdown(matchup.name)}"
    missing = f"; {matchup.missing:,} more are planned and not played yet" if matchup.missing else ""
    yield f"{len(matchup):,} games, {names} in all seats{missing}."
    if (deals := len(np.unique(matchup.deal))) < MIN_SCREENING_DEALS:
        yield f"With {deals} deals, these intervals are too narrow. Play at least {MIN_SCREENING_DEALS} deals."
    rows = [
        (
            code_span(one.name),
            f"{one.power[0]:+.1f}",
            f"{one.power[1]:+.1f} to {one.power[2]:+.1f}",
            f"{one.points[0]:+.2f}",
            f"{one.points[1]:+.2f} to {one.points[2]:+.2f}",
            f"{one.used:.0%}",
        )
        for one in sorted(found, key=lambda one: -one.power[0])
    ]
    yield markdown_table(("item", "effect", "95% CI", "points", "95% CI", "used by seats with access"), rows)


def _figure(matchups: Sequence[MatchupGames], found: dict[str, list[AblationEffect]]) -> bytes:
    """Draw the marginal effects with their intervals, with one row per item and one color per matchup."""
    names = list(dict.fromkeys(one.name for matchup in matchups for one in found[matchup.name]))
    mean = {
        name: np.mean([one.power[0] for some in found.values() for one in some if one.name == name]) for name in names
    }
    names.sort(key=lambda name: mean[name])
    with styled_figure(1, 1, 6.4, 0.9 + 0.5 * len(names)) as (figure, panels):
        axis = panels[0, 0]
        for i, matchup in enumerate(matchups):
            shift = 0.5 * ((i + 0.5) / len(matchups) - 0.5)
            for one in found[matchup.name]:
                y = names.index(one.name) - shift
                color = LINE_COLORS[i % len(LINE_COLORS)]
                axis.plot(one.power[1:], [y, y], color=color, linewidth=1.5)
                first = one is found[matchup.name][0]
                axis.plot(one.power[0], y, "o", color=color, markersize=4, label=matchup.name if first else None)
        axis.axvline(0, color="#888888", linewidth=0.8)
        axis.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axis.set_xlabel("games won per 100, with simultaneous 95% intervals")
        axis.legend(loc="lower right", frameon=False)
        return figure_to_svg(figure)
