"""Positions in the last turn of a game in which the best action is obvious."""

from __future__ import annotations

from typing import Any

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

#: A board whose northern row lacks the cells 3 and 4; below them lies what a tile from the north comes to rest on.
_BOARD: tuple[dict[str, Any], ...] = (
    {"colour": "green", "roofs": 3, "cells": [0, 1, 2]},
    {"colour": "yellow", "roofs": 2, "cells": [5, 6]},
    {"colour": "purple", "roofs": 2, "cells": [10, 11]},
)
#: The card that shows two roofs in a straight line and is paid with nothing but itself.
BLUE_PAIR = 0


def last_turn(
    players: int,
    phase: str,
    *,
    token: int = 0,
    cards: tuple[int, ...] = (),
    meadow: int = 0,
    open_actions: tuple[str, ...] = (),
    drew: bool = False,
) -> HelsinkiGame:
    """Return a game in the very last turn, with a row that lacks two cells.

    Args:
        players: 2 to 4; the last seat is to move.
        phase: MOVE, MAIN or END.
        token: space of the seat to move.
        cards: its hand, by type.
        meadow: its coats of arms.
        open_actions: the actions that it has not used; all others are denied to it.
        drew: whether it has drawn in this turn.
    """
    seat = players - 1
    denied: list[list[int]] = [[] for _ in range(players)]
    denied[seat] = [action for action, name in enumerate(BOARD_ACTIONS) if name not in open_actions]
    game = HelsinkiGame(HelsinkiConfig(num_players=players, denied=denied), seed=1)
    game.step(0)
    position: dict[str, Any] = notation.to_dict(game)
    me = position["seats"][seat]
    left = [*position["draw_pile"], *(card for other in position["seats"] for card in _cards(other["hand"]))]
    for card in cards:
        if card not in left:  # it lies in the display: another card does instead
            slot = position["display"].index(card)
            position["display"][slot] = left.pop()
            left.append(card)
        left.remove(card)
    types = len(me["hand"])
    for other in position["seats"]:
        other.update(hand=[0] * types, known=[0] * types)
    built = {cell for tile in _BOARD for cell in tile["cells"]}
    me.update(
        hand=[cards.count(card) for card in range(types)],
        token=token,
        meadow=meadow,
        pavilions=[dict(tile) for tile in _BOARD],
        coats_on_board=[cell for cell in me["coats_on_board"] if cell not in built],
    )
    for tile in _BOARD:
        position["tile_supply"][tile["colour"]][tile["roofs"] - 2] -= 1
    position.update(
        phase=phase,
        to_move=seat,
        round=15,
        last_round=True,
        draw_pile=[],
        discard_pile=[left.count(card) for card in range(types)],
        pending={"drew": True} if drew else {},
    )
    return notation.from_dict(position)


def _cards(hand: list[int]) -> list[int]:
    return [card for card, count in enumerate(hand) for _ in range(count)]


#: Makes a game in its last turn; returns it and the points that the seat to move can still make.
ENDINGS = {
    "build what is missing": lambda: (last_turn(2, "MAIN", cards=(BLUE_PAIR,)), 2),
    "move to where it can be built": lambda: (last_turn(3, "MOVE", token=7, cards=(BLUE_PAIR,)), 2),
    "move as far as it takes": lambda: (last_turn(4, "MOVE", token=5, cards=(BLUE_PAIR,)), 2),
    "pay for a longer move": lambda: (
        last_turn(2, "MOVE", token=2, cards=(BLUE_PAIR,), meadow=1, open_actions=("move_1_to_6",)),
        2,
    ),
    "pay for a move back": lambda: (
        last_turn(3, "MOVE", token=1, cards=(BLUE_PAIR,), meadow=1, open_actions=("move_back",)),
        2,
    ),
    "pay for another side": lambda: (
        last_turn(4, "MAIN", token=4, cards=(BLUE_PAIR,), meadow=1, open_actions=("any_side",)),
        2,
    ),
    "pay with a coat instead of a card": lambda: (
        last_turn(2, "MAIN", cards=(BLUE_PAIR + 1,), meadow=1, open_actions=("one_card_fewer",)),
        3,  # and a superstructure in the row
    ),
    "fill the row with wild tiles": lambda: (
        last_turn(3, "MAIN", token=4, meadow=1, open_actions=("two_wild_tiles",)),
        2,
    ),
    "a row and points": lambda: (
        last_turn(4, "MAIN", token=0, cards=(BLUE_PAIR,), meadow=1, open_actions=("two_points", "any_side")),
        4,
    ),
    "a last coat for points": lambda: (last_turn(2, "END", meadow=1, open_actions=("two_points",), drew=True), 2),
    "a last coat for points, with others": lambda: (
        last_turn(4, "END", meadow=1, open_actions=("two_points",), drew=True),
        2,
    ),
}
