"""Points by category, effects of an action in words, and facts about a seat that explain an action."""

from __future__ import annotations

from typing import Any

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.render.view import card_name

SIZE = 7
LINES = tuple(
    [sum(1 << (SIZE * row + column) for column in range(SIZE)) for row in range(SIZE)]
    + [sum(1 << (SIZE * row + column) for row in range(SIZE)) for column in range(SIZE)]
)
#: Labels of lines that do not score.
_OPEN = ("Superstructures without a full line", "Nearest line")


def _line(label: str, count: int, points: int, note: str) -> dict[str, Any]:
    """Return a line of the score sheet."""
    return {"label": label, "count": count, "points": points, "note": note, "scores": label not in _OPEN}


def _full(built: int) -> tuple[int, int, int, int]:
    """Return (number of full rows, number of full columns, cells of full rows, cells of full columns)."""
    rows = [line for line in LINES[:SIZE] if built & line == line]
    columns = [line for line in LINES[SIZE:] if built & line == line]
    return len(rows), len(columns), sum(rows), sum(columns)


def score_sheet(game: HelsinkiGame) -> list[list[dict[str, Any]]]:
    """Return the lines of the score sheet of each seat: dicts with `label`, `count`, `points`, `note` and `scores`.

    The points of a seat add up to its score. In lines that are for information only, `scores` is False.
    """
    c, g = game.config.component_set, game.state
    sheets = []
    for seat in range(game.config.num_players):
        rows, columns, in_rows, in_columns = _full(int(g.built[seat]))
        standing = int(g.superstructures[seat])
        crossing = (standing & in_rows & in_columns).bit_count()
        line = (standing & (in_rows | in_columns)).bit_count() - crossing
        idle = standing.bit_count() - crossing - line
        best = max((_filled(line_, int(g.built[seat])) for line_ in LINES), default=0)
        bonus = c.bonus_cards[int(g.bonus[seat])] if g.bonus[seat] >= 0 else 0
        entries = [
            ("Full rows", rows, c.points_row * rows, f"{c.points_row} each"),
            ("Full columns", columns, c.points_column * columns, f"{c.points_column} each"),
            ("Superstructures on crossings", crossing, c.points_crossing * crossing, f"{c.points_crossing} each"),
            ("Superstructures on one full line", line, c.points_line * line, f"{c.points_line} each"),
            ("Board action for points", 1, int(g.points[seat]) - bonus, "scored during play"),
        ]
        if game.config.dry_roads:
            entries.append(("Bonus card", int(bonus > 0), bonus, "crosswalks connected"))
        if idle:
            note = "no points" if game.done else f"up to {c.points_crossing} each at the end"
            entries.append(("Superstructures without a full line", idle, 0, note))
        if best < SIZE and not game.done:
            entries.append(("Nearest line", best, 0, f"{pluralize(SIZE - best, 'cell')} to go"))
        sheets.append([_line(*entry) for entry in entries])
    return sheets


def _filled(line: int, built: int) -> int:
    """Return the number of built cells of a line, or 0 if the line is full."""
    filled = (line & built).bit_count()
    return 0 if filled == SIZE else filled


def _draws_bonus_card(before: HelsinkiGame, after: HelsinkiGame, seat: int) -> bool:
    a, b = before.state, after.state
    return bool(b.tile_count[seat] > a.tile_count[seat] and b.hand[seat].sum() > a.hand[seat].sum())


def effects(before: HelsinkiGame, after: HelsinkiGame, seat: int) -> list[str]:
    """Return what a seat visibly gains by an action, in short phrases."""
    a, b = before.state, after.state
    rows, columns, *_ = _full(int(a.built[seat]))
    new_rows, new_columns, *_ = _full(int(b.built[seat]))
    found = []
    gained = int(after.scores()[seat]) - int(before.scores()[seat])
    if gained:
        found.append(f"{gained:+d} point{'s' * (abs(gained) != 1)}")
    if new_rows > rows:
        found.append(f"fills {pluralize(new_rows - rows, 'row')}")
    if new_columns > columns:
        found.append(f"fills {pluralize(new_columns - columns, 'column')}")
    coats = int(a.coats[seat]).bit_count() - int(b.coats[seat]).bit_count()
    if coats:
        found.append(f"wins {pluralize(coats, 'coat')}")
    if _draws_bonus_card(before, after, seat):
        found.append("draws a bonus card")
    return found


def said(game: HelsinkiGame, action: int, words: str) -> str:
    """Return an action in words for the log, with the public cards of a draw and with public effects.

    Args:
        game: the game before the action.
        action: a legal action.
        words: the general description of the action.
    """
    g, c, token = game.state, game.config.component_set, int(game.state.token[game.seat])
    after = game.clone()
    after.step(action)
    kind, argument = game.actions.decode(action)
    if kind == a.KIND_PAY:
        words = f"paid with a {card_name(argument, c)}"
    if kind == a.KIND_DRAW:
        cards = [int(g.display[slot]) for slot in ((token - 1) % 8, token)]
        words = f"took {' and '.join(f'a {card_name(card, c)}' for card in cards if card >= 0) or words}"
    if kind == a.KIND_PLACE and _draws_bonus_card(game, after, game.seat):
        words += "; drew a bonus card"
    if after.state.last_round and not g.last_round:
        words += "; emptied the draw pile, so this round is the last"
    return words


#: Minimum number of cards of one color that is mentioned.
MANY = 3
#: Value of an increase of each fact by one, for choosing the continuation of a turn.
WEIGHTS = {"points": 100, "rows": 1, "columns": 1, "coats": 40, "crossing": 15, "tiles": 10, "nearest": 3, "color": 1}
#: Verb, noun and end of the sentence that states the increase of a fact.
_INCREASES = {
    "points": ("makes", "more point", ""),
    "rows": ("fills", "row", ""),
    "columns": ("fills", "column", ""),
    "coats": ("wins", "coat", " of arms"),
    "crossing": ("puts", "more superstructure", " on the board"),
    "tiles": ("builds", "pavilion", " in this turn"),
}


def facts(game: HelsinkiGame, seat: int) -> dict[str, int]:
    """Return facts about a seat, as the seat itself sees them."""
    c, g = game.config.component_set, game.state
    built, hand = int(g.built[seat]), g.hand[seat]
    full = [built & line == line for line in LINES]
    open_lines = [(line & built).bit_count() for line, done in zip(LINES, full, strict=True) if not done]
    own = [0] * len(COLORS)
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
    """Return a phrase for the increase of a fact from `less`, the value to compare with, to `more`."""
    if fact == "color":
        return f"the hand then has {more} cards of one color"
    if fact == "nearest":
        return f"the nearest line then has {more} of {SIZE} cells"
    verb, noun, end = _INCREASES[fact]
    return f"it {verb} {pluralize(more - less, noun)}{end}"
