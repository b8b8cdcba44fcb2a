"""The helpers of the kernels, each against a plain definition; and the decorator that compiles them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import GameConfig, load_components
from helsinki_env.components import ROOFS
from helsinki_env.core import actions as a
from helsinki_env.core import bits, deal, kernel, legal, rng, score, shapes, state, step
from helsinki_env.core.kernel import JIT
from helsinki_env.game import apply_setup
from helsinki_env.reference import GOLDEN, entry_paths, first_word, mix, neighbours, orientations, slide
from tests.support.positions import COMPONENTS

CELLS = st.sets(st.integers(0, 48))
FEW = settings(max_examples=100 if JIT else 20, deadline=None)


def as_bits(cells: Any) -> np.int64:
    return np.int64(sum(1 << cell for cell in cells))


def as_cells(cells: Any) -> set[int]:
    return {cell for cell in range(64) if int(cells) >> cell & 1}


# Sets of cells


@given(CELLS)
@FEW
def test_sets_of_cells(cells: set[int]) -> None:
    board = as_bits(cells)
    assert bits.count(board) == len(cells)
    assert as_cells(bits.neighbours(board)) == {near for cell in cells for near in neighbours(cell)}
    assert as_cells(bits.neighbours(bits.BOARD)) == set(range(49))
    if cells:
        assert bits.lowest(board) == min(cells)
        assert as_cells(legal._highest(board)) == {max(cells)}
    for cell in cells:
        assert as_cells(bits.bit(cell)) == {cell}


def in_one_part(cells: set[int], targets: set[int]) -> bool:
    reached = {min(targets)} & cells
    while True:
        more = {near for cell in reached for near in neighbours(cell)} & cells - reached
        if not more:
            return targets <= reached
        reached |= more


@given(CELLS, st.sets(st.integers(0, 48), min_size=1, max_size=4))
@FEW
def test_connected_cells(cells: set[int], targets: set[int]) -> None:
    for board in (cells, cells | targets):
        assert bits.connected(as_bits(board), as_bits(targets)) == in_one_part(board, targets)


@given(CELLS)
@FEW
def test_full_lines(cells: set[int]) -> None:
    lines = [{7 * i + j for j in range(7)} for i in range(7)], [{7 * j + i for j in range(7)} for i in range(7)]
    for board in (cells, cells | lines[0][2] | lines[1][6] | lines[1][0]):
        rows, columns = ([line for line in kind if line <= board] for kind in lines)
        in_rows, in_columns, row_count, column_count = score.full_lines(as_bits(board))
        assert (as_cells(in_rows), as_cells(in_columns)) == (set().union(*rows), set().union(*columns))
        assert (row_count, column_count) == (len(rows), len(columns))


# The slide


@pytest.mark.parametrize("components", COMPONENTS)
def test_orientations_are_numbered_like_those_of_the_plain_rules(components: str) -> None:
    for drawing in load_components(components).shapes.values():
        ours = [frozenset(shapes.cells_of(rows)) for rows in shapes.orientations(drawing)]
        assert ours == orientations(drawing)


@pytest.mark.parametrize("components", COMPONENTS)
@given(board=CELLS, more=CELLS)
@settings(max_examples=30 if JIT else 10, deadline=None)
def test_every_slide_ends_where_pushing_step_by_step_ends(components: str, board: set[int], more: set[int]) -> None:
    config = GameConfig(components=components)
    data, t = config.loaded, config.tables[0]
    for cells in (board & more, board):  # sparse boards let tiles pass more often
        built = as_bits(cells)
        for colour in range(5):
            for size in range(len(ROOFS)):
                _check_slides(data.shapes[data.tiles[colour][size]], t, 4 * colour + size, cells, built)


def _check_slides(drawing: tuple[str, ...], t: Any, kind: int, cells: set[int], built: np.int64) -> None:
    for side in range(4):
        packed = shapes.profile(built, side)
        found = {}
        for orientation in range(t.orientations[kind]):
            piece = 8 * kind + orientation
            legal_lanes = shapes.lanes(t, piece, side, packed)
            for lane in range(7):
                if legal_lanes >> lane & 1:
                    corner = shapes.rest(t, piece, side, lane, built)
                    found[a.place_argument(side, orientation, lane)] = as_cells(shapes.tile_cells(t, piece, corner))
        ends = {argument: slide(path, cells) for argument, path in entry_paths(drawing, side)}
        assert found == {argument: set(end) for argument, end in ends.items() if end is not None}
        assert shapes.fits(t, kind, side, built) == bool(found)


# Chance


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
@FEW
def test_random_words(seed: int, stream: int, episode: int) -> None:
    assert int(rng.mix(np.uint64(seed))) == mix(seed)
    word = rng.first_word(np.uint64(seed), np.uint64(stream), np.uint64(episode))
    assert int(word) == first_word(seed, stream, episode)


def test_the_generator_gives_the_published_numbers() -> None:
    """The first outputs of splitmix64 for seed 1234567, as its authors' program prints them."""
    word, found = 1234567, []
    for _ in range(5):
        word = (word + GOLDEN) % 2**64
        found.append(int(rng.mix(np.uint64(word))))
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


