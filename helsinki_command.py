"""The program ``helsinki``: what can be stopped from its first moment on.

It stands beside the packages, because to import anything from them takes seconds: until the command itself heeds Ctrl-C
(`helsinki_env.stopping`), nothing new is there to keep, and the process ends at once, with one line.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import suppress
from types import FrameType

__all__ = ["main"]

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def _leave(number: int, frame: FrameType | None) -> None:
    """End the process. KeyboardInterrupt could be lost: whatever is being imported may catch or mask it."""
    words = sys.argv[1:]
    name, again = " ".join(["helsinki", *words[:1]]), shlex.join(["helsinki", *words])
    with suppress(OSError):  # perhaps nobody reads it any more
        os.write(2, f"{name}: interrupted: nothing new is kept; begin again with: {again}\n".encode(errors="replace"))
    os._exit(128 + number)


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
        from helsinki_env.cli import main as command

        return command(heeds=give_way)
    finally:
        give_way()
