"""Precompile the kernels of a command before it starts, in parallel processes and with progress output.

Related kernels, such as those of the rules or of one player, form a part. Worker processes compile a part by running it
once with the smallest batch. The machine code is saved in the shared cache (`helsinki_env.engine.compile_cache`), from
which all processes load it. Any other kernel is compiled when it is first called.

    python -m helsinki_env.cli.precompile

compiles the parts named on standard input, one per line, and prints a result for each.
"""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.engine import compile_cache, kernel
from helsinki_env.engine.spec import GameSpec, default_config, default_spec, spec_by_name, spec_of
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.files import atomic_write
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.plan import Plan

#: Lines that a worker prints after each part: compiled, extra not installed, or failed.
_DONE, _MISSING_EXTRA, _FAILED = "= done", "= missing extra", "= failed"
#: Item that marks the end of a worker's output.
_ENDED = "= ended"


def _games(config: Any) -> None:
    from helsinki_env.engine.playout import random_keys, sample_actions
    from helsinki_env.envs.vector import GameVectorEnv

    env = GameVectorEnv(1, config)
    obs, _ = env.reset(seed=0)
    env.step(sample_actions(obs["action_mask"], random_keys(1)))


def _one_game(config: Any) -> None:
    from helsinki_env.envs.aec import GameAECEnv

    game = spec_of(config).game(config, seed=0)
    game.step(int(game.legal_actions()[0]))
    game.observation(0)
    env = GameAECEnv(config)
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))


def _seats(config: Any) -> None:
    from helsinki_env.envs.seat import GameSeatVectorEnv

    env = GameSeatVectorEnv(1, config)
    obs, _ = env.reset(seed=0)
    env.step(obs["action_mask"].argmax(axis=1))


def _first(config: Any) -> tuple[Any, Any, Any]:
    """Return a player's inputs for the first action of a game."""
    from helsinki_env.agents.base import init_streams
    from helsinki_env.envs.vector import GameVectorEnv

    obs, _ = GameVectorEnv(1, config).reset(seed=0)
    return obs["observation"], obs["action_mask"], init_streams(0, [0], 0)


def _player(name: str, config: Any) -> None:
    from helsinki_env.agents.registry import make_player

    make_player(name, config).act(*_first(config))


def _training(config: Any) -> None:
    from helsinki_env.agents.net.features import feature_offsets
    from helsinki_env.agents.search.workspace import new_workspace
    from helsinki_env.engine.playout import random_keys
    from helsinki_env.envs.vector import GameVectorEnv
    from helsinki_env.training.pretraining import generate_samples

    env = GameVectorEnv(1, config)
    env.reset(seed=0)
    generate_samples(new_workspace(config), feature_offsets(config), env.states, random_keys(1), 0.5, 0.5)
    env.game(0).scores()


class KernelGroup(NamedTuple):
    """A group of kernels that are compiled together; applies to every game."""

    description: str
    #: Function that calls each kernel for the game of a configuration.
    use: Callable[[Any], None]


KERNEL_GROUPS = {
    "games": KernelGroup("the rules", _games),
    "game": KernelGroup("single games", _one_game),
    "seat": KernelGroup("single seats", _seats),
    "greedy": KernelGroup("greedy", partial(_player, "greedy")),
    "heuristic": KernelGroup("heuristic", partial(_player, "heuristic")),
    "mc": KernelGroup("mc", partial(_player, "mc:1")),
    "ismcts": KernelGroup("ismcts", partial(_player, "ismcts:1")),
    "net": KernelGroup("net", partial(_player, "net")),
    "training": KernelGroup("training", _training),
}
"""All parts that can be precompiled. A part named after a player compiles that player's kernels. Parts of a game other
than the default game are named GAME:PART.
"""


def groups_for(players: Iterable[str], config: Any = None) -> list[str]:
    """Return the parts needed by games between `players`, which are named as on the command line."""
    from helsinki_env.agents.registry import innermost_name, wrapper_names

    # `net` and `net+search` use the same kernels, and `response` searches with the bundled network.
    listed = list(players)
    names = {"games", *(innermost_name(name).partition(":")[0].partition("+")[0] for name in listed)}
    names |= {"net" for name in listed if "response" in wrapper_names(name)}
    return [group_name(part, config) for part in KERNEL_GROUPS if part in names]


def precompile_plan(plan: Plan) -> None:
    """Compile the parts that a tournament needs."""
    precompile_groups(part for matchup in plan.matchups for part in groups_for(matchup.players, matchup.config))


def group_name(part: str, config: Any = None) -> str:
    """Return the full name of a part for the game of a configuration."""
    spec = spec_of(config or default_config())
    return part if spec.is_default else f"{spec.name}:{part}"


