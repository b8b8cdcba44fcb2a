"""The consequences of an action of Copenhagen in words, from what one seat saw before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.components import Components
from helsinki_env.games.copenhagen.text.position_text import (
    abilities_text,
    card_counts,
    cell_name,
    cells_text,
    display_text,
)

__all__ = ["describe_events"]


def describe_events(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], components: Components, viewer: int
) -> Iterator[tuple[str, bool]]:
    """Yield the visible consequences of an action in sentences, each with whether only the viewer sees it.

    Args:
        before: the viewer's copy of the position before the action; None for the deal.
        after: the same after the action.
        components: the component file of the game.
        viewer: the seat whose copies these are.
    """
    if before is None:
        yield f"The display by slot: {display_text(after['display'])}.", False
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}.", False
        for number, seat in enumerate(after["seats"]):
            hand = seat["hand"]
            size = hand["size"] if isinstance(hand, Mapping) else sum(hand)
            yield f"Player {number} holds {pluralize(size, 'card')}.", False
        yield f"Your hand: {card_counts(after['seats'][viewer]['hand'])}.", True
        return
    for number, (then, now) in enumerate(zip(before["seats"], after["seats"], strict=True)):
        for sentence in _seat_events(f"Player {number}", then, now):
            yield sentence, False
    for sentence in _table_events(before, after):
        yield sentence, False


def _seat_events(who: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes of a player's area."""
    for tile in now["tiles"][len(then["tiles"]) :]:
        yield (
            f"The tile {tile['colour']} {tile['size']} of {who.lower()} covers {cells_text(tile['cells'])}, with its "
            f"brick on {cell_name(tile['brick'])}."
        )
    if now["points"] != then["points"]:
        yield f"{who} scores {pluralize(now['points'] - then['points'], 'point')} and has {now['points']}."
    if now["used"] != then["used"]:
        yield f"The used abilities of {who.lower()}: {abilities_text(now['used'])}."


def _table_events(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes of the display, the piles and the turn."""
    pairs = zip(before["discard_pile"], after["discard_pile"], strict=True)
    discarded = [max(0, now - then) for then, now in pairs]
    if any(discarded):
        yield f"To the discard pile: {card_counts(discarded)}."
    if after["pending"].get("rewards", 0) > before["pending"].get("rewards", 0):
        yield f"Rewards pending: {after['pending']['rewards']}."
    if after["draw_pile"] > before["draw_pile"] or ("reshuffled" in after and "reshuffled" not in before):
        yield "The discard pile is shuffled into a new draw pile, with the End of Game card."
    if after["display"] != before["display"]:
        yield f"The display by slot: {display_text(after['display'])}."
    if after["draw_pile"] != before["draw_pile"]:
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}."
    if before["end_card"] and not after["end_card"]:
        yield "The End of Game card is drawn."
    if after["done"]:
        yield "The game is over."
        return
    if after["round"] != before["round"]:
        yield f"Round {after['round']} begins."
    if after["to_move"] != before["to_move"]:
        yield f"It is the turn of player {after['to_move']}."
