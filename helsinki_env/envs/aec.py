"""PettingZoo AEC environment for any game; each game has a module of its own, such as `helsinki_v0`.

A step is one call of compiled code, which applies the action and writes the mask and observation of the next agent.
The environment checks that actions are legal; `OrderEnforced` adds PettingZoo's check of the call order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from gymnasium import logger
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers.order_enforcing import OrderEnforcingWrapper

from helsinki_env.data import FAST_INTEGER_TYPES, as_action, as_integer, seed_to_uint64, short_repr
from helsinki_env.engine.configuration import REWARDS, ConfigError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.kernel import specialize
from helsinki_env.engine.loops import MASK_ONLY, deal_single, observe_single
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.engine.states import States, copy_states, repeat_state
from helsinki_env.envs import kernels
from helsinki_env.envs.arguments import (
    PENALTIES,
    IllegalActionMode,
    Observation,
    check_flag,
    check_illegal_action,
    check_mode,
    check_options,
    check_state_keys,
    check_width,
    render_modes,
    spaces,
    warn_illegal_action,
)
from helsinki_env.envs.buffer_pool import BufferPairPool, writable_attributes
from helsinki_env.envs.global_state import global_state_space, global_states

__all__ = ["GameAECEnv", "OrderEnforced", "metadata_of"]


DICTS = ("terminations", "truncations", "rewards", "_cumulative_rewards", "infos")
"""Per-agent attributes; `_KINDS` describes their values."""
CHANGING = (*DICTS, "agents", "agent_selection", "config", "_skip_agent_selection", "_states", "_seed", "_episode",
            "_over", "_last_action")  # fmt: skip
"""All mutable attributes."""


class AfterReset:
    """Attribute that exists only after the first reset, which sets it on the instance.

    Using a `__getattr__` method instead would slow down every attribute access.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(f"{self.name}: no game is dealt yet; call reset() first")


