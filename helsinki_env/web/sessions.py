"""Tables with their connected pages and the player that is computing."""

from __future__ import annotations

import asyncio
import hmac
import logging
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from helsinki_env.web.advice import AnalysisTask, evaluation_request
from helsinki_env.web.messages import change_between, encode_message
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.store import StoreError, TableStore
from helsinki_env.web.tables import GameTable, TableError, TakenAction
from helsinki_env.web.views import choices, picture, table_view

__all__ = ["MOST_PAGES", "PageConnection", "TableSession", "TableSessions"]

_MOST_DONE = 10_000
"""Number of remembered message ids, to detect resent messages."""
MOST_PAGES = 250
"""Maximum number of pages connected to one table."""
_SOON = 0.5
"""Seconds after which a cached view no longer includes the time that a player has been computing."""
_PACE = 0.4
"""Minimum seconds between two actions of players, so that users can follow the game."""
_log = logging.getLogger(__name__)


class PageConnection:
    """A browser page connected to a table.

    Args:
        tell: sends it a message as text, without waiting for the page.
        mine: the seats that it plays.

    Attributes:
        shown: the view sent last, as text.
    """

    def __init__(self, tell: Callable[[str], None], mine: tuple[int, ...]) -> None:
        self.tell, self.mine, self.shown = tell, mine, ""
        #: The seat whose cards were shown last; several people at one device take turns.
        self.viewing_seat: int | None = mine[0] if len(mine) == 1 else None

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the page."""
        self.tell(encode_message(message))

    def handover_seat(self, table: GameTable) -> int | None:
        """Return the seat whose player must take the device before cards are shown, or None."""
        seat = table.game.seat
        if len(self.mine) < 2 or table.game.done:
            return None
        if seat in self.mine:
            return None if self.viewing_seat == seat else seat
        return self.mine[0] if self.viewing_seat is None else None


class TableSession:
    """A table, its connected pages, and the player that is computing.

    Args:
        table: the table.
        store: the database for its actions.
        thinkers: the pool of player processes.
        done: ids of the handled messages (`once`), oldest first.
    """

    def __init__(
        self, table: GameTable, store: TableStore, thinkers: PlayerPool, done: dict[str, None] | None = None
    ) -> None:
        self.table, self.pages = table, set[PageConnection]()
        self._done: dict[str, None] = {} if done is None else done
        self._store, self._thinkers = store, thinkers
        self._advisers: dict[PageConnection, AnalysisTask] = {}
        self._task: asyncio.Task[None] | None = None
        self._began, self._message = 0.0, ""
        self._pictures: dict[int | None, dict[str, Any]] = {}
        self._legal: list[dict[str, Any]] | None = None
        #: Views as text, by the seats of a page, the viewing seat and the hand-over screen; and the changes between
        #: views.
        self._views: dict[tuple[Any, ...], str] = {}
        self._changes: dict[tuple[str, str], str] = {}
        self._viewed = 0.0
        self.pace = _PACE

    def seats_of(self, key: str) -> tuple[int, ...]:
        """Return the seats that a key plays; without a key, those that need none.

        Raises:
            TableError: if the key matches no seat.
        """
        chairs = self.table.chairs
        seats = tuple(
            seat for seat in self.table.humans if hmac.compare_digest(chairs[seat].key.encode(), key.encode())
        )
        if not seats and self.table.humans:
            raise TableError("key: this address is that of no seat of the table; open the link that was made for yours")
        return seats

    # views for pages

    def _view(self, page: PageConnection) -> str:
        """Return the view of a page as text; pages of the same seats share it."""
        curtain, done = page.handover_seat(self.table), self.table.game.done
        viewer = page.viewing_seat if page.mine else None
        if viewer is None and page.mine and done:
            viewer = page.mine[0]
        who = page.mine, viewer, curtain
        if who not in self._views:
            thinking = None
            if self._task is not None and self.table.acting_player is not None:
                seconds = round(self._viewed - self._began, 1)
                thinking = {"seat": self.table.game.seat, "player": self.table.acting_player, "seconds": seconds}
            message = self._message or None
            self._views[who] = encode_message(
                table_view(self.table, *who, thinking, message, self._picture, self._choices)
            )
        return self._views[who]

    def _picture(self, viewer: int | None) -> dict[str, Any]:
        if viewer not in self._pictures:
            self._pictures[viewer] = picture(self.table, viewer)
        return self._pictures[viewer]

    def _choices(self) -> list[dict[str, Any]]:
        if self._legal is None:
            self._legal = choices(self.table.game)
        return self._legal

    def _changed(self) -> None:
        self._pictures.clear()
        self._legal = None
        for adviser in self._advisers.values():
            adviser.forget()

    def tell(self) -> None:
        """Send every page the changes."""
        self._views.clear()
        self._changes.clear()
        self._viewed = time.monotonic()
        for page in self.pages:
            self._show(page)

    def _show(self, page: PageConnection) -> None:
        """Send a page the changes since its last view."""
        before, after = page.shown, self._view(page)
        if before == after:
            return
        if (before, after) not in self._changes:
            self._changes[before, after] = change_between(before, after)
        page.tell(self._changes[before, after])
        page.shown = after

    def _show_later(self, page: PageConnection) -> None:
        """Send a page a view that others already show, with the time that a player has been computing."""
        self._show(page)
        now = time.monotonic()
        if self._task is not None and now - self._viewed > _SOON:
            page.send({"type": "clock", "seconds": round(now - self._began, 1)})

    def join(self, page: PageConnection) -> None:
        """Send the table to a page.

        Raises:
            TableError: if too many pages are connected.
        """
        if len(self.pages) >= MOST_PAGES:
            raise TableError(f"pages: found {MOST_PAGES} that look at this table, expected fewer; close some of them")
        self.pages.add(page)
        if not self._begin_to_think():
            self._show_later(page)

    # requests of pages

    def asked(self, page: PageConnection, message: dict[str, Any]) -> None:
        """Handle a message of a page exactly once: a page resends a message whose delivery is uncertain.

        Raises:
            TableError: if the request is not possible now; nothing has changed.
            StoreError: if it cannot be written; nothing has changed.
        """
        once = message["once"]
        if once not in self._done:
            getattr(self, f"_on_{message['type']}")(page, message)
        if once:
            self._done[once] = None
            if len(self._done) > _MOST_DONE:
                del self._done[next(iter(self._done))]
            page.send({"type": "done", "once": once})

    def _on_ping(self, page: PageConnection, message: dict[str, Any]) -> None:
        page.send({"type": "pong"})

    def _on_decide(self, page: PageConnection, message: dict[str, Any]) -> None:
        self.table.check_number(message["number"])
        self._turn_of(page)
        actions = [message["action"], *message["more"]]
        self.table.check_together(actions)
        try:
            for number, action in enumerate(actions, message["number"]):
                self._decide(number, action)
        finally:
            self.resume()

    def _turn_of(self, page: PageConnection) -> None:
        """Raise TableError if it is not the page's turn."""
        seat = self.table.game.seat
        if self.table.game.done:
            raise TableError("the game is over")
        if seat not in page.mine or page.viewing_seat != seat:
            raise TableError(f"seat: it is the turn of {self.table.chairs[seat].name}, not yours")

    def _decide(self, number: int, action: int) -> TakenAction:
        """Apply an action and write it, or do neither."""
        said = next((one["said"] for one in self._choices() if one["id"] == action), "")
        decision = self.table.decide(number, action, said)
        try:
            self._store.write(self.table.name, decision)
        except sqlite3.Error as problem:
            self.table.forget_last()
            raise StoreError(
                f"{self._store.path}: the decision cannot be written, so it does not count: {problem}"
            ) from None
        finally:
            self._changed()
        self._message = ""
        return decision

    def _on_undo(self, page: PageConnection, message: dict[str, Any]) -> None:
        self._turn_of(page)
        self.table.undo(message["number"], message["to"])
        self._went_back(message["to"], ())
        self.resume()

    def _on_takeback(self, page: PageConnection, message: dict[str, Any]) -> None:
        if page.mine != self.table.humans:
            raise TableError("only who plays alone against players may take back")
        gone = self.table.take_back(message["number"], message["to"])
        self._went_back(message["to"], gone)
        self._stop()
        self.resume()

    def _went_back(self, to: int, gone: Any) -> None:
        try:
            self._store.go_back(self.table.name, to, gone)
        except sqlite3.Error as problem:
            paused, self.table = self.table.paused, self._store.load(self.table.name)  # restore the saved state
            self.table.paused = paused
            raise StoreError(f"{self._store.path}: cannot be written, so nothing is taken back: {problem}") from None
        finally:
            self._changed()
        self._message = ""

    def _on_look(self, page: PageConnection, message: dict[str, Any]) -> None:
        if message["seat"] not in page.mine:
            raise TableError(f"seat: found {message['seat']}, expected one of yours: {list(page.mine)}")
        page.viewing_seat = message["seat"]
        self._on_cancel(page, message)
        self._show_later(page)

    def _on_judge(self, page: PageConnection, message: dict[str, Any]) -> None:
        if message["number"] != self.table.number:
            return  # the table has changed in the meantime; a page that still needs the answer asks again
        words = {one["id"]: one["words"] for one in self._choices()}
        question = evaluation_request(self.table, page, message, words)
        self._advisers.setdefault(page, AnalysisTask(page.send, self._thinkers)).ask(question)

    def _on_cancel(self, page: PageConnection, message: dict[str, Any]) -> None:
        if page in self._advisers:
            self._advisers[page].forget()

    def _on_stop(self, page: PageConnection, message: dict[str, Any]) -> None:
        if self.table.acting_player is not None and not self.table.paused:
            self.table.paused = True
            self._stop()
            self.tell()

    def _on_go(self, page: PageConnection, message: dict[str, Any]) -> None:
        paused, self.table.paused = self.table.paused, False
        if not self._begin_to_think() and paused:
            self.tell()

    def _on_pace(self, page: PageConnection, message: dict[str, Any]) -> None:
        self.pace = min(message["milliseconds"], 10_000) / 1000

    def _on_sit(self, page: PageConnection, message: dict[str, Any]) -> None:
        raise TableError("sit: you sit at the table already")

    # players

    def resume(self) -> None:
        """Start the player whose turn it is, and update all pages."""
        if not self._begin_to_think():
            self.tell()

    def _begin_to_think(self) -> bool:
        """Start the player to move unless one is already running and update all pages; return whether one started."""
        if self._task is not None or self.table.acting_player is None or self.table.paused or not self.pages:
            return False
        self._began = time.monotonic()
        self._task = asyncio.create_task(self._think())
        self.tell()
        return True

    async def _think(self) -> None:
        try:
            while (player := self.table.acting_player) is not None and not self.table.paused and self.pages:
                number, self._began = self.table.number, time.monotonic()
                action = await self._thinkers.decide(self.table.config, player, self.table.question())
                left = self.pace - (time.monotonic() - self._began)
                if left > 0:
                    await asyncio.sleep(left)
                self._decide(number, action)
                self._began = time.monotonic()
                self.tell()
        except (PlayerFailedError, TableError, StoreError) as problem:
            self.table.paused = True
            self._message = f"The player cannot go on: {problem}"
            _log.warning("table %s: %s", self.table.name, problem)
        except Exception as problem:  # internal error: report it, so that users do not wait forever
            self.table.paused = True
            self._message = f"The player cannot go on: {type(problem).__name__}: {problem}"
            _log.exception("table %s", self.table.name)
        finally:
            if self._task is asyncio.current_task():  # no other task has replaced this one
                self._task = None
        self.tell()

    def _stop(self) -> asyncio.Task[None] | None:
        """Cancel the computing player and return its task, which ends soon; it takes no further action."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        return task

    def left(self, page: PageConnection) -> None:
        """Remove a disconnected page."""
        self.pages.discard(page)
        if page in self._advisers:
            self._advisers.pop(page).forget()

    async def close(self) -> None:
        """Stop all tasks."""
        for adviser in self._advisers.values():
            adviser.forget()
        if (task := self._stop()) is not None:
            await asyncio.wait({task})


class TableSessions:
    """All tables with connected pages.

    Args:
        store: the database of the tables.
        thinkers: the pool of player processes.
    """

    def __init__(self, store: TableStore, thinkers: PlayerPool) -> None:
        self.store, self.thinkers = store, thinkers
        self._open: dict[str, TableSession] = {}
        self._done: dict[str, None] = {}

    def open(self, name: str) -> TableSession:
        """Return the room of a table; TableError if the table does not exist."""
        if name not in self._open:
            self._open[name] = TableSession(self.store.load(name), self.store, self.thinkers, self._done)
        return self._open[name]

    async def leave(self, room: TableSession, page: PageConnection | None) -> None:
        """Handle a page that has disconnected or was rejected (None); the last page closes the room."""
        if page is not None:
            room.left(page)
        if not room.pages:
            self._open.pop(room.table.name, None)
            await room.close()

    async def remove(self, name: str) -> None:
        """Delete a table.

        Raises:
            TableError: if the table does not exist or has connected pages.
        """
        if name in self._open:
            raise TableError(f"table {name}: somebody looks at it; close its pages first")
        self.store.load(name)
        self.store.remove(name)

    async def close(self) -> None:
        """Stop all tasks."""
        for room in list(self._open.values()):
            await room.close()
        self._open.clear()
