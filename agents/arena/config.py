"""Tournaments from YAML files, in ``configs/arena``: a seed and a list of tables; see ``example.yaml`` there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import combinations
from pathlib import Path
from typing import Any, NoReturn

from agents.arena.designs import DESIGNS, DesignError
from agents.arena.plan import CHUNK_GAMES, ArenaError, Plan, TablePlan, lineups_of
from helsinki_env.config import GameConfig
from helsinki_env.yaml_files import find_yaml, one_of, read_yaml

__all__ = ["plan_from_dict", "plan_from_yaml", "with_seats"]

_KEYS = ("seed", "chunk", "tables")
_TABLE_KEYS = ("name", "seats", "players", "lineups", "games", "game", *DESIGNS)
_GAMES = 2000


def plan_from_yaml(name_or_path: str | Path, changes: Mapping[str, Any] | None = None) -> Plan:
    """Return the tournament in a file (a name in ``configs/arena``, or a path).

    Args:
        name_or_path: the file.
        changes: values that take the place of the file's, by key.

    Raises:
        ArenaError: naming file, key, value found and what is expected.
    """
    path = find_yaml(name_or_path, "arena", ArenaError)
    try:
        return plan_from_dict({**read_yaml(path, ArenaError), **(changes or {})})
    except ValueError as problem:
        prefix = "" if str(problem).startswith(f"{path}:") else f"{path}: "
        raise ArenaError(f"{prefix}{problem}") from None


def plan_from_dict(data: Mapping[str, Any]) -> Plan:
    """Return the tournament with the keys of a file, see ``configs/arena/example.yaml``.

    Raises:
        ArenaError: naming key, value found and what is expected.
        ConfigError, ComponentError: for a game that cannot be played.
    """
    _known(data, _KEYS, "")
    seed = _whole(data.get("seed", 0), "seed", 0)
    chunk = _whole(data.get("chunk", CHUNK_GAMES), "chunk", 1)
    found = data.get("tables")
    if not isinstance(found, list) or not found:
        _fail("tables", found, "a list of at least one table")
    tables = tuple(_table(table, f"tables[{i}]", i) for i, table in enumerate(found))
    for i, table in enumerate(tables):
        if table.name in [other.name for other in tables[:i]]:
            _fail(f"tables[{i}].name", table.name, "a name that no other table has")
    return Plan(seed, tables, chunk)


def with_seats(config: GameConfig, seats: int) -> GameConfig:
    """Return a configuration for another number of seats; what is denied to single seats goes with them."""
    if seats == config.num_players:
        return config
    return GameConfig.from_dict({**config.to_dict(), "num_players": seats, "denied": None})


def _table(data: Any, path: str, number: int) -> TablePlan:
    _known(data, _TABLE_KEYS, path)
    name = data.get("name", f"table {number + 1}")
    if not isinstance(name, str) or not name:
        _fail(f"{path}.name", name, "a name")
    if ("players" in data) == ("lineups" in data):
        _fail(path, sorted(data), "either players or lineups")
    config = _config(data, path)
    if "players" in data:
        players = _names(data["players"], f"{path}.players", 1)
        if len(set(players)) < len(players):
            _fail(f"{path}.players", players, "each player once (some sit in several seats if there are too few)")
        lineups = lineups_of(len(players), config.num_players)
    else:
        meeting = [_names(names, f"{path}.lineups[{i}]", 2) for i, names in enumerate(_list(data["lineups"], path))]
        players = list(dict.fromkeys(player for names in meeting for player in names))
        for i, names in enumerate(meeting):
            if len(names) != config.num_players:
                _fail(f"{path}.lineups[{i}]", names, f"{config.num_players} players, one for each seat")
        lineups = tuple(tuple(players.index(player) for player in names) for names in meeting)
        for i, lineup in enumerate(lineups):
            if sorted(lineup) in [sorted(other) for other in lineups[:i]]:
                _fail(f"{path}.lineups[{i}]", meeting[i], "a line-up that is not there yet (raise games instead)")
    games = _whole(data.get("games", _GAMES), f"{path}.games", 1)
    barred = {key: _design(part, data[key], f"{path}.{key}") for key, part in DESIGNS.items() if key in data}
    for one, other in combinations(barred, 2):
        if {one, other} != {"cover", "screen"} and {one, other} != {"cover", "handicap"}:
            _fail(path, [one, other], "one of them: both say which actions may not be used")
    if "handicap" in barred and len(barred["handicap"].denied) != config.num_players:
        _fail(f"{path}.handicap.denied", data["handicap"]["denied"], f"{config.num_players} lists, one for each seat")
    return TablePlan(name, config, tuple(players), lineups, -(-games // config.num_players), **barred)


def _design(part: Any, data: Any, path: str) -> Any:
    """Return what a table denies or covers from block to block."""
    _known(data, [item.name for item in fields(part)], path)
    try:
        return part(**data)
    except (DesignError, TypeError) as problem:
        raise ArenaError(f"{path}.{problem}") from None


def _config(data: Mapping[str, Any], path: str) -> GameConfig:
    """Return the game of a table: its own, for as many seats as are asked for or the line-ups have."""
    game, seats = data.get("game"), data.get("seats")
    try:
        if game is None or isinstance(game, str):
            config = GameConfig.from_yaml(game or "default")
        else:
            config = GameConfig.from_dict(game)
    except ValueError as problem:
        raise ArenaError(f"{path}.game: {problem}") from None
    if seats is None and game is None and "lineups" in data:
        seats = len(_names(_list(data["lineups"], path)[0], f"{path}.lineups[0]", 2))
    if seats is None:
        return config
    if isinstance(seats, bool) or seats not in (2, 3, 4):
        _fail(f"{path}.seats", seats, "2, 3 or 4")
    return with_seats(config, seats)


def _known(data: Any, keys: Sequence[str], path: str) -> None:
    if not isinstance(data, Mapping):
        _fail(path or "the file", data, f"a mapping of some of {', '.join(keys)}")
    for key in data:
        if key not in keys:
            _fail(f"{path}.{key}" if path else str(key), data[key], f"no such key, but {one_of(keys, key)}")


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        _fail(f"{path}.lineups", value, "a list of at least one line-up")
    return value


def _names(value: Any, path: str, least: int) -> list[str]:
    if not isinstance(value, list) or len(value) < least:
        _fail(path, value, f"a list of at least {least} player{'s' if least > 1 else ''}")
    for i, name in enumerate(value):
        if not isinstance(name, str) or not name.strip():
            _fail(f"{path}[{i}]", name, "a player, such as greedy")
    return [name.strip() for name in value]


def _whole(value: Any, key: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        _fail(key, value, f"a whole number of at least {least}")
    return value


def _fail(key: str, found: object, expected: str) -> NoReturn:
    raise ArenaError(f"{key}: found {found!r:.100}, expected {expected}")
