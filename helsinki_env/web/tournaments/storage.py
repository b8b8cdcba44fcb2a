"""Tournaments and their storage: the settings and every finished game."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.evaluation.arena.plan import MatchupPlan, Plan, WorkUnit, round_robin_lineups
from helsinki_env.web.store import StoreError, TableStore

__all__ = ["MIN_TOURNAMENT_DEALS", "KeptTournaments", "NoTournamentError", "Tournament"]

MIN_TOURNAMENT_DEALS = 2
"""Minimum number of deals in a tournament, because intervals come from the variation between deals."""


class NoTournamentError(LookupError):
    """Raised if a tournament or one of its games does not exist; the message names the one requested."""


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament; its games are those of `helsinki arena` with the same seed.

    Attributes:
        name: identifier, part of the address of its page.
        title: displayed title; may be empty.
        made: creation time, in seconds since 1970.
        config: game configuration for S seats.
        players: names, each once.
        decks: number of deals for every line-up, each played once for each rotation of the seats.
        seed: seed of deals and players.
        options: labels of the chosen configuration options.
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
        lineups = round_robin_lineups(len(self.players), self.config.num_players)
        return Plan(self.seed, (MatchupPlan("tournament", self.config, self.players, lineups, self.decks),))

    @property
    def games(self) -> int:
        """The number of games."""
        return self.plan.games

    def decks_done(self, numbers: Sequence[int]) -> list[int]:
        """Return the number of deals that each line-up has finished, given the numbers of all finished games."""
        (table,) = self.plan.tables
        done = [0] * len(table.lineups)
        for number in numbers:
            done[number // table.seats % len(table.lineups)] += 1
        return [games // table.seats for games in done]

    def numbers(self, chunk: WorkUnit) -> list[int]:
        """Return the game numbers of a work unit: deal by deal, line-up by line-up, with rotating seats."""
        (table,) = self.plan.tables
        return [
            (deck * len(table.lineups) + chunk.lineup) * table.seats + turn
            for deck in range(chunk.first, chunk.end)
            for turn in range(table.seats)
        ]


class KeptTournaments:
    """The tournaments in a database, with their game records as lines (`helsinki_env.records`).

    Args:
        store: the database.
    """

    def __init__(self, store: TableStore) -> None:
        self._store, self._rows = store, store.rows
        #: Cache of settings, which never change and take long to read.
        self._loaded: dict[str, Tournament] = {}

    def __len__(self) -> int:
        """Return the number of tournaments."""
        return int(self._rows.execute("SELECT count(*) FROM tournaments").fetchone()[0])

    def add(self, tournament: Tournament) -> None:
        """Save a new tournament."""
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
        """Return the names of the tournaments, newest first.

        Args:
            first: number of tournaments to skip.
            most: maximum number of tournaments; -1 for all.
        """
        rows = self._rows.execute(
            "SELECT name FROM tournaments ORDER BY made DESC, name LIMIT ? OFFSET ?", (most, first)
        )
        return [name for (name,) in rows]

    def check(self, name: str) -> None:
        """Raise NoTournamentError if the tournament does not exist."""
        if self._rows.execute("SELECT 1 FROM tournaments WHERE name = ?", (name,)).fetchone() is None:
            raise NoTournamentError(f"tournament {name!r:.40}: there is none of that name")

    def load(self, name: str) -> Tournament:
        """Return a tournament.

        Raises:
            NoTournamentError: if it does not exist.
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
        """Delete a tournament and its games."""
        self._loaded.pop(name, None)
        with self._rows:
            self._rows.execute("DELETE FROM tournament_games WHERE name = ?", (name,))
            self._rows.execute("DELETE FROM tournaments WHERE name = ?", (name,))

    def write(self, name: str, games: Sequence[tuple[int, str]]) -> None:
        """Save finished games, all or none, each as (number, line).

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
        """Return the number of finished games of a tournament."""
        return int(self._rows.execute("SELECT count(*) FROM tournament_games WHERE name = ?", (name,)).fetchone()[0])

    def lines(self, name: str) -> list[tuple[int, str]]:
        """Return the number and line of all finished games, ordered by number."""
        return self._rows.execute(
            "SELECT number, record FROM tournament_games WHERE name = ? ORDER BY number", (name,)
        ).fetchall()

    def latest(self, name: str, most: int) -> list[tuple[int, str]]:
        """Return the number and line of the games with the highest numbers, highest first."""
        return self._rows.execute(
            "SELECT number, record FROM tournament_games WHERE name = ? ORDER BY number DESC LIMIT ?", (name, most)
        ).fetchall()

    def line(self, name: str, number: int) -> str:
        """Return the line of a game.

        Raises:
            NoTournamentError: if it does not exist.
        """
        row = self._rows.execute(
            "SELECT record FROM tournament_games WHERE name = ? AND number = ?", (name, number)
        ).fetchone()
        if row is None:
            raise NoTournamentError(f"game {number} of tournament {name!r:.40}: it has not been played")
        return str(row[0])
