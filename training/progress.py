"""What one update of a training run tells."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """What one update tells.

    Attributes:
        part: of the run, "warm start" or "self-play".
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
