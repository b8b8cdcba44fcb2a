"""The output file for the games of a match, from which an interrupted match resumes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from helsinki_env.records import Record, RecordError, RecordWriter
from helsinki_env.utils.files import replacement_target
from helsinki_env.utils.stopping import defer_interrupt, rerun_command_line

if TYPE_CHECKING:
    from helsinki_env.evaluation.match import Match, Results

__all__ = ["MatchFile"]


class MatchFile:
    """Collects the games of a match as they end, and writes them in the order of their numbers.

    The file appears when the block ends or `keep` is called; until then, or after an error, the previous file remains.
    A path of None only counts the games. With `append` or `resume`, the file keeps its contents. With `resume`, the
    games at its end belong to the match, and `before` holds their results. Errors are RecordErrors.
    """

    def __init__(
        self, path: Path | None, match: Match, games: int, *, append: bool = False, resume: bool = False
    ) -> None:
        self.path, self.match, self.games, self.resume = path, match, games, resume
        self.before: Results | None = None
        self._writer = None if path is None else RecordWriter(path, append=append)
        #: Finished games that wait for all games before them.
        self._waiting: dict[int, Record] = {}
        self._next = 0
        self._count = 0
        self._closed = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of finished games of the match."""
        return self._count

    def __enter__(self) -> MatchFile:
        """Open the file and read its contents."""
        if self._writer is None:
            return self
        self._writer.__enter__()
        if self.resume:
            try:
                self._read(self._writer)
            except BaseException:
                self._writer.discard()
                raise
        return self

    def _read(self, writer: RecordWriter) -> None:
        """Read the games of the match from the end of the file, and copy the lines before them."""
        assert self.path is not None
        if not self.path.exists():
            raise RecordError(f"--resume: found no file {self.path}, expected one; leave out --resume to start")
        if replacement_target(self.path, follow=True) is None:
            raise RecordError(f"--resume: found {self.path}, expected a regular file; leave out --resume to start")
        lines = self.path.read_bytes().splitlines(keepends=True)
        numbers, config = self.match.numbers(self.games), self.match.config
        records: dict[int, Record] = {}
        first, ours = self.match.round_up_games(self.games), len(lines)
        while ours:
            record = self._record(lines[ours - 1], ours)
            same = record.config == config or record.config.digest == config.digest
            number = numbers.get((record.seed, record.players)) if same and record.finished else None
            if number is None or number >= first:
                break
            records[number] = record
            first, ours = number, ours - 1
        if not records:
            raise RecordError(
                f"--resume: {self.path} does not end with a game of this match: expected {', '.join(self.match.names)} "
                f"in turn, seed {self.match.seed}, at most {self.match.round_up_games(self.games):,} games and the "
                "same rules (repeat the options of the interrupted command, or use --append for another match)"
            )
        self.before = self.match.results_from_records(sorted(records.items()))
        if not self.match.reproduces(self.before, 0):
            raise RecordError(
                f"--resume: {self.path}, line {ours + 1}: found a game that these players play differently, expected "
                "the players of the interrupted command, unchanged and in the same order"
            )
        writer.copy(lines[:ours])
        self.add(self.before)

    def _record(self, line: bytes, number: int) -> Record:
        try:
            return Record.from_json(line.decode())
        except ValueError as problem:
            raise RecordError(f"{self.path}, line {number}: {problem}") from None

    def add(self, results: Results) -> None:
        """Add finished games; called from several threads."""
        with defer_interrupt(), self._lock:
            if self._closed:
                return  # too late: the command is stopping
            self._count += len(results)
            if self._writer is not None:
                self._waiting |= dict(zip(results.numbers.tolist(), results.records(), strict=True))
                while self._next in self._waiting:
                    self._writer.write(self._waiting.pop(self._next))
                    self._next += 1

    def keep(self) -> str:
        """Save the file with the games so far, and return a message with the number saved and how to resume."""
        with defer_interrupt(), self._lock:
            total = f"{self.match.round_up_games(self.games):,} games"
            if self._writer is None:
                return (
                    f"{self._count:,} of {total} played, none saved without --out; start again with: "
                    f"{rerun_command_line()}"
                )
            if not self._count:
                self._close(self._writer.discard)
                return f"no finished games; start again with: {rerun_command_line()}"
            for _, record in sorted(self._waiting.items()):
                self._writer.write(record)
            self._close(self._writer.finish)
            resume_command = rerun_command_line("--resume", without=("--append",))
            return f"{self._count:,} of {total} saved in {self.path}; resume with: {resume_command}"

    def _close(self, how: Callable[[], None]) -> None:
        if not self._closed:
            self._closed = True
            how()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Save the file, or leave the previous one after an error or if a game is missing."""
        if self._writer is None:
            return
        with defer_interrupt(), self._lock:
            total = self.match.round_up_games(self.games)
            if kind is None and self._next < total and not self._closed:
                self._close(self._writer.discard)
                raise RecordError(f"{self.path}: found {self._next:,} games, expected {total:,}; start again")
            self._close(self._writer.finish if kind is None else self._writer.discard)
