"""Play a few games in numba-cuda's simulator and on the CPU, and compare them.

Run by `tests/test_cuda.py` with NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1: `python -m tests.simulated GAME FILE`.
`near_an_end` finds the state in FILE; it takes much less time with the compiler.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

import helsinki_env  # noqa: F401  # makes the games known
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.envs.tensors import GameTorchEnv
from tests.support.gpus import Simulated

GAMES = 3
#: Simulated steps before and after the end of the first game.
BEFORE, AFTER = 2, 2


def three_games(game: str) -> GameTorchEnv:
    """Games on the CPU with varied player counts."""
    spec = spec_by_name(game)
    return GameTorchEnv(GAMES, spec.config(), "cpu", spec.episodes(num_players=(2, 3, 4)))


def near_an_end(env: GameTorchEnv) -> dict[str, Any]:
    """Play until a game ends, and return the state some steps before."""
    env.reset(seed=1)
    states: list[dict[str, Any]] = []
    while not env.memory.ended.any():
        states = [*states[-BEFORE + 1 :], env.get_state()]
        env.step(env.sample())
    return states[0]


def differing(one: GameTorchEnv, other: GameTorchEnv) -> list[str]:
    """Return the names of arrays that differ."""
    return [
        name for name in vars(one.memory) if not torch.equal(getattr(one.memory, name), getattr(other.memory, name))
    ]


def main(game: str, file: Path) -> None:
    """Play and compare games from the beginning and around an end."""
    one, other = envs = [three_games(game) for _ in range(2)]
    other._backend = Simulated(other)
    near = torch.load(file, weights_only=False)
    endings = 0
    for state, steps in ((None, 2), (near, BEFORE + AFTER)):
        for env in envs:
            env.reset(seed=1) if state is None else env.set_state(state)
            env.memory.ended.zero_(), env.memory.rewards.zero_()
        for _ in range(steps):
            assert differing(one, other) == []
            for env in envs:
                env.sample()
                env.memory.actions.copy_(env.memory.chosen)
            assert [env._backend.first_illegal() for env in envs] == [-1, -1]
            for env in envs:
                env.step(env.memory.chosen)
            endings += int(one.memory.ended.sum())
    assert differing(one, other) == []
    assert endings > 0
    for env in envs:
        env.play_random(2)
    assert differing(one, other) == []
    for env in envs:
        env.reset(seed=2)
        wrong = torch.tensor([0, -1, 10**6])
        env.memory.actions.copy_(wrong)
        assert env._backend.first_illegal() >= 0
        env.step(wrong)
    assert differing(one, other) == []
    assert int(other.illegal_actions) >= 2
    print(f"the same games, {endings} endings")


if __name__ == "__main__":
    np.seterr(over="ignore")
    warnings.simplefilter("ignore", RuntimeWarning)  # integers wrap around, and each thread has settings of its own
    main(sys.argv[1], Path(sys.argv[2]))
