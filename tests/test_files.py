"""Atomic files and locks: a file is complete or missing, whatever was at its path."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helsinki_env import HelsinkiGame
from helsinki_env.records import Record, RecordError, RecordWriter, read_records, write_records
from helsinki_env.utils.files import (
    atomic_write,
    check_writable,
    check_writable_folder,
    hold_lock_file,
    remove_leftovers,
)

posix = pytest.mark.skipif(os.name != "posix", reason="pipes, links and devices of POSIX")


def write(path: Path, text: str = "new\n", *, follow: bool = True) -> None:
    with atomic_write(path, follow=follow) as file:
        file.write(text.encode())


def record(seed: int = 0) -> Record:
    return Record.of(HelsinkiGame(seed=seed), seed, ["one", "two"], [])


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write(path, "one\n")
    path.chmod(0o640)
    write(path, "two\n")
    assert path.read_text() == "two\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with suppress(ZeroDivisionError), atomic_write(path) as file:
        file.write(b"three\n")
        raise ZeroDivisionError
    assert path.read_text() == "two\n"
    assert list(path.parent.iterdir()) == [path]


@posix
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, between, link = tmp_path / "far" / "target", tmp_path / "far" / "between", tmp_path / "link"
    target.write_text("old\n")
    between.symlink_to("target")
    link.symlink_to("far/between")
    before = target.stat().st_ino
    write(link)
    assert (os.readlink(link), os.readlink(between)) == ("far/between", "target")
    assert target.read_text() == "new\n"
    assert target.stat().st_ino != before, "it was replaced, not written over"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["between", "far", "link", "target"]


@posix
def test_a_link_to_nothing_gets_its_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("missing/file")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "missing" / "file").read_text() == "new\n"


@posix
@pytest.mark.parametrize("target", ["far/file", "missing", "file", "/dev/null", "far"])
def test_a_link_in_a_folder_of_somebody_else_is_replaced_itself(tmp_path: Path, target: str) -> None:
    (tmp_path / "far").mkdir()
    for outside in (tmp_path / "far" / "file", tmp_path / "far" / "mine"):
        outside.write_text("old\n")
    link = tmp_path / "file"
    link.symlink_to(target)
    write(link, follow=False)
    assert not link.is_symlink()
    assert link.read_text() == "new\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["far", "file", "file", "mine"]
    assert (tmp_path / "far" / "file").read_text() == "old\n"
    assert stat.S_IMODE(link.stat().st_mode) == stat.S_IMODE((tmp_path / "far" / "mine").stat().st_mode)


@posix
def test_a_lock_is_not_made_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), hold_lock_file(tmp_path / "lock", RuntimeError("busy")):
        pass
    assert not (tmp_path / "elsewhere").exists()


@posix
def test_links_that_go_round_in_a_circle_are_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    for attempt in (write, check_writable):
        with pytest.raises(OSError, match="symbolic links"):
            attempt(one)
    with pytest.raises(RecordError, match="one: cannot be written: Too many levels of symbolic links"):
        write_records(one, [])
    assert one.is_symlink()
    assert two.is_symlink()


@posix
@pytest.mark.parametrize("append", [False, True])
def test_a_pipe_is_written_to(tmp_path: Path, append: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_records(pipe, [record()], append=append)
    reader.join()
    assert read == [record().to_json().encode() + b"\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@posix
def test_a_device_is_written_to(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.stat("/dev/null").st_rdev)
        device.write_bytes(b"")
    except OSError as problem:
        pytest.skip(f"this user may have no device here: {problem}")
    write(device)
    write_records(device, [record()], append=True)
    check_writable(device)
    assert stat.S_ISCHR(device.stat().st_mode)
    assert list(tmp_path.iterdir()) == [device]


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full, as Linux has it")
def test_a_disk_that_is_full_is_told_with_the_file_and_loses_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write(Path("/dev/full"))
    path = tmp_path / "games.jsonl"
    write(path, "before")
    # A limit of the process is as good as a disk: what goes beyond it cannot be written.
    asked = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); from pathlib import Path\n"
        "from helsinki_env.utils.files import atomic_write\n"
        f"with atomic_write(Path({str(path)!r})) as file: file.write(b'x' * 100000)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith(f"File too large: {str(path)!r}\n")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("games.jsonl", "before")]


@posix
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only where open files have names")
def test_what_the_shell_has_opened_is_written_to(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from helsinki_env.utils.files import atomic_write\n"
        "print('before', flush=True)\n"
        "with atomic_write(Path('/dev/stdout')) as file: file.write(b'new\\n')\n"
        "print('after')\n"
    )
    path = tmp_path / "out"
    with path.open("w") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert path.read_text() == "before\nnew\nafter\n"


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for attempt in (write, check_writable):
        with pytest.raises(IsADirectoryError, match="it is a folder"):
            attempt(tmp_path)
        with pytest.raises(NotADirectoryError):
            attempt(tmp_path / "file" / "new")
    with pytest.raises(NotADirectoryError, match="not a folder"):
        check_writable_folder(tmp_path / "file")


def test_checking_changes_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "file")
    check_writable_folder(tmp_path / "new" / "folder")
    assert list(tmp_path.iterdir()) == []


# files of killed writers

#: Writes half a file, says so and waits to be killed.
WRITER = """
import sys, time
from pathlib import Path
from helsinki_env.utils.files import atomic_write
with atomic_write(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    time.sleep(600)
"""


@contextmanager
def writing(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a process that writes to a file and ends when it is killed, with the block at the latest."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@posix
@pytest.mark.parametrize("by", ["the next writer of the file", "the next user of the folder"])
def test_a_killed_writer_leaves_nothing_for_good(tmp_path: Path, by: str) -> None:
    path = tmp_path / "file"
    with writing(path) as process, writing(path) as other:  # two at once have a temporary file each
        assert len(names(tmp_path)) == 2
        process.kill()
        process.wait()
        if by == "the next writer of the file":
            write(path)
        else:
            remove_leftovers(tmp_path)
        left = [name for name in names(tmp_path) if name != "file"]
        assert len(left) == 1, "the other writer is at work"
        other.kill()
    write(path)
    assert names(tmp_path) == ["file"]
    assert path.read_text() == "new\n"


@posix
def test_a_writer_at_work_is_left_alone_by_writers_of_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with atomic_write(path) as slow:
        slow.write(b"slow")
        slow.flush()
        write(path, "fast")
        remove_leftovers(tmp_path)
        assert path.read_text() == "fast"
    assert path.read_text() == "slow"
    assert names(tmp_path) == ["file"]


@posix
def test_what_others_have_put_there_stays(tmp_path: Path) -> None:
    """Hidden files that end in .tmp, a folder of such a name, links and pipes of any name."""
    mine = [".notes.tmp", ".x.abc.tmp", ".file.abcdefgh.tmp", ".helsinki-env-0.tmp", "x.helsinki-env-0.tmp", ".hidden"]
    for name in mine:
        (tmp_path / name).write_text("mine")
    for name in (".x.tmp", ".file.helsinki-env-0.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inside").write_text("mine")
    (tmp_path / ".file.helsinki-env-1.tmp").symlink_to(tmp_path / ".notes.tmp")
    (tmp_path / ".file.helsinki-env-2.tmp").symlink_to("nowhere")
    os.mkfifo(tmp_path / ".file.helsinki-env-3.tmp")
    before = names(tmp_path)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == before
    write(tmp_path / "file")
    assert names(tmp_path) == sorted([*before, "file"])
    assert {(tmp_path / name).read_text() for name in mine} == {"mine"}
    assert (tmp_path / "file").read_text() == "new\n"


# locks


@posix
def test_a_lock_is_held_by_one_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lock"
    with hold_lock_file(path, RuntimeError("busy")):
        with pytest.raises(RuntimeError, match="busy"), hold_lock_file(path, RuntimeError("busy")):
            pass
        assert path.exists(), "who was refused has not removed it"
    assert not path.exists()
    with hold_lock_file(path, RuntimeError("busy")):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of file sizes")
def test_a_file_that_cannot_be_written_is_a_clear_error_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("{}\n")
    code = (
        "import resource, signal, sys; from helsinki_env.records import RecordWriter\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, 10**5))\n"
        "with RecordWriter(sys.argv[1]) as writer:\n    writer.copy([b'x' * int(sys.argv[2])])\n"
    )
    for size in (10**6, 10**5 + 1):  # the second is found when the file is closed, because writing is buffered
        done = subprocess.run(
            [sys.executable, "-c", code, path, str(size)], capture_output=True, text=True, check=False
        )
        assert "RecordError: " in done.stderr
        assert f"{path}: cannot be written: File too large" in done.stderr
        assert path.read_text() == "{}\n"


@posix
@pytest.mark.parametrize("append", [False, True])
def test_two_writers_of_one_file_do_not_lose_each_others_games(tmp_path: Path, append: bool) -> None:
    path, link = tmp_path / "games.jsonl", tmp_path / "link"
    link.symlink_to(path)
    with RecordWriter(path, append=append) as one:
        one.write(record(1))
        with (
            pytest.raises(RecordError, match=r"link: another process is writing to it; wait"),
            RecordWriter(link, append=append),
        ):
            pass
    write_records(link, [record(2)], append=True)
    assert [game.seed for game in read_records(path)] == [1, 2]
    assert sorted(tmp_path.iterdir()) == [path, link]


#: A system whose file systems have no locks of either kind, or only none of `flock`.
NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
int flock(int file, int how) { errno = CODE; return -1; }
#if EVERY
static int ask(const char *name, int file, int what, void *value) {
    if (what == F_SETLK || what == F_SETLKW || what == F_GETLK) { errno = CODE; return -1; }
    return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, name))(file, what, value);
}
#define ASK(name) int name(int file, int what, ...) { \\
    va_list more; va_start(more, what); void *value = va_arg(more, void *); va_end(more); \\
    return ask(#name, file, what, value); }
ASK(fcntl)
ASK(fcntl64)
#endif
"""


@pytest.fixture(params=["flock", "every"])
def without_locks(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], dict[str, str]]:
    """Gives the environment of a process whose file system answers with an error to all that ask for locks."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C compiler, or no LD_PRELOAD")
    source = tmp_path / "no_locks.c"
    source.write_text(NO_LOCKS)

    def environment(code: int) -> dict[str, str]:
        library = tmp_path / f"no_locks_{code}.so"
        options = [f"-DCODE={code}", f"-DEVERY={int(request.param == 'every')}", "-shared", "-fPIC"]
        subprocess.run([compiler, *options, "-o", library, source, "-ldl"], check=True)
        return os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": str(Path(__file__).parents[1])}

    return environment


CODES = [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL]


@posix
@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
def test_file_systems_without_locks(code: int, without_locks: Callable[[int], dict[str, str]], tmp_path: Path) -> None:
    asked = (
        "import sys; from pathlib import Path; from helsinki_env.utils.files import hold_lock_file, atomic_write\n"
        "path = Path(sys.argv[1])\n"
        "for _ in range(2):\n"
        "    with hold_lock_file(path / 'lock', RuntimeError('busy')), atomic_write(path / 'file') as file:\n"
        "        file.write(b'new')\n"
    )
    folder = tmp_path / "folder"
    done = subprocess.run(
        [sys.executable, "-c", asked, folder], env=without_locks(code), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        f"helsinki-env: {folder}: the file system has no locks, so no other process may write there at the same time\n"
    )
    assert [path.name for path in folder.iterdir()] == ["file"]


@posix
@pytest.mark.nightly
@pytest.mark.parametrize("code", CODES[:2], ids=errno.errorcode.get)
def test_commands_save_where_there_are_no_locks(
    code: int, without_locks: Callable[[int], dict[str, str]], tmp_path: Path
) -> None:
    environment, program = without_locks(code), [sys.executable, "-m", "helsinki_env.cli.main"]
    for words in (
        f"simulate --players random --games 2 --out {tmp_path}/games.jsonl",
        f"arena --players random,greedy --games 4 --processes 1 --format jsonl --out {tmp_path}/arena",
    ):
        done = subprocess.run([*program, *words.split()], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for path, count in (("games.jsonl", 2), ("arena/games.jsonl", 4)):
        assert len(list(read_records(tmp_path / path))) == count


@posix
@pytest.mark.thorough
@pytest.mark.parametrize(
    "code", [CODES[0], *(pytest.param(code, marks=pytest.mark.nightly) for code in CODES[1:3])], ids=errno.errorcode.get
)
@pytest.mark.parametrize(
    "without_locks", ["every", pytest.param("flock", marks=pytest.mark.nightly)], indirect=True
)  # SQLite needs the locks of `fcntl`
def test_tables_are_kept_where_there_are_no_locks(
    code: int, without_locks: Callable[[int], dict[str, str]], tmp_path: Path
) -> None:
    """The database may be open elsewhere in the process and may come from another folder."""
    pytest.importorskip("fastapi")
    asked = (
        "import sys; from pathlib import Path; from helsinki_env import HelsinkiConfig\n"
        "from helsinki_env.web.store import TableStore; from helsinki_env.web.tables import SeatAssignment, GameTable\n"
        "chairs = (SeatAssignment('human', 'A'), SeatAssignment('human', 'B'))\n"
        "one, two = TableStore(Path(sys.argv[1])), TableStore(Path(sys.argv[1]))\n"
        "two.add(GameTable(sys.argv[2], '', HelsinkiConfig(), 1, chairs)); two.close()\n"
        "print(*sorted(table.name for table in one.all())); one.close()\n"
    )
    expected: list[str] = []
    usual, other = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}, without_locks(code)
    for name, environment in (("a", usual), ("b", other), ("c", other), ("d", usual)):
        expected.append(name)
        command = [sys.executable, "-c", asked, str(tmp_path / "tables"), name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == expected
