"""Atomic file writes (temporary file, flush to disk, rename), and lock files."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

from helsinki_env.utils.streams import notice

with suppress(ModuleNotFoundError):  # Windows
    import fcntl

_POSIX = os.name == "posix"
#: Error codes for a lock that another process holds.
_HELD = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}
#: Error codes of file systems without lock support, some of which do not implement the call.
_WITHOUT_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOLCK, errno.EINVAL}
#: Maximum length of a chain of symbolic links, the same as in the operating system.
_MAX_LINKS = 40
#: Error codes for disk errors: no space left, quota exceeded, file too large, I/O error.
_DISK_ERRORS = {errno.ENOSPC, errno.EFBIG, errno.EIO, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else [])}
#: Pattern of our temporary file names, which distinguishes them from files of other programs.
_TEMPORARY = re.compile(r"\..+\.helsinki-env-\d+\.tmp", re.DOTALL)
#: Number of temporary file names per target, which the next writer checks for leftovers.
_CONCURRENT_WRITERS = 8


@contextmanager
def atomic_write(path: Path, *, follow: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file for writing, which replaces `path` if the block ends without an error.

    If the process is killed while writing, the previous file is left unchanged. A temporary file may remain, which the
    next writer of the same file removes (see also `remove_leftovers`). A missing folder is created. A pipe, a device or
    an open file of this process (/dev/stdout) is written to directly.

    With `follow`, the target of a symbolic link is replaced, as users expect for a path that they typed. Otherwise, the
    link itself is replaced, so that a link in another user's folder cannot redirect the write. An OSError includes the
    file name even if the disk is full.
    """
    target = replacement_target(path, follow=follow)
    if target is None:
        number = _open_here(path)
        opened = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        with _with_file_name(path), os.fdopen(opened, "wb") as file:
            yield file
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A new file gets the default mode. A replacement is private until it gets the mode of the previous file.
    number, temporary = _temporary(target, 0o666 if _mode(target) is None else 0o600)
    # Except on Windows, the file remains open, and therefore locked, until it has its final name.
    with ExitStack() as stack:
        if _POSIX:
            stack.callback(os.close, number)
        try:
            with _with_file_name(path), os.fdopen(number, "wb", closefd=not _POSIX) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if (former := _mode(target)) is not None:
                os.chmod(temporary, former)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    with suppress(OSError):  # not every operating system can open a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _mode(target: Path) -> int | None:
    """Return the permissions of a regular file, or None if there is none."""
    former = target.lstat().st_mode if target.exists() else 0
    return stat.S_IMODE(former) if stat.S_ISREG(former) else None


def _temporary(target: Path, mode: int) -> tuple[int, Path]:
    """Create a temporary file next to a file and lock it while it is open; return its descriptor and path.

    The operating system applies the umask of the process to `mode`, the permissions of the temporary file. Temporary
    files left behind by writers of the same file that were killed are removed.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    names = (f".{target.name}.helsinki-env-{number}.tmp" for number in count())
    first = list(map(target.with_name, islice(names, _CONCURRENT_WRITERS)))
    for path in first:
        _remove_abandoned(path)
    for path in chain(first, map(target.with_name, names)):
        try:
            descriptor = os.open(path, flags, mode)
        except FileExistsError:  # another writer is using it
            continue
        if _lock(descriptor) is not False and _is_at(descriptor, path):
            return descriptor, path
        os.close(descriptor)  # another process considered it abandoned and removed it
    raise AssertionError


def _remove_abandoned(path: Path) -> None:
    """Remove a temporary file if its writer has ended; ignore any other kind of file."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # the file does not exist, or is not one of our temporary files
        return
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor) and _is_at(descriptor, path):
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Try to lock a file; return whether the lock was free, or None if locks are not supported."""
    try:
        return try_lock(descriptor)
    except OSError:
        return None


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether a path refers to an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


@contextmanager
def _with_file_name(path: Path) -> Iterator[None]:
    """Add the file name to disk errors, because the error of a failed write does not include it."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None and problem.errno in _DISK_ERRORS:
            raise OSError(problem.errno, problem.strerror, str(path)) from problem
        raise


