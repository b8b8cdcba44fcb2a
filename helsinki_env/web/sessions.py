"""Table sessions: the connected pages of a table, and the player that is computing an action."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np

from helsinki_env.agents.base import seat_key
from helsinki_env.agents.evaluation import Evaluation
from helsinki_env.data import short_repr
from helsinki_env.web.clocks import substitute
from helsinki_env.web.evaluation import SIMULATIONS, EvaluationRequest, PageEvaluator
from helsinki_env.web.help import explanation, lesson_message, log_text, rules_text
from helsinki_env.web.names import seat_name
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.practice import MISTAKE, evaluate_own
from helsinki_env.web.reasons import hint
from helsinki_env.web.store import StoreError, TableStore
from helsinki_env.web.tables import GameTable, TableError
from helsinki_env.web.views import change_between, choices, encode_message, picture, selection_view, table_view

_MAX_HANDLED = 10_000
"""Number of message ids remembered to detect resent messages."""
MAX_PAGES = 250
"""Maximum number of pages connected to a table."""
_CLOCK_TOLERANCE = 0.5
"""Seconds after which a player's computing time in a cached view counts as outdated."""
_CLOCK_SAVE = 5.0
"""Seconds between saves of a running clock."""
_PACE = 0.4
"""Minimum number of seconds between two actions of computer players, so that users can follow the game."""
_log = logging.getLogger(__name__)


