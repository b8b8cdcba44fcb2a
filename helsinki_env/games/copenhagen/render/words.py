"""The current decision in words: the seat, the decision, and its details."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.actions import ADDITIONAL_CARD, ANY_CARDS, BOTH_ACTIONS, CONSTRUCTION_DISCOUNT
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, DISPLAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.render.view import Pending, SeatView

__all__ = ["ActionText", "action_text"]


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
