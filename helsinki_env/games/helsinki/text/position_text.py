"""Describe positions of Helsinki and the events of an action in words, as one seat sees them.

The text contains every value of the position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helsinki_env.drawing.lines import counts_text, pluralize, slots_text
from helsinki_env.engine.positions import seen_hand
from helsinki_env.games.helsinki.actions import SIDES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.notation import card_names
from helsinki_env.games.helsinki.render.view import BOARD_SIZE, read_table_view

#: Sentence for each key of `pending`; the value as text replaces the braces.
PENDING = {
    "move": "The longer move is paid for: at least 4 and at most {} spaces.",
    "drew": "Cards were drawn in this turn.",
    "built": "A pavilion was built in this turn.",
    "only_build": "The turn continues with a pavilion: only BUILD is possible.",
    "card": "Card being built: {}.",
    "to_pay": "Cards still to pay: {}.",
    "substitute": "The next payment is one card of another color.",
    "any_side": "The tile enters from a side other than that of the token.",
    "wilds_left": "Wild tiles still to place: {}.",
    "lifted": "Superstructure in hand, lifted from {}.",
    "roofs_left": "Superstructures still to place: {}.",
    "last_roof": "Last superstructure placed on {}.",
    "last_discard": "Last card discarded: {}.",
    "lifted_now": "The hand limit was lifted in this turn.",
    "turn_over": "The turn ends after the discards.",
    "paid": "Cards paid so far, in order: {}.",
    "action": "Board action in progress: {}.",
    "resume": "The phase after it: {}.",
    "reshuffled": "Cards of the reshuffled draw pile that have not come to the display since: {}.",
    "unseen_draws": "Cards drawn from it unseen: {}.",
}
_LEGEND = (
    "Boards: one line per row from north (r0) to south (r6), one column per cell from west (c0) to east (c6).",
    "S statue, b g p r y roof by color, w wild tile, o coat of arms, . empty; ^ marks a superstructure.",
)


def cell_name(cell: int) -> str:
    """Return a cell of a board as text, such as ``r2c5``."""
    return f"r{cell // BOARD_SIZE}c{cell % BOARD_SIZE}"


def cells_text(cells: Sequence[int]) -> str:
    """Return a list of cells as text."""
    return " ".join(map(cell_name, cells)) or "none"


def cards_text(cards: Sequence[int | None], components: Components) -> str:
    """Return card types as a list in words, with ``?`` for an unknown card."""
    names = card_names(components)
    return ", ".join("?" if card is None else names[card] for card in cards) or "none"


def _names(actions: Sequence[int]) -> str:
    return ", ".join(BOARD_ACTIONS[action] for action in actions) or "none"


def position_lines(game: HelsinkiGame, position: Mapping[str, Any], viewer: int) -> list[str]:
    """Return the lines that describe a position; `position` is `to_dict(game, viewer)`."""
    table, components = read_table_view(game, viewer), game.config.component_set
    p = position
    lines = [f"Helsinki, {p['players']} players. You are player {viewer}."]
    last, over = " This is the last round." * p["last_round"], " The game is over." * p["done"]
    lines.append(f"Round {p['round']}.{last}{over}")
    detail = f": {table.detail}" if table.detail else ""
    phase = f" (player {p['to_move']} acted last)" if p["done"] else f" (phase {p['phase']})"
    lines.append(f"Player {table.to_move} {table.headline}{detail}{phase}.")
    lines += _pending_lines(p["pending"], components)
    lines += [
        "",
        f"Display by slot: {slots_text(card_names(components), p['display'])}",
        f"Draw pile: {p['draw_pile']}. Discard pile: {counts_text(card_names(components), p['discard_pile'])}",
        f"Tiles left of {', '.join(map(str, ROOFS))} roofs: "
        + "; ".join(f"{colour} {' '.join(map(str, p['tile_supply'][colour]))}" for colour in COLORS),
        f"Wild tiles left: {p['wild_tiles']}. Superstructures left: {p['superstructures']}.",
        f"Covered board actions: {_names(p['covered'])}",
    ]
    if p["dry_roads"]:
        lines.append(f"Bonus cards left: {', '.join(map(str, p['bonus_cards'])) or 'none'}")
    lines += ["", *_LEGEND]
    for seat in range(p["players"]):
        lines += ["", *_seat_lines(p, table.seats[seat].score, components, seat, viewer)]
    return lines


def _pending_lines(pending: Mapping[str, Any], components: Components) -> list[str]:
    """Return a sentence for each pending key, including its value."""
    lines = []
    for key, value in pending.items():
        if key in ("card", "last_discard"):
            value = card_names(components)[value]
        elif key in ("lifted", "last_roof"):
            value = cell_name(value)
        elif key == "paid":
            value = cards_text(value, components)
        elif key == "reshuffled":
            value = counts_text(card_names(components), value)
        elif key == "unseen_draws":
            value = "; ".join(f"player {seat} {cards_text(cards, components)}" for seat, cards in enumerate(value))
        lines.append(PENDING[key].format(value))
    return lines


def _seat_lines(p: Mapping[str, Any], score: int, components: Components, number: int, viewer: int) -> list[str]:
    """Return the lines that describe a player's area."""
    seat = p["seats"][number]
    token = seat["token"]
    where = "not placed" if token is None else f"space {token} ({SIDES[token // 2]})"
    denied = p["denied"][number]
    hand = seat["hand"]
    size, known = seen_hand(seat)
    who = f"Player {number}{' (you)' if number == viewer else ''}"
    lines = [
        f"{who}: {pluralize(score, 'point')} if the game ended now, {seat['points']} of them made in play",
        f"  Token: {where}. Coats of arms in the meadow: {seat['meadow']}. Board actions used: {_names(seat['used'])}",
    ]
    if denied:
        lines.append(f"  Board actions denied: {_names(denied)}")
    if seat["bonus"] is not None:
        lines.append(f"  Bonus card: {seat['bonus']}")
    if seat["limit_lifted"]:
        lines.append("  The hand limit is lifted.")
    if number == viewer:
        lines.append(f"  Hand of {size}: {counts_text(card_names(components), hand)}")
        lines.append(f"  Of these, the others know: {counts_text(card_names(components), known)}")
    else:
        lines.append(f"  Hand of {size}; known cards: {counts_text(card_names(components), known)}")
    built = [f"{one['colour']} {one['roofs']}: {cells_text(one['cells'])}" for one in seat["pavilions"]]
    lines.append(f"  Pavilions in the order built: {'; '.join(built) or 'none'}")
    return lines + [f"  {row}" for row in _grid(seat, components)]


