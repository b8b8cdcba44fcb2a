"""Play a few games in numba-cuda's simulator and on the CPU, and compare them.

Run by `tests/test_cuda.py` with NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1: `python -m tests.simulated GAME`.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch

import helsinki_env  # noqa: F401  # makes the games known
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.envs.tensors import GameTorchEnv
from tests.support.cards import Simulated

GAMES = 3
#: Simulated steps before and after the end of the first game.
BEFORE, AFTER = 4, 3


def near_an_end(env: GameTorchEnv) -> dict[str, torch.Tensor]:
    """Play until a game ends, and return the state some steps before."""
    env.reset(seed=1)
    states: list[dict[str, torch.Tensor]] = []
    while not env.memory.ended.any():
        states = [*states[-BEFORE + 1 :], env.get_state()]
        env.step(env.sample())
    return states[0]


def differing(one: GameTorchEnv, other: GameTorchEnv) -> list[str]:
    """Return the names of arrays that differ."""
    return [
        name for name in vars(one.memory) if not torch.equal(getattr(one.memory, name), getattr(other.memory, name))
    ]


def main(game: str) -> None:
    """Play and compare games from the beginning and around an end."""
    spec = spec_by_name(game)
    config, episodes = spec.config(), spec.episodes(num_players=(2, 3, 4))
    one, other = envs = [GameTorchEnv(GAMES, config, "cpu", episodes) for _ in range(2)]
    other._backend = Simulated(other)
    near = near_an_end(GameTorchEnv(GAMES, config, "cpu", episodes))
    endings = 0
    for state, steps in ((None, 3), (near, BEFORE + AFTER)):
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
    main(sys.argv[1])
