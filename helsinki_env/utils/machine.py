"""Resources of this process: CPU cores and user folders."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

with suppress(ModuleNotFoundError):  # Windows
    import pwd

__all__ = ["cpu_count", "home_folder", "user_folder"]

_NAME = "helsinki-env"


# CPU cores


def cpu_count() -> int:
    """Return the number of CPU cores that this process may use.

    Respects the CPU affinity of the process and the CPU quota of its container (cgroup), rounded up.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *(math.ceil(quota) for quota in _quotas(Path("/")))]))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the CPU quotas, in cores, of this process's cgroups and their ancestors.

    Args:
        root: folder that contains proc/ and the mount points of the cgroups.
    """
    groups: dict[str, str] = {}
    for line in _lines(root / "proc/self/cgroup"):  # HIERARCHY:CONTROLLERS:GROUP, without controllers in version 2
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
        words = " ".join(line for name in files for line in _lines(folder / name)).split()
        if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]) > 0:
            yield int(words[0]) / int(words[1])


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    return []


# Folders


def home_folder() -> Path | None:
    """Return the user's home folder; None if no absolute path to it is known."""
    homes = [os.environ.get("HOME", "")]
    if os.name == "posix":
        with suppress(KeyError):  # the user may have no account entry
            homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    else:
        homes = [os.path.expanduser("~")]
    return next((Path(home) for home in homes if os.path.isabs(home)), None)


def user_folder(kind: Literal["cache", "data"]) -> Path | None:
    """Return the project's folder among the user's files; None if there is none.

    Ignores relative paths in environment variables, because they depend on the current folder.

    Args:
        kind: kind of files.
    """
    usual, named = {"cache": (".cache",), "data": (".local", "share")}[kind], f"XDG_{kind.upper()}_HOME"
    if kind == "data" and sys.platform == "win32":
        usual, named = ("AppData", "Local"), "LOCALAPPDATA"
    elif kind == "data" and sys.platform == "darwin":
        usual, named = ("Library", "Application Support"), ""
    folder = os.environ.get(named, "")
    if os.path.isabs(folder):
        return Path(folder) / _NAME
    home = home_folder()
    return None if home is None else home.joinpath(*usual, _NAME)
