"""Position suites: the regret of an action, the bundled suites, certificates, and regenerated suites."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.llm.usage import ModelUsage
from helsinki_env.cli.main import main
from helsinki_env.data import with_digest
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.positions import PositionsError
from helsinki_env.evaluation.positions.certificate import (
    Answers,
    PositionsPage,
    ask_player,
    make_certificate,
    positions_table,
    read_certificate,
)
from helsinki_env.evaluation.positions.suite import (
    Position,
    Suite,
    list_suites,
    results_of,
    suite_path,
)
from helsinki_env.records import Record
from helsinki_env.utils.files import hold_lock_file
from tests.support.models import completion, endpoint, last_choice

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 240.0
TINY = """
version: 1
seed: 7
unit_games: 4
stages: {quick: 3}
zero: greedy
matchups:
  - {name: two, seats: 2, opponents: [[random]], reference: [{deals: 2, lineups: [[random, greedy]]}]}
"""
Output = pytest.CaptureFixture[str]


def random_regret(suite: Suite) -> float:
    """Return the mean regret of uniformly random actions."""
    return float(np.mean([one.regrets.mean() for one in suite.positions]))


@pytest.fixture(scope="module")
def suite() -> Suite:
    return Suite.read("helsinki")


def position(first: list[float], second: list[float], errors: list[float]) -> Position:
    record = Record(HelsinkiConfig(), 0, ("a", "b"), ())
    return Position(0, "START", record, np.array(first), np.array(second), np.array(errors))


# values


def test_noise_does_not_add_to_the_regret() -> None:
    """One half selects the best action, the other supplies both values."""
    one = position([0.6, 0.5, 0.2], [0.5, 0.6, 0.2], [0.0, 0.1, 0.1])
    np.testing.assert_allclose(one.regrets, [-0.05, -0.05, 0.3])
    assert one.is_best.tolist() == [True, True, False]
    rng = np.random.default_rng(4)
    halves = (0.5 + 0.1 * rng.standard_normal((4000, 2, 5))).tolist()
    noisy = [position(first, second, [0.1] * 5) for first, second in halves]
    assert abs(np.mean([each.regrets.mean() for each in noisy])) < 0.005  # all actions are equal
    assert np.mean([each.values.max() - each.values.mean() for each in noisy]) > 0.05  # which the maximum hides


@pytest.mark.parametrize(
    ("values", "level"),
    [([0.5, 0.495, 0.1], "easy"), ([0.5, 0.495, 0.1, 0.1, 0.1], "medium"), ([0.5, 0.1, 0.1, 0.1, 0.1], "hard")],
)
def test_a_position_is_hard_if_few_actions_are_good(values: list[float], level: str) -> None:
    assert position(values, values, [0.0] * len(values)).difficulty == level


# bundled suites


@pytest.mark.parametrize("name", list_suites())
def test_bundled_suites_are_whole(name: str) -> None:
    suite = Suite.read(name)
    assert suite_path(name).stat().st_size < 3_000_000
    assert suite.name == name
    assert len(suite.positions) >= 100
    seeds = {(one.record.seed, one.matchup, tuple(one.record.players)) for one in suite.positions}
    assert len(seeds) > 0.9 * len(suite.positions), "positions are from different games"
    assert {one.record.config.num_players for one in suite.positions} == {2, 3, 4}
    assert all(len(one.actions) >= 2 for one in suite.positions)
    assert {f"difficulty: {level}" for level in ("easy", "medium", "hard")} <= suite.groups().keys()
    assert np.mean([one.errors.mean() for one in suite.positions]) < 0.01
    assert random_regret(suite) > 0.03


@pytest.mark.parametrize("name", list_suites())
def test_the_best_actions_have_no_regret_and_the_worst_have_much(name: str) -> None:
    suite = Suite.read(name)
    best, worst = (
        results_of(suite, [int(one.actions[choose(one.values)]) for one in suite.positions])
        for choose in (np.argmax, np.argmin)
    )
    assert abs(best["overall"]["regret"]) < 0.002
    assert best["overall"]["best"] == 1
    assert worst["overall"]["low"] > random_regret(suite)
    assert sum(group["positions"] for group in best["groups"] if "difficulty" in group["group"]) == len(suite.positions)


def test_an_illegal_answer_is_named(suite: Suite) -> None:
    answers = [int(one.actions[0]) for one in suite.positions]
    answers[3] = next(a for a in range(500) if a not in suite.positions[3].actions)
    with pytest.raises(PositionsError, match=rf"answers\[3\]: found {answers[3]}, expected a legal action"):
        results_of(suite, answers)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(suite=99), "suite: found 99, expected 1"),
        (lambda data: data["positions"][0].update(first=[1]), r"positions\[0\].first: found .*expected"),
        (lambda data: data["positions"][0]["errors"].append(1), r"positions\[0\].errors: found \d+ values"),
        (lambda data: data["positions"][0].update(matchup=9), r"positions\[0\].matchup: found 9"),
        (lambda data: data["positions"][0]["record"].update(seed=1), r"positions\[0\].record: digest: found"),
        (lambda data: data["matchups"][0].update(game="chess"), r"matchups\[0\]: game: found 'chess'"),
    ],
)
def test_damaged_suites_are_rejected(change: Any, message: str, suite: Suite, tmp_path: Path) -> None:
    data = json.loads(suite.path.read_text())
    del data["digest"]
    change(data)
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(with_digest(data)))
    with pytest.raises(PositionsError, match=message):
        Suite.read(path)


def test_unknown_suites_are_named() -> None:
    with pytest.raises(PositionsError, match=r"suite: found .helsinky., expected the path of a \.json file or one of"):
        Suite.read("helsinky")


# the command and its certificate


def test_a_stronger_player_has_less_regret(suite: Suite, tmp_path: Path) -> None:
    regrets = []
    for player in ("random", "greedy", "heuristic"):
        answers = ask_player(suite, player, tmp_path / f"{player}.json")
        regrets.append(make_certificate(suite, player, answers)["certified"]["overall"]["regret"])
    assert regrets == sorted(regrets, reverse=True)


def test_a_certificate_is_verified_and_an_interrupted_test_resumes(
    suite: Suite, tmp_path: Path, capsys: Output
) -> None:
    words = ["evaluate", "positions", "epsilon:0.3:greedy", "--out", str(tmp_path)]
    assert main(words) == 0
    path = tmp_path / "certificate.json"
    certified = json.loads(path.read_text())["certified"]
    assert "all" in capsys.readouterr().out
    assert main(["evaluate", "verify", str(path), "--games", "60"]) == 0
    assert "60 of" in capsys.readouterr().out
    saved = json.loads((tmp_path / "answers.json").read_text())
    saved["answers"] = " ".join(saved["answers"].split()[:17])
    (tmp_path / "answers.json").write_text(json.dumps(saved))
    assert main(words) == 0
    assert json.loads(path.read_text())["certified"] == certified
    assert main(["evaluate", "positions", "greedy", "--out", str(tmp_path)]) == 2
    assert "choose another --out" in capsys.readouterr().err
    (tmp_path / "answers.json").write_text(json.dumps(saved | {"package": "0.0.1"}))
    assert main(words) == 2
    assert "package: found" in capsys.readouterr().err


def test_two_processes_do_not_write_the_same_answers(suite: Suite, tmp_path: Path) -> None:
    saved = tmp_path / "answers.json"
    with hold_lock_file(tmp_path / ".answers.json.lock", RuntimeError("busy")):  # as the other one does
        with pytest.raises(PositionsError, match="found another process that writes it"):
            ask_player(suite, "random", saved)
        assert not saved.exists()
    assert len(ask_player(suite, "random", saved).actions) == len(suite.positions)


def test_changed_certificates_are_found(suite: Suite, tmp_path: Path, capsys: Output) -> None:
    answers = ask_player(suite, "greedy", tmp_path / "answers.json")
    certificate = make_certificate(suite, "greedy", answers)
    path = tmp_path / "certificate.json"

    def write(**changes: Any) -> None:
        certified = {**certificate["certified"], **changes}
        del certified["digest"]
        path.write_text(json.dumps({**certificate, "certified": with_digest(certified)}))

    write()
    assert read_certificate(path, suite) == certificate
    write(overall={**certificate["certified"]["overall"], "regret": 0.0})
    with pytest.raises(PositionsError, match=r"overall\.regret: found 0\.0, expected .*according to the actions"):
        read_certificate(path, suite)
    best = [int(one.actions[one.values.argmax()]) for one in suite.positions]
    forged = make_certificate(suite, "greedy", replace(answers, actions=best))["certified"]
    write(**{key: forged[key] for key in ("answers", "overall", "groups")})
    read_certificate(path, suite)  # its figures follow from its actions
    assert main(["evaluate", "verify", str(path), "--games", "400"]) == 2
    assert "as certified; possible causes: another player" in capsys.readouterr().err


def test_illegal_actions_are_replaced_and_counted(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first_bots.py").write_text(
        "class Zero:\n    name = 'zero'\n    def act(self, o, mask, k):\n        return mask.argmin(axis=1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    answers = ask_player(suite, "first_bots:Zero", tmp_path / "answers.json")
    assert answers.replaced.illegal == len(suite.positions)
    assert make_certificate(suite, "first_bots:Zero", answers)["measured"]["illegal"] == len(suite.positions)


def test_costs_of_a_model_are_saved_and_in_the_certificate(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = replace(suite, positions=suite.positions[:6])
    with endpoint(lambda body, number: completion(last_choice(body))) as server:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url)
        monkeypatch.setenv("HELSINKI_LLM_CALLS", "4")
        answers = ask_player(few, "llm:listed:small", tmp_path / "answers.json")
        again = ask_player(few, "llm:listed:small", tmp_path / "answers.json")
    assert answers == again
    assert answers.usage == ModelUsage(4, 400, 40, actions=6)
    assert answers.replaced.failed == 2
    measured = make_certificate(few, "llm:listed:small", answers)["measured"]
    assert (measured["calls"], measured["prompt_tokens"], measured["failed"]) == (4, 400, 2)


def test_a_page_gets_a_row_from_every_certificate(suite: Suite, tmp_path: Path) -> None:
    page = PositionsPage(tmp_path / "page.md", suite)
    with pytest.raises(PositionsError, match="found no file, expected the page"):
        page.check("random")
    page.path.write_text("<!-- written: helsinki, positions -->\n<!-- end: helsinki, positions -->\n")
    page.check("random")
    best = [int(one.actions[one.values.argmax()]) for one in suite.positions]
    worst = [int(one.actions[one.values.argmin()]) for one in suite.positions]
    for player, actions in (("random", worst), ("greedy", best)):
        page.write(make_certificate(suite, player, Answers(actions)))
    rows = [line for line in page.path.read_text().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == ["greedy", "random"]
    assert page.table() in page.path.read_text()
    page.write(make_certificate(suite, "epsilon:0.1:greedy", Answers(best)))
    with pytest.raises(PositionsError, match=r"expected 'epsilon:0-1:greedy' by the file name .*move the file away"):
        page.check("epsilon:0-1:greedy")
    (page.folder / "broken.json").write_text("{")
    with pytest.raises(PositionsError, match=r"broken\.json"):
        page.check("random")


def test_changed_answers_are_rejected(suite: Suite, tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    ask_player(suite, "random", path)
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"answers": data["answers"] + " 3"}))
    with pytest.raises(PositionsError, match=r"answers: found .*, expected at most .*remove the file"):
        ask_player(suite, "random", path)
    path.write_text(json.dumps(data | {"illegal": "5"}))
    with pytest.raises(PositionsError, match="illegal: found '5'"):
        ask_player(suite, "random", path)


@pytest.mark.parametrize("name", list_suites())
def test_the_leaderboard_is_what_its_certificates_say(name: str) -> None:
    page = PositionsPage(ROOT / "docs" / "positions.md", Suite.read(name))
    assert page.table() in page.path.read_text()
    assert page.table() != positions_table([])


# suites that are made


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[[str, int], list[str]]:
    """The words of a command that makes a suite, given its folder and the number of its positions."""
    (tmp_path / "tiny.yaml").write_text(TINY)

    def words(out: str, positions: int) -> list[str]:
        options = ["--positions", str(positions), "--determinizations", "32", "--processes", "1"]
        return ["evaluate", "suite", "--gauntlet", str(tmp_path / "tiny.yaml"), *options, "--out", str(tmp_path / out)]

    return words


@pytest.mark.nightly
def test_a_longer_suite_begins_alike_with_positions_that_were_lost(
    tiny: Callable[[str, int], list[str]], tmp_path: Path
) -> None:
    assert main(tiny("suite", 2)) == 0
    before = Suite.read(tmp_path / "suite" / "tiny.json")
    assert len(before.positions) == 2
    (tmp_path / "suite" / "values" / "00001.json").unlink()
    assert main(tiny("suite", 3)) == 0
    after = Suite.read(tmp_path / "suite" / "tiny.json")
    assert len(after.positions) == 3
    for one, again in zip(before.positions, after.positions[:2], strict=True):
        assert again.record == one.record
        np.testing.assert_array_equal(again.first, one.first)
        np.testing.assert_array_equal(again.second, one.second)


@pytest.mark.nightly
def test_a_killed_run_resumes_and_gives_the_same_bytes_and_a_longer_one_begins_alike(
    tiny: Callable[[str, int], list[str]], tmp_path: Path
) -> None:
    assert main(tiny("whole", 6)) == 0
    command = [sys.executable, "-m", "helsinki_env.cli.main", *tiny("killed", 6)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + PATIENCE
        while not list((tmp_path / "killed" / "values").glob("0*.json")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    assert len(list((tmp_path / "killed" / "values").glob("0*.json"))) < 6
    assert main(tiny("killed", 6)) == 0
    whole, killed = (tmp_path / name / "tiny.json" for name in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()
    before = Suite.read(whole)
    assert main(tiny("whole", 8)) == 0
    after = Suite.read(whole)
    assert [one.record for one in after.positions[:6]] == [one.record for one in before.positions]
    np.testing.assert_array_equal(after.positions[5].first, before.positions[5].first)
