"""The configuration of a game: accepted values, storage, and messages for values that cannot be played."""

import dataclasses
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from helsinki_env import CopenhagenConfig
from helsinki_env.engine.spec import config_from_yaml
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, ComponentError, load_components
from helsinki_env.games.helsinki.config import REWARDS, ConfigError, HelsinkiConfig
from helsinki_env.utils.yaml_files import configs_folder, list_yaml

VARIED = {
    "num_players": 3,
    "covered": ["two_points", 0, "any_side"],
    "denied": [[], ["extra_card"], [14, 1]],
    "dry_roads": True,
    "components": "alternative",
    "reward": "margin",
}


def test_defaults() -> None:
    config = HelsinkiConfig()
    assert (config.num_players, config.covered, config.denied) == (2, (), ((), ()))
    assert (config.dry_roads, config.components, config.reward) == (False, "default", "win")
    assert config.component_set is load_components("default")


def test_actions_are_kept_as_ascending_ids() -> None:
    config = HelsinkiConfig.from_dict(VARIED)
    assert config.covered == (0, 2, 14)
    assert config.denied == ((), (3,), (1, 14))
    assert HelsinkiConfig(covered={"any_side", 0, 14}).covered == (0, 2, 14)
    assert HelsinkiConfig(covered=(name for name in BOARD_ACTIONS)).covered == tuple(range(15))


def test_numpy_integers_are_integers() -> None:
    config = HelsinkiConfig(num_players=np.int64(3), covered=np.array([4, 1]))
    assert (config.num_players, config.covered) == (3, (1, 4))
    assert type(config.num_players) is int
    assert all(type(action) is int for action in config.covered)
    assert config == HelsinkiConfig(num_players=3, covered=(1, 4))


@pytest.mark.parametrize(
    "value",
    [np.array(3), np.array("first_game"), np.array(None), np.array([[1]]), np.array([0.5]), np.array([True])],
    ids=repr,
)
def test_arrays_that_are_no_lists_of_actions_are_named(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"^covered(\[0\])?: found "):
        HelsinkiConfig(covered=value)
    with pytest.raises(
        ConfigError,
        match=r"^denied(\[0\](\[0\])?)?: found ",
    ):
        HelsinkiConfig(denied=value)


def test_arrays_of_actions_are_lists() -> None:
    assert HelsinkiConfig(covered=np.array(["any_side", "move_back"])).covered == (2, 10)
    assert HelsinkiConfig(covered=[np.array(3)]).covered == (3,)
    assert HelsinkiConfig(denied=np.array([[1], [2]])).denied == ((1,), (2,))
    assert HelsinkiConfig(denied=np.zeros((2, 0))).denied == ((), ())


@pytest.mark.parametrize("components", ["default", "alternative"])
def test_first_game_covers_the_bottom_row_as_printed(components: str) -> None:
    config = HelsinkiConfig(covered="first_game", components=components)
    assert {BOARD_ACTIONS[action] for action in config.covered} == set(load_components(components).action_rows[2])
    assert config == HelsinkiConfig(covered=load_components(components).action_rows[2], components=components)


def test_first_game_covers_10_to_14_by_default() -> None:
    assert HelsinkiConfig(covered="first_game").covered == (10, 11, 12, 13, 14)


@pytest.mark.parametrize("config", [HelsinkiConfig(), HelsinkiConfig.from_dict(VARIED)], ids=["default", "varied"])
def test_dict_pickle_and_hash_keep_it(config: HelsinkiConfig) -> None:
    for copy in (
        HelsinkiConfig.from_dict(config.to_dict()),
        HelsinkiConfig.from_dict(yaml.safe_load(yaml.safe_dump(config.to_dict()))),
        pickle.loads(pickle.dumps(config)),
        dataclasses.replace(config),
    ):
        assert copy == config
        assert hash(copy) == hash(config)
        assert copy.digest == config.digest
        assert copy.component_set == config.component_set


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        HelsinkiConfig().num_players = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "change",
    [
        {"num_players": 4},
        {"covered": [3]},
        {"denied": [[3], []]},
        {"denied": [[], [3]]},
        {"dry_roads": True},
        {"components": "alternative"},
        {"reward": "rank"},
    ],
    ids=str,
)
def test_each_value_counts_in_equality_and_digest(change: dict[str, Any]) -> None:
    assert HelsinkiConfig.from_dict(change) != HelsinkiConfig()
    assert HelsinkiConfig.from_dict(change).digest != HelsinkiConfig().digest


