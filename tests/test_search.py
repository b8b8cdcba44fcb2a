"""Searches for changes of the components, with simulated measurements and with games that are really played."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import yaml

from helsinki_env import HelsinkiConfig
from helsinki_env.data import UserError
from helsinki_env.evaluation.arena.run import reuse_workers, run_arena
from helsinki_env.evaluation.balance.objectives import GROUPS, MeasurementName, Measurements
from helsinki_env.evaluation.balance.search import (
    Measure,
    MeasurementModel,
    SearchConfig,
    SearchError,
    SearchResult,
    Variant,
    count_changes,
    estimate_effects,
    measure_by_playing,
    search,
)
from helsinki_env.evaluation.balance.search_report import search_report_files, search_results
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS
from tests.support.killed import killed_while_it_plays

Array = npt.NDArray[np.float64]
OBJECTIVES = """
seed: 5
matchups:
  - {name: two, game: {game: helsinki, num_players: 2}, games: 80, players: [heuristic], boards: {denied: [0, 9]}}
aims:
  - {measure: effects, at_most: 1, weight: 2}
  - {measure: rounds, at_least: 14, at_most: 18}
"""
SEARCH = """
objectives: OBJECTIVES
changes:
  actions.two_points.strength: [1, 3]
  actions.two_points.cost: [0, 2]
  actions.two_wild_tiles.cost: [0, 2]
  actions.extra_card.cost: [0]
  actions.move_back.cost: [0]
  actions.one_card_fewer.cost: [0, 2]
  superstructures: [24, 36]
  tiles.wild: [8, 16]
