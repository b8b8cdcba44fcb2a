"""Whether counts agree with probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

__all__ = ["chi_square", "far_from_uniform"]


def chi_square(counts: Mapping[Any, float], expected: Mapping[Any, float]) -> float:
    """Return the distance of counts from their expectations, in standard deviations of a chi square test."""
    freedom = len(expected) - 1
    value = sum((counts.get(key, 0.0) - n) ** 2 / n for key, n in expected.items())
    return float((value - freedom) / (2 * freedom) ** 0.5)


def far_from_uniform(values: Iterable[Hashable], among: int) -> float:
    """Return the distance of counts from equal shares of `among` values, in the same unit."""
    counts = Counter(values)
    assert len(counts) <= among
    each = sum(counts.values()) / among
    return chi_square(dict(enumerate(counts.values())), dict.fromkeys(range(among), each))
