"""Read a dataset: the dataset card, the transitions as arrays, and the game records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import read_json
from helsinki_env.dataset.transitions import DatasetError
from helsinki_env.records import Record, read_records
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["CARD", "Dataset", "has_file"]

CARD = "dataset.json"
"""File name of the dataset card."""


class Dataset:
    """A complete or incomplete dataset in a folder.

    Args:
        folder: dataset folder, as written by ``helsinki dataset``.

    Attributes:
        card: the contents of dataset.json.

    Raises:
        DatasetError: if the folder does not contain a dataset.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._card = read_json(self.folder / CARD, DatasetError).mapping()
        self.card: dict[str, Any] = self._card.value

    def batches(
        self, columns: Sequence[str] | None = None, shards: Sequence[int] | None = None
    ) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the transitions of up to 25 games at a time, as a dict of column arrays with one row per action.

        Args:
            columns: names of the columns to read; None reads all columns.
            shards: indices of the shards to read, in this order; None reads all shards.

        Raises:
            DatasetError: if the card is invalid, a column or shard is unknown, or a file is missing or has changed.
        """
        known = [column["name"].text("a name") for column in self._card["columns"].entries("columns")]
        names = known if columns is None else list(columns)
        if unknown := [name for name in names if name not in known]:
            raise DatasetError(f"columns: found {unknown[0]!r}, expected some of {', '.join(known)}")
        for path in self._files("data", shards):
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    table = file.read_row_group(group, names)
                    yield {name: _to_numpy(table[name].combine_chunks()) for name in names}

    def records(self, shards: Sequence[int] | None = None) -> Iterator[Record]:
        """Yield the record of each game. `shards` and the errors are the same as for `batches`."""
        for path in self._files("games", shards):
            yield from read_records(path)

    def _files(self, kind: str, shards: Sequence[int] | None) -> Iterator[Path]:
        entries = self._card["shards"].entries("shards")
        for number in range(len(entries)) if shards is None else shards:
            if not 0 <= number < len(entries):
                raise DatasetError(f"shards: found {number}, expected numbers from 0 to {len(entries) - 1}")
            files = entries[number]["files"].mapping()
            name = next((name for name in files.value if name.startswith(kind) and name == Path(name).name), None)
            if name is None:
                files.fail(f"the name of a file that begins with {kind}")
            if not has_file(self.folder, name, files[name].text("a SHA-256")):
                raise DatasetError(f"{self.folder / name}: found no file, expected it; run helsinki dataset again")
            yield self.folder / name


def has_file(folder: Path, name: str, sha256: str) -> bool:
    """Return whether a file of the dataset card exists; raise DatasetError if it has changed."""
    path = folder / Path(name).name
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() == sha256:
            return True
    raise DatasetError(
        f"{path}: found a changed file, expected the SHA-256 {str(sha256)[:16]} of {CARD}; remove the file, and the "
        "same helsinki dataset command writes it again"
    )


def _to_numpy(values: Any) -> npt.NDArray[Any]:
    """Convert an Arrow array to a NumPy array; lists of n values become rows, (D, n)."""
    if pa.types.is_fixed_size_list(values.type):
        return np.asarray(values.flatten()).reshape(-1, values.type.list_size)
    return np.asarray(values.to_numpy(zero_copy_only=False))
