"""Plan the parts of a study, each a resumable tournament, and collect the results for the report.

All parts played so far are read, even if the study is unfinished. The results depend only on the games.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.data import Node, read_json, shorten, with_digest
from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.store import RunFolder, has_games
from helsinki_env.evaluation.balance.effects import estimate_interactions, estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.base import software_versions
from helsinki_env.evaluation.balance.helsinki.conclusions import (
    STRONGEST_CLASSES,
    EffectEstimates,
    Finding,
    draw_conclusions,
    findings,
    findings_of,
    rejected_players,
    summarize_conclusions,
    with_enough_classes,
)
from helsinki_env.evaluation.balance.helsinki.estimates import (
    FIRST_GAME,
    GroupMeans,
    ScreeningEstimates,
    ablation_games,
    action_use_entropy,
    estimate_screening,
    extreme_covers,
    group_by_cover,
    group_measures,
    qualification_data,
    seat_win_rates,
)
from helsinki_env.evaluation.balance.helsinki.replay import Course, replay_run
from helsinki_env.evaluation.balance.helsinki.report import chapters
from helsinki_env.evaluation.balance.helsinki.study import (
    DEPENDENT,
    PUBLISHED_GAMES,
    STUDY_PARTS,
    StudyConfig,
    StudyError,
    matchup_name,
)
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.evaluation.rating.shares import to_json_data
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.utils.files import is_file
from helsinki_env.utils.markdown import all_printable

__all__ = ["ESTIMATOR", "PlayedParts", "conclusions_of", "plan_of", "read_results", "read_study", "study_results"]


def read_study(folder: Path) -> StudyConfig:
    """Return the configuration of the study in a folder; raise StudyError if it is missing or invalid."""
    path = folder / StudyConfig.FILE
    if not is_file(path):
        raise StudyError(f"{shorten(folder)}: found no study, expected one; helsinki balance run creates it")
    return StudyConfig.from_dict(read_json(path, StudyError))


def plan_of(config: StudyConfig, folder: Path, part: str) -> Plan | None:
    """Return the plan of a part, or None if the study omits it.

    Raises ArenaError if the part depends on a part without games, and StudyError if it depends on an unfinished
    part.
    """
    if part == "again":
        matchups = _finished(config, folder, "covers")
        generator = np.random.default_rng([config.seed, 3])
        return config.plan(
            part,
            [extreme_covers(matchups[matchup_name(n)], config.covers.again, generator) for n in config.cover_counts],
        )
    return config.plan(part)


def _finished(config: StudyConfig, folder: Path, part: str) -> dict[str, MatchupGames]:
    """Return the matchups of a part by name; raise StudyError if games are missing."""
    if config.plan(part) is None:
        return {}
    matchups = load_run(folder / part)
    missing = sum(matchup.missing for matchup in matchups)
    if missing:
        raise StudyError(
            f"{folder / part}: found {missing:,} missing games, expected all; helsinki balance run plays them"
        )
    return {matchup.name: matchup for matchup in matchups}


class PlayedParts:
    """The played parts of a study. Each part is read only once."""

    def __init__(self, config: StudyConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        self._matchups: dict[str, dict[str, MatchupGames]] = {}
        self._courses: dict[str, dict[str, Course]] = {}

    def has(self, part: str) -> bool:
        """Return whether games of a part have been played."""
        return has_games(self.folder / part)

    def matchups(self, part: str) -> dict[str, MatchupGames]:
        """Return the matchups with games in a part, by name."""
        if part not in self._matchups:
            if self.has(part):
                self._check_plan(part)
            matchups = load_run(self.folder / part) if self.has(part) else []
            self._matchups[part] = {matchup.name: matchup for matchup in matchups if len(matchup)}
        return self._matchups[part]

    def _check_plan(self, part: str) -> None:
        """Raise StudyError if the games belong to another study, which may have been started in the same folder."""
        played = RunFolder.open(self.folder / part).plan
        if part == DEPENDENT:
            same = played.seed == self.config.seed_of(part)
        else:
            plan = self.config.plan(part)
            same = plan is not None and played.digest == plan.digest
        if not same:
            raise StudyError(
                f"{self.folder / part}: found games of another study, with seed {played.seed}, expected games of the "
                f"study in {StudyConfig.FILE}; play it again in another folder (--out)"
            )

    def courses(self, part: str) -> dict[str, Course]:
        """Return the course of the games of a part, by matchup name."""
        if part not in self._courses:
            # Lines and superstructures score points only at the end, so measure the lead by the current score.
            courses = replay_run(self.folder / part, standing="score") if self.has(part) else {}
            if any(len(courses[name].turns) != len(matchup) for name, matchup in self.matchups(part).items()):
                raise StudyError(
                    f"{self.folder / part}: found games that were added during reading, expected none; write the "
                    "report when no games are being played"
                )
            self._courses[part] = courses
        return self._courses[part]


ESTIMATOR = "logit of the winner"
"""Name of the estimator (`helsinki_env.evaluation.balance.effects`). Studies without this key used full rankings."""


def study_results(config: StudyConfig, folder: Path, command: str = "helsinki balance report") -> dict[str, Any]:
    """Return the results of a study with a digest.

    Args:
        config: the study.
        folder: folder with the games.
        command: command that writes the report, recorded as provenance.

    Raises:
        ArenaError: if a part cannot be read.
        RatingError: if a part has too few games.
        StudyError: if there are no games, or games were added during the call.
    """
    played = PlayedParts(config, folder)
    if not any(map(played.has, STUDY_PARTS)):
        raise StudyError(
            f"{shorten(folder)}: found a study without games, expected some; helsinki balance run --out "
            f"{shorten(folder)} plays them"
        )
    matchups = played.matchups("screening")
    screening = {
        (entry.player, n): (rank, estimate_screening(matchups[matchup_name(n, entry.player)]))
        for rank, entry in enumerate(config.classes)
        for n in config.players
        if matchup_name(n, entry.player) in matchups
    }
    estimates = [
        EffectEstimates(n, player, rank, one.effects.power, one.effects.covariance)
        for (player, n), (rank, one) in screening.items()
    ]
    found = findings(estimates, config.level) if estimates else []
    qualification = qualification_data(config, played.matchups("qualification"))
    rejected = rejected_players(qualification)
    data = {
        "study": config.to_dict(),
        "provenance": {**_provenance(played), "command": command},
        "estimator": ESTIMATOR,
        "actions": list(BOARD_ACTIONS),
        "qualification": qualification,
        "screening": [
            _screening_data(
                played, one, [f for f in found if (f.player, f.players) == (player, n)], matchup_name(n, player)
            )
            for (player, n), (_, one) in screening.items()
        ],
        "pairs": list(_interaction_data(config, matchups, rejected)),
        "variants": list(_variant_data(config, played)),
        "quality": list(_quality_data(config, played)),
        "skill": list(_skill_data(config, played.matchups("quality"))),
        "covers": list(_cover_data(config, played)),
    }
    return _with_conclusions(to_json_data(data))


def read_results(path: Path) -> dict[str, Any]:
    """Read the results from the JSON file of a report and derive the conclusions again.

    Raises:
        StudyError: if the file is invalid, was modified, or is not a report; the message names the file and the key.
    """
    return _results_in(read_json(path, StudyError))


def _results_in(data: Node) -> dict[str, Any]:
    data.verify_digest("the data of a study of balance")
    _check_player_counts(data)
    with data.usable_for("a report of a study of balance"):
        with data.prefix_errors():
            results = _with_conclusions(data.value)
        list(chapters(all_printable(results)))  # fail before any file is written
    return results


def _check_player_counts(data: Node) -> None:
    """Raise the node's error unless all player counts are 2 to 4; a figure of more seats could fill the memory."""
    if isinstance(data.value, dict):
        for key, part in data.items():
            if key == "players" and isinstance(part.value, int | float):
                part.integer(2, 4)
            _check_player_counts(part)
    elif isinstance(data.value, list):
        for part in data.entries("entries"):
            _check_player_counts(part)


