"""Tournaments from YAML files in ``configs/arena``: a seed and a list of matchups; see ``example.yaml`` there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, read_yaml, short_repr
from helsinki_env.engine.spec import config_from_dict, config_from_yaml
from helsinki_env.evaluation.arena.designs import DESIGNS, read_designs
from helsinki_env.evaluation.arena.plan import (
    MAX_MATCHUP_GAMES,
    WORK_UNIT_GAMES,
    ArenaError,
    MatchupPlan,
    Plan,
    round_robin_lineups,
)
from helsinki_env.utils.yaml_files import find_yaml

__all__ = ["plan_from_dict", "plan_from_yaml", "with_seats"]

_KEYS = ("seed", "chunk", "tables")
_TABLE_KEYS = ("name", "seats", "players", "lineups", "games", "game", *DESIGNS)
_DEFAULT_GAMES = 2000
_MAX_TABLES = 1000


def plan_from_yaml(name_or_path: str | Path, changes: Mapping[str, Any] | None = None, *, trust: bool = False) -> Plan:
    """Return the tournament of a file.

    Args:
        name_or_path: a name in ``configs/arena``, or a path.
        changes: values that override those of the file, by key.
        trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

    Raises:
        ArenaError: names file, key, value found and value expected.
        PlayerError: if the file names code and is not trusted.
    """
    data = read_yaml(find_yaml(name_or_path, "arena", ArenaError), ArenaError)
    data.value = {**data.mapping(_KEYS).value, **(changes or {})}
    plan = plan_from_dict(data)
    check_code((player for table in plan.tables for player in table.players), data.file, trust=trust)
    return plan


def plan_from_dict(data: Mapping[str, Any] | Node) -> Plan:
    """Return the tournament of a dictionary with the keys of a file, see ``configs/arena/example.yaml``.

    Raises:
        ArenaError: names key, value found and value expected.
    """
    data = Node.of(data, ArenaError, "the tournament").mapping(_KEYS)
    seed = data.get("seed", 0).integer(0)
    chunk = data.get("chunk", WORK_UNIT_GAMES).integer(1, MAX_MATCHUP_GAMES)
    entries = data["tables"].entries("at least one matchup", least=1, most=_MAX_TABLES)
    tables = tuple(_table(entry, f"table {i + 1}") for i, entry in enumerate(entries))
    names: set[str] = set()
    for table, entry in zip(tables, entries, strict=True):
        if table.name in names:
            entry["name"].fail("a unique name")
        names.add(table.name)
    with data.prefix_errors():
        return Plan(seed, tables, chunk)


def with_seats(config: Any, seats: int) -> Any:
    """Return a configuration for `seats` seats; a new number resets the actions denied to single seats."""
    return config.replace(num_players=seats)


def _table(data: Node, name: str) -> MatchupPlan:
    data.mapping(_TABLE_KEYS)
    name = data.get("name", name).text("a name")
    if data["players"].is_present == data["lineups"].is_present:
        data.fail("either players or lineups", found=short_repr(sorted(data.value)))
    config = _config(data)
    if data["players"].is_present:
        players = _names(data["players"], 1)
        if len(set(players)) < len(players):
            data["players"].fail("each player once", "with fewer players than seats, players take several seats")
        with data.prefix_errors():
            lineups = round_robin_lineups(len(players), config.num_players)
    else:
        players, lineups = _lineups(data["lineups"], config.num_players)
    games = data.get("games", _DEFAULT_GAMES).integer(1, MAX_MATCHUP_GAMES)
    designs = read_designs(data, config)
    # Reject a game whose covered or denied actions a design would silently override.
    for key, overriding in (("covered", {"boards", "cover"}), ("denied", {"boards", "screen", "handicap"})):
        for design in sorted(overriding & set(designs)):
            value = getattr(config, key, ())
            if any(value) if key == "denied" else value:
                data["game"].fail(f"no {key} actions, because {design} sets them for every deal")
    return MatchupPlan(name, config, tuple(players), lineups, -(-games // config.num_players), **designs)


def _lineups(data: Node, seats: int) -> tuple[list[str], tuple[tuple[int, ...], ...]]:
    """Return the players of some line-ups, and the player indices of each line-up."""
    entries = data.entries("at least one line-up", least=1)
    lineups = [_names(entry, 2) for entry in entries]
    numbers = {player: i for i, player in enumerate(dict.fromkeys(player for names in lineups for player in names))}
    seen: set[tuple[int, ...]] = set()
    for entry, names in zip(entries, lineups, strict=True):
        if len(names) != seats:
            entry.fail(f"{seats} players, one for each seat")
        lineup = tuple(sorted(numbers[player] for player in names))
        if lineup in seen:
            entry.fail("a line-up that is not listed yet", "increase games instead")
        seen.add(lineup)
    return list(numbers), tuple(tuple(numbers[player] for player in names) for names in lineups)


def _config(data: Node) -> Any:
    """Return the game of a matchup, for the requested number of seats or that of the line-ups."""
    game, seats = data.get("game", None), data["seats"]
    if game.value is None or isinstance(game.value, str):
        with game.prefix_errors():
            config = config_from_yaml(game.value or "default")
    else:
        config = config_from_dict(game)
    if seats.is_present:
        return with_seats(config, seats.integer(2, 4, "2, 3 or 4"))
    if game.value is None and data["lineups"].is_present:
        first = data["lineups"].entries("at least one line-up", least=1)[0]
        size = len(_names(first, 2))
        with first.prefix_errors():
            return with_seats(config, size)
    return config


def _names(data: Node, least: int) -> list[str]:
    names = data.entries(f"at least {least} player{'s' if least > 1 else ''}", least)
    return [name.text("a player, such as greedy").strip() for name in names]
