"""Layout of the observation, a flat array: offset, shape and meaning of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Layout", "Piece", "layout_of"]


@dataclass(frozen=True)
class Piece:
    """A named field of the observation: offset, shape and meaning."""

    name: str
    start: int
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))

    @property
    def slice(self) -> slice:
        """The slice of the field."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class Layout:
    """The fields of an observation in order; `size` is its length F."""

    pieces: tuple[Piece, ...]
    size: int

    def __getitem__(self, name: str) -> Piece:
        """Return a field by name; KeyError for an unknown name."""
        for piece in self.pieces:
            if piece.name == name:
                return piece
        raise KeyError(f"{name!r}: the pieces are {', '.join(piece.name for piece in self.pieces)}")

    @property
    def starts(self) -> dict[str, int]:
        """Offset of each field, by name."""
        return {piece.name: piece.start for piece in self.pieces}

    def split(self, obs: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Return the fields of an observation (F,) or a batch (..., F) as views of shape (..., *field shape)."""
        lead = obs.shape[:-1]
        return {piece.name: obs[..., piece.slice].reshape(*lead, *piece.shape) for piece in self.pieces}

    def markdown(self) -> str:
        """Return the table of fields for the documentation."""
        lines = ["| piece | entries | shape | meaning |", "| --- | --- | --- | --- |"]
        for piece in self.pieces:
            where = f"{piece.start} to {piece.start + piece.size - 1}"
            lines.append(f"| `{piece.name}` | {where} | {piece.shape} | {piece.meaning} |")
        return "\n".join(lines) + "\n"


def layout_of(pieces: Iterable[tuple[str, tuple[int, ...], str]]) -> Layout:
    """Return the layout of consecutive fields, given name, shape and meaning of each."""
    placed: list[Piece] = []
    start = 0
    for name, shape, meaning in pieces:
        placed.append(Piece(name, start, shape, meaning))
        start += placed[-1].size
    return Layout(tuple(placed), start)
