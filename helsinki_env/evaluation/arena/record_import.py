"""Convert game records from any source to tables that can be rated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, encode_action_sets
from helsinki_env.records import Record, RecordError

__all__ = ["ImportedGames", "group_records"]


@dataclass(frozen=True)
class ImportedGames:
    """The games of one configuration for S seats, as expected by `rating.ratings.rate`; row g is game g.

    Attributes:
        name: description of the configuration.
        players: names, in order of appearance.
        seating: the player in each seat, int64 (G, S), indices into `players`.
        deck: deal number, int64 (G,), in order of appearance.
        places: rank by seat, 0 is first, int8 (G, S).
        scores: points by seat, int16 (G, S).
        covered: actions disabled for all, int16 (G,), bit i for action i.
        denied: actions disabled for each seat, int16 (G, S), same encoding.
    """

    name: str
    players: tuple[str, ...]
    seating: npt.NDArray[np.int64]
    deck: npt.NDArray[np.int64]
    places: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int16]
    covered: npt.NDArray[np.int16]
    denied: npt.NDArray[np.int16]


def group_records(records: Iterable[Record], named: Callable[[Any], str]) -> list[ImportedGames]:
    """Group games into tables, one for each configuration, in order of appearance.

    Actions disabled for single seats may differ within a table, as in a tournament.

    Args:
        records: records of finished games.
        named: function from a configuration to the name of its table.

    Raises:
        RecordError: for an unfinished game.
    """
    tables: dict[Any, list[Record]] = {}
    equal = lru_cache(lambda config: config.replace(denied=None))  # parsing a configuration is slow
    for number, record in enumerate(records):
        if not record.finished:
            raise RecordError(
                f"game {number + 1}: found one that was not played to its end, expected finished games alone"
            )
        tables.setdefault(equal(record.config), []).append(record)
    return [_table(named(config), games) for config, games in tables.items()]


def _table(name: str, games: list[Record]) -> ImportedGames:
    players, decks = _Numbers(), _Numbers()
    seating = [[players[name] for name in game.players] for game in games]
    deck = [decks[game.seed, game.stream, game.episode] for game in games]
    barred = [[getattr(game.config, "covered", ()), *game.config.denied] for game in games]
    sets = np.zeros((len(games), 1 + len(seating[0]), MAX_DENIABLE_IDS), np.bool_)
    for g, of_game in enumerate(barred):
        for who, actions in enumerate(of_game):
            sets[g, who, list(actions)] = True
    bits = encode_action_sets(sets)
    return ImportedGames(
        name=name,
        players=tuple(players),
        seating=np.array(seating, np.int64),
        deck=np.array(deck, np.int64),
        places=np.array([game.places for game in games], np.int8),
        scores=np.array([game.scores for game in games], np.int16),
        covered=bits[:, 0],
        denied=bits[:, 1:],
    )


class _Numbers(dict[Any, int]):
    """Numbers keys in order of first access."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]
