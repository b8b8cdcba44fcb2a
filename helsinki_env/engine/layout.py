"""Layout of the observation, a flat array: offset, shape and meaning of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ObservationField", "ObservationLayout", "make_layout"]


@dataclass(frozen=True)
class ObservationField:
    """A named field of the observation: offset, shape and meaning."""

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
        """The slice of the field."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class ObservationLayout:
    """The fields of an observation in order; `size` is its length F."""

    fields: tuple[ObservationField, ...]
    size: int

    def __getitem__(self, name: str) -> ObservationField:
        """Return a field by name; KeyError for an unknown name."""
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
        """Return the table of fields for the documentation."""
        lines = ["| field | entries | shape | meaning |", "| --- | --- | --- | --- |"]
        for field in self.fields:
            where = f"{field.start} to {field.start + field.size - 1}"
            lines.append(f"| `{field.name}` | {where} | {field.shape} | {field.description} |")
        return "\n".join(lines) + "\n"


def make_layout(fields: Iterable[tuple[str, tuple[int, ...], str]]) -> ObservationLayout:
    """Return the layout of consecutive fields, given name, shape and meaning of each."""
    placed: list[ObservationField] = []
    start = 0
    for name, shape, meaning in fields:
        placed.append(ObservationField(name, start, shape, meaning))
        start += placed[-1].size
    return ObservationLayout(tuple(placed), start)
