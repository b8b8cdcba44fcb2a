"""The current decision in words, and what the last action touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from helsinki_env.drawing.lines import pluralize
from helsinki_env.engine.positions import cell_list
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.actions import ADDITIONAL_CARD, ANY_CARDS, BOTH_ACTIONS, CONSTRUCTION_DISCOUNT
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, DISPLAY, TILE_SIZES
from helsinki_env.games.copenhagen.notation import string_to_action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.render.view import Pending, SeatView

__all__ = ["ActionText", "LastAction", "action_text", "parse_last_action", "placed_tile"]


class ActionText(NamedTuple):
    """The acting seat (``Player 1``), its activity (``pays for blue 4``), and a detail, which may be empty."""

    who: str
    headline: str
    detail: str


def action_text(
    phase: str,
    done: bool,
    to_move: int,
    seats: Sequence[SeatView],
    places: Sequence[int],
    pending: Pending,
    white_tiles: int,
    components: Components,
) -> ActionText:
    """Return the current decision in words, or how the game ended."""
    if done:
        return _over(seats, places, components)
    headline, detail = _decision(phase, seats[to_move], pending, white_tiles, components)
    return ActionText(f"Player {to_move}", headline, detail)


def _over(seats: Sequence[SeatView], places: Sequence[int], components: Components) -> ActionText:
    winners = [seat for seat, place in enumerate(places) if place == 0]
    points = seats[winners[0]].points
    detail = pluralize(points, "point")
    if points >= components.goal:
        detail += f": the game ends with {components.goal}"
    elif len(winners) == 1 and sum(seat.points == points for seat in seats) > 1:
        detail += ", and fewer empty cells than the others"
    if len(winners) == 1:
        return ActionText(f"Player {winners[0]}", "wins the game", detail)
    named = " and ".join((", ".join(map(str, winners[:-1])), str(winners[-1])))
    return ActionText(
        f"Players {named}", "share the victory", f"{detail} and {seats[winners[0]].empty} empty cells each"
    )


def _decision(
    phase: str, seat: SeatView, pending: Pending, white_tiles: int, components: Components
) -> tuple[str, str]:
    """Return headline and detail."""
    if phase == "MAIN":
        if BOTH_ACTIONS in pending.using:
            return "constructs as well", "Both actions: cards were taken in this turn"
        pair = "Any two cards" if ANY_CARDS in seat.owned - seat.used else "Two cards next to each other"
        return "takes cards or constructs", f"{pair}, or a tile"
    if phase == "TAKE":
        return _taking(seat, pending)
    if phase == "DISCARD":
        more = max(0, seat.hand - components.hand_limit)
        return "discards", f"{pluralize(more, 'more card')}, down to {components.hand_limit}"
    if phase == "END":
        left = []
        if ADDITIONAL_CARD in seat.owned - seat.used and not pending.discarded:
            left.append("an additional card")
        if BOTH_ACTIONS in seat.owned - seat.used:
            left.append("a construction (both actions)")
        return "may end the turn", f"Or goes on with {' or '.join(left)}" if left else ""
    if phase == "COAT":
        return "takes a reward", _rewards(seat, pending, white_tiles)
    return _building(phase, pending)


def _rewards(seat: SeatView, pending: Pending, white_tiles: int) -> str:
    choices = []
    if white_tiles:
        choices.append("a white tile")
    if any(seat.state_of(ability) == "missing" for ability in range(len(ABILITIES))):
        choices.append("a new ability")
    if seat.used:
        choices.append("used abilities flipped back")
    text = ", ".join(choices[:-1]) + (" or " if len(choices) > 1 else "") + "".join(choices[-1:])
    others = f"; {pending.rewards - 1} more to come" if pending.rewards > 1 else ""
    return f"{text[:1].upper()}{text[1:]}{others}"


def _taking(seat: SeatView, pending: Pending) -> tuple[str, str]:
    if pending.first is None:
        return "takes an additional card", "From any slot"
    if ANY_CARDS in pending.using:
        return "takes the second card", f"From any slot beyond {pending.first + 1}"
    beyond = (
        ", or beyond it by Any cards" if ANY_CARDS in seat.owned - seat.used and pending.first + 2 < DISPLAY else ""
    )
    return "takes the second card", f"From slot {pending.first + 1}, next to the first{beyond}"


def _building(phase: str, pending: Pending) -> tuple[str, str]:
    if pending.tile is None:  # positions in PLACE, RECOLOUR and PAY have a tile; drawings do not require it
        return "constructs", ""
    colour, size = pending.tile
    name, own = f"{COLOURS[colour]} {size}", COLOURS[colour]
    other = None if pending.recolour is None else COLOURS[pending.recolour]
    discount = CONSTRUCTION_DISCOUNT in pending.using
    if phase == "RECOLOUR":
        return "chooses a colour", f"Its cards count as {own} for the tile {name}"
    if phase == "PAY":
        paid = " or ".join((own, other)) if other else own
        needed = f", at least one of them {other}" if other and not pending.paid[pending.recolour or 0] else ""
        return f"pays for {name}", f"{pluralize(pending.due, 'more card')}, {paid}{needed}"
    cost = f"{pluralize(size - discount, own + ' card')}, 1 less beside {own}"
    if discount:
        cost += ", discount counted"
    if other:
        cost += f"; {other} counts as {own}"
    return f"places {name}", cost


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
