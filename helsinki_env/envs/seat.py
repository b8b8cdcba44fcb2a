"""One learning seat against given opponents, for Gymnasium, in one game or in many at once.

    >>> import gymnasium
    >>> import helsinki_env
    >>> env = gymnasium.make("helsinki/Seat-v0", num_players=3, opponents="random", seat="rotate")
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
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.values import as_word, whole_number
from helsinki_env.envs import kernels, seat_kernels
from helsinki_env.envs.batch import Batch, Observation, Step, as_array
from helsinki_env.envs.drawing import check_mode, render_modes
from helsinki_env.envs.opponents import make_opponent
from helsinki_env.envs.rewards import PENALTIES

__all__ = ["GameSeatEnv", "GameSeatVectorEnv", "Opponent", "Seat"]

Act = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.uint64]], npt.NDArray[np.int64]]
Opponent = str | Act | Any
"""A name, a function, or any object with a method ``act``."""
Seat = int | Literal["rotate", "random"]

_SEATS = {"rotate": seat_kernels.ROTATE, "random": seat_kernels.RANDOM}


class _Opponents:
    """Who decides for the other seats, by how many places after the learner they sit (from 0).

    Attributes:
        random: the set of those that play uniformly at random, which compiled code does by itself.
    """

    def __init__(self, given: Opponent | Sequence[Opponent], config: Any, most_players: int) -> None:
        self.listed = isinstance(given, list | tuple)
        players = list(given) if isinstance(given, list | tuple) else [given] * (most_players - 1)
        self.names = [p if isinstance(p, str) else str(getattr(p, "name", p)) for p in players]
        found: dict[int, Act | None] = {}
        for player in players:
            if id(player) not in found:
                found[id(player)] = _resolve(player, config)
        self.acts = list(found.values())
        self.act_of = np.array([list(found).index(id(player)) for player in players])
        self.random = sum(1 << i for i, player in enumerate(players) if found[id(player)] is None)
        self.check(most_players)

    def check(self, most_players: int) -> None:
        """ValueError if these are not enough or too many."""
        if self.listed and len(self.names) != most_players - 1:
            raise ValueError(
                f"opponents: found a list of {len(self.names)}, expected {most_players - 1} with "
                f"{most_players} players (or one for all)"
            )

    def for_players(self, most_players: int) -> _Opponents:
        """Return these for another number of players."""
        self.check(most_players)
        if self.listed or len(self.names) >= most_players - 1:
            return self
        new = copy.copy(self)
        new.names = self.names[:1] * (most_players - 1)
        new.act_of = np.zeros(most_players - 1, np.int64)
        new.random = (1 << (most_players - 1)) - 1 if self.random else 0
        return new


def _resolve(opponent: Opponent, config: Any) -> Act | None:
    """Return what decides; None for uniformly random play."""
    if isinstance(opponent, str):
        if opponent == "random":
            return None
        act: Act = make_opponent(opponent, config).act
        return act
    act = getattr(opponent, "act", opponent)
    if not callable(act):
        raise ValueError(
            f"opponents: found {opponent!r}, expected a name such as 'random', a player with a method "
            "act(observation, mask, words), or such a function"
        )
    return act


class GameSeatVectorEnv(Batch):
    """Many games at once, in each of which one seat learns.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}`` of the learner, whose decision is always
    due. In a game that is over, everything is let through (the mask is all ones, never all zeros), for there is
    nothing left to choose.

    Returned by `step`: reward float32 (B,) of the learner, not zero only when its game ends (`reward` of the
    configuration); terminated bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,): the learner's
    seat. When games end, info also holds ``rewards`` float32, ``scores`` and ``places`` (B, players) of all seats (0 is
    the first place), with masks ``_rewards`` and so on that say for which games.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last decision is that of the finished game; the next call ignores the
        action of that game, deals a new one and returns the learner's first observation of it.
        SAME_STEP: that happens at once; ``info["final_obs"]`` and ``info["final_info"]`` hold the old game.
        DISABLED: finished games stay until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        config: what is played; it says of which game.
        opponents: one for all other seats, or a list of one for each, clockwise from the learner; see the module.
        seat: the learner's seat: a number, "rotate" (the next one in each game), or "random" (drawn for each game).
        illegal: what an illegal decision does: "penalise": that game ends with reward -1 (-100 with reward "margin"),
            and ``info["illegal_action"]`` bool (B,) says where; or "raise" `IllegalActionError`, for programs that
            mean to take none.
        autoreset_mode: see above.
        episodes: what is drawn anew at each deal (`GameSpec.episodes`).
        copy: False returns the same arrays at every step, written over by the next: faster, for those who take care.
        render_mode: None, "ansi", "rgb_array" or "svg".

    Raises:
        ValueError: for arguments that are none.
        IllegalActionError: by `step` with illegal="raise", naming game, decision, phase and the legal ones; no game
            has been stepped. If an opponent errs, some have: the next call must be `reset`.
        RuntimeError: by `step`, `reset` and `set_state` when an opponent calls them that is just being asked.
    """

    _saved = {**Batch._saved, "seatings": "_seatings"}  # noqa: RUF012  # never changed

    def __init__(
        self,
        num_envs: int,
        config: Any,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: Seat = "random",
        illegal: Literal["raise", "penalise"] = "penalise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: Any = None,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(illegal, str) or illegal not in ("raise", "penalise"):
            raise ValueError(f"illegal: found {illegal!r}, expected 'raise' or 'penalise'")
        self.illegal = illegal
        self._seat: Seat = seat
        self._opponents: _Opponents | None = None
        self._asked: str | None = None  # the opponent that is deciding
        self._rules = np.zeros(1, seat_kernels.RULES)
        super().__init__(num_envs, config, autoreset_mode, episodes, copy, render_mode)
        n, (_, ids), size = self.num_envs, self._legal.shape, self._last.shape[1]
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
        self._use(_Opponents(opponents, self.config, most))

    def _use(self, opponents: _Opponents) -> None:
        self._opponents = opponents
        self._rules[0].random = opponents.random

    # Gymnasium

    def _check(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        super()._check(taken)
        states, seatings = taken["states"], taken["seatings"]
        players, learner = states["players"], seatings["learner"]
        for wrong, expected in (
            ((learner < 0) | (learner >= players), "the learner on a seat that is played"),
            ((states["done"] == 1) & ~seatings["over"], "a finished game to be over"),
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
        obs = self._advance(np.full(self.num_envs, seat_kernels.NO_DECISION), still)
        return obs, self._info()

    def step(self, actions: npt.ArrayLike) -> Step:
        """Take one decision for the learner of every game, and the opponents' after it; see the class.

        Raises:
            IllegalActionError, ValueError: see the class.
        """
        self._check_free("step")
        chosen = self._checked(actions)
        obs = self._advance(chosen, self._rules)
        reports, info = self._reports, self._info()
        ended = reports["ended"].copy()
        if ended.any():
            self._report(info, ended)
            if self.illegal == "penalise":
                info |= {"illegal_action": reports["illegal"].copy(), "_illegal_action": ended.copy()}
        return obs, reports["reward"].copy(), ended, np.zeros(self.num_envs, np.bool_), info

    def _info(self) -> dict[str, Any]:
        return {"seat": self._seatings["learner"].copy(), "_seat": np.ones(self.num_envs, np.bool_)}

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = self._actions(actions)
        if self._mode == kernels.DISABLED and self._seatings["over"].any():
            b = int(self._seatings["over"].argmax())
            raise IllegalActionError(f"game {b} is over; reset(options={{'reset_mask': ...}}) deals it anew")
        if self.illegal == "penalise":
            chosen = np.where(chosen < 0, self._legal.shape[1], chosen)  # no such id, either
        else:
            b = seat_kernels.first_illegal(self._seatings, np.arange(self.num_envs), chosen, self._legal)
            if b >= 0:
                raise self._illegal(b, int(chosen[b]))
        return chosen

    def _advance(self, actions: npt.NDArray[np.int64], rules: npt.NDArray[Any]) -> Observation:
        """Take these decisions, let the opponents decide until every game is back with its learner or over."""
        for name in ("ended", "reward", "illegal"):
            self._reports[name] = 0
        mask, obs = self._masks.take(), self._observations.take()
        games = np.arange(self.num_envs)
        self._dealt = False  # until all is well: an opponent's error leaves games halfway
        while len(actions):
            waiting = seat_kernels.advance(
                self._tables, self.states, self._runs, self._seatings, self._setup, self._drawn, rules, games, actions,
                self._legal, mask, obs, self._reports, self._last,
                self._who, self._words, self._their_masks, self._their_obs,
            )  # fmt: skip
            actions = self._ask(games[:waiting])
        self._dealt = True
        return {"observation": obs, "action_mask": mask}

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

    def _final_mask(self) -> npt.NDArray[np.int8]:
        return np.ones(self._legal.shape[1], np.int8)

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


class GameSeatEnv(gymnasium.Env[Observation, Any]):
    """One game in which one seat learns.

    Observation: ``{"observation": int8 (F,), "action_mask": int8 (A,)}`` of the learner, whose decision is always due.
    When the game is over, the mask is all ones: there is nothing left to choose.
    Action: the id of a legal decision. Reward: 0 until the game ends. ``info["seat"]`` is the learner's seat; at the
    end, info also holds ``rewards``, ``scores`` and ``places`` of all seats, shape (players,).

    For Stable-Baselines3's `MaskablePPO`, `action_masks` gives the mask, through wrappers and vectors too.

    Args:
        config: what is played; it says of which game.
        opponents: one for all other seats, or a list of one for each, clockwise from the learner; see the module.
        seat: the learner's seat: a number, "rotate" (the next one in each game), or "random" (drawn for each game).
        illegal: what an illegal decision does: "penalise": the game ends with reward -1 (-100 with reward "margin"),
            and ``info["illegal_action"]`` says what was wrong; or "raise" `IllegalActionError`, for programs that mean
            to take none. What is no whole number is an error in any case.
        episodes: what is drawn anew at each deal (`GameSpec.episodes`).
        render_mode: None, "ansi", "human" (prints the text at every step), "rgb_array" or "svg"; only the learner's
            cards are shown.

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
    ) -> None:
        # A batch of one: there is only one way in which opponents are asked.
        self._batch = GameSeatVectorEnv(
            1, config, opponents, seat, illegal=illegal, autoreset_mode=AutoresetMode.DISABLED, episodes=episodes
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
        self._print()
        return self._returned(obs), {"seat": int(info["seat"][0])}

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
        obs, reward, terminated, _, found = batch.step(np.array([chosen]))
        info: dict[str, Any] = {"seat": int(found["seat"][0])}
        if terminated[0]:
            for name in ("rewards", "scores", "places"):
                info[name] = found[name][0]
            if batch.illegal == "penalise" and found["illegal_action"][0]:
                info["illegal_action"] = batch.game_spec.why_illegal(self.game, action)
        self._print()
        return self._returned(obs), float(reward[0]), bool(terminated[0]), False, info

    def _returned(self, obs: Observation) -> Observation:
        return {name: array[0] for name, array in obs.items()}

    def _print(self) -> None:
        if self.render_mode == "human":
            self._draw("human")

    def render(self) -> Any:
        """Draw the table as the learner sees it; None for "human", which prints it at every step."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass one, such as render_mode='ansi'")
            return None
        if self.render_mode == "human":
            return None
        return self._draw(self.render_mode)

    def _draw(self, mode: str) -> Any:
        return self._batch.game_spec.draw(self.game, mode, viewer=self._batch._viewer(0))

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
        return self._returned(obs), {"seat": int(info["seat"][0])}

    def clone(self) -> Self:
        """Return an independent copy in the same state; both go on alike, as far as the opponents do."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return an independent copy, as `clone`."""
        return self.clone()
