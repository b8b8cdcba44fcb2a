"""Starting points of a table's game: a deal, an action of a saved game, or a position."""

from __future__ import annotations

import json
import secrets
from typing import Any, NamedTuple

from helsinki_env.engine.game import BoardGame
from helsinki_env.notation import to_dict
from helsinki_env.web.records import SavedGame

__all__ = ["GameStart", "start_from_saved"]


class GameStart(NamedTuple):
    """The start of a game, as `Table` takes it.

    Attributes:
        config: game configuration.
        seed: seed of the deal and of the players' random keys.
        past_actions: actions already taken, each (seat, action, words).
        start: JSON of the position before those actions; empty for the game that the seed deals.
    """

    config: Any
    seed: int
    past_actions: tuple[tuple[int, int, str], ...] = ()
    start: str = ""


def start_from_saved(study: SavedGame, decisions: int) -> GameStart:
    """Return the starting point of a game that continues a saved one.

    Args:
        study: the saved game or position.
        decisions: number of its actions that are already taken.

    Raises:
        ValueError: if the game has fewer actions, or is over after them.
    """
    if study.after(decisions).done:
        raise ValueError(f"decisions: found {decisions}, after which the game is over; expected fewer")
    record, config = study.record, study.begin.config
    told = _told(study.begin, study.decisions[:decisions])
    if record is not None and not record.stream and not record.episode:
        return GameStart(config, record.seed, told)
    seed = secrets.randbits(63) if record is None else record.seed
    return GameStart(config, seed, told, json.dumps(to_dict(study.begin)))


def _told(begin: BoardGame, actions: tuple[int, ...]) -> tuple[tuple[int, int, str], ...]:
    """Return actions with their seats and descriptions."""
    game, told = begin.clone(), []
    for action in actions:
        touches = game.spec.list_ui_actions(game, game.seat) if game.spec.list_ui_actions else ()
        said = next((touch.said for touch in touches if touch.id == action), "")
        told.append((game.seat, action, said))
        game.step(action)
    return tuple(told)
