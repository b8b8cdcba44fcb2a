"""Resources of this process: CPU cores, user folders, and the folder for compiled code."""

from __future__ import annotations

import atexit
import errno
import math
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from helsinki_env.utils.streams import notice

with suppress(ModuleNotFoundError):  # Windows
    import pwd

_NAME = "helsinki-env"


# CPU cores


def cpu_count() -> int:
    """Return the number of CPU cores that this process may use.

    The CPU affinity of the process and the CPU quota of its container (cgroup), rounded up, limit this number.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *(math.ceil(quota) for quota in _quotas(Path("/")))]))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the CPU quotas, in cores, of this process's cgroups and their ancestors; `root` contains proc/."""
    groups: dict[str, str] = {}
    for line in _lines(root / "proc/self/cgroup"):  # HIERARCHY:CONTROLLERS:GROUP; in version 2, CONTROLLERS is empty
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        groups |= dict.fromkeys(controllers.split(","), group)
    for line in _lines(root / "proc/self/mountinfo"):  # ID PARENT DEVICE ROOT MOUNT ... - TYPE SOURCE OPTIONS
        before, _, after = line.partition(" - ")
        kind, _, options = (after.split() + [""] * 3)[:3]
        controller = {"cgroup2": "", "cgroup": "cpu"}.get(kind)
        if len(before.split()) < 5 or controller not in groups or controller not in ("", *options.split(",")):
            continue
        shown, mount = before.split()[3:5]
        # Inside a container, the mounted folder may be an ancestor of the group, or the group itself.
        inside = os.path.relpath(groups[controller], shown) if groups[controller].startswith(shown) else "."
        top = root / mount.lstrip("/")
        for folder in (top / inside, *(top / inside).parents):
            yield from _quota(folder)
            if folder == top:
                break


def _quota(folder: Path) -> Iterator[float]:
    """Yield the CPU quota of a cgroup, if it has one."""
    names = (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us"))
    for files in names:
        numbers = " ".join(line for name in files for line in _lines(folder / name)).split()
        if len(numbers) == 2 and all(number.isdecimal() for number in numbers) and int(numbers[1]) > 0:
            yield int(numbers[0]) / int(numbers[1])


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    return []


# Folders


def home_folder() -> Path | None:
    """Return the user's home folder, or None if no absolute path to it is known."""
    homes = [os.environ.get("HOME", "")]
    if os.name == "posix":
        with suppress(KeyError):  # the user may not have an account entry
            homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    else:
        homes = [os.path.expanduser("~")]
    return next((Path(home) for home in homes if os.path.isabs(home)), None)


def user_folder(kind: Literal["cache", "data"]) -> Path | None:
    """Return the project's cache or data folder for this user, or None if there is no home folder.

    Relative paths in environment variables are ignored, because they depend on the current folder.
    """
    default, variable = {"cache": (".cache",), "data": (".local", "share")}[kind], f"XDG_{kind.upper()}_HOME"
    if kind == "data" and sys.platform == "win32":
        default, variable = ("AppData", "Local"), "LOCALAPPDATA"
    elif kind == "data" and sys.platform == "darwin":
        default, variable = ("Library", "Application Support"), ""
    folder = os.environ.get(variable, "")
    if os.path.isabs(folder):
        return Path(folder) / _NAME
    home = home_folder()
    return None if home is None else home.joinpath(*default, _NAME)


# The folder for compiled code, which is executed without checks, so no other user may write to it

_VARIABLE = "HELSINKI_CACHE_DIR"


def cache_folder(name: str) -> str:
    """Return the folder called `name` in the cache folder.

    If other users may write to the cache folder, use a private subfolder. If the folder is not writable, use a
    temporary folder that is shared with child processes. In both cases, print a notice.
    """
    base = _configured_folder()
    if base is None:
        return _temporary_folder(name, "this user has no home folder")
    private = False
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        shared_base = base
        if not is_safe(os.lstat(base), shared=True):
            base, private = os.path.join(base, f"private-{os.geteuid()}"), True
            _make_safe(base)
        folder = os.path.join(base, name)
        _make_safe(folder)
    except OSError as problem:
        return _temporary_folder(name, f"{problem.filename or base}: {problem.strerror}")
    if private:
        notice(f"others may write to {shared_base}, so compiled code is saved in the private folder {base}")
        os.environ[_VARIABLE] = base
    return folder


def is_safe(status: os.stat_result, shared: bool = False) -> bool:
    """Return whether a file or folder is owned by this user or the administrator and not writable by anyone else.

    A link is not safe, because another user may have created it. With `shared`, a folder with the sticky bit is safe:
    other users may write to it, but cannot change files that they do not own.
    """
    if not hasattr(os, "geteuid"):  # pragma: no cover  # on Windows, the user's cache folder is private
        return True
    if stat.S_ISLNK(status.st_mode):
        return False
    if shared and status.st_mode & stat.S_ISVTX:
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_safe(folder: str) -> None:
    """Create a safe folder, or raise PermissionError if the existing one is not safe."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not is_safe(os.lstat(folder)):
        raise PermissionError(errno.EPERM, "others may write to it", folder)


def _configured_folder() -> str | None:
    """Return the configured cache folder for compiled code, or None if none is configured."""
    configured = os.environ.get(_VARIABLE, "")
    if configured.partition(os.sep)[0] == "~":  # in case the shell did not expand it
        home = home_folder()
        return None if home is None else os.path.realpath(home / configured[2:])
    folder = configured or user_folder("cache")
    return None if folder is None else os.path.realpath(folder)


def _temporary_folder(name: str, reason: str) -> str:
    """Create a temporary folder that is removed when this process ends."""
    base, process = tempfile.mkdtemp(prefix="helsinki-env-"), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not in forked child processes
            shutil.rmtree(base, ignore_errors=True)

    atexit.register(remove)
    os.environ[_VARIABLE] = base
    notice(
        f"compiled code cannot be saved ({reason}), so every start compiles it again: "
        f"set {_VARIABLE} to a folder that only you can write to"
    )
    folder = os.path.join(base, name)
    os.mkdir(folder, mode=0o700)
    return folder
