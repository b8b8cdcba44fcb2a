"""The balance study from its file to its report, with small tournaments that are really played."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.cli.main import main
from helsinki_env.data import with_digest
from helsinki_env.evaluation.arena.designs import DesignError, HandicapDesign, decode_action_sets
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import ArenaError, plan_from_dict, plan_from_yaml
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.balance.effects import AblationGames, estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.estimates import (
    FIRST_GAME,
    cover_index,
    extreme_covers,
    group_by_cover,
    group_measures,
    naive_effects,
)
from helsinki_env.evaluation.balance.helsinki.figures import study_figures
from helsinki_env.evaluation.balance.helsinki.report import chapters, study_report_files
from helsinki_env.evaluation.balance.helsinki.results import (
    PlayedParts,
    conclusions_of,
    plan_of,
    read_results,
    read_study,
    study_results,
)
from helsinki_env.evaluation.balance.helsinki.study import STUDY_PARTS, StudyConfig, StudyError, matchup_name
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.rating.report import rating_report_files as ladder_files
from helsinki_env.evaluation.rating.report import read_report
from helsinki_env.games.helsinki.actions import KIND_USE
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.game import action_table
from helsinki_env.records import replay_steps
from helsinki_env.utils.files import write_json
from helsinki_env.utils.yaml_files import find_yaml
from tests.support.killed import killed_while_it_plays

pytestmark = pytest.mark.usefixtures("same_workers")

TINY: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "classes": [{"player": "random", "games": {2: 300}}, {"player": "greedy", "games": {2: 600}}],
    "qualification": {"reference": "random", "games": 24},
    "quality": 24,
    "variants": {"components": ["coats_inside"], "player": "greedy", "games": {2: 300}},
}
#: Of the second class in the screen.
BALANCE = Path(__file__).resolve().parent.parent / "docs" / "balance" / "balance.json"
Output = pytest.CaptureFixture[str]
SECOND_CHUNK = "01-00000-00001.games"


def played(folder: Path, parts: tuple[str, ...] = STUDY_PARTS, **changes: Any) -> StudyConfig:
    config = StudyConfig.from_dict({**TINY, **changes})
    config.open(folder)
    for part in parts:
        plan = plan_of(config, folder, part)
        if plan is not None:
            run_arena(plan, folder / part, processes=1)
    return config


def test_a_report_on_nothing_says_how_to_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    StudyConfig.from_dict(TINY).open(tmp_path)
    (tmp_path / "qualification" / "work_units").mkdir(parents=True)  # the state that an immediately stopped run leaves
    (tmp_path / "qualification" / "run.json").write_text("{}")
    assert main(["balance", "report", str(tmp_path)]) == 2
    shown = capsys.readouterr().err
    assert f"found a study without games, expected some; helsinki balance run --out {tmp_path} plays them" in shown


@pytest.fixture(scope="module")
def study(same_workers: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyConfig, Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("study")
    config = played(folder)
    return config, folder, study_results(config, folder)


@pytest.mark.thorough
def test_everything_that_was_played_is_in_the_results(study: tuple[StudyConfig, Path, dict[str, Any]]) -> None:
    _, _, data = study
    assert [(entry["player"], entry["players"], entry["games"]) for entry in data["screening"]] == [
        ("random", 2, 300),
        ("greedy", 2, 600),
    ]
    for entry in data["screening"]:
        assert [action["action"] for action in entry["actions"]] == list(BOARD_ACTIONS)
        deviations = [action["deviation"] for action in entry["actions"]]
        assert sum(deviations) == pytest.approx(0.0, abs=1e-3)
        for action in entry["actions"]:
            assert action["power"] - entry["mean_power"] == pytest.approx(action["deviation"], abs=1e-4)
            assert action["deviation_low"] < action["deviation"] < action["deviation_high"]
            assert 0 <= action["usage"] <= 1
    assert [entry["player"] for entry in data["qualification"]] == ["greedy"]
    assert len(data["conclusions"]) == len(BOARD_ACTIONS)
    assert {entry["game"] for entry in data["quality"]} == {"base game", "first game", "dry roads"}
    ladder = [(entry["game"], entry["weaker"], entry["stronger"], entry["games"]) for entry in data["skill"]]
    assert ladder == [(kind, "random", "greedy", 24) for kind in ("base game", "first game", "dry roads")]
    for entry in data["skill"]:
        assert entry["win_share"] == 1.0  # no player loses to random
        assert 0 < entry["low"] < entry["rating"] < entry["high"]
    assert [entry["components"] for entry in data["variants"]] == ["default", "coats_inside"]
    own = data["variants"][0]["deviation"]  # of greedy
    assert own == [action["deviation"] for action in data["screening"][1]["actions"]]
    parts = data["provenance"]["parts"]
    assert set(parts) == set(STUDY_PARTS) - {"covers", "again"}
    assert len({part["seed"] for part in parts.values()}) == len(parts)  # deals of their own
    assert all(part["missing_games"] == 0 for part in parts.values())


@pytest.mark.thorough
def test_conclusions_and_pictures_follow_from_the_json(
    study: tuple[StudyConfig, Path, dict[str, Any]], tmp_path: Path
) -> None:
    _, _, data = study
    files = study_report_files(data)
    read = json.loads(files[Path("balance.json")])
    assert conclusions_of(read) == read["conclusions"]
    (tmp_path / "balance.json").write_bytes(files[Path("balance.json")])
    assert main(["balance", "report", "--from-json", str(tmp_path / "balance.json")]) == 0
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == files, "the report is made again from the JSON alone"
    # Other numbers give other conclusions.
    for action in read["screening"][0]["actions"] + read["screening"][1]["actions"]:
        if action["action"] == "any_side":
            action |= {"deviation": 9.0, "deviation_error": 0.5, "deviation_low": 7.5, "deviation_high": 10.5}
    changed = {conclusion["action"]: conclusion["label"] for conclusion in conclusions_of(read)}
    assert changed["any_side"] == "overpowered"


@pytest.mark.thorough
def test_pictures_can_be_read() -> None:
    data = read_results(BALANCE)
    lists: dict[str, Any] = {
        key: [] for key, value in data.items() if isinstance(value, list) and key not in ("actions", "variants")
    }
    strongest = {"screening": [entry for entry in data["screening"] if entry["player"] == "net"]}
    # Comments contain the text next to the outlines of its letters.
    drawn = {name: picture.decode() for name, (_, picture) in study_figures(data | lists | strongest).items()}
    for name in ("forest", "use", "naive", "variants"):
        for action in BOARD_ACTIONS:
            assert drawn[name].count(f"<!-- {action.replace('_', ' ')} -->") == 1, "one row, one name"
    for name in ("forest", "naive", "variants"):
        panels = re.split(r'<g id="axes_\d+">', drawn[name])[1:]
        scales = [re.findall(r'<g id="xtick_\d+">.*?<!-- (.*?) -->', panel, re.DOTALL) for panel in panels]
        assert len(scales) == 3
        assert scales[0] == scales[1] == scales[2] != [], "panels that are compared share one scale"


def test_one_word_for_what_is_undecided() -> None:
    data = read_results(BALANCE)
    assert {conclusion["label"] for conclusion in data["conclusions"]} == {"overpowered", "underpowered", "undecided"}
    text = (BALANCE.with_suffix(".md")).read_text(encoding="utf-8")
    assert "| undecided |" in text
    assert "- Undecided, because estimates" in text
    assert not re.search(r"not known|not decided", text + BALANCE.read_text(encoding="utf-8"), re.IGNORECASE)


@pytest.mark.nightly
def test_the_effect_of_a_planted_handicap_is_found(tmp_path: Path) -> None:
    """Each of three seats lacks an action by the flip of a coin: the truth is a difference of means."""
    plan = plan_from_yaml("planted")
    plan = replace(plan, matchups=tuple(replace(table, blocks=table.blocks // 20) for table in plan.matchups))
    run_arena(plan, tmp_path)
    tables = load_run(tmp_path)
    lacks = np.concatenate(
        [decode_action_sets(table.denied)[:, :, [BOARD_ACTIONS.index("two_wild_tiles")]] for table in tables]
    )
    places = np.concatenate([table.places for table in tables])
    block = np.concatenate([table.block + 10**6 * number for number, table in enumerate(tables)])
    won = 100.0 * (places == 0)
    truth = won[~lacks[:, :, 0]].mean() - won[lacks[:, :, 0]].mean()
    study = AblationGames(lacks, places, block)
    found, whole = estimate_win_effects(study), estimate_win_effects(study, depth=None)
    assert abs(found.power[0] - truth) < 0.2 * found.error[0], "on the same games both see the same luck"
    assert whole.power[0] < truth - 2 * whole.error[0], "whole rankings understate it"


@pytest.mark.nightly
def test_the_report_of_the_repository_follows_from_its_numbers() -> None:
    for path, content in study_report_files(read_results(BALANCE)).items():
        if path.suffix in (".md", ".json"):  # pictures also follow from the version of Matplotlib
            assert (BALANCE.parent / path).read_bytes() == content, path
    for page in sorted((BALANCE.parent.parent).glob("ladder*.json")):
        for path, content in ladder_files(read_report(page), name=page.stem, images="images").items():
            if path.suffix in (".md", ".json"):
                assert (page.parent / path).read_bytes() == content, path
            else:
                assert (page.parent / path).exists()


@pytest.mark.thorough
def test_a_player_that_did_not_pass_the_gate_is_not_asked(study: tuple[StudyConfig, Path, dict[str, Any]]) -> None:
    _, _, data = study
    refused = json.loads(json.dumps(data))
    refused["qualification"][0]["admitted"] = False
    assert conclusions_of(data)
    assert conclusions_of(refused) == []  # one class is left, which is too few for a conclusion


def changed_study(path: Path, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the study of the repository with something changed, judged once more."""
    data = json.loads(BALANCE.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(with_digest({key: value for key, value in data.items() if key != "digest"})))
    return read_results(path)


