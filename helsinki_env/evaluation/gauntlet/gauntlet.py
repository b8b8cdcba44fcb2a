"""Gauntlets from ``configs/gauntlets``: matchups, opponents and deals for rating a player.

A gauntlet is a YAML file; see ``helsinki.yaml`` there. It defines a tournament in which every line-up consists of the
player and its opponents. The short stage plays the first deals of the full stage, so a run can be extended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from helsinki_env.agents.registry import check_code, files_digest
from helsinki_env.data import Node, digest_of, read_yaml
from helsinki_env.evaluation.arena.config import plan_from_dict
from helsinki_env.evaluation.arena.plan import MAX_MATCHUP_GAMES, Plan
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.utils.yaml_files import find_yaml

_KEYS = ("version", "seed", "chunk", "stages", "zero", "networks", "tables")
_TABLE_KEYS = ("name", "seats", "game", "boards", "opponents", "reference")
_PLAYED = ("seats", "game", "boards")
_MAX_DEALS = 1_000_000


@dataclass(frozen=True)
class ReferenceGames:
    """Games between the opponents that determine their ratings."""

    decks: int  # number of deals for each line-up
    lineups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class GauntletMatchup:
    """A matchup of a gauntlet."""

    name: str
    played: Mapping[str, Any]  # the game, with the keys of a tournament's matchup
    opponents: tuple[tuple[str, ...], ...]  # opponents of the player in each line-up
    reference: tuple[ReferenceGames, ...]  # games that determine the opponents' ratings in this matchup

    @property
    def players(self) -> tuple[str, ...]:
        """The opponents, without duplicates."""
        return tuple(dict.fromkeys(player for lineup in self.opponents for player in lineup))


@dataclass(frozen=True)
class Gauntlet:
    """A gauntlet."""

    path: Path
    version: int  # increases with every change that affects a rating
    seed: int  # seed of deals and players
    chunk: int  # number of games that are played and saved together
    stages: Mapping[str, int]  # number of deals for each line-up, by stage name
    zero: str  # the opponent whose rating is zero
    networks: Mapping[str, str]  # network of each opponent by name, 16 hexadecimal digits of the digest of its file
    tables: tuple[GauntletMatchup, ...]
    digest: str  # 16 hexadecimal digits that identify the file's content

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> Gauntlet:
        """Load a gauntlet from a path or a name in ``configs/gauntlets``.

        `trust` allows players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            GauntletError: names file, key, value found and value expected.
            PlayerError: if the file names code and is not trusted.
        """
        path = find_yaml(name_or_path, "gauntlets", GauntletError)
        if path.suffix == ".json":
            raise GauntletError(
                f"found {path}, expected a .yaml file: the .json file of the same name holds the opponents' ratings"
            )
        data = read_yaml(path, GauntletError).mapping(_KEYS)
        tables = tuple(_table(entry) for entry in data["tables"].entries("at least one matchup", least=1))
        stages = {
            name: decks.integer(2, _MAX_DEALS, "a number of deals, at least 2")
            for name, decks in data["stages"].items()
        }
        if not all(isinstance(name, str) and name for name in stages):
            data["stages"].fail("text as names, such as quick", "put numbers in quotation marks")
        if not stages:
            data["stages"].fail("a number of deals for each stage, such as {quick: 8, full: 100}")
        gauntlet = cls(
            path=path,
            version=data["version"].integer(1),
            seed=data["seed"].integer(0),
            chunk=data["chunk"].integer(1, MAX_MATCHUP_GAMES),
            stages=stages,
            zero=data["zero"].text("a player"),
            networks={player: digest.text("a digest") for player, digest in data.get("networks", {}).items()},
            tables=tables,
            digest=digest_of(data.value),
        )
        for table, entry in zip(tables, data["tables"].entries("tables"), strict=True):
            players = {player for part in table.reference for lineup in part.lineups for player in lineup}
            if missing := {gauntlet.zero, *table.players} - players:
                entry["reference"].fail(f"games of {', '.join(sorted(missing))}, too")
            if len(players) < 2:
                entry["reference"].fail("games of at least two players")
            check_code(sorted(players), path, trust=trust)
        return gauntlet

    @property
    def name(self) -> str:
        """Name of the file without its extension."""
        return self.path.stem

    def plan(self, player: str, stage: str) -> Plan:
        """Return the tournament of a player in one of the `stages`."""
        if stage not in self.stages:
            raise GauntletError(f"stage: found {stage!r}, expected one of {', '.join(self.stages)}")
        decks = self.stages[stage]
        return self._plan(
            [
                self._arena_table(table, table.name, decks, [[player, *others] for others in table.opponents])
                for table in self.tables
            ]
        )

    @cached_property
    def reference(self) -> Plan:
        """The tournament between the opponents; each part of a matchup's reference games is a matchup there."""
        return self._plan(
            [
                self._arena_table(table, f"{table.name} / {number}", part.decks, part.lineups)
                for table in self.tables
                for number, part in enumerate(table.reference)
            ]
        )

    @property
    def games(self) -> dict[str, str]:
        """The digest of each matchup's configuration, including its component file, by name."""
        played = iter(self.reference.tables)
        return {table.name: [next(played).config.digest for _ in table.reference][-1] for table in self.tables}

    def _plan(self, tables: list[dict[str, Any]]) -> Plan:
        with Node({}, GauntletError, file=str(self.path)).prefix_errors():
            return plan_from_dict({"seed": self.seed, "chunk": self.chunk, "tables": tables})

    def _arena_table(self, table: GauntletMatchup, name: str, decks: int, lineups: Any) -> dict[str, Any]:
        seats = len(lineups[0])
        return {
            **table.played,
            "name": name,
            "seats": seats,
            "games": decks * seats,
            "lineups": [list(lineup) for lineup in lineups],
        }

    def check_networks(self) -> None:
        """Raise GauntletError unless the opponents' networks are those of the gauntlet."""
        for table in self.reference.tables:
            for player in table.players:
                digest = files_digest(player, table.config)
                if digest is not None and self.networks.get(player) != digest[:16]:
                    remedy = "restore the network, because ratings compare only results against the same opponents"
                    if player not in self.networks:
                        remedy = f'add networks: {{"{player}": {digest[:16]}}}'
                    raise GauntletError(
                        f"{self.path}: networks: found {self.networks.get(player)} for {player}, expected the digest "
                        f"of its network, {digest[:16]}; {remedy}"
                    )


def _table(data: Node) -> GauntletMatchup:
    data.mapping(_TABLE_KEYS)
    played = {key: data[key].value for key in _PLAYED if data[key].is_present}
    seats = data["seats"].integer(2, 4, "2, 3 or 4")
    parts = tuple(
        ReferenceGames(
            part.mapping(("decks", "lineups"))["decks"].integer(2, _MAX_DEALS),
            _lineups(part["lineups"], seats),
        )
        for part in data["reference"].entries("games between the opponents", least=1)
    )
    return GauntletMatchup(data["name"].text("a name"), played, _lineups(data["opponents"], seats - 1), parts)


def _lineups(data: Node, length: int) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(name.text("a player, such as greedy") for name in lineup.entries("players", length=length))
        for lineup in data.entries("at least one line-up", least=1)
    )
