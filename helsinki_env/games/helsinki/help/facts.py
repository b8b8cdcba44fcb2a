"""Facts of a seat that its actions change, and what to say about a larger one."""

from __future__ import annotations

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.help.scoring import LINES, SIZE

__all__ = ["WEIGHTS", "fact_words", "facts"]

#: The number of cards of one color that counts as a plan.
MANY = 3
#: The value of one more of each fact, for choosing the continuation of a turn.
WEIGHTS = {"points": 100, "rows": 1, "columns": 1, "coats": 40, "crossing": 15, "tiles": 10, "nearest": 3, "color": 1}


def facts(game: HelsinkiGame, seat: int) -> dict[str, int]:
    """Return the facts of a seat, from its own view."""
    c, g = game.config.component_set, game.state
    built, hand = int(g.built[seat]), g.hand[seat]
    full = [built & line == line for line in LINES]
    open_lines = [(line & built).bit_count() for line, done in zip(LINES, full, strict=True) if not done]
    own = [0] * len(COLOURS)
    for card in range(len(hand)):
        if hand[card] and card != c.wild_type:
            own[c.card_color(card)] += int(hand[card])
    return {
        "points": int(game.scores()[seat]),
        "rows": sum(full[:SIZE]),
        "columns": sum(full[SIZE:]),
        "coats": len(c.coats) - int(g.coats[seat]).bit_count(),
        "crossing": int(g.superstructures[seat]).bit_count(),
        "tiles": int(g.tile_count[seat]),
        "nearest": max(open_lines, default=0),
        "color": max(own) if max(own) >= MANY else 0,
    }


def fact_words(fact: str, more: int, less: int) -> str:
    """Return what a larger fact means: `more` is its value after an action, `less` that with which it is compared."""
    by = more - less
    return {
        "points": f"it makes {pluralize(by, 'more point')}",
        "rows": f"it fills {pluralize(by, 'row')}",
        "columns": f"it fills {pluralize(by, 'column')}",
        "coats": f"it wins {pluralize(by, 'coat')} of arms",
        "crossing": f"it puts {pluralize(by, 'more superstructure')} on the board",
        "tiles": f"it builds {pluralize(by, 'pavilion')} in this turn",
        "nearest": f"the nearest line then has {more} of {SIZE} cells",
        "color": f"the hand then has {more} cards of one color",
    }[fact]
