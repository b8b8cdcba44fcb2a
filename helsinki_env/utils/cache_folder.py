"""The folder for compiled code. Compiled code is executed without checks, so no other user may write there."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import stat
import tempfile

from helsinki_env.utils.machine import home_folder, user_folder
from helsinki_env.utils.notices import notice

__all__ = ["cache_folder", "is_safe"]

_VARIABLE = "HELSINKI_CACHE_DIR"


def cache_folder(name: str) -> str:
    """Return the folder `name` in the cache folder.

    If other users may write to the cache folder, use a private subfolder. If the folder is not writable, use a
    temporary folder, shared with child processes. Both cases print a notice.
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
    """Return whether only this user or the administrator owns and can write to a file or folder.

    Args:
        found: its status; a link is not safe, because another user may have created it.
        shared: also accept a folder where others may write but cannot change files of other users (the sticky bit).
    """
    if not hasattr(os, "geteuid"):  # pragma: no cover  # on Windows, a user's cache folder is private
        return True
    if stat.S_ISLNK(found.st_mode):
        return False
    if shared and found.st_mode & stat.S_ISVTX:
        return True
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_safe(folder: str) -> None:
    """Create a safe folder, or check that the existing one is safe.

    Raises:
        OSError: if it is not safe.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not is_safe(os.lstat(folder)):
        raise PermissionError(errno.EPERM, "others may write to it", folder)


def _wanted_folder() -> str | None:
    """Return the configured cache folder for compiled code; None if there is none."""
    named = os.environ.get(_VARIABLE, "")
    if named.partition(os.sep)[0] == "~":  # the shell did not expand it
        home = home_folder()
        return None if home is None else os.path.realpath(home / named[2:])
    folder = named or user_folder("cache")
    return None if folder is None else os.path.realpath(folder)


def _temporary_folder(name: str, reason: str) -> str:
    """Return a new folder that is removed when this process ends."""
    base, process = tempfile.mkdtemp(prefix="helsinki-env-"), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not in forked child processes
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
