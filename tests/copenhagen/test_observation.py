"""The observation of Copenhagen: its layout and what kernels write into given arrays."""

from __future__ import annotations

import numpy as np
import pytest

from helsinki_env.engine import loops
from helsinki_env.games.copenhagen import observation
from helsinki_env.games.copenhagen.game import CopenhagenGame


def test_layout() -> None:
    shapes = {piece.name: piece.shape for piece in observation.FIELDS}
    assert list(shapes) == [
        *("boards", "row_coats", "seats", "abilities", "used", "denied", "phase", "table", "tile_supply", "pending"),
        *("paid", "rewards", "display", "hand", "known", "discard", "reshuffled"),
    ]
    assert shapes["boards"] == (4, 4, 9, 5)
    assert shapes["pending"] == (13,)
    assert sum(piece.size for piece in observation.FIELDS) == observation.OBSERVATION_SIZE


def test_an_observation_is_written_over_whatever_was_there() -> None:
    game = CopenhagenGame(seed=1)
    out = np.full((1, observation.OBSERVATION_SIZE), 77, np.int8)
    loops.batch_observe(game.config.tables[0], game._states, np.array([0]), out)
    assert (out[0] == game.observation(0)).all()


def test_batches_are_split_like_single_ones() -> None:
    both = np.stack([CopenhagenGame(seed=1).observation(), CopenhagenGame(seed=2).observation()])
    assert observation.unpack(both)["boards"].shape == (2, 4, 4, 9, 5)
    with pytest.raises(ValueError, match=f"expected .*{observation.OBSERVATION_SIZE}"):
        observation.unpack(both[:, 1:])
