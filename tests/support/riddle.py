"""A position in the last round that only an action without points wins."""

from __future__ import annotations

from functools import cache
from typing import Any

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.games.helsinki import notation

#: The first seat's northern row lacks two cells, the second's three; below them lies what a tile comes to rest on.
#: The first has room for a tile of three, too, where it brings nothing.
_BOARDS: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...] = (
    (("green", (0, 1, 2)), ("yellow", (5, 6)), ("red", (10, 17)), ("green", (39, 46))),
    (("yellow", (0, 1)), ("yellow", (5, 6)), ("red", (9, 10))),
)
#: Cards by seat, all seen by everybody: something for the gap in each row, and purple cards to pay with.
_HANDS = (("blue 1/2", "purple 2/3", "purple 4/4+1"), ("purple 3/3+1", "purple 3/4", "purple 5/4+2"))


@cache
def _position() -> dict[str, Any]:
    game = HelsinkiGame(HelsinkiConfig(denied=[range(15), range(15)]), seed=1)
    game.step(0)
    position: dict[str, Any] = notation.to_dict(game)
    types = game.config.component_set.types
    left = [*position["draw_pile"], *(card for card in position["display"] if card is not None)]
    left += [card for seat in position["seats"] for card, count in enumerate(seat["hand"]) for _ in range(count)]
    hands = [
        [notation.string_to_action(f"PAY {name}") - notation.string_to_action("PAY blue 1/2") for name in hand]
        for hand in _HANDS
    ]
    for card in [card for hand in hands for card in hand]:
        left.remove(card)
    for seat, hand, board, token, points in zip(position["seats"], hands, _BOARDS, (0, 6), (5, 4), strict=True):
        cells = [cell for _, tile in board for cell in tile]
        counts = [hand.count(card) for card in range(types)]
        seat.update(
            hand=counts,
            known=counts,
            pavilions=[{"colour": colour, "roofs": len(tile), "cells": list(tile)} for colour, tile in board],
            coats_on_board=[cell for cell in seat["coats_on_board"] if cell not in cells],
            token=token,
            points=points,
        )
        for colour, tile in board:
            position["tile_supply"][colour][len(tile) - 2] -= 1
    position["tile_supply"]["purple"][1] = 1
    display = [left.pop() for _ in range(8)]
    position.update(
        phase="MAIN",
        to_move=0,
        round=15,
        last_round=True,
        draw_pile=[],
        display=display,
        discard_pile=[left.count(card) for card in range(types)],
        pending={},
    )
    return position


def riddle() -> tuple[HelsinkiGame, int, int]:
    """Return a game, the one decision that wins it, and the one that looks best.

    The first seat leads by a point and stands in the north; this is its last turn, the other's comes after it. Filling
    its row brings two points. But then the other fills its own with the last purple tile of three roofs and puts a
    superstructure on it, which brings three, and a tie is the later seat's. The player who takes that tile away wins.
    """
    game = notation.from_dict(_position())
    return game, notation.string_to_action("BUILD purple 2/3"), notation.string_to_action("BUILD blue 1/2")
