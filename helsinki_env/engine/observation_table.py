"""Define the observation of a seat as a table of sections, each of which shows fields of the record.

The table provides the layout of the observation, the largest value and the divisor of each entry, and three kernels:
`write` writes the fields with SIMD operations, `write_part` writes the share of one GPU lane, and `read` reads the
fields back. Sections without fields, such as the boards, are written by the game itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.bits import lowest_bit
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.fields import Field, RecordTable, clear_lines, indented
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import ObservationLayout, make_layout
from helsinki_env.engine.vectors import clearer, copier, gatherer, spreader, storer

_WIDTHS = (1, 2, 4, 8, 16)
_NEXT_SEAT = "seat = seat + 1 if seat + 1 < players else np.int64(0)"


@dataclass(frozen=True)
class Computed:
    """An entry computed from an expression in `t`, `g`, `viewer` and, in a section with a row for each seat, `seat`."""

    name: str
    expression: str
    high: int | str = 1
    scale: float | None = None
    entries = 1

    @property
    def entry_names(self) -> list[str]:
        """The name of the entry, as a list."""
        return [self.name]

    def entry_highs(self, bounds: Any) -> npt.NDArray[Any]:
        """Return the largest value of the entry, shape (1,)."""
        return np.array([getattr(bounds, self.high) if isinstance(self.high, str) else self.high])

    def entry_scales(self) -> npt.NDArray[Any]:
        """Return the divisor that normalizes the entry for networks, shape (1,)."""
        return np.array([self.high if self.scale is None else self.scale])


@dataclass(frozen=True)
class Section:
    """A section of the observation.

    Args:
        name: name of the section.
        description: description for the documentation, in which `{}` is replaced by the names of the entries.
        shows: one field, or several fields and computed entries; () if the game writes the section.
        shape: shape of the section. By default, it is derived from the fields.
        high, scale: largest value and divisor of the entries, for a section that the game writes.
        own: whether the section shows only the viewer's row of a field that has a row for each seat.
    """

    name: str
    description: str
    shows: str | tuple[str | Computed, ...] = ()
    shape: tuple[int, ...] = ()
    high: Any = 1
    scale: Any = 1
    own: bool = False


def boards_section(planes: Sequence[str], rows: int, columns: int, last_code: int, tiles: int) -> Section:
    """Return the section of all boards: a plane of tile codes, a plane of tile numbers, and two planes of flags.

    Args:
        planes: names of the four planes.
        rows: number of rows of a board.
        columns: number of columns of a board.
        last_code: largest tile code.
        tiles: maximum number of numbered tiles on a board.
    """
    return Section(
        "boards",
        "every board: planes " + ", ".join(planes),
        shape=(MAX_SEATS, len(planes), rows, columns),
        high=np.reshape([last_code, tiles, 1, 1], (4, 1, 1)),  # by plane
        scale=np.reshape([last_code, 12, 1, 1], (4, 1, 1)),
    )


_spread_codes, _spread_numbers = spreader(64, 3), spreader(64, 5)
_spread_flags, _spread_half = spreader(64), spreader(32)


@kernel
def write_planes(out, at, size, codes, numbers, marks, coats):
    """Write the planes of a board of `size` cells with SIMD operations, without writing beyond them.

    `codes` and `numbers` contain one set of cells for each bit; `marks` and `coats` are sets of cells.
    """
    _spread_codes(out, at, codes)
    _spread_numbers(out, at + size, numbers)
    _spread_flags(out, at + 2 * size, (marks,))
    _spread_half(out, at + 3 * size, (coats,))
    _spread_half(out, at + 4 * size - 32, (coats >> (size - 32),))


@kernel
def write_planes_part(out, at, size, codes, numbers, marks, coats, lane, lanes):
    """Write one lane's share of the entries of `write_planes`."""
    (c0, c1, c2), (n0, n1, n2, n3, n4) = codes, numbers
    for cell in range(lane, size, lanes):
        out[at + cell] = c0 >> cell & 1 | (c1 >> cell & 1) << 1 | (c2 >> cell & 1) << 2
        digits = n0 >> cell & 1 | (n1 >> cell & 1) << 1 | (n2 >> cell & 1) << 2
        out[at + size + cell] = digits | (n3 >> cell & 1) << 3 | (n4 >> cell & 1) << 4
        out[at + 2 * size + cell] = marks >> cell & 1
        out[at + 3 * size + cell] = coats >> cell & 1


