"""The bundled networks: by name, for every game, together smaller than ten megabytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.net.checkpoint import CheckpointError, load_checkpoint
from helsinki_env.agents.net.make import bundled_network, bundled_networks, network_path
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.registry import make_player, player_files
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from tests.support.networks import opinionated, same_weights, saved
from tests.test_net import rows, words

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")


@pytest.mark.parametrize("config", [HelsinkiConfig(), CopenhagenConfig()], ids=["helsinki", "copenhagen"])
def test_there_is_a_network_for_all_tables_and_all_of_them_are_small(config: HelsinkiConfig | CopenhagenConfig) -> None:
    networks = bundled_networks(config)
    assert networks[""] == bundled_network(config)
    assert sum(path.stat().st_size for path in networks.values()) < 10_000_000
    for name in networks:
        assert isinstance(make_player(f"net:{name}" if name else "net", config), NetPlayer)


def test_a_network_in_the_box_goes_by_its_name() -> None:
    path = bundled_networks()["two_players"]
    assert player_files("net:two_players") == player_files("net+search:50:two_players") == (path,)
    assert not same_weights(load_checkpoint(path)[0], load_checkpoint(bundled_network())[0])
    observation, mask = rows(40)
    named, read = (make_player(name) for name in ("net:two_players", f"net:{path}"))
    for player in (named, make_player("net+search:2:two_players")):
        actions = player.act(observation, mask, words(40))
        assert mask[np.arange(40), actions].all()
    np.testing.assert_array_equal(named.act(observation, mask, words(40)), read.act(observation, mask, words(40)))


def test_a_folder_that_is_called_like_one_has_to_be_written_as_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two_players").mkdir()
    saved(tmp_path / "two_players" / "best.safetensors", opinionated())
    monkeypatch.chdir(tmp_path)
    assert network_path("two_players") == bundled_networks()["two_players"]
    assert same_weights(load_checkpoint(network_path("./two_players"))[0], opinionated())


def test_one_for_another_game_is_not_found_by_name() -> None:
    with pytest.raises(CheckpointError, match="two_players: found no such file"):
        make_player("net:two_players", CopenhagenConfig())
