"""Pages of the documentation that are made from the code: `python -m helsinki_env.pages docs` writes them anew."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from helsinki_env import Game  # noqa: F401  # makes the games known
from helsinki_env.engine.spec import game_names

__all__ = ["PAGES", "write"]


def _pages() -> dict[str, Any]:
    """The pages of all games: what makes each, by its file name."""
    modules = [f"helsinki_env.games.{name}.pages" for name in game_names()]
    return {name: page for module in modules if find_spec(module) for name, page in import_module(module).PAGES.items()}


PAGES = _pages()


def write(folder: str | Path) -> None:
    """Write all pages into a folder."""
    for name, page in PAGES.items():
        (Path(folder) / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else "docs")
