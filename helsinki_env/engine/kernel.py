"""Provide the decorator of all compiled functions. Only this module sets compiler flags.

Compiled code is cached on disk (`compile_cache`) until the sources change.

Environment variables
---------------------
HELSINKI_DEBUG=1
    Check every array index. Without this check, an index that is out of range reads arbitrary memory.
NUMBA_DISABLE_JIT=1
    Run every kernel as plain Python. This is slow, but works with debuggers and branch coverage.
HELSINKI_CACHE_DIR
    Folder for the compiled code. The default is the user's cache folder.
"""

from __future__ import annotations

import dis
import os
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite.binding import parse_bitcode
from numba.core import event, types
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, CompileResult
from numba.core.environment import lookup_environment
from numba.core.errors import UnsupportedError
from numba.core.registry import CPUDispatcher

from helsinki_env.engine import compile_cache
from helsinki_env.engine.compile_cache import KernelCache
from helsinki_env.utils.stopping import defer_interrupt
from helsinki_env.utils.streams import notice

DEBUG = os.environ.get("HELSINKI_DEBUG", "0") not in ("", "0")
JIT = not numba.config.DISABLE_JIT

if not JIT:  # pragma: no branch  # coverage is measured without the compiler
    # The random number generator relies on integers that wrap around silently, as they do in compiled code.
    np.seterr(over="ignore")


_OPTIONS: dict[str, Any] = {"nopython": True, "nogil": True, "boundscheck": DEBUG, "error_model": "numpy"}

#: Cache folder for compiled code.
CACHE_FOLDER = compile_cache.open_folder(compile_cache.source_digest(f"debug={DEBUG}")) if JIT else ""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function with the project's flags: without the GIL and fast-math, and cached on disk."""
    if not JIT:
        return function
    return _compiled(function)  # pragma: no cover  # see above


#: Kernels with fewer bytecode instructions are inlined into their callers.
_SHORT = 48
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)


def _is_inlined(function: Callable[..., Any]) -> bool:  # pragma: no cover  # see above
    """Return whether a kernel is short and has no branches, so that inlining it adds no compile time."""
    # This runs for every kernel when a process starts, and `dis.get_instructions` takes 20 times as long.
    steps = [opcode for opcode in function.__code__.co_code[::2] if opcode]  # 0 marks a cache entry, not a step
    return len(steps) < _SHORT and _JUMPS.isdisjoint(steps)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:  # pragma: no cover  # see above
    source = compile_cache.source_of(function)
    # The project's kernels allocate nothing. Without reference counting, they run 1.16 times as fast.
    options = _OPTIONS | {"_nrt": not compile_cache.is_project_file(source)}
    if _is_inlined(function):
        options["inline"] = "always"
    dispatcher = Kernel(function, targetoptions=options)
    if os.path.exists(source):  # code from an interactive session is compiled every time
        dispatcher.enable_cache_in(compile_cache.folder_for(source, CACHE_FOLDER))
    return dispatcher


def specialize(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Return a kernel that is specialized for the types of these arguments, which saves half a microsecond per call.

    The result does not check the types of its arguments. The caller must always pass the same types, because an array
    of another type would be misread.
    """
    if not JIT:
        return function
    signature = tuple(numba.typeof(argument) for argument in arguments)  # pragma: no cover  # see above
    return function.compile(signature)  # type: ignore[attr-defined]  # pragma: no cover


class _Announcer(event.Listener):  # pragma: no cover  # see above
    """A listener that prints one notice if compiling takes more than two seconds."""

    PATIENCE = 2.0

    def __init__(self) -> None:
        self.depth, self.began, self.spent = 0, 0.0, 0.0
        self.silent = False

    def on_start(self, event: event.Event) -> None:
        self._count(event, 1)

    def on_end(self, event: event.Event) -> None:
        self._count(event, -1)

    def _count(self, event: event.Event, step: int) -> None:
        """Print the notice if it is due. Compiling one kernel starts and ends the compilation of many others."""
        function = getattr((event.data or {}).get("dispatcher"), "py_func", None)
        if self.silent or not str(getattr(function, "__module__", "")).startswith("helsinki_env"):
            return
        now = time.monotonic()
        self.spent += now - self.began if self.depth else 0.0
        self.began, self.depth = now, self.depth + step
        if self.spent > self.PATIENCE:
            self.silent = True
            notice(
                "compiling the rules and the players for this CPU; this takes some seconds each, once. "
                f"The code is cached in {CACHE_FOLDER} (`helsinki compile` compiles everything ahead of time)"
            )


_announcer = _Announcer()
if JIT:  # pragma: no cover  # see above
    event.register("numba:compile", _announcer)


def silence_compile_notice() -> None:
    """Disable the notice about compiling, for callers that show their own notice."""
    _announcer.silent = True


# The compiler
#
# By default, Numba generates machine code and wrappers for every called function, although LLVM inlines callees into
# their callers. Here, called kernels are only lowered to LLVM IR, and machine code is generated only for kernels that
# are called from Python. This takes less than half the time, and the code is equally fast. The classes depend on Numba
# internals, so `pyproject.toml` sets an upper bound for the version of Numba.

_SHORT_INTEGERS = frozenset({types.int8, types.int16, types.int32})


class KernelLibrary(JITCodeLibrary):  # pragma: no cover
    """The LLVM IR of a kernel and of the kernels that it calls."""

    def finalize(self) -> None:
        """Link the called kernels, without generating code. Raise UnsupportedError if calls form a cycle."""
        self._raise_if_finalized()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(RuntimeLinker.PREFIX):
                raise UnsupportedError(f"{self.name}: found kernels that call each other, expected none")
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class _ForKernels(Compiler):  # pragma: no cover
    def define_pipelines(self) -> Any:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _LockingDispatcher(CPUDispatcher):  # pragma: no cover
    """A dispatcher that waits while another process compiles the same kernel."""

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for a signature, or load the cached result."""
        with defer_interrupt():  # LLVM's callbacks would ignore the exception, and the machine code would be lost
            try:
                return super().compile(signature)
            finally:
                if isinstance(self._cache, KernelCache) and self._cache.claims.held:
                    self._cache.release(signature, self.targetctx.codegen())


class _CalleeDispatcher(_LockingDispatcher):  # pragma: no cover
    """A dispatcher for calls from other kernels."""

    def add_overload(self, result: CompileResult) -> None:
        """Register a signature for the calling kernels."""
        if result.entry_point is None:  # just compiled
            result = result._replace(entry_point=object())  # only a key, because there is no machine code
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
        self.overloads[tuple(result.signature.args)] = result


class _BitcodeCache(KernelCache):  # pragma: no cover
    suffix = ".called"

    def _reduced(self, result: CompileResult) -> Any:
        library, described = result.library, result.fndesc
        described.typemap = described.calltypes = None  # large, and no longer needed
        environments = [result.environment, *result._find_referenced_environments()]
        return library.name, library._final_module.as_bitcode(), described, environments, result.signature

    def _restored(self, target_context: Any, data: Any) -> CompileResult:
        name, code, described, environments, signature = data
        library = KernelLibrary(target_context.codegen(), name)
        library._final_module = parse_bitcode(code)
        library._finalized = True
        return CompileResult(
            target_context=target_context, typing_context=target_context.typing_context, library=library,
            environment=environments[0], entry_point=object(), fndesc=described, type_annotation="",
            signature=signature, objectmode=False, lifted=(), typing_error=None, call_helper=None, metadata=None,
            reload_init=[], referenced_envs=environments,
        )  # fmt: skip


class Kernel(_LockingDispatcher):  # pragma: no cover
    """A compiled function for calls from Python. `for_kernels` is the dispatcher for calls from other kernels."""

    def __init__(
        self,
        function: Callable[..., Any],
        locals: dict[str, Any] | None = None,  # noqa: A002  # Numba copies dispatchers by this parameter name
        targetoptions: dict[str, Any] | None = None,
        pipeline_class: type[Compiler] = Compiler,
    ) -> None:
        super().__init__(function, locals or {}, targetoptions or {}, pipeline_class)
        self.for_kernels = _CalleeDispatcher(function, locals or {}, targetoptions or {}, _ForKernels)

    def enable_cache_in(self, folder: str) -> None:
        """Cache compiled code in a folder."""
        self._cache = KernelCache(self.py_func, folder)
        self.for_kernels._cache = _BitcodeCache(self.py_func, folder)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the call template for kernels that call this one.

        A kernel is compiled only once for all constants of a type, and only once for signed integers of all sizes,
        because Numba computes with 64-bit integers.
        """
        args = tuple(types.unliteral(arg) for arg in args)  # type: ignore[attr-defined]  # Numba is not typed
        if not self.is_compiling:  # a recursive call must use the types that are being compiled
            args = tuple(types.int64 if arg in _SHORT_INTEGERS else arg for arg in args)
        return self.for_kernels.get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        """Return the overload for kernels that call this one."""
        return self.for_kernels.get_overload(signature)

    @property
    def is_compiling(self) -> Any:
        """Whether this kernel is being compiled; Numba uses it to detect recursion."""
        return self.for_kernels.is_compiling or super().is_compiling

    def add_overload(self, result: CompileResult) -> None:
        """Register a signature for calls from Python."""
        super().add_overload(result)
        # Called kernels may need Python environments, for example for `print`. Register them with the cached code.
        for name in [variable.name for variable in result.library._final_module.global_variables]:
            if name.startswith("_ZN08NumbaEnv") and (environment := lookup_environment(name)) is not None:
                result.library.codegen.set_env(name, environment)
