"""Self-play on many games at once: one step is one decision in every game, whoever calls `step` plays every seat.

Seats of different games move side by side, and one seat may move several times in a row: `info["seat"]` says whose
decision is due in each game, and the observation is seen from that seat. Decks come from the seed, one stream for each
game: game `b` is the same whatever the size of the batch and the number of threads.

Each game has its own batch, such as `helsinki_env.HelsinkiVectorEnv`; `GameVectorEnv` plays any by its configuration:

    >>> from helsinki_env import CopenhagenConfig
    >>> from helsinki_env.engine.playout import choose_uniformly, player_words
    >>> env = GameVectorEnv(64, CopenhagenConfig(num_players=3))
    >>> obs, info = env.reset(seed=0)
    >>> words = player_words(64, seed=1)
    >>> for _ in range(10):
    ...     actions = choose_uniformly(obs["action_mask"], words)
    ...     obs, reward, terminated, truncated, info = env.step(actions)
    >>> obs["observation"].shape, obs["action_mask"].shape, info["seat"].shape
    ((64, 923), (64, 459), (64,))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.engine.playout import blocks_of
from helsinki_env.envs import kernels
from helsinki_env.envs.batch import Batch, Observation, Step
from helsinki_env.envs.threads import Slices

__all__ = ["GameVectorEnv"]


class GameVectorEnv(Batch):
    """A batch of games for self-play, all seats.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}``, seen from the seat to move.
    Action: the id of a legal decision for every game, int (B,).

    Returned by `step`: reward float32 (B,) of the seat that acted, not zero only when the game ends with its
    decision; terminated bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,): the seat to
    move; ``info["action_mask"]`` is the mask of the observation, the same array. When games end, info also holds
    ``rewards`` float32 (B, players), ``scores`` and ``places`` (B, players, 0 is first), zero where no game ended, and
    ``_rewards`` bool (B,) that says where one did.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last decision is that of the finished game (no legal decision); the next
        call ignores the action of that game and deals a new one.
        SAME_STEP: the new game is dealt at once; ``info["final_obs"]`` and ``info["final_info"]`` hold the old one.
        DISABLED: finished games stay until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        config: what is played; it says of which game.
        autoreset_mode: see above.
        episodes: what is drawn anew at each deal (`GameSpec.episodes`).
        num_threads: threads that share a step; None: one for each processor. Results do not depend on it.
        copy: False returns the same arrays at every step, written over by the next: faster, for those who take care.
            Of an observation only what may have changed is written then, and decisions are checked against the mask
            that was returned: never write into any of them, nor into `states` (`set_state` brings in others).
        render_mode: None, "ansi", "rgb_array" or "svg".
        render_width: of "rgb_array", in pixels; None: 1,200.

    Raises:
        ValueError: for arguments that are none.
        IllegalActionError: by `step`, naming game, decision, phase and the legal ones; no game has been stepped.
    """

    _slices = Slices(1)  # for close(), also where the arguments turn out to be no good

    def __init__(
        self,
        num_envs: int,
        config: Any,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: Any = None,
        num_threads: int | None = 1,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
    ) -> None:
        self._slices = Slices(num_threads)
        super().__init__(num_envs, config, autoreset_mode, episodes, copy, render_mode, render_width)
        blocks = blocks_of(self._ids)
        self._legal = np.zeros((self.num_envs, blocks) if copy else (1, blocks), np.uint64)
        self._mask = np.zeros((1, self._ids), np.int8)  # that was handed out

    def _begin(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        mask, obs, seats = self._masks.take(), self._observations.take(), self._seats.take()
        kernels.begin(
            self._tables, self.states, self._runs, self._setup, self._drawn, chosen, self.copy, self._legal, mask, obs,
            seats,
        )  # fmt: skip
        self._keep(mask)
        return {"observation": obs, "action_mask": mask}, self._info(seats, mask, self._everywhere.copy())

    def step(self, actions: npt.ArrayLike) -> Step:
        """Take one decision in every game; see the class for what comes back.

        Raises:
            IllegalActionError: naming game, decision, phase and what is legal. ValueError: for anything but whole
                numbers of shape (B,). No game has been stepped then.
        """
        chosen = self._checked(actions)
        mask, obs, seats = self._masks.take(), self._observations.take(), self._seats.take()
        rewards, ended = self._rewards.take(), self._ended.take()

        shares = np.zeros(1, np.int64)
        alone = self._slices.threads == 1 or self.num_envs <= kernels.PIECE  # there is nothing to share

        def work(own: int) -> None:
            drawn = self._drawn.copy() if own else self._drawn  # its word is written
            kernels.step(
                self._tables, shares, self.num_envs if alone else kernels.PIECE, self.states, self._runs, chosen,
                self._setup, drawn, self._mode, self._reward, self.copy, self._legal, mask, obs, seats, rewards, ended,
                self._reports, self._last,
            )  # fmt: skip

        if alone:
            work(0)
        else:
            self._slices.each(work)
        self._keep(mask)
        info = self._info(seats, mask, self._everywhere.copy())
        if np.count_nonzero(ended):
            self._report(info, ended)
        truncated = np.zeros(self.num_envs, np.bool_)
        return {"observation": obs, "action_mask": mask}, rewards, ended, truncated, info

    def _keep(self, mask: npt.NDArray[np.int8]) -> None:
        """Without copies, what was handed out is also what the next decisions are checked against."""
        if not self.copy:
            self._mask = mask

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = self._actions(actions)
        b = kernels.first_illegal(self.states, chosen, self.copy, self._legal, self._mask, self._mode)
        if b >= 0:
            problem = self._illegal(b, int(chosen[b]))
            if self.states["done"][b]:
                problem.args = (f"{problem} (reset(options={{'reset_mask': ...}}) deals it anew)",)
            raise problem
        return chosen

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads end."""
        self._slices.close()
