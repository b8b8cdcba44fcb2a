"""Best and worst cells for a superstructure."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board_view import roof_value
from helsinki_env.engine.bits import bit, lowest_bit
from helsinki_env.engine.kernel import kernel

__all__ = ["best_roof", "roofs_worth", "worst_roof"]


@kernel
def roofs_worth(t, v, cells, number, each):
    """Return the value of the best roofs for `number` superstructures, plus `each` for each of them."""
    total = 0.0
    for _ in range(number):
        value, cell = best_roof(t, v, cells)
        if cell < 0:
            break
        cells &= ~bit(cell)
        total += value + each
    return total


@kernel
def best_roof(t, v, cells):
    """Return (value, cell) of the best of some roofs for a superstructure; (0, -1) for an empty set."""
    best, chosen = 0.0, np.int64(-1)
    while cells:
        cell = lowest_bit(cells)
        cells &= cells - 1
        value = roof_value(t, v, cell, 0, 0)
        if value > best or chosen < 0:
            best, chosen = value, cell
    return best, chosen


@kernel
def worst_roof(t, v, cells):
    """Return (value, cell) of the superstructure with the lowest value in its present position."""
    worst, chosen = 1e9, np.int64(-1)
    while cells:
        cell = lowest_bit(cells)
        cells &= cells - 1
        value = roof_value(t, v, cell, 0, 0)
        if value < worst:
            worst, chosen = value, cell
    return worst, chosen
