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

__all__ = ["check_games", "compare"]


def check_games(games: ChunkGames) -> None:
    """Check what came out of games against what was planned, and one part of it against the other.

    Raises:
        ArenaError: naming the game, what was found there and what is expected.
    """
    planned, played = games.schedule, games.played
    compare("places, which follow from scores,", played.places, _places(played.scores, played.places), planned.game)
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


def _places(scores: npt.NDArray[np.integer], places: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return how many seats did better than each, (G, S): they have more points, or as many and a better place."""
    more, equal = (compared(scores[:, None], scores[..., None]) for compared in (np.greater, np.equal))
    better: npt.NDArray[np.int64] = (more | equal & (places[:, None] < places[..., None])).sum(axis=2)
    return better
