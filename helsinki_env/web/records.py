"""Games and positions saved for analysis, in the database of the tables."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from helsinki_env.engine.game import BoardGame
from helsinki_env.notation import to_dict
from helsinki_env.records import Record, initial_game, replay
from helsinki_env.utils.markdown import printable
from helsinki_env.web.store import StoreError, TableStore
from helsinki_env.web.tables import HUMAN, GameTable, TableError
from helsinki_env.web.uploads import is_position, read_position

__all__ = ["Records", "SavedGame", "SavedGameEntry", "record_of"]

_MOST = 1000
_MOST_TITLE = 120


class SavedGameEntry(NamedTuple):
    """List entry of a saved game or position.

    Attributes:
        name: identifier, part of its address.
        title: displayed title.
        made: upload time, in seconds since 1970.
        decisions: number of actions; None for a position.
    """

    name: str
    title: str
    made: float
    decisions: int | None


class SavedGame(NamedTuple):
    """A game or position under analysis.

    Attributes:
        name: identifier, part of its address.
        title: displayed title.
        record: the game record; None for a position.
        begin: the game before its first action, or the position.
    """

    name: str
    title: str
    record: Record | None
    begin: BoardGame

    @property
    def decisions(self) -> tuple[int, ...]:
        """The actions taken; empty for a position."""
        return () if self.record is None else self.record.decisions

    def after(self, number: int) -> BoardGame:
        """Return the game after a number of actions.

        Raises:
            ValueError: if the game has fewer actions.
        """
        if not 0 <= number <= len(self.decisions):
            raise ValueError(f"decisions: found {number}, expected 0 to {len(self.decisions)}")
        game = self.begin.clone()
        for action in self.decisions[:number]:
            game.step(action)
        return game


class Records:
    """The saved games and positions.

    Args:
        store: the store that owns the database.
    """

    def __init__(self, store: TableStore) -> None:
        self._rows, self._path = store.rows, store.path

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run the block as one transaction; StoreError if it fails."""
        try:
            with self._rows:
                yield
        except sqlite3.Error as problem:
            raise StoreError(f"{self._path}: cannot be written, so nothing has changed: {problem}") from None

    def add(self, found: Record | BoardGame) -> str:
        """Save a game or a position and return its name.

        Raises:
            ValueError: if the limit is reached.
            StoreError: if it cannot be written.
        """
        if len(self) >= _MOST:
            raise ValueError(f"records: found {_MOST:,}, which is enough; remove some first")
        name = secrets.token_hex(6)
        text = found.to_json() if isinstance(found, Record) else json.dumps(to_dict(found))
        with self._writing():
            self._rows.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (name, _title(found), time.time(), text))
        return name

    def __len__(self) -> int:
        """Return the number of saved items."""
        return int(self._rows.execute("SELECT count(*) FROM records").fetchone()[0])

    def has(self, name: str) -> bool:
        """Return whether an item of this name exists."""
        return self._rows.execute("SELECT 1 FROM records WHERE name = ?", (name,)).fetchone() is not None

    def all(self, first: int = 0, most: int = -1) -> list[SavedGameEntry]:
        """Return the saved items, newest first.

        Args:
            first: number of items to skip.
            most: maximum number of items; -1 for all.
        """
        rows = self._rows.execute(
            "SELECT name, title, made, json_array_length(record, '$.decisions') FROM records "
            "ORDER BY made DESC, name LIMIT ? OFFSET ?",
            (most, first),
        )
        return [SavedGameEntry(*row) for row in rows]

    def load(self, name: str) -> SavedGame:
        """Return a saved item, replayed.

        Raises:
            TableError: if it does not exist or can no longer be replayed.
        """
        row = self._rows.execute("SELECT title, record FROM records WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise TableError(f"record {name!r:.40}: there is none of that name")
        title, text = row
        try:
            if is_position(json.loads(text)):
                return SavedGame(name, title, None, read_position(text))
            record = Record.from_json(text)
            replay(record)
        except ValueError as problem:
            raise TableError(f"record {name}: cannot be replayed any more: {problem}") from None
        return SavedGame(name, title, record, initial_game(record))

    def remove(self, name: str) -> None:
        """Delete a saved item; TableError if it does not exist, StoreError if the database cannot be written."""
        with self._writing():
            gone = self._rows.execute("DELETE FROM records WHERE name = ?", (name,))
        if not gone.rowcount:
            raise TableError(f"record {name!r:.40}: there is none of that name")


def _title(found: Record | BoardGame) -> str:
    """Return the displayed title of a game or position."""
    game = found.spec.name.capitalize()
    if isinstance(found, BoardGame):
        return f"{game}: a position of {found.num_players} players, round {found.round}"
    scores = found.scores or [None] * len(found.players)
    who = [name if score is None else f"{name} {score}" for name, score in zip(found.players, scores, strict=True)]
    title = printable(f"{game}: {', '.join(who)}")
    return title if len(title) <= _MOST_TITLE else f"{title[: _MOST_TITLE - 1]}…"


def record_of(table: GameTable, taken_back: int) -> Record:
    """Return the record of the game at a table.

    Args:
        table: a finished table, or one with players only; the record of any other game would reveal hidden cards.
        taken_back: number of actions that the human took back; the seat's name in the record includes it.

    Raises:
        ValueError: if a record would reveal hidden cards, or cannot represent the start of the game.
    """
    if table.humans and not table.game.done:
        raise ValueError(f"table {table.name}: the game is not over, and its record would show cards that are hidden")
    if table.start:
        raise ValueError(
            f"table {table.name}: the game began from a position, and a record can only say which deck was dealt"
        )
    names = [chair.name if chair.player == HUMAN else chair.player for chair in table.chairs]
    if taken_back:
        seat = table.humans[0]
        names[seat] += f" (took back {taken_back} decision{'s' if taken_back > 1 else ''})"
    return Record.of(table.game, table.seed, names, [decision.action for decision in table.decisions])
