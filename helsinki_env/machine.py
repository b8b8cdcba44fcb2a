"""What the machine gives to this process: CPU cores, and folders of the user."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

try:
    import pwd
except ModuleNotFoundError:  # Windows
    pwd = None  # type: ignore[assignment]

__all__ = ["home_folder", "processors", "user_folder"]

_NAME = "helsinki-env"


# CPU cores


def processors() -> int:
    """Return the number of CPU cores that this process may use.

    Counts the affinity of the process and the CPU quota of its container (cgroup), a part of a core as a whole one.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *(math.ceil(quota) for quota in _quotas(Path("/")))]))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the CPU quotas, in cores, of the cgroups that this process is in, and of those around them.

    Args:
        root: the folder that holds proc/ and the mount points of the cgroups.
    """
    groups = {}
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
        # Seen from a container, the mounted part can lie above the group, or be the group itself.
        inside = os.path.relpath(groups[controller], shown) if groups[controller].startswith(shown) else "."
        top = root / mount.lstrip("/")
        for folder in (top / inside, *(top / inside).parents):
            yield from _quota(folder)
            if folder == top:
                break


def _quota(folder: Path) -> Iterator[float]:
    """Yield the CPU quota of a cgroup, if there is one."""
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
    """Return the home folder of the user; None if nothing names one by an absolute path."""
    homes = [os.environ.get("HOME", "")]
    if pwd is None:
        homes = [os.path.expanduser("~")]
    else:
        with suppress(KeyError):  # a process may run for a user without an account
            homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    return next((Path(home) for home in homes if os.path.isabs(home)), None)


def user_folder(kind: Literal["cache", "data"]) -> Path | None:
    """Return the folder of this project among the user's files; None if there is none.

    A relative path in the environment counts as none: it would name a folder of whatever folder the process runs in.

    Args:
        kind: of the files.
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
