"""Declare the kernels that a game must implement. Loops, environments and playouts call them.

`t` is the tables record of the game (its component file as arrays), and `g` is the record of one game. The type of `g`
selects the implementation (`helsinki_env.engine.overloads`). A game registers its kernels with `implement`.

Four more kernels in `helsinki_env.engine.loops` have default implementations based on these. A game may register faster
versions:

- `write_mask` and `observe` overwrite every entry.
- `update_observation` updates an earlier observation.
- `observe_part` splits the work among several lanes.

Every game record has the fields `chance` (uint64, random state), `players`, `seat` (the acting seat, or the last acting
seat), `phase`, `done` and `round_number`. It has space for `MAX_SEATS` seats; unused seats stay blank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helsinki_env.engine.overloads import OverloadedKernel

__all__ = [
    "MAX_SEATS",
    "apply_action",
    "copy_setup",
    "deal",
    "determinize_state",
    "draw_setup",
    "implement",
    "mark_legal",
    "rank_of",
    "reconstruct_state",
    "score",
    "write_observation",
]

MAX_SEATS = 4
"""Maximum number of seats of a game."""

copy_setup = OverloadedKernel("copy_setup")
"""`copy_setup(g, setup)`: copy the game options from another record of the game."""

draw_setup = OverloadedKernel("draw_setup")
"""`draw_setup(drawn, g)`: draw the random options of the next episode; `drawn.chance` is the random state."""

deal = OverloadedKernel("deal")
"""`deal(t, g, key)`: deal a new game with the options in `g`; the random key, uint64, determines all chance."""

mark_legal = OverloadedKernel("mark_legal")
"""`mark_legal(t, g, mask)`: write 1 for each legal action into `mask`, int8 (ids,), which must be all zeros."""

apply_action = OverloadedKernel("apply_action")
"""`apply_action(t, g, action)`: apply a legal action and all its forced consequences."""

write_observation = OverloadedKernel("write_observation")
"""`write_observation(t, g, viewer, out)`: write a seat's observation into `out`, int8 (F,), which must be all zeros."""

reconstruct_state = OverloadedKernel("reconstruct_state")
"""`reconstruct_state(t, g, observation)`: fill `g` from the acting seat's observation, int8 (F,).

All entries of the observation must be in range. The whole record is overwritten; hidden information stays blank until
`determinize_state` samples it. Returns -1, or a number that identifies an inconsistency."""

determinize_state = OverloadedKernel("determinize_state")
"""`determinize_state(t, g, viewer, key, scratch, mask)`: sample the information hidden from a seat.

`key` is a random key, uint64. The viewer's observation is unchanged, and the same observation and key give the same
deal. Returns whether a consistent deal was found, which is always the case in reachable positions. `scratch`, a record
of the game's scratch dtype, and `mask`, int8 (ids,), are overwritten."""

score = OverloadedKernel("score")
"""`score(t, g, seat)`: return the points of a seat if the game ended now."""

rank_of = OverloadedKernel("rank_of")
"""`rank_of(t, g, seat)`: return the rank of a seat, from 0, if the game ended now; tied seats share a rank."""


def implement(dtype: np.dtype[Any], *kernels: Callable[..., Any]) -> None:
    """Register the kernels of a game, under their own names, for a record dtype."""
    for kernel in kernels:
        globals()[kernel.__name__].implements(dtype, kernel)
