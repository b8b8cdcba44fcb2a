"""Files of records, one a line: read one after the other, written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

from helsinki_env.data import brief
from helsinki_env.files import held, replaced_by, replacing
from helsinki_env.play.record.lines import Record, RecordError

MOST_LINE = 2**20
"""Characters of a record; a long game takes a few thousand."""


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a file, one line each; blank lines are skipped.

    Raises:
        RecordError: if there is no such file, or for a record that cannot be used: file, line, key, value, what is
            expected and what to do.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if not line.strip():
                    continue
                try:
                    if len(line) > MOST_LINE:
                        raise RecordError(f"record: found more than {MOST_LINE:,} characters, expected fewer")
                    record = Record.from_json(line.rstrip("\n"))
                except RecordError as problem:
                    raise RecordError(f"{brief(path)}, line {number}: {problem}") from None
                yield record
    except RecordError:
        raise
    except UnicodeDecodeError:
        raise RecordError(f"{brief(path)}: is no text; expected one record in JSON a line") from None
    except (OSError, ValueError) as problem:  # of the latter kind: a name that no file can have
        reason = getattr(problem, "strerror", None) or problem
        raise RecordError(
            f"{brief(path)}: cannot be read: {reason}; helsinki simulate --out writes such files"
        ) from None


def write_records(path: str | Path, records: Iterable[Record], *, append: bool = False) -> int:
    """Write records to a file, one line each, all or none; return how many.

    Args:
        path: the file; its folder is made if it is missing.
        records: what to write.
        append: keep what the file holds and write after it; otherwise it is replaced.

    Raises:
        RecordError: if the file cannot be written, another process is writing to it, or what it holds ends within a
            line.
    """
    count = 0
    with RecordWriter(path, append=append) as writer:
        for record in records:
            writer.write(record)
            count += 1
    return count


class _Discarded(Exception):  # noqa: N818  # nothing went wrong
    """What has been written is not wanted any more."""


class RecordWriter:
    """Writes records one after the other; the file appears, whole, when the block ends without an error.

    A file has one writer at a time. Arguments and errors: see `write_records`.

        with RecordWriter("games.jsonl") as writer:
            writer.write(record)
    """

    def __init__(self, path: str | Path, *, append: bool = False) -> None:
        self.path = Path(path)
        self.append = append
        self._stack = ExitStack()

    def __enter__(self) -> RecordWriter:
        """Open the temporary file."""
        with ExitStack() as stack:
            try:
                target = replaced_by(self.path)
                if target is not None:
                    stack.enter_context(held(target.parent / f".{target.name}.lock", self._busy()))
                self._file = stack.enter_context(replacing(self.path))
                if self.append and target is not None and target.exists():
                    self._copy()
            except OSError as problem:
                raise RecordError(f"{self.path}: cannot be written: {problem.strerror}") from None
            self._stack = stack.pop_all()
        return self

    def _busy(self) -> RecordError:
        remedy = "wait for it, or choose another file: what both write would be lost to one of them"
        return RecordError(f"{self.path}: another process is writing to it ({remedy})")

    def _copy(self) -> None:
        with self.path.open("rb") as old:
            shutil.copyfileobj(old, self._file)
            if old.tell() > 0:
                old.seek(-1, os.SEEK_END)
                if old.read(1) != b"\n":
                    raise RecordError(f"{self.path}: the last line has no end: was it cut off? remove that line first")

    def write(self, record: Record) -> None:
        """Write one record."""
        self._file.write(record.to_json().encode() + b"\n")

    def copy(self, lines: Iterable[bytes]) -> None:
        """Write records that are lines already."""
        self._file.writelines(lines)

    def finish(self) -> None:
        """Put the file in its place now; nothing can be written any more, and nothing undoes it."""
        self._stack.close()

    def discard(self) -> None:
        """Leave what was there before; nothing can be written any more."""
        with suppress(_Discarded), self._stack:
            raise _Discarded

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put the file in its place, or remove it if something went wrong."""
        self._stack.__exit__(kind, error, trace)
