"""One game of Copenhagen, for people, search and tests: the kernels behind an object.

>>> from helsinki_env.games.copenhagen.game import CopenhagenConfig, Game
>>> game = Game(CopenhagenConfig(num_players=2), seed=0)
>>> game.phase
<Phase.MAIN: 'MAIN'>
>>> game.step(3)
>>> game.phase, game.legal_actions().tolist()
(<Phase.TAKE: 'TAKE'>, [4, 402])
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import loops
from helsinki_env.engine.states import copy_states
from helsinki_env.game import IllegalActionError, as_word, whole_number
from helsinki_env.games.copenhagen import actions, observation
from helsinki_env.games.copenhagen import step as rules  # noqa: F401  # states the rules by which the loops play
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.state import GAME, PHASES, SEATS, States, new_states

__all__ = ["CopenhagenConfig", "Game", "IllegalActionError", "Phase", "apply_setup"]


class Phase(StrEnum):
    """What kind of decision is due (rules, section 3). Compares equal to its name."""

    MAIN = "MAIN"
    TAKE = "TAKE"
    DISCARD = "DISCARD"
    END = "END"
    PLACE = "PLACE"
    RECOLOUR = "RECOLOUR"
    PAY = "PAY"
    COAT = "COAT"


_PHASE_OF = tuple(Phase[name] for name in PHASES)


def apply_setup(states: States, config: CopenhagenConfig) -> None:
    """Write which game is played (players and denied abilities) into blank records."""
    states["players"] = config.num_players
    states["denied"] = 0
    for seat, denied in enumerate(config.denied):
        states["denied"][:, seat] = sum(1 << ability for ability in denied)


class Game:
    """A game in progress.

    Args:
        config: how it is set up; default: two players.
        seed: of its chance, a whole number; None stands for fresh entropy.
        stream: another whole number that goes into its chance.
    """

    def __init__(self, config: CopenhagenConfig | None = None, seed: int | None = None, stream: int = 0) -> None:
        chosen = CopenhagenConfig() if config is None else _checked(config)
        self._attach(chosen, new_states(1))
        apply_setup(self._states, chosen)
        words = (np.array([word], np.uint64) for word in (as_word(seed), as_word(stream, "stream"), np.uint64(0)))
        loops.batch_deal(self._tables, self._states, *words)

    def _attach(self, config: CopenhagenConfig, states: States) -> None:
        self.config = config
        self._tables = config.tables[0]
        self._states = states
        self._mask = np.zeros((1, actions.SIZE), np.int8)
        self._mask_fresh = False

    @classmethod
    def from_state(cls, config: CopenhagenConfig, state: Any) -> Game:
        """Return a game that goes on from a copy of a record (one element of a batch).

        Raises:
            ValueError: if it is no such record, or one of another number of players.
        """
        game = cls.__new__(cls)
        states = new_states(1)
        if getattr(state, "dtype", None) != GAME or state.shape != ():
            raise ValueError(f"state: found {type(state).__name__}, expected one record of a batch")
        if state["players"] != _checked(config).num_players:
            raise ValueError(f"state: found one of {state['players']} players, expected {config.num_players}")
        states[0] = state
        game._attach(config, states)
        return game

    @classmethod
    def from_dict(cls, position: Mapping[str, Any]) -> Game:
        """Return the game that `to_dict` wrote; see `position.from_dict`."""
        from helsinki_env.games.copenhagen.position import from_dict

        return from_dict(position)

    def to_dict(self, seat: int | None = None) -> dict[str, Any]:
        """Return the game as plain data, or what one seat may see of it; see `position.to_dict`."""
        from helsinki_env.games.copenhagen.position import to_dict

        return to_dict(self, seat)

    # what a player asks

    @property
    def state(self) -> Any:
        """The game's record, a view; see `state` for its fields."""
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
        """Return the legal decisions, int8 of shape (459,): 1 for each legal id. All 0 when the game is over."""
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
        chosen = self.seat if seat is None else self.checked_seat(seat)
        out = np.empty((1, observation.SIZE), np.int8)
        loops.batch_observe(self._tables, self._states, np.array([chosen]), out)
        return np.array(out[0])

    def scores(self) -> npt.NDArray[np.int64]:
        """Return the points of every seat, int64 of shape (players,)."""
        return self._scores_places()[0]

    def places(self) -> npt.NDArray[np.int64]:
        """Return the place of every seat as if the game ended now, int64 of shape (players,): how many did better.

        0 is first; places can be shared.
        """
        return self._scores_places()[1]

    def _scores_places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        scores, places = np.zeros((2, 1, SEATS), np.int64)
        loops.batch_scores(self._tables, self._states, scores, places)
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
        mask = self._fresh_mask()
        number = whole_number(action)
        if number is None or not 0 <= number < actions.SIZE or not mask[0, number]:
            legal = self.legal_actions().tolist()
            raise IllegalActionError(f"action {action!r} is not legal in phase {self.phase}: legal are {legal}")
        self._mask_fresh = False
        loops.batch_step(self._tables, self._states, np.array([number], np.int64), mask)
        self._mask_fresh = True

    # copies

    def clone(self) -> Game:
        """Return an independent copy; both go on alike, chance included."""
        game = Game.__new__(Game)
        game._attach(self.config, copy_states(self._states))
        return game

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


def _checked(config: object) -> CopenhagenConfig:
    if not isinstance(config, CopenhagenConfig):
        raise ValueError(f"config: found {config!r}, expected a CopenhagenConfig")
    return config
