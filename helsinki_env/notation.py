"""Positions of every game as plain data, and Helsinki's decisions as text, under the name that users know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helsinki_env.data import shown
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_named, usual_spec
from helsinki_env.games.helsinki.notation import card_name, describe, parse

__all__ = ["card_name", "describe", "from_dict", "parse", "to_dict"]


def to_dict(game: BoardGame, seat: int | None = None) -> dict[str, Any]:
    """Return a game as plain data for JSON.

    Args:
        game: the game, of Helsinki or Copenhagen.
        seat: None for the whole position; else a copy with only what this seat may see.

    Raises:
        ValueError: if there is no such seat, or positions of this game cannot be written.
    """
    if game.spec.to_dict is None:
        raise ValueError(f"game: found {shown(game.spec.name)}, whose positions cannot be written")
    return game.spec.to_dict(game, seat)


def from_dict(position: Mapping[str, Any]) -> BoardGame:
    """Return the game that `to_dict` wrote, of which its key `game` tells; both go on alike.

    Raises:
        PositionError: (a ValueError) naming the key, what stood there and what was expected.
        ValueError: if there is no such game, or its positions cannot be read.
    """
    name = position.get("game") if isinstance(position, Mapping) else None
    spec = usual_spec() if name is None else spec_named(name)  # without a name the usual game says what is missing
    if spec.from_dict is None:
        raise ValueError(f"game: found {shown(name)}, whose positions cannot be read")
    game: BoardGame = spec.from_dict(position)
    return game
