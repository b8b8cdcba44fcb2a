"""Best responses: opponents, promotion, the start of a run, and its files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.net.checkpoint import load_checkpoint, save_checkpoint
from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.training.checkpoint_io import read_state, write_state
from helsinki_env.training.learner import OpponentPool
from helsinki_env.training.preset import Preset, PresetError
from helsinki_env.training.progress import Report
from helsinki_env.training.run import RunError, Training
from tests.support.networks import contrary, same_weights, saved, untrained

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.thorough,
    pytest.mark.skipif(not JIT, reason="too slow"),
]

TINY = """
minutes: 60
precision: float32
network: {size}
pretraining: {{samples: 0}}
ppo: {{total_timesteps: 600, num_envs: 12, num_steps: 16, minibatch_size: 128}}
promotion: {{deals: 16, parallel_deals: 16}}
evaluation: {{times: 1, games: 4, final_games: 4}}
start: {start}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Preset:
    """It begins with a network that was saved, of that network's size."""
    start = tmp_path / "start.safetensors"
    saved(start, untrained(seed=3))
    size = json.dumps(load_checkpoint(start)[1]["network"])
    (tmp_path / "tiny.yaml").write_text(TINY.format(size=size, start=start))
    return Preset.from_yaml(tmp_path / "tiny.yaml")


def test_who_is_to_be_beaten_is_the_only_one_who_is_met(tmp_path: Path) -> None:
    pool = OpponentPool((HelsinkiConfig(),), ["greedy"], tmp_path, 7, False, size=0)
    pool.add("0000.safetensors", untrained(), 0)
    assert {player.name for rollout in range(100) for player in pool.choose(rollout)} == {"greedy"}
    assert pool.past == [("0000.safetensors", 0)]


