"""What a tournament plays: tables, line-ups, blocks, and the chunks in which the work is handed out.

A table is a game configuration with players; a line-up is who meets, one player for each seat. A block of a line-up is
one deck, dealt once for each rotation of the seats, so that luck with the deck and the seat is the same for all. The
blocks of a line-up take the cyclic orders of its players in turn: who sits behind whom changes too. Block k plays deck
k in every line-up, so line-ups are compared on the same decks.

What is played in a block depends on the seed of the run, the table, the line-up and the number of the block, and on
nothing else: chunks can be played in any order, anywhere, twice if need be, and a plan with more blocks begins with the
games of one with fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

import helsinki_env
from agents.arena.designs import DESIGNS, Boards, Cover, Handicap, Screen, read_designs
from helsinki_env.data import Entry, UserError, digest_of, one_of, sealed
from helsinki_env.engine.spec import GameSpec, config_from_dict, config_to_dict, game_names, spec_named, spec_of

__all__ = [
    "CHUNK_GAMES",
    "MOST_GAMES",
    "ArenaError",
    "Chunk",
    "Plan",
    "TablePlan",
    "block_seating",
    "environment_of",
    "lineups_of",
    "of_any_length",
]

CHUNK_GAMES = 60
"""Games of a chunk: as many as are played about as fast as large batches are, and few enough that slow players show
progress and little is lost when a run is stopped."""

#: Version of the files of a run.
_FORMAT = 3
_MOST_LINEUPS = 100_000
_MOST_CHUNKS = 1_000_000
MOST_GAMES = 1_000_000_000
"""Games of a line-up, or of a chunk; nobody waits for more."""


class ArenaError(UserError):
    """A tournament that cannot be played or read. The message names what was found, what is expected and the remedy."""


def lineups_of(players: int, seats: int) -> tuple[tuple[int, ...], ...]:
    """Return who meets when everybody meets everybody, as ascending indices of players, one for each seat.

    Args:
        players: how many there are; at least 1.
        seats: seats of a game. If there are fewer players than seats, some sit in several: all ways in which every
            player takes part.

    Raises:
        ArenaError: if there are too many.
    """
    if players < seats:
        found = combinations_with_replacement(range(players), seats)
        return tuple(lineup for lineup in found if len(set(lineup)) == players)
    count = comb(players, seats)
    if count > _MOST_LINEUPS:
        raise ArenaError(
            f"players: found {players}, which makes {count:,} line-ups of {seats}, expected at most {_MOST_LINEUPS:,} "
            "(fewer players, or choose them: lineups in a file for --config)"
        )
    return tuple(combinations(range(players), seats))


def block_seating(seats: int, block: int) -> npt.NDArray[np.int64]:
    """Return which place of the line-up sits in each seat in the games of a block, int64 (S games, S seats).

    Args:
        seats: S.
        block: its number; block k takes the cyclic order number k, counted round.
    """
    orders = [(0, *others) for others in permutations(range(1, seats))]
    order = np.array(orders[block % len(orders)], np.int64)
    seating: npt.NDArray[np.int64] = order[(np.arange(seats)[:, None] + np.arange(seats)) % seats]
    return seating


@dataclass(frozen=True)
class TablePlan:
    """What is played at one table.

    Attributes:
        name: of the table, unlike those of the others.
        config: what is played.
        players: as `make_player` takes them, each once.
        lineups: who meets, indices of players, one for each seat.
        blocks: blocks of each line-up.
        boards: random action boards, one for each block; None: what the configuration says.
        screen: what the places of a line-up are denied, block by block, likewise.
        cover: what is covered for all, likewise.
        handicap: what each place of a line-up is denied in all blocks, likewise.
    """

    name: str
    config: Any
    players: tuple[str, ...]
    lineups: tuple[tuple[int, ...], ...]
    blocks: int
    boards: Boards | None = None
    screen: Screen | None = None
    cover: Cover | None = None
    handicap: Handicap | None = None

    @property
    def seats(self) -> int:
        """Seats of a game."""
        return int(self.config.num_players)

    @property
    def games(self) -> int:
        """Games of all line-ups."""
        return len(self.lineups) * self.blocks * self.seats

    def names_of(self, lineup: int) -> str:
        """Return the players of a line-up as text."""
        return ",".join(self.players[i] for i in self.lineups[lineup])

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data; `from_dict` reads it."""
        return {
            "name": self.name,
            "config": config_to_dict(self.config),
            "config_digest": self.config.digest,
            "players": list(self.players),
            "lineups": [list(lineup) for lineup in self.lineups],
            "blocks": self.blocks,
            **self.designs,
        }

    @property
    def designs(self) -> dict[str, Any]:
        """What is denied or covered from block to block, as plain data by its key in a file."""
        found = {name: getattr(self, name) for name in DESIGNS}
        return {name: _plain(asdict(design)) for name, design in found.items() if design is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> TablePlan:
        """Return the table that `to_dict` wrote.

        Raises:
            ArenaError: if it is no such table, or the component file is another one now.
        """
        data = Entry.of(data, ArenaError, "the table").mapping()
        config = config_from_dict(data["config"])
        name = data["name"].text("a name")
        if config.digest != data["config_digest"].value:
            data["config_digest"].fail(
                f"{config.digest!r} with the component file {config.components!r} as it is now",
                "bring the one back that was played with",
            )
        players = tuple(player.text("a player") for player in data["players"].entries("at least one player", least=1))
        lineups = tuple(
            tuple(place.integer(0, len(players) - 1) for place in lineup.entries("players", length=config.num_players))
            for lineup in data["lineups"].entries("at least one line-up", least=1)
        )
        designs = read_designs(data, config)
        return cls(name, config, players, lineups, data["blocks"].integer(1, MOST_GAMES), **designs)


def _plain(value: Any) -> Any:
    """Return values with lists in place of tuples, as JSON gives them back."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, order=True)
class Chunk:
    """A piece of work: some blocks of one line-up. Chunks are ordered as in the plan.

    Attributes:
        table: number of the table.
        lineup: number of the line-up.
        number: of the chunk within the line-up.
        first: its first block.
        end: the block after its last.
    """

    table: int
    lineup: int
    number: int
    first: int
    end: int

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.table:02d}-{self.lineup:05d}-{self.number:05d}"


@dataclass(frozen=True)
class Plan:
    """A whole tournament.

    Attributes:
        seed: of decks and players.
        tables: what is played at each table.
        chunk_games: games of a chunk, made up to whole blocks.
        package: version of the package that plays it.

    Raises:
        ArenaError: for more work than anybody will wait for.
    """

    seed: int
    tables: tuple[TablePlan, ...]
    chunk_games: int = CHUNK_GAMES
    package: str = helsinki_env.__version__

    def __post_init__(self) -> None:
        """Check that there is an end to it; ArenaError if not."""
        count = sum(len(table.lineups) * -(-table.blocks // self._blocks(table)) for table in self.tables)
        if count > _MOST_CHUNKS:
            raise ArenaError(
                f"games: found {self.games:,} in {count:,} chunks, expected at most {_MOST_CHUNKS:,} chunks (fewer "
                f"games, or more of them in a chunk than {self.chunk_games:,})"
            )

    def _blocks(self, table: TablePlan) -> int:
        """Return the blocks of a chunk."""
        return -(-self.chunk_games // table.seats)

    @property
    def games(self) -> int:
        """Games of all tables."""
        return sum(table.games for table in self.tables)

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks in order."""
        return tuple(self._chunks())

    def _chunks(self) -> Iterator[Chunk]:
        for number, table in enumerate(self.tables):
            chunks = -(-table.blocks // self._blocks(table))
            for lineup in range(len(table.lineups)):
                for i in range(chunks):
                    yield self._chunk(number, lineup, i)

    def whole(self, chunk: Chunk) -> Chunk:
        """Return all blocks of the chunk that some of them belong to."""
        return self._chunk(chunk.table, chunk.lineup, chunk.number)

    def _chunk(self, table: int, lineup: int, number: int) -> Chunk:
        """A chunk begins at the same block however many there are; the last one may be shorter than the others."""
        plan = self.tables[table]
        blocks = self._blocks(plan)
        return Chunk(table, lineup, number, number * blocks, min(plan.blocks, (number + 1) * blocks))

    def games_of(self, chunks: Sequence[Chunk]) -> int:
        """Return the number of games in some chunks."""
        return sum((chunk.end - chunk.first) * self.tables[chunk.table].seats for chunk in chunks)

    def describe(self, chunk: Chunk) -> str:
        """Return what a chunk is, for messages."""
        table = self.tables[chunk.table]
        blocks = f"blocks {chunk.first} to {chunk.end - 1}"
        return f"chunk {chunk.name} (table {table.name!r}, line-up {table.names_of(chunk.lineup)}, {blocks})"

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the plan."""
        return digest_of(self._told())

    @cached_property
    def basis(self) -> str:
        """16 hexadecimal digits that identify what is played, however many games of it."""
        return digest_of(of_any_length(self._told()))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, with the versions that play it and its digest; `from_dict` reads it."""
        return sealed(self._told())

    def _told(self) -> dict[str, Any]:
        return {
            "arena": _FORMAT,
            "environment": environment_of(self.tables),
            "package": self.package,
            "seed": self.seed,
            "chunk_games": self.chunk_games,
            "tables": [table.to_dict() for table in self.tables],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> Plan:
        """Return the plan that `to_dict` wrote.

        Raises:
            ArenaError: if it is no such plan, it was played with another environment, it was changed, or a component
                file is another one now.
        """
        data = Entry.of(data, ArenaError, "the plan of a run").mapping()
        remedy = "read it with the version that played it, or play in another folder"
        if data["arena"].value != _FORMAT:
            data["arena"].fail(repr(_FORMAT), remedy)
        known = {name: _environment(spec_named(name)) for name in game_names()}
        for told in data["environment"].text("the names of environments").split(", "):
            if told not in known.values():
                ours = known.get(told.rpartition("_v")[0])
                data["environment"].fail(one_of(known.values(), None) if ours is None else repr(ours), remedy)
        data.intact("the plan of a run")
        tables = tuple(TablePlan.from_dict(table) for table in data["tables"].entries("at least one table", least=1))
        if data["environment"].value != environment_of(tables):
            data["environment"].fail(repr(environment_of(tables)), remedy)
        chunk_games, package = data["chunk_games"].integer(1, MOST_GAMES), data["package"].text("a version")
        return cls(data["seed"].integer(0), tables, chunk_games, package)


def _environment(spec: GameSpec) -> str:
    return f"{spec.name}_v{spec.version}"


def environment_of(tables: Iterable[TablePlan]) -> str:
    """Return the names of the environments that tables are played in, with their versions."""
    return ", ".join(sorted({_environment(spec_of(table.config)) for table in tables}))


def of_any_length(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan as plain data without all that says how many games there are: what any two lengths share."""
    tables = [{key: value for key, value in table.items() if key != "blocks"} for table in data["tables"]]
    return {**{key: value for key, value in data.items() if key != "digest"}, "tables": tables}
