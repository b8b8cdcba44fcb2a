"""Rules as words: a kernel says `apply(t, g, action)`, and the type of the record `g` says which game's rule that is.

Every game has its own type of record, so a loop that is written once, over records of any game, is compiled for each
game that it is used with, and calls that game's kernels as directly as if it had named them: nothing is looked up when
it runs. What is compiled is kept on disk like everything else, under the types of the arguments, and so for each game
apart.

    >>> import numpy as np
    >>> from helsinki_env.engine.kernel import kernel
    >>> from helsinki_env.engine.rule import Rule
    >>> COUNTER = np.dtype((np.record, [("value", np.int64)]))
    >>> advance = Rule("advance")
    >>> @kernel
    ... def count_up(g, by):
    ...     g.value += by
    >>> advance.belongs_to(COUNTER, count_up)
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

from helsinki_env.engine import kept
from helsinki_env.engine.kernel import JIT

__all__ = ["Rule", "RuleError"]


class RuleError(TypeError):
    """A rule that no game, or more than one, has given for a record."""


class Rule:
    """A rule that each game states for itself, under the name by which kernels of any game call it.

    Args:
        name: of the rule, for messages.
        otherwise: the kernel of games that do not state it; None: every game has to.
    """

    #: Numba asks whether a function is being compiled, to find those that call themselves.
    is_compiling = False

    def __init__(self, name: str, otherwise: Callable[..., Any] | None = None) -> None:
        self.name, self.otherwise = name, otherwise
        self._by_dtype: dict[np.dtype[Any], Callable[..., Any]] = {}
        self._by_type: dict[Any, Any] = {}

    def belongs_to(self, dtype: np.dtype[Any], kernel: Callable[..., Any]) -> None:
        """State the rule for records of a type.

        Args:
            dtype: of the records, a structured one.
            kernel: the rule; takes a record of this type among its arguments.

        Raises:
            RuleError: if another kernel states it already: games must differ in the type of their records.
        """
        if self._by_dtype.get(dtype, kernel) is not kernel:
            raise RuleError(f"{self.name}: two games have records of the same type, {dtype.names}")
        self._by_dtype[dtype] = kernel
        if JIT:  # pragma: no cover  # coverage is measured without the compiler
            record = from_dtype(dtype)
            self._by_type[record] = kernel
            kept.remember(record, kernel.py_func.__code__.co_filename)  # type: ignore[attr-defined]  # it is compiled

    def is_stated_for(self, dtype: np.dtype[Any]) -> bool:
        """Return whether a game has stated the rule for records of a type."""
        return dtype in self._by_dtype

    @property
    def kernels(self) -> tuple[Callable[..., Any], ...]:
        """What games have stated."""
        return tuple(self._by_dtype.values())

    def __call__(self, *arguments: Any) -> Any:
        """Call the rule of the record among the arguments, from Python: slow, for tests, and without the compiler.

        Raises:
            RuleError: if no argument is a record whose game has this rule.
        """
        for argument in arguments:
            kernel = self._by_dtype.get(getattr(argument, "dtype", None))  # type: ignore[arg-type]  # None is in no dict
            if kernel is not None:
                return kernel(*arguments)
        if self.otherwise is not None:
            return self.otherwise(*arguments)
        raise RuleError(f"{self.name}: no argument is a record of a game that has this rule")

    # What Numba asks when a kernel calls the rule: it is taken for one of Numba's own functions, and passes on what is
    # asked to the kernel of the record's game.

    @property
    def _numba_type_(self) -> Any:  # pragma: no cover  # see above
        return types.Dispatcher(self)

    def kernel_for(self, arguments: tuple[Any, ...]) -> Any:  # pragma: no cover  # see above
        """Return the kernel for arguments of some Numba types; TypingError if no game has stated one."""
        for argument in arguments:
            if argument in self._by_type:
                return self._by_type[argument]
        if self.otherwise is not None:
            return self.otherwise
        raise TypingError(f"{self.name}: no argument is a record of a game that has this rule")

    def get_call_template(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:  # pragma: no cover
        """Tell a kernel that calls the rule what comes back."""
        return self.kernel_for(arguments).get_call_template(arguments, keywords)

    def get_overload(self, arguments: tuple[Any, ...]) -> Any:  # pragma: no cover
        """Tell a kernel that calls the rule what to call."""
        return self.kernel_for(arguments).get_overload(arguments)
