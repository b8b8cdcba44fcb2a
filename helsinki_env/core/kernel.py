"""The one decorator of every compiled function, and where its machine code is kept.

Flags are set here and nowhere else. Compiled code is cached on disk in a folder named by a digest of
all kernel sources: Numba itself only notices changes of the file in which a function stands, not
of the functions it calls, and would go on running yesterday's rules. Players, ours and others', have
folders of their own in it: a change of their kernels does not make the rules compile anew.

Environment variables
---------------------
HELSINKI_DEBUG=1
    Check every array index (an index out of range otherwise reads garbage).
NUMBA_DISABLE_JIT=1
    Run every kernel as plain Python: slow, for debuggers and branch coverage.
HELSINKI_CACHE_DIR
    Folder for the compiled code; default: the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event

DEBUG = os.environ.get("HELSINKI_DEBUG", "0") not in ("", "0")
JIT = not numba.config.DISABLE_JIT

_PACKAGE = Path(__file__).resolve().parent.parent
_PLAYERS = _PACKAGE.parent / "agents"
#: Kernels that live outside this folder but belong to the digest: they call kernels of this folder.
_SOURCES = (
    "core/*.py",
    "envs/episodes.py",
    "envs/kernels.py",
    "envs/rewards.py",
    "envs/seat_kernels.py",
    "observation.py",
    "playout.py",
    "redeal.py",
    "restore.py",
)

if not JIT:  # pragma: no branch  # coverage is measured without the compiler, so always
    # Machine integers wrap around silently when compiled; the random word relies on it.
    np.seterr(over="ignore")


def source_digest() -> str:
    """Return 16 hexadecimal digits that change whenever any kernel source or a flag changes."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} debug={DEBUG}".encode())
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    base = os.environ.get("HELSINKI_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "helsinki-env"
    )
    for candidate in (base, os.path.join(tempfile.gettempdir(), "helsinki-env")):
        folder = os.path.join(candidate, source_digest())
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return tempfile.mkdtemp(prefix="helsinki-env-")


CACHE_FOLDER = _cache_folder() if JIT else ""


def _kernel_files(package: Path) -> list[Path]:
    return [file for file in sorted(package.rglob("*.py")) if b"@kernel" in file.read_bytes()]


@cache
def _folder_for(source: str) -> str:
    """Return where the machine code of the kernels of a source file is kept.

    Kernels of other packages call each other across files, too: theirs go into a folder of their own, named by a digest
    of all kernel files of their package and of the project's players, which they may call.
    """
    path = Path(source).resolve()
    if path.is_relative_to(_PACKAGE):
        return CACHE_FOLDER
    package = path.parent
    while (package.parent / "__init__.py").exists():
        package = package.parent
    files = [path] if path.exists() else []  # a notebook has no file
    if (package / "__init__.py").exists():
        files = _kernel_files(package)
    if package != _PLAYERS:
        files += _kernel_files(_PLAYERS)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(file.anchor)}\n".encode() + file.read_bytes())
    folder = os.path.join(CACHE_FOLDER, f"{package.stem}-{digest.hexdigest()[:16]}")
    os.makedirs(folder, exist_ok=True)
    return folder


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` with the project's flags (no GIL, no fast-math, cached on disk)."""
    if not JIT:
        return function
    return _compiled(function)  # pragma: no cover  # see above


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:  # pragma: no cover  # see above
    dispatcher = numba.njit(nogil=True, boundscheck=DEBUG, error_model="numpy")(function)
    previous = numba.config.CACHE_DIR
    # read once, while the cache of this function is set up
    numba.config.CACHE_DIR = _folder_for(function.__code__.co_filename)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # what was typed in has no file to keep anything for: it is compiled each time
        pass
    finally:
        numba.config.CACHE_DIR = previous
    return dispatcher


class _Announcer(event.Listener):
    """Say so, once, when compiling keeps somebody waiting for more than two seconds."""

    def __init__(self) -> None:
        self.depth = 0
        self.timer: threading.Timer | None = None
        self.said = False

    def on_start(self, event: event.Event) -> None:
        self.depth += 1
        if self.depth == 1 and not self.said and self._is_ours(event):
            self.timer = threading.Timer(2.0, self._say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: event.Event) -> None:
        self.depth = max(0, self.depth - 1)
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer = None

    @staticmethod
    def _is_ours(event: event.Event) -> bool:
        function = getattr((event.data or {}).get("dispatcher"), "py_func", None)
        return str(getattr(function, "__module__", "")).startswith(("helsinki_env", "agents"))

    def _say(self) -> None:
        self.said = True
        print(
            "helsinki-env: compiling the rules for this machine (about a minute, only once; "
            f"kept in {CACHE_FOLDER}) ...",
            file=sys.stderr,
            flush=True,
        )


if JIT:  # pragma: no cover  # see above
    event.register("numba:compile", _Announcer())
