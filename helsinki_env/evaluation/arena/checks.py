"""Check games against their plan: seating, deals, and the consistency of the results.

A checksum only shows that a file is the one that was written. These checks show that its content is possible under the
plan, no matter which program wrote it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.evaluation.arena.plan import ArenaError
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames
from helsinki_env.evaluation.play import GameResults

__all__ = ["check_equal", "validate_games"]


def validate_games(games: WorkUnitGames, config: Any) -> None:
    """Check the results of games against the plan and against each other.

    Raises:
        ArenaError: names the game, the value found and the value expected.
    """
    planned, played = games.schedule, games.played
    check_equal("places, which follow from scores,", played.places, _places(played, spec_of(config)), planned.game)
    barred = planned.disabled.denied | planned.disabled.covered[:, None]
    check_equal("used actions, which leave out what is barred,", played.used, played.used & ~barred, planned.game)
    taken = np.array([len(decisions) for decisions in played.decisions])
    check_equal("sum of seat_decisions", played.seat_decisions.sum(axis=1), taken, planned.game)


def check_equal(what: str, found: npt.NDArray[Any], expected: npt.NDArray[Any], game: npt.NDArray[np.int64]) -> None:
    """Check that games have the expected values.

    Args:
        what: name of the values, for the message.
        found: the values, (G,) or (G, S).
        expected: the expected values, same shape.
        game: number of each game, (G,).

    Raises:
        ArenaError: names the first game that differs.
    """
    wrong = np.asarray(found != expected)
    if wrong.any():
        g = int(np.flatnonzero(wrong.reshape(len(game), -1).any(axis=1))[0])
        there, planned = (values[g : g + 1].tolist()[0] for values in (found, expected))
        raise ArenaError(f"game {game[g]}: {what} {there!r:.100}, expected {planned!r:.100}")


def _places(played: GameResults, spec: GameSpec) -> npt.NDArray[np.int64]:
    """Return the ranks of games, (G, S), that follow from their points.

    In games with a tiebreaker, `played.places` decides between seats with equal points. A seat's rank is then the
    number of seats with more points, or with equal points and a better place.
    """
    scores, places = played.scores, played.places
    if spec.ranks is not None:
        return spec.ranks(scores)
    more, equal = (compared(scores[:, None], scores[..., None]) for compared in (np.greater, np.equal))
    better: npt.NDArray[np.int64] = (more | equal & (places[:, None] < places[..., None])).sum(axis=2)
    return better
