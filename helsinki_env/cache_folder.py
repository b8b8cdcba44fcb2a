"""The folder of the compiled code: one that nobody else can write to, because compiled code is run as it is found."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import stat
import tempfile

from helsinki_env.machine import home_folder, user_folder
from helsinki_env.notices import notice

__all__ = ["cache_folder", "is_safe"]

_VARIABLE = "HELSINKI_CACHE_DIR"


def cache_folder(name: str) -> str:
    """Return the folder `name` of the cache folder.

    If others may write to the cache folder, the folder `name` is in a private folder there. If nothing can be kept
    there, it is in a temporary folder, which this process and those that it starts use. Both are announced in one line.
    """
    base = _wanted_folder()
    if base is None:
        return _temporary_folder(name, "this user has no home folder")
    private = False
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        wanted = base
        if not is_safe(os.lstat(base), shared=True):
            base, private = os.path.join(base, f"private-{os.geteuid()}"), True
            _make_safe(base)
        folder = os.path.join(base, name)
        _make_safe(folder)
    except OSError as problem:
        return _temporary_folder(name, f"{problem.filename or base}: {problem.strerror}")
    if private:
        notice(f"others may write to {wanted}, so compiled code is kept in {base}, which is private")
        os.environ[_VARIABLE] = base
    return folder


def is_safe(found: os.stat_result, shared: bool = False) -> bool:
    """Return whether a file or folder belongs to this user or the administrator, and nobody else can write to it.

    Args:
        found: its status; a link is not safe, because others may have made it.
        shared: also accept a folder where others may write but cannot touch what is not theirs (the sticky bit).
    """
    if not hasattr(os, "geteuid"):  # pragma: no cover  # Windows: a user's cache folder is a user's own
        return True
    if stat.S_ISLNK(found.st_mode):
        return False
    if shared and found.st_mode & stat.S_ISVTX:
        return True
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_safe(folder: str) -> None:
    """Make a folder that is safe, or see that the existing one is.

    Raises:
        OSError: if it is not.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not is_safe(os.lstat(folder)):
        raise PermissionError(errno.EPERM, "others may write to it", folder)


def _wanted_folder() -> str | None:
    """Return where the user wants compiled code to be kept; None if nothing says so."""
    named = os.environ.get(_VARIABLE, "")
    if named.partition(os.sep)[0] == "~":  # nobody has expanded it
        home = home_folder()
        return None if home is None else os.path.realpath(home / named[2:])
    folder = named or user_folder("cache")
    return None if folder is None else os.path.realpath(folder)


def _temporary_folder(name: str, reason: str) -> str:
    """Return a new folder that is removed when this process ends."""
    base, process = tempfile.mkdtemp(prefix="helsinki-env-"), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not where a fork ends
            shutil.rmtree(base, ignore_errors=True)

    atexit.register(remove)
    os.environ[_VARIABLE] = base
    notice(
        f"compiled code cannot be kept ({reason}), so it is compiled again at every start: "
        f"set {_VARIABLE} to a folder that only you can write to"
    )
    folder = os.path.join(base, name)
    os.mkdir(folder, mode=0o700)
    return folder
