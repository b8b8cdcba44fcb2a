"""Global states: all hidden information, for central critics, and only on request."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

from helsinki_env import flatten
from helsinki_env.engine.determinization import sample_determinizations
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.envs.global_state import global_state_space, global_states, unpack_global_state
from helsinki_env.envs.vector import GameVectorEnv
from tests.games import EACH_GAME, GAMES, TestedGame


@EACH_GAME
def test_a_global_state_holds_every_hand_and_the_pile(game: TestedGame) -> None:
    for config in game.configs:
        env = GameVectorEnv(16, config)
        obs, info = env.reset(seed=1)
        keys = random_keys(16, seed=2)
        for _ in range(60):
            obs, _, _, _, info = env.step(sample_actions(obs["action_mask"], keys))
        for viewers in (info["seat"], np.zeros(16, np.int64), env.states["players"] - 1):
            state = global_states(config, env.states, viewers)
            assert (state >= 0).all()
            parts = unpack_global_state(config, state)
            assert np.array_equal(parts["observation"], env.observe(viewers))
            for b in range(16):
                record, players = env.states[b], config.num_players
                seats = [(int(viewers[b]) + turn) % players for turn in range(players)]
                assert parts["acting"][b].tolist() == [
                    turn < players and seats[turn] == record.seat for turn in range(players)
                ] + [0] * (4 - players)
                assert np.array_equal(parts["hand"][b, :players], record.hand[seats])
                assert not parts["hand"][b, players:].any()
                assert parts["pile"][b, : record.pile_size].tolist() == (record.pile[: record.pile_size] + 1).tolist()
                assert not parts["pile"][b, record.pile_size :].any()


@EACH_GAME
def test_the_environment_returns_the_global_state_from_the_first_seat(game: TestedGame) -> None:
    for config in game.configs:
        env = game.module.env(num_players=config.num_players, global_state=True)
        env.reset(seed=3)
        rng = random.Random(3)
        for _ in env.agent_iter(80):
            state = env.state()
            assert env.state_space.contains(state)
            parts = unpack_global_state(env.unwrapped.config, state)
            assert np.array_equal(parts["observation"], env.unwrapped.game.observation(0))
            assert env.possible_agents[int(parts["acting"].argmax())] == env.agent_selection
            env.step(rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))
        for copied in (env.clone(), pickle.loads(pickle.dumps(env.unwrapped)), flatten(env)):
            assert np.array_equal(copied.state(), env.state())
            assert copied.state_space == env.state_space


@EACH_GAME
def test_hidden_cards_change_the_global_state_but_no_observation(game: TestedGame) -> None:
    for config in game.configs:
        varied = {"hand": False, "pile": False}
        for seed in range(8):
            one, rng = game.spec.game(config, seed=seed), random.Random(seed)
            for _ in range(5 * seed):
                one.step(rng.choice(one.legal_actions()))
            states = sample_determinizations(one, 16, seed=6)
            parts = unpack_global_state(config, global_states(config, states, np.full(16, one.seat)))
            for name in ("observation", "acting"):
                assert len(np.unique(parts[name], axis=0)) == 1, name
            assert len(np.unique(parts["hand"][:, 0], axis=0)) == 1  # the viewer's own
            for name in varied:
                varied[name] |= len(np.unique(parts[name], axis=0)) > 1
        assert all(varied.values()), varied


@EACH_GAME
def test_no_global_state_without_the_option(game: TestedGame) -> None:
    for env in (game.module.env(), game.module.raw_env()):
        env.reset(seed=1)
        assert not hasattr(env, "state_space")
        with pytest.raises(NotImplementedError, match=r"found global_state=False, .* global_state=True"):
            env.state()
    wrong: Any
    for wrong in (1, None, "yes", np.True_):
        with pytest.raises(ValueError, match=r"^global_state: found .*, expected True or False"):
            game.module.env(global_state=wrong)
    with pytest.raises(AttributeError, match="no game is dealt yet"):
        game.module.raw_env(global_state=True).state()


def test_invalid_arguments_are_value_errors() -> None:
    config = GAMES[0].configs[0]
    env = GameVectorEnv(2, config)
    env.reset(seed=1)
    viewers: Any
    for viewers in (np.zeros(3, int), np.zeros(2), np.array([0, 2]), np.array([-1, 0])):
        with pytest.raises(ValueError, match=r"^viewers(\[1\]|\[0\])?: .*expected"):
            global_states(config, env.states, viewers)
    states = env.states.copy()
    states["players"][1] = 100
    with pytest.raises(ValueError, match=r"states: game 1: players: found 100, expected"):
        global_states(config, states)
    with pytest.raises(ValueError, match=r"^states: found .*, expected records"):
        global_states(config, [env.states[0]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^state: found shape \(3,\), expected"):
        unpack_global_state(config, np.zeros(3, np.int8))
    assert global_state_space(config) is global_state_space(config)