def _grid(seat: Mapping[str, Any], components: Components) -> list[str]:
    """Return a board as a grid with two characters per cell."""
    marks = dict.fromkeys(seat["coats_on_board"], "o") | {components.statue: "S"}
    marks |= dict.fromkeys(seat["wild"], "w")
    for one in seat["pavilions"]:
        marks |= dict.fromkeys(one["cells"], one["colour"][0])
    roofs = set(seat["superstructures"])
    cells = [marks.get(cell, ".") + ("^" if cell in roofs else " ") for cell in range(BOARD_SIZE * BOARD_SIZE)]
    rows = ["   " + "".join(f"c{column}" for column in range(BOARD_SIZE))]
    for row in range(BOARD_SIZE):
        rows.append(f"r{row} " + "".join(cells[BOARD_SIZE * row : BOARD_SIZE * (row + 1)]).rstrip())
    return rows


def describe_events(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], components: Components, viewer: int
) -> Iterator[tuple[str, bool]]:
    """Yield sentences about the visible effects of an action, each with a flag that is True if only the viewer sees it.

    `before` and `after` are the positions as seen by the seat `viewer`; `before` is None for the deal.
    """
    if before is None:
        yield f"The display by slot: {slots_text(card_names(components), after['display'])}.", False
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}.", False
        return
    for number, (then, now) in enumerate(zip(before["seats"], after["seats"], strict=True)):
        yield from _seat_events(number, then, now, components, viewer)
    yield from _table_events(before, after, components)
    if after["done"]:
        yield "The game is over.", False
        return
    if after["round"] != before["round"]:
        yield f"Round {after['round']} begins.", False
    if after["last_round"] and not before["last_round"]:
        yield "The draw pile has run out: this is the last round.", False
    if after["to_move"] != before["to_move"] or after["round"] != before["round"]:
        yield f"It is the turn of player {after['to_move']}.", False


def _gain(then: Sequence[int], now: Sequence[int]) -> list[int]:
    """Return the increase of each count, or 0 if it did not increase."""
    return [max(0, new - old) for old, new in zip(then, now, strict=True)]


def _seat_events(
    number: int, then: Mapping[str, Any], now: Mapping[str, Any], components: Components, viewer: int
) -> Iterator[tuple[str, bool]]:
    """Yield sentences about the changes in a player's area."""
    who = f"Player {number}"
    if now["token"] != then["token"]:
        yield f"The token of player {number} is on space {now['token']}.", False
    for one in now["pavilions"][len(then["pavilions"]) :]:
        yield f"The {one['colour']} tile of {who.lower()} covers {cells_text(one['cells'])}.", False
    if now["meadow"] > then["meadow"]:
        yield f"{who} wins {pluralize(now['meadow'] - then['meadow'], 'coat')} of arms and has {now['meadow']}.", False
    elif now["meadow"] < then["meadow"]:
        yield f"{who} pays {pluralize(then['meadow'] - now['meadow'], 'coat')} of arms and has {now['meadow']}.", False
    if now["bonus"] is not None and then["bonus"] is None:
        yield f"{who} takes the bonus card {now['bonus']}.", False
    if now["points"] != then["points"]:
        yield (
            f"{who} scores {pluralize(now['points'] - then['points'], 'point')} in play, {now['points']} in all.",
            False,
        )
    (size_then, known_then), (size_now, known_now) = seen_hand(then), seen_hand(now)
    shown = _gain(known_then, known_now)
    unseen = size_now - size_then - sum(shown)
    if any(shown):
        yield f"{who} takes, seen by all: {counts_text(card_names(components), shown)}.", False
    if unseen > 0:
        yield f"{who} draws {pluralize(unseen, 'card')} from the draw pile.", False
        if number == viewer:
            drawn = _gain(shown, _gain(then["hand"], now["hand"]))
            yield f"You draw {counts_text(card_names(components), drawn)}.", True
    if now["limit_lifted"] != then["limit_lifted"]:
        yield f"The hand limit of player {number} {'is lifted' if now['limit_lifted'] else 'applies again'}.", False


def _table_events(
    before: Mapping[str, Any], after: Mapping[str, Any], components: Components
) -> Iterator[tuple[str, bool]]:
    """Yield sentences about the changes in the display and the piles."""
    discarded = _gain(before["discard_pile"], after["discard_pile"])
    if any(discarded):
        yield f"To the discard pile: {counts_text(card_names(components), discarded)}.", False
    if after["display"] != before["display"]:
        yield f"The display by slot: {slots_text(card_names(components), after['display'])}.", False
    if sum(after["discard_pile"]) < sum(before["discard_pile"]) or after["draw_pile"] > before["draw_pile"]:
        yield "The discard pile is shuffled into a new draw pile.", False
    if after["draw_pile"] != before["draw_pile"]:
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}.", False
