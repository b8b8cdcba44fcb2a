"""A training run from preset to table: warm start, self-play, evaluation and gate on the way, table at the end.

What a run leaves in its folder:

- ``best.safetensors``: the network that passed the gate last, or the strongest of all that were measured in a best
  response to somebody (play it as ``net:FOLDER``); ``latest.safetensors``: the learner as it was when it was last
  measured; ``past/``: past selves, the opponents of later ones.
- ``state.safetensors``: where the run stands; `resume` goes on from there as if it had never stopped.
- ``curve.json``: strength over training time. ``summary.json``: the table at the end, with everything needed to do it
  again. ``tensorboard/``: losses, strength and times for TensorBoard, if that is installed.
"""

from __future__ import annotations

import copy
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.checkpoint import save_checkpoint
from helsinki_env.agents.net.description import environment_id, interface_digests
from helsinki_env.agents.net.network import supports_bfloat16
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.data import Node, UserError, shorten
from helsinki_env.engine.spec import config_to_dict
from helsinki_env.training.checkpoint_io import (
    Arrays,
    RunState,
    StateError,
    differences,
    load_module,
    module_arrays,
    read_state,
    write_state,
)
from helsinki_env.training.evaluate import evaluate_against, promotion_test
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.learner import RunContext, make_learner
from helsinki_env.training.preset import Preset, current_preset_keys
from helsinki_env.training.progress import Progress, Report
from helsinki_env.training.sequential_halving import best_contender
from helsinki_env.training.tensorboard import TensorBoardWriter
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import check_no_link, hold_lock_file, is_file, remove_leftovers, write_json

with requires_extra("train"):
    import torch

__all__ = ["RunError", "Training", "check_run_folder", "uses_bfloat16"]

#: Games to measure with are dealt from other seeds than those to learn from.
_MATCH_SEED = 1_000_000
_GATE_SEED = 2_000_000
_RACE_SEED = 3_000_000
#: The gates of a run have seeds a hundred apart, runs of neighbouring seeds a thousand: from the eleventh on they play
#: decks of another run's gates. All must be seeds of games.
_MOST_SEED = 2**53
#: More updates, actions or games than any run comes to.
_MOST_COUNT = 2**53
#: The state is saved at least so often, in seconds; what is learnt does not depend on it.
_SAVE_EVERY = 30.0
#: Where a run stands, in its folder.
_STATE = "state.safetensors"


class RunError(UserError):
    """A run that cannot be begun or resumed; the message says why and what to do."""


def _file(measured: int) -> str:
    """The file of the learner as it was when it was measured for that time, the first being 0."""
    return f"{measured:04d}.safetensors"


