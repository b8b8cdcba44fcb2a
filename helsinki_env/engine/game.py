"""One game of any kind, for people, search and tests: the kernels behind an object. Each game has its own subclass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError
from helsinki_env.engine import loops
from helsinki_env.engine.contract import SEATS
from helsinki_env.engine.kernel import entry_of
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.engine.states import States, copy_states
from helsinki_env.engine.values import USUAL_INTEGERS, as_action, as_word, whole_number

__all__ = ["BoardGame", "IllegalActionError", "class_of"]


class IllegalActionError(UserError):
    """A decision that is not legal now; the message names it, the phase and what is legal."""


class BoardGame:
    """A game in progress.

    Args:
        config: what is played; default: the usual game.
        seed: any integer >= 0; the same seed deals the same game. None: fresh entropy.
        stream: number of an independent game under the same seed (a vector environment gives each of its games one).

    Attributes:
        spec: which game it is.
        config: the configuration.
    """

    __slots__ = ("_mask", "_mask_fresh", "_states", "_step", "_tables", "config")

    spec: ClassVar[GameSpec]

    def __init_subclass__(cls) -> None:
        """Make known whose games the class plays."""
        _CLASSES.setdefault(cls.spec.name, cls)

    def __init__(self, config: Any = None, seed: int | None = None, stream: int = 0) -> None:
        config = self.spec.config() if config is None else self.spec.checked(config)
        self._attach(config, self.spec.new_states(config, 1))
        self.spec.apply_setup(self._states, config)
        words = (np.array([word]) for word in (as_word(seed), as_word(stream, "stream"), np.uint64(0)))
        loops.batch_deal(self._tables[0], self._states, *words)

    def _attach(self, config: Any, states: States) -> None:
        self.config = config
        self._tables = config.tables
        self._states = states
        self._mask = np.empty(self.spec.ids(config), np.int8)
        self._mask_fresh = False
        self._step: Callable[..., bool] | None = None

    @classmethod
    def from_state(cls, config: Any, state: Any) -> Self:
        """Return a game that continues from a copy of a record (one element of a batch of the same components).

        Raises:
            ValueError: if it is no such record, one of another number of players, or one that cannot be played on.
        """
        states = cls.spec.new_states(cls.spec.checked(config), 1)
        dtype = getattr(state, "dtype", None)
        if dtype != states.dtype or state.shape != ():
            found = type(state).__name__ if dtype is None else f"{dtype.name} of shape {state.shape}"
            raise ValueError(f"state: found {found}, expected one record of a batch with the same components")
        if state["players"] != config.num_players:
            raise ValueError(f"state: found one of {state['players']} players, expected {config.num_players}")
        states[0] = state
        cls.spec.check(states, config)
        return cls._of_record(config, states[0])

    @classmethod
    def _of_record(cls, config: Any, state: Any) -> Self:
        """Return what `from_state` returns, of a record that is known to be one: nothing is checked."""
        game = cls.__new__(cls)
        states = cls.spec.new_states(config, 1)
        states[0] = state
        game._attach(config, states)
        return game

    # what a player asks

    @property
    def state(self) -> Any:
        """The game's record, a view: for tools; agents use `observation()`."""
        return self._states[0]

    @property
    def num_players(self) -> int:
        """Number of players."""
        return int(self.config.num_players)

    @property
    def seat(self) -> int:
        """The seat to move; when the game is over, the seat that acted last."""
        return int(self._states["seat"][0])

    @property
    def phase(self) -> str:
        """What kind of decision is due, by name."""
        return self.spec.phases[int(self._states["phase"][0])]

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
        return self._fresh_mask().copy()

    def legal_actions(self) -> npt.NDArray[np.int64]:
        """Return the ids of the legal decisions, ascending, int64. Empty when the game is over."""
        return self._fresh_mask().nonzero()[0]

    def _fresh_mask(self) -> npt.NDArray[np.int8]:
        if not self._mask_fresh:
            self._direct(loops.mask_alone, self._mask)(self._tables, self._states, self._mask)
            self._mask_fresh = True
        return self._mask

    def _direct(self, kernel: Callable[..., Any], *others: Any) -> Callable[..., Any]:
        """Return the entry of a kernel for the tables, the record and what else it takes; see `entry_of`."""
        key = kernel, self._tables.dtype, self._states.dtype
        found = _ENTRIES.get(key)
        if found is None:
            found = _ENTRIES[key] = entry_of(kernel, self._tables, self._states, *others)
        return found

    def observation(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return what a seat may see, int8 of shape (F,); default: the seat to move. See `split` of its module."""
        chosen = self.seat if seat is None else self.checked_seat(seat)
        out = np.zeros(self.spec.features(self.config), np.int8)
        self._direct(loops.observe_alone, chosen, out)(self._tables, self._states, chosen, out)
        return out

    def scores(self) -> npt.NDArray[np.int64]:
        """Return the points of every seat as if the game ended now, int64 of shape (players,)."""
        return self._scores_places()[0]

    def places(self) -> npt.NDArray[np.int64]:
        """Return how many seats did better than each, as if the game ended now, int64 of shape (players,).

        0 is first; a place is shared where a game has ties.
        """
        return self._scores_places()[1]

    def _scores_places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        scores, places = np.zeros((2, 1, SEATS), np.int64)
        loops.batch_scores(self._tables[0], self._states, scores, places)
        return scores[0, : self.num_players], places[0, : self.num_players]

    def checked_seat(self, seat: int) -> int:
        """Return a seat; ValueError if nobody sits there."""
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
        mask = self._mask if self._mask_fresh else self._fresh_mask()
        if self._step is None:
            self._step = self._direct(loops.step_alone, 0, mask)
        try:
            number = action if action.__class__ in USUAL_INTEGERS else as_action(action)
            legal = self._step(self._tables, self._states, number, mask)
        except (TypeError, OverflowError):
            legal = False
        if not legal:
            raise IllegalActionError(self.spec.why_illegal(self, action))

    # copies

    def clone(self) -> Self:
        """Return an independent copy; both go on alike, chance included."""
        game = type(self).__new__(type(self))
        game._attach(self.config, copy_states(self._states))
        return game

    def __copy__(self) -> Self:
        """Return an independent copy, as `clone`: a game that shares its state with another would be of no use."""
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent copy, as `clone`."""
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle configuration and state: the game goes on where it was."""
        plain = type(self).__module__ == __name__  # made by `class_of`, and found again by the configuration alone
        return _restored, (None if plain else type(self), self.config, self._states.tobytes())

    def __eq__(self, other: object) -> bool:
        """Whether what is played and the state are the same, byte for byte, however games are rewarded."""
        if not isinstance(other, BoardGame):
            return NotImplemented
        if type(self.config) is not type(other.config) or self._states.tobytes() != other._states.tobytes():
            return False
        return bool(self.config.changed(reward=other.config.reward) == other.config)

    __hash__ = None  # type: ignore[assignment]  # a game changes

    def __repr__(self) -> str:
        """Return players, round, phase and seat in one line."""
        what = "over" if self.done else f"{self.phase} of seat {self.seat}"
        return f"{type(self).__name__}({self.num_players} players, round {self.round}, {what})"


#: Entries of kernels, for each type of tables and of records.
_ENTRIES: dict[tuple[Any, ...], Callable[..., Any]] = {}
_CLASSES: dict[str, type[BoardGame]] = {}


def class_of(spec: GameSpec) -> type[BoardGame]:
    """Return the class of one game; a game that brings none of its own gets a plain one."""
    return _CLASSES.get(spec.name) or type("Game", (BoardGame,), {"__slots__": (), "spec": spec})


def _restored(kind: type[BoardGame] | None, config: Any, state: bytes) -> BoardGame:
    kind = kind or class_of(spec_of(config))
    dtype = kind.spec.new_states(config, 0).dtype
    if len(state) != dtype.itemsize:
        raise ValueError(f"state: found {len(state)} bytes, expected {dtype.itemsize}: from another version?")
    return kind.from_state(config, np.frombuffer(state, dtype)[0])
