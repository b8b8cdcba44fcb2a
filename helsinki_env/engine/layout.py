"""Describe the layouts of observations and actions: offsets, meanings, and documentation pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "ActionTable",
    "ObservationField",
    "ObservationLayout",
    "action_table_lines",
    "make_layout",
    "observation_page",
    "unpack_seat_sets",
]


@dataclass(frozen=True)
class ObservationField:
    """A named field of the observation, with its offset, shape and meaning."""

    name: str
    start: int
    shape: tuple[int, ...]
    description: str

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))

    @property
    def slice(self) -> slice:
        """The slice of the observation that holds the field."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class ObservationLayout:
    """The fields of an observation, in order. `size` is the length of the observation, F."""

    fields: tuple[ObservationField, ...]
    size: int

    def __getitem__(self, name: str) -> ObservationField:
        """Return a field by name. Raise KeyError if the name is unknown."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"{name!r}: the fields are {', '.join(field.name for field in self.fields)}")

    @property
    def starts(self) -> dict[str, int]:
        """Offset of each field, by name."""
        return {field.name: field.start for field in self.fields}

    def unpack(self, obs: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Return the fields of an observation (F,) or a batch (..., F) as views of shape (..., *field shape)."""
        lead = obs.shape[:-1]
        return {field.name: obs[..., field.slice].reshape(*lead, *field.shape) for field in self.fields}

    def markdown(self) -> str:
        """Return the Markdown table of the fields, for the documentation."""
        lines = ["| field | entries | shape | meaning |", "| --- | --- | --- | --- |"]
        for field in self.fields:
            where = f"{field.start} to {field.start + field.size - 1}"
            lines.append(f"| `{field.name}` | {where} | {field.shape} | {field.description} |")
        return "\n".join(lines) + "\n"


def make_layout(fields: Iterable[tuple[str, tuple[int, ...], str]]) -> ObservationLayout:
    """Return the layout of consecutive fields, given as (name, shape, meaning)."""
    placed: list[ObservationField] = []
    start = 0
    for name, shape, meaning in fields:
        placed.append(ObservationField(name, start, shape, meaning))
        start += placed[-1].size
    return ObservationLayout(tuple(placed), start)


def unpack_seat_sets(
    flags: npt.NDArray[np.int8], shape: tuple[int, ...], viewers: npt.NDArray[np.int64], seats: int
) -> npt.NDArray[np.int16]:
    """Return one set for each seat, int16 (B, seats), with bit i for member i.

    Args:
        flags: flags of the members for each seat, beginning with the viewer, int8 (B, 4 n).
        shape: shape of a row, (4, n), where n is at most 15.
        viewers: observing seats, int64 (B,).
        seats: number of seats.
    """
    sets = (flags.reshape(-1, *shape)[:, :seats] > 0) @ (1 << np.arange(shape[1]))
    from_viewer = (np.arange(seats) - viewers[:, None]) % seats
    by_seat: npt.NDArray[np.int16] = np.take_along_axis(sets, from_viewer, axis=1).astype(np.int16)
    return by_seat


@dataclass(frozen=True)
class ActionTable:
    """The mapping between integers and actions, ``id = offset(kind) + argument``.

    Attributes:
        kinds: names of the action kinds, in id order.
        sizes: number of actions of each kind.
    """

    kinds: tuple[str, ...]
    sizes: tuple[int, ...]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The first id of each kind."""
        return tuple(sum(self.sizes[:kind]) for kind in range(len(self.sizes)))

    @cached_property
    def size(self) -> int:
        """Number of ids."""
        return sum(self.sizes)

    @cached_property
    def kind_of(self) -> npt.NDArray[np.int16]:
        """The kind of every id, shape (size,)."""
        return np.repeat(np.arange(len(self.kinds), dtype=np.int16), self.sizes)

    def encode(self, kind: int, argument: int = 0) -> int:
        """Return the id of an action. Raise ValueError if the argument is out of range for the kind."""
        if not 0 <= argument < self.sizes[kind]:
            raise ValueError(f"{self.kinds[kind]} takes an argument from 0 to {self.sizes[kind] - 1}, not {argument}")
        return self.offsets[kind] + argument

    def decode(self, action: int) -> tuple[int, int]:
        """Return the (kind, argument) of an id. Raise ValueError if the id is out of range."""
        if not 0 <= action < self.size:
            raise ValueError(f"action {action} does not exist: ids run from 0 to {self.size - 1}")
        kind = int(self.kind_of[action])
        return kind, action - self.offsets[kind]


def action_table_lines(
    kinds: Iterable[tuple[str, int]], arguments: Mapping[str, str], action_to_string: Callable[[int], str]
) -> list[str]:
    """Return the Markdown table of action kinds, given each kind's number of ids and the meaning of its argument."""
    lines = ["| kind | ids | argument | first and last as text |", "| --- | --- | --- | --- |"]
    first = 0
    for name, size in kinds:
        last = first + size - 1
        ids = f"{first} to {last}" if last > first else f"{first}"
        texts = dict.fromkeys(f"`{action_to_string(action)}`" for action in (first, last))
        lines.append(f"| {name} | {ids} | {arguments[name]} | {', '.join(texts)} |")
        first += size
    return lines


def observation_page(title: str, layout: ObservationLayout, unpack: str, notes: Iterable[str] = ()) -> str:
    """Return the Markdown page that lists the fields of the observation."""
    lines = [
        f"# {title}",
        "",
        "Generated by `python -m helsinki_env.pages docs`. An observation is a flat `int8` array of",
        f"{layout.size} entries, as seen from one seat. Seats come in the order self, next clockwise, and so on;",
        "unused seats are zero.",
        "No entry is negative: codes are shifted by one, so that 0 means none.",
        f"`{unpack}(obs)` returns the fields by name as views of these shapes.",
        "",
        layout.markdown(),
        *notes,
    ]
    return "\n".join(lines) + "\n"
