"""What players of Copenhagen can do now, in words, and where on the drawn table it is clicked."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from helsinki_env.engine.box import orientations
from helsinki_env.engine.touch import Touch, Turn, turns
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.actions import KINDS
from helsinki_env.games.copenhagen.components import ABILITIES, CELLS, COLOURS, COLUMNS, Components
from helsinki_env.games.copenhagen.game import Game
from helsinki_env.games.copenhagen.notation import describe, tile_name

__all__ = ["touches"]

#: How each kind is said as an imperative and in the past; what follows is the same for both.
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


def touches(game: Game, seat: int) -> list[Touch]:
    """Return a touch for each legal decision of a seat, by id; none if another seat is to move.

    Args:
        game: the game; of what is hidden from the seat nothing is looked at.
        seat: who looks.

    Raises:
        ValueError: if there is no such seat.
    """
    if game.done or game.checked_seat(seat) != game.seat:
        return []
    return [_touch(game, int(action)) for action in game.legal_actions()]


def _touch(game: Game, action: int) -> Touch:
    kind, argument = a.decode(action)
    now, then = _VERBS[kind]
    what, where = _placed(game, argument) if kind == a.KIND_PLACE else _said(game, kind, argument)
    return Touch(action, KINDS[kind], describe(action), f"{now} {what}", f"{then} {what}", **where)


def _said(game: Game, kind: int, argument: int) -> tuple[str, dict[str, Any]]:
    """Return what a decision other than PLACE does, and the fields that say where."""
    g, seat = game.state, game.seat
    if kind == a.KIND_TAKE:
        colour = COLOURS[g.display[argument]]
        return f"the {colour} card of slot {argument}", {"at": (f"slot {argument}",)}
    if kind == a.KIND_BUILD:
        return f"a tile: {tile_name(argument)}", {"at": (f"kind {argument}",)}
    if kind in (a.KIND_PAY, a.KIND_DISCARD):
        return f"a {COLOURS[argument]} card", {"at": (f"card {argument}",)}
    if kind == a.KIND_RECOLOUR:
        own = COLOURS[g.tile // 4]
        return f"{COLOURS[argument]} cards count as {own}", {"at": (f"card {argument}",)}
    if kind in (a.KIND_USE, a.KIND_ABILITY):
        return ABILITIES[argument].replace("_", " "), {"at": (f"ability {seat} {argument}",)}
    if kind == a.KIND_WHITE:
        cell = f"cell {seat} {argument}"
        return f"row {argument // COLUMNS}, column {argument % COLUMNS}", {"at": (cell,), "covers": (cell,)}
    return "the used abilities back" if kind == a.KIND_REACTIVATE else "the turn", {"at": ("now",)}


def _placed(game: Game, argument: int) -> tuple[str, dict[str, Any]]:
    """Return what a PLACE does, and the fields that say where the tile lies."""
    t, kind = game.config.tables[0], int(game.state.tile)
    turn, corner = divmod(argument, CELLS)
    piece = a.ORIENTATIONS * kind + turn
    lies = int(t.cells[piece]) << corner
    covers = tuple(f"cell {game.seat} {cell}" for cell in range(CELLS) if lies >> cell & 1)
    row, column = divmod(corner, COLUMNS)
    way = _turns(game.config.loaded, kind)[turn]
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
def _turns(components: Components, kind: int) -> tuple[Turn, ...]:
    return turns(orientations(components.drawings[kind // 4][kind % 4]))