def _read(part: str) -> tuple[KernelGroup, GameSpec]:
    """Return the part with a full name, and its game; raise KeyError for an unknown name."""
    *game, name = part.split(":")
    if name not in KERNEL_GROUPS or len(game) > 1:
        raise KeyError(f"{part}: the parts are {', '.join(KERNEL_GROUPS)}")
    return KERNEL_GROUPS[name], spec_by_name(game[0]) if game else default_spec()


def describe_group(part: str) -> str:
    """Return the description of a part that is shown to users."""
    group, spec = _read(part)
    return group.description if spec.is_default else f"{group.description} of {spec.name.capitalize()}"


# The parent process


def precompile_groups(parts: Iterable[str], processes: int | None = None) -> list[str]:
    """Compile the parts that are not cached yet; return those that need a missing extra."""
    if not kernel.JIT:
        return []
    wanted = dict.fromkeys(parts)
    for part in wanted:
        _read(part)
    waiting = [part for part in wanted if not _marker(part).exists()]
    if not waiting:
        return []
    missing_extra: list[str] = []
    names = ", ".join(describe_group(part) for part in waiting)
    plain_console(stderr=True).print(f"Compiling for this machine, once: {names}; saved in {kernel.CACHE_FOLDER}")
    lines: SimpleQueue[tuple[_Worker, str]] = SimpleQueue()
    # One more than the number of cores, because a process may have to wait for a kernel that another process is
    # compiling.
    limit = processes or cpu_count() + 1
    workers: list[_Worker] = []
    try:
        with ProgressDisplay(len(waiting), "parts") as display:
            for _ in waiting[:limit]:
                workers.append(_Worker(lines))
                workers[-1].compile_next(waiting)
            while any(worker.part for worker in workers):
                worker, line = lines.get()
                if not worker.part or line not in (_DONE, _MISSING_EXTRA, _FAILED, _ENDED):
                    continue
                if line == _MISSING_EXTRA:
                    missing_extra.append(worker.part)
                elif line == _DONE:
                    _mark(worker.part)
                display.advance(1)
                if line == _ENDED and waiting:  # the worker was killed: another worker compiles the remaining parts
                    worker.part = ""
                    worker = _Worker(lines)
                    workers.append(worker)
                worker.compile_next(waiting)
    finally:
        for worker in workers:
            worker.close()
    return missing_extra


def _marker(part: str) -> Path:
    """Return the path of the file that marks a part as compiled; its folder name depends on all kernels."""
    kernels = Path(__file__).resolve().parent.parent / "training" / "pretraining.py"
    return Path(compile_cache.folder_for(str(kernels), kernel.CACHE_FOLDER)) / f"{part.replace(':', '-')}.made"


def _mark(part: str) -> None:
    try:
        with atomic_write(_marker(part)):
            pass
    except OSError:  # the cache is not writable: compile again next time
        pass


class _Worker:
    """A process that compiles one part after another and reuses the kernels that it has already loaded."""

    def __init__(self, lines: SimpleQueue[tuple[_Worker, str]]) -> None:
        """Start the process. Its output lines are added to the queue, followed by `_ENDED` when it ends."""
        self.part = ""
        self._game = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "helsinki_env.cli.precompile"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        Thread(target=self._follow, args=(lines,), daemon=True).start()

    def _follow(self, lines: SimpleQueue[tuple[_Worker, str]]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout:
            for line in self._process.stdout:
                lines.put((self, line.strip()))
        lines.put((self, _ENDED))

    def compile_next(self, waiting: list[str]) -> None:
        """Start the next part from `waiting`, preferably of the same game; `part` is its name (empty for none)."""
        self.part = ""
        if not waiting:
            return
        self.part = next((part for part in waiting if _read(part)[1].name == self._game), waiting[0])
        self._game = _read(self.part)[1].name
        waiting.remove(self.part)
        assert self._process.stdin is not None
        with suppress(OSError):  # the process has ended, which `_follow` reports
            self._process.stdin.write(f"{self.part}\n")
            self._process.stdin.flush()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        assert self._process.stdin is not None
        with suppress(OSError):  # the process has ended
            self._process.stdin.close()
        self._process.wait()


# The worker processes


def _compile_parts(parts: Iterable[str]) -> None:
    """Compile one part after another and print the result of each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which ends this process
    kernel.silence_compile_notice()
    gc.disable()  # Numba creates millions of objects: collection takes a tenth of the run time
    compile_cache.CompileLocks.patience = 600.0  # on a busy machine, the other worker may be slow, but it does not stop
    for part in parts:
        group, spec = _read(part.strip())
        try:
            group.use(spec.config())
            print(_DONE, flush=True)
        except MissingExtraError:
            print(_MISSING_EXTRA, flush=True)
        except Exception:  # the error occurs again when the kernels are called
            print(_FAILED, flush=True)


if __name__ == "__main__":
    _compile_parts(sys.stdin)
