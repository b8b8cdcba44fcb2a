"""Points and ranking (rules, sections 3, "Constructing", and 4)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.bits import full_columns, full_rows


@kernel
def line_points(t, before, after, bricks):
    """Section 3: return the points of lines full in `after` but not in `before`; more for windows only."""
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
    """Section 3: fill cells of the seat to move, with their bricks set; score lines and turn coats into rewards.

    Return False if the points end the game.
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
    """Section 4: return the points of a seat, all scored during play."""
    return np.int64(g.points[seat])


@kernel
def rank_of(t, g, seat):
    """Section 4: return the number of seats with more points, or as many and fewer empty cells. Ties share a rank.

    A player who ended the game by points has the most, because no other player has reached the goal.
    """
    place = np.int64(0)
    for other in range(g.players):
        more = np.int64(g.points[other]) - g.points[seat]
        fuller = popcount(g.filled[other]) - popcount(g.filled[seat])
        place += more > 0 or (more == 0 and fuller > 0)
    return place
