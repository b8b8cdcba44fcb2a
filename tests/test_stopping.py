"""Ctrl-C: one ends every command soon, keeps finished work, and prints how to resume."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from helsinki_env.agents.helsinki.forced import ForcedPlayer
from helsinki_env.agents.net.make import bundled_network
from helsinki_env.agents.registry import make_player
from helsinki_env.cli import main as cli
from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.match import Match
from helsinki_env.records import read_records, record_digest, write_records
from helsinki_env.utils import stopping
from helsinki_env.utils.stopping import (
    StoppableCommand,
    defer_interrupt,
    rerun_command_line,
    save_on_interrupt,
    stoppable,
)

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
    pytest.mark.skipif(not JIT, reason="says nothing more without the compiler, and takes long"),
]

Output = pytest.CaptureFixture[str]
#: Long enough for the busiest machine; a command that does not stop takes for ever.
PATIENCE = 240.0


# What a command does with a signal, in this process


def run(monkeypatch: pytest.MonkeyPatch, command: Callable[[], object], words: str = "simulate --games 5") -> int:
    monkeypatch.setattr(cli, "_run", lambda name, rest: 0 if command() is None else 1)
    return main(words.split())


COMPILING = """
import signal
from numba.core.codegen import JITCodeLibrary
usual = JITCodeLibrary._object_compiled_hook
def interrupted(module, code):
    signal.raise_signal(signal.SIGINT)
    usual(module, code)
JITCodeLibrary._object_compiled_hook = staticmethod(interrupted)
from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import silence_compile_notice
from helsinki_env.utils import stopping
silence_compile_notice()  # a busy machine compiles slowly
from helsinki_env.utils.stopping import StoppableCommand, stoppable
stopping._CLEANUP_SECONDS = 240.0  # a busy machine compiles slowly; the thread that ends the process would be first
with stoppable(StoppableCommand(["bench"])):
    try:
        popcount(7)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_a_signal_while_a_kernel_is_compiled_is_not_lost(tmp_path: Path) -> None:
    """It arrives in a callback of LLVM, which ignores exceptions."""
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMPILING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_a_signal_stops_a_command_and_the_line_says_how_to_begin_again(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        assert run(monkeypatch, lambda number=number: signal.raise_signal(number), "rate 'a b' --seed 3") == status  # type: ignore[misc]
        line = "helsinki rate: interrupted: nothing saved; start again with: helsinki rate"
        assert capsys.readouterr().err == f"{line} ''\"'\"'a' 'b'\"'\"'' --seed 3\n"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_what_is_kept_is_asked_once_and_a_second_signal_does_not_disturb(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    asked: list[str] = []

    def keep() -> str:
        signal.raise_signal(signal.SIGINT)
        asked.append("inner")
        return f"5 saved; resume with: {rerun_command_line('--resume', without=['--append'])}"

    def command() -> None:
        with save_on_interrupt(lambda: "never asked"), save_on_interrupt(keep):
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)
                asked.append("tidied up")

    assert run(monkeypatch, command, "simulate --append --out x") == 130
    assert asked == ["tidied up", "inner"]
    line = "helsinki simulate: interrupted: 5 saved; resume with: helsinki simulate --out x --resume\n"
    assert capsys.readouterr().err == line


def test_what_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def keep() -> str:
        raise OSError("the disk is full")

    def command() -> None:
        with save_on_interrupt(keep):
            signal.raise_signal(signal.SIGINT)

    assert run(monkeypatch, command) == 130
    line = "results could not be saved (the disk is full); start again with: helsinki simulate --games 5\n"
    assert capsys.readouterr().err == f"helsinki simulate: interrupted: {line}"


def test_what_must_not_be_left_halfway_ends_first() -> None:
    done: list[str] = []

    def command() -> None:
        with defer_interrupt():
            with defer_interrupt():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
        done.append("more")

    with pytest.raises(KeyboardInterrupt), stoppable(StoppableCommand(["x"])):
        command()
    assert done == ["inner", "outer"]


def test_signals_that_are_ignored_or_handled_already_stay_so() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable(StoppableCommand(["x"])):
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, ignored)
    assert heard == [signal.SIGTERM]


