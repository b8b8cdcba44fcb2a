"""Mutable state of a PettingZoo environment, and its validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from helsinki_env.data import as_integer, short_repr
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States, copy_states

DICTS = ("terminations", "truncations", "rewards", "_cumulative_rewards", "infos")
"""Per-agent attributes; `_KINDS` describes their values."""
CHANGING = (
    *DICTS,
    "agents",
    "agent_selection",
    "config",
    "_skip_agent_selection",
    "_states",
    "_seed",
    "_episode",
    "_over",
    "_last_action",
)
"""All mutable attributes."""


class AfterReset:
    """An attribute that exists only after the first reset, which sets it on the instance.

    A `__getattr__` method instead would slow down every attribute access.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(f"{self.name}: no game is dealt yet; call reset() first")


def checked_states(state: Any, mine: Any) -> States:
    """Return a copy of the record, (1,), in a saved state; ValueError unless it fits the configuration `mine`."""
    if not isinstance(state, Mapping) or set(state) != set(CHANGING):
        found = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise ValueError(f"state: found {found}, expected what get_state returns: {', '.join(CHANGING)}")
    spec = spec_of(mine)
    config, record = spec.check_config(state["config"]), state["_states"]
    if (config.num_players, config.component_set) != (mine.num_players, mine.component_set):
        raise ValueError(
            f"state: found {config.num_players} players with components {config.components!r}, expected "
            f"{mine.num_players} players with components {mine.components!r}"
        )
    states = spec.new_states(config, 1)
    if not isinstance(record, np.ndarray) or record.dtype != states.dtype or record.shape != (1,):
        raise ValueError(f"_states: found {type(record).__name__}, expected one record of the environment's layout")
    copy_states(np.ascontiguousarray(record), out=states)
    spec.check(states, config)
    setup = spec.new_states(config, 1)
    spec.apply_setup(setup, config)
    for name in spec.setup_fields:
        if (states[name] != setup[name]).any():
            raise ValueError(f"_states: {name}: found {states[name][0]}, expected {setup[name][0]} as in `config`")
    return states


def check_agents(state: Mapping[str, Any], game: Any, possible: list[str], ids: int) -> None:
    """Check that the per-agent state is consistent with the game's valid record; ValueError otherwise.

    `possible`: all agents, in seat order; `ids`: number of actions.
    """
    agents, over = state["agents"], state["_over"]
    in_order = _are_names(agents) and [agent for agent in possible if agent in agents] == agents
    last = state["_last_action"]
    selectable = (agents or possible) if in_order and over is True else [possible[game["seat"]]]
    checks = {
        "_over": (isinstance(over, bool) and over >= game["done"], "True once the game is over, else False"),
        "agents": (in_order and (over is True or agents == possible), "the agents whose game is not over, in order"),
        "agent_selection": (_is_name(state["agent_selection"], selectable), "the acting agent"),
        "_skip_agent_selection": (
            state["_skip_agent_selection"] is None or _is_name(state["_skip_agent_selection"], possible),
            "an agent or None",
        ),
        "_seed": (_is_below(2**64, state["_seed"]), "a uint64"),
        "_episode": (_is_below(2**64, state["_episode"]), "a uint64"),
        "_last_action": (last is None or _is_below(ids, last), "an action or None"),
    }
    for name, (kind, what) in _KINDS.items():
        found = state[name]
        fits = isinstance(found, dict) and in_order and [*found] == agents
        checks[name] = (fits and all(kind(value, over) for value in found.values()), f"a dict of {what} by agent")
    for name, (fits, expected) in checks.items():
        if not fits:
            raise ValueError(f"state: {name}: found {short_repr(state[name])}, expected {expected}")


def _is_name(value: object, names: list[str]) -> bool:
    return isinstance(value, str) and value in names


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_reward(value: object) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(-_MOST_REWARD < value < _MOST_REWARD)  # type: ignore[operator]  # it is a number


#: Larger than any reward.
_MOST_REWARD = 1e6
#: Per-agent attributes: a function that checks a value, given `_over`, and a description of valid values.
_KINDS: dict[str, tuple[Callable[[object, object], bool], str]] = {
    "terminations": (lambda value, over: value is over, "the value of _over"),
    "truncations": (lambda value, over: value is False, "False"),
    "rewards": (lambda value, over: _is_reward(value), "finite numbers"),
    "_cumulative_rewards": (lambda value, over: _is_reward(value), "finite numbers"),
    "infos": (lambda value, over: isinstance(value, dict), "dicts"),
}


def _is_below(limit: int, value: object) -> bool:
    number = as_integer(value)
    return number is not None and 0 <= number < limit
