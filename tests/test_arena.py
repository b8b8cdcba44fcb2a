"""Tournaments: matchups, deals and seats, and the same games after any number of interruptions."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import Context
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import helsinki_env
from helsinki_env import HelsinkiConfig
from helsinki_env.agents.base import PlayerError
from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.arena.designs import RandomBoards, decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames, load_records, load_run
from helsinki_env.evaluation.arena.parquet import SCHEMA, ParquetGameReader, read_parquet, write_parquet
from helsinki_env.evaluation.arena.plan import (
    ArenaError,
    Plan,
    WorkUnit,
    block_seating,
    plan_from_dict,
    plan_from_yaml,
    round_robin_lineups,
)
from helsinki_env.evaluation.arena.run import Workers, reuse_workers, run_arena
from helsinki_env.evaluation.arena.store import RunFolder, WorkUnitFiles, decode_results, encode_results
from helsinki_env.evaluation.arena.store import _networks as networks_of
from helsinki_env.evaluation.arena.work_unit import play_work_unit, player_file_digests
from helsinki_env.evaluation.balance.helsinki.replay import replay_run
from helsinki_env.evaluation.play import GameResults
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.records import RecordError, read_records, replay, replay_steps
from helsinki_env.utils.yaml_files import configs_folder
from tests.games import EACH_GAME, TestedGame
from tests.support.pausing import environment

pytestmark = pytest.mark.usefixtures("same_workers")

#: Two line-ups of three players, a table of two; chunks of two blocks.
TABLES = {
    "seed": 3,
    "unit_games": 6,
    "matchups": [
        {"name": "three", "seats": 3, "players": ["random", "greedy"], "games": 24 if JIT else 6},
        {"name": "two", "players": ["greedy", "random"], "games": 12 if JIT else 2, "game": {"covered": "first_game"}},
    ],
}  # fmt: skip


@pytest.fixture
def new_workers() -> Iterator[None]:
    """Workers that start in the test, where they find its players."""
    with reuse_workers():
        yield


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_from_dict(TABLES)


@pytest.fixture(scope="module")
def finished(plan: Plan, same_workers: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arena") / "run"
    run_arena(plan, folder, processes=1)
    return folder


def play_here(plan: Plan, folder: Path) -> int:
    """Play what is missing of a run, without a process for it; return how many games that was."""
    with RunFolder.create(folder, plan) as run:
        missing = run.missing()
        for chunk in missing:
            run.save(chunk, play_work_unit(plan.matchups[chunk.matchup], plan.seed, chunk))
        run.join("parquet")
    return plan.games_of(missing)


def content(folder: Path) -> dict[str, bytes]:
    """What is the same whenever the same run is played: everything but the times."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if path.suffix == ".tmp"]
    names = [path.relative_to(folder) for path in files]
    times = [name for name in names if name.suffix == ".json" and name.name not in ("run.json", "digests.json")]
    return {str(name): (folder / name).read_bytes() for name in names if name not in times}


# matchups


def test_everybody_meets_everybody() -> None:
    assert round_robin_lineups(4, 3) == ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
    assert round_robin_lineups(3, 3) == ((0, 1, 2),)
    assert round_robin_lineups(2, 3) == ((0, 0, 1), (0, 1, 1))
    assert round_robin_lineups(2, 4) == ((0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1))
    assert round_robin_lineups(1, 4) == ((0, 0, 0, 0),)
    with pytest.raises(ArenaError, match="players: found 60, which makes 487,635 line-ups of 4"):
        round_robin_lineups(60, 4)


@pytest.mark.parametrize(("seats", "orders"), [(2, 1), (3, 2), (4, 6)])
def test_blocks_turn_through_seats_and_cyclic_orders(seats: int, orders: int) -> None:
    neighbours = set()
    for block in range(orders):
        seating = block_seating(seats, block)
        assert (np.sort(seating, axis=0) == np.arange(seats)[:, None]).all(), "everybody sits everywhere once"
        assert (np.sort(seating, axis=1) == np.arange(seats)).all(), "and everybody sits in every game"
        rounds = {tuple(np.roll(game, -int(np.flatnonzero(game == 0)[0])).tolist()) for game in seating}
        assert len(rounds) == 1, "who sits behind whom is the same in a block"
        neighbours |= rounds
    assert len(neighbours) == orders
    np.testing.assert_array_equal(block_seating(seats, orders), block_seating(seats, 0))


@pytest.mark.thorough
def test_a_block_is_one_deal_for_all_line_ups(finished: Path, plan: Plan) -> None:
    tables = load_run(finished)
    played = list(load_records(finished))
    assert len(played) == sum(map(len, tables)) == plan.games
    first = 0
    for table in tables:
        seeds = np.array([record.seed for record in played[first : first + len(table)]])
        first += len(table)
        seats = table.config.num_players
        for block in np.unique(table.block):
            games = table.block == block
            assert games.sum() == seats
            assert len(set(seeds[games].tolist())) == 1
            line_up = np.sort(table.seating[games][0])
            assert (np.sort(table.seating[games], axis=1) == line_up).all()
            assert (np.sort(table.seating[games], axis=0) == line_up[:, None]).all(), "everybody sits everywhere"
        for deal in np.unique(table.deal):
            games = table.deal == deal
            assert len(set(seeds[games].tolist())) == 1
            assert len(np.unique(table.block[games])) == len(plan.matchups[0].lineups if seats == 3 else [0])
        assert len(set(seeds.tolist())) == len(np.unique(table.deal))


def test_all_orders_of_neighbours_are_played() -> None:
    data = {"unit_games": 99, "matchups": [{"lineups": [["random", "random", "greedy", "greedy"]], "games": 24}]}
    plan = plan_from_dict(data)
    (chunk,) = plan.work_units
    seating = np.concatenate([block_seating(4, k) for k in range(6)])
    if JIT:
        games = play_work_unit(plan.matchups[0], 0, chunk)
        np.testing.assert_array_equal(games.schedule.seating, np.array([0, 0, 1, 1])[seating])
    assert len(np.unique(seating, axis=0)) == 24


# what is played


def same(a: GameResults, b: GameResults, rows: slice) -> bool:
    arrays = ("scores", "places", "rounds", "used", "seat_decisions")
    equal = all((getattr(a, name)[rows] == getattr(b, name)).all() for name in arrays)
    return equal and [d.tolist() for d in a.decisions[rows]] == [d.tolist() for d in b.decisions]


def test_a_player_whose_file_was_exchanged_since_the_games_began_does_not_play(tmp_path: Path) -> None:
    """Wherever it is made: hours later, or on another machine."""
    boxes = Path(helsinki_env.__file__).parent / "agents" / "helsinki"
    file = tmp_path / "one.safetensors"
    shutil.copy(boxes / "first.safetensors", file)
    data = {"matchups": [{"lineups": [[f"net:{file}", "random"]], "games": 2}]}
    (table,), (chunk,) = plan_from_dict(data).matchups, plan_from_dict(data).work_units
    files = player_file_digests(table)
    assert list(files) == [f"net:{file}"]
    shutil.copy(boxes / "two_players.safetensors", file)
    with pytest.raises(PlayerError, match=f"found files with digest .*, expected {files[f'net:{file}'][:16]}"):
        play_work_unit(table, 0, chunk, files)
    shutil.copy(boxes / "first.safetensors", file)
    assert len(play_work_unit(table, 0, chunk, files).played.scores) == 2


