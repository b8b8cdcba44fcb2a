"""The five abilities: owned, active, used (rules, section 3)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel


@kernel
def active(g):
    """Return the set of abilities that the seat to move owns and has not used."""
    return np.int64(g.owned[g.seat]) & ~np.int64(g.used[g.seat])


@kernel
def flip(g, ability):
    """Use an ability for the operation in progress."""
    g.used[g.seat] |= 1 << ability
    g.using |= 1 << ability


@kernel
def end_use(g, ability):
    """End the use of an ability in the operation in progress."""
    g.using &= ~(1 << ability)
