"""Definition of gauntlets: the matchups, opponents and deals for rating a player.

A gauntlet is a YAML file in ``configs/gauntlets``, such as ``helsinki.yaml``. It defines a tournament in which every
line-up consists of the player and its opponents. A shorter stage plays the first deals of a longer stage, so a run can
be extended.

``helsinki evaluate reference`` plays a reference run that determines the ratings of the opponents. The ratings are
stored next to the gauntlet file, under the same name with the extension ``.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.agents.registry import check_code, files_digest
from helsinki_env.data import Node, digest_of, read_json, read_yaml, with_digest
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import MAX_MATCHUP_GAMES, Plan, environment_versions, plan_from_dict
from helsinki_env.evaluation.arena.store import RunFolder, encode_results
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.utils.files import is_file
from helsinki_env.utils.yaml_files import find_yaml

_KEYS = ("version", "seed", "unit_games", "stages", "zero", "networks", "matchups")
_MATCHUP_KEYS = ("name", "seats", "game", "boards", "opponents", "reference")
_PLAYED = ("seats", "game", "boards")
_MAX_DEALS = 1_000_000


@dataclass(frozen=True)
class ReferenceGames:
    """Games between opponents that determine their ratings."""

    deals: int  # number of deals for each line-up
    lineups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class GauntletMatchup:
    """A matchup of a gauntlet."""

    name: str
    played: Mapping[str, Any]  # game settings, with the keys of a tournament's matchup
    opponents: tuple[tuple[str, ...], ...]  # opponents of the player in each line-up
    reference: tuple[ReferenceGames, ...]  # games that determine the opponents' ratings in this matchup

    @property
    def players(self) -> tuple[str, ...]:
        """The opponents in all line-ups, without duplicates."""
        return tuple(dict.fromkeys(player for lineup in self.opponents for player in lineup))


@dataclass(frozen=True)
class Gauntlet:
    """A gauntlet: its matchups, opponents, deals and stages."""

    path: Path
    version: int  # incremented with every change that affects ratings
    seed: int  # seed for deals and players
    unit_games: int  # number of games in a work unit
    stages: Mapping[str, int]  # number of deals for each line-up, by stage name
    zero: str  # opponent whose rating is zero
    networks: Mapping[str, str]  # digest of the network file by opponent, 16 hexadecimal digits
    matchups: tuple[GauntletMatchup, ...]
    digest: str  # digest of the file's content, 16 hexadecimal digits

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> Gauntlet:
        """Load a gauntlet from a path or a name in ``configs/gauntlets``.

        Raises GauntletError if the file is invalid, and PlayerError if it names players that run code and `trust` is
        False.
        """
        path = find_yaml(name_or_path, "gauntlets", GauntletError)
        if path.suffix == ".json":
            raise GauntletError(
                f"found {path}, expected a .yaml file; the .json file of the same name has the opponents' ratings"
            )
        data = read_yaml(path, GauntletError).mapping(_KEYS)
        matchups = tuple(_matchup(entry) for entry in data["matchups"].entries("at least one matchup", least=1))
        stages = {
            name: deals.integer(2, _MAX_DEALS, "a number of deals, at least 2")
            for name, deals in data["stages"].items()
        }
        if not all(isinstance(name, str) and name for name in stages):
            data["stages"].fail("text as names, such as quick", "put numbers in quotation marks")
        if not stages:
            data["stages"].fail("a number of deals for each stage, such as {quick: 8, full: 100}")
        gauntlet = cls(
            path=path,
            version=data["version"].integer(1),
            seed=data["seed"].integer(0),
            unit_games=data["unit_games"].integer(1, MAX_MATCHUP_GAMES),
            stages=stages,
            zero=data["zero"].text("a player"),
            networks={player: digest.text("a digest") for player, digest in data.get("networks", {}).items()},
            matchups=matchups,
            digest=digest_of(data.value),
        )
        for matchup, entry in zip(matchups, data["matchups"].entries("matchups"), strict=True):
            players = {player for part in matchup.reference for lineup in part.lineups for player in lineup}
            if missing := {gauntlet.zero, *matchup.players} - players:
                entry["reference"].fail(f"games of {', '.join(sorted(missing))}, too")
            if len(players) < 2:
                entry["reference"].fail("games of at least two players")
            check_code(sorted(players), path, trust=trust)
        return gauntlet

    @property
    def name(self) -> str:
        """File name of the gauntlet without its extension."""
        return self.path.stem

    def plan(self, player: str, stage: str) -> Plan:
        """Return the tournament that a player plays in one of the `stages`."""
        if stage not in self.stages:
            raise GauntletError(f"stage: found {stage!r}, expected one of {', '.join(self.stages)}")
        deals = self.stages[stage]
        return self._plan(
            [
                self._arena_matchup(matchup, matchup.name, deals, [[player, *others] for others in matchup.opponents])
                for matchup in self.matchups
            ]
        )

    @cached_property
    def reference(self) -> Plan:
        """The tournament between the opponents, with one matchup for each part of the reference games."""
        return self._plan(
            [
                self._arena_matchup(matchup, f"{matchup.name} / {number}", part.deals, part.lineups)
                for matchup in self.matchups
                for number, part in enumerate(matchup.reference)
            ]
        )

    @property
    def config_digests(self) -> dict[str, str]:
        """Digest of the game configuration, including its component file, by matchup name."""
        played = iter(self.reference.matchups)
        return {matchup.name: [next(played).config.digest for _ in matchup.reference][-1] for matchup in self.matchups}

    def _plan(self, matchups: list[dict[str, Any]]) -> Plan:
        with Node({}, GauntletError, file=str(self.path)).prefix_errors():
            return plan_from_dict({"seed": self.seed, "unit_games": self.unit_games, "matchups": matchups})

    def _arena_matchup(self, matchup: GauntletMatchup, name: str, deals: int, lineups: Any) -> dict[str, Any]:
        seats = len(lineups[0])
        return {
            **matchup.played,
            "name": name,
            "seats": seats,
            "games": deals * seats,
            "lineups": [list(lineup) for lineup in lineups],
        }

    def check_networks(self) -> None:
        """Raise GauntletError unless the opponents' networks match the digests in the gauntlet."""
        for matchup in self.reference.matchups:
            for player in matchup.players:
                digest = files_digest(player, matchup.config)
                if digest is not None and self.networks.get(player) != digest[:16]:
                    remedy = "restore the network, because ratings require the same opponents"
                    if player not in self.networks:
                        remedy = f'add networks: {{"{player}": {digest[:16]}}}'
                    raise GauntletError(
                        f"{self.path}: networks: found {self.networks.get(player)} for {player}, expected the digest "
                        f"of its network, {digest[:16]}; {remedy}"
                    )


