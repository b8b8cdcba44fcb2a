"""Words that threads share: to wait for each other without sleep, and to take what is next without asking anybody.

A system takes long to wake who sleeps, and Python's own lock is held by one thread at a time; with both in the way, two
threads were no more than 1.4 times as fast as one. Words are int64.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import word_of

__all__ = ["APART", "take", "wait_for"]

#: Words that different threads write lie so far apart, that none has to fetch what another one wrote beside it.
APART = 16

_WORD = ir.IntType(64)


def _address(builder: Any, addressed: Any, whole: Any) -> Any:  # pragma: no cover  # see `vectors`
    return builder.gep(builder.bitcast(addressed(0), _WORD.as_pointer()), [whole(1)])


def _read(words: Any, at: int) -> Any:
    """Return a word, as it is now."""
    return words[at]


def _read_code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
    # A processor that only looks the same word up again and again is told that it waits.
    if builder.module.triple.startswith("x86_64"):
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
    return builder.load_atomic(_address(builder, addressed, whole), "acquire", 8)


def _take(words: Any, at: int, count: int) -> Any:
    """Add to a word; return what it was. Of several threads each gets another number."""
    found = words[at]
    words[at] += count
    return found


def _take_code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
    return builder.atomic_rmw("add", _address(builder, addressed, whole), whole(2), "monotonic")


take = word_of(_take, lambda words, at, count: types.int64(words, at, count), _take_code, _take)
_look = word_of(_read, lambda words, at: types.int64(words, at), _read_code, _read)


@kernel
def wait_for(words, at, value, turns):
    """Return whether a word becomes a value while it is looked at so many times; nobody else is kept from Python."""
    for _ in range(turns):
        if _look(words, at) == value:
            return True
    return False
