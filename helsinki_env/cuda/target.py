"""Make the rule kernels available as CUDA device functions.

numba-cuda compiles each `helsinki_env.engine.kernel` that a CUDA kernel calls from the same Python function. Two kinds
of callee are not Python functions: rules (`helsinki_env.engine.overloads`) resolve to the kernel of the record's game,
and vector intrinsics (`helsinki_env.engine.vectors`) resolve to their plain loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cuda
from numba.cuda.core import config

from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.vectors import FALLBACK_LOOPS

__all__ = ["register_overloads"]


class _CudaOverload:
    """A rule in CUDA kernels; resolves to the kernel for the record among the arguments."""

    is_compiling = False

    def __init__(self, rule: OverloadedKernel) -> None:
        self.rule = rule

    def _function_for(self, arguments: tuple[Any, ...]) -> Any:
        return function_of(self.rule.kernel_for(arguments).py_func)

    def get_call_template(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the call template for kernels that call the rule."""
        return self._function_for(arguments).get_call_template(arguments, keywords)

    def get_overload(self, arguments: tuple[Any, ...]) -> Any:
        """Return the overload for kernels that call the rule."""
        return self._function_for(arguments).get_overload(arguments)


# Numba types hold only weak references to these objects.
_rules: dict[OverloadedKernel, _CudaOverload] = {}
_functions: dict[Callable[..., Any], Any] = {}


def function_of(function: Callable[..., Any]) -> Any:
    """Return a Python function as a CUDA device function."""
    if function not in _functions:
        _functions[function] = cuda.jit(device=True)(function)
    return _functions[function]


def register_overloads() -> None:
    """Register rules and intrinsics with numba-cuda, including those defined since the last call."""
    if not JIT or config.ENABLE_CUDASIM:  # then kernels are plain functions and call each other directly
        return
    from numba.cuda import types
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.extending import typeof_impl

    @typeof_impl.register(OverloadedKernel)  # type: ignore[untyped-decorator]  # Numba is untyped
    def type_of_rule(rule: OverloadedKernel, context: Any) -> Any:
        return types.Dispatcher(_rules.setdefault(rule, _CudaOverload(rule)))

    typing = cuda_target.typing_context
    typing.refresh()
    for word, loop in FALLBACK_LOOPS.items():
        if typing._lookup_global(word) is not None:
            typing._remove_global(word)  # remove the CPU version
        typing.insert_global(word, types.Dispatcher(function_of(loop)))
