"""Locks on open files, and file systems without them."""

from __future__ import annotations

import errno
import os
import tempfile
from functools import cache
from pathlib import Path

from helsinki_env.notices import notice

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["NoLocksError", "has_locks", "say_unlocked", "try_lock", "unlock"]

#: Another process holds the lock.
_HELD = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}
#: What file systems without locks answer; some of them do not know the question.
_WITHOUT_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK, errno.EINVAL}


class NoLocksError(OSError):
    """The file system, or the operating system, has no locks."""


def try_lock(file: int, byte: int | None = None) -> bool:
    """Lock an open file without waiting; return whether it is locked now, rather than by somebody else.

    Args:
        file: its descriptor.
        byte: lock only this byte, for the whole process.

    Raises:
        NoLocksError: if there are no locks.
        OSError: if the file cannot be locked for another reason.
    """
    if fcntl is None:
        raise NoLocksError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    try:
        if byte is None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except OSError as problem:
        if problem.errno in _HELD:
            return False
        if problem.errno in _WITHOUT_LOCKS:
            raise NoLocksError(problem.errno, problem.strerror) from None
        raise
    return True


def unlock(file: int, byte: int) -> None:
    """Unlock a byte of a file, see `try_lock`."""
    fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


def has_locks(folder: Path) -> bool:
    """Return whether the file system of a folder has locks; if not, a line on the error stream says so.

    Raises:
        OSError: if no file can be made in the folder.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        if fcntl is None:  # such systems have locks of another kind
            return True
        try:
            return try_lock(file.fileno(), 0)
        except NoLocksError:
            say_unlocked(folder)
            return False


@cache
def say_unlocked(folder: Path) -> None:
    """Say, once, that nothing keeps two processes from writing to a folder at the same time."""
    notice(f"{folder}: the file system has no locks: let no other process write there at the same time")
