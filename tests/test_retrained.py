"""Conclusions re-tested with retrained networks: training, games, estimates and text."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from helsinki_env import HelsinkiConfig
from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.balance.effects import estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.base import StudyError
from helsinki_env.evaluation.balance.helsinki.estimates import ablation_games
from helsinki_env.evaluation.balance.helsinki.retraining import (
    RetrainingConfig,
    TrainingJob,
    claim_conclusion,
    retraining_report_files,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

BALANCE = Path(__file__).resolve().parent.parent / "docs" / "balance"
ASKED: dict[str, Any] = {
    "name": "tiny",
    "seed": 4,
    "seeds": 2,
    "claims": {"two_points": "too strong"},
    "screening": {2: 300},
    "meetings": {2: 300},
}
PRESET: dict[str, Any] = {
    "matchups": [{"players": [2], "denied": [0, 5]}],
    "network": {"seat_hidden": 8, "seat": 8, "width": 8, "blocks": 1},
    "pretraining": {"samples": 600, "games": 8},
    "ppo": {"total_timesteps": 300, "num_envs": 16, "num_steps": 16, "minibatch_size": 64},
    "promotion": {"deals": 16, "parallel_deals": 16},
    "evaluation": {"times": 1, "games": 8, "final_games": 16, "opponents": ["greedy"]},
}


def written(folder: Path, preset: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    """Write what is asked and how it is learnt, and return the command."""
    path = folder / "how.yaml"
    path.write_text(yaml.safe_dump({**PRESET, **(preset or {})}))
    (folder / "tiny.yaml").write_text(yaml.safe_dump({**ASKED, "preset": str(path), **changes}))
    return ["balance", "retrain", str(folder / "tiny.yaml"), "--processes", "1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without-retrained")  # a word that networks are called by, too
    assert main([*written(folder), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def data(made: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / "report" / "retrained.json").read_text())
    return found


def tables_of(made: Path, part: str) -> dict[str, MatchupGames]:
    return {table.name: table for table in load_run(made / part)}


@pytest.mark.nightly
def test_networks_learn_with_all_actions_and_without_each(made: Path, data: dict[str, Any]) -> None:
    names = [f"{kind}-{seed}" for seed in (4, 5) for kind in ("with-all", "without-two_points")]
    assert [one["name"] for one in data["networks"]] == names
    assert sorted(path.name for path in (made / "networks").iterdir()) == sorted(names)
    for one in data["networks"]:
        summary = json.loads((made / "networks" / one["name"] / "summary.json").read_text())
        assert summary["seed"] == one["seed"]
        assert HelsinkiConfig.from_dict(summary["game"]).covered == (
            (BOARD_ACTIONS.index(one["without"]),) if one["without"] else ()
        )
        assert one["standings"][0]["games"] == 16
    assert len({one["digest"] for one in data["networks"]}) == 4


@pytest.mark.nightly
def test_who_does_without_and_what_it_wins_follows_from_the_games(made: Path, data: dict[str, Any]) -> None:
    tables = tables_of(made, "meetings")
    assert len(data["meetings"]) == 2
    for one in data["meetings"]:
        action, seed = one["action"], one["seed"]
        bit = 1 << BOARD_ACTIONS.index(action)
        deals, by_deal = {}, {}
        for way in ("zero_shot", "retrained", "covered"):
            table = tables[f"{action}, {seed}, 2 players, {way}"]
            deals[way] = table.deal.tolist()
            won = []
            for game in range(len(table)):
                seats = [table.players[i] for i in table.seating[game]]
                lacks = [bool(int(actions) & bit) for actions in table.denied[game]]
                learnt_so = [f"without-{action}-{seed}/" in name for name in seats]
                assert all(f"with-all-{seed}/" in name for name, so in zip(seats, learnt_so, strict=True) if not so)
                if way == "covered":
                    assert table.covered[game] == bit
                    assert not any(lacks)
                    own = learnt_so.index(True)
                else:
                    assert table.covered[game] == 0
                    assert sum(lacks) == 1
                    own = lacks.index(True)
                    assert learnt_so == (lacks if way == "retrained" else [False, False])
                first = table.places[game] == 0
                won.append(100 * first[own] / first.sum())
            by_deal[way] = np.reshape(won, (-1, 2)).mean(axis=1)
            assert one["won"][way]["share"] == pytest.approx(np.mean(won), abs=1e-3)
        assert deals["zero_shot"] == deals["retrained"] == deals["covered"]
        screen = estimate_win_effects(ablation_games(tables_of(made, "screening")[f"with-all-{seed}, 2 players"]))
        assert one["power"] == pytest.approx(50 - one["won"]["retrained"]["share"], abs=1e-3)
        assert one["regained"] == pytest.approx(
            one["won"]["retrained"]["share"] - one["won"]["zero_shot"]["share"], abs=1e-3
        )
        zero_shot = next(e for e in data["screening"] if e["seed"] == seed)
        named = {e["action"]: e for e in zero_shot["actions"]}
        assert named[action]["deviation"] == pytest.approx(
            (screen.power - screen.power.mean())[BOARD_ACTIONS.index(action)], abs=1e-3
        )
        # The effect on a full board is not comparable with the mean of the screening effects.
        assert one["deviation"] == pytest.approx(named[action]["deviation"] - one["regained"], abs=1e-3)
        gain = by_deal["retrained"] - by_deal["zero_shot"]
        error = np.hypot(gain.std(ddof=1) / np.sqrt(len(gain)), named[action]["deviation_error"])
        assert one["deviation_low"] < one["deviation"] - 1.96 * error  # several intervals
        assert one["deviation_high"] > one["deviation"] + 1.96 * error


@pytest.mark.parametrize("name", ["retrained", "retrained-weak", "retrained-strong"])
def test_reports_on_the_pages_follow_from_their_numbers_and_the_legend_hides_none(name: str) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra stats")
    data = json.loads((BALANCE / name / "retrained.json").read_text())
    files = retraining_report_files(data)
    page = files[Path("retrained.md")].decode()
    assert page == (BALANCE / name / "retrained.md").read_text()
    by_seed: dict[int, list[dict[str, Any]]] = {}
    for one in data["meetings"]:
        by_seed.setdefault(one["seed"], []).append(one)
    assert len(by_seed) == 3
    regained = [np.mean([one["regained"] for one in of_seed]) for of_seed in by_seed.values()]
    covered = [np.mean([one["won"]["covered"]["share"] for one in of_seed]) for of_seed in by_seed.values()]
    for values, sign, place in ((regained, "+", "denied an action gains"), (covered, "", "trained without it wins")):
        middle, half = np.mean(values), 4.3027 * np.std(values, ddof=1) / math.sqrt(3)  # Student's t, two degrees
        assert f"{place} {middle:{sign}.1f} ({middle - half:{sign}.1f} to {middle + half:{sign}.1f})" in page
    picture = files[Path("images/retrained-forest.svg")].decode()
    drawn = "".join(re.findall(r'<g id="LineCollection_\d+">(.*?)</g>', picture, re.DOTALL))
    intervals = [float(y) for y in re.findall(r"L [\d.]+ ([\d.]+)", drawn)]
    legend = r"<!-- (?:zero-shot|retrained), .*?translate\([\d.]+ ([\d.]+)\)"
    words = [float(y) for y in re.findall(legend, picture, re.DOTALL)]
    assert len(intervals) > 6
    assert len(words) == 6
    assert min(words) > max(intervals) + 5


@pytest.mark.nightly
def test_the_report_says_it_all(made: Path, data: dict[str, Any]) -> None:
    page = (made / "report" / "retrained.md").read_text()
    for sentence in data["summary"]:
        assert f"- {sentence}" in page
    assert len(data["summary"]) == 3
    regained = [one["regained"] for one in data["meetings"]]  # of one action, one of each seed
    covered = [one["won"]["covered"]["share"] for one in data["meetings"]]
    for values, sign, place in ((regained, "+", "denied an action gains"), (covered, "", "trained without it wins")):
        middle, half = (
            np.mean(values),
            12.706 * abs(values[0] - values[1]) / 2,
        )  # Student's t with one degree of freedom
        assert f"{place} {middle:{sign}.1f} ({middle - half:{sign}.1f} to" in data["summary"][2]
    assert page.count("| trained |") == 1
    assert page.count("without two points") == 2
    for name in ("retrained-forest", "zero-shot-forest"):
        picture = (made / "report" / "images" / f"{name}.svg").read_text()
        assert picture.startswith("<?xml")
        assert ("retrained, seed 5" in picture) == (name == "retrained-forest")
    for path, content in retraining_report_files(data).items():
        assert (made / "report" / path).read_bytes() == content


@pytest.mark.nightly
def test_a_run_that_is_killed_goes_on_to_the_same(made: Path, tmp_path: Path) -> None:
    """Killed once while it learns; then the games of a part are lost."""
    command = [sys.executable, "-m", "helsinki_env.cli.main", *written(tmp_path), "--out", str(tmp_path / "run")]
    networks = tmp_path / "run" / "networks"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 240
        while len(list(networks.glob("*/state.safetensors"))) < 2:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    assert len(list(networks.glob("*/summary.json"))) < 4
    assert main([*command[3:]]) == 0
    shutil.rmtree(tmp_path / "run" / "meetings")
    assert main([*command[3:]]) == 0
    for part in ("screening", "meetings"):
        for name, table in tables_of(tmp_path / "run", part).items():
            expected = tables_of(made, part)[name]
            assert (table.places == expected.places).all()
            assert (table.scores == expected.scores).all()


@pytest.mark.parametrize(
    ("intervals", "strong", "weak"),
    [
        ([(1.1, 3.0), (2.0, 4.0)], "stands", "falls"),
        ([(0.9, 3.0), (2.0, 4.0)], "undecided", "falls"),
        ([(-3.0, 0.9), (-2.0, 1.0)], "falls", "undecided"),
        ([(-3.0, -1.1), (-2.0, -1.5)], "falls", "stands"),
        ([(-3.0, 3.0)], "undecided", "undecided"),
        ([(-0.9, 0.9)], "falls", "falls"),
    ],
)
def test_what_intervals_say_of_a_claim(intervals: list[tuple[float, float]], strong: str, weak: str) -> None:
    assert claim_conclusion(intervals, "too strong", 1.0) == strong
    assert claim_conclusion(intervals, "too weak", 1.0) == weak


def test_networks_have_names_that_say_what_they_learnt() -> None:
    assert TrainingJob(3).name == "with-all-3"
    assert TrainingJob(3, "any_side").name == "without-any_side-3"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": {}}, r"claims: found \{\}"),
        ({"claims": {"two_pints": "too weak"}}, "claims: found 'two_pints'"),
        ({"claims": {"two_points": "nice"}}, r"claims\.two_points: found 'nice'"),
        ({"seeds": 0}, "seeds: found 0"),
        ({"screening": {2: 5}}, r"screening\.2: found 5"),
        ({"meetings": {2: 298}}, r"meetings\.2: found 298"),
        ({"screening": {2: 250}}, r"screening\.2: found 250"),
        ({"design": {"loose": 0.0}}, r"design\.loose: found 0\.0"),
        ({"design": {"sizes": [3, 3]}}, r"design\.sizes: found \[3, 3\]"),
        ({"meetings": {3: 500}}, "meetings: found "),
        ({"design": {"copies": 0}}, r"design\.copies: found 0"),
        ({"equivalence_margin": -1}, "equivalence_margin: found -1"),
        ({"presets": "quick"}, "presets: no such key .* did you mean 'preset'"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        RetrainingConfig.from_dict({**ASKED, **changes})


@pytest.mark.parametrize("name", ["quick", "standard", "weak", "strong"])
def test_what_is_in_the_box_comes_back_from_plain_data(name: str) -> None:
    config = RetrainingConfig.from_yaml(name)
    assert RetrainingConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize("changed", [{"start": "net"}, {"covered": ["two_points"]}, {"components": "coats_inside"}])
def test_networks_that_do_not_learn_from_nothing_are_refused(
    changed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*written(tmp_path, changed), "--out", str(tmp_path / "run")]) == 2
    assert "expected one without start, against, covered and components" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.nightly
def test_what_cannot_be_asked_is_said_before_anything_is_learnt(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "run")]
    assert main([*written(tmp_path, screening={3: 450}, meetings={3: 450}), *out]) == 2
    assert "found games of 3 players, expected some of 2, as in the preset" in capsys.readouterr().err
    covering = {"matchups": [{"players": [2], "covered": [0, 5]}]}
    assert main([*written(tmp_path, covering), *out]) == 2
    assert "covered: found [0, 5], expected none" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert main([*written(tmp_path, equivalence_margin=2.0), "--out", str(made)]) == 2
    assert "preset: found '" in capsys.readouterr().err
    assert main([*written(tmp_path, {"minutes": 1e-6}), *out]) == 2
    assert "found an unfinished training after 1e-06 minutes" in capsys.readouterr().err
    assert main([*written(tmp_path), *out]) == 0  # with more of them it goes on
    assert main([*written(tmp_path, {"precision": "bfloat16"}), *out]) == 2
    assert "preset.precision: found " in capsys.readouterr().err
