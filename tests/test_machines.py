"""Unusual machines: closed or non-UTF-8 streams, narrow terminals, users without a home, and CPU quotas."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from helsinki_env.cli.main import COMMANDS, main
from helsinki_env.engine.kernel import CACHE_FOLDER, JIT
from helsinki_env.records import read_records, write_records
from helsinki_env.utils import machine
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.yaml_files import configs_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and signals of POSIX")

ROOT = configs_folder().parent
PROGRAM = (sys.executable, "-m", "helsinki_env.cli.main")
#: How the standard streams of a process can be: closed, full, or open for reading alone.
ALL_CLOSED = "<&- >&- 2>&-"
ALL_FULL = "<&- >/dev/full 2>/dev/full"
STREAMS = ("2>/dev/full", "1</dev/null", ">&-", "2>&-")
#: Encodings of output that lack letters of drawings and names.
ENCODINGS = ("cp1252", "ascii")
#: Something that each command does within seconds.
WORK = {
    "simulate": "--players random --games 2 --out OUT",
    "play": "--players human,random --no-open --port 0 --data OUT",
    "replay": "GAMES",
    "train": "--preset PRESET --out OUT",
    "export": "NETWORK --positions 20 --out OUT.onnx",
    "arena": "--players random,greedy --games 4 --processes 1 --out OUT",
    "rate": "GAMES",
    "ladder": "--from-json LADDER --out OUT.md",
    "dataset": "GAMES --processes 1 --out OUT",
    "evaluate": "verify CERTIFICATE net --games 1 --processes 1",
    "check": "random --rows 5 --json OUT.json",
    "balance": "report --from-json STUDY --out OUT",
    "mini": "--components small --num-players 2 --iterations 1 --batches 1 --games 8 --seeds 1 --out OUT",
    "compile": "--parts games",
    "bench": "--seconds 0.01 --batches 1 --threads 1 --players greedy",
}
PRESET = """
precision: float32
network: {width: 8, seat: 8, seat_hidden: 8, blocks: 1}
pretraining: {samples: 500, games: 4}
ppo: {total_timesteps: 300, num_envs: 8, num_steps: 8, minibatch_size: 64}
promotion: {deals: 16, parallel_deals: 16}
evaluation: {times: 1, games: 4, final_games: 4, opponents: [random]}
"""


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    assert main(["simulate", "--players", "random,greedy", "--games", "10", "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def named(games: Path) -> Path:
    """Games of players whose names few encodings have."""
    from dataclasses import replace

    path = games.with_name("Jürgen Ω.jsonl")
    names = {"random": "Jürgen", "greedy": "Ωmega"}
    records = read_records(games)
    write_records(path, [replace(one, players=tuple(names[player] for player in one.players)) for one in records])
    return path


def environment(**variables: str | None) -> dict[str, str]:
    """The environment of a process, with other values of some variables; None: without it."""
    usual = {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "PYTHONUNBUFFERED": None}
    found = os.environ | usual | variables
    return {name: value for name, value in found.items() if value is not None}


def run(
    *words: str,
    streams: str = "",
    prefix: tuple[str, ...] = (),
    cwd: Path | None = None,
    variables: Mapping[str, str | None] | None = None,
    **more: str | None,
) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a shell that opens its standard streams in some way."""
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *prefix, *PROGRAM, *words]
    return subprocess.run(
        command, capture_output=True, env=environment(**(dict(variables or {}) | more)), cwd=cwd, timeout=600
    )


def words_of(name: str, games: Path, out: Path) -> list[str]:
    preset = out.parent / "tiny.yaml"
    preset.parent.mkdir(exist_ok=True)
    preset.write_text(PRESET, encoding="utf-8")
    places = {
        "OUT": str(out),
        "PRESET": str(preset),
        "GAMES": str(games),
        "NETWORK": str(ROOT / "agents" / "helsinki" / "two_players.safetensors"),
        "LADDER": str(ROOT / "docs" / "ladder.json"),
        "CERTIFICATE": str(ROOT / "docs" / "leaderboard" / "helsinki" / "net.json"),
        "STUDY": str(ROOT / "docs" / "balance" / "balance.json"),
    }
    text = WORK[name]
    for place, path in places.items():
        text = text.replace(place, path.replace(" ", "\0"))
    return [name, *(word.replace("\0", " ") for word in text.split())]


def test_every_command_but_a_server_has_work() -> None:
    assert set(WORK) == set(COMMANDS) - {"mcp"}  # tests/test_mcp.py


