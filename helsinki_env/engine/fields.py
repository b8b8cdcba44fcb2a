"""Declare the record of a game as a table of fields, from which everything else is derived.

The table provides the dtype of the record, blank records, the range of every field, kernels that clear or copy fields,
and the values of a position. `helsinki_env.engine.observation_table` derives the observation from the same fields.

Kernels are generated as source text and then compiled, similar to `__init__` in `dataclasses`. Tracebacks and compiler
messages show the generated lines, and `source_text` returns them.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.positions import bit_set, bounded_integer, bounded_integers, cell_list, distinct_integers

_INT8_MAX = 127


@dataclass(frozen=True)
class Digits:
    """Two entries that show a number: `number // base` and `number % base`, each plus an offset; zeros mean "none"."""

    names: tuple[str, str]
    base: int
    offsets: tuple[int, int]
    highs: tuple[int, int]


@dataclass(frozen=True)
class Field:
    """A field of the record.

    Args:
        name: name in the record.
        dtype: dtype of each number.
        shape: shape of the field, () for one number. If the first axis is `MAX_SEATS`, each seat has one row.
        empty: value that means "none" or "nothing", either -1 or 0. Observations show it as 0.
        low: smallest value, other than `empty`.
        high: largest value, or the name of an attribute of the component bounds.
        position_high: largest value that positions may contain, if it differs from `high`.
        scale: divisor for network inputs. The default is the largest value in an observation.
        key: name in observations and positions. The default is `name`.
        members: names of the members of a set (bit = index). Observations show the set as flags.
        options: number of possible values of a choice. Observations show the choice one-hot.
        digits: how observations split a large number into two entries.
        required: phases that require the field (pending fields only).
        optional: additional phases that allow the field (pending fields only).
        in_position: whether positions have a key for the field (pending fields only).
        is_setup: whether the field is a game option, which a new deal leaves unchanged.
        noun, plural: descriptions of one number and of all numbers, for error messages.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...] = ()
    empty: int = 0
    low: int = 0
    high: int | str = 1
    position_high: int | None = None
    scale: float | None = None
    key: str = ""
    members: tuple[str, ...] = ()
    options: int = 0
    digits: Digits | None = None
    required: tuple[int, ...] = ()
    optional: tuple[int, ...] = ()
    in_position: bool = True
    is_setup: bool = False
    noun: str = "a whole number"
    plural: str = ""

    @property
    def public_name(self) -> str:
        """The name of the field in observations and positions."""
        return self.key or self.name

    @property
    def is_by_seat(self) -> bool:
        """Whether each seat has its own row."""
        return self.shape[:1] == (MAX_SEATS,)

    @property
    def length(self) -> int:
        """Number of values; if each seat has its own row, the number of values in a row."""
        return int(np.prod(self.shape[self.is_by_seat :]))

    @property
    def is_flag(self) -> bool:
        """Whether the field is a flag, which is a boolean in positions."""
        return self.high == 1 and self.length == 1 and not self.members and not self.options

    @property
    def is_pending(self) -> bool:
        """Whether the field belongs to the operation in progress."""
        return bool(self.required or self.optional)

    def high_with(self, bounds: Any) -> Any:
        """Return the largest value, given the component bounds, or a sequence if each number has its own limit."""
        if self.members:
            return 2 ** len(self.members) - 1
        if self.options:
            return self.options - 1
        return getattr(bounds, self.high) if isinstance(self.high, str) else self.high

    # observations

    @property
    def entry_names(self) -> list[str]:
        """The names of the entries that show one number."""
        if self.digits:
            return list(self.digits.names)
        return [f"{self.public_name}_{member}" for member in self.members] or [self.public_name]

    @property
    def entries(self) -> int:
        """Number of entries in an observation; if each seat has its own row, the number of entries for a seat."""
        return self.length * (self.options or len(self.entry_names))

    def entry_highs(self, bounds: Any) -> npt.NDArray[Any]:
        """Return the largest value of each entry, (entries,)."""
        if self.digits:
            return np.array(self.digits.highs)
        if self.members or self.options:
            return np.ones(self.entries, int)
        highs = np.minimum(_INT8_MAX, np.ravel(self.high_with(bounds)) - self.empty)
        return np.broadcast_to(highs, self.entries)

    def entry_scales(self) -> npt.NDArray[Any]:
        """Return the divisor that normalizes each entry for networks, (entries,)."""
        return np.broadcast_to(self.entry_highs(None) if self.scale is None else self.scale, self.entries)

    # positions

    def to_json(self, p: SimpleNamespace, seat: int | None = None) -> Any:
        """Return the value in the form used in positions, for one seat if it is given."""
        value = getattr(p, self.name) if seat is None else getattr(p, self.name)[seat]
        if self.members:
            return cell_list(value)
        if self.is_flag:
            return bool(value)
        if self.empty and isinstance(value, list):
            return [None if number == self.empty else number for number in value]
        return None if self.empty and value == self.empty else value

    def from_json(self, entry: Node, bounds: Any, low: int | None = None) -> Any:
        """Return the value that an entry of a position holds. Error messages name the key of `entry`."""
        if self.members:
            return bit_set(distinct_integers(entry, self.noun, self.plural, len(self.members)))
        if self.is_flag:
            return int(entry.boolean())
        if self.empty and low is None and entry.value is None and self.length == 1:
            return self.empty
        low = self.low if low is None else low
        high = self.high_with(bounds) if self.position_high is None else self.position_high
        if self.length == 1:
            return bounded_integer(entry, self.noun, low, high)
        if self.empty:
            found = entry.entries(self.plural, length=self.length)
            return [self.empty if one.value is None else bounded_integer(one, self.noun, low, high) for one in found]
        return bounded_integers(entry, self.noun, self.plural, high, self.length, low=low)

    def is_empty(self, value: Any) -> bool:
        """Return whether a value, given as a number or a list, is empty."""
        return all(number == self.empty for number in value) if isinstance(value, list) else bool(value == self.empty)


