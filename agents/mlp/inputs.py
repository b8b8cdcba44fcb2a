"""Inputs of an observation network: the columns of an observation, grouped by the fields of its layout, for any game.

Multi-dimensional fields with the seats as the first axis are read per seat, by a shared encoder. A column that is not a
flag becomes a scaled value and a one-hot code, so that a linear layer can use codes. Values above the scale count as
the scale.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int64Array
from helsinki_env.agents.net.features import game_features
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import spec_by_name, spec_of

__all__ = ["InputColumns", "InputSpec", "input_spec"]


class InputColumns(NamedTuple):
    """Columns of an observation that one encoder reads: n for each of P readers, and their n scales."""

    columns: tuple[tuple[int, ...], ...]
    scales: tuple[int, ...]

    @property
    def values(self) -> Int64Array:
        """Columns of the one-hot code, int64 (m, 2): index of the column, and value."""
        steps = [(i, value) for i, scale in enumerate(self.scales) if scale > 1 for value in range(1, scale + 1)]
        return np.array(steps, np.int64).reshape(-1, 2)


class InputSpec(NamedTuple):
    """Columns per seat (P = 4, the viewer first), columns of the table (P = 1), and columns that flag present seats."""

    seats: InputColumns
    table: InputColumns
    present: tuple[int, ...]


def input_spec(config: Any, types: int | None = None) -> InputSpec:
    """Return the inputs for a configuration's game, with its number of card types or the given one."""
    return _input_spec(spec_of(config).name, game_features(config).types(config) if types is None else types)


@lru_cache(maxsize=8)
def _input_spec(game: str, types: int) -> InputSpec:
    config = spec_by_name(game).config()
    layout = game_features(config).layout(types)
    scales = spec_of(config).scales
    sizes = None if scales is None else scales(layout.size)
    if sizes is None:
        raise UserError(
            f"game {spec_of(config).name}: found no scales of the observation, expected `scales` in its GameSpec"
        )
    seats: list[list[int]] = [[] for _ in range(MAX_SEATS)]
    table: list[int] = []
    for field in layout.fields:
        columns = np.arange(field.start, field.start + field.size)
        if len(field.shape) > 1 and field.shape[0] == MAX_SEATS:
            for seat, own in zip(seats, columns.reshape(MAX_SEATS, -1).tolist(), strict=True):
                seat += own
        else:
            table += columns.tolist()
    facts = layout["seats"]  # its first column per seat flags present seats
    present = range(facts.start, facts.start + facts.size, facts.shape[1])
    return InputSpec(_columns(seats, sizes), _columns([table], sizes), tuple(present))


def _columns(columns: list[list[int]], sizes: npt.NDArray[np.float32]) -> InputColumns:
    return InputColumns(tuple(map(tuple, columns)), tuple(int(sizes[column]) for column in columns[0]))
