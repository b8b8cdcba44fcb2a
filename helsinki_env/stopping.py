"""Ctrl-C: one of them ends a command within moments, what was done is kept, and a line says how to go on.

The signal raises KeyboardInterrupt in the main thread, so that every block tidies up as it is left. That must wait for
whatever runs there: a kernel, or threads that are to be joined, may keep it for hours. So a thread watches, and if the
command has not ended after a moment it has what was done kept and ends the process. A command says by `kept` what there
is to keep; it is asked once, by whichever of the two comes first.
"""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

__all__ = ["Stopping", "again", "interrupts_held", "kept", "stoppable", "undisturbed"]

#: Seconds in which a command may tidy up by itself.
_GRACE = 1.5
#: Seconds more for writing, if that has begun.
_WRITING = 10.0
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Stopping:
    """How a command is stopped.

    Args:
        words: the command as it was called, its name first.

    Attributes:
        keepers: what `kept` was told, the innermost block last.
        caught: the signals that stop the command, and what was done about each before.
        undisturbed: how many blocks the main thread is in that are to end first.
        due: whether it is to be stopped after them.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.keepers: list[Callable[[], str]] = []
        self.caught: dict[int, Any] = {}
        self.undisturbed, self.due = 0, False
        self._signal: int = signal.SIGINT
        self._stopped = self._said = False
        self._speaking = threading.Lock()
        self._over = threading.Event()

    @property
    def status(self) -> int:
        """The exit status of a command that was stopped."""
        return 128 + self._signal

    def again(self, *more: str, without: Sequence[str] = ()) -> str:
        """Return the command line; see `again`."""
        words = [word for word in self.words if word not in without]
        return shlex.join(["helsinki", *words, *(word for word in more if word not in words)])

    def say(self) -> None:
        """Have what was done kept and print the line, once."""
        if not self._speaking.acquire(timeout=_WRITING):
            return
        try:
            if not self._said:
                self._said = True
                text = self._keep()
                with suppress(OSError, ValueError):  # perhaps nobody reads it any more
                    print(f"helsinki {self.words[0]}: interrupted: {text}", file=sys.stderr, flush=True)
        finally:
            self._speaking.release()

    def _keep(self) -> str:
        if not self.keepers:
            return f"nothing new is kept; begin again with: {self.again()}"
        try:
            return self.keepers[-1]()
        except Exception as problem:
            return f"what was done could not be kept ({problem}); begin again with: {self.again()}"

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Stop what the main thread does, once: whoever presses Ctrl-C again shall not disturb the tidying up."""
        if not self._stopped:
            self._stopped, self._signal = True, number
            if not self.undisturbed:
                raise KeyboardInterrupt
            self.due = True

    def watch(self, signals: socket.socket) -> None:
        """End the process if the command does not end by itself after a signal.

        Args:
            signals: gives the number of each signal as it comes, even if Python cannot handle it yet.
        """
        with signals:  # open to the end: later signals are written there, too
            number = self._received(signals)
            if not number or self._over.wait(_GRACE):
                return
        self._stopped, self._signal = True, number
        self.say()
        _show_cursor()
        self._exit()

    def leave(self) -> NoReturn:
        """End the process once the command has tidied up.

        Python would take its modules apart first, which takes many seconds where a lot of compiled code is loaded.
        """
        guard = threading.Timer(_GRACE, self._exit)
        guard.daemon = True
        guard.start()
        atexit._run_exitfuncs()
        self._exit()

    def _exit(self) -> NoReturn:
        flushing = threading.Thread(target=_flush, daemon=True)
        flushing.start()
        flushing.join(0.5)  # another thread may hold the stream and wait for a reader
        os._exit(self.status)

    def _received(self, signals: socket.socket) -> int:
        """Wait for a signal and return its number, or 0 if the command ends without one."""
        while found := signals.recv(64):
            for number in found:
                if number in self.caught:
                    return number
        return 0

    def over(self) -> None:
        """The command has ended."""
        self._over.set()


_current = Stopping(["COMMAND"])


@contextmanager
def stoppable(stopping: Stopping) -> Iterator[None]:
    """Let signals stop what the block does, with KeyboardInterrupt; see the module. Those that are ignored stay so."""
    global _current
    before, _current = _current, stopping
    try:
        if threading.current_thread() is threading.main_thread():
            with _watched(stopping):
                yield
        else:  # who gets no signals cannot be stopped by them
            yield
    finally:
        _current = before


@contextmanager
def _watched(stopping: Stopping) -> Iterator[None]:
    """Catch signals while the block runs, and watch whether they have been heeded."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    stopping.caught = {number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) in usual}
    if not stopping.caught:
        yield
        return
    inbox, outbox = socket.socketpair()
    outbox.setblocking(False)
    watcher = threading.Thread(target=stopping.watch, args=(inbox,), name="stopping", daemon=True)
    hook = sys.unraisablehook

    def unraisable(problem: Any) -> None:
        if problem.exc_type is not KeyboardInterrupt:  # it came where nobody could pass it on; the watcher is there
            hook(problem)

    wakeup = signal.set_wakeup_fd(outbox.fileno(), warn_on_full_buffer=False)
    try:
        sys.unraisablehook = unraisable
        watcher.start()
        for number in stopping.caught:
            signal.signal(number, stopping.on_signal)
        yield
    finally:
        _let_go(stopping, wakeup)
        sys.unraisablehook = hook
        stopping.over()
        outbox.close()
        watcher.join()


def _let_go(stopping: Stopping, wakeup: int) -> None:
    """Do about signals what was done before."""
    for number, handler in stopping.caught.items():
        signal.signal(number, handler)
    if stopping.caught:
        signal.set_wakeup_fd(wakeup)
        stopping.caught = {}


if hasattr(os, "register_at_fork"):  # what is sent to a copy of the process is not for us
    os.register_at_fork(after_in_child=lambda: _let_go(_current, -1))


@contextmanager
def kept(keep: Callable[[], str]) -> Iterator[None]:
    """While the block runs, let what it does be kept if the command is stopped.

    Args:
        keep: keeps it, and returns what is kept and how to go on, in words. It is called when the block has been left,
            or, if that takes too long, from another thread while it still runs.
    """
    stopping = _current
    stopping.keepers.append(keep)
    try:
        yield
    except KeyboardInterrupt:
        stopping.say()
        raise
    finally:
        stopping.keepers.remove(keep)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the block end before a signal stops the command: it is short, and must not be left halfway."""
    stopping = _current
    if threading.current_thread() is not threading.main_thread():  # no signal comes here
        yield
        return
    stopping.undisturbed += 1
    try:
        yield
    finally:
        stopping.undisturbed -= 1
        if stopping.due and not stopping.undisturbed:
            stopping.due = False
            raise KeyboardInterrupt


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while the block runs, so that a process that starts there never receives it.

    The process inherits the blocked signal: no Ctrl-C interrupts its imports, before it can ignore the signal itself.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it would release the signal if it started within the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def again(*more: str, without: Sequence[str] = ()) -> str:
    """Return the command line of this command.

    Args:
        more: options to add, if they are not there.
        without: options to leave out.
    """
    return _current.again(*more, without=without)


def _show_cursor() -> None:
    """Bring back what a progress bar has hidden, and leave its line."""
    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError):
            if stream.isatty():
                stream.write("\x1b[?25h\n")
                return


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
