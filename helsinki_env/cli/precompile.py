"""Precompile kernels: compile what a command will call before it starts, in parallel and with progress output.

Related kernels form a part, such as the rules or a player. A separate process compiles a part by running it once with
the smallest batch. The machine code goes to the shared cache (`helsinki_env.engine.compile_cache`), from which all
processes load it. Kernels that are still missing are compiled when they are called.

    python -m helsinki_env.cli.precompile PART

compiles one part.
"""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.engine import compile_cache, kernel
from helsinki_env.engine.spec import GameSpec, default_config, default_spec, spec_by_name, spec_of
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.files import atomic_write
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.plan import Plan

#: Exit status of a process whose part needs an extra that is not installed.
_MISSING_EXTRA = 3
#: Seconds between two looks at the processes.
_INTERVAL = 0.05


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
    """Return the inputs of a player for the first action of a game."""
    from helsinki_env.agents.base import init_streams
    from helsinki_env.envs.vector import GameVectorEnv

    obs, _ = GameVectorEnv(1, config).reset(seed=0)
    return obs["observation"], obs["action_mask"], init_streams(0, [0], 0)


def _player(name: str, config: Any) -> None:
    from helsinki_env.agents.registry import make_player

    make_player(name, config).act(*_first(config))


def _flat(config: Any) -> None:
    from helsinki_env.agents.search.player import FlatPlayer

    observation, mask, words = _first(config)
    FlatPlayer(1, config).evaluate_actions(
        observation, np.eye(mask.shape[1], dtype=np.int8)[mask.argmax(axis=1)], words
    )


def _network(config: Any) -> None:
    from helsinki_env.agents.net.afterstates import AfterstateEncoder

    _player("net", config)
    observation, mask, _ = _first(config)
    AfterstateEncoder(config).ends(observation, mask.argmax(axis=1))


def _training(config: Any) -> None:
    from helsinki_env.agents.net.features import feature_offsets
    from helsinki_env.agents.search.workspace import new_workspace
    from helsinki_env.engine.playout import random_keys
    from helsinki_env.envs.vector import GameVectorEnv
    from helsinki_env.training.pretraining import generate_samples

    env = GameVectorEnv(1, config)
    env.reset(seed=0)
    generate_samples(new_workspace(config), feature_offsets(config), env.states, random_keys(1), 0.5, 0.5)


class KernelGroup(NamedTuple):
    """Kernels that are compiled together, for any game."""

    description: str
    #: Calls each kernel for the game of a configuration.
    use: Callable[[Any], None]


KERNEL_GROUPS = {
    "games": KernelGroup("the rules", _games),
    "game": KernelGroup("single games", _one_game),
    "seat": KernelGroup("single seats", _seats),
    "greedy": KernelGroup("greedy", partial(_player, "greedy")),
    "heuristic": KernelGroup("heuristic", partial(_player, "heuristic")),
    "mc": KernelGroup("mc", _flat),
    "ismcts": KernelGroup("ismcts", partial(_player, "ismcts:1")),
    "net": KernelGroup("net", _network),
    "net+search": KernelGroup("net+search", partial(_player, "net+search:1")),
    "training": KernelGroup("training", _training),
}
"""All parts that can be precompiled. A part with a player's name belongs to that player. Parts of a game other than
the default are named GAME:PART.
"""


def groups_for(players: Iterable[str], config: Any = None) -> list[str]:
    """Return the parts that games between players need, named as on a command line."""
    from helsinki_env.agents.registry import innermost_name

    names = {"games", *(innermost_name(name).partition(":")[0] for name in players)}
    return [group_name(part, config) for part in KERNEL_GROUPS if part in names]


def precompile_plan(plan: Plan) -> None:
    """Compile the parts that a tournament needs."""
    precompile_groups(part for table in plan.tables for part in groups_for(table.players, table.config))


def group_name(part: str, config: Any = None) -> str:
    """Return the name of a part for the game of a configuration."""
    spec = spec_of(config or default_config())
    return part if spec.is_default else f"{spec.name}:{part}"


def _read(part: str) -> tuple[KernelGroup, GameSpec]:
    """Return a part and its game by the part's full name; KeyError if it does not exist."""
    *game, name = part.split(":")
    if name not in KERNEL_GROUPS or len(game) > 1:
        raise KeyError(f"{part}: the parts are {', '.join(KERNEL_GROUPS)}")
    return KERNEL_GROUPS[name], spec_by_name(game[0]) if game else default_spec()


def describe_group(part: str) -> str:
    """Return the description of a part for users."""
    group, spec = _read(part)
    return group.description if spec.is_default else f"{group.description} of {spec.name.capitalize()}"


# In the process that needs them


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
    running: dict[str, subprocess.Popen[bytes]] = {}
    # One more than the cores, because a process sometimes waits for a kernel that another process compiles.
    limit = processes or cpu_count() + 1
    try:
        with ProgressDisplay(len(waiting), "parts") as display:
            while waiting or running:
                while waiting and len(running) < limit:
                    part = waiting.pop(0)
                    running[part] = _start(part)
                time.sleep(_INTERVAL)
                for part in [part for part, process in running.items() if process.poll() is not None]:
                    status = running.pop(part).returncode
                    if status == _MISSING_EXTRA:
                        missing_extra.append(part)
                    elif status == 0:
                        _mark(part)
                    display.advance(1)
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return missing_extra


def _marker(part: str) -> Path:
    """Return the file that marks a part as compiled; its folder's name changes with every kernel."""
    kernels = Path(__file__).resolve().parent.parent / "training" / "pretraining.py"
    return Path(compile_cache.folder_for(str(kernels), kernel.CACHE_FOLDER)) / f"{part.replace(':', '-')}.made"


def _mark(part: str) -> None:
    try:
        with atomic_write(_marker(part)):
            pass
    except OSError:  # the cache is not writable: compile again next time
        pass


def _start(part: str) -> subprocess.Popen[bytes]:
    """Start the process that compiles a part."""
    command = [sys.executable, "-m", "helsinki_env.cli.precompile", part]
    none = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=none, stdout=none, stderr=none)


# In the process that compiles a part


def _compile(part: str) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which ends this process
    kernel.silence_compile_notice()
    gc.disable()  # Numba creates millions of objects: collection takes a tenth of the time of this short process
    group, spec = _read(part)
    try:
        group.use(spec.config())
    except MissingExtraError:
        return _MISSING_EXTRA
    return 0


if __name__ == "__main__":
    sys.exit(_compile(sys.argv[1]))
