"""Collect all results of a study as plain data, the only input of the report.

Every played part is read, whether the study is finished or not. The result depends only on the games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.data import Node, read_json, shorten, with_digest
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.balance.helsinki import report_data
from helsinki_env.evaluation.balance.helsinki.conclusions import (
    EffectEstimates,
    Finding,
    draw_conclusions,
    findings,
    summarize_conclusions,
    with_enough_classes,
)
from helsinki_env.evaluation.balance.helsinki.played_parts import PlayedParts
from helsinki_env.evaluation.balance.helsinki.report_schema import check_study_report
from helsinki_env.evaluation.balance.helsinki.screening import estimate_screening
from helsinki_env.evaluation.balance.helsinki.study import STUDY_PARTS, StudyConfig, StudyError, screening_matchup
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.position import ENV_VERSION

__all__ = [
    "ESTIMATOR",
    "conclusions_of",
    "findings_of",
    "read_results",
    "software_versions",
    "study_results",
    "to_json_data",
]

ESTIMATOR = "logit of the winner"
"""Name of the estimator (`helsinki_env.evaluation.balance.effects`). Studies without this key used full rankings."""
#: Decimals in the output: much finer than any interval, coarse enough to hide differences in CPU rounding.
_DECIMALS = 5


def study_results(config: StudyConfig, folder: Path, command: str = "helsinki balance report") -> dict[str, Any]:
    """Return all results of a study, with a digest.

    Args:
        config: the study.
        folder: folder of its parts.
        command: command that reproduces the results, for the report.

    Raises:
        ArenaError: if a part cannot be read.
        RatingError: if a part has too few games.
        StudyError: if no game has been played, or games were added in the meantime.
    """
    played = PlayedParts(config, folder)
    if not any(map(played.has, STUDY_PARTS)):
        raise StudyError(
            f"{shorten(folder)}: found a study of which no game has been played yet, expected some "
            f"(helsinki balance run --out {shorten(folder)} plays it)"
        )
    screen = {
        (entry.player, n): (rank, estimate_screening(played.tables("screen")[screening_matchup(entry.player, n)]))
        for rank, entry in enumerate(config.classes)
        for n in config.players
        if screening_matchup(entry.player, n) in played.tables("screen")
    }
    measured = [
        EffectEstimates(n, player, rank, found.effects.power, found.effects.covariance)
        for (player, n), (rank, found) in screen.items()
    ]
    found = findings(measured, config.level) if measured else []
    gate = report_data.qualification_data(config, played)
    data = {
        "study": config.to_dict(),
        "provenance": {**_provenance(played), "command": command},
        "estimator": ESTIMATOR,
        "actions": list(BOARD_ACTIONS),
        "gate": gate,
        "screen": [
            report_data.screening_data(
                player, rank, n, played, entry, [one for one in found if (one.player, one.players) == (player, n)]
            )
            for (player, n), (rank, entry) in screen.items()
        ],
        "pairs": report_data.interaction_data(config, played, report_data.rejected_players(gate)),
        "variants": report_data.variant_data(config, played),
        "quality": report_data.quality_data(config, played),
        "skill": report_data.skill_data(config, played),
        "covers": report_data.cover_data(config, played),
        "confirm": report_data.confirmation_data(config, played, report_data.rejected_players(gate)),
    }
    return _with_verdicts(to_json_data(data))


def read_results(path: Path) -> dict[str, Any]:
    """Return the results in the JSON file of a report, with conclusions derived again.

    Args:
        path: JSON file of the report.

    Raises:
        StudyError: if the file is invalid, was changed, or holds something else. The message names file and key.
    """
    return _results_in(read_json(path, StudyError))


def _results_in(data: Node) -> dict[str, Any]:
    data.verify_digest("the data of a study of balance")
    check_study_report(data)
    with data.prefix_errors():
        return _with_verdicts(data.value)


def _with_verdicts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with conclusions derived from the rounded numbers, as any reader of the file can do."""
    verdicts, sentences = _judged(data)
    told = {key: value for key, value in data.items() if key != "digest"}
    return with_digest(told | {"verdicts": verdicts, "summary": sentences})


def _judged(data: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return conclusions and their summary sentences for numbers of players with at least two classes."""
    found, study = with_enough_classes(findings_of(data)), data["study"]
    if not found:
        return [], []
    verdicts = draw_conclusions(found, study["band"], study["level"])
    told: list[dict[str, Any]] = to_json_data([asdict(verdict) for verdict in verdicts])
    return told, summarize_conclusions(verdicts, found)


def findings_of(data: Mapping[str, Any]) -> list[Finding]:
    """Return the findings in the data of a study."""
    refused = report_data.rejected_players(data["gate"])
    return [
        Finding(
            players=entry["players"],
            player=entry["player"],
            strength=entry["strength"],
            action=action["action"],
            power=action["power"],
            deviation=action["deviation"],
            error=action["deviation_error"],
            low=action["deviation_low"],
            high=action["deviation_high"],
        )
        for entry in data["screen"]
        if entry["player"] not in refused
        for action in entry["actions"]
    ]


def conclusions_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the conclusions derived from the data alone."""
    return _judged(data)[0]


def to_json_data(value: Any) -> Any:
    """Return plain data for JSON: NaN becomes None, arrays become lists, keys become text."""
    if isinstance(value, Mapping):
        return {str(key): to_json_data(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return to_json_data(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json_data(item) for item in value]
    if isinstance(value, bool | str | int | None):
        return value
    number = float(value)
    return None if math.isnan(number) else round(number, _DECIMALS) + 0.0


def _provenance(played: PlayedParts) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    networks: dict[str, str] = {}
    for part in STUDY_PARTS:
        if played.has(part):
            run = RunFolder.open(played.folder / part)
            plan = run.plan
            networks |= run.networks
            tables = played.tables(part).values()
            games = sum(len(table) for table in tables)
            parts[part] = {"seed": plan.seed, "plan": plan.digest, "games": games, "missing_games": plan.games - games}
    return {**software_versions(), "networks": networks, "parts": parts}


def software_versions() -> dict[str, str]:
    """Return the versions of the software that made the estimates."""
    return {
        "environment": f"helsinki_v{ENV_VERSION}",
        "package": helsinki_env.__version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }
