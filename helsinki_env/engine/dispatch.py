"""Compile kernels: to machine code for calls from Python, to LLVM bitcode for calls from other kernels.

By default, Numba generates machine code and wrappers for every called function, although LLVM optimizes each callee
into its callers. Here, called kernels are only lowered to LLVM IR, and only kernels that Python calls become machine
code. This takes less than half the time, and the code is no slower.

This module depends on Numba internals, hence the upper bound of its version in `pyproject.toml`. Coverage excludes it,
because coverage is measured without the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core import types
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, CompileResult
from numba.core.environment import lookup_environment
from numba.core.errors import UnsupportedError
from numba.core.registry import CPUDispatcher

from helsinki_env.engine.compile_cache import KernelCache

__all__ = ["Kernel"]


_SHORT_INTEGERS = frozenset({types.int8, types.int16, types.int32})


class KernelLibrary(JITCodeLibrary):  # pragma: no cover
    """The LLVM IR of a kernel and of all kernels that it calls."""

    def finalize(self) -> None:
        """Link the called kernels, without optimization or code generation; UnsupportedError if calls form a cycle."""
        self._raise_if_finalized()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(RuntimeLinker.PREFIX):
                raise UnsupportedError(
                    f"{self.name}: found kernels that call each other; a kernel may call itself only"
                )
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
    """Compiles a kernel unless another process is compiling it."""

    def compile(self, signature: Any) -> Any:
        """Compile for a signature, or load the cached result."""
        try:
            return super().compile(signature)
        finally:
            if isinstance(self._cache, KernelCache) and self._cache.claims.held:
                self._cache.release(signature, self.targetctx.codegen())


class _CalleeDispatcher(_LockingDispatcher):  # pragma: no cover
    """The view of a kernel that its calling kernels see."""

    def add_overload(self, result: CompileResult) -> None:
        """Register a signature for the calling kernels."""
        if result.entry_point is None:  # just compiled
            result = result._replace(entry_point=object())  # only a key: there is no machine code
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
    """A compiled function for calls from Python; `called` is its version for calls from kernels."""

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

        A kernel is compiled once for all constants of a type, and once for signed integers of all sizes: the compiler
        computes with 64 bits in any case.
        """
        args = tuple(types.unliteral(arg) for arg in args)  # type: ignore[attr-defined]  # Numba is not typed
        if not self.is_compiling:  # a call of itself must have the types that are being compiled
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
        # Called kernels may need Python environments, for `print` and the like; register them with the cached code.
        for name in [variable.name for variable in result.library._final_module.global_variables]:
            if name.startswith("_ZN08NumbaEnv") and (environment := lookup_environment(name)) is not None:
                result.library.codegen.set_env(name, environment)
