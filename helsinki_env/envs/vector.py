"""Self-play on many games at once: every seat is played by whoever calls `step`.

    >>> from helsinki_env import HelsinkiVectorEnv
    >>> from helsinki_env.playout import choose_uniformly, player_words
    >>> env = HelsinkiVectorEnv(num_envs=4, num_players=3)
    >>> obs, info = env.reset(seed=0)
    >>> words = player_words(4, seed=1)
    >>> for _ in range(10):
    ...     obs, reward, terminated, truncated, info = env.step(choose_uniformly(obs["action_mask"], words))
    >>> obs["observation"].shape, obs["action_mask"].shape, info["seat"].shape
    ((4, 1385), (4, 554), (4,))

One step of the batch is one decision in every game, so seats of different games move side by side and one seat may
move several times in a row: `info["seat"]` says whose decision is due in each game, and the observation is seen from
that seat. Decks come from the seed, one stream for each game: game `b` is the same whatever the size of the batch and
the number of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from helsinki_env import observation
from helsinki_env.config import REWARDS, GameConfig
from helsinki_env.core.state import SEATS, copy_states, new_states
from helsinki_env.envs import kernels
from helsinki_env.envs.episodes import RandomEpisodes
from helsinki_env.envs.threads import Slices
from helsinki_env.game import Game, IllegalActionError, action_table, apply_setup, as_word

__all__ = ["HelsinkiVectorEnv", "spaces"]

_NEXT_STEP, SAME_STEP, _DISABLED = range(3)
_MODES = {
    AutoresetMode.NEXT_STEP: _NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: _DISABLED,
}


def spaces(types: int) -> tuple[gymnasium.spaces.Dict, gymnasium.spaces.Discrete]:
    """Return observation space (a dict of `observation` and `action_mask`, both int8) and action space of one game."""
    ids = action_table(types).size
    box = gymnasium.spaces.Box
    return (
        gymnasium.spaces.Dict(
            {
                "observation": box(0, 127, (observation.layout(types).size,), np.int8),
                "action_mask": box(0, 1, (ids,), np.int8),
            }
        ),
        gymnasium.spaces.Discrete(ids),
    )


class _Recycled:
    """Arrays of one shape, handed out as new and used again only when nobody holds them any more.

    Fresh memory costs more than writing it: the system clears every page. A caller who keeps an array (or a view of
    it, or a tensor over it) holds a reference, so it is never written again.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, most: int = 4) -> None:
        self.shape, self.dtype, self.most = shape, dtype, most
        self.arrays: list[npt.NDArray[Any]] = []

    def take(self) -> npt.NDArray[Any]:
        for array in self.arrays:
            if sys.getrefcount(array) == 3:  # the list, the loop variable and the argument
                return array
        array = np.empty(self.shape, self.dtype)
        if len(self.arrays) < self.most:
            self.arrays.append(array)
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return _Recycled, (self.shape, self.dtype, self.most)