def test_games_do_not_depend_on_chunks(plan: Plan) -> None:
    table = plan.matchups[0]
    whole = play_work_unit(table, 3, WorkUnit(0, 1, 0, 0, 2))
    part = play_work_unit(table, 3, WorkUnit(0, 1, 9, 1, 2))
    assert same(whole.played, part.played, slice(3, 6))
    assert not same(whole.played, play_work_unit(table, 4, WorkUnit(0, 1, 9, 1, 2)).played, slice(3, 6))
    assert not same(whole.played, play_work_unit(table, 3, WorkUnit(1, 1, 9, 1, 2)).played, slice(3, 6)), (
        "another table"
    )


def test_records_replay_to_what_the_columns_say(finished: Path) -> None:
    tables = load_run(finished)
    rows = pq.read_table(finished / "games.parquet").to_pylist()
    places = [(table, g) for table in tables for g in range(len(table))]
    for record, row, (table, g) in zip(load_records(finished), rows, places, strict=True):
        game = replay(record)
        assert record.config == table.config
        assert record.scores == tuple(table.scores[g].tolist()) == tuple(game.scores().tolist())
        assert game.round == table.rounds[g]
        assert [table.places[g, seat] for seat in game.ranking()] == list(range(table.config.num_players))
        assert record.players == tuple(table.players[i] for i in table.seating[g])
        used = [{BOARD_ACTIONS[i] for i in seat["used"]} for seat in notation.to_dict(game)["seats"]]
        assert used == [
            {name for i, name in enumerate(BOARD_ACTIONS) if bits >> i & 1} for bits in table.used[g].tolist()
        ]
        assert sum(row["seat_decisions"]) == len(row["decisions"]) == len(record.decisions)
        assert row["config_digest"] == table.config.digest


def test_the_seats_decisions_are_counted(finished: Path) -> None:
    row = pq.read_table(finished / "games.parquet").to_pylist()[0]
    record = next(iter(load_records(finished)))
    seats = [game.seat for game, action in replay_steps(record) if action is not None]
    assert row["seat_decisions"] == [seats.count(seat) for seat in range(3)]


def test_times_are_not_among_the_games(finished: Path) -> None:
    columns = (
        "matchup lineup block game seed config_digest players player decisions covered denied used scores places "
        "rounds seat_decisions"
    )
    assert pq.read_schema(finished / "games.parquet").names == columns.split()
    times = json.loads((finished / "times.json").read_text())
    assert [(entry["matchup"], entry["player"]) for entry in times] == [
        ("three", "random"), ("three", "greedy"), ("two", "greedy"), ("two", "random"),
    ]  # fmt: skip
    assert all(entry["seconds"] > 0 and entry["decisions"] > 0 for entry in times)
    rows = pq.read_table(finished / "games.parquet").to_pylist()
    assert sum(entry["decisions"] for entry in times) == sum(len(row["decisions"]) for row in rows)