def test_the_digest_goes_by_the_content_of_the_component_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (configs_folder() / "components" / "default.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    config = HelsinkiConfig(components=path)
    assert config.components == str(path)
    assert config.digest == HelsinkiConfig().digest
    assert config != HelsinkiConfig()


def test_a_config_keeps_the_components_it_was_made_with(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (configs_folder() / "components" / "default.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    config = HelsinkiConfig(components=path)
    packed = pickle.dumps(config)
    path.unlink()
    assert config.component_set.deck_size(2) == 53
    assert pickle.loads(packed) == config


def test_changed_is_the_same_with_other_values() -> None:
    config = HelsinkiConfig.from_dict(VARIED)
    assert config.replace() == config
    assert config.replace(reward="win", covered="first_game") == HelsinkiConfig.from_dict(
        VARIED | {"reward": "win", "covered": "first_game"}
    )
    assert config.replace(num_players=3).denied == config.denied
    assert config.replace(num_players=4) == HelsinkiConfig.from_dict(VARIED | {"num_players": 4, "denied": None})
    assert config.replace(num_players=2, denied=[[1], []]).denied == ((1,), ())
    assert config.replace(components="default") == HelsinkiConfig.from_dict(VARIED | {"components": "default"})
    assert config.replace(components=Path("alternative")) == config
    assert config == HelsinkiConfig.from_dict(VARIED)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": 3}, r"players: no such key \(found 3\)"),
        ({"num_players": [3]}, "num_players: found [3]"),
        ({"num_players": np.zeros(2)}, "num_players: found array"),
        ({"denied": [[1]]}, "denied: found [[1]]"),
        ({"components": 3}, "components: found 3"),
        ({"dry_roads": 1}, "dry_roads: found 1"),
    ],
)
def test_changed_refuses_what_cannot_be_played(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message if "\\" in message else re.escape(message)):
        HelsinkiConfig.from_dict(VARIED).replace(**changes)


def test_changed_keeps_the_facts_that_were_loaded(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (configs_folder() / "components" / "default.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    config = HelsinkiConfig(components=path)
    path.write_text("rules: {}", encoding="utf-8")
    other = config.replace(num_players=4, dry_roads=True, covered=["two_points"])
    assert (other.component_set, other.num_players, other.covered) == (config.component_set, 4, (14,))
    assert other.replace(components=str(path)).component_set is config.component_set
    path.unlink()
    assert config.replace(reward="rank").tables is config.tables


def test_replace_keeps_the_facts_that_were_loaded(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = (configs_folder() / "components" / "default.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    config = HelsinkiConfig(components=path, denied=[[0], []])
    path.write_text("rules: {}", encoding="utf-8")
    other = dataclasses.replace(config, covered=(14,), reward="rank")
    assert other.component_set is config.component_set
    assert (other.covered, other.denied, other.reward) == ((14,), config.denied, "rank")
    assert dataclasses.replace(config) == config
    path.unlink()
    assert dataclasses.replace(other, components=str(path), dry_roads=True).component_set is config.component_set
    assert dataclasses.replace(config, components="default") == HelsinkiConfig(denied=[[0], []])


# YAML files


def test_shipped_files() -> None:
    assert {name: config_from_yaml(name) for name in list_yaml("game")} == {
        "copenhagen": CopenhagenConfig(),
        "default": HelsinkiConfig(),
        "dry_roads": HelsinkiConfig(dry_roads=True),
        "first_game": HelsinkiConfig(covered="first_game"),
        "four_players": HelsinkiConfig(num_players=4),
        "three_players": HelsinkiConfig(num_players=3),
    }


def test_the_default_file_writes_every_key() -> None:
    text = (configs_folder() / "game" / "default.yaml").read_text(encoding="utf-8")
    assert list(yaml.safe_load(text)) == list(HelsinkiConfig().to_dict())


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(VARIED), encoding="utf-8")
    assert HelsinkiConfig.from_yaml(path) == HelsinkiConfig.from_yaml(str(path)) == HelsinkiConfig.from_dict(VARIED)


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("num_players: 5", encoding="utf-8")
    with pytest.raises(ConfigError, match=f"^{re.escape(str(path))}: num_players: found 5, expected 2, 3 or 4$"):
        HelsinkiConfig.from_yaml(path)


def test_an_unknown_file_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"game: found 'dryroads', .*three_players; did you mean 'dry_roads'"):
        HelsinkiConfig.from_yaml("dryroads")


# Mistakes

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"players": 3}, "players: no such key (found 3)"),
    "key nearly right": ({"num_player": 3}, "reward; did you mean 'num_players'?"),
    "action nearly right": ({"covered": ["two_point"]}, "first_game; did you mean 'two_points'?"),
    "far from any key": ({"speed": 3}, "speed: no such key (found 3)"),
    "internal key": ({"_loaded": None}, "_loaded: no such key (found None)"),
    "one player": ({"num_players": 1}, "num_players: found 1"),
    "five players": ({"num_players": 5}, "num_players: found 5"),
    "players as text": ({"num_players": "3"}, "num_players: found '3'"),
    "players as truth": ({"num_players": True}, "num_players: found True"),
    "players as fraction": ({"num_players": 2.0}, "num_players: found 2.0"),
    "no players": ({"num_players": None}, "num_players: found None"),
    "unknown action": ({"covered": ["two_point"]}, "covered[0]: found 'two_point'"),
    "action too high": ({"covered": [0, 15]}, "covered[1]: found 15"),
    "action negative": ({"covered": [-1]}, "covered[0]: found -1"),
    "action as truth": ({"covered": [True]}, "covered[0]: found True"),
    "action as fraction": ({"covered": [1.0]}, "covered[0]: found 1.0"),
    "action twice": ({"covered": [3, "extra_card"]}, "covered[1]: found 'extra_card'"),
    "bare action": ({"covered": "two_points"}, "covered: found 'two_points'"),
    "nearly first_game": ({"covered": "first-game"}, "covered: found 'first-game'"),
    "a number": ({"covered": 3}, "covered: found 3"),
    "a mapping": ({"covered": {3: 4}}, "covered: found {3: 4}"),
    "nothing covered": ({"covered": None}, "covered: found None"),
    "one seat of two": ({"denied": [[3]]}, "denied: found [[3]]"),
    "three seats of two": ({"denied": [[], [], []]}, "denied: found [[], [], []]"),
    "no lists": ({"denied": [3, 4]}, "denied[0]: found 3"),
    "denied as text": ({"denied": "first_game"}, "denied: found 'first_game'"),
    "seat as text": ({"denied": ["first_game", []]}, "denied[0]: found 'first_game'"),
    "unknown denied action": ({"denied": [[], ["fly"]]}, "denied[1][0]: found 'fly'"),
    "denied twice": ({"denied": [[], [1, 1]]}, "denied[1][1]: found 1"),
    "dry roads as number": ({"dry_roads": 1}, "dry_roads: found 1"),
    "dry roads as text": ({"dry_roads": "yes"}, "dry_roads: found 'yes'"),
    "components as number": ({"components": 3}, "components: found 3"),
    "no components": ({"components": ""}, "components: found ''"),
    "unknown reward": ({"reward": "wins"}, "reward: found 'wins'"),
    "reward far off": ({"reward": "sparse"}, "reward: found 'sparse'"),
    "reward as number": ({"reward": 1}, "reward: found 1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_and_named(mistake: str) -> None:
    data, expected = MISTAKES[mistake]
    with pytest.raises(ConfigError, match=re.escape(expected)):
        HelsinkiConfig.from_dict(data)


def test_a_base_that_is_not_there_is_named_with_file_and_key(tmp_path: Path) -> None:
    (path := tmp_path / "comp.yaml").write_text("base: defualt")
    with pytest.raises(ComponentError, match=r"comp\.yaml: base: found 'defualt', expected .*did you mean 'default'"):
        HelsinkiConfig(components=path)


def test_a_component_file_that_is_not_there() -> None:
    with pytest.raises(ComponentError, match=r"components: found 'defualt'.*did you mean 'default'"):
        HelsinkiConfig(components="defualt")


@pytest.mark.parametrize("data", [None, [("num_players", 2)], "default"])
def test_from_dict_takes_a_mapping_only(data: Any) -> None:
    with pytest.raises(ConfigError, match=r"the configuration: found .* expected a mapping"):
        HelsinkiConfig.from_dict(data)


def test_all_rewards_are_taken() -> None:
    assert [HelsinkiConfig(reward=reward).reward for reward in REWARDS] == ["win", "rank", "margin"]


def test_tables_are_shared_and_not_pickled() -> None:
    config, other = HelsinkiConfig(num_players=2), HelsinkiConfig(num_players=4, dry_roads=True)
    before = len(pickle.dumps(config))
    assert config.tables is other.tables
    assert config.tables is not HelsinkiConfig(components="alternative").tables
    assert len(pickle.dumps(config)) == before
