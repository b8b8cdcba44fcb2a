"""Locate the bundled YAML files and resolve their names.

All kinds of configuration files use this module, so that their folders and error messages are consistent.
"""

from pathlib import Path

from helsinki_env.data import choices_text, short_repr
from helsinki_env.utils.files import is_file


def configs_folder() -> Path:
    """Return the folder of the bundled configuration files, in the installed wheel or in the repository."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def list_yaml(kind: str) -> list[str]:
    """Return the sorted names, without suffix, of the bundled files of one kind, such as ``"components"``."""
    return sorted(path.stem for path in (configs_folder() / kind).glob("*.yaml"))


def find_yaml(name_or_path: str | Path, kind: str, error: type[ValueError]) -> Path:
    """Return the path of a YAML file. If it does not exist, raise `error` with a list of the bundled names.

    A name refers to ``configs/<kind>/<name>.yaml`` and may contain a subfolder, as in ``alternatives/coats_corners``. A
    ``Path``, a string that ends in ``.yaml`` or ``.yml``, or any other string with a slash is a path.
    """
    text = str(name_or_path)
    bundled = configs_folder() / kind / f"{text}.yaml"
    is_path = isinstance(name_or_path, Path) or text.endswith((".yaml", ".yml")) or "\\" in text
    path = Path(text) if is_path or ("/" in text and not is_file(bundled)) else bundled
    if is_file(path):
        return path
    expected = f"the path of a .yaml file or {choices_text(list_yaml(kind), text)}"
    raise error(f"{kind}: found {short_repr(text)}, expected {expected}")
