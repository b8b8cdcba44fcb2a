"""Datasets of transitions: equal to a replay of their games, same bytes after a kill, one error for bad input."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra stats")

import pyarrow.parquet as pq

from helsinki_env.agents.net.make import bundled_network
from helsinki_env.cli.main import main
from helsinki_env.dataset.reading import Dataset
from helsinki_env.dataset.transitions import DatasetError, record_transitions
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match import play_match
from helsinki_env.records import Record, initial_game, write_records
from tests.games import EACH_GAME, TestedGame

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

#: Seconds: long enough for the busiest machine.
PATIENCE = 240.0


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def dataset(out: Path, *words: object) -> Dataset:
    command = ["dataset", *map(str, words), "--out", str(out), "--processes", "1"]
    assert main(command) == 0
    return Dataset(out)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards, the last of them smaller."""
    folder = tmp_path_factory.mktemp("fresh") / "data"
    dataset(folder, "--players", "greedy,random", "--games", 10, "--seed", 3, "--shard-games", 4, "--openspiel")
    return folder


def fresh_words(out: Path) -> list[str]:
    words = "dataset --players greedy,random --games 10 --seed 3 --shard-games 4 --openspiel --processes 1 --out"
    return [*words.split(), str(out)]


@contextmanager
def started(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A command in its own process, once its first shard is written."""
    command = [sys.executable, "-m", "helsinki_env.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + PATIENCE
        while not list(Path(words[-1]).glob("data-*.parquet")):
            assert process.poll() is None, process.stderr
            assert time.monotonic() < until
            time.sleep(0.002)
        yield process


# What a dataset holds


@pytest.mark.thorough
def test_rows_equal_a_replay_of_the_games(fresh: Path) -> None:
    data, rows = Dataset(fresh), list(Dataset(fresh).batches())
    columns = {name: np.concatenate([part[name] for part in rows]) for name in rows[0]}
    described = {column["name"]: (column["dtype"], tuple(column["shape"])) for column in data.card["columns"]}
    for name, values in columns.items():
        dtype, shape = described[name]
        assert values.shape == (data.card["rows"], *shape)
        assert values.dtype == (object if dtype == "str" else dtype), name
    at = 0
    for number, record in enumerate(data.records()):
        game, rewards = initial_game(record), np.zeros(2)
        for step, action in enumerate(record.decisions):
            row = {name: values[at] for name, values in columns.items()}
            assert (row["game"], row["step"], row["seat"], row["action"]) == (number, step, game.seat, action)
            assert row["player"] == record.players[game.seat]
            np.testing.assert_array_equal(row["observation"], game.observation())
            np.testing.assert_array_equal(row["action_mask"], game.action_mask())
            assert row["action_mask"][action] == 1
            later = list(columns["seat"][at + 1 : at + len(record.decisions) - step])
            assert row["terminated"] == (game.seat not in later)
            rewards[game.seat] += row["reward"]
            assert row["terminated"] or not row["reward"]
            game.step(action)
            at += 1
        assert game.done
        assert rewards.tolist() == [1.0 if rank == 0 else -1.0 for rank in game.ranks()]
    assert (number + 1, at) == (data.card["games"], data.card["rows"])
    assert data.card["games"] == 10


def test_the_shards_are_plain_parquet(fresh: Path) -> None:
    paths = sorted(fresh.glob("data-*.parquet"))
    assert [path.name for path in paths] == [f"data-0000{i}.parquet" for i in range(3)]
    table = pq.read_table(fresh / "data-00000.parquet")
    assert set(table.column("player").to_pylist()) == {"greedy", "random"}
    assert len(table.column("action_mask")[0].as_py()) == spec_by_name("helsinki").num_actions(
        spec_by_name("helsinki").config()
    )
    whole = pq.read_table(paths, columns=["game", "terminated"], filters=[("terminated", "=", True)])
    assert whole.group_by("game").aggregate([("terminated", "count")]).column(1).to_pylist() == [2] * 10


def test_the_card_names_command_seed_and_columns(fresh: Path) -> None:
    card, page = Dataset(fresh).card, (fresh / "README.md").read_text()
    assert card["command"] == "helsinki dataset --players greedy,random --games 10 --seed 3 --openspiel --shard-games 4"
    assert (card["seed"], card["players"], card["evaluator"]) == (3, ["greedy", "random"], None)
    assert card["command"] in page
    for column in card["columns"]:
        assert f"| `{column['name']}` | {column['dtype']} |" in page
    assert sorted(name for shard in card["shards"] for name in shard["files"]) == sorted(
        {path.name for path in fresh.iterdir()} - {"README.md", "dataset.json"}
    )


@EACH_GAME
@pytest.mark.parametrize("reward", ["win", "rank", "margin"])
def test_rewards_are_those_of_the_environment(game: TestedGame, reward: str) -> None:
    from helsinki_env import copenhagen_v0, helsinki_v0

    module = {"helsinki": helsinki_v0, "copenhagen": copenhagen_v0}[game.spec.name]
    config = game.spec.config(num_players=3, reward=reward)
    (record, *_) = play_match(["greedy", "random", "random"], config, games=3, seed=2).records()
    rows, env = record_transitions(record), module.raw_env(num_players=3, reward=reward)
    env.reset(seed=record.seed)
    for action in record.decisions:
        env.step(action)
    found = [rows["reward"][rows["seat"] == seat].sum() for seat in range(3)]
    np.testing.assert_allclose(found, [env.rewards[agent] for agent in env.possible_agents], rtol=1e-6)


def test_values_of_an_evaluator(tmp_path: Path) -> None:
    from helsinki_env.agents.analysis import analysis_inputs
    from helsinki_env.agents.evaluation import evaluate_actions
    from helsinki_env.agents.registry import make_player

    words = ["--players", "random", "--games", "2", "--shard-games", "2", "--evaluator", "mc:4"]
    data = dataset(tmp_path / "data", *words)
    rows, record = next(data.batches()), next(data.records())
    actions = np.array(record.decisions)
    inputs = analysis_inputs(record)
    found = evaluate_actions(make_player("mc:4", record.config), record.config, *inputs, actions)
    for i, evaluation in enumerate(found):
        np.testing.assert_array_equal(np.flatnonzero(rows["action_mask"][i]), evaluation.actions)
        np.testing.assert_allclose(rows["policy"][i, evaluation.actions], evaluation.probabilities, rtol=1e-6)
        wanted = evaluation.shares[:, evaluation.seat].astype(np.float32)
        np.testing.assert_array_equal(rows["values"][i, evaluation.actions], wanted)
    assert np.isnan(rows["values"][rows["action_mask"] == 0]).all()
    assert not rows["policy"][rows["action_mask"] == 0].any()


@pytest.mark.thorough
def test_an_evaluator_with_other_weights_does_not_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = tmp_path / "network.safetensors"
    shutil.copy(bundled_network(), network)
    words = ["--players", "random", "--games", 2, "--shard-games", 2, "--evaluator", f"net:{network}"]
    dataset(tmp_path / "data", *words)
    (tmp_path / "data" / "data-00000.parquet").unlink()
    shutil.copy(bundled_network().parent / "two_players.safetensors", network)
    assert main(["dataset", *map(str, words), "--out", str(tmp_path / "data")]) == 2
    assert "evaluator_files" in capsys.readouterr().err


def test_language_models_play_where_replaced_actions_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELSINKI_LLM_URL", "http://127.0.0.1:9")
        assert main(["dataset", "--players", "llm:listed:a,random"]) == 2
    assert "play helsinki arena" in capsys.readouterr().err


@pytest.mark.thorough
def test_games_from_a_file_and_from_a_tournament(tmp_path: Path) -> None:
    records = list(play_match(["greedy", "random", "random"], games=6, seed=5).records())
    write_records(tmp_path / "games.jsonl", records)
    data = dataset(tmp_path / "file", tmp_path / "games.jsonl", "--shard-games", 4)
    assert list(data.records()) == records
    assert data.card["players"] == ["greedy", "random", "random#2"]
    run = ["arena", "--players", "greedy,random", "--games", "6", "--seed", "4", "--processes", "1", "--out"]
    assert main([*run, str(tmp_path / "run")]) == 0
    of_run = dataset(tmp_path / "of-run", tmp_path / "run")
    words = ["--players", "greedy,random", "--games", 6, "--seed", 4]
    assert list(of_run.records()) == list(dataset(tmp_path / "fresh", *words).records())


def test_games_of_several_line_ups_are_have_consecutive_numbers(tmp_path: Path) -> None:
    words = ["--game", "copenhagen", "--players", "greedy,random", "--num-players", 3, "--games", 3]
    data = dataset(tmp_path / "data", *words)
    assert [shard["games"] for shard in data.card["shards"]] == [3, 3]
    numbers = np.concatenate([part["game"] for part in data.batches(["game"])])
    assert np.unique(numbers).tolist() == list(range(6))
    assert dataset(tmp_path / "data", *words).card == data.card  # the configuration is the same after a round trip


@pytest.mark.thorough
@EACH_GAME
def test_trajectories_are_those_of_openspiel(game: TestedGame, tmp_path: Path) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
    import helsinki_env.openspiel  # noqa: F401  # registers the games

    options: dict[str, Any] = {"num_players": 3, "reward": "rank"}
    if "covered" in game.spec.options:
        options |= {"covered": "first_game", "dry_roads": True}
    records = list(play_match(["random"] * 3, game.spec.config(**options), games=3, seed=1).records())
    write_records(tmp_path / "games.jsonl", records)
    dataset(tmp_path / "data", tmp_path / "games.jsonl", "--openspiel")
    lines = (tmp_path / "data" / "trajectories-00000.jsonl").read_text().splitlines()
    for line, record in zip(lines, records, strict=True):
        trajectory = pyspiel.Trajectory(line)
        final = trajectory.reconstruct_final_state()
        assert final.board.config == record.config
        assert tuple(final.board.scores().tolist()) == record.scores
        assert final.returns() == pytest.approx(trajectory.header().returns)
        states = trajectory.reconstruct_all_states()
        given = [one["legal_actions"] for one in json.loads(line)["transitions"]]
        assert [state.legal_actions() for state in states[:-1]] == given


def test_copies_of_games_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = dataset(tmp_path / "data", "--players", "greedy", "--games", 8, "--seed", 1, "--shard-games", 4)
    assert [(shard["games"], shard["copies"]) for shard in data.card["shards"]] == [(2, 2), (2, 2)]
    assert "4 games" in capsys.readouterr().out
    records = list(data.records())
    assert len({tuple(record.decisions) for record in records}) == len(records) == 4
    before = contents(tmp_path / "data")
    (tmp_path / "data" / "games-00001.jsonl").unlink()
    dataset(tmp_path / "data", "--players", "greedy", "--games", 8, "--seed", 1, "--shard-games", 4)
    assert contents(tmp_path / "data") == before


@pytest.mark.thorough
def test_a_minari_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    minari = pytest.importorskip("minari", reason="needs the extra minari")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", "minari")  # relative, which Minari alone does not accept
    words = ["--players", "greedy", "--games", 8, "--seed", 1, "--shard-games", 4, "--minari", "games/greedy-v0"]
    data = dataset(tmp_path / "data", *words)
    rows = list(data.batches(["game", "seat", "observation", "action", "reward"]))
    found = minari.load_dataset("games/greedy-v0")
    assert found.total_episodes == 8
    assert found.total_steps == data.card["rows"]
    for episode in found.iterate_episodes():
        part = rows[episode.id // 4]
        game = np.unique(part["game"])[episode.id // 2 % 2]  # two of each shard are copies
        mine = (part["game"] == game) & (part["seat"] == episode.id % 2)
        np.testing.assert_array_equal(episode.observations["observation"][:-1], part["observation"][mine])
        np.testing.assert_array_equal(episode.actions, part["action"][mine])
        assert episode.rewards.sum() == part["reward"][mine].sum()
        assert episode.terminations.tolist() == [False] * (mine.sum() - 1) + [True]
    env = found.recover_environment()
    assert env.spec.kwargs["opponents"] == "greedy"
    env.reset(seed=1)
    assert main(["dataset", *map(str, words), "--out", str(tmp_path / "data")]) == 2
    assert "--minari: found the dataset games/greedy-v0, expected a new id" in capsys.readouterr().err
    assert main(["dataset", "--minari", "no/such/id/greedy", "--out", str(tmp_path / "other")]) == 2
    assert "--minari: found 'no/such/id/greedy', expected " in capsys.readouterr().err


def test_minari_runs_no_code_of_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari", reason="needs the extra minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    ran = tmp_path / "ran"
    code = f"cProfile:run:__import__('pathlib').Path({str(ran)!r}).touch()"
    records = [replace(one, players=(code, code)) for one in play_match(["random", "random"], games=2).records()]
    write_records(tmp_path / "games.jsonl", records)
    dataset(tmp_path / "data", tmp_path / "games.jsonl", "--minari", "games/other-v0")
    assert minari.load_dataset("games/other-v0").env_spec.kwargs["opponents"] == "random"
    assert not ran.exists()


def test_an_interrupted_minari_dataset_is_deleted(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("minari", reason="needs the extra minari")
    from helsinki_env.dataset.minari import write_minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))

    def stop(games: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_minari(fresh, "games/half-v0", stop)
    assert write_minari(fresh, "games/half-v0") > 0


# Interrupted and resumed


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_after_a_kill_the_folder_has_the_same_bytes(fresh: Path, tmp_path: Path) -> None:
    words = fresh_words(tmp_path / "data")
    with started(words) as process:
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert len(contents(tmp_path / "data")) < len(contents(fresh))
    assert main(words) == 0
    assert contents(tmp_path / "data") == contents(fresh)


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_keeps_what_is_done(fresh: Path, tmp_path: Path) -> None:
    words = fresh_words(tmp_path / "data")
    with started(words) as process:
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    line = errors.splitlines()[-1]
    assert line.startswith("helsinki dataset: interrupted: ")
    assert " of 10 games saved in " in line
    assert line.endswith(f"; resume with: helsinki {' '.join(words)}")
    assert main(words) == 0
    assert contents(tmp_path / "data") == contents(fresh)


def test_a_finished_dataset_stays_and_a_removed_file_comes_back(fresh: Path, tmp_path: Path) -> None:
    shutil.copytree(fresh, tmp_path / "data")
    (tmp_path / "data" / "games-00001.jsonl").unlink()
    (tmp_path / "data" / ".data-00001.parquet.helsinki-env-0.tmp").write_bytes(b"half")
    kept = (tmp_path / "data" / "data-00000.parquet").stat().st_mtime_ns
    assert main(fresh_words(tmp_path / "data")) == 0
    assert contents(tmp_path / "data") == contents(fresh)
    assert (tmp_path / "data" / "data-00000.parquet").stat().st_mtime_ns == kept


# Bad input


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--players greedy,random --games 10 --seed 4 --shard-games 4 --openspiel", "command: found "),
        ("--players nobody", "player 'nobody': found an unknown name"),
        ("--evaluator greedy", "--evaluator: found greedy, expected one of net"),
        ("--games 0", "--games: found 0, expected"),
        ("--shard-games 0", "--shard-games: found 0, expected"),
        ("nowhere.jsonl", "nowhere.jsonl: cannot be read: "),
        ("nowhere.jsonl --seed 3", "--seed: found with nowhere.jsonl, which has its own games"),
        ("empty.jsonl", "empty.jsonl: found no games, expected at least one"),
        ("unfinished.jsonl", "unfinished.jsonl: game 1: found an unfinished game"),
        ("mixed.jsonl", "mixed.jsonl: game 3: found another configuration"),
        ("denied.jsonl --openspiel", "found a game with denied actions"),
    ],
)
def test_bad_input_is_one_clear_error(
    words: str,
    message: str,
    fresh: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    two, three = (list(play_match(["random"] * n, games=2, seed=1).records()) for n in (2, 3))
    (tmp_path / "empty.jsonl").write_text("")
    write_records("unfinished.jsonl", [Record(two[0].config, 1, ("a", "b"), ())])
    write_records("mixed.jsonl", [*two, *three])
    config = two[0].config.replace(denied=[[0], []])
    write_records("denied.jsonl", play_match(["random"] * 2, config, games=2).records())
    shutil.copytree(fresh, "data")
    out = "data" if "--seed 4" in words else "new"
    assert main(["dataset", *words.split(), "--out", out, "--processes", "1"]) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert errors[-1].startswith("helsinki dataset: ")
    assert message in errors[-1]
    assert contents(Path("data")) == contents(fresh)


def test_a_spoilt_shard_is_named_and_stays(fresh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    shutil.copytree(fresh, folder)
    path = folder / "data-00001.parquet"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    assert main(fresh_words(folder)) == 2
    assert f"{path}: found a changed file, expected the SHA-256" in capsys.readouterr().err
    with pytest.raises(DatasetError, match=r"data-00001.parquet: found a changed file"):
        list(Dataset(folder).batches())
    path.unlink()
    with pytest.raises(DatasetError, match=r"data-00001.parquet: found no file"):
        list(Dataset(folder).batches())
    assert main(fresh_words(folder)) == 0
    assert contents(folder) == contents(fresh)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda card: card.clear(), "shards: found nothing, expected"),
        (lambda card: card["shards"][0].update(files={"games-x/../other/games-0.jsonl": "0"}), r"shards\[0\].files: "),
        (lambda card: card["shards"][0].update(files={"games-0.jsonl": 5}), "expected a SHA-256"),
    ],
)
def test_a_wrong_card_is_explained(fresh: Path, tmp_path: Path, change: Any, message: str) -> None:
    card = json.loads((fresh / "dataset.json").read_text())
    change(card)
    (tmp_path / "dataset.json").write_text(json.dumps(card))
    with pytest.raises(DatasetError, match=message):
        list(Dataset(tmp_path).records())


def test_an_unknown_shard_is_named(fresh: Path) -> None:
    with pytest.raises(DatasetError, match="shards: found 9, expected numbers from 0 to"):
        list(Dataset(fresh).records([9]))


def test_the_command_prints_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--players", "random", "--games", "2", "--processes", "1", "--out", str(tmp_path / "data")]
    assert main(["dataset", *words]) == 0
    assert re.search(r": 2 games, \d+ transitions, 1 shard\n", capsys.readouterr().out)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["dataset", "--games", "2", "--out", str(tmp_path)]) == 2
    assert f"{tmp_path}: found notes.txt and no dataset.json, expected a dataset" in capsys.readouterr().err
    assert contents(tmp_path) == {"notes.txt": b"mine"}
    (tmp_path / "dataset.json").write_text("{")
    assert main(["dataset", "--games", "2", "--out", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "dataset.json: cannot be read as JSON" in message
    assert "restore the file, or choose another folder" in message


def test_an_unknown_column_is_named(fresh: Path) -> None:
    with pytest.raises(DatasetError, match="columns: found 'colour', expected some of game, step"):
        next(Dataset(fresh).batches(["colour"]))
    with pytest.raises(DatasetError, match=r"dataset.json: cannot be read"):
        Dataset(fresh / "nowhere")
