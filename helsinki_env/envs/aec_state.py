"""What a PettingZoo environment changes from step to step, and whether what somebody brings back as that can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from helsinki_env.data import shown
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States, copy_states
from helsinki_env.engine.values import whole_number

DICTS = ("terminations", "truncations", "rewards", "_cumulative_rewards", "infos")
"""Attributes that hold something for each agent; `_KINDS` says what."""
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
"""All attributes that change."""


class AfterReset:
    """An attribute that there is from the first reset on, when the object gets one of its own of that name.

    In its place, `__getattr__` would make every attribute slow, those that are there as well.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(f"{self.name}: nothing is dealt yet; call reset() first")


def checked_states(state: Any, mine: Any) -> States:
    """Return a copy of the record, (1,), in a state that was brought back.

    Args:
        state: what `GameAECEnv.set_state` got.
        mine: the configuration of the environment.

    Raises:
        ValueError: if it is not what `GameAECEnv.get_state` returns, of as many players with the same components.
    """
    if not isinstance(state, Mapping) or set(state) != set(CHANGING):
        found = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise ValueError(f"state: found {found}, expected what get_state returns: {', '.join(CHANGING)}")
    spec = spec_of(mine)
    config, record = spec.checked(state["config"]), state["_states"]
    if (config.num_players, config.loaded) != (mine.num_players, mine.loaded):
        raise ValueError(
            f"state: found one of {config.num_players} players with components {config.components!r}, expected "
            f"{mine.num_players} players with components {mine.components!r}"
        )
    states = spec.new_states(config, 1)
    if not isinstance(record, np.ndarray) or record.dtype != states.dtype or record.shape != (1,):
        raise ValueError(f"_states: found {type(record).__name__}, expected one record of the environment's layout")
    copy_states(np.ascontiguousarray(record), out=states)
    spec.check(states, config)
    setup = spec.new_states(config, 1)
    spec.apply_setup(setup, config)
    for name in spec.setup:
        if (states[name] != setup[name]).any():
            raise ValueError(f"_states: {name}: found {states[name][0]}, expected {setup[name][0]} as in `config`")
    return states


def check_agents(state: Mapping[str, Any], game: Any, possible: list[str], ids: int) -> None:
    """Make sure that what is kept of the agents goes with the game.

    Args:
        state: a mapping of all that changes.
        game: its record, checked.
        possible: all agents, in the order of their seats.
        ids: how many decisions there are.

    Raises:
        ValueError: naming the attribute that does not.
    """
    agents, over = state["agents"], state["_over"]
    in_order = _are_names(agents) and [agent for agent in possible if agent in agents] == agents
    last = state["_last_action"]
    selectable = (agents or possible) if in_order and over is True else [possible[game["seat"]]]
    checks = {
        "_over": (isinstance(over, bool) and over >= game["done"], "True once the game is over, else False"),
        "agents": (in_order and (over is True or agents == possible), "those whose game is not over, in order"),
        "agent_selection": (_is_name(state["agent_selection"], selectable), "the agent to move"),
        "_skip_agent_selection": (
            state["_skip_agent_selection"] is None or _is_name(state["_skip_agent_selection"], possible),
            "an agent or None",
        ),
        "_seed": (_is_below(2**64, state["_seed"]), "64 bits"),
        "_episode": (_is_below(2**64, state["_episode"]), "64 bits"),
        "_last_action": (last is None or _is_below(ids, last), "an action or None"),
    }
    for name, (kind, what) in _KINDS.items():
        found = state[name]
        fits = isinstance(found, dict) and in_order and [*found] == agents
        checks[name] = (fits and all(kind(value, over) for value in found.values()), f"a dict of {what} by agent")
    for name, (fits, expected) in checks.items():
        if not fits:
            raise ValueError(f"state: {name}: found {shown(state[name])}, expected {expected}")


def _is_name(value: object, names: list[str]) -> bool:
    return isinstance(value, str) and value in names


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_reward(value: object) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(-_MOST_REWARD < value < _MOST_REWARD)  # type: ignore[operator]  # it is a number


#: Beyond any reward.
_MOST_REWARD = 1e6
#: What is kept for each agent: whether a value is right, given `_over`, and what is expected.
_KINDS: dict[str, tuple[Callable[[object, object], bool], str]] = {
    "terminations": (lambda value, over: value is over, "the value of _over"),
    "truncations": (lambda value, over: value is False, "False"),
    "rewards": (lambda value, over: _is_reward(value), "finite numbers"),
    "_cumulative_rewards": (lambda value, over: _is_reward(value), "finite numbers"),
    "infos": (lambda value, over: isinstance(value, dict), "dicts"),
}


def _is_below(limit: int, value: object) -> bool:
    number = whole_number(value)
    return number is not None and 0 <= number < limit
