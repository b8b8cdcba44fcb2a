"""Handle Ctrl-C: stop a command quickly, save its results, and print how to resume it.

The signal raises KeyboardInterrupt in the main thread, so that every block cleans up. A running kernel or a thread join
can delay the exception for hours. Another thread therefore watches the command: if the command does not end soon, this
thread saves the results and ends the process. A command registers the function that saves its results with
`save_on_interrupt`; the function is called only once.
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

#: Time that a command has to clean up, in seconds.
_CLEANUP_SECONDS = 1.5
#: Additional time if results are being saved, in seconds.
_SAVING_SECONDS = 10.0
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StoppableCommand:
    """State of a command that signals can stop. The command line begins with the name of the command."""

    def __init__(self, command_line: Sequence[str]) -> None:
        self.command_line = tuple(command_line)
        #: Functions registered with `save_on_interrupt`; that of the innermost block is last.
        self.savers: list[Callable[[], str]] = []
        #: Previous handlers for the signals that stop the command.
        self.previous_handlers: dict[int, Any] = {}
        #: Number of active `defer_interrupt` blocks, and whether a signal arrived during one of them.
        self.defer_depth, self.interrupt_pending = 0, False
        self._signal: int = signal.SIGINT
        self._stopped = self._reported = False
        self._report_lock = threading.Lock()
        self._ended = threading.Event()

    @property
    def status(self) -> int:
        """The exit status of a stopped command."""
        return 128 + self._signal

    def rerun_command_line(self, *more: str, without: Sequence[str] = ()) -> str:
        """Return the command line; see the module-level function `rerun_command_line`."""
        kept = [argument for argument in self.command_line if argument not in without]
        return shlex.join(["helsinki", *kept, *(option for option in more if option not in kept)])

    def report(self) -> None:
        """Save the results and print the message; repeated calls have no effect."""
        if not self._report_lock.acquire(timeout=_SAVING_SECONDS):
            return
        try:
            if not self._reported:
                self._reported = True
                text = self._save()
                with suppress(OSError, ValueError):  # the reader may have exited
                    print(f"helsinki {self.command_line[0]}: interrupted: {text}", file=sys.stderr, flush=True)
        finally:
            self._report_lock.release()

    def _save(self) -> str:
        if not self.savers:
            return f"nothing saved; start again with: {self.rerun_command_line()}"
        try:
            return self.savers[-1]()
        except Exception as problem:
            return f"results could not be saved ({problem}); start again with: {self.rerun_command_line()}"

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the main thread. This happens only once, because a second Ctrl-C must not interrupt the cleanup."""
        if not self._stopped:
            self._stopped, self._signal = True, number
            if not self.defer_depth:
                raise KeyboardInterrupt
            self.interrupt_pending = True

    def watch(self, signals: socket.socket) -> None:
        """End the process if the command does not end after a signal. Signal numbers arrive on the socket."""
        with signals:  # open until the process ends, because later signals are also written to it
            number = self._received(signals)
            if not number or self._ended.wait(_CLEANUP_SECONDS):
                return
            self._stopped, self._signal = True, number
            self.report()
            _show_cursor()
            self._exit()

    def exit_process(self) -> NoReturn:
        """End the process after the command has cleaned up.

        A regular Python shutdown takes many seconds if a lot of compiled code is loaded.
        """
        guard = threading.Timer(_CLEANUP_SECONDS, self._exit)
        guard.daemon = True
        guard.start()
        atexit._run_exitfuncs()
        self._exit()

    def _exit(self) -> NoReturn:
        flushing = threading.Thread(target=_flush, daemon=True)
        flushing.start()
        flushing.join(0.5)  # another thread may hold the stream's lock while it waits for the reader
        os._exit(self.status)

    def _received(self, signals: socket.socket) -> int:
        """Wait for a signal and return its number, or 0 if the command ends without a signal."""
        while found := signals.recv(64):
            for number in found:
                if number in self.previous_handlers:
                    return number
        return 0

    def mark_ended(self) -> None:
        """Record that the command has ended."""
        self._ended.set()


