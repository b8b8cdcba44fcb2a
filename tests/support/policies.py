"""Policies that reach the rare parts of the rules."""

from __future__ import annotations

import random
from collections.abc import Sequence

from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from tests.oracles.helsinki import ReferenceGame, decode

STYLES = ("uniform", "eager", "rare", "builder")
"""uniform: all alike; eager: builds and spends coats; rare: spends coats wherever it can, on what is seldom possible
first; builder: builds, and spends coats only to build more."""

_COMMON_USES = ("two_points", "move_back", "move_1_to_5", "move_1_to_6")
_BUILDING_USES = ("one_card_fewer", "any_card_as_wild", "any_side", "draw_and_build", "second_pavilion")


def choose(rng: random.Random, style: str, game: ReferenceGame, legal: Sequence[int]) -> int:
    """Return one of the legal actions."""
    if len(legal) == 1:
        return legal[0]
    if style == "uniform" or rng.random() < 0.15:
        return rng.choice(legal)
    if game.config.dry_roads and game.phase in ("WILD", "PLACE") and rng.random() < 0.8:
        winning = _taking_bonus(game, legal)
        if winning is not None:
            return winning
    kinds = [decode(action, game.components.types) for action in legal]
    weights = [_weight(style, kind, argument) for kind, argument in kinds]
    return rng.choices(legal, weights)[0]


def _weight(style: str, kind: str, argument: int) -> float:
    if kind == "BUILD":
        return {"eager": 3.0, "rare": 2.0, "builder": 8.0}[style]
    if kind != "USE":
        return 1.0
    name = BOARD_ACTIONS[argument]
    if style == "builder":
        return 8.0 if name in _BUILDING_USES else 0.2
    if style == "eager":
        return 1.0 if name in _COMMON_USES else 3.0
    return 2.0 if name in _COMMON_USES else 12.0


def _taking_bonus(game: ReferenceGame, legal: Sequence[int]) -> int | None:
    """Return an action that completes the roads of the acting seat, if there is one."""
    me = game.seats[game.seat]
    goals = set(game.components.crosswalks)
    if me.bonus is not None or not game.bonus_cards or len(goals - me.roofs()) > 2:
        return None
    for action in legal:
        kind, argument = decode(action, game.components.types)
        if kind in ("WILD", "PLACE"):
            after = game.clone()
            after.apply((kind, argument))
            if after.seats[game.seat].bonus is not None:
                return action
    return None
