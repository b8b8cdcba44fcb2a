"""Training runs, which consist of pretraining, self-play with evaluations and promotion tests, and a final evaluation.

Files in a run folder:

- ``best.safetensors``: the network that last passed the promotion test, or the strongest evaluated network of a best
  response; the ``net:FOLDER`` player uses it. ``latest.safetensors``: the network at the last evaluation. ``past/``:
  past versions, which serve as opponents.
- ``state.safetensors``: the state of the run, from which it can be resumed with identical results.
- ``curve.json``: evaluation results over training. ``summary.json``: the final evaluation and all settings.
  ``tensorboard/``: losses, evaluation results and times, if TensorBoard is installed.
"""

from __future__ import annotations

import copy
import hashlib
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache, partial
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.checkpoint import save_checkpoint
from helsinki_env.agents.net.description import COMPONENTS_KEY, interface_digests
from helsinki_env.agents.net.network import supports_bfloat16
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.data import Node, UserError, check_same_settings, read_json, shorten
from helsinki_env.engine.spec import config_to_dict, spec_of
from helsinki_env.training.checkpoint_io import (
    Arrays,
    RunState,
    StateError,
    load_module,
    module_arrays,
    read_state,
    write_state,
)
from helsinki_env.training.evaluate import best_contender, evaluate_against, promotion_test
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.learner import RunContext, make_learner
from helsinki_env.training.matchups import component_configs
from helsinki_env.training.preset import Preset
from helsinki_env.training.progress import Progress, Report, TensorBoardWriter
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import check_no_link, hold_lock_file, is_file, remove_leftovers, write_json

with requires_extra("train"):
    import torch

__all__ = ["RunError", "Training", "check_run_folder", "train_to_the_end", "uses_bfloat16"]

#: Seed offsets that make evaluation games independent of training games.
_MATCH_SEED = 1_000_000
#: The seeds of consecutive promotion tests differ by 100, and those of consecutive runs by 1000. From the eleventh test
#: onward, a run therefore reuses deals from the tests of another run.
_PROMOTION_SEED = 2_000_000
_HALVING_SEED = 3_000_000
_MAX_SEED = 2**53
#: Upper bound on saved counts.
_MAX_COUNT = 2**53
#: Minimum number of seconds between saves of the state; results do not depend on it.
_SAVE_INTERVAL = 30.0
#: Name of the state file in the run folder.
_STATE = "state.safetensors"


class RunError(UserError):
    """A run that cannot be started or resumed; the message names the reason and a remedy."""


def _version_file(evaluation: int) -> str:
    """Return the file name of the network at an evaluation, numbered from 0."""
    return f"{evaluation:04d}.safetensors"


def uses_bfloat16(precision: str, device: torch.device) -> bool:
    """Return whether to compute in bfloat16; "auto" means to use it if the hardware supports it natively."""
    return supports_bfloat16(device) if precision == "auto" else precision == "bfloat16"


def check_run_folder(folder: Path, resume: bool) -> None:
    """Raise RunError if a new run would overwrite an existing one, or if there is no run to resume."""
    exists = is_file(folder / _STATE)
    if not exists:
        for name in ("best.safetensors", "latest.safetensors", "summary.json"):
            if is_file(folder / name):
                raise RunError(
                    f"{folder}: found {name} without {_STATE}, expected a run that can be resumed or an empty folder; "
                    "choose another folder"
                )
    if resume and not exists:
        raise RunError(f"{shorten(folder)}: found no training run, expected one to resume; omit --resume to start one")
    if not resume and exists:
        raise RunError(
            f"{folder}: found a training run, expected an empty folder; resume it with --resume, or choose another "
            "folder with --out"
        )