def _with_conclusions(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with conclusions derived from the rounded numbers that the file contains."""
    conclusions, sentences = _conclude(data)
    rest = {key: value for key, value in data.items() if key != "digest"}
    return with_digest(rest | {"conclusions": conclusions, "summary": sentences})


def _conclude(data: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the conclusions and summary sentences for all player counts with at least two player classes."""
    enough, study = with_enough_classes(findings_of(data)), data["study"]
    if not enough:
        return [], []
    conclusions = draw_conclusions(enough, study["equivalence_margin"], study["level"])
    return to_json_data([asdict(conclusion) for conclusion in conclusions]), summarize_conclusions(conclusions, enough)


def conclusions_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the conclusions that follow from the estimates in the data."""
    return _conclude(data)[0]


def _provenance(played: PlayedParts) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    networks: dict[str, str] = {}
    for part in STUDY_PARTS:
        if played.has(part):
            run = RunFolder.open(played.folder / part)
            plan = run.plan
            networks |= run.networks
            games = sum(len(matchup) for matchup in played.matchups(part).values())
            parts[part] = {"seed": plan.seed, "plan": plan.digest, "games": games, "missing_games": plan.games - games}
    return {**software_versions(), "networks": networks, "parts": parts}


def _screening_data(
    played: PlayedParts, estimates: ScreeningEstimates, found: Sequence[Finding], name: str
) -> dict[str, Any]:
    """Return the estimates for the player in the matchup `name`."""
    matchup, course = played.matchups("screening")[name], played.courses("screening")[name]
    first = course.first_use.astype(np.float64)
    first[first < 0] = np.nan
    had = ~decode_action_sets(matchup.denied)
    actions = []
    for i, one in enumerate(found):
        uses = first[..., i][had[..., i] & ~np.isnan(first[..., i])]
        actions.append(
            {
                "action": one.action,
                "power": one.power,
                "power_error": estimates.effects.error[i],
                "deviation": one.deviation,
                "deviation_error": one.error,
                "deviation_low": one.low,
                "deviation_high": one.high,
                "margin": estimates.margins.power[i],
                "margin_error": estimates.margins.error[i],
                "naive": estimates.naive[i],
                "usage": estimates.usage[i],
                "first_use": float(uses.mean()) if len(uses) else math.nan,
            }
        )
    return {
        "player": found[0].player,
        "strength": found[0].strength,
        "players": found[0].players,
        "games": len(matchup),
        "blocks": estimates.effects.blocks,
        "worth_of_games": estimates.worth_of_games,
        "missing_games": matchup.missing,
        "mean_power": float(estimates.effects.power.mean()),
        "seat_win_share": estimates.effects.seat,
        "actions": actions,
    }


def _interaction_data(
    config: StudyConfig, matchups: Mapping[str, MatchupGames], left_out: Container[str]
) -> Iterator[dict[str, Any]]:
    """Yield the interactions of pairs of actions, estimated for the study player with more games."""
    one, two = np.triu_indices(len(BOARD_ACTIONS), 1)
    for n in config.players:
        study_players = [
            (entry.player, matchups[matchup_name(n, entry.player)])
            for entry in config.classes
            if entry.player not in left_out and matchup_name(n, entry.player) in matchups
        ]
        if not study_players:
            continue
        player, matchup = max(reversed(study_players[-STRONGEST_CLASSES:]), key=lambda one: len(one[1]))
        try:
            pairs = estimate_interactions(ablation_games(matchup), level=config.level, seed=config.seed)
        except RatingError as problem:  # the other estimates need fewer games
            yield {"player": player, "players": n, "left_out": str(problem)}
            continue
        adjusted = pairs.pair_adjusted[one, two]
        yield {
            "player": player,
            "players": n,
            **{key: getattr(pairs, key) for key in ("shapley", "shapley_low", "shapley_high", "pair", "pair_error")},
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


def _variant_data(config: StudyConfig, played: PlayedParts) -> Iterator[dict[str, Any]]:
    """Yield the deviations for each component file. The study's own file is first, if the same player was screened."""
    if not played.has("variants"):
        return
    player = config.variants.player
    for components in (config.components, *config.variants.components):
        for n in config.players:
            if components == config.components:
                matchup = played.matchups("screening").get(matchup_name(n, player))
            else:
                matchup = played.matchups("variants").get(matchup_name(n, Path(components).stem))
            if matchup is None:
                continue
            effects = estimate_win_effects(ablation_games(matchup))
            found = findings([EffectEstimates(n, player, 0, effects.power, effects.covariance)], config.level)
            yield {
                "components": Path(components).stem,
                "player": player,
                "players": n,
                "games": len(matchup),
                **{key: [getattr(f, key) for f in found] for key in ("deviation", "error", "low", "high")},
            }


def _means(measures: Mapping[str, GroupMeans], row: int) -> dict[str, Any]:
    return {name: {"mean": m.mean[row], "error": m.error[row]} for name, m in measures.items()}


def _measured(matchup: MatchupGames, course: Course) -> dict[str, Any]:
    """Return the measures averaged over all games of a matchup."""
    group = np.zeros(len(matchup), np.int64)
    return {
        "games": len(matchup),
        "measures": _means(group_measures(matchup, group, 1, course), 0),
        "usage_entropy": float(action_use_entropy(matchup, group, 1)[0]),
    }


def _quality_data(config: StudyConfig, played: PlayedParts) -> Iterator[dict[str, Any]]:
    """Yield the measures of the game variants in the rulebook."""
    for kind, entry, n in product(PUBLISHED_GAMES, config.classes, config.players):
        name = matchup_name(n, kind, entry.player)
        if (matchup := played.matchups("quality").get(name)) is not None:
            yield {
                "game": kind,
                "player": entry.player,
                "players": n,
                **_measured(matchup, played.courses("quality")[name]),
                "seats": seat_win_rates(matchup),
                "scores": np.bincount(np.clip(matchup.scores.ravel(), 0, None)),
            }


def _skill_data(config: StudyConfig, matchups: Mapping[str, MatchupGames]) -> Iterator[dict[str, Any]]:
    """Yield the advantage of each player class over the next weaker class in the game variants of the rulebook."""
    for kind, n in product(PUBLISHED_GAMES, config.players):
        for weaker, stronger in pairwise(config.names(n)):
            matchup = matchups.get(matchup_name(n, kind, f"{stronger} against {weaker}"))
            if matchup is None:
                continue
            ratings = rate(matchup, reference=weaker, seed=config.seed)
            i = ratings.players.index(stronger)
            yield {
                "game": kind,
                "players": n,
                "weaker": weaker,
                "stronger": stronger,
                "games": len(matchup),
                "rating": ratings.elo[i],
                **{end: getattr(ratings, end)[i] for end in ("error", "low", "high")},
                "win_share": ratings.statistics.win_rate[i],
                **{f"win_share_{end}": getattr(ratings.statistics, end)[i] for end in ("low", "high")},
            }


def _cover_data(config: StudyConfig, played: PlayedParts) -> Iterator[dict[str, Any]]:
    """Yield the distribution of each measure over all sets of covered actions, and the measures of selected sets."""
    for n in config.players:
        matchup, again = (played.matchups(part).get(matchup_name(n)) for part in ("covers", "again"))
        if matchup is None:
            continue
        sets, group = group_by_cover(matchup)
        first = group_measures(matchup, group, len(sets))
        first_game = np.flatnonzero(sets == FIRST_GAME)
        uncovered = matchup_name(n, "nothing covered")
        bare = played.matchups("again").get(uncovered)
        entry: dict[str, Any] = {
            "players": n,
            "games": len(matchup),
            "sets": len(sets),
            "distribution": {name: np.sort(m.mean) for name, m in first.items()},
            "first_game": _means(first, int(first_game[0])) if len(first_game) else None,
            "nothing_covered": None if bare is None else _measured(bare, played.courses("again")[uncovered]),
            "again": [],
        }
        if again is not None:
            chosen, group = group_by_cover(again)
            fresh = group_measures(again, group, len(chosen), played.courses("again")[matchup_name(n)])
            entropy = action_use_entropy(again, group, len(chosen))
            entry["again_games"] = len(again)
            entry["again"] = [
                {
                    "covered": [action for i, action in enumerate(BOARD_ACTIONS) if covered >> i & 1],
                    "first_game": covered == FIRST_GAME,
                    "skill_before": first["skill"].mean[np.searchsorted(sets, covered)],
                    "measures": _means(fresh, row),
                    "usage_entropy": entropy[row],
                }
                for row, covered in enumerate(chosen.tolist())
            ]
        yield entry
