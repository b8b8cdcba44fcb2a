"""Positions of all games as plain data, and Helsinki's actions as text."""

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
        game: a game of Helsinki or Copenhagen.
        seat: None for the whole position; else only what this seat may see.

    Raises:
        ValueError: for an invalid seat, or a game that does not support positions.
    """
    if game.spec.to_dict is None:
        raise ValueError(f"game: found {shown(game.spec.name)}, whose positions cannot be written")
    return game.spec.to_dict(game, seat)


def from_dict(position: Mapping[str, Any]) -> BoardGame:
    """Return the game from the output of `to_dict`, with the same random state; the key `game` names the game.

    Raises:
        PositionError: (a ValueError) names the key, the value found and the expected value.
        ValueError: for an unknown game, or one that does not support positions.
    """
    name = position.get("game") if isinstance(position, Mapping) else None
    spec = usual_spec() if name is None else spec_named(name)  # without a name, the default game reports the error
    if spec.from_dict is None:
        raise ValueError(f"game: found {shown(name)}, whose positions cannot be read")
    game: BoardGame = spec.from_dict(position)
    return game
