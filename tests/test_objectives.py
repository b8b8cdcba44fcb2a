"""Scores of component files against the aims of a designer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from helsinki_env.cli.main import main
from helsinki_env.data import UserError
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import Plan
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.balance.objectives import GROUPS, Objectives, ObjectivesError
from helsinki_env.evaluation.balance.search_report import wanted_text
from helsinki_env.evaluation.match_stats import fractional_wins

FILE = """
seed: 5
matchups:
  - {name: two, game: {game: helsinki, num_players: 2}, games: 240, players: [heuristic], boards: {denied: [0, 9]}}
  - {name: graded, game: {game: helsinki, num_players: 2}, games: 40, players: [random, greedy]}
aims:
  - {measure: effects, at_most: 2, weight: 3}
  - {measure: seats, at_most: 1, matchups: [two]}
  - {measure: use, at_least: 20, matchups: [two]}
  - {measure: rounds, at_most: 10, matchups: [two]}
  - {measure: points, at_least: 5, at_most: 12, matchups: [graded]}
  - {measure: lead, at_most: 2, matchups: [two]}
  - {measure: ahead, players: [random, greedy], at_least: 20}
"""
play = partial(run_arena, processes=1)


@pytest.fixture(scope="module")
def objectives(tmp_path_factory: pytest.TempPathFactory) -> Objectives:
    file = tmp_path_factory.mktemp("objectives") / "mine.yaml"
    file.write_text(FILE)
    return Objectives.from_yaml(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with reuse_workers():
        yield tmp_path_factory.mktemp("score")


def test_a_score_follows_from_the_games(objectives: Objectives, folder: Path) -> None:
    found = objectives.score("default", folder, play=play)
    two, graded = load_run(folder / objectives.plan("default", folder).digest)
    value = {(one.matchup, one.name): one.value for one in found.measurements}
    assert value["two", "seat 2"] == pytest.approx(100 * fractional_wins(two.places)[:, 1].mean() - 50)
    assert value["two", "rounds"] == pytest.approx(two.rounds.mean())
    assert value["graded", "points"] == pytest.approx(graded.scores.mean())
    assert value["two", "lead"] == pytest.approx(np.abs(np.diff(two.scores, axis=1)).mean())
    assert value["graded", "random ahead of greedy"] < 10
    effects = [one for one in found.measurements if one.name.startswith("effect of ")]
    assert len(effects) == 15
    assert sum(one.value for one in effects) == pytest.approx(0, abs=1e-9)
    allowed = (two.denied >> 0 & 1) == 0  # action 0 is 'move 1 to 6'
    assert value["two", "use of move_1_to_6"] == pytest.approx(100 * (two.used >> 0 & 1)[allowed].mean())

    bounds = {"effect": (-2, 2), "seat": (-1, 1), "use": (20, 100), "points": (5, 12), "lead": (0, 2)}
    for one in found.measurements:
        low, high = bounds.get(one.name.split()[0], (0, 10) if one.name == "rounds" else (20, 100))
        assert one.distance == pytest.approx(max(0, low - one.value, one.value - high))
    by_aim = [np.mean([one.distance for one in found.measurements if one.aim == aim]) for aim in range(7)]
    assert found.value == pytest.approx(float(np.dot([3, 1, 1, 1, 1, 1, 1], by_aim)))
    assert found.games == 280


def test_aims_are_written_as_text(objectives: Objectives) -> None:
    texts = [wanted_text(aim) for aim in objectives.aims]
    assert texts == ["-2 to 2", "-1 to 1", "at least 20", "at most 10", "5 to 12", "at most 2", "at least 20"]
    targets = [wanted_text(aim) for aim in Objectives.from_yaml("competition").aims]
    assert targets == ["80", "95", "99", "80", "95", "80", "0"]


def test_errors_of_means_are_those_of_the_means_of_groups_of_deals(objectives: Objectives, folder: Path) -> None:
    found = objectives.score("default", folder, play=play)
    error = {one.name: one.error for one in found.measurements}
    two, _ = load_run(folder / objectives.plan("default", folder).digest)
    lead = np.abs(np.diff(two.scores, axis=1))[:, 0]
    means = [lead[two.deal % GROUPS == group].mean() for group in range(GROUPS)]
    assert error["lead"] == pytest.approx(np.std(means, ddof=1) / np.sqrt(GROUPS))
    assert found.error > 0


def test_a_repeated_score_plays_nothing_and_an_interrupted_one_is_resumed(
    objectives: Objectives, folder: Path, tmp_path: Path
) -> None:
    found = objectives.score("default", folder, play=play)
    played: list[int] = []
    again = objectives.score("default", folder, play=partial(play, progress=played.append))
    assert again == found
    assert played == []

    def stop_early(plan: Plan, path: Path) -> None:
        def stop(games: int) -> None:
            raise KeyboardInterrupt

        run_arena(plan, path, processes=1, progress=stop)

    with pytest.raises(KeyboardInterrupt):
        objectives.score("default", tmp_path, play=stop_early)
    resumed: list[int] = []
    assert objectives.score("default", tmp_path, play=partial(play, resumed=resumed.append)) == found
    assert resumed[0] > 0


def test_content_of_a_component_file_is_scored(objectives: Objectives, folder: Path) -> None:
    free, dear = (
        objectives.score({"base": "default", "actions": {"two_points": {"cost": cost}}}, folder, play=play)
        for cost in (0, 3)
    )
    use = [{one.name: one.value for one in score.measurements}["use of two_points"] for score in (free, dear)]
    assert use[0] > 90
    assert use[1] < 60


def test_another_seed_plays_other_games(objectives: Objectives, folder: Path) -> None:
    first, second = (objectives.score("default", folder, seed=seed, play=play) for seed in (None, 6))
    assert first.value != second.value
    assert objectives.score(None, folder, seed=5, play=play) == first


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("games: 40", "games: 30", "matchups[1].games: found 30, expected at least 40, 20 deals"),
        ("measure: lead", "measure: luck", "aims[5].measure: found 'luck', expected one of effects, level, seats"),
        ("at_most: 2, weight: 3", "weight: 3", "aims[0]: found"),
        (
            "at_most: 2, weight: 3",
            "at_least: 1, at_most: 2",
            "aims[0].at_least: found 1, expected no lower bound for effects",
        ),
        ("at_most: 2, weight: 3", "at_most: -2", "aims[0].at_most: found -2, expected a number from 0 to 100"),
        ("at_least: 5, at_most: 12", "at_least: 15, at_most: 12", "aims[4].at_least: found 15, expected at most 12"),
        ("[random, greedy], at_least", "[random, random], at_least", "aims[6].players: found"),
        (
            "[random, greedy], at_least",
            "[random, mc:8], at_least",
            "aims[6].measure: found 'ahead', expected a measure",
        ),
        ("measure: lead", "players: [random, greedy], measure: lead", "aims[5].players: found"),
        ("at_most: 2, weight: 3", "at_most: 2, matchups: [graded]", "aims[0].matchups[0]: found 'graded', expected"),
        ("game: helsinki, num_players: 2}, games: 40", "players: 2}, games: 40", "players"),
        ("seed: 5", "seed: -5", "seed: found -5"),
        ("2}, games: 40", "2, components: default}, games: 40", "matchups[1].game.components: found them"),
    ],
)
def test_wrong_files_are_explained(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FILE
    file = tmp_path / "wrong.yaml"
    file.write_text(FILE.replace(old, new))
    with pytest.raises(UserError) as error:
        Objectives.from_yaml(file)
    assert message in str(error.value)


def test_invalid_components_are_explained(objectives: Objectives, tmp_path: Path) -> None:
    with pytest.raises(ObjectivesError, match=r"^actions\.two_points\.cost: found 9"):
        objectives.plan({"base": "default", "actions": {"two_points": {"cost": 9}}}, tmp_path)
    with pytest.raises(ObjectivesError, match="components: found 3"):
        objectives.plan(3, tmp_path)  # type: ignore[arg-type]


def test_an_action_that_is_rarely_denied_has_no_effect_to_estimate(tmp_path: Path) -> None:
    for aim in ("effects, at_most: 1", "level, at_least: 1"):
        file = tmp_path / "rare.yaml"
        text = FILE.replace("games: 240", "games: 40").replace("[0, 9]", "[0, 1]").replace("heuristic", "greedy")
        file.write_text(text.replace("effects, at_most: 2, weight: 3", aim))
        with pytest.raises(ObjectivesError, match=r"two: found \w+ denied in too few of 40 games, expected it in more"):
            Objectives.from_yaml(file).score(None, tmp_path / "out", play=play)


@pytest.mark.thorough
def test_an_optimizer_gets_an_answer_to_each_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(FILE.replace("games: 240", "games: 80"))
    requests = ['{"components": "nowhere"}', "{", "", '{"components": "default", "seed": 7}', "{}", "\xff"]
    command = [sys.executable, "-m", "helsinki_env.cli.main", "balance", "score", "--serve", "--processes", "1"]
    done = subprocess.run(
        [*command, "--objectives", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "out"), "--seed", "7"],
        input=("\n".join(requests) + "\n").encode("latin-1"),
        capture_output=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [sorted(answer)[0] for answer in answers] == ["error", "error", "games", "games", "error"]
    assert answers[2] == answers[3]
    expected = Objectives.from_yaml(tmp_path / "mine.yaml").score("default", tmp_path / "out", seed=7, play=play)
    assert answers[2] == json.loads(json.dumps(expected.to_dict()))

    words = ["balance", "score", "--objectives", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "out")]
    assert main([*words, "--processes", "1", "--seed", "7"]) == 0
    written = json.loads((tmp_path / "out" / "score.json").read_text())
    assert written.items() >= answers[2].items()
    assert (written["components"], written["seed"], written["environment"]) == ("default", 7, "helsinki_v0")


def test_the_bundled_objectives_are_valid() -> None:
    found = Objectives.from_yaml("standard")
    assert [len(aim.matchups) for aim in found.aims] == [3, 3, 3, 1, 1, 1, 1]
