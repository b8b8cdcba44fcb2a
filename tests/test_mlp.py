"""The network that reads the plain observation: inputs, player and files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.base import init_streams, next_keys
from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.agents.mlp.player import MLPPlayer
from helsinki_env.agents.net.checkpoint import load_checkpoint, load_network, save_checkpoint
from helsinki_env.agents.net.description import CheckpointError
from helsinki_env.agents.net.features import game_features, input_spec
from helsinki_env.agents.net.network import NetworkConfig
from helsinki_env.agents.registry import PlayerError, make_player, player_files
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import config_to_dict, spec_of
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from tests.support.networks import same_weights, saved, untrained
from tests.support.small import small_components
from tests.test_net import CHOICES

SMALL = NetworkConfig(seat_hidden=16, seat=8, width=32, blocks=1)
CONFIGS = [
    HelsinkiConfig(),
    pytest.param(HelsinkiConfig(num_players=3, components="alternative", dry_roads=True), marks=pytest.mark.thorough),
    CopenhagenConfig(num_players=4),
]


def plain(config: Any = None, seed: int = 0, size: NetworkConfig = SMALL) -> MLPNetwork:
    """Return a network whose outputs differ between inputs."""
    torch.manual_seed(seed)
    network = MLPNetwork(config, size)
    for head in (network.policy, network.win, network.score):
        torch.nn.init.normal_(head.weight, std=0.4)
    return network


def save_minimal(path: Path, model: MLPNetwork, **more: Any) -> Path:
    """Save a network with only the required keys of the description."""
    content = {"game": config_to_dict(model.game), "network": asdict(model.config)}
    return save_checkpoint(path, model, content | more)


def rows(config: Any, games: int = 20, steps: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random games."""
    env, words = GameVectorEnv(games, config), random_keys(games, 3)
    obs, _ = env.reset(seed=5)
    seen, masks = [], []
    for _ in range(steps if JIT else 5):
        seen.append(obs["observation"])
        masks.append(obs["action_mask"])
        obs, *_ = env.step(sample_actions(obs["action_mask"], words))
    return np.concatenate(seen), np.concatenate(masks)


@pytest.mark.parametrize("choice", ["float64", "bfloat16", "device", "errors"])
def test_it_says_the_same_whatever_a_program_has_chosen(tmp_path: Path, choice: str) -> None:
    begin, end = CHOICES[choice]
    path = save_minimal(tmp_path / "plain.safetensors", plain())
    observations, masks = rows(HelsinkiConfig(), 4, 5)
    words = np.zeros(len(masks), np.uint64)
    one = MLPPlayer(load_network(path, MLPNetwork)[0])
    expected, chosen = one.logits(observations), one.act(observations, masks, words)
    wrong: Any
    for wrong in (observations.astype(np.int64), observations[:, 1:], np.tile(observations, (1, 2))):
        with pytest.raises(ValueError, match="observation"):
            one.act(wrong, masks, words)
    begin()
    try:
        other = MLPPlayer(load_network(path, MLPNetwork)[0])
        np.testing.assert_array_equal(other.logits(observations), expected)
        np.testing.assert_array_equal(other.act(observations, masks, words), chosen)
        assert {parameter.dtype for parameter in plain().parameters()} == {torch.float32}
    finally:
        end()


