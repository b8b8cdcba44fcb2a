"""Facts of a seat that its actions change, and what to say about a larger one."""

from __future__ import annotations

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.components import CELLS
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.help.scoring import COLUMN_LINES, ROW_LINES

__all__ = ["WEIGHTS", "fact_words", "facts"]

#: The number of cards of one color that counts as a plan.
MANY = 3
#: The value of one more of each fact, for choosing the continuation of a turn.
WEIGHTS = {"points": 100, "rows": 1, "columns": 1, "abilities": 40, "filled": 4, "windows": 2, "color": 1}


def facts(game: CopenhagenGame, seat: int) -> dict[str, int]:
    """Return the facts of a seat, from its own view."""
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
    """Return what a larger fact means: `more` is its value after an action, `less` that with which it is compared."""
    by = more - less
    return {
        "points": f"it makes {pluralize(by, 'more point')}",
        "rows": f"it fills {pluralize(by, 'row')}",
        "columns": f"it fills {pluralize(by, 'column')}",
        "abilities": f"it gains {by} {'ability' if by == 1 else 'abilities'}",
        "filled": f"it covers {pluralize(by, 'more cell')}",
        "windows": f"it shows {pluralize(by, 'more window')}",
        "color": f"the hand then has {more} cards of one color",
    }[fact]
