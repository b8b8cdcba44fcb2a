"""One game, for people, search and tests: the kernels of `core` behind an object.

    >>> from helsinki_env import Game, GameConfig
    >>> game = Game(GameConfig(num_players=2), seed=0)
    >>> game.phase, game.legal_actions().tolist()
    (<Phase.START: 'START'>, [0, 1, 2, 3, 4, 5, 6, 7])
    >>> game.step(3)
    >>> game.phase
    <Phase.MOVE: 'MOVE'>

For many games at once use `HelsinkiVectorEnv`, which is some twenty times faster.
"""

from __future__ import annotations

import operator
import secrets
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env import observation
from helsinki_env.config import GameConfig
from helsinki_env.core import step as rules  # noqa: F401  # states the rules by which the loops play
from helsinki_env.core.actions import ActionTable
from helsinki_env.core.state import PHASES, SEATS, States, new_states
from helsinki_env.engine import loops
from helsinki_env.engine.states import copy_states

__all__ = [
    "Game",
    "IllegalActionError",
    "Phase",
    "action_table",
    "apply_setup",
    "as_word",
    "checked_config",
    "whole_number",
]


class Phase(StrEnum):
    """What kind of decision is due (rules page, section 3, Phases). Compares equal to its name."""

    START = "START"
    MOVE = "MOVE"
    MAIN = "MAIN"
    PAY = "PAY"
    PLACE = "PLACE"
    WILD = "WILD"
    LIFT = "LIFT"
    ROOF = "ROOF"
    DISCARD = "DISCARD"
    END = "END"


_PHASE_OF = tuple(Phase[name] for name in PHASES)


class IllegalActionError(ValueError):
    """A decision that is not legal now; the message names it, the phase and what is legal."""


@lru_cache(maxsize=8)
def action_table(types: int) -> ActionTable:
    """Return the action table for a number of card types."""
    return ActionTable(types)


def as_word(value: int | None, name: str = "seed") -> np.uint64:
    """Return a seed as one 64-bit word; None stands for fresh entropy. ValueError for anything but an integer >= 0."""
    if value is None:
        return np.uint64(secrets.randbits(64))
    number = whole_number(value)
    if number is None or number < 0:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least 0, or None")
    return np.uint64(number % 2**64)