_current = StoppableCommand(["COMMAND"])


@contextmanager
def stoppable(stopping: StoppableCommand) -> Iterator[None]:
    """Let signals stop the block with KeyboardInterrupt; see the module docstring. Ignored signals remain ignored."""
    global _current
    before, _current = _current, stopping
    try:
        if threading.current_thread() is threading.main_thread():
            with _watched(stopping):
                yield
        else:  # only the main thread can receive signals
            yield
    finally:
        _current = before


@contextmanager
def _watched(stopping: StoppableCommand) -> Iterator[None]:
    """Handle signals during the block, and watch whether the command reacts to them."""
    defaults = (signal.SIG_DFL, signal.default_int_handler)
    stopping.previous_handlers = {
        number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) in defaults
    }
    if not stopping.previous_handlers:
        yield
        return
    inbox, outbox = socket.socketpair()
    outbox.setblocking(False)
    watcher = threading.Thread(target=stopping.watch, args=(inbox,), name="stopping", daemon=True)
    hook = sys.unraisablehook

    def unraisable(problem: Any) -> None:
        if problem.exc_type is not KeyboardInterrupt:  # raised where it cannot propagate; the watcher handles it
            hook(problem)

    wakeup = signal.set_wakeup_fd(outbox.fileno(), warn_on_full_buffer=False)
    try:
        sys.unraisablehook = unraisable
        watcher.start()
        for number in stopping.previous_handlers:
            signal.signal(number, stopping.on_signal)
        yield
    finally:
        _restore_handlers(stopping, wakeup)
        sys.unraisablehook = hook
        stopping.mark_ended()
        outbox.close()
        watcher.join()


def _restore_handlers(stopping: StoppableCommand, wakeup: int) -> None:
    """Restore the previous signal handlers."""
    for number, handler in stopping.previous_handlers.items():
        signal.signal(number, handler)
    if stopping.previous_handlers:
        signal.set_wakeup_fd(wakeup)
        stopping.previous_handlers = {}


if hasattr(os, "register_at_fork"):  # signals sent to a forked process do not concern this command
    os.register_at_fork(after_in_child=lambda: _restore_handlers(_current, -1))


@contextmanager
def save_on_interrupt(save: Callable[[], str]) -> Iterator[None]:
    """Register the function that saves the results of the block if the command is stopped.

    `save` returns a message about the saved results and how to resume. It is called after the block ends or, if that
    takes too long, from another thread while the block is still running.
    """
    stopping = _current
    stopping.savers.append(save)
    try:
        yield
    except KeyboardInterrupt:
        stopping.report()
        raise
    finally:
        stopping.savers.remove(save)


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Delay an interrupt until the block ends, for short blocks that must not be interrupted."""
    stopping = _current
    if threading.current_thread() is not threading.main_thread():  # other threads do not receive signals
        yield
        return
    stopping.defer_depth += 1
    try:
        yield
    finally:
        stopping.defer_depth -= 1
        if stopping.interrupt_pending and not stopping.defer_depth:
            stopping.interrupt_pending = False
            raise KeyboardInterrupt


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Block Ctrl-C while the block runs, so that a process started in it never receives Ctrl-C.

    The process inherits the blocked signal, so Ctrl-C cannot interrupt its imports before the process ignores the
    signal itself.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # if it started within the block, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def rerun_command_line(*more: str, without: Sequence[str] = ()) -> str:
    """Return the command line of this command, with the options `more` added and the options `without` removed."""
    return _current.rerun_command_line(*more, without=without)


def _show_cursor() -> None:
    """Show the cursor again after a progress bar, and end the line."""
    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError):
            if stream.isatty():
                stream.write("\x1b[?25h\n")
                return


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
