"""Is a suspect what it seems? Fresh games, looked at deck by deck until they decide, or until there are no more.

The strongest player meets itself; one seat is handicapped: denied the action, the only one that has it, or made to use
it as soon as it may. What counts is its share of the wins against the fair share. The first two are tested: is the
action worth the mean power of all actions, or a point more (less, for a weak one)? See `agents.rating.sequential`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from agents.arena.designs import as_sets
from agents.arena.load import Table
from agents.balance.effects import estimate
from agents.helsinki.balance.screen import study_of
from agents.helsinki.balance.study import Confirmation, StudyConfig, Suspect, screen_table
from agents.rating.sequential import Hypotheses, State, evaluate, log_ratios
from agents.standing import by_deck, win_shares
from helsinki_env.games.helsinki.components import ACTIONS

__all__ = ["WAYS", "Confirmed", "confirmed", "suspects"]

Array = npt.NDArray[np.float64]

WAYS = ("denied", "alone", "forced")
"""How one seat is handicapped."""
#: Points of the share of wins that suspects must be from the mean.
_APART = 1.0
_STEPS = 100


@dataclass(frozen=True)
class Confirmed:
    """What fresh games say of a suspect in one way.

    Attributes:
        worth: what having the action (being made to use it early, for "forced") is worth, in points of the share of
            wins of a hundred.
        error: its standard error, from how decks differ.
        decks: that were played.
        test: where the sequential test stopped; None for "forced", which is not tested.
        path: its log ratio after some of the decks, float64 (N, 2): decks, log ratio.
        bounds: at which it stops.
    """

    worth: float
    error: float
    decks: int
    test: State | None
    path: Array
    bounds: tuple[float, float]


def _worth_by_deck(table: Table, suspect: Suspect, way: str) -> Array:
    """What each deck says the action is worth, as a share of wins, float64 (D,), in the order of the decks."""
    seats = table.places.shape[1]
    if way == "forced":
        special = table.seating == 0
    else:
        special = as_sets(table.denied)[..., ACTIONS.index(suspect.action)] == (way == "denied")
    won = (win_shares(table.places) * special).sum(axis=1) - special.sum(axis=1) / seats
    means = by_deck(won, table.deck)
    return -means if way == "denied" else means


def confirmed(table: Table, suspect: Suspect, way: str, config: Confirmation) -> Confirmed:
    """Return what a table says of a suspect.

    Args:
        table: its games.
        suspect: the action.
        way: one of `WAYS`.
        config: of the test.
    """
    worth = _worth_by_deck(table, suspect, way)
    sign = 1.0 if suspect.above else -1.0
    # The test wants scores from 0 to 1: halves of shares around a half.
    low = 0.5 + sign * suspect.mean / 200
    hypotheses = Hypotheses(low, low + _APART / 200, config.error, config.error, max(16, config.decks))
    scores = 0.5 + sign * worth / 2
    steps = np.unique(np.linspace(1, len(worth), min(len(worth), _STEPS)).round().astype(np.int64))
    ratios = log_ratios(scores, hypotheses)
    return Confirmed(
        worth=100 * float(worth.mean()),
        error=100 * float(worth.std(ddof=1)) / sqrt(len(worth)),
        decks=len(worth),
        test=None if way == "forced" else evaluate(scores, hypotheses),
        path=np.stack([steps, ratios[steps - 1]], axis=1),
        bounds=hypotheses.bounds,
    )


def suspects(config: StudyConfig, screen: Sequence[Table], left_out: Container[str] = ()) -> list[Suspect]:
    """Return the actions that lie farthest from the mean, for every number of players, for who plays about them.

    Args:
        config: the study.
        screen: its games.
        left_out: who may not judge; if nobody else is there they play all the same.
    """
    found = []
    tables = {table.name: table for table in screen}
    for n in config.players:
        names = config.names(n)
        player = ([one for one in names if one not in left_out] or names)[-1]
        if config.confirm.player in names:
            player = config.confirm.player
        power = estimate(study_of(tables[screen_table(player, n)])).power
        mean = float(power.mean())
        for action in np.argsort(-np.abs(power - mean), kind="stable")[: config.confirm.suspects].tolist():
            found.append(Suspect(n, player, ACTIONS[action], bool(power[action] > mean), mean))
    return found
