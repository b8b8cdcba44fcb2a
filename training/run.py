"""A training run from preset to table: warm start, self-play, evaluation and gate on the way, table at the end.

What a run leaves in its folder:

- ``best.safetensors``: the network that passed the gate last (play it as ``net:FOLDER``); ``latest.safetensors``: the
  learner as it was when it was last measured; ``past/``: past selves, the opponents of later ones.
- ``state.safetensors``: where the run stands; `resume` goes on from there as if it had never stopped.
- ``curve.json``: strength over training time. ``summary.json``: the table at the end, with everything needed to do it
  again. ``tensorboard/``: losses, strength and times for TensorBoard, if that is installed.
"""

from __future__ import annotations

import copy
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agents.net.checkpoint import save_checkpoint
from agents.net.description import environment_of, interface_digests
from agents.net.network import Network
from agents.net.player import NetPlayer
from agents.net.pytorch import TorchAssessor, knows_bfloat16
from helsinki_env.data import Entry, brief, shown
from helsinki_env.engine.spec import config_to_dict
from helsinki_env.extras import needs
from helsinki_env.files import held, is_file, remove_leftovers, write_json
from training.board import Board
from training.evaluate import gate, measure
from training.opponents import Pool
from training.ppo import PPO
from training.preset import Preset
from training.progress import Progress
from training.rollout import Stage
from training.saved import Arrays, StateError, check_curve, load_module, module_arrays, read, write
from training.warm import WarmStart

with needs("train"):
    import torch

__all__ = ["Report", "RunError", "Training", "uses_bfloat16"]

#: Games to measure with are dealt from other seeds than those to learn from.
_MATCH_SEED = 1_000_000
_GATE_SEED = 2_000_000
#: The state is saved at least so often, in seconds; what is learnt does not depend on it.
_SAVE_EVERY = 30.0


class RunError(ValueError):
    """A run that cannot be begun or resumed; the message says why and what to do."""


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


@dataclass
class _Standing:
    """What a run has found out so far, as it stands in its state."""

    part: str = "warm"
    measured: int = 0
    best_at: int = 0
    past: list[tuple[str, int]] = field(default_factory=list)
    curve: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Check every value."""
        data = Entry(vars(self), ValueError)
        data["part"].choice(("warm", "ppo"))
        data["seconds"].number(0)
        count = len(check_curve(data["curve"]))
        data["measured"].integer(count, count)
        data["best_at"].integer(0, max(0, count - 1))
        past = [one.entries("file and rollout", length=2) for one in data["past"].entries("past selves")]
        self.past = [
            (name.choice([f"{i:04d}.safetensors" for i in range(count)]), since.integer(0)) for name, since in past
        ]


def _different(begun: Any, now: Any, key: str) -> list[str]:
    """Return where two values differ, in words."""
    if isinstance(begun, dict) and isinstance(now, dict):
        keys = [*now, *(name for name in begun if name not in now)]
        return [text for name in keys for text in _different(begun.get(name), now.get(name), f"{key}.{name}")]
    return [] if begun == now else [f"{key} {shown(begun)}, found {shown(now)} now"]


def uses_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether to compute in bfloat16: as told, or where the hardware multiplies it natively."""
    return knows_bfloat16(device) if precision == "auto" else precision == "bfloat16"