# Generated kernels

_SOURCE_TEXTS: dict[str, str] = {}


def generate_kernel(text: str, names: Mapping[str, Any], table: str, file: str) -> Callable[..., Any]:
    """Compile the kernel that is defined by a source text.

    Args:
        text: source text of one function.
        names: global names that the function uses.
        table: module that declares the table.
        file: source file of that module, which identifies the cached machine code.
    """
    name = text.split()[1].partition("(")[0]
    source = f"<{table}: {name}>"
    linecache.cache[source] = (len(text), None, text.splitlines(keepends=True), source)
    _SOURCE_TEXTS[source] = text
    scope = {"np": np, **names, "__name__": table, "__generated_from__": (file, text)}
    exec(compile(text, source, "exec"), scope)
    made: Callable[..., Any] = kernel(scope[name])
    return made


def source_text(generated: Callable[..., Any]) -> str:
    """Return the source text of a generated kernel."""
    function = getattr(generated, "py_func", generated)
    return _SOURCE_TEXTS[function.__code__.co_filename]


def indented(lines: Iterable[str]) -> list[str]:
    """Return lines indented by one level."""
    return [f"    {line}" for line in lines]


def clear_lines(fields: Iterable[Field]) -> Iterator[str]:
    """Return the lines of a kernel that set fields of `g` to their empty values."""
    return (f"g.{field.name}{'[:]' if field.shape else ''} = {field.empty}" for field in fields)


