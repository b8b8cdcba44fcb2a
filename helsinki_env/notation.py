"""Positions of both games as JSON-serializable data, and text notation for actions in Helsinki."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helsinki_env.data import short_repr
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import default_spec, spec_by_name
from helsinki_env.games.helsinki.notation import action_to_string, card_to_string, string_to_action

__all__ = ["action_to_string", "card_to_string", "from_dict", "string_to_action", "to_dict"]


def to_dict(game: BoardGame, seat: int | None = None) -> dict[str, Any]:
    """Convert a game to JSON-serializable data.

    Args:
        game: a game of Helsinki or Copenhagen.
        seat: observing seat; None returns the whole position.

    Raises:
        ValueError: for an invalid seat, or for a game that does not support positions.
    """
    if game.spec.to_dict is None:
        raise ValueError(f"game: found {short_repr(game.spec.name)}, expected a game with positions")
    return game.spec.to_dict(game, seat)


def from_dict(position: Mapping[str, Any]) -> BoardGame:
    """Recreate a game, including its random state, from the output of `to_dict`; the `game` key names the game type.

    Raises:
        PositionError: (a ValueError) for an invalid position; names the key, the value found and the value expected.
        ValueError: for an unknown game type, or one that does not support positions.
    """
    name = position.get("game") if isinstance(position, Mapping) else None
    spec = default_spec() if name is None else spec_by_name(name)  # the default game reports a missing name
    if spec.from_dict is None:
        raise ValueError(f"game: found {short_repr(name)}, expected a game with positions")
    game: BoardGame = spec.from_dict(position)
    return game
