"""Which tables' games are over: found out by playing them again, and remembered."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import suppress

from helsinki_env.web.store import Kept, Store
from helsinki_env.web.tables import TableError

__all__ = ["Finished"]


class Finished:
    """Tables whose games are over.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def among(self, kept: Sequence[Kept]) -> set[str]:
        """Return the names of those tables whose games are over."""
        over = {one.name for one in kept if one.over}
        for one in kept:
            if one.over is None:
                await asyncio.sleep(0)  # others have their turn between two tables
                done = self._is_over(one.name)
                with suppress(sqlite3.Error):  # then it is found out again
                    self._store.looked(one, done)
                if done:
                    over.add(one.name)
        return over

    def _is_over(self, name: str) -> bool:
        with suppress(TableError):  # removed meanwhile, or of another version
            return self._store.load(name).game.done
        return False