def chapter(data: dict[str, Any], title: str) -> list[Any]:
    return dict(chapters(data))[title]


def test_rows_of_extreme_sets_are_chosen_by_other_games_than_those_shown() -> None:
    """Otherwise the extremes would be partly luck."""
    data = read_results(BALANCE)
    entry = data["covers"][0]
    for i, one in enumerate(entry["again"]):
        one["skill_before"] = i
        one["measures"]["skill"]["mean"] = -i
    _, rows = next(item for item in chapter(data, "Covering five actions") if isinstance(item, tuple))
    names = [", ".join(one["covered"]).replace("_", " ") for one in entry["again"]]
    assert [row[0].removesuffix(" (first game)") for row in rows[1:6]] == names[:-6:-1]
    assert [row[0].removesuffix(" (first game)") for row in rows[-5:]] == names[4::-1]


def test_intervals_of_significant_pairs_allow_for_their_selection() -> None:
    data = read_results(BALANCE)
    entry = next(entry for entry in data["pairs"] if entry.get("found"))
    pair = {"actions": ["two_points", "draw_and_build"], "together": 4.0, "error": 1.0}
    entry["found"] = [pair] * 21
    text = json.dumps(chapter(data, "Actions that work together"), ensure_ascii=False)
    assert text.count("two points and draw and build: +4.0 ± 2.6") == 10  # the quantile of 1 - 0.05 * 21 / 105 / 2
    assert "and 11 more pairs with smaller effects" in text


