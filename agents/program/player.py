"""A player that calls an external program by the protocol of docs/evaluate.md: one line of JSON each way.

Messages are built from the observation alone (`helsinki_env.engine.determinization`). They contain only what the seat
may see, so no hidden information can reach the program. Each action is a separate request: games are played in batches,
and requests do not identify their game.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.agents.program.process import EndedError, LateError, Process
from helsinki_env.agents.registry import PlayerError
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.agents.rows import validate_masks_and_keys
from helsinki_env.data import UserError, parse_json, short_repr
from helsinki_env.engine.determinization import determinize_observation
from helsinki_env.engine.playout import sample_actions
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.utils.files import is_file

__all__ = ["PROTOCOL", "ProgramPlayer", "make", "program_files"]

PROTOCOL = 1
"""Version of the protocol."""
SECONDS = 2.0
"""Default time limit for one action, seconds."""
_MOST_SECONDS = 3600.0
#: Seconds for a program to start and answer the first message.
_START_SECONDS = 30.0
#: Number of consecutive late or missing actions after which the program is not called again.
_PATIENCE = 10


class ProgramPlayer:
    """A player that asks an external program for every action.

    An illegal, late or missing action is replaced by a uniformly random legal one and counted. After a late or missing
    action the program is restarted. After ten of these in a row the program is abandoned, and all its remaining actions
    are replaced and counted, too. Concurrent threads wait for each other.

    Args:
        command: the program and its arguments, in shell syntax.
        config: configuration of the games to play.
        seconds: time limit for one action.

    Raises:
        PlayerError: for an unknown program, or a game whose positions cannot be serialized. The first action also
            raises it if the program does not answer the first message on its first start.
    """

    def __init__(self, command: str, config: Any = None, seconds: float = SECONDS) -> None:
        self.config = config or default_config()
        self.name, self.seconds = f"program:{command}", seconds
        self._arguments = _split(command)
        self._process: Process | None = None
        self._asking = threading.Lock()
        self._counts, self._in_a_row, self._start_within = ReplacedActions(), 0, _START_SECONDS
        self._answered = False
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

    @property
    def replaced_actions(self) -> ReplacedActions:
        """Number of actions replaced so far."""
        return self._counts

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        action_mask, keys = validate_masks_and_keys(self.config, observation, action_mask, keys)
        actions = sample_actions(action_mask, keys.copy())
        with self._asking:
            for row in range(len(action_mask)):
                answer = self._ask(observation[row], action_mask[row], int(keys[row]))
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

    def _ask(self, observation: Int8Array, mask: Int8Array, key: int) -> int | ReplacedActions:
        """Return the program's action, or the reason why it must be replaced."""
        if self._in_a_row >= _PATIENCE:
            return ReplacedActions(failed=1)
        legal = np.flatnonzero(mask).tolist()
        message = {"type": "decide", **action_message(self.config, observation), "legal": legal, "random": key >> 11}
        try:
            answer = self._ready().answer(json.dumps(message), self.seconds)
        except (EndedError, LateError, OSError) as problem:
            self.close()
            if not self._answered:
                raise PlayerError(
                    f"player {short_repr(self.name)}: found no answer to the first message: {problem}; expected a line "
                    f"within {self._start_within:g} s (what the program writes to standard error may say why)"
                ) from None
            self._in_a_row += 1
            return ReplacedActions(late=1) if isinstance(problem, LateError) else ReplacedActions(failed=1)
        self._in_a_row = 0
        try:
            action = parse_json(answer, UserError)["action"].integer(0)
        except ValueError:
            return ReplacedActions(illegal=1)
        return action if action in legal else ReplacedActions(illegal=1)

    def _ready(self) -> Process:
        """Return the running program; start it if necessary."""
        if self._process is None:
            self._process = Process(self._arguments)
            try:
                self._process.answer(json.dumps(hello(self.config, self.seconds)), self._start_within)
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
        "environment": f"{spec.name}_v{spec.version}",
        "players": config.num_players,
        "components": config.components,
        "decisions": spec.num_actions(config),
        "seconds": seconds,
    }


def action_message(config: Any, observation: Int8Array) -> dict[str, Any]:
    """Return the message of an action: the acting seat and the position that it sees, from its observation (F,)."""
    spec = spec_of(config)
    record = determinize_observation(config, observation, 1, seed=0)[0]
    dealt = spec.game.from_state(spec.config_of(config, record), record)
    seat = int(record["seat"])
    return {"seat": seat, "position": spec.to_dict(dealt, seat)}  # type: ignore[misc]  # checked by the constructor


def program_files(argument: str) -> tuple[Path, ...]:
    """Return the files that a command names, given the text after ``program:``.

    The absolute path of an interpreter, as in ``/usr/bin/python3 bot.py``, does not count: elsewhere the same program
    runs with another interpreter.
    """
    arguments = _split(_command(argument)[1])
    files = [Path(argument) for argument in arguments if is_file(Path(argument))]
    interpreted = len(files) > 1 and files[0] == Path(arguments[0]) and files[0].is_absolute()
    return tuple(files[1:] if interpreted else files)


def _command(argument: str) -> tuple[str | None, str]:
    """Split ``COMMAND`` or ``SECONDS:COMMAND`` into optional seconds and command."""
    first, colon, rest = argument.partition(":")
    timed = colon and first.isascii() and first.replace(".", "", 1).isdigit()
    return (first, rest) if timed else (None, argument)


def _split(command: str) -> list[str]:
    """Split a command into arguments; PlayerError for unbalanced quotes."""
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise PlayerError(f"player {short_repr('program:' + command)}: {problem}") from None


def make(argument: str, config: Any) -> ProgramPlayer:
    """Create the player of ``program:COMMAND`` or ``program:SECONDS:COMMAND``; PlayerError if it is invalid."""
    given, command = _command(argument)
    seconds = SECONDS if given is None else float(given)
    if not 0 < seconds <= _MOST_SECONDS:
        raise PlayerError(
            f"player {short_repr('program:' + argument)}: found {given} seconds per action, expected more than 0 "
            f"and at most {_MOST_SECONDS:,.0f}"
        )
    player = ProgramPlayer(command, config, seconds)
    player.name = f"program:{argument}"
    return player