def test_times_stay_known_without_the_chunks(plan: Plan, finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    before = (finished / "times.json").read_bytes()
    shutil.rmtree(tmp_path / "run" / "work_units")
    assert RunFolder.open(tmp_path / "run").times() == RunFolder.open(finished).times()
    run_arena(plan, tmp_path / "run", processes=1)
    assert (tmp_path / "run" / "times.json").read_bytes() == before
    next((tmp_path / "run" / "work_units").glob("*.games")).unlink()  # the times of this unit stay
    run_arena(plan, tmp_path / "run", processes=1)
    assert (tmp_path / "run" / "times.json").read_bytes() == before


@pytest.mark.parametrize("times", [[1], [{"matchup": "a", "player": "b"}], [{"player": "b", "seconds": 1}]])
def test_damaged_times_are_explained(times: Any, finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "work_units")
    (tmp_path / "run" / "times.json").write_text(json.dumps(times))
    with pytest.raises(ArenaError, match=r"times\.json"):
        RunFolder.open(tmp_path / "run").times()


def test_a_player_that_was_mended_before_any_game_was_kept_may_go_on(
    new_workers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = "from helsinki_env.agents.random import RandomPlayer\nclass Mine(RandomPlayer):\n    name = 'mine'\n"
    wrong = "    def act(self, *seen):\n        raise SystemExit(0)\n"
    plan = plan_from_dict({"matchups": [{"name": "duel", "players": ["mended_later:Mine", "random"], "games": 12}]})
    Path("mended_later.py").write_text(source + wrong)
    with pytest.raises(ArenaError, match=r"does not decide: SystemExit: 0 \(.*mended_later.py, line 5\)"):
        run_arena(plan, tmp_path / "run", processes=1)
    Path("mended_later.py").write_text(source)
    run_arena(plan, tmp_path / "run", processes=1)
    Path("mended_later.py").write_text(source + "# another one\n")
    with pytest.raises(ArenaError, match=r"files of mended_later:Mine: found digest \w+"):
        run_arena(plan, tmp_path / "run", processes=1)


# the folder of a run


@pytest.mark.thorough
def test_any_number_of_processes_writes_the_same_bytes(plan: Plan, finished: Path, tmp_path: Path) -> None:
    (tmp_path / ".run.json.helsinki-env-0.tmp").write_bytes(b"killed before there was a plan")
    run_arena(plan, tmp_path, processes=2)
    assert content(tmp_path) == content(finished)


def damage_all(folder: Path) -> set[str]:
    """Break chunks in every way there is, one each; return which."""
    chunks = sorted((folder / "work_units").glob("*.games"))
    first = chunks[0]
    first.write_bytes(first.read_bytes()[:-100])
    (folder / "work_units" / f".{first.name}.helsinki-env-0.tmp").write_bytes(b"half")
    (folder / ".games.parquet.helsinki-env-3.tmp").write_bytes(b"half")
    (folder / "games.parquet").unlink()
    last = chunks[-1]
    last.with_suffix(".json").unlink()
    broken = {first.stem, last.stem}
    if len(chunks) > 8:
        flipped, gone, noted, foreign, copied = (chunks[i] for i in (1, 2, 4, 5, 7))
        flipped.write_bytes(flipped.read_bytes()[:-1] + b"\x7f")
        gone.unlink()
        noted.with_suffix(".json").write_text('{"plan": ')
        note = json.loads(foreign.with_suffix(".json").read_text())
        foreign.with_suffix(".json").write_text(json.dumps({**note, "basis": "0" * 16}))
        for ending in (".games", ".json"):
            shutil.copy(chunks[3].with_suffix(ending), copied.with_suffix(ending))  # the same blocks of others
        broken |= {flipped.stem, gone.stem, noted.stem, foreign.stem, copied.stem}
    return broken


@pytest.mark.thorough
def test_damaged_chunks_are_played_again(plan: Plan, finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    broken = damage_all(folder)
    missing = RunFolder.open(folder).missing()
    assert {chunk.name for chunk in missing} == broken
    assert sum(table.missing for table in load_run(folder)) == plan.games_of(missing)
    assert sum(map(len, load_run(folder))) == plan.games - plan.games_of(missing)
    told: list[int] = []
    run_arena(plan, folder, processes=1, resumed=told.append, progress=told.append)
    assert told[0] == plan.games - plan.games_of(missing)
    assert len(told) == 1 + len(missing)
    assert sum(told) == plan.games
    assert content(folder) == content(finished)


def assert_same(found: MatchupGames, expected: MatchupGames) -> None:
    """Check that both are the same finished table."""
    assert found.missing == 0
    for name in ("seating", "block", "deal", "places", "scores", "rounds", "covered", "denied", "used"):
        array = getattr(expected, name)
        np.testing.assert_array_equal(getattr(found, name), array)
        assert getattr(found, name).dtype == array.dtype


def copy_without_chunks(run: Path, folder: Path) -> Path:
    """Copy what is needed to read a finished run."""
    folder.mkdir(exist_ok=True)
    for name in ("run.json", "games.parquet", "digests.json"):
        shutil.copy(run / name, folder / name)
    return folder


def test_a_run_is_not_read_with_other_components(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    shutil.copy(configs_folder() / "components" / "default.yaml", mine)
    plan = plan_from_dict({"matchups": [{"name": "mine", "players": ["random"], "game": {"components": str(mine)}}]})
    with RunFolder.create(tmp_path / "run", plan):
        pass
    shutil.copy(configs_folder() / "components" / "alternative.yaml", mine)
    changed = r"run\.json: matchups\[0\]\.config_digest: found .*restore the component file"
    with pytest.raises(ArenaError, match=changed):
        load_run(tmp_path / "run")


def test_a_finished_run_is_read_without_its_chunks(finished: Path, tmp_path: Path) -> None:
    copy_without_chunks(finished, tmp_path)
    for copied, table in zip(load_run(tmp_path), load_run(finished), strict=True):
        assert_same(copied, table)


@pytest.mark.thorough
def test_a_run_does_not_go_on_with_another_network(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.support.networks import opinionated, saved

    path = saved(tmp_path / "mine.safetensors", opinionated())
    lineups = [["random", f"net:{path}"], ["random", f"forced:any_side:net:{path}"]]
    plan = plan_from_dict({"matchups": [{"lineups": lineups, "games": 2}]})
    with RunFolder.create(tmp_path / "run", plan) as folder:
        networks = folder.networks
        chunk = folder.missing()[0]
        folder.save(chunk, play_work_unit(plan.matchups[chunk.matchup], plan.seed, chunk))
    assert set(networks) == {f"net:{path}", f"forced:any_side:net:{path}"}
    saved(path, opinionated(seed=1))
    with pytest.raises(ArenaError, match=rf"expected {networks[f'net:{path}']} .*restore the files"):
        run_arena(plan, tmp_path / "run", processes=1)
    saved(path, opinionated())
    run_arena(plan, tmp_path / "run", processes=1)
    assert RunFolder.open(tmp_path / "run").networks == networks
    (tmp_path / "run" / "networks.json").write_text("{")
    with pytest.raises(ArenaError, match=r"networks\.json: cannot be read .*remove the file"):
        run_arena(plan, tmp_path / "run", processes=1)


def test_networks_of_both_games_are_saved() -> None:
    plan = plan_from_dict(
        {
            "matchups": [
                {"name": game, "players": ["net", "random"], "game": {"game": game}, "games": 2}
                for game in ("helsinki", "copenhagen")
            ]
        }
    )
    found = networks_of(plan)
    assert set(found) == {"net (helsinki)", "net (copenhagen)"}
    assert len(set(found.values())) == 2


def test_workers_end_only_their_own_processes_and_compute_with_one_thread() -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    workers = Workers(1)
    other.start()
    try:
        jobs = [(name, (name,)) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")]
        assert {name: done.result() for name, done in workers.run(os.getenv, jobs)} == {name: "1" for name, _ in jobs}
        workers.kill()
        assert other.is_alive()
    finally:
        other.kill()
        other.join()


def test_another_run_is_refused(plan: Plan, finished: Path, tmp_path: Path) -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"seed": 4}, "seed: found 4, expected 3 as for the earlier results; use the same settings, or"),
        ({"unit_games": 7}, "unit_games: found 7, expected 6"),
        ({"matchups": TABLES["matchups"][:1]}, "matchups: found ["),  # type: ignore[index]
    ]
    for change, message in changes:
        with pytest.raises(ArenaError, match=re.escape(message)):
            run_arena(plan_from_dict({**TABLES, **change}), finished)
    (tmp_path / "work_units").mkdir()
    with pytest.raises(ArenaError, match=r"found work_units but no run\.json"):
        run_arena(plan, tmp_path)


def test_two_processes_at_one_run(plan: Plan, finished: Path) -> None:
    code = "import sys; from helsinki_env.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["arena", "--players", "random", "--out", str(finished)]
    with RunFolder.create(finished, plan):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "found another process that plays this run" in done.stderr


def test_runs_that_cannot_be_read(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match=r"found no run\.json"):
        load_run(tmp_path)
    manifest = tmp_path / "run.json"
    data = json.loads((finished / "run.json").read_text())
    manifest.write_text(json.dumps(data))
    with pytest.raises(ArenaError, match="found a run without games"):
        load_run(tmp_path)
    assert list(load_records(tmp_path)) == []
    manifest.write_text(json.dumps({**data, "environment": "helsinki_v9"}))
    with pytest.raises(ArenaError, match="environment: found 'helsinki_v9'"):
        load_run(tmp_path)
    for text, message in (("{", "cannot be read"), ("[]", r"run\.json: found \[\], expected a mapping")):
        manifest.write_text(text)
        with pytest.raises(ArenaError, match=f"{message}.*; restore the file, or choose another folder"):
            load_run(tmp_path)


def edit(path: Path, **changes: object) -> None:
    """Change values in a file of JSON."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def rewrite(folder: Path, column: str | None, change: Callable[[Any], Any]) -> None:
    """Change the games of a run, or one value of the first, and all that says whether they are as they were written."""
    parts = list(read_parquet(folder / "games.parquet"))
    if column is None:
        parts = change(parts)
    else:
        rows = parts[0].to_pylist()
        rows[0][column] = change(rows[0][column])
        parts[0] = pa.Table.from_pylist(rows, SCHEMA)
    with (folder / "games.parquet").open("wb") as file:
        edit(folder / "digests.json", **{"games.parquet": write_parquet(file, parts)})


def flipped(values: list[Any]) -> list[Any]:
    return values[::-1]


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        (None, lambda parts: parts[:-1], "found 9 row groups"),
        (None, lambda parts: [*parts, parts[0]], "found 11 row groups"),
        (None, lambda parts: [parts[1], parts[0], *parts[2:]], r"00-00000-00000 .*: game 0: block: found 2, exp"),
        (None, lambda parts: [parts[0][:3], *parts[1:]], r"00-00000-00000 .*: found 3 games"),
        ("matchup", lambda _: "two", "game 0: matchup: found 'two'"),
        ("seed", lambda seed: seed + 1, r"game 0: seed: found \d+"),
        ("config_digest", lambda _: "0" * 16, "game 0: config_digest: found '0000000000000000', expected"),
        ("players", flipped, r"game 0: players: found \['greedy', 'random', 'random'\]"),
        ("player", flipped, r"game 0: player: found \[1, 0, 0\]"),
        ("denied", lambda _: [1, 0, 0], r"game 0: denied: found \[1, 0, 0\]"),
        ("denied", lambda _: [0, 0], r"denied: found \[2, 3\] values"),
        ("used", lambda _: [None, 0, 0], "used: found a missing value"),
        ("places", flipped, r"game 0: places: found \[.*\]"),
        ("scores", flipped, r"game 0: places: found \[.*\]"),
        ("decisions", lambda ids: ids[:-1], r"game 0: sum of seat_decisions: found (\d+)"),
    ],
)  # fmt: skip
def test_games_that_are_not_those_of_the_plan(
    column: str | None, change: Callable[[Any], Any], message: str, finished: Path, tmp_path: Path
) -> None:
    if not JIT and column is None:
        pytest.skip("one chunk for each line-up")
    folder = copy_without_chunks(finished, tmp_path)
    rewrite(folder, column, change)
    with pytest.raises(ArenaError, match=rf"games\.parquet: .*({message})"):
        load_run(folder)


def test_a_joined_file_that_is_not_the_one_that_was_written(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_without_chunks(finished, tmp_path / "run")
    whole = (folder / "games.parquet").read_bytes()
    (folder / "games.parquet").write_bytes(whole[:-9])
    with pytest.raises(ArenaError, match=r"games\.parquet: found the checksum .{17}"):
        load_run(folder)
    (folder / "games.parquet").write_bytes(whole)
    edit(folder / "digests.json", plan="0" * 16)
    assert main(["rate", str(folder)]) == 2
    error = capsys.readouterr().err
    assert "games.parquet: found games of the plan '0000000000000000', expected " in error
    assert "restore the original files, or remove this one and run helsinki arena again" in error
    assert error.count("\n") == 1
    (folder / "digests.json").unlink()
    with pytest.raises(ArenaError, match=r"games\.parquet: found no digests\.json"):
        load_run(folder)
    with (folder / "games.parquet").open("wb") as file:
        digest = write_parquet(file, [])
    (folder / "digests.json").write_text(
        json.dumps({"plan": RunFolder.open(folder).plan.digest, "games.parquet": digest})
    )
    with pytest.raises(ArenaError, match="row groups, expected"):
        load_run(folder)


def test_a_plan_that_was_changed(finished: Path, tmp_path: Path) -> None:
    folder = copy_without_chunks(finished, tmp_path)
    told = json.loads((folder / "run.json").read_text())
    edit(folder / "run.json", seed=4)
    with pytest.raises(ArenaError, match=r"run\.json: digest: found '\w+'"):
        load_run(folder)
    (folder / "run.json").write_text(json.dumps(replace(Plan.from_dict(told), seed=4).to_dict()))
    with pytest.raises(ArenaError, match=r"games\.parquet: found games of the plan '\w+'"):
        load_run(folder)


def write_checked(path: Path, content: bytes) -> None:
    """Write the games of a chunk, and the checksum that belongs to them."""
    path.write_bytes(content)
    edit(path.with_suffix(".json"), sha256=hashlib.sha256(content).hexdigest())


def test_chunks_that_are_not_those_of_the_plan(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "games.parquet").unlink()
    path = folder / "work_units" / "01-00000-00000.games"
    whole = path.read_bytes()
    played = decode_results(whole, 6 if JIT else 2, 2)
    even, swapped = np.zeros_like(played.scores), np.sort(played.places, axis=1)  # ties go to the later seat
    for changed, message in (
        (encode_results(replace(played, scores=played.scores[:, ::-1])), "game 0: places: found"),
        (
            encode_results(replace(played, scores=even, places=swapped)),
            r"game 0: places: found \[0, 1\], expected \[1, 0\]",
        ),
        (
            encode_results(replace(played, used=played.used | -1)),
            "game 0: used actions: found",
        ),
        (whole[:-2], r"found [\d,]+ bytes, expected [\d,]+ according to seat_decisions"),
        (whole[:9], r"found 9 bytes, expected [\d,]+ and the actions of \d games"),
    ):
        write_checked(path, changed)
        assert RunFolder.open(folder).missing() == []
        where, remedy = (
            rf"{re.escape(str(path))}: work unit {path.stem} \(.*\): ",
            "remove the file",
        )
        with pytest.raises(ArenaError, match=f"{where}{message}.*{remedy} and run helsinki arena again"):
            load_run(folder)
        with pytest.raises(ArenaError, match=message):
            run_arena(RunFolder.open(folder).plan, folder, form="jsonl")
    path.unlink()
    play_here(RunFolder.open(folder).plan, folder)
    assert content(folder) == content(finished)


@pytest.mark.parametrize("column", ["matchup", "config_digest", "players"])
def test_text_that_is_no_text_in_a_joined_file(column: str, finished: Path, tmp_path: Path) -> None:
    """PyArrow checks the encoding of text only when it is read."""
    folder = copy_without_chunks(finished, tmp_path / "run")
    path = folder / "games.parquet"
    groups = []
    for rows in read_parquet(path):
        values = rows[column].combine_chunks()
        texts = values.flatten() if pa.types.is_list(values.type) else values
        bad = pa.array([b"\xff\xfe"] * len(texts), pa.binary()).view(pa.string())
        if pa.types.is_list(values.type):
            bad = pa.ListArray.from_arrays(values.offsets, bad)
        groups.append(rows.set_column(rows.schema.get_field_index(column), SCHEMA.field(column), bad))
    with path.open("wb") as file:
        digest = write_parquet(file, groups)
    edit(folder / "digests.json", **{"games.parquet": digest})
    with pytest.raises(ArenaError, match=rf"games\.parquet: work unit .*: {column}: found text that is not UTF-8"):
        load_run(folder)
    if column != "matchup":  # which is not needed
        with pytest.raises(ArenaError, match="games: cannot be read as Parquet: 'utf-8' codec"):
            ParquetGameReader(path.read_bytes()).records(0, 10)


def small_run(game: TestedGame, folder: Path) -> None:
    """Play a run of two games."""
    play_here(plan_from_dict({"matchups": [{"players": ["random"], "games": 2, "game": {"game": game.name}}]}), folder)


@EACH_GAME
def test_any_value_of_a_joined_file_may_be_another_one(game: TestedGame, tmp_path: Path) -> None:
    small_run(game, tmp_path / "whole")
    (first, *_), messages = read_parquet(tmp_path / "whole" / "games.parquet"), list[str]()
    for column, value in first.to_pylist()[0].items():
        others: list[Any] = [None]
        if isinstance(value, list):
            others += [[], [None], value[1:], [*value, *value[:1]]]
            others += [[*value[:-1], number] for number in (-1, 99, 127)] if type(value[0]) is int else [["x"] * 2]
        else:
            others += ["", "x"] if isinstance(value, str) else [-1, 99, 127] if column != "seed" else [value ^ 1]
        for other in others:
            folder = tmp_path / f"run {len(messages)}"
            shutil.copytree(tmp_path / "whole", folder, ignore=shutil.ignore_patterns("work_units"))
            rewrite(folder, column, partial(lambda other, _: other, other))
            try:
                load_run(folder)
                list(load_records(folder))
            except (ArenaError, RecordError) as problem:
                messages.append(str(problem))
            else:
                shutil.rmtree(folder)
    assert len(messages) > 60
    assert max(map(len, messages)) < 1000


@EACH_GAME
def test_any_byte_of_a_chunk_may_be_another_one(game: TestedGame, tmp_path: Path) -> None:
    small_run(game, tmp_path)
    (tmp_path / "games.parquet").unlink()
    (path,) = (tmp_path / "work_units").glob("*.games")
    whole = path.read_bytes()
    for at in [*range(0, 36, 5), *range(36, len(whole), len(whole) // 9)]:
        for value in (0, 0x7F, 0x80, 0xFF):
            write_checked(path, whole[:at] + bytes([value]) + whole[at + 1 :])
            for read in (load_run, replay_run, lambda folder: list(load_records(folder))):
                with suppress(ValueError):
                    read(tmp_path)


def test_files_beyond_all_measure_count_as_not_played(plan: Plan, finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    large, noted = sorted((folder / "work_units").glob("*.games"))[:2]
    os.truncate(large, 2**34)  # it takes no room
    edit(noted.with_suffix(".json"), times=[{"player": 99, "seconds": 1.0, "decisions": 1}])
    run = RunFolder.open(folder)
    assert [chunk.name for chunk in run.missing()] == [large.stem, noted.stem]
    assert {entry["matchup"] for entry in run.times()} == {"three", "two"}
    run_arena(plan, folder, processes=1)
    assert content(folder) == content(finished)


def _vanish(games: Path) -> None:
    games.unlink()


def _truncate(games: Path) -> None:
    games.write_bytes(games.read_bytes()[:-2])


def _of_another_plan(games: Path) -> None:
    edit(games.with_suffix(".json"), basis="0" * 16)


def _of_fewer_blocks(games: Path) -> None:
    """Put the unit there that a run with fewer games would have."""
    plan = Plan.from_dict(json.loads((games.parent.parent / "run.json").read_text()))
    files, whole = WorkUnitFiles(games.parent, plan), plan.work_units[0]
    chunk = replace(whole, end=whole.end - 1)
    played = play_work_unit(plan.matchups[0], plan.seed, chunk)
    files.write(chunk, played.played, played.times)


@pytest.mark.parametrize("form", ["parquet", pytest.param("jsonl", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("damage", [_vanish, _truncate, _of_another_plan, _of_fewer_blocks])
def test_a_work_unit_that_is_lost_while_others_are_played_is_not_left_out(
    damage: Callable[[Path], None], form: Any, plan: Plan, finished: Path, tmp_path: Path
) -> None:
    """Nothing is written without all games of the plan; the same command plays those that are missing."""
    folder = tmp_path / "run"
    shutil.copytree(finished / "work_units", folder / "work_units")
    shutil.copy(finished / "run.json", folder)
    first, *_, last = sorted((folder / "work_units").glob("*.games"))
    last.unlink()
    message = rf"{first.name}: found (no valid|only some) games of work unit .*, expected all; run"
    with pytest.raises(ArenaError, match=message):
        run_arena(plan, folder, processes=1, form=form, progress=lambda games: damage(first))
    assert not (folder / f"games.{form}").exists()
    assert not (folder / "digests.json").exists()
    path = run_arena(plan, folder, processes=1, form=form)
    assert sum(map(len, load_run(folder))) == plan.games
    if form == "parquet":
        assert path.read_bytes() == (finished / "games.parquet").read_bytes()
    else:
        assert list(read_records(path)) == list(load_records(finished))


@pytest.mark.thorough
def test_a_run_is_played_and_read_without_parquet(
    plan: Plan, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, played = load_run(finished), list(load_records(finished))
    monkeypatch.setitem(sys.modules, "helsinki_env.evaluation.arena.parquet", None)  # it cannot be imported
    with pytest.raises(ModuleNotFoundError):
        run_arena(plan, tmp_path / "never", processes=1)
    assert not (tmp_path / "never").exists(), "known before anything is played"
    folder = tmp_path / "run"
    shutil.copytree(finished / "work_units", folder / "work_units")
    shutil.copy(finished / "run.json", folder)
    next((folder / "work_units").glob("*.games")).unlink()
    run_arena(plan, folder, processes=1, form="jsonl")
    assert list(read_records(folder / "games.jsonl")) == list(load_records(folder)) == played
    for table, expected in zip(load_run(folder), tables, strict=True):
        assert_same(table, expected)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_in_the_folder_of_a_run_lead_to_no_other_file(plan: Plan, finished: Path, tmp_path: Path) -> None:
    """In a foreign folder, a run replaces links and leaves their targets unchanged."""
    folder, mine = tmp_path / "run", tmp_path / "mine"
    shutil.copytree(finished / "work_units", folder / "work_units")
    shutil.copy(finished / "run.json", folder)
    mine.mkdir()
    written = ["games.parquet", "games.jsonl", "digests.json", "times.json"]
    chunk = sorted((folder / "work_units").glob("*.games"))[0].relative_to(folder)
    for name in [*written, str(chunk), str(chunk.with_suffix(".json"))]:
        path = folder / name
        path.unlink(missing_ok=True)
        (mine / path.name).write_text("mine")
        path.symlink_to(mine / path.name)
    for form in ("parquet", "jsonl"):
        run_arena(plan, folder, processes=1, form=form)
    assert {path.read_text() for path in mine.iterdir()} == {"mine"}
    assert not [path for path in folder.rglob("*") if path.is_symlink()]
    assert (folder / "games.parquet").read_bytes() == (finished / "games.parquet").read_bytes()
    shutil.rmtree(folder / "work_units")
    (folder / "work_units").symlink_to(mine)
    before = sorted(mine.iterdir())
    with pytest.raises(OSError, match="it is a symbolic link, expected a folder inside its run"):
        run_arena(plan, folder, processes=1)
    assert sorted(mine.iterdir()) == before
    away = tmp_path / "away"  # a link that the user typed is followed
    away.symlink_to(tmp_path / "far")
    (tmp_path / "far").mkdir()
    shutil.copy(finished / "run.json", away)
    shutil.copytree(finished / "work_units", away / "work_units")
    assert run_arena(plan, away, processes=1).read_bytes() == (finished / "games.parquet").read_bytes()
    assert away.is_symlink()


# more games than before


def shorter(games: dict[str, int]) -> Plan:
    """Return the plan with fewer games at some tables."""
    tables = [{**table, "games": games.get(table["name"], table["games"])} for table in TABLES["matchups"]]  # type: ignore[attr-defined]
    return plan_from_dict({**TABLES, "matchups": tables})


@pytest.mark.parametrize("chunks", [True, False], ids=["going on", "from the file with all games"])
def test_more_games_than_before_go_on_to_the_same_bytes(
    chunks: bool, plan: Plan, finished: Path, tmp_path: Path
) -> None:
    before = shorter({"three": 9, "two": 4} if JIT else {"three": 3})
    folder = tmp_path / "run"
    play_here(before, folder)
    if not chunks:
        copy = copy_without_chunks(folder, tmp_path / "copy")
        shutil.copy(folder / "times.json", copy / "times.json")
        folder = copy
    with RunFolder.create(folder, plan) as run:
        assert not (folder / "games.parquet").exists(), "it has not all games any more"
        assert sum(map(len, load_run(folder))) == before.games == plan.games - plan.games_of(run.missing())
    assert play_here(plan, folder) == plan.games - before.games
    assert content(folder) == content(finished)
    decisions = {(entry["matchup"], entry["player"]): entry["decisions"] for entry in RunFolder.open(folder).times()}
    times = RunFolder.open(finished).times()
    assert decisions == {(entry["matchup"], entry["player"]): entry["decisions"] for entry in times}
    for chunk in plan.work_units:
        players = [time.player for time in run._units.times(chunk)]
        assert len(players) == len(set(players))


def test_fewer_games_than_before_are_refused(finished: Path) -> None:
    most = 24 if JIT else 6
    with pytest.raises(
        ArenaError, match=rf"games: found 3 in each line-up of matchup 'three', expected at least {most}"
    ):
        run_arena(shorter({"three": 3}), finished)
    assert (finished / "games.parquet").exists()


# killed at any moment

COMMAND = [sys.executable, "-m", "helsinki_env.cli.main", "arena", "--processes", "2"]


def start(config: Path, folder: Path, chunks: int | None = None) -> subprocess.Popen[str]:
    """Start a run that pauses after `chunks` work units; with None it does not pause."""
    scratch = config.parent / "players"
    known = environment(scratch, None if chunks is None else folder / "work_units", chunks or 0)
    return subprocess.Popen(
        [*COMMAND, str(config), "--out", str(folder)], env=known, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def stop_at(process: subprocess.Popen[str], folder: Path, chunks: int, send: Any, number: int) -> str:
    """Send a signal to a paused run and return its error output."""
    while len(list((folder / "work_units").glob("*.games"))) < chunks:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    send(process.pid, number)
    return process.communicate()[1]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups to kill")
@pytest.mark.skipif(not JIT, reason="says nothing more without the compiler, and takes long")
@pytest.mark.parametrize("game", ["helsinki", pytest.param("copenhagen", marks=pytest.mark.nightly)])
def test_killed_runs_go_on_to_the_same_bytes(game: str, tmp_path: Path) -> None:
    config = tmp_path / "long.yaml"
    table = {"seats": 3, "players": ["pausing", "random"], "games": 300, "game": {"game": game}}
    config.write_text(json.dumps({**TABLES, "matchups": [table]}))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with start(config, whole) as process:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    # Twice all processes at once, then the parent alone: its children do not survive it.
    for chunks, send in ((1, os.killpg), (20, os.killpg), (40, os.kill)):
        with start(config, killed, chunks) as process:
            stop_at(process, killed, chunks, send, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert 100 - len(RunFolder.open(killed).missing()) >= chunks
        assert not (killed / "games.parquet").exists()
    with start(config, killed, 60) as process:
        errors = stop_at(process, killed, 60, os.killpg, signal.SIGINT)  # as a terminal does
    assert process.returncode == 130
    assert "of 600 games saved in" in errors
    assert errors.count("\n") == 1, errors
    with start(config, killed) as process:
        shown, errors = process.communicate()
        assert process.returncode == 0, errors
    assert "of them from an earlier run" in shown
    assert content(killed) == content(whole)


# players that go wrong

PLAYER = """
import os

class Odd:
    def __init__(self, argument):
        self.name, self.argument, self.asked = f"odd:{argument}", argument, 0

    def act(self, observation, mask, words):
        self.asked += len(mask)
        if self.argument == "illegal" and self.asked > 1:
            return mask.argmin(axis=1)
        if self.asked > 3000:
            if self.argument == "dies":
                os._exit(1)
            raise RuntimeError("out of ideas")
        return mask.argmax(axis=1)

def make(argument, config):
    return Odd(argument) if argument else Odd("fails")
"""


@pytest.fixture
def _odd_player(new_workers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "odd"
    info = folder / "odd-1.dist-info"
    info.mkdir(parents=True)
    (folder / "odd_player.py").write_text(PLAYER)
    (info / "METADATA").write_text("Name: odd\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[helsinki.players]\nodd = odd_player:make\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.thorough
@pytest.mark.usefixtures("_odd_player")
def test_processes_wait_for_the_next_tournament_if_they_are_kept(tmp_path: Path) -> None:
    """Then they end; at once if something goes wrong, and with another number of them there are others."""
    Context().run(check_that_processes_wait, tmp_path)  # the workers of this file are unknown there


def check_that_processes_wait(tmp_path: Path) -> None:
    before = set(multiprocessing.active_children())

    def played(name: str, processes: int = 1, players: tuple[str, str] = ("random", "greedy"), seed: int = 1) -> bytes:
        table = {"name": "duel", "players": list(players), "games": 12}
        plan = plan_from_dict({"matchups": [table], "unit_games": 4, "seed": seed})
        return run_arena(plan, tmp_path / name, processes=processes).read_bytes()

    def there() -> set[int | None]:
        return {process.pid for process in set(multiprocessing.active_children()) - before}

    def gone(which: int | None = None) -> bool:  # another thread may have seen a process end before this one
        until = time.monotonic() + 60
        while (there() if which is None else {which} & there()) and time.monotonic() < until:
            time.sleep(0.01)
        return not (there() if which is None else {which} & there())

    alone = played("alone")
    assert gone()
    with reuse_workers():
        assert gone()
        played("first", seed=2)
        (number,) = there()
        assert played("second") == alone
        assert there() == {number}
        assert played("third", processes=2) == alone
        assert gone(number)
        assert 1 <= len(there()) <= 2, "a second one begins only if the first one has too much to do"
        with pytest.raises(ArenaError, match=r"line-up random,odd:illegal.*the illegal action \d+"):
            played("wrong", processes=2, players=("random", "odd:illegal"))
        assert gone()
        assert played("fourth") == alone
        assert there()
        played("with a network", players=("random", "net"))
        assert gone(), "whoever is read from files is read anew by the next tournament"
    assert gone()

    def stopped() -> None:
        with reuse_workers():
            played("fifth")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert gone()


@pytest.mark.thorough
@pytest.mark.usefixtures("_odd_player")
@pytest.mark.skipif(not JIT, reason="needs many games")
def test_what_goes_wrong_in_a_worker_is_reported_with_its_chunk(tmp_path: Path) -> None:
    table = {"name": "duel", "players": ["odd", "random"], "games": 600}
    message = (
        r"work unit 00-00000-000\d\d \(matchup 'duel', line-up odd,random, blocks \d+ to \d+\): PlayerError: "
        r"player odd:fails: does not decide: RuntimeError: out of ideas \(.*odd_player.py, line \d+\)"
    )
    with pytest.raises(ArenaError, match=message):
        run_arena(plan_from_dict({"matchups": [table], "unit_games": 20}), tmp_path / "run", processes=1)
    assert 0 < sum(map(len, load_run(tmp_path / "run"))) < 600
    table["players"] = ["odd:dies", "random"]
    with pytest.raises(ArenaError, match=r"a worker process ended with the exit status \d+\. Finished .*to resume"):
        run_arena(plan_from_dict({"matchups": [table], "unit_games": 20}), tmp_path / "other", processes=1)


@pytest.mark.usefixtures("_odd_player")
def test_names_stay_names_in_terminals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    player, table, folder = "odd:[red]one[/] :cat:", "a [bold]duel[/bold] [/] :cat:", tmp_path / "[b]run[red]"
    assert main(["simulate", "--players", f"{player},random", "--games", "2", "--out", f"{folder}.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert player in shown
    assert f"Wrote {folder}.jsonl; see" in shown
    plan = {"matchups": [{"name": table, "players": [player, "random"], "games": 12}]}
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    words = ["arena", str(tmp_path / "plan.yaml"), "--out", str(folder), "--processes", "1"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert f"{table} (12 games)" in shown
    assert player in shown
    assert main(["rate", str(folder), "--resamples", "100"]) == 0
    shown = capsys.readouterr().out
    assert f"{table}: 12 games of 6 deals" in shown
    assert player in shown


def test_players_are_made_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"player 'gredy'.*did you mean 'greedy'"):
        run_arena(plan_from_dict({"matchups": [{"players": ["gredy"]}]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# files that say what is played


def test_the_example_is_what_it_says() -> None:
    plan = plan_from_yaml("example")
    two, chosen, boards = plan.matchups
    assert [table.name for table in plan.matchups] == ["two players", "chosen line-ups", "random boards"]
    assert (boards.boards, boards.blocks) == (RandomBoards((0, 5), (0, 3)), 20)
    assert (two.config, two.players, two.lineups, two.blocks) == (
        HelsinkiConfig(),
        ("random", "greedy"),
        ((0, 1),),
        100,
    )
    assert chosen.config == HelsinkiConfig(num_players=3, dry_roads=True)
    assert (chosen.players, chosen.lineups, chosen.blocks) == (("random", "greedy"), ((0, 0, 1), (0, 1, 1)), 20)
    assert (plan.seed, plan.unit_games, plan.games) == (0, 60, 360)
    assert plan_from_yaml("example", {"seed": 5}).seed == 5
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.thorough
def test_every_block_has_a_deal_and_a_random_board_of_its_own(tmp_path: Path) -> None:
    boards = {"covered": [1, 3], "denied": [0, 2]}
    table = {"lineups": [["random"] * 3, ["random", "random", "greedy"]], "games": 120, "boards": boards}
    for seed in (5, 6):
        plan = plan_from_dict({"seed": seed, "matchups": [table]})
        assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
        run_arena(plan, tmp_path / str(seed), processes=1)
    played, other = (load_run(tmp_path / seed)[0] for seed in ("5", "6"))
    covered, denied = decode_action_sets(played.covered), decode_action_sets(played.denied)
    assert set(covered.sum(axis=1).tolist()) == {1, 2, 3}
    assert set(denied.sum(axis=2).ravel().tolist()) == {0, 1, 2}
    assert covered.any(axis=0).all(), "any action may be covered"
    first = np.arange(0, 120, 3)
    assert len(np.unique(played.denied[first], axis=0)) > 30, "another board in every block"
    assert len({record.seed for record in load_records(tmp_path / "5")}) == 40, "and another deal"
    for game in range(120):
        block = 3 * (game // 3)
        assert played.denied[game].tolist() == played.denied[block].tolist(), "what a seat is denied stays with it"
    assert played.denied[:120].tolist() == played.denied[120:].tolist(), "all line-ups have the same boards"
    assert played.covered[:120].tolist() == played.covered[120:].tolist()
    assert played.denied.tolist() != other.denied.tolist(), "another seed, other boards"


@pytest.mark.thorough
def test_what_is_denied_by_design_moves_with_its_place_and_stands_in_the_records(tmp_path: Path) -> None:
    table = {"seats": 3, "players": ["random"], "games": 30, "screening": {"copies": 2, "loose": 0.3, "sizes": [0, 10]}}
    cover = {"name": "cover", "seats": 2, "players": ["random"], "games": 4, "cover": {"size": 5}}
    plan = plan_from_dict({"matchups": [table, cover]})
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    run_arena(plan, tmp_path / "run", processes=1)
    screened, covered = load_run(tmp_path / "run")
    for block in range(10):
        rows = screened.denied[screened.block == block]
        assert len({tuple(sorted(row)) for row in rows.tolist()}) == 1, "the same three sets"
        assert all(len(set(column)) == len(set(rows[0])) for column in rows.T.tolist()), "each set in each seat"
    sizes = [bits.bit_count() for bits in screened.denied.ravel().tolist()]
    assert sizes.count(5) > len(sizes) / 2
    assert covered.covered.tolist() == [0b11111, 0b11111, 0b101111, 0b101111]
    for game, record in enumerate(load_records(tmp_path / "run")):
        denied = screened.denied[game] if game < len(screened) else covered.denied[game - len(screened)]
        found = [sum(1 << action for action in actions) for actions in record.config.denied]
        assert found == denied.tolist()
        replay(record)  # nothing was used that was denied


def test_what_a_configuration_bars_is_barred_in_every_game(tmp_path: Path) -> None:
    game = {"covered": ["two_points"], "denied": [["move_back"], []]}
    table = {"players": ["random", "greedy"], "games": 4, "game": game}
    run_arena(plan_from_dict({"matchups": [table]}), tmp_path / "run", processes=1)
    played = load_run(tmp_path / "run")[0]
    assert set(played.covered.tolist()) == {1 << BOARD_ACTIONS.index("two_points")}
    assert {tuple(row) for row in played.denied.tolist()} == {(1 << BOARD_ACTIONS.index("move_back"), 0)}


@pytest.mark.parametrize(
    ("game", "design", "message"),
    [
        ({"covered": ["two_points"]}, {"boards": {"denied": [0, 5]}}, "no covered actions, because boards"),
        ({"denied": [["move_back"], []]}, {"boards": {"covered": [5, 5]}}, "no denied actions, because boards"),
        ("first_game", {"cover": {"size": 5}}, "no covered actions, because cover"),
        ({"denied": [["move_back"], []]}, {"screening": {"copies": 1}}, "no denied actions, because screening"),
        ({"denied": [["move_back"], []]}, {"handicap": {"denied": [[1], []]}}, "no denied actions, because handicap"),
    ],
)
def test_a_design_does_not_silently_replace_what_the_game_bars(game: Any, design: dict[str, Any], message: str) -> None:
    table = {"players": ["random", "greedy"], "games": 84, "game": game, **design}
    with pytest.raises(ArenaError, match=rf"matchups\[0\]\.game: found .*, expected {message}"):
        plan_from_dict({"matchups": [table]})


def test_covered_actions_stay_covered_where_others_are_denied() -> None:
    table = {"players": ["random"], "games": 84, "game": {"covered": ["two_points"]}, "screening": {"copies": 1}}
    assert plan_from_dict({"matchups": [table]}).matchups[0].config.covered == (BOARD_ACTIONS.index("two_points"),)


def test_seats_come_from_the_line_ups_if_nothing_else_says_it() -> None:
    table = plan_from_dict({"matchups": [{"lineups": [["a", "b", "c"]], "games": 4}]}).matchups[0]
    assert (table.seats, table.blocks, table.name) == (3, 2, "matchup 1")
    two = plan_from_dict({"matchups": [{"players": ["a"], "game": "three_players", "seats": 2}]}).matchups[0]
    assert (two.seats, two.lineups) == (2, ((0, 0),))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "found []"),
        ({}, "matchups: found nothing"),
        ({"matchups": []}, "matchups: found []"),
        ({"sed": 1}, "sed: no such key (found 1)"),
        ({"seed": -1}, "seed: found -1"),
        ({"seed": True}, "seed: found True"),
        ({"seed": 1.0}, "seed: found 1.0"),
        ({"matchups": [{"players": ["a"], "seats": 2.0}]}, "matchups[0].seats: found 2.0"),
        ({"matchups": [{"players": ["a"], "games": 20.0}]}, "matchups[0].games: found 20.0"),
        ({"unit_games": 0}, "unit_games: found 0"),
        ({"matchups": [3]}, "matchups[0]: found 3"),
        ({"matchups": [{"player": []}]}, "matchups[0].player: no such key (found [])"),
        ({"matchups": [{"name": 3}]}, "matchups[0].name: found 3"),
        ({"matchups": [{"games": 3}]}, "matchups[0]: found ['games']"),
        ({"matchups": [{"players": ["a"], "lineups": []}]}, "expected either players or lineups"),
        ({"matchups": [{"players": "a,b"}]}, "matchups[0].players: found 'a,b'"),
        ({"matchups": [{"players": ["a", ""]}]}, "matchups[0].players[1]: found ''"),
        ({"matchups": [{"players": ["a", "a"]}]}, "matchups[0].players: found ['a', 'a']"),
        ({"matchups": [{"players": ["a"], "games": 0}]}, "matchups[0].games: found 0"),
        ({"matchups": [{"players": ["a"], "seats": 5}]}, "matchups[0].seats: found 5"),
        ({"matchups": [{"players": ["a"], "game": "none"}]}, "matchups[0].game: game: found 'none'"),
        ({"matchups": [{"players": ["a"], "game": {"seats": 3}}]}, "matchups[0].game.seats: no such key (found 3)"),
        ({"matchups": [{"players": ["a"], "game": 3}]}, "matchups[0].game: found 3"),
        ({"matchups": [{"players": ["a"], "game": {"num_players": 3, "denied": [[1], [], []]}, "seats": 2}]},
         "matchups[0].seats: found 2, expected 3, because the game denies actions"),
        ({"matchups": [{"lineups": "ab"}]}, "matchups[0].lineups: found 'ab'"),
        ({"matchups": [{"lineups": [["a"]]}]}, "matchups[0].lineups[0]: found ['a']"),
        ({"matchups": [{"lineups": [["a", "b"], ["a"] * 3]}]}, "matchups[0].lineups[1]: found ['a', 'a', 'a']"),
        ({"matchups": [{"lineups": [["a", "b"], ["b", "a"]]}]}, "matchups[0].lineups[1]: found ['b', 'a']"),
        ({"matchups": [{"players": ["a"], "boards": {"count": 2}}]}, "matchups[0].boards.count: no such key (found 2)"),
        ({"matchups": [{"players": ["a"], "boards": {"covered": [4, 3]}}]}, "boards.covered: found [4, 3]"),
        ({"matchups": [{"players": ["a"], "boards": {"covered": [0, 16]}}]}, "boards.covered[1]: found 16, expected"),
        ({"matchups": [{"players": ["a"], "boards": {"covered": [0, 1.5]}}]}, "boards.covered[1]: found 1.5"),
        ({"matchups": [{"players": ["a"], "boards": {"denied": 16}}]}, "boards.denied: found 16"),
        ({"matchups": [{"players": ["a"], "boards": {}, "cover": {}}]}, "found ['boards', 'cover']"),
        (
            {"matchups": [{"players": ["a"], "screening": {}, "handicap": {"denied": [[], []]}}]},
            "['screening', 'handicap']",
        ),
        ({"matchups": [{"name": "x", "players": ["a"]}] * 2}, "matchups[1].name: found 'x'"),
    ],
)  # fmt: skip
def test_what_is_written_wrongly(data: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(json.dumps(data))
    with pytest.raises(ArenaError, match=re.escape(message)) as caught:
        plan_from_yaml(path)
    assert str(caught.value).startswith(f"{path}: "), "the file is named"
    assert str(caught.value).count(str(path)) == 1


# the command


@pytest.mark.thorough
def test_the_command_shows_a_table_and_writes_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    words = [
        "arena",
        "--players",
        "random, greedy",
        "--games",
        "6",
        "--num-players",
        "3",
        "--dry-roads",
        "--format",
        "jsonl",
    ]
    words += ["--out", str(folder), "--processes", "1"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    for text in ("3 players, Dry roads (12 games)", "ms/action", "greedy", "12 games with seed 0;", "games.jsonl"):
        assert text in shown
    played = list(read_records(folder / "games.jsonl"))
    assert played == list(load_records(folder))
    assert len(played) == 12
    assert played[0].config == HelsinkiConfig(num_players=3, dry_roads=True)
    for record in played:
        replay(record)
    assert main(["replay", str(folder / "games.jsonl"), "--record", "12", "--each", "game"]) == 0
    words[words.index("6")] = "9"
    assert main(words) == 0, "more of the same"
    assert "18 games with seed 0, 12 of them from an earlier run" in capsys.readouterr().out
    assert list(read_records(folder / "games.jsonl")) == list(load_records(folder))
    words[words.index("9")] = "6"
    assert main(words) == 2
    assert "request more games" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["example", "--games", "3", "--dry-roads"], "--games, --dry-roads: found with the file example"),
        (["exampel"], "CONFIG: found 'exampel', expected the path of a .yaml file"),
        (["--players", "random,random"], "matchups[0].players: found ['random', 'random']"),
        (["--num-players", "5"], "--num-players: found 5"),
        (["--games", "0"], "games: found 0"),
        (["--processes", "0"], "--processes: found 0"),
        (["--ray", "here", "there"], "--ray: found here there"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", "--out", str(tmp_path / "run"), *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


# scripts that start processes

SCRIPT = """
import sys
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.arena.run import play_in_processes

def play():
    plan = plan_from_dict({"matchups": [{"players": ["random", "greedy"], "games": 4}]})
    if "run" in sys.argv[1]:
        run_arena(plan, sys.argv[2], form="jsonl", processes=2)
    if "in_processes" in sys.argv[1]:
        list(play_in_processes(plan, plan.work_units, 1))
    print("played")

"""


def run_script(text: str, how: str, tmp_path: Path, stdin: bool = False) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(text)
    command = [sys.executable, "-" if stdin else str(path), how, str(tmp_path / "run")]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(
        command, input=text if stdin else None, env=environment, capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize("how", ["run", pytest.param("in_processes", marks=pytest.mark.thorough)])
def test_a_script_without_a_main_guard_is_told_of_it(how: str, tmp_path: Path) -> None:
    """Worker processes run the script again, and would start processes of their own."""
    done = run_script(SCRIPT + "play()\n", how, tmp_path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "a worker process could not run the script" in last
    assert 'start them under `if __name__ == "__main__":`' in last
    assert "memory" not in done.stderr


def test_a_script_from_standard_input_is_told_of_it(tmp_path: Path) -> None:
    guarded = SCRIPT + "if __name__ == '__main__': play()\n"
    done = run_script(guarded, "run", tmp_path, stdin=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "cannot run the script <stdin> again: save it to a file" in last
    assert 'if __name__ == "__main__":' in last
    assert not (tmp_path / "run").exists()


@pytest.mark.thorough
def test_a_script_with_a_main_guard_plays(tmp_path: Path) -> None:
    done = run_script(SCRIPT + "if __name__ == '__main__': play()\n", "run in_processes", tmp_path)
    assert (done.returncode, done.stdout) == (0, "played\n"), done.stderr
