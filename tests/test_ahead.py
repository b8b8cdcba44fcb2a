"""Precompiled kernels: a command loads what it needs, says what it waits for, and waits only once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

from helsinki_env.agents.registry import player_names
from helsinki_env.cli.main import main
from helsinki_env.cli.precompile import _Worker, groups_for, precompile_groups
from helsinki_env.engine.kernel import JIT

OWN = "from helsinki_env import HelsinkiGame; game = HelsinkiGame(seed=1); game.step(0); game.clone()"
SIMULATE = ("-m", "helsinki_env.cli.main", "simulate", "--players", "random", "--games", "4", "--threads", "1")


def test_players_and_what_they_need() -> None:
    assert groups_for(["random"]) == ["games"]
    assert groups_for(["mc:200", " net:runs/quick", "somebody:else"]) == ["games", "mc", "net"]
    assert groups_for(["forced:two_points:ismcts:50"]) == ["games", "ismcts"]
    assert groups_for(player_names()) == ["games", "greedy", "heuristic", "mc", "ismcts", "net"]


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_who_waits_for_the_compiler_is_told_so_and_waits_once(tmp_path: Path) -> None:
    """Run a user's program and then a command in processes with an empty compile cache."""
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path / "kernels"), "HOME": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
        )

    told = run("-c", OWN).stderr
    folder = next((tmp_path / "kernels").iterdir())
    assert told.count("compiling the rules and the players") == 1
    assert f"cached in {folder} " in told
    assert run("-c", OWN).stderr == ""
    first = run(*SIMULATE)
    assert first.stderr.startswith(f"Compiling for this machine, once: the rules; saved in {folder}\n")
    assert "4 games with seed 0" in first.stdout
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.name != "used"}
    assert len([path for path in kept if path.suffix != ".made"]) > 50
    again = run(*SIMULATE)
    assert again.stderr == ""
    assert "4 games with seed 0" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.name != "used"} == kept
    assert run("-m", "helsinki_env.cli.main", "compile", "--parts", "games", "--game", "helsinki").stderr == ""


def test_what_is_there_is_not_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    precompile_groups(["greedy"])
    capsys.readouterr()
    assert precompile_groups(["greedy"]) == []
    assert capsys.readouterr().err == ""


ROOT = Path(__file__).resolve().parent.parent
#: What the packages of networks do that the part `net` imports, and what the command prints about it.
FAILURES = {
    "failed": ("raise RuntimeError", ""),
    "missing extra": ("raise ModuleNotFoundError(name='onnxruntime')", "Skipped: net (extra not installed)\n"),
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ""),
}


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_part_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    """The failures: an error, an extra that is not installed, and a worker process that is killed (out of memory)."""
    folders = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": folders}
    parts = ["--parts", "net,games", "--game", "helsinki", "--processes", "1"]
    for statement, skipped in FAILURES.values():
        for name in ("onnxruntime", "torch"):
            (tmp_path / f"{name}.py").write_text(statement)
        run = subprocess.run(
            [sys.executable, "-m", "helsinki_env.cli.main", "compile", *parts],
            env=environment, capture_output=True, text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        assert run.stdout.startswith(f"{skipped}Compiled in")
        made = list((tmp_path / "kernels").rglob("*.made"))
        assert [path.name for path in made] == ["games.made"]
        made[0].unlink()


@pytest.mark.thorough
@pytest.mark.skipif(not JIT or sys.platform == "win32", reason="nothing is compiled, or there are no process groups")
def test_ctrl_c_ends_all_processes(tmp_path: Path) -> None:
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "helsinki_env.cli.main", "compile", "--processes", "2"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Compiling for this machine, once: ")
        while not list(tmp_path.rglob("*.called")):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert "Traceback" not in process.communicate()[1]
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_worker_that_has_ended_reports_its_part() -> None:
    lines: SimpleQueue[tuple[_Worker, str]] = SimpleQueue()
    worker, waiting = _Worker(lines), ["copenhagen:seat", "games", "game"]
    worker.compile_next(waiting)
    assert (worker.part, waiting) == ("copenhagen:seat", ["games", "game"])
    worker._process.kill()
    assert lines.get(timeout=60) == (worker, "= ended")
    worker.compile_next(waiting)
    assert (worker.part, waiting) == ("games", ["game"])
    worker.close()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--parts", "gredy"], "--parts: found 'gredy', expected all or one of games, .*did you mean 'greedy'"),
        (["--processes", "0"], "--processes: found 0, expected a whole number from 1 to"),
    ],
)
def test_what_is_asked_wrongly(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", *words]) == 2
    assert re.search(message, capsys.readouterr().err)