class PageConnection:
    """A browser page connected to a table. `send_text` does not wait for the page; `mine` are the seats it plays."""

    #: Whether the connection belongs to an assistant instead of a page; it then does not count as an open page.
    is_assistant = False

    def __init__(self, send_text: Callable[[str], None], mine: tuple[int, ...]) -> None:
        self.send_text, self.mine = send_text, mine
        self.shown = ""  # the last view sent
        #: The seat whose cards were shown last, because several people may share one device.
        self.viewing_seat: int | None = mine[0] if len(mine) == 1 else None

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the page."""
        self.send_text(encode_message(message))

    def handover_seat(self, table: GameTable) -> int | None:
        """Return the seat whose player must take over the device before any cards are shown, or None."""
        seat = table.game.seat
        if len(self.mine) < 2 or table.game.done:
            return None
        if seat in self.mine:
            return None if self.viewing_seat == seat else seat
        return self.mine[0] if self.viewing_seat is None else None


#: Maximum number of concurrent teaching requests per page.
_MAX_LESSONS = 4


def _check_unrated(table: GameTable, what: str) -> None:
    """Raise TableError if a table does not allow evaluations."""
    if any(chair.rated for chair in table.chairs):
        raise TableError(f"{what}: the table is rated, so evaluations are off")


def evaluation_request(
    table: GameTable, page: PageConnection, message: Mapping[str, Any], descriptions: Mapping[int, str]
) -> EvaluationRequest:
    """Return the evaluation requested by a page's `evaluate` message; `descriptions` is keyed by action id.

    Raises TableError if it is not the page's turn, or the evaluation would reveal hidden cards.
    """
    table.check_number(message["number"])
    game, deeper = table.game, message["deeper"]
    if deeper not in (0, *SIMULATIONS):
        expected = ", ".join(map(str, SIMULATIONS))
        raise TableError(f"deeper: found {short_repr(deeper)}, expected 0 or one of {expected} simulations")
    _check_unrated(table, "evaluate")
    if game.done:
        raise TableError("evaluate: the game is over, so there is nothing to evaluate")
    if page.handover_seat(table) is not None:
        raise TableError(f"evaluate: {seat_name(table, game.seat)} must take the device first")
    if page.mine and game.seat != page.viewing_seat:
        raise TableError(f"evaluate: it is the turn of {seat_name(table, game.seat)}; ask when it is yours")
    # Unlike the players' keys, this key is not derived from the seed, so the evaluation reveals nothing about the seed.
    key = np.array([seat_key(0, game.seat, table.number)])
    return EvaluationRequest(table.number, deeper, table.config, (*table.question()[:2], key), descriptions)


def _snapshot(table: GameTable) -> GameTable:
    """Return an independent copy of a table."""
    then = copy(table)
    then.game, then.decisions = table.game.clone(), list(table.decisions)
    return then


def taught_message(table: GameTable, evaluation: Evaluation, action: int) -> dict[str, Any]:
    """Return the message about an action that a page is about to take, with its regret and, if it is large, a hint."""
    regret = evaluation.regret(action) or 0.0
    text = hint(table.game, evaluation.best, action) if regret >= MISTAKE else ""
    return {"type": "taught", "number": table.number, "action": action, "regret": round(regret, 4), "hint": text}


class TableSession:
    """A table, its connected pages, and the player that is computing an action.

    `handled` contains the ids (`once`) of handled messages, oldest first; all tables of a server share it.
    """

    def __init__(
        self, table: GameTable, store: TableStore, pool: PlayerPool, handled: dict[str, None] | None = None
    ) -> None:
        self.table, self.pages = table, set[PageConnection]()
        self._handled: dict[str, None] = {} if handled is None else handled
        self._store, self._pool = store, pool
        self._evaluators: dict[PageConnection, PageEvaluator] = {}
        self._task: asyncio.Task[None] | None = None
        self._lessons = set[asyncio.Task[None]]()  # running evaluations for the teaching mode
        self._began, self._message = 0.0, ""
        self._pictures: dict[int | None, dict[str, Any]] = {}
        self._legal: list[dict[str, Any]] | None = None
        #: Views as text, keyed by the seats of a page, the viewing seat and the hand-over screen.
        self._views: dict[tuple[Any, ...], str] = {}
        self._changes: dict[tuple[str, str], str] = {}  # keyed by a pair of views
        self._substitute = substitute(table.game.spec)
        self._running: int | None = None  # the seat whose clock is running
        self._since = 0.0  # the time up to which that clock has been charged
        self._timers: list[asyncio.TimerHandle] = []
        self._viewed = 0.0
        self.pace = _PACE

    def seats_of(self, key: str) -> tuple[int, ...]:
        """Return the human seats with a key, which may be empty; raise TableError if no seat has it."""
        chairs = self.table.chairs
        seats = tuple(
            seat for seat in self.table.humans if hmac.compare_digest(chairs[seat].key.encode(), key.encode())
        )
        if not seats and self.table.humans:
            raise TableError("key: this address belongs to no seat of the table; open the link of your seat")
        return seats

    @property
    def message(self) -> str:
        """The reason why the player to move cannot continue; empty if it can."""
        return self._message

    def refresh(self) -> None:
        """Load actions saved by another process; raise TableError if the table no longer exists."""
        if self._store.number(self.table.name) == self.table.number:
            return
        self._stop()
        paused = self.table.paused and not self._message  # not stored; after an error, the player is called again
        self.table, self._message = self._store.load(self.table.name), ""
        self.table.paused = paused
        self._changed()
        self.resume()

    # views for pages

    def _view(self, page: PageConnection) -> str:
        """Return the view of a page as text; pages with the same seats share views."""
        key = page.mine, self._viewer(page), page.handover_seat(self.table)
        if key not in self._views:
            thinking = None
            if self._task is not None and (player := self._acting_player) is not None:
                seconds = round(self._viewed - self._began, 1)
                thinking = {"seat": self.table.game.seat, "player": player, "seconds": seconds}
            view = table_view(self.table, *key, thinking, self._message or None, self._picture, self._choices)
            if self._is_out_of_time:
                view |= {"decisions": [], "selection": None, "undo": None}
            self._views[key] = encode_message(view)
        return self._views[key]

    def _viewer(self, page: PageConnection) -> int | None:
        """Return the seat whose cards a page shows, or None for all cards (none during a hand-over)."""
        viewer = page.viewing_seat if page.mine else None
        if viewer is None and page.mine and self.table.game.done:
            return page.mine[0]
        return viewer

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
        for evaluator in self._evaluators.values():
            evaluator.cancel()

    def update_pages(self) -> None:
        """Send the changes to every page."""
        self._set_clock()
        self._views.clear()
        self._changes.clear()
        self._viewed = time.monotonic()
        for page in self.pages:
            self._show(page)
        self._send_clocks(self.pages)

    def _show(self, page: PageConnection) -> None:
        """Send a page the changes since its last view; an assistant reads the table itself and is only notified."""
        if page.is_assistant:
            page.send_text("")
            return
        before, after = page.shown, self._view(page)
        if before == after:
            return
        if (before, after) not in self._changes:
            self._changes[before, after] = change_between(before, after)
        page.send_text(self._changes[before, after])
        page.shown = after

    def _show_with_clock(self, page: PageConnection) -> None:
        """Send a page a view that other pages already show, with the time for which a player has been computing."""
        self._show(page)
        now = time.monotonic()
        if self._task is not None and now - self._viewed > _CLOCK_TOLERANCE:
            page.send({"type": "clock", "seconds": round(now - self._began, 1)})

    def join(self, page: PageConnection) -> None:
        """Connect a page and send it the table; raise TableError if too many pages are connected."""
        if len(self.pages) >= MAX_PAGES:
            raise TableError(f"pages: found {MAX_PAGES} of this table, expected fewer; close some of them")
        self.pages.add(page)
        self._set_clock()
        if not self._start_player():
            self._show_with_clock(page)
            self._send_clocks(self.pages)

    # requests from pages

    def handle(self, page: PageConnection, message: dict[str, Any]) -> None:
        """Handle a message from a page exactly once, because a page resends messages whose delivery is uncertain.

        Raises TableError if the request is not possible now, or StoreError if it cannot be saved. In both cases, the
        table is left unchanged, but of several actions in one message, those that were saved remain.
        """
        once = message["once"]
        if once not in self._handled:
            getattr(self, f"_on_{message['type']}")(page, message)
        if once:
            self._handled[once] = None
            if len(self._handled) > _MAX_HANDLED:
                del self._handled[next(iter(self._handled))]
            page.send({"type": "done", "once": once})

    def _on_ping(self, page: PageConnection, message: dict[str, Any]) -> None:
        page.send({"type": "pong"})

    def _on_decide(self, page: PageConnection, message: dict[str, Any]) -> None:
        self.table.check_number(message["number"])
        self._check_turn(page)
        actions = [message["action"], *message["more"]]
        self.table.check_together(actions)
        try:
            for number, action in enumerate(actions, message["number"]):
                self._decide(number, action)
        finally:
            self.resume()

    def _check_turn(self, page: PageConnection) -> None:
        """Raise TableError if it is not the page's turn."""
        seat = self.table.game.seat
        if self.table.game.done:
            raise TableError("the game is over")
        self._charge()
        if self._is_out_of_time:
            name = seat_name(self.table, seat)
            raise TableError(f"clock: the time of {name} has run out; {self._substitute} takes the rest of the turn")
        if seat not in page.mine or page.viewing_seat != seat:
            raise TableError(f"seat: it is the turn of {seat_name(self.table, seat)}, not yours")

    def _decide(self, number: int, action: int, note: str = "") -> None:
        """Apply and save an action, or do neither; the log shows `note` after the action."""
        said = log_text(self.table.game, action) + note
        self._charge()
        expired, before = self._is_out_of_time, self.table.clock and self.table.clock.copy()
        taken = self.table.decide(number, action, f"{said} (time ran out)" if expired else said)
        if (clock := self.table.clock) is not None:
            if expired:
                clock.expired.append(number)
            if self.table.game.done or self.table.game.seat != taken.seat:
                clock.end_turn(taken.seat)
        try:
            self._store.write(self.table.name, taken, self.table.game.done, clock)
        except StoreError:
            self.table.forget_last()
            self.table.clock = before
            raise
        finally:
            self._changed()
        self._message = ""

    def _on_undo(self, page: PageConnection, message: dict[str, Any]) -> None:
        self._check_turn(page)
        self.table.undo(message["number"], message["to"])
        self._save_undo(message["to"], ())
        self.resume()

    def _on_takeback(self, page: PageConnection, message: dict[str, Any]) -> None:
        if page.mine != self.table.humans:
            raise TableError("takeback: only the single human at a table may take back actions")
        removed = self.table.take_back(message["number"], message["to"])
        self._save_undo(message["to"], removed)
        self._stop()
        self.resume()

    def _save_undo(self, to: int, taken_back: Any) -> None:
        try:
            self._store.go_back(self.table.name, to, taken_back)
        except StoreError:
            paused, self.table = self.table.paused, self._store.load(self.table.name)  # restore the saved state
            self.table.paused = paused
            raise
        finally:
            self._changed()
        self._message = ""

    def _on_look(self, page: PageConnection, message: dict[str, Any]) -> None:
        if message["seat"] not in page.mine:
            raise TableError(f"seat: found {message['seat']}, expected one of yours: {list(page.mine)}")
        page.viewing_seat = message["seat"]
        self._on_cancel(page, message)
        self._set_clock()
        self._show_with_clock(page)
        self._send_clocks(self.pages)

    def _on_evaluate(self, page: PageConnection, message: dict[str, Any]) -> None:
        if message["number"] != self.table.number:
            return  # the table has changed in the meantime; the page sends another request if needed
        descriptions = {one["id"]: one["words"] for one in self._choices()}
        request = evaluation_request(self.table, page, message, descriptions)
        self._evaluators.setdefault(page, PageEvaluator(page.send, self._pool)).ask(request)

    def _on_explain(self, page: PageConnection, message: dict[str, Any]) -> None:
        if message["number"] != self.table.number:
            return  # the page asked about an earlier picture
        handover, viewer = page.handover_seat(self.table), self._viewer(page)
        if handover is not None:
            raise TableError(f"explain: {seat_name(self.table, handover)} must take the device first")
        spots = self._picture(viewer)["spots"]
        acts = not self.table.game.done and self.table.game.seat == viewer
        legal = [*self._choices(), *self._selectable()] if acts else []
        page.send(explanation(self.table, page.mine, viewer, message["spot"], spots, legal))

    def _selectable(self) -> list[dict[str, Any]]:
        """Return the items that can currently be part of a selection."""
        selection = selection_view(self.table.game)
        return selection["items"] if selection is not None else []

    def _on_rules(self, page: PageConnection, message: dict[str, Any]) -> None:
        page.send({"type": "rules", "sections": rules_text(self.table.config)})

    def _on_lesson(self, page: PageConnection, message: dict[str, Any]) -> None:
        page.send(lesson_message(self.table.game.spec))

    def _on_teach(self, page: PageConnection, message: dict[str, Any]) -> None:
        _check_unrated(self.table, "teach")
        if len(self._lessons) >= _MAX_LESSONS * len(self.pages):
            raise TableError("teach: the last questions are not answered yet")
        self.table.check_number(message["number"])
        self._check_turn(page)
        task = asyncio.create_task(self._teach(page, _snapshot(self.table), message["action"]))
        self._lessons.add(task)
        task.add_done_callback(self._lessons.discard)

    async def _teach(self, page: PageConnection, table: GameTable, action: int) -> None:
        """Send a page the regret of the action that it is about to take."""
        message: dict[str, Any] = {"type": "taught", "number": table.number, "action": action}
        try:
            evaluation = await evaluate_own(self._pool, table, action)
        except (PlayerFailedError, TableError):  # with a regret of 0, the page takes the action
            page.send(message | {"regret": 0.0, "hint": ""})
            return
        page.send(await asyncio.to_thread(taught_message, table, evaluation, action))

    def _on_next(self, page: PageConnection, message: dict[str, Any]) -> None:
        raise TableError("next: expected a page of exercises")

    def _on_cancel(self, page: PageConnection, message: dict[str, Any]) -> None:
        if page in self._evaluators:
            self._evaluators[page].cancel()

    def _on_stop(self, page: PageConnection, message: dict[str, Any]) -> None:
        if self.table.acting_player is not None and not self.table.paused:
            self.table.paused = True
            self._stop()
            self.update_pages()

    def _on_go(self, page: PageConnection, message: dict[str, Any]) -> None:
        paused, self.table.paused = self.table.paused, False
        if not self._start_player() and paused:
            self.update_pages()

    def _on_pace(self, page: PageConnection, message: dict[str, Any]) -> None:
        self.pace = min(message["milliseconds"], 10_000) / 1000

    def _on_sit(self, page: PageConnection, message: dict[str, Any]) -> None:
        raise TableError("sit: this page is already connected to the table")

    # the clock

    @property
    def _acting_player(self) -> str | None:
        """The player to move; for a person whose time has run out, the substitute."""
        return self._substitute if self._is_out_of_time else self.table.acting_player

    @property
    def _is_out_of_time(self) -> bool:
        """Whether the time of the person to move has run out."""
        clock, game = self.table.clock, self.table.game
        return clock is not None and not game.done and game.seat in self.table.humans and not clock.left[game.seat]

    def _clock_seat(self) -> int | None:
        """Return the seat whose clock must be running now, or None."""
        seat, clock = self.table.game.seat, self.table.clock
        if clock is None or self.table.game.done or not self.pages or seat not in self.table.humans:
            return None
        if seat not in clock.present:
            return None
        pages = [page for page in self.pages if seat in page.mine]
        handed_over = not pages or any(page.handover_seat(self.table) != seat for page in pages)
        return seat if handed_over or seat == clock.begun else None

    def _charge(self) -> None:
        """Charge the time since the last call to the running clock."""
        now = time.monotonic()
        if self._running is not None and self.table.clock is not None:
            self.table.clock.spend(self._running, now - self._since)
        self._since = now

    def _set_clock(self) -> None:
        """Start or stop the clocks for the seat to move."""
        clock = self.table.clock
        if clock is None:
            return
        self._charge()
        clock.present = sorted({*clock.present, *(seat for page in self.pages for seat in page.mine)})
        stopped, self._running = self._running, self._clock_seat()
        clock.begun = clock.begun if self._running is None else self._running
        for timer in self._timers:
            timer.cancel()
        self._timers = []
        if self._running is not None and not self._is_out_of_time:
            loop = asyncio.get_running_loop()
            self._timers = [
                loop.call_later(clock.left[self._running] + 0.01, self._end_time),
                loop.call_later(_CLOCK_SAVE, self._save_clock),
            ]
        elif stopped is not None:
            self._save_clock()

    def _save_clock(self) -> None:
        """Save the clock; while a clock is running, save it again every few seconds."""
        if self.table.clock is None:
            return
        self._charge()
        with suppress(StoreError):  # the next action also saves the clock
            self._store.set_clock(self.table.name, self.table.clock)
        if self._running is not None and self._timers:
            self._timers[1] = asyncio.get_running_loop().call_later(_CLOCK_SAVE, self._save_clock)

    def _end_time(self) -> None:
        """Let the substitute play the rest of the turn."""
        self._charge()
        if self._is_out_of_time:
            self._changed()
        self.resume()

    def _send_clocks(self, pages: Iterable[PageConnection]) -> None:
        if self.table.clock is not None:
            message = self.table.clock.message(self.table.humans, self._running, self._substitute)
            for page in pages:
                page.send(message)

    # players

    def resume(self) -> None:
        """Start the player to move, if any, and update all pages."""
        if not self._start_player():
            self.update_pages()

    def _start_player(self) -> bool:
        """Start the player to move and update all pages, unless a player is running; return whether one was started."""
        if self._task is not None or self._acting_player is None or self.table.paused or not self.pages:
            return False
        self._began = time.monotonic()
        self._task = asyncio.create_task(self._run_players())
        self.update_pages()
        return True

    async def _run_players(self) -> None:
        try:
            while (player := self._acting_player) is not None and not self.table.paused and self.pages:
                number, self._began = self.table.number, time.monotonic()
                action, replaced = await self._pool.decide(self.table.config, player, self.table.question())
                left = self.pace - (time.monotonic() - self._began)
                if left > 0:
                    await asyncio.sleep(left)
                self._decide(number, action, " (replaced by a random action)" if replaced else "")
                self._began = time.monotonic()
                self.update_pages()
        except (PlayerFailedError, TableError, StoreError) as problem:
            self.table.paused = True
            self._message = f"The player cannot continue: {problem}"
            _log.warning("table %s: %s", self.table.name, problem)
        except Exception as problem:  # internal error: report it so that users do not wait forever
            self.table.paused = True
            self._message = f"The player cannot continue: {type(problem).__name__}: {problem}"
            _log.exception("table %s", self.table.name)
        finally:
            if self._task is asyncio.current_task():  # this task has not been replaced by another
                self._task = None
        self.update_pages()

    def _stop(self) -> asyncio.Task[None] | None:
        """Cancel the computing player, which takes no further action, and return its task, which ends soon."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        return task

    def leave(self, page: PageConnection) -> None:
        """Remove a disconnected page."""
        self.pages.discard(page)
        self._set_clock()
        if page in self._evaluators:
            self._evaluators.pop(page).cancel()

    async def close(self) -> None:
        """Stop the clock and all tasks."""
        self.pages.clear()
        self._set_clock()
        for evaluator in self._evaluators.values():
            evaluator.cancel()
        for lesson in list(self._lessons):
            lesson.cancel()
        if (task := self._stop()) is not None:
            await asyncio.wait({task})


class TableSessions:
    """The sessions of all tables with connected pages."""

    def __init__(self, store: TableStore, pool: PlayerPool) -> None:
        self.store, self.pool = store, pool
        self._open: dict[str, TableSession] = {}
        self._handled: dict[str, None] = {}
        self._paused = set[str]()  # tables that were paused when their last page closed

    def open(self, name: str) -> TableSession:
        """Open or return the session of a table; raise TableError if the table does not exist."""
        if name not in self._open:
            table = self.store.load(name)
            table.paused = name in self._paused
            self._open[name] = TableSession(table, self.store, self.pool, self._handled)
        return self._open[name]

    async def leave(self, session: TableSession, page: PageConnection | None) -> None:
        """Remove a disconnected page (None if it was rejected), and close the session after the last page."""
        if page is not None:
            session.leave(page)
        if not session.pages:
            if self._open.get(session.table.name) is session:  # another one may have opened while this page closed
                del self._open[session.table.name]
                self._paused.discard(session.table.name)
                if session.table.paused and not session.message:  # after an error, the player is called again
                    self._paused.add(session.table.name)
            await session.close()

    async def remove(self, name: str) -> None:
        """Delete a table; raise TableError if it does not exist or is still open in a browser."""
        session = self._open.get(name)
        if session is not None and not all(page.is_assistant for page in session.pages):
            raise TableError(f"table {name}: is open in a browser; close its pages first")
        if not self.store.has(name):
            raise TableError(f"table {name!r:.40}: does not exist")
        self.store.remove(name)
        self._paused.discard(name)
        if session is not None:
            del self._open[name]
            session.pages.clear()
            await session.close()

    async def close(self) -> None:
        """Stop all tasks."""
        for session in list(self._open.values()):
            await session.close()
        self._open.clear()
