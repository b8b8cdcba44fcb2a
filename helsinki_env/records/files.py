"""Files of records, one per line: sequential reading and atomic writing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

from helsinki_env.data import shorten
from helsinki_env.records.codec import Record, RecordError
from helsinki_env.utils.files import atomic_write, hold_lock_file, remove_leftovers, replacement_target

MAX_LINE = 2**20
"""Maximum number of characters in a record; a long game takes a few thousand."""


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a file, one per line; blank lines are skipped.

    Raises:
        RecordError: if the file does not exist or a record is invalid; names file, line, key, value found, value
            expected and the remedy.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if not line.strip():
                    continue
                try:
                    if len(line) > MAX_LINE:
                        raise RecordError(f"record: found more than {MAX_LINE:,} characters, expected fewer")
                    record = Record.from_json(line.rstrip("\n"))
                except RecordError as problem:
                    raise RecordError(f"{shorten(path)}, line {number}: {problem}") from None
                yield record
    except RecordError:
        raise
    except UnicodeDecodeError:
        raise RecordError(f"{shorten(path)}: found binary data, expected one record in JSON per line") from None
    except (OSError, ValueError) as problem:  # ValueError: an invalid file name
        reason = getattr(problem, "strerror", None) or problem
        raise RecordError(
            f"{shorten(path)}: cannot be read: {reason}; helsinki simulate --out writes records"
        ) from None


def write_records(path: str | Path, records: Iterable[Record], *, append: bool = False) -> int:
    """Write records to a file, one per line, all or none; return their number.

    Args:
        path: the file; its folder is created if it does not exist.
        records: the records.
        append: append to the file instead of replacing it.

    Raises:
        RecordError: if the file cannot be written, another process is writing to it, or its contents end within a line.
    """
    count = 0
    with RecordWriter(path, append=append) as writer:
        for record in records:
            writer.write(record)
            count += 1
    return count


class _Discarded(Exception):  # noqa: N818  # not an error
    """Discard the written records."""


class RecordWriter:
    """Writes records one by one; the complete file appears when the block ends without an error.

    A file has one writer at a time. Other arguments and errors: see `write_records`.

        with RecordWriter("games.jsonl") as writer:
            writer.write(record)

    Args:
        follow: if the path is a symbolic link, replace its target instead of the link.
    """

    def __init__(self, path: str | Path, *, append: bool = False, follow: bool = True) -> None:
        self.path = Path(path)
        self.append, self.follow = append, follow
        self._stack = ExitStack()

    def __enter__(self) -> RecordWriter:
        """Open the temporary file."""
        with ExitStack() as stack:
            try:
                target = replacement_target(self.path, follow=self.follow)
                if target is not None:
                    busy = RecordError(f"{self.path}: another process is writing to it; wait, or choose another file")
                    stack.enter_context(hold_lock_file(target.parent / f".{target.name}.lock", busy))
                    remove_leftovers(target.parent)
                self._file = stack.enter_context(atomic_write(self.path, follow=self.follow))
                if self.append and target is not None and target.exists():
                    self._copy()
            except OSError as problem:
                raise RecordError(f"{self.path}: cannot be written: {problem.strerror}") from None
            self._stack = stack.pop_all()
        return self

    def _copy(self) -> None:
        with self.path.open("rb") as old:
            shutil.copyfileobj(old, self._file)
            if old.tell() > 0:
                old.seek(-1, os.SEEK_END)
                if old.read(1) != b"\n":
                    raise RecordError(
                        f"{self.path}: found a truncated last line, expected a line end; remove that line first"
                    )

    def write(self, record: Record) -> None:
        """Write one record."""
        self._file.write(record.to_json().encode() + b"\n")

    def copy(self, lines: Iterable[bytes]) -> None:
        """Write records that are already lines."""
        self._file.writelines(lines)

    def finish(self) -> None:
        """Save the file; nothing can be written afterwards."""
        self._stack.close()

    def discard(self) -> None:
        """Leave the previous file unchanged; nothing can be written afterwards."""
        with suppress(_Discarded), self._stack:
            raise _Discarded

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Save the file, or remove the temporary file after an error."""
        self._stack.__exit__(kind, error, trace)
