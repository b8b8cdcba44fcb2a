"""The benchmark: every row is present and its figures can be compared."""

from __future__ import annotations

import importlib.util
import json
import runpy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.bench.speed import Measurement, comparison_table, run_benchmark
from helsinki_env.cli.main import main
from helsinki_env.cli.options import SectionPage
from helsinki_env.engine.kernel import JIT
from helsinki_env.utils.terminal import plain_console
from tests.test_layers import ROOT

pytestmark = pytest.mark.skipif(not JIT, reason="says nothing")

#: The program that measures one library. It runs without the package, so it loads our measurements by path.
PEER = runpy.run_path(str(ROOT / "docs" / "peers" / "peer.py"))
needs_openspiel = pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None, reason="the extra openspiel is not installed"
)

ENVIRONMENT = [
    "kernel: step + mask",
    "vector env: step + mask + observation",
    "vector env, copy=False",
    "AEC, raw",
    "AEC, wrapped",
    "clone",
    "random playout in the kernel",
]
PLAYERS = [
    "playout by the heuristic in the kernel",
    "heuristic, actions on the vector env",
    "mc:2, actions with a choice",
    "ismcts:3, actions with a choice",
]


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"].split(" (")[0] for row in rows]


def test_every_row_is_there() -> None:
    told: list[Measurement] = []
    result = run_benchmark((2, 8), (1, 2), 0.01, ("mc:2", "ismcts:3"), told.append)
    rows = result["rows"]
    assert list(dict.fromkeys(names(rows))) == [*ENVIRONMENT, *PLAYERS]
    assert [row.name for row in told] == [row["name"] for row in rows]
    yard = result["baseline"]["steps_per_second"]
    for row in rows:
        assert row["per_second"] > 0
        assert row["ratio"] == pytest.approx(row["per_second"] / yard)
        assert row["with_choosing"] is None or row["with_choosing"] < row["per_second"]
    for name in PLAYERS:
        assert names(rows).count(name) == 1
    last = rows[-1]
    assert last["name"] == f"ismcts:3, actions with a choice ({1000 / last['per_second']:,.1f} ms each)"
    assert (last["batch"], last["threads"]) == (1, 1)


def test_the_command_shows_and_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bench.json"
    words = ["bench", "--seconds", "0.01", "--batches", "2", "--threads", "1", "--json", str(path)]
    assert main([*words, "--players", "mc:2"]) == 0
    shown = capsys.readouterr().out
    for name in (*ENVIRONMENT, *PLAYERS[:3]):
        assert name.split()[0] in shown
    assert "mc:2, actions with a choice" in shown
    assert names(json.loads(path.read_text())["rows"]) == [*ENVIRONMENT, *PLAYERS[:3]]
    assert main([*words, "--players", "none"]) == 0
    assert names(json.loads(path.read_text())["rows"]) == [*ENVIRONMENT, *PLAYERS[:2]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_page_may_be_edited_while_its_figures_are_measured(end: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    text = f"# Speed{end}{end}<!-- written: against -->{end}old{end}<!-- end: against -->{end}"
    path.write_bytes(text.encode())
    page = SectionPage(path, ["against"])
    path.write_bytes((text + f"A new paragraph.{end}").encode())
    page.write({"against": "new\n"})
    assert path.read_bytes().decode() == text.replace("old", "new") + f"A new paragraph.{end}"
    with pytest.raises(ValueError, match=r"--write: .*page.md: found no section 'helsinki', expected the lines"):
        SectionPage(path, ["helsinki"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seconds", "0"], "--seconds: found 0.0, expected a number above 0"),
        (["--batches", "0"], "--batches: found 0, expected a whole number from 1 to"),
        (["--threads", ","], "--threads: found ',', expected whole numbers"),
        (["--players", "mc"], "player 'mc:': found the budget ''"),
    ],
)
def test_what_cannot_be_measured(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--seconds", "0.01", "--batches", "2", *words]) == 2
    assert message in capsys.readouterr().err


def test_games_in_tensors_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bench.json"
    words = ["bench", "--device", "cpu", "--seconds", "0.01", "--batches", "2,8", "--json", str(path)]
    assert main(words) == 0
    result = json.loads(path.read_text())
    assert [row["batch"] for row in result["rows"]] == [2, 8]
    assert all(row["with_choosing"] > 0 and row["without_observations"] > 0 for row in result["rows"])
    assert "with sampling" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("library", "game", "games"),
    [
        ("ours", "helsinki", 4),
        ("ours", "copenhagen", 1),
        ("ours", "helsinki:Game", 1),
        pytest.param("open_spiel", "connect_four", 1, marks=needs_openspiel),
    ],
)
def test_other_libraries_are_measured_in_the_same_way(library: str, game: str, games: int) -> None:
    alone, with_choosing = PEER[library](game, games)(0.01)
    assert 0 < with_choosing < alone


def test_a_device_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--device", "tpu"]) == 2
    assert "device: found 'tpu'" in capsys.readouterr().err


@pytest.mark.parametrize("width", [76, 80, 120])
def test_numbers_stay_whole_on_narrow_terminals(width: int) -> None:
    row = {"name": "vector env: step + mask + observation", "game": "helsinki", "games": 4096, "threads": 1}
    rates = {"then_median": 36_271_453.0, "now_median": 44_530_251.0}
    ratios = {"median": 21.08, "lowest": 19.25, "highest": 21.57, "interval_95": [20.29, 21.56]}
    result = {"against": {"revision": "8746bf1"}, "pairs": 8, "rows": [{**row, **rates, **ratios}]}
    shown = StringIO()
    comparison_table(result, "helsinki").show(plain_console(width=width, file=shown))
    lines = shown.getvalue().splitlines()
    words = " ".join(lines).split()
    assert {"vector", "observation", "4,096", "36,271,453", "44,530,251", "21.08", "19.25", "21.56"} <= set(words)
    assert all(len(line) <= width for line in lines)
