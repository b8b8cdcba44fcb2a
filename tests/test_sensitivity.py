"""The analysis of reconstructed facts: component files with a base, and the comparison."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.cli.main import main
from helsinki_env.engine.component_reader import changed_fact
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.balance.sensitivity import SensitivityConfig, sensitivity_report_files
from helsinki_env.games.copenhagen.components import load_components as copenhagen_components
from helsinki_env.games.helsinki.components import ComponentError, load_components
from helsinki_env.utils.yaml_files import configs_folder, list_yaml
from tests.support.blocks import ROOT

ALTERNATIVES = sorted(path.stem for path in (configs_folder() / "components" / "alternatives").glob("*.yaml"))


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_a_file_with_a_base_holds_only_what_differs(tmp_path: Path) -> None:
    mine = load_components(written(tmp_path, "base: default\nboard: {crosswalks: [[0, 2], [2, 6], [6, 4], [4, 0]]}\n"))
    base = load_components("default")
    assert mine.crosswalks == (2, 20, 46, 28)
    assert mine.coats == base.coats
    assert mine.variants == base.variants


def test_null_removes_a_key(tmp_path: Path) -> None:
    text = "base: default\nshapes: {Z5: null}\ntiles: {shapes: {yellow: [I2, L3, S4, P5]}}\n"
    assert "Z5" not in load_components(written(tmp_path, text)).shapes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base: nowhere\n", "base: found 'nowhere'"),
        ("base: coats_inside\n", "base: found 'coats_inside', expected a file without a base"),
        ("base: 3\n", "base: found 3, expected the name of a file in configs/components"),
        ("base: default\nboard: {coats: [[9, 9]]}\n", "board.coats"),
        ("base: default\nbord: {}\n", "bord"),
    ],
)
def test_a_wrong_base_or_change_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ComponentError) as error:
        load_components(written(tmp_path, text))
    assert message in str(error.value)


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_every_alternative_is_valid_and_differs_from_its_base(name: str) -> None:
    load, base = (
        (copenhagen_components, "copenhagen") if name.startswith("copenhagen") else (load_components, "default")
    )
    assert load(f"alternatives/{name}").digest != load(base).digest


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "page", "without_effect"),
    [("helsinki", "rules.md", {"fifth color"}), ("copenhagen", "rules-copenhagen.md", set())],
)
def test_every_reconstructed_fact_has_three_alternatives(name: str, page: str, without_effect: set[str]) -> None:
    config = SensitivityConfig.from_yaml(name)
    facts = [one.fact for one in config.alternatives]
    assert len(facts) >= 20
    assert {fact: facts.count(fact) >= 3 for fact in facts} == dict.fromkeys(facts, True)
    section = re.split(r"\n## \d+\. ", (ROOT / "docs" / page).read_text(encoding="utf-8"))[11]
    rows = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| ")][2:]
    listed = {fact.strip() for fact, _, where in rows if where.strip() != "fixed"}
    assert listed - without_effect == set(facts)
    assert {one.components.removeprefix("alternatives/") for one in config.alternatives} <= {
        *ALTERNATIVES,
        *list_yaml("components"),
    }


def test_a_file_that_says_no_fact_is_no_alternative() -> None:
    with pytest.raises(ComponentError, match="fact: found nothing"):
        changed_fact("default", ComponentError)


def test_conclusions_hold_are_open_or_are_contradicted() -> None:
    from helsinki_env.evaluation.balance.sensitivity import find_conclusions

    def measured(low: float, high: float) -> dict[str, dict[str, list[float]]]:
        return {"claims": {"move_back": [(low + high) / 2, low, high], "seat 1": [0.0, -1.0, 1.0]}}

    table = {
        "name": "2 players",
        "unaffected": ["with the same rules"],
        "measured": {
            "with the same rules": measured(1.0, 2.0),
            "default": measured(-5.0, -3.0),
            "same": measured(-9.0, -1.0),
            "unclear": measured(-3.0, 1.0),
            "opposite": measured(1.0, 2.0),
            "smaller": measured(-2.5, -0.5),
        },
    }
    assert list(find_conclusions("default", table)) == [
        {
            "matchup": "2 players",
            "claim": "move_back",
            "estimate": [-4.0, -5.0, -3.0],
            "range": [-5.0, 1.5],
            "holds": ["same", "smaller"],
            "open": ["unclear"],
            "contradicted": ["opposite"],
            "differs": ["unclear", "opposite", "smaller"],
        }
    ]


@pytest.mark.parametrize("name", ["helsinki", "copenhagen"])
def test_unaffected_matchups_are_the_same_games(name: str) -> None:
    """Random actions lead to the same observations, unless the alternative only exchanges the numbers of actions."""
    analysis = SensitivityConfig.from_yaml(name)
    configs = {table.name: table.config for table in analysis.plan.matchups}
    differs = {"removed cards", "hands dealt", "card counts"}  # in the first observations, if at all
    for table, unaffected in zip(analysis.matchups, analysis.unaffected, strict=True):
        expected = random_games(configs[f"{table['name']} / {analysis.reference}"])
        for one in analysis.alternatives:
            case = table["name"], one.components
            if one.fact == "order of the action board":
                assert (one.components in unaffected) == ("covered" not in table["game"]), case
            elif one.components in unaffected or one.fact in differs:
                same = random_games(configs[f"{table['name']} / {one.components}"]) == expected
                assert same == (one.components in unaffected), case


def random_games(config: Any) -> list[bytes]:
    """Return all observations of some games of random actions."""
    seen = []
    for seed in range(6):
        rng, game = np.random.default_rng(seed), spec_of(config).game(config, seed=seed)
        while not game.done:
            seen.append(game.observation().tobytes())
            game.step(int(rng.choice(np.flatnonzero(game.action_mask()))))
    return seen


def test_a_report_of_unfinished_games_leaves_out_what_is_missing() -> None:
    data = json.loads((ROOT / "docs" / "balance" / "sensitivity" / "copenhagen.json").read_text())
    whole = sensitivity_report_files(data, "whole", "Whole")[Path("whole.md")].decode()
    for table in data["matchups"]:
        del table["measured"][table["unaffected"][0]]
    part = sensitivity_report_files(data, "part", "Part")[Path("part.md")].decode()
    counts = [int(re.findall(r"Of (\d+) more comparisons with unchanged rules", text)[0]) for text in (whole, part)]
    assert counts[0] > counts[1] > 0


FILE = """
seed: 1
reference: default
alternatives: [coats_inside, two_points]
matchups:
  - name: ladder
    game: {game: helsinki, num_players: 2}
    games: 60
    players: [random, greedy]
  - name: two points
    game: {game: helsinki, num_players: 2}
    games: 600
    players: [greedy]
    boards: {denied: [0, 9]}
