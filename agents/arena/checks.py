"""Whether games are those of a plan: who sat where, which decks were dealt, and what must follow from what.

A checksum says that a file is the one that was written. This says that what is written there can be what was planned,
whoever wrote it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.arena.chunk import ChunkGames
from agents.arena.plan import ArenaError
from agents.play import Outcome
from helsinki_env.engine.spec import GameSpec, spec_of

__all__ = ["check_games", "compare"]


def check_games(games: ChunkGames, config: Any) -> None:
    """Check what came out of games of a configuration against what was planned, and one part of it against the other.

    Raises:
        ArenaError: naming the game, what was found there and what is expected.
    """
    planned, played = games.schedule, games.played
    compare("places, which follow from scores,", played.places, _places(played, spec_of(config)), planned.game)
    barred = planned.barred.denied | planned.barred.covered[:, None]
    compare("used actions, which leave out what is barred,", played.used, played.used & ~barred, planned.game)
    taken = np.array([len(decisions) for decisions in played.decisions])
    compare("sum of seat_decisions", played.seat_decisions.sum(axis=1), taken, planned.game)


def compare(what: str, found: npt.NDArray[Any], expected: npt.NDArray[Any], game: npt.NDArray[np.int64]) -> None:
    """Check that games have the values that are expected.

    Args:
        what: they are, for the message.
        found: the values, (G,) or (G, S).
        expected: likewise.
        game: number of each game, (G,).

    Raises:
        ArenaError: naming the first game that has others.
    """
    wrong = np.asarray(found != expected)
    if wrong.any():
        g = int(np.flatnonzero(wrong.reshape(len(game), -1).any(axis=1))[0])
        there, planned = (values[g : g + 1].tolist()[0] for values in (found, expected))
        raise ArenaError(f"game {game[g]}: {what} {there!r:.100}, expected {planned!r:.100}")


def _places(played: Outcome, spec: GameSpec) -> npt.NDArray[np.int64]:
    """Return the places of games, (G, S), that follow from their points, and from `played.places` where those are even.

    Where points alone decide they follow from nothing else; otherwise a seat has as many before it as have more points,
    or as many and a better place.
    """
    scores, places = played.scores, played.places
    if spec.places is not None:
        return spec.places(scores)
    more, equal = (compared(scores[:, None], scores[..., None]) for compared in (np.greater, np.equal))
    better: npt.NDArray[np.int64] = (more | equal & (places[:, None] < places[..., None])).sum(axis=2)
    return better
