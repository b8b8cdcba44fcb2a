"""SQLite storage of tables, with one row per action, written before any page shows the action."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from helsinki_env.data import UserError
from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.utils.files import supports_locks
from helsinki_env.utils.machine import user_folder
from helsinki_env.web.boards import Boards
from helsinki_env.web.clocks import TableClock
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError, TakenAction

#: Migrations from each schema version to the next. A new database runs all of them.
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
CREATE TABLE taken_back (  -- actions that were taken back, for the record
    name TEXT NOT NULL REFERENCES tables,
    number INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    action INTEGER NOT NULL,
    at REAL NOT NULL
) STRICT;
""",
    """
ALTER TABLE tables ADD COLUMN start TEXT NOT NULL DEFAULT '';  -- JSON of the starting position; empty: a deal
CREATE TABLE records (  -- games and positions saved for analysis
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
ALTER TABLE tables ADD COLUMN looked REAL;  -- the table's latest change when `over` was computed
ALTER TABLE tables ADD COLUMN over INTEGER NOT NULL DEFAULT 0;  -- whether the game is over
""",
    """
CREATE TABLE exercises (  -- positions in which a better action was missed
    name TEXT PRIMARY KEY,
    game TEXT NOT NULL,
    title TEXT NOT NULL,
    position TEXT NOT NULL,  -- JSON of the start and the actions before the position
    taken INTEGER NOT NULL,  -- the action taken in the game
    regret REAL NOT NULL,  -- the win probability that it lost
    level INTEGER NOT NULL DEFAULT 0,  -- number of correct answers in a row
    due REAL NOT NULL,  -- seconds since 1970
    answers INTEGER NOT NULL DEFAULT 0,
    correct INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX exercises_due ON exercises (due);
CREATE TABLE examined (  -- finished tables: their results, and whether their exercises were collected
    name TEXT PRIMARY KEY,
    game TEXT NOT NULL,
    made REAL NOT NULL,
    ranks TEXT NOT NULL,  -- JSON: the rank of each seat, from 0
    players TEXT NOT NULL,  -- JSON: the player of each seat
    taken_back INTEGER NOT NULL,  -- number of actions that were taken back
    collected INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE branches (  -- tables that continue a saved game
    name TEXT PRIMARY KEY REFERENCES tables,
    record TEXT NOT NULL,
    decisions INTEGER NOT NULL  -- number of actions of the saved game
) STRICT;
""",
    """
ALTER TABLE tables ADD COLUMN game TEXT NOT NULL DEFAULT '';  -- empty: the default game
ALTER TABLE tables ADD COLUMN actions INTEGER NOT NULL DEFAULT 0;  -- number of actions taken
ALTER TABLE tables ADD COLUMN finished INTEGER;  -- whether the game is over; NULL: unknown
ALTER TABLE tables ADD COLUMN clock TEXT NOT NULL DEFAULT '';  -- JSON; empty: no clock
UPDATE tables SET
    game = coalesce(json_extract(config, '$.game'), ''),
    actions = (SELECT count(*) FROM decisions WHERE decisions.name = tables.name),
    finished = CASE
        WHEN looked = (SELECT coalesce(max(at), made) FROM decisions WHERE decisions.name = tables.name) THEN over
    END;
ALTER TABLE tables DROP COLUMN looked;
ALTER TABLE tables DROP COLUMN over;
CREATE INDEX tables_listed ON tables (finished, made DESC, name);
CREATE INDEX tables_made ON tables (made DESC, name);
CREATE TABLE boards (  -- component files made on the start page; games refer to them by name
    name TEXT PRIMARY KEY,
    content TEXT NOT NULL
) STRICT;
""",
)


class StoreError(UserError):
    """Raised if a database is invalid, unreadable or not writable; the message names the file."""


class TableEntry(NamedTuple):
    """List entry for a table, with times in seconds since 1970."""

    name: str
    title: str
    made: float
    game: str
    chairs: tuple[SeatAssignment, ...]
    decisions: int  # number of actions
    over: bool | None  # None if unknown
    from_position: bool  # without a deal, so there is no record to analyze


def data_folder() -> Path:
    """Return the folder that stores this user's tables."""
    folder = user_folder("data")
    if folder is None:
        raise StoreError("--data: found no home folder of this user, expected a folder for the tables")
    return folder