@pytest.mark.parametrize("stronger", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_best_is_who_wins_most_against_that_player(tiny: Preset, tmp_path: Path, stronger: int) -> None:
    evaluation = tiny.to_dict()["evaluation"] | {"final_games": 40}
    preset = Preset.from_dict(tiny.to_dict() | {"evaluation": evaluation}).best_response_to("greedy")
    training = Training(preset, tmp_path / "run", 5)
    training.run()
    for which in range(2):
        network = untrained() if which == stronger else contrary()
        save_checkpoint(tmp_path / "run" / "past" / f"{which:04d}.safetensors", network, training.describe())
    state = tmp_path / "run" / "state.safetensors"
    arrays, description = read_state(state)
    assert description.value["run_state"]["selected"]
    description.value["run_state"]["selected"] = False
    del description.value["run_state"]["halving"]  # as in runs of earlier versions
    write_state(state, arrays, description.value)
    reports: list[Report] = []
    summary = Training(preset, tmp_path / "run", 5, resume=True).run(reports.append)
    assert [(one.progress.part, one.progress.done) for one in reports] == [
        ("sequential halving", 0.5),
        ("sequential halving", 1.0),
        ("final evaluation", 0.0),
    ]
    assert same_weights(load_checkpoint(tmp_path / "run" / "best.safetensors")[0], untrained())
    curve = json.loads((tmp_path / "run" / "curve.json").read_text())
    assert summary["best"]["decisions"] == curve[stronger]["decisions"]
    again: list[Report] = []  # the result of the selection was saved
    assert Training(preset, tmp_path / "run", 5, resume=True).run(again.append)["best"] == summary["best"]
    assert [one.progress.part for one in again] == ["final evaluation"]


def test_an_interrupted_selection_continues_with_the_next_match(
    tiny: Preset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = tiny.to_dict()["evaluation"] | {"times": 2, "final_games": 20}
    preset = Preset.from_dict(tiny.to_dict() | {"evaluation": evaluation}).best_response_to("greedy")
    whole = Training(preset, tmp_path / "whole", 5).run()

    def stop(report: Report) -> None:
        if report.progress.part == "sequential halving" and report.progress.done > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Training(preset, tmp_path / "run", 5).run(stop)
    matches: list[int] = []
    against = Training._against

    def counted(training: Training, network: Any, games: int, *more: Any) -> Any:
        matches.append(games)
        return against(training, network, games, *more)

    monkeypatch.setattr(Training, "_against", counted)
    again = Training(preset, tmp_path / "run", 5, resume=True).run()
    assert len(matches) == 4, "three of five matches of the selection, and the final evaluation"
    assert again["best"] == whole["best"]
    assert again["results"] == whole["results"]


def test_a_stopped_run_uses_the_results_of_its_evaluations(
    tiny: Preset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = tiny.to_dict()["evaluation"] | {"times": 3, "games": 40}
    preset = Preset.from_dict(tiny.to_dict() | {"evaluation": evaluation}).best_response_to("greedy")
    monkeypatch.setattr(Training, "_time_is_up", lambda training: training.run_state.measured > 1)
    reports: list[Report] = []
    assert not Training(preset, tmp_path / "run", 5).run(reports.append)["finished"]
    assert "sequential halving" not in {one.progress.part for one in reports}
    curve = json.loads((tmp_path / "run" / "curve.json").read_text())
    shares = [entry["results"][0]["share"] for entry in curve]
    assert shares[0] != shares[1]
    best = load_checkpoint(tmp_path / "run" / "best.safetensors")[0]
    most = f"{shares.index(max(shares)):04d}.safetensors"
    assert same_weights(best, load_checkpoint(tmp_path / "run" / "past" / most)[0])


def test_a_run_begins_with_the_network_that_it_is_told_and_meets_one_player(tiny: Preset, tmp_path: Path) -> None:
    preset = tiny.best_response_to("greedy")
    training = Training(preset, tmp_path / "run", 5)
    assert training.learner.ppo.collector.against_opponent.all(), "in every game the learner has one seat"
    summary = training.run()
    assert summary["finished"]
    assert {s["opponent"] for s in summary["results"]} == {"greedy"}
    begun = load_checkpoint(tmp_path / "run" / "past" / "0000.safetensors")[0]
    assert same_weights(begun, untrained(seed=3))
    assert not same_weights(load_checkpoint(tmp_path / "run" / "latest.safetensors")[0], begun)
    told = json.loads((tmp_path / "run" / "summary.json").read_text())["preset"]
    assert Preset.from_dict(told) == preset
    with pytest.raises(RunError, match="as for the earlier results"):
        Training(tiny.best_response_to("random"), tmp_path / "run", 5, resume=True)


def test_a_network_of_another_size_is_no_beginning(tiny: Preset, tmp_path: Path) -> None:
    other = Preset.from_dict(tiny.to_dict() | {"network": {"width": 64}})
    with pytest.raises(RunError, match=r"network: found .*'width': 64"):
        Training(other, tmp_path / "run")


def test_the_preset_in_the_box_begins_with_the_network_in_the_box() -> None:
    preset = Preset.from_yaml("best_response")
    assert preset == Preset.from_dict(json.loads(json.dumps(preset.to_dict())))
    assert preset.best_response_to("net") == preset
    assert preset.best_response_to("heuristic").evaluation.opponents == ("heuristic",)
    three = preset.best_response_to("heuristic", 3)
    assert [matchup.players for matchup in three.matchups] == [(3,)]
    assert three.evaluation.players == three.promotion.players == (3,)
    assert {"start", "against"}.isdisjoint(Preset.from_yaml("quick").to_dict())  # as it was before there were any


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "nobody"], "opponents: player 'nobody': found an unknown name"),
        (["--against", "heuristic", "--preset", "gpu"], "against: found heuristic"),
        (["--against", "heuristic", "--num-players", "5"], "--num-players: found 5, expected 2, 3 or 4"),
        (["--num-players", "3"], "--num-players: found 3, expected it with --against"),
        (["--preset", "START"], "start: nowhere.safetensors: found no such file"),
    ],
)
def test_mistakes_are_named(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = tmp_path / "start.yaml"
    start.write_text("start: nowhere.safetensors")
    given = [str(start) if argument == "START" else argument for argument in arguments]
    assert main(["train", *given, "--out", str(tmp_path / "run")]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"opponents": ["heuristic"]}, r"opponents: found \['heuristic'\]"),
        ({"evaluation": {"opponents": ["random"]}}, r"evaluation.opponents: found \['random'\]"),
        ({"ppo": {"fixed_opponent_fraction": 0.5}}, r"ppo.fixed_opponent_fraction: found 0.5"),
    ],
)
def test_a_preset_says_one_thing_of_who_is_to_be_beaten(changes: dict[str, Any], message: str) -> None:
    alone = {"opponents": ["greedy"], "evaluation": {"opponents": ["greedy"]}, "ppo": {"fixed_opponent_fraction": 1.0}}
    assert Preset.from_dict({"against": "greedy", **alone}).against == "greedy"
    with pytest.raises(PresetError, match=message):
        Preset.from_dict({"against": "greedy", **alone, **changes})


def test_a_preset_with_a_player_that_cannot_be_met_names_it() -> None:
    with pytest.raises(PresetError, match="against: player 'gredy'"):
        Preset.from_dict({"against": "gredy"})
    assert Preset.from_dict({}).best_response_to("random").ppo.fixed_opponent_fraction == 1.0
