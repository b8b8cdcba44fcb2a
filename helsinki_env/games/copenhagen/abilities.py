"""Use abilities, and take rewards for coats of arms (rules, section 3)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.bits import supported
from helsinki_env.games.copenhagen.score import cover


@kernel
def active(g):
    """Return the set of abilities that the acting seat owns and has not used."""
    return np.int64(g.owned[g.seat]) & ~np.int64(g.used[g.seat])


@kernel
def flip(g, ability):
    """Flip an ability and use it for the operation in progress."""
    g.used[g.seat] |= 1 << ability
    g.using |= 1 << ability


@kernel
def end_use(g, ability):
    """End the use of an ability in the operation in progress."""
    g.using &= ~(1 << ability)


@kernel
def white_cells(g):
    """WHITE: return the empty cells with support, or no cells if the supply has no white tile."""
    return supported(np.int64(g.filled[g.seat])) if g.white_tiles > 0 else np.int64(0)


@kernel
def new_abilities(g):
    """ABILITY: return the abilities that the acting seat neither owns nor is denied."""
    return ~(np.int64(g.owned[g.seat]) | np.int64(g.denied[g.seat])) & 31


@kernel
def used_abilities(g):
    """REACTIVATE: return the set of used abilities, which REACTIVATE would flip back."""
    return np.int64(g.used[g.seat])


@kernel
def has_choice(g):
    """Return whether a reward can be taken. [R] If not, all pending rewards lapse."""
    return (white_cells(g) | new_abilities(g) | used_abilities(g)) != 0


@kernel
def white(t, g, cell):
    """WHITE: place a white tile. Return False if the seat reaches the goal, which ends the game."""
    g.rewards -= 1
    g.white_tiles -= 1
    g.white[g.seat] |= bit(cell)
    return cover(t, g, bit(cell))


@kernel
def gain(g, ability):
    """ABILITY: gain an ability in its active state."""
    g.rewards -= 1
    g.owned[g.seat] |= 1 << ability


@kernel
def reactivate(g):
    """REACTIVATE: flip all used abilities back."""
    g.rewards -= 1
    g.used[g.seat] = 0
