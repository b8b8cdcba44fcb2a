"""A program that answers one line with one line, within a time, or is ended."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.util import Finalize

__all__ = ["EndedError", "LateError", "Process"]

#: Bytes of an answer; whoever writes more without an end of line is ended.
_MOST_ANSWER = 2**16
_PIECE = 2**16
#: Seconds that a program has to end by itself once nothing more comes.
_LEAVING = 1.0
#: Of Linux: which signal a process gets when the thread that began it ends, however it ends.
_PR_SET_PDEATHSIG = 1


class EndedError(Exception):
    """The program has ended, or has written what is no line."""


class LateError(Exception):
    """The program did not answer in time."""


class Process:
    """A program that runs, with its standard input and output.

    It gets no signals of the terminal, and ends with the process that began it, from whichever thread: its input is
    closed then, and on Linux it is killed. One thread at a time may ask it.

    Args:
        command: the program and its arguments.

    Raises:
        OSError: if it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        begun: Future[subprocess.Popen[bytes]] = Future()
        ended = threading.Event()
        threading.Thread(target=_begin, args=(command, begun, ended), name="program", daemon=True).start()
        self._process = begun.result()
        self._received = b""
        for pipe in (self._process.stdin, self._process.stdout):
            os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]  # both are pipes
        self._end = Finalize(self, _end, [self._process, ended], exitpriority=10)

    def answer(self, line: str, seconds: float) -> str:
        """Send a line and return the line that comes back, both without their ends; blank lines are no answers.

        Whoever writes a text and the end of its line one after the other, as programs do whose output is not buffered,
        ends a line here that was begun and forgotten before anything was asked.

        Args:
            line: what is sent.
            seconds: in which the answer must be here.

        Raises:
            LateError: if it is not.
            EndedError: if the program has ended, or writes what is no line of text.
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
            if len(self._received) > _MOST_ANSWER:
                raise EndedError
            self._wait([self._out], [], until)
            self._read()

    def close(self) -> None:
        """Let the program end, and end it if it does not."""
        self._end()

    @property
    def _out(self) -> int:
        return self._process.stdout.fileno()  # type: ignore[union-attr]  # a pipe

    def _skip(self) -> None:
        """Forget what was written unasked."""
        for _ in range(16):
            if not select.select([self._out], [], [], 0)[0]:
                break
            self._read()
        self._received = b""

    def _read(self) -> None:
        try:
            piece = os.read(self._out, _PIECE)
        except BlockingIOError:
            return
        if not piece:
            raise EndedError
        self._received += piece

    def _write(self, content: bytes, until: float) -> None:
        number = self._process.stdin.fileno()  # type: ignore[union-attr]  # a pipe
        while content:
            self._wait([], [number], until)
            try:
                content = content[os.write(number, content) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise EndedError from None

    def _wait(self, reading: list[int], writing: list[int], until: float) -> None:
        left = until - time.monotonic()
        if left <= 0 or not any(select.select(reading, writing, [], left)):
            raise LateError


def _begin(command: Sequence[str], begun: Future[subprocess.Popen[bytes]], ended: threading.Event) -> None:
    """Begin a program, and stay until it has ended: Linux would kill it with the thread that began it."""
    try:
        begun.set_result(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=_dies_with_us(),
            )
        )
    except Exception as problem:  # whatever it is, it is for whoever waits for the program
        begun.set_exception(problem)
    else:
        ended.wait()


def _end(process: subprocess.Popen[bytes], ended: threading.Event) -> None:
    """End a program and whatever it has begun."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]  # both are pipes
    with suppress(subprocess.TimeoutExpired):
        process.wait(_LEAVING)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ended.set()


def _dies_with_us() -> Callable[[], None] | None:
    """Return what the new process does before it becomes the program."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return lambda: library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
