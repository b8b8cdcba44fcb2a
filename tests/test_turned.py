"""Networks with canonical orientation: a board turned by a quarter gives the same inputs."""

from __future__ import annotations

import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from helsinki_env import HelsinkiGame
from helsinki_env.agents.helsinki.features import FEATURES, seat_parts, table_parts
from helsinki_env.agents.net import network as network_module
from helsinki_env.agents.net.checkpoint import load_checkpoint
from helsinki_env.agents.net.export import export_network
from helsinki_env.agents.net.features import offsets_for_types
from helsinki_env.agents.net.network import Network, NetworkOutput
from helsinki_env.agents.net.onnx import OnnxModel
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki import notation
from helsinki_env.training.preset import Preset
from helsinki_env.training.run import RunError, Training
from tests.support.networks import SMALL, opinionated, same_weights, saved
from tests.test_net import expected_seat, expected_table, some_games

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

Position = dict[str, Any]


def turned_cells(cells: list[int]) -> list[int]:
    """A quarter turn clockwise: what was in the north is then in the east."""
    return sorted(7 * (cell % 7) + 6 - cell // 7 for cell in cells)


def quarter(position: Position) -> Position:
    """The same position, with every board and the senate board turned by a quarter."""
    turned = copy.deepcopy(position)
    display = position["display"]
    turned["display"] = [display[(slot - 2) % 8] for slot in range(8)]
    for seat in turned["seats"]:
        for name in ("wild", "superstructures", "coats_on_board"):
            seat[name] = turned_cells(seat[name])
        for tile in seat["pavilions"]:
            tile["cells"] = turned_cells(tile["cells"])
        seat["token"] = (seat["token"] + 2) % 8
    return turned


def at_rest(count: int) -> list[Position]:
    """Positions between decisions that lie nowhere on a board, with all tokens on the senate board."""
    found = [notation.to_dict(game) for game in some_games(1500)]
    found = [p for p in found if p["phase"] in ("MOVE", "MAIN") and all(s["token"] is not None for s in p["seats"])]
    assert len(found) >= count
    return found[:count]


def described(position: Position, viewer: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """What a network is told of a position by its plain statement, with zeros for what the heuristic thinks."""
    types = len(position["discard_pile"])
    at = offsets_for_types(FEATURES, types)
    seats = np.zeros((1, 4, at.seat[-1]), np.int8)
    table = np.zeros((1, at.table[-1]), np.int8)
    for turn in range(position["players"]):
        told = expected_seat(position, viewer, turn)
        for part, begin in zip(seat_parts(types), at.seat, strict=False):
            seats[0, turn, begin : begin + part.size] = told.get(part.name, 0)
    told = expected_table(position, viewer, set())
    for part, begin in zip(table_parts(types), at.table, strict=False):
        table[0, begin : begin + part.size] = told.get(part.name, 0)
    return seats, table


@torch.no_grad()
def said(network: Network, position: Position, viewer: int) -> NetworkOutput:
    seats, table = described(position, viewer)
    return network.forward(torch.from_numpy(seats), torch.from_numpy(table))


def turned_like(network: Network) -> Network:
    """A network with the same weights that turns what it sees."""
    other = Network(network.game, replace(network.config, turned=True))
    other.load_state_dict(network.state_dict())
    return other


def test_the_rules_are_the_same_from_all_sides() -> None:
    def kinds(game: HelsinkiGame) -> dict[str, int]:
        legal = np.flatnonzero(game.action_mask()).tolist()
        names = [notation.action_to_string(action, game.config.components).split()[0] for action in legal]
        return {name: names.count(name) for name in names}

    for position in at_rest(60):
        game, turned = notation.from_dict(position), notation.from_dict(quarter(position))
        assert kinds(game) == kinds(turned)
        for _ in range(4):
            position = quarter(position)
        assert notation.to_dict(notation.from_dict(position)) == notation.to_dict(game)


@pytest.mark.thorough
def test_a_turned_network_says_the_same_from_all_sides() -> None:
    plain = opinionated()
    network, differ = turned_like(plain), 0
    for position in at_rest(40):
        for viewer in range(position["players"]):
            once, turned = said(network, position, viewer), position
            for _ in range(3):
                turned = quarter(turned)
                for found, expected in zip(said(network, turned, viewer), once, strict=True):
                    torch.testing.assert_close(found, expected)
            differ += not torch.allclose(said(plain, position, viewer).scores, said(plain, turned, viewer).scores)
    assert differ > 40  # one that does not turn them tells the sides apart


def test_whoever_stands_in_the_north_is_seen_as_before() -> None:
    plain = opinionated()
    network, met = turned_like(plain), 0
    for position in at_rest(400):
        if all(seat["token"] < 2 for seat in position["seats"]):
            met += 1
            for found, expected in zip(said(network, position, 0), said(plain, position, 0), strict=True):
                torch.testing.assert_close(found, expected)
    assert met


@pytest.mark.nightly
def test_a_run_may_begin_with_a_network_that_does_not_turn_and_turn_it(tmp_path: Path) -> None:
    start = saved(tmp_path / "start.safetensors", opinionated())
    preset = Preset.from_dict(
        {
            "start": str(start),
            "network": asdict(replace(SMALL, turned=True)),
            "pretraining": {"samples": 0},
            "ppo": {"total_timesteps": 60, "num_envs": 4, "num_steps": 8},
            "evaluation": {"times": 1, "games": 4, "final_games": 4, "opponents": ["random"]},
            "promotion": {"deals": 16},
        }
    )
    Training(preset, tmp_path / "run", 5).run()
    begun = load_checkpoint(tmp_path / "run" / "past" / "0000.safetensors")[0]
    assert begun.config.turned
    assert same_weights(begun, opinionated())
    assert load_checkpoint(tmp_path / "run" / "latest.safetensors")[0].config.turned
    with pytest.raises(RunError, match=r"network: found .*'width': 64.*, expected that of .*start\.safetensors"):
        Training(replace(preset, network=replace(preset.network, width=64)), tmp_path / "other", 5)
    back = replace(preset, start=str(tmp_path / "run" / "latest.safetensors"), network=SMALL)
    with pytest.raises(RunError, match=r"network: found .*'turned': False.*, expected that of .*'turned': True"):
        Training(back, tmp_path / "other", 5)


@pytest.mark.nightly
def test_an_exported_network_turns_too(tmp_path: Path) -> None:
    network = turned_like(opinionated())
    export_network(saved(tmp_path / "net.safetensors", network), tmp_path / "net.onnx", positions=200)
    model, position = OnnxModel(tmp_path / "net.onnx"), at_rest(1)[0]
    for _ in range(4):
        found, expected = model(*described(position, 0)), said(network, position, 0)
        np.testing.assert_allclose(found.win_logits[:, :2], expected.win_logits[:, :2], atol=1e-4)
        position = quarter(position)


def test_compiled_code_turns_inputs_like_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    network = turned_like(opinionated())
    generator = torch.Generator().manual_seed(3)
    seats = torch.randint(-9, 9, (70, 3, len(network.seat_scale)), dtype=torch.int8, generator=generator)
    table = torch.randint(-9, 9, (70, len(network.table_scale)), dtype=torch.int8, generator=generator)
    compiled = network._turned(seats, table)
    monkeypatch.setattr(network_module, "JIT", False)
    assert all(map(torch.equal, compiled, network._turned(seats, table)))
    assert not torch.equal(compiled[0], seats)
    assert not torch.equal(compiled[1], table)