class Training:
    """A run.

    Args:
        preset: what to do.
        folder: where its files are.
        seed: of weights, games and evaluation.
        device: "cpu" or "cuda".
        resume: go on with the run in the folder; otherwise it must hold none.

    Raises:
        RunError: if there is a run and none should be, or the other way round, or it is another one.
    """

    def __init__(
        self, preset: Preset, folder: str | Path, seed: int = 0, device: str = "cpu", resume: bool = False
    ) -> None:
        self.preset, self.folder, self.seed = preset, Path(folder), seed
        self.device = torch.device(device)
        self.fast = uses_bfloat16(preset.precision, self.device)
        self._state = self.folder / "state.safetensors"
        self._check_folder(resume)
        torch.manual_seed(seed)
        self.network = Network(preset.game, preset.network).to(self.device)
        self.best = copy.deepcopy(self.network)
        self.standing = _Standing()
        tables, game = preset.tables, preset.game
        self.warm = WarmStart(self.network, game, tables, preset.warm, seed, self.fast)
        #: Where the run stood after its last update, as `write` takes it.
        self._reached: tuple[Arrays, dict[str, Any]] | None = None
        self.pool = Pool(game, preset.opponents if preset.ppo.apart else (), self.folder / "past", seed, self.fast)
        stage = Stage(game, tables, preset.ppo.games, preset.ppo.apart, seed, self.device)
        self.ppo = PPO(self.network, stage, preset.ppo, seed, self.pool.choose, self.fast)
        if resume:
            self._resume()

    def _check_folder(self, resume: bool) -> None:
        if resume and not is_file(self._state):
            raise RunError(f"{brief(self.folder)}: there is no training run to resume; leave out --resume to begin one")
        if not resume and is_file(self._state):
            raise RunError(
                f"{self.folder}: there is a training run already; go on with it by --resume, or choose another folder "
                "by --out"
            )

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a run to be resumed."""
        preset = self.preset.to_dict()
        del preset["minutes"]  # may be longer the next time
        return {
            "preset": preset,
            "seed": self.seed,
            "environment": environment_of(self.preset.game),
            "bfloat16": self.fast,
            **interface_digests(self.preset.game, self.network.types),
        }

    def _resume(self) -> None:
        try:
            arrays, told = read(self._state)
        except StateError as problem:
            raise RunError(str(problem)) from None
        different = [
            text for key, value in self._identity().items() for text in _different(told[key].value, value, key)
        ]
        if different:
            raise RunError(
                f"{self.folder}: the run was begun with {'; '.join(different)}: resume it with what it was begun with, "
                "or choose another folder by --out"
            )
        try:
            self._restore(arrays, told)
        except ValueError as problem:
            raise RunError(f"{self._state}: {problem}; begin anew in another folder (--out)") from None

    def _restore(self, arrays: Arrays, told: Entry) -> None:
        self.standing = told["standing"].build(_Standing)
        load_module("best", self.best, arrays)
        self.pool.past = list(self.standing.past)
        for part, name in ((self.warm, "warm"), (self.ppo, "ppo")):
            part.counts = {key: told[name][key].integer(0) for key in part.counts}
        (self.warm if self.standing.part == "warm" else self.ppo).restore(arrays)

    def run(self, report: Callable[[Report], None] | None = None) -> dict[str, Any]:
        """Train until it is done or the minutes are over, measure, and return the summary that is also written.

        Its `finished` says which of the two it was.

        Raises:
            RunError: if another process is training in the folder.
        """
        busy = RunError(f"{self.folder}: another process is training here; wait for it or choose another folder")
        updates = self.warm.updates + self.ppo.updates
        with held(self.folder / "lock", busy), Board(self.folder / "tensorboard", updates) as board:
            for folder in (self.folder, self.folder / "past"):
                remove_leftovers(folder)  # only now that nobody else is writing here
            self._began, self._before = time.monotonic(), self.standing.seconds
            self._saved = self._began
            if not self._state.exists():
                self._save(self.warm)  # so that a run can be resumed from its first moment on
            try:
                finished = self._warm_up(board, report) and self._play(board, report)
            finally:
                self.warm.close()
                self.ppo.close()
            return self._summary(finished)

    def keep(self) -> bool:
        """Save where the run stood after its last update, for whoever stops it now; return whether it can be resumed.

        It may be called from another thread while `run` is at work.
        """
        if self._reached is not None:
            write(self._state, *self._reached)
        return self._state.exists()

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def _over(self) -> bool:
        return self._seconds() >= 60.0 * self.preset.minutes

    def _warm_up(self, board: Board, report: Callable[[Report], None] | None) -> bool:
        """Learn from the heuristic's games; return whether that is done."""
        if self.standing.part != "warm":
            return True
        while self.warm.done < 1.0:
            if self._over():
                self._save(self.warm)
                return False
            self._tell(self.warm.update(), self.warm, board, report)
        self.standing.part = "ppo"
        self.ppo.playing.load_state_dict(self.network.state_dict())
        self._measure(board)
        self._save(self.ppo)
        return True

    def _play(self, board: Board, report: Callable[[Report], None] | None) -> bool:
        """Learn by playing; return whether that is done."""
        while self.ppo.done < 1.0:
            if self._over():
                self._save(self.ppo)
                return False
            progress = self.ppo.update()
            times = self.preset.evaluation.times
            if self.ppo.done * times >= self.standing.measured:
                self._measure(board)
                self._save(self.ppo)
            self._tell(progress, self.ppo, board, report)
        self._save(self.ppo)
        return True

    def _tell(
        self, progress: Progress, part: WarmStart | PPO, board: Board, report: Callable[[Report], None] | None
    ) -> None:
        board.progress(part.updates + (self.warm.updates if part is self.ppo else 0), progress)
        if report is not None:
            curve = self.standing.curve
            report(Report(self._seconds(), progress, curve[-1] if curve else None))
        self._reach(part)
        if time.monotonic() - self._saved > _SAVE_EVERY:
            self._write()

    def _reach(self, part: WarmStart | PPO) -> None:
        """Remember where the run stands."""
        self.standing.seconds = self._seconds()
        counts = {"warm": self.warm.counts, "ppo": self.ppo.counts}
        told = self._identity() | {"standing": asdict(self.standing)} | counts
        self._reached = part.state() | module_arrays("best", self.best), told

    def _write(self) -> None:
        assert self._reached is not None
        write(self._state, *self._reached)
        self._saved = time.monotonic()

    def _save(self, part: WarmStart | PPO) -> None:
        self._reach(part)
        self._write()

    def _measure(self, board: Board) -> None:
        """Let the learner meet the fixed players, and the best so far at the gate; keep it as a past self."""
        s, e = self.standing, self.preset.evaluation
        found = self._against(self.network, e.games, _MATCH_SEED + self.seed)
        passed = None
        if s.measured:
            seed = _GATE_SEED + 1000 * self.seed + 100 * s.measured
            state = gate(self.network, self.best, self.preset.game, self.preset.gate, seed, self.fast)
            passed = {"verdict": state.verdict, "decks": state.blocks, "mean": state.mean}
        if passed is None or passed["verdict"] == "better":
            self.best.load_state_dict(self.network.state_dict())
            s.best_at = s.measured
        s.curve.append(
            {
                "seconds": self._seconds(),
                "positions": self.warm.positions,
                "decisions": self.ppo.decisions,
                "standings": found,
                "gate": passed,
            }
        )
        name = f"{s.measured:04d}.safetensors"
        save_checkpoint(self.folder / "past" / name, self.network, self.describe())
        save_checkpoint(self.folder / "latest.safetensors", self.network, self.describe())
        save_checkpoint(self.folder / "best.safetensors", self.best, self.describe())
        self.pool.add(name, copy.deepcopy(self.network), self.ppo.updates)
        s.past.append((name, self.ppo.updates))
        board.measured(self.warm.updates + self.ppo.updates, found)
        write_json(self.folder / "curve.json", s.curve)
        s.measured += 1
        self.network.train()

    def _against(self, network: Network, games: int, seed: int) -> list[dict[str, Any]]:
        player = NetPlayer(TorchAssessor(network, self.fast), self.preset.game)
        e = self.preset.evaluation
        return measure(player, self.preset.game, e.opponents, e.players, games, seed)

    def _summary(self, finished: bool) -> dict[str, Any]:
        if not self.standing.curve:  # stopped before there was a best one: the learner as it is
            self.best.load_state_dict(self.network.state_dict())
        path = save_checkpoint(self.folder / "best.safetensors", self.best, self.describe())
        e = self.preset.evaluation
        summary = {
            **self.describe(),
            "checkpoint": str(path),
            "finished": finished,
            "standings": self._against(self.best, e.final_games, _MATCH_SEED + self.seed + 1),
        }
        write_json(self.folder / "summary.json", summary)
        return summary

    def _best(self) -> dict[str, int]:
        """After how many decisions the best network passed the gate; nothing before the first time."""
        curve = self.standing.curve
        if not curve:
            return {}
        entry = curve[min(self.standing.best_at, len(curve) - 1)]
        return {"positions": entry["positions"], "decisions": entry["decisions"]}

    def describe(self) -> dict[str, Any]:
        """Return everything that a checkpoint says about how it was made."""
        return {
            "game": config_to_dict(self.preset.game),
            "network": asdict(self.preset.network),
            "preset": self.preset.to_dict(),
            "seed": self.seed,
            "bfloat16": self.fast,
            "positions": self.warm.positions,
            "decisions": self.ppo.decisions,
            "games": self.ppo.games,
            "seconds": self._seconds() if hasattr(self, "_began") else 0.0,
            "best": self._best(),
            "versions": {"helsinki-env": version("helsinki-env"), "torch": torch.__version__},
            "commit": _commit(),
        }


def _commit() -> str:
    """The commit of the source tree, or nothing outside one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],  # whatever git the user has
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()
