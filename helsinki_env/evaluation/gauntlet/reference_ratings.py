"""Reference ratings: the ratings of a gauntlet's opponents, fixed once by a reference run.

They are stored next to the gauntlet's file, with the same name and the extension ``.json``; ``helsinki evaluate
reference`` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.data import Node, read_json, with_digest
from helsinki_env.evaluation.arena.files import encode_results
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import environment_versions
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.utils.files import is_file

_MAX_ELO = 100_000.0


@dataclass(frozen=True)
class MatchupReferenceRatings:
    """The fixed ratings of one matchup, in Elo points."""

    players: Mapping[str, float]  # by name
    seats: tuple[float, ...]  # seat effects, which sum to zero


@dataclass(frozen=True)
class ReferenceRatings:
    """The reference ratings of a gauntlet."""

    tables: Mapping[str, MatchupReferenceRatings]  # fixed ratings, by the name of the matchup
    digest: str  # 16 hexadecimal digits that identify them
    data: Mapping[str, Any]  # the content of the file

    @classmethod
    def of(cls, gauntlet: Gauntlet) -> ReferenceRatings:
        """Load the ratings; GauntletError if they are missing, modified, or of another gauntlet or game."""
        path = reference_ratings_path(gauntlet)
        if not is_file(path):
            raise GauntletError(
                f"{path}: found no file, expected the opponents' ratings; run helsinki evaluate reference --gauntlet "
                f"{gauntlet.path}"
            )
        data = read_json(path, GauntletError).verify_digest("the ratings of a gauntlet's opponents")
        environment = environment_versions(gauntlet.reference.tables)
        for entry, expected, source in (
            (data["gauntlet"], gauntlet.digest, f"that of {gauntlet.path}"),
            (data["environment"], environment, "that of this version"),
            *((data["tables"][name]["game"], game, "that of this version") for name, game in gauntlet.games.items()),
        ):
            if entry.value != expected:
                remedy = f"measure them again: helsinki evaluate reference --gauntlet {gauntlet.path}"
                entry.fail(f"{expected!r}, {source}", remedy)
        tables = {
            table.name: _table(data["tables"][table.name], [gauntlet.zero, *table.players], table.played["seats"])
            for table in gauntlet.tables
        }
        return cls(tables, data["digest"].text(), data.value)

    def mean(self, player: str) -> float:
        """Return the mean rating of an opponent over all matchups."""
        return float(np.mean([table.players[player] for table in self.tables.values() if player in table.players]))


def reference_ratings_path(gauntlet: Gauntlet) -> Path:
    """Return the path of the reference ratings."""
    return gauntlet.path.with_suffix(".json")


def _table(data: Node, players: Sequence[str], seats: int) -> MatchupReferenceRatings:
    ratings = {player: data["players"][player]["rating"].number(-_MAX_ELO, _MAX_ELO) for player in players}
    effects = tuple(
        effect.number(-_MAX_ELO, _MAX_ELO) for effect in data["seats"].entries("effects of the seats", length=seats)
    )
    return MatchupReferenceRatings(ratings, effects)


def estimate_reference_ratings(gauntlet: Gauntlet, run: Path, command: str) -> dict[str, Any]:
    """Return the opponents' ratings from a finished reference run, as data for the file.

    The data include the digest of each line-up's first games, which show whether the opponents still act as they did.
    """
    plan = gauntlet.reference
    played = iter(load_run(run))
    tables: dict[str, Any] = {}
    games = 0
    for table in gauntlet.tables:
        rated = rate(_joined(table.name, [next(played) for _ in table.reference]), reference=gauntlet.zero)
        games += rated.games
        tables[table.name] = {
            "game": gauntlet.games[table.name],
            "games": rated.games,
            "decks": rated.decks,
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
    for chunk, part in RunFolder.open(run).games(whole=True):
        content = encode_results(part.played)
        digest.update(content)
        if chunk.first == 0:
            first[chunk.name] = sha256(content).hexdigest()
    return with_digest(
        {
            "gauntlet": gauntlet.digest,
            "version": gauntlet.version,
            "environment": environment_versions(plan.tables),
            "package": helsinki_env.__version__,
            "command": command,
            "seed": plan.seed,
            "games": games,
            "games_digest": digest.hexdigest(),
            "first_chunks": first,
            "zero": gauntlet.zero,
            "tables": tables,
        }
    )


def _joined(name: str, parts: Sequence[MatchupGames]) -> MatchupGames:
    """Concatenate games with the same configuration."""
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