# States and masks


@pytest.mark.parametrize("types", [46, 51, 91])
def test_records_are_a_multiple_of_a_cache_line(types: int) -> None:
    dtype = state.game_dtype(types)
    assert dtype.itemsize % 64 == 0
    assert dtype["hand"].shape == (4, 51 if types <= 51 else 91)
    assert state.GAME.itemsize == 1024


def test_blank_records_hold_nothing() -> None:
    states = state.new_states(3)
    assert (states["players"] == 2).all()
    for name in state.NONE_FIELDS:
        assert (states[name] == -1).all()


def test_copies_of_records_are_copies() -> None:
    states = state.new_states(3)
    states["points"][1] = 7
    for other in (state.copy_states(states), state.copy_states(states, state.new_states(3))):
        assert other.tobytes() == states.tobytes()
        other["points"][1] = 8
        assert states["points"][1, 0] == 7


def test_a_record_takes_over_which_game_is_played_and_nothing_else() -> None:
    setups, states = state.new_states(1), state.new_states(1)
    config = GameConfig(num_players=3, covered=[2, 3], denied=[[4], [], [14]], dry_roads=True)
    apply_setup(setups, config)
    setups["points"] = 9
    deal.set_up(states[0], setups[0])
    for name in deal.SETUP_FIELDS:
        assert (states[name] == setups[name]).all()
    states["points"] = 9
    assert states.tobytes() == setups.tobytes()


def test_a_batch_is_stepped_up_to_the_first_illegal_decision() -> None:
    config = GameConfig()
    t, states = config.tables[0], state.new_states(4)
    apply_setup(states, config)
    seeds = np.arange(4, dtype=np.uint64)
    step.batch_deal(t, states, seeds, seeds, seeds)
    masks = np.zeros((4, 554), np.int8)
    step.batch_mask(t, states, masks)
    for wrong in (8, -1, 554):
        batch = state.copy_states(states)
        assert step.batch_step(t, batch, np.array([0, 1, wrong, 0]), masks.copy()) == 2
        assert (batch["phase"] == [1, 1, 0, 0]).all()
    assert step.batch_step(t, states, np.array([0, 1, 2, 3]), masks) == -1
    assert (states["token"][:, 0] == [0, 1, 2, 3]).all()
    assert (np.flatnonzero(masks[3]) == [8, 9, 10]).all()


# The decorator


def test_the_digest_of_the_sources_changes_with_any_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "core").mkdir()
    rules = tmp_path / "core" / "rules.py"
    monkeypatch.setattr(kernel, "_PACKAGE", tmp_path)
    digests = {kernel.source_digest()}
    for text in ("a = 1\n", "a = 2\n"):
        rules.write_text(text)
        digests.add(kernel.source_digest())
        assert kernel.source_digest() in digests
    monkeypatch.setattr(kernel, "DEBUG", not kernel.DEBUG)
    digests.add(kernel.source_digest())
    assert len(digests) == 4
    assert all(len(digest) == 16 for digest in digests)


