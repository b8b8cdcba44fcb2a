"""Games taken apart: what a player that judges thinks of every decision, and what each has cost.

Each decision is judged by what the seat that took it saw then, not by cards that turned up later.

    >>> from agents.match import play_match
    >>> record = next(play_match(["random", "random"], games=2).records())
    >>> analysis = analyse(record)
    >>> len(analysis.judgement.shares) == len(record.decisions) + 1
    True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import seat_word
from agents.opinion import DEFAULT_JUDGE, Opinion, opinions
from agents.registry import make_player
from helsinki_env.play.film import Judgement
from helsinki_env.play.page import frame, page
from helsinki_env.play.record import Record, positions

__all__ = ["CHUNK", "Analysis", "analyse", "judged", "questions"]

CHUNK = 16
"""Decisions that are judged in one go; between two of them is told how far it got."""


@dataclass(frozen=True)
class Analysis:
    """A game, and what is thought of its decisions.

    Attributes:
        record: the game.
        judgement: of its decisions.
    """

    record: Record
    judgement: Judgement

    def _repr_html_(self) -> str:
        """Show the game with its graph in a notebook."""
        return frame(page(self.record, self.judgement))


def questions(record: Record) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.uint64]]:
    """Return what the seat to move gets before each of the D decisions of a record.

    The random words are those of a table with that seed in `helsinki play`.

    Returns:
        Observations int8 (D, F), legal decisions int8 (D, A), random words uint64 (D,).

    Raises:
        RecordError: if the record cannot be replayed.
    """
    size, ids = record.spec.features(record.config), record.spec.ids(record.config)
    before = [game for game, action in positions(record) if action is not None]
    observations, masks = np.zeros((len(before), size), np.int8), np.zeros((len(before), ids), np.int8)
    words, decided = np.zeros(len(before), np.uint64), [0] * len(record.players)
    for i, game in enumerate(before):
        observations[i], masks[i] = game.observation(), game.legal_mask()
        words[i] = seat_word(record.seed, game.seat, decided[game.seat])
        decided[game.seat] += 1
    return observations, masks, words


def judged(record: Record, opinions: Sequence[Opinion], judge: str) -> Judgement:
    """Return what opinions say of the decisions of a record.

    Args:
        record: the game.
        opinions: of each of its D decisions; what was decided costs something only where it was looked at (`also`).
        judge: the name of the player whose opinions they are.
    """
    costs, better = [], []
    for opinion, action in zip(opinions, record.decisions, strict=True):
        cost = opinion.cost(action) if len(opinion.actions) > 1 else None
        costs.append(cost)
        better.append(opinion.best if cost else None)
    rows = [*(opinion.expected for opinion in opinions), _at_the_end(record, opinions)]
    return Judgement(judge, tuple(tuple(row.tolist()) for row in rows), tuple(costs), tuple(better))


def _at_the_end(record: Record, opinions: Sequence[Opinion]) -> npt.NDArray[np.float64]:
    """Return every seat's share of the win after the last decision, float64 (n,)."""
    if record.places is not None:
        first = np.array(record.places) == 0
        return np.where(first, 1 / first.sum(), 0.0)
    if not opinions:
        return np.full(len(record.players), 1 / len(record.players))
    after = opinions[-1].after(record.decisions[-1])
    return opinions[-1].expected if np.isnan(after).any() else after


def analyse(
    record: Record, judge: str = DEFAULT_JUDGE, *, progress: Callable[[int, int], None] | None = None
) -> Analysis:
    """Return what a player thinks of every decision of a game.

    Args:
        record: the game; it need not have been played to its end.
        judge: the name of a player that tells its opinion, such as ``"net"`` or ``"net+search:100"``.
        progress: is told from time to time how many decisions have been judged, and of how many.

    Raises:
        RecordError: if the record cannot be replayed.
        ValueError: if the player cannot judge or does not fit the game.
        MissingExtraError: if it needs a package that is not installed.
    """
    player = make_player(judge, record.config)
    observations, masks, words = questions(record)
    decided, found = np.array(record.decisions, np.int64), list[Opinion]()
    for first in range(0, len(decided), CHUNK):
        rows = slice(first, first + CHUNK)
        found += opinions(player, record.config, observations[rows], masks[rows], words[rows], decided[rows])
        if progress is not None:
            progress(len(found), len(decided))
    return Analysis(record, judged(record, found, judge))
