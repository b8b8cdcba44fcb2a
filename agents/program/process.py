"""External programs that answer each line with one line within a time limit."""

from __future__ import annotations

import errno
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path

__all__ = ["EndedError", "LateError", "Process"]

#: Maximum size of an answer in bytes; a program that writes more without a newline is terminated.
_MAX_ANSWER = 2**16
_PIECE = 2**16
#: `select` supports no file descriptors above 1,023, and the default selector needs a descriptor of its own.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
#: Time limit, in seconds, for a program to exit after its input is closed.
_LEAVING = 1.0


class EndedError(Exception):
    """Raised if the program has exited or has written an invalid line."""


class LateError(Exception):
    """Raised if the program did not answer in time."""


class Process:
    """A running program and its standard input and output.

    The program receives no signals from the terminal. It is killed with all its descendants when the parent process
    exits for any reason; see `helsinki_env.agents.program.supervisor`. Only one thread at a time may use it.

    Args:
        command: the program and its arguments.

    Raises:
        OSError: if the program cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SUPERVISOR), str(theirs.fileno()), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        began, _, number = self._message(None).partition(" ")
        if began != "began":
            _end(self._process, self._line)
            code = int(number or errno.ECHILD)
            raise OSError(code, os.strerror(code), command[0])
        self._received = b""
        for pipe in (self._process.stdin, self._process.stdout):
            os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]  # both are pipes
        self._end = Finalize(self, _end, [self._process, self._line], exitpriority=10)

    def answer(self, line: str, seconds: float) -> str:
        """Send a line and return the answer, both without a newline; blank lines are skipped.

        A program with unbuffered output writes a text and its newline separately. The newline of unrequested output may
        therefore arrive after that output was discarded, and is not an answer.

        Args:
            line: the line to send.
            seconds: time limit for the answer.

        Raises:
            LateError: if the program does not answer in time.
            EndedError: if the program has exited or writes an invalid line.
        """
        until = time.monotonic() + seconds
        self._skip()
        self._write(line.encode() + b"\n", until)
        while True:
            self._received = self._received.lstrip()
            found, end, rest = self._received.partition(b"\n")
            if end:
                self._received = rest
                return found.decode(errors="replace")
            if len(self._received) > _MAX_ANSWER:
                raise EndedError(f"it wrote over {_MAX_ANSWER:,} bytes without the end of a line")
            self._wait(self._out, selectors.EVENT_READ, until)
            self._read()

    def close(self) -> None:
        """Give the program time to exit, then kill it."""
        self._end()

    @property
    def _out(self) -> int:
        return self._process.stdout.fileno()  # type: ignore[union-attr]  # a pipe

    def _skip(self) -> None:
        """Discard unrequested output."""
        for _ in range(16):
            if not _is_ready(self._out, selectors.EVENT_READ, 0):
                break
            self._read()
        self._received = b""

    def _read(self) -> None:
        try:
            piece = os.read(self._out, _PIECE)
        except BlockingIOError:
            return
        if not piece:
            raise self._ended()
        self._received += piece

    def _write(self, content: bytes, until: float) -> None:
        number = self._process.stdin.fileno()  # type: ignore[union-attr]  # a pipe
        while content:
            self._wait(number, selectors.EVENT_WRITE, until)
            try:
                content = content[os.write(number, content) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def _wait(self, pipe: int, event: int, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0 or not _is_ready(pipe, event, left):
            raise LateError("nothing came")

    def _ended(self) -> EndedError:
        """Return the error for a program that has closed its input or output."""
        ended, _, number = self._message(_LEAVING).partition(" ")
        if ended != "ended":
            return EndedError("it closed its standard input or output")
        status = int(number)
        return EndedError(f"it ended with {f'signal {-status}' if status < 0 else f'exit status {status}'}")

    def _message(self, seconds: float | None) -> str:
        """Return the supervisor's next message, such as "ended 1"; empty on timeout."""
        self._line.settimeout(seconds)
        message = b""
        with suppress(OSError):
            while not message.endswith(b"\n") and (letter := self._line.recv(1)):
                message += letter
        return message.decode().strip()


def _is_ready(pipe: int, event: int, seconds: float) -> bool:
    """Wait until a pipe can be read or written without blocking; return whether it can."""
    with _Selector() as selector:
        selector.register(pipe, event)
        return bool(selector.select(seconds))


def _end(process: subprocess.Popen[bytes], line: socket.socket) -> None:
    """Terminate a program and its descendants, given its supervisor and the socket to the supervisor."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]  # both are pipes
    with line, suppress(OSError):
        line.settimeout(_LEAVING)
        line.recv(64)  # let the program exit on its own
    process.wait()