def test_kernels_that_others_call_are_part_of_the_digest() -> None:
    """Numba notices changes of the file itself; a kernel outside the digest must not be called from another file."""
    package = kernel._PACKAGE
    listed = {path for pattern in kernel._SOURCES for path in package.glob(pattern)}
    using = {path for path in package.rglob("*.py") if "core.kernel import kernel" in path.read_text()}
    assert listed & using
    for path in using - listed:
        name = ".".join(("helsinki_env", *path.relative_to(package).with_suffix("").parts))
        assert not [other.name for other in using - {path} if f"from {name} import" in other.read_text()]


def test_compiled_code_is_kept_where_one_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELSINKI_CACHE_DIR", str(tmp_path / "here"))
    folder = kernel._cache_folder()
    assert folder == str(tmp_path / "here" / kernel.source_digest())
    assert os.path.isdir(folder)


def test_compiled_code_is_kept_elsewhere_if_it_cannot_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("HELSINKI_CACHE_DIR", str(blocked))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert kernel._cache_folder() == str(tmp_path / "helsinki-env" / kernel.source_digest())
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path / f"{prefix}xyz"))
    assert kernel._cache_folder() == str(tmp_path / "helsinki-env-xyz")


KERNEL = "from helsinki_env.core.kernel import kernel\n\n@kernel\ndef f(x):\n    return x + {}\n"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages of others, with a cache folder and players of its own."""
    monkeypatch.setattr(kernel, "CACHE_FOLDER", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel, "_PLAYERS", tmp_path / "agents")
    return tmp_path


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    return path


def folder_of(path: Path) -> str:
    """Where a process that starts now keeps the compiled code of a file."""
    kernel._folder_for.cache_clear()
    folder = kernel._folder_for(str(path))
    assert os.path.isdir(folder)
    return folder


def test_compiled_code_of_a_package_moves_with_any_of_its_kernels(elsewhere: Path) -> None:
    for init in ("agents/__init__.py", "agents/search/__init__.py", "theirs/__init__.py"):
        write(elsewhere / init)
    tree = write(elsewhere / "agents" / "search" / "tree.py", KERNEL.format(1))
    greedy = write(elsewhere / "agents" / "greedy.py", KERNEL.format(2))
    others = write(elsewhere / "theirs" / "player.py", KERNEL.format(3))
    plain = write(elsewhere / "agents" / "weights.py", "café = 1\n")
    before, of_others = folder_of(tree), folder_of(others)
    assert folder_of(greedy) == before
    assert os.path.dirname(before) == os.path.dirname(of_others) == kernel.CACHE_FOLDER
    assert of_others != before
    write(plain, "café = 2\n")
    assert folder_of(tree) == before, "no kernel has changed"
    write(others, KERNEL.format(4))
    assert folder_of(tree) == before, "nobody in it calls what others add"
    assert folder_of(others) != of_others
    of_others = folder_of(others)
    write(greedy, KERNEL.format(5))
    assert folder_of(tree) == folder_of(greedy) != before
    assert folder_of(others) != of_others, "theirs may call ours"


def test_compiled_code_of_the_rules_stays_where_it_is(elsewhere: Path) -> None:
    assert folder_of_rules() == kernel.CACHE_FOLDER
    write(elsewhere / "agents" / "__init__.py")
    write(elsewhere / "agents" / "greedy.py", KERNEL.format(1))
    assert folder_of_rules() == kernel.CACHE_FOLDER


def folder_of_rules() -> str:
    kernel._folder_for.cache_clear()
    return kernel._folder_for(str(kernel._PACKAGE / "redeal.py"))


def test_compiled_code_of_a_single_file_is_its_own(elsewhere: Path) -> None:
    mine = write(elsewhere / "scripts" / "mine.py", KERNEL.format(1))
    other = write(elsewhere / "scripts" / "other.py", KERNEL.format(2))
    before = folder_of(mine)
    assert folder_of(other) != before
    write(other, KERNEL.format(3))
    assert folder_of(mine) == before
    write(mine, KERNEL.format(4))
    assert folder_of(mine) != before


TYPED_IN = """
from helsinki_env.core import bits
from helsinki_env.core.kernel import JIT, kernel
assert JIT
@kernel
def f(x):
    return bits.count(x) + 1
