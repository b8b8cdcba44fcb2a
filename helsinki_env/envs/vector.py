"""Self-play on a batch of games: each step applies one action in every game, and the policy plays all seats.

A seat may act several times in a row: `info["seat"]` is the acting seat of each game, and the observation is from its
perspective. Each game has its own random stream, so it does not depend on the batch size or the number of threads.

There is one class per game, such as `helsinki_env.HelsinkiVectorEnv`; `GameVectorEnv` accepts the configuration of any
game:

    >>> from helsinki_env import CopenhagenConfig
    >>> from helsinki_env.engine.playout import sample_actions, random_keys
    >>> env = GameVectorEnv(64, CopenhagenConfig(num_players=3))
    >>> obs, info = env.reset(seed=0)
    >>> keys = random_keys(64, seed=1)
    >>> for _ in range(10):
    ...     actions = sample_actions(obs["action_mask"], keys)
    ...     obs, reward, terminated, truncated, info = env.step(actions)
    >>> obs["observation"].shape, obs["action_mask"].shape, info["seat"].shape
    ((64, 923), (64, 459), (64,))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.engine.kernel import specialize
from helsinki_env.engine.playout import num_blocks
from helsinki_env.envs import kernels
from helsinki_env.envs.arguments import Observation
from helsinki_env.envs.batch import BaseVectorEnv, StepResult
from helsinki_env.envs.threads import ThreadPool

__all__ = ["GameVectorEnv"]


class GameVectorEnv(BaseVectorEnv):
    """Batch of games for self-play of all seats.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}`` of the acting seats.
    Action: the id of a legal action for every game, int (B,).

    Returned by `step`: reward float32 (B,) of the seat that acted, zero unless its action ends the game; terminated
    bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,) is the acting seat;
    ``info["action_mask"]`` is the same array as the observation's mask. When games end, info also holds ``rewards``
    float32, ``scores`` int16 and ``places`` int8 (B, players; 0 is the first rank) and ``rounds`` int16 (B,), all zero
    for games that did not end. ``_rewards``, bool (B,), marks the games that ended, as do the other masks of this form.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last action shows the finished game, without legal actions; the next call
            ignores the action for that game and deals a new one.
        SAME_STEP: a new game is dealt immediately; ``info["final_obs"]`` and ``info["final_info"]`` describe the old
            one.
        DISABLED: finished games stay finished until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        config: configuration of the game to play.
        autoreset_mode: see above.
        episodes: options drawn at random for each episode (`GameSpec.episodes`), not a number of episodes.
        num_threads: number of threads; None means one per CPU core. Results do not depend on it.
        copy: whether to return new arrays. False is faster, but each step overwrites the arrays of the previous one, so
            copy what you need later. With False, observations are updated incrementally and actions are checked against
            the returned mask, so never write to these arrays or to `states` (use `set_state`).
        render_mode: None, "ansi", "rgb_array" or "svg".
        render_width: width of "rgb_array" images in pixels; None means 1,200.

    Raises:
        ValueError: for invalid arguments.
        IllegalActionError: by `step`; names the game, action, phase and legal actions. No game is advanced.
    """

    _step: Callable[..., None] | None = None
    _threads = ThreadPool(1)  # needed by close() even if the constructor fails

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
        self._threads = ThreadPool(num_threads)
        super().__init__(num_envs, config, autoreset_mode, episodes, copy, render_mode, render_width)
        blocks = num_blocks(self._ids)
        self._legal = np.zeros((self.num_envs if copy else 0, blocks), np.uint64)
        self._mask = np.zeros((1, self._ids), np.int8)  # the last mask that was returned

    def _begin(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        views = self._take_views()
        kernels.reset_games(self._games(), chosen, views)
        self._set_checked_mask(views.mask)
        info = self._info(views.seats, views.mask, self._everywhere.copy())
        return {"observation": views.obs, "action_mask": views.mask}, info

    def _take_views(self) -> kernels.Views:
        return kernels.Views(self._legal, self._masks.take(), self._observations.take(), self._seats.take())

    def step(self, actions: npt.ArrayLike) -> StepResult:
        """Apply one action in every game; see the class for the returned values.

        Raises:
            IllegalActionError: for an illegal action; names the game, action, phase and legal actions.
            ValueError: unless the actions are integers of shape (B,). In both cases no game is advanced.
        """
        chosen = self._checked(actions)
        views = self._take_views()
        results = kernels.Results(self._rewards.take(), self._ended.take(), self._reports, self._last)
        shares = np.zeros(1, np.int64)
        alone = self._threads.threads == 1 or self.num_envs <= kernels.WORK_UNIT  # not enough work for several threads
        size = self.num_envs if alone else kernels.WORK_UNIT

        games = self._games()
        arguments = games, shares, size, chosen, self._mode, self._reward, views, results
        step = self._step or self._specialize(arguments)
        if alone:
            step(*arguments)
        else:

            def work(thread: int) -> None:
                own = games._replace(drawn=games.drawn.copy()) if thread else games  # threads modify its random state
                step(own, *arguments[1:])

            self._threads.each(work)
        self._set_checked_mask(views.mask)
        info = self._info(views.seats, views.mask, self._everywhere.copy())
        if np.count_nonzero(results.ended):
            self._report(info, results.ended)
        truncated = np.zeros(self.num_envs, np.bool_)
        obs = {"observation": views.obs, "action_mask": views.mask}
        return obs, results.rewards, results.ended, truncated, info

    def _specialize(self, arguments: tuple[Any, ...]) -> Callable[..., None]:
        self._step = specialize(kernels.step, *arguments)
        return self._step

    def _set_checked_mask(self, mask: npt.NDArray[np.int8]) -> None:
        """Without copies, use the returned mask to check the next actions."""
        if not self.copy:
            self._mask = mask

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = self._actions(actions)
        b = kernels.first_illegal_game(self.states, chosen, self._legal, self._mask, self._mode)
        if b >= 0:
            problem = self._illegal(b, int(chosen[b]))
            if self.states["done"][b]:
                problem.args = (f"{problem} (deal the next game with reset(options={{'reset_mask': ...}}))",)
            raise problem
        return chosen

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self._threads.close()