def whole_number(value: object) -> int | None:
    """Return a whole number of any integer type as an int; None for everything else, truth values too."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        return None


def checked_config(config: object) -> GameConfig:
    """Return what was given as a configuration; ValueError if it is none."""
    if not isinstance(config, GameConfig):
        raise ValueError(f"config: found {config!r}, expected a GameConfig, such as GameConfig(num_players=3)")
    return config


def apply_setup(states: States, config: GameConfig) -> None:
    """Write which game is played (players, covered and denied actions, expansion) into blank records."""
    states["players"] = config.num_players
    states["covered"] = sum(1 << action for action in config.covered)
    states["denied"] = 0
    for seat, denied in enumerate(config.denied):
        states["denied"][:, seat] = sum(1 << action for action in denied)
    states["dry_roads"] = config.dry_roads


class Game:
    """A game in progress.

    Args:
        config: what is played; default: two players, nothing covered.
        seed: any integer >= 0; the same seed deals the same game. None: fresh entropy.
        stream: number of an independent game under the same seed (`HelsinkiVectorEnv` gives each of its games one).

    Attributes:
        config: the configuration.
        state: the game's record (dtype `core.state.GAME`), a view: for tools; agents use `observation()`.
    """

    __slots__ = ("_mask", "_mask_fresh", "_states", "_tables", "config")

    def __init__(self, config: GameConfig | None = None, seed: int | None = None, stream: int = 0) -> None:
        config = GameConfig() if config is None else checked_config(config)
        self._attach(config, new_states(1, config.loaded.types))
        apply_setup(self._states, self.config)
        loops.batch_deal(
            self._tables,
            self._states,
            np.array([as_word(seed)], np.uint64),
            np.array([as_word(stream, "stream")], np.uint64),
            np.zeros(1, np.uint64),
        )

    def _attach(self, config: GameConfig, states: States) -> None:
        self.config = config
        self._tables = config.tables[0]
        self._states = states
        self._mask = np.empty((1, self.actions.size), np.int8)
        self._mask_fresh = False

    @classmethod
    def from_state(cls, config: GameConfig, state: Any) -> Game:
        """Return a game that goes on from a copy of a record (one element of a batch of the same components).

        Raises:
            ValueError: if it is no such record, or one of another number of players.
        """
        game = cls.__new__(cls)
        states = new_states(1, checked_config(config).loaded.types)
        dtype = getattr(state, "dtype", None)
        if dtype != states.dtype or state.shape != ():
            found = type(state).__name__ if dtype is None else f"{dtype.name} of shape {state.shape}"
            raise ValueError(f"state: found {found}, expected one record of a batch with the same components")
        if state["players"] != config.num_players:
            raise ValueError(f"state: found one of {state['players']} players, expected {config.num_players}")
        states[0] = state
        game._attach(config, states)
        return game

    # what a player asks

    @property
    def actions(self) -> ActionTable:
        """The action table: which integer is which decision."""
        return action_table(self.config.loaded.types)

    @property
    def state(self) -> Any:
        """The game's record, a view; see `core.state.game_dtype` for its fields."""
        return self._states[0]

    @property
    def num_players(self) -> int:
        """Number of players, 2 to 4."""
        return self.config.num_players

    @property
    def seat(self) -> int:
        """The seat to move; when the game is over, the seat that acted last."""
        return int(self._states["seat"][0])

    @property
    def phase(self) -> Phase:
        """What kind of decision is due; equals its name, as in ``game.phase == "MAIN"``."""
        return _PHASE_OF[int(self._states["phase"][0])]

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return bool(self._states["done"][0])

    @property
    def round(self) -> int:
        """The round in progress, from 1."""
        return int(self._states["round_number"][0])

    def legal_mask(self) -> npt.NDArray[np.int8]:
        """Return the legal decisions, int8 of shape (ids,): 1 for each legal id. All 0 when the game is over."""
        return np.array(self._fresh_mask()[0])

    def legal_actions(self) -> npt.NDArray[np.int64]:
        """Return the ids of the legal decisions, ascending, int64. Empty when the game is over."""
        return np.flatnonzero(self._fresh_mask()[0])

    def _fresh_mask(self) -> npt.NDArray[np.int8]:
        if not self._mask_fresh:
            loops.batch_mask(self._tables, self._states, self._mask)
            self._mask_fresh = True
        return self._mask

    def observation(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return what a seat may see, int8 of shape (F,); default: the seat to move. See `observation.split`."""
        chosen = self.seat if seat is None else self._checked_seat(seat)
        out = np.zeros((1, observation.layout(self.config.loaded.types).size), np.int8)
        loops.batch_observe(self._tables, self._states, np.array([chosen]), out)
        return np.array(out[0])

    def scores(self) -> npt.NDArray[np.int64]:
        """Return the points of every seat as if the game ended now, int64 of shape (players,)."""
        return self._scores_places()[0]

    def ranking(self) -> list[int]:
        """Return the seats, best first, as if the game ended now; a tie goes to the later seat."""
        places = self._scores_places()[1]
        return [int(seat) for seat in np.argsort(places)]

    def _scores_places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        scores, places = np.zeros((2, 1, SEATS), np.int64)
        loops.batch_scores(self._tables, self._states, scores, places)
        return scores[0, : self.num_players], places[0, : self.num_players]

    def _checked_seat(self, seat: int) -> int:
        chosen = whole_number(seat)
        if chosen is None or not 0 <= chosen < self.num_players:
            raise ValueError(f"seat: found {seat!r}, expected 0 to {self.num_players - 1}")
        return chosen

    # what a player does

    def step(self, action: int) -> None:
        """Carry out a decision.

        Raises:
            IllegalActionError: if the decision is not legal now; the game is unchanged.
        """
        mask = self._fresh_mask()
        number = whole_number(action)
        if number is None or not 0 <= number < mask.shape[1] or not mask[0, number]:
            raise IllegalActionError(self._why_not(action))
        self._mask_fresh = False
        loops.batch_step(self._tables, self._states, np.array([number], np.int64), mask)
        self._mask_fresh = True

    def _why_not(self, action: object) -> str:
        from helsinki_env import notation

        return notation.why_illegal(self, action)

    # copies

    def clone(self) -> Game:
        """Return an independent copy; both go on alike, chance included."""
        game = Game.__new__(Game)
        game._attach(self.config, copy_states(self._states))
        return game

    def __copy__(self) -> Game:
        """Return an independent copy, as `clone`: a game that shares its state with another would be of no use."""
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        """Return an independent copy, as `clone`."""
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle configuration and state: the game goes on where it was."""
        return _restore, (self.config, self._states.tobytes())

    def __eq__(self, other: object) -> bool:
        """Whether configuration and state are the same, byte for byte."""
        if not isinstance(other, Game):
            return NotImplemented
        return self.config == other.config and self._states.tobytes() == other._states.tobytes()

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __repr__(self) -> str:
        """Return players, round, phase and seat in one line."""
        what = "over" if self.done else f"{self.phase} of seat {self.seat}"
        return f"Game({self.num_players} players, round {self.round}, {what})"

    def _repr_svg_(self) -> str:
        """Draw the table in a notebook."""
        from helsinki_env import notation, render

        return render.svg(notation.to_dict(self), self.config.loaded)


def _restore(config: GameConfig, state: bytes) -> Game:
    dtype = new_states(0, config.loaded.types).dtype
    if len(state) != dtype.itemsize:
        raise ValueError(f"state: found {len(state)} bytes, expected {dtype.itemsize}: from another version?")
    return Game.from_state(config, np.frombuffer(state, dtype)[0])
