"""Where the game of a table begins: with a deal, at a decision of a game that is kept, or from a position."""

from __future__ import annotations

import json
import secrets
from typing import Any, NamedTuple

from helsinki_env.engine.game import BoardGame
from helsinki_env.notation import to_dict
from helsinki_env.web.records import Study

__all__ = ["Begun", "begun_from"]


class Begun(NamedTuple):
    """How a game begins, as `Table` takes it.

    Attributes:
        config: what is played.
        seed: of the deck and of the players' chance.
        told: decisions that are taken already, (seat, action, words) each.
        start: JSON of the position before them; empty: the game that the seed deals.
    """

    config: Any
    seed: int
    told: tuple[tuple[int, int, str], ...] = ()
    start: str = ""


def begun_from(study: Study, decisions: int) -> Begun:
    """Return how a game begins that goes on from one that is kept.

    Args:
        study: that game, or a position.
        decisions: how many of its decisions are taken already.

    Raises:
        ValueError: if there are not so many, or the game is over after them.
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
    """Return decisions with whose they were, in words."""
    game, told = begin.clone(), []
    for action in actions:
        touches = game.spec.touches(game, game.seat) if game.spec.touches else ()
        said = next((touch.said for touch in touches if touch.id == action), "")
        told.append((game.seat, action, said))
        game.step(action)
    return tuple(told)
