"""Differences from an earlier study: figures set by hand, so that the cause of each change is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.cli.main import main
from helsinki_env.data import with_digest
from helsinki_env.evaluation.balance.helsinki.conclusions import compare_with_baseline
from helsinki_env.evaluation.balance.helsinki.report import chapters
from helsinki_env.evaluation.balance.helsinki.results import read_results
from helsinki_env.evaluation.balance.helsinki.study import StudyError

BALANCE = Path(__file__).resolve().parent.parent / "docs" / "balance" / "balance.json"
CLASSES = ("greedy", "heuristic", "net")
SEARCHING = "net+search:25"
Figures = dict[tuple[str, int, str], tuple[float, float]]
"""By class, number of players and action: deviation, and half the width of its interval."""


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    return dict(json.loads(BALANCE.read_text()))


def study(published: dict[str, Any], folder: Path, figures: Figures, searching: bool = False) -> dict[str, Any]:
    """Return a study in which every action lies within the band, but for the figures that are given."""
    data = json.loads(json.dumps(published))
    data = {key: value for key, value in data.items() if key not in ("former", "digest")}
    for part in ("qualification", "screening"):
        data[part] = [one for one in data[part] if one["player"] in CLASSES]
    if searching:
        strongest = [one for one in data["screening"] if one["player"] == "net"]
        data["screening"] += [
            json.loads(json.dumps(one)) | {"player": SEARCHING, "strength": one["strength"] + 1} for one in strongest
        ]
    for one in data["screening"]:
        for action in one["actions"]:
            middle, half = figures.get((one["player"], one["players"], action["action"]), (0.0, 0.5))
            action |= {
                "deviation": middle,
                "deviation_error": half / 3,
                "deviation_low": middle - half,
                "deviation_high": middle + half,
            }
    path = folder / f"study-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(with_digest(data)))
    return read_results(path)


def all_of(action: str, players: int, middle: float, half: float, names: tuple[str, ...] = CLASSES) -> Figures:
    return {(name, players, action): (middle, half) for name in names}


def differences(data: dict[str, Any]) -> dict[tuple[int, str], dict[str, Any]]:
    return {(one["players"], one["action"]): one for one in data["former"]["differences"]}


@pytest.fixture(scope="module")
def compared(published: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("studies")
    former = study(
        published,
        folder,
        all_of("any_side", 2, 3.0, 0.5)
        | all_of("extra_card", 2, 3.0, 2.5)
        | all_of("two_points", 3, 6.0, 0.5)
        | all_of("move_back", 3, -3.0, 0.5)
        | all_of("one_wild_tile", 4, 1.6, 0.5)
        | all_of("two_wild_tiles", 4, 9.0, 0.5)
        | all_of("draw_and_build", 4, 5.0, 0.5)
        | {("net", 4, "draw_and_build"): (5.0, 3.5)},
    )
    now = study(
        published,
        folder,
        all_of("any_side", 2, 3.0, 2.5, (*CLASSES, SEARCHING))  # fewer games
        | all_of("extra_card", 2, 3.0, 0.5, (*CLASSES, SEARCHING))  # more games
        | all_of("two_points", 3, 6.0, 0.5)
        | {(SEARCHING, 3, "two_points"): (0.0, 0.5)}  # who is new sees it otherwise
        | all_of("move_back", 3, 0.0, 0.5, (*CLASSES, SEARCHING))  # all players play differently
        | all_of("one_wild_tile", 4, 1.4, 0.5, (*CLASSES, SEARCHING))  # at the edge
        | all_of("two_wild_tiles", 4, 7.0, 0.5, (*CLASSES, SEARCHING))  # beyond the band as before
        | all_of("draw_and_build", 4, 5.0, 0.5, (*CLASSES, SEARCHING))
        | {("net", 4, "draw_and_build"): (3.5, 3.0)},  # wider for the second study player, narrower for the first
        searching=True,
    )
    return compare_with_baseline(now, former)


def test_every_verdict_that_is_not_the_same_has_its_reason(compared: dict[str, Any]) -> None:
    found = differences(compared)
    changes = {cell: (one["former_label"], one["label"], one["why"]) for cell, one in found.items()}
    assert changes == {
        (2, "any_side"): ("overpowered", "undecided", "wider"),
        (2, "extra_card"): ("undecided", "overpowered", "narrower"),
        (3, "two_points"): ("overpowered", "undecided", "evaluators"),
        (3, "move_back"): ("underpowered", "balanced", "effect"),
        (4, "one_wild_tile"): ("overpowered", "undecided", "chance"),
        (4, "draw_and_build"): ("overpowered", "undecided", "wider"),
        (4, "two_wild_tiles"): ("overpowered", "overpowered", None),
    }
    assert compared["former"]["joined"] == [SEARCHING]
    assert compared["former"]["conclusions"] == 45
    moved = found[3, "move_back"]
    assert (moved["former_player"], moved["player"], moved["difference"]) == ("net", SEARCHING, 3.0)
    # Errors of a sixth of a point each, and 45 differences at once: 3.26 standard errors (a normal table).
    assert moved["difference_high"] - moved["difference"] == pytest.approx(3.26 * 2**0.5 / 6, abs=0.002)


def test_another_estimator_explains_what_widths_and_study_players_do_not(compared: dict[str, Any]) -> None:
    now = {key: value for key, value in compared.items() if key not in ("former", "digest", "estimator")}
    before = {**now, "conclusions": [{**one, "label": "overpowered"} for one in now["conclusions"]]}
    found = differences(
        compare_with_baseline({**now, "estimator": "logit of the winner"}, {**before, "digest": "0" * 16})
    )
    reasons = {(players, one["why"]) for (players, _), one in found.items()}
    assert {why for players, why in reasons if players > 2} == {"estimator"}
    assert "estimator" not in {why for players, why in reasons if players == 2}


def test_a_study_does_not_differ_from_itself(published: dict[str, Any], tmp_path: Path) -> None:
    one = study(published, tmp_path, all_of("any_side", 2, 3.0, 0.5))
    found = compare_with_baseline(one, one)
    assert found["former"]["differences"] == []
    assert found["former"]["joined"] == []
    assert "Of 45 conclusions 45 are the same." in next(iter(words(found)))


def words(data: dict[str, Any]) -> Iterator[str]:
    for title, content in chapters(data):
        if title == "Changes since the earlier study":
            yield from (str(item) for item in content)


def test_the_report_tells_it(compared: dict[str, Any]) -> None:
    sentence, table, _, moved = words(compared)
    assert f"New study players: {SEARCHING}. Of 45 conclusions 39 are the same; the table explains" in sentence
    assert "two points" in table
    assert f"deviation, {SEARCHING}, now" in table
    assert "other study players" in table
    assert "+6.0 (+5.5 to +6.5)" in table
    assert "two wild tiles, 4 players: +9.0 earlier, +7.0 now; difference -2.0" in moved


def test_a_former_study_without_verdicts_is_refused(published: dict[str, Any], tmp_path: Path) -> None:
    one = study(published, tmp_path, {})
    with pytest.raises(StudyError, match=r"found conclusions for no players, expected at least one of 2, 3, 4 players"):
        compare_with_baseline(one, one | {"conclusions": []})


@pytest.mark.nightly
def test_the_command_tells_it_and_tells_it_again_without_the_former_study(
    compared: dict[str, Any], published: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    former, now, out = tmp_path / "former.json", tmp_path / "now.json", tmp_path / "out"
    study(published, tmp_path, all_of("two_points", 3, 6.0, 0.5))
    (tmp_path / "study-0.json").rename(former)
    now.write_text(json.dumps({key: value for key, value in compared.items() if key != "former"} | {"digest": ""}))
    assert main(["balance", "report", "--from-json", str(now), "--baseline", str(former), "--out", str(out)]) == 2
    assert "digest" in capsys.readouterr().err, "the numbers do not belong to their seal"
    plain = {key: value for key, value in compared.items() if key not in ("former", "digest")}
    now.write_text(json.dumps(with_digest(plain)))
    assert main(["balance", "report", "--from-json", str(now), "--baseline", str(former), "--out", str(out)]) == 0
    changes = (out / "balance.md").read_text()
    assert "## Changes since the earlier study" in changes
    assert main(["balance", "report", "--from-json", str(out / "balance.json"), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "balance.md").read_text() == changes
    assert main(["balance", "report", "--from-json", str(now), "--baseline", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
