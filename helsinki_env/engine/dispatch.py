"""How a kernel is compiled: to machine code for Python, to LLVM's intermediate code for the kernels that call it.

Numba makes machine code of every function that another one calls, with wrappers for Python and C, although what runs is
made once more: a function becomes a part of those that call it, which are optimised as a whole. Here that is all that
happens. What kernels call is only typed and translated, and machine code is made, in one go, of what Python calls. That
takes less than half the time, and the code is no slower.

This builds on what Numba keeps for itself, hence the upper bound of its version in `pyproject.toml`. All of it is left
out when coverage is measured, which is without the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, CompileResult
from numba.core.environment import lookup_environment
from numba.core.errors import UnsupportedError
from numba.core.registry import CPUDispatcher

from helsinki_env.engine.kept import Kept

__all__ = ["Kernel"]


class Intermediate(JITCodeLibrary):  # pragma: no cover
    """The intermediate code of a kernel and of all that it calls."""

    def finalize(self) -> None:
        """Join what is called; nothing is optimised, no machine code is made.

        Raises:
            UnsupportedError: if kernels call each other in a circle.
        """
        self._raise_if_finalized()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(RuntimeLinker.PREFIX):
                raise UnsupportedError(f"{self.name}: kernels can call themselves, but not each other in a circle")
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class _ForKernels(Compiler):  # pragma: no cover
    def define_pipelines(self) -> Any:
        flags = self.state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        self.state.library = Intermediate(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _Claiming(CPUDispatcher):  # pragma: no cover
    """Compiles what no other process is compiling at the moment."""

    def compile(self, signature: Any) -> Any:
        """Compile for a combination of types, or find what was compiled for it."""
        try:
            return super().compile(signature)
        finally:
            if isinstance(self._cache, Kept) and self._cache.claims.held:
                self._cache.release(signature, self.targetctx.codegen())


class _Called(_Claiming):  # pragma: no cover
    """What kernels see of a kernel."""

    def add_overload(self, result: CompileResult) -> None:
        """Make a combination of types known to the kernels that call it."""
        if result.entry_point is None:  # it has just been compiled
            result = result._replace(entry_point=object())  # a name, no address: there is no machine code
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
        self.overloads[tuple(result.signature.args)] = result


class _KeptIntermediate(Kept):  # pragma: no cover
    ending = ".called"

    def _reduced(self, result: CompileResult) -> Any:
        library, described = result.library, result.fndesc
        described.typemap = described.calltypes = None  # large, and of no use any more
        environments = [result.environment, *result._find_referenced_environments()]
        return library.name, library._final_module.as_bitcode(), described, environments, result.signature

    def _restored(self, target_context: Any, data: Any) -> CompileResult:
        name, code, described, environments, signature = data
        library = Intermediate(target_context.codegen(), name)
        library._final_module = parse_bitcode(code)
        library._finalized = True
        return CompileResult(
            target_context=target_context, typing_context=target_context.typing_context, library=library,
            environment=environments[0], entry_point=object(), fndesc=described, type_annotation="",
            signature=signature, objectmode=False, lifted=(), typing_error=None, call_helper=None, metadata=None,
            reload_init=[], referenced_envs=environments,
        )  # fmt: skip


class Kernel(_Claiming):  # pragma: no cover
    """A compiled function: what Python calls; `called` is what kernels call."""

    def __init__(
        self,
        function: Callable[..., Any],
        locals: dict[str, Any] | None = None,  # noqa: A002  # Numba's name, by which it makes copies
        targetoptions: dict[str, Any] | None = None,
        pipeline_class: type[Compiler] = Compiler,
    ) -> None:
        super().__init__(function, locals or {}, targetoptions or {}, pipeline_class)
        self.called = _Called(function, locals or {}, targetoptions or {}, _ForKernels)

    def keep_in(self, folder: str) -> None:
        """Look for what was compiled in a folder, and keep there what is compiled."""
        self._cache = Kept(self.py_func, folder)
        self.called._cache = _KeptIntermediate(self.py_func, folder)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Tell a kernel that calls this one what comes back."""
        return self.called.get_call_template(args, kws)

    def get_overload(self, signature: Any) -> Any:
        """Tell a kernel that calls this one what to call."""
        return self.called.get_overload(signature)

    @property
    def is_compiling(self) -> Any:
        """Whether it is being compiled, so that a call of itself is seen as such."""
        return self.called.is_compiling or super().is_compiling

    def add_overload(self, result: CompileResult) -> None:
        """Make a combination of types known to Python."""
        super().add_overload(result)
        # What the kernels that it calls need of Python, for `print` and the like; whoever loads it gets that with it.
        for name in [variable.name for variable in result.library._final_module.global_variables]:
            if name.startswith("_ZN08NumbaEnv") and (environment := lookup_environment(name)) is not None:
                result.library.codegen.set_env(name, environment)
