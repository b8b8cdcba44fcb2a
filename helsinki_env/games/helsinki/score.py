"""Scoring and ranking (rules page, section 5), and the bonus cards of Dry roads (section 6)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.bits import COLUMN, ROW, connected


@kernel
def full_lines(built):
    """Return (cells of full rows, cells of full columns, number of full rows, number of full columns)."""
    in_rows, in_columns = np.int64(0), np.int64(0)
    rows, columns = 0, 0
    for line in range(7):
        row = ROW << (7 * line)
        if built & row == row:
            in_rows |= row
            rows += 1
        column = COLUMN << line
        if built & column == column:
            in_columns |= column
            columns += 1
    return in_rows, in_columns, rows, columns


@kernel
def score(t, g, seat):
    """Return the points of a seat: full lines, superstructures, and points scored during play (section 5)."""
    in_rows, in_columns, rows, columns = full_lines(g.built[seat])
    standing = g.superstructures[seat]
    crossing = popcount(standing & in_rows & in_columns)
    line = popcount(standing & (in_rows | in_columns)) - crossing
    return (
        np.int64(g.points[seat])
        + t.points_row * rows
        + t.points_column * columns
        + t.points_crossing * crossing
        + t.points_line * line
    )


@kernel
def rank_of(t, g, seat):
    """Return the rank of a seat, where 0 is first; ties are broken in favor of the later player (section 5)."""
    own = score(t, g, seat)
    place = 0
    for other in range(g.players):
        if other != seat:
            points = score(t, g, other)
            if points > own or (points == own and other > seat):
                place += 1
    return place


@kernel
def check_crosswalks(t, g, seat):
    """Award the highest remaining bonus card if tiles connect the four cells next to the crosswalks (section 6)."""
    if g.dry_roads == 0 or g.bonus[seat] >= 0 or g.bonus_cards == 0:
        return
    tiles = g.built[seat] & ~t.statue
    if not connected(tiles, t.crosswalks):
        return
    best = 3
    while not (g.bonus_cards >> best) & 1:
        best -= 1
    g.bonus_cards &= ~(1 << best)
    g.bonus[seat] = best
    g.points[seat] += t.bonus_cards[best]
