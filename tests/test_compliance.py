"""`helsinki check`: a player that breaks one rule of the protocol fails the check of that rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helsinki_env.cli.main import main
from helsinki_env.data import UserError
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.compliance import check_player
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from tests.test_positions import TINY

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

BOTS = """
import time
import numpy as np

def some(mask, number):
    return np.array([np.flatnonzero(row)[number % row.sum()] for row in mask])

class Good:
    name = "good"
    def act(self, observation, mask, keys):
        return np.array([np.flatnonzero(row)[int(key % np.uint64(row.sum()))] for row, key in zip(mask, keys)])

class Stateful:
    name = "stateful"
    def __init__(self):
        self.calls = 0
    def act(self, observation, mask, keys):
        self.calls += 1
        return some(mask, self.calls)

class Changes:
    name = "changes"
    def act(self, observation, mask, keys):
        actions = some(mask, 0)
        observation[:] = 0
        return actions

class Illegal:
    name = "illegal"
    def act(self, observation, mask, keys):
        return mask.argmin(axis=1)

class Crashes:
    name = "crashes"
    def act(self, observation, mask, keys):
        raise RuntimeError("out of ideas")

class LooksAround:
    name = "looks around"
    def act(self, observation, mask, keys):
        return some(mask, len(mask))

class Slow:
    name = "slow"
    def act(self, observation, mask, keys):
        time.sleep(0.02)
        return some(mask, 0)
"""
GAUNTLET = f"""{TINY}
  - name: three
    seats: 3
    boards: {{covered: [5, 5], denied: [0, 0]}}
    opponents: [[random, greedy]]
    reference: [{{deals: 2, lineups: [[random, random, greedy]]}}]
"""
REPEATED = {
    "needs only observation and key: same action outside of a game",
    "keeps no state between actions and games",
    "answers each row of a batch as if it were alone",
}


@pytest.fixture
def gauntlet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gauntlet:
    (tmp_path / "checked_bots.py").write_text(BOTS)
    (tmp_path / "tiny.yaml").write_text(GAUNTLET)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return Gauntlet.from_yaml(tmp_path / "tiny.yaml")


@pytest.mark.parametrize(
    ("bot", "failed"),
    [
        ("Good", set()),
        ("Stateful", REPEATED),
        ("Changes", {"does not change its inputs"}),
        ("Illegal", {"takes legal actions only"}),
        ("Crashes", {"finishes games in every seat and matchup"}),
        ("LooksAround", {"answers each row of a batch as if it were alone"}),
        ("Slow", {"acts within 0.01 s"}),
    ],
)
def test_each_broken_rule_is_found(bot: str, failed: set[str], gauntlet: Gauntlet) -> None:
    seconds = 0.01 if bot == "Slow" else 600.0
    results = check_player(f"checked_bots:{bot}", gauntlet, rows=20, seconds=seconds)
    assert {result.name for result in results if result.passed is False} == failed
    assert all(result.passed is None for result in results[1:]) == (bot == "Crashes")


@pytest.mark.parametrize("player", ["random", "heuristic", "epsilon:0.5:greedy"])
def test_players_of_the_package_pass(player: str, gauntlet: Gauntlet) -> None:
    assert all(result.passed for result in check_player(player, gauntlet, rows=10, seconds=600.0))


def test_the_command_prints_a_table_and_its_status(gauntlet: Gauntlet, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "checked_bots:Good", "--gauntlet", str(gauntlet.path), "--json", "found.json", "--seconds", "600"]
    assert main(words) == 0
    assert "7 checks, 0 failed" in capsys.readouterr().out
    found = json.loads(Path("found.json").read_text())
    assert all(check["passed"] for check in found["checks"])
    words[1] = "checked_bots:Illegal"
    assert main(words) == 1
    assert "FAILED" in capsys.readouterr().out


def test_at_least_one_input_is_repeated(gauntlet: Gauntlet) -> None:
    with pytest.raises(UserError, match="rows: found 0, expected at least 1"):
        check_player("random", gauntlet, rows=0)
