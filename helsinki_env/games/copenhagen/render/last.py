"""The location of the last action on the table, which is highlighted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from helsinki_env.engine.component_reader import orientations
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.components import COLUMNS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.notation import string_to_action
from helsinki_env.games.copenhagen.shapes import offsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helsinki_env.games.copenhagen.render.view import Pending, SeatView, Tile

__all__ = ["LastAction", "parse_last_action"]


class LastAction(NamedTuple):
    """The last action: its text, the slot taken from, and a seat with the cells or abilities that it touched."""

    text: str | None = None
    slot: int | None = None
    seat: int | None = None
    cells: tuple[int, ...] = ()
    abilities: frozenset[int] = frozenset()


def parse_last_action(
    text: str | None,
    phase: str,
    done: bool,
    to_move: int,
    seats: Sequence[SeatView],
    pending: Pending,
    components: Components,
) -> LastAction:
    """Return what an action touched; only the text if it is invalid or does not fit the position."""
    if not text:
        return LastAction()
    try:
        kind, argument = a.decode(string_to_action(text))
    except ValueError:
        return LastAction(text)
    if kind == a.KIND_TAKE:
        return LastAction(text, slot=argument)
    began = phase == "MAIN" and not done and not pending.using
    seat = seats[(to_move - began) % len(seats)]  # the acting seat: the turn may be over
    if kind in (a.KIND_USE, a.KIND_ABILITY):
        return LastAction(text, seat=seat.seat, abilities=frozenset({argument}) & seat.owned)
    if kind == a.KIND_REACTIVATE:
        return LastAction(text, seat=seat.seat, abilities=seat.owned)
    if kind == a.KIND_WHITE and argument in seat.white:
        return LastAction(text, seat=seat.seat, cells=(argument,))
    if kind in (a.KIND_PLACE, a.KIND_PAY) and phase != "PAY" and seat.tiles:
        tile = seat.tiles[-1]
        if kind == a.KIND_PAY or _lies(tile, argument, components):
            return LastAction(text, seat=seat.seat, cells=tile.cells)
    return LastAction(text)


def _lies(tile: Tile, place: int, components: Components) -> bool:
    """Return whether this argument of PLACE puts a tile where it is."""
    turn, corner = divmod(place, a.CELLS)
    turned = orientations(components.drawings[tile.colour][len(tile.cells) - TILE_SIZES[0]])
    if turn >= len(turned) or corner % COLUMNS + len(turned[turn][0]) > COLUMNS:
        return False
    cells, brick = offsets_of(turned[turn])
    return tuple(cell + corner for cell in cells) == tile.cells and brick + corner == tile.brick
