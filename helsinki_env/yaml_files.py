"""Finds and reads the project's YAML files: where they are, how a name becomes a path, how they are read.

Shared by every kind of configuration, so that all are found in the same places and complain in the same way.
"""

from collections.abc import Hashable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

__all__ = ["configs_folder", "find_yaml", "list_yaml", "one_of", "read_yaml"]


def configs_folder() -> Path:
    """Return the folder of the shipped configurations: the installed wheel's, else the repository's."""
    package = Path(__file__).resolve().parent
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def list_yaml(kind: str) -> list[str]:
    """Return the names (no suffix, sorted) of the shipped files of one kind, such as ``"components"``."""
    return sorted(path.stem for path in (configs_folder() / kind).glob("*.yaml"))


def one_of(known: Iterable[str], word: object) -> str:
    """Return the end of a message, ``"one of a, b, c"``, and which of them the word may stand for."""
    names = list(known)
    near = get_close_matches(str(word), names, n=2)
    return f"one of {', '.join(names)}" + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")


def find_yaml(name_or_path: str | Path, kind: str, error: type[ValueError]) -> Path:
    """Return the path of a YAML file.

    Args:
        name_or_path: a bare name stands for ``configs/<kind>/<name>.yaml``; a ``Path``, and text that ends in
            ``.yaml`` or ``.yml`` or holds a slash, is a path.
        kind: the folder of the shipped files.
        error: the class to raise.

    Raises:
        error: if there is no such file; names the shipped ones.
    """
    text = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or text.endswith((".yaml", ".yml")) or "/" in text or "\\" in text
    path = Path(text) if is_path else configs_folder() / kind / f"{text}.yaml"
    if path.is_file():
        return path
    expected = f"the path of a .yaml file or {one_of(list_yaml(kind), text)}"
    raise error(f"{kind}: found {text!r}, which is no file; expected {expected}")


class _StrictLoader(yaml.SafeLoader):
    """The safe loader, but a key written twice is an error: plain YAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]  # as written; a list or mapping for a key fails below
        for i, key in enumerate(keys):
            if key in keys[:i]:
                mark = node.value[i][0].start_mark
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is written twice", mark)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, error: type[ValueError]) -> dict[str, Any]:
    """Return the mapping that a YAML file holds (an empty file is an empty mapping).

    Raises:
        error: if the file cannot be read, is no YAML, writes a key twice, or is no mapping with text keys.
    """
    try:
        # The strict loader is yaml's SafeLoader: it constructs plain data only.
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise error(f"{path}: cannot be read as YAML: {' '.join(str(problem).split())}") from problem
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise error(f"{path}: found {data!r:.80}, expected a mapping of names to values")
    return data
