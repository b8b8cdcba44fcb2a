"""Locate the bundled YAML files and resolve their names.

All kinds of configuration files use this module, so that their folders and error messages are consistent.
"""

from pathlib import Path
from typing import Any

from helsinki_env.data import Node, choices_text, read_yaml, short_repr
from helsinki_env.utils.files import is_file


def configs_folder() -> Path:
    """Return the folder of the bundled configuration files, in the installed wheel or in the repository."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def list_yaml(kind: str) -> list[str]:
    """Return the sorted names, without suffix, of the bundled files of one kind, such as ``"components"``."""
    return sorted(path.stem for path in (configs_folder() / kind).glob("*.yaml"))


def find_yaml(name_or_path: str | Path, kind: str, error: type[ValueError], called: str | None = None) -> Path:
    """Return the path of a YAML file. If it does not exist, raise `error` with a list of the bundled names.

    A name refers to ``configs/<kind>/<name>.yaml`` and may contain a subfolder, as in ``alternatives/coats_corners``. A
    ``Path``, a string that ends in ``.yaml`` or ``.yml``, or any other string with a slash is a path. The message
    begins with `called`, such as the name of an option (default: `kind`).
    """
    text = str(name_or_path)
    bundled = configs_folder() / kind / f"{text}.yaml"
    is_path = isinstance(name_or_path, Path) or text.endswith((".yaml", ".yml")) or "\\" in text
    path = Path(text) if is_path or ("/" in text and not is_file(bundled)) else bundled
    if is_file(path):
        return path
    expected = f"the path of a .yaml file or {choices_text(list_yaml(kind), text)}"
    prefix = kind if called is None else called
    raise error(f"{prefix}: found {short_repr(text)}, expected {expected}".removeprefix(": "))


def read_with_base(
    name_or_path: str | Path, kind: str, error: type[ValueError], comments: tuple[str, ...] = ()
) -> Node:
    """Return the content of a YAML file, merged into the content of its ``base`` if it names one.

    Args:
        name_or_path: as in `find_yaml`.
        kind: as in `find_yaml`, also for the base.
        error: class of the errors.
        comments: keys that a file with a base may have, and that are left out.
    """
    data = read_yaml(find_yaml(name_or_path, kind, error), error)
    if not isinstance(data.value, dict) or "base" not in data.value:
        return data
    name = data["base"].text(f"the name of a file in configs/{kind}")
    with data["base"].prefix_errors():
        base = read_yaml(find_yaml(name, kind, error, ""), error)
    if base["base"].is_present:
        data["base"].fail("a file without a base")
    changes = {key: value for key, value in data.value.items() if key not in ("base", *comments)}
    for key in changes:
        _check_removed(data[key], base.mapping().value, f"the base {short_repr(name)}")
    data.value = merge_mappings(base.mapping().value, changes)
    return data


def _check_removed(item: Node, base: dict[str, Any], what: str) -> None:
    """Check that null removes only keys that the base has."""
    key = item.path.rpartition(".")[2]
    if item.value is None and key not in base:
        item.fail(f"a key of {what}, because null removes it")
    if isinstance(item.value, dict) and isinstance(base.get(key), dict):
        for _, inner in item.items():
            _check_removed(inner, base[key], what)


def merge_mappings(base: dict[str, Any], changes: dict[str, Any], *, keep_null: bool = False) -> dict[str, Any]:
    """Return a mapping with changes applied. Nested mappings are merged recursively, and null removes a key.

    If `keep_null` is true, null replaces a value instead, so that the result can be applied to another mapping.
    """
    merged = dict(base)
    for key, value in changes.items():
        if value is None and not keep_null:
            merged.pop(key, None)
        else:
            both = isinstance(value, dict) and isinstance(merged.get(key), dict)
            merged[key] = merge_mappings(merged[key], value, keep_null=keep_null) if both else value
    return merged
