"""The consequences of an action of Helsinki in words, from what one seat saw before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.helsinki.components import Components
from helsinki_env.games.helsinki.text.position_text import card_counts, cells_text, display_text

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
        yield f"The display by slot: {display_text(after['display'], components)}.", False
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
    """Return the increase of each count, at least 0."""
    return [max(0, new - old) for old, new in zip(then, now, strict=True)]


def _known(seat: Mapping[str, Any]) -> list[int]:
    """Return the cards in a hand that everybody knows, by card type."""
    known: list[int] = seat["hand"]["known"] if isinstance(seat["hand"], Mapping) else seat["known"]
    return known


def _size(seat: Mapping[str, Any]) -> int:
    size: int = seat["hand"]["size"] if isinstance(seat["hand"], Mapping) else sum(seat["hand"])
    return size


def _seat_events(
    number: int, then: Mapping[str, Any], now: Mapping[str, Any], components: Components, viewer: int
) -> Iterator[tuple[str, bool]]:
    """Yield the changes of a player's area."""
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
    shown = _gain(_known(then), _known(now))
    unseen = _size(now) - _size(then) - sum(shown)
    if any(shown):
        yield f"{who} takes, seen by everybody: {card_counts(shown, components)}.", False
    if unseen > 0:
        yield f"{who} draws {pluralize(unseen, 'card')} from the draw pile.", False
        if number == viewer:
            drawn = _gain(shown, _gain(then["hand"], now["hand"]))
            yield f"You draw {card_counts(drawn, components)}.", True
    if now["limit_lifted"] != then["limit_lifted"]:
        yield f"The hand limit of player {number} {'is lifted' if now['limit_lifted'] else 'applies again'}.", False


def _table_events(
    before: Mapping[str, Any], after: Mapping[str, Any], components: Components
) -> Iterator[tuple[str, bool]]:
    """Yield the changes of the display and the piles."""
    discarded = _gain(before["discard_pile"], after["discard_pile"])
    if any(discarded):
        yield f"To the discard pile: {card_counts(discarded, components)}.", False
    if after["display"] != before["display"]:
        yield f"The display by slot: {display_text(after['display'], components)}.", False
    if sum(after["discard_pile"]) < sum(before["discard_pile"]) or after["draw_pile"] > before["draw_pile"]:
        yield "The discard pile is shuffled into a new draw pile.", False
    if after["draw_pile"] != before["draw_pile"]:
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}.", False
