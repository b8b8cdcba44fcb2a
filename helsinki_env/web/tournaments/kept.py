"""A tournament, and how it is kept: what was asked for, and every game that has ended."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agents.arena.plan import Chunk, Plan, TablePlan, lineups_of
from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.web.store import Store, StoreError

__all__ = ["LEAST_DECKS", "KeptTournaments", "NoTournamentError", "Tournament"]

LEAST_DECKS = 2
"""Decks of a tournament at least: intervals come from how much decks differ."""


class NoTournamentError(LookupError):
    """There is no tournament of a name, or no such game of it; the message says which was asked for."""


@dataclass(frozen=True)
class Tournament:
    """What a tournament plays; its games follow from that, and are those of `helsinki arena` with the same seed.

    Attributes:
        name: of its page.
        title: what the pages call it; may be empty.
        made: when, in seconds since 1970.
        config: what is played, for S seats.
        players: names, each once.
        decks: how many every line-up plays, each once for each rotation of the seats.
        seed: of decks and players.
        options: labels of what was chosen of the game's configuration.
    """

    name: str
    title: str
    made: float
    config: Any
    players: tuple[str, ...]
    decks: int
    seed: int
    options: tuple[str, ...] = ()

    @cached_property
    def plan(self) -> Plan:
        """The games in the order of the line-ups."""
        lineups = lineups_of(len(self.players), self.config.num_players)
        return Plan(self.seed, (TablePlan("tournament", self.config, self.players, lineups, self.decks),))

    @property
    def games(self) -> int:
        """How many there are."""
        return self.plan.games

    def decks_done(self, numbers: Sequence[int]) -> list[int]:
        """Return how many decks every line-up has played, from the numbers of all games that have ended."""
        (table,) = self.plan.tables
        done = [0] * len(table.lineups)
        for number in numbers:
            done[number // table.seats % len(table.lineups)] += 1
        return [games // table.seats for games in done]

    def numbers(self, chunk: Chunk) -> list[int]:
        """Return the numbers of a chunk's games: deck by deck, line-up by line-up, seats moving round."""
        (table,) = self.plan.tables
        return [
            (deck * len(table.lineups) + chunk.lineup) * table.seats + turn
            for deck in range(chunk.first, chunk.end)
            for turn in range(table.seats)
        ]


class KeptTournaments:
    """The tournaments of a database, and their games as lines (`helsinki_env.play.record`).

    Args:
        store: the database.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._rows = store, store.rows
        #: What never changes, and takes long to read.
        self._loaded: dict[str, Tournament] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return int(self._rows.execute("SELECT count(*) FROM tournaments").fetchone()[0])

    def add(self, tournament: Tournament) -> None:
        """Keep a new one."""
        settings = {
            "config": config_to_dict(tournament.config),
            "players": list(tournament.players),
            "decks": tournament.decks,
            "seed": tournament.seed,
            "options": list(tournament.options),
        }
        with self._rows:
            self._rows.execute(
                "INSERT INTO tournaments (name, title, made, settings) VALUES (?, ?, ?, ?)",
                (tournament.name, tournament.title, time.time(), json.dumps(settings)),
            )

    def names(self, first: int = 0, most: int = -1) -> list[str]:
        """Return their names, the newest first.

        Args:
            first: how many are left out before.
            most: how many are returned at most; -1: all.
        """
        rows = self._rows.execute(
            "SELECT name FROM tournaments ORDER BY made DESC, name LIMIT ? OFFSET ?", (most, first)
        )
        return [name for (name,) in rows]

    def check(self, name: str) -> None:
        """Raise NoTournamentError if there is none of that name."""
        if self._rows.execute("SELECT 1 FROM tournaments WHERE name = ?", (name,)).fetchone() is None:
            raise NoTournamentError(f"tournament {name!r:.40}: there is none of that name")

    def load(self, name: str) -> Tournament:
        """Return one.

        Raises:
            NoTournamentError: if there is none of that name.
            ValueError: if this version cannot play it.
        """
        self.check(name)
        if name not in self._loaded:
            self._loaded[name] = self._read(name)
        return self._loaded[name]

    def _read(self, name: str) -> Tournament:
        title, made, text = self._rows.execute(
            "SELECT title, made, settings FROM tournaments WHERE name = ?", (name,)
        ).fetchone()
        settings = json.loads(text)
        config, players, options = (
            config_from_dict(settings["config"]),
            tuple(settings["players"]),
            tuple(settings["options"]),
        )
        return Tournament(name, title, made, config, players, settings["decks"], settings["seed"], options)

    def remove(self, name: str) -> None:
        """Forget one with its games."""
        self._loaded.pop(name, None)
        with self._rows:
            self._rows.execute("DELETE FROM tournament_games WHERE name = ?", (name,))
            self._rows.execute("DELETE FROM tournaments WHERE name = ?", (name,))

    def write(self, name: str, games: Sequence[tuple[int, str]]) -> None:
        """Keep games that have ended, all or none: number and line of each.

        Raises:
            StoreError: if they cannot be written.
        """
        try:
            with self._rows:
                self._rows.executemany(
                    "INSERT INTO tournament_games (name, number, record) VALUES (?, ?, ?)",
                    [(name, number, line) for number, line in games],
                )
        except sqlite3.Error as problem:
            raise StoreError(f"{self._store.path}: games cannot be written, so they do not count: {problem}") from None

    def count(self, name: str) -> int:
        """Return how many games of a tournament have ended."""
        return int(self._rows.execute("SELECT count(*) FROM tournament_games WHERE name = ?", (name,)).fetchone()[0])

    def lines(self, name: str) -> list[tuple[int, str]]:
        """Return number and line of all games that have ended, by number."""
        return self._rows.execute(
            "SELECT number, record FROM tournament_games WHERE name = ? ORDER BY number", (name,)
        ).fetchall()

    def latest(self, name: str, most: int) -> list[tuple[int, str]]:
        """Return number and line of the games with the highest numbers, the highest first."""
        return self._rows.execute(
            "SELECT number, record FROM tournament_games WHERE name = ? ORDER BY number DESC LIMIT ?", (name, most)
        ).fetchall()

    def line(self, name: str, number: int) -> str:
        """Return the line of a game.

        Raises:
            NoTournamentError: if there is none.
        """
        row = self._rows.execute(
            "SELECT record FROM tournament_games WHERE name = ? AND number = ?", (name, number)
        ).fetchone()
        if row is None:
            raise NoTournamentError(f"game {number} of tournament {name!r:.40}: it has not been played")
        return str(row[0])
