"""The cache of machine code: shared by the same sources, out of reach of other users, and optional."""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError, UnsupportedError

from helsinki_env import HelsinkiGame
from helsinki_env.engine import compile_cache, kernel

with_compiler = pytest.mark.skipif(not kernel.JIT, reason="nothing is compiled")

KERNEL = "from helsinki_env.engine.kernel import kernel\n\n@kernel\ndef f(x):\n    return x + {}\n"
CALLS = "from helsinki_env.engine.kernel import kernel\nfrom theirs.a import f\n\n@kernel\ndef g(x):\n    return f(x)\n"


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    return path


# The digest


def test_the_digest_of_the_sources_changes_with_any_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = write(tmp_path / "engine" / "rules.py")
    monkeypatch.setattr(compile_cache, "_PACKAGE", tmp_path)
    digests = {compile_cache.source_digest()}
    for text in ("a = 1\n", "a = 2\n"):
        rules.write_text(text)
        digests.add(compile_cache.source_digest())
        assert compile_cache.source_digest() in digests
    digests.add(compile_cache.source_digest("debug=True"))
    assert len(digests) == 4
    assert all(len(digest) == 16 for digest in digests)


def test_kernels_that_others_call_are_part_of_the_digest() -> None:
    """Kernels notice changes of their own file; one outside the digest must not be called from another file."""
    package = compile_cache._PACKAGE
    listed = {path for pattern in compile_cache._SOURCES for path in package.glob(pattern)}
    using = {path for path in package.rglob("*.py") if "engine.kernel import kernel" in path.read_text()}
    assert listed & using
    for path in using - listed:
        name = ".".join(("helsinki_env", *path.relative_to(package).with_suffix("").parts))
        assert not [other.name for other in using - {path} if f"from {name} import" in other.read_text()]


# Folders


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the user wants, not there yet."""
    folder = tmp_path / "wanted"
    monkeypatch.setenv("HELSINKI_CACHE_DIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    return folder


NAME = "0123456789abcdef"


def test_compiled_code_is_kept_where_one_says_and_nobody_else_writes_there(wanted: Path) -> None:
    folder = Path(compile_cache.open_folder(NAME))
    assert folder == wanted / NAME
    assert folder.stat().st_mode & 0o777 == 0o700
    assert compile_cache.open_folder(NAME) == str(folder), "and again"


def belonging_to_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)


def written_by_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o770)


def linked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(folder.parent)


def a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder)


@pytest.mark.parametrize("trap", [belonging_to_another, written_by_others, linked, a_file])
def test_machine_code_is_not_read_from_where_others_can_write(
    wanted: Path,
    trap: Callable[[Path, pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trap(wanted / NAME, monkeypatch)
    folder = Path(compile_cache.open_folder(NAME))
    assert folder.is_relative_to(wanted.parent / "temporary")
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
    assert compile_cache.open_folder(NAME) == str(folder), "processes that this one starts use it, too"
    assert capsys.readouterr().err.count("compiled code cannot be saved") == 1


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o775])
def test_where_others_may_write_a_private_folder_is_used(
    mode: int, wanted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cache works on mounted volumes and is found at the next start."""
    wanted.mkdir()
    wanted.chmod(mode)
    private = wanted / f"private-{os.geteuid()}"
    for _ in range(2):
        monkeypatch.setenv("HELSINKI_CACHE_DIR", str(wanted))  # another start
        folder = Path(compile_cache.open_folder(NAME))
        assert folder == private / NAME
        assert folder.stat().st_mode & 0o777 == private.stat().st_mode & 0o777 == 0o700
        assert capsys.readouterr().err == (
            f"helsinki-env: others may write to {wanted}, so compiled code is saved in the private folder {private}\n"
        )
        assert compile_cache.open_folder(NAME) == str(folder), "processes that this one starts use it, too"
        assert capsys.readouterr().err == "", "which say nothing"


