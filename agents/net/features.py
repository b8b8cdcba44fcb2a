"""Network features of a position: the features of each seat and of the table, as each game defines them.

A game defines `FEATURES` in `agents/<name of the game>/features.py` and implements the kernels below. The dtype of the
game record selects the implementation (`helsinki_env.engine.overloads`):

- `apply_and_track_reveals(t, g, action, drawn)`: apply an action; return the set of slots whose cards were revealed in
  this turn, `drawn` and new ones. They stay blank, because no seat could know them before.
- `write_features(ws, g, viewer, drawn, seat_at, table_at, seats, table)`: write the features of a game as `viewer` sees
  it at the end of its turn, int8 (P, S) and (G,), both zero before. May change the game, a scratch copy.
- `is_view_current(w, g, seat, v)`: whether a view is up to date for the board of a seat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.base import Int64Array
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import ObservationLayout
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.spec import spec_of

__all__ = [
    "CanonicalOrientation",
    "FeatureOffsets",
    "FeatureSpec",
    "GameFeatures",
    "NoFeaturesError",
    "apply_and_track_reveals",
    "feature_offsets",
    "game_features",
    "is_view_current",
    "offsets_for_types",
    "to_int8",
    "view_of",
    "write_features",
]  # fmt: skip

apply_and_track_reveals = OverloadedKernel("apply_and_track_reveals")
write_features = OverloadedKernel("write_features")
is_view_current = OverloadedKernel("is_view_current")


class NoFeaturesError(UserError):
    """A game without network features."""


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
    """Permutations of the features that show a position from another side, for a game with rotational symmetry."""

    begin: int  # offset of the one-hot space of the token in the features of a seat
    side: Int64Array  # (K,): side of each space
    seat: Int64Array  # (sides, S): source of each feature of a seat
    table: Int64Array  # (sides, G): source of each feature of the table, from the viewer's side


@dataclass(frozen=True)
class GameFeatures:
    """Network features of a game, apart from its kernels.

    Most attributes are functions of the number of card types, which `types` returns for a configuration. A network only
    fits games with the same number. One of the `seat_parts` is "present".
    """

    types: Callable[[Any], int]
    seat_parts: Callable[[int], tuple[FeatureSpec, ...]]
    table_parts: Callable[[int], tuple[FeatureSpec, ...]]
    groups: Callable[[int], Int64Array]  # (A,): group of each action; groups share preferences
    interface: Callable[[int], dict[str, str]]  # texts of action table and observation, for the compatibility digests
    layout: Callable[[int], ObservationLayout]
    score_unit: float  # unit of predicted scores, points
    score_middle: float  # offset of predicted scores, points
    turning: Callable[[int], CanonicalOrientation] | None = None  # None: the game has no rotational symmetry
    next_turn_parts: Callable[[int], tuple[FeatureSpec, ...]] | None = None  # look-ahead features, after `seat_parts`

    def of_seat(self, types: int, ahead: bool) -> tuple[FeatureSpec, ...]:
        """Return the features of a seat, with or without those of its next turn."""
        more = self.next_turn_parts(types) if ahead and self.next_turn_parts else ()
        return (*self.seat_parts(types), *more)


def game_features(config: Any) -> GameFeatures:
    """Return the features of a configuration's game; NoFeaturesError if it has none."""
    game = spec_of(config).name
    if find_spec(f"helsinki_env.agents.{game}") is None or find_spec(f"helsinki_env.agents.{game}.features") is None:
        raise NoFeaturesError(f"game {game}: found no network features, expected FEATURES in agents/{game}/features.py")
    features: GameFeatures = import_module(f"helsinki_env.agents.{game}.features").FEATURES
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
    """Return the index of the view for a seat's board: that of the initial board, if unchanged, or the seat's own."""
    return MAX_SEATS if is_view_current(ws.weights[seat], g, seat, ws.views[MAX_SEATS]) else seat


@kernel
def to_int8(value):
    """Round a feature and clip it to the range of int8, symmetric."""
    return np.int8(min(127, max(-127, np.int64(round(value)))))