print(f(7))
"""


@pytest.mark.skipif(not JIT, reason="starts processes with the compiler itself")
def test_players_of_others_run_their_kernels_as_they_are_now(tmp_path: Path) -> None:
    """Numba alone would go on with yesterday's `f`: the file of `g`, which calls it, has not changed."""
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(kernel._PACKAGE.parent)))}

    def run(*arguments: str, typed: str | None = None) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, input=typed, capture_output=True, text=True, check=True
        ).stdout

    write(tmp_path / "theirs" / "__init__.py")
    write(tmp_path / "theirs" / "a.py", KERNEL.format(1))
    calls = (
        "from helsinki_env.core.kernel import kernel\nfrom theirs.a import f\n\n@kernel\ndef g(x):\n    return f(x)\n"
    )
    write(tmp_path / "theirs" / "b.py", calls)
    show = "from theirs.b import g; print(g(1), sum(g.stats.cache_hits.values()))"
    assert run("-c", show) == "2 0\n"
    assert run("-c", show) == "2 1\n", "kept"
    write(tmp_path / "theirs" / "a.py", KERNEL.format(2))
    assert run("-c", show) == "3 0\n"
    write(tmp_path / "mine.py", TYPED_IN)
    assert run("mine.py") == "4\n"
    assert run("-", typed=TYPED_IN) == "4\n", "where there is no file nothing is kept"


def compiling(module: str | None) -> Any:
    function = SimpleNamespace(py_func=SimpleNamespace(__module__=module)) if module else None
    return SimpleNamespace(data={"dispatcher": function} if module else None)


def test_who_has_to_wait_for_the_compiler_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    timers = []

    class Timer:
        daemon = False

        def __init__(self, seconds: float, call: Any) -> None:
            self.seconds, self.call, self.cancelled = seconds, call, False
            timers.append(self)

        def start(self) -> None:
            assert self.daemon

        def cancel(self) -> None:
            self.cancelled = True

    monkeypatch.setattr(threading, "Timer", Timer)
    announcer = kernel._Announcer()
    for other in (None, "somebody.else"):  # no business of ours
        announcer.on_start(compiling(other))
        announcer.on_end(compiling(other))
    assert not timers
    announcer.on_start(compiling("helsinki_env.core.step"))
    announcer.on_start(compiling("helsinki_env.core.step"))  # compiled on the way
    announcer.on_end(compiling("helsinki_env.core.step"))
    assert [(timer.seconds, timer.cancelled) for timer in timers] == [(2.0, False)]
    timers[0].call()  # two seconds later
    announcer.on_end(compiling("helsinki_env.core.step"))
    assert timers[0].cancelled
    assert "compiling the rules for this machine" in capsys.readouterr().err
    announcer.on_start(compiling("helsinki_env.core.step"))
    assert len(timers) == 1


RUN = """
from helsinki_env.core import kernel
from helsinki_env import Game
game = Game(seed=1)
game.step(0)
print(kernel.JIT, kernel.DEBUG, game.legal_actions().tolist())
"""


@pytest.mark.skipif(not JIT, reason="starts processes with and without the compiler itself")
@pytest.mark.parametrize(
    ("variables", "jit", "debug"), [({"NUMBA_DISABLE_JIT": "1"}, False, False), ({"HELSINKI_DEBUG": "0"}, True, False)]
)
def test_the_environment_decides_how_kernels_run(variables: dict[str, str], jit: bool, debug: bool) -> None:
    run = subprocess.run(
        [sys.executable, "-c", RUN], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    assert run.stdout == f"{jit} {debug} [8, 9, 10]\n"
