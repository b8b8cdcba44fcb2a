"""Generator of documentation pages from the code: `python -m helsinki_env.pages docs` writes them to `docs`."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from helsinki_env import games

__all__ = ["ALL_PAGES", "write_pages"]


def _pages() -> dict[str, Any]:
    """Return the page generators of both games, by file name."""
    modules = [f"{games.__name__}.{found.name}.pages" for found in iter_modules(games.__path__)]
    return {name: page for module in modules if find_spec(module) for name, page in import_module(module).PAGES.items()}


ALL_PAGES = _pages()


def write_pages(folder: str | Path) -> None:
    """Write all pages to a folder."""
    for name, page in ALL_PAGES.items():
        (Path(folder) / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages(sys.argv[1] if len(sys.argv) > 1 else "docs")