def uses_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether to compute in bfloat16: as told, or where the hardware multiplies it natively."""
    return supports_bfloat16(device) if precision == "auto" else precision == "bfloat16"


def check_run_folder(folder: Path, resume: bool) -> None:
    """Raise RunError if a new run would overwrite a run, or if there is no run to resume."""
    there = is_file(folder / _STATE)
    if resume and not there:
        raise RunError(f"{shorten(folder)}: there is no training run to resume; leave out --resume to begin one")
    if not resume and there:
        raise RunError(
            f"{folder}: there is a training run already; go on with it by --resume, or choose another folder by --out"
        )


class Training:
    """A run.

    Args:
        preset: what to do.
        folder: where its files are.
        seed: of weights, games and evaluation.
        device: "cpu" or "cuda".
        resume: go on with the run in the folder; otherwise it must hold none.
        group: the processes that train together; default: this one alone. The first of them writes the files.

    Raises:
        RunError: if there is a run and none should be, or the other way round, or it is another one; or if the seed is
            too large.
    """

    def __init__(
        self,
        preset: Preset,
        folder: str | Path,
        seed: int = 0,
        device: str = "cpu",
        resume: bool = False,
        group: ProcessGroup | None = None,
    ) -> None:
        Node(seed, RunError, "seed").integer(0, _MOST_SEED)
        self.preset, self.folder, self.seed = preset, Path(folder), seed
        self.device = torch.device(device)
        self.fast = uses_bfloat16(preset.precision, self.device)
        self._state = self.folder / _STATE
        check_run_folder(self.folder, resume)
        self.group = group or ProcessGroup()
        torch.manual_seed(seed)
        try:
            self.learner = make_learner(preset, RunContext(self.folder, seed, self.device, self.fast, self.group))
        except UserError as problem:
            raise RunError(str(problem)) from None
        self.network = self.learner.network
        met = sorted({preset.against, *preset.opponents, *preset.evaluation.opponents} - {""})
        digests = {name: files_digest(name, preset.game) for name in met}
        self._files = {name: digest[:16] for name, digest in digests.items() if digest is not None}
        #: Whoever the learner is measured against stays the same, whatever becomes of the files meanwhile.
        self._opponent = cache(make_player)
        self.best = copy.deepcopy(self.network)
        self.standing = RunState(part=next(iter(self.learner.parts)))
        #: Where the run stood after its last update, as `write_state` takes it.
        self._reached: tuple[Arrays, dict[str, Any]] | None = None
        if resume:
            self._resume()

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a run to be resumed."""
        preset = self.preset.to_dict()
        del preset["minutes"]  # may be longer the next time
        return {
            "preset": preset,
            "seed": self.seed,
            "environment": environment_id(self.preset.game),
            "bfloat16": self.fast,
            **({"files": self._files} if self._files else {}),
            **interface_digests(self.preset.game, self.network.types, self.network.kind, self.preset.network.ahead),
        }

    def _resume(self) -> None:
        try:
            arrays, told = read_state(self._state)
        except StateError as problem:
            raise RunError(str(problem)) from None
        saved = {key: told[key].value for key in self._identity()}
        saved["preset"] = current_preset_keys(saved["preset"])
        different = [text for key, value in self._identity().items() for text in differences(saved[key], value, key)]
        if different:
            raise RunError(
                f"{self.folder}: the run was begun with {'; '.join(different)}: resume it with what it was begun with, "
                "or choose another folder by --out"
            )
        try:
            self._restore(arrays, told)
        except ValueError as problem:
            raise RunError(f"{self._state}: {problem}; begin anew in another folder (--out)") from None

    def _restore(self, arrays: Arrays, told: Node) -> None:
        self.standing = told["standing"].build(RunState)
        told["standing"]["part"].choice(list(self.learner.parts))
        load_module("best", self.best, arrays)
        self.learner.pool.past = list(self.standing.past)
        for name, part in self.learner.parts.items():
            part.counts = {key: told[name][key].integer(0, _MOST_COUNT) for key in part.counts}
        self.learner.parts[self.standing.part].restore(arrays)

    def run(self, report: Callable[[Report], None] | None = None) -> dict[str, Any]:
        """Train until it is done or the minutes are over, measure, and return the summary that is also written.

        Its `finished` says which of the two it was.

        Raises:
            RunError: if another process is training in the folder.
        """
        busy = RunError(f"{self.folder}: another process is training here; wait for it or choose another folder")
        with ExitStack() as stack:
            board = None
            if self.group.is_main:
                stack.enter_context(hold_lock_file(self.folder / "lock", busy))
                board = stack.enter_context(TensorBoardWriter(self.folder / "tensorboard", self._updates()))
                check_no_link(self.folder / "past")
                for folder in (self.folder, self.folder / "past"):
                    remove_leftovers(folder)  # only now that nobody else is writing here
            self._began, self._before = time.monotonic(), self.standing.seconds
            self._saved = self._began
            if self.group.broadcast(not self._state.exists()):
                self._save()  # so that a run can be resumed from its first moment on
            try:
                finished = self._go_through(board, report)
            finally:
                for part in self.learner.parts.values():
                    part.close()
            return self._summary(finished, report)

    def keep(self) -> bool:
        """Save where the run stood after its last update, for whoever stops it now; return whether it can be resumed.

        It may be called from another thread while `run` is at work.
        """
        if self._reached is not None and self.group.is_main:
            write_state(self._state, *self._reached)
        return self._state.exists()

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def _over(self) -> bool:
        return bool(self.group.broadcast(self._seconds() >= 60.0 * self.preset.minutes))

    def _updates(self) -> int:
        """How many updates there have been."""
        return sum(part.updates for part in self.learner.parts.values())

    def _go_through(self, board: TensorBoardWriter | None, report: Callable[[Report], None] | None) -> bool:
        """Go through the parts of the training from where it stands; return whether all are done."""
        names = list(self.learner.parts)
        for name in names[names.index(self.standing.part) :]:
            part, plays = self.learner.parts[name], name == names[-1]
            if name != self.standing.part:
                self.standing.part = name
                part.begin()
            if plays and not self.standing.measured:
                self._measure(board)
                self._save()
            while part.done < 1.0:
                if self._over():
                    self._save()
                    return False
                progress = part.update()
                if plays and part.done * self.preset.evaluation.times >= self.standing.measured:
                    self._measure(board)
                    self._save()
                self._tell(progress, board, report)
        self._save()
        return True

    def _tell(
        self, progress: Progress, board: TensorBoardWriter | None, report: Callable[[Report], None] | None
    ) -> None:
        if board is not None:
            board.progress(self._updates(), progress)
        if report is not None:
            curve = self.standing.curve
            report(Report(self._seconds(), progress, curve[-1] if curve else None))
        self._reach()
        if time.monotonic() - self._saved > _SAVE_EVERY:
            self._write()

    def _reach(self) -> None:
        """Store the current state of the run."""
        self.standing.seconds = self._seconds()
        part = self.learner.parts[self.standing.part]
        counts = {name: part.counts for name, part in self.learner.parts.items()}
        told = self._identity() | {"standing": asdict(self.standing)} | counts
        self._reached = part.state() | module_arrays("best", self.best), told

    def _write(self) -> None:
        assert self._reached is not None
        if self.group.is_main:
            write_state(self._state, *self._reached)
        self._saved = time.monotonic()

    def _save(self) -> None:
        self._reach()
        self._write()

    def _measure(self, board: TensorBoardWriter | None) -> None:
        """Let the learner meet the fixed players, and the best so far at the gate; keep it as a past self."""
        s, ppo = self.standing, self.learner.ppo
        found, passed = self.group.broadcast(self._met() if self.group.is_main else None)
        if passed is None or passed["verdict"] == "better":
            self.best.load_state_dict(self.network.state_dict())
            s.best_at = s.measured
        s.curve.append(
            {
                "seconds": self._seconds(),
                "positions": self.learner.positions,
                "decisions": ppo.decisions,
                "standings": found,
                "gate": passed,
            }
        )
        name = _file(s.measured)
        self.learner.pool.add(name, copy.deepcopy(self.network), ppo.updates)
        s.past.append((name, ppo.updates))
        s.measured += 1
        self.network.train()
        if not self.group.is_main:
            return
        save_checkpoint(self.folder / "past" / name, self.network, self.describe())
        save_checkpoint(self.folder / "latest.safetensors", self.network, self.describe())
        save_checkpoint(self.folder / "best.safetensors", self.best, self.describe())
        if board is not None:
            board.measured(self._updates(), found)
        write_json(self.folder / "curve.json", s.curve)

    def _met(self) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """Return how the learner did against the fixed players, and at the gate, but for the first time.

        A best response passes no gate: what it gains from one measurement to the next is less than a test would see,
        and it does not meet its best self. At the end the strongest of all is looked for instead, see `_strongest`.
        """
        s, e = self.standing, self.preset.evaluation
        found = self._against(self.network, e.games, _MATCH_SEED + self.seed)
        if not s.measured or self.preset.against:
            return found, None
        both = self.learner.player(self.network, "new"), self.learner.player(self.best, "best")
        seed = _GATE_SEED + 1000 * self.seed + 100 * s.measured
        state = promotion_test(*both, self.preset.game, self.preset.promotion, seed)
        return found, {"verdict": state.verdict, "decks": state.blocks, "mean": state.mean}

    def _against(self, network: Any, games: int, seed: int) -> list[dict[str, Any]]:
        e = self.preset.evaluation
        learner = self.learner.player(network, "learner")
        return evaluate_against(learner, self.preset.game, e.opponents, e.players, games, seed, self._opponent)

    def _strongest(self, report: Callable[[Report], None] | None) -> int:
        """Return the measured version that wins most against the opponent; see `training.sequential_halving`."""
        games, ppo = 4 * self.preset.evaluation.final_games, self.learner.ppo

        def won(which: int, games: int, number: int) -> float:
            found = self._against(self.learner.pool.load(_file(which)), games, _RACE_SEED + 1000 * self.seed + number)
            return sum(float(standing["times_fair"]) for standing in found)

        def told(done: float) -> None:
            if report is not None:
                progress = Progress("sequential halving", done, ppo.decisions, ppo.games)
                report(Report(self._seconds(), progress, self.standing.curve[-1]))

        return best_contender(self.standing.measured, games, won, told)

    def _summary(self, finished: bool, report: Callable[[Report], None] | None) -> dict[str, Any]:
        if not self.standing.curve:  # stopped before there was a best one: the learner as it is
            self.best.load_state_dict(self.network.state_dict())
        if not self.group.is_main:
            return {"finished": finished}
        if self.preset.against and self.standing.curve:
            self.standing.best_at = self._strongest(report)
            self.best.load_state_dict(self.learner.pool.load(_file(self.standing.best_at)).state_dict())
        path = save_checkpoint(self.folder / "best.safetensors", self.best, self.describe())
        summary = {
            **self.describe(),
            "checkpoint": str(path),
            "finished": finished,
            "standings": self._against(self.best, self.preset.evaluation.final_games, _MATCH_SEED + self.seed + 1),
        }
        write_json(self.folder / "summary.json", summary)
        return summary

    def _best(self) -> dict[str, int]:
        """After how many decisions the best network passed the gate; nothing before the first time."""
        if not (curve := self.standing.curve):
            return {}
        entry = curve[min(self.standing.best_at, len(curve) - 1)]
        return {name: entry[name] for name in ("positions", "decisions")}

    def describe(self) -> dict[str, Any]:
        """Return everything that a checkpoint says about how it was made."""
        return {
            "game": config_to_dict(self.preset.game),
            "network": asdict(self.preset.network),
            "preset": self.preset.to_dict(),
            "seed": self.seed,
            "bfloat16": self.fast,
            "positions": self.learner.positions,
            "decisions": self.learner.ppo.decisions,
            "games": self.learner.ppo.games,
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
