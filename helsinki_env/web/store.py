"""Tables on the disk: an SQLite database with a row for each decision, written before anybody is shown it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.web.tables import Chair, Decision, Table, TableError

__all__ = ["Kept", "Store", "StoreError", "data_folder"]

#: What brings a database of a version to the next one; a new one goes through all of them.
_STEPS = (
    """
CREATE TABLE tables (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    made REAL NOT NULL,  -- seconds since 1970
    config TEXT NOT NULL,  -- JSON
    seed TEXT NOT NULL,  -- as text: SQLite's integers end at 2^63 - 1
    chairs TEXT NOT NULL  -- JSON, a list for each seat: player, name, key
) STRICT;
CREATE TABLE decisions (
    name TEXT NOT NULL REFERENCES tables,
    number INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    action INTEGER NOT NULL,
    said TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (name, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE taken_back (  -- decisions that were taken back, for the record
    name TEXT NOT NULL REFERENCES tables,
    number INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    action INTEGER NOT NULL,
    at REAL NOT NULL
) STRICT;
""",
    """
ALTER TABLE tables ADD COLUMN start TEXT NOT NULL DEFAULT '';  -- JSON of the position it began with; empty: dealt
CREATE TABLE records (  -- games to be taken apart
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    made REAL NOT NULL,
    record TEXT NOT NULL  -- a record's line, or the JSON of a position
) STRICT;
CREATE TABLE tournaments (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    made REAL NOT NULL,
    settings TEXT NOT NULL  -- JSON
) STRICT;
CREATE TABLE tournament_games (
    name TEXT NOT NULL REFERENCES tournaments,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (name, number)
) STRICT, WITHOUT ROWID;
""",
    """
ALTER TABLE tables ADD COLUMN looked REAL;  -- the table's latest change when it was last seen whether its game is over
ALTER TABLE tables ADD COLUMN over INTEGER NOT NULL DEFAULT 0;  -- whether it was
""",
)


class StoreError(ValueError):
    """A database that is none of these, or cannot be read or written; the message names the file."""


class Kept(NamedTuple):
    """What the list of tables says of one.

    `made` and `last`, its latest decision, are in seconds since 1970; `over` is None if nobody knows.
    """

    name: str
    title: str
    made: float
    game: str
    chairs: tuple[Chair, ...]
    decisions: int
    last: float
    over: bool | None


def data_folder() -> Path:
    """Return the folder where this user's programs keep their data, a folder of ours in it."""
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Application Support"
    else:
        root = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return root / "helsinki-env"


class Store:
    """The tables of a folder. One process at a time writes them.

    Args:
        folder: made if it is missing.

    Raises:
        StoreError: if the file is no such database, or of a later version.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tables.sqlite"
        try:
            _make_private(folder, self.path)
            self._open()
        except (sqlite3.Error, OSError) as problem:
            raise StoreError(
                f"{self.path}: cannot be used as the database of tables: {problem} (name another folder with --data)"
            ) from None

    def _open(self) -> None:
        # Transactions are begun by `with self.rows`, and one thread alone uses the connection.
        self.rows = sqlite3.connect(self.path, timeout=5, check_same_thread=False)
        self.rows.execute("PRAGMA journal_mode = WAL")
        self.rows.execute("PRAGMA synchronous = NORMAL")  # whatever kills the process, what was written stays
        self.rows.execute("PRAGMA foreign_keys = ON")
        version = self.rows.execute("PRAGMA user_version").fetchone()[0]
        foreign = version == 0 and self.rows.execute("SELECT 1 FROM sqlite_master").fetchone()
        if foreign or not 0 <= version <= len(_STEPS):
            raise StoreError(f"{self.path}: found version {version} of the database, expected {len(_STEPS)}")
        for step in range(version, len(_STEPS)):
            with self.rows:
                self.rows.executescript(f"BEGIN; {_STEPS[step]} PRAGMA user_version = {step + 1}; COMMIT;")

    def close(self) -> None:
        """Write what is left, and let go of the file."""
        self.rows.close()

    def add(self, table: Table) -> None:
        """Keep a new table, with the decisions that it begins with."""
        chairs = json.dumps([list(chair) for chair in table.chairs])
        config = json.dumps(config_to_dict(table.config))
        with self.rows:
            self.rows.execute(
                "INSERT INTO tables (name, title, made, config, seed, chairs, start) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (table.name, table.title, time.time(), config, str(table.seed), chairs, table.start),
            )
            for decision in table.decisions:
                self._insert(table.name, decision)

    def remove(self, name: str) -> None:
        """Forget a table."""
        with self.rows:
            for rows in ("taken_back", "decisions", "tables"):
                self.rows.execute(f"DELETE FROM {rows} WHERE name = ?", (name,))  # names of ours

    def write(self, name: str, decision: Decision) -> None:
        """Keep a decision."""
        with self.rows:
            self._insert(name, decision)

    def _insert(self, name: str, decision: Decision) -> None:
        self.rows.execute(
            "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)",
            (name, decision.number, decision.seat, decision.action, decision.said, time.time()),
        )

    def go_back(self, name: str, to: int, taken_back: Sequence[Decision] = ()) -> None:
        """Forget the decisions of a table from a number on; keep which of them were taken back."""
        with self.rows:
            self.rows.execute("DELETE FROM decisions WHERE name = ? AND number >= ?", (name, to))
            self.rows.executemany(
                "INSERT INTO taken_back VALUES (?, ?, ?, ?, ?)",
                [(name, gone.number, gone.seat, gone.action, time.time()) for gone in taken_back],
            )

    def taken_back(self, name: str) -> int:
        """Return how many decisions of a table were taken back."""
        return int(self.rows.execute("SELECT count(*) FROM taken_back WHERE name = ?", (name,)).fetchone()[0])

    def __len__(self) -> int:
        """Return how many tables are kept."""
        return int(self.rows.execute("SELECT count(*) FROM tables").fetchone()[0])

    def has(self, name: str) -> bool:
        """Return whether there is a table of a name."""
        return self.rows.execute("SELECT 1 FROM tables WHERE name = ?", (name,)).fetchone() is not None

    def all(self, first: int = 0, most: int = -1) -> list[Kept]:
        """Return what is kept, the newest first.

        Args:
            first: how many tables are left out before.
            most: how many are returned at most; -1: all.
        """
        rows = self.rows.execute(
            "SELECT some.name, title, made, config, chairs, looked, over, count(at), coalesce(max(at), made) FROM "
            "(SELECT * FROM tables ORDER BY made DESC, name LIMIT ? OFFSET ?) AS some "
            "LEFT JOIN decisions ON decisions.name = some.name GROUP BY some.name ORDER BY made DESC, some.name",
            (most, first),
        ).fetchall()
        found = []
        for name, title, made, config, chairs, looked, over, decisions, last in rows:
            game = json.loads(config).get("game", "")
            seats = tuple(Chair(*chair) for chair in json.loads(chairs))
            known = bool(over) if looked == last else None
            found.append(Kept(name, title, made, game, seats, decisions, last, known))
        return found

    def looked(self, kept: Kept, over: bool) -> None:
        """Keep whether the game of a table is over."""
        with self.rows:
            self.rows.execute("UPDATE tables SET looked = ?, over = ? WHERE name = ?", (kept.last, over, kept.name))

    def load(self, name: str) -> Table:
        """Return a table as it stood at its last decision.

        Raises:
            TableError: if there is none of that name, or it cannot be played any more.
        """
        row = self.rows.execute(
            "SELECT title, config, seed, chairs, start FROM tables WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise TableError(f"table {name!r:.40}: there is none of that name")
        told = self.rows.execute(
            "SELECT seat, action, said FROM decisions WHERE name = ? ORDER BY number", (name,)
        ).fetchall()
        title, config, seed, chairs, start = row
        seats = tuple(Chair(*chair) for chair in json.loads(chairs))
        try:
            return Table(name, title, _config(config), int(seed), seats, told, start)
        except ValueError as problem:
            raise TableError(f"table {name}: cannot be played on: {problem}") from None


def _make_private(folder: Path, path: Path) -> None:
    """Make the folder and the file, and let nobody else on this machine read them: seeds and keys are in there.

    A folder that holds other things as well stays as open as it is.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    ours = [one for one in folder.iterdir() if one.name.startswith(path.name)]
    private = [*ours, *([folder] if len(ours) == len(list(folder.iterdir())) else [])]
    for one in private:
        mode = one.stat().st_mode
        if mode & 0o077 and (not hasattr(os, "getuid") or one.stat().st_uid == os.getuid()):
            one.chmod(stat.S_IMODE(mode) & 0o700)


def _config(text: str) -> Any:
    return config_from_dict(json.loads(text))