class HelsinkiVectorEnv(VectorEnv[Any, Any, Any]):
    """A batch of games for self-play, all seats.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}``, seen from the seat to move; its pieces
    are named by `observation.split`. Action: the id of a legal decision for every game, int (B,).

    Returned by `step`: reward float32 (B,) of the seat that acted, not zero only when the game ends with its
    decision; terminated bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,): the seat to
    move. When games end, info also holds ``rewards`` float32 (B, players), ``scores`` and ``places`` (B, players, 0
    is first), zero where no game ended, and ``_rewards`` bool (B,) that says where one did.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last decision is that of the finished game (no legal decision); the next
        call ignores the action of that game and deals a new one.
        SAME_STEP: the new game is dealt at once; ``info["final_obs"]`` and ``info["final_info"]`` hold the old one.
        DISABLED: finished games stay until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        covered: actions that nobody may use, ids or names, or "first_game".
        denied: one such set for each seat, or None.
        dry_roads: whether the expansion is played.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        autoreset_mode: see above.
        episodes: what is drawn anew at each deal (`RandomEpisodes`).
        num_threads: threads that share a step; None: one for each processor. Results do not depend on it.
        copy: False returns the same arrays at every step, written over by the next: faster, for those who take care.
        config: a `GameConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for options that cannot be played. ValueError: for other arguments.
        IllegalActionError: by `step`, naming game, decision, phase and the legal ones; no game has been stepped.
    """

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        covered: Iterable[int | str] | Literal["first_game"] = (),
        denied: Iterable[Iterable[int | str]] | None = None,
        dry_roads: bool = False,
        components: str | Path = "default",
        reward: str = "win",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        num_threads: int | None = 1,
        copy: bool = True,
        config: GameConfig | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs: found {num_envs!r}, expected a whole number of at least 1")
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(str(m.value) for m in AutoresetMode)
            raise ValueError(f"autoreset_mode: found {autoreset_mode!r}, expected one of {names}") from None
        self.num_envs = int(num_envs)
        self.config = config or GameConfig(
            num_players=num_players,
            covered=covered,
            denied=denied,
            dry_roads=dry_roads,
            components=components,
            reward=reward,
        )
        self.copy = bool(copy)
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.render_mode = None
        self._mode = _MODES[mode]
        self._slices = Slices(num_threads)
        types = self.config.loaded.types
        self.single_observation_space, self.single_action_space = spaces(types)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        n, ids, size = self.num_envs, action_table(types).size, observation.layout(types).size
        self.states = new_states(n, types)
        self._legal = np.zeros((n, ids), np.int8)
        self._reports = np.zeros(n, kernels.REPORT)
        self._last = np.zeros((n if self._mode == kernels.SAME_STEP else 1, size), np.int8)
        self._seeds = np.zeros(n, np.uint64)
        self._streams = np.arange(n, dtype=np.uint64)
        self._episodes = np.zeros(n, np.uint64)
        self._masks = _Recycled((n, ids), np.int8, 4 if copy else 1)
        self._observations = _Recycled((n, size), np.int8, 4 if copy else 1)
        self._seats = _Recycled((n,), np.int64, 4 if copy else 1)
        self._dealt = False
        self._set_up(self.config, episodes or RandomEpisodes())

    def _set_up(self, config: GameConfig, episodes: RandomEpisodes) -> None:
        self.config, self.episodes = config, episodes
        self._tables = config.tables[0]
        self._setup = new_states(1, config.loaded.types)
        apply_setup(self._setup, config)
        if config.num_players < SEATS and episodes.num_players is not None and any(config.denied):
            raise ValueError("denied: fixed sets for each seat do not go with a changing number of players")
        self._reward = REWARDS.index(config.reward)
        self._players = config.num_players if episodes.num_players is None else max(episodes.num_players)

    def _array(self, pool: _Recycled) -> npt.NDArray[Any]:
        if self.copy:
            return pool.take()
        return pool.arrays[0] if pool.arrays else pool.take()

    # Gymnasium

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[np.int8]], dict[str, Any]]:
        """Deal all games anew, or those in ``options["reset_mask"]``.

        Args:
            seed: game b gets stream b of this seed; a list gives each game its own seed (and stream 0). None: the
                streams go on with their next episode (at the first reset: fresh entropy).
            options: ``reset_mask`` bool (B,); ``num_players``, ``covered``, ``denied``, ``dry_roads`` and
                ``episodes`` (`RandomEpisodes`) change what is played from here on, automatic resets included.
        """
        options = dict(options or {})
        chosen = self._reset_mask(options.pop("reset_mask", None))
        self._change(options)
        self._seed(seed, chosen)
        mask, obs = self._array(self._masks), self._array(self._observations)
        seats = self._array(self._seats)
        kernels.begin(
            self._tables, self.states, self._setup[0], self.episodes.record(), self._seeds, self._streams,
            self._episodes, chosen, self._legal, mask, obs, seats,
        )  # fmt: skip
        self._dealt = True
        return {"observation": obs, "action_mask": mask}, {"seat": seats}

    def _reset_mask(self, mask: Any) -> npt.NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (self.num_envs,) or not chosen.any():
            raise ValueError(
                f"reset_mask: found {chosen.dtype} of shape {chosen.shape}, expected bool of shape "
                f"({self.num_envs},) with at least one True"
            )
        if not self._dealt and not chosen.all():
            raise ValueError("reset_mask: the first reset deals all games; leave it out")
        return chosen

    def _change(self, options: dict[str, Any]) -> None:
        episodes = options.pop("episodes", self.episodes)
        allowed = ("num_players", "covered", "denied", "dry_roads", "reward")
        for key in options:
            if key not in allowed:
                known = ", ".join(("reset_mask", "episodes", *allowed))
                raise ValueError(f"options[{key!r}]: no such option; there are {known}")
        if not isinstance(episodes, RandomEpisodes):
            raise ValueError(f"options['episodes']: found {episodes!r}, expected RandomEpisodes(...)")
        if options or episodes is not self.episodes:
            values = self.config.to_dict() | options
            if values["num_players"] != self.config.num_players and "denied" not in options:
                values["denied"] = None
            self._set_up(GameConfig.from_dict(values), episodes)

    def _seed(self, seed: Any, chosen: npt.NDArray[np.bool_]) -> None:
        if seed is None and self._dealt:
            self._episodes[chosen] += np.uint64(1)
            return
        if isinstance(seed, list | tuple | np.ndarray):
            if len(seed) != self.num_envs:
                raise ValueError(f"seed: found {len(seed)} seeds, expected one number or {self.num_envs} of them")
            self._seeds[chosen] = np.array([as_word(s) for s in seed], np.uint64)[chosen]
            self._streams[chosen] = 0
        else:
            self._seeds[chosen] = as_word(seed)
            self._streams[chosen] = np.arange(self.num_envs, dtype=np.uint64)[chosen]
        self._episodes[chosen] = 0

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[
        dict[str, npt.NDArray[np.int8]],
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Take one decision in every game; see the class for what comes back."""
        if not self._dealt:
            raise ValueError("step before reset: call reset() first")
        chosen = self._checked(actions)
        mask, obs = self._array(self._masks), self._array(self._observations)
        seats = self._array(self._seats)
        p = self.episodes.record() if self._slices.threads == 1 else None

        def run(begin: int, end: int) -> None:
            kernels.step(
                self._tables, begin, end, self.states, chosen, self._setup[0],
                self.episodes.record() if p is None else p, self._seeds, self._streams, self._episodes, self._mode,
                self._reward, self._legal, mask, obs, seats, self._reports, self._last,
            )  # fmt: skip

        self._slices.run(run, self.num_envs)
        reports = self._reports
        ended = reports["ended"].copy()
        info: dict[str, Any] = {"seat": seats}
        if ended.any():
            self._report(info, ended)
        truncated = np.zeros(self.num_envs, np.bool_)
        return {"observation": obs, "action_mask": mask}, reports["reward"].copy(), ended, truncated, info

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError(
                f"actions: found {chosen.dtype} of shape {chosen.shape}, expected whole numbers of shape "
                f"({self.num_envs},)"
            )
        chosen = np.ascontiguousarray(chosen, np.int64)
        b = kernels.first_illegal(self._tables, self.states, chosen, self._legal, self._mode)
        if b >= 0:
            from helsinki_env import notation

            why = notation.why_illegal(self.game(b), int(chosen[b]))
            if self.states["done"][b]:
                why += " (reset(options={'reset_mask': ...}) deals it anew)"
            raise IllegalActionError(f"game {b}: {why}")
        return chosen

    def _report(self, info: dict[str, Any], ended: npt.NDArray[np.bool_]) -> None:
        games = np.flatnonzero(ended)
        for name in ("rewards", "scores", "places"):
            column = self._reports[name]
            info[name] = np.zeros((self.num_envs, self._players), column.dtype)
            info[name][games] = column[games, : self._players]
        info["_rewards"] = ended.copy()
        if self._mode == kernels.SAME_STEP:
            final_obs, final_info = np.full((2, self.num_envs), None, object)
            for b in games:
                final_obs[b] = {
                    "observation": self._last[b].copy(),
                    "action_mask": np.zeros(self._legal.shape[1], np.int8),
                }
                final_info[b] = {name: info[name][b] for name in ("rewards", "scores", "places")}
            info |= {
                "final_obs": final_obs,
                "_final_obs": ended,
                "final_info": final_info,
                "_final_info": ended,
            }

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads end."""
        self._slices.close()

    # beyond Gymnasium

    def game(self, b: int) -> Game:
        """Return a copy of game `b`, to look at, to draw or to save."""
        setup = self.states[b]
        config = GameConfig(
            num_players=int(setup.players),
            covered=[a for a in range(15) if setup.covered >> a & 1],
            denied=[[a for a in range(15) if setup.denied[seat] >> a & 1] for seat in range(setup.players)],
            dry_roads=bool(setup.dry_roads),
            components=self.config.components,
            reward=self.config.reward,
        )
        return Game.from_state(config, setup)

    def observe(self, seats: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return what the given seat of each game may see now, int8 (B, F), whoever is to move; `seats` int (B,)."""
        viewers = np.ascontiguousarray(seats, np.int64)
        if viewers.shape != (self.num_envs,) or (viewers < 0).any() or (viewers >= self.states["players"]).any():
            raise ValueError(f"seats: found shape {viewers.shape}, expected a seat of each of {self.num_envs} games")
        out = np.empty((self.num_envs, self._last.shape[1]), np.int8)
        observation.batch_observe(self._tables, self.states, viewers, out)
        return out

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of everything that changes from step to step; `set_state` brings it back."""
        return {
            "states": copy_states(self.states),
            "seeds": self._seeds.copy(),
            "streams": self._streams.copy(),
            "episodes": self._episodes.copy(),
        }

    def set_state(
        self, state: Mapping[str, npt.NDArray[Any]]
    ) -> tuple[dict[str, npt.NDArray[np.int8]], dict[str, Any]]:
        """Go on from what `get_state` returned (same batch size and components); return what `reset` returns."""
        for name, array in (
            ("states", self.states),
            ("seeds", self._seeds),
            ("streams", self._streams),
            ("episodes", self._episodes),
        ):
            found = state[name]
            if found.dtype != array.dtype or found.shape != array.shape:
                raise ValueError(
                    f"{name}: found {found.dtype.name} of shape {found.shape}, expected {array.dtype.name} of "
                    f"shape {array.shape}: a state of an environment of the same size and components"
                )
            array[:] = found
        self._dealt = True
        mask, obs = self._array(self._masks), self._array(self._observations)
        seats = self._array(self._seats)
        kernels.begin(
            self._tables, self.states, self._setup[0], self.episodes.record(), self._seeds, self._streams,
            self._episodes, np.zeros(self.num_envs, np.bool_), self._legal, mask, obs, seats,
        )  # fmt: skip
        return {"observation": obs, "action_mask": mask}, {"seat": seats}

    def clone(self) -> HelsinkiVectorEnv:
        """Return an independent copy in the same state; both go on alike."""
        import copy

        return copy.deepcopy(self)