@pytest.mark.parametrize("trap", [belonging_to_another, written_by_others, linked, a_file])
def test_a_prepared_private_folder_is_not_used(
    wanted: Path, trap: Callable[[Path, pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted.mkdir()
    wanted.chmod(0o777)
    trap(wanted / f"private-{os.geteuid()}", monkeypatch)
    assert Path(compile_cache.open_folder(NAME)).is_relative_to(wanted.parent / "temporary")


def test_a_folder_with_the_sticky_bit_is_used(wanted: Path) -> None:
    wanted.mkdir()
    wanted.chmod(0o1777)  # like the shared temporary folder, in which users can change only their own files
    assert Path(compile_cache.open_folder(NAME)).parent == wanted


def test_a_temporary_folder_goes_with_its_process_and_a_prepared_one_is_not_used(tmp_path: Path) -> None:
    blocked = write(tmp_path / "file")
    temporary = tmp_path / "temporary"
    write(temporary / "helsinki-env" / "trap")
    show = "from helsinki_env.engine.compile_cache import open_folder; print(open_folder('f'), end='')"
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(blocked), "TMPDIR": str(temporary)}
    run = subprocess.run([sys.executable, "-c", show], env=environment, capture_output=True, text=True, check=True)
    assert Path(run.stdout).parent.parent == temporary
    assert [path.name for path in temporary.iterdir()] == ["helsinki-env"]


def test_what_nobody_has_used_for_a_month_goes(wanted: Path) -> None:
    old, fresh = Path(compile_cache.open_folder("0" * 16)), Path(compile_cache.open_folder("1" * 16))
    users = write(wanted / ("2" * 16) / "notes.txt")  # nothing that was put there by us
    for path, days in ((old / "used", 31), (fresh / "used", 29), (users.parent, 400)):
        seconds = path.stat().st_mtime - days * 24 * 60 * 60
        os.utime(path, (seconds, seconds))
    write(old / "f.0")
    compile_cache.open_folder("3" * 16)
    assert sorted(path.name[0] for path in wanted.iterdir()) == ["1", "2", "3"]
    seconds = fresh.stat().st_mtime - 40 * 24 * 60 * 60
    os.utime(fresh / "used", (seconds, seconds))
    compile_cache.open_folder("1" * 16)
    assert fresh.exists(), "whoever uses it again keeps it"


# Folders of players


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages of others, with a cache folder and players of its own."""
    monkeypatch.setattr(kernel, "CACHE_FOLDER", str(tmp_path / "cache"))
    monkeypatch.setattr(compile_cache, "_PLAYERS", tmp_path / "agents")
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path


def folder_of(path: Path) -> str:
    """Where a process that starts now keeps the compiled code of a file."""
    compile_cache.source_version.cache_clear()
    compile_cache.folder_for.cache_clear()
    folder = compile_cache.folder_for(str(path), kernel.CACHE_FOLDER)
    assert os.path.isdir(folder)
    return folder


def test_compiled_code_of_a_package_moves_with_any_of_its_kernels(elsewhere: Path) -> None:
    for init in ("agents/__init__.py", "agents/search/__init__.py", "theirs/__init__.py"):
        write(elsewhere / init)
    tree = write(elsewhere / "agents" / "search" / "tree.py", KERNEL.format(1))
    greedy = write(elsewhere / "agents" / "greedy.py", KERNEL.format(2))
    others = write(elsewhere / "theirs" / "player.py", KERNEL.format(3))
    plain = write(elsewhere / "agents" / "weights.py", "café = 1\n")
    apart = write(elsewhere / "agents" / "programs" / "process.py", "PATIENCE = 1\n")
    before, of_others = folder_of(tree), folder_of(others)
    assert folder_of(greedy) == before
    assert os.path.dirname(before) == os.path.dirname(of_others) == kernel.CACHE_FOLDER
    assert of_others != before
    write(apart, "PATIENCE = 2\n")
    assert folder_of(tree) == before, "there is no kernel next to it"
    write(plain, "café = 2\n")
    assert folder_of(tree) != before, "kernels next to it may use its constants"
    before, of_others = folder_of(tree), folder_of(others)
    write(others, KERNEL.format(4))
    assert folder_of(tree) == before, "nobody in it calls what others add"
    assert folder_of(others) != of_others
    of_others = folder_of(others)
    write(greedy, KERNEL.format(5))
    assert folder_of(tree) == folder_of(greedy) != before
    assert folder_of(others) != of_others, "theirs may call ours"


def test_compiled_code_of_the_rules_stays_where_it_is(elsewhere: Path) -> None:
    rules = compile_cache._PACKAGE / "notation.py"
    assert folder_of(rules) == kernel.CACHE_FOLDER
    write(elsewhere / "agents" / "__init__.py")
    write(elsewhere / "agents" / "greedy.py", KERNEL.format(1))
    assert folder_of(rules) == kernel.CACHE_FOLDER


def test_the_same_package_elsewhere_shares_and_a_single_file_does_not(elsewhere: Path) -> None:
    for clone in ("one", "two"):
        write(elsewhere / clone / "theirs" / "__init__.py")
        write(elsewhere / clone / "theirs" / "a.py", KERNEL.format(1))
        write(elsewhere / clone / "mine.py", KERNEL.format(1))
    first, second = ((elsewhere / clone / "theirs" / "a.py") for clone in ("one", "two"))
    assert folder_of(first) == folder_of(second)
    first, second = ((elsewhere / clone / "mine.py") for clone in ("one", "two"))
    assert folder_of(first) != folder_of(second), "what it calls may lie beside it, whatever that is"


def test_compiled_code_of_a_single_file_is_its_own(elsewhere: Path) -> None:
    mine = write(elsewhere / "scripts" / "mine.py", KERNEL.format(1))
    other = write(elsewhere / "scripts" / "other.py", KERNEL.format(2))
    before = folder_of(mine)
    assert folder_of(other) != before
    write(other, KERNEL.format(3))
    assert folder_of(mine) == before
    write(mine, KERNEL.format(4))
    assert folder_of(mine) != before


# Files


@pytest.fixture
def load(elsewhere: Path) -> Iterator[Callable[[str, Path], Any]]:
    """Imports a module as a process does that starts now."""
    path, modules = sys.path[:], set(sys.modules)

    def forget() -> None:
        for name in set(sys.modules) - modules:
            if name.startswith("theirs"):
                del sys.modules[name]
        compile_cache.source_version.cache_clear()
        compile_cache.folder_for.cache_clear()
        compile_cache._digest_of.cache_clear()
        importlib.invalidate_caches()

    def load(name: str, folder: Path) -> Any:
        forget()
        sys.path[:] = [str(folder), *path]
        return importlib.import_module(name)

    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    yield load
    sys.dont_write_bytecode = before
    sys.path[:] = path
    forget()


def found(function: Any) -> int:
    """How often machine code of a kernel was found."""
    return sum(function.stats.cache_hits.values())


@with_compiler
def test_another_clone_of_the_same_sources_compiles_nothing(elsewhere: Path, load: Callable[[str, Path], Any]) -> None:
    write(elsewhere / "one" / "theirs" / "__init__.py")
    write(elsewhere / "one" / "theirs" / "a.py", KERNEL.format(1))
    g = write(elsewhere / "one" / "theirs" / "b.py", CALLS)
    first = load("theirs.b", elsewhere / "one")
    assert (first.g(1), found(first.g)) == (2, 0)
    shutil.copytree(elsewhere / "one", elsewhere / "two")
    os.utime(elsewhere / "two" / "theirs" / "b.py", (g.stat().st_mtime + 100,) * 2)
    second = load("theirs.b", elsewhere / "two")
    assert second is not first
    assert (second.g(1), found(second.g)) == (2, 1)
    assert second.g(1.5) == 2.5
    again = load("theirs.b", elsewhere / "one")
    assert (again.g(1), again.g(1.5), found(again.g)) == (2, 2.5, 2)
    write(elsewhere / "two" / "theirs" / "a.py", KERNEL.format(2))  # which g calls, whose file has not changed
    third = load("theirs.b", elsewhere / "two")
    assert (third.g(1), found(third.g)) == (3, 0)


def signed(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


@with_compiler
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[:-1],
        lambda data: b"garbage" * 1000,
        lambda data: data[:500] + bytes([data[500] ^ 1]) + data[501:],
        lambda data: signed(b"no pickle"),
        lambda data: signed(pickle.dumps(("wrong", "pickle"))),
        lambda data: signed(data[32:200]),
    ],
)
def test_a_damaged_file_is_dropped_and_made_anew(
    elsewhere: Path, load: Callable[[str, Path], Any], damage: Callable[[bytes], bytes]
) -> None:
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", KERNEL.format(1))
    f = load("theirs.a", elsewhere).f
    assert f(1) == 2
    (file,) = Path(f.stats.cache_path).glob("theirs.a.f-*")
    file.write_bytes(damage(file.read_bytes()))
    for hits in (0, 1):
        f = load("theirs.a", elsewhere).f
        assert (f(1), found(f)) == (2, hits)


@with_compiler
def test_a_file_that_others_may_write_is_not_run(elsewhere: Path, load: Callable[[str, Path], Any]) -> None:
    """Where others may exchange folders, each file is looked at again as it is read."""
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", KERNEL.format(1))
    f = load("theirs.a", elsewhere).f
    assert f(1) == 2
    (file,) = Path(f.stats.cache_path).glob("theirs.a.f-*")
    file.chmod(0o666)
    for hits in (0, 1):
        f = load("theirs.a", elsewhere).f
        assert (f(1), found(f)) == (2, hits)
    assert file.stat().st_mode & 0o777 == 0o600


@with_compiler
def test_where_nothing_can_be_kept_it_is_compiled_in_memory(elsewhere: Path, load: Callable[[str, Path], Any]) -> None:
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", KERNEL.format(1))
    f = load("theirs.a", elsewhere).f
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as on a full disk
    try:
        assert f(1) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    folder = Path(f.stats.cache_path)
    assert {path.name for path in folder.iterdir()} == {"claims", "used"}, "half a file is no file"
    shutil.rmtree(folder)
    write(folder)
    f = load("theirs.a", elsewhere).f
    assert f(1) == 2


# Called kernels

CALLED = """
from helsinki_env.engine.kernel import kernel

@kernel
def product(x):
    if x < 0:
        raise ValueError("less than nothing", x)
    print("product", x)
    return 1 if x < 2 else x * product(x - 1)

@kernel
def more(x):
    return product(x) + 1 if x < 9 else 0
"""
CALLING = """
import numpy as np
from helsinki_env.engine.kernel import kernel
from theirs.a import more

@kernel
def most(x):
    return more(x) + np.zeros(1)[0]
"""


@with_compiler
def test_kernels_that_are_called_behave_like_python(
    elsewhere: Path, load: Callable[[str, Path], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", CALLED)
    write(elsewhere / "theirs" / "b.py", CALLING)
    write(elsewhere / "theirs" / "c.py", CALLING)

    def check(function: Any) -> None:
        assert function(3) == 7
        assert capfd.readouterr().out == "product 3\nproduct 2\nproduct 1\n"
        with pytest.raises(ValueError, match="less than nothing") as refused:
            function(-2)
        assert refused.value.args == ("less than nothing", -2)

    for hits in (0, 1):
        a = load("theirs.a", elsewhere)
        check(a.more)
        assert found(a.more) == hits
    assert not a.product.overloads, "machine code is made of what Python calls, not of what kernels call"
    for name, hits in (("theirs.b", 0), ("theirs.c", 1)):
        calling = load(name, elsewhere)
        check(calling.most)
        assert found(calling.more.for_kernels) == hits, "what was compiled for one is there for the other"
    assert load("theirs.a", elsewhere).product(1) == 1, "Python may call any of them"


INTEGERS = """
from helsinki_env.engine.kernel import kernel

@kernel
def halvings(n, more):
    if n < 2:
        return more
    return halvings(n // 2, more + 1)

@kernel
def first_halvings(some, others):
    return halvings(some[0], 0) + halvings(others[0], 10) + halvings(some[1], others[1])
"""


@with_compiler
def test_called_kernels_are_compiled_once_for_all_signed_integers_and_constants(
    elsewhere: Path, load: Callable[[str, Path], Any]
) -> None:
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", INTEGERS)
    theirs = load("theirs.a", elsewhere)
    for short, long in ((np.int8, np.int64), (np.int16, np.int32)):
        assert theirs.first_halvings(np.array([127, 4], short), np.array([64, 1], long)) == 6 + 16 + 3
    assert list(theirs.halvings.for_kernels.overloads) == [(numba.int64, numba.int64)]


CIRCLE = """
from helsinki_env.engine.kernel import kernel

@kernel
def even(n):
    if n == 0:
        return True
    return odd(n - 1)

@kernel
def odd(n):
    if n == 0:
        return False
    return even(n - 1)
"""


@with_compiler
def test_kernels_that_call_each_other_in_a_circle_are_refused(
    elsewhere: Path, load: Callable[[str, Path], Any]
) -> None:
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", CIRCLE)
    with pytest.raises(UnsupportedError, match="odd: found kernels that call each other, expected none"):
        load("theirs.a", elsewhere).even(3)


def allocate(n: int) -> int:
    return len(np.zeros(n))


@with_compiler
def test_numba_still_has_its_private_option_against_reference_counts() -> None:
    """The rules run 1.16 times as fast with it, see `helsinki_env.engine.kernel`."""
    try:
        numba.njit(_nrt=False)(allocate)(3)
    except NumbaError:
        return  # as it should: what allocates cannot be compiled
    except KeyError:
        pass
    pytest.fail("this Numba has no option _nrt any more: hold Numba back in pyproject.toml, or do without in kernel.py")


WAITING = """
import sys
sys.path.insert(0, {folder!r})
from helsinki_env.engine import compile_cache, kernel
kernel.CACHE_FOLDER, compile_cache._PLAYERS = {cache!r}, compile_cache.Path({players!r})
from theirs.a import f
print("begins", flush=True)
print(f(1), sum(f.stats.cache_hits.values()))
"""


@with_compiler
def test_what_somebody_else_is_compiling_is_waited_for(elsewhere: Path, load: Callable[[str, Path], Any]) -> None:
    write(elsewhere / "theirs" / "__init__.py")
    write(elsewhere / "theirs" / "a.py", KERNEL.format(1))
    f = load("theirs.a", elsewhere).f
    path = f._cache.path((numba.int64,), f.targetctx.codegen())
    assert not f._cache.claims.claim(path), "nobody else has claimed it"
    names = {"folder": str(elsewhere), "cache": kernel.CACHE_FOLDER, "players": str(elsewhere / "agents")}
    command = [sys.executable, "-c", WAITING.format(**names)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "begins\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1.0)
        assert f(1) == 2
        assert other.stdout.read() == "2 1\n", "found, not compiled again"


TYPED_IN = """
from helsinki_env.engine import bits
from helsinki_env.engine.kernel import JIT, kernel
assert JIT
@kernel
def f(x):
    return bits.popcount(x) + 1
print(f(7))
"""


@with_compiler
def test_kernels_without_a_file_are_not_kept(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-"], input=TYPED_IN, capture_output=True, text=True, check=True)
    assert run.stdout == "4\n"


READING = """
import sys
from helsinki_env import HelsinkiGame
game = HelsinkiGame(seed=1)
game.step(int(game.legal_actions()[0]))
print([name for name in ("numba.np.linalg", "scipy.linalg") if name in sys.modules])
"""


@with_compiler
def test_kernels_of_the_project_are_read_without_what_only_compiling_needs() -> None:
    """Numba would load its whole library before, which takes a third of the start of a process."""
    game = HelsinkiGame(seed=1)
    game.step(int(game.legal_actions()[0]))  # from here on they are kept
    run = subprocess.run([sys.executable, "-c", READING], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