# Streams


@pytest.mark.thorough
@pytest.mark.parametrize(
    "streams",
    [
        *(ALL_CLOSED, ">/dev/full"),
        *(pytest.param(one, marks=pytest.mark.thorough) for one in STREAMS[:2]),
        *(pytest.param(one, marks=pytest.mark.nightly) for one in STREAMS[2:]),  # as with all of them closed
    ],
)
def test_help_and_errors_whatever_the_streams_are(streams: str) -> None:
    lost = streams in (">/dev/full", "1</dev/null")
    expected = {"--help": 0, "--version": 0, "rate --help": 0, "nonsense": 2, "replay nothing": 2}
    for words, status in expected.items():
        done = run(*words.split(), streams=streams)
        assert done.returncode == (2 if lost else status), words
        assert b"Traceback" not in done.stderr
        if lost and not status:
            assert b"standard output cannot be written" in done.stderr


def test_a_closed_stream_is_no_place_for_the_next_file(tmp_path: Path) -> None:
    """The first file that is opened would get the number of a closed standard stream, and what is printed."""
    words = words_of("simulate", tmp_path, tmp_path / "games.jsonl")
    assert run(*words, streams=ALL_CLOSED).returncode == 0
    assert len(list(read_records(tmp_path / "games.jsonl"))) == 2


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="takes long without the compiler")
@pytest.mark.parametrize(
    ("name", "streams"), [*((name, ALL_FULL) for name in WORK if name != "play"), ("train", ALL_CLOSED)]
)
def test_every_command_works_whatever_the_streams_are(name: str, streams: str, games: Path, tmp_path: Path) -> None:
    done = run(*words_of(name, games, tmp_path / "out" / "made"), streams=streams)
    assert done.returncode == (2 if "full" in streams else 0)
    if "OUT" in WORK[name]:
        assert list((tmp_path / "out").glob("made*")), "what was asked for is there"


@pytest.mark.thorough
@pytest.mark.parametrize("streams", [ALL_CLOSED, pytest.param(ALL_FULL, marks=pytest.mark.nightly)])
def test_a_server_runs_whatever_the_streams_are(streams: str, tmp_path: Path) -> None:
    import socket
    import urllib.request

    pytest.importorskip("uvicorn")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["play", "--no-open", "--port", str(port), "--data", str(tmp_path)]
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *PROGRAM, *words]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + 300
            while True:
                try:
                    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).read()
                    break
                except OSError:
                    assert process.poll() is None, process.stderr and process.stderr.read()
                    assert time.monotonic() < until
                    time.sleep(0.1)
            assert b"<html" in page
        finally:
            process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