def test_threads_other_than_the_main_one_may_run_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(run(monkeypatch, lambda: None)))
    thread.start()
    thread.join()
    assert found == [0]


def test_what_is_sent_to_a_copy_of_the_process_does_not_stop_the_command() -> None:
    reading, writing = os.pipe()
    with stoppable(StoppableCommand(["x"])):
        child = os.fork()
        if not child:
            os.write(writing, b"ready")
            time.sleep(PATIENCE)
            os._exit(0)
        os.read(reading, 5)
        os.kill(child, signal.SIGTERM)
        assert os.waitpid(child, 0)[1] == signal.SIGTERM, "it has the usual effect there"
        assert not stopping._current._ended.wait(0.2)


# Real processes and real signals


def start(words: list[str], module: bool = True) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *(["-m", "helsinki_env.cli.main"] if module else []), *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def stop(process: subprocess.Popen[str], ready: Callable[[], object]) -> str:
    """Press Ctrl-C once as soon as the process is so far, and return the one line that it prints."""
    until = time.monotonic() + PATIENCE
    with process:
        try:
            while not ready():
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < until
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    # The command reports the progress of the compiler.
    lines = [line for line in errors.splitlines() if "ompiling" not in line and " kernels" not in line]
    assert process.returncode == 130, errors
    assert len(lines) == 1, errors
    return lines[0]


def command_in(line: str) -> list[str]:
    """Return the words of the command that resumes the run, without the name of the program."""
    name, *words = shlex.split(line.partition(" with: ")[2])
    assert name == "helsinki"
    return words


def written(folder: Path) -> int:
    """Return how much of a file of games is there under another name."""
    return sum(path.stat().st_size for path in folder.glob(".games.jsonl.*.tmp"))


#: What the installed script does, with a signal as soon as a module is looked for.
FROM_THE_START = """
import os, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.{signal})

sys.meta_path.insert(0, Press())
sys.argv[0] = "/usr/bin/helsinki"
from {script} import {main}
sys.exit({main}())
"""


@pytest.mark.parametrize(
    ("module", "number", "status"),
    [
        ("numpy", "SIGINT", 130),
        ("numba", "SIGTERM", 143),
        ("tyro", "SIGINT", 130),  # the first thing that the command itself imports
    ],
)
def test_ctrl_c_ends_the_program_while_it_is_still_being_imported(module: str, number: str, status: int) -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    script, _, function = project["scripts"]["helsinki"].partition(":")
    code = FROM_THE_START.format(module=module, signal=number, script=script, main=function)
    with start(["-c", code, "simulate", "--players", "a b"], module=False) as process:
        out, errors = process.communicate(timeout=PATIENCE)
    again = "helsinki simulate --players 'a b'"
    assert errors == f"helsinki simulate: interrupted: nothing saved; start again with: {again}\n"
    assert (out, process.returncode) == ("", status)


