"""The decorator of all compiled functions. It is the only place that sets compiler flags.

Compiled code is cached on disk (`compile_cache`) until the sources change.

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

import dis
import os
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import event

from helsinki_env.engine import compile_cache
from helsinki_env.engine.dispatch import Kernel
from helsinki_env.utils.streams import notice

DEBUG = os.environ.get("HELSINKI_DEBUG", "0") not in ("", "0")
JIT = not numba.config.DISABLE_JIT

if not JIT:  # pragma: no branch  # coverage is measured without the compiler, so always
    # Compiled integers wrap around silently, and the random generator relies on it.
    np.seterr(over="ignore")


_OPTIONS: dict[str, Any] = {"nopython": True, "nogil": True, "boundscheck": DEBUG, "error_model": "numpy"}

#: Cache folder for compiled code.
CACHE_FOLDER = compile_cache.open_folder(compile_cache.source_digest(f"debug={DEBUG}")) if JIT else ""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` with the project's flags (no GIL, no fast-math, cached on disk)."""
    if not JIT:
        return function
    return _compiled(function)  # pragma: no cover  # see above


#: Largest number of bytecode instructions of a kernel that its callers compile as a part of themselves.
_SHORT = 48


def _is_inlined(function: Callable[..., Any]) -> bool:  # pragma: no cover  # see above
    """Return whether a kernel is short and has no branches: compiling it with its callers takes no longer."""
    code = list(dis.get_instructions(function))
    return len(code) < _SHORT and not any(step.opcode in dis.hasjrel or step.opcode in dis.hasjabs for step in code)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:  # pragma: no cover  # see above
    source = compile_cache.source_of(function)
    # Our kernels allocate nothing. Without reference counting (a Numba option) they run 1.16 times as fast.
    options = _OPTIONS | {"_nrt": not compile_cache.is_project_file(source)}
    if _is_inlined(function):
        options["inline"] = "always"
    dispatcher = Kernel(function, targetoptions=options)
    if os.path.exists(source):  # code typed into an interpreter has no file and is compiled every time
        dispatcher.enable_cache_in(compile_cache.folder_for(source, CACHE_FOLDER))
    return dispatcher


def specialize(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Return a kernel specialized for the types of these arguments; a call is half a microsecond faster.

    A kernel normally checks its argument types at every call. The caller of the result must always pass the same
    types: an array of another type would be misread.
    """
    if not JIT:
        return function
    types = tuple(numba.typeof(argument) for argument in arguments)  # pragma: no cover  # see above
    return function.compile(types)  # type: ignore[attr-defined]  # pragma: no cover


class _Announcer(event.Listener):  # pragma: no cover  # see above
    """Prints a notice, once, when compiling takes more than two seconds."""

    PATIENCE = 2.0

    def __init__(self) -> None:
        self.began: float | None = None
        self.silent = False

    def on_start(self, event: event.Event) -> None:
        self._look(event)

    def on_end(self, event: event.Event) -> None:
        self._look(event)

    def _look(self, event: event.Event) -> None:
        """Check the time; compiling one kernel starts and ends the compilation of many others."""
        function = getattr((event.data or {}).get("dispatcher"), "py_func", None)
        if self.silent or not str(getattr(function, "__module__", "")).startswith("helsinki_env"):
            return
        if self.began is None:
            self.began = time.monotonic()
        elif time.monotonic() - self.began > self.PATIENCE:
            self.silent = True
            notice(
                "compiling for this machine, once, some seconds for the rules and for each player; "
                f"cached in {CACHE_FOLDER} (`helsinki compile` compiles everything in advance)"
            )


_announcer = _Announcer()
if JIT:  # pragma: no cover  # see above
    event.register("numba:compile", _announcer)


def silence_compile_notice() -> None:
    """Disable the notice about compiling; the caller shows its own."""
    _announcer.silent = True
