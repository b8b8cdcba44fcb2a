"""Sections of the results of a study, each from the games of one or two parts, as plain data before rounding."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.balance import interactions
from helsinki_env.evaluation.balance.effects import estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.conclusions import STRONGEST_CLASSES, EffectEstimates, Finding, findings
from helsinki_env.evaluation.balance.helsinki.confirmation import HANDICAP_KINDS, confirmatory_result, select_candidates
from helsinki_env.evaluation.balance.helsinki.covers import (
    FIRST_GAME,
    GroupMeans,
    action_use_entropy,
    group_by_cover,
    group_measures,
    seat_win_rates,
)
from helsinki_env.evaluation.balance.helsinki.played_parts import PlayedParts
from helsinki_env.evaluation.balance.helsinki.screening import ScreeningEstimates, ablation_games
from helsinki_env.evaluation.balance.helsinki.study import (
    PUBLISHED_GAMES,
    StudyConfig,
    cover_matchup,
    qualification_matchup,
    quality_matchup,
    screening_matchup,
    skill_matchup,
    uncovered_matchup,
    variant_matchup,
)
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.games.helsinki.components import BOARD_ACTIONS


def qualification_data(config: StudyConfig, played: PlayedParts) -> list[dict[str, Any]]:
    """Return whether players keep their rating relative to the reference when actions are disabled."""
    found = []
    for entry in config.classes:
        for n in config.players:
            names = [qualification_matchup(entry.player, n, denied) for denied in (False, True)]
            tables = [played.tables("gate").get(name) for name in names]
            if None in tables:
                continue
            ratings = [rate(table, reference=config.gate.reference, seed=config.seed) for table in tables]  # type: ignore[arg-type]
            at = [r.players.index(entry.player) for r in ratings]
            elo = [float(r.elo[i]) for r, i in zip(ratings, at, strict=True)]
            error = [float(r.error[i]) for r, i in zip(ratings, at, strict=True)]
            lost, spread = elo[0] - elo[1], math.hypot(*error)
            found.append(
                {
                    "player": entry.player,
                    "players": n,
                    "games": sum(len(table) for table in tables if table is not None),
                    "full_board": elo[0],
                    "full_board_error": error[0],
                    "five_denied": elo[1],
                    "five_denied_error": error[1],
                    "lost": lost,
                    "lost_low": lost - 1.96 * spread,
                    "lost_high": lost + 1.96 * spread,
                    "admitted": lost - 1.96 * spread <= config.gate.lost,
                }
            )
    return found


def rejected_players(gate: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the players that the qualification rejects as evaluators."""
    return {entry["player"] for entry in gate if not entry["admitted"]}


def strongest_of(data: Mapping[str, Any], players: int) -> Mapping[str, Any]:
    """Return the screening results of the strongest evaluator, or of all classes if there is none."""
    left_out = rejected_players(data.get("gate", ()))
    entries: list[Mapping[str, Any]] = [entry for entry in data["screen"] if entry["players"] == players]
    return ([entry for entry in entries if entry["player"] not in left_out] or entries)[-1]


def screening_data(
    player: str, rank: int, n: int, played: PlayedParts, found: ScreeningEstimates, judged: Sequence[Finding]
) -> dict[str, Any]:
    """Return the marginal effect of each action for a player."""
    name = screening_matchup(player, n)
    table, course = played.tables("screen")[name], played.courses("screen")[name]
    first = course.first_use.astype(np.float64)
    first[first < 0] = np.nan
    had = ~decode_action_sets(table.denied)
    actions = []
    for i, action in enumerate(BOARD_ACTIONS):
        uses = first[..., i][had[..., i] & ~np.isnan(first[..., i])]
        actions.append(
            {
                "action": action,
                "power": found.effects.power[i],
                "power_error": found.effects.error[i],
                "deviation": judged[i].deviation,
                "deviation_error": judged[i].error,
                "deviation_low": judged[i].low,
                "deviation_high": judged[i].high,
                "margin": found.margins.power[i],
                "margin_error": found.margins.error[i],
                "naive": found.naive[i],
                "usage": found.usage[i],
                "first_use": float(uses.mean()) if len(uses) else math.nan,
            }
        )
    return {
        "player": player,
        "strength": rank,
        "players": n,
        "games": len(table),
        "blocks": found.effects.blocks,
        "worth_of_games": found.worth_of_games,
        "missing_games": table.missing,
        "mean_power": float(found.effects.power.mean()),
        "seat_win_share": found.effects.seat,
        "actions": actions,
    }


