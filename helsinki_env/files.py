"""Files that are whole or not there: written under a temporary name, flushed to the disk, renamed. And locks."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from helsinki_env.locks import NoLocksError, say_unlocked, try_lock

__all__ = [
    "check_folder",
    "check_writable",
    "held",
    "is_file",
    "remove_leftovers",
    "replaced_by",
    "replacing",
    "write_json",
]

#: No space, no quota, file too large, and a disk that is broken.
_OF_DISKS = {errno.ENOSPC, errno.EFBIG, errno.EIO, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else [])}


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of `path` when the block ends without an error.

    Whoever is stopped on the way, even by the loss of power, leaves what was there before, and at worst a temporary
    file, see `remove_leftovers`. The folder is made if it is missing. A symbolic link stays, and what it leads to is
    replaced. What is no regular file, such as a pipe or a device, is not replaced but written to straight away.

    Raises:
        OSError: if the file cannot be written; a disk that is full is told with the name of the file.
    """
    target = replaced_by(path)
    if target is None:
        number = _open_here(path)
        opened = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        with _naming(path), os.fdopen(opened, "wb") as file:
            yield file
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with _naming(path), os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # Temporary files are private; this one becomes what stood there, or what any new file would be.
        os.chmod(name, stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_mask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system can open a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what a disk complains of: a write that fails does not say where."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None and problem.errno in _OF_DISKS:
            raise OSError(problem.errno, problem.strerror, str(path)) from problem
        raise


def replaced_by(path: Path) -> Path | None:
    """Return the file that `replacing` replaces: what the path leads to by links, whether it is there or not.

    None stands for what is not replaced: whatever is no regular file, and what this process has open already, by a
    name such as /dev/stdout.

    Raises:
        OSError: if a folder stands there, or links lead round in a circle.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    return Path(os.path.realpath(path)) if stat.S_ISREG(mode) and _open_here(path) is None else None


def _open_here(path: Path) -> int | None:
    """Return the number of the open file of this process that links lead to, as those of /dev/stdout do, or None."""
    while path.is_symlink():
        folder = Path(os.path.realpath(path.parent))
        if folder == Path(f"/proc/{os.getpid()}/fd"):
            return int(path.name)
        path = folder / os.readlink(path)
    return None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_writable(path: Path) -> None:
    """See to it, before any work, that a file can be written, see `replacing`; nothing is changed.

    Raises:
        OSError: if it cannot.
    """
    target = replaced_by(path)
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
    """Remove the temporary files that somebody who was killed while writing left in a folder."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write data as JSON to a file, see `replacing`."""
    with replacing(path) as file:
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
        if os.name == "posix":  # an open file cannot be removed elsewhere
            stack.enter_context(_locked(path, busy))
            stack.callback(path.unlink, missing_ok=True)
        yield


def _locked(path: Path, busy: Exception) -> BinaryIO:
    """Return a lock file that is open and held: the one at the path, not one that was just removed."""
    while True:
        file = path.open("ab")
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
