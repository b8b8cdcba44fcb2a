"""Games and positions saved for analysis, and the tables that continue from them."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any, NamedTuple

from helsinki_env.engine.game import BoardGame
from helsinki_env.notation import to_dict
from helsinki_env.records import Record, initial_game, replay
from helsinki_env.utils.markdown import printable
from helsinki_env.web.help import log_text
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, TableError
from helsinki_env.web.uploads import is_position, read_position

_MAX_GAMES = 1000
_MAX_TITLE = 120


class SavedGameEntry(NamedTuple):
    """List entry for a saved game or position."""

    name: str  # part of the URL
    title: str
    made: float  # upload time, in seconds since 1970
    decisions: int | None  # number of actions; None for a position


class SavedGame(NamedTuple):
    """A saved game, or a saved position without a record."""

    name: str  # part of the URL
    title: str
    record: Record | None
    begin: BoardGame  # the game before its first action, or the position

    @property
    def decisions(self) -> tuple[int, ...]:
        """Actions of the game; empty for a position."""
        return () if self.record is None else self.record.decisions

    def after(self, number: int) -> BoardGame:
        """Return the game after the first `number` actions; raise ValueError if it has fewer actions."""
        if not 0 <= number <= len(self.decisions):
            raise ValueError(f"decisions: found {number}, expected 0 to {len(self.decisions)}")
        game = self.begin.clone()
        for action in self.decisions[:number]:
            game.step(action)
        return game


class GameStart(NamedTuple):
    """The starting point of a game, with the same fields as in `GameTable`."""

    config: Any
    seed: int
    past_actions: tuple[tuple[int, int, str], ...] = ()
    start: str = ""


class SavedGames:
    """The saved games and positions in the database of tables."""

    def __init__(self, store: TableStore) -> None:
        self._store, self._rows = store, store.rows

    def add(self, game: Record | BoardGame) -> str:
        """Save a game or position and return its name; raise ValueError if the limit is reached."""
        if len(self) >= _MAX_GAMES:
            raise ValueError(f"records: found {_MAX_GAMES:,}, expected fewer; delete some first")
        name = secrets.token_hex(6)
        text = game.to_json() if isinstance(game, Record) else json.dumps(to_dict(game))
        with self._store.transaction():
            row = (name, _title(game), time.time(), self._store.boards.portable_text(text))
            self._rows.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)
        return name

    def __len__(self) -> int:
        """Return the number of saved games and positions."""
        return int(self._rows.execute("SELECT count(*) FROM records").fetchone()[0])

    def has(self, name: str) -> bool:
        """Return whether a game or position with this name exists."""
        return self._rows.execute("SELECT 1 FROM records WHERE name = ?", (name,)).fetchone() is not None

    def all(self, first: int = 0, limit: int = -1) -> list[SavedGameEntry]:
        """Return at most `limit` entries (-1 for all), newest first, after skipping the `first` newest."""
        rows = self._rows.execute(
            "SELECT name, title, made, json_array_length(record, '$.decisions') FROM records "
            "ORDER BY made DESC, name LIMIT ? OFFSET ?",
            (limit, first),
        )
        return [SavedGameEntry(*row) for row in rows]

    def load(self, name: str) -> SavedGame:
        """Load a game or position; raise TableError if it does not exist or can no longer be replayed."""
        row = self._rows.execute("SELECT title, record FROM records WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise TableError(f"record {name!r:.40}: does not exist")
        title, text = row[0], self._store.boards.local_text(row[1])
        try:
            if is_position(json.loads(text)):
                return SavedGame(name, title, None, read_position(text))
            record = Record.from_json(text)
            replay(record)
        except ValueError as problem:
            raise TableError(f"record {name}: can no longer be replayed: {problem}") from None
        return SavedGame(name, title, record, initial_game(record))

    def branches(self, record: str) -> list[dict[str, Any]]:
        """Return the tables started from a game or position.

        Each has `table`, `title`, `decisions` (number of actions before the branch) and `made` (creation time).
        """
        rows = self._rows.execute(
            "SELECT tables.name, title, decisions, made FROM branches JOIN tables ON tables.name = branches.name "
            "WHERE record = ? ORDER BY decisions, made",
            (record,),
        )
        return [dict(zip(("table", "title", "decisions", "made"), row, strict=True)) for row in rows]

    def remove(self, name: str) -> None:
        """Delete a game or position; raise TableError if it does not exist. Tables that continue it remain so."""
        with self._store.transaction():
            deleted = self._rows.execute("DELETE FROM records WHERE name = ?", (name,))
        if not deleted.rowcount:
            raise TableError(f"record {name!r:.40}: does not exist")


def _title(game: Record | BoardGame) -> str:
    name = game.spec.name.capitalize()
    if isinstance(game, BoardGame):
        return f"{name}: position with {game.num_players} players, round {game.round}"
    scores = game.scores or [None] * len(game.players)
    seats = [
        player if score is None else f"{player} ({score})" for player, score in zip(game.players, scores, strict=True)
    ]
    title = printable(f"{name}: {', '.join(seats)}")
    return title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 1]}…"


def record_of(table: GameTable, taken_back: int) -> Record:
    """Return the record of a game; raise ValueError if the record would reveal hidden cards of an unfinished game.

    In the record, the human's name includes the number of actions that were taken back.
    """
    if table.humans and not table.game.done:
        raise ValueError(f"table {table.name}: the game is not over, so its record would reveal hidden cards")
    if table.start:
        raise ValueError(f"table {table.name}: the game starts from a position, expected one that starts from a deal")
    names = [chair.name if chair.player == HUMAN else chair.player for chair in table.chairs]
    if taken_back:
        seat = table.humans[0]
        names[seat] += f" (took back {taken_back} action{'s' if taken_back > 1 else ''})"
    return Record.of(table.game, table.seed, names, [decision.action for decision in table.decisions])


def start_from_saved(saved: SavedGame, decisions: int) -> GameStart:
    """Return the start of a game that continues from a saved game after its first `decisions` actions."""
    if saved.after(decisions).done:
        raise ValueError(f"decisions: found {decisions}, after which the game is over; expected fewer")
    record, config = saved.record, saved.begin.config
    past_actions = _with_descriptions(saved.begin, saved.decisions[:decisions])
    if record is not None and not record.stream and not record.episode:
        return GameStart(config, record.seed, past_actions)
    seed = secrets.randbits(63) if record is None else record.seed
    return GameStart(config, seed, past_actions, json.dumps(to_dict(saved.begin)))


def _with_descriptions(begin: BoardGame, actions: tuple[int, ...]) -> tuple[tuple[int, int, str], ...]:
    """Return each action as a tuple (seat, action, description)."""
    game, described = begin.clone(), []
    for action in actions:
        described.append((game.seat, action, log_text(game, action)))
        game.step(action)
    return tuple(described)
