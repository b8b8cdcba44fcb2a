"""The vector environment of any game: one step is one decision in every game, whoever calls it plays every seat.

Each game has a subclass with its own options, such as `helsinki_env.envs.vector.HelsinkiVectorEnv`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.envs import kernels
from helsinki_env.envs.batch import Batch, Observation, Step
from helsinki_env.envs.threads import Slices

__all__ = ["SelfPlayBatch"]


class SelfPlayBatch(Batch):
    """A batch of games for self-play, all seats; see the subclasses for what comes back and how it goes on."""

    _slices = Slices(1)  # for close(), also where the arguments turn out to be no good

    def __init__(
        self,
        num_envs: int,
        config: Any,
        autoreset_mode: AutoresetMode | str,
        episodes: Any,
        num_threads: int | None,
        copy: bool,
        render_mode: str | None,
    ) -> None:
        self._slices = Slices(num_threads)
        super().__init__(num_envs, config, autoreset_mode, episodes, copy, render_mode)

    def _begin(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        mask, obs, seats = self._masks.take(), self._observations.take(), self._seats.take()
        kernels.begin(
            self._tables, self.states, self._runs, self._setup, self._drawn, chosen, self.copy, self._legal, mask, obs,
            seats,
        )  # fmt: skip
        self._keep(mask)
        return {"observation": obs, "action_mask": mask}, {"seat": seats, "_seat": np.ones(self.num_envs, np.bool_)}

    def step(self, actions: npt.ArrayLike) -> Step:
        """Take one decision in every game; see the class for what comes back.

        Raises:
            IllegalActionError: naming game, decision, phase and what is legal. ValueError: for anything but whole
                numbers of shape (B,). No game has been stepped then.
        """
        chosen = self._checked(actions)
        mask, obs, seats = self._masks.take(), self._observations.take(), self._seats.take()

        def run(begin: int, end: int) -> None:
            drawn = self._drawn.copy()  # its word is written
            kernels.step(
                self._tables, begin, end, self.states, self._runs, chosen, self._setup, drawn, self._mode,
                self._reward, self.copy, self._legal, mask, obs, seats, self._reports, self._last,
            )  # fmt: skip

        self._slices.run(run, self.num_envs)
        self._keep(mask)
        ended = self._reports["ended"].copy()
        info: dict[str, Any] = {"seat": seats, "_seat": np.ones(self.num_envs, np.bool_)}
        if ended.any():
            self._report(info, ended)
        truncated = np.zeros(self.num_envs, np.bool_)
        return {"observation": obs, "action_mask": mask}, self._reports["reward"].copy(), ended, truncated, info

    def _keep(self, mask: npt.NDArray[np.int8]) -> None:
        """Without copies, what was handed out is also what the next decisions are checked against."""
        if not self.copy:
            self._legal = mask

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = self._actions(actions)
        b = kernels.first_illegal(self.states, chosen, self._legal, self._mode)
        if b >= 0:
            problem = self._illegal(b, int(chosen[b]))
            if self.states["done"][b]:
                problem.args = (f"{problem} (reset(options={{'reset_mask': ...}}) deals it anew)",)
            raise problem
        return chosen

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads end."""
        self._slices.close()
