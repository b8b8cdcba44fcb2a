"""The program ``helsinki``: what can be stopped from its first moment on, whatever its standard streams are.

It stands beside the packages, because to import anything from them takes seconds: until the command itself heeds Ctrl-C
(`helsinki_env.stopping`), nothing new is there to keep, and the process ends at once, with one line.
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

__all__ = ["main"]

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process. KeyboardInterrupt could be lost: whatever is being imported may catch or mask it."""
    words = sys.argv[1:]
    name, again = " ".join(["helsinki", *words[:1]]), shlex.join(["helsinki", *words])
    with suppress(OSError):  # perhaps nobody reads it any more
        os.write(2, f"{name}: interrupted: nothing new is kept; begin again with: {again}\n".encode(errors="replace"))
    os._exit(128 + number)


class _Output(io.RawIOBase):
    """A standard stream that cannot stop a command: what cannot be written is lost, and `problem` says why.

    Args:
        raw: the stream.
        pipe_matters: whether to raise BrokenPipeError if nobody reads the stream any more.
    """

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
    """Open the standard streams that are closed: else the next file gets their number, and what is printed with it."""
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
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115  # to the end
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _guarded(name: str, pipe_matters: bool) -> _Output | None:
    """Let no error of a standard stream stop this process; None if what is printed goes elsewhere."""
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
    """Return the exit status once everything is written; 2 if some of it is lost."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads it any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if output is None or output.problem is None:
        return status
    name = " ".join(["helsinki", *sys.argv[1:2]])
    print(f"{name}: standard output cannot be written: {output.problem.strerror}", file=sys.stderr)
    return status or 2


def main() -> int:
    """Run the command that this process was started with and return its exit status; see `helsinki_env.cli.main`."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) in usual}

    def give_way() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, _leave)
    try:
        _open_streams()
        output = _guarded("stdout", pipe_matters=True)
        _guarded("stderr", pipe_matters=False)
        from helsinki_env.cli import main as command

        return _status(command(heeds=give_way), output)
    finally:
        give_way()