def checked_states(state: Any, mine: Any) -> States:
    """Return a copy of the record in a saved state, (1,); raise ValueError if it does not match the config `mine`."""
    check_state_keys(state, CHANGING)
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
    """Raise ValueError unless the per-agent state is consistent with the valid record of the game.

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
    return number and bool(-_MAX_REWARD < value < _MAX_REWARD)  # type: ignore[operator]  # it is a number


#: Upper bound on rewards.
_MAX_REWARD = 1e6
#: Per-agent attributes, with a function that checks a value given `_over`, and a description of valid values.
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


_STREAM = np.uint64(0)
_NO_GLOBAL_STATE = "found global_state=False, expected True; make the environment with global_state=True"


def metadata_of(spec: GameSpec) -> dict[str, Any]:
    """Return the PettingZoo metadata for the environment of a game."""
    return {
        "name": spec.environment,
        "render_modes": render_modes(spec),
        "render_fps": 2,
        "is_parallelizable": False,
    }


class GameAECEnv(AECEnv):  # type: ignore[misc]  # an untyped base class
    """PettingZoo AEC environment for one game.

    Args:
        config: configuration of the game to play.
        render_mode: None, "ansi", "human" (prints the text after every step and in `render`), "rgb_array" or "svg".
        illegal_action: effect of an illegal action. "penalize": the game ends, the agent gets -1 (-100 with reward
            "margin"), the others share the opposite amount, and the first illegal action also triggers a warning.
            "raise": raises `IllegalActionError` and leaves the environment unchanged. A non-integer action always
            raises an error.
        render_width: width of "rgb_array" images in pixels; None means 1,200.
        global_state: whether `state()` and `state_space` are available. They reveal all hidden cards (`global_states`).

    Raises:
        ValueError: for invalid arguments.
    """

    #: `kernels.step_one` specialized for the array types used here; set on the first lookup.
    _step_one: Callable[..., int] | None = None
    #: Set on an instance only if they differ from these defaults, because of the attribute limit in `__init__`.
    render_width: int | None = None
    global_state = False
    _warned = False

    def __init__(
        self,
        config: Any,
        render_mode: str | None = None,
        illegal_action: IllegalActionMode = "penalize",
        render_width: int | None = None,
        global_state: bool = False,
    ) -> None:
        super().__init__()
        self.game_spec = spec_of(config)
        self.config = config
        self.metadata = metadata_of(self.game_spec)
        self.render_mode = check_mode(render_mode, tuple(self.metadata["render_modes"]))
        if check_width(render_width) is not None:
            self.render_width = check_width(render_width)
        if check_flag("global_state", global_state):
            self.global_state = True
        self._shown = render_mode == "human"
        self.illegal_action = check_illegal_action(illegal_action)
        self.possible_agents = [f"player_{seat}" for seat in range(config.num_players)]
        # Keep at most 29 attributes: with more, attribute access takes 50% longer in Python 3.11.
        ids, size = self.game_spec.num_actions(config), self.game_spec.observation_size(config)
        both = {agent: spaces(ids, size) for agent in self.possible_agents}
        self.observation_spaces = {agent: pair[0] for agent, pair in both.items()}
        self.action_spaces = {agent: pair[1] for agent, pair in both.items()}
        self._tables = config.tables
        self._states = self.game_spec.new_states(config, 1)
        self._setup = self._setup_of(config)
        self._legal = np.zeros(ids, np.int8)
        self._arrays = BufferPairPool(size, ids)
        self._seed = np.uint64(0)
        self._episode: np.uint64 | None = None  # None before the first reset
        self._over = True
        self._last_action: int | None = None
        # The acting agent's observation until it is returned to a caller: each array is returned only once.
        self._view: Observation = {}
        self._viewer: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that `reset` accepts."""
        return tuple(name for name in self.game_spec.options if name not in ("num_players", "reward"))

    # PettingZoo

    def observation_space(self, agent: str) -> Dict:
        """Return the observation space of an agent, always the same object."""
        return self.observation_spaces[self.possible_agents[self._seat(agent)]]

    def action_space(self, agent: str) -> Discrete:
        """Return the action space of an agent, always the same object."""
        return self.action_spaces[self.possible_agents[self._seat(agent)]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: random seed; `make_game` deals the same game with this seed. None deals the next game of the last
                seed's series, or uses fresh entropy at the first reset.
            options: changes to the configuration for this and later games; the keys are names in `self.options`. Other
                names of the configuration are errors. Any other key is ignored, as PettingZoo requires.

        Raises:
            ConfigError: for an invalid configuration. ValueError: for an invalid seed. The environment is left
                unchanged.
        """
        config = self.config
        given = check_options(options)
        changes = {name: given[name] for name in self.options if name in given}
        for name in given:
            if name not in self.options and name in self.config.keys():  # noqa: SIM118  # not a mapping
                raise ConfigError(f"options: found {name}, which cannot change; create another environment")
        setup = self._setup
        if changes:
            config = config.replace(**changes)
            setup = self._setup_of(config)
        if seed is not None or self._episode is None:
            self._seed, self._episode = seed_to_uint64(seed), np.uint64(0)
        else:
            self._episode += np.uint64(1)
        self.config, self._setup = config, setup
        deal_single(self._tables, self._states, setup, self._seed, _STREAM, self._episode)
        obs, mask = self._write_view()
        self._over = False
        self._last_action = None
        self.agents = self.possible_agents[:]
        self.agent_selection = self._viewer = self.agents[0]
        self._view = {"observation": obs, "action_mask": mask}
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        if self._shown:
            self.render()

    def _write_view(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return the acting seat's observation and mask, and update the environment's own copy of the legal actions."""
        obs, mask = self._arrays.take()
        step_one = self._step_one or self._find_step_one(mask, obs)
        step_one(self._tables, self._states, MASK_ONLY, self._legal, mask, obs)
        return obs, mask

    def _setup_of(self, config: Any) -> States:
        """Return the game options, which are the same for every deal, as a record, (1,)."""
        setup = self.game_spec.new_states(config, 1)
        self.game_spec.apply_setup(setup, config)
        return setup

    def step(self, action: int | None) -> None:
        """Apply an action of the acting agent; the action must be None if the game is over for this agent.

        Raises:
            IllegalActionError: for an action that is not an integer and, with illegal_action="raise", for an illegal
                action. The environment is left unchanged.
        """
        if self._over:
            self._step_without_game(action)
            return
        obs, mask = self._arrays.take()
        try:
            chosen = action if action.__class__ in FAST_INTEGER_TYPES else as_action(action)
            step_one = self._step_one or self._find_step_one(mask, obs)
            seat = step_one(self._tables, self._states, chosen, self._legal, mask, obs)
        except (TypeError, OverflowError):
            seat = MAX_SEATS
        # Rewards are 0 until the game ends, so no reward is cleared or accumulated here.
        if 0 <= seat < MAX_SEATS:
            self.agent_selection = self._viewer = self.possible_agents[seat]
        elif seat < 0:
            self._finish()
            self._viewer = self.agent_selection
        else:
            self._penalize(self.agent_selection, action)
            return
        self._last_action = chosen
        self._view = {"observation": obs, "action_mask": mask}
        if self._shown:
            self.render()

    def _find_step_one(self, mask: npt.NDArray[np.int8], obs: npt.NDArray[np.int8]) -> Callable[..., int]:
        found: Callable[..., int] = specialize(kernels.step_one, self._tables, self._states, 0, self._legal, mask, obs)
        self._step_one = found
        return found

    def _step_without_game(self, action: int | None) -> None:
        """Handle the step of an agent for which the game is over."""
        self._check_dealt()
        if not self.agents:
            raise ValueError("step: the game is over for every agent; call reset()")
        self._was_dead_step(action)

    def _check_dealt(self) -> None:
        if self._episode is None:
            raise AttributeError("no game is dealt yet; call reset() first")

    def _penalize(self, agent: str, action: object) -> None:
        """End the game after an illegal action, or raise the error."""
        why = self.game_spec.why_illegal(self.game, action)
        if self.illegal_action == "raise" or as_integer(action) is None:
            raise IllegalActionError(why)
        penalty = PENALTIES[self.config.reward]
        shared = -penalty / (len(self.agents) - 1)
        self._legal[:] = 0
        self._viewer = None  # the cached mask is out of date
        self._end({a: penalty if a == agent else shared for a in self.agents})
        self.infos[agent]["illegal_action"] = why
        if not self._warned:
            self._warned = True
            warn_illegal_action(self.config.reward, "observation['action_mask']", 2)

    def _finish(self) -> None:
        reports = np.zeros(1, kernels.REPORT)
        kernels.finish_one(self._tables, self._states, REWARDS.index(self.config.reward), reports)
        rewards, scores, places = (
            reports[name][0, : len(self.agents)].tolist() for name in ("rewards", "scores", "places")
        )
        self._end(dict(zip(self.possible_agents, rewards, strict=True)))
        for agent in self.agents:
            self.infos[agent] |= {"scores": tuple(scores), "places": tuple(places)}

    def _end(self, rewards: dict[str, float]) -> None:
        self._over = True
        self.rewards = rewards
        self._cumulative_rewards = rewards.copy()
        self.terminations = dict.fromkeys(self.agents, True)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since the last turn, terminated, truncated and info of the acting agent."""
        if not self._over:
            agent = self.agent_selection
            if observe and agent is self._viewer:  # the usual case; equivalent to `observe`
                self._viewer = None
                return self._view, 0.0, False, False, self.infos[agent]
            return self.observe(agent) if observe else None, 0.0, False, False, self.infos[agent]
        self._check_dealt()
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation and action mask as new arrays; the mask is zero unless the agent is acting."""
        if agent == self._viewer:
            self._viewer = None
            return self._view
        self._check_dealt()
        seat = self._seat(agent)
        obs = np.empty(self._arrays.sizes[0], np.int8)
        observe_single(self._tables, self._states, seat, obs)
        acting = seat == self._states["seat"][0]
        return {"observation": obs, "action_mask": self._legal.copy() if acting else np.zeros_like(self._legal)}

    @property
    def state_space(self) -> Box:
        """The space of `state()`, always the same object; raises AttributeError without the `global_state` option."""
        if not self.global_state:
            raise AttributeError(f"state_space: {_NO_GLOBAL_STATE}")
        return global_state_space(self.config)

    def state(self) -> npt.NDArray[np.int8]:
        """Return the global state with all hidden cards, from the first agent's seat, int8 (S,); see `global_states`.

        Raises:
            NotImplementedError: without the `global_state` option.
        """
        if not self.global_state:
            raise NotImplementedError(f"state(): {_NO_GLOBAL_STATE}")
        self._check_dealt()
        state: npt.NDArray[np.int8] = global_states(self.config, self._states)[0]
        return state

    def _seat(self, agent: str) -> int:
        try:
            return self.possible_agents.index(agent)
        except ValueError:
            names = ", ".join(self.possible_agents)
            raise ValueError(f"agent: found {short_repr(agent)}, expected one of {names}") from None

    def render(self) -> Any:
        """Return a drawing of the game with all cards visible; in "human" mode, print it, as every step does."""
        if self.render_mode is None:
            logger.warn("render() without a render_mode: pass one to env(), such as render_mode='ansi'")
            return None
        last = None if self._last_action is None else int(self._last_action)
        return self.game_spec.draw(self.game, self.render_mode, last, width=self.render_width)

    def close(self) -> None:
        """Do nothing: the environment has no windows or threads to close."""

    # not part of the PettingZoo API

    @property
    def game(self) -> Any:
        """A copy of the current game to inspect, search or save."""
        self._check_dealt()
        return self.game_spec.game._from_valid_state(self.config, self._states[0])

    def clone(self) -> Self:
        """Return an independent copy with the same random state; only the spaces are shared."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._legal = self._legal.copy()
        new._arrays = BufferPairPool(*self._arrays.sizes)
        new._states = repeat_state(self._states, 1)
        new._viewer = None  # each copy returns its own arrays
        if self._episode is not None:
            new.agents = self.agents.copy()
            for name in DICTS:
                setattr(new, name, getattr(self, name).copy())
            new.infos = {agent: info.copy() for agent, info in self.infos.items()}
        return new

    def __copy__(self) -> Self:
        """Return an independent copy, like `clone`: a shallow copy would share the game."""
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent copy, including copies of the spaces and their random generators."""
        new = self.clone()
        new.observation_spaces = copy.deepcopy(self.observation_spaces, memo)
        new.action_spaces = copy.deepcopy(self.action_spaces, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the tables, which are rebuilt from the configuration."""
        state = self.clone().__dict__
        del state["_tables"], state["_setup"]
        state.pop("_step_one", None)  # machine code of this process
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state of the copy."""
        self.__dict__.update(writable_attributes(state))
        self._tables = self.config.tables
        self._setup = self._setup_of(self.config)
        self._states = self._states.view(self._setup.dtype)  # must be the same dtype object

    def get_state(self) -> dict[str, Any]:
        """Return a copy of all mutable state, which `set_state` can load any number of times.

        The state can be pickled. Raise AttributeError before the first reset.
        """
        self._check_dealt()
        new = self.clone().__dict__
        return {name: new[name] for name in CHANGING}

    def set_state(self, state: dict[str, Any]) -> None:
        """Load a state that `get_state` returned.

        Raises:
            ValueError: if the state is invalid or comes from an environment with different players or components. The
                environment is left unchanged.
        """
        states = checked_states(state, self.config)
        check_agents(state, states[0], self.possible_agents, len(self._legal))
        self.__dict__.update(state)
        self._seed, self._episode = seed_to_uint64(state["_seed"]), seed_to_uint64(state["_episode"])
        self.__dict__.update(self.clone().__dict__)  # copy, so that `state` can be loaded again
        self._states, self._setup = states, self._setup_of(self.config)
        self._legal[:] = 0
        if not self._over:
            self._write_view()


# Exclude `agent_selection`, which every step reads and writes: a descriptor would add 5% to the step time.
for _name in (*DICTS, "agents"):
    setattr(GameAECEnv, _name, AfterReset(_name))


class OrderEnforced(OrderEnforcingWrapper):  # type: ignore[misc]  # an untyped base class
    """Fast version of PettingZoo's wrapper that checks the call order (reset first, one step per turn of `agent_iter`).

    PettingZoo's wrapper looks up every attribute through `__getattr__`, which takes longer than a game step. This class
    accesses the attributes used in each step directly. Before the first reset, PettingZoo's method raises its
    explanatory error.
    """

    env: GameAECEnv
    _has_reset: bool
    _has_updated: bool

    @property
    def agents(self) -> list[str]:
        """Agents for which the game is not over."""
        return self.env.agents

    @property
    def agent_selection(self) -> str:
        """The acting agent."""
        return self.env.agent_selection

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated and info of the acting agent."""
        if not self._has_reset:
            return super().last(observe)  # type: ignore[no-any-return]  # raises the explanatory error
        return self.env.last(observe)

    def step(self, action: int | None) -> None:
        """Apply an action; see `GameAECEnv.step`."""
        if self._has_reset and self.env.agents:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)

    def set_state(self, state: dict[str, Any]) -> None:
        """Load a state from `get_state`, even before the first reset; see `GameAECEnv.set_state`."""
        self.env.set_state(state)
        self._has_reset = True
        self._has_updated = True

    def clone(self) -> OrderEnforced:
        """Return an independent copy with the same wrapper; see `GameAECEnv.clone`."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.env = self.env.clone()
        return new

    def __copy__(self) -> OrderEnforced:
        """Return an independent copy, like `clone`."""
        return self.clone()

    def __str__(self) -> str:
        """Return the environment's name."""
        return str(self.env)
