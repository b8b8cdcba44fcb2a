"""Finds the project's YAML files: where they are, and how a name becomes a path.

Shared by every kind of configuration, so that all are found in the same places and complain in the same way.
"""

from pathlib import Path

from helsinki_env.data import one_of, shown
from helsinki_env.files import is_file

__all__ = ["configs_folder", "find_yaml", "list_yaml"]


def configs_folder() -> Path:
    """Return the folder of the shipped configurations: the installed wheel's, else the repository's."""
    package = Path(__file__).resolve().parent
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def list_yaml(kind: str) -> list[str]:
    """Return the names (no suffix, sorted) of the shipped files of one kind, such as ``"components"``."""
    return sorted(path.stem for path in (configs_folder() / kind).glob("*.yaml"))


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
    if is_file(path):
        return path
    expected = f"the path of a .yaml file or {one_of(list_yaml(kind), text)}"
    raise error(f"{kind}: found {shown(text)}, which is no file; expected {expected}")
