"""The plan of a tournament: matchups, line-ups, blocks of paired games, and work units.

A matchup is a game configuration with players. A line-up assigns one player to each seat. A block of a line-up is one
deal, played once per seat rotation. Successive blocks use different cyclic orders of the players, so players have
different neighbors. Block k plays deal k in every line-up.

A block depends only on the seed of the run, the matchup, the line-up and the block number. Work units can therefore be
played in any order on any machine. A longer plan begins with the games of a shorter one.

The YAML files in ``configs/arena``, such as ``example.yaml``, define plans by a seed and a list of matchups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import helsinki_env
from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, UserError, choices_text, digest_of, read_yaml, short_repr, with_digest
from helsinki_env.engine.spec import (
    config_from_dict,
    config_from_yaml,
    config_to_dict,
    game_names,
    spec_by_name,
    spec_of,
)
from helsinki_env.evaluation.arena.designs import (
    DESIGNS,
    CoverDesign,
    HandicapDesign,
    RandomBoards,
    ScreeningDesign,
    read_designs,
)
from helsinki_env.utils.yaml_files import find_yaml

__all__ = ["plan_from_dict", "plan_from_yaml"]

WORK_UNIT_GAMES = 60
"""Number of games in a work unit: nearly as fast as large batches, with little work lost on interruption."""

#: Format version of the files in a run folder.
_FORMAT = 4
_MAX_LINEUPS = 100_000
_MAX_WORK_UNITS = 1_000_000
MAX_MATCHUP_GAMES = 1_000_000_000
"""Maximum number of games in a line-up or a work unit."""
MAX_MATCHUPS = 1000
"""Maximum number of matchups in a tournament."""
MAX_GAMES = _MAX_WORK_UNITS * WORK_UNIT_GAMES // 2
"""Number of games that a tournament can have even if its matchups do not fill their work units."""


class ArenaError(UserError):
    """Invalid or unreadable tournament. The message states the value found, the value expected and a remedy."""


def round_robin_lineups(players: int, seats: int) -> tuple[tuple[int, ...], ...]:
    """Return all line-ups of a round robin as ascending player indices.

    If there are fewer players than seats, every line-up contains all players.
    """
    if players < seats:
        lineups = combinations_with_replacement(range(players), seats)
        return tuple(lineup for lineup in lineups if len(set(lineup)) == players)
    count = comb(players, seats)
    if count > _MAX_LINEUPS:
        raise ArenaError(
            f"players: found {players}, which makes {count:,} line-ups of {seats}, expected at most {_MAX_LINEUPS:,}; "
            "list the line-ups in a tournament file"
        )
    return tuple(combinations(range(players), seats))


def block_seating(seats: int, block: int) -> npt.NDArray[np.int64]:
    """Return the line-up position of the player in each seat for the games of a block, int64 (S games, S seats)."""
    orders = [(0, *others) for others in permutations(range(1, seats))]
    order = np.array(orders[block % len(orders)], np.int64)
    seating: npt.NDArray[np.int64] = order[(np.arange(seats)[:, None] + np.arange(seats)) % seats]
    return seating


@dataclass(frozen=True)
class MatchupPlan:
    """The plan of one matchup."""

    name: str  # unique name of the matchup
    config: Any
    players: tuple[str, ...]  # unique player names, as for `make_player`
    lineups: tuple[tuple[int, ...], ...]  # player indices, one per seat
    blocks: int  # number of blocks in each line-up
    boards: RandomBoards | None = None  # random action boards by block; None: board of the configuration
    screening: ScreeningDesign | None = None  # actions denied to each line-up position, by block
    cover: CoverDesign | None = None  # actions covered for all seats, by block
    handicap: HandicapDesign | None = None  # actions denied to each line-up position in all blocks
    #: Number of the random streams for boards and players; default: the index of the matchup. Matchups with the same
    #: number, line-ups and designs share all random numbers.
    stream: int | None = None

    @property
    def seats(self) -> int:
        """Number of seats."""
        return int(self.config.num_players)

    @property
    def games(self) -> int:
        """Number of games in all line-ups."""
        return len(self.lineups) * self.blocks * self.seats

    def lineup_names(self, lineup: int) -> str:
        """Return the names of the players in a line-up, separated by commas."""
        return ",".join(self.players[i] for i in self.lineups[lineup])

    def to_dict(self) -> dict[str, Any]:
        """Return the matchup as a dictionary, the inverse of `from_dict`."""
        return {
            "name": self.name,
            "config": config_to_dict(self.config),
            "config_digest": self.config.digest,
            "players": list(self.players),
            "lineups": [list(lineup) for lineup in self.lineups],
            "blocks": self.blocks,
            **self.designs,
            **({} if self.stream is None else {"stream": self.stream}),
        }

    @property
    def designs(self) -> dict[str, Any]:
        """The designs that deny or cover actions, by key, as dictionaries in the format of a tournament file."""
        designs = {name: getattr(self, name) for name in DESIGNS}
        return {name: _plain(asdict(design)) for name, design in designs.items() if design is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> MatchupPlan:
        """Return the matchup in a dictionary from `to_dict`; raise ArenaError if its component file has changed."""
        data = Node.of(data, ArenaError, "the matchup").mapping()
        config = config_from_dict(data["config"])
        name = data["name"].text("a name")
        if config.digest != data["config_digest"].value:
            data["config_digest"].fail(
                f"{config.digest!r}, as with the current component file {config.components!r}",
                "restore the component file of the run",
            )
        players = tuple(player.text("a player") for player in data["players"].entries("at least one player", least=1))
        lineups = tuple(
            tuple(
                player.integer(0, len(players) - 1) for player in lineup.entries("players", length=config.num_players)
            )
            for lineup in data["lineups"].entries("at least one line-up", least=1)
        )
        designs = read_designs(data, config)
        stream = data["stream"].integer(0) if data["stream"].is_present else None
        blocks = data["blocks"].integer(1, MAX_MATCHUP_GAMES)
        return cls(name, config, players, lineups, blocks, **designs, stream=stream)


def _plain(value: Any) -> Any:
    """Replace tuples with lists."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, order=True)