class ObservationTable:
    """The sections of an observation, with the kernels that write and read them.

    Args:
        record: the fields of the record.
        sections: the sections, in order.
        functions: kernels that computed entries may call, by name.
    """

    def __init__(
        self, record: RecordTable, sections: Sequence[Section], functions: Mapping[str, Any] | None = None
    ) -> None:
        self.record, self.functions = record, dict(functions or {})
        self._sections: list[_Section] = []
        self._highs: dict[Any, npt.NDArray[np.uint8]] = {}
        entries: list[tuple[str, tuple[int, ...], str]] = []
        for section in sections:
            names = (section.shows,) if isinstance(section.shows, str) else section.shows
            parts = tuple(record[name] if isinstance(name, str) else name for name in names)
            self._sections.append(_Section(section, parts, record))
            entries.append((section.name, self._sections[-1].shape, section.description))
        entries = [
            (name, shape, description.format(", ".join(self.entry_names(name)))) for name, shape, description in entries
        ]
        self.layout: ObservationLayout = make_layout(entries)
        for one in self._sections:
            one.place(self.layout[one.section.name].start, self.layout.size)

    def entry_names(self, section: str) -> tuple[str, ...]:
        """Return the names of the entries that a section has for one seat."""
        parts = next(one.parts for one in self._sections if one.section.name == section)
        return tuple(name for part in parts for name in part.entry_names)

    def highs(self, bounds: Any) -> npt.NDArray[np.uint8]:
        """Return the largest value of each entry, (F,), given the component bounds. The smallest is 0."""
        if bounds not in self._highs:
            parts = [
                one.filled(one.section.high, [part.entry_highs(bounds) for part in one.parts]) for one in self._sections
            ]
            self._highs[bounds] = np.concatenate(parts).astype(np.uint8)
        return self._highs[bounds]

    def scales(self) -> npt.NDArray[np.float32]:
        """Return the divisor that normalizes each entry for networks, (F,)."""
        return np.concatenate(
            [one.filled(one.section.scale, [part.entry_scales() for part in one.parts]) for one in self._sections]
        ).astype(np.float32)

    def entry_name(self, entry: int) -> str:
        """Return the section and the indices of an entry, such as ``table[3]``."""
        field = next(field for field in reversed(self.layout.fields) if field.start <= entry)
        return f"{field.name}{[int(i) for i in np.unravel_index(entry - field.start, field.shape)]}"

    # kernels

    def _kernel(self, head: str, lines: Iterator[str]) -> Callable[..., Any]:
        operations = {f"copy_{width}": copier(width) for width in _WIDTHS}
        operations |= {f"copy_{width}_codes": copier(width, plus=1) for width in _WIDTHS}
        operations |= {f"copy_{width}_indices": copier(width, plus=-1) for width in _WIDTHS}
        operations |= {f"clear_{width}": clearer(width) for width in _WIDTHS}
        operations |= {"spread_16": spreader(16), "store_4": storer(4), "store_8": storer(8)}
        operations |= {"gather_16": gatherer(16), "lowest_bit": lowest_bit}
        return self.record.kernel(head, lines, operations | self.functions)

    @property
    def _shown(self) -> list[_Section]:
        return [one for one in self._sections if one.parts]

    @cached_property
    def write(self) -> Callable[..., Any]:
        """`write(t, g, viewer, out, dealt)`: write the sections that show fields; if `dealt`, also clear unused seats.

        Up to 15 entries after a section may be overwritten, so the game must write its own later sections afterward.
        """

        def lines() -> Iterator[str]:
            yield "players, seat = np.int64(g.players), np.int64(viewer)"
            yield "if dealt:"
            yield f"    for turn in range(players, {MAX_SEATS}):"
            for one in self._shown:
                if one.is_by_seat:
                    yield from indented(indented(_clear(one.at_turn, one.per_seat, one.room)))
            for one in self._shown:
                if not one.is_by_seat:
                    yield from one.write_lines(str(one.start))
                    continue
                yield "for turn in range(players):"
                yield from indented([*one.write_lines(one.at_turn), _NEXT_SEAT])
                if one.overruns:
                    yield f"if players < {MAX_SEATS}:"
                    yield from indented(_clear(f"{one.start} + {one.per_seat} * players", one.per_seat, one.room))

        return self._kernel("def write(t, g, viewer, out, dealt):", lines())

    @cached_property
    def write_part(self) -> Callable[..., Any]:
        """`write_part(t, g, viewer, out, lane, lanes)`: write one lane's share of the entries of `write`."""

        def lines() -> Iterator[str]:
            singles: list[str] = []
            for one in self._shown:
                if one.is_by_seat and len(one.parts) == 1:
                    yield f"for entry in range(lane, {MAX_SEATS * one.per_seat}, lanes):"
                    yield f"    turn, i = entry // {one.per_seat}, entry % {one.per_seat}"
                    yield "    seat = (np.int64(viewer) + turn) % np.int64(g.players)"
                    yield f"    out[{one.start} + entry] = {one.entry_value} if turn < g.players else 0"
                elif one.is_by_seat:
                    yield f"for turn in range(lane, {MAX_SEATS}, lanes):"
                    yield "    if turn < g.players:"
                    yield "        seat = (np.int64(viewer) + turn) % np.int64(g.players)"
                    yield from indented(indented(one.plain_lines(one.at_turn)))
                    yield "    else:"
                    yield f"        for i in range({one.per_seat}):"
                    yield f"            out[{one.at_turn} + i] = 0"
                elif len(one.parts) == 1 and one.per_seat > 1:
                    yield from one.plain_lines(str(one.start), "lane", "lanes")
                else:
                    singles += one.plain_lines(str(one.start))
            yield "if lane == 0:"
            yield from indented(singles)

        return self._kernel("def write_part(t, g, viewer, out, lane, lanes):", lines())

    @cached_property
    def read(self) -> Callable[..., Any]:
        """`read(g, obs, players, viewer)`: fill a record from an observation; fields that are not shown become empty.

        If only one of the two digits of a number is set, the number becomes -2, which fits no phase. Sets are read 16
        entries at a time, so a set must not begin in the last 15 entries.
        """

        def lines() -> Iterator[str]:
            common = [one for one in self._shown if not one.is_by_seat]
            complete = {field.name for one in common if not one.section.own for field in one.fields}
            yield from clear_lines(field for name, field in self.record.fields.items() if name not in complete)
            yield "seat = viewer"
            yield "for turn in range(players):"
            for one in self._shown:
                if one.is_by_seat:
                    yield from indented(one.read_lines(one.at_turn))
            yield f"    {_NEXT_SEAT}"
            for one in common:
                yield from one.read_lines(str(one.start))

        return self._kernel("def read(g, obs, players, viewer):", lines())


