"""Play a study from its configuration: part by part, each a resumable tournament."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helsinki_env.data import read_json, shorten
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.balance.helsinki import report_data
from helsinki_env.evaluation.balance.helsinki.confirmation import select_candidates
from helsinki_env.evaluation.balance.helsinki.covers import extreme_covers
from helsinki_env.evaluation.balance.helsinki.part_configs import write_or_check_config
from helsinki_env.evaluation.balance.helsinki.played_parts import PlayedParts
from helsinki_env.evaluation.balance.helsinki.study import StudyConfig, StudyError, cover_matchup
from helsinki_env.utils.files import is_file

__all__ = ["open_study", "plan_of", "read_study"]

_CONFIG = "study.json"


def open_study(config: StudyConfig, folder: Path) -> None:
    """Create a study in a folder, or resume the one in it.

    Raises:
        StudyError: if the folder holds another study.
        OSError: if the folder cannot be written.
    """
    write_or_check_config(
        folder / _CONFIG, config.to_dict(), lambda data: StudyConfig.from_dict(data).to_dict(), "a study"
    )


def read_study(folder: Path) -> StudyConfig:
    """Return the study in a folder.

    Raises:
        StudyError: if there is none, or it is damaged.
    """
    path = folder / _CONFIG
    if not is_file(path):
        raise StudyError(f"{shorten(folder)}: found no study; helsinki balance run makes one")
    return StudyConfig.from_dict(read_json(path, StudyError))


def plan_of(config: StudyConfig, folder: Path, part: str) -> Plan | None:
    """Return the plan of a part; None if the study omits it.

    Raises:
        ArenaError: if it depends on a part that has not been played.
    """
    if part == "again":
        tables = {table.name: table for table in _finished(config, folder, "covers")}
        counts = [n for n in config.players if config.covers.decks.get(n)]
        generator = np.random.default_rng([config.seed, 3])
        return config.plan(
            part, [extreme_covers(tables[cover_matchup(n)], config.covers.again, generator) for n in counts]
        )
    if part == "confirm":
        screen = _finished(config, folder, "screen")
        left_out: set[str] = set()
        if config.confirm.player is None and _finished(config, folder, "gate"):
            left_out = report_data.rejected_players(report_data.qualification_data(config, PlayedParts(config, folder)))
        return config.plan(part, select_candidates(config, screen, left_out))
    return config.plan(part)


def _finished(config: StudyConfig, folder: Path, part: str) -> list[MatchupGames]:
    if config.plan(part) is None:
        return []
    tables = load_run(folder / part)
    missing = sum(table.missing for table in tables)
    if missing:
        raise StudyError(f"{folder / part}: {missing:,} games are missing; helsinki balance run goes on with them")
    return tables
