"""One learning seat against given opponents in many games at once; `helsinki_env.envs.seat` says who opponents are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.engine.game import IllegalActionError
from helsinki_env.envs import kernels, seat_kernels
from helsinki_env.envs.batch import Batch, Observation, Step, as_array
from helsinki_env.envs.illegal import Illegal, checked_illegal, warn_illegal
from helsinki_env.envs.opponents import Opponent, Opponents
from helsinki_env.envs.rewards import PENALTIES

__all__ = ["GameSeatVectorEnv", "Seat"]

Seat = int | Literal["rotate", "random"]
"""The learner's seat: a number, ``"rotate"`` (the next one in each game) or ``"random"`` (drawn for each game)."""

_SEATS = {"rotate": seat_kernels.ROTATE, "random": seat_kernels.RANDOM}


class GameSeatVectorEnv(Batch):
    """Many games at once, in each of which one seat learns.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}`` of the learner, whose decision is always
    due. In a game that is over, everything is let through (the mask is all ones, never all zeros), for there is
    nothing left to choose.

    With some component files a game can end before the learner's first action. Its mask is all ones too, and the next
    step takes any action there and reports the end.

    Returned by `step`: reward float32 (B,) of the learner, not zero only when its game ends (`reward` of the
    configuration); terminated bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,): the learner's
    seat; ``info["action_mask"]`` is the mask of the observation, the same array. When games end, info also holds
    ``rewards`` float32, ``scores`` and ``places`` (B, players) of all seats (0 is the first place), with masks
    ``_rewards`` and so on that say for which games.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last decision is that of the finished game; the next call ignores the
        action of that game, deals a new one and returns the learner's first observation of it.
        SAME_STEP: that happens at once; ``info["final_obs"]`` and ``info["final_info"]`` hold the old game.
        DISABLED: finished games stay until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        config: what is played; it says of which game.
        opponents: one for all other seats, or a list of one for each, clockwise from the learner; see
            `helsinki_env.envs.seat`.
        seat: the learner's seat: a number, "rotate" (the next one in each game), or "random" (drawn for each game).
        illegal: what an illegal decision does: "penalise": that game ends with reward -1 (-100 with reward "margin"),
            and ``info["illegal_action"]`` bool (B,) says where; the first one is warned of. Or "raise"
            `IllegalActionError`, for programs that mean to take none.
        autoreset_mode: see above.
        episodes: what is drawn anew at each deal (`GameSpec.episodes`).
        copy: False returns the same arrays at every step, written over by the next: faster, for those who take care.
        render_mode: None, "ansi", "rgb_array" or "svg".
        render_width: of "rgb_array", in pixels; None: 1,200.

    Raises:
        ValueError: for arguments that are none.
        IllegalActionError: by `step` with illegal="raise", naming game, decision, phase and the legal ones; no game
            has been stepped. If an opponent errs, some have: the next call must be `reset`.
        RuntimeError: by `step`, `reset` and `set_state` when an opponent calls them that is just being asked.
    """

    _final_mask = 1
    #: Whether the first illegal action has been warned of.
    _warned = False
    _saved = {**Batch._saved, "seatings": "_seatings"}  # noqa: RUF012  # never changed

    def __init__(
        self,
        num_envs: int,
        config: Any,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: Seat = "random",
        illegal: Illegal = "penalise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: Any = None,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
    ) -> None:
        self.illegal = checked_illegal(illegal)
        self._seat: Seat = seat
        self._opponents: Opponents | None = None
        self._asked: str | None = None  # the opponent that is deciding
        self._rules = np.zeros(1, seat_kernels.RULES)
        super().__init__(num_envs, config, autoreset_mode, episodes, copy, render_mode, render_width)
        n, ids, size = self.num_envs, self._ids, self._last.shape[1]
        self._legal = np.zeros((n, ids), np.int8)
        self._seatings = np.zeros(n, seat_kernels.SEATING)
        # What opponents are asked: as many rows at the front as there are games that wait for one.
        self._who, self._words = np.zeros(n, np.int64), np.zeros(n, np.uint64)
        self._their_masks, self._their_obs = np.empty((n, ids), np.int8), np.empty((n, size), np.int8)
        self.set_opponents(opponents)

    def _set_up(self, config: Any, episodes: Any) -> None:
        fewest = config.num_players if episodes.num_players is None else min(episodes.num_players)
        most = config.num_players if episodes.num_players is None else max(episodes.num_players)
        number = _SEATS.get(self._seat, self._seat) if isinstance(self._seat, str) else self._seat
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise ValueError(f"seat: found {self._seat!r}, expected a number, 'rotate' or 'random'")
        if not isinstance(self._seat, str) and not 0 <= number < fewest:
            raise ValueError(f"seat: found {self._seat!r}, expected 0 to {fewest - 1}, 'rotate' or 'random'")
        opponents = None if self._opponents is None else self._opponents.for_players(most)
        super()._set_up(config, episodes)
        rules = self._rules[0]
        rules.seat = number
        rules.mode = self._mode
        rules.reward = self._reward
        rules.penalty = PENALTIES[config.reward]
        if opponents is not None:
            self._use(opponents)

    def _change(self, options: dict[str, Any]) -> None:
        options, before = dict(options), self._seat
        self._seat = options.pop("seat", before)
        try:
            self._set_up(*self._read(options, ("seat",)))
        except ValueError:
            self._seat = before
            raise

    def set_opponents(self, opponents: Opponent | Sequence[Opponent]) -> None:
        """Let others play from now on, running games included; arguments as for the environment."""
        most = max(self._most_players, int(self.states["players"].max()))
        self._use(Opponents(opponents, self.config, most))

    def _use(self, opponents: Opponents) -> None:
        self._opponents = opponents
        self._rules[0].random = opponents.random

    # Gymnasium

    def _check(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        super()._check(taken)
        states, seatings = taken["states"], taken["seatings"]
        players, learner = states["players"], seatings["learner"]
        for wrong, expected in (
            ((learner < 0) | (learner >= players), "the learner on a seat that is played"),
            (seatings["over"].view(np.uint8) > 1, "over to be True or False"),
        ):
            if wrong.any():
                b = int(wrong.argmax())
                raise ValueError(f"seatings: game {b}: found {seatings[b]}, expected {expected}")

    def _take(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        assert self._opponents is not None  # they are there once the environment is made
        self._use(self._opponents.for_players(max(self._most_players, int(taken["states"]["players"].max()))))
        super()._take(taken)

    def _check_free(self, call: str) -> None:
        if self._asked is not None:
            raise RuntimeError(
                f"{call}: called by the opponent {self._asked!r} while its decision is waited for; it decides from "
                "what it is given, and may try things out in games of its own (helsinki_env.restore)"
            )

    def _begin(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        seat_kernels.begin(
            self._tables, self.states, self._runs, self._seatings, self._setup, self._drawn, self._rules, chosen
        )
        still = self._rules.copy()
        still["mode"] = kernels.DISABLED  # finished games that are not chosen stay as they are
        nothing = np.full(self.num_envs, seat_kernels.NO_DECISION)
        obs, _, _ = self._advance(nothing, still, np.ones(self.num_envs, np.bool_))
        return obs, self._told(obs)

    def step(self, actions: npt.ArrayLike) -> Step:
        """Take one decision for the learner of every game, and the opponents' after it; see the class.

        Raises:
            IllegalActionError, ValueError: see the class.
        """
        self._check_free("step")
        chosen = self._checked(actions)
        obs, rewards, ended = self._advance(chosen, self._rules, np.zeros(self.num_envs, np.bool_))
        info = self._told(obs)
        if ended.any():
            self._report(info, ended)
            if self.illegal == "penalise":
                illegal = self._reports["illegal"] & ended
                info |= {"illegal_action": illegal, "_illegal_action": ended.copy()}
                if not self._warned and illegal.any():
                    self._warned = True
                    warn_illegal(self.config.reward)
        return obs, rewards, ended, np.zeros(self.num_envs, np.bool_), info

    def _told(self, obs: Observation) -> dict[str, Any]:
        return self._info(self._seatings["learner"].copy(), obs["action_mask"], self._everywhere.copy())

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = self._actions(actions)
        if self._mode == kernels.DISABLED and self._seatings["over"].any():
            b = int(self._seatings["over"].argmax())
            raise IllegalActionError(f"game {b} is over; reset(options={{'reset_mask': ...}}) deals it anew")
        if self.illegal == "penalise":
            chosen = np.where(chosen < 0, self._ids, chosen)  # no such id, either
        else:
            b = seat_kernels.first_illegal(self._seatings, np.arange(self.num_envs), chosen, self._legal)
            if b >= 0:
                raise self._illegal(b, int(chosen[b]))
        return chosen

    def _advance(
        self, actions: npt.NDArray[np.int64], rules: npt.NDArray[Any], early: npt.NDArray[np.bool_]
    ) -> tuple[Observation, npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Take these decisions, let the opponents decide until every game is back with its learner or over.

        `early`, bool (B,): games in which the learner does not act in this call; if one ends, its next step says so.

        Return what the learners see, their rewards (B,), and which games have ended (B,).
        """
        rewards, ended = np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.bool_)
        mask, obs = self._masks.take(), self._observations.take()
        games = np.arange(self.num_envs)
        self._dealt = False  # until all is well: an opponent's error leaves games halfway
        while len(actions):
            waiting = seat_kernels.advance(
                self._tables, self.states, self._runs, self._seatings, self._setup, self._drawn, rules, games, actions,
                early, self._legal, mask, obs, rewards, ended, self._reports, self._last,
                self._who, self._words, self._their_masks, self._their_obs,
            )  # fmt: skip
            actions = self._ask(games[:waiting])
        self._dealt = True
        return {"observation": obs, "action_mask": mask}, rewards, ended

    def _ask(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the decisions of the opponents in the games that wait for one."""
        count, opponents = len(games), self._opponents
        actions = np.zeros(count, np.int64)
        if count == 0 or opponents is None:
            return actions
        asked = opponents.act_of[self._who[:count]]
        for i, act in enumerate(opponents.acts):
            rows = np.flatnonzero(asked == i)
            if act is None or len(rows) == 0:
                continue
            # Copies: a view would lead back to the rows of other seats.
            self._asked = opponents.names[self._who[rows[0]]]
            name = f"opponent {self._asked!r}"
            try:
                given = act(self._their_obs[rows], self._their_masks[rows], self._words[rows])
            finally:
                self._asked = None
            found = as_array(name, given)
            if found.shape != rows.shape or not np.issubdtype(found.dtype, np.integer):
                raise ValueError(
                    f"{name}: found decisions {found.dtype} of shape {found.shape}, expected whole numbers of shape "
                    f"{rows.shape}"
                )
            actions[rows] = found
        k = seat_kernels.first_illegal(self._seatings, games, actions, self._legal)
        if k >= 0:
            problem = self._illegal(int(games[k]), int(actions[k]))
            raise IllegalActionError(f"opponent {opponents.names[self._who[k]]!r}: {problem}")
        return actions

    def _viewer(self, b: int) -> int | None:
        return int(self._seatings["learner"][b])

    # beyond Gymnasium

    def __getstate__(self) -> dict[str, Any]:
        """Return everything that a copy goes on with: nobody is asked in it."""
        return super().__getstate__() | {"_asked": None}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learners' legal decisions, bool (B, A); all true in a game that is over."""
        masks: npt.NDArray[np.bool_] = self._legal.astype(np.bool_)
        masks[self._seatings["over"]] = True
        return masks
