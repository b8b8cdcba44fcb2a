"""`helsinki bench --against` compares two checkouts in real processes and leaves no files behind.

The processes run the kernels as plain Python: that is slow, but nothing is compiled.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.bench import paired
from helsinki_env.bench.measures import MEASUREMENT_KINDS, MeasurementRequest
from helsinki_env.bench.paired import Checkout, Comparison, Worker, median_interval
from helsinki_env.bench.speed import compared_part
from helsinki_env.cli.commands import bench
from helsinki_env.cli.main import main
from helsinki_env.utils.markdown import replace_section
from tests.support.blocks import ROOT

PLAIN = {"NUMBA_DISABLE_JIT": "1"}
SHORT = [
    "--game",
    "helsinki",
    "--only",
    "env",
    "--players",
    "none",
    "--batches",
    "1",
    "--threads",
    "1",
    "--seconds",
    "0.05",
]
PARTS = ("helsinki_env", "agents", "training", "configs")
#: Seconds that no step falls short of.
DELAY = 0.02
SLOWER = f"""

def slower(env, actions, step=GameVectorEnv.step):
    __import__("time").sleep({DELAY})
    return step(env, actions)


GameVectorEnv.step = slower
"""
ASKED = MeasurementRequest("env", "helsinki", 1, 1, [], 0, 0.01)


def git(folder: Path, *words: str) -> str:
    settings = {"core.hooksPath": os.devnull, "user.name": "a", "user.email": "a@b", "commit.gpgsign": "false"}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    command = ["git", "-C", str(folder), *options, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of the project as it is, with a change that is not committed: each step of a batch takes longer."""
    folder = tmp_path_factory.mktemp("slower") / "project"
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PARTS)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "as it is")
    with (folder / "helsinki_env" / "envs" / "vector.py").open("a", encoding="utf-8") as file:
        file.write(SLOWER)
    return folder


def start(folder: Path, scratch: Path, *words: str) -> subprocess.Popen[str]:
    scratch.mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "helsinki_env.cli.main", "bench", "--against", "HEAD", *SHORT, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder,
        env=os.environ | PLAIN | {"PYTHONPATH": str(folder), "TMPDIR": str(scratch)},
    )  # fmt: skip


def nothing_is_left(folder: Path, scratch: Path) -> bool:
    return list(scratch.iterdir()) == [] and git(folder, "worktree", "list").count("\n") == 1


@pytest.mark.nightly
def test_a_planted_delay_is_found(slower: Path, tmp_path: Path) -> None:
    path, scratch = tmp_path / "found.json", tmp_path / "scratch"
    with start(slower, scratch, "--pairs", "2", "--json", str(path)) as process:
        shown, errors = process.communicate()
    assert process.returncode == 0, errors
    found = json.loads(path.read_text())
    (row,) = found["rows"]
    assert len(row["ratios"]) == found["pairs"] == 2
    assert max(row["rates"]["now"]) < 1 / DELAY
    assert row["median"] == sum(row["ratios"]) / 2 < 0.9
    assert row["interval_95"] is None
    assert found["revision"].endswith(" with changes")
    assert found["against"]["revision"] == git(slower, "rev-parse", "HEAD")[:7]
    assert f"this code against {found['against']['revision']}, medians of 2 pairs" in " ".join(shown.split())
    assert nothing_is_left(slower, scratch)


