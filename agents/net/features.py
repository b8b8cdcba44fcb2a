"""Network features of a position: the features of each seat and of the table, which each game defines.

A game defines `FEATURES` in `agents/<name of the game>/features.py` and implements the kernels below. The dtype of the
game record selects the implementation (`helsinki_env.engine.overloads`):

- `apply_and_track_reveals(t, g, action, drawn)`: apply an action; return the set of slots whose cards were revealed in
  this turn: `drawn` and new ones. Their features stay blank, because no seat knew these cards when it chose its action.
- `write_features(ws, g, viewer, drawn, seat_at, table_at, seats, table)`: write the features of a game, as `viewer`
  sees it at the end of its turn, into zeroed arrays, int8 (P, S) and (G,). The game is a scratch copy and may be
  modified.
- `is_view_current(w, g, seat, v)`: return whether a view is up to date for the board of a seat.

Observation networks (`helsinki_env.agents.mlp`) read the columns of an observation instead (`input_spec`), grouped by
the fields of its layout. A shared encoder reads multi-dimensional fields whose first axis is the seat, seat by seat. A
column that is not a flag is encoded as a scaled value and a one-hot code, so that a linear layer can use codes. In the
one-hot code, values above the scale are clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int64Array
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import ObservationLayout
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.spec import spec_by_name, spec_of
from helsinki_env.utils.modules import import_if_exists

apply_and_track_reveals = OverloadedKernel("apply_and_track_reveals")
write_features = OverloadedKernel("write_features")
is_view_current = OverloadedKernel("is_view_current")


class NoFeaturesError(UserError):
    """Raised if a game has no network features."""


class FeatureSpec(NamedTuple):
    """A block of features: name, number of columns, and divisor of the values."""

    name: str
    size: int
    scale: float = 1.0


class FeatureOffsets(NamedTuple):
    """Offsets of the features of a seat and of the table, int64; the last entries are the totals."""

    seat: Int64Array
    table: Int64Array


class CanonicalOrientation(NamedTuple):
    """Permutations of the features that rotate a position to another side, for games with rotational symmetry."""

    begin: int  # offset of the token's one-hot space in the features of a seat
    side: Int64Array  # (K,): side of each space
    seat: Int64Array  # (sides, S): source of each feature of a seat
    table: Int64Array  # (sides, G): source of each feature of the table, from the viewer's side


@dataclass(frozen=True)
class GameFeatures:
    """Network features of a game, except for its kernels.

    Most attributes are functions of the number of card types, which `types` returns for a configuration. A network fits
    only games with the same number. One of the `seat_parts` is named "present".
    """

    types: Callable[[Any], int]
    seat_parts: Callable[[int], tuple[FeatureSpec, ...]]
    table_parts: Callable[[int], tuple[FeatureSpec, ...]]
    groups: Callable[[int], Int64Array]  # (A,): group of each action; actions of a group share a preference
    interface: Callable[[int], dict[str, str]]  # text of the action table and observation, for compatibility digests
    layout: Callable[[int], ObservationLayout]
    score_unit: float  # unit of predicted scores, in points
    score_middle: float  # offset of predicted scores, in points
    turning: Callable[[int], CanonicalOrientation] | None = None  # None: the game has no rotational symmetry
    next_turn_parts: Callable[[int], tuple[FeatureSpec, ...]] | None = None  # look-ahead features, after `seat_parts`

    def of_seat(self, types: int, ahead: bool) -> tuple[FeatureSpec, ...]:
        """Return the features of a seat, with or without the look-ahead features of its next turn."""
        more = self.next_turn_parts(types) if ahead and self.next_turn_parts else ()
        return (*self.seat_parts(types), *more)


def game_features(config: Any) -> GameFeatures:
    """Return the features of a configuration's game; raise NoFeaturesError if it has none."""
    game = spec_of(config).name
    module = import_if_exists(f"helsinki_env.agents.{game}.features")
    if module is None:
        raise NoFeaturesError(f"game {game}: found no network features, expected FEATURES in agents/{game}/features.py")
    features: GameFeatures = module.FEATURES
    return features


def feature_offsets(config: Any, ahead: bool = False) -> FeatureOffsets:
    """Return the feature offsets for games with the component file of a configuration."""
    features = game_features(config)
    return offsets_for_types(features, features.types(config), ahead)


@lru_cache(maxsize=8)
def offsets_for_types(features: GameFeatures, types: int, ahead: bool = False) -> FeatureOffsets:
    """Return the feature offsets for games with `types` card types."""
    parts = features.of_seat(types, ahead), features.table_parts(types)
    return FeatureOffsets(*(np.cumsum([0, *(part.size for part in some)]) for some in parts))


@kernel
def view_of(ws, g, seat):
    """Return the index of the view for a seat's board: that of the initial board if unchanged, or its own."""
    return MAX_SEATS if is_view_current(ws.weights[seat], g, seat, ws.views[MAX_SEATS]) else seat


@kernel
def lead_of(points, turn, players):
    """Return a seat's points minus those of the best other seat; `points` are in turn order."""
    rival = ILLEGAL_VALUE
    for other in range(players):
        if other != turn:
            rival = max(rival, points[other])
    return points[turn] - rival


@kernel
def to_int8(value):
    """Round a feature and clip it to the symmetric int8 range, -127 to 127."""
    return np.int8(min(127, max(-127, np.int64(round(value)))))


# Inputs of observation networks (`helsinki_env.agents.mlp`).


class InputColumns(NamedTuple):
    """Columns of an observation that one encoder reads: n columns for each of P readers, and their n scales."""

    columns: tuple[tuple[int, ...], ...]
    scales: tuple[int, ...]

    @property
    def values(self) -> Int64Array:
        """The entries of the one-hot code, int64 (m, 2): index of the column, and value."""
        steps = [(i, value) for i, scale in enumerate(self.scales) if scale > 1 for value in range(1, scale + 1)]
        return np.array(steps, np.int64).reshape(-1, 2)


class InputSpec(NamedTuple):
    """Columns per seat (P = 4, the viewer first), columns of the table (P = 1), and columns that flag present seats."""

    seats: InputColumns
    table: InputColumns
    present: tuple[int, ...]


def input_spec(config: Any, types: int | None = None) -> InputSpec:
    """Return the inputs for a configuration's game; `types` overrides its number of card types."""
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
