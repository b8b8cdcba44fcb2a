"""Provide SIMD operations on byte arrays: expand bit sets to bytes, gather bytes into bit sets, copy and sum.

Each operation has an equivalent plain function (`.plain`), which runs without the compiler. A test compares the two.
Compiled plain loops are much slower: the compiler does not vectorize them, because it cannot prove that input and
output do not overlap.

The width of an operation is fixed and may exceed the number of entries: 51 cards are copied as 64 bytes. Bytes read
beyond the end of a source may have any value, but must lie within the enclosing record. Bytes written beyond the end of
a field are overwritten later: fields are written front to back, and the last one is written at its exact width.
Without the compiler, writing beyond the end of an array raises IndexError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from helsinki_env.engine.bits import lowest_bit
from helsinki_env.engine.kernel import JIT

Intrinsic = Any
"""An operation for kernels; `plain` is the equivalent Python function."""

FALLBACK_LOOPS: dict[Intrinsic, Callable[..., Any]] = {}
"""The plain loop of every compiled operation."""

_BYTE, _BIT, _WORD = ir.IntType(8), ir.IntType(1), ir.IntType(64)


def make_intrinsic(
    plain: Intrinsic, signature: Callable[..., Any], code: Callable[..., Any], loop: Callable[..., Any]
) -> Intrinsic:
    """Return an operation for kernels: an intrinsic, or `plain` if the compiler is disabled.

    `code` emits the instructions. Its arguments are the builder, `addressed` (which returns the address of an entry of
    an argument), `whole` (which returns an argument as a 64-bit integer) and the arguments. `loop` is the equivalent
    kernel for targets without these instructions (`helsinki_env.cuda`).
    """
    if not JIT:
        plain.plain = plain
        return plain
    made = _compiled(plain, signature, code)  # pragma: no cover  # coverage is measured without the compiler
    FALLBACK_LOOPS[made] = loop  # pragma: no cover
    return made  # pragma: no cover


def _compiled(
    plain: Intrinsic, signature: Callable[..., Any], code: Callable[..., Any]
) -> Intrinsic:  # pragma: no cover
    def generate(context: Any, builder: Any, signed: Any, arguments: Sequence[Any]) -> Any:
        def addressed(number: int, at: int | None = None) -> Any:
            array = context.make_array(signed.args[number])(context, builder, arguments[number])
            first = builder.bitcast(array.data, _BYTE.as_pointer())
            return first if at is None else builder.gep(first, [whole(at)])

        def whole(number: int) -> Any:
            value, kind = arguments[number], signed.args[number]
            if value.type.width >= _WORD.width:
                return value
            return builder.sext(value, _WORD) if kind.signed else builder.zext(value, _WORD)

        found = code(builder, addressed, whole, arguments)
        return context.get_dummy_value() if found is None else found

    # Numba reads the argument names from the function, so each number of arguments needs its own function.
    def typed(*kinds: Any) -> Any:
        for kind in kinds:
            if isinstance(kind, types.Array) and kind.layout != "C":
                raise TypingError(f"{plain.__name__}: found an array with gaps, expected a contiguous one")
        return signature(*kinds), generate

    shapes: dict[int, Callable[..., Any]] = {
        1: lambda typing, a: typed(a),
        2: lambda typing, a, b: typed(a, b),
        3: lambda typing, a, b, c: typed(a, b, c),
        4: lambda typing, a, b, c, d: typed(a, b, c, d),
        5: lambda typing, a, b, c, d, e: typed(a, b, c, d, e),
    }
    made: Any = intrinsic(shapes[plain.__code__.co_argcount])
    made.plain = plain
    return made


def load_vector(builder: Any, address: Any, kind: Any) -> Any:  # pragma: no cover
    """Emit code that loads an LLVM vector from an address with any alignment."""
    found = builder.load(builder.bitcast(address, kind.as_pointer()))
    found.align = 1
    return found


def _store(builder: Any, value: Any, address: Any) -> None:  # pragma: no cover
    builder.store(value, builder.bitcast(address, value.type.as_pointer())).align = 1


def fill_vector(kind: Any, value: int) -> Any:  # pragma: no cover
    """Return a constant LLVM vector with the same value in all entries."""
    return ir.Constant(kind, [value] * kind.count)


def reduce_vector(builder: Any, how: str, vector: Any) -> Any:  # pragma: no cover
    """Emit code that reduces an LLVM vector to one number with an operation such as ``add`` or ``or``."""
    element = vector.type.element
    name = f"llvm.vector.reduce.{how}.v{vector.type.count}i{element.width}"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(element, [vector.type]), name)
    return builder.call(function, [vector])


def _part(out: Any, at: int, width: int) -> Any:
    """Return a writable view of `width` entries of an array. Raise IndexError if the array is too short."""
    if not 0 <= at <= len(out) - width:
        raise IndexError(f"entries {at} to {at + width - 1} of {len(out)}")
    return out[at : at + width]


def spreader(width: int, planes: int = 1, loop: Callable[..., Any] | None = None) -> Intrinsic:
    """Return `spread(out, at, sets)`, which combines bit i of every set in entry `at + i` of `out`, int8.

    Bit k of the entry is bit i of set k. `width` is the number of bytes to write: 16, 32 or 64. `sets` is a tuple of
    `planes` int64 values.
    """

    def spread(out: Any, at: int, sets: Sequence[int]) -> None:
        bits = np.array(sets, np.int64)[:, None] >> np.arange(width) & 1
        _part(out, at, width)[:] = bits.T @ (1 << np.arange(planes))

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> None:  # pragma: no cover
        bytes_, flags = ir.VectorType(_BYTE, width), ir.VectorType(_BIT, width)
        total = None
        for k in range(planes):
            members = builder.extract_value(arguments[2], k)
            members = members if width == _WORD.width else builder.trunc(members, ir.IntType(width))
            value = builder.select(builder.bitcast(members, flags), fill_vector(bytes_, 1 << k), fill_vector(bytes_, 0))
            total = value if total is None else builder.or_(total, value)
        _store(builder, total, addressed(0, 1))

    def write_all(out, at, sets):  # pragma: no cover
        for i in range(width):
            value = np.int64(0)
            for k in range(planes):
                value |= (sets[k] >> i & 1) << k
            out[at + i] = value

    kind = types.containers.UniTuple(types.int64, planes)
    return make_intrinsic(spread, lambda out, at, sets: types.void(out, at, kind), code, loop or write_all)


def marker(width: int) -> Intrinsic:
    """Return `mark(mask, at, sets)`, which spreads one set over entries that are initially zero.

    The plain loop writes only the members of the set, which is much less work on a GPU.
    """

    def loop(mask, at, sets):  # pragma: no cover
        members = sets[0]
        while members:
            mask[at + lowest_bit(members)] = 1
            members &= members - 1

    return spreader(width, loop=loop)


def gatherer(width: int, odd: bool = False) -> Intrinsic:
    """Return `gather(source, begin)`, which returns the set of positive entries among `width` int8 entries, int64.

    `width` is 16, 32 or 64. If `odd` is set, the entries that are neither 0 nor 1 are gathered instead.
    """

    def gather(source: Any, begin: int) -> Any:
        bits = np.zeros(_WORD.width, np.uint8)
        part = source[begin : begin + width]
        there = (part != 0) & (part != 1) if odd else part > 0
        bits[: len(there)] = there
        return np.packbits(bits, bitorder="little").view(np.int64)[0]

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
        kind = ir.VectorType(_BYTE, width)
        compared = builder.icmp_unsigned if odd else builder.icmp_signed
        flags = compared(">", load_vector(builder, addressed(0, 1), kind), fill_vector(kind, int(odd)))
        members = builder.bitcast(flags, ir.IntType(width))
        return members if width == _WORD.width else builder.zext(members, _WORD)

    def loop(source, begin):  # pragma: no cover
        members = np.int64(0)
        for i in range(width):
            entry = source[begin + i]
            members |= np.int64((entry != 0 and entry != 1) if odd else entry > 0) << i
        return members

    return make_intrinsic(gather, lambda source, begin: types.int64(source, begin), code, loop)


def copier(width: int, plus: int = 0) -> Intrinsic:
    """Return `copy(out, at, source, begin)`, which copies `width` int8 entries and adds `plus` to each."""

    def copy(out: Any, at: int, source: Any, begin: int) -> None:
        there = source[begin : begin + width]
        _part(out, at, len(there))[:] = there + np.int8(plus)

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> None:  # pragma: no cover
        kind = ir.VectorType(_BYTE, width)
        value = load_vector(builder, addressed(2, 3), kind)
        _store(builder, builder.add(value, fill_vector(kind, plus)) if plus else value, addressed(0, 1))

    def loop(out, at, source, begin):  # pragma: no cover
        for i in range(width):
            out[at + i] = source[begin + i] + plus

    return make_intrinsic(copy, lambda out, at, source, begin: types.void(out, at, source, begin), code, loop)


def clearer(width: int) -> Intrinsic:
    """Return `clear(out, at)`, which sets `width` entries to 0."""

    def clear(out: Any, at: int) -> None:
        _part(out, at, width)[:] = 0

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> None:  # pragma: no cover
        first, done = addressed(0, 1), 0
        while done < width:
            size = min(64, 1 << (width - done).bit_length() - 1)
            _store(builder, fill_vector(ir.VectorType(_BYTE, size), 0), builder.gep(first, [_WORD(done)]))
            done += size

    def loop(out, at):  # pragma: no cover
        for i in range(width):
            out[at + i] = 0

    return make_intrinsic(clear, lambda out, at: types.void(out, at), code, loop)


def storer(width: int) -> Intrinsic:
    """Return `store(out, at, word)`, which writes the lowest `width` bytes of an integer, lowest byte first."""

    def store(out: Any, at: int, word: int) -> None:
        _part(out, at, width)[:] = np.array(word, np.int64).reshape(1).view(np.int8)[:width]

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> None:  # pragma: no cover
        word = whole(2)
        size = 8 * width
        _store(builder, word if size == _WORD.width else builder.trunc(word, ir.IntType(size)), addressed(0, 1))

    def loop(out, at, word):  # pragma: no cover
        for i in range(width):
            out[at + i] = word >> 8 * i & 255

    return make_intrinsic(store, lambda out, at, word: types.void(out, at, word), code, loop)


def byte_summer(width: int, loaded: int) -> Intrinsic:
    """Return `total(source, begin)`, which returns the sum of `width` int8 entries, int64. It must be at most 127.

    `loaded` is the number of entries to read, a power of two.
    """

    def total(source: Any, begin: int) -> Any:
        return source[begin : begin + width].sum(dtype=np.int64)

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
        kind = ir.VectorType(_BYTE, loaded)
        value = load_vector(builder, addressed(0, 1), kind)
        value = builder.and_(value, ir.Constant(kind, [-1] * width + [0] * (loaded - width)))
        return builder.zext(reduce_vector(builder, "add", value), _WORD)

    def loop(source, begin):  # pragma: no cover
        total = np.int64(0)
        for i in range(width):
            total += source[begin + i]
        return total

    return make_intrinsic(total, lambda source, begin: types.int64(source, begin), code, loop)


#: Shifts that exchange halves, quarters and eighths of a 64-bit integer, and masks for the bits that move down.
_HALVES = tuple(
    (np.uint64(shift), np.uint64(lower))
    for shift, lower in ((32, 0x00000000FFFFFFFF), (16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF))
)


def _reverse_bytes(word: int) -> Any:
    """Reverse the order of the eight bytes, int64."""
    return np.array(word, np.int64).byteswap()[()]


def _leading_zeros(word: int) -> Any:
    """Return the number of leading zero bits of a nonzero 64-bit integer, int64."""
    return np.int64(64 - (int(word) & (1 << 64) - 1).bit_length())


def _reverse_by_halves(word):  # pragma: no cover
    x = np.uint64(word)
    for shift, lower in _HALVES:
        x = (x >> shift & lower) | (x & lower) << shift
    return np.int64(x)


def _zeros_by_halves(word):  # pragma: no cover
    x, zeros = np.uint64(word), np.int64(0)
    for shift, _ in _HALVES:
        if x >> (np.uint64(64) - shift) == 0:
            zeros += np.int64(shift)
            x <<= shift
    for _ in range(7):
        if x >> np.uint64(63) == 0:
            zeros += 1
            x <<= np.uint64(1)
    return zeros


reverse_bytes = make_intrinsic(
    _reverse_bytes,
    lambda word: types.int64(types.int64),
    lambda builder, addressed, whole, arguments: builder.bswap(arguments[0]),
    _reverse_by_halves,
)
leading_zeros = make_intrinsic(
    _leading_zeros,
    lambda word: types.int64(types.int64),
    lambda builder, addressed, whole, arguments: builder.ctlz(arguments[0], _BIT(1)),
    _zeros_by_halves,
)


def prefetcher(lines: int) -> Intrinsic:
    """Return `prefetch(array, at)`, which prefetches cache lines of an array for writing, beginning at byte `at`."""

    def prefetch(array: Any, at: int) -> None:
        pass

    def code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> None:  # pragma: no cover
        first, number = addressed(0, 1), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        for line in range(lines):
            builder.call(function, [builder.gep(first, [_WORD(64 * line)]), number(1), number(3), number(1)])

    def loop(array, at):  # pragma: no cover
        pass

    return make_intrinsic(prefetch, lambda array, at: types.void(array, at), code, loop)
