"""Files that are whole or not there: written under a temporary name, flushed to the disk, renamed. And locks."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["held", "remove_leftovers", "replacing", "write_json"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of `path` when the block ends without an error.

    Whoever is stopped on the way, even by the loss of power, leaves what was there before, and at worst a temporary
    file, see `remove_leftovers`. The folder is made if it is missing.

    Raises:
        OSError: if the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(21, "it is a folder")
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # Temporary files are private; this one becomes what any new file would be.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system can open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


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
    """Hold a lock file while the block runs; the system lets it go when the process ends, however it ends.

    Where the system has no such locks nothing is held.

    Raises:
        busy: if another process holds it.
        OSError: if the file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise busy from None
        yield