class RecordTable:
    """The fields of a game's record.

    Args:
        module, file: name and source file of the module that declares the table.
        fields: the fields, in any order. The record stores fields with wider dtypes first.
        padding: minimum number of bytes after the fields. A record always fills whole cache lines.
    """

    def __init__(self, module: str, file: str, fields: Sequence[Field], padding: int = 0) -> None:
        self.module, self.file = module, file
        self.fields = {field.name: field for field in fields}
        setup = [field.name for field in fields if field.is_setup]
        self.setup = tuple(sorted(setup, key=lambda name: name != "players"))
        self.pending = {field.public_name: field for field in fields if field.is_pending}
        wide_first = sorted(fields, key=lambda field: -np.dtype(field.dtype).itemsize)
        layout: list[Any] = [(field.name, field.dtype, field.shape) for field in wide_first]
        size = -np.dtype(layout).itemsize % 64 + padding
        layout += [("pad", np.uint8, (size,))] if size else []
        # Fields are naturally aligned in this order. NumPy and Numba use aligned access only if the dtype is aligned.
        self.dtype = np.dtype((np.record, np.dtype(layout, align=True)))

    def __getitem__(self, name: str) -> Field:
        """Return a field by name."""
        return self.fields[name]

    def new_states(self, count: int) -> npt.NDArray[Any]:
        """Return `count` blank records, (count,)."""
        states = np.zeros(count, self.dtype)
        for field in self.fields.values():
            if field.empty:
                states[field.name] = field.empty
        return states

    def ranges(self, bounds: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the smallest and the largest value of every field, as two record arrays of shape (1,)."""
        lows, highs = self.new_states(1), self.new_states(1)
        for field in self.fields.values():
            lows[field.name] = field.empty or field.low
            highs[field.name] = field.high_with(bounds)
        if "pad" in (self.dtype.names or ()):
            highs["pad"] = 255
        return lows, highs

    def kernel(self, head: str, lines: Iterable[str], names: Mapping[str, Any] | None = None) -> Callable[..., Any]:
        """Return the kernel with the given head and body lines."""
        text = "\n".join([head, *indented([*lines] or ["pass"])]) + "\n"
        return generate_kernel(text, names or {}, self.module, self.file)

    @cached_property
    def clear(self) -> Callable[..., Any]:
        """`clear(g)`: set all fields except the game options to their empty values."""
        return self.kernel("def clear(g):", clear_lines(field for field in self.fields.values() if not field.is_setup))

    def clear_pending(self, *phases: int) -> Callable[..., Any]:
        """Return a kernel that clears the pending fields of `g` that occur only in these phases; by default, all."""
        ending = [
            field for field in self.pending.values() if not phases or {*field.required, *field.optional} <= {*phases}
        ]
        return self.kernel(f"def clear_pending{''.join(f'_{phase}' for phase in phases)}(g):", clear_lines(ending))

    @cached_property
    def copy_setup(self) -> Callable[..., Any]:
        """`copy_setup(g, setup)`: copy the game options from a record that has these fields."""
        lines = []
        for field in (self.fields[name] for name in self.setup):
            if field.shape:
                lines += [f"for i in range({field.shape[0]}):", f"    g.{field.name}[i] = setup.{field.name}[i]"]
            else:
                lines += [f"g.{field.name} = setup.{field.name}"]
        return self.kernel("def copy_setup(g, setup):", lines)

    @cached_property
    def fits_phase(self) -> Callable[..., Any]:
        """`fits_phase(g)`: return whether the pending fields are set as the phase requires and allows."""

        def lines() -> Iterator[str]:
            yield "phase = 1 << np.int64(g.phase)"
            for field in self.pending.values():
                present = f"g.{field.name} != {field.empty}"
                required, optional = (sum(1 << phase for phase in some) for some in (field.required, field.optional))
                if field.shape:
                    yield "present = False"
                    yield f"for i in range({field.length}):"
                    yield f"    present |= g.{field.name}[i] != {field.empty}"
                    present = "present"
                yield f"if not phase & ({required | optional} if {present} else {(1 << 32) - 1 & ~required}):"
                yield "    return False"
                if field.digits:
                    yield f"if g.{field.name} < {field.empty}:"
                    yield "    return False"
            yield "return True"

        return self.kernel("def fits_phase(g):", lines())

    # positions

    def pending_to_json(self, p: SimpleNamespace, **writers: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the pending fields that are not empty, by key. `writers` convert the values of some keys."""
        found = {}
        for key, field in self.pending.items():
            value = getattr(p, field.name)
            if field.in_position and not field.is_empty(value):
                found[key] = writers[key](value) if key in writers else field.to_json(p)
        return found

    def pending_from_json(
        self, p: SimpleNamespace, data: Node, phases: Sequence[str], bounds: Any, **readers: Callable[[Node], Any]
    ) -> None:
        """Read the pending fields into `p`.

        Args:
            p: the record, whose phase is already set.
            data: the pending fields, by key.
            phases: names of the phases.
            bounds: component bounds.
            readers: functions for some keys, which either return the value, or write it into `p` and return None. If
                such a key is not a pending field, it is allowed in every phase.
        """
        stated = {key: field for key, field in self.pending.items() if field.in_position}
        required = {key for key, field in stated.items() if p.phase in field.required}
        allowed = {key for key, field in stated.items() if p.phase in field.optional} | required
        allowed |= readers.keys() - stated.keys()
        for key, entry in data.items():
            if key not in allowed:
                entry.fail(f"in phase {phases[p.phase]} only the keys {', '.join(sorted(allowed))}".strip())
            if key in readers:
                value = readers[key](entry)
                if value is not None:
                    setattr(p, stated[key].name, value)
                continue
            field = stated[key]
            value = field.from_json(entry, bounds, field.empty + 1 if field.length == 1 else None)
            if field.is_empty(value):
                entry.fail(f"{'true' if field.is_flag else f'at least one {field.noun.split()[1]}'}, or no such key")
            setattr(p, field.name, value)
        for key in sorted(required):
            if not data[key].is_present:
                data[key].fail(f"this key, which phase {phases[p.phase]} requires")
