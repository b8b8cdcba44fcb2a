"""The player interface: select one legal action for each game of a batch.

A player is a pure function of the observation. It receives one row for each game in which it acts: the observation of
the seat to move (`helsinki_env.games.helsinki.observation.unpack` names its fields), the action mask and a random key.
It never receives a game or its state. The result for a row must depend only on that row, so that results do not depend
on how callers batch the games.

The caller supplies the random keys from one stream per game and player, independent of the randomness of the game
(`init_streams`, `next_keys`). A player therefore needs no `reset`, keeps no state and can be shared.

A custom player takes ten lines:

    >>> from helsinki_env.engine.playout import sample_actions
    >>> class Builder:
    ...     name = "builder"  # builds whenever it can, and plays at random otherwise
    ...
    ...     def act(self, observation, action_mask, keys):
    ...         actions = sample_actions(action_mask, keys.copy())
    ...         builds = action_mask[:, 15:65]  # BUILD; see docs/actions.md
    ...         can = builds.any(axis=1)
    ...         actions[can] = 15 + builds[can].argmax(axis=1)
    ...         return actions
    >>> from helsinki_env import HelsinkiGame, notation
    >>> notation.action_to_string(choose_action(Builder(), HelsinkiGame(seed=0), key=1))
    'START 4'
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

import helsinki_env
from helsinki_env.data import UserError, as_integer, has_boolean
from helsinki_env.engine.arrays import UINT64, integer_array, writable_array
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.utils.extras import MissingExtraError

__all__ = [
    "FloatArray",
    "Histories",
    "Int8Array",
    "Int64Array",
    "KeyArray",
    "Player",
    "PlayerError",
    "PlayerWrapper",
    "call_player",
    "checked_actions",
    "choose_action",
    "converted_player_errors",
    "default_errstate",
    "init_streams",
    "next_keys",
    "seat_key",
    "uniforms",
]

_PACKAGE = Path(helsinki_env.__file__).parent
_OURS = (_PACKAGE, *((_PACKAGE / name).resolve() for name in ("agents", "training")))


class PlayerError(UserError):
    """Raised if a player cannot be created or fails to act; the message gives the player and the cause."""


@contextmanager
def converted_player_errors(name: str, what: str) -> Iterator[None]:
    """Convert errors in the block, including `SystemExit`, to an error that names the player.

    Args:
        name: name of the player.
        what: description of the failure, such as "cannot be made".

    Raises:
        PlayerError: in place of any other error. A PlayerError is re-raised unchanged.
        MissingExtraError: re-raised unchanged.
    """
    try:
        yield
    except (PlayerError, MissingExtraError):
        raise
    except (Exception, SystemExit) as problem:
        text = " ".join(str(problem).split())
        raise PlayerError(f"player {name}: {what}: {type(problem).__name__}: {text}{_location(problem)}") from problem


def _location(problem: BaseException) -> str:
    """Return the location in third-party code where an error was raised, or an empty string."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return f" ({problem.filename}, line {problem.lineno})"
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        path = Path(frame.filename)
        ours = any(path.is_relative_to(folder) for folder in _OURS)
        if not ours and path.is_file() and "importlib" not in path.parts:
            return f" ({frame.filename}, line {frame.lineno})"
    return ""


FloatArray = npt.NDArray[np.float64]
"""Floating-point numbers, float64."""
Int8Array = npt.NDArray[np.int8]
"""Observations and action masks, int8."""
Int64Array = npt.NDArray[np.int64]
"""Actions, rows and indices, int64."""
KeyArray = npt.NDArray[np.uint64]
"""Random keys, uint64."""
Histories = Sequence[Sequence[str]] | None
"""Events of each row's game as sentences, or None."""

default_errstate = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
"""Decorator that restores NumPy's default floating-point error handling: warn, but ignore underflow."""