def test_a_part_that_a_study_omits_needs_no_games(tmp_path: Path) -> None:
    config = StudyConfig.from_dict({**TINY, "quality": 0})
    config.open(tmp_path)
    assert plan_of(config, tmp_path, "quality") is None


def test_figures_are_those_of_the_players_that_judged(tmp_path: Path) -> None:
    def refuse(data: dict[str, Any]) -> None:
        for entry in data["qualification"]:
            entry["admitted"] = entry["player"] == "heuristic"

    data = changed_study(tmp_path / "balance.json", refuse)
    assert {conclusion["why"].rpartition("average action: ")[2].split()[0] for conclusion in data["conclusions"]} == {
        "heuristic"
    }
    told = dict(chapters(data))["Every action"]
    header, rows = next(item for item in told if isinstance(item, tuple))
    assert header[2::2] == [f"{name}, deviation" for name in ["heuristic"] * 3]
    own = next(one for one in data["screening"] if (one["player"], one["players"]) == ("heuristic", 2))
    two = {action["action"]: action["deviation"] for action in own["actions"]}
    assert all(row[2].startswith(f"{two[row[0].replace(' ', '_')]:+.1f} ") for row in rows)


def test_what_is_not_played_yet_takes_no_other_verdict_away(tmp_path: Path) -> None:
    def unfinished(data: dict[str, Any]) -> None:
        data["screening"] = [
            one for one in data["screening"] if (one["players"], one["player"] != "greedy") != (3, True)
        ]

    before = read_results(BALANCE)["conclusions"]
    after = changed_study(tmp_path / "balance.json", unfinished)["conclusions"]
    assert {one["players"] for one in after} == {2, 4}
    words = {(one["players"], one["action"]): one["label"] for one in before}
    assert all(one["label"] == words[one["players"], one["action"]] for one in after)


