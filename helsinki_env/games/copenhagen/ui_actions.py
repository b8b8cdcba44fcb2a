"""Describe the legal actions of Copenhagen in words, with their click targets in the drawing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.ui_actions import ActionSelection, SelectionItem, TileOrientation, UIAction, tile_orientations
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.abilities import active
from helsinki_env.games.copenhagen.actions import KINDS
from helsinki_env.games.copenhagen.components import ABILITIES, CELLS, COLORS, COLUMNS, Components
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.notation import action_to_string, tile_name
from helsinki_env.games.copenhagen.state import PHASE_DISCARD, PHASE_MAIN, PHASE_PAY

__all__ = ["selection", "ui_action"]

#: The verb of each action kind, in the imperative and the past tense; both take the same object.
_VERBS = {
    a.KIND_TAKE: ("Take", "took"),
    a.KIND_BUILD: ("Construct", "began to construct"),
    a.KIND_PLACE: ("Lay it at", "laid it at"),
    a.KIND_PAY: ("Pay with", "paid with"),
    a.KIND_DISCARD: ("Discard", "discarded"),
    a.KIND_USE: ("Use:", "used:"),
    a.KIND_RECOLOUR: ("Let", "let"),
    a.KIND_WHITE: ("Put a white tile on", "put a white tile on"),
    a.KIND_ABILITY: ("Take the ability:", "took the ability:"),
    a.KIND_REACTIVATE: ("Turn", "turned"),
    a.KIND_END: ("End", "ended"),
}


def selection(game: CopenhagenGame) -> ActionSelection | None:
    """Return the cards that the acting seat may choose together, in any order, or None if there is no such choice."""
    seat = game.seat
    t, g = game.config.tables[0], game.state
    hand = [int(held) for held in g.hand[seat]]
    if g.phase == PHASE_MAIN:
        return _pair(game)
    if g.phase == PHASE_DISCARD:
        due = sum(hand) - int(t.hand_limit)
        held = [count if colour >= g.last_discard else 0 for colour, count in enumerate(hand)]
        return _cards(game, a.KIND_DISCARD, due, held)
    if g.phase == PHASE_PAY:
        due, own, recoloured = int(g.due), int(g.tile) // 4, int(g.recolour)
        most = [0] * len(hand)
        most[recoloured] = hand[recoloured]
        most[own] = hand[own] if g.paid[recoloured] else min(hand[own], due - 1)  # at least one recolored card
        if g.paid[max(own, recoloured)]:
            most[min(own, recoloured)] = 0
        return _cards(game, a.KIND_PAY, due, most)
    return None


def _pair(game: CopenhagenGame) -> ActionSelection | None:
    """Return the selection of two cards from the display, or None if no card can be taken."""
    firsts = [argument for kind, argument in map(a.decode, game.legal_actions().tolist()) if kind == a.KIND_TAKE]
    if not firsts:
        return None
    any_cards = int(active(game.state)) >> a.ANY_CARDS & 1
    shown = [slot for slot, card in enumerate(game.state.display) if card >= 0]
    pairs = tuple(
        (int(a.encode(a.KIND_TAKE, first)), int(a.encode(a.KIND_TAKE, second)), second > first + 1)
        for first in firsts
        for second in shown
        if second == first + 1 or (any_cards and second > first)
    )
    ids = sorted({slot for first, second, _ in pairs for slot in (first, second)})
    between = ui_action(game, int(a.encode(a.KIND_USE, a.ANY_CARDS))) if any_cards else None
    return ActionSelection(
        KINDS[a.KIND_TAKE], (2,), tuple(SelectionItem(ui_action(game, one)) for one in ids), pairs, between
    )


def _cards(game: CopenhagenGame, kind: int, count: int, held: list[int]) -> ActionSelection | None:
    """Return the selection of `count` cards, at most `held` of each color, or None if `count` is less than two."""
    if count < 2:
        return None
    items = [
        SelectionItem(ui_action(game, int(a.encode(kind, colour))), min(most, count))
        for colour, most in enumerate(held)
        if most > 0
    ]
    return ActionSelection(KINDS[kind], (count,), tuple(items))


def ui_action(game: CopenhagenGame, action: int) -> UIAction:
    """Return the description of a legal action, with the spots to click. It reveals no hidden information."""
    kind, argument = a.decode(action)
    now, then = _VERBS[kind]
    what, where = _placement(game, argument) if kind == a.KIND_PLACE else _text_and_spots(game, kind, argument)
    return UIAction(action, KINDS[kind], action_to_string(action), f"{now} {what}", f"{then} {what}", **where)


def _text_and_spots(game: CopenhagenGame, kind: int, argument: int) -> tuple[str, dict[str, Any]]:
    """Return the object of the verb and the location fields for an action other than PLACE."""
    g, seat = game.state, game.seat
    if kind == a.KIND_TAKE:
        colour = COLORS[g.display[argument]]
        return f"the {colour} card of slot {argument}", {"at": (f"slot {argument}",)}
    if kind == a.KIND_BUILD:
        return f"a tile: {tile_name(argument)}", {"at": (f"kind {argument}",)}
    if kind in (a.KIND_PAY, a.KIND_DISCARD):
        return f"a {COLORS[argument]} card", {"at": (f"card {argument}",)}
    if kind == a.KIND_RECOLOUR:
        own = COLORS[g.tile // 4]
        return f"{COLORS[argument]} cards count as {own}", {"at": (f"card {argument}",)}
    if kind in (a.KIND_USE, a.KIND_ABILITY):
        return ABILITIES[argument].replace("_", " "), {"at": (f"ability {seat} {argument}",)}
    if kind == a.KIND_WHITE:
        cell = f"cell {seat} {argument}"
        return f"row {argument // COLUMNS}, column {argument % COLUMNS}", {"at": (cell,), "covers": (cell,)}
    return "the used abilities back" if kind == a.KIND_REACTIVATE else "the turn", {"at": ("now",)}


def _placement(game: CopenhagenGame, argument: int) -> tuple[str, dict[str, Any]]:
    """Return the object of the verb and the location fields for PLACE."""
    t, kind = game.config.tables[0], int(game.state.tile)
    turn, corner = divmod(argument, CELLS)
    piece = a.ORIENTATIONS * kind + turn
    lies = int(t.cells[piece]) << corner
    covers = tuple(f"cell {game.seat} {cell}" for cell in range(CELLS) if lies >> cell & 1)
    row, column = divmod(corner, COLUMNS)
    way = _turns(game.config.component_set, kind)[turn]
    words = f"row {row}, column {column}{', ' if way.words else ''}{way.words}"
    return words, {
        "at": covers,
        "covers": covers,
        "marked": f"cell {game.seat} {corner + int(t.brick[piece])}",
        "turn": turn,
        "lane": (column, row),
        "rotated": way.rotated,
        "flipped": way.flipped,
    }


@lru_cache(maxsize=128)
def _turns(components: Components, kind: int) -> tuple[TileOrientation, ...]:
    return tile_orientations(orientations(components.drawings[kind // 4][kind % 4]))
