"""Read component files of any game.

The `base` key names a component file that the file modifies; the other keys hold only the differences. Mappings are
merged key by key, other values are replaced, and null removes a key. The keys `fact` and `reason` state which fact
about the components is changed and why the change is plausible; they are not part of the content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from helsinki_env.data import Node, digest_of, read_yaml
from helsinki_env.utils.yaml_files import find_yaml, read_with_base


def load_component_file(name_or_path: str | Path, error: type[ValueError], read: Callable[[Node, str], Any]) -> Any:
    """Return the component data in a file, given by name or path. An unchanged file is read only once.

    `read` converts the content of the file and its name without suffix to component data.
    """
    path = find_yaml(name_or_path, "components", error).resolve()
    changed = path.stat().st_mtime_ns
    loaded, base, base_changed = _load(path, changed, error, read)  # type: ignore[arg-type]  # a class can be hashed
    if base is not None and (not base.is_file() or base.stat().st_mtime_ns != base_changed):
        _load.cache_clear()
        loaded, *_ = _load(path, changed, error, read)  # type: ignore[arg-type]  # see above
    return loaded


@lru_cache(maxsize=64)
def _load(
    path: Path, _changed_ns: int, error: type[ValueError], read: Callable[[Node, str], Any]
) -> tuple[Any, Path | None, int]:
    """Return the component data of a file, its base and the modification time of the base.

    The modification time of the file is an argument, so that an edited file is read again.
    """
    base, base_changed = None, 0
    if b"base" in path.read_bytes() and isinstance((item := read_yaml(path, error).get("base", None)).value, str):
        with item.prefix_errors():
            base = find_yaml(item.value, "components", error, "").resolve()
        base_changed = base.stat().st_mtime_ns
    return read(read_with_base(path, "components", error, ("fact", "reason")), path.stem), base, base_changed


class ChangedFact(NamedTuple):
    """A fact about the components that a file changes, and the reason why the change is plausible."""

    fact: str
    reason: str


def changed_fact(name_or_path: str | Path, error: type[ValueError]) -> ChangedFact:
    """Return the fact that a component file changes. Raise `error` if the file does not state it."""
    data = read_yaml(find_yaml(name_or_path, "components", error), error)
    return ChangedFact(*(data[key].text(f"the {key}, as text") for key in ("fact", "reason")))


def component_facts(components: Any) -> dict[str, Any]:
    """Return the fields of component data as a dict, without the `name` of the file."""
    facts = asdict(components)
    del facts["name"]
    return facts


def facts_digest(components: Any) -> str:
    """Return 16 hexadecimal digits that identify component data, ignoring the `name` of the file."""
    return digest_of(component_facts(components))


def integer_list(data: Node, length: int, low: int, high: int, what: str) -> tuple[int, ...]:
    """Return `length` integers from `low` to `high`. `what` describes them in error messages."""
    return tuple(item.integer(low, high) for item in data.entries(what, length=length))


def distinct_values(data: Node, read: Iterable[tuple[Node, int]], what: str) -> list[int]:
    """Return the values of a list, or fail if there are duplicates. `read` yields each element with its value."""
    found: list[int] = []
    for item, value in read:
        if value in found:
            item.fail(f"a {what} that is not in the list yet; this one is also {data.path}[{found.index(value)}]")
        found.append(value)
    return found


def read_shape(item: Node, marks: str, cells: str) -> tuple[str, ...]:
    """Return the rows of a drawing such as ``X./XX``: a connected shape of `marks` without empty margins."""
    text = item.value
    if not isinstance(text, str) or not text or set(text) - set(f"{marks}./"):
        item.fail(f"a drawing of the characters {', '.join(marks)} and . with / between its rows")
    rows = tuple(text.split("/"))
    if len({len(row) for row in rows}) != 1:
        item.fail("rows of the same length")
    columns = list(zip(*rows, strict=True))
    if any(not set(line) & set(marks) for line in (rows[0], rows[-1], *columns[:1], *columns[-1:])):
        item.fail("a drawing without an empty row or column at its edges")
    if len(rows) > 5 or len(rows[0]) > 5:
        item.fail("a drawing of at most 5 rows and 5 columns")
    if not _is_connected(rows):
        item.fail(f"{cells} that are connected edge to edge")
    return rows


def _is_connected(rows: Sequence[str]) -> bool:
    """Return whether all cells of a drawing are connected edge to edge."""
    left = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "."}
    edge = [left.pop()]
    while edge:
        r, c = edge.pop()
        near = left & {(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)}
        left -= near
        edge.extend(near)
    return not left


def rotations(rows: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return a drawing after zero, one, two and three quarter turns clockwise."""
    found = [rows]
    for _ in range(3):
        found.append(tuple("".join(column) for column in zip(*found[-1][::-1], strict=True)))
    return found


def mirrored(rows: tuple[str, ...]) -> tuple[str, ...]:
    """Return the left-right mirror image of a drawing."""
    return tuple(row[::-1] for row in rows)


def orientations(rows: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the distinct orientations of a drawing, in the order of the action ids.

    The rotations by 0, 90, 180 and 270 degrees clockwise are followed by those of the left-right mirror image.
    """
    return tuple(dict.fromkeys((*rotations(rows), *rotations(mirrored(rows)))))