# Encodings


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_games_are_shown_in_any_encoding(encoding: str, named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    words = ("replay", str(named), "--each", "game")
    done = run(*words, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    shown, usual = done.stdout.decode(encoding), output_of(*words, encoding="utf-8").decode()
    assert ("Jürgen" if encoding == "cp1252" else "J\\xfcrgen") in shown
    assert "\\u03a9mega" in shown
    drawn = [line for line in shown.splitlines() if not line.startswith("Result")]
    expected = [line for line in usual.splitlines() if not line.startswith("Result")]
    assert len(drawn) == len(expected)
    names = ("rgen", "mega")
    assert [len(line) for line in drawn if not any(name in line for name in names)] == [
        len(line) for line in expected if not any(name in line for name in names)
    ], "drawings stay in line"
    assert not any("\\u" in line for line in drawn if "mega" not in line)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_environments_draw_in_any_encoding(encoding: str) -> None:
    code = (
        "from helsinki_env.engine.spec import spec_by_name\n"
        "for spec in map(spec_by_name, ('helsinki', 'copenhagen')):\n"
        "    spec.draw(spec.game(spec.config(), seed=0), 'human')\n"
        "    print(f'end of {spec.name}')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(PYTHONIOENCODING=encoding))
    assert done.returncode == 0, done.stderr
    for game in ("helsinki", "copenhagen"):
        drawn, _, done.stdout = done.stdout.partition(f"end of {game}".encode())
        assert b"+--" in drawn


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_at_the_end_and_file_names_in_any_encoding(encoding: str, tmp_path: Path, named: Path) -> None:
    out = tmp_path / "Spiele für Ω.jsonl"
    shown = output_of("simulate", "--players", "random", "--games", "2", "--out", str(out), encoding=encoding)
    assert b"random#2" in shown
    assert "\\u03a9.jsonl" in shown.decode(encoding)
    assert len(list(read_records(out))) == 2
    assert b"mega" in output_of("rate", str(named), encoding=encoding)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text in the encoding of file names")
def test_file_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/sp\xe4t.jsonl")
    for words in (["simulate", "--players", "random", "--games", "2", "--out", name], ["replay", name]):
        done = run(*words)
        assert done.returncode == 0, done.stderr
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    for words in (["simulate", "--players", "random", "--games", "2", "--out", name], ["replay", name]):
        done = run(*words, variables=plain)
        assert done.returncode == 0, done.stderr


def output_of(*words: str, encoding: str = "ascii") -> bytes:
    """What a command prints in this process to a standard output with an encoding."""
    shown = io.BytesIO()
    stream = io.TextIOWrapper(shown, encoding=encoding, write_through=True)
    with contextlib.redirect_stdout(stream):
        assert main(words) == 0, words
    return shown.getvalue()


@pytest.mark.thorough
def test_every_command_shows_its_help_in_any_encoding() -> None:
    for name in COMMANDS:
        shown = output_of(name, "--help")
        assert b"usage:" in shown
        assert b"\\u" not in shown


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="takes long without the compiler")
@pytest.mark.parametrize("name", [name for name in WORK if name != "play"])
def test_every_command_works_in_any_encoding(name: str, named: Path, tmp_path: Path) -> None:
    assert output_of(*words_of(name, named, tmp_path / "ä Ω"))


# Widths


@pytest.mark.parametrize("columns", ["5", pytest.param("words", marks=pytest.mark.thorough)])
def test_help_ends_in_any_width(columns: str) -> None:
    done = run("rate", "--help", COLUMNS=columns)
    assert done.returncode == 0
    assert b"--resamples" in done.stdout
    assert len(done.stdout) < 10**6


@pytest.mark.thorough
@pytest.mark.parametrize("columns", ["5", "0"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_ends_in_any_width(name: str, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main([name, "--help"]) == 0
    assert main([name, "--nonsense"]) == 2


@pytest.mark.thorough
@pytest.mark.parametrize("columns", ["1", "5", "0", "-3", "words", "²"])
def test_tables_of_any_width(
    columns: str, games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["rate", str(games)]) == 0
    assert "greedy" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("script") is None, reason="no program that opens a terminal")
def test_a_narrow_terminal(games: Path) -> None:
    """The width of the terminal itself, without a variable."""
    command = f"stty cols 5; exec {' '.join(PROGRAM)} rate --help"
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        env=environment(COLUMNS=None), stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
    )  # fmt: skip
    assert b"--resamples" in done.stdout


# Users without an account or a home folder

NOBODY = ("unshare", "--user", "--map-user=54321")


def without_account() -> bool:
    """Whether a process can run here for a user that no account is of."""
    ask = "import os, pwd; pwd.getpwuid(os.getuid())"
    try:
        done = subprocess.run([*NOBODY, sys.executable, "-c", ask], capture_output=True)
    except OSError:
        return False
    return b"uid not found" in done.stderr


@pytest.fixture
def nobody(tmp_path: Path) -> Iterator[dict[str, str | None]]:
    """The environment of a user without an account; nothing may appear in the folder in which it works."""
    if not without_account():
        pytest.skip("no process can be started here for a user without an account")
    folder = tmp_path / "working"
    folder.mkdir()
    yield {"HOME": None, "XDG_CACHE_HOME": None, "XDG_DATA_HOME": None, "HELSINKI_CACHE_DIR": None}
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "home", [{}, {"HOME": ""}, {"HOME": "~"}, {"HELSINKI_CACHE_DIR": "~/cache"}, {"XDG_CACHE_HOME": "~/.cache"}]
)
def test_no_code_is_kept_in_the_working_folder(
    home: dict[str, str], nobody: dict[str, str | None], tmp_path: Path
) -> None:
    code = "import helsinki_env.engine.kernel as kernel; print(kernel.CACHE_FOLDER)"
    done = subprocess.run(
        [*NOBODY, sys.executable, "-c", code], cwd=tmp_path / "working", capture_output=True, text=True,
        env=environment(**(nobody | home)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    if JIT:
        assert "helsinki-env-" in done.stdout, "a temporary folder"
        assert done.stderr.count("\n") == 1
        assert "compiled code cannot be saved (this user has no home folder)" in done.stderr


def test_who_has_no_home_names_the_folder_of_the_tables(nobody: dict[str, str | None], tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    kept = nobody | ({"HELSINKI_CACHE_DIR": os.path.dirname(CACHE_FOLDER)} if JIT else {})
    done = run("play", "--no-open", "--port", "0", prefix=NOBODY, cwd=tmp_path / "working", variables=kept)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "helsinki play: --data: found no home folder of this user, expected a folder for the tables\n"
    )


def test_home_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/users/of/mine")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert machine.home_folder() == Path("/users/of/mine")
    assert machine.user_folder("cache") == Path("/users/of/mine/.cache/helsinki-env")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert machine.user_folder("cache") == Path("/elsewhere/helsinki-env")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert machine.user_folder("cache") == Path("/users/of/mine/.cache/helsinki-env")
    monkeypatch.setenv("HOME", "relative")
    found = machine.home_folder()
    assert found is None or found.is_absolute()


# CPU cores


def grouped(root: Path, cgroup: str, mountinfo: str, files: dict[str, str]) -> list[float]:
    """The quotas of a machine with such files."""
    for name, content in {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mountinfo, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return list(machine._quotas(root))


V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "33 31 0:29 {} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
CPU = "sys/fs/cgroup/cpu,cpuacct"


@pytest.mark.parametrize(
    ("cgroup", "mountinfo", "files", "quotas"),
    [
        ("0::/\n", V2, {"sys/fs/cgroup/cpu.max": "150000 100000\n"}, [1.5]),
        ("0::/\n", V2, {"sys/fs/cgroup/cpu.max": "max 100000\n"}, []),
        (
            "0::/pod/one\n",
            V2,
            {"sys/fs/cgroup/pod/one/cpu.max": "400000 100000", "sys/fs/cgroup/pod/cpu.max": "200000 100000"},
            [4.0, 2.0],
        ),
        (
            "4:cpu,cpuacct:/docker/a\n0::/\n",
            V1.format("/"),
            {f"{CPU}/docker/a/cpu.cfs_quota_us": "50000\n", f"{CPU}/docker/a/cpu.cfs_period_us": "100000\n"},
            [0.5],
        ),
        (
            "4:cpu,cpuacct:/docker/a\n",
            V1.format("/docker/a"),
            {f"{CPU}/cpu.cfs_quota_us": "300000\n", f"{CPU}/cpu.cfs_period_us": "100000\n"},
            [3.0],
        ),
        (
            "4:cpu,cpuacct:/\n",
            V1.format("/"),
            {f"{CPU}/cpu.cfs_quota_us": "-1\n", f"{CPU}/cpu.cfs_period_us": "100000\n"},
            [],
        ),
        ("", "", {}, []),
        ("nonsense\n0::/../other\n", "nonsense\n" + V2, {"sys/fs/cgroup/cpu.max": "nonsense\n"}, []),
    ],
)
def test_quotas_of_containers(
    cgroup: str, mountinfo: str, files: dict[str, str], quotas: list[float], tmp_path: Path
) -> None:
    assert grouped(tmp_path, cgroup, mountinfo, files) == quotas


def test_every_number_of_threads_and_workers_heeds_the_quota() -> None:
    """In a real group of one core, if one can be made here."""
    for top in (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")):
        group = top / f"helsinki-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / "cpu.max").exists():
                (group / "cpu.max").write_text("50000 100000")
            else:
                (group / "cpu.cfs_quota_us").write_text("50000")
            code = (
                "import os; open(PATH, 'w').write(str(os.getpid()))\n"
                "from helsinki_env.utils.machine import cpu_count; from helsinki_env.envs.threads import ThreadPool\n"
                "print(cpu_count(), ThreadPool(None).threads, len(os.sched_getaffinity(0)))"
            ).replace("PATH", repr(str(group / "cgroup.procs")))
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
        except OSError:
            continue
        finally:
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[:2] == ["1", "1"]
        return
    pytest.skip("no group with a quota can be made here")


def test_the_cores_of_this_process() -> None:
    assert 1 <= cpu_count() <= len(os.sched_getaffinity(0))


def test_cores_are_counted_in_one_place() -> None:
    words = ("os.cpu_count(", "sched_getaffinity(")
    found = {
        str(path.relative_to(ROOT))
        for folder in ("helsinki_env", "agents", "training")
        for path in (ROOT / folder).rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert found == {"helsinki_env/utils/machine.py"}
