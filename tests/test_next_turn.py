"""Look-ahead features agree with the rules, the heuristic and themselves, and show nothing hidden."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.helsinki.features import next_turn_parts, write_next_turn
from helsinki_env.agents.helsinki.heuristic_api import expected_points
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, select_action
from helsinki_env.agents.net import description
from helsinki_env.agents.net.afterstates import AfterstateBatch, AfterstateEncoder
from helsinki_env.agents.net.checkpoint import CheckpointError, load_checkpoint
from helsinki_env.agents.net.export import export_network
from helsinki_env.agents.net.features import feature_offsets, game_features
from helsinki_env.agents.net.make import make_net_player
from helsinki_env.agents.net.network import Network, TorchModel
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.agents.search.workspace import new_workspace, reset_views
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.state import PHASE_MOVE
from helsinki_env.training.preset import Preset
from helsinki_env.training.pretraining import generate_samples
from helsinki_env.training.run import RunError, Training
from tests.support.networks import SMALL, assert_only_adds_features, opinionated, saved
from tests.test_net import rows, some_games, words
from tests.test_turned import at_rest, quarter

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

TYPES = 51
PARTS = next_turn_parts(TYPES)
AT = np.cumsum([0, *(part.size for part in PARTS)])
TABLE = a.action_table(TYPES)
MOVE, BUILD = TABLE.offsets[a.KIND_MOVE], TABLE.offsets[a.KIND_BUILD]
BUILDS = slice(BUILD, BUILD + TABLE.sizes[a.KIND_BUILD])


def by_part(numbers: npt.NDArray[np.int8]) -> dict[str, list[int]]:
    """The numbers of a seat by the first words of their part."""
    return {
        part.name.split(",")[0]: numbers[begin:end].tolist()
        for part, begin, end in zip(PARTS, AT[:-1], AT[1:], strict=True)
    }


desk_of = cache(new_workspace)


def told(game: HelsinkiGame, seat: int) -> dict[str, list[int]]:
    """Return the look-ahead features of a seat in a game."""
    desk: Any = desk_of(game.config)
    reset_views(desk, GOLDEN)
    t, p, w, v = desk.tables[0], desk.pieces[0], desk.weights[0], desk.views[0]
    expected_points(t, p, w, game.state, seat, v)
    out = np.zeros(AT[-1], np.int8)
    write_next_turn(t, p, w, game.state, v, seat, AT, out)
    return by_part(out)


def in_next_turn(inputs: AfterstateBatch, position: int, turn: int) -> dict[str, list[int]]:
    return by_part(inputs.seats[position, turn, -int(AT[-1]) :])


def about_to_move(count: int) -> list[HelsinkiGame]:
    """Games in which the seat to move begins its turn on the senate board."""
    found = [g for g in some_games(2000) if g.state.phase == PHASE_MOVE and g.state.token[g.seat] >= 0]
    assert len(found) >= count
    return found[:count]


@pytest.mark.thorough
def test_what_can_be_built_from_where_agrees_with_the_rules() -> None:
    met = {"both": 0, "neither": 0, "with coats": 0}
    for game in about_to_move(150):
        seat, token = game.seat, int(game.state.token[game.seat])
        said, first = told(game, seat)["can build"], (token + 1) // 2 % 4
        for steps in (1, 2, 3):
            after = game.clone()
            if not game.action_mask()[MOVE + steps - 1]:
                continue
            after.step(MOVE + steps - 1)
            legal = bool(after.action_mask()[BUILDS].any())
            seen = bool(said[((token + steps) % 8 // 2 - first) % 4])
            if seen:
                assert legal, notation.to_dict(game)
            elif legal:  # the heuristic may not see how, but only where it takes coats of arms
                assert game.state.meadow[seat] > 0
            met["both"] += seen and legal
            met["neither"] += not legal
            met["with coats"] += seen and game.state.meadow[seat] > 0
    assert min(met.values()) >= 20, met


@pytest.mark.thorough
def test_gains_are_those_by_which_the_heuristic_moves() -> None:
    compared = 0
    for game in about_to_move(200):
        seat, mask = game.seat, game.action_mask()
        if game.state.meadow[seat] or not mask[MOVE : MOVE + 3].all():
            continue
        desk: Any = desk_of(game.config)
        reset_views(desk, GOLDEN)
        t, p, w, v = desk.tables[0], desk.pieces[0], desk.weights[0], desk.views[0]
        desk.values[:] = ILLEGAL_VALUE
        select_action(t, p, w, game.state, v, mask, desk.values, True)
        said, token = told(game, seat), int(game.state.token[seat])
        first = (token + 1) // 2 % 4
        sides = [((token + steps) % 8 // 2 - first) % 4 for steps in (1, 2, 3)]
        drawn = [i for i in range(3) if not said["can build"][sides[i]]]  # nothing but drawing is left there
        for one in drawn:
            for other in drawn:
                expected = desk.values[MOVE + one] - desk.values[MOVE + other]
                found = (said["gain of drawing"][one] - said["gain of drawing"][other]) / 8
                assert abs(found - expected) <= 0.126  # both are rounded to eighths
                compared += one != other
    assert compared > 30


def test_the_best_next_turn_and_the_lead_follow_from_the_rest() -> None:
    inputs = AfterstateEncoder(ahead=True).write(*rows(400))
    base = feature_offsets(HelsinkiConfig()).seat
    names = [part.name for part in PARTS]
    assert names[-1].startswith("lead")
    leads = 0
    for at in range(len(inputs.table)):
        present = int((inputs.seats[at, :, base[8]] > 0).sum())
        said = [in_next_turn(inputs, at, turn) for turn in range(present)]
        if any(seat["gain of the next turn"][0] > 120 for seat in said):
            continue
        for seat in said:
            can = [gain for gain, able in zip(seat["gain of building"], seat["can build"], strict=True) if able][:2]
            reached = [*seat["gain of drawing"][:3], *seat["gain of building"][: 2 if can else 0]]
            assert 0 <= seat["gain of the next turn"][0] <= max(0, *reached)
            assert all(able or not gain for gain, able in zip(seat["gain of building"], seat["can build"], strict=True))
        expected = [
            inputs.seats[at, turn, base[13]] / 2 + seat["gain of the next turn"][0] / 8
            for turn, seat in enumerate(said)
        ]
        if max(inputs.seats[at, :present, base[13]]) == 127:
            continue
        for turn, seat in enumerate(said):
            ahead = expected[turn] - max(expected[:turn] + expected[turn + 1 :])
            assert abs(seat["lead in expected points after the next turn"][0] / 2 - ahead) <= 0.9  # all are rounded
            leads += 1
    assert leads > 500


def test_all_else_is_told_as_without_it() -> None:
    observation, mask = rows(300)
    with_it, without = (
        AfterstateEncoder(ahead=True).write(observation, mask),
        AfterstateEncoder().write(observation, mask),
    )
    assert with_it.seats.shape[2] == feature_offsets(HelsinkiConfig(), ahead=True).seat[-1]
    assert_only_adds_features(with_it, without, AT[-1])


def test_of_cards_turned_up_meanwhile_nothing_is_told() -> None:
    """Beside the space where cards were drawn lie only cards that nobody could know: drawing them promises nothing."""
    observation, mask = rows(800)
    inputs, draws = AfterstateEncoder(ahead=True, most=554).write(observation, mask), 0
    for choice in np.flatnonzero(inputs.action == TABLE.offsets[a.KIND_DRAW]).tolist():
        if inputs.ended[inputs.position[choice]] < 0:
            gains = in_next_turn(inputs, int(inputs.position[choice]), 0)["gain of drawing"]
            assert gains[7] <= 0  # the last space that the token comes to again is the one it stands on
            draws += 1
    assert draws > 40


def test_it_is_the_same_from_all_sides() -> None:
    """But where two placements are worth the same: which of them the heuristic takes depends on where they lie."""
    numbers = ties = 0
    for position in at_rest(60):
        game, turned = notation.from_dict(position), notation.from_dict(quarter(position))
        for seat in range(game.num_players):
            one, other = told(game, seat), told(turned, seat)
            assert one["can build"] == other["can build"]
            for name, found in one.items():  # sums are made in another order, and rounded
                apart = np.abs(np.subtract(found, other[name])) > 1
                numbers, ties = numbers + len(apart), ties + int(apart.sum())
    assert ties < 0.01 * numbers, (ties, numbers)


def test_lessons_tell_of_other_hands_what_a_seat_has_seen() -> None:
    """The same games twice, with other random words for what is hidden: only what is said of others differs."""
    config = HelsinkiConfig(num_players=3)
    lessons = []
    for seed in (1, 2):
        env = GameVectorEnv(12, config)
        env.reset(seed=4)
        desk = new_workspace(config)
        lessons.append(
            generate_samples(desk, feature_offsets(config, True), env.states, random_keys(12, seed), 1.0, 0.0)
        )
    one, other = lessons
    np.testing.assert_array_equal(one.wins, other.wins)
    np.testing.assert_array_equal(one.table, other.table)
    lead = [part.name for part in PARTS].index("lead in expected points after the next turn")
    own = np.ones(one.seats.shape[2], np.bool_)
    own[[int(feature_offsets(config).seat[14]), int(feature_offsets(config).seat[-1] + AT[lead])]] = (
        False  # the leader depends on other seats
    )
    np.testing.assert_array_equal(one.seats[:, 0, own], other.seats[:, 0, own])
    assert (one.seats[:, 1:] != other.seats[:, 1:]).any(axis=(1, 2)).mean() > 0.2


def with_next_turn(network: Network) -> Network:
    """A network of the same size that is told of the next turn, with weights of its own for it."""
    other = Network(network.game, replace(network.config, ahead=True))
    weights = network.state_dict()
    begin = weights["seat_in.weight"]
    torch.manual_seed(1)
    weights["seat_in.weight"] = torch.cat([begin, 0.3 * torch.randn(len(begin), int(AT[-1]))], 1)
    other.load_state_dict(weights)
    return other


def test_a_player_is_told_what_its_network_knows(tmp_path: Path) -> None:
    observation, mask = rows(200)
    network = with_next_turn(opinionated())
    path = saved(tmp_path / "net.safetensors", network)
    player = make_net_player(str(path), HelsinkiConfig())
    np.testing.assert_array_equal(
        player.act(observation, mask, words(200)), NetPlayer(TorchModel(network)).act(observation, mask, words(200))
    )
    plain = NetPlayer(TorchModel(opinionated())).act(observation, mask, words(200))
    assert (plain != player.act(observation, mask, words(200))).any()
    searching = NetSearchPlayer(4, TorchModel(network)).act(observation, mask, words(200))
    assert mask[np.arange(200), searching].all()
    content = path.read_bytes()
    path.write_bytes(content.replace(b'\\"ahead\\": true', b'\\"ahead\\": null'))
    assert path.read_bytes() != content
    with pytest.raises(CheckpointError, match=r"net\.safetensors: inputs: found "):
        load_checkpoint(path)


@pytest.mark.nightly
def test_an_exported_network_is_told_as_well(tmp_path: Path) -> None:
    observation, mask = rows(200)
    network = with_next_turn(opinionated())
    path = saved(tmp_path / "net.safetensors", network)
    agreement = export_network(path, tmp_path / "net.onnx", positions=200)
    assert agreement.differ == 0
    exported = make_net_player(str(tmp_path / "net.onnx"), HelsinkiConfig())
    expected = NetPlayer(TorchModel(network)).act(observation, mask, words(200))
    assert (exported.act(observation, mask, words(200)) == expected).mean() > 0.98


@pytest.mark.nightly
def test_a_run_may_begin_with_a_network_that_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = saved(tmp_path / "start.safetensors", opinionated())
    preset = Preset.from_dict(
        {
            "start": str(start),
            "network": asdict(replace(SMALL, ahead=True, turned=True)),
            "pretraining": {"samples": 300, "games": 10},
            "ppo": {"total_timesteps": 60, "num_envs": 4, "num_steps": 8},
            "evaluation": {"times": 1, "games": 4, "final_games": 4, "opponents": ["random"]},
            "promotion": {"deals": 16},
        }
    )
    training = Training(preset, tmp_path / "run", 5)
    begun = training.learner.network
    assert isinstance(begun, Network)
    inputs = AfterstateEncoder(ahead=True).write(*rows(60))
    seats, table = torch.from_numpy(inputs.seats), torch.from_numpy(inputs.table)
    turned = Network(begun.game, replace(SMALL, turned=True))
    turned.load_state_dict(opinionated().state_dict())
    with torch.no_grad():
        expected = turned(seats[..., : -int(AT[-1])], table)
        for found, wanted in zip(begun(seats, table), expected, strict=True):
            torch.testing.assert_close(found, wanted)
    training.run()
    learnt = load_checkpoint(tmp_path / "run" / "latest.safetensors")[0]
    assert learnt.config.ahead
    assert learnt.seat_in.weight[:, -int(AT[-1]) :].abs().max() > 0
    told = replace(game_features(HelsinkiConfig()), next_turn_parts=lambda types: next_turn_parts(types)[::-1])
    monkeypatch.setattr(description, "game_features", lambda config: told)
    with pytest.raises(RunError, match=r"inputs: found .*, expected .* as for the earlier results"):
        Training(preset, tmp_path / "run", 5, resume=True)
