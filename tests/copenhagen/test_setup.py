"""Component files and configurations of Copenhagen: values, messages, and games with other facts."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from helsinki_env.games.copenhagen.components import ComponentError, load_components
from helsinki_env.games.copenhagen.config import ConfigError, CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.state import GAME
from helsinki_env.utils.yaml_files import configs_folder

SHIPPED = yaml.safe_load((configs_folder() / "components" / "copenhagen.yaml").read_text(encoding="utf-8"))


def written(folder: Path, **changes: Any) -> Path:
    """A component file with other values: a dot in a key is written `__`."""
    data = yaml.safe_load(yaml.safe_dump(SHIPPED))
    for key, value in changes.items():
        inner = data
        *way, last = key.split("__")
        for name in way:
            inner = inner[name]
        inner[last] = value
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tiles__drawings__blue": ["BW", "WW/B.", "..W/BWW"]}, r"tiles.drawings.blue: found .* list of 4 drawings"),
        ({"tiles__drawings__blue": ["WW", "WW/B.", "..W/BWW", "BWWWW"]}, r"blue\[0\]: found 'WW'"),
        ({"tiles__drawings__blue": ["BWW", "WW/B.", "..W/BWW", "BWWWW"]}, r"blue\[0\]: found 'BWW'"),
        ({"tiles__drawings__red": ["B./.W", "WW/B.", "WW/BW", "BWWWW"]}, r"red\[0\]: .* connected edge to edge"),
        ({"tiles__drawings__red": ["BW.", "WW/B.", "WW/BW", "BWWWW"]}, r"red\[0\]: found 'BW\.'"),
        ({"tiles__drawings__red": ["BX", "WW/B.", "WW/BW", "BWWWW"]}, r"red\[0\]: found 'BX'"),
        ({"tiles__copies__players_2": [2, 2, 2]}, "tiles.copies.players_2: found"),
        ({"tiles__white": 46}, "tiles.white: found 46"),
        ({"cards__copies__players_3": 2}, "cards.copies.players_3: found 2"),
        ({"cards__hands": [2, 3, 3, 8]}, r"cards.hands\[3\]: found 8"),
        ({"cards__last": 0}, "cards.last: found 0"),
        ({"board__coats": [[2, 2], [2, 2]]}, r"board.coats\[1\]: .* expected a cell that is not in the list"),
        ({"board__coats": [[5, 0]]}, r"board.coats\[0\]\[0\]: found 5"),
        ({"board__coat_rows": [9]}, r"board.coat_rows\[0\]: found 9"),
        ({"board__coat_rows": [1, 1]}, r"board.coat_rows\[1\]: found 1"),
        ({"rules__goal": 0}, "rules.goal: found 0"),
        ({"rules__bonus": 1}, "rules.bonus: no such key"),
    ],
)
def test_mistakes_in_a_component_file_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ComponentError, match=message):
        load_components(written(tmp_path, **changes))


def test_a_component_file_that_is_not_there() -> None:
    with pytest.raises(ComponentError, match=r"components: found 'copenhagn', .*did you mean 'copenhagen'"):
        load_components("copenhagn")


def test_components_are_values(tmp_path: Path) -> None:
    box = load_components()
    assert pickle.loads(pickle.dumps(box)) == box
    assert load_components(written(tmp_path)).digest == box.digest
    assert load_components(written(tmp_path, rules__goal=13)).digest != box.digest


def play(config: CopenhagenConfig, seed: int) -> CopenhagenGame:
    game, rng = CopenhagenGame(config, seed=seed), np.random.default_rng(seed)
    while not game.done:
        game.step(int(rng.choice(game.legal_actions())))
        assert CopenhagenGame.from_dict(game.to_dict()) == game
    return game


def test_another_box_is_played_by_its_numbers(tmp_path: Path) -> None:
    """As many cards as there may be; a goal that a single row reaches; coats everywhere; small hands."""
    path = written(
        tmp_path,
        cards__copies={"players_2": 20, "players_3": 20, "players_4": 20},
        rules__goal=1,
        rules__points_row=3,
        board__coats=[[x, y] for x in range(5) for y in range(9)],
        board__coat_rows=list(range(9)),
    )
    ended = 0
    for seed in range(4):
        game = play(CopenhagenConfig(2 + seed % 3, components=path), seed)
        found = game.to_dict()
        points = [one["points"] for one in found["seats"]]
        ended += max(points) >= 1
        assert all(value == 0 for seat, value in enumerate(points) if seat != game.seat)
        assert sum(one["hand"][0] for one in found["seats"]) + found["discard_pile"][0] <= 20
    assert ended
    few = play(CopenhagenConfig(4, components=written(tmp_path, rules__hand_limit=4)), 1)
    assert all(sum(one["hand"]) <= 4 for one in few.to_dict()["seats"])


def test_configurations_are_values() -> None:
    config = CopenhagenConfig(3, denied=[["both_actions", 1], [], (3,)], reward="rank")
    assert config.denied == ((1, 4), (), (3,))
    assert CopenhagenConfig.from_dict(config.to_dict()) == config
    assert pickle.loads(pickle.dumps(config)) == config
    assert config.replace(num_players=2) == CopenhagenConfig(2, reward="rank")
    assert len({config.digest, CopenhagenConfig(3).digest, CopenhagenConfig().digest}) == 3
    assert CopenhagenConfig().denied == ((), ())


def test_a_configuration_keeps_the_facts_that_were_loaded(tmp_path: Path) -> None:
    path = written(tmp_path, rules__goal=9)
    config = CopenhagenConfig(components=path, denied=[[1], []])
    path.unlink()
    for other in (config.replace(reward="rank"), dataclasses.replace(config, reward="rank")):
        assert other.component_set is config.component_set
        assert (other.denied, other.reward) == (((1,), ()), "rank")
    assert config.replace(components="copenhagen") == CopenhagenConfig(denied=[[1], []])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_players": 5}, "num_players: found 5"),
        ({"denied": [[1]]}, r"denied: found \[\[1\]\]"),
        ({"denied": [[0], []]}, r"denied\[0\]\[0\]: found 0"),
        ({"denied": [["any_cards"], []]}, r"denied\[0\]\[0\]: found 'any_cards'"),
        ({"denied": [[1, "additional_card"], []]}, "each ability once"),
        ({"denied": "both_actions"}, "denied: found"),
        ({"reward": "points"}, "reward: found 'points'"),
        ({"components": ""}, "components: found ''"),
        ({"dry_roads": True}, "dry_roads: no such key"),
    ],
)
def test_configurations_that_cannot_be_played(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CopenhagenConfig.from_dict(values)


def test_a_record_is_small_and_aligned() -> None:
    assert GAME.itemsize <= 1024
    assert GAME.isalignedstruct
