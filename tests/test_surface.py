"""Users see what the golden files say: help, errors, names, observations, records, drawings and a report."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.support import surface

#: Plays games in processes of its own. `test_balance.py` checks the words of reports with every change.
_SLOW = {"study.md"}
FILES = [
    pytest.param(path, make, marks=[pytest.mark.nightly] if path.name in _SLOW else [], id=path.name)
    for path, make in surface.golden_files()
]


@pytest.mark.parametrize(("path", "make"), FILES)
def test_the_surface_is_as_written(path: Path, make: Callable[[], str]) -> None:
    """`python -m tests.regenerate` writes the files again where a change is meant."""
    for number, (expected, found) in enumerate(
        zip_longest(path.read_text().splitlines(), make().splitlines()), start=1
    ):
        assert found == expected, f"{path.name}, line {number}"
