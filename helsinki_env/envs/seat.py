"""One learning seat against given opponents, for Gymnasium, in one game or in many at once.

    >>> import gymnasium
    >>> env = gymnasium.make("helsinki_env:helsinki/Seat-v0", num_players=3, opponents="random", seat="rotate")
    >>> obs, info = env.reset(seed=1)
    >>> obs, reward, terminated, truncated, info = env.step(obs["action_mask"].argmax())

A step is one decision of the learner; the opponents then decide until it is the learner's turn again or the game is
over. Opponents see what their own seats may see, as the learner does.

An opponent is a name that `agents.registry.make_player` knows (``"random"`` needs nothing else), a player, or a
function: ``act(observation, mask, words)`` gets one row for each game in which it has to decide, int8 (rows, F) and
(rows, A), and one random number for each, uint64 (rows,); it returns the ids of legal decisions, int (rows,). The
arrays are its own, and lead to no other row. While it decides, it must not step or reset the environment that asks. An
opponent that takes its chance from `words` alone plays the same games
whatever the size of the batch. A list gives each opponent's seat a player of its own, clockwise from the learner.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Literal, Self

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.values import as_word, whole_number
from helsinki_env.envs.batch import Observation
from helsinki_env.envs.drawing import check_mode, render_modes
from helsinki_env.envs.opponents import Opponent
from helsinki_env.envs.seat_vector import GameSeatVectorEnv, Seat

__all__ = ["GameSeatEnv", "GameSeatVectorEnv", "Opponent", "Seat"]


class GameSeatEnv(gymnasium.Env[Observation, Any]):
    """One game in which one seat learns.

    Observation: ``{"observation": int8 (F,), "action_mask": int8 (A,)}`` of the learner, whose decision is always due.
    When the game is over, the mask is all ones: there is nothing left to choose. With some component files a game can
    end before the learner's first action; the first step then takes any action and reports the end.
    Action: the id of a legal decision. Reward: 0 until the game ends. ``info["seat"]`` is the learner's seat;
    ``info["action_mask"]`` is the mask of the observation, the same array. At the end, info also holds ``rewards``,
    ``scores`` and ``places`` of all seats, shape (players,).

    For Stable-Baselines3's `MaskablePPO`, `action_masks` gives the mask, through wrappers and vectors too.

    Args:
        config: what is played; it says of which game.
        opponents: one for all other seats, or a list of one for each, clockwise from the learner; see the module.
        seat: the learner's seat: a number, "rotate" (the next one in each game), or "random" (drawn for each game).
        illegal: what an illegal decision does: "penalise": the game ends with reward -1 (-100 with reward "margin"),
            and ``info["illegal_action"]`` says what was wrong; the first one is warned of. Or "raise"
            `IllegalActionError`, for programs that mean to take none. What is no whole number is an error in any case.
        episodes: what is drawn anew at each deal (`GameSpec.episodes`).
        render_mode: None, "ansi", "human" (prints the text at every step and in `render`), "rgb_array" or "svg"; only
            the learner's cards are shown.
        render_width: of "rgb_array", in pixels; None: 1,200.

    Raises:
        ValueError: for arguments that are none.
    """

    def __init__(
        self,
        config: Any,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: Seat = "random",
        illegal: Literal["raise", "penalise"] = "penalise",
        episodes: Any = None,
        render_mode: str | None = None,
        render_width: int | None = None,
    ) -> None:
        # A batch of one: there is only one way in which opponents are asked.
        self._batch = GameSeatVectorEnv(
            1,
            config,
            opponents,
            seat,
            illegal=illegal,
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
        """What is played."""
        return self._batch.config

    # Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new game and let the opponents play up to the learner's first decision.

        Args:
            seed: the same seed deals the same game and brings the same opponents' random numbers. None: the next game
                after the last seed (at the first reset: fresh entropy).
            options: ``seat``, the options of the game (`GameSpec.options`) and ``episodes`` change what is played from
                here on.

        Raises:
            ConfigError, ValueError: for bad seeds or options; nothing has changed then.
        """
        if seed is not None:
            as_word(seed)  # one number: a list is for batches
        obs, info = self._batch.reset(seed=seed, options=options)
        super().reset(seed=None if seed is None else int(seed))
        self._show()
        return self._returned(obs, info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one decision for the learner, and the opponents' after it; see the class.

        Raises:
            IllegalActionError: for what is no whole number, and with illegal="raise" for decisions that are not legal,
                naming phase and what is; nothing has changed. ValueError: if the game is over or nothing is dealt yet.
        """
        number = whole_number(action)
        if number is None:
            raise IllegalActionError(f"action {action!r} is not a whole number")
        chosen = min(max(number, -1), self._ids)  # what is no id stays none
        batch = self._batch
        seen, reward, terminated, _, found = batch.step(np.array([chosen]))
        obs, info = self._returned(seen, found)
        if terminated[0]:
            for name in ("rewards", "scores", "places"):
                info[name] = found[name][0]
            if batch.illegal == "penalise" and found["illegal_action"][0]:
                info["illegal_action"] = batch.game_spec.why_illegal(self.game, action)
        self._show()
        return obs, float(reward[0]), bool(terminated[0]), False, info

    @staticmethod
    def _returned(obs: Observation, info: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        """Return the observation and the info of the only game in a batch."""
        seen = {name: array[0] for name, array in obs.items()}
        return seen, {"seat": int(info["seat"][0]), "action_mask": seen["action_mask"]}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Draw the table as the learner sees it; "human" prints it, as every step does, and returns None."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass one, such as render_mode='ansi'")
            return None
        return self._batch._draw(0, self.render_mode)

    # beyond Gymnasium

    @property
    def game(self) -> Any:
        """A copy of the game as it stands, with everybody's cards: for tools."""
        return self._batch.game(0)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the legal decisions, bool (A,), never all false; Stable-Baselines3 asks for it by this name."""
        mask: npt.NDArray[np.bool_] = self._batch.action_masks()[0]
        return mask

    def set_opponents(self, opponents: Opponent | Sequence[Opponent]) -> None:
        """Let others play from now on, this game included; arguments as for the environment."""
        self._batch.set_opponents(opponents)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of everything that changes from step to step; `set_state` brings it back."""
        return self._batch.get_state()

    def set_state(self, state: dict[str, npt.NDArray[Any]]) -> tuple[Observation, dict[str, Any]]:
        """Go on from what `get_state` returned (same components); return what `reset` returns."""
        obs, info = self._batch.set_state(state)
        return self._returned(obs, info)

    def clone(self) -> Self:
        """Return an independent copy in the same state; both go on alike, as far as the opponents do."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return an independent copy, as `clone`."""
        return self.clone()