@runtime_checkable
class Player(Protocol):
    """Protocol for players: any object with a name and an `act` method.

    A slow player that does not benefit from large batches can limit the number of games per batch with an attribute
    `max_batch_size`. An interrupted match then loses less work, because only finished games are saved.

    Matches and tournaments pass a fourth argument, `histories`, to players whose attribute `wants_history` is true. It
    is None, or holds the events of each row's game as sentences, as seen by the acting seat
    (`helsinki_env.text.GameHistory.lines`).

    Attributes:
        name: display name in tables and records.
    """

    @property
    def name(self) -> str:
        """Display name in tables and records."""
        ...

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one legal action for each row.

        Args:
            observation: observations of the seats to move, int8 (B, F).
            action_mask: legal actions, int8 (B, A), at least one in each row.
            keys: one uniform random key for each row, uint64 (B,), for this action only. A player that needs more
                random numbers can use it to seed a generator.

        Returns:
            Ids of legal actions, int64 (B,). Row b depends only on row b of the arguments.
        """
        ...


class PlayerWrapper:
    """Base class for players that wrap another player and share its `max_batch_size` and `wants_history`.

    Args:
        player: the wrapped player.
        name: name of the wrapper.
    """

    def __init__(self, player: Player, name: str) -> None:
        self.player, self.name = player, name
        if hasattr(player, "max_batch_size"):
            self.max_batch_size = player.max_batch_size

    @property
    def wants_history(self) -> bool:
        """Whether the wrapped player uses the history of its games."""
        return bool(getattr(self.player, "wants_history", False))

    @property
    def replaced_actions(self) -> Any:
        """The replaced actions of the wrapped player, or None (`helsinki_env.agents.replaced_actions`)."""
        return getattr(self.player, "replaced_actions", None)

    @property
    def cost_report(self) -> str:
        """The costs of the wrapped player's language model, in one line; empty without one."""
        return str(getattr(self.player, "cost_report", ""))

    def wrapped_actions(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories
    ) -> Int64Array:
        """Return the actions of the wrapped player, int64 (B,), legal or not. It receives copies of masks and keys.

        Raise PlayerError if they are not integers.
        """
        found = call_player(self.player, observation, action_mask.copy(), keys.copy(), histories)
        return checked_actions(self.name, found, len(action_mask)).astype(np.int64)


def uniforms(keys: KeyArray) -> FloatArray:
    """Convert random keys to uniform random numbers from 0 to 1, float64 (B,)."""
    return (keys >> np.uint64(11)).astype(np.float64) / 2.0**53


def mix_keys(keys: KeyArray) -> KeyArray:
    """Hash random keys; the array version of `helsinki_env.engine.rng.mix`."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def init_streams(seed: int, games: npt.ArrayLike, player: int) -> KeyArray:
    """Return the initial state of a player's random stream for each game, uint64 (B,).

    Args:
        seed: seed of the match, any integer.
        games: game numbers, (B,).
        player: player number within the match.

    Raises:
        ArrayError: if a game number is invalid; a subclass of ValueError.
    """
    keys = mix_keys(np.array([seed % 2**64], np.uint64) + GOLDEN)
    keys = mix_keys((keys ^ integer_array("games", games, (None,), 0, 2**64 - 1, UINT64)) + GOLDEN)
    return mix_keys((keys ^ np.uint64(player)) + GOLDEN)


def next_keys(streams: KeyArray, rows: Int64Array | slice = slice(None)) -> KeyArray:
    """Advance the selected streams in place, uint64 (B,), and return their next random keys, uint64 (rows,).

    Raises:
        ArrayError: if the streams are invalid; a subclass of ValueError.
    """
    if type(streams) is not np.ndarray or streams.dtype != UINT64 or streams.ndim != 1 or not streams.flags.writeable:
        writable_array("streams", streams, UINT64, None)
    streams[rows] += GOLDEN
    return mix_keys(streams[rows])


def seat_key(seed: int, seat: int, decided: int) -> np.uint64:
    """Return the random key for an action of a seat in a single game outside a match.

    Args:
        seed: seed of the game.
        seat: the acting seat.
        decided: number of actions that the seat has already taken.
    """
    steps = np.full(1, decided + 1, np.uint64) * GOLDEN  # state of the stream after that many keys
    return np.uint64(mix_keys(init_streams(seed, [0], seat) + steps)[0])


def call_player(
    player: Player, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories
) -> Int64Array:
    """Return the result of a player's `act`; only players with `wants_history` receive the histories."""
    if histories is not None and getattr(player, "wants_history", False):
        with_histories: Any = player.act
        actions: Int64Array = with_histories(observation, action_mask, keys, histories)
        return actions
    return player.act(observation, action_mask, keys)


def choose_action(player: Player, game: BoardGame, key: int = 0) -> int:
    """Return a player's action in an unfinished game.

    Args:
        player: the player.
        game: the game; the player receives only the observation of the seat to move.
        key: random key for this action.
    """
    number = as_integer(key)
    if number is None:
        raise ValueError(f"key: found {key!r}, expected a whole number")
    keys = np.array([number % 2**64], np.uint64)
    with converted_player_errors(player.name, "does not decide"):
        actions = player.act(game.observation()[None], game.action_mask()[None], keys)
        return int(checked_actions(player.name, actions, 1)[0])


def checked_actions(name: str, actions: object, rows: int) -> npt.NDArray[np.integer]:
    """Return the result of a player's `act`; raise PlayerError unless it has one integer per row, legal or not."""
    array = np.asarray(actions)
    if isinstance(actions, list | tuple) and has_boolean(actions):
        array = array.astype(np.bool_)  # NumPy converts booleans among integers to 0 and 1
    if array.shape != (rows,) or not np.issubdtype(array.dtype, np.integer):
        raise PlayerError(
            f"player {name!r}: act returned {array.dtype} of shape {array.shape}, expected whole numbers of shape "
            f"({rows},)"
        )
    return array
