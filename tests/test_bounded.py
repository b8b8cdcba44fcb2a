"""Small files that would fill the memory are rejected before they are unpacked."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from helsinki_env.data import parse_json  # noqa: E402
from helsinki_env.evaluation.arena.load import load_run  # noqa: E402
from helsinki_env.evaluation.arena.parquet import SCHEMA, BoundedParquetFile, read_parquet  # noqa: E402
from helsinki_env.evaluation.arena.plan import ArenaError  # noqa: E402
from helsinki_env.web.uploads import UploadError, parse_upload, upload_summary  # noqa: E402
from tests.support.server import ROOT  # noqa: E402

MANY = 20_000_000


def table(games: int = 1, **columns: Any) -> Any:
    """Return games of nothing, with some columns instead."""
    found: list[Any] = []
    for field in SCHEMA:
        if field.name in columns:
            found.append(columns[field.name])
        elif field.name == "players":
            found.append(pa.array([["a", "b"]] * games, field.type))
        elif pa.types.is_list(field.type):
            found.append(pa.array([[]] * games, field.type))
        else:
            found.append(pa.array(([""] if pa.types.is_string(field.type) else [0]) * games, field.type))
    return pa.Table.from_arrays(found, schema=SCHEMA)


def one_list(column: str, length: int = MANY, value: Any = 0) -> Any:
    """Return a column of one list of equal values."""
    kind = SCHEMA.field(column).type
    values = pa.DictionaryArray.from_arrays(np.zeros(length, np.int32), pa.array([value])).cast(kind.value_type)
    return pa.ListArray.from_arrays(pa.array([0, length], pa.int32()), values).cast(kind)


def parquet(rows: Any, **more: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(rows, file, compression="zstd", **more)
    return file.getvalue()


def nested(depth: int = 900) -> Any:
    kind = pa.int8()
    for _ in range(depth):
        kind = pa.list_(kind)
    return pa.table({"a": pa.array([None], kind)})


def varint(number: int, length: int = 0) -> bytes:
    """Return a number in the encoding of the footer, in at least `size` bytes."""
    number, found = 2 * number, list[int]()
    while number > 127 or len(found) < length - 1:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def understated() -> bytes:
    """A file whose footer says that the list is short."""
    whole = parquet(table(decisions=one_list("decisions")))
    said, footer = varint(MANY), len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    assert said in whole[footer:]
    return whole[:footer] + whole[footer:].replace(said, varint(30_000, len(said)))


_BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "decisions": (lambda: parquet(table(decisions=one_list("decisions"))), "values of decisions: found 20,000,000"),
    "scores": (lambda: parquet(table(scores=one_list("scores"))), "values of scores: found 20,000,000"),
    "players": (lambda: parquet(table(players=one_list("players", 10**6, "x" * 30))), "values of players"),
    "text": (lambda: parquet(table(matchup=pa.array(["x" * 200_000_000]))), "bytes of a decompressed row group"),
    "plain": (lambda: parquet(table(decisions=one_list("decisions")), use_dictionary=False), "values of decisions"),
    "version 2": (lambda: parquet(table(scores=one_list("scores")), data_page_version="2.0"), "values of scores"),
    "understated": (understated, "values of decisions: found 20,000,001, expected at most 65,534"),
    "games": (lambda: parquet(table(2_000_000)), "games of a row group"),
    "groups": (lambda: parquet(table(10_000), row_group_size=1), "Exceeded size limit"),
    "metadata": (
        lambda: parquet(table().replace_schema_metadata({"a": "x" * 30_000_000})),
        "bytes of its footer: found",
    ),
    "columns": (lambda: parquet(pa.table({f"c{i}": [1] for i in range(10_000)})), "cannot be read as Parquet"),
    "depth": (lambda: parquet(nested()), "cannot be read as Parquet"),
    "made of others": (
        lambda: parquet(
            table(seed=pa.array([0], pa.uint64())),
            use_dictionary=False,
            column_encoding={"config_digest": "DELTA_BYTE_ARRAY"},
        ),
        "config_digest: found encoding 7",
    ),
    "lists": (lambda: b'{"game": ' + b"[" + b"[]," * 4_000_000 + b"[]]}", "more than 1,048,576 characters"),
    "lines": (lambda: b"0\n" * 4_000_000, "more than 200,000 lines"),
    "line": (lambda: b"{}\n" + b"[" + b"[]," * 4_000_000, "no keys"),
}

_QUICK = ("decisions", "lists")
_OTHERS = tuple(name for name in _BOMBS if name not in _QUICK)

#: Reads files as uploads are read, and as those of runs are; prints what was wrong, and the growth of memory in MB.
_READ = """
import json, resource, sys
from pathlib import Path
from helsinki_env.evaluation.arena.parquet import read_parquet
from helsinki_env.web.uploads import parse_upload, upload_summary

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)

