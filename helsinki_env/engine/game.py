"""Provide a single game as an object, for interactive use, search and tests. Each game has its own subclass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from helsinki_env.data import FAST_INTEGER_TYPES, UserError, as_action, as_integer, seed_to_uint64, short_repr
from helsinki_env.engine import loops
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import specialize
from helsinki_env.engine.spec import GameSpec, spec_by_name, spec_of
from helsinki_env.engine.states import States, copy_states

__all__ = ["BoardGame", "IllegalActionError", "game_class", "make_game"]


class IllegalActionError(UserError):
    """Raised for an illegal action. The message names the action, the phase and the legal actions."""


class BoardGame:
    """A game in progress.

    Args:
        config: game configuration. The default is the standard game.
        seed: any integer >= 0. The same seed deals the same game; None draws a random seed.
        stream: index that distinguishes independent games with the same seed, such as those of a vector environment.

    Attributes:
        spec: game specification.
        config: game configuration.
    """

    __slots__ = ("_mask", "_mask_fresh", "_states", "_step", "_tables", "config")

    spec: ClassVar[GameSpec]

    def __init_subclass__(cls) -> None:
        """Register the class for its game."""
        _CLASSES.setdefault(cls.spec.name, cls)

    def __init__(self, config: Any = None, seed: int | None = None, stream: int = 0) -> None:
        config = self.spec.config() if config is None else self.spec.check_config(config)
        self._attach(config, self.spec.new_states(config, 1))
        self.spec.apply_setup(self._states, config)
        keys = seed_to_uint64(seed), seed_to_uint64(stream, "stream"), np.uint64(0)
        loops.deal_single(self._tables, self._states, self._states, *keys)

    def _attach(self, config: Any, states: States) -> None:
        self.config = config
        self._tables = config.tables
        self._states = states
        self._mask = np.empty(self.spec.num_actions(config), np.int8)
        self._mask_fresh = False
        self._step: Callable[..., bool] | None = None

    @classmethod
    def from_state(cls, config: Any, state: Any) -> Self:
        """Return a game that continues from a copy of a record, such as one game of a batch with the same components.

        The record determines the disabled actions and other settings of the game, also if `config` has different ones.

        Raises:
            ValueError: if the record has the wrong dtype or number of players, or is not a valid game state.
        """
        states = cls.spec.new_states(cls.spec.check_config(config), 1)
        dtype = getattr(state, "dtype", None)
        if dtype != states.dtype or state.shape != ():
            found = type(state).__name__ if dtype is None else f"{dtype.name} of shape {state.shape}"
            raise ValueError(f"state: found {found}, expected one record of a batch with the same components")
        if state["players"] != config.num_players:
            raise ValueError(f"state: found one of {state['players']} players, expected {config.num_players}")
        cls.spec.apply_setup(states, config)
        different = any((states[0][name] != state[name]).any() for name in cls.spec.setup_fields)
        states[0] = state
        cls.spec.check(states, config)
        if different:
            config = cls.spec.config_of(config, states[0])
        return cls._from_valid_state(config, states[0])

    @classmethod
    def from_dict(cls, position: Mapping[str, Any]) -> Self:
        """Return the game for a position from `to_dict`. Raise ValueError, naming the key, if it is invalid."""
        if cls.spec.from_dict is None:
            raise UserError(f"position: found one of {cls.spec.name}, expected a game that reads positions")
        game: Self = cls.spec.from_dict(position)
        return game

    @classmethod
    def _from_valid_state(cls, config: Any, state: Any) -> Self:
        """Return a game for a validated record, without the checks of `from_state`."""
        game = cls.__new__(cls)
        states = cls.spec.new_states(config, 1)
        states[0] = state
        game._attach(config, states)
        return game

    # queries

    @property
    def state(self) -> Any:
        """A view of the game's record, for tools. Agents should use `observation()`."""
        return self._states[0]

    @property
    def num_players(self) -> int:
        """Number of players."""
        return int(self.config.num_players)

    @property
    def seat(self) -> int:
        """The acting seat, or the seat that acted last if the game is over."""
        return int(self._states["seat"][0])

    @property
    def phase(self) -> str:
        """The current phase, which determines the possible action kinds."""
        return self.spec.phases[int(self._states["phase"][0])]

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return bool(self._states["done"][0])

    @property
    def round(self) -> int:
        """The current round, counted from 1."""
        return int(self._states["round_number"][0])

    def action_mask(self) -> npt.NDArray[np.int8]:
        """Return the action mask, int8 (ids,), with 1 for each legal id. It is all zeros if the game is over."""
        return self._fresh_mask().copy()

    def legal_actions(self) -> npt.NDArray[np.int64]:
        """Return the ids of the legal actions in ascending order, int64. The array is empty if the game is over."""
        return self._fresh_mask().nonzero()[0]

    def _fresh_mask(self) -> npt.NDArray[np.int8]:
        if not self._mask_fresh:
            step = self._step or self._find_step()
            step(self._tables, self._states, _MASK_ONLY, self._mask)
            self._mask_fresh = True
        return self._mask

    def _find_step(self) -> Callable[..., bool]:
        found: Callable[..., bool] = self._specialized(loops.step_single, 0, self._mask)
        self._step = found
        return found

    def _specialized(self, kernel: Callable[..., Any], *others: Any) -> Callable[..., Any]:
        """Return a kernel that is specialized for the types of its arguments; see `specialize`."""
        key = kernel, self._tables.dtype, self._states.dtype
        found = _SPECIALIZED.get(key)
        if found is None:
            found = _SPECIALIZED[key] = specialize(kernel, self._tables, self._states, *others)
        return found

    def observation(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return the observation of a seat, int8 (F,). The default is the acting seat."""
        chosen = self.seat if seat is None else self.validate_seat(seat)
        out = np.zeros(self.spec.observation_size(self.config), np.int8)
        self._specialized(loops.observe_single, chosen, out)(self._tables, self._states, chosen, out)
        return out

    def scores(self) -> npt.NDArray[np.int64]:
        """Return the points of every seat if the game ended now, int64 (players,)."""
        return self._scores_and_ranks()[0]

    def ranks(self) -> npt.NDArray[np.int64]:
        """Return the rank of every seat if the game ended now, int64 (players,).

        Rank 0 is first. Tied players share a rank if the game allows ties.
        """
        return self._scores_and_ranks()[1]

    def _scores_and_ranks(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        scores, ranks = np.zeros((2, 1, MAX_SEATS), np.int64)
        loops.batch_scores(self._tables[0], self._states, scores, ranks)
        return scores[0, : self.num_players], ranks[0, : self.num_players]

    def validate_seat(self, seat: int) -> int:
        """Return a seat as an int. Raise ValueError if it is not a seat of the game."""
        chosen = as_integer(seat)
        if chosen is None or not 0 <= chosen < self.num_players:
            raise ValueError(f"seat: found {short_repr(seat)}, expected 0 to {self.num_players - 1}")
        return chosen

    def validate_viewer(self, viewer: int | None) -> int | None:
        """Return a seat as an int, or None for all cards. Raise ValueError for any other value."""
        seat = as_integer(viewer)
        if viewer is None or (seat is not None and 0 <= seat < self.num_players):
            return seat
        most = self.num_players - 1
        raise ValueError(f"viewer: found {short_repr(viewer)}, expected None or a seat from 0 to {most}")

    def to_dict(self, seat: int | None = None) -> dict[str, Any]:
        """Return the game, or one seat's view of it, as a dict. Raise ValueError if the game has no positions."""
        if self.spec.to_dict is None:
            raise UserError(f"game: found {self.spec.name}, expected a game that writes positions")
        return self.spec.to_dict(self, seat)

    # actions

    def step(self, action: int) -> None:
        """Apply an action.

        Raises:
            IllegalActionError: if the action is illegal. The game is left unchanged.
        """
        mask = self._mask if self._mask_fresh else self._fresh_mask()
        step = self._step or self._find_step()
        try:
            number = action if action.__class__ in FAST_INTEGER_TYPES else as_action(action)
            legal = step(self._tables, self._states, number, mask)
        except (TypeError, OverflowError):
            legal = False
        if not legal:
            raise IllegalActionError(self.spec.why_illegal(self, action))

    # copies

    def clone(self) -> Self:
        """Return an independent copy. It includes the random state, so the same actions lead to the same game."""
        game = type(self).__new__(type(self))
        game._attach(self.config, copy_states(self._states))
        return game

    def __copy__(self) -> Self:
        """Return `clone()`, because a shallow copy would share the state."""
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return `clone()`."""
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the configuration and the state."""
        plain = type(self).__module__ == __name__  # a class made by `game_class`
        return _restored, (None if plain else type(self), self.config, self._states.tobytes())

    def __eq__(self, other: object) -> bool:
        """Return whether the game options and the states are equal. The reward types may differ."""
        if not isinstance(other, BoardGame):
            return NotImplemented
        if type(self.config) is not type(other.config) or self._states.tobytes() != other._states.tobytes():
            return False
        return bool(self.config.replace(reward=other.config.reward) == other.config)

    def _repr_svg_(self) -> str | None:
        """Return the picture of the game for notebooks, or None if the game has no drawings."""
        return None if self.spec.render is None else str(self.spec.draw(self, "svg"))

    __hash__ = None  # type: ignore[assignment]  # games are mutable

    def __repr__(self) -> str:
        """Return a one-line summary with the number of players, the round, the phase and the seat."""
        what = "over" if self.done else f"{self.phase} of seat {self.seat}"
        return f"{type(self).__name__}({self.num_players} players, round {self.round}, {what})"


_MASK_ONLY = loops.MASK_ONLY
#: Specialized kernels by the dtypes of tables and records.
_SPECIALIZED: dict[tuple[Any, ...], Callable[..., Any]] = {}
_CLASSES: dict[str, type[BoardGame]] = {}


def game_class(spec: GameSpec) -> type[BoardGame]:
    """Return the class of single games, which is generic if the game does not define its own class."""
    return _CLASSES.get(spec.name) or type("Game", (BoardGame,), {"__slots__": (), "spec": spec})


def make_game(name: str, seed: int | None = None, **options: Any) -> BoardGame:
    """Return a new game, as in ``make_game(name, seed=7, num_players=3)``.

    Args:
        name: name of a registered game. The error message for an unknown name lists all names.
        seed: any integer >= 0, or None for a random seed.
        options: values for keys of the game's configuration.

    Raises:
        UserError: (a ValueError) if the game is unknown.
        ConfigError: (a ValueError) if a key is unknown or a value is invalid.
    """
    spec = spec_by_name(name)
    return spec.game(spec.config.from_dict(options), seed)


def _restored(kind: type[BoardGame] | None, config: Any, state: bytes) -> BoardGame:
    kind = kind or game_class(spec_of(config))
    dtype = kind.spec.new_states(config, 0).dtype
    if len(state) != dtype.itemsize:
        raise ValueError(
            f"state: found {len(state)} bytes, expected {dtype.itemsize}; was it written by another version?"
        )
    return kind.from_state(config, np.frombuffer(state, dtype)[0])
