"""Tournaments on a real Ray cluster of this machine while a worker is killed."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.arena import run as cluster
from helsinki_env.evaluation.arena.plan import ArenaError, Plan, plan_from_dict
from helsinki_env.evaluation.arena.run import play_on_ray, run_arena

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers in /proc"),
    pytest.mark.skipif(not JIT, reason="says nothing more without the compiler, and takes long"),
]


def parent_of(process: int) -> int:
    """Return the parent of a process, 0 if it has gone."""
    try:
        return int(re.findall(r"PPid:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0])
    except (OSError, IndexError):
        return 0


def own_workers() -> list[int]:
    """Return the processes that play chunks for this one: Ray's daemon is our child, its workers are its children."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        process = int(path.parent.name)
        try:
            title = path.read_text()
        except OSError:
            continue
        if title.startswith("ray::_play") and parent_of(parent_of(process)) == os.getpid():
            found.append(process)
    return found


def wait_until(condition: Callable[[], object]) -> None:
    """Wait at most two minutes for a condition."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def plan() -> Plan:
    table = {"seats": 3, "players": ["random", "greedy"], "games": 1500}
    return plan_from_dict({"matchups": [table], "unit_games": 150})


@pytest.fixture(scope="module")
def alone(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What is played without a cluster."""
    return run_arena(plan, tmp_path_factory.mktemp("alone"), processes=1).read_bytes()


def played_while_one_is_killed(plan: Plan, folder: Path) -> bytes:
    """Play on a cluster of this machine, and kill a worker as soon as the first games are there."""
    ray, killed = cluster._import_ray(None), list[int]()

    def kill_one(games: int) -> None:
        if not killed:
            assert ray.nodes()[0]["NodeManagerAddress"] == "127.0.0.1", "nobody else can reach it"
            killed.extend(own_workers()[:1])
            for process in killed:
                os.kill(process, signal.SIGKILL)

    games = run_arena(plan, folder, processes=2, ray=True, progress=kill_one).read_bytes()
    assert killed, "no worker was seen at work"
    assert parent_of(killed[0]) == 0
    return games


@pytest.mark.nightly
def test_a_cluster_whose_worker_is_killed_writes_the_same_bytes(
    plan: Plan, alone: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray does not repeat the work unit; the tournament schedules it again."""
    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(cluster, "_RETRIES", 0)
    assert played_while_one_is_killed(plan, tmp_path / "ray") == alone
    assert not cluster._import_ray(None).is_initialized(), "the cluster goes when the run ends"
    assert signal.getsignal(signal.SIGTERM) is handler, "which Ray takes over"


@pytest.mark.nightly
def test_without_an_address_nobody_elses_cluster_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray by itself joins the one that the environment names, or the latest that was started on the machine."""
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    plan = plan_from_dict({"matchups": [{"players": ["random"], "games": 2}]})
    assert not cluster._import_ray(None).is_initialized()
    [(chunk, games)] = play_on_ray(plan, plan.work_units, processes=1)
    assert chunk == plan.work_units[0]
    assert len(games.played.scores) == 2


@pytest.fixture(scope="module")
def _connected() -> Iterator[None]:
    """Connect to a cluster before the tournament starts."""
    with cluster._connected(cluster._import_ray(None), None, 2):
        yield


@pytest.mark.nightly
@pytest.mark.usefixtures("_connected")
def test_on_a_cluster_that_is_there_ray_plays_again_what_was_killed(plan: Plan, alone: bytes, tmp_path: Path) -> None:
    assert played_while_one_is_killed(plan, tmp_path / "ray") == alone
    assert cluster._import_ray(None).is_initialized(), "it is not ours to end"


@pytest.mark.usefixtures("_connected")
def test_a_player_that_goes_wrong_is_reported_with_its_chunk() -> None:
    plan = plan_from_dict({"matchups": [{"players": ["nobody"], "games": 2}]})
    with pytest.raises(
        ArenaError, match=r"work unit 00-00000-00000 .*PlayerError: player 'nobody': found an unknown name"
    ):
        list(play_on_ray(plan, plan.work_units, processes=1))


@pytest.mark.usefixtures("_connected")
def test_an_interrupted_tournament_ends_its_tasks() -> None:
    slow = {"players": ["mc:5000"], "games": 400, "name": "slow"}
    plan = plan_from_dict({"matchups": [{"players": ["random"], "games": 2}, slow], "unit_games": 100})
    games = play_on_ray(plan, plan.work_units)
    assert next(games)[0] == plan.work_units[0]
    wait_until(own_workers)
    games.close()
    wait_until(lambda: not own_workers())


def test_no_cluster_at_the_address() -> None:
    plan = plan_from_dict({"matchups": [{"players": ["random"], "games": 2}]})
    with pytest.raises(ArenaError, match=r"--ray: found no cluster at 127\.0\.0\.1:1: "):
        list(play_on_ray(plan, plan.work_units, "127.0.0.1:1"))
