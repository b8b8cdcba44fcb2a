"""Entry point of ``helsinki``, which handles signals from the start and tolerates broken or closed standard streams.

Importing the packages takes a few seconds. Until the command itself handles Ctrl-C (`helsinki_env.utils.stopping`),
there are no results to save, so a signal prints one line and ends the process immediately.
"""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process immediately, because the code being imported could catch or mask a KeyboardInterrupt."""
    arguments = sys.argv[1:]
    name, again = " ".join(["helsinki", *arguments[:1]]), shlex.join(["helsinki", *arguments])
    with suppress(OSError):  # the reader may have exited
        os.write(2, f"{name}: interrupted: nothing saved; start again with: {again}\n".encode(errors="replace"))
    os._exit(128 + number)


class _Output(io.RawIOBase):
    """A standard stream whose errors do not stop the command. Failed output is lost, and `problem` holds the reason."""

    def __init__(self, raw: Any, pipe_matters: bool) -> None:
        self.raw, self.pipe_matters = raw, pipe_matters
        self.problem: OSError | None = None

    def write(self, data: Any) -> int | None:
        try:
            written: int | None = self.raw.write(data)
            return written
        except OSError as problem:
            if self.pipe_matters and isinstance(problem, BrokenPipeError):
                raise
            self.problem = self.problem or problem
            return len(data)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self.raw.fileno())

    def isatty(self) -> bool:
        return bool(self.raw.isatty())


def _open_streams() -> None:
    """Reopen closed standard streams. Otherwise, the next opened file would reuse their number and get the output."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115  # stays open
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _guarded(name: str, pipe_matters: bool) -> _Output | None:
    """Prevent errors of a standard stream from stopping this process; return None if the stream is redirected."""
    stream = getattr(sys, name)
    if stream is not getattr(sys, f"__{name}__") or not isinstance(stream, io.TextIOWrapper):
        return None
    style: dict[str, Any] = {
        "encoding": stream.encoding,
        "errors": stream.errors,
        "line_buffering": stream.line_buffering,
        "write_through": stream.write_through,
    }
    buffer = stream.detach()
    output = _Output(buffer.detach() if isinstance(buffer, io.BufferedWriter) else buffer, pipe_matters)
    whole: Any = io.BufferedWriter(output) if isinstance(buffer, io.BufferedWriter) else output
    wrapped = io.TextIOWrapper(whole, **style)
    setattr(sys, name, wrapped)
    setattr(sys, f"__{name}__", wrapped)
    return output


def _status(status: int, output: _Output | None) -> int:
    """Flush the output and return the exit status, which is 2 if some output was lost."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if output is None or output.problem is None:
        return status
    name = " ".join(["helsinki", *sys.argv[1:2]])
    print(f"{name}: standard output cannot be written: {output.problem.strerror}", file=sys.stderr)
    return status or 2


def main() -> int:
    """Run the command line of this process and return its exit status; see `helsinki_env.cli.main`."""
    defaults = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) in defaults}

    def restore_handlers() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, _leave)
    try:
        _open_streams()
        output = _guarded("stdout", pipe_matters=True)
        _guarded("stderr", pipe_matters=False)
        from helsinki_env.cli.main import main as command

        return _status(command(on_ready=restore_handlers), output)
    finally:
        restore_handlers()
