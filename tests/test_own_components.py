"""A user's component file with a relative path: games keep its facts even if the file changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import (
    HelsinkiConfig,
    HelsinkiGame,
    HelsinkiSeatEnv,
    HelsinkiSeatVectorEnv,
    HelsinkiVectorEnv,
    helsinki_v0,
)
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.helsinki.config import ConfigError
from helsinki_env.games.helsinki.game import IllegalActionError
from helsinki_env.utils.yaml_files import configs_folder


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HelsinkiConfig:
    """A configuration whose file is somewhere else than its path says, and holds something else, by now."""
    text = (configs_folder() / "components" / "more_small_tiles.yaml").read_text(encoding="utf-8")
    path, other = tmp_path / "mine.yaml", tmp_path / "elsewhere"
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = HelsinkiConfig(components="mine.yaml", num_players=3)
    path.write_text("nothing: of use", encoding="utf-8")
    other.mkdir()
    monkeypatch.chdir(other)
    return config


ENVIRONMENTS: dict[str, Callable[[HelsinkiConfig], Any]] = {
    "self-play": lambda config: HelsinkiVectorEnv(2, config=config),
    "seats": lambda config: HelsinkiSeatVectorEnv(2, illegal_action="raise", config=config),
    "seat": lambda config: HelsinkiSeatEnv(illegal_action="raise", config=config),
}


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_an_environment_goes_on(config: HelsinkiConfig, kind: str) -> None:
    env = ENVIRONMENTS[kind](config)
    for options in (None, {"covered": "first_game"}, {"num_players": 2, "dry_roads": True}):
        env.reset(seed=1, options=options)
        game = env.game if kind == "seat" else env.game(1)
        assert game.config.component_set is config.component_set
    assert (game.num_players, game.config.dry_roads) == (2, True)
    with pytest.raises(ConfigError, match=r"covered\[0\]: found 'fly', expected an action"):
        env.reset(options={"covered": ["fly"]})
    illegal = game.actions.size - 1
    with pytest.raises(IllegalActionError, match="is not legal in phase"):
        env.step(illegal if kind == "seat" else np.full(2, illegal))
    env.close()


def test_pettingzoo_goes_on(config: HelsinkiConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text((configs_folder() / "components" / "more_small_tiles.yaml").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    env = helsinki_v0.env(components="mine.yaml", illegal_action="raise")
    path.unlink()
    env.reset(seed=1, options={"covered": ["two_points"]})
    assert env.unwrapped.game.config.covered == (14,)
    assert env.unwrapped.game.config.component_set.digest == config.component_set.digest
    with pytest.raises(IllegalActionError, match="is not legal in phase"):
        env.unwrapped.step(env.action_space("player_0").n - 1)


def test_games_matches_and_their_records_go_on(config: HelsinkiConfig) -> None:
    game = HelsinkiGame(config, seed=1)
    with pytest.raises(IllegalActionError, match="is not legal in phase"):
        game.step(game.actions.size - 1)
    assert game.clone().config.component_set is config.component_set
    assert config.replace(num_players=2).component_set is config.component_set
    for record in play_match(["random"] * 3, config, games=3, seed=1).records():
        assert record.config.component_set is config.component_set
