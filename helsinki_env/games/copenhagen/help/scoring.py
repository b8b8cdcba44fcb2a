"""Compute points by category, the effects of an action in words, and the facts of a seat that explain an action."""

from __future__ import annotations

from typing import Any

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.components import CELLS, COLUMNS, ROWS
from helsinki_env.games.copenhagen.game import CopenhagenGame

ROW_LINES = tuple(sum(1 << (COLUMNS * y + x) for x in range(COLUMNS)) for y in range(ROWS))
COLUMN_LINES = tuple(sum(1 << (COLUMNS * y + x) for y in range(ROWS)) for x in range(COLUMNS))
#: Labels of lines without points.
_OPEN = ("Empty cells", "To the goal")


def _line(label: str, count: int, points: int, note: str) -> dict[str, Any]:
    """Return a line of the score sheet."""
    return {"label": label, "count": count, "points": points, "note": note, "scores": label not in _OPEN}


def _lines(filled: int, bricks: int, lines: tuple[int, ...]) -> tuple[int, int]:
    """Return the number of full lines with a brick, and the number of full lines of windows only."""
    full = [line for line in lines if filled & line == line]
    windows = sum(line & bricks == 0 for line in full)
    return len(full) - windows, windows


def score_sheet(game: CopenhagenGame) -> list[list[dict[str, Any]]]:
    """Return the score sheet of each seat: a list of dicts with `label`, `count`, `points`, `note` and `scores`.

    The points of a seat add up to its score. `scores` is False for lines that are only informative.
    """
    c, g = game.config.component_set, game.state
    sheets = []
    for seat in range(game.config.num_players):
        filled, bricks = int(g.filled[seat]), int(g.bricks[seat])
        rows, row_windows = _lines(filled, bricks, ROW_LINES)
        columns, column_windows = _lines(filled, bricks, COLUMN_LINES)
        entries = [
            ("Full rows", rows, c.points_row * rows, f"{c.points_row} each"),
            ("Rows of windows", row_windows, c.points_row_windows * row_windows, f"{c.points_row_windows} each"),
            ("Full columns", columns, c.points_column * columns, f"{c.points_column} each"),
            (
                "Columns of windows",
                column_windows,
                c.points_column_windows * column_windows,
                f"{c.points_column_windows} each",
            ),
        ]
        other = int(g.points[seat]) - sum(points for _, _, points, _ in entries)
        if other:  # a position may start with additional points
            entries.append(("Points from the start", 1, other, "set in the position"))
        entries.append(("Empty cells", CELLS - filled.bit_count(), 0, "fewer win a tie"))
        if not game.done:
            entries.append(("To the goal", max(0, c.goal - int(g.points[seat])), 0, f"{c.goal} points end the game"))
        sheets.append([_line(*entry) for entry in entries])
    return sheets


def effects(before: CopenhagenGame, after: CopenhagenGame, seat: int) -> list[str]:
    """Return short phrases that describe the visible gains and costs of a seat's action."""
    a, b = before.state, after.state
    found = []
    gained = int(b.points[seat]) - int(a.points[seat])
    if gained:
        found.append(f"{gained:+d} point{'s' * (gained != 1)}")
    paid = int(a.hand[seat].sum()) - int(b.hand[seat].sum())
    if b.tile_count[seat] > a.tile_count[seat]:
        found.append(f"pays {pluralize(paid, 'card')}")
    # Taking a reward reduces the number by one, but a white tile may win more rewards.
    coats = int(b.rewards) - int(a.rewards) + int(a.white_tiles > b.white_tiles)
    if coats > 0 and not after.done:
        found.append(f"wins {pluralize(coats, 'reward')}")
    return found


#: Minimum number of cards of one color that are worth mentioning.
MANY = 3
#: Value of an increase of each fact by one, used to choose the continuation of a turn.
WEIGHTS = {"points": 100, "rows": 1, "columns": 1, "abilities": 40, "filled": 4, "windows": 2, "color": 1}
#: Verb and noun that describe an increase of each fact.
_INCREASES = {
    "points": ("makes", "more point"),
    "rows": ("fills", "row"),
    "columns": ("fills", "column"),
    "filled": ("covers", "more cell"),
    "windows": ("shows", "more window"),
}


def facts(game: CopenhagenGame, seat: int) -> dict[str, int]:
    """Return the facts of a seat, using only information that the seat may see."""
    g = game.state
    filled, bricks = int(g.filled[seat]), int(g.bricks[seat])
    return {
        "points": int(game.scores()[seat]),
        "rows": sum(filled & line == line for line in ROW_LINES),
        "columns": sum(filled & line == line for line in COLUMN_LINES),
        "abilities": int(g.owned[seat]).bit_count(),
        "filled": min(CELLS, filled.bit_count()),
        "windows": (filled & ~bricks).bit_count(),
        "color": int(max(g.hand[seat])) if max(g.hand[seat]) >= MANY else 0,
    }


def fact_words(fact: str, more: int, less: int) -> str:
    """Describe the increase of a fact from `less`, the value to compare with, to `more`, the value after an action."""
    if fact == "color":
        return f"the hand then has {more} cards of one color"
    if fact == "abilities":
        return f"it gains {more - less} {'ability' if more - less == 1 else 'abilities'}"
    verb, noun = _INCREASES[fact]
    return f"it {verb} {pluralize(more - less, noun)}"
