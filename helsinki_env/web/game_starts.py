"""Starting points of a table's game: a deal, an action of a saved game, or a position."""

from __future__ import annotations

import json
import secrets
from typing import Any, NamedTuple

from helsinki_env.engine.game import BoardGame
from helsinki_env.notation import to_dict
from helsinki_env.web.records import Study

__all__ = ["Begun", "begun_from"]


class Begun(NamedTuple):
    """The start of a game, as `Table` takes it.

    Attributes:
        config: game configuration.
        seed: seed of the deal and of the players' random keys.
        told: actions already taken, each (seat, action, words).
        start: JSON of the position before those actions; empty for the game that the seed deals.
    """

    config: Any
    seed: int
    told: tuple[tuple[int, int, str], ...] = ()
    start: str = ""


def begun_from(study: Study, decisions: int) -> Begun:
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
        return Begun(config, record.seed, told)
    seed = secrets.randbits(63) if record is None else record.seed
    return Begun(config, seed, told, json.dumps(to_dict(study.begin)))


def _told(begin: BoardGame, actions: tuple[int, ...]) -> tuple[tuple[int, int, str], ...]:
    """Return actions with their seats and descriptions."""
    game, told = begin.clone(), []
    for action in actions:
        touches = game.spec.touches(game, game.seat) if game.spec.touches else ()
        said = next((touch.said for touch in touches if touch.id == action), "")
        told.append((game.seat, action, said))
        game.step(action)
    return tuple(told)