def interaction_data(config: StudyConfig, played: PlayedParts, left_out: Container[str] = ()) -> list[dict[str, Any]]:
    """Return the interactions of pairs of actions, for the one of the two strongest evaluators with more games.

    There are 105 pairs, and slow players have too few games to separate them.
    """
    found = []
    one, two = np.triu_indices(len(BOARD_ACTIONS), 1)
    for n in config.players:
        tables = [
            (entry.player, played.tables("screen")[screening_matchup(entry.player, n)])
            for entry in config.classes
            if entry.player not in left_out and screening_matchup(entry.player, n) in played.tables("screen")
        ]
        if not tables:
            continue
        player, table = max(reversed(tables[-STRONGEST_CLASSES:]), key=lambda one: len(one[1]))
        try:
            pairs = interactions.estimate_interactions(ablation_games(table), level=config.level, seed=config.seed)
        except RatingError as problem:  # a small study still gives an estimate
            found.append({"player": player, "players": n, "left_out": str(problem)})
            continue
        adjusted = pairs.pair_adjusted[one, two]
        found.append(
            {
                "player": player,
                "players": n,
                "shapley": pairs.shapley,
                "shapley_low": pairs.shapley_low,
                "shapley_high": pairs.shapley_high,
                "pair": pairs.pair,
                "pair_error": pairs.pair_error,
                "found": [
                    {
                        "actions": [BOARD_ACTIONS[i], BOARD_ACTIONS[j]],
                        "together": pairs.pair[i, j],
                        "error": pairs.pair_error[i, j],
                        "p": pairs.pair_p[i, j],
                        "false_discovery_rate": rate_,
                    }
                    for i, j, rate_ in zip(one.tolist(), two.tolist(), adjusted.tolist(), strict=True)
                    if rate_ <= 1 - config.level
                ],
            }
        )
    return found


def variant_data(config: StudyConfig, played: PlayedParts) -> list[dict[str, Any]]:
    """Return the deviations with other component files, preceded by the study's own if the same player plays both."""
    if not played.has("variants"):
        return []
    found = []
    player = config.variants.player
    for components in (config.components, *config.variants.components):
        for n in config.players:
            own = components == config.components
            part, name = (
                ("screen", screening_matchup(player, n)) if own else ("variants", variant_matchup(components, n))
            )
            table = played.tables(part).get(name)
            if table is None:
                continue
            effects = estimate_win_effects(ablation_games(table))
            judged = findings([EffectEstimates(n, player, 0, effects.power, effects.covariance)], config.level)
            found.append(
                {
                    "components": Path(components).stem,
                    "player": player,
                    "players": n,
                    "games": len(table),
                    "deviation": [one.deviation for one in judged],
                    "error": [one.error for one in judged],
                    "low": [one.low for one in judged],
                    "high": [one.high for one in judged],
                }
            )
    return found


def _measured(found: Mapping[str, GroupMeans], row: int) -> dict[str, Any]:
    return {name: {"mean": m.mean[row], "error": m.error[row]} for name, m in found.items()}


def quality_data(config: StudyConfig, played: PlayedParts) -> list[dict[str, Any]]:
    """Return the measures of the games that the rulebook offers."""
    found = []
    for kind in PUBLISHED_GAMES:
        for entry in config.classes:
            for n in config.players:
                name = quality_matchup(kind, entry.player, n)
                table = played.tables("quality").get(name)
                if table is None:
                    continue
                course, alike = played.courses("quality")[name], np.zeros(len(table), np.int64)
                scores = np.bincount(np.clip(table.scores.ravel(), 0, None))
                found.append(
                    {
                        "game": kind,
                        "player": entry.player,
                        "players": n,
                        "games": len(table),
                        "measures": _measured(group_measures(table, alike, 1, course), 0),
                        "usage_entropy": float(action_use_entropy(table, alike, 1)[0]),
                        "seats": seat_win_rates(table),
                        "scores": scores,
                    }
                )
    return found


