"""Seats played by protocol clients. They are connected to their tables in the same way as browser pages."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import suppress
from typing import NamedTuple

from helsinki_env.data import UserError
from helsinki_env.engine.game import BoardGame
from helsinki_env.text import GameHistory
from helsinki_env.web.sessions import PageConnection, TableSession, TableSessions
from helsinki_env.web.tables import GameTable, TableError

_CODE = re.compile(r"([0-9a-f]{12})\.([A-Za-z0-9_-]{22})")
MAX_CONNECTED = 64
"""Maximum number of connected seats in unfinished games; a seat connects on its first call."""
MAX_IDLE = 600.0
"""Seconds after which a seat without calls may be disconnected; no call takes as long."""
_POLL = 0.5
"""Interval, in seconds, at which a waiting call checks for actions saved by another process."""


class ToolError(UserError):
    """Raised if a call is invalid or not possible now."""


def seat_code(table: GameTable, seat: int) -> str:
    """Return the code of a seat, which identifies the table and authorizes the client to play the seat."""
    return f"{table.name}.{table.chairs[seat].key}"


class _Connection(PageConnection):
    """The connection of a seat to its table."""

    is_assistant = True

    def __init__(self, seat: int) -> None:
        self.changed, self.called = asyncio.Event(), 0.0
        super().__init__(self._notify, (seat,))

    def _notify(self, _: str) -> None:
        self.changed.set()


class _Events:
    """The history of a table, updated on each call."""

    def __init__(self) -> None:
        self._actions: list[int] = []
        self._history: GameHistory | None = None

    def lines(self, table: GameTable, seat: int, since: int) -> list[str]:
        """Return the events that a seat has observed after the first `since` actions."""
        taken = [decision.action for decision in table.decisions]
        if self._history is None or taken[: len(self._actions)] != self._actions:
            begin = GameTable(table.name, "", table.config, table.seed, table.chairs, start=table.start)
            self._history, self._actions = GameHistory(begin.game), []
        for action in taken[len(self._actions) :]:
            self._history.step(action)
        self._actions = taken
        return self._history.lines(seat, since)


class ClientSeat(NamedTuple):
    """A seat connected to its table."""

    session: TableSession
    page: _Connection
    events: _Events

    @property
    def table(self) -> GameTable:
        """The current table."""
        return self.session.table

    @property
    def game(self) -> BoardGame:
        """The current game."""
        return self.session.table.game

    @property
    def number(self) -> int:
        """The index of the seat."""
        return self.page.mine[0]

    @property
    def acts(self) -> bool:
        """Whether it is this seat's turn."""
        return not self.game.done and self.game.seat == self.number

    @property
    def status(self) -> str:
        """A sentence that states whose turn it is."""
        if self.game.done:
            return "The game is over."
        if self.acts:
            return "It is your turn."
        stopped = self.session.message or ("The game is paused." if self.table.paused else "")
        turn = f"It is the turn of player {self.game.seat} ({self.table.chairs[self.game.seat].name})."
        return f"{turn} {stopped}".strip()

    def history(self, since: int) -> list[str]:
        """Return the events that the seat has observed after the first `since` actions."""
        return self.events.lines(self.table, self.number, since)

    async def wait(self, seconds: float) -> None:
        """Wait until it is this seat's turn, the game is over, or the player to move cannot continue."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while not (self.acts or self.game.done or self.session.message) and (left := until - loop.time()) > 0:
            self.page.changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _POLL)):
                    await self.page.changed.wait()
            self.session.refresh()


class ClientSeats:
    """All connected seats of a server."""

    def __init__(self, sessions: TableSessions) -> None:
        self._sessions = sessions
        self._connected: dict[str, ClientSeat] = {}
        self._connecting = asyncio.Lock()  # concurrent calls for a code must not join its seat twice

    async def connect(self, code: str) -> ClientSeat:
        """Return the seat of a code, up to date; raise ToolError for an unknown code or too many connected seats."""
        async with self._connecting:
            if code not in self._connected:
                store, connected = self._sessions.store, self._connected.items()
                for other in [c for c, seat in connected if seat.game.done or not store.has(seat.table.name)]:
                    await self._leave(other)
                if len(self._connected) >= MAX_CONNECTED:
                    await self._leave_idle()
                self._connected[code] = await self._join(code)
            seat = self._connected[code]
        seat.page.called = time.monotonic()
        try:
            seat.session.refresh()
        except TableError:  # the table was deleted
            await self._leave(code)
            raise
        return seat

    async def _join(self, code: str) -> ClientSeat:
        match = _CODE.fullmatch(code)
        unknown = ToolError("seat: found the code of no seat, expected one from new_table")
        if match is None or not self._sessions.store.has(match[1]):
            raise unknown
        session = self._sessions.open(match[1])
        try:
            mine = session.seats_of(match[2])
        except TableError:
            mine = ()
        if len(mine) != 1 or not session.table.chairs[mine[0]].assistant:
            await self._sessions.leave(session, None)
            raise unknown
        page = _Connection(mine[0])
        if not session.pages:
            session.pace = 0.0  # no other page is open
        session.join(page)
        shared = [seat.events for seat in self._connected.values() if seat.session is session]
        return ClientSeat(session, page, shared[0] if shared else _Events())

    async def _leave_idle(self) -> None:
        """Disconnect the seat that has been idle for the longest time; its next call connects it again."""
        code, seat = min(self._connected.items(), key=lambda item: item[1].page.called)
        if time.monotonic() - seat.page.called < MAX_IDLE:
            raise ToolError(
                f"seat: found {MAX_CONNECTED} connected seats of unfinished games, expected fewer; finish one of "
                "the games, delete its table, or wait until one is idle for ten minutes"
            )
        await self._leave(code)

    async def _leave(self, code: str) -> None:
        if (seat := self._connected.pop(code, None)) is not None:  # another call may have disconnected it
            await self._sessions.leave(seat.session, seat.page)
