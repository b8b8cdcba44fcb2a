"""A position of Helsinki in words, from the copy of a seat: every value of the copy appears in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.helsinki.actions import SIDES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLOURS, ROOFS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.notation import card_to_string
from helsinki_env.games.helsinki.render.view import BOARD_SIZE, read_table_view

__all__ = ["PENDING", "card_counts", "cards_text", "cell_name", "cells_text", "display_text", "position_lines"]

#: Sentences for the keys of `pending`; the text of the value replaces the braces.
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
    """Return cells as text."""
    return " ".join(map(cell_name, cells)) or "none"


def cards_text(cards: Sequence[int | None], components: Components) -> str:
    """Return card types as a list in words; ``?`` stands for an unknown card."""
    return ", ".join("?" if card is None else card_to_string(card, components) for card in cards) or "none"


def card_counts(counts: Sequence[int], components: Components) -> str:
    """Return counts by card type in words, such as ``blue 1/2 x2, wild x1``."""
    held = [f"{card_to_string(card, components)} x{count}" for card, count in enumerate(counts) if count]
    return ", ".join(held) or "none"


def _names(actions: Sequence[int]) -> str:
    return ", ".join(BOARD_ACTIONS[action] for action in actions) or "none"


def display_text(display: Sequence[int | None], components: Components) -> str:
    """Return the display by slot."""
    shown = (f"{i} {'empty' if card is None else card_to_string(card, components)}" for i, card in enumerate(display))
    return "; ".join(shown)


def position_lines(game: HelsinkiGame, position: Mapping[str, Any], viewer: int) -> list[str]:
    """Return the copy of a seat in words, in lines.

    Args:
        game: the game.
        position: the copy, from `to_dict(game, viewer)`.
        viewer: the seat.
    """
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
        f"Display by slot: {display_text(p['display'], components)}",
        f"Draw pile: {p['draw_pile']}. Discard pile: {card_counts(p['discard_pile'], components)}",
        f"Tiles left of {', '.join(map(str, ROOFS))} roofs: "
        + "; ".join(f"{colour} {' '.join(map(str, p['tile_supply'][colour]))}" for colour in COLOURS),
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
    """Return what the turn in progress remembers, one sentence for each key."""
    lines = []
    for key, value in pending.items():
        if key in ("card", "last_discard"):
            value = card_to_string(value, components)
        elif key in ("lifted", "last_roof"):
            value = cell_name(value)
        elif key == "paid":
            value = cards_text(value, components)
        elif key == "reshuffled":
            value = card_counts(value, components)
        elif key == "unseen_draws":
            value = "; ".join(f"player {seat} {cards_text(cards, components)}" for seat, cards in enumerate(value))
        lines.append(PENDING[key].format(value))
    return lines


def _seat_lines(p: Mapping[str, Any], score: int, components: Components, number: int, viewer: int) -> list[str]:
    """Return a player's area in words."""
    seat = p["seats"][number]
    token = seat["token"]
    where = "not placed" if token is None else f"space {token} ({SIDES[token // 2]})"
    denied = p["denied"][number]
    hand = seat["hand"]
    size = hand["size"] if isinstance(hand, Mapping) else sum(hand)
    known = hand["known"] if isinstance(hand, Mapping) else seat["known"]
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
        lines.append(f"  Hand of {size}: {card_counts(hand, components)}")
        lines.append(f"  Of these, the others know: {card_counts(known, components)}")
    else:
        lines.append(f"  Hand of {size}; known cards: {card_counts(known, components)}")
    built = [f"{one['colour']} {one['roofs']}: {cells_text(one['cells'])}" for one in seat["pavilions"]]
    lines.append(f"  Pavilions in the order built: {'; '.join(built) or 'none'}")
    return lines + [f"  {row}" for row in _grid(seat, components)]


def _grid(seat: Mapping[str, Any], components: Components) -> list[str]:
    """Return a board as a grid of two characters per cell."""
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
