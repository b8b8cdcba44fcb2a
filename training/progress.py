"""What a training run tells after each update."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Progress", "Report"]


@dataclass(frozen=True)
class Progress:
    """What one update tells.

    Attributes:
        part: of the run, "warm start", "self-play" or, at the end of a best response, "race".
        done: part of it that lies behind, 0 to 1.
        decisions: decisions (in the warm start: positions) learnt from so far.
        games: games finished so far.
        points: mean points of a seat in the games that ended during the update, NaN if none did.
        losses: means over the update.
        seconds: what the time went to.
    """

    part: str
    done: float
    decisions: int
    games: int
    points: float = float("nan")
    losses: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What is told after each update.

    Attributes:
        seconds: of training so far, those before the run was last resumed included.
        progress: of the part that is going on.
        measured: the newest entry of the curve, or None.
    """

    seconds: float
    progress: Progress
    measured: dict[str, Any] | None
