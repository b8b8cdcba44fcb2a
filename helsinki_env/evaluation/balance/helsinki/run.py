"""Play the parts of a study, each a resumable tournament, and read their games."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helsinki_env.data import read_json, shorten
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.store import RunFolder, has_games
from helsinki_env.evaluation.balance.helsinki.conclusions import rejected_players
from helsinki_env.evaluation.balance.helsinki.covers import extreme_covers
from helsinki_env.evaluation.balance.helsinki.replay import Course, replay_run
from helsinki_env.evaluation.balance.helsinki.screening import qualification_data, select_candidates
from helsinki_env.evaluation.balance.helsinki.study import DEPENDENT, StudyConfig, StudyError, cover_matchup
from helsinki_env.utils.files import is_file

__all__ = ["PlayedParts", "plan_of", "read_study"]


def read_study(folder: Path) -> StudyConfig:
    """Return the study in a folder.

    Raises:
        StudyError: if there is none, or it is damaged.
    """
    path = folder / StudyConfig.FILE
    if not is_file(path):
        raise StudyError(f"{shorten(folder)}: found no study; helsinki balance run makes one")
    return StudyConfig.from_dict(read_json(path, StudyError))


def plan_of(config: StudyConfig, folder: Path, part: str) -> Plan | None:
    """Return the plan of a part; None if the study omits it.

    Raises:
        ArenaError: if it depends on a part that has not been played.
    """
    if part == "again":
        tables = _finished(config, folder, "covers")
        generator = np.random.default_rng([config.seed, 3])
        return config.plan(
            part,
            [extreme_covers(tables[cover_matchup(n)], config.covers.again, generator) for n in config.cover_counts],
        )
    if part == "confirm":
        screen = _finished(config, folder, "screen")
        left_out: set[str] = set()
        if config.confirm.player is None and _finished(config, folder, "gate"):
            left_out = rejected_players(qualification_data(config, PlayedParts(config, folder).tables("gate")))
        return config.plan(part, select_candidates(config, screen, left_out))
    return config.plan(part)


def _finished(config: StudyConfig, folder: Path, part: str) -> dict[str, MatchupGames]:
    """Return the matchups of a part by name; StudyError if games are missing."""
    if config.plan(part) is None:
        return {}
    tables = load_run(folder / part)
    missing = sum(table.missing for table in tables)
    if missing:
        raise StudyError(f"{folder / part}: {missing:,} games are missing; helsinki balance run plays them")
    return {table.name: table for table in tables}


class PlayedParts:
    """Played parts of a study, each read once."""

    def __init__(self, config: StudyConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        self._tables: dict[str, dict[str, MatchupGames]] = {}
        self._courses: dict[str, dict[str, Course]] = {}

    def has(self, part: str) -> bool:
        """Return whether games of a part have been played."""
        return has_games(self.folder / part)

    def tables(self, part: str) -> dict[str, MatchupGames]:
        """Return the matchups of a part that have games, by name."""
        if part not in self._tables:
            if self.has(part):
                self._check_plan(part)
            tables = load_run(self.folder / part) if self.has(part) else []
            self._tables[part] = {table.name: table for table in tables if len(table)}
        return self._tables[part]

    def _check_plan(self, part: str) -> None:
        """Raise StudyError for a part of another study: two may have started in the same folder at the same time."""
        played = RunFolder.open(self.folder / part).plan
        if part in DEPENDENT:
            same = played.seed == self.config.seed_of(part)
        else:
            plan = self.config.plan(part)
            same = plan is not None and played.digest == plan.digest
        if not same:
            raise StudyError(
                f"{self.folder / part}: found games of another study, with seed {played.seed}, expected those of the "
                f"study in {StudyConfig.FILE}; play it again in another folder (--out)"
            )

    def courses(self, part: str) -> dict[str, Course]:
        """Return the course of the games of a part, by matchup name."""
        if part not in self._courses:
            # Lines and superstructures only score at the end, so the lead is measured by the current score.
            courses = replay_run(self.folder / part, standing="score") if self.has(part) else {}
            if any(len(courses[name].turns) != len(table) for name, table in self.tables(part).items()):
                raise StudyError(
                    f"{self.folder / part}: the number of games changed while they were read; make the report again "
                    "when no games are being played"
                )
            self._courses[part] = courses
        return self._courses[part]
