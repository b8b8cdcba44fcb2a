"""Describe the legal actions of Helsinki in words, with their click targets in the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.ui_actions import ActionSelection, SelectionItem, TileOrientation, UIAction, tile_orientations
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.action_words import action_phrase
from helsinki_env.games.helsinki.actions import KINDS, SIDES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.notation import action_to_string, card_to_string
from helsinki_env.games.helsinki.shapes import resting_corner, tile_cells
from helsinki_env.games.helsinki.state import PHASE_DISCARD, PHASE_PAY, PHASE_ROOF

__all__ = ["selection", "ui_action"]

_SIZE = 7
#: Verb of each kind of action, in the imperative and the past tense; both take the same object.
_VERBS = {
    a.KIND_START: ("Start on", "started on"),
    a.KIND_MOVE: ("Move", "moved"),
    a.KIND_DRAW: ("Take", "took"),
    a.KIND_BUILD: ("Build", "began to build"),
    a.KIND_PAY: ("Pay with", "paid with"),
    a.KIND_PLACE: ("Push it in from the", "pushed it in from the"),
    a.KIND_WILD: ("Put a wild tile on", "put a wild tile on"),
    a.KIND_LIFT: ("Lift the superstructure from", "lifted the superstructure from"),
    a.KIND_ROOF: ("Put a superstructure on", "put a superstructure on"),
    a.KIND_DISCARD: ("Discard", "discarded"),
    a.KIND_USE: ("Use:", "used:"),
    a.KIND_END: ("End", "ended"),
}


def selection(game: HelsinkiGame) -> ActionSelection | None:
    """Return the cards or roofs that the acting seat may select in any order, or None if there is no such choice."""
    seat = game.seat
    t, g = game.config.tables[0], game.state
    wild = int(t.types) - 1
    if g.phase == PHASE_DISCARD:
        due = int(g.hand[seat].sum()) - int(t.hand_limit)
        return _selected(game, a.KIND_DISCARD, (due, range(max(0, g.last_discard), wild + 1)))
    if g.phase == PHASE_PAY:
        begin = int(t.colour[g.card]) * int(t.variants)
        own = [*range(begin, begin + int(t.variants)), wild]
        if g.substitute:
            others = [card for card in range(wild) if card not in own]
            return _selected(game, a.KIND_PAY, (1, others), (int(g.to_pay) - 1, own))
        paid = int(g.paid[g.paid_count - 1]) if g.paid_count else -1
        floor = paid if paid in own else 0  # the order does not apply to the substitute
        return _selected(game, a.KIND_PAY, (int(g.to_pay), [card for card in own if card >= floor]))
    if g.phase == PHASE_ROOF and g.lifted < 0:
        last = int(g.tile_count[seat]) - 1
        lies = int(tile_cells(t, np.int64(g.tile_piece[seat, last]), g.tile_cell[seat, last]))
        free = lies & ~int(g.superstructures[seat])
        cells = [cell for cell in range(int(g.last_roof) + 1, _SIZE * _SIZE) if free >> cell & 1]
        return _selected(game, a.KIND_ROOF, (int(g.roofs_left), cells))
    return None


def _selected(game: HelsinkiGame, kind: int, *parts: tuple[int, Sequence[int]]) -> ActionSelection | None:
    """Return a selection of `count` arguments from each part, or None if it is a single action or has too few items."""
    hand, items = game.state.hand[game.seat], []
    for part, (count, arguments) in enumerate(parts):
        held = [(one, 1 if kind == a.KIND_ROOF else int(hand[one])) for one in arguments]
        if sum(most for _, most in held) < count:
            return None  # a board action must be used first
        items += [
            SelectionItem(ui_action(game, game.actions.encode(kind, one)), min(most, count), part)
            for one, most in held
            if min(most, count)
        ]
    counts = tuple(count for count, _ in parts)
    return ActionSelection(KINDS[kind], counts, tuple(items)) if sum(counts) > 1 else None


def ui_action(game: HelsinkiGame, action: int) -> UIAction:
    """Return a legal action in words, with the spots to click; the result does not depend on hidden information."""
    kind, argument = game.actions.decode(action)
    now, then = _VERBS[kind]
    what, where = _placement(game, argument) if kind == a.KIND_PLACE else _text_and_spots(game, kind, argument)
    text = action_to_string(action, game.config.component_set)
    return UIAction(action, KINDS[kind], text, f"{now} {what}", f"{then} {what}", **where)


def _text_and_spots(game: HelsinkiGame, kind: int, argument: int) -> tuple[str, dict[str, Any]]:
    """Return the object of an action other than PLACE in words, and the fields with its location."""
    components, seat, token = game.config.component_set, game.seat, int(game.state.token[game.seat])
    if kind == a.KIND_START:
        return f"space {argument}", {"at": (f"space {argument}",)}
    if kind == a.KIND_MOVE:
        steps = argument + 1
        return f"{steps} space{'s' * (steps > 1)}", {"at": (f"space {(token + steps) % 8}",)}
    if kind == a.KIND_DRAW:
        return "the two cards beside the token", {"at": (f"slot {(token - 1) % 8}", f"slot {token}")}
    if kind == a.KIND_BUILD:
        return _pavilion(components, argument), {"at": (f"card {argument}",)}
    if kind in (a.KIND_PAY, a.KIND_DISCARD):
        return _card(components, argument), {"at": (f"card {argument}",)}
    if kind == a.KIND_USE:
        return action_phrase(components, BOARD_ACTIONS[argument]), {"at": (f"action {argument}",)}
    if kind == a.KIND_END:
        return "the turn", {"at": ("now",)}
    cell = f"cell {seat} {argument}"
    covers = (cell,) if kind == a.KIND_WILD else ()
    return f"row {argument // _SIZE}, column {argument % _SIZE}", {"at": (cell,), "covers": covers}


def _card(components: Components, card: int) -> str:
    """Return a card's name with its article: ``a green 3 (3 roofs, 1 superstructure)``."""
    if card == components.wild_type:
        return "a wild card"
    facts = [f"{components.card_roofs(card)} roofs", *_superstructures(components, card)]
    return f"a {card_to_string(card, components).split('/')[0]} ({', '.join(facts)})"


