"""No command runs code that a file names unless the user permits it."""

from __future__ import annotations

import hashlib
import json
import secrets
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from helsinki_env.agents.registry import PlayerError, check_code
from helsinki_env.cli.main import main
from helsinki_env.data import with_digest
from helsinki_env.utils.yaml_files import configs_folder

ROOT = Path(__file__).resolve().parent.parent
#: Leaves a mark when it is run, and is no player.
MODULE = "from pathlib import Path\nPath('mark').touch()\ndef make(argument, config):\n    return 5\n"


@pytest.fixture(autouse=True)
def _marking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a module, a package and a program that leave a mark when they are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("marking_here.py").write_text(MODULE)
    Path("marking_package").mkdir()
    Path("marking_package/__init__.py").write_text(MODULE)
    Path("marking_package/inner.py").write_text(MODULE)
    loaded = [name for name in sys.modules if name.startswith("marking_")]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)


PROGRAM = f"program:{shlex.quote(sys.executable)} marking_here.py"
CODE = [
    "marking_here:make",
    "marking_package.inner:make",
    "counted:marking_here:make",
    "forced:two_points: counted:marking_here:make",
    PROGRAM,
    f"counted:{PROGRAM}",
]


def marked() -> bool:
    return Path("mark").exists()


def shipped(kind: str, name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((configs_folder() / kind / f"{name}.yaml").read_text(encoding="utf-8"))
    return data


def written(data: dict[str, Any], name: str = "asked.yaml") -> str:
    Path(name).write_text(yaml.safe_dump(data))
    return name


def arena(player: str) -> list[str]:
    return ["arena", written({"matchups": [{"players": [player, "random"], "games": 2}]}), "--out", "out"]


def lineups(player: str) -> list[str]:
    return ["arena", written({"matchups": [{"lineups": [[player, "random"]], "games": 2}]}), "--out", "out"]


def ladder(player: str) -> list[str]:
    arena(player)
    return ["ladder", "asked.yaml", "--run", "out"]


def train(player: str) -> list[str]:
    pytest.importorskip("torch", reason="needs the extra train")
    return ["train", "--preset", written({"opponents": [player]}), "--out", "out"]


def measured(player: str) -> list[str]:
    pytest.importorskip("torch", reason="needs the extra train")
    return ["train", "--preset", written({"evaluation": {"opponents": [player]}}), "--out", "out"]


def against(player: str) -> list[str]:
    pytest.importorskip("torch", reason="needs the extra train")
    alone = {
        "against": player,
        "opponents": player,
        "ppo": {"fixed_opponent_fraction": 1.0},
        "evaluation": {"opponents": player},
    }
    return ["train", "--preset", written(alone), "--out", "out"]


def study(player: str) -> list[str]:
    data = shipped("balance", "quick")
    return ["balance", "run", written({**data, "classes": [{"player": player, "games": {2: 1200}}]}), "--out", "out"]


def gate(player: str) -> list[str]:
    data = shipped("balance", "quick")
    return ["balance", "run", written({**data, "qualification": {"reference": player, "games": 200}}), "--out", "out"]


def tune(player: str) -> list[str]:
    return ["balance", "tune", written({**shipped("tune", "quick"), "player": player}), "--out", "out"]


def found(player: str) -> list[str]:
    data = json.loads((ROOT / "docs/balance/tune/standard/tune.json").read_text(encoding="utf-8"))
    del data["digest"]
    data["tuning"]["weaker"] = player
    Path("asked.yaml").write_text(json.dumps(with_digest(data)))
    return ["balance", "tune", "--proposal", "asked.yaml", "--evaluator", "random", "--out", "out"]


def retrain(player: str) -> list[str]:
    train(player)
    return ["balance", "retrain", written({**shipped("retrained", "quick"), "preset": "./asked.yaml"}, "retrain.yaml")]


def gauntlet(player: str) -> list[str]:
    table = {"name": "a", "seats": 2, "opponents": [["random"], [player]]}
    parts = [{"deals": 2, "lineups": [["random", player]]}]
    data = {"version": 1, "seed": 1, "unit_games": 4, "stages": {"quick": 2}, "zero": "random"}
    data["networks"] = {player: hashlib.sha256(MODULE.encode()).hexdigest()[:16]}
    asked = written({**data, "matchups": [{**table, "reference": parts}]})
    return ["evaluate", "reference", "--gauntlet", asked, "--out", "out"]


WAYS = [arena, lineups, ladder, train, measured, against, study, gate, tune, found, retrain, gauntlet]


@pytest.mark.parametrize("way", WAYS)
def test_code_that_a_file_names_is_run_only_if_the_user_trusts_it(way: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for player in CODE if way is arena else CODE[:2]:
        words = way(player)
        assert main(words) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert "asked.yaml: found the player " in line
        assert player in line
        assert "--trust" in line
        assert not marked(), line
        assert not Path("out").exists()
    assert main([*way("marking_here:make"), "--trust"]) == 2
    error = capsys.readouterr().err
    assert marked(), error
    assert "found int, expected an object with a name" in error


def test_what_is_typed_needs_no_trust_and_names_that_are_none_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "--players", "marking_here:make,random", "--games", "2", "--out", "out"]) == 2
    assert marked()
    assert "found int, expected an object with a name and act" in capsys.readouterr().err
    for wrong in ("heuristik", "mcc:200", "nothing_here:make"):
        assert main(arena(wrong)) == 2
        line = capsys.readouterr().err
        assert "found an unknown name" in line, line
        assert "trust" not in line


