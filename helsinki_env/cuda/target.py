"""How the kernels become functions of a graphics card.

A kernel of `helsinki_env.engine.kernel` that a CUDA kernel calls is compiled once more by numba-cuda, from the same
Python function. Two things that kernels call are no functions of Python: a rule is that of the record's game
(`helsinki_env.engine.rule`), and a word of vector instructions is its plain loop (`helsinki_env.engine.vectors`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cuda
from numba.cuda.core import config

from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.rule import Rule
from helsinki_env.engine.vectors import LOOPS

__all__ = ["prepare"]


class _RuleOnCard:
    """A rule as kernels of a card see it: that of the record among the arguments."""

    is_compiling = False

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def _function_for(self, arguments: tuple[Any, ...]) -> Any:
        return function_of(self.rule.kernel_for(arguments).py_func)

    def get_call_template(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Tell a kernel that calls the rule what comes back."""
        return self._function_for(arguments).get_call_template(arguments, keywords)

    def get_overload(self, arguments: tuple[Any, ...]) -> Any:
        """Tell a kernel that calls the rule what to call."""
        return self._function_for(arguments).get_overload(arguments)


# Types refer to what they are of, and do not keep it.
_rules: dict[Rule, _RuleOnCard] = {}
_functions: dict[Callable[..., Any], Any] = {}


def function_of(function: Callable[..., Any]) -> Any:
    """Return a function of Python as one of the card."""
    if function not in _functions:
        _functions[function] = cuda.jit(device=True)(function)
    return _functions[function]


def prepare() -> None:
    """Have rules and words resolved as said above; what has been made since the last call is, too."""
    if not JIT or config.ENABLE_CUDASIM:  # kernels are plain functions then, and call each other as such
        return
    from numba.cuda import types
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.extending import typeof_impl

    @typeof_impl.register(Rule)  # type: ignore[untyped-decorator]  # Numba's
    def type_of_rule(rule: Rule, context: Any) -> Any:
        return types.Dispatcher(_rules.setdefault(rule, _RuleOnCard(rule)))

    typing = cuda_target.typing_context
    typing.refresh()
    for word, loop in LOOPS.items():
        if typing._lookup_global(word) is not None:
            typing._remove_global(word)  # what it is for a processor
        typing.insert_global(word, types.Dispatcher(function_of(loop)))