def _matchup(data: Node) -> GauntletMatchup:
    data.mapping(_MATCHUP_KEYS)
    played = {key: data[key].value for key in _PLAYED if data[key].is_present}
    seats = data["seats"].integer(2, 4, "2, 3 or 4")
    parts = tuple(
        ReferenceGames(
            part.mapping(("deals", "lineups"))["deals"].integer(2, _MAX_DEALS), _lineups(part["lineups"], seats)
        )
        for part in data["reference"].entries("games between the opponents", least=1)
    )
    return GauntletMatchup(data["name"].text("a name"), played, _lineups(data["opponents"], seats - 1), parts)


def _lineups(data: Node, length: int) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(name.text("a player, such as greedy") for name in lineup.entries("players", length=length))
        for lineup in data.entries("at least one line-up", least=1)
    )


_MAX_ELO = 100_000.0


@dataclass(frozen=True)
class MatchupReferenceRatings:
    """The fixed ratings of one matchup, in Elo points."""

    players: Mapping[str, float]  # ratings by player name
    seats: tuple[float, ...]  # seat effects, which sum to zero


@dataclass(frozen=True)
class ReferenceRatings:
    """The ratings of a gauntlet's opponents, which define its scale."""

    matchups: Mapping[str, MatchupReferenceRatings]  # fixed ratings by matchup name
    digest: str  # digest of the ratings, 16 hexadecimal digits
    data: Mapping[str, Any]  # content of the file

    @classmethod
    def of(cls, gauntlet: Gauntlet) -> ReferenceRatings:
        """Load the ratings of a gauntlet's opponents.

        Raises GauntletError if they are missing, were modified, or belong to another gauntlet or game.
        """
        path = reference_ratings_path(gauntlet)
        if not is_file(path):
            raise GauntletError(
                f"{path}: found no file, expected the opponents' ratings; run helsinki evaluate reference --gauntlet "
                f"{gauntlet.path}"
            )
        data = read_json(path, GauntletError).verify_digest("the ratings of a gauntlet's opponents")
        environment, digests = environment_versions(gauntlet.reference.matchups), gauntlet.config_digests
        for entry, expected, source in (
            (data["gauntlet"], gauntlet.digest, f"that of {gauntlet.path}"),
            (data["environment"], environment, "that of this version"),
            *((data["matchups"][name]["game"], game, "that of this version") for name, game in digests.items()),
        ):
            if entry.value != expected:
                remedy = f"measure them again: helsinki evaluate reference --gauntlet {gauntlet.path}"
                entry.fail(f"{expected!r}, {source}", remedy)
        matchups = {
            matchup.name: _reference_ratings(
                data["matchups"][matchup.name], [gauntlet.zero, *matchup.players], matchup.played["seats"]
            )
            for matchup in gauntlet.matchups
        }
        return cls(matchups, data["digest"].text(), data.value)

    def mean(self, player: str) -> float:
        """Return the mean rating of an opponent over all matchups."""
        return float(
            np.mean([matchup.players[player] for matchup in self.matchups.values() if player in matchup.players])
        )


