"""Properties of every player."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player

Array = npt.NDArray[Any]


def check_rows_alone(
    player: Player, name: str, observation: Array, mask: Array, keys: Array, every: int = 1
) -> npt.NDArray[np.int64]:
    """Check that actions are legal, depend on their row alone and leave the arguments unchanged; return them.

    Args:
        player: asked for all rows at once, for all in another order, and for single rows.
        name: its name.
        observation: shape (B, SIZE).
        mask: shape (B, ACTIONS).
        keys: shape (B,).
        every: step between the rows that are asked for alone.
    """
    assert isinstance(player, Player)
    assert player.name == name
    kept = observation.copy(), mask.copy(), keys.copy()
    actions = player.act(observation, mask, keys)
    assert actions.dtype == np.int64
    assert mask[np.arange(len(mask)), actions].all()
    for now, then in zip((observation, mask, keys), kept, strict=True):
        np.testing.assert_array_equal(now, then)
    order = np.random.default_rng(0).permutation(len(mask))
    np.testing.assert_array_equal(player.act(observation[order], mask[order], keys[order]), actions[order])
    for b in range(0, len(mask), every):
        assert player.act(observation[b : b + 1], mask[b : b + 1], keys[b : b + 1])[0] == actions[b]
    return actions
