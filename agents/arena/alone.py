"""Games of a run from their Parquet file alone, without the rest of the run's folder.

The file has the digest of each table's configuration, not the configuration: that is found among those that can be made
of the shipped component files.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from itertools import product
from typing import Any

import numpy as np

from agents.arena.designs import as_sets
from agents.arena.parquet import SCHEMA
from agents.arena.plan import ArenaError
from helsinki_env.data import shown
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.spec import game_names, spec_named, spec_of
from helsinki_env.extras import needs
from helsinki_env.play.record import Record, replay
from helsinki_env.yaml_files import list_yaml

with needs("arena"):
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["GamesAlone"]

_MOST_BYTES = 2**28
"""Of the columns that are needed, once they are unpacked: a million games."""
_NEEDED = ("seed", "config_digest", "players", "decisions", "covered", "denied", "scores", "places")


class GamesAlone:
    """The games of a Parquet file.

    Args:
        content: of the file.

    Attributes:
        count: how many games there are.

    Raises:
        ArenaError: if it is no such file, or too large.
    """

    def __init__(self, content: bytes) -> None:
        try:
            self._file = pq.ParquetFile(BytesIO(content))
        except (pa.ArrowException, OSError) as problem:
            raise _unreadable(problem) from None
        if not self._file.schema_arrow.equals(SCHEMA):
            raise ArenaError(
                f"games: found the columns {shown(self._file.schema_arrow.names)}, expected those of helsinki arena"
            )
        about = self._file.metadata
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if size > _MOST_BYTES:
            raise ArenaError(f"games: found {size:,} bytes when unpacked, expected at most {_MOST_BYTES:,}")
        self.count = int(about.num_rows)

    def records(self, first: int, most: int) -> list[Record]:
        """Return the records of some games, which are replayed.

        Args:
            first: the number of the first of them, from 0.
            most: how many at most.

        Raises:
            ArenaError: if the file is damaged, or the configuration of a game is not known.
            RecordError: for games that cannot be played as they say.
        """
        found: list[Record] = []
        try:
            for group in range(self._file.num_row_groups):
                size = self._file.metadata.row_group(group).num_rows
                if first < size and len(found) < most:
                    rows = self._file.read_row_group(group, _NEEDED).slice(first, most - len(found)).to_pylist()
                    found += [_record(row) for row in rows]
                first = max(0, first - size)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
            raise _unreadable(problem) from None
        for record in found:
            replay(record)
        return found


def _unreadable(problem: Exception) -> ArenaError:
    return ArenaError(f"games: cannot be read as Parquet: {' '.join(str(problem).split())}")


def _record(row: dict[str, Any]) -> Record:
    if any(value is None for value in row.values()) or None in row["denied"]:
        raise ArenaError("games: found a value missing, expected one everywhere")
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
    """Return the configuration of a game: that of its table, with what was barred in this game (bit i for number i)."""
    for_all, *by_seat = (tuple(np.flatnonzero(barred).tolist()) for barred in as_sets(np.array([covered, *denied])))
    barred = {"covered": for_all, "denied": tuple(by_seat)}
    for config in _candidates(players, for_all, tuple(by_seat)):
        if config.digest == digest:
            return config.changed(**{key: value for key, value in barred.items() if key in spec_of(config).setup})
    raise ArenaError(
        f"config_digest: found {shown(digest)}, which is of no configuration with a shipped component file "
        "(helsinki arena with --format jsonl writes games with their configurations)"
    )


def _candidates(players: int, covered: tuple[int, ...], denied: tuple[tuple[int, ...], ...]) -> Iterator[Any]:
    """Yield what may have been the configuration of a table, of all games: with and without what was barred in one."""
    if not 2 <= players <= 4:
        return
    for spec in map(spec_named, game_names()):
        for components in _components(spec.name):
            start = spec.config(num_players=players, components=components)
            values: dict[str, tuple[Any, ...]] = {"reward": REWARDS}
            flags = [setup for setup in spec.setups if not setup.choices]
            values |= {setup.key: (getattr(start, setup.key), setup.value) for setup in flags}
            values |= {"covered": ((), covered)} if hasattr(start, "covered") else {}
            values |= {"denied": (start.denied, denied)}
            for chosen in product(*(dict.fromkeys(choice) for choice in values.values())):
                yield start.changed(**dict(zip(values, chosen, strict=True)))


@lru_cache(maxsize=8)
def _components(game: str) -> tuple[str, ...]:
    """Return the shipped component files of a game."""
    found = []
    for name in list_yaml("components"):
        try:
            spec_named(game).config(components=name)
        except ValueError:
            continue
        found.append(name)
    return tuple(found)
