"""What a plain network is told: the entries of an observation, as its layout names them, for any game.

A piece of several dimensions of which the first is the seats holds the same for each of them, and one encoder reads it
for all seats. An entry that is more than a flag is told by its size and by which of its usual values it is, so that a
linear layer can use codes; a value above the usual ones counts as the largest of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.features import game_features
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import spec_by_name, spec_of

__all__ = ["InputColumns", "InputSpec", "input_spec"]


class InputColumns(NamedTuple):
    """Entries of an observation that are read together.

    Attributes:
        columns: where they stand, n for each of P readers, P rows.
        scales: what they are divided by, n.
    """

    columns: tuple[tuple[int, ...], ...]
    scales: tuple[int, ...]

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """Usual values of entries that are no flags, int64 (m, 2): which of the n entries, and the value."""
        steps = [(i, value) for i, scale in enumerate(self.scales) if scale > 1 for value in range(1, scale + 1)]
        return np.array(steps, np.int64).reshape(-1, 2)


class InputSpec(NamedTuple):
    """What is read of every seat (P = 4, the viewer first), what of the table (P = 1), and where seats are present."""

    seats: InputColumns
    table: InputColumns
    present: tuple[int, ...]


def input_spec(config: Any, types: int | None = None) -> InputSpec:
    """Return what a plain network is told of the game of a configuration, with its card types or as many as given."""
    told = game_features(config)
    return _entries_of(spec_of(config).name, told.types(config) if types is None else types)


@lru_cache(maxsize=8)
def _entries_of(game: str, types: int) -> InputSpec:
    config = spec_by_name(game).config()
    layout = game_features(config).layout(types)
    scales = spec_of(config).scales
    sizes = None if scales is None else scales(layout.size)
    if sizes is None:
        raise UserError(
            f"game {spec_of(config).name}: it does not say what the entries of an observation are divided by"
        )
    seats: list[list[int]] = [[] for _ in range(MAX_SEATS)]
    table: list[int] = []
    for piece in layout.fields:
        places = np.arange(piece.start, piece.start + piece.size)
        if len(piece.shape) > 1 and piece.shape[0] == MAX_SEATS:
            for seat, own in zip(seats, places.reshape(MAX_SEATS, -1).tolist(), strict=True):
                seat += own
        else:
            table += places.tolist()
    facts = layout["seats"]  # the first of them says whether somebody sits there
    present = range(facts.start, facts.start + facts.size, facts.shape[1])
    return InputSpec(_entries(seats, sizes), _entries([table], sizes), tuple(present))


def _entries(columns: list[list[int]], sizes: npt.NDArray[np.float32]) -> InputColumns:
    return InputColumns(tuple(map(tuple, columns)), tuple(int(sizes[column]) for column in columns[0]))
