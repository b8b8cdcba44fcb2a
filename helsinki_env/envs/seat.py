"""Gymnasium environment with one learning seat and configurable opponents.

    >>> import gymnasium
    >>> env = gymnasium.make("helsinki_env:helsinki/Helsinki-v0", num_players=3, opponents="random", seat="rotate")
    >>> obs, info = env.reset(seed=1)
    >>> obs, reward, terminated, truncated, info = env.step(obs["action_mask"].argmax())

In a step, the learner takes one action; then the opponents act until the learner acts next or the game is over.
Like the learner, opponents observe only the position from their own seats.

An opponent is a player name for `helsinki_env.agents.registry.make_player`, a player object, or a function
``act(observation, action_mask, keys)``. The function gets one row per game in which the opponent acts, int8 (rows, F)
and (rows, A), and one random key per row, uint64 (rows,). It returns one legal action id per row, int (rows,). The
arrays are copies, so the function has no access to other rows. It must not step or reset the calling environment. If an
opponent derives all its randomness from `keys`, its games do not depend on the batch size. A list assigns one opponent
to each of the other seats, clockwise from the learner.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Literal, Self

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.data import as_integer, seed_to_uint64, short_repr
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.kernel import specialize
from helsinki_env.engine.states import States
from helsinki_env.envs import kernels, seat_kernels
from helsinki_env.envs.arguments import (
    PENALTIES,
    IllegalActionMode,
    Observation,
    as_array,
    check_illegal_action,
    check_mode,
    player_range,
    render_modes,
    warn_illegal_action,
)
from helsinki_env.envs.batch import BaseVectorEnv, StepResult

__all__ = ["GameSeatEnv", "GameSeatVectorEnv", "Opponent", "SeatOption"]

OPPONENT_ENTRY_POINTS = "helsinki.opponents"
"""Entry point group for player factories `make(name, config)`; the first one found is used."""

Act = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.uint64]], npt.NDArray[np.int64]]
Opponent = str | Act | Any
"""A name, a function, or an object with an ``act`` method."""


class Opponents:
    """The opponents, indexed by their clockwise distance from the learner minus 1.

    `random` is the bit set of uniformly random opponents, whose actions are sampled in compiled code.
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
        """Raise ValueError if there are too few or too many opponents."""
        if self.listed and len(self.names) != most_players - 1:
            raise ValueError(
                f"opponents: found a list of {len(self.names)}, expected {most_players - 1} with "
                f"{most_players} players, or one for all"
            )

    def for_players(self, most_players: int) -> Opponents:
        """Return these opponents adapted to another number of players."""
        self.check(most_players)
        if self.listed or len(self.names) >= most_players - 1:
            return self
        new = copy.copy(self)
        new.names = self.names[:1] * (most_players - 1)
        new.act_of = np.zeros(most_players - 1, np.int64)
        new.random = (1 << (most_players - 1)) - 1 if self.random else 0
        return new


def _resolve(opponent: Opponent, config: Any) -> Act | None:
    """Return an opponent's function that chooses actions, or None for uniformly random play."""
    if isinstance(opponent, str):
        if opponent == "random":
            return None
        act: Act = make_opponent(opponent, config).act
        return act
    act = getattr(opponent, "act", opponent)
    if not callable(act):
        raise ValueError(
            f"opponents: found {short_repr(opponent)}, expected a name such as 'random', a player with a method "
            "act(observation, action_mask, keys), or such a function"
        )
    return act


def make_opponent(name: str, config: Any) -> Any:
    """Create a player by its command-line name, such as ``"mc:200"``; raise ValueError if the name is unknown."""
    for point in entry_points(group=OPPONENT_ENTRY_POINTS):
        return point.load()(name, config)
    raise ValueError(
        f"opponents: found {short_repr(name)}, expected a player object: no package that makes players by name is "
        "installed; install the project with pip"
    )


SeatOption = int | Literal["rotate", "random"]
"""The learner's seat: a number, ``"rotate"`` (the next one in each game) or ``"random"`` (drawn for each game)."""

_SEATS = {"rotate": seat_kernels.ROTATE, "random": seat_kernels.RANDOM}