def test_reading_the_folder_of_a_run_does_not_run_its_players() -> None:
    from helsinki_env.evaluation.arena.plan import plan_from_dict
    from helsinki_env.evaluation.arena.store import RunFolder
    from helsinki_env.evaluation.arena.work_unit import play_work_unit

    random = plan_from_dict({"matchups": [{"players": ["random", "greedy"], "games": 24}]})
    named = plan_from_dict({"matchups": [{"players": ["random", "marking_here:make"], "games": 24}]})
    folder = RunFolder(Path("out"), named)
    Path("out").mkdir()
    Path("out/run.json").write_text(json.dumps(named.to_dict()))
    for chunk in random.work_units:
        folder.save(chunk, play_work_unit(random.matchups[0], random.seed, chunk))
    folder.join("parquet")
    assert main(["rate", "out", "--resamples", "100", "--out", "report"]) == 0
    assert "marking_here:make" in Path("report/ladder.json").read_text()
    assert not marked()


def test_tables_of_a_folder_with_code_are_not_played_on(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fastapi", reason="needs the extra play")
    from helsinki_env import HelsinkiConfig
    from helsinki_env.cli.commands.play import check_tables
    from helsinki_env.web.store import TableStore
    from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment

    chairs = (SeatAssignment(HUMAN, "me"), SeatAssignment("marking_here:make", "bot"))
    store = TableStore(Path("data"))
    store.add(GameTable(secrets.token_hex(6), "", HelsinkiConfig(), 1, chairs))
    store.close()
    assert main(["play", "--data", "data", "--no-open", "--port", "0"]) == 2
    line = capsys.readouterr().err
    assert "tables.sqlite: found the player 'marking_here:make'" in line
    assert "--trust" in line
    assert not marked()
    check_tables(Path("data"), ("marking_here:make",), False)
    assert check_tables(Path("data"), (), True) == ["human", "marking_here:make"]


@pytest.mark.parametrize("player", ["marking_here:make", "checkpoint:make"])
def test_tournaments_of_a_folder_with_code_are_not_resumed(player: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fastapi", reason="needs the extra play")
    from helsinki_env.web.store import TableStore

    Path("checkpoint.py").write_text("")  # the name of this module is not that of a network of the data folder
    store = TableStore(Path("data"))
    with store.transaction():
        settings = json.dumps({"players": ["greedy", player], "config": {}})
        row = ("a", "", 0.0, settings)
        store.rows.execute("INSERT INTO tournaments (name, title, made, settings) VALUES (?, ?, ?, ?)", row)
    store.close()
    assert main(["play", "--data", "data", "--no-open", "--port", "0"]) == 2
    assert f"tables.sqlite: found the player '{player}'" in capsys.readouterr().err
    assert not marked()


def test_the_check_runs_nothing_itself() -> None:
    for player in CODE:
        with pytest.raises(PlayerError, match=r"some\.yaml: found the player .*--trust, or trust=True in Python"):
            check_code(["random", player], "some.yaml", trust=False)
        check_code([player], "some.yaml", trust=True)
    check_code(["net", "net:runs/best", "mc:5", "counted:greedy", None, 5, "x", ""], "some.yaml", trust=False)
    assert not marked()


def test_every_help_page_of_such_a_command_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("arena", "ladder", "train", "evaluate run", "play", "balance run", "balance tune", "balance retrain"):
        assert main([*words.split(), "--help"]) == 0
        assert "--trust" in capsys.readouterr().out, words
