"""Determine which tables' games are over by replaying them, and cache the results."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import suppress

from helsinki_env.web.store import TableEntry, TableStore
from helsinki_env.web.tables import TableError

__all__ = ["FinishedTables"]


class FinishedTables:
    """Tables whose games are over.

    Args:
        store: the database of the tables.
    """

    def __init__(self, store: TableStore) -> None:
        self._store = store

    async def among(self, kept: Sequence[TableEntry]) -> set[str]:
        """Return the names of the tables whose games are over."""
        over = {one.name for one in kept if one.over}
        for one in kept:
            if one.over is None:
                await asyncio.sleep(0)  # let other tasks run between two tables
                done = self._is_over(one.name)
                with suppress(sqlite3.Error):  # the result is computed again next time
                    self._store.set_over(one, done)
                if done:
                    over.add(one.name)
        return over

    def _is_over(self, name: str) -> bool:
        with suppress(TableError):  # removed in the meantime, or saved by another version
            return self._store.load(name).game.done
        return False