"""


@pytest.mark.thorough
def test_the_command_finds_a_planted_dependence(tmp_path: Path) -> None:
    strong = written(tmp_path, "base: default\nfact: a test\nreason: a test\nactions: {two_points: {strength: 9}}\n")
    file = tmp_path / "planted.yaml"
    file.write_text(FILE.replace("two_points]", f"{strong}]"))
    command = ["balance", "sensitivity", str(file), "--out", str(tmp_path / "out"), "--processes", "1"]
    assert main(command) == 0
    report = tmp_path / "out" / "report"
    data = json.loads((report / "planted.json").read_text())
    measured = data["matchups"][1]["measured"]
    worth = {name: one["claims"]["two_points"] for name, one in measured.items()}
    assert worth[str(strong)][1] > worth["default"][2]  # the intervals do not overlap
    assert data["conclusions"][0]["claim"] == "greedy over random"
    assert {"seat 1", "seat 2"} & set(measured["default"]["claims"]) == {"seat 1"}  # the second has the other sign
    assert data["conclusions"][0]["holds"] == ["coats_inside", str(strong)]
    page = (report / "planted.md").read_bytes()
    assert b"| greedy over random |" in page
    assert main(command) == 0
    assert (report / "planted.md").read_bytes() == page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 1", "seed: -1", "seed: found -1"),
        ("reference: default", "reference: nowhere", "nowhere"),
        ("reference: default", "reference: [default]", "reference: found ['default'], expected a component file"),
        ("[coats_inside, two_points]", "[default]", "expected each file once, and not the reference"),
        ("[coats_inside, two_points]", "[coats_inside, coats_inside]", "each file once"),
        ("reference: default", "reference: coats_inside", "each file once, and not the reference"),
        ("[coats_inside, two_points]", "[]", "alternatives"),
        ("num_players: 2}\n    games: 60", "components: default}\n    games: 60", "matchups[0].game.components"),
        ("players: [greedy]", "players: [nobody]", "nobody"),
        ("games: 60\n", "games: 60\n    unaffected: [default]\n", "matchups[0].unaffected[0]: found 'default'"),
        ("games: 600", "games: many", "wrong.yaml: matchups[1].games: found 'many'"),
        ("games: 60\n", "games: 2\n", "matchups[0].games: found 2, expected at least 40, 20 deals"),
        ("games: 600", "games: 298", "matchups[1].games: found 298, expected at least 300, 150 deals"),
    ],
)
def test_wrong_files_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    text = FILE.replace(old, new).replace(", two_points]", "]")
    assert text != FILE.replace(", two_points]", "]") or "two_points]" in old
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    assert main(["balance", "sensitivity", str(file), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