def _pavilion(components: Components, card: int) -> str:
    """Return a build in words: ``a green pavilion of 3 for 3 cards, with 1 superstructure``."""
    number, roofs = components.card_number(card), components.card_roofs(card)
    cost = f"a {COLORS[components.card_color(card)]} pavilion of {roofs} for {number} card{'s' * (number > 1)}"
    return ", with ".join((cost, *_superstructures(components, card)))


def _superstructures(components: Components, card: int) -> list[str]:
    amount = components.card_superstructures(card)
    return [f"{amount} superstructure{'s' * (amount > 1)}"] if amount else []


def _placement(game: HelsinkiGame, argument: int) -> tuple[str, dict[str, Any]]:
    """Return the object of PLACE in words, and the fields with the path and the final cells of the tile."""
    t, g = game.config.tables[0], game.state
    side, turned = divmod(argument, a.ORIENTATIONS * a.LANES)
    turn, lane = divmod(turned, a.LANES)
    kind = int(t.kind[g.card])
    piece = np.int64(a.ORIENTATIONS * kind + turn)
    lies = int(
        tile_cells(t, piece, resting_corner(t, piece, np.int64(side), np.int64(lane), np.int64(g.built[game.seat])))
    )
    cells = [cell for cell in range(_SIZE * _SIZE) if lies >> cell & 1]
    way = _turns(game.config.component_set, kind)[turn]
    words = f"{SIDES[side]}, lane {lane}{', ' if way.words else ''}{way.words}"
    covers = tuple(f"cell {game.seat} {cell}" for cell in cells)
    passed = tuple(f"cell {game.seat} {cell}" for cell in _passed(cells, side))
    return words, {
        "at": covers + passed,
        "covers": covers,
        "turn": turn,
        "lane": (side, lane),
        "rotated": way.rotated,
        "flipped": way.flipped,
    }


def _passed(cells: list[int], side: int) -> list[int]:
    """Return the cells that a tile passed on its way, excluding its final cells."""
    row_step, column_step = ((-1, 0), (0, 1), (1, 0), (0, -1))[side]
    seen = set()
    for cell in cells:
        row, column = divmod(cell, _SIZE)
        while 0 <= row < _SIZE and 0 <= column < _SIZE:
            seen.add(_SIZE * row + column)
            row, column = row + row_step, column + column_step
    return sorted(seen.difference(cells))


@lru_cache(maxsize=128)
def _turns(components: Components, kind: int) -> tuple[TileOrientation, ...]:
    return tile_orientations(orientations(components.shapes[components.tiles[kind // 4][kind % 4]]))
