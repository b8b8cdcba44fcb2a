"""The parts of a study as tournaments: each with decks of its own, in the folder of its name, and to be stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.arena.config import plan_from_dict
from agents.arena.load import Table, load_run
from agents.arena.plan import Plan
from agents.arena.store import RunFolder

__all__ = ["Run", "Tournaments", "planned"]

Run = Callable[[str, Plan], None]
"""Plays a part, or what is missing of it, in the folder of its name."""

#: Games of a chunk: studies have so many that larger batches pay, which networks like.
_CHUNK_GAMES = 480


def planned(seed: int, tables: list[dict[str, Any]]) -> Plan:
    """Return what a part plays, from tables as `agents.arena.config.plan_from_dict` takes them."""
    return plan_from_dict({"seed": seed, "chunk": _CHUNK_GAMES, "tables": tables})


class Tournaments:
    """Parts that are played as they are asked for.

    Args:
        folder: of all parts.
        run: plays one.

    Attributes:
        played: seed and games of every part that was asked for.
    """

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder, self._run = folder, run
        self.played: dict[str, dict[str, int]] = {}

    def tables(self, part: str, seed: int, tables: list[dict[str, Any]]) -> list[Table]:
        """Play what is missing of a part, and return its games, table by table."""
        plan = planned(seed, tables)
        self._run(part, plan)
        self.played[part] = {"seed": plan.seed, "games": plan.games}
        return load_run(self.folder / part, whole=True)

    @property
    def networks(self) -> dict[str, str]:
        """By player's name, 16 hexadecimal digits of the files that it was read from."""
        runs = [RunFolder.open(self.folder / part) for part in self.played]
        return {player: digest for run in runs for player, digest in run.networks.items()}
