"""The location of the last action on the table, which is highlighted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from helsinki_env.engine.positions import cell_list
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.components import TILE_SIZES
from helsinki_env.games.copenhagen.notation import string_to_action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helsinki_env.games.copenhagen.render.view import Pending, SeatView

__all__ = ["LastAction", "parse_last_action", "placed_tile"]


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
    t: Any,
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
        kind_of_tile = len(TILE_SIZES) * tile.colour + len(tile.cells) - TILE_SIZES[0]
        if kind == a.KIND_PAY or placed_tile(t, kind_of_tile, argument) == (tile.cells, tile.brick):
            return LastAction(text, seat=seat.seat, cells=tile.cells)
    return LastAction(text)


def placed_tile(t: Any, kind: int, place: int) -> tuple[tuple[int, ...], int]:
    """Return cells and brick of a tile placed by the argument of PLACE; no cells if it would not lie on the board."""
    orientation, corner = divmod(place, a.CELLS)
    piece = a.ORIENTATIONS * kind + orientation
    if not int(t.corners[piece]) >> corner & 1:
        return (), -1
    return tuple(cell_list(int(t.cells[piece]) << corner)), int(t.brick[piece]) + corner