class TableStore:
    """The tables in a folder, which is created if it does not exist. Only one process at a time may write to it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tables.sqlite"
        try:
            _make_private(folder, self.path)
            self._open()
        except (sqlite3.Error, OSError) as problem:
            raise StoreError(
                f"{self.path}: cannot be used as the database of tables: {problem}; choose another folder with --data"
            ) from None

        self.boards = Boards(self.rows, self.transaction, folder)

    def _open(self) -> None:
        # `with self.rows` begins a transaction. Only one thread uses the connection.
        locks = supports_locks(self.path.parent)
        address = self.path.absolute().as_uri() + ("" if locks else "?vfs=unix-none")
        self.rows = sqlite3.connect(address, timeout=5, check_same_thread=False, uri=True)
        if locks:
            self.rows.execute("PRAGMA journal_mode = WAL")
        else:  # WAL mode needs locks, except with exclusive access
            for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = DELETE", "locking_mode = NORMAL"):
                self.rows.execute(f"PRAGMA {pragma}").fetchall()
        self.rows.execute("PRAGMA synchronous = NORMAL")  # committed data survives if the process is killed
        self.rows.execute("PRAGMA foreign_keys = ON")
        version = self.rows.execute("PRAGMA user_version").fetchone()[0]
        foreign = version == 0 and self.rows.execute("SELECT 1 FROM sqlite_master").fetchone()
        if foreign or not 0 <= version <= len(_STEPS):
            raise StoreError(
                f"{self.path}: found version {version} of the database, expected {len(_STEPS)}; use the version of "
                "helsinki-env that wrote it, or choose another folder with --data"
            )
        for step in range(version, len(_STEPS)):
            try:
                self.rows.executescript(f"BEGIN IMMEDIATE; {_STEPS[step]} PRAGMA user_version = {step + 1}; COMMIT;")
            except sqlite3.OperationalError:
                self.rows.rollback()
                if self.rows.execute("PRAGMA user_version").fetchone()[0] <= step:  # no other process did the step
                    raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction; raise StoreError if it fails."""
        try:
            with self.rows:
                yield
        except sqlite3.Error as problem:
            raise StoreError(f"{self.path}: cannot be written, so nothing has changed: {problem}") from None

    def close(self) -> None:
        """Write pending data and close the database."""
        self.rows.close()

    def add(self, table: GameTable, record: str = "", decisions: int = 0) -> None:
        """Save a new table and its initial actions, the first `decisions` of which come from a saved game `record`."""
        chairs = json.dumps([list(chair) for chair in table.chairs])
        config, start = self.boards.portable(config_to_dict(table.config)), self.boards.portable_text(table.start)
        with self.transaction():
            self.rows.execute(
                "INSERT INTO tables (name, title, made, config, seed, chairs, start, game, actions, finished, clock) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(table.name, table.title, time.time(), json.dumps(config), str(table.seed), chairs, start),
                    *(config.get("game", ""), table.number, table.game.done, _clock_text(table.clock)),
                ),
            )
            for decision in table.decisions:
                self._insert(table.name, decision)
            if record:
                self.rows.execute("INSERT INTO branches VALUES (?, ?, ?)", (table.name, record, decisions))

    def branch_start(self, name: str) -> int | None:
        """Return the number of actions that a table took over from a saved game, or None if it continues no game."""
        row = self.rows.execute("SELECT decisions FROM branches WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def remove(self, name: str) -> None:
        """Delete a table."""
        with self.transaction():
            for rows in ("branches", "examined", "taken_back", "decisions", "tables"):
                self.rows.execute(f"DELETE FROM {rows} WHERE name = ?", (name,))  # the names are constants

    def write(self, name: str, decision: TakenAction, over: bool = False, clock: TableClock | None = None) -> None:
        """Save an action, the clock, and whether the game is over."""
        with self.transaction():
            self._insert(name, decision)
            self.rows.execute(
                "UPDATE tables SET actions = ?, finished = ?, clock = ? WHERE name = ?",
                (decision.number + 1, over, _clock_text(clock), name),
            )

    def set_clock(self, name: str, clock: TableClock) -> None:
        """Save the clock of a table."""
        with self.transaction():
            self.rows.execute("UPDATE tables SET clock = ? WHERE name = ?", (clock.to_json(), name))

    def _insert(self, name: str, decision: TakenAction) -> None:
        self.rows.execute(
            "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)",
            (name, decision.number, decision.seat, decision.action, decision.said, time.time()),
        )

    def go_back(self, name: str, to: int, taken_back: Sequence[TakenAction] = ()) -> None:
        """Delete the actions of a table from a given index on, and record which of them were taken back."""
        with self.transaction():
            self.rows.execute("DELETE FROM decisions WHERE name = ? AND number >= ?", (name, to))
            self.rows.execute("UPDATE tables SET actions = ?, finished = 0 WHERE name = ?", (to, name))
            self.rows.executemany(
                "INSERT INTO taken_back VALUES (?, ?, ?, ?, ?)",
                [(name, action.number, action.seat, action.action, time.time()) for action in taken_back],
            )

    def number(self, name: str) -> int | None:
        """Return the number of saved actions of a table, or None if it does not exist."""
        row = self.rows.execute("SELECT actions FROM tables WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def taken_back(self, name: str) -> int:
        """Return how many actions of a table were taken back."""
        return int(self.rows.execute("SELECT count(*) FROM taken_back WHERE name = ?", (name,)).fetchone()[0])

    def __len__(self) -> int:
        """Return the number of saved tables."""
        return self.count()

    def count(self, over: bool | None = None) -> int:
        """Return the number of saved tables, optionally only those whose game is over, or not known to be over."""
        return int(self.rows.execute(f"SELECT count(*) FROM tables {_CONDITIONS[over]}").fetchone()[0])

    def has(self, name: str) -> bool:
        """Return whether a table with this name exists."""
        return self.rows.execute("SELECT 1 FROM tables WHERE name = ?", (name,)).fetchone() is not None

    def all(self, first: int = 0, limit: int = -1, over: bool | None = None) -> list[TableEntry]:
        """Return at most `limit` saved tables (-1 for all), newest first, after skipping the `first` newest.

        `over` selects the tables whose game is over (True) or not known to be over (False).
        """
        rows = self.rows.execute(
            f"SELECT {_ENTRY} FROM tables {_CONDITIONS[over]} ORDER BY made DESC, name LIMIT ? OFFSET ?", (limit, first)
        )
        return [_entry(row) for row in rows]

    def unexamined(self) -> list[TableEntry]:
        """Return the tables with a human whose results are not saved, unless their game is known to be unfinished."""
        rows = self.rows.execute(
            f"SELECT {_ENTRY} FROM tables WHERE finished IS NOT 0 AND instr(chairs, ?) "
            "AND name NOT IN (SELECT name FROM examined) ORDER BY made DESC, name",
            (json.dumps(HUMAN),),
        )
        return [entry for entry in map(_entry, rows) if any(chair.is_person for chair in entry.chairs)]

    def unknown(self) -> list[TableEntry]:
        """Return the tables, saved by earlier versions, for which it is unknown whether the game is over."""
        return [_entry(row) for row in self.rows.execute(f"SELECT {_ENTRY} FROM tables WHERE finished IS NULL")]

    def set_over(self, name: str, over: bool) -> None:
        """Save whether the game of a table is over."""
        with self.transaction():
            self.rows.execute("UPDATE tables SET finished = ? WHERE name = ?", (over, name))

    def load(self, name: str) -> GameTable:
        """Load a table in its latest state; raise TableError if it does not exist or can no longer be played."""
        return self._read(name)()

    async def load_in_thread(self, name: str) -> GameTable:
        """Load a table like `load`, but replay its actions in another thread."""
        return await asyncio.to_thread(self._read(name))

    def _read(self, name: str) -> Callable[[], GameTable]:
        """Read the rows of a table, and return a function that creates the table without using the database."""
        row = self.rows.execute(
            "SELECT title, config, seed, chairs, start, clock FROM tables WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise TableError(f"table {name!r:.40}: does not exist")
        actions = self.rows.execute(
            "SELECT seat, action, said FROM decisions WHERE name = ? ORDER BY number", (name,)
        ).fetchall()
        title, config, seed, chairs, start, clock = row
        seats = tuple(SeatAssignment(*chair) for chair in json.loads(chairs))
        config, start = self.boards.local(json.loads(config)), self.boards.local_text(start)

        def table() -> GameTable:
            try:
                settings, state = config_from_dict(config), TableClock.from_json(clock)
                return GameTable(name, title, settings, int(seed), seats, actions, start, state)
            except ValueError as problem:
                raise TableError(f"table {name}: cannot be continued: {problem}") from None

        return table


#: The columns of `TableEntry`, and the SQL conditions for the state of the game.
_ENTRY = "name, title, made, game, chairs, actions, finished, start != ''"
_CONDITIONS = {None: "", True: "WHERE finished = 1", False: "WHERE finished IS NOT 1"}


def _clock_text(clock: TableClock | None) -> str:
    return "" if clock is None else clock.to_json()


def _entry(row: tuple[Any, ...]) -> TableEntry:
    name, title, made, game, chairs, actions, finished, placed = row
    seats = tuple(SeatAssignment(*chair) for chair in json.loads(chairs))
    over = None if finished is None else bool(finished)
    return TableEntry(name, title, made, game, seats, actions, over, bool(placed))


async def finished_tables(store: TableStore, entries: Sequence[TableEntry]) -> set[str]:
    """Return the names of the tables whose games are over. If this is unknown, replay the game and save the result."""
    finished = {entry.name for entry in entries if entry.over}
    for entry in entries:
        if entry.over is None:  # saved by an earlier version
            try:
                over = (await store.load_in_thread(entry.name)).game.done
            except TableError:  # removed in the meantime, saved by another version, or without its board
                continue
            if store.number(entry.name) == entry.decisions:
                with suppress(StoreError):  # the result is computed again the next time
                    store.set_over(entry.name, over)
            if over:
                finished.add(entry.name)
    return finished


def _make_private(folder: Path, path: Path) -> None:
    """Create the folder and the file with access only for this user, because the file contains seeds and keys.

    The permissions of a folder that contains other files are left unchanged.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    ours = [file for file in folder.iterdir() if file.name.startswith(path.name)]
    for private in [*ours, *([folder] if len(ours) == len(list(folder.iterdir())) else [])]:
        mode = private.stat().st_mode
        if mode & 0o077 and (not hasattr(os, "getuid") or private.stat().st_uid == os.getuid()):
            private.chmod(stat.S_IMODE(mode) & 0o700)
