"""Provide atomic int64 variables, so that threads can wait without sleeping and claim work without a lock.

Waking a sleeping thread and acquiring the GIL are slow. Together, they limited the speed-up of two threads to 1.4.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import make_intrinsic

#: Distance, in int64 values, between variables written by different threads, so that no two share a cache line.
APART = 16

_WORD = ir.IntType(64)


def _address(builder: Any, addressed: Any, whole: Any) -> Any:  # pragma: no cover  # see `vectors`
    return builder.gep(builder.bitcast(addressed(0), _WORD.as_pointer()), [whole(1)])


def _read(words: Any, at: int) -> Any:
    """Return the current value of a variable."""
    return words[at]


def _read_code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
    # The pause instruction saves power in a spin loop.
    if builder.module.triple.startswith("x86_64"):
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
    return builder.load_atomic(_address(builder, addressed, whole), "acquire", 8)


def _take(words: Any, at: int, count: int) -> Any:
    """Add to a variable atomically and return its previous value."""
    found = words[at]
    words[at] += count
    return found


def _take_code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
    return builder.atomic_rmw("add", _address(builder, addressed, whole), whole(2), "monotonic")


fetch_add = make_intrinsic(_take, lambda words, at, count: types.int64(words, at, count), _take_code, _take)
_look = make_intrinsic(_read, lambda words, at: types.int64(words, at), _read_code, _read)


@kernel
def spin_until(words, at, value, turns):
    """Spin without the GIL, and return whether a variable reaches a value within `turns` reads."""
    for _ in range(turns):
        if _look(words, at) == value:
            return True
    return False
