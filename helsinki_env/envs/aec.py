"""One game of any kind for PettingZoo, agent by agent; each game has a page of its own, such as `helsinki_v0`.

A step is one call of compiled code, which takes the decision and writes mask and observation of the next agent.
The environment checks for itself that a decision is legal; `order_enforced` wraps it once, in PettingZoo's check of the
order of calls.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from operator import index
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from gymnasium import logger
from gymnasium.spaces import Dict, Discrete
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers.order_enforcing import OrderEnforcingWrapper

from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.contract import SEATS
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.kernel import entry_of
from helsinki_env.engine.loops import batch_mask
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.engine.states import copies_of
from helsinki_env.engine.values import as_word
from helsinki_env.envs import kernels
from helsinki_env.envs.aec_state import CHANGING, DICTS, check_agents, checked_states
from helsinki_env.envs.batch import Observation, spaces
from helsinki_env.envs.drawing import check_mode, render_modes
from helsinki_env.envs.recycled import RecycledPairs
from helsinki_env.envs.rewards import PENALTIES

__all__ = ["GameAECEnv", "OrderEnforced", "metadata_of"]

_AFTER_RESET = frozenset((*DICTS, "agents", "agent_selection", "game"))
_STREAM = np.uint64(0)


def metadata_of(spec: GameSpec) -> dict[str, Any]:
    """Return what PettingZoo wants to know of the environment of a game."""
    return {
        "name": f"{spec.name}_v{spec.version}",
        "render_modes": render_modes(spec),
        "render_fps": 2,
        "is_parallelizable": False,
    }


class GameAECEnv(AECEnv):  # type: ignore[misc]  # an untyped base class
    """A game as a PettingZoo AEC environment.

    Args:
        config: what is played; it says of which game.
        render_mode: None, "ansi", "human", "rgb_array" or "svg".
        illegal: what an illegal decision does: "raise" `IllegalActionError`, or "penalise": the game ends, the agent
            gets -1 (-100 with reward "margin") and the others share as much.

    Raises:
        ValueError: for arguments that are none.
    """

    #: `kernels.step_one` for arrays as they are here, once it has been found.
    _step_one: Callable[..., int] | None = None

    def __init__(
        self, config: Any, render_mode: str | None = None, illegal: Literal["raise", "penalise"] = "raise"
    ) -> None:
        super().__init__()
        if not isinstance(illegal, str) or illegal not in ("raise", "penalise"):
            raise ValueError(f"illegal: found {illegal!r}, expected 'raise' or 'penalise'")
        self.game_spec = spec_of(config)
        self.config = config
        self.metadata = metadata_of(self.game_spec)
        self.render_mode = check_mode(render_mode, tuple(self.metadata["render_modes"]))
        self.illegal = illegal
        self.possible_agents = [f"player_{seat}" for seat in range(config.num_players)]
        self._size, self._ids = self.game_spec.features(config), self.game_spec.ids(config)
        both = {agent: spaces(self._ids, self._size) for agent in self.possible_agents}
        self.observation_spaces = {agent: pair[0] for agent, pair in both.items()}
        self.action_spaces = {agent: pair[1] for agent, pair in both.items()}
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._tables = config.tables
        self._states = self.game_spec.new_states(config, 1)
        self._legal = np.zeros(self._ids, np.int8)
        self._arrays = RecycledPairs(self._size, self._ids)
        self._seed = np.uint64(0)
        self._episode: np.uint64 | None = None  # None: nothing dealt yet
        self._over = False
        self._last_action: int | None = None
        # What the agent to move sees, until it is asked for: an array is handed out only once.
        self._view: Observation = {}
        self._viewer: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """What `reset` can change."""
        return tuple(name for name in self.game_spec.options if name not in ("num_players", "reward"))

    def __getattr__(self, name: str) -> Any:
        if name in _AFTER_RESET:
            raise AttributeError(f"{name}: nothing is dealt yet; call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # PettingZoo

    def observation_space(self, agent: str) -> Dict:
        """Return the observation space of an agent, the same object at every call."""
        return self.observation_spaces[self.possible_agents[self._seat(agent)]]

    def action_space(self, agent: str) -> Discrete:
        """Return the action space of an agent, the same object at every call."""
        return self.action_spaces[self.possible_agents[self._seat(agent)]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: the same seed deals the same game, that of ``Game(config, seed)``. None: the next game after the
                last seed (at the first reset: fresh entropy).
            options: what `options` names changes what is played from this game on; others are ignored, as PettingZoo
                wants it.

        Raises:
            ConfigError: for values that cannot be played. ValueError: for a bad seed. Nothing has changed then.
        """
        config = self.config
        if not isinstance(options, Mapping | None):
            raise ValueError(f"options: found {options!r}, expected a mapping of option names to values, or None")
        changes = {name: options[name] for name in self.options if name in options} if options else {}
        if changes:
            config = config.changed(**changes)
        if seed is not None or self._episode is None:
            self._seed, self._episode = as_word(seed), np.uint64(0)
        else:
            self._episode += np.uint64(1)
        self.config = config
        setup = self.game_spec.new_states(config, 1)
        self.game_spec.apply_setup(setup, config)
        obs, mask = self._arrays.take()
        kernels.begin_one(self._tables, self._states, setup, self._seed, _STREAM, self._episode, self._legal, mask, obs)
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
        if self.render_mode == "human":
            self._draw("human")

    def step(self, action: int | None) -> None:
        """Take a decision for the agent to move; None for an agent whose game is over.

        Raises:
            IllegalActionError: if the decision is not legal now; nothing has changed. (With illegal="penalise" the
                game ends instead.)
        """
        agent = self.agent_selection
        if self._over:
            if not self.agents:
                raise ValueError("step: the game is over for every agent; call reset()")
            self._was_dead_step(action)
            return
        obs, mask = self._arrays.take()
        try:
            # A truth value would pass for 0 or 1.
            chosen = -1 if action is True or action is False else index(action)  # type: ignore[arg-type]  # as is None
            step_one = self._step_one or self._find_step_one(mask, obs)
            seat = step_one(self._tables, self._states, chosen, self._legal, mask, obs)
        except (TypeError, OverflowError):
            seat = SEATS
        if seat == SEATS:
            self._refuse(agent, action)
            return
        self._last_action = chosen
        # The rewards of a game that goes on are 0 and stay 0: nothing to clear or to add up.
        if seat >= 0:
            agent = self.possible_agents[seat]
            self.agent_selection = agent
        else:
            self._finish()
        self._view = {"observation": obs, "action_mask": mask}
        self._viewer = agent
        if self.render_mode == "human":
            self._draw("human")

    def _find_step_one(self, mask: npt.NDArray[np.int8], obs: npt.NDArray[np.int8]) -> Callable[..., int]:
        found: Callable[..., int] = entry_of(kernels.step_one, self._tables, self._states, 0, self._legal, mask, obs)
        self._step_one = found
        return found

    def _refuse(self, agent: str, action: object) -> None:
        why = self.game_spec.why_illegal(self.game, action)
        if self.illegal == "raise":
            raise IllegalActionError(why)
        penalty = PENALTIES[self.config.reward]
        shared = -penalty / (len(self.agents) - 1)
        self._legal[:] = 0
        self._viewer = None  # the mask in waiting is out of date
        self._end({a: penalty if a == agent else shared for a in self.agents})
        self.infos[agent]["illegal_action"] = why

    def _finish(self) -> None:
        reports = np.zeros(1, kernels.REPORT)
        kernels.finish_one(self._tables, self._states, REWARDS.index(self.config.reward), reports)
        report = reports[0]
        self._end({agent: float(report["rewards"][seat]) for agent, seat in self._seats.items()})
        for agent in self.agents:
            for name in ("scores", "places"):
                self.infos[agent][name] = tuple(report[name][: len(self.agents)].tolist())

    def _end(self, rewards: dict[str, float]) -> None:
        self._over = True
        self.rewards = rewards
        self._cumulative_rewards = rewards.copy()
        self.terminations = dict.fromkeys(self.agents, True)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since the last turn, terminated, truncated and info of the agent to move."""
        agent = self.agent_selection
        observation = self.observe(agent) if observe else None
        return (
            observation,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> Observation:
        """Return what an agent may see now and its legal decisions, none unless it is to move; arrays of its own."""
        if agent == self._viewer:
            self._viewer = None
            return self._view
        seat = self._seat(agent)
        obs, mask = np.empty(self._size, np.int8), np.empty(self._ids, np.int8)
        kernels.look_one(self._tables, self._states, seat, self._legal, mask, obs)
        return {"observation": obs, "action_mask": mask}

    def _seat(self, agent: str) -> int:
        try:
            return self._seats[agent]
        except (KeyError, TypeError):
            raise ValueError(f"agent: found {agent!r}, expected one of {', '.join(self.possible_agents)}") from None

    def render(self) -> Any:
        """Draw the table with all cards, as `render_mode` says; None for "human", which prints it at every step."""
        if self.render_mode is None:
            logger.warn("render() without a render_mode: pass one to env(), such as render_mode='ansi'")
            return None
        return None if self.render_mode == "human" else self._draw(self.render_mode)

    def _draw(self, mode: str) -> Any:
        return self.game_spec.draw(self.game, mode, self._last_action)

    def close(self) -> None:
        """Release nothing: no window, no thread."""

    # beyond PettingZoo

    @property
    def game(self) -> Any:
        """A copy of the game as it stands, to look at, to search or to save."""
        self.agents  # noqa: B018  # says so if nothing is dealt yet
        return self.game_spec.game.from_state(self.config, self._states[0])

    def clone(self) -> Self:
        """Return an independent copy in the same state, chance included (only the spaces are shared)."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._legal = self._legal.copy()
        new._arrays = RecycledPairs(self._size, self._ids)
        new._states = copies_of(self._states, 1)
        new._viewer = None  # each hands out arrays of its own
        if self._episode is not None:
            new.agents = self.agents.copy()
            for name in DICTS:
                setattr(new, name, getattr(self, name).copy())
            new.infos = {agent: info.copy() for agent, info in self.infos.items()}
        return new

    def __copy__(self) -> Self:
        """Return an independent copy, as `clone`: one that shared its game with another would be of no use."""
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent copy, spaces and their random numbers included."""
        new = self.clone()
        new.observation_spaces = copy.deepcopy(self.observation_spaces, memo)
        new.action_spaces = copy.deepcopy(self.action_spaces, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the tables, which the configuration brings back."""
        state = self.clone().__dict__
        del state["_tables"]
        state.pop("_step_one", None)  # machine code of this process
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on where the game was."""
        self.__dict__.update(state)
        self._tables = self.config.tables
        self._states = self._states.view(self.game_spec.new_states(self.config, 0).dtype)  # that very object

    def get_state(self) -> dict[str, Any]:
        """Return a copy of everything that changes from step to step; `set_state` brings it back, as often as wanted.

        It can be pickled. AttributeError if nothing is dealt yet.
        """
        self.agents  # noqa: B018  # says so if nothing is dealt yet
        new = self.clone().__dict__
        return {name: new[name] for name in CHANGING}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` returned.

        Raises:
            ValueError: if it comes from an environment with other players or components, or cannot be; nothing has
                changed then.
        """
        states = checked_states(state, self.config)
        check_agents(state, states[0], self.possible_agents, self._ids)
        self.__dict__.update(state)
        self.__dict__.update(self.clone().__dict__)  # so that `state` can be used again
        self._states = states
        self._legal[:] = 0
        if not self._over:
            batch_mask(self._tables[0], states, self._legal[None])


