"""Run a program, and kill it with all its descendants when the requesting process exits.

    python supervisor.py DESCRIPTOR COMMAND [ARGUMENT ...]

DESCRIPTOR is an open socket to the requesting process. The supervisor sends ``began``, or ``failed ERRNO`` if the
program does not exist, and ``ended STATUS`` when the program exits. When the other end of the socket closes for any
reason, all descendants are killed, regardless of their process group or session.

On Linux, a descendant whose parent has exited becomes a child of this process (`PR_SET_CHILD_SUBREAPER`), so all
descendants are found. On other systems, only descendants with a living parent or in the program's process group are
found.

This script runs in an interpreter without site packages, so it imports only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

__all__ = ["main"]

_PR_SET_CHILD_SUBREAPER = 36
#: Time to wait for killed processes, in seconds.
_PATIENCE = 5.0


def main(descriptor: int, command: Sequence[str]) -> None:
    """Run a command with this process's standard input and output until the requester closes the socket."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(descriptor, False)
    line = socket.socket(fileno=descriptor)
    waking, woken = os.pipe()
    for end in (waking, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # a new program resets signal handlers but inherits ignored signals
    try:
        program = subprocess.Popen(command, start_new_session=True)
    except OSError as problem:
        line.sendall(f"failed {problem.errno}\n".encode())
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):  # only the program may hold these, so that they close when it exits
        os.dup2(nothing, standard)
    with suppress(OSError):
        line.sendall(b"began\n")
        events = select.poll()
        for one in (line, waking):
            events.register(one, select.POLLIN)
        while line.fileno() not in dict(events.poll()):
            with suppress(BlockingIOError):
                os.read(waking, 1024)
            for pid, status in _reaped():
                if pid == program.pid:
                    line.sendall(f"ended {os.waitstatus_to_exitcode(status)}\n".encode())
                    line.shutdown(socket.SHUT_WR)
    _kill_all(program.pid)


def _reaped() -> Iterator[tuple[int, int]]:
    """Yield each child that has exited, with its status."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            yield found


def _kill_all(group: int) -> None:
    """Kill every descendant of this process, and the process group of the program."""
    until = time.monotonic() + _PATIENCE
    while True:
        for _ in _reaped():
            pass
        found = _descendants()
        if sys.platform != "linux":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found or time.monotonic() > until:
            return
        time.sleep(0.005)


def _descendants() -> list[int]:
    """Return the running descendants of this process."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found = list(children.get(os.getpid(), ()))
    for pid in found:  # the list grows during iteration
        found += children.get(pid, ())
    return found


def _processes() -> Iterator[tuple[int, int]]:
    """Yield every running process and its parent."""
    if sys.platform == "linux":
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with suppress(OSError):
                    state, parent, *_ = _content(f"/proc/{entry}/stat").rpartition(b") ")[2].split()
                    if state not in (b"Z", b"X"):
                        yield int(entry), int(parent)
    else:
        lister = subprocess.Popen(["/bin/ps", "-A", "-o", "pid=,ppid=,stat="], stdout=subprocess.PIPE, text=True)
        lines = lister.communicate()[0].splitlines()
        for pid, parent, state in (line.split() for line in lines):
            if not state.startswith("Z") and int(pid) != lister.pid:
                yield int(pid), int(parent)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
