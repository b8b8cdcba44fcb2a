"""What commands print on: names of players, tables and files stay what they are, whatever is in them."""

from __future__ import annotations

from typing import Any

from rich.console import Console

__all__ = ["plain_console"]


def plain_console(**options: Any) -> Console:
    """Return a console that shows text and cells of tables as they are.

    Rich takes ``[name]`` for a style and ``:name:`` for a picture unless it is told otherwise.

    Args:
        options: of Rich's `Console`.
    """
    return Console(markup=False, emoji=False, **options)
