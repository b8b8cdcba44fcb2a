"""Overload kernels: `apply(t, g, action)` calls the kernel of the game that has the record type of `g`.

Every game has its own record type. Numba compiles a generic loop over records once per game and resolves calls to the
game's kernels at compile time, so there is no lookup at run time. The keys of the disk cache include the argument
types, so each game has its own entries.

    >>> import numpy as np
    >>> from helsinki_env.engine.kernel import kernel
    >>> from helsinki_env.engine.overloads import OverloadedKernel
    >>> COUNTER = np.dtype((np.record, [("value", np.int64)]))
    >>> advance = OverloadedKernel("advance")
    >>> @kernel
    ... def count_up(g, by):
    ...     g.value += by
    >>> advance.implements(COUNTER, count_up)
    >>> @kernel
    ... def advance_all(states, by):
    ...     for b in range(len(states)):
    ...         advance(states[b], by)
    >>> states = np.zeros(3, COUNTER)
    >>> advance_all(states, 2)
    >>> states["value"]
    array([2, 2, 2])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types
from numba.core.errors import TypingError

from helsinki_env.engine import compile_cache
from helsinki_env.engine.kernel import JIT

__all__ = ["OverloadError", "OverloadedKernel"]


class OverloadError(TypeError):
    """Raised if no game, or more than one game, implements a kernel for a record type."""


class OverloadedKernel:
    """A kernel that is implemented by each game and has the same name for all games.

    Args:
        name: name of the kernel, for error messages.
        fallback: kernel for games that do not implement it; None if every game must implement it.
    """

    #: Numba uses this flag to detect recursion.
    is_compiling = False

    def __init__(self, name: str, fallback: Callable[..., Any] | None = None) -> None:
        self.name, self.fallback = name, fallback
        self._by_dtype: dict[np.dtype[Any], Callable[..., Any]] = {}
        self._by_type: dict[Any, Any] = {}

    def implements(self, dtype: np.dtype[Any], kernel: Callable[..., Any]) -> None:
        """Register the implementation for a record type. One of its arguments must be a record of this type.

        Raises:
            OverloadError: if another kernel is already registered, because each game needs its own record type.
        """
        if self._by_dtype.get(dtype, kernel) is not kernel:
            raise OverloadError(f"{self.name}: found two games with records of type {dtype.names}, expected one")
        self._by_dtype[dtype] = kernel
        if JIT:  # pragma: no cover  # coverage is measured without the compiler
            record = from_dtype(dtype)
            self._by_type[record] = kernel
            source = compile_cache.source_of(kernel.py_func)  # type: ignore[attr-defined]  # it is compiled
            compile_cache.register_kernel_source(record, source)

    def is_implemented_for(self, dtype: np.dtype[Any]) -> bool:
        """Return whether a game implements the kernel for a record type."""
        return dtype in self._by_dtype

    @property
    def kernels(self) -> tuple[Callable[..., Any], ...]:
        """The implementations of all games."""
        return tuple(self._by_dtype.values())

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel from Python, which is slow. This is for tests and for running without the compiler.

        Raises:
            OverloadError: if no argument is a record of a game that implements the kernel.
        """
        for argument in arguments:
            kernel = self._by_dtype.get(getattr(argument, "dtype", None))  # type: ignore[arg-type]  # None is in no dict
            if kernel is not None:
                return kernel(*arguments)
        if self.fallback is not None:
            return self.fallback(*arguments)
        raise OverloadError(f"{self.name}: found no record of a game that implements it among the arguments")

    # Numba treats this object as a dispatcher, which delegates to the kernel of the game.

    @property
    def _numba_type_(self) -> Any:  # pragma: no cover  # see above
        return types.Dispatcher(self)

    def kernel_for(self, arguments: tuple[Any, ...]) -> Any:  # pragma: no cover  # see above
        """Return the kernel for Numba argument types. Raise TypingError if no game implements it for them."""
        for argument in arguments:
            if argument in self._by_type:
                return self._by_type[argument]
        if self.fallback is not None:
            return self.fallback
        raise TypingError(f"{self.name}: found no record of a game that implements it among the arguments")

    def get_call_template(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:  # pragma: no cover
        """Return the call template for kernels that call this one."""
        return self.kernel_for(arguments).get_call_template(arguments, keywords)

    def get_overload(self, arguments: tuple[Any, ...]) -> Any:  # pragma: no cover
        """Return the overload for kernels that call this one."""
        return self.kernel_for(arguments).get_overload(arguments)