@pytest.mark.parametrize(
    "config", [HelsinkiConfig(), HelsinkiConfig(components="alternative"), CopenhagenConfig()], ids=str
)
def test_every_entry_of_an_observation_is_read_once_and_seats_alike(config: Any) -> None:
    told, layout = input_spec(config), game_features(config).layout(game_features(config).types(config))
    columns = [column for entries in (told.seats, told.table) for row in entries.columns for column in row]
    assert sorted(columns) == list(range(layout.size))
    names = np.concatenate([[piece.name] * piece.size for piece in layout.fields])
    by_seat = names[np.array(told.seats.columns)]
    assert (by_seat == by_seat[:1]).all()
    assert {"boards", "seats", "used", "denied", "known"} <= set(by_seat[0])
    assert not {"display", "hand", "table", "tile_supply", "bonus_cards"} & set(by_seat[0])
    scales = spec_of(config).scales
    assert scales is not None
    sizes = scales(layout.size)
    assert sizes is not None
    for entries in (told.seats, told.table):
        for row in entries.columns:
            assert tuple(sizes[list(row)].astype(int)) == entries.scales
        assert len(entries.values) == sum(scale for scale in entries.scales if scale > 1)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_what_is_said_of_absent_seats_and_how_far_they_are_read(config: Any) -> None:
    network, players = plain(config), config.num_players
    observation, mask = rows(config)
    seen = torch.from_numpy(observation)
    with torch.no_grad():
        said, short = network(seen), network(seen, players)
    assert said.logits.shape == mask.shape
    assert (said.win_logits[:, players:] < -1e8).all()
    assert (said.win_logits[:, :players] > -1e3).all()
    for one, other in zip(said, short, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-3)
    legal = torch.from_numpy(mask)
    log_probs = said.log_probs(legal)
    some = mask.any(axis=1)
    np.testing.assert_allclose((log_probs.exp() * legal).sum(1).numpy()[some], 1.0, atol=1e-5)
    assert (log_probs[legal == 0].exp()[None, : int((mask[some] == 0).sum())] <= 1.0).all()
    assert (log_probs[torch.from_numpy(some)][legal[torch.from_numpy(some)] == 0].exp() == 0).all()


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_every_entry_is_seen(config: Any) -> None:
    """Each usual value of each entry that a game can hold makes a difference."""
    network = plain(config, size=NetworkConfig(seat_hidden=64, seat=64, width=64, blocks=1))
    observation, _ = rows(config, 4, 12)
    seen = torch.from_numpy(observation[-1:]).repeat(observation.shape[1], 1)
    at = torch.arange(seen.shape[1])
    seen[at, at] = 1 - seen[at, at].clamp(0, 1)
    with torch.no_grad():
        before, after = network(torch.from_numpy(observation[-1:])).logits, network(seen).logits
    absent = input_spec(config).seats.columns[config.num_players :]
    changed = ((after - before).abs().max(1).values > 1e-5).numpy()  # sums are rounded
    silent = np.zeros(len(changed), bool)
    for row in absent:
        silent[list(row)] = True
    silent[list(input_spec(config).present)] = False  # the seat is visibly occupied
    np.testing.assert_array_equal(changed, ~silent)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_decisions_are_legal_and_depend_on_their_row_alone(config: Any) -> None:
    player = MLPPlayer(plain(config))
    observation, mask = rows(config, 30, 60)
    some = mask.any(axis=1)
    observation, mask = observation[some], mask[some]
    words = next_keys(init_streams(3, np.arange(len(mask)), 0))
    actions = player.act(observation, mask, words)
    assert actions.dtype == np.int64
    assert mask[np.arange(len(mask)), actions].all()
    assert len(set(actions.tolist())) > 10
    order = np.random.default_rng(0).permutation(len(mask))
    np.testing.assert_array_equal(player.act(observation[order], mask[order], words[order]), actions[order])
    for b in range(0, len(mask), 50):
        assert player.act(observation[b : b + 1], mask[b : b + 1], words[b : b + 1]) == actions[b]
    with torch.no_grad():
        logits = player.network(torch.from_numpy(observation)).logits.numpy()
    best = np.where(mask != 0, logits, -np.inf)
    assert (best[np.arange(len(mask)), actions] >= best.max(axis=1) - 1e-4).all()


@pytest.mark.parametrize("config", [HelsinkiConfig(), CopenhagenConfig()], ids=str)
def test_a_checkpoint_comes_back_and_plays_by_name(config: Any, tmp_path: Path) -> None:
    network = plain(config)
    path = save_minimal(tmp_path / "best.safetensors", network, seed=7)
    found, description = load_network(path, MLPNetwork)
    assert same_weights(found, network)
    assert (description["kind"], description["seed"]) == ("mlp", 7)
    observation, mask = rows(config, 10, 10)
    words = np.zeros(len(mask), np.uint64)
    expected = MLPPlayer(network).act(observation, mask, words)
    for name in (f"mlp:{path}", f"mlp:{tmp_path}"):
        player = make_player(name, config)
        assert player.name == name
        np.testing.assert_array_equal(player.act(observation, mask, words), expected)
        assert player_files(name, config) == (path,)


def test_networks_of_other_kinds_games_and_card_types_are_refused(tmp_path: Path) -> None:
    ours, theirs = (
        save_minimal(tmp_path / "plain.safetensors", plain()),
        saved(tmp_path / "net.safetensors", untrained()),
    )
    with pytest.raises(CheckpointError, match=r"found a network of kind .mlp., expected .afterstate.; play it as mlp:"):
        load_checkpoint(ours)
    with pytest.raises(CheckpointError, match=r"found a network of kind 'afterstate', .*; play it as net:"):
        load_network(theirs, MLPNetwork)
    with pytest.raises(ValueError, match="found a network for helsinki_v"):
        make_player(f"mlp:{ours}", CopenhagenConfig())
    with pytest.raises(ValueError, match="found a network for 51 card types, expected 16"):
        make_player(f"mlp:{ours}", HelsinkiConfig(components=small_components(tmp_path)))
    with pytest.raises(ValueError, match="found no bundled network; train one with"):
        make_player("mlp")
    assert player_files("mlp") == ()
    with pytest.raises((PlayerError, CheckpointError), match=r"found no such file; train one with .*--preset gpu"):
        make_player(f"mlp:{tmp_path / 'none'}")


def test_a_network_that_was_made_for_other_inputs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_minimal(tmp_path / "plain.safetensors", plain())
    told = input_spec(HelsinkiConfig())
    other = told._replace(table=told.table._replace(scales=(2, *told.table.scales[1:])))
    monkeypatch.setattr("helsinki_env.agents.net.description.input_spec", lambda config, types: other)
    with pytest.raises(CheckpointError, match=r"inputs: found .* expected .*; train the network again"):
        load_network(path, MLPNetwork)


def test_weights_that_are_not_those_described_are_refused(tmp_path: Path) -> None:
    network = plain()
    path = save_minimal(tmp_path / "wide.safetensors", network, network=asdict(network.config) | {"width": 64})
    with pytest.raises(CheckpointError, match=r"from_seats\.weight is \(32, 32\), not \(64, 32\)"):
        load_network(path, MLPNetwork)
    torch.nn.init.constant_(network.win.bias, torch.inf)
    with pytest.raises(CheckpointError, match="found NaN or infinity"):
        load_network(save_minimal(tmp_path / "inf.safetensors", network), MLPNetwork)