class Training:
    """A training run in a folder.

    Args:
        preset: settings of the run.
        folder: folder for the files of the run.
        seed: random seed for weights, games and evaluation.
        device: "cpu" or "cuda".
        resume: whether to resume the run in the folder; if False, the folder must not contain a run.
        group: processes that train together, of which the first one writes the files; default: only this process.

    Raises:
        RunError: if there is no run to resume, if the folder contains an unexpected run or one with different settings,
            or if the seed is too large.
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
        Node(seed, RunError, "seed").integer(0, _MAX_SEED)
        self.preset, self.folder, self.seed = preset, Path(folder), seed
        self.device = torch.device(device)
        self.fast = uses_bfloat16(preset.precision, self.device)
        self._state = self.folder / _STATE
        check_run_folder(self.folder, resume)
        self._resumes = resume
        self.group = group or ProcessGroup()
        torch.manual_seed(seed)
        try:
            self.learner = make_learner(preset, RunContext(self.folder, seed, self.device, self.fast, self.group))
        except UserError as problem:
            raise RunError(str(problem)) from None
        self.network = self.learner.network
        opponents = sorted({preset.against, *preset.opponents, *preset.evaluation.opponents} - {""})
        digests = {name: files_digest(name, preset.game) for name in opponents}
        self._files = {name: digest[:16] for name, digest in digests.items() if digest is not None}
        #: Digests of all component files, by their names or paths in the preset.
        configs = [preset.game, *component_configs(preset.promotion.components, preset.game)]
        configs += [config for matchup in preset.matchups for config in matchup.configs(preset.game)]
        self._components = {str(config.components): config.component_set.digest for config in configs}
        #: Load opponents only once, so that they stay the same if their files change.
        self._opponent = cache(make_player)
        self.best = copy.deepcopy(self.network)
        self.run_state = RunState(part=next(iter(self.learner.phases)))
        #: State of the run after its last update, as arguments of `write_state`.
        self._snapshot: tuple[Arrays, dict[str, Any]] | None = None
        #: Digest of the state file that this run resumes; None for a new run.
        self._state_digest: str | None = None
        if resume:
            self._resume()

    def _identity(self) -> dict[str, Any]:
        """Return the settings that must match to resume a run."""
        preset = self.preset.to_dict()
        del preset["minutes"]  # a resumed run can have a different time limit
        return {
            "preset": preset,
            "seed": self.seed,
            "environment": spec_of(self.preset.game).environment,
            "bfloat16": self.fast,
            "components": self._components,
            **({"files": self._files} if self._files else {}),
            **interface_digests(self.preset.game, self.network.types, self.network.kind, self.preset.network.ahead),
        }

    def _resume(self) -> None:
        try:
            self._state_digest = _digest(self._state)
            arrays, description = read_state(self._state)
        except (StateError, OSError) as problem:
            raise RunError(str(problem)) from None
        identity = self._identity()
        check_same_settings(self.folder, identity, {key: description[key].value for key in identity}, RunError)
        try:
            self._restore(arrays, description)
        except ValueError as problem:
            raise RunError(f"{self._state}: {problem}; start a new run in another folder (--out)") from None

    def _restore(self, arrays: Arrays, description: Node) -> None:
        self.run_state = description["run_state"].build(RunState)
        description["run_state"]["part"].choice(list(self.learner.phases))
        load_module("best", self.best, arrays)
        self.learner.pool.past = list(self.run_state.past)
        for name, phase in self.learner.phases.items():
            phase.counts = {key: description[name][key].integer(0, _MAX_COUNT) for key in phase.counts}
        self.learner.phases[self.run_state.part].restore(arrays)

    def _check_unchanged(self) -> None:
        """Raise RunError if another process has trained in the folder since this run was created."""
        check_run_folder(self.folder, self._resumes)
        if _digest(self._state) != self._state_digest:
            raise RunError(
                f"{self.folder}: found a run that another process has continued in the meantime, expected an unchanged "
                "one; resume it again"
            )

    def run(self, report: Callable[[Report], None] | None = None) -> dict[str, Any]:
        """Train until completion or the time limit, evaluate, and return the summary, which is also saved.

        Its "finished" is False if the time limit was reached. Call this only once.

        Raises:
            RunError: if another process is training in the folder, or has trained there since the run was created.
        """
        busy = RunError(f"{self.folder}: found another process that trains here; wait for it, or choose another folder")
        with ExitStack() as stack:
            log = None
            if self.group.is_main:
                stack.enter_context(hold_lock_file(self.folder / "lock", busy))
                self._check_unchanged()
                log = stack.enter_context(TensorBoardWriter(self.folder / "tensorboard", self._updates()))
                check_no_link(self.folder / "past")
                for folder in (self.folder, self.folder / "past"):
                    remove_leftovers(folder)  # safe, because this process holds the lock
            self._listener = report
            self._began, self._before = time.monotonic(), self.run_state.seconds
            self._saved = self._began
            if self.group.broadcast(not self._state.exists()):
                self._save()  # make the run resumable before its first update
            try:
                finished = self._run_phases(log)
            finally:
                for phase in self.learner.phases.values():
                    phase.close()
            return self._summary(finished)

    def keep(self) -> bool:
        """Save the state after the last update; return whether the run can be resumed.

        Another thread may call this during `run`.
        """
        if self._snapshot is not None and self.group.is_main:
            write_state(self._state, *self._snapshot)
        return self._state.exists()

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def _time_is_up(self) -> bool:
        return bool(self.group.broadcast(self._seconds() >= 60.0 * self.preset.minutes))

    def _updates(self) -> int:
        """Return the number of completed updates."""
        return sum(phase.updates for phase in self.learner.phases.values())

    def _run_phases(self, log: TensorBoardWriter | None) -> bool:
        """Run the remaining phases; return whether all of them are complete."""
        names = list(self.learner.phases)
        for name in names[names.index(self.run_state.part) :]:
            phase, is_self_play = self.learner.phases[name], name == names[-1]
            if name != self.run_state.part:
                self.run_state.part = name
                phase.begin()
            if is_self_play and not self.run_state.measured:
                self._evaluate(log)
                self._save()
            while phase.done < 1.0:
                if self._time_is_up():
                    self._save()
                    return False
                progress = phase.update()
                for what, finite in (
                    ("losses", all(map(isfinite, progress.losses.values()))),
                    ("weights", bool(torch.stack([w.sum() for w in self.network.parameters()]).isfinite().all())),
                ):
                    if not finite:
                        raise RunError(
                            f"{progress.part}: found {what} that are not finite, expected finite ones; start a new run "
                            "with a lower learning_rate"
                        )
                if is_self_play and phase.done * self.preset.evaluation.times >= self.run_state.measured:
                    self._evaluate(log)
                    self._save()
                self._report(progress, log)
        self._save()
        return True

    def _report(self, progress: Progress, log: TensorBoardWriter | None) -> None:
        if log is not None:
            log.progress(self._updates(), progress)
        self._tell(progress)
        self._take_snapshot()
        if time.monotonic() - self._saved > _SAVE_INTERVAL:
            self._write()

    def _tell(self, progress: Progress) -> None:
        if self._listener is not None:
            curve = self.run_state.curve
            self._listener(Report(self._seconds(), progress, curve[-1] if curve else None))

    def _tell_games(self, phase: str, done: float) -> None:
        """Report the completed fraction of the games of an evaluation or a test."""
        self._tell(Progress(phase, done, self.learner.ppo.decisions, self.learner.ppo.games))

    def _take_snapshot(self) -> None:
        """Store the current state of the run in memory."""
        self.run_state.seconds = self._seconds()
        phase = self.learner.phases[self.run_state.part]
        counts = {name: phase.counts for name, phase in self.learner.phases.items()}
        description = self._identity() | {"run_state": asdict(self.run_state)} | counts
        self._snapshot = phase.state() | module_arrays("best", self.best), description

    def _write(self) -> None:
        assert self._snapshot is not None
        if self.group.is_main:
            write_state(self._state, *self._snapshot)
        self._saved = time.monotonic()

    def _save(self) -> None:
        self._take_snapshot()
        self._write()

    def _evaluate(self, log: TensorBoardWriter | None) -> None:
        """Evaluate the learner, run the promotion test, and add the learner to the past versions."""
        s, ppo = self.run_state, self.learner.ppo
        results, promotion = self.group.broadcast(self._evaluation_results() if self.group.is_main else None)
        if promotion is None or promotion["decision"] == "better":
            self.best.load_state_dict(self.network.state_dict())
            s.best_at = s.measured
        s.curve.append(
            {
                "seconds": self._seconds(),
                "positions": self.learner.positions,
                "decisions": ppo.decisions,
                "results": results,
                "promotion_test": promotion,
            }
        )
        name = _version_file(s.measured)
        self.learner.pool.add(name, copy.deepcopy(self.network), ppo.updates)
        s.past.append((name, ppo.updates))
        s.measured += 1
        self.network.train()
        if not self.group.is_main:
            return
        save_checkpoint(self.folder / "past" / name, self.network, self.describe())
        save_checkpoint(self.folder / "latest.safetensors", self.network, self.describe())
        save_checkpoint(self.folder / "best.safetensors", self.best, self.describe())
        if log is not None:
            log.measured(self._updates(), results)
        write_json(self.folder / "curve.json", s.curve)

    def _evaluation_results(self) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """Return the results against the fixed players and the result of the promotion test.

        The promotion test is None in the first evaluation. There is also no test for a best response: its gains between
        evaluations are too small, and it does not play against itself. `_select_best` selects its best network.
        """
        s, e = self.run_state, self.preset.evaluation
        results = self._against(self.network, e.games, _MATCH_SEED + self.seed, partial(self._tell_games, "evaluation"))
        if not s.measured or self.preset.against:
            return results, None
        both = partial(self.learner.player, self.network, "new"), partial(self.learner.player, self.best, "best")
        seed = _PROMOTION_SEED + 1000 * self.seed + 100 * s.measured
        progress = partial(self._tell_games, "promotion test")
        test = promotion_test(*both, self.preset.game, self.preset.promotion, seed, progress)
        return results, {"decision": test.decision, "deals": test.blocks, "mean": test.mean}

    def _against(
        self, network: Any, games: int, seed: int, progress: Callable[[float], None] | None = None
    ) -> list[dict[str, Any]]:
        e, learner = self.preset.evaluation, self.learner.player(network, "learner")
        return evaluate_against(
            learner, self.preset.game, e.opponents, e.players, games, seed, self._opponent, progress
        )

    def _select_best(self, finished: bool) -> None:
        """Select the evaluated version that wins the most games against the target player.

        A finished run plays more games for this, once; an unfinished run uses the results of its evaluations.
        """
        s = self.run_state
        selecting = finished and not s.selected
        if selecting:
            s.best_at, s.selected = self._strongest(), True
        elif not finished:
            wins = [sum(row["share"] * row["players"] for row in entry["results"]) for entry in s.curve]
            s.best_at = max(range(len(wins)), key=lambda i: (wins[i], i))
        self.best.load_state_dict(self.learner.pool.load(_version_file(s.best_at)).state_dict())
        if selecting:
            self._save()

    def _strongest(self) -> int:
        """Return the evaluated version that wins the most games in sequential halving; each result is saved."""
        games, results = 4 * self.preset.evaluation.final_games, self.run_state.halving
        saved = iter(results.copy())

        def win_rate(contender: int, games: int, number: int) -> float:
            rate = next(saved, None)
            if rate is None:
                network = self.learner.pool.load(_version_file(contender))
                rows = self._against(network, games, _HALVING_SEED + 1000 * self.seed + number)
                rate = sum(float(row["times_fair"]) for row in rows)
                results.append(rate)
                self._save()
            return rate

        return best_contender(self.run_state.measured, games, win_rate, partial(self._tell_games, "sequential halving"))

    def _summary(self, finished: bool) -> dict[str, Any]:
        if not self.run_state.curve:  # stopped before the first evaluation
            self.best.load_state_dict(self.network.state_dict())
        if not self.group.is_main:
            return {"finished": finished}
        if self.preset.against and self.run_state.curve:
            self._select_best(finished)
        path = save_checkpoint(self.folder / "best.safetensors", self.best, self.describe())
        games, progress = self.preset.evaluation.final_games, partial(self._tell_games, "final evaluation")
        summary = {
            **self.describe(),
            "checkpoint": str(path),
            "finished": finished,
            "results": self._against(self.best, games, _MATCH_SEED + self.seed + 1, progress),
        }
        write_json(self.folder / "summary.json", summary)
        return summary

    def _best(self) -> dict[str, int]:
        """Return the numbers of samples and self-play steps of the best network; empty before any evaluation."""
        if not (curve := self.run_state.curve):
            return {}
        entry = curve[min(self.run_state.best_at, len(curve) - 1)]
        return {name: entry[name] for name in ("positions", "decisions")}

    def _trained_components(self) -> dict[str, str]:
        """Return the digests, by name, of the component files of games from which the network learns."""
        digests: dict[str, str] = {}
        for phase in self.learner.phases.values():
            for env in phase.envs if phase.total else ():
                name, digest = env.config.component_set.name, env.config.component_set.digest
                if digests.setdefault(name, digest) != digest:  # another file of the same name
                    digests[f"{name} {digest}"] = digest
        return digests

    def describe(self) -> dict[str, Any]:
        """Return the description of the run that is stored in checkpoints."""
        return {
            "game": config_to_dict(self.preset.game),
            COMPONENTS_KEY: self._trained_components(),
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


def train_to_the_end(
    preset: Preset, folder: Path, seed: int, run: Callable[[Training], dict[str, Any]] = Training.run
) -> None:
    """Train in a folder unless the training there is finished; resume it if it was interrupted.

    PyTorch uses one thread, so that the results do not depend on the number of CPU cores.

    Args:
        preset: settings of the run.
        folder: folder for the files of the run.
        seed: random seed of the run.
        run: function that runs the training and returns its summary.

    Raises:
        RunError: if the folder contains a run with different settings, or if the time limit of the preset is reached.
    """
    torch.set_num_threads(1)
    training = Training(preset, folder, seed, resume=is_file(folder / _STATE))
    summary = folder / "summary.json"
    if is_file(summary) and read_json(summary, RunError)["finished"].value is True:
        return  # resuming has checked that its settings are the same
    if not run(training)["finished"]:
        raise RunError(
            f"{folder}: found an unfinished training after {preset.minutes:g} minutes, expected a finished one; "
            "increase minutes in the preset and resume"
        )


def _digest(path: Path) -> str | None:
    """Return the digest of a file's content, or None if there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if is_file(path) else None


def _commit() -> str:
    """Return the commit of the clone that the package is in, or an empty string for an installed wheel."""
    folder = Path(__file__).resolve().parents[1]  # of a clone; git would also find a repository around a wheel
    try:
        result = subprocess.run(
            ["git", "rev-parse", "--show-toplevel", "--short=12", "HEAD"],  # git from the user's PATH
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
        root, commit = result.stdout.splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return commit if Path(root).resolve() == folder else ""
