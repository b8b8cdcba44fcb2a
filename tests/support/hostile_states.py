"""States with wrong values, given to everything that takes states; run in a process of its own.

    python -m tests.support.hostile_states GAME...

Every field of a record gets values at and beyond its limits. What takes the state must say that it cannot be, with
nothing changed, or go on from it: it must neither crash nor run for ever. The last line of each game counts both.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from helsinki_env.engine.determinization import DeterminizationError, determinize_batch
from helsinki_env.engine.playout import play_out, random_keys, sample_actions
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.envs.aec import GameAECEnv
from helsinki_env.envs.seat import GameSeatEnv, GameSeatVectorEnv
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.envs.vector import GameVectorEnv

#: Takes a state with these records, (2,), and plays on; ValueError if the state cannot be.
Taker = Callable[[Any], None]
_STEPS = 12


def values_of(dtype: np.dtype[Any]) -> list[Any]:
    """Values at the limits of a type, and near nothing."""
    if dtype == np.bool_:
        return [True]
    limits = np.iinfo(dtype)
    return [limits.min, limits.max] + ([-1, -2] if limits.min else [])


def changed(states: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and copies of records in which one field, of all games or of one entry, has another value."""
    for name in states.dtype.names:
        for value in values_of(states.dtype[name].base):
            other = states.copy()
            other[name] = value
            yield f"{name} = {value}", other
            if states[name].ndim > 1:
                other = states.copy()
                other[name].reshape(len(states), -1)[-1, -1] = value
                yield f"{name}[-1] = {value}", other


def takers(game: str, states: Any) -> dict[str, Taker]:
    spec = spec_by_name(game)
    config = spec.config()
    n = len(states)

    def played(env: Any, saved: Any, set_state: Callable[[Any], Any]) -> None:
        before = copy.deepcopy(saved(env))
        try:
            obs = set_state(env)[0]
        except ValueError:
            after = saved(env)
            assert all(np.array_equal(after[name], before[name]) for name in before)
            raise
        words = random_keys(n, 1)
        for _ in range(_STEPS):
            obs = env.step(sample_actions(obs["action_mask"], words))[0]

    def batch(env: Any) -> Taker:
        return lambda found: played(
            env, lambda e: e.get_state(), lambda e: e.set_state(e.get_state() | {"states": found})
        )

    vector = GameVectorEnv(n, config)
    vector.reset(seed=1)
    views = GameVectorEnv(n, config, copy=False)
    views.reset(seed=1)
    seats = GameSeatVectorEnv(n, config, seat=0)
    seats.reset(seed=1)
    one, alone = GameSeatEnv(config, seat=0), GameAECEnv(config)
    one.reset(seed=1)
    alone.reset(seed=1)
    tensors = GameTorchEnv(n, config, "cpu")
    tensors.reset(seed=1)

    def in_tensors(found: Any) -> None:
        rows = torch.from_numpy(found.view(np.uint8).reshape(n, -1).copy())
        tensors.set_state(tensors.get_state() | {"states": rows})
        for _ in range(_STEPS):
            tensors.step(tensors.sample())

    def in_one(found: Any) -> None:
        obs, _ = one.set_state(one.get_state() | {"states": found[-1:].copy()})
        one.step(int(obs["action_mask"].argmax()))

    def for_agents(found: Any) -> None:
        alone.set_state(alone.get_state() | {"_states": found[-1:].copy(), "agent_selection": "player_0"})
        alone.step(int(alone.last()[0]["action_mask"].argmax()))

    def as_game(found: Any) -> None:
        game = spec.game.from_state(config, found[-1])
        for _ in range(_STEPS):
            if game.done:
                break
            game.step(int(game.legal_actions()[-1]))
        game.observation(0), game.scores()
        assert spec.to_dict is not None
        spec.to_dict(game)

    def dealt_anew(found: Any) -> None:
        determinize_batch(config, found.copy(), np.zeros(n, np.int64), random_keys(n))

    def played_out(found: Any) -> None:
        play_out(config.tables[0], found.copy(), random_keys(n), spec.num_actions(config))

    def set_up(found: Any) -> None:
        vector.reset(seed=1, options={"setup": found})

    return {
        "vector": batch(vector),
        "vector without copies": batch(views),
        "seats": batch(seats),
        "seat": in_one,
        "tensors": in_tensors,
        "agents": for_agents,
        "game": as_game,
        "redeal": dealt_anew,
        "playout": played_out,
        "setup": set_up,
    }


def main(game: str) -> None:
    spec = spec_by_name(game)
    config = spec.config()
    env = GameVectorEnv(2, config)
    obs, _ = env.reset(seed=5)
    words = random_keys(2, 5)
    for _ in range(40):
        obs = env.step(sample_actions(obs["action_mask"], words))[0]
    found: Counter[str] = Counter()
    for name, taker in takers(game, env.states).items():
        for what, states in changed(env.states):
            print(name, what, flush=True)
            try:
                taker(states)
                found["accepted"] += 1
            except DeterminizationError:
                found["accepted"] += 1
            except ValueError as problem:
                found["rejected" if "found" in str(problem) else f"not ours: {problem}"] += 1
    print(f"{found.pop('rejected')} rejected, {found.pop('accepted')} accepted, {[*found]} neither")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        main(each)
