"""A player that queries an external program with one line of JSON in each direction.

Protocol 1 (docs/program-protocol.md) sends positions as data. A program that answers the first message with
``"text": true`` uses protocol 2 (docs/text-and-models.md). It receives the rules once, and then also the position, the
history and the legal actions in words.

Messages are built only from the observation (`helsinki_env.engine.determinization`), so no hidden information can reach
the program. Each action is a separate request. Games are played in batches, and requests do not identify their game.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.base import Histories, Int8Array, Int64Array, KeyArray
from helsinki_env.agents.program.process import EndedError, LateError, Process
from helsinki_env.agents.registry import PlayerError
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.agents.rows import validate_arrays
from helsinki_env.data import UserError, parse_json, short_repr
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.playout import sample_actions
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.text.parsing import parse_action
from helsinki_env.text.words import WrittenAction, game_from_observation, legal_actions, position_text, rules
from helsinki_env.utils.files import is_file

__all__ = ["PROTOCOL", "TEXT_PROTOCOL", "ProgramPlayer", "make", "program_files"]

_log = logging.getLogger(__name__)

PROTOCOL = 1
"""Version of the protocol without text."""
TEXT_PROTOCOL = 2
"""Version of the protocol with text."""
SECONDS = 2.0
"""Default time limit for one action, seconds."""
_MAX_SECONDS = 3600.0
#: Time limit, in seconds, for a program to start and answer the first message.
_START_SECONDS = 30.0
_INTERPRETER = re.compile(r"(python|pypy|node|deno|bun|java|mono|dotnet|lua|luajit|julia|ruby|perl|php|sh|bash)[\d.]*")
#: Number of consecutive late or missing actions after which the program is no longer queried.
_PATIENCE = 10


class ProgramPlayer:
    """A player that queries an external program for every action.

    An illegal, late or missing action is counted and replaced by a uniformly random legal one. After a late or missing
    action, the program is restarted. After ten of these in a row, the player stops querying the program, and counts and
    replaces all remaining actions. Concurrent threads wait for each other.

    Args:
        command: the program and its arguments, in shell syntax.
        config: game configuration.
        seconds: time limit for one action.

    Raises:
        PlayerError: if the program does not exist or the game's positions cannot be serialized. The first action also
            raises it if the program does not answer the first message.
    """

    def __init__(self, command: str, config: Any = None, seconds: float = SECONDS) -> None:
        self.config = config or default_config()
        self.name, self.command, self.seconds = f"program:{command}", command, seconds
        self._arguments = _split(command)
        self._process: Process | None = None
        self._asking = threading.Lock()
        self._counts, self._in_a_row, self._start_within = ReplacedActions(), 0, _START_SECONDS
        self._answered = self._text = self._warned = False
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            found = self._arguments[0] if self._arguments else command
            raise PlayerError(
                f"player {short_repr(self.name)}: found no program {short_repr(found)}, expected a command to run"
            )
        if spec_of(self.config).to_dict is None:
            raise PlayerError(
                f"player {short_repr(self.name)}: positions of {spec_of(self.config).name} cannot be serialized"
            )
        if sys.platform == "win32":
            raise PlayerError(f"player {short_repr(self.name)}: found Windows, expected Linux or macOS")

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copying and pickling; a copy starts its own program and counts from zero."""
        return ProgramPlayer, (self.command, self.config, self.seconds), {"name": self.name}

    @property
    def replaced_actions(self) -> ReplacedActions:
        """The number of actions replaced so far."""
        return self._counts

    @property
    def wants_history(self) -> bool:
        """Whether the program has requested text.

        The program is started if necessary. Raise PlayerError if it has never answered.
        """
        with self._asking:
            try:
                if self._in_a_row < _PATIENCE:
                    self._ready()
            except (EndedError, LateError, OSError) as problem:
                self.close()
                self._raise_unanswered(problem)
        return self._text

    def act(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories = None
    ) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        observation, action_mask, keys = validate_arrays(self.config, observation, action_mask, keys)
        actions = sample_actions(action_mask, keys.copy())
        with self._asking:
            for row in range(len(action_mask)):
                history = None if histories is None else list(histories[row])
                answer = self._ask(observation[row], action_mask[row], int(keys[row]), history)
                if isinstance(answer, ReplacedActions):
                    self._counts = self._counts.add(answer)
                else:
                    actions[row] = answer
        return actions

    def close(self) -> None:
        """Terminate the program."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ask(
        self, observation: Int8Array, mask: Int8Array, key: int, history: list[str] | None
    ) -> int | ReplacedActions:
        """Return the program's action, or the reason why it must be replaced."""
        if self._in_a_row >= _PATIENCE:
            return ReplacedActions(failed=1)
        legal, game = np.flatnonzero(mask).tolist(), game_from_observation(self.config, observation)
        message = {"type": "decide", **_seat_and_position(game), "legal": legal, "random": key >> 11}
        try:
            process, actions = self._ready(), None
            if self._text:
                actions = tuple(action for action in legal_actions(game) if mask[action.id])
                message |= _in_words(game, actions, history)
            answer = process.answer(json.dumps(message), self.seconds)
        except (EndedError, LateError, OSError) as problem:
            self.close()
            self._raise_unanswered(problem)
            self._in_a_row += 1
            return ReplacedActions(late=1) if isinstance(problem, LateError) else ReplacedActions(failed=1)
        self._in_a_row = 0
        try:
            if actions is not None:
                return parse_action(answer, actions)
            action = parse_json(answer, UserError)["action"].integer(0)
        except ValueError as problem:  # includes ActionTextError
            return self._illegal(answer, getattr(problem, "problem", str(problem)))
        return action if action in legal else self._illegal(answer, f"action: found {action}, expected a legal action")

    def _illegal(self, answer: str, problem: str) -> ReplacedActions:
        """Count an illegal answer, and log the first one."""
        if not self._warned:
            _log.warning(
                "player %s: the first illegal answer is %s; a random action replaces it: %s",
                short_repr(self.name),
                short_repr(answer),
                problem,
            )
        self._warned = True
        return ReplacedActions(illegal=1)

    def _raise_unanswered(self, problem: Exception) -> None:
        """Raise PlayerError if the program has not yet answered the first message."""
        if not self._answered:
            raise PlayerError(
                f"player {short_repr(self.name)}: found no answer to the first message: {problem}; expected a line "
                f"within {self._start_within:g} s (what the program writes to standard error may say why)"
            ) from None

    def _ready(self) -> Process:
        """Return the running program, starting it if necessary."""
        if self._process is None:
            self._process = Process(self._arguments)
            try:
                answer = self._process.answer(json.dumps(hello(self.config, self.seconds)), self._start_within)
                self._text = _asks_for_text(answer)
                if self._text:
                    message = {"type": "rules", "protocol": TEXT_PROTOCOL, "rules": rules(self.config)}
                    self._process.answer(json.dumps(message), self._start_within)
            except LateError as problem:
                raise EndedError(str(problem)) from None
            self._answered = True
        return self._process


