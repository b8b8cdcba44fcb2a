"""Run the parts of a study as resumable tournaments, each in its own folder with its own deals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from helsinki_env.evaluation.arena.config import plan_from_dict
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.store import RunFolder

__all__ = ["RunTournament", "StudyTournaments", "plan_from_matchups"]

RunTournament = Callable[[str, Plan], None]
"""Plays the missing games of a part in the folder of its name."""

#: Games of a work unit. Studies have enough games for larger batches, which speed up networks.
_CHUNK_GAMES = 480


def plan_from_matchups(seed: int, tables: list[dict[str, Any]]) -> Plan:
    """Return the plan of a part, from matchups in the form of `helsinki_env.evaluation.arena.config.plan_from_dict`."""
    return plan_from_dict({"seed": seed, "chunk": _CHUNK_GAMES, "tables": tables})


class StudyTournaments:
    """Parts of a study, played on demand.

    Args:
        folder: folder of all parts.
        run: function that plays a part.

    Attributes:
        played: seed and number of games of every requested part.
    """

    def __init__(self, folder: Path, run: RunTournament) -> None:
        self.folder, self._run = folder, run
        self.played: dict[str, dict[str, int]] = {}

    def tables(self, part: str, seed: int, tables: list[dict[str, Any]]) -> list[MatchupGames]:
        """Play the missing games of a part and return all of its games by matchup."""
        plan = plan_from_matchups(seed, tables)
        self._run(part, plan)
        self.played[part] = {"seed": plan.seed, "games": plan.games}
        return load_run(self.folder / part, whole=True)

    @property
    def networks(self) -> dict[str, str]:
        """Digest of the network files by player name, 16 hexadecimal digits each."""
        runs = [RunFolder.open(self.folder / part) for part in self.played]
        return {player: digest for run in runs for player, digest in run.networks.items()}
