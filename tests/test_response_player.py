"""The player that searches for a response: its simulations against games of single moves, and its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray, PlayerError, choose_action, mix_keys
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.net.response import ResponsePlayer
from helsinki_env.agents.registry import innermost_name, is_code, make_player, player_files, wrapper_names
from helsinki_env.cli.precompile import groups_for
from helsinki_env.engine.determinization import determinize_batch, states_from_observations
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import spec_by_name


def positions(game: str, players: int, count: int) -> list[BoardGame]:
    """Return positions of a game of greedy players, from its start to its last rounds."""
    config = spec_by_name(game).config(num_players=players)
    greedy, found = make_player("greedy", config), []
    played = spec_by_name(game).game(config, seed=players)
    while not played.done:
        if played.action_mask().sum() > 1:
            found.append(type(played).from_state(config, played.state))
        played.step(choose_action(greedy, played))
    return found[:: len(found) // count + 1] + found[-2:]


def replayed(player: ResponsePlayer, start: BoardGame, action: int, key: int) -> float:
    """Return the acting seat's win probability after an action in one determinization, computed move by move."""
    states = states_from_observations(start.config, start.observation()[None])
    determinize_batch(start.config, states, np.array([start.seat]), np.array([key], np.uint64))
    game, seat, begun = type(start).from_state(start.config, states[0]), start.seat, 0
    game.step(action)
    before = seat
    while not game.done:
        begun += game.seat == seat and before != seat
        if begun == 2:
            found = player.net.evaluate_actions(
                game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64)
            )[0]
            return float(found.after(found.best)[seat])
        before = game.seat
        game.step(choose_action(player.net if game.seat == seat else player.target, game))
    winners = np.flatnonzero(np.array(game.ranks()) == min(game.ranks()))
    return (seat in winners) / len(winners)


@pytest.mark.parametrize("players", [2, pytest.param(4, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("game", ["helsinki", "copenhagen"])
@pytest.mark.parametrize("target", ["greedy", pytest.param("net", marks=pytest.mark.nightly)])
def test_simulations_play_with_the_target_and_the_network(game: str, players: int, target: str) -> None:
    starts = positions(game, players, 4)
    player = make_player(f"response:8:{target}", starts[0].config)
    assert isinstance(player, ResponsePlayer)
    states = states_from_observations(starts[0].config, np.array([start.observation() for start in starts]))
    legal = [np.flatnonzero(start.action_mask()) for start in starts]
    arms = np.array([[choices[0], choices[-1]] for choices in legal])
    keys = np.arange(len(starts), dtype=np.uint64)
    found = player.simulate_actions(states, arms, np.full(len(starts), 2), 2, keys)
    for b, start in enumerate(starts):
        words = mix_keys(keys[b] + GOLDEN * np.arange(1, 3, dtype=np.uint64)).tolist()
        wanted = [np.mean([replayed(player, start, int(arm), key) for key in words]) for arm in arms[b]]
        np.testing.assert_allclose(found[b], wanted, atol=1e-12)


@pytest.mark.parametrize("game", ["helsinki", "copenhagen"])
def test_an_action_depends_on_its_row_alone(game: str) -> None:
    starts = positions(game, 3, 3)
    player = make_player("response:8:epsilon:0.5:greedy", starts[0].config)
    observations = np.array([start.observation() for start in starts])
    masks = np.array([start.action_mask() for start in starts])
    keys = np.arange(len(starts), dtype=np.uint64)
    together = player.act(observations, masks, keys)
    alone = [player.act(observations[[b]], masks[[b]], keys[[b]])[0] for b in range(len(starts))]
    assert together.tolist() == alone
    assert masks[np.arange(len(starts)), together].all()


def test_the_name_has_a_budget_and_a_target(tmp_path: Path) -> None:
    assert make_player("response:8:heuristic").name == "response:8:heuristic"
    assert innermost_name("response:8:program:./bot") == "program:./bot"
    assert is_code("response:8:program:./bot")
    assert not is_code("response:8:heuristic")
    assert player_files("response:8:heuristic") == player_files("net")
    assert player_files(f"response:8:net:{tmp_path}") == player_files("net") + player_files(f"net:{tmp_path}")
    assert player_files("counted:response:8:response:4:net") == player_files("net")
    assert wrapper_names("counted:response:8:net") == ["counted", "response"]
    assert set(groups_for(["counted:response:8:heuristic"])) == {"games", "heuristic", "net"}
    for argument in ("", "8", "8:", "0:net", "net:8"):
        with pytest.raises(PlayerError, match=r"expected the number of simulations, .* such as response:16:heuristic"):
            make_player(f"response:{argument}")


def test_a_target_that_plays_illegal_actions_is_an_error() -> None:
    class Illegal:
        name = "illegal"

        def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
            return np.full(len(keys), 10**6)

    net = make_player("net")
    assert isinstance(net, NetPlayer)
    game = positions("helsinki", 2, 1)[0]
    player = ResponsePlayer(8, Illegal(), net.model)
    with pytest.raises(PlayerError, match="found action 1000000 in a simulation, expected a legal one"):
        choose_action(player, game)
