"""Played parts of a study and the course of their games, each read once."""

from __future__ import annotations

from pathlib import Path

from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.store import RunFolder, has_games
from helsinki_env.evaluation.balance.helsinki.replay import Course, replay_run
from helsinki_env.evaluation.balance.helsinki.study import DEPENDENT, StudyConfig, StudyError

__all__ = ["PlayedParts"]


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
                self._check_asked(part)
            found = load_run(self.folder / part) if self.has(part) else []
            self._tables[part] = {table.name: table for table in found if len(table)}
        return self._tables[part]

    def _check_asked(self, part: str) -> None:
        """Raise StudyError for a part of another study: two may have started in the same folder at the same time."""
        there = RunFolder.open(self.folder / part).plan
        if part in DEPENDENT:
            same = there.seed == self.config.seed_of(part)
        else:
            asked = self.config.plan(part)
            same = asked is not None and there.digest == asked.digest
        if not same:
            raise StudyError(
                f"{self.folder / part}: found games of another study, with seed {there.seed}, expected those of the "
                "study that stands there now; play it again in another folder (--out)"
            )

    def courses(self, part: str) -> dict[str, Course]:
        """Return the course of the games of a part, by matchup name."""
        if part not in self._courses:
            # Lines and superstructures only score at the end, so the lead is measured by the current score.
            found = replay_run(self.folder / part, standing="score") if self.has(part) else {}
            if any(len(found[name].turns) != len(table) for name, table in self.tables(part).items()):
                raise StudyError(
                    f"{self.folder / part}: games came in while they were read; make the report once more, best when "
                    "nothing is being played"
                )
            self._courses[part] = found
        return self._courses[part]
