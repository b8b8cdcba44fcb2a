"""Games from their records as tables that can be rated, wherever they were played."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.arena.designs import ACTIONS, as_bits
from helsinki_env.play.record import Record, RecordError

__all__ = ["Recorded", "recorded_tables"]


@dataclass(frozen=True)
class Recorded:
    """The games of one configuration for S seats, as `agents.rating.ratings.rate` takes them; row g is game g.

    Attributes:
        name: says what was played.
        players: names, in the order in which they appear.
        seating: who sat in each seat, int64 (G, S), indices into `players`.
        deck: which deck was dealt, int64 (G,), counted in the order in which they appear.
        places: by seat, 0 is first, int8 (G, S).
        scores: points by seat, int16 (G, S).
        covered: actions that nobody could use, int16 (G,), bit i for action i.
        denied: those that each seat could not use, int16 (G, S), likewise.
    """

    name: str
    players: tuple[str, ...]
    seating: npt.NDArray[np.int64]
    deck: npt.NDArray[np.int64]
    places: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int16]
    covered: npt.NDArray[np.int16]
    denied: npt.NDArray[np.int16]


def recorded_tables(records: Iterable[Record], named: Callable[[Any], str]) -> list[Recorded]:
    """Return games as tables, one for each configuration, in the order in which they appear.

    What single seats are denied may differ within a table, as it may in a tournament.

    Args:
        records: of finished games.
        named: the name of a table, from its configuration.

    Raises:
        RecordError: for a game that was not played to its end.
    """
    tables: dict[Any, list[Record]] = {}
    equal = lru_cache(lambda config: config.changed(denied=None))  # reading a configuration takes long
    for number, record in enumerate(records):
        if not record.finished:
            raise RecordError(
                f"game {number + 1}: found one that was not played to its end, expected finished games alone"
            )
        tables.setdefault(equal(record.config), []).append(record)
    return [_table(named(config), games) for config, games in tables.items()]


def _table(name: str, games: list[Record]) -> Recorded:
    players, decks = _Numbers(), _Numbers()
    seating = [[players[name] for name in game.players] for game in games]
    deck = [decks[game.seed, game.stream, game.episode] for game in games]
    barred = [[getattr(game.config, "covered", ()), *game.config.denied] for game in games]
    sets = np.zeros((len(games), 1 + len(seating[0]), ACTIONS), np.bool_)
    for g, of_game in enumerate(barred):
        for who, actions in enumerate(of_game):
            sets[g, who, list(actions)] = True
    bits = as_bits(sets)
    return Recorded(
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
    """Numbers things in the order in which they are asked for."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]