class OrderEnforced(OrderEnforcingWrapper):  # type: ignore[misc]  # an untyped base class
    """PettingZoo's check that calls come in order (reset first, a step for every turn of `agent_iter`).

    PettingZoo looks up every attribute through `__getattr__`, which takes longer than a step of the game. What each
    step needs is reached directly here; before the first reset, that fails, and PettingZoo's way says why.
    """

    env: GameAECEnv
    _has_reset: bool
    _has_updated: bool

    @property
    def agents(self) -> list[str]:
        """Agents whose game is not over."""
        return self.env.agents

    @property
    def agent_selection(self) -> str:
        """The agent to move."""
        return self.env.agent_selection

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated and info of the agent to move."""
        if not self._has_reset:
            return super().last(observe)  # type: ignore[no-any-return]  # it says what is wrong
        return self.env.last(observe)

    def step(self, action: int | None) -> None:
        """Take a decision; see `GameAECEnv.step`."""
        if self._has_reset and self.env.agents:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` returned, also before the first reset; see `GameAECEnv.set_state`."""
        self.env.set_state(state)
        self._has_reset = True
        self._has_updated = True

    def clone(self) -> OrderEnforced:
        """Return an independent copy, wrapped as this one is; see `GameAECEnv.clone`."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.env = self.env.clone()
        return new

    def __copy__(self) -> OrderEnforced:
        """Return an independent copy, as `clone`."""
        return self.clone()

    def __str__(self) -> str:
        """Return the environment's name."""
        return str(self.env)
