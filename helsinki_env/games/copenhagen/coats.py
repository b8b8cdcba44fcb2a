"""Rewards for coats of arms (rules, section 3, "Rewards")."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.bits import supported
from helsinki_env.games.copenhagen.score import cover


@kernel
def white_cells(g):
    """WHITE: empty cells with support, while white tiles last."""
    return supported(np.int64(g.filled[g.seat])) if g.white_tiles > 0 else np.int64(0)


@kernel
def new_abilities(g):
    """ABILITY: set of those that the seat to move does not own and is not denied; there is one for every player."""
    return ~(np.int64(g.owned[g.seat]) | np.int64(g.denied[g.seat])) & 31


@kernel
def used_abilities(g):
    """REACTIVATE: set of the abilities that would be flipped back."""
    return np.int64(g.used[g.seat])


@kernel
def has_choice(g):
    """Whether a reward can be taken at all; [R] if not, none that is pending can, for nothing changes until it is."""
    return (white_cells(g) | new_abilities(g) | used_abilities(g)) != 0


@kernel
def white(t, g, cell):
    """WHITE: a single window. Return False if the points end the game."""
    g.rewards -= 1
    g.white_tiles -= 1
    g.white[g.seat] |= bit(cell)
    return cover(t, g, bit(cell))


@kernel
def gain(g, ability):
    """ABILITY: a new one, active."""
    g.rewards -= 1
    g.owned[g.seat] |= 1 << ability


@kernel
def reactivate(g):
    """REACTIVATE: all used abilities are flipped back."""
    g.rewards -= 1
    g.used[g.seat] = 0
