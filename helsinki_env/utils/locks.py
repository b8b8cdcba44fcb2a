"""Locks on open files, and detection of file systems without locks."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from helsinki_env.utils.notices import notice

with suppress(ModuleNotFoundError):  # Windows
    import fcntl

__all__ = ["NoLocksError", "supports_locks", "try_lock", "unlock", "warn_no_locks"]

_POSIX = os.name == "posix"
#: Errors if another process holds the lock.
_HELD = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}
#: Errors of file systems without locks; some do not implement the call.
_WITHOUT_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK, errno.EINVAL}


class NoLocksError(OSError):
    """The file system or the operating system does not support locks."""


def try_lock(file: int, byte: int | None = None) -> bool:
    """Try to lock an open file without waiting; return False if another process holds the lock.

    Args:
        file: its descriptor.
        byte: lock only this byte, for the whole process.

    Raises:
        NoLocksError: if locks are not supported.
        OSError: if locking fails for another reason.
    """
    if not _POSIX:
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
    """Unlock a byte of a file; see `try_lock`."""
    fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


def supports_locks(folder: Path) -> bool:
    """Return whether the file system of a folder supports locks; if not, print a notice.

    Raises:
        OSError: if no file can be created in the folder.
    """
    if not _POSIX:  # Windows has locks of another kind
        return True
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            return try_lock(file.fileno(), 0)
        except NoLocksError:
            warn_no_locks(folder)
            return False


@cache
def warn_no_locks(folder: Path) -> None:
    """Print a notice, once, that concurrent writes to a folder are not prevented."""
    notice(f"{folder}: the file system has no locks: let no other process write there at the same time")