class GameSeatVectorEnv(BaseVectorEnv):
    """Batch of games with one learning seat each.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}`` of the learners, which are always the
        acting agents. In a finished game the mask is all ones rather than all zeros; the action no longer matters.

    With some component files, a game can end before the learner's first action. In that case, too, its mask is all
    ones; the next step accepts any action for this game and reports its end.

    Returned by `step`: reward float32 (B,) of the learner, zero until its game ends (see `reward` in the
    configuration); terminated bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,) is the
    learner's seat; ``info["action_mask"]`` is the same array as the observation's mask. When games end, info also holds
    ``rewards`` float32, ``scores`` int16 and ``places`` int8 (B, players) of all seats (0 is the first rank) and
    ``rounds`` int16 (B,). The boolean masks ``_rewards``, ``_scores``, ``_places`` and ``_rounds`` mark the games to
    which these entries apply.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last action shows the finished game; the next call ignores the action for
            that game, deals a new one and returns the learner's first observation of it.
        SAME_STEP: a new game is dealt immediately; ``info["final_obs"]`` and ``info["final_info"]`` describe the old
            one.
        DISABLED: finished games stay finished until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        config: configuration of the game to play.
        opponents: one opponent for all other seats, or a list with one per seat, clockwise from the learner; see the
            module docstring.
        seat: the learner's seat: a number, "rotate" (the next seat in each game, from 0 after a reset with a
            seed), or "random" (drawn for each game).
        illegal_action: effect of an illegal action. "penalize": that game ends with reward -1 (-100 with reward
            "margin"), ``info["illegal_action"]`` bool (B,) marks it, and the first illegal action also triggers a
            warning. "raise": raises `IllegalActionError`; no game is advanced.
        autoreset_mode: see above.
        episodes: options drawn at random for each episode (`GameSpec.episodes`), not a number of episodes.
        copy: whether to return new arrays. False is faster, but each step overwrites the arrays of the previous one, so
            copy what you need later.
        render_mode: None, "ansi", "rgb_array" or "svg".
        render_width: width of "rgb_array" images in pixels; None means 1,200.

    Raises:
        ValueError: for invalid arguments.
        IllegalActionError: by `step` with illegal_action="raise"; names the game, action, phase and legal actions. No
            game is advanced, unless an opponent caused the error; in that case the next call must be `reset`.
        RuntimeError: if an opponent calls `step`, `reset` or `set_state` while it chooses actions.
    """

    _final_mask = 1
    #: Whether a warning about an illegal action has been issued.
    _warned = False
    _step: Callable[..., int] | None = None
    _saved = {**BaseVectorEnv._saved, "seatings": "_seatings"}  # noqa: RUF012  # constant

    def __init__(
        self,
        num_envs: int,
        config: Any,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: SeatOption = "random",
        illegal_action: IllegalActionMode = "penalize",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: Any = None,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
    ) -> None:
        self.illegal_action = check_illegal_action(illegal_action)
        self._seat: SeatOption = seat
        self._opponents: Opponents | None = None
        self._acting: str | None = None  # the opponent that is choosing actions
        self._depth = 1  # number of calls from the caller's `step` to the one that may warn
        self._rules = np.zeros(1, seat_kernels.RULES)
        super().__init__(num_envs, config, autoreset_mode, episodes, copy, render_mode, render_width)
        n, ids, size = self.num_envs, self._ids, self._last.shape[1]
        self._legal = np.zeros((n, ids), np.int8)
        self._seatings = np.zeros(n, seat_kernels.SEATING)
        self._inputs = seat_kernels.OpponentViews(
            np.zeros(n, np.int64), np.zeros(n, np.uint64), np.empty((n, ids), np.int8), np.empty((n, size), np.int8)
        )
        self.set_opponents(opponents)

    def _set_up(self, config: Any, episodes: Any) -> None:
        fewest, most = player_range(config, episodes)
        number = _SEATS.get(self._seat, self._seat) if isinstance(self._seat, str) else self._seat
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise ValueError(f"seat: found {short_repr(self._seat)}, expected a number, 'rotate' or 'random'")
        if not isinstance(self._seat, str) and not 0 <= number < fewest:
            raise ValueError(f"seat: found {short_repr(self._seat)}, expected 0 to {fewest - 1}, 'rotate' or 'random'")
        opponents = None if self._opponents is None else self._opponents.for_players(most)
        super()._set_up(config, episodes)
        rules = self._rules[0]
        rules.seat = number
        rules.mode = self._mode
        rules.reward = self._reward
        rules.penalty = PENALTIES[config.reward]
        if opponents is not None:
            self._use(opponents)

    def _each(self, setup: Any, options: Mapping[str, Any]) -> States | None:
        found = super()._each(setup, options)
        if found is not None:
            seat, players = options.get("seat", self._seat), found["players"]
            if isinstance(seat, int | np.integer) and (players <= seat).any():
                b = int((players <= seat).argmax())
                raise ValueError(
                    f"options['setup']: game {b}: found {players[b]} players, expected at least {seat + 1}, because "
                    f"the learner has seat {seat}"
                )
            if self._opponents is not None:
                self._opponents.check(max(self._most_players, int(players.max())))
        return found

    def _change(self, options: dict[str, Any]) -> None:
        options, before = dict(options), self._seat
        self._seat = options.pop("seat", before)
        try:
            self._set_up(*self._read(options, ("seat",)))
        except ValueError:
            self._seat = before
            raise

    def set_opponents(self, opponents: Opponent | Sequence[Opponent]) -> None:
        """Replace the opponents, including in games in progress; takes the same values as the `opponents` argument."""
        self._use(Opponents(opponents, self.config, self._possible_players()))

    def _use(self, opponents: Opponents) -> None:
        self._opponents = opponents
        self._rules[0].random = opponents.random

    # Gymnasium

    def _check(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        super()._check(taken)
        states, seatings = taken["states"], taken["seatings"]
        players, learner = states["players"], seatings["learner"]
        for wrong, expected in (
            ((learner < 0) | (learner >= players), "the learner on an occupied seat"),
            (seatings["over"].view(np.uint8) > 1, "over to be True or False"),
        ):
            if wrong.any():
                b = int(wrong.argmax())
                raise ValueError(f"seatings: game {b}: found {seatings[b]}, expected {expected}")

    def _take(self, taken: dict[str, npt.NDArray[Any]]) -> None:
        assert self._opponents is not None  # set once the environment is constructed
        self._use(self._opponents.for_players(max(self._most_players, int(taken["states"]["players"].max()))))
        super()._take(taken)

    def _check_free(self, call: str) -> None:
        if self._acting is not None:
            raise RuntimeError(
                f"{call}: found a call by the opponent {self._acting!r} while it chooses an action, expected none; "
                "search in separate games (helsinki_env.engine.determinization)"
            )

    def _begin(self, chosen: npt.NDArray[np.bool_]) -> tuple[Observation, dict[str, Any]]:
        if self._opponents is not None:
            self._use(self._opponents.for_players(max(self._most_players, int(self._setup["players"].max()))))
        seat_kernels.reset_seat_games(self._games(), self._seatings, self._rules, chosen)
        rules = self._rules.copy()
        rules["mode"] = kernels.DISABLED  # finished games that are not chosen stay unchanged
        no_actions = np.full(self.num_envs, seat_kernels.NO_ACTION)
        obs, _, _ = self._advance(no_actions, rules, np.ones(self.num_envs, np.bool_))
        return obs, self._learner_info(obs)

    def step(self, actions: npt.ArrayLike) -> StepResult:
        """Apply one action of the learner in every game and then the opponents' actions; see the class.

        Raises:
            IllegalActionError, ValueError: see the class.
        """
        self._check_free("step")
        chosen = self._checked(actions)
        obs, rewards, ended = self._advance(chosen, self._rules, np.zeros(self.num_envs, np.bool_))
        info = self._learner_info(obs)
        if ended.any():
            self._report(info, ended)
            if self.illegal_action == "penalize":
                illegal = self._reports["illegal"] & ended
                info |= {"illegal_action": illegal, "_illegal_action": ended.copy()}
                if self._mode == kernels.SAME_STEP:
                    info["final_info"] |= {"illegal_action": illegal.copy(), "_illegal_action": ended.copy()}
                if not self._warned and illegal.any():
                    self._warned = True
                    warn_illegal_action(self.config.reward, "info['action_mask']", self._depth)
        return obs, rewards, ended, np.zeros(self.num_envs, np.bool_), info

    def _learner_info(self, obs: Observation) -> dict[str, Any]:
        return self._info(self._seatings["learner"].copy(), obs["action_mask"], self._everywhere.copy())

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        chosen = self._actions(actions)
        if self._mode == kernels.DISABLED and self._seatings["over"].any():
            b = int(self._seatings["over"].argmax())
            raise IllegalActionError(f"game {b} is over; deal the next one with reset(options={{'reset_mask': ...}})")
        if self.illegal_action == "penalize":
            chosen = np.where(chosen < 0, self._ids, chosen)  # also an invalid id
        else:
            b = seat_kernels.first_illegal_seat_game(self._seatings, np.arange(self.num_envs), chosen, self._legal)
            if b >= 0:
                raise self._illegal(b, int(chosen[b]))
        return chosen

    def _advance(
        self, actions: npt.NDArray[np.int64], rules: npt.NDArray[Any], early: npt.NDArray[np.bool_]
    ) -> tuple[Observation, npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Apply actions, then let the opponents act until each game is over or waiting for its learner.

        `early`, bool (B,): games in which the learner does not act in this call. If such a game ends, its next step
        returns the result.
        """
        results = kernels.Results(
            np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.bool_), self._reports, self._last
        )
        views = seat_kernels.LearnerViews(self._legal, self._masks.take(), self._observations.take())
        games, indices = self._games(), np.arange(self.num_envs)
        self._dealt = False  # until the call succeeds, because an error of an opponent leaves games incomplete
        while len(actions):
            turns = seat_kernels.Turns(indices, actions, early)
            arguments = games, self._seatings, rules, turns, views, results, self._inputs
            step = self._step or self._specialize(arguments)
            waiting = step(*arguments)
            actions = self._ask(indices[:waiting])
        self._dealt = True
        return {"observation": views.obs, "action_mask": views.mask}, results.rewards, results.ended

    def _specialize(self, arguments: tuple[Any, ...]) -> Callable[..., int]:
        self._step = specialize(seat_kernels.step_seat_games, *arguments)
        return self._step

    def _ask(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the opponents' actions in the games that are waiting for one."""
        count, opponents, inputs = len(games), self._opponents, self._inputs
        actions = np.zeros(count, np.int64)
        if count == 0 or opponents is None:
            return actions
        act_numbers = opponents.act_of[inputs.numbers[:count]]
        for i, act in enumerate(opponents.acts):
            rows = np.flatnonzero(act_numbers == i)
            if act is None or len(rows) == 0:
                continue
            # Pass copies, because a view would give access to the rows of other seats.
            self._acting = opponents.names[inputs.numbers[rows[0]]]
            name = f"opponent {self._acting!r}"
            try:
                given = act(inputs.obs[rows], inputs.mask[rows], inputs.keys[rows])
            finally:
                self._acting = None
            found = as_array(name, given)
            if found.shape != rows.shape or not np.issubdtype(found.dtype, np.integer):
                raise ValueError(
                    f"{name}: found actions {found.dtype} of shape {found.shape}, expected whole numbers of shape "
                    f"{rows.shape}"
                )
            actions[rows] = found
        k = seat_kernels.first_illegal_seat_game(self._seatings, games, actions, self._legal)
        if k >= 0:
            problem = self._illegal(int(games[k]), int(actions[k]))
            raise IllegalActionError(f"opponent {opponents.names[inputs.numbers[k]]!r}: {problem}")
        return actions

    def _viewer(self, b: int) -> int | None:
        return int(self._seatings["learner"][b])

    # not part of the Gymnasium API

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy; in the copy, no opponent is choosing actions."""
        return super().__getstate__() | {"_acting": None}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learners' legal actions, bool (B, A); all True in a finished game."""
        masks: npt.NDArray[np.bool_] = self._legal.astype(np.bool_)
        masks[self._seatings["over"]] = True
        return masks


class GameSeatEnv(gymnasium.Env[Observation, Any]):
    """Game with one learning seat.

    Observation: ``{"observation": int8 (F,), "action_mask": int8 (A,)}`` of the learner, which always acts next.
    When the game is over, the mask is all ones. With some component files, a game can end before the learner's first
    action; in that case the first step accepts any action and reports the end.
    Action: the id of a legal action. Reward: 0 until the game ends. ``info["seat"]`` is the learner's seat;
    ``info["action_mask"]`` is the same array as the observation's mask. At the end, info also holds ``rewards``,
    ``scores`` and ``places`` of all seats, shape (players,).

    For Stable-Baselines3's `MaskablePPO`, `action_masks` returns the mask; it also works through wrappers and vector
    environments.

    Args:
        config: configuration of the game to play.
        opponents: one opponent for all other seats, or a list with one per seat, clockwise from the learner; see the
            module docstring.
        seat: the learner's seat: a number, "rotate" (the next seat in each game, from 0 after a reset with a
            seed), or "random" (drawn for each game).
        illegal_action: effect of an illegal action. "penalize": the game ends with reward -1 (-100 with reward
            "margin"), ``info["illegal_action"]`` holds the message, and the first illegal action also triggers a
            warning. "raise": raises `IllegalActionError` and leaves the game unchanged. A non-integer action always
            raises an error.
        episodes: options drawn at random for each episode (`GameSpec.episodes`), not a number of episodes.
        render_mode: None, "ansi", "human" (prints the text after every step and in `render`), "rgb_array" or "svg".
            Only the learner's cards are visible.
        render_width: width of "rgb_array" images in pixels; None means 1,200.

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
        # Use a batch of one game, so that opponents have only one calling convention.
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
        self._batch._depth = 2
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
            seed: random seed for the deal and the opponents' random keys. None deals the next game of the last seed's
                series, or uses fresh entropy at the first reset.
            options: ``seat``, ``episodes`` and the options of the game (`GameSpec.options`); they also apply to later
                games.

        Raises:
            ConfigError, ValueError: for invalid seeds or options. The environment is left unchanged.
        """
        if seed is not None:
            seed_to_uint64(seed)  # a single number: only batches accept a list
        obs, info = self._batch.reset(seed=seed, options=options)
        super().reset(seed=None if seed is None else int(seed))
        self._show()
        return self._first(obs, info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply one action of the learner and then the opponents' actions; see the class.

        Raises:
            IllegalActionError: for an action that is not an integer and, with illegal_action="raise", for an illegal
                action; names the phase and the legal actions. The game is left unchanged.
            ValueError: if the game is over or before the first reset.
        """
        number = as_integer(action)
        if number is None:
            raise IllegalActionError(f"action: found {short_repr(action)}, expected a whole number")
        batch = self._batch
        if batch._seatings["over"][0]:
            raise IllegalActionError("the game is over; deal the next one with reset()")
        if batch.illegal_action == "raise" and not (0 <= number < self._ids and batch._legal[0, number]):
            raise IllegalActionError(batch.game_spec.why_illegal(self.game, number))
        chosen = min(max(number, -1), self._ids)  # an invalid id remains invalid
        batch_obs, reward, terminated, _, batch_info = batch.step(np.array([chosen]))
        obs, info = self._first(batch_obs, batch_info)
        if terminated[0]:
            players = int(batch.states["players"][0])
            for name in ("rewards", "scores", "places"):
                info[name] = batch_info[name][0, :players]
            if batch.illegal_action == "penalize" and batch_info["illegal_action"][0]:
                info["illegal_action"] = batch.game_spec.why_illegal(self.game, action)
        self._show()
        return obs, float(reward[0]), bool(terminated[0]), False, info

    @staticmethod
    def _first(batch_obs: Observation, batch_info: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        """Return the observation and info of the single game in a batch."""
        obs = {name: array[0] for name, array in batch_obs.items()}
        return obs, {"seat": int(batch_info["seat"][0]), "action_mask": obs["action_mask"]}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Return a drawing of the game as the learner sees it; in "human" mode, print it, as every step does."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: pass one, such as render_mode='ansi'")
            return None
        return self._batch._draw(0, self.render_mode)

    # not part of the Gymnasium API

    @property
    def game(self) -> Any:
        """A copy of the current game with all cards visible, for tools."""
        return self._batch.game(0)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the legal actions, bool (A,), never all False; Stable-Baselines3 calls this method."""
        mask: npt.NDArray[np.bool_] = self._batch.action_masks()[0]
        return mask

    def set_opponents(self, opponents: Opponent | Sequence[Opponent]) -> None:
        """Replace the opponents, including in the current game; takes the same values as the `opponents` argument."""
        self._batch.set_opponents(opponents)

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of the game and its random streams; `set_state` loads it.

        The configuration and the options of earlier resets are not included: an environment that continues the game
        must have the same.
        """
        return self._batch.get_state()

    def set_state(self, state: dict[str, npt.NDArray[Any]]) -> tuple[Observation, dict[str, Any]]:
        """Load a state from `get_state` (same components); return observation and info, like `reset`."""
        obs, info = self._batch.set_state(state)
        return self._first(obs, info)

    def clone(self) -> Self:
        """Return an independent copy in the same state; both continue identically if the opponents act identically."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return an independent copy, like `clone`."""
        return self.clone()