def replacement_target(path: Path, *, follow: bool = False) -> Path | None:
    """Return the path of the file that `atomic_write` replaces, whether or not it exists.

    Return None for a path that is written to directly. This is anything other than a regular file, or an open file of
    this process with a name such as /dev/stdout.

    With `follow`, a symbolic link is resolved. Raises OSError for a folder or a cycle of links.
    """
    if not follow and path.is_symlink() and _open_here(path) is None:
        return Path(os.path.realpath(path.parent)) / path.name
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    return Path(os.path.realpath(path)) if stat.S_ISREG(mode) and _open_here(path) is None else None


def _open_here(path: Path) -> int | None:
    """Return the descriptor of the open file that a link such as /dev/stdout refers to, or None."""
    for _ in range(_MAX_LINKS):
        if not path.is_symlink():
            break
        folder = Path(os.path.realpath(path.parent))
        if folder == Path(f"/proc/{os.getpid()}/fd"):
            return int(path.name)
        path = folder / os.readlink(path)
    return None


def check_no_link(folder: Path) -> None:
    """Raise OSError if a subfolder of a run folder is a symbolic link, so that writes stay inside the run folder."""
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link, expected a folder inside its run (remove it)", str(folder))


def check_writable(path: Path) -> None:
    """Raise OSError if `atomic_write` could not write a file. The check changes nothing."""
    target = replacement_target(path, follow=True)
    if target is None:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    check_writable_folder(target.parent)


def check_writable_folder(path: Path) -> None:
    """Raise OSError if files could not be created in a folder, which need not exist yet."""
    while not path.exists() and path != path.parent:
        path = path.parent
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", str(path))
    with tempfile.TemporaryFile(dir=path):  # os.access is unreliable for privileged users
        pass


def is_file(path: str | Path) -> bool:
    """Return whether a file exists; unlike `Path.is_file`, return False for invalid names."""
    return os.path.isfile(path)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that killed writers left in a folder (see `atomic_write`).

    Files of other programs and of active writers are not removed.
    """
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(path.name):
            _remove_abandoned(path)


def write_json(path: Path, content: Any, *, follow: bool = False) -> None:
    """Write data to a file as JSON, atomically (see `atomic_write`)."""
    with atomic_write(path, follow=follow) as file:
        file.write(json.dumps(content, indent=1).encode() + b"\n")


@contextmanager
def hold_lock_file(path: Path, busy: Exception) -> Iterator[None]:
    """Hold a lock file during the block; the operating system releases the lock if the process ends.

    The file is removed at the end of the block. Raises `busy` if another process holds the lock. If locks are not
    supported, print a notice and continue.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if _POSIX:  # on Windows, an open file cannot be removed
            stack.enter_context(_locked(path, busy))
            stack.callback(path.unlink, missing_ok=True)
        yield


def _locked(path: Path, busy: Exception) -> BinaryIO:
    """Open and lock a file and return it; try again if another process has removed the file in the meantime."""
    while True:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        file = os.fdopen(os.open(path, flags, 0o666), "ab")
        try:
            if not try_lock(file.fileno()):
                raise busy
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return file
        except NoLocksError:
            warn_no_locks(path.parent)
            return file
        except BaseException:
            file.close()
            raise
        file.close()


# Locks on open files


class NoLocksError(OSError):
    """Raised if the file system or the operating system does not support locks."""


def try_lock(file: int, byte: int | None = None) -> bool:
    """Try to lock an open file, or one byte for the whole process; return False if another process holds the lock.

    Raises NoLocksError if locks are not supported, or another OSError.
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
    """Unlock a byte of a file (see `try_lock`)."""
    fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


def supports_locks(folder: Path) -> bool:
    """Return whether the file system of a writable folder supports locks; print a notice if it does not."""
    if not _POSIX:  # Windows has a different kind of lock
        return True
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            return try_lock(file.fileno(), 0)
        except NoLocksError:
            warn_no_locks(folder)
            return False


@cache
def warn_no_locks(folder: Path) -> None:
    """Print a notice, only once, that concurrent writes to a folder are not prevented."""
    notice(f"{folder}: the file system has no locks, so no other process may write there at the same time")
