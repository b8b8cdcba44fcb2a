"""Notices for the user on the error stream."""

from __future__ import annotations

import sys
from contextlib import suppress

__all__ = ["notice"]


def notice(text: str) -> None:
    """Print one line on the error stream; ignore a closed or full stream."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"helsinki-env: {' '.join(text.split())}", file=sys.stderr, flush=True)