def test_games_that_ended_are_kept_and_resumed_to_the_same_bytes(tmp_path: Path, capsys: Output) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "games.jsonl"
    words = ["simulate", "--players", "mc:1,random", "--games", "31", "--seed", "7", "--threads", "1"]
    for file in (whole, path):
        assert main(["simulate", "--games", "4", "--out", str(file)]) == 0
    assert main([*words, "--append", "--out", str(whole)]) == 0
    earlier = path.read_bytes()
    with start([*words, "--append", "--out", str(path)]) as process:
        line = stop(process, lambda: written(tmp_path) > len(earlier))
    there = len(list(read_records(path))) - 4
    assert 0 < there < 32
    kept_in = f"helsinki simulate: interrupted: {there} of 32 games saved in {path}; resume with: "
    assert line.startswith(kept_in)
    assert path.read_bytes().startswith(earlier)
    assert sorted(tmp_path.iterdir()) == [path, whole], "neither temporary files nor locks are left"
    assert command_in(line) == [*words, "--out", str(path), "--resume"]
    capsys.readouterr()
    assert main(command_in(line)) == 0
    assert path.read_bytes() == whole.read_bytes()
    assert f"32 games with seed 7, {there} of them from an earlier run" in capsys.readouterr().out
    assert main(command_in(line)) == 0, "whoever resumes what is complete gets the table once more"
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("other", [False, True], ids=["same file", "another file of the folder"])
def test_what_a_killed_match_leaves_is_removed_by_the_next_one(other: bool, tmp_path: Path) -> None:
    notes = tmp_path / ".notes.tmp"
    notes.write_text("mine")
    words = ["simulate", "--players", "mc:1000000", "--games", "5000", "--out", str(tmp_path / "games.jsonl")]
    with start(words) as process:
        until = time.monotonic() + PATIENCE
        while not list(tmp_path.glob(".games.jsonl.*.tmp")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.kill()
        process.communicate()
    path = tmp_path / ("other.jsonl" if other else "games.jsonl")
    assert main([*MATCH, "--out", str(path)]) == 0
    assert sorted(tmp_path.glob("*.tmp")) == [notes]
    assert notes.read_text() == "mine"


def test_threads_in_long_kernels_do_not_keep_a_command_from_stopping(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("as it was\n")
    words = ["simulate", "--players", "mc:1000000", "--games", "5000", "--out", str(path)]
    with start(words) as process:
        began = time.monotonic()

        def thinking() -> bool:
            return bool(list(tmp_path.glob(".games.jsonl.*.tmp"))) and time.monotonic() - began > 5

        line = stop(process, thinking)
    assert line == f"helsinki simulate: interrupted: no finished games; start again with: helsinki {shlex.join(words)}"
    assert path.read_text() == "as it was\n"
    assert list(tmp_path.iterdir()) == [path]


def test_slow_players_play_few_games_side_by_side() -> None:
    for name, most in (("mc:2", 8), ("ismcts:2", 8)):
        forced = ForcedPlayer("two_points", make_player(name))
        for player in (make_player(name), forced):
            assert getattr(player, "max_batch_size", None) == most
    assert not hasattr(make_player("heuristic"), "max_batch_size")
    seen: list[int] = []

    class Slow:
        name, max_batch_size = "slow", 3

        def act(self, observation, action_mask, keys):
            seen.append(len(action_mask))
            return action_mask.argmax(axis=1)

    parts: list[int] = []
    Match([Slow(), "random"]).play(12, batch=None, on_games_end=lambda part: parts.append(len(part)))
    assert max(seen) <= 4, "made up to whole blocks"
    assert sum(parts) == 12
    Match([Slow(), "random"]).play(12)
    assert max(seen) > 4


@pytest.mark.parametrize(
    "words",
    [
        "bench --seconds 100",
        pytest.param("rate RUN --resamples 1000000", marks=pytest.mark.nightly),
        pytest.param("ladder --run OUT --out OUT/page.md", marks=pytest.mark.nightly),
        pytest.param("balance run --out OUT", marks=pytest.mark.nightly),
        pytest.param("balance tune --out OUT", marks=pytest.mark.nightly),
        pytest.param("balance report STUDY --out OUT", marks=pytest.mark.nightly),
        pytest.param("export NET --positions 100000000 --out OUT/model.onnx", marks=pytest.mark.nightly),
        pytest.param("replay GAMES --step", marks=pytest.mark.nightly),
        pytest.param("train --preset quick --out OUT", marks=pytest.mark.nightly),
    ],
)
def test_every_command_is_stopped_whatever_it_does(words: str, tmp_path: Path) -> None:
    places = {"OUT": tmp_path / "out", "NET": bundled_network(), "RUN": tmp_path / "run", "STUDY": tmp_path / "study"}
    places["GAMES"] = tmp_path / "games.jsonl"
    if "RUN" in words:
        assert main(["arena", "--games", "60", "--out", str(places["RUN"])]) == 0
    if "GAMES" in words:
        assert main(["simulate", "--games", "2", "--out", str(places["GAMES"])]) == 0
    if "STUDY" in words:
        from tests.test_balance import played

        played(places["STUDY"])
    for word, path in places.items():
        words = words.replace(word, str(path))
    for delay in (0.0, 1.0):
        caught_at: list[float] = []

        def ready(delay: float = delay, caught_at: list[float] = caught_at) -> bool:
            if not caught_at and caught(process):
                caught_at.append(time.monotonic())
            return bool(caught_at) and time.monotonic() >= caught_at[0] + delay

        with start(words.split()) as process:
            line = stop(process, ready)
        assert f"helsinki {words.split()[0]}: interrupted: " in line
        assert shlex.join(command_in(line)).startswith(words)


TEARDOWN = """
import atexit, sys, time
import helsinki_env.cli.commands.bench  # loading libraries keeps the main thread for longer than a signal is let wait
from helsinki_env.cli.main import main

class Held:
    def __del__(self, sleep=time.sleep):
        sleep(600)

sys.held = Held()  # let go only when Python takes its modules apart
atexit.register(print, "tidied up")
sys.argv = ["helsinki", "bench", "--seconds", "100"]
sys.exit(main())
"""


def test_who_was_stopped_does_not_wait_for_modules_to_be_taken_apart() -> None:
    with start(["-c", TEARDOWN], module=False) as process:
        errors, shown = "", ""
        until = time.monotonic() + PATIENCE
        while not caught(process):
            assert time.monotonic() < until
            time.sleep(0.01)
        try:
            os.killpg(process.pid, signal.SIGINT)
            shown, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130, errors
    assert "helsinki bench: interrupted: nothing saved" in errors
    assert shown.endswith("tidied up\n")


def caught(process: subprocess.Popen[str]) -> bool:
    """Whether the process has got so far as to catch signals."""
    status = Path(f"/proc/{process.pid}/status")
    masks = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt")]
    return bool(int(masks[0], 16) & 1 << (signal.SIGTERM - 1))


# Going on with a match


MATCH = ["simulate", "--players", "random,greedy", "--games", "6", "--seed", "3"]


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("match") / "games.jsonl"
    assert main([*MATCH, "--out", str(path)]) == 0
    return path


@pytest.mark.parametrize("left", [[0], [5], [1, 2, 4], [0, 1, 2, 3, 4]])
def test_whatever_is_missing_is_played(match: Path, tmp_path: Path, left: list[int]) -> None:
    path, lines = tmp_path / "games.jsonl", match.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in left))
    assert main([*MATCH, "--out", str(path), "--resume"]) == 0
    assert path.read_bytes() == match.read_bytes()


