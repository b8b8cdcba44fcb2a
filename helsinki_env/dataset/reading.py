"""Read a dataset: the dataset card, the transitions as arrays, and the game records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import read_json
from helsinki_env.dataset.transitions import DatasetError
from helsinki_env.dataset.writing import CARD, file_sha256
from helsinki_env.records import Record, read_records
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    import pyarrow.parquet as pq

__all__ = ["Dataset"]


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
        self.card: dict[str, Any] = read_json(self.folder / CARD, DatasetError).mapping().value

    def batches(
        self, columns: Sequence[str] | None = None, shards: Sequence[int] | None = None
    ) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the transitions of up to 25 games at a time, as a dict of column arrays with one row per action.

        Args:
            columns: names of the columns to read; None reads all columns.
            shards: indices of the shards to read, in this order; None reads all shards.

        Raises:
            DatasetError: if a column is unknown, or a file is missing or has changed.
        """
        known = {column["name"]: (column["dtype"], column["shape"]) for column in self.card["columns"]}
        names = list(known) if columns is None else list(columns)
        if unknown := [name for name in names if name not in known]:
            raise DatasetError(f"columns: found {unknown[0]!r}, expected some of {', '.join(known)}")
        for path in self._files("data", shards):
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    table = file.read_row_group(group, names)
                    yield {name: _numpy(table[name], *known[name]) for name in names}

    def records(self, shards: Sequence[int] | None = None) -> Iterator[Record]:
        """Yield the record of each game. `shards` and the errors are the same as for `batches`."""
        for path in self._files("games", shards):
            yield from read_records(path)

    def _files(self, kind: str, shards: Sequence[int] | None) -> Iterator[Path]:
        """Yield the files of some shards, verifying the checksum of each."""
        entries = self.card["shards"]
        for entry in entries if shards is None else [entries[number] for number in shards]:
            name = next(name for name in entry["files"] if name.startswith(kind))
            path = self.folder / name
            if not path.is_file() or file_sha256(path) != entry["files"][name]:
                found = "a changed file" if path.is_file() else "no file"
                raise DatasetError(
                    f"{path}: found {found}, expected that of {CARD}; remove it, and run helsinki dataset again"
                )
            yield path


def _numpy(column: Any, dtype: str, shape: Sequence[int]) -> npt.NDArray[Any]:
    values = column.combine_chunks()
    flat = np.asarray((values.flatten() if shape else values).to_numpy(zero_copy_only=False))
    return flat.astype(object if dtype == "str" else dtype, copy=False).reshape(-1, *shape)
