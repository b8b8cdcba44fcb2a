"""Base class of the batch environments, which handles seeds, options, returned arrays and copies."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from helsinki_env.data import as_integer, seed_to_uint64, short_repr
from helsinki_env.engine import loops
from helsinki_env.engine.arrays import seat_array
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.limits import check_ranges
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States, copy_states
from helsinki_env.envs import kernels
from helsinki_env.envs.arguments import (
    Observation,
    as_array,
    check_episodes,
    check_flag,
    check_index,
    check_mode,
    check_num_envs,
    check_options,
    check_state_keys,
    check_width,
    player_range,
    spaces,
)
from helsinki_env.envs.buffer_pool import BufferPool, writable_attributes

_MODES = {
    AutoresetMode.NEXT_STEP: kernels.NEXT_STEP,
    AutoresetMode.SAME_STEP: kernels.SAME_STEP,
    AutoresetMode.DISABLED: kernels.DISABLED,
}

StepResult = tuple[Observation, npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]


class BaseVectorEnv(VectorEnv[Any, Any, Any]):
    """Base class for a batch of games, with configuration, seeds, episodes and resets. Subclasses define the step.

    `states` contains the game records and `runs` their random streams, (B,) each, for tools. `autoreset_mode` is read
    by TorchRL.
    """

    #: Value of all entries in the action mask of a finished game.
    _final_mask = 0
    #: Mutable arrays, by their names in `get_state`.
    _saved = {"states": "states", "runs": "runs"}  # noqa: RUF012  # constant

    def __init__(
        self,
        num_envs: int,
        config: Any,
        autoreset_mode: AutoresetMode | str,
        episodes: Any,
        copy: bool,
        render_mode: str | None,
        render_width: int | None,
    ) -> None:
        self.num_envs = n = check_num_envs(num_envs)
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(str(m.value) for m in AutoresetMode)
            raise ValueError(f"autoreset_mode: found {short_repr(autoreset_mode)}, expected one of {names}") from None
        self.copy = check_flag("copy", copy)
        self.game_spec = spec_of(config)
        if episodes is not None:
            check_episodes(self.game_spec, episodes)
        self.render_mode = check_mode(render_mode, self.game_spec.render_modes)
        self.render_width = check_width(render_width)
        self.autoreset_mode = mode
        self.metadata = {"autoreset_mode": mode, "render_modes": list(self.game_spec.render_modes), "render_fps": 2}
        self._mode = _MODES[mode]
        ids, size = self.game_spec.num_actions(config), self.game_spec.observation_size(config)
        self.single_observation_space, self.single_action_space = spaces(ids, size)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.states = self.game_spec.new_states(config, n)
        self.runs = np.zeros(n, kernels.RUN)
        self._ids = ids
        self._reports = np.zeros(n, kernels.REPORT)
        self._last = np.zeros((n if self._mode == kernels.SAME_STEP else 1, size), np.int8)
        self._masks = BufferPool((n, ids), np.int8, self.copy)
        self._observations = BufferPool((n, size), np.int8, self.copy)
        self._seats = BufferPool((n,), np.int64, self.copy)
        self._rewards, self._ended = BufferPool((n,), np.float32, True), BufferPool((n,), np.bool_, True)
        self._everywhere = np.ones(n, np.bool_)
        self._dealt = self._has_seed = False  # whether all games are complete, and whether there was a reset
        self._set_up(config, episodes or self.game_spec.episodes())

    def _set_up(self, config: Any, episodes: Any) -> None:
        _, self._most_players = player_range(config, episodes)
        self.config, self.episodes = config, episodes
        self._tables = config.tables
        self._setup = self.game_spec.new_states(config, 1)
        self.game_spec.apply_setup(self._setup, config)
        self._drawn = episodes.record()
        self._reward = REWARDS.index(config.reward)

    # Gymnasium

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal all games, or only those selected by ``options["reset_mask"]``.

        Args:
            seed: one seed or a list of one seed per game. With one seed, game b uses stream b of it; with a list, each
                game uses stream 0 of its own seed. None continues each stream with its next episode, or uses fresh
                entropy at the first reset.
            options: ``reset_mask``, bool (B,); the options of the game (`GameSpec.options`) and ``episodes``, which
                also apply to later resets and autoresets; ``setup``, the options of each game until the next reset:
                records (B,) from `GameSpec.new_states` and `GameSpec.apply_setup`.

        Raises:
            ConfigError, ValueError: for invalid seeds or options. The environment is left unchanged.
        """
        self._check_free("reset")
        options = check_options(options)
        chosen = self._reset_mask(options.pop("reset_mask", None))
        setup = self._each(options.pop("setup", None), options)
        runs = self._seeded(seed, chosen)
        self._change(options)
        if (number := as_integer(seed)) is not None:
            super().reset(seed=number)  # `np_random`, which the games do not use
        self.runs = runs
        if setup is not None:
            self._setup = setup
        return self._started(chosen)

    def _check_free(self, call: str) -> None:
        """Reject a call while another call is in progress."""

    def _games(self) -> kernels.Games:
        return kernels.Games(self._tables, self.states, self.runs, self._setup, self._drawn)

    def _started(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        self._dealt = self._has_seed = True
        first = self._begin(chosen)
        self._players = self._possible_players()  # number of columns in info
        return first

    def _possible_players(self) -> int:
        """Return the maximum number of players in the current games and in those that autoreset deals next."""
        return max(self._most_players, int(self.states["players"].max()), int(self._setup["players"].max()))

    def _each(self, setup: Any, options: Mapping[str, Any]) -> States | None:
        """Return a validated copy of the per-game setup, or None if there is none."""
        if setup is None:
            return None
        if set(options) & set(self.game_spec.options):
            raise ValueError(
                "options['setup']: found other options too, expected either a setup for each game or options for all"
            )
        if options.get("episodes", self.episodes) != self.game_spec.episodes():
            raise ValueError(
                "options['setup']: found random episodes too, expected one of them; "
                "options['episodes'] = RandomEpisodes() disables the episodes"
            )
        if not isinstance(setup, np.ndarray) or setup.dtype != self.states.dtype or setup.shape != self.states.shape:
            raise ValueError(f"options['setup']: expected {self.num_envs} records of games with the same components")
        try:
            check_ranges(setup, self._tables[0], self.game_spec.setup_fields)
        except ValueError as problem:
            raise ValueError(f"options['setup']: {problem}") from None
        different: set[bytes] = set()
        for b, state in enumerate(setup):
            key = b"".join(np.asarray(state[name]).tobytes() for name in self.game_spec.setup_fields)
            if key not in different:
                different.add(key)
                try:
                    self.game_spec.config_of(self.config, state)
                except ValueError as problem:
                    raise ValueError(f"options['setup']: game {b}: {problem}") from None
        return copy_states(np.ascontiguousarray(setup))

    def _reset_mask(self, mask: Any) -> npt.NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        chosen = as_array("reset_mask", mask)
        if chosen.dtype != np.bool_ or chosen.shape != (self.num_envs,) or not chosen.any():
            raise ValueError(
                f"reset_mask: found {chosen.dtype} of shape {chosen.shape}, expected bool of shape "
                f"({self.num_envs},) with at least one True"
            )
        if not self._dealt and not chosen.all():
            raise ValueError("reset_mask: found some games, expected all at the first reset: omit it")
        return chosen

    def _seeded(self, seed: Any, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        """Return the random streams of all games after the chosen games are reset."""
        runs = self.runs.copy()
        if seed is None and self._has_seed:
            runs["episode"][chosen] += np.uint64(1)
            return runs
        if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim):
            if len(seed) != self.num_envs:
                raise ValueError(f"seed: found {len(seed)} seeds, expected one number or {self.num_envs} of them")
            seeds = np.array([seed_to_uint64(s) for s in seed], np.uint64)
            streams = np.zeros(self.num_envs, np.uint64)
        else:
            seeds = np.full(self.num_envs, seed_to_uint64(seed), np.uint64)
            streams = np.arange(self.num_envs, dtype=np.uint64)
        runs["seed"][chosen], runs["stream"][chosen] = seeds[chosen], streams[chosen]
        runs["episode"][chosen] = 0
        return runs

    def _change(self, options: dict[str, Any]) -> None:
        """Apply the options of a reset; if they are invalid, the environment is left unchanged."""
        self._set_up(*self._read(options))

    def _read(self, options: dict[str, Any], others: tuple[str, ...] = ()) -> tuple[Any, Any]:
        options = dict(options)
        episodes = options.pop("episodes", self.episodes)
        for key in options:
            if key not in self.game_spec.options:
                known = ", ".join(("reset_mask", "episodes", "setup", *self.game_spec.options, *others))
                raise ValueError(f"options: found {short_repr(key)}, expected {known}")
        check_episodes(self.game_spec, episodes, "options['episodes']")
        if not options:
            return self.config, episodes
        return self.config.replace(**options), episodes

    def _begin(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        """Deal the chosen games and return observations and info, like `reset`."""
        raise NotImplementedError

    def _check_dealt(self) -> None:
        if not self._dealt:
            raise ValueError("no game is dealt yet: call reset() first")

    def _actions(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return actions as int64 (B,); raise ValueError if they are invalid."""
        self._check_dealt()
        chosen = as_array("actions", actions)
        shape = (self.num_envs,)
        if chosen.shape != shape or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"actions: found {chosen.dtype} of shape {chosen.shape}, expected whole numbers of shape {shape}"
            )
        return np.ascontiguousarray(chosen, np.int64)

    def _illegal(self, b: int, action: int) -> IllegalActionError:
        return IllegalActionError(f"game {b}: {self.game_spec.why_illegal(self.game(b), action)}")

    def _report(self, info: dict[str, Any], ended: npt.NDArray[np.bool_]) -> None:
        """Add the results of finished games to info."""
        shape, present = (self.num_envs, self._players), ended.copy()
        rewards, scores, places = np.zeros(shape, np.float32), np.zeros(shape, np.int16), np.zeros(shape, np.int8)
        rounds = np.zeros(self.num_envs, np.int16)
        kernels.collect(ended.view(np.int8), self._reports, rewards, scores, places, rounds)
        final: dict[str, Any] = {"rewards": rewards, "scores": scores, "places": places, "rounds": rounds}
        final |= {f"_{name}": present for name in final}
        info |= final
        if self._mode == kernels.SAME_STEP:
            final_obs = np.full(self.num_envs, None, object)
            masks = np.zeros((self.num_envs, self._ids), np.int8)
            masks[ended] = self._final_mask
            for b in np.flatnonzero(ended):
                final_obs[b] = {"observation": self._last[b].copy(), "action_mask": masks[b].copy()}
            seats = np.where(ended, self._reports["seat"], 0)
            info |= {
                "final_obs": final_obs,
                "_final_obs": ended.copy(),
                "final_info": {name: array.copy() for name, array in final.items()}
                | self._info(seats, masks, ended.copy()),
                "_final_info": ended.copy(),
            }

    @staticmethod
    def _info(
        seats: npt.NDArray[np.int64], mask: npt.NDArray[np.int8], present: npt.NDArray[np.bool_]
    ) -> dict[str, Any]:
        """Return per-game info entries, (B,) and (B, A), and a mask of the games to which they apply, bool (B,)."""
        return {"seat": seats, "_seat": present, "action_mask": mask, "_action_mask": present}

    def render(self) -> tuple[Any, ...] | None:
        """Return a drawing of every game in `render_mode`: text, or uint8 arrays (height, width, 3)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass one, such as render_mode='ansi'")
            return None
        return tuple(self._draw(b, self.render_mode) for b in range(self.num_envs))

    def _draw(self, b: int, mode: str) -> Any:
        return self.game_spec.draw(self.game(b), mode, viewer=self._viewer(b), width=self.render_width)

    def _viewer(self, b: int) -> int | None:
        """Return the seat from which a drawing is shown, or None to show all cards."""
        return None

    # not part of the Gymnasium API

    def game(self, b: SupportsIndex) -> Any:
        """Return a copy of game `b` to inspect, draw or save. Raise ValueError for an invalid index."""
        state = self.states[check_index(b, self.num_envs)]
        if state.round_number == 0:
            raise ValueError("no game is dealt yet: call reset() first")
        return self.game_spec.game._from_valid_state(self.game_spec.config_of(self.config, state), state)

    def observe(self, seats: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the current observation of a given seat in each game, int8 (B, F); `seats` is int (B,)."""
        self._check_dealt()
        viewers = seat_array("seats", seats, self.states)
        out = np.empty((self.num_envs, self._last.shape[1]), np.int8)
        loops.batch_observe(self._tables[0], self.states, viewers, out)
        return out

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of the games and their random streams; `set_state` loads it.

        The configuration and the options of earlier resets are not included: an environment that continues the games
        must have the same.
        """
        saved = {name: getattr(self, attribute) for name, attribute in self._saved.items()}
        return {name: copy_states(array) if name == "states" else array.copy() for name, array in saved.items()}

    def set_state(self, state: Mapping[str, npt.NDArray[Any]]) -> tuple[Observation, dict[str, Any]]:
        """Load a state from `get_state` (same batch size and components); return observations and info, like `reset`.

        Raises:
            ValueError: if the state is invalid or does not match; the message names game and field. The environment is
                left unchanged.
        """
        self._check_free("set_state")
        taken = self._fitting(state)
        self._check(taken)
        self._take(taken)
        return self._started(np.zeros(self.num_envs, np.bool_))

    def _fitting(self, state: Any) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the arrays of a state, with the same dtype objects as the environment's own arrays."""
        check_state_keys(state, self._saved)
        taken = {}
        for name, attribute in self._saved.items():
            found, array = state[name], getattr(self, attribute)
            is_array = isinstance(found, np.ndarray)
            if not is_array or found.dtype != array.dtype or found.shape != array.shape:
                kind = f"{found.dtype.name} of shape {found.shape}" if is_array else type(found).__name__
                raise ValueError(
                    f"{name}: found {kind}, expected {array.dtype.name} of shape {array.shape}: "
                    "a state of an environment of the same size and components"
                )
            taken[name] = copy_states(np.ascontiguousarray(found), out=np.empty_like(array))
        return taken

    def _check(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        """Raise ValueError for an invalid state."""
        self.game_spec.check(taken["states"], self.config)

    def _take(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        """Load the arrays of a state."""
        for name, attribute in self._saved.items():
            copy_states(taken[name], out=getattr(self, attribute))

    def clone(self) -> Any:
        """Return an independent copy in the same state; both deal the same subsequent games."""
        return copy.deepcopy(self)

    def __copy__(self) -> Any:
        """Return an independent copy, like `clone`: a shallow copy would share the games."""
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except compiled code and the tables, which are rebuilt from the configuration."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_tables", "_step")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state of the copy."""
        self.__dict__.update(writable_attributes(state))
        self._tables = self.config.tables