def reference_ratings_path(gauntlet: Gauntlet) -> Path:
    """Return the path of a gauntlet's reference ratings."""
    return gauntlet.path.with_suffix(".json")


def _reference_ratings(data: Node, players: Sequence[str], seats: int) -> MatchupReferenceRatings:
    ratings = {player: data["players"][player]["rating"].number(-_MAX_ELO, _MAX_ELO) for player in players}
    effects = tuple(
        effect.number(-_MAX_ELO, _MAX_ELO) for effect in data["seats"].entries("effects of the seats", length=seats)
    )
    return MatchupReferenceRatings(ratings, effects)


def estimate_reference_ratings(gauntlet: Gauntlet, run: Path, command: str) -> dict[str, Any]:
    """Return the content of the ratings file, given a finished reference run: ratings and digests of games."""
    # needs the extra stats, which other uses of gauntlets do not
    from helsinki_env.evaluation.rating.ratings import rate

    plan = gauntlet.reference
    played = iter(load_run(run))
    matchups: dict[str, Any] = {}
    games = 0
    for matchup in gauntlet.matchups:
        rated = rate(_joined(matchup.name, [next(played) for _ in matchup.reference]), reference=gauntlet.zero)
        games += rated.games
        matchups[matchup.name] = {
            "game": gauntlet.config_digests[matchup.name],
            "games": rated.games,
            "deals": rated.deals,
            "players": {
                rated.players[i]: {
                    "rating": round(float(rated.elo[i]), 1),
                    "low": round(float(rated.low[i]), 1),
                    "high": round(float(rated.high[i]), 1),
                    "games": int(rated.statistics.games[i]),
                }
                for i in rated.order
            },
            "seats": [round(float(effect), 1) for effect in rated.seat],
        }
    digest, first = sha256(), {}
    for unit, part in RunFolder.open(run).games(whole=True):
        content = encode_results(part.played)
        digest.update(content)
        if unit.first == 0:
            first[unit.name] = sha256(content).hexdigest()
    return with_digest(
        {
            "gauntlet": gauntlet.digest,
            "version": gauntlet.version,
            "environment": environment_versions(plan.matchups),
            "package": helsinki_env.__version__,
            "command": command,
            "seed": plan.seed,
            "games": games,
            "games_digest": digest.hexdigest(),
            "first_work_units": first,
            "zero": gauntlet.zero,
            "matchups": matchups,
        }
    )


def _joined(name: str, parts: Sequence[MatchupGames]) -> MatchupGames:
    """Concatenate matchups with the same configuration."""
    if missing := sum(part.missing for part in parts):
        raise GauntletError(f"{name}: found {missing} missing games, expected all; resume the run")
    players = tuple(dict.fromkeys(player for part in parts for player in part.players))
    numbers = [np.array([players.index(player) for player in part.players]) for part in parts]
    arrays: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(MatchupGames)
        if isinstance(getattr(parts[0], field.name), np.ndarray)
    }
    arrays["seating"] = np.concatenate([number[part.seating] for number, part in zip(numbers, parts, strict=True)])
    return replace(parts[0], name=name, players=players, **arrays)
