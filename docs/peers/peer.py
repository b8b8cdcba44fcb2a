"""Measure one library: random legal play, actions per second with mask and observation, on one CPU core.

pgx runs on the default device of JAX, which may be a GPU, and waits for it after every choice and step.

    python peer.py LIBRARY GAME GAMES SECONDS

prints the result as JSON. The loop is the same for all libraries: get the observation and the legal actions, choose one
at random, apply it. Extra steps, to deal or to roll dice, belong to the previous action. The first figure excludes the
time for choosing, the second includes it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

#: Loaded by path, because other libraries have another Python environment.
_FILE = Path(__file__).resolve().parents[2] / "helsinki_env" / "bench" / "measures.py"


def _measures() -> Any:
    spec = spec_from_file_location("measures", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["measures"] = module
    spec.loader.exec_module(module)
    return module


def ours(game: str, games: int) -> Callable[[float], tuple[float, float]]:
    """Measure a batch of helsinki-env, or one game: a PettingZoo environment, or for GAME:Game the game object."""
    name, _, single = game.partition(":")
    package = import_module("helsinki_env")
    if games > 1:
        return _measures().prepare_steps(getattr(package, f"{name.capitalize()}VectorEnv")(games))
    env = import_module(f"helsinki_env.{name}_v0").raw_env()
    if not single:
        return _measures().prepare_aec_steps(env)
    env.reset(seed=0)
    first, rng = env.game, random.Random(0)
    played = first.clone()
    action = 0

    def choose() -> None:
        nonlocal action
        action = int(rng.choice(legal))

    def step() -> int:
        nonlocal played, legal
        played.step(action)
        if played.done:
            played = first.clone()
        played.observation()
        legal = played.action_mask().nonzero()[0]
        return 1

    legal = played.legal_actions()
    return partial(_measures().split_rates, choose, step)


def pettingzoo(game: str, games: int) -> Callable[[float], tuple[float, float]]:
    """Measure one game of PettingZoo without wrappers; `games` is 1."""
    name, _, size = game.partition(":")
    options = {"board_size": int(size)} if size else {}
    return _measures().prepare_aec_steps(import_module(f"pettingzoo.classic.{name}").raw_env(**options))


def rlcard(game: str, games: int) -> Callable[[float], tuple[float, float]]:
    """Measure one game of RLCard, whose step returns the observation and the legal actions."""
    import rlcard

    env, rng = rlcard.make(game, {"seed": 0}), random.Random(0)
    state = env.reset()[0]
    action = 0

    def choose() -> None:
        nonlocal action
        action = rng.choice(list(state["legal_actions"]))

    def step() -> int:
        nonlocal state
        state = env.step(action)[0]
        if env.is_over():
            state = env.reset()[0]
        return 1

    return partial(_measures().split_rates, choose, step)


def open_spiel(game: str, games: int) -> Callable[[float], tuple[float, float]]:
    """Measure one game of OpenSpiel, which is written in C++, from Python."""
    import pyspiel

    made, rng = pyspiel.load_game(game), random.Random(0)
    seen = "observation_tensor" if made.get_type().provides_observation_tensor else "information_state_tensor"
    state = made.new_initial_state()
    legal: list[int] = []
    action = 0

    def look() -> None:
        """Deal or roll until a player acts, and compute that player's observation."""
        nonlocal state, legal
        if state.is_terminal():
            state = made.new_initial_state()
        while state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, weights)[0])
        getattr(state, seen)(state.current_player())
        state.legal_actions_mask()
        legal = state.legal_actions()

    def choose() -> None:
        nonlocal action
        action = rng.choice(legal)

    def step() -> int:
        state.apply_action(action)
        look()
        return 1

    look()
    return partial(_measures().split_rates, choose, step)


def pgx(game: str, games: int) -> Callable[[float], tuple[float, float]]:
    """Measure a batch of pgx, compiled by XLA; a step restarts finished games."""
    import jax
    import jax.numpy as jnp
    from pgx import make
    from pgx.experimental import auto_reset

    env = make(game)
    step_all = jax.jit(jax.vmap(auto_reset(env.step, env.init)))

    @jax.jit
    def pick(mask: Any, key: Any) -> Any:
        return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=-1)

    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, games))
    action: Any = None
    number = 0

    def choose() -> None:
        nonlocal action, number
        number += 2
        action = jax.block_until_ready(pick(state.legal_action_mask, jax.random.fold_in(key, number)))

    def step() -> int:
        nonlocal state
        state = jax.block_until_ready(
            step_all(state, action, jax.random.split(jax.random.fold_in(key, number + 1), games))
        )
        return games

    return partial(_measures().split_rates, choose, step)


def _jax_device() -> str:
    import jax

    return str(jax.devices()[0].device_kind)


if __name__ == "__main__":
    library, game, games, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    if hasattr(os, "sched_setaffinity"):  # before a library counts the CPU cores for its threads
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    prepare = {"helsinki-env": ours, "pettingzoo": pettingzoo, "rlcard": rlcard, "open_spiel": open_spiel, "pgx": pgx}[
        library
    ]
    begun = time.perf_counter()
    rates = prepare(game, games)(seconds)
    found = version(library) + (f" (JAX {version('jax')}, {_jax_device()})" if library == "pgx" else "")
    print(json.dumps({"rates": rates, "version": found, "seconds": time.perf_counter() - begun}))