@pytest.mark.thorough
def test_the_report_needs_nothing_else(study: tuple[StudyConfig, Path, dict[str, Any]]) -> None:
    _, _, data = study
    files = study_report_files(data)
    page = files[Path("balance.html")].decode()
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "url(http" not in page
    assert "@import" not in page
    assert page.count("<svg") == len([path for path in files if path.suffix == ".svg"]) >= 7
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    text = files[Path("balance.md")].decode()
    for path in re.findall(r"\]\((images/[^)]+)\)", text):
        assert Path(path) in files
    for sentence in data["summary"]:
        assert sentence in text
    assert text.index(data["summary"][0]) < 300  # the answer comes first


@pytest.mark.nightly
def test_the_same_games_give_the_same_bytes_however_they_came_about(
    study: tuple[StudyConfig, Path, dict[str, Any]], tmp_path: Path
) -> None:
    config, _, data = study
    played(tmp_path, ("screening",))
    partial = study_results(config, tmp_path)
    assert partial["screening"] == data["screening"]
    assert partial["qualification"] == []
    (tmp_path / "screening" / "work_units" / SECOND_CHUNK).unlink()  # as if it had been stopped there
    (tmp_path / "screening" / "games.parquet").unlink()
    played(tmp_path)
    again = study_results(config, tmp_path)
    assert study_report_files(again) == study_report_files(data)


@pytest.mark.nightly
def test_a_study_that_is_killed_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(json.dumps(TINY))  # which is YAML, too
    command = ["balance", "run", str(tmp_path / "tiny.yaml"), "--out", str(tmp_path / "killed")]
    for part in ("qualification", "screening", "quality"):
        killed_while_it_plays(command, tmp_path / "killed" / part)
    assert main([*command, "--processes", "2"]) == 0
    config = played(tmp_path / "whole")
    one, other = (study_report_files(study_results(config, tmp_path / name)) for name in ("whole", "killed"))
    assert one == other


@pytest.mark.thorough
def test_games_that_come_in_while_a_study_is_read_are_noticed(tmp_path: Path) -> None:
    config = played(tmp_path, ("screening",))
    chunk = tmp_path / "screening" / "work_units" / SECOND_CHUNK
    kept = chunk.read_bytes()
    chunk.unlink()
    (tmp_path / "screening" / "games.parquet").unlink()
    reading = PlayedParts(config, tmp_path)
    assert len(reading.matchups("screening")) == 2
    chunk.write_bytes(kept)
    with pytest.raises(StudyError, match="screening: found games that were added during reading"):
        reading.courses("screening")


def test_another_study_is_refused_in_the_same_folder(tmp_path: Path) -> None:
    StudyConfig.from_dict({**TINY, "seed": 7}).open(tmp_path)
    StudyConfig.from_dict(TINY).open(tmp_path)  # nothing was played yet: a mistake can be fixed
    assert read_study(tmp_path) == StudyConfig.from_dict(TINY)
    (tmp_path / "screening").mkdir()
    StudyConfig.from_dict(TINY).open(tmp_path)
    with pytest.raises(StudyError, match="seed: found 4, expected 3 as for the earlier results"):
        StudyConfig.from_dict({**TINY, "seed": 4}).open(tmp_path)
    with pytest.raises(StudyError, match="found no study"):
        read_study(tmp_path / "nowhere")


