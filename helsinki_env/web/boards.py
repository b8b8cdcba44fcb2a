"""Custom boards: component files with changed values, saved in the database of the tables.

The database holds the contents, and games refer to boards by name, so the data folder can be moved. The files in the
folder `boards` are copies for the player processes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from helsinki_env.data import short_repr
from helsinki_env.engine.spec import GameSpec
from helsinki_env.records import record_digest
from helsinki_env.utils.files import atomic_write, is_file
from helsinki_env.utils.yaml_files import find_yaml

_NAME = r"own-[0-9a-f]{12}"
_PATH = re.compile(rf"(?:.*[/\\])?boards[/\\]({_NAME})\.yaml")
_MAX_BOARDS = 1000
_MAX_LISTED = 100
_LABELS = {
    "hand_limit": "most cards in a hand",
    "goal": "points that end the game",
    "points_row": "points for a full row",
    "points_row_windows": "points for a row of windows only",
    "points_column": "points for a full column",
    "points_column_windows": "points for a column of windows only",
    "points_crossing": "points for a superstructure where a full row and a full column cross",
    "points_line": "points for a superstructure in a full row or column",
    "tiles.white": "white tiles",
    "cards.last": "last cards, one of them the end of the game",
}
_SIZES = ("2 cells", "3 cells", "4 cells", "5 cells")
_PLAYERS = ("2 players", "3 players", "4 players")


class Boards:
    """The custom boards in a database. A board never changes, because saved games refer to it.

    Args:
        rows: connection to the database.
        transaction: context manager that runs a block as one transaction.
        folder: folder that contains the database.
    """

    def __init__(
        self, rows: sqlite3.Connection, transaction: Callable[[], AbstractContextManager[None]], folder: Path
    ) -> None:
        self._rows, self._transaction = rows, transaction
        self._folder = (folder / "boards").resolve()

    @staticmethod
    def _published(spec: GameSpec) -> dict[str, Any]:
        name = spec.config().components
        data: dict[str, Any] = yaml.safe_load(find_yaml(name, "components", ValueError).read_text(encoding="utf-8"))
        return data

    def saved(self, spec: GameSpec) -> list[dict[str, Any]]:
        """Return the latest saved boards of a game: `components` and the changed `values`, keyed as in `fields`."""
        published = _values(self._published(spec))
        rows = self._rows.execute("SELECT name, content FROM boards ORDER BY rowid DESC LIMIT ?", (_MAX_LISTED,))
        boards = [(name, _content_values(content)) for name, content in rows]
        return [
            {"components": name, "values": {key: value for key, value in values.items() if value != published[key]}}
            for name, values in boards
            if values.keys() == published.keys()  # of this game
        ]

    def remove(self, name: str) -> None:
        """Delete a board and the exercises with it; raise ValueError if it does not exist or a saved game uses it."""
        if self._content(name) is None:
            raise ValueError(f"board: found {short_repr(name)}, expected a saved board")
        tables = "SELECT count(*) FROM tables WHERE instr(config, ?1) OR instr(start, ?1)"
        games = "SELECT count(*) FROM records WHERE instr(record, ?1)"
        with self._transaction():
            users = [self._rows.execute(query, (name,)).fetchone()[0] for query in (tables, games)]
            if any(users):
                raise ValueError(
                    f"board: found saved games with it (tables: {users[0]}, games saved for analysis: {users[1]}), "
                    "expected none; delete them first"
                )
            self._rows.execute("DELETE FROM exercises WHERE instr(position, ?)", (name,))
            self._rows.execute("DELETE FROM boards WHERE name = ?", (name,))
        (self._folder / f"{name}.yaml").unlink(missing_ok=True)

    def fields(self, spec: GameSpec) -> list[dict[str, Any]]:
        """Return the values that can be changed, as groups of rows of fields.

        A group has the keys `title`, `heads` (column labels) and `rows`. A row has `label` and `fields`. A field is
        None, or has `key`, such as ``actions.two_points.cost``, and `value`, the published value.
        """
        return list(_groups(self._published(spec)))

    def abilities(self, spec: GameSpec) -> list[str]:
        """Return the abilities that can be disabled for all seats, unless `GameSpec.setup_options` offers this."""
        config = spec.config
        offered = {setup.key for setup in spec.setup_options}
        return [] if "covered" in offered else list(config.disabled_names[config.first_disabled :])

    def save(self, spec: GameSpec, values: Mapping[str, float | None]) -> str:
        """Save a component file with changed values, keyed as in `fields`, and return its name.

        Raises:
            ValueError: if a value is invalid; the message begins with its key.
            StoreError: if the file cannot be saved.
        """
        data = self._published(spec)
        known = _values(data)
        for key, value in values.items():
            if key not in known:
                raise ValueError(f"values: found the key {short_repr(key)}, expected one of the board's")
            if value is None:
                raise ValueError(f"{key}: found nothing, expected a whole number")
            _set(data, key, int(value) if value == int(value) else value)
        content = yaml.safe_dump(data, sort_keys=True)
        name = _name_of(content.encode())
        if self._content(name) is not None:
            return name
        if self._rows.execute("SELECT count(*) FROM boards").fetchone()[0] >= _MAX_BOARDS:
            raise ValueError(f"boards: found {_MAX_BOARDS:,}, expected fewer; use a saved one")
        path = self._file(name, content)
        try:
            spec.config(components=str(path))
        except ValueError as problem:
            path.unlink(missing_ok=True)
            raise ValueError(str(problem).removeprefix(f"{path}: ")) from None
        self._add(name, content)
        return name

    def config_values(self, options: Mapping[str, Any], players: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split the options of a table into the game options and the configuration values of a custom board.

        The `denied` option lists abilities that no seat may use.
        """
        name = options.get("components")
        if not isinstance(name, str) or not name.startswith("own-"):
            return dict(options), {}
        own = self.local({"components": name})
        if not re.fullmatch(_NAME, name) or own["components"] == name:
            raise ValueError(f"options.components: found {short_repr(name)}, expected a saved board")
        if denied := options.get("denied"):
            own["denied"] = [denied] * players
        return {key: value for key, value in options.items() if key not in ("components", "denied")}, own

    # in the database

    def portable(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration as a dict, with the name of its custom component file instead of the path."""
        found = _PATH.fullmatch(str(config.get("components", "")))
        ours = found is not None and Path(config["components"]).parent == self._folder
        return dict(config) | ({"components": found[1]} if found is not None and ours else {})

    def local(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration as a dict, with the path of its custom component file instead of the name.

        The file is written if it does not exist. A path in another folder refers to a database that was moved.
        """
        components = str(config.get("components", ""))
        found = _PATH.fullmatch(components) or re.fullmatch(f"({_NAME})", components)
        if found is None:
            return dict(config)
        name, path = found[1], self._folder / f"{found[1]}.yaml"
        content = self._content(name)
        found_content = path.read_bytes() if is_file(path) else None
        if content is None and found_content is not None and _name_of(found_content) == name:
            self._add(name, found_content.decode())  # of an earlier version
        elif content is not None and found_content != content.encode():
            self._file(name, content)
        return dict(config) | ({"components": str(path)} if is_file(path) else {})

    def portable_text(self, text: str) -> str:
        """Replace the path of the custom component file with its name, in the JSON of a game record or position."""
        return _with_config(text, self.portable)

    def local_text(self, text: str) -> str:
        """Replace the name of the custom component file with its path, in the JSON of a game record or position."""
        return _with_config(text, self.local)

    def _content(self, name: str) -> str | None:
        row = self._rows.execute("SELECT content FROM boards WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def _add(self, name: str, content: str) -> None:
        with self._transaction():
            self._rows.execute("INSERT OR IGNORE INTO boards VALUES (?, ?)", (name, content))

    def _file(self, name: str, content: str) -> Path:
        """Write the file for a custom board and return its path."""
        path = self._folder / f"{name}.yaml"
        with atomic_write(path) as file:
            file.write(content.encode())
        return path


def _name_of(content: bytes) -> str:
    return f"own-{hashlib.sha256(content).hexdigest()[:12]}"


def _with_config(text: str, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> str:
    """Apply a function to the configuration in a JSON text: the value of `config` in a record, or a whole position."""
    if "own-" not in text:
        return text
    data = json.loads(text)
    if not isinstance(data.get("config"), dict):
        return json.dumps(change(data))
    data["config"] = change(data["config"])
    return json.dumps(data | ({"digest": record_digest(data)} if "digest" in data else {}))


def _values(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a component file that can be changed."""
    rows = (row for group in _groups(data) for row in group["rows"])
    return {field["key"]: field["value"] for row in rows for field in row["fields"] if field}


@lru_cache(maxsize=_MAX_LISTED)
def _content_values(content: str) -> dict[str, Any]:
    return _values(yaml.safe_load(content))


def _groups(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the groups of fields for a component file."""
    if actions := data.get("actions"):
        rows = [
            _row(name, [(f"actions.{name}.{kind}", one.get(kind)) for kind in ("cost", "strength")])
            for name, one in actions.items()
        ]
        yield {"title": "Board actions", "heads": ["cost", "strength"], "rows": rows}
    rules = [_row(_LABELS.get(name, name), [(f"rules.{name}", value)]) for name, value in data.get("rules", {}).items()]
    cards, tiles = data.get("cards", {}), data.get("tiles", {})
    if "hands" not in cards or "white" not in tiles:
        yield {"title": "Rules and points", "heads": [""], "rows": rules}
        return
    rules += [_row(_LABELS[key], [(key, value)]) for key, value in _counts(cards, tiles)]
    yield {"title": "Rules, points and counts", "heads": [""], "rows": rules}
    hands = [(f"cards.hands[{seat}]", value) for seat, value in enumerate(cards["hands"])]
    heads = [f"player {seat + 1}" for seat in range(len(hands))]
    yield {"title": "Cards dealt at the start", "heads": heads, "rows": [_row("cards", hands)]}
    colors = [(f"cards.copies.{key}", value) for key, value in cards["copies"].items()]
    yield {"title": "Cards of each color", "heads": list(_PLAYERS), "rows": [_row("cards", colors)]}
    copies = [
        _row(players, [(f"tiles.copies.{key}[{size}]", value) for size, value in enumerate(values)])
        for players, (key, values) in zip(_PLAYERS, tiles["copies"].items(), strict=True)
    ]
    yield {"title": "Tiles of each color, by size", "heads": list(_SIZES), "rows": copies}


def _counts(cards: Mapping[str, Any], tiles: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [("tiles.white", tiles["white"]), ("cards.last", cards["last"])]


def _row(label: str, fields: list[tuple[str, Any]]) -> dict[str, Any]:
    shown = [None if value is None else {"key": key, "value": value} for key, value in fields]
    return {"label": label.replace("_", " "), "fields": shown}


def _set(data: Any, key: str, value: Any) -> None:
    """Set the value of a key such as ``cards.hands[0]``."""
    *parts, last = (int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", key))
    for part in parts:
        data = data[part]
    data[last] = value
