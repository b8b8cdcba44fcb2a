"""One game of any kind for PettingZoo, agent by agent; each game has a page of its own, such as `helsinki_v0`.

A step is one call of compiled code, which takes the decision and writes mask and observation of the next agent.
The environment checks for itself that a decision is legal; `order_enforced` wraps it once, in PettingZoo's check of the
order of calls.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from gymnasium import logger
from gymnasium.spaces import Dict, Discrete
from pettingzoo import AECEnv

from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.contract import SEATS
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.kernel import entry_of
from helsinki_env.engine.loops import batch_mask
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.engine.states import States, copies_of
from helsinki_env.engine.values import USUAL_INTEGERS, as_action, as_word
from helsinki_env.envs import kernels
from helsinki_env.envs.aec_state import CHANGING, DICTS, AfterReset, check_agents, checked_states
from helsinki_env.envs.batch import Observation, spaces
from helsinki_env.envs.drawing import check_mode, check_width, render_modes
from helsinki_env.envs.illegal import Illegal, checked_illegal, warn_illegal
from helsinki_env.envs.recycled import RecycledPairs
from helsinki_env.envs.rewards import PENALTIES

__all__ = ["GameAECEnv", "metadata_of"]

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
        render_mode: None, "ansi", "human" (prints the text at every step and in `render`), "rgb_array" or "svg".
        illegal: what an illegal decision does: "raise" `IllegalActionError`, or "penalise": the game ends, the agent
            gets -1 (-100 with reward "margin") and the others share as much; the first one is warned of.
        render_width: of "rgb_array", in pixels; None: 1,200.

    Raises:
        ValueError: for arguments that are none.
    """

    #: `kernels.step_one` for arrays as they are here, once it has been found.
    _step_one: Callable[..., int] | None = None
    #: These two become attributes of an environment only where they differ: see the limit in `__init__`.
    render_width: int | None = None
    _warned = False

    def __init__(
        self,
        config: Any,
        render_mode: str | None = None,
        illegal: Illegal = "raise",
        render_width: int | None = None,
    ) -> None:
        super().__init__()
        self.game_spec = spec_of(config)
        self.config = config
        self.metadata = metadata_of(self.game_spec)
        self.render_mode = check_mode(render_mode, tuple(self.metadata["render_modes"]))
        if check_width(render_width) is not None:
            self.render_width = check_width(render_width)
        self._shown = render_mode == "human"
        self.illegal = checked_illegal(illegal)
        self.possible_agents = [f"player_{seat}" for seat in range(config.num_players)]
        # No more than 29 attributes in all: beyond that Python 3.11 takes half as long again to find each of them.
        ids, size = self.game_spec.ids(config), self.game_spec.features(config)
        both = {agent: spaces(ids, size) for agent in self.possible_agents}
        self.observation_spaces = {agent: pair[0] for agent, pair in both.items()}
        self.action_spaces = {agent: pair[1] for agent, pair in both.items()}
        self._tables = config.tables
        self._states = self.game_spec.new_states(config, 1)
        self._setup = self._setup_of(config)
        self._legal = np.zeros(ids, np.int8)
        self._arrays = RecycledPairs(size, ids)
        self._seed = np.uint64(0)
        self._episode: np.uint64 | None = None  # None: nothing dealt yet
        self._over = True
        self._last_action: int | None = None
        # What the agent to move sees, until it is asked for: an array is handed out only once.
        self._view: Observation = {}
        self._viewer: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """What `reset` can change."""
        return tuple(name for name in self.game_spec.options if name not in ("num_players", "reward"))

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
        setup = self._setup
        if changes:
            config = config.changed(**changes)
            setup = self._setup_of(config)
        if seed is not None or self._episode is None:
            self._seed, self._episode = as_word(seed), np.uint64(0)
        else:
            self._episode += np.uint64(1)
        self.config, self._setup = config, setup
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
        if self._shown:
            self.render()

    def _setup_of(self, config: Any) -> States:
        """What is the same at every deal, as a record, (1,)."""
        setup = self.game_spec.new_states(config, 1)
        self.game_spec.apply_setup(setup, config)
        return setup

    def step(self, action: int | None) -> None:
        """Take a decision for the agent to move; None for an agent whose game is over.

        Raises:
            IllegalActionError: if the decision is not legal now; nothing has changed. (With illegal="penalise" the
                game ends instead.)
        """
        if self._over:
            self._step_without_game(action)
            return
        obs, mask = self._arrays.take()
        try:
            chosen = action if action.__class__ in USUAL_INTEGERS else as_action(action)
            step_one = self._step_one or self._find_step_one(mask, obs)
            seat = step_one(self._tables, self._states, chosen, self._legal, mask, obs)
        except (TypeError, OverflowError):
            seat = SEATS
        # The rewards of a game that goes on are 0 and stay 0: nothing to clear or to add up.
        if 0 <= seat < SEATS:
            self.agent_selection = self._viewer = self.possible_agents[seat]
        elif seat < 0:
            self._finish()
            self._viewer = self.agent_selection
        else:
            self._refuse(self.agent_selection, action)
            return
        self._last_action = chosen
        self._view = {"observation": obs, "action_mask": mask}
        if self._shown:
            self.render()

    def _find_step_one(self, mask: npt.NDArray[np.int8], obs: npt.NDArray[np.int8]) -> Callable[..., int]:
        found: Callable[..., int] = entry_of(kernels.step_one, self._tables, self._states, 0, self._legal, mask, obs)
        self._step_one = found
        return found

    def _step_without_game(self, action: int | None) -> None:
        """What agents do whose game is over."""
        self._check_dealt()
        if not self.agents:
            raise ValueError("step: the game is over for every agent; call reset()")
        self._was_dead_step(action)

    def _check_dealt(self) -> None:
        if self._episode is None:
            raise AttributeError("nothing is dealt yet; call reset() first")

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
        if not self._warned:
            self._warned = True
            warn_illegal(self.config.reward)

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
        """Return observation, reward since the last turn, terminated, truncated and info of the agent to move."""
        if not self._over:
            agent = self.agent_selection
            if observe and agent is self._viewer:  # nearly always; as `observe` does
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
        """Return what an agent may see now and its legal decisions, none unless it is to move; arrays of its own."""
        if agent == self._viewer:
            self._viewer = None
            return self._view
        seat = self._seat(agent)
        obs, mask = (np.empty(size, np.int8) for size in self._arrays.sizes)
        kernels.look_one(self._tables, self._states, seat, self._legal, mask, obs)
        return {"observation": obs, "action_mask": mask}

    def _seat(self, agent: str) -> int:
        try:
            return self.possible_agents.index(agent)
        except ValueError:
            raise ValueError(f"agent: found {agent!r}, expected one of {', '.join(self.possible_agents)}") from None

    def render(self) -> Any:
        """Draw the table with all cards, as `render_mode` says; "human" prints it, as every step does: None."""
        if self.render_mode is None:
            logger.warn("render() without a render_mode: pass one to env(), such as render_mode='ansi'")
            return None
        last = None if self._last_action is None else int(self._last_action)
        return self.game_spec.draw(self.game, self.render_mode, last, width=self.render_width)

    def close(self) -> None:
        """Release nothing: no window, no thread."""

    # beyond PettingZoo

    @property
    def game(self) -> Any:
        """A copy of the game as it stands, to look at, to search or to save."""
        self._check_dealt()
        return self.game_spec.game._of_record(self.config, self._states[0])

    def clone(self) -> Self:
        """Return an independent copy in the same state, chance included (only the spaces are shared)."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._legal = self._legal.copy()
        new._arrays = RecycledPairs(*self._arrays.sizes)
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
        del state["_tables"], state["_setup"]
        state.pop("_step_one", None)  # machine code of this process
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on where the game was."""
        self.__dict__.update(state)
        self._tables = self.config.tables
        self._setup = self._setup_of(self.config)
        self._states = self._states.view(self._setup.dtype)  # that very object

    def get_state(self) -> dict[str, Any]:
        """Return a copy of everything that changes from step to step; `set_state` brings it back, as often as wanted.

        It can be pickled. AttributeError if nothing is dealt yet.
        """
        self._check_dealt()
        new = self.clone().__dict__
        return {name: new[name] for name in CHANGING}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` returned.

        Raises:
            ValueError: if it comes from an environment with other players or components, or cannot be; nothing has
                changed then.
        """
        states = checked_states(state, self.config)
        check_agents(state, states[0], self.possible_agents, len(self._legal))
        self.__dict__.update(state)
        self._seed, self._episode = as_word(state["_seed"]), as_word(state["_episode"])
        self.__dict__.update(self.clone().__dict__)  # so that `state` can be used again
        self._states, self._setup = states, self._setup_of(self.config)
        self._legal[:] = 0
        if not self._over:
            batch_mask(self._tables[0], states, self._legal[None])


# Not `agent_selection`, which every step reads and writes: that would take a twentieth of it.
for _name in (*DICTS, "agents"):
    setattr(GameAECEnv, _name, AfterReset(_name))