most: 2
games: {search: 1, test: 20}
variants: {random: 16, rounds: 3, in_each_round: 4}
"""
NAMES = [
    *(MeasurementName(0, "two", f"effect of {action}") for action in BOARD_ACTIONS),
    MeasurementName(1, "two", "rounds"),
]
#: Standard errors of the measurements in the games of one variant, about those of 600 real games.
NOISE = np.array([3.0] * len(BOARD_ACTIONS) + [0.3])


def written(folder: Path, old: str = "", new: str = "") -> Path:
    """Write the objectives and the search, with one text replaced, and return the path of the search."""
    (folder / "objectives.yaml").write_text(OBJECTIVES)
    file = folder / "mine.yaml"
    text = SEARCH.replace("OBJECTIVES", str(folder / "objectives.yaml"))
    assert old in text
    file.write_text(text.replace(old, new) if old else text)
    return file


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> SearchConfig:
    return SearchConfig.from_yaml(written(tmp_path_factory.mktemp("search")))


def with_seed(config: SearchConfig, seed: int) -> SearchConfig:
    return replace(config, objectives=replace(config.objectives, seed=seed))


def simulated(truth: Callable[[Variant], Array], parts: list[str] | None = None) -> Measure:
    """Return a function that measures variants without games: the truth with normal noise."""

    def measure(part: str, variants: Sequence[Variant], seed: int, share: float) -> list[Measurements]:
        if parts is not None:
            parts.append(part)
        found: list[Measurements] = []
        for variant in variants:
            generator = np.random.default_rng([seed, zlib.crc32(str(variant).encode()), len(found)])
            noise = NOISE * np.sqrt(GROUPS / share)
            groups = truth(variant) + noise * generator.standard_normal((GROUPS, len(NAMES)))
            without = (groups.sum(axis=0) - groups) / (GROUPS - 1)
            found.append(Measurements(NAMES, np.concatenate([groups.mean(axis=0)[None], without]), round(80 * share)))
        return found

    return measure


def alike(_: Variant) -> Array:
    """Meet all aims with any changes."""
    return np.array([0.0] * len(BOARD_ACTIONS) + [16.0])


def too_strong(config: SearchConfig) -> Callable[[Variant], Array]:
    """Let 'two points' be 12 points too strong unless it costs 2, which also shortens the game a little."""
    cost = [parameter.name for parameter in config.parameters].index("actions.two_points.cost")

    def truth(variant: Variant) -> Array:
        values = alike(variant)
        values[14] = 0.0 if variant[cost] == 2 else 14.0 if variant[cost] == 1 else 12.0
        values[:15] -= values[:15].mean()
        values[15] -= 0.2 * count_changes(variant)
        return values

    return truth


def found_by(config: SearchConfig, truth: Callable[[Variant], Array]) -> SearchResult:
    return search(config, simulated(truth), lambda variant: True)


def test_a_search_finds_the_change_that_corrects_a_strong_action(config: SearchConfig) -> None:
    result = found_by(config, too_strong(config))
    assert result.proposal is not None
    assert "actions.two_points.cost: 2" in config.describe(result.proposal.variant)
    assert result.proposal.low > 0
    assert result.proposal.score < result.tested[0].score
    gains = dict(zip(config.changes, result.changes, strict=True))
    best = max(gains, key=lambda change: gains[change][0])
    assert config.describe(config.change(config.unchanged, *best)) == "actions.two_points.cost: 2"


def test_a_search_proposes_nothing_for_a_game_that_meets_all_aims(config: SearchConfig) -> None:
    assert [found_by(with_seed(config, 100 * seed), alike).proposal for seed in range(5)] == [None] * 5


@pytest.mark.nightly
def test_intervals_of_improvements_hold_and_few_searches_err(config: SearchConfig) -> None:
    wrong, held, found = 0, 0, 0
    truth, noise = too_strong(config), np.random.default_rng(0)

    @cache
    def expected(variant: Variant) -> float:
        """Return the expected score in the final test; noise adds to the score of a game that meets its aims."""
        values = truth(variant) + NOISE / np.sqrt(config.test) * noise.standard_normal((20000, len(NAMES)))
        return float(config.objectives.penalties(NAMES, values).mean())

    for seed in range(200):
        wrong += found_by(with_seed(config, 100 * seed), alike).proposal is not None
        result = found_by(with_seed(config, 100 * seed), truth)
        before = expected(config.unchanged)
        held += all(one.low <= before - expected(one.variant) <= one.high for one in result.tested[1:])
        found += result.proposal is not None and before - expected(result.proposal.variant) > 1
    print(f"of 200 searches: {wrong} wrong proposals, intervals held in {held}, change found in {found}")
    assert wrong <= 15  # 5% in expectation; more than 15 with probability 5%
    assert held >= 183
    assert found == 200


def test_a_change_without_effect_is_measured_as_no_change(tmp_path: Path) -> None:
    """Component files share deals, denied actions and the random streams of players."""
    config = SearchConfig.from_yaml(written(tmp_path))
    index = [config.describe(config.change(config.unchanged, *one)) for one in config.changes].index
    more = config.change(config.unchanged, *config.changes[index("superstructures: 36")])
    dear = config.change(config.unchanged, *config.changes[index("actions.two_points.cost: 2")])
    measure = measure_by_playing(config, tmp_path, lambda part, plan: run_arena(plan, tmp_path / part, processes=1))
    with reuse_workers():
        first, other, third = measure("test", [config.unchanged, more, dear], 6, 1.0)
    assert np.array_equal(first.values, other.values)
    assert not np.array_equal(first.values, third.values)


def test_the_search_plays_its_parts_in_order_with_other_deals(config: SearchConfig) -> None:
    parts: list[str] = []
    seeds: list[int] = []
    inner = simulated(alike, parts)

    def measure(part: str, variants: Sequence[Variant], seed: int, share: float) -> list[Measurements]:
        seeds.append(seed)
        assert share == (20 if part == "test" else 1)
        assert all(count_changes(one) <= config.most for one in variants) or part == "random"
        return inner(part, variants, seed, share)

    result = search(config, measure, lambda variant: True)
    assert parts == ["random", "round-1", "round-2", "round-3", "test"]
    assert seeds == [6, 6, 6, 6, 7]
    assert result.played[0].variant == config.unchanged
    assert result.games == 80 * len(result.played) + 1600 * len(result.tested)


def test_all_parameters_change_equally_often_in_random_variants(config: SearchConfig) -> None:
    variants = np.array(config.random_variants(np.random.default_rng(1)))
    assert variants.shape == (16, 8)
    assert set((variants > 0).sum(axis=0)) == {8}
    for column, parameter in zip(variants.T, config.parameters, strict=True):
        assert {(column == n).sum() for n in range(1, len(parameter.alternatives) + 1)} == {
            8 // len(parameter.alternatives)
        }


def test_no_variant_is_played_twice(config: SearchConfig) -> None:
    """The variants share their games, so a second time would be no new information."""
    few = replace(config, parameters=config.parameters[:2], random=40)
    result = found_by(few, alike)
    variants = [one.variant for one in result.played]
    assert len(variants) == len(set(variants)) == 9
    assert result.effects is None  # too few different variants


def test_changes_that_are_invalid_together_waste_no_round(config: SearchConfig) -> None:
    strong = too_strong(config)

    def truth(variant: Variant) -> Array:
        values = strong(variant)
        values[3] -= 6.0 * (variant[2] == 1)  # another change would help as well
        return values

    def valid(variant: Variant) -> bool:
        return count_changes(variant) <= 1

    result = search(config, simulated(truth), valid)
    assert all(valid(one.variant) for one in result.played)
    later = [one.variant for one in result.played if one.part != "random"]
    assert len(later) == len(set(later)) > 0
    assert config.unchanged not in later


def test_invalid_combinations_are_not_played(config: SearchConfig) -> None:
    def measure(part: str, variants: Sequence[Variant], seed: int, share: float) -> list[Measurements]:
        assert all(variant[0] == 0 for variant in variants)
        return simulated(too_strong(config))(part, variants, seed, share)

    search(config, measure, lambda variant: variant[0] == 0)


def test_neighbors_have_one_other_change(config: SearchConfig) -> None:
    alone = config.neighbors(config.unchanged)
    assert len(alone) == len(config.changes) == 14
    assert all(count_changes(one) == 1 for one in alone)
    full = config.change(config.change(config.unchanged, 0, 1), 4, 1)
    near = config.neighbors(full)
    assert full not in near
    assert all(count_changes(one) <= 2 for one in near)
    assert all(sum(a != b for a, b in zip(one, full, strict=True)) <= 2 for one in near)
    assert config.change(config.change(config.unchanged, 0, 2), 4, 1) in near


def test_content_has_the_changes(config: SearchConfig, tmp_path: Path) -> None:
    variant = config.change(config.change(config.unchanged, 0, 2), 6, 1)
    assert config.describe(variant) == "actions.two_points.strength: 3, superstructures: 24"
    content = config.content(variant)
    assert content == {"base": "default", "actions": {"two_points": {"strength": 3}}, "superstructures": 24}
    assert config.content(config.unchanged) == "default"
    file = written(tmp_path, "most: 2", "files: {shapes: [other_shapes]}\nmost: 2")
    file.write_text(file.read_text().replace("superstructures: [24, 36]", "superstructures: [36]"))
    shapes = SearchConfig.from_yaml(file)
    content = shapes.content((0,) * 6 + (1, 0, 1))
    assert isinstance(content, dict)
    alone = yaml.safe_load(Path("configs/components/other_shapes.yaml").read_text())
    assert content["shapes"] == alone["shapes"]  # with the keys that it removes
    assert content["superstructures"] == 36
    other = SearchConfig.from_yaml(written(tmp_path, "most: 2", "files: {cards: [fewer_superstructures]}\nmost: 2"))
    variant = (*variant, 1)
    assert other.describe(variant).endswith("superstructures: 24, fewer_superstructures")
    content = other.content(variant)
    assert not isinstance(content, str)
    assert content["superstructures"] == 24
    assert (
        content["cards"] == yaml.safe_load(Path("configs/components/fewer_superstructures.yaml").read_text())["cards"]
    )
    assert other.is_valid(variant)


def test_effects_of_random_changes_are_unbiased_and_their_intervals_hold(config: SearchConfig) -> None:
    generator = np.random.default_rng(3)
    truth = generator.normal(size=(len(config.changes), 40))
    features = config.features([config.unchanged, *replace(config, random=60).random_variants(generator)])
    found = np.array(
        [estimate_effects(features, features @ truth + generator.normal(size=(61, 40))) for _ in range(50)]
    )
    assert found[:, 0].mean(axis=0) == pytest.approx(truth, abs=0.3)  # the largest of 560 means of 50 estimates
    held = (np.abs(found[:, 0] - truth) <= found[:, 1]).all(axis=1)  # (50, M): simultaneously for all changes
    assert held.mean() == pytest.approx(0.96, abs=0.02)
    assert estimate_effects(features[:20], features[:20] @ truth) is None
    assert estimate_effects(np.zeros((40, 2)), np.zeros((40, 3))) is None


def test_the_model_is_bayesian_regression_with_the_most_likely_prior(config: SearchConfig) -> None:
    generator = np.random.default_rng(4)
    model = MeasurementModel(config)
    truth = generator.normal(size=(len(config.changes), len(NAMES)))
    variants = [config.unchanged, *config.random_variants(generator), *config.random_variants(generator)]
    for variant in variants:
        values = config.features([variant])[0] @ truth + generator.normal(size=len(NAMES))
        model.add(variant, Measurements(NAMES, np.tile(values, (1 + GROUPS, 1)), 80))
    model.fit()
    alone = [config.unchanged, *(config.change(config.unchanged, *change) for change in config.changes)]

    def effects(predict: Callable[[Sequence[Variant]], Array]) -> Array:
        predicted = predict(alone)
        of_one: Array = predicted[1:, 3] - predicted[0, 3]
        return of_one

    x = config.features(variants)
    x, y = x - x.mean(axis=0), model.values[:, 3] - model.values[:, 3].mean()
    found = {}
    for ratio in np.logspace(-2, 4, 25):
        covariance = np.linalg.inv(x.T @ x + ratio * np.eye(len(x.T)))
        noise = y @ (y - x @ covariance @ x.T @ y) / (len(y) - 1)
        likelihood = -(len(y) - 1) * np.log(noise) + np.linalg.slogdet(ratio * covariance)[1]
        found[likelihood] = covariance @ x.T @ y, noise * covariance
    mean, covariance = found[max(found)]
    assert effects(model.draw()) == pytest.approx(mean)
    draws = np.array([effects(model.draw(generator)) for _ in range(4000)])
    assert draws.mean(axis=0) == pytest.approx(mean, abs=0.1)
    assert np.cov(draws.T) == pytest.approx(covariance, abs=0.1 * covariance.max())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "strength: [1, 3]",
            "strength: [1, 2]",
            "changes.actions.two_points.strength[1]: found 2, expected a change of default",
        ),
        ("strength: [1, 3]", "strength: [1, 99]", "two_points.strength: found 99"),
        ("strength: [1, 3]", "strength: []", "changes.actions.two_points.strength: found"),
        ("superstructures: [24, 36]", "superstructure: [24, 36]", "superstructure"),
        (
            "most: 2",
            "files: {cells: [copenhagen]}\nmost: 2",
            "files.cells[0]: found 'copenhagen', expected a component file",
        ),
        ("most: 2", "files: {tiles.wild: [coats_inside]}\nmost: 2", "files.tiles.wild: found"),
        ("[8, 16]", str([*range(301)]), "changes.tiles.wild: found a list of 301, expected a list of at most 300"),
        ("[8, 16]", str([*range(290)]), "changes: found 302, expected at most 300 alternatives in all"),
        ("[8, 16]", "[8, 8]", "changes.tiles.wild[1]: found 8, expected a change other than tiles.wild: 8"),
        (
            "tiles.wild: [8, 16]",
            "tiles.wild: [8]\n  tiles: [{wild: 16}]",
            "changes.tiles: found a change of tiles.wild, expected a part of the components that 'tiles.wild' does not",
        ),
        ("tiles.wild", "tiles..wild", "changes.tiles..wild: found 'tiles..wild', expected a name"),
        ("tiles.wild", "1", "changes.1: found 1, expected a name"),
        ("[8, 16]", "[{1: 8, a: 3}]", "changes.tiles.wild[0]: found 1, expected keys that are text"),
        ("[8, 16]", "[99]", "changes.tiles.wild[0]: tiles.wild: found 99"),
        ("changes:", "components: defualt\nchanges:", "components: components: found 'defualt'"),
        ("changes:", "components: copenhagen\nchanges:", "expected one of total, copies, shapes, wild"),
        ("objectives.yaml", "missing.yaml", "objectives: objectives: found"),
        ("most: 2", "most: 0", "most: found 0"),
        ("most: 2", "least: 2", "(found 2), expected"),
        ("random: 16", "random: 1", "variants.random: found 1"),
        ("random: 16", "random: 400", "variants.random: found 400, expected at most 332, because each variant plays 3"),
        ("search: 1", "search: 0", "games.search: found 0"),
        ("search: 1", "search: 999999", "games.search: found 999999, expected a number"),
        ("test: 20", "test: 999", "games.test: found 999, expected at most 125: 3 variants may play 30,000,000 games"),
        ("in_each_round: 4", "in_each_round: x", "variants.in_each_round: found 'x'"),
    ],
)
def test_wrong_files_are_explained(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, old, new)
    if "999," not in new and "test: 999" in new:
        (tmp_path / "objectives.yaml").write_text(OBJECTIVES.replace("games: 80", "games: 80000"))
    if "400" in new:  # three matchups
        text = OBJECTIVES.splitlines()
        table = text[3]
        text[3:4] = [table, table.replace("two", "three"), table.replace("two", "four")]
        (tmp_path / "objectives.yaml").write_text("\n".join(text))
    with pytest.raises(UserError) as error:
        SearchConfig.from_yaml(path)
    assert message in str(error.value)
    assert "mine.yaml" in str(error.value)


def test_messages_do_not_name_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "with a space").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "with a space")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "link"))
    path = written(tmp_path, "[8, 16]", "[99]")
    with pytest.raises(UserError) as error:
        SearchConfig.from_yaml(path)
    assert str(error.value).startswith(f"{path}: changes.tiles.wild[0]: tiles.wild: found 99, expected")


def test_actions_of_the_test_are_those_of_the_search(config: SearchConfig) -> None:
    whole = simulated(alike)

    def measure(part: str, variants: Sequence[Variant], seed: int, share: float) -> list[Measurements]:
        found = whole(part, variants, seed, share)
        return found if part == "test" else [Measurements(f.names[1:], f.values[:, 1:], f.games) for f in found]

    with pytest.raises(SearchError, match="two: found actions that are denied only in the search or only in"):
        search(config, measure, lambda variant: True)


def test_the_bundled_searches_are_valid() -> None:
    found = SearchConfig.from_yaml("standard")
    assert len(found.parameters) == 25
    assert found.objectives_name == "standard"
    assert len(SearchConfig.from_yaml("components").parameters) == 13
    assert len(SearchConfig.from_yaml("components-copenhagen").parameters) == 14


def test_files_of_two_parts_change_different_values(tmp_path: Path) -> None:
    """Otherwise, the later file would replace the change of the earlier one."""
    both = "files: {list: [fewer_superstructures], removed: [alternatives/other_cards_removed]}\nmost: 2"
    with pytest.raises(
        UserError, match=r"removed: found a change of cards\.variants, expected .* 'list' does not change"
    ):
        SearchConfig.from_yaml(written(tmp_path, "most: 2", both))


@pytest.mark.thorough
def test_played_searches_reuse_their_games_and_write_a_report(tmp_path: Path) -> None:
    file = written(tmp_path, "random: 16, rounds: 3, in_each_round: 4", "random: 30, rounds: 1, in_each_round: 2")
    config = replace(SearchConfig.from_yaml(file), test=1.0)
    played: list[str] = []

    def play(part: str, plan: object) -> None:
        run_arena(plan, tmp_path / "run" / part, processes=1, progress=lambda games: played.append(part))  # type: ignore[arg-type]

    def run() -> SearchResult:
        measure = measure_by_playing(config, tmp_path / "run", play)
        return search(config, measure, config.is_valid)

    with reuse_workers():
        result = run()
        assert set(played) == {"random", "round-1", "test"}
        played.clear()
        assert repr(run()) == repr(result)
    assert played == []
    proposed = replace(result, proposal=result.tested[1])
    files = search_report_files(
        config, proposed, search_results(config, proposed, {"environment": "", "package": "", "command": ""})
    )
    (tmp_path / "proposal.yaml").write_bytes(files[Path("proposal.yaml")])
    assert config.is_valid(result.tested[1].variant)
    assert HelsinkiConfig(components=str(tmp_path / "proposal.yaml")).digest != HelsinkiConfig().digest
    page = files[Path("search.md")].decode()
    assert config.describe(result.tested[1].variant).split(":")[0] in page.replace("\\", "")
    assert "### two\n\n| change | rounds |" in page
    data = json.loads(files[Path("search.json")])
    assert np.array(data["effects"]).shape == (2, 14, 16)
    assert len(data["measurements"]) == 16
    assert len(data["played"]) == len(result.played)


def test_a_folder_belongs_to_one_search(config: SearchConfig, tmp_path: Path) -> None:
    config.open(tmp_path)
    replace(config, rounds=9).open(tmp_path)  # without games, the search may still change
    config.open(tmp_path)
    (tmp_path / "random").mkdir()
    config.open(tmp_path)
    with pytest.raises(SearchError, match="rounds: found 9, expected 3 as for the earlier results"):
        replace(config, rounds=9).open(tmp_path)
    with pytest.raises(SearchError, match=r"objectives\.seed: found 8, expected 5 as for the earlier results"):
        with_seed(config, 8).open(tmp_path)
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(SearchError, match=r"settings\.json: cannot be read as JSON: .*; restore the file, or choose"):
        config.open(tmp_path)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "settings.json").write_text("{}")
    with pytest.raises(SearchError, match=r"settings\.json: found another file, expected the settings of a search"):
        config.open(foreign)
    assert (foreign / "settings.json").read_text() == "{}"


@pytest.mark.thorough
def test_a_killed_search_is_resumed_with_the_same_result(tmp_path: Path) -> None:
    file = written(tmp_path, "random: 16, rounds: 3, in_each_round: 4", "random: 4, rounds: 1, in_each_round: 2")
    file.write_text(file.read_text().replace("test: 20", "test: 4"))
    command = ["balance", "search", str(file), "--out"]
    killed_while_it_plays([*command, str(tmp_path / "other")], tmp_path / "other" / "round-1")
    for name in ("one", "other"):
        words = [sys.executable, "-m", "helsinki_env.cli.main", *command, str(tmp_path / name), "--processes", "1"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "report").rglob("*") if path.is_file()}
        for name in ("one", "other")
    )
    assert one.keys() == other.keys()
    assert all(text.replace(b"/one", b"/other") == other[name] for name, text in one.items())
