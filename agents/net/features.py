"""What a network is told of a position, as far as each game says so: the parts of a seat and of the table, in order.

A game keeps its inputs in `agents/<name of the game>/inputs.py` as `INPUTS`, and states these words for kernels, which
know by the type of its record whose they are (`helsinki_env.engine.overloads`):

- `apply_and_track_reveals(t, g, action, drawn)`: take a decision; return the slots whose cards were turned up in this
turn, `drawn`
  and new ones, a set: nobody could know them beforehand, so they are left blank.
- `write_features(desk, g, viewer, drawn, seat_at, table_at, seats, table)`: describe a game as `viewer` sees it at the
  end of its turn, int8 (P, S) and (G,), both zero before. The game is a copy that nobody plays on: what `drawn` says
  may be taken out of it.
- `is_view_current(w, g, seat, v)`: whether a view is of the board of a seat as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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
    "view_of",
    "write_features",
]  # fmt: skip

apply_and_track_reveals = OverloadedKernel("apply_and_track_reveals")
write_features = OverloadedKernel("write_features")
is_view_current = OverloadedKernel("is_view_current")


class NoFeaturesError(UserError):
    """A game of which no network can be told."""


class FeatureSpec(NamedTuple):
    """A part of the inputs: how many columns, and what its entries are divided by."""

    name: str
    size: int
    scale: float = 1.0


class FeatureOffsets(NamedTuple):
    """Where the parts begin, int64, one entry more for the end: of a seat, and of the table."""

    seat: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]


class CanonicalOrientation(NamedTuple):
    """How a position looks from another side, in a game that is the same from several sides.

    Attributes:
        begin: where the description of a seat says on which space it stands, one-hot.
        side: on which side each of those spaces is, int64 (K,).
        seat: where each entry of a seat's description comes from once it is turned, for each side, int64 (sides, S).
        table: the same of the table, which is turned with the viewer, int64 (sides, G).
    """

    begin: int
    side: npt.NDArray[np.int64]
    seat: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]


@dataclass(frozen=True)
class GameFeatures:
    """What a network is told of a game, besides the kernels.

    Attributes:
        types: how many card types the games of a configuration have; networks fit only games with as many.
        seat_parts: the parts of the description of a seat, one of them "present", given the number of card types.
        table_parts: those of the table and of what the viewer alone knows, likewise.
        next_turn_parts: those that follow the parts of a seat for networks that are told what the next turn can bring
            (`helsinki_env.agents.net.network.NetworkConfig.ahead`), likewise; None: no network is told.
        groups: kinds of decisions that are alike to a network, int64 (A,), likewise.
        interface: texts that tell of actions and observation, likewise: a network fits only those it was made for.
        layout: the pieces of an observation, likewise.
        score_unit: scores are predicted in such units
        score_middle: around this middle.
        turning: how positions are turned so that every seat sees its board from its own side, given the number of card
            types; None: a game that is not the same from any other side.
    """

    types: Callable[[Any], int]
    seat_parts: Callable[[int], tuple[FeatureSpec, ...]]
    table_parts: Callable[[int], tuple[FeatureSpec, ...]]
    groups: Callable[[int], npt.NDArray[np.int64]]
    interface: Callable[[int], dict[str, str]]
    layout: Callable[[int], ObservationLayout]
    score_unit: float
    score_middle: float
    turning: Callable[[int], CanonicalOrientation] | None = None
    next_turn_parts: Callable[[int], tuple[FeatureSpec, ...]] | None = None

    def of_seat(self, types: int, ahead: bool) -> tuple[FeatureSpec, ...]:
        """Return the parts of the description of a seat, with or without what its next turn can bring."""
        more = self.next_turn_parts(types) if ahead and self.next_turn_parts else ()
        return (*self.seat_parts(types), *more)


def game_features(config: Any) -> GameFeatures:
    """Return what a network is told of the game that a configuration is of; NoInputsError if there is nothing."""
    game = spec_of(config).name
    if find_spec(f"helsinki_env.agents.{game}") is None or find_spec(f"helsinki_env.agents.{game}.features") is None:
        raise NoFeaturesError(
            f"game {game}: no network plays it, as it does not say what one is told (agents/{game}/inputs.py)"
        )
    inputs: GameFeatures = import_module(f"helsinki_env.agents.{game}.features").FEATURES
    return inputs


def feature_offsets(config: Any, ahead: bool = False) -> FeatureOffsets:
    """Return where the parts begin in games with the component file of a configuration.

    Args:
        config: of the games.
        ahead: for a network that is told what the next turn can bring.
    """
    inputs = game_features(config)
    return offsets_for_types(inputs, inputs.types(config), ahead)


@lru_cache(maxsize=8)
def offsets_for_types(inputs: GameFeatures, types: int, ahead: bool = False) -> FeatureOffsets:
    """Return where the parts begin in games with so many card types."""
    parts = inputs.of_seat(types, ahead), inputs.table_parts(types)
    return FeatureOffsets(*(np.cumsum([0, *(part.size for part in some)]) for some in parts))


@kernel
def view_of(desk, g, seat):
    """Which view to look at a seat's board with: the one of the board at the beginning, if it is as it was."""
    return MAX_SEATS if is_view_current(desk.weights[seat], g, seat, desk.views[MAX_SEATS]) else seat
