"""Overloaded kernels: a loop plays each game by its own rules, in every process and from the cache."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof

from helsinki_env import HelsinkiGame
from helsinki_env.engine import compile_cache
from helsinki_env.engine import kernel as compiling
from helsinki_env.engine.overloads import OverloadedKernel, OverloadError

ROOT = Path(__file__).resolve().parent.parent
FIRST = np.dtype((np.record, [("value", np.int64), ("first", np.int8)]))
SECOND = np.dtype((np.record, [("value", np.int64), ("more", np.int64)]))

advance = OverloadedKernel("advance")


class Batch(NamedTuple):
    """Records in a tuple, as kernels of environments get them."""

    size: int
    states: Any


@compiling.kernel
def add(g, by):
    g.value += by


@compiling.kernel
def multiply(g, by):
    g.value *= by
    g.more += 1


@compiling.kernel
def advance_all(states, by):
    for b in range(len(states)):
        advance(states[b], by)


@compiling.kernel
def advance_number(number):
    return advance(number, 1)


advance.implements(FIRST, add)
advance.implements(SECOND, multiply)


def of(dtype: np.dtype, *values: int) -> np.ndarray:
    states = np.zeros(len(values), dtype)
    states["value"] = values
    return states


def test_a_loop_plays_each_game_by_its_own_rules() -> None:
    first, second = of(FIRST, 1, 2, 3), of(SECOND, 1, 2, 3)
    advance_all(first, 10)
    advance_all(second, 10)
    assert first["value"].tolist() == [11, 12, 13]
    assert second["value"].tolist() == [10, 20, 30]
    assert second["more"].tolist() == [1, 1, 1]


def test_a_rule_can_be_called_from_python() -> None:
    first = of(FIRST, 5)
    advance(first[0], 2)
    assert first["value"].tolist() == [7]
    assert advance.kernels == (add, multiply)


def test_what_no_game_has_is_said() -> None:
    with pytest.raises(OverloadError, match="advance: found no record of a game"):
        advance(3, 4)
    with pytest.raises(Exception, match="advance: found no record of a game"):
        advance_number(3)


def test_two_games_cannot_have_the_same_records() -> None:
    rule = OverloadedKernel("advance")
    rule.implements(FIRST, add)
    rule.implements(np.dtype((np.record, [("value", np.int64), ("first", np.int8)])), add)
    with pytest.raises(OverloadError, match=r"advance: found two games with records of type \('value', 'first'\)"):
        rule.implements(FIRST, multiply)


#: Two further games: one with an editable rule, and a loop of the project that plays it.
GAME = """
import numpy as np
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine import contract

STATE = np.dtype((np.record, [("done", np.int8), ("{name}", np.int64), ("chance", np.uint64)]))

@kernel
def apply(t, g, action):
    g.{name} {change} action + 1
    g.done = g.{name} >= 20

@kernel
def mark_legal(t, g, mask):
    mask[2] = 1

contract.apply_action.implements(STATE, apply)
contract.mark_legal.implements(STATE, mark_legal)
"""
PLAY = """
import numpy as np
from helsinki_env.engine.playout import playout_kernel
import {games}
for game in ({games},):
    states = np.zeros(2, game.STATE)
    words = np.zeros(2, np.uint64)
    decisions = playout_kernel(np.zeros(1)[0], states, words, np.zeros(4, np.int8))
    hits = sum(playout_kernel.stats.cache_hits.values()) if hasattr(playout_kernel, "stats") else None
    print(decisions, hits)
"""


@pytest.mark.skipif(not compiling.JIT, reason="nothing is compiled")
def test_machine_code_depends_on_the_files_of_a_game_and_not_on_players_that_are_imported() -> None:
    import_module("helsinki_env.agents.helsinki.heuristic_api")
    own, helsinki = np.zeros(1, FIRST), HelsinkiGame()._states
    for values in ((own,), (Batch(1, own),), ((own, own),), ((1, (2, own)),)):
        types = [typeof(value) for value in values]
        assert compile_cache._versions(types) == [compile_cache.source_version(__file__)]
    assert compile_cache._versions([typeof(helsinki)]) == []


@pytest.mark.thorough
@pytest.mark.skipif(not compiling.JIT, reason="nothing is compiled")
def test_every_process_finds_the_machine_code_of_its_game_and_of_its_version(tmp_path: Path) -> None:
    """The trap of compiled loops: one game must not run the other's machine code from the cache, nor yesterday's."""
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": str(tmp_path)}

    def game(name: str, change: str) -> None:
        (tmp_path / f"{name}.py").write_text(GAME.format(name=name, change=change))

    def play(*games: str) -> list[str]:
        return subprocess.run(
            [sys.executable, "-c", PLAY.format(games=", ".join(games))],
            env=environment, capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip

    game("adding", "+=")
    game("doubling", "+= g.doubling +")
    assert play("adding", "doubling") == ["14 0", "6 0"], "seven decisions a game by threes; three: 3, 9, 21"
    assert play("doubling", "adding") == ["6 1", "14 2"], "found, whatever comes first"
    game("adding", "+= 1 +")
    assert play("doubling", "adding") == ["6 1", "10 1"], "edited: five decisions by fours, and compiled anew"


@pytest.mark.thorough
@pytest.mark.skipif(not compiling.JIT, reason="nothing is compiled")
def test_a_changed_constant_of_another_file_is_compiled_anew(tmp_path: Path) -> None:
    environment = os.environ | {"HELSINKI_CACHE_DIR": str(tmp_path / "kernels")}
    (tmp_path / "mine.py").write_text(
        "from constants import X\nfrom helsinki_env.engine.kernel import kernel\n"
        "@kernel\ndef value(a):\n    return a * X\n"
    )
    for factor in (1, 100):
        (tmp_path / "constants.py").write_text(f"X = {factor}\n")
        command = [sys.executable, "-c", "import mine; print(mine.value(3))"]
        variables = environment | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [str(3 * factor)]


def test_files_that_kernels_of_players_import_determine_the_folder_of_their_code() -> None:
    """Modules without kernels may define constants of kernels."""
    hashed = set(compile_cache._kernel_files(compile_cache._PLAYERS))
    for file in (one for one in hashed if b"@kernel" in one.read_bytes()):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("helsinki_env.agents."):
                path = compile_cache._PLAYERS / Path(*str(node.module).split(".")[2:])
                assert {path.with_suffix(".py"), path / "__init__.py"} & hashed, (file, node.module)


@pytest.mark.thorough
def test_what_was_typed_in_is_played_by_no_other_process() -> None:
    """A game that was typed in has no file by which another process could tell that it plays by other rules."""
    typed = """
import numpy as np
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.overloads import OverloadedKernel
from tests.test_rule import advance, advance_all
COUNTER = np.dtype((np.record, [("typed", np.int64)]))
@kernel
def count(g, by):
    g.typed {sign}= by
advance.implements(COUNTER, count)
states = np.zeros(2, COUNTER)
advance_all(states, 3)
print(states["typed"].tolist())
"""
    for sign, expected in (("+", "[3, 3]\n"), ("-", "[-3, -3]\n")):
        source = typed.replace("{sign}", sign)
        done = subprocess.run([sys.executable, "-"], cwd=ROOT, input=source, capture_output=True, text=True, check=True)
        assert done.stdout == expected
