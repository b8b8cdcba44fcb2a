"""Whether games are those of a plan: who sat where, which decks were dealt, and what must follow from what.

A checksum says that a file is the one that was written. This says that what is written there can be what was planned,
whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.arena.chunk import schedule
from agents.arena.parquet import as_array
from agents.arena.plan import ArenaError, Chunk, TablePlan

__all__ = ["check_games"]

#: Columns with an entry for each seat whose values only playing can tell.
_PLAYED_BY_SEAT = ("used", "scores", "places", "seat_decisions")


def check_games(table: TablePlan, seed: int, chunk: Chunk, rows: Any) -> None:
    """Check games against the plan, and their columns against each other.

    Args:
        table: what was to be played.
        seed: of the run.
        chunk: which of it.
        rows: the games, an Arrow table with the columns of `agents.arena.parquet.SCHEMA`.

    Raises:
        ArenaError: naming column and game, what was found there and what is expected.
    """
    planned = schedule(table, seed, chunk)
    games = len(planned.game)
    if len(rows) != games:
        raise ArenaError(f"found {len(rows)} games, expected {games}")
    for column in rows.column_names:
        _check_whole(rows, column, table.seats)
    expected: Mapping[str, npt.NDArray[Any]] = {
        "table": np.full(games, table.name, object),
        "lineup": np.full(games, chunk.lineup),
        "block": planned.block,
        "game": planned.game,
        "seed": planned.seeds,
        "config_digest": np.full(games, table.config.digest, object),
        "players": np.array(table.players, object)[planned.seating],
        "player": planned.seating,
        "covered": planned.barred.covered,
        "denied": planned.barred.denied,
    }
    for column, values in expected.items():
        _compare(column, _values(rows, column, table.seats), values, planned.game)
    used, scores, places, decisions = (as_array(rows, column, table.seats) for column in _PLAYED_BY_SEAT)
    _compare("places, which follow from scores,", places, _places(scores), planned.game)
    barred = planned.barred.denied | planned.barred.covered[:, None]
    _compare("used actions, which leave out what is barred,", used, used & ~barred, planned.game)
    taken = rows["decisions"].combine_chunks().value_lengths()
    _compare("sum of seat_decisions", decisions.sum(axis=1), np.asarray(taken), planned.game)


def _check_whole(rows: Any, column: str, seats: int) -> None:
    """Check that no value is missing, and that there is one for each seat where there should be."""
    values = rows[column].combine_chunks()
    if _is_list(values) and column != "decisions" and values.value_lengths().unique().to_pylist() not in ([seats], []):
        raise ArenaError(f"{column}: found {values.value_lengths().unique().to_pylist()} values, expected {seats}")
    if values.null_count or (_is_list(values) and values.flatten().null_count):
        raise ArenaError(f"{column}: found a value missing, expected one everywhere")


def _is_list(values: Any) -> bool:
    return hasattr(values, "value_lengths")


def _values(rows: Any, column: str, seats: int) -> npt.NDArray[Any]:
    return as_array(rows, column, seats if _is_list(rows[column].combine_chunks()) else None)


def _places(scores: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the places that scores make, both (G, S): ties go to who is later in turn order."""
    seats = scores.shape[1]
    order = np.argsort(-scores[:, ::-1].astype(np.int64), axis=1, kind="stable")
    places = np.empty(scores.shape, np.int64)
    np.put_along_axis(places, seats - 1 - order, np.arange(seats)[None, :], axis=1)
    return places


def _compare(what: str, found: npt.NDArray[Any], expected: npt.NDArray[Any], game: npt.NDArray[np.int64]) -> None:
    """Raise an error at the first game whose values are others than expected."""
    wrong = np.asarray(found != expected)
    if wrong.any():
        g = int(np.flatnonzero(wrong.reshape(len(game), -1).any(axis=1))[0])
        there, planned = (values[g : g + 1].tolist()[0] for values in (found, expected))
        raise ArenaError(f"game {game[g]}: {what} {there!r:.100}, expected {planned!r:.100}")
