"""Named counts of events, such as replaced actions or calls of a model, which are added up over runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from helsinki_env.data import Node

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts:
    """Base class; every field of a subclass is a count with the default 0. It is false if all counts are 0."""

    def __bool__(self) -> bool:
        return bool(self.to_dict())

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return sum(self.to_dict().values())

    def add(self, other: Self, sign: int = 1) -> Self:
        """Return the sum of both, or their difference if `sign` is -1."""
        names = [field.name for field in fields(self)]
        return type(self)(*(getattr(self, name) + sign * getattr(other, name) for name in names))

    def to_dict(self) -> dict[str, int]:
        """Return the nonzero counts as a dictionary."""
        return {field.name: count for field in fields(self) if (count := getattr(self, field.name))}

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Self:
        """Create an instance from a mapping that may have other keys."""
        return cls(**{field.name: data[field.name] for field in fields(cls) if field.name in data})

    @classmethod
    def read(cls, data: Node) -> Self:
        """Create an instance from a mapping of a file; raise the node's error if a value is not a count."""
        return cls(*(data.get(field.name, 0).integer(0) for field in fields(cls)))