class WorkUnit:
    """A work unit: consecutive blocks of a line-up. Work units are ordered as in the plan."""

    matchup: int  # number of the matchup
    lineup: int
    number: int  # number of the work unit within the line-up
    first: int  # first block
    end: int  # last block plus 1

    @property
    def name(self) -> str:
        """Base name of the work unit's files."""
        return f"{self.matchup:02d}-{self.lineup:05d}-{self.number:05d}"


@dataclass(frozen=True)
class Plan:
    """The plan of a whole tournament."""

    seed: int  # seed for deals and players
    matchups: tuple[MatchupPlan, ...]
    unit_games: int = WORK_UNIT_GAMES  # games in a work unit, rounded up to whole blocks
    package: str = helsinki_env.__version__

    def __post_init__(self) -> None:
        """Check the maximum number of work units."""
        count = sum(len(matchup.lineups) * -(-matchup.blocks // self._blocks(matchup)) for matchup in self.matchups)
        if count > _MAX_WORK_UNITS:
            raise ArenaError(
                f"games: found {self.games:,} in {count:,} work units, expected at most {_MAX_WORK_UNITS:,} units; "
                f"request fewer games, or a larger unit_games than {self.unit_games:,}"
            )

    def _blocks(self, matchup: MatchupPlan) -> int:
        """Return the number of blocks in a work unit."""
        return -(-self.unit_games // matchup.seats)

    @property
    def games(self) -> int:
        """Number of games in all matchups."""
        return sum(matchup.games for matchup in self.matchups)

    @cached_property
    def work_units(self) -> tuple[WorkUnit, ...]:
        """All work units in order."""
        return tuple(
            self._work_unit(number, lineup, i)
            for number, matchup in enumerate(self.matchups)
            for lineup in range(len(matchup.lineups))
            for i in range(-(-matchup.blocks // self._blocks(matchup)))
        )

    def whole(self, unit: WorkUnit) -> WorkUnit:
        """Return the complete work unit that contains a partial one."""
        return self._work_unit(unit.matchup, unit.lineup, unit.number)

    def _work_unit(self, matchup: int, lineup: int, number: int) -> WorkUnit:
        plan = self.matchups[matchup]
        blocks = self._blocks(plan)
        return WorkUnit(matchup, lineup, number, number * blocks, min(plan.blocks, (number + 1) * blocks))

    def games_of(self, units: Sequence[WorkUnit]) -> int:
        """Return the total number of games in work units."""
        return sum((unit.end - unit.first) * self.matchups[unit.matchup].seats for unit in units)

    def describe(self, unit: WorkUnit) -> str:
        """Return a description of a work unit for error messages."""
        matchup = self.matchups[unit.matchup]
        blocks = f"blocks {unit.first} to {unit.end - 1}"
        return (
            f"work unit {unit.name} (matchup {matchup.name!r}, line-up {matchup.lineup_names(unit.lineup)}, {blocks})"
        )

    @cached_property
    def digest(self) -> str:
        """Digest of the plan, 16 hexadecimal digits."""
        return digest_of(self._content())

    @cached_property
    def basis(self) -> str:
        """Digest of the plan without its game counts, 16 hexadecimal digits."""
        return digest_of(without_game_counts(self._content()))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a dictionary with versions and digest, the inverse of `from_dict`."""
        return with_digest(self._content())

    def _content(self) -> dict[str, Any]:
        return {
            "arena": _FORMAT,
            "environment": environment_versions(self.matchups),
            "package": self.package,
            "seed": self.seed,
            "unit_games": self.unit_games,
            "matchups": [matchup.to_dict() for matchup in self.matchups],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Plan:
        """Return the plan in a dictionary from `to_dict`; raise ArenaError if it was modified or is outdated."""
        data = Node.of(data, ArenaError, "the plan of a run").mapping()
        remedy = "use the version that played the run, or choose another folder"
        if data["arena"].value != _FORMAT:
            data["arena"].fail(repr(_FORMAT), remedy)
        known = {name: spec_by_name(name).environment for name in game_names()}
        for name in data["environment"].text("the names of environments").split(", "):
            if name not in known.values():
                current = known.get(name.rpartition("_v")[0])
                expected = choices_text(known.values(), None) if current is None else repr(current)
                data["environment"].fail(expected, remedy)
        data.verify_digest("the plan of a run")
        matchups = tuple(
            MatchupPlan.from_dict(matchup) for matchup in data["matchups"].entries("at least one matchup", least=1)
        )
        if data["environment"].value != environment_versions(matchups):
            data["environment"].fail(repr(environment_versions(matchups)), remedy)
        unit_games, package = data["unit_games"].integer(1, MAX_MATCHUP_GAMES), data["package"].text("a version")
        return cls(data["seed"].integer(0), matchups, unit_games, package)


def environment_versions(matchups: Iterable[MatchupPlan]) -> str:
    """Return the names and versions of the environments that matchups use."""
    return ", ".join(sorted({spec_of(matchup.config).environment for matchup in matchups}))


def without_game_counts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dictionary of a plan without the keys that depend on the number of games."""
    matchups = [{key: value for key, value in matchup.items() if key != "blocks"} for matchup in data["matchups"]]
    return {**{key: value for key, value in data.items() if key != "digest"}, "matchups": matchups}


_KEYS = ("seed", "unit_games", "matchups")
_MATCHUP_KEYS = ("name", "seats", "players", "lineups", "games", "game", *DESIGNS)
_DEFAULT_GAMES = 2000


def plan_from_yaml(name_or_path: str | Path, changes: Mapping[str, Any] | None = None, *, trust: bool = False) -> Plan:
    """Return the plan of the tournament that a file defines.

    Args:
        name_or_path: a name in ``configs/arena``, or a path.
        changes: values by key, which replace those in the file.
        trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

    Raises:
        ArenaError: if the file is invalid; the message names the file, the key and both values.
        PlayerError: if the file names code and is not trusted.
    """
    data = read_yaml(find_yaml(name_or_path, "arena", ArenaError), ArenaError)
    data.value = {**data.mapping(_KEYS).value, **(changes or {})}
    plan = plan_from_dict(data)
    check_code((player for matchup in plan.matchups for player in matchup.players), data.file, trust=trust)
    return plan


def plan_from_dict(data: Mapping[str, Any] | Node) -> Plan:
    """Return the plan of a tournament, given as a dictionary with the keys of a tournament file.

    Raises ArenaError if the dictionary is invalid. The message names the key and both values.
    """
    data = Node.of(data, ArenaError, "the tournament").mapping(_KEYS)
    seed = data.get("seed", 0).integer(0)
    unit_games = data.get("unit_games", WORK_UNIT_GAMES).integer(1, MAX_MATCHUP_GAMES)
    entries = data["matchups"].entries("at least one matchup", least=1, most=MAX_MATCHUPS)
    matchups = tuple(_matchup(entry, f"matchup {i + 1}") for i, entry in enumerate(entries))
    names: set[str] = set()
    for matchup, entry in zip(matchups, entries, strict=True):
        if matchup.name in names:
            entry["name"].fail("a unique name")
        names.add(matchup.name)
    with data.prefix_errors():
        return Plan(seed, matchups, unit_games)


def _matchup(data: Node, name: str) -> MatchupPlan:
    data.mapping(_MATCHUP_KEYS)
    name = data.get("name", name).text("a name")
    if data["players"].is_present == data["lineups"].is_present:
        data.fail("either players or lineups", found=short_repr(sorted(data.value)))
    config = _config(data)
    if data["players"].is_present:
        players = _names(data["players"], 1)
        if len(set(players)) < len(players):
            data["players"].fail("each player once", "players take several seats if there are fewer players than seats")
        with data.prefix_errors():
            lineups = round_robin_lineups(len(players), config.num_players)
    else:
        players, lineups = _lineups(data["lineups"], config.num_players)
    games = data.get("games", _DEFAULT_GAMES).integer(1, MAX_MATCHUP_GAMES)
    designs = read_designs(data, config)
    # A design would silently override the covered or denied actions of the configuration.
    for key, overriding in (("covered", {"boards", "cover"}), ("denied", {"boards", "screening", "handicap"})):
        for design in sorted(overriding & set(designs)):
            value = getattr(config, key, ())
            if any(value) if key == "denied" else value:
                data["game"].fail(f"no {key} actions, because {design} chooses them for every deal")
    return MatchupPlan(name, config, tuple(players), lineups, -(-games // config.num_players), **designs)


def _lineups(data: Node, seats: int) -> tuple[list[str], tuple[tuple[int, ...], ...]]:
    """Return the players in the line-ups, and the player indices of each line-up."""
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
    """Return the game configuration of a matchup.

    If neither the game nor the number of seats is given, the first line-up determines the number of seats.
    """
    game, seats = data.get("game", None), data["seats"]
    if game.value is None or isinstance(game.value, str):
        with game.prefix_errors():
            config = config_from_yaml(game.value or "default")
    else:
        config = config_from_dict(game)
    if seats.is_present:
        count = seats.integer(2, 4, "2, 3 or 4")
        if any(config.denied) and count != config.num_players:
            seats.fail(f"{config.num_players}, because the game denies actions to each seat")
        return config.replace(num_players=count)
    if game.value is None and data["lineups"].is_present:
        first = data["lineups"].entries("at least one line-up", least=1)[0]
        size = len(_names(first, 2))
        with first.prefix_errors():
            return config.replace(num_players=size)
    return config


def _names(data: Node, least: int) -> list[str]:
    names = data.entries(f"at least {least} player{'s' if least > 1 else ''}", least)
    return [name.text("a player, such as greedy").strip() for name in names]