@pytest.mark.thorough
def test_ctrl_c_keeps_the_pairs_that_there_are(slower: Path, tmp_path: Path) -> None:
    path, scratch = tmp_path / "found.json", tmp_path / "scratch"
    with start(slower, scratch, "--pairs", "1000", "--json", str(path)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("1 of 1000 pairs"):
                break
        os.killpg(process.pid, signal.SIGINT)
        shown, errors = process.communicate()
    assert process.returncode == 130, errors
    pairs = json.loads(path.read_text())["pairs"]
    assert 1 <= pairs < 1000
    assert f"medians of {pairs} pairs" in " ".join(shown.split())
    kept = f"helsinki bench: interrupted: {pairs} of 1000 pairs, and the incomplete next one, shown, and saved in"
    assert f"{kept} {path}; start again with: helsinki bench --against HEAD" in errors
    assert nothing_is_left(slower, scratch)


# Without the project


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, taken for the one in which the project stands."""
    folder = (tmp_path / "bare").resolve()
    folder.mkdir()
    monkeypatch.setattr(paired, "ROOT", folder)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    return folder


def test_what_cannot_be_checked_out(
    bare: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def complaint(revision: str) -> str:
        assert main(["bench", *SHORT, f"--against={revision}"]) == 2
        return capsys.readouterr().err

    assert "expected a git checkout of the project; clone it" in complaint("HEAD")
    git(bare, "init", "--quiet")
    git(bare, "commit", "--quiet", "--allow-empty", "--message", "nothing yet")
    assert "--against: found nowhere, expected a revision that git knows" in complaint("nowhere")
    assert "--against: found --all, expected a revision that git knows" in complaint("--all")
    assert "--against: found HEAD, expected a revision with the package helsinki_env" in complaint("HEAD")
    monkeypatch.setenv("PATH", "")
    assert "--against: found no git, which is needed" in complaint("HEAD")


def test_a_part_of_another_checkout_is_none_of_the_project(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(bare, "init", "--quiet")
    monkeypatch.setattr(paired, "ROOT", bare / "site-packages")
    (bare / "site-packages").mkdir()
    with pytest.raises(ValueError, match="expected a git checkout of the project"):
        Checkout("HEAD")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "AttributeError: module 'helsinki_env' has no attribute 'HelsinkiVectorEnv'"),
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("import os; os._exit(3)", "the measuring process ended with status 3"),
        ("def HelsinkiVectorEnv(games): __import__('os')._exit(4)", "ended with status 4"),
    ],
)
def test_what_a_revision_lacks_is_said(source: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "helsinki_env").mkdir()
    (tmp_path / "helsinki_env" / "__init__.py").write_text(source)
    with Worker(tmp_path) as worker:
        for _ in range(2):
            assert reason in str(worker.ask(ASKED))


def test_a_package_from_elsewhere_is_not_measured(tmp_path: Path) -> None:
    with Worker(tmp_path) as worker:
        assert f"not from {tmp_path}" in str(worker.ask(ASKED))


def test_rows_are_measured_in_turn_and_shown_with_what_is_missing() -> None:
    class Side(Worker):
        def __init__(self, name: str) -> None:
            self.name = name

        def ask(self, asked: MeasurementRequest) -> float | str:
            order.append((self.name, asked.row))
            if self.name == "then" and asked.row == "aec":
                return "AttributeError: no | such <thing>"
            return 300.0 if self.name == "now" else 100.0

    class Known(Checkout):
        def __init__(self) -> None:
            self.commit, self.date, self.scratch = "1234567", "2026-11-22", Path()

    class Planted(Comparison):
        @contextmanager
        def _workers(self) -> Any:
            yield {name: Side(name) for name in ("now", "then")}

    order: list[tuple[str, str]] = []
    comparison = Planted(Known(), [HelsinkiConfig()], ["env", "threads", "aec"], 8, 2, 1.0)
    comparison.warm(lambda rows: None)
    assert order == [(side, row) for row in ("env", "threads", "aec") for side in ("then", "now")]
    order.clear()
    for _ in range(2):
        comparison.measure_pair(lambda rows: None)
    sides = ["".join(side[0] for side, row in order if row == name) for name in ("env", "threads", "aec")]
    assert [side.replace("t", "A").replace("n", "B") for side in sides] == ["ABBABAAB", "BAABABBA", "BBBB"]
    data = comparison.data()
    assert [row.get("median") for row in data["rows"]] == [3.0, 3.0, None]
    assert [row["now_median"] for row in data["rows"]] == [300.0] * 3
    assert [(row["name"], row["median"]) for row in data["within"]] == [("Helsinki: 2 threads to one", 1.0)]
    part = compared_part(data, "helsinki bench --against x")
    assert "| vector env, several threads | 8 | 2 | 100 | 300 | 3.00 | 3.00 to 3.00 |  |" in part
    assert "| AEC, raw | 1 | 1 | - | 300 | - |  |  |" in part
    assert "Not measured at 1234567: AttributeError: no | such \\<thing\\> (helsinki: AEC, raw)." in part


@pytest.mark.parametrize(("count", "place"), [(0, 0), (5, 0), (6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (25, 8)])
def test_the_interval_is_that_of_the_sign_test(count: int, place: int) -> None:
    """The places are those of tables of the sign test, two-sided, 5 %."""
    values = [float(i) for i in range(count, 0, -1)]
    assert median_interval(values) == ((float(place), float(count + 1 - place)) if place else None)


def test_rows_are_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(MEASUREMENT_KINDS) <= set(re.findall(r"\w+", str(bench.main.__doc__).partition("only: ")[2]))
    assert main(["bench", "--only", "env"]) == 2
    assert "--only: found no --against" in capsys.readouterr().err
    assert main(["bench", "--against", "HEAD", "--only", "envy"]) == 2
    assert "--only: found envy, expected one of env, views," in capsys.readouterr().err


# Pages


@pytest.mark.parametrize("part", ["helsinki", "copenhagen", "against", "peers"])
def test_the_page_of_the_documentation_is_written_by_programs(part: str) -> None:
    content = replace_section((ROOT / "docs" / "speed.md").read_text(encoding="utf-8"), part)
    assert "| --- |" in content


def test_a_page_without_marks_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.md"
    path.write_text("# Speed\n\n<!-- written: helsinki -->\n<!-- end: helsinki -->\n")
    assert main(["bench", "--write", str(path)]) == 2
    message = "page.md: found no section 'copenhagen', expected the lines '<!-- written: copenhagen -->'"
    assert message in capsys.readouterr().err
    assert main(["bench", "--write", str(tmp_path / "none.md")]) == 2
    assert "none.md" in capsys.readouterr().err
