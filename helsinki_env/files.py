"""Files that are whole or not there: written under a temporary name, flushed to the disk, renamed. And locks."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

from helsinki_env.locks import NoLocksError, say_unlocked, try_lock

__all__ = [
    "check_folder",
    "check_no_link",
    "check_writable",
    "held",
    "is_file",
    "remove_leftovers",
    "replaced_by",
    "replacing",
    "write_json",
]

_POSIX = os.name == "posix"
#: Symbolic links behind one another; systems follow no more.
_MOST_LINKS = 40
#: No space, no quota, file too large, and a disk that is broken.
_OF_DISKS = {errno.ENOSPC, errno.EFBIG, errno.EIO, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else [])}
#: The names of temporary files. They tell these files from those of other programs.
_TEMPORARY = re.compile(r"\..+\.helsinki-env-\d+\.tmp", re.DOTALL)
#: Writers of one file whose temporary files the next one looks for.
_SIDE_BY_SIDE = 8


@contextmanager
def replacing(path: Path, *, follow: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of `path` when the block ends without an error.

    A process that is killed while it writes leaves the former file, and at worst a temporary file, which the next
    writer of the same file removes; see also `remove_leftovers`. The folder is made if it is missing. A pipe, a device
    or an open file of this process (/dev/stdout) is not replaced but written to.

    Args:
        path: the file.
        follow: what happens to a symbolic link. True: the link stays, and the file that it leads to is replaced, as
            users expect of a path that they typed. False: the link itself is replaced, so a link inside a folder that
            somebody else made cannot lead to any other file.

    Raises:
        OSError: if the file cannot be written; a disk that is full is told with the name of the file.
    """
    target = replaced_by(path, follow=follow)
    if target is None:
        number = _open_here(path)
        opened = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        with _naming(path), os.fdopen(opened, "wb") as file:
            yield file
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    number, temporary = _temporary(target)
    # Elsewhere than on Windows the file stays open, and thereby locked, until it has its final name.
    with ExitStack() as stack:
        if _POSIX:
            stack.callback(os.close, number)
        try:
            with _naming(path), os.fdopen(number, "wb", closefd=not _POSIX) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            # Temporary files are private; this one becomes what stood there, or what any new file would be.
            former = target.lstat().st_mode if target.exists() else 0
            os.chmod(temporary, stat.S_IMODE(former) if stat.S_ISREG(former) else 0o666 & ~_mask())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    with suppress(OSError):  # not every system can open a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _temporary(target: Path) -> tuple[int, Path]:
    """Create a private temporary file next to a file, open and locked as long as it is open; return both.

    Those that writers of the same file left when they were killed are removed.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    names = (f".{target.name}.helsinki-env-{number}.tmp" for number in count())
    first = list(map(target.with_name, islice(names, _SIDE_BY_SIDE)))
    for path in first:
        _remove_abandoned(path)
    for path in chain(first, map(target.with_name, names)):
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:  # another writer is at work on it
            continue
        if _lock(descriptor) is not False and _stands_at(descriptor, path):
            return descriptor, path
        os.close(descriptor)  # another process took it for an abandoned file
    raise AssertionError


def _remove_abandoned(path: Path) -> None:
    """Remove a temporary file if its writer has ended; any other kind of file stays."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # there is no file, or something that no writer of ours makes
        return
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor) and _stands_at(descriptor, path):
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Lock a file; return whether nobody else holds the lock, None where there are no such locks."""
    try:
        return try_lock(descriptor)
    except OSError:
        return None


def _stands_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one that stands at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what a disk complains of: a write that fails does not say where."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None and problem.errno in _OF_DISKS:
            raise OSError(problem.errno, problem.strerror, str(path)) from problem
        raise


def replaced_by(path: Path, *, follow: bool = False) -> Path | None:
    """Return the file that `replacing` replaces, whether it is there or not.

    None stands for what is not replaced: whatever is no regular file, and what this process has open already, by a
    name such as /dev/stdout.

    Args:
        path: the file.
        follow: whether a symbolic link stands for the file that it leads to, or for itself.

    Raises:
        OSError: if a folder stands there, or links lead round in a circle.
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
    """Return the number of the open file of this process that links lead to, as those of /dev/stdout do, or None."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            break
        folder = Path(os.path.realpath(path.parent))
        if folder == Path(f"/proc/{os.getpid()}/fd"):
            return int(path.name)
        path = folder / os.readlink(path)
    return None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_no_link(folder: Path) -> None:
    """Check that a folder inside a run folder is no symbolic link: what is written there stays inside.

    Raises:
        OSError: if it is one.
    """
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "it is a symbolic link, expected a folder inside its run (remove it)", str(folder))


def check_writable(path: Path) -> None:
    """See to it, before any work, that a file can be written, see `replacing`; nothing is changed.

    Raises:
        OSError: if it cannot.
    """
    target = replaced_by(path, follow=True)
    if target is None:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    check_folder(target.parent)


def check_folder(path: Path) -> None:
    """See to it, before any work, that files can be made in a folder, which may be missing yet; nothing is changed.

    Raises:
        OSError: if they cannot.
    """
    while not path.exists() and path != path.parent:
        path = path.parent
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is no folder", str(path))
    with tempfile.TemporaryFile(dir=path):  # whoever may do everything is not told the truth by os.access
        pass


def is_file(path: str | Path) -> bool:
    """Return whether there is a file; unlike a `Path`'s own this takes any name, also one that no file can have."""
    return os.path.isfile(path)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that writers left in a folder when they were killed, see `replacing`.

    Files of other programs and those of writers that are at work stay.
    """
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(path.name):
            _remove_abandoned(path)


def write_json(path: Path, content: Any, *, follow: bool = False) -> None:
    """Write data as JSON to a file, see `replacing`."""
    with replacing(path, follow=follow) as file:
        file.write(json.dumps(content, indent=1).encode() + b"\n")


@contextmanager
def held(path: Path, busy: Exception) -> Iterator[None]:
    """Hold a lock file while the block runs; the system releases it when the process ends, however it ends.

    The file is removed at the end of the block. Where the file system has no locks, nothing is held, and a line on the
    error stream says so.

    Raises:
        busy: if another process holds it.
        OSError: if the file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if _POSIX:  # an open file cannot be removed elsewhere
            stack.enter_context(_locked(path, busy))
            stack.callback(path.unlink, missing_ok=True)
        yield


def _locked(path: Path, busy: Exception) -> BinaryIO:
    """Return a lock file that is open and held: the one at the path, not one that was just removed."""
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
            say_unlocked(path.parent)
            return file
        except BaseException:
            file.close()
            raise
        file.close()
