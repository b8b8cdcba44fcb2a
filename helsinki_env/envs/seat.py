"""Gymnasium environment with one learning seat against given opponents.

    >>> import gymnasium
    >>> env = gymnasium.make("helsinki_env:helsinki/Helsinki-v0", num_players=3, opponents="random", seat="rotate")
    >>> obs, info = env.reset(seed=1)
    >>> obs, reward, terminated, truncated, info = env.step(obs["action_mask"].argmax())

A step is one action of the learner; then the opponents act until it is the learner's turn again or the game is over.
Opponents observe only their own seats, as the learner does.

An opponent is a player name for `helsinki_env.agents.registry.make_player` (``"random"`` needs no other package), a
player object, or a function ``act(observation, action_mask, keys)``. The function gets one row per game in which the
opponent acts, int8 (rows, F) and (rows, A), and one random key per row, uint64 (rows,). It returns the ids of legal
actions, int (rows,). The arrays are copies without access to other rows. The function must not step or reset the
calling environment. If an opponent draws all its randomness from `keys`, its games do not depend on the batch size. A
list assigns one opponent to each other seat, clockwise from the learner.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.data import as_integer, seed_to_uint64
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.envs.arguments import IllegalActionMode, Observation, check_mode, render_modes
from helsinki_env.envs.seat_vector import GameSeatVectorEnv, Opponent, SeatOption

__all__ = ["GameSeatEnv", "GameSeatVectorEnv", "Opponent", "SeatOption"]


class GameSeatEnv(gymnasium.Env[Observation, Any]):
    """A game with one learning seat.

    Observation: ``{"observation": int8 (F,), "action_mask": int8 (A,)}`` of the learner, which always acts next.
    When the game is over, the mask is all ones, because no choice remains. With some component files a game can end
    before the learner's first action; the first step then accepts any action and reports the end.
    Action: the id of a legal action. Reward: 0 until the game ends. ``info["seat"]`` is the learner's seat;
    ``info["action_mask"]`` is the same array as the observation's mask. At the end, info also holds ``rewards``,
    ``scores`` and ``places`` of all seats, shape (players,).

    For Stable-Baselines3's `MaskablePPO`, `action_masks` returns the mask; it also works through wrappers and vector
    environments.

    Args:
        config: configuration of the game to play.
        opponents: one opponent for all other seats, or a list of one per seat, clockwise from the learner; see the
            module.
        seat: the learner's seat: a number, "rotate" (the next one in each game), or "random" (drawn for each game).
        illegal_action: how to treat an illegal action. "penalize": the game ends with reward -1 (-100 with reward
            "margin"), ``info["illegal_action"]`` holds the message, and the first illegal action also warns. "raise":
            `IllegalActionError`; nothing changes. An action that is not an integer is always an error.
        episodes: options to draw at random for each game (`GameSpec.episodes`).
        render_mode: None, "ansi", "human" (prints the text at every step and in `render`), "rgb_array" or "svg"; only
            the learner's cards are visible.
        render_width: width of "rgb_array" in pixels; None: 1,200.

    Raises:
        ValueError: for invalid arguments.
    """

    def __init__(
        self,
        config: Any,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: SeatOption = "random",
        illegal_action: IllegalActionMode = "penalize",
        episodes: Any = None,
        render_mode: str | None = None,
        render_width: int | None = None,
    ) -> None:
        # A batch of one game, so that opponents are called in only one way.
        self._batch = GameSeatVectorEnv(
            1,
            config,
            opponents,
            seat,
            illegal_action=illegal_action,
            autoreset_mode=AutoresetMode.DISABLED,
            episodes=episodes,
            render_width=render_width,
        )
        modes = render_modes(self._batch.game_spec)
        self.metadata = {"render_modes": modes, "render_fps": 2}
        self.render_mode = check_mode(render_mode, tuple(modes))
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._ids = self._batch.action_masks().shape[1]

    @property
    def config(self) -> Any:
        """The game configuration."""
        return self._batch.config

    # Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new game and let the opponents play until the learner's first action.

        Args:
            seed: the same seed deals the same game and gives the opponents the same random keys. None: the next game
                after the last seed (at the first reset: fresh entropy).
            options: ``seat``, the options of the game (`GameSpec.options`) and ``episodes``; they also apply to later
                games.

        Raises:
            ConfigError, ValueError: for invalid seeds or options; nothing has changed then.
        """
        if seed is not None:
            seed_to_uint64(seed)  # one number: only batches accept a list
        obs, info = self._batch.reset(seed=seed, options=options)
        super().reset(seed=None if seed is None else int(seed))
        self._show()
        return self._first(obs, info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply one action of the learner, then those of the opponents; see the class.

        Raises:
            IllegalActionError: for an action that is not an integer, and with illegal_action="raise" for illegal
                actions; names the phase and the legal actions. Nothing has changed then.
            ValueError: if the game is over or no game is dealt yet.
        """
        number = as_integer(action)
        if number is None:
            raise IllegalActionError(f"action: found {action!r}, expected a whole number")
        chosen = min(max(number, -1), self._ids)  # an invalid id stays invalid
        batch = self._batch
        batch_obs, reward, terminated, _, batch_info = batch.step(np.array([chosen]))
        obs, info = self._first(batch_obs, batch_info)
        if terminated[0]:
            for name in ("rewards", "scores", "places"):
                info[name] = batch_info[name][0]
            if batch.illegal_action == "penalize" and batch_info["illegal_action"][0]:
                info["illegal_action"] = batch.game_spec.why_illegal(self.game, action)
        self._show()
        return obs, float(reward[0]), bool(terminated[0]), False, info

    @staticmethod
    def _first(batch_obs: Observation, batch_info: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        """Return the observation and the info of the only game in a batch."""
        obs = {name: array[0] for name, array in batch_obs.items()}
        return obs, {"seat": int(batch_info["seat"][0]), "action_mask": obs["action_mask"]}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Render the table as the learner sees it; "human" prints it, as every step does, and returns None."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass one, such as render_mode='ansi'")
            return None
        return self._batch._draw(0, self.render_mode)

    # beyond Gymnasium

    @property
    def game(self) -> Any:
        """A copy of the current game with all cards visible, for tools."""
        return self._batch.game(0)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the legal actions, bool (A,), never all false; Stable-Baselines3 calls this method."""
        mask: npt.NDArray[np.bool_] = self._batch.action_masks()[0]
        return mask

    def set_opponents(self, opponents: Opponent | Sequence[Opponent]) -> None:
        """Replace the opponents, also in the current game; arguments as for the environment."""
        self._batch.set_opponents(opponents)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of all mutable state; `set_state` loads it."""
        return self._batch.get_state()

    def set_state(self, state: dict[str, npt.NDArray[Any]]) -> tuple[Observation, dict[str, Any]]:
        """Load a state from `get_state` (same components) and return what `reset` returns."""
        obs, info = self._batch.set_state(state)
        return self._first(obs, info)

    def clone(self) -> Self:
        """Return an independent copy in the same state; both continue alike if the opponents do."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return an independent copy, as `clone`."""
        return self.clone()
