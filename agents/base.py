"""What a player is: something that picks one legal decision for each game of a batch.

A player is a pure function of what its seat may see. It gets one row for each game in which its decision is due: the
observation of the seat to move (`helsinki_env.observation.split` names its pieces), the legal decisions, and one random
number. It never gets a game or its state. What it returns for a row must depend on that row alone: then a game is the
same whatever batch it is played in, and whoever runs the games may split and join batches freely.

The random numbers come from the caller, who keeps one stream for each game and player, apart from the game's chance
(`first_words`, `next_words`). So a player needs no `reset`, keeps no state between decisions, and can be shared.

A player of one's own takes ten lines:

    >>> from helsinki_env.playout import choose_uniformly
    >>> class Builder:
    ...     name = "builder"  # builds whenever it can, and decides everything else at random
    ...
    ...     def act(self, observation, mask, words):
    ...         actions = choose_uniformly(mask, words.copy())
    ...         builds = mask[:, 15:65]  # BUILD; see docs/actions.md
    ...         can = builds.any(axis=1)
    ...         actions[can] = 15 + builds[can].argmax(axis=1)
    ...         return actions
    >>> from helsinki_env import Game, notation
    >>> notation.describe(decide(Builder(), Game(seed=0), word=1))
    'START 4'
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agents.faults import PlayerError, faults_told
from helsinki_env.data import has_boolean, whole_number
from helsinki_env.engine.arrays import UINT64, in_place, integers
from helsinki_env.engine.game import BoardGame

__all__ = ["Player", "decide", "first_words", "next_words", "seat_word", "usual_errors", "whole_numbers"]

usual_errors = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
"""A decorator: NumPy's usual answers to floating-point errors, whatever a program has chosen; small probabilities may
become zero."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@runtime_checkable
class Player(Protocol):
    """The protocol of a player. Any object with a name and this method will do.

    A player that thinks long about every row, and gains nothing from many of them in one call, may also have an
    attribute `at_once`: so many games are played side by side at most. A match that is stopped has then lost little, as
    only games that have ended are kept.

    Attributes:
        name: how it is called in tables and records.
    """

    @property
    def name(self) -> str:
        """How the player is called in tables and records."""
        ...

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal decision for each row.

        Args:
            observation: what the seat to move may see, int8 (B, F).
            mask: legal decisions, int8 (B, A), at least one in each row.
            words: one uniformly random number for each row, uint64 (B,), for this decision only. A player that
                needs more of them can seed a generator of its own with it.

        Returns:
            Ids of legal decisions, int64 (B,). Row b depends on nothing but row b of the arguments.
        """
        ...


def _mix(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble words: `helsinki_env.engine.rng.mix` for arrays."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def first_words(seed: int, games: npt.ArrayLike, player: int) -> npt.NDArray[np.uint64]:
    """Return the state of a player's random stream at the beginning of each game, uint64 (B,).

    Args:
        seed: any integer, the same for all players and games of a match.
        games: numbers of the games, (B,).
        player: number of the player within the match.

    Raises:
        ArrayError: (a ValueError) for numbers of games that are none.
    """
    words = _mix(np.array([seed % 2**64], np.uint64) + _GOLDEN)
    words = _mix((words ^ integers("games", games, (None,), 0, 2**64 - 1, UINT64)) + _GOLDEN)
    return _mix((words ^ np.uint64(player)) + _GOLDEN)


def next_words(
    streams: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64] | slice = slice(None)
) -> npt.NDArray[np.uint64]:
    """Advance some streams in place, uint64 (B,), and return their next random numbers, uint64 (rows,).

    Raises:
        ArrayError: (a ValueError) for streams that are none.
    """
    if type(streams) is not np.ndarray or streams.dtype != UINT64 or streams.ndim != 1 or not streams.flags.writeable:
        in_place("streams", streams, UINT64, None)
    streams[rows] += _GOLDEN
    return _mix(streams[rows])


def seat_word(seed: int, seat: int, decided: int) -> np.uint64:
    """Return the random number for a decision of a seat in a game that stands by itself, not in a match.

    Args:
        seed: of the game.
        seat: who decides.
        decided: how many decisions the seat has taken before.
    """
    steps = np.full(1, decided + 1, np.uint64) * _GOLDEN  # as many as `next_words` would have taken
    return np.uint64(_mix(first_words(seed, [0], seat) + steps)[0])


def decide(player: Player, game: BoardGame, word: int = 0) -> int:
    """Return a player's decision in one game that is not over.

    Args:
        player: who decides, for the seat to move.
        game: the game; the player gets that seat's observation of it and nothing else.
        word: the random number for this decision.
    """
    number = whole_number(word)
    if number is None:
        raise ValueError(f"word: found {word!r}, expected a whole number")
    words = np.array([number % 2**64], np.uint64)
    with faults_told(player.name, "does not decide"):
        actions = player.act(game.observation()[None], game.legal_mask()[None], words)
        return int(whole_numbers(player.name, actions, 1)[0])


def whole_numbers(name: str, actions: object, rows: int) -> npt.NDArray[np.integer]:
    """Return what a player's `act` returned if it is one whole number for each row, legal or not.

    Args:
        name: of the player.
        actions: what it returned.
        rows: how many it was asked about.

    Raises:
        PlayerError: if it is anything else.
    """
    found = np.asarray(actions)
    if isinstance(actions, list | tuple) and has_boolean(actions):
        found = found.astype(np.bool_)  # among numbers they would pass for 0 and 1
    if found.shape != (rows,) or not np.issubdtype(found.dtype, np.integer):
        raise PlayerError(
            f"player {name!r}: act returned {found.dtype} of shape {found.shape}, expected whole numbers of shape "
            f"({rows},)"
        )
    return found