def skill_data(config: StudyConfig, played: PlayedParts) -> list[dict[str, Any]]:
    """Return the advantage of each class over the next weaker one in the published games."""
    found = []
    for kind in PUBLISHED_GAMES:
        for n in config.players:
            for weaker, stronger in pairwise(config.names(n)):
                table = played.tables("quality").get(skill_matchup(kind, weaker, stronger, n))
                if table is None:
                    continue
                ratings = rate(table, reference=weaker, seed=config.seed)
                i = ratings.players.index(stronger)
                found.append(
                    {
                        "game": kind,
                        "players": n,
                        "weaker": weaker,
                        "stronger": stronger,
                        "games": len(table),
                        "rating": float(ratings.elo[i]),
                        "error": float(ratings.error[i]),
                        "low": float(ratings.low[i]),
                        "high": float(ratings.high[i]),
                        "win_share": float(ratings.statistics.win_rate[i]),
                        "win_share_low": float(ratings.statistics.low[i]),
                        "win_share_high": float(ratings.statistics.high[i]),
                    }
                )
    return found


def cover_data(config: StudyConfig, played: PlayedParts) -> list[dict[str, Any]]:
    """Return the distribution over all sets of five covered actions, and the replayed sets."""
    found = []
    for n in config.players:
        table, again = (played.tables(part).get(cover_matchup(n)) for part in ("covers", "again"))
        if table is None:
            continue
        sets, group = group_by_cover(table)
        first = group_measures(table, group, len(sets))
        entry: dict[str, Any] = {
            "players": n,
            "games": len(table),
            "sets": len(sets),
            "distribution": {name: np.sort(m.mean) for name, m in first.items()},
            "first_game": _measured(first, int(np.flatnonzero(sets == FIRST_GAME)[0])) if FIRST_GAME in sets else None,
            "nothing_covered": None,
            "again": [],
        }
        bare = played.tables("again").get(uncovered_matchup(n))
        if bare is not None:
            alike, course = np.zeros(len(bare), np.int64), played.courses("again")[uncovered_matchup(n)]
            entry["nothing_covered"] = {
                "games": len(bare),
                "measures": _measured(group_measures(bare, alike, 1, course), 0),
                "usage_entropy": float(action_use_entropy(bare, alike, 1)[0]),
            }
        if again is not None:
            course = played.courses("again")[cover_matchup(n)]
            chosen, which = group_by_cover(again)
            fresh = group_measures(again, which, len(chosen), course)
            evenness = action_use_entropy(again, which, len(chosen))
            entry["again_games"] = len(again)
            entry["again"] = [
                {
                    "covered": [BOARD_ACTIONS[i] for i in range(len(BOARD_ACTIONS)) if covered >> i & 1],
                    "first_game": covered == FIRST_GAME,
                    "measures": _measured(fresh, row),
                    "usage_entropy": evenness[row],
                }
                for row, covered in enumerate(chosen.tolist())
            ]
        found.append(entry)
    return found


def confirmation_data(config: StudyConfig, played: PlayedParts, left_out: Container[str] = ()) -> list[dict[str, Any]]:
    """Return the results of the confirmatory tests."""
    if not played.has("confirm") or not played.has("screen"):  # the screening experiment names the candidates
        return []
    found = []
    for suspect in select_candidates(config, list(played.tables("screen").values()), left_out):
        for way in HANDICAP_KINDS:
            table = played.tables("confirm").get(suspect.table(way))
            if table is None:
                continue
            c = confirmatory_result(table, suspect, way, config.confirm)
            found.append(
                {
                    **asdict(suspect),
                    "way": way,
                    "worth": c.worth,
                    "error": c.error,
                    "decks": c.decks,
                    "verdict": c.test.verdict if c.test else None,
                    "stopped_after": c.test.blocks if c.test else None,
                    "path": c.path,
                    "bounds": c.bounds,
                }
            )
    return found
