"""Compute points and ranks (rules, section 3, "Constructing", and section 4)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.bits import full_columns, full_rows


@kernel
def line_points(t, before, after, bricks):
    """Return the points for lines that are full in `after` but not in `before` (section 3)."""
    rows = full_rows(after) & ~full_rows(before)
    columns = full_columns(after) & ~full_columns(before)
    windows = after & ~bricks
    row_windows, column_windows = rows & full_rows(windows), columns & full_columns(windows)
    return (
        t.points_row * popcount(rows & ~row_windows)
        + t.points_row_windows * popcount(row_windows)
        + t.points_column * popcount(columns & ~column_windows)
        + t.points_column_windows * popcount(column_windows)
    )


@kernel
def cover(t, g, cells):
    """Fill cells on the acting seat's board, score new lines, and add rewards for coats of arms (section 3).

    The bricks must already be set. Return False if the seat reaches the goal, which ends the game.
    """
    seat = g.seat
    before = np.int64(g.filled[seat])
    after = before | cells
    g.filled[seat] = after
    g.points[seat] += line_points(t, before, after, np.int64(g.bricks[seat]))
    if g.points[seat] >= t.goal:
        return False
    rows = full_rows(after) & ~full_rows(before)
    g.rewards += popcount(cells & t.coats) + popcount(rows & t.coat_rows)
    return True


@kernel
def score(t, g, seat):
    """Return the points of a seat, all of which are scored during play (section 4)."""
    return np.int64(g.points[seat])


@kernel
def rank_of(t, g, seat):
    """Return a seat's rank: the number of seats with more points, or equal points and fewer empty cells (section 4).

    Seats that are equal in both share a rank. A player who reaches the goal is first, because no other player has.
    """
    place = np.int64(0)
    for other in range(g.players):
        more = np.int64(g.points[other]) - g.points[seat]
        fuller = popcount(g.filled[other]) - popcount(g.filled[seat])
        place += more > 0 or (more == 0 and fuller > 0)
    return place
