"""A training run from preset to table: learn, report, save, evaluate.

What a run leaves in its folder: ``best.safetensors`` (the network, also that of a run that was interrupted),
``curve.json`` (strength over training time) and ``summary.json`` (the table at the end, with everything needed to do it
again).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents.checkpoint import save_checkpoint
from agents.match import play_match
from agents.neural import NetPlayer
from agents.registry import make_player
from helsinki_env.files import write_json
from training.ppo import Learner, Progress
from training.preset import Preset

__all__ = ["Report", "train"]

BASELINES = ("random", "greedy")
#: Parts of the training after which the strength is measured for the curve.
_CURVE_AT = (0.25, 0.5, 0.75)
_CURVE_GAMES = 400
#: Games to measure with are dealt from other seeds than those to learn from.
_MATCH_SEED = 1_000_000


@dataclass(frozen=True)
class Report:
    """What is told while a run goes on.

    Attributes:
        done: part of the training that lies behind, 0 to 1.
        seconds: time so far.
        rate: decisions per second so far.
        progress: of the learner.
        win_rate: share of games won against `random` when it was last measured, NaN before.
    """

    done: float
    seconds: float
    rate: float
    progress: Progress
    win_rate: float


def train(
    preset: Preset,
    folder: str | Path,
    seed: int = 0,
    device: str = "cpu",
    report: Callable[[Report], None] | None = None,
) -> dict[str, Any]:
    """Train a player and measure it; return the summary that is also written.

    Args:
        preset: what to do.
        folder: where checkpoint, curve and summary go; made if missing.
        seed: of weights, games and evaluation.
        device: "cpu" or "cuda".
        report: called after each update.

    The number of decisions decides when the training ends, unless the preset's minutes are over before: a run that was
    cut by the clock depends on the speed of the machine, and its summary says so.
    """
    folder = Path(folder)
    # Whatever has to be compiled first is not part of the training's minutes.
    for name in BASELINES:
        play_match([name] * preset.game.num_players, preset.game, games=preset.game.num_players)
    learner = Learner(preset.game, preset.ppo, preset.network, seed, device)
    begin, done, win_rate = time.monotonic(), 0.0, float("nan")
    curve: list[dict[str, Any]] = []
    while done < 1.0:
        # Learning rate and entropy fade with whatever will end the training first.
        progress = learner.update(done)
        seconds = time.monotonic() - begin
        done = min(1.0, max(progress.decisions / preset.ppo.decisions, seconds / (60.0 * preset.minutes)))
        if len(curve) < len(_CURVE_AT) and done >= _CURVE_AT[len(curve)]:
            standings = _measure(learner, _CURVE_GAMES, seed)
            curve.append(_point(learner, seconds, standings))
            win_rate = standings["random"]["share"]
            save_checkpoint(folder / "best.safetensors", learner.model, learner.describe())
        if report is not None:
            report(Report(done, seconds, progress.decisions / seconds, progress, win_rate))
    seconds = time.monotonic() - begin
    path = save_checkpoint(folder / "best.safetensors", learner.model, learner.describe())
    standings = _measure(learner, preset.evaluation_games, seed + 1)
    curve.append(_point(learner, seconds, standings))
    summary = {
        "checkpoint": str(path),
        "seconds": seconds,
        "cut_by_the_clock": learner.progress.decisions < preset.ppo.decisions,
        "standings": standings,
        **learner.describe(),
    }
    write_json(folder / "curve.json", curve)
    write_json(folder / "summary.json", summary)
    return summary


def _measure(learner: Learner, games: int, seed: int) -> dict[str, dict[str, Any]]:
    """Play one network against baselines on all other seats, all seats in turn; return its standing by baseline."""
    standings = {}
    for name in BASELINES:
        others = [make_player(name, learner.game)] * (learner.game.num_players - 1)
        results = play_match([NetPlayer(learner.model), *others], learner.game, games=games, seed=_MATCH_SEED + seed)
        standings[name] = asdict(results.standing(0)) | {"other_score": results.standing(1).score}
    learner.model.train()
    return standings


def _point(learner: Learner, seconds: float, standings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"seconds": seconds, "decisions": learner.progress.decisions, "standings": standings}
