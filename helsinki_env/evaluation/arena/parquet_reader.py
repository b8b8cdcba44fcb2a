"""Read the games of a run from its Parquet file alone, without the rest of the run's folder.

The file stores the digest of each matchup's configuration, not the configuration itself. The configuration is found
among those that the shipped component files can produce.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice, product
from typing import Any

import numpy as np

from helsinki_env.data import short_repr
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.spec import game_names, spec_by_name, spec_of
from helsinki_env.evaluation.arena.bounded_parquet import BoundedParquetFile
from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.parquet import SCHEMA
from helsinki_env.evaluation.arena.plan import ArenaError
from helsinki_env.records import Record, replay
from helsinki_env.utils.yaml_files import list_yaml

__all__ = ["ParquetGameReader"]

_NEEDED = ("seed", "config_digest", "players", "decisions", "covered", "denied", "scores", "places")


class ParquetGameReader:
    """The games of a Parquet file.

    Args:
        content: content of the file.

    Attributes:
        count: number of games.

    Raises:
        ArenaError: if the content is not a Parquet file of games, or is too large.
    """

    def __init__(self, content: bytes) -> None:
        with _named():
            self._file = BoundedParquetFile(content, SCHEMA)
        self.count = sum(self._file.rows)

    def records(self, first: int, most: int) -> list[Record]:
        """Return the records of consecutive games, validated by replaying them.

        Args:
            first: index of the first game, from 0.
            most: maximum number of games.

        Raises:
            ArenaError: if the file is damaged, would take too much memory, or a game's configuration is unknown.
            RecordError: for records that cannot be replayed.
        """
        with _named():
            found = list(islice(self._records(first), most))
        for record in found:
            replay(record)
        return found

    def _records(self, first: int) -> Iterator[Record]:
        """Yield the records from an index on."""
        for group, size in enumerate(self._file.rows):
            if first < size:
                rows = chain.from_iterable(self._file.batches(group, _NEEDED))
                yield from map(_record, islice(rows, first, None))
            first = max(0, first - size)


@contextmanager
def _named() -> Iterator[None]:
    """Name the games in the errors of the block."""
    try:
        yield
    except ArenaError as problem:
        raise ArenaError(f"games: {problem}") from None


def _record(row: dict[str, Any]) -> Record:
    if any(value is None for value in row.values()) or None in row["denied"]:
        raise ArenaError("found a value missing, expected one everywhere")
    return Record(
        config=_config(row["config_digest"], len(row["players"]), row["covered"], tuple(row["denied"])),
        seed=row["seed"],
        players=tuple(row["players"]),
        decisions=tuple(row["decisions"]),
        scores=tuple(row["scores"]),
        places=tuple(row["places"]),
    )


@lru_cache(maxsize=4096)
def _config(digest: str, players: int, covered: int, denied: tuple[int, ...]) -> Any:
    """Return a game's configuration: its matchup's, with the actions disabled in this game (bit i for number i)."""
    for_all, *by_seat = (
        tuple(np.flatnonzero(barred).tolist()) for barred in decode_action_sets(np.array([covered, *denied]))
    )
    barred = {"covered": for_all, "denied": tuple(by_seat)}
    for config in _candidates(players, for_all, tuple(by_seat)):
        if config.digest == digest:
            return config.replace(
                **{key: value for key, value in barred.items() if key in spec_of(config).setup_fields}
            )
    raise ArenaError(
        f"config_digest: found {short_repr(digest)}, which is of no configuration with a shipped component file "
        "(helsinki arena with --format jsonl writes games with their configurations)"
    )


def _candidates(players: int, covered: tuple[int, ...], denied: tuple[tuple[int, ...], ...]) -> Iterator[Any]:
    """Yield the possible configurations of a matchup: with and without the actions disabled in one game."""
    if not 2 <= players <= 4:
        return
    for spec in map(spec_by_name, game_names()):
        for components in _components(spec.name):
            start = spec.config(num_players=players, components=components)
            values: dict[str, tuple[Any, ...]] = {"reward": REWARDS}
            flags = [setup for setup in spec.setup_options if not setup.choices]
            values |= {setup.key: (getattr(start, setup.key), setup.value) for setup in flags}
            values |= {"covered": ((), covered)} if hasattr(start, "covered") else {}
            values |= {"denied": (start.denied, denied)}
            for chosen in product(*(dict.fromkeys(choice) for choice in values.values())):
                yield start.replace(**dict(zip(values, chosen, strict=True)))


@lru_cache(maxsize=8)
def _components(game: str) -> tuple[str, ...]:
    """Return the shipped component files of a game."""
    found = []
    for name in list_yaml("components"):
        try:
            spec_by_name(game).config(components=name)
        except ValueError:
            continue
        found.append(name)
    return tuple(found)