class _Section:
    """A section with its parts. `start` is its first entry, and `size` the length of the whole observation."""

    def __init__(self, section: Section, parts: tuple[Field | Computed, ...], record: RecordTable) -> None:
        self.section, self.parts, self.record = section, parts, record
        self.fields = [part for part in parts if isinstance(part, Field)]
        self.is_by_seat = not section.own and any(field.is_by_seat for field in self.fields)
        self.per_seat = sum(part.entries for part in parts)
        shape = (MAX_SEATS, self.per_seat) if self.is_by_seat else (self.per_seat,)
        self.shape = section.shape or shape
        self.start = self.size = 0

    def place(self, start: int, size: int) -> None:
        """Set the first entry of the section and the length of the whole observation."""
        self.start, self.size = start, size

    @property
    def at_turn(self) -> str:
        """Expression for the first entry of the seat that is `turn` seats after the viewer."""
        return f"{self.start} + {self.per_seat} * turn"

    @property
    def room(self) -> int:
        """Number of entries from the row of the last seat to the end of the observation."""
        return self.size - self.start - (MAX_SEATS - 1) * self.per_seat * self.is_by_seat

    @property
    def overruns(self) -> bool:
        """Whether writing a seat may set entries beyond its row to nonzero values."""
        return any(field.length > 1 for field in self.fields)

    def _readable(self, field: Field) -> int:
        """Return the number of bytes from the last seat's row of a field to the end of the record."""
        dtype = self.record.dtype
        assert dtype.fields is not None
        assert dtype[field.name].base.itemsize == 1
        last_row = (MAX_SEATS - 1) * field.length * field.is_by_seat
        return dtype.itemsize - dtype.fields[field.name][1] - last_row

    def filled(self, default: Any, of_parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return a value for each entry: `default`, or the values of the parts if there are any, for each seat."""
        size = int(np.prod(self.shape))
        if not of_parts:
            return np.ravel(np.broadcast_to(default, self.shape))
        values = np.concatenate(of_parts)
        return np.tile(values, size // len(values))

    def _placed(self, at: str) -> Iterator[tuple[str, str, Field | Computed]]:
        """Yield (first entry, expression, part) for each part."""
        done = 0
        for part in self.parts:
            if isinstance(part, Computed):
                yield _plus(at, done), part.expression, part
            else:
                index = "[viewer]" if self.section.own else "[seat]" if self.is_by_seat and part.is_by_seat else ""
                yield _plus(at, done), f"g.{part.name}{index}", part
            done += part.entries

    def write_lines(self, at: str) -> Iterator[str]:
        """Return the lines that write the section with SIMD operations."""
        if len(self.parts) > 1:
            values = [value for _, value, part in self._placed(at) for value in _values(value, part)]
            yield from _packed(at, values)
            return
        for where, value, part in self._placed(at):
            if isinstance(part, Computed) or part.entries == 1 or part.digits:
                yield from _single_entries(where, value, part)
            elif part.length > 1:
                suffix = "_codes" if part.empty else ""
                for done, width in _widths(part.length, min(self.room, self._readable(part))):
                    yield f"copy_{width}{suffix}(out, {_plus(where, done)}, {value}, {done})"
            elif part.entries == 4 and part.members:
                bits = " | ".join(f"(np.int64({value}) >> {i} & 1) << {8 * i}" for i in range(4))
                yield f"store_4(out, {where}, {bits})"
            else:
                members = f"np.int64(1) << np.int64({value})" if part.options else f"np.int64({value})"
                yield f"spread_16(out, {where}, ({members},))"

    def plain_lines(self, at: str, first: str = "0", step: str = "1") -> list[str]:
        """Return the lines that write the section entry by entry: all entries, or the share of a lane."""
        return [
            line for where, value, part in self._placed(at) for line in _single_entries(where, value, part, first, step)
        ]

    @property
    def entry_value(self) -> str:
        """Expression for entry `i` of a seat, if the section shows a single field with a row for each seat."""
        field = self.fields[0]
        if field.members:
            return f"np.int64(g.{field.name}[seat]) >> i & 1"
        return _plus(f"g.{field.name}[seat, i]", -field.empty)

    def read_lines(self, at: str) -> Iterator[str]:
        """Return the lines that read the fields of the section."""
        for where, value, part in self._placed(at):
            if isinstance(part, Field):
                yield from _read(where, value, part)


def _widths(entries: int, room: int) -> Iterator[tuple[int, int]]:
    """Split entries into blocks (offset, width) whose widths are powers of two; the last may extend into the room."""
    done = 0
    while done < entries:
        width = min(_WIDTHS[-1], 1 << (entries - done - 1).bit_length())
        if width > room - done:
            width = 1 << (entries - done).bit_length() - 1
        yield done, width
        done += width


def _plus(text: str, number: int) -> str:
    if text.isdigit():
        return str(int(text) + number)
    return f"{text} + {number}" if number > 0 else f"{text} - {-number}" if number else text


def _item(value: str, index: str) -> str:
    """Return the expression for an element of a field or of a row of a field."""
    return f"{value[:-1]}, {index}]" if value.endswith("]") else f"{value}[{index}]"


def _clear(at: str, entries: int, room: int) -> Iterator[str]:
    return (f"clear_{width}(out, {_plus(at, done)})" for done, width in _widths(entries, room))


def _packed(at: str, values: list[str]) -> Iterator[str]:
    """Return the lines that write small numbers, eight per store, and the remaining numbers one by one."""
    for done in range(0, len(values), 8):
        some = values[done : done + 8]
        if len(some) < 8:
            yield from (f"out[{_plus(at, done + i)}] = {value}" for i, value in enumerate(some))
        else:
            yield f"word = np.int64({some[0]})"
            yield from (f"word |= np.int64({value}) << {8 * i}" for i, value in enumerate(some) if i)
            yield f"store_8(out, {_plus(at, done)}, word)"


def _values(value: str, part: Field | Computed) -> list[str]:
    """Return the expressions for the entries that show one number."""
    if isinstance(part, Computed):
        return [value]
    if part.digits:
        base, (high, low) = part.digits.base, part.digits.offsets
        return [
            f"{value} // {base} + {high} if {value} >= 0 else 0",
            f"{value} % {base} + {low} if {value} >= 0 else 0",
        ]
    if part.members:
        return [f"np.int64({value}) >> {i} & 1" for i in range(part.entries)]
    if np.dtype(part.dtype).itemsize > 1:
        return [f"min(127, {_plus(f'np.int64({value})', -part.empty)})"]
    return [_plus(value, -part.empty)]


def _single_entries(at: str, value: str, part: Field | Computed, first: str = "0", step: str = "1") -> Iterator[str]:
    """Return the lines that write one entry at a time: all entries, or every `step`-th entry from `first`."""
    steps = f"range({first}, {part.entries}, {step})" if step != "1" else f"range({part.entries})"
    if isinstance(part, Field) and (part.length > 1 or part.options):
        number = f"i == {value}" if part.options else _plus(_item(value, "i"), -part.empty)
        yield f"for i in {steps}:"
        yield f"    out[{at} + i] = {number}"
    elif isinstance(part, Field) and part.members and step != "1":
        yield f"for i in {steps}:"
        yield f"    out[{at} + i] = np.int64({value}) >> i & 1"
    else:
        yield from (f"out[{_plus(at, i)}] = {one}" for i, one in enumerate(_values(value, part)))


def _read(at: str, value: str, part: Field) -> Iterator[str]:
    """Return the lines that read a field."""
    if part.digits:
        base, (high, low) = part.digits.base, part.digits.offsets
        yield f"first, second = np.int64(obs[{at}]) - {high}, np.int64(obs[{_plus(at, 1)}]) - {low}"
        yield f"{value} = {base} * first + second if first >= 0 and second >= 0 else -1"
        yield f"if {value} < 0 and (obs[{at}] != 0 or obs[{_plus(at, 1)}] != 0):"
        yield f"    {value} = -2  # one digit without the other: fits no phase"
    elif part.options:
        yield f"{value} = lowest_bit(gather_16(obs, {at}) & {2**part.options - 1})"
    elif part.members:
        yield f"{value} = gather_16(obs, {at}) & {2**part.entries - 1}"
    elif part.length > 1:
        suffix = "_indices" if part.empty else ""
        for done, width in _widths(part.length, part.length):
            yield f"copy_{width}{suffix}({value}, {done}, obs, {_plus(at, done)})"
    else:
        yield f"{value} = {_plus(f'obs[{at}]', part.empty)}"
