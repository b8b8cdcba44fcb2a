"""Positions of all games as plain data, and Helsinki's actions as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helsinki_env.data import short_repr
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import default_spec, spec_by_name
from helsinki_env.games.helsinki.notation import action_to_string, card_to_string, string_to_action

__all__ = ["action_to_string", "card_to_string", "from_dict", "string_to_action", "to_dict"]


def to_dict(game: BoardGame, seat: int | None = None) -> dict[str, Any]:
    """Return a game as plain data for JSON.

    Args:
        game: a game of Helsinki or Copenhagen.
        seat: observing seat; None for the whole position.

    Raises:
        ValueError: for an invalid seat, or a game that does not support positions.
    """
    if game.spec.to_dict is None:
        raise ValueError(f"game: found {short_repr(game.spec.name)}, expected a game with positions")
    return game.spec.to_dict(game, seat)


def from_dict(position: Mapping[str, Any]) -> BoardGame:
    """Return the game from the output of `to_dict`, with the same random state; the key `game` names the kind of game.

    Raises:
        PositionError: (a ValueError) for an invalid position; names the key, the value found and the expected value.
        ValueError: for an unknown game, or one that does not support positions.
    """
    name = position.get("game") if isinstance(position, Mapping) else None
    spec = default_spec() if name is None else spec_by_name(name)  # without a name, the default game reports the error
    if spec.from_dict is None:
        raise ValueError(f"game: found {short_repr(name)}, expected a game with positions")
    game: BoardGame = spec.from_dict(position)
    return game