def test_games_of_another_study_are_not_told_as_its_own(tmp_path: Path, capsys: Output) -> None:
    """Two were begun at the same moment in the same folder: the file is of one, the games are of the other."""
    played(tmp_path, ("screening",))
    for changes in ({"seed": 4}, {"classes": [*TINY["classes"][:1], {"player": "heuristic", "games": {2: 600}}]}):
        write_json(tmp_path / "study.json", StudyConfig.from_dict({**TINY, **changes}).to_dict())
        assert main(["balance", "report", str(tmp_path), "--out", str(tmp_path / "told")]) == 2
        assert "screening: found games of another study" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": -1}, "seed: found -1"),
        ({"equivalence_margin": 0}, "equivalence_margin: found 0"),
        ({"level": 1.5}, r"level: found 1\.5"),
        ({"classes": []}, "classes: found"),
        ({"classes": [{"player": "random", "games": {5: 3}}]}, r"classes\[0\].games: found 5"),
        ({"classes": [{"player": "random", "games": 3}]}, r"classes\[0\].games: found 3"),
        ({"classes": [{"player": "random"}]}, r"classes\[0\]\.games: found nothing"),
        ({"classes": [{"player": "a", "games": {2: 1}}, {"player": "a", "games": {2: 1}}]}, "every player once"),
        ({"qualification": {"gams": 3}}, r"qualification\.gams: no such key \(found 3\)"),
        ({"screening": {"copies": 0}}, "screening.copies: found 0"),
        ({"screening": {"loose": math.nan}}, "screening.loose: found nan"),
        ({"equivalence_margin": math.nan}, "equivalence_margin: found nan"),
        ({"seed": 1.0}, "seed: found 1.0"),
        ({"classes": [{"player": "random", "games": {2.0: 3}}]}, r"games: found 2\.0"),
        ({"classes": [{"player": "random", "games": {2: 3.0}}]}, r"classes\[0\].games.2: found 3\.0"),
        ({"classes": [{"player": "random", "games": {2: 3, "2": 4}}]}, "expected player counts, each once"),
        ({"qualification": 3}, "qualification: found 3"),
        ({"covers": {"players": 3}}, r"covers\.players: found 3"),
        ({"variants": {"components": ["nowhere"]}}, "nowhere"),
        ({"sead": 3}, r"sead: no such key \(found 3\)"),
        ({"classes": [{"player": "random", "games": {2: 3}, "quality": -1}]}, r"classes\[0\].quality: found -1"),
    ],
)  # fmt: skip
def test_what_is_written_wrongly_is_refused_by_name(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        StudyConfig.from_dict({**TINY, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": [{"player": "random", "games": {4: 500}}]}, r"classes\[0\].games.4: found 500"),
        ({"variants": TINY["variants"] | {"games": {2: 90}}}, r"variants\.games\.2: found 90"),
        ({"screening": {"loose": 0.0}}, r"screening\.loose: found 0\.0"),
        ({"screening": {"sizes": [5, 5]}}, r"screening\.sizes: found \[5, 5\]"),
        ({"qualification": {"games": 4}}, r"qualification\.games: found 4"),
        ({"quality": 2}, r"quality: found 2"),
        ({"variants": TINY["variants"] | {"components": ["a/coats.yaml", "b/coats.yaml"]}}, "a unique name"),
    ],
)
def test_what_could_not_be_reported_is_refused_before_the_first_game(
    changes: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    default = find_yaml("default", "components", ValueError).read_text(encoding="utf-8")
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "coats.yaml").write_text(default, encoding="utf-8")
    enough = TINY | {"quality": 24, "qualification": {"reference": "random", "games": 24}}
    Path("mine.yaml").write_text(json.dumps(enough | changes), encoding="utf-8")  # which is YAML, too
    assert main(["balance", "run", "mine.yaml", "--out", "run"]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not Path("run").exists()


def test_a_class_that_thinks_long_may_play_less() -> None:
    classes = [
        {"player": "random", "games": {2: 240}},
        {"player": "greedy", "games": {2: 600}},
        {"player": "heuristic", "games": {2: 60}, "quality": 4},
        {"player": "mc:10", "games": {2: 24}, "quality": 0},
    ]
    config = StudyConfig.from_dict({**TINY, "classes": classes})
    assert StudyConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    quality = config.plan("quality")
    assert quality is not None
    games = Counter((" and ".join(sorted(set(table.players))), table.games) for table in quality.matchups)
    alone = {("random", 24): 3, ("greedy", 24): 3, ("heuristic", 4): 3}
    assert games == alone | {("greedy and random", 24): 3, ("greedy and heuristic", 4): 3}


@pytest.mark.thorough
def test_pairs_are_told_of_whoever_has_the_games_for_it(tmp_path: Path) -> None:
    classes = [("random", 300), ("greedy", 1200), ("heuristic", 300)]
    asked = [{"player": player, "games": {2: games}} for player, games in classes]
    config = played(tmp_path, ("screening",), classes=asked)
    assert [entry["player"] for entry in study_results(config, tmp_path)["pairs"]] == ["greedy"]


@pytest.mark.parametrize("name", ["quick", "standard"])
def test_shipped_studies_can_be_planned(name: str) -> None:
    config = StudyConfig.from_yaml(name)
    assert StudyConfig.from_dict(config.to_dict()) == config
    screen = config.plan("screening")
    assert screen is not None
    assert [table.name for table in screen.matchups] == [
        matchup_name(n, entry.player) for entry in config.classes for n in config.players if entry.games.get(n)
    ]
    assert all(table.screening is not None for table in screen.matchups)


@pytest.mark.thorough
def test_the_command_plays_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    asked = (
        "seed: 1\nclasses: [{player: random, games: {2: 300}}]\nqualification: {games: 0}\nscreening: {loose: 0.03}\n"
    )
    file.write_text(asked, encoding="utf-8")  # with so few sets of random size pairs cannot be told from single actions
    run = tmp_path / "run"
    assert main(["balance", "run", str(file), "--out", str(run), "--parts", "screening", "--processes", "1"]) == 0
    assert "screening: 300 games" in capsys.readouterr().out
    assert main(["balance", "report", str(run), "--out", str(tmp_path / "report")]) == 0
    assert "Wrote" in capsys.readouterr().out
    assert "Pairs of actions are omitted: found " in (tmp_path / "report" / "balance.md").read_text("utf-8")
    assert (tmp_path / "report" / "balance.html").stat().st_size > 1000
    assert main(["balance", "run", str(file), "--out", str(run), "--parts", "scren"]) == 2
    assert "found 'scren', expected some of qualification, screening" in capsys.readouterr().err
    file.write_text(
        file.read_text("utf-8") + "variants: {player: gredy, components: [coats_inside], games: {2: 300}}\n",
        encoding="utf-8",
    )
    assert main(["balance", "run", str(file), "--out", str(tmp_path / "other")]) == 2
    assert "did you mean 'greedy'?" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.thorough
def test_a_handicap_moves_with_the_place_through_the_seats(tmp_path: Path) -> None:
    table = {"players": ["random"], "games": 12, "seats": 3, "handicap": {"denied": [["two_points", 3], [], [14]]}}
    plan = plan_from_dict({"matchups": [table]})
    run_arena(plan, tmp_path, processes=1)
    denied = decode_action_sets(load_run(tmp_path)[0].denied)
    assert denied.sum(axis=2).tolist() != [[2, 0, 1]] * 12
    for game in denied:
        assert sorted(np.flatnonzero(seat).tolist() for seat in game) == [[], [3, 14], [14]]
    assert (denied[:, :, 3].sum(axis=0) == 4).all()  # each seat equally often
    assert plan == type(plan).from_dict(plan.to_dict())
    with pytest.raises(ArenaError, match="expected 3 lists, one for each seat"):
        plan_from_dict({"matchups": [{**table, "handicap": {"denied": [[1]]}}]})
    with pytest.raises(ArenaError, match=r"found 'two_pints', .*did you mean 'two_points'"):
        plan_from_dict({"matchups": [{**table, "handicap": {"denied": [["two_pints"], [], []]}}]})
    with pytest.raises(DesignError, match=r"found \[\[1\]\]"):
        HandicapDesign(((1,),)).action_sets(np.arange(3), 2)


def test_the_forced_player_uses_the_action_as_soon_as_it_may() -> None:
    found = play_match(["forced:two_points:greedy", "greedy"], games=6, seed=2)
    use = int(action_table(HelsinkiConfig().component_set.types).offsets[KIND_USE]) + BOARD_ACTIONS.index("two_points")
    forced = found.players.index("forced:two_points:greedy")
    for record in found.records():
        seat = record.players.index(found.players[forced])
        for game, decision in replay_steps(record):
            if decision is not None and game.seat == seat and game.action_mask()[use]:
                assert decision == use
    for wrong in ("forced:two_points", "forced:two_pints:greedy", "forced"):
        with pytest.raises(PlayerError, match="expected an action"):
            make_player(wrong)
    with pytest.raises(PlayerError):
        make_player("forced:two_points:nobody")


@pytest.mark.thorough
def test_covered_sets_are_measured_one_by_one(tmp_path: Path) -> None:
    only = [0, 7, 1500, cover_index(FIRST_GAME)]
    table = {"players": ["greedy", "random"], "games": 80, "seats": 2, "cover": {"size": 5, "only": only}}
    run_arena(plan_from_dict({"matchups": [table]}), tmp_path, processes=1)
    games = load_run(tmp_path)[0]
    sets, group = group_by_cover(games)
    assert sorted(cover_index(int(covered)) for covered in sets) == sorted(only)
    found = group_measures(games, group, len(sets))
    for i in range(len(sets)):
        own = games.covered == sets[i]
        assert found["points"].mean[i] == pytest.approx(games.scores[own].mean())
        assert found["skill"].mean[i] == pytest.approx(
            100 * ((games.places[own] == 0) & (games.seating[own] == 0)).any(axis=1).mean() - 50
        )
    assert found["skill"].deals.tolist() == [10] * 4
    assert set(extreme_covers(games, 1, np.random.default_rng(1))) == set(only)

    # Two line-ups of three seats play the same deals: games of a deal count as one, whoever sits there.
    run_arena(plan_from_dict({"matchups": [table | {"games": 48, "seats": 3}]}), tmp_path / "three", processes=1)
    games = load_run(tmp_path / "three")[0]
    sets, group = group_by_cover(games)
    found = group_measures(games, group, len(sets))
    assert found["points"].deals.tolist() == [len(np.unique(games.deal[games.covered == one])) for one in sets]
    assert 2 * len(np.unique(games.deal)) == len(np.unique(games.block))
    own = games.covered == sets[0]
    means = [games.scores[own & (games.deal == deal)].mean() for deal in np.unique(games.deal[own])]
    assert found["points"].error[0] == pytest.approx(np.std(means, ddof=1) / math.sqrt(len(means)))


@pytest.mark.thorough
def test_the_naive_figure_compares_those_who_used_it(study: tuple[StudyConfig, Path, dict[str, Any]]) -> None:
    _, folder, _ = study
    table = load_run(folder / "screening")[1]
    share, usage = naive_effects(table)
    used, denied = decode_action_sets(table.used), decode_action_sets(table.denied)
    for action in (1, 14):
        won = {True: [0, 0], False: [0, 0]}
        for g in range(len(table)):
            for seat in range(2):
                if not denied[g, seat, action]:
                    kind = won[bool(used[g, seat, action])]
                    kind[0] += int(table.places[g, seat] == 0)
                    kind[1] += 1
        assert usage[action] == pytest.approx(won[True][1] / (won[True][1] + won[False][1]))
        assert share[action] == pytest.approx(100 * (won[True][0] / won[True][1] - won[False][0] / won[False][1]))


@pytest.mark.nightly
def test_a_planted_action_is_found_and_nothing_else(tmp_path: Path) -> None:
    """`two_points` gives five points, and whoever plays knows it.

    Other actions are too strong in the game as it is, too: what the plant changes is the difference to that.
    """
    games = {2: 24_000}
    changes = {
        "classes": [{"player": "greedy", "games": games}, {"player": "heuristic", "games": games}],
        "seed": 11,
        "variants": {},
        "qualification": {"games": 0},
    }
    found = {}
    for components in ("default", "two_points_worth_five"):
        config = played(tmp_path / components, ("screening",), components=components, **changes)
        found[components] = study_results(config, tmp_path / components)
    conclusion = {one["action"]: one["label"] for one in found["two_points_worth_five"]["conclusions"]}
    assert conclusion["two_points"] == "overpowered"
    for before, after in zip(*(data["screening"] for data in found.values()), strict=True):
        rise = {
            b["action"]: a["deviation"] - b["deviation"]
            for b, a in zip(before["actions"], after["actions"], strict=True)
        }
        others = [value for action, value in rise.items() if action != "two_points"]
        print(before["player"], {action: round(value, 1) for action, value in rise.items()})
        assert rise["two_points"] > 5
        assert max(others) < 1  # win-share points: the band within which differences do not count
