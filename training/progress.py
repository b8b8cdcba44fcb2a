"""Progress reports of a training run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Progress", "Report"]


@dataclass(frozen=True)
class Progress:
    """Progress after one update.

    Attributes:
        part: "warm start", "self-play" or, at the end of a best response, "race".
        done: completed fraction of this part, 0 to 1.
        decisions: self-play steps so far (in the warm start: samples).
        games: games finished so far.
        points: mean points per seat in games that ended during the update, NaN if none did.
        losses: mean losses of the update.
        seconds: time of the update by activity, in seconds.
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
    """Report after each update.

    Attributes:
        seconds: training time so far in seconds, including the time before a resume.
        progress: progress of the current part.
        measured: latest entry of the evaluation curve, or None.
    """

    seconds: float
    progress: Progress
    measured: dict[str, Any] | None