path = Path(sys.argv[1])
content = path.read_bytes()
ways = [lambda: upload_summary(parse_upload(content), 300)]
if content.startswith(b"PAR1"):
    ways.append(lambda: list(read_parquet(path)))
before, said = peak(), []
for way in ways:
    try:
        way()
        said.append("")
    except ValueError as problem:
        said.append(str(problem))
print(json.dumps([said, peak() - before]))
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="memory is told by POSIX")
@pytest.mark.parametrize("name", [*_QUICK, *(pytest.param(name, marks=pytest.mark.nightly) for name in _OTHERS)])
def test_files_that_would_fill_the_memory_are_refused_before_they_are_unpacked(name: str, tmp_path: Path) -> None:
    make, message = _BOMBS[name]
    path = tmp_path / "file"
    path.write_bytes(make())
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    said, megabytes = json.loads(done.stdout)
    assert all(message in one for one in said), said
    assert megabytes < 250


def test_texts_that_are_meant_often_stay_one(tmp_path: Path) -> None:
    path = tmp_path / "games.parquet"
    path.write_bytes(parquet(table(60_000, matchup=pa.array(["x" * 3900] * 60_000))))
    with pytest.raises(ArenaError, match="bytes of the texts of matchup: found 234,000,000"):
        list(read_parquet(path))
    path.write_bytes(parquet(table(matchup=pa.array(["x" * 5000]))))
    with pytest.raises(ArenaError, match="bytes of a text of matchup: found 5,000"):
        list(read_parquet(path))


@pytest.mark.thorough
def test_a_few_games_of_many_long_ones_are_read(tmp_path: Path) -> None:
    decisions = pa.array([[1] * 32_000] * 1000, SCHEMA.field("decisions").type)
    content = parquet(table(1000, decisions=decisions))
    with BoundedParquetFile(content, SCHEMA) as file:
        first = next(file.batches(0, ("seed", "decisions")))
        assert 0 < len(first) < 100
        assert first[0]["decisions"] == [1] * 32_000
    mixed = [[1] * 100_000, *([[1]] * 99)]
    with (
        BoundedParquetFile(parquet(table(100, decisions=pa.array(mixed, decisions.type))), SCHEMA) as file,
        pytest.raises(ArenaError, match="values of decisions: found 100,000, expected at most 32,767"),
    ):
        next(file.batches(0, ("decisions",)))


@pytest.mark.thorough
def test_the_games_of_a_run_are_those_of_its_plan_before_they_are_unpacked(tmp_path: Path) -> None:
    from tests.games import GAMES
    from tests.test_arena import small_run

    small_run(GAMES[0], tmp_path)
    games = tmp_path / "games.parquet"
    for content, message in (
        (parquet(table(decisions=one_list("decisions"))), "found 1 games, expected 2"),
        (parquet(table(2), row_group_size=1), "found 2 row groups, expected 1"),
        (
            parquet(table(2, decisions=pa.array([[0] * MANY, []], SCHEMA.field("decisions").type))),
            "values of decisions: found 20,000,001, expected at most 65,534",
        ),
    ):
        games.write_bytes(content)
        digests = json.loads((tmp_path / "digests.json").read_text())
        digests["games.parquet"] = hashlib.sha256(content).hexdigest()
        (tmp_path / "digests.json").write_text(json.dumps(digests))
        with pytest.raises(ArenaError, match=message):
            load_run(tmp_path)


def test_a_text_of_millions_of_values_is_refused() -> None:
    with pytest.raises(ValueError, match="found more than 2,097,152 values"):
        parse_json("[" + "[]," * 2_000_000 + "[]]", ValueError)
    with pytest.raises(UploadError, match="more than 1,048,576 characters"):
        upload_summary(parse_upload(b'{"game": "helsinki", "seats": [' + b"0," * 600_000 + b"0]}"), 1)