def test_more_games_go_on_with_what_was_played(match: Path, tmp_path: Path) -> None:
    path, longer = tmp_path / "games.jsonl", tmp_path / "longer.jsonl"
    path.write_bytes(match.read_bytes())
    words = [*MATCH, "--games", "10"]
    assert main([*words, "--out", str(path), "--resume"]) == 0
    assert main([*words, "--out", str(longer)]) == 0
    assert path.read_bytes() == longer.read_bytes()


def test_what_stands_before_the_match_stays(match: Path, tmp_path: Path) -> None:
    path, lines = tmp_path / "games.jsonl", match.read_bytes().splitlines(keepends=True)
    other = b"".join(lines)  # the same match again: games whose numbers do not follow are not counted to it
    path.write_bytes(other + lines[2] + lines[4])
    assert main([*MATCH, "--out", str(path), "--resume"]) == 0
    assert path.read_bytes() == other + match.read_bytes()


@pytest.mark.parametrize("version", [None, "helsinki_v9"])
def test_a_line_before_the_match_that_cannot_be_read_stays(match: Path, tmp_path: Path, version: str | None) -> None:
    path, lines = tmp_path / "games.jsonl", match.read_bytes().splitlines(keepends=True)
    before = b"\n"
    if version is not None:
        record = {**json.loads(lines[3]), "environment": version}
        before = json.dumps({**record, "digest": record_digest(record)}).encode() + b"\n"
    path.write_bytes(before + lines[1] + b"\n" + lines[4])
    assert main([*MATCH, "--out", str(path), "--resume"]) == 0
    assert path.read_bytes() == before + match.read_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda line: line[:50] + b"\n", "record: cannot be read as JSON"),
        (lambda line: line.replace(b'"stream":0', b'"stream":1'), "the record was changed or damaged"),
        (lambda line: b"[" * 100_000 + b"\n", "nested lists"),
    ],
)
def test_a_damaged_line_within_the_match_is_an_error(
    damage: Callable[[bytes], bytes], message: str, match: Path, tmp_path: Path, capsys: Output
) -> None:
    path, lines = tmp_path / "games.jsonl", match.read_bytes().splitlines(keepends=True)
    assert damage(lines[1]) != lines[1]
    path.write_bytes(lines[0] + damage(lines[1]) + lines[2])
    assert main([*MATCH, "--out", str(path), "--resume"]) == 2
    assert "games.jsonl, line 2: " in (shown := capsys.readouterr().err)
    assert message in shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            ["--seed", "4"],
            "does not end with a game of this match: expected random, greedy in turn, seed 4, at most 6 ",
        ),
        (["--players", "random,random"], "expected random, random#2 in turn, seed 3, at most 6 games"),
        (["--players", "greedy,random"], "games.jsonl, line 6: found a game that these players play differently"),
        (["--games", "4"], "at most 4 games and the same rules"),
        (["--covered", "two_points"], "does not end with a game of this match"),
        (["--append"], "--append: found with --resume"),
    ],
)
def test_another_match_is_refused_and_the_file_stays(
    changes: list[str], message: str, match: Path, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(match.read_bytes())
    assert main([*MATCH, "--out", str(path), "--resume", *changes]) == 2
    assert message in capsys.readouterr().err
    assert path.read_bytes() == match.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_to_go_on_with_is_said(match: Path, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "games.jsonl"
    assert main([*MATCH, "--out", str(path), "--resume"]) == 2
    assert f"--resume: found no file {path}, expected one" in capsys.readouterr().err
    assert main([*MATCH, "--resume"]) == 2
    assert "--resume: found without --out, expected" in capsys.readouterr().err
    path.write_bytes(match.read_bytes()[:-40])
    assert main([*MATCH, "--out", str(path), "--resume"]) == 2
    assert "games.jsonl, line 6: record: cannot be read as JSON" in capsys.readouterr().err
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=pipe.read_bytes)
    reader.start()
    assert main([*MATCH, "--out", str(pipe), "--resume"]) == 2
    reader.join()
    assert "expected a regular file" in capsys.readouterr().err


def test_a_record_that_was_made_up_does_not_count(match: Path, tmp_path: Path, capsys: Output) -> None:
    from dataclasses import replace

    path, records = tmp_path / "games.jsonl", list(read_records(match))
    scores = records[1].scores
    assert scores is not None
    write_records(path, [records[0], replace(records[1], scores=(scores[0] + 1, scores[1]))])
    assert main([*MATCH, "--out", str(path), "--resume"]) == 2
    assert "the result of the replay" in capsys.readouterr().err


def test_two_commands_do_not_write_to_one_file(match: Path, tmp_path: Path, capsys: Output) -> None:
    from helsinki_env.records import RecordWriter

    path = tmp_path / "games.jsonl"
    path.write_bytes(match.read_bytes())
    with RecordWriter(path, append=True):  # as the other one does
        for more in ([], ["--append"], ["--resume"]):
            assert main([*MATCH, "--out", str(path), *more]) == 2
            assert "another process is writing to it; wait" in capsys.readouterr().err
    assert path.read_bytes() == match.read_bytes()