def hello(config: Any, seconds: float) -> dict[str, Any]:
    """Return the first message to a program: the game and the protocol."""
    spec = spec_of(config)
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "game": spec.name,
        "environment": spec.environment,
        "players": config.num_players,
        "components": config.components,
        "decisions": spec.num_actions(config),
        "seconds": seconds,
    }


def _asks_for_text(answer: str) -> bool:
    """Return whether the answer to the first message requests protocol 2."""
    try:
        found = parse_json(answer, UserError).value
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("text") is True


def action_message(config: Any, observation: Int8Array) -> dict[str, Any]:
    """Return the message for an action: the acting seat and its view of the position, from its observation, (F,)."""
    return _seat_and_position(game_from_observation(config, observation))


def _seat_and_position(game: BoardGame) -> dict[str, Any]:
    return {"seat": game.seat, "position": game.spec.to_dict(game, game.seat)}  # type: ignore[misc]  # checked before


def _in_words(game: BoardGame, actions: Sequence[WrittenAction], history: list[str] | None) -> dict[str, Any]:
    """Return the keys that protocol 2 adds to the message for an action."""
    words = {"text": position_text(game, game.seat), "words": [one.words for one in actions]}
    return words | ({} if history is None else {"history": history})


def program_files(argument: str) -> tuple[Path, ...]:
    """Return the files named in a command, given the text after ``program:``.

    The absolute path of an interpreter, as in ``/usr/bin/python3 bot.py``, is omitted because it differs between
    machines.
    """
    arguments = _split(_command(argument)[1])
    files = [Path(argument) for argument in arguments if is_file(Path(argument))]
    interpreted = len(files) > 1 and files[0] == Path(arguments[0]) and files[0].is_absolute()
    return tuple(files[1:] if interpreted and _INTERPRETER.fullmatch(files[0].name) else files)


def _command(argument: str) -> tuple[str | None, str]:
    """Split ``COMMAND`` or ``SECONDS:COMMAND`` into the optional seconds and the command."""
    first, colon, rest = argument.partition(":")
    timed = colon and first.isascii() and first.replace(".", "", 1).isdigit()
    return (first, rest) if timed else (None, argument)


def _split(command: str) -> list[str]:
    """Split a command into arguments; raise PlayerError if its quotes are unbalanced."""
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise PlayerError(f"player {short_repr('program:' + command)}: {problem}") from None


def make(argument: str, config: Any) -> ProgramPlayer:
    """Create a ``program:COMMAND`` or ``program:SECONDS:COMMAND`` player; raise PlayerError if it is invalid."""
    given, command = _command(argument)
    seconds = SECONDS if given is None else float(given)
    if not 0 < seconds <= _MAX_SECONDS:
        raise PlayerError(
            f"player {short_repr('program:' + argument)}: found {given} seconds per action, expected more than 0 "
            f"and at most {_MAX_SECONDS:,.0f}"
        )
    player = ProgramPlayer(command, config, seconds)
    player.name = f"program:{argument}"
    return player
