"""What the search players can be told, as one record for kernels."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SETTINGS_DTYPE", "MonteCarloSettings", "settings_record"]


@dataclass(frozen=True)
class MonteCarloSettings:
    """How the search players search.

    Attributes:
        turns: a playout ends when the searching seat is about to move for the so-manyth time, and is then judged.
        lead: points that make one unit of the logistic model of winning in the last turn.
        lead_growth: how much that grows with the square root of the turns left.
        arms: decisions that enter the race, as a multiple of the root of the budget (flat search).
        trust: playouts that the heuristic's own opinion counts for (flat search).
        explore: weight of the bonus for what was tried little (tree).
        temperature: points by which a decision must be better to be e times as likely at first (tree).
        widen: the number of tried decisions grows with visits to this power (tree).
        widen_others: the same where another seat decides (tree).
        catch_up: part of the trials left that the decision visited second most may still gain on the first (tree): if
            that is not enough, the search is over. 1: all of them, when nothing can change any more.
    """

    turns: float = 3.0
    lead: float = 1.0
    lead_growth: float = 1.5
    arms: float = 0.7
    trust: float = 50.0
    explore: float = 0.5
    temperature: float = 0.5
    widen: float = 0.6
    widen_others: float = 0.4
    catch_up: float = 0.4


SETTINGS_DTYPE = np.dtype((np.record, [(item.name, np.float64) for item in fields(MonteCarloSettings)]))
"""The settings as kernels see them."""


def settings_record(settings: MonteCarloSettings) -> npt.NDArray[Any]:
    """Return settings as an array of one record, shape (1,), dtype `SETTINGS_DTYPE`."""
    record = np.zeros(1, SETTINGS_DTYPE)
    for item in fields(MonteCarloSettings):
        record[item.name] = getattr(settings, item.name)
    return record
