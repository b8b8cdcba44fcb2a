"""Progress reports of a training run, and TensorBoard logging."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar


def cosine_anneal(done: float, final: float) -> float:
    """Return the learning rate factor at a completed fraction; it falls from 1 to `final` along a cosine."""
    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * done))


class PhaseCounters:
    """Counters of a training phase; the second one, such as ``decisions``, determines the completed fraction."""

    counted: ClassVar[tuple[str, str, str]] = ("updates", "decisions", "games")

    def __init__(self, total: int) -> None:
        self.total = total
        self.counts = dict.fromkeys(self.counted, 0)

    @property
    def counts(self) -> dict[str, int]:
        """The current counts, by name."""
        return {name: getattr(self, name) for name in self.counted}

    @counts.setter
    def counts(self, counts: Mapping[str, int]) -> None:
        for name in self.counted:
            setattr(self, name, counts[name])

    @property
    def done(self) -> float:
        """The completed fraction, from 0 to 1."""
        return min(1.0, self.counts[self.counted[1]] / self.total) if self.total else 1.0


@dataclass(frozen=True)
class Progress:
    """Progress after one update, or during an evaluation."""

    part: str  # "pretraining", "self-play", "evaluation", "promotion test", "sequential halving" or "final evaluation"
    done: float  # completed fraction of this part, from 0 to 1
    decisions: int  # number of self-play steps so far, or of samples in pretraining
    games: int  # number of games finished so far
    points: float = float("nan")  # mean points per seat in games that ended during the update; NaN if there were none
    losses: dict[str, float] = field(default_factory=dict)  # mean losses in the update
    seconds: dict[str, float] = field(default_factory=dict)  # time in seconds that each activity took in the update


@dataclass(frozen=True)
class Report:
    """Report after each update and in evaluations: training seconds, progress, and the curve's last entry or None."""

    seconds: float
    progress: Progress
    measured: dict[str, Any] | None


class TensorBoardWriter:
    """Writer of TensorBoard events to a folder; does nothing if TensorBoard is not installed.

    `begin` is the number of completed updates; later events from an interrupted run are purged.
    """

    def __init__(self, folder: Path, begin: int) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        self._writer = SummaryWriter(str(folder), purge_step=begin + 1)

    def __enter__(self) -> TensorBoardWriter:
        """Return the writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()

    def progress(self, step: int, progress: Progress) -> None:
        """Log the losses, points and times of an update."""
        part = progress.part.replace(" ", "_")
        values = {f"{part}/{name}": value for name, value in progress.losses.items()}
        values |= {f"seconds/{name}": value for name, value in progress.seconds.items()}
        values[f"{part}/points"] = progress.points
        self._write(step, values)

    def measured(self, step: int, results: Sequence[dict[str, Any]]) -> None:
        """Log evaluation results with confidence intervals."""
        values: dict[str, float] = {}
        for s in results:
            name = f"strength/{s['players']} players against {s['opponent']}"
            values |= {name: s["share"], f"{name}, low": s["low"], f"{name}, high": s["high"]}
        self._write(step, values)

    def _write(self, step: int, values: dict[str, float]) -> None:
        if self._writer is not None:
            for name, value in values.items():
                if value == value:  # not NaN
                    self._writer.add_scalar(name, value, step)
