"""Progress display on standard error: a progress bar, or occasional lines."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console

#: Delay before the progress display appears, in seconds.
_PATIENCE = 2.0
#: Seconds between two lines where no bar can be drawn: in files, and on terminals without cursor movement.
_LINES = 30.0
#: Minimum time (in seconds) and number of reports over which the rate is averaged. It adapts to slower players but does
#: not jump with every report of a very slow player.
_RECENT, _FEW = 120.0, 16


class Pace:
    """The recent rate of progress. The first items are often much faster, so an overall average would be misleading."""

    def __init__(self, started: float) -> None:
        self._done, self._seen = 0, deque([(started, 0)])

    def add(self, now: float, count: int) -> None:
        """Record that a number of items finished at the time `now`, in seconds."""
        self._done += count
        self._seen.append((now, self._done))
        while len(self._seen) > _FEW + 1 and self._seen[1][0] <= now - _RECENT:
            self._seen.popleft()

    def rate(self, now: float) -> float:
        """Return the number of finished items per second, or 0 if it is not known yet."""
        then, before = self._seen[0]
        return (self._done - before) / (now - then) if now > then else 0.0


class ProgressDisplay:
    """Shows the number of finished items out of `games`, after a short delay; `what` is the noun for the items."""

    def __init__(self, games: int, what: str = "games") -> None:
        self.games, self.what, self.done, self.before = games, what, 0, 0
        self.started = self.said = time.monotonic()
        self.pace = Pace(self.started)
        self.lock = threading.Lock()
        self.console = plain_console(stderr=True)
        self.draws = self.console.is_terminal and not self.console.is_dumb_terminal
        self.progress: Progress | None = None
        self.over = False
        self.patience = threading.Timer(_PATIENCE, self.advance, [0])
        self.patience.daemon = True

    def __enter__(self) -> ProgressDisplay:
        """Start the progress display."""
        self.patience.start()
        return self

    def resume(self, games: int) -> None:
        """Add games from an earlier run, which do not count toward the rate."""
        with self.lock:
            self.done += games
            self.before += games

    def advance(self, games: int) -> None:
        """Add to the number of finished games. Thread-safe."""
        with self.lock:
            self.done += games
            now = time.monotonic()
            if games:
                self.pace.add(now, games)
            if self.over:
                return
            if not self.draws:
                if now - self.said >= _LINES:
                    self.said = now
                    self.console.print(f"{self.done:,} of {self.games:,} {self.what}{self._rate()}")
            elif now - self.started >= _PATIENCE:
                self._bar().update(self._bar().task_ids[0], completed=self.done, description=self._rate())

    def _bar(self) -> Progress:
        if self.progress is None:
            columns = (self.what, BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
            self.progress = Progress(*columns, console=self.console, transient=True)
            self.progress.add_task("", total=self.games)
            self.progress.start()
        return self.progress

    def _rate(self) -> str:
        """Return the rate and the remaining time as text, or an empty string while they are unknown."""
        rate = self.pace.rate(time.monotonic())
        if not rate:
            return ""
        left = timedelta(seconds=round((self.games - self.done) / rate))
        return f", {rate:,.1f} {self.what}/s, {left} left"

    def __exit__(self, *_: object) -> None:
        """Remove the progress display."""
        self.patience.cancel()
        with self.lock:
            self.over = True
            if self.progress is not None:
                self.progress.stop()


@contextmanager
def saved_progress(count: int, what: str, out: Path, part: str = "") -> Iterator[ProgressDisplay]:
    """Show the progress of a command that saves its results in `out`; on Ctrl-C, print how many and how to resume.

    `what` is the noun for the results. If they are only one `part` of the run, the message names it.
    """
    display, of_part = ProgressDisplay(count, what), f" of part {part}" if part else ""

    def saved() -> str:
        return f"{display.done:,} of {count:,} {what}{of_part} saved in {out}; resume with: {rerun_command_line()}"

    with save_on_interrupt(saved), display:
        yield display
