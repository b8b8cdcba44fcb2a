"""Tournaments, studies, searches and ratings on a cluster of two nodes while one is killed.

Two of Ray's daemons on this machine, each with a worker of its own; the command connects to them as to any cluster.
What was played and what is written of it must be, byte for byte, what a machine alone makes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.arena import run as cluster
from tests.support.tuning import ASKED
from tests.test_arena_ray import parent_of

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers in /proc"),
    pytest.mark.skipif(not JIT, reason="says nothing more without the compiler, and takes long"),
]

#: Long enough for the busiest machine.
PATIENCE = 600.0
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A cluster whose first node stays; every test adds a second one and kills it."""
    cluster._import_ray(None)  # Ray's own settings first, as the commands make them
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.1"})
    yield found
    found.shutdown()


def workers_of(daemon: int) -> list[int]:
    """Return the processes that play chunks for a node, by the process of its daemon."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = path.read_text()
        except OSError:
            continue
        if title.startswith("ray::_play") and parent_of(int(path.parent.name)) == daemon:
            found.append(int(path.parent.name))
    return found


def chunks_in(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*.games"))


def played_while_a_node_is_killed(two_nodes: Any, words: list[str], out: Path) -> None:
    """Run a command on both nodes; kill the second one while it plays and some games are there."""
    node = two_nodes.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    two_nodes.wait_for_nodes()
    daemon = node.all_processes["raylet"][0].process.pid
    command = [sys.executable, "-m", "helsinki_env.cli.main", *words, "--out", str(out), "--ray", two_nodes.address]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            until = time.monotonic() + PATIENCE
            while not (chunks_in(out) and workers_of(daemon)):
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < until, "no chunk was kept while the second node played"
                time.sleep(0.02)
            there = chunks_in(out)
            os.kill(daemon, signal.SIGKILL)
            said = process.communicate(timeout=PATIENCE)[0]
        finally:
            process.kill()
    two_nodes.remove_node(node, allow_graceful=False)  # what is left of it
    assert process.returncode == 0, said
    assert chunks_in(out) > there, "nothing was left to play when the node went"


def games_in(folder: Path) -> dict[str, bytes]:
    """The games of every tournament in a folder, and the report on them where there is one."""
    files = [*folder.rglob("games.parquet"), *(path for path in folder.glob("report/**/*") if path.is_file())]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def certified_in(folder: Path) -> dict[str, bytes]:
    """Return the certified part of a certificate, without times."""
    return {"certified": json.dumps(json.loads((folder / "certificate.json").read_text())["certified"]).encode()}


def arena(folder: Path) -> list[str]:
    """A tournament of three seats."""
    table = {"seats": 3, "players": ["random", "greedy"], "games": 3000}
    (folder / "arena.json").write_text(json.dumps({"matchups": [table], "unit_games": 60}))
    return ["arena", str(folder / "arena.json")]


def study(folder: Path) -> list[str]:
    """A study of balance, its screening experiment and its qualification."""
    classes = [{"player": "random", "games": {2: 2400}}, {"player": "greedy", "games": {2: 9600}}]
    asked = {"seed": 3, "classes": classes, "qualification": {"reference": "random", "games": 960}}
    (folder / "study.json").write_text(json.dumps(asked))
    return ["balance", "run", str(folder / "study.json"), "--parts", "qualification,screening"]


def search(folder: Path) -> list[str]:
    """A search for a board in balance; its games are played by those who do not think."""
    games = {"screening": {2: 6000}, "slopes": {2: 3000}, "halving": {2: 3000}, "proof": {2: 6000}}
    small: dict[str, Any] = {"boards": 10, "candidates": 3, "finalists": 1, "most": 1, "quality": 60}
    numbers = {"two_points": {"cost": [0, 3]}}
    asked = {**ASKED, "player": "random", "games": games, "numbers": numbers, **small}
    (folder / "tune.json").write_text(json.dumps(asked))
    return ["balance", "tune", str(folder / "tune.json")]


def rating(folder: Path) -> list[str]:
    """A rating on a scale that has been measured before."""
    path = folder / "small.yaml"
    path.write_text(
        "version: 1\nseed: 7\nunit_games: 20\nstages: {quick: 900, full: 1800}\nzero: greedy\n"
        "matchups:\n  - {name: two, seats: 2, opponents: [[random], [greedy]],"
        " reference: [{deals: 60, lineups: [[random, greedy]]}]}\n"
    )
    assert main(["evaluate", "reference", "--gauntlet", str(path), "--out", str(folder / "reference")]) == 0
    return ["evaluate", "run", "greedy", "--gauntlet", str(path), "--stage", "full"]


@pytest.mark.parametrize(
    ("asked", "made"),
    [(arena, games_in), (study, games_in), (search, games_in), (rating, certified_in)],
    ids=["arena", "balance", "tune", "evaluate"],
)
def test_a_node_is_killed_and_the_bytes_are_the_same(
    asked: Callable[[Path], list[str]], made: Callable[[Path], dict[str, bytes]], two_nodes: Any, tmp_path: Path
) -> None:
    words = asked(tmp_path)
    played_while_a_node_is_killed(two_nodes, words, tmp_path / "nodes")
    assert main([*words, "--out", str(tmp_path / "alone"), "--processes", "1"]) == 0
    alone = made(tmp_path / "alone")
    assert alone
    assert made(tmp_path / "nodes") == alone
