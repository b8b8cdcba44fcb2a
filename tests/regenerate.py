"""Regenerate the golden data and print the changes:

    python -m tests.regenerate

Only an intended change of the rules, the observation or the state justifies new golden data. Review the difference
before the commit. A change of behavior also needs a new version of the environment.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.copenhagen import golden as copenhagen
from tests.support import golden as helsinki
from tests.support import surface, yardstick
from tests.support.golden import TESTS


def golden_files() -> Iterator[tuple[Path, Callable[[], str]]]:
    """Yield every golden file of every game with a function that returns its text."""
    yield from helsinki.golden_files()
    yield from copenhagen.golden_files()
    yield from yardstick.golden_files()
    yield from surface.golden_files()


def main() -> None:
    for path, make in golden_files():
        old = path.read_text() if path.exists() else ""
        new = make()
        name = path.relative_to(TESTS.parent)
        if new == old:
            print(f"same     {name}")
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(new)
        difference = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0))
        print(f"{'changed' if old else 'new':9}{name}, {len(difference)} lines of difference")
        for line in difference[2:10] if old else ():
            print(f"           {line[:160]}")


if __name__ == "__main__":
    main()
