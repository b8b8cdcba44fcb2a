"""Games that end before the learner's first action: the learner's first step reports the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from helsinki_env import CopenhagenConfig, copenhagen_v0
from helsinki_env.agents.base import init_streams
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.envs.seat import GameSeatEnv, GameSeatVectorEnv
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.play import deal_seeds, play_games
from helsinki_env.utils.yaml_files import configs_folder

GAMES = 24


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> CopenhagenConfig:
    """Two players and so few cards that the End of Game card can come up at the end of the first turn."""
    text = (configs_folder() / "components" / "copenhagen.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    data["cards"] |= {"last": 30, "copies": {"players_2": 4, "players_3": 12, "players_4": 14}}
    path = tmp_path_factory.mktemp("components") / "short.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return CopenhagenConfig(2, components=path)


def lowest(observation: Any, mask: Any, words: Any) -> Any:
    assert mask.any(axis=1).all(), "an opponent is asked where nothing is legal"
    return mask.argmax(axis=1)


def at_once(env: GameSeatVectorEnv) -> Any:
    """Which games are over although the learner has not acted and their end has not been reported, bool (B,)."""
    return (env.states["done"] == 1) & ~env._seatings["over"]


@pytest.mark.parametrize("illegal_action", ["raise", "penalize"])
@pytest.mark.parametrize("opponent", ["random", lowest], ids=["random", "function"])
@pytest.mark.parametrize("mode", tuple(AutoresetMode), ids=lambda mode: mode.value)
def test_every_game_ends_by_a_step_that_reports_it(
    config: CopenhagenConfig, mode: AutoresetMode, opponent: Any, illegal_action: Any
) -> None:
    env = GameSeatVectorEnv(GAMES, config, opponent, 1, illegal_action, autoreset_mode=mode)
    obs, info = env.reset(seed=2)
    early = at_once(env)
    assert early.any()
    assert not early.all()
    assert "rewards" not in info
    assert (obs["action_mask"][early] == 1).all()
    assert env.action_masks()[early].all()
    words, ended_early, over = random_keys(GAMES, 1), 0, np.zeros(GAMES, np.bool_)
    for _ in range(60):
        early = at_once(env)
        final = [env.game(b) for b in range(GAMES)]
        actions = sample_actions(obs["action_mask"], words)
        obs, reward, ended, _, info = env.step(actions)
        assert ended[early].all()
        for b in np.flatnonzero(ended & early):
            ended_early += 1
            assert info["_scores"][b]
            assert info["scores"][b].tolist() == final[b].scores().tolist()
            assert info["places"][b].tolist() == final[b].ranks().tolist()
            assert reward[b] == info["rewards"][b, 1]
            assert illegal_action == "raise" or not info["illegal_action"][b]
            if mode == AutoresetMode.SAME_STEP:
                assert np.array_equal(info["final_obs"][b]["observation"], final[b].observation(1))
        over = ended
        if mode == AutoresetMode.DISABLED and over.any():
            obs, _ = env.reset(options={"reset_mask": over})
    assert ended_early > 5


def test_one_learning_seat_sees_the_end_at_its_first_step(config: CopenhagenConfig) -> None:
    env, early = GameSeatEnv(config, lowest, 1), 0
    for seed in range(40):
        obs, info = env.reset(seed=seed)
        if not env.game.done:
            continue
        early += 1
        assert obs["action_mask"].all()
        scores = env.game.scores()
        obs, reward, terminated, truncated, info = env.step(0)
        assert terminated
        assert not truncated
        assert info["scores"].tolist() == scores.tolist()
        assert reward == info["rewards"][1]
        assert "illegal_action" not in info
        with pytest.raises(ValueError, match="over"):
            env.step(0)
    assert early > 3
    with pytest.warns(UserWarning, match="illegal action"):
        check_env(GameSeatEnv(config, lowest, 1), skip_render_check=True)  # it samples actions without the mask


def test_copies_and_states_keep_an_end_that_is_not_reported_yet(config: CopenhagenConfig) -> None:
    env = GameSeatVectorEnv(GAMES, config, lowest, 1)
    obs, _ = env.reset(seed=2)
    early = at_once(env)
    other = GameSeatVectorEnv(GAMES, config, lowest, 1)
    again, _ = other.set_state(env.get_state())
    assert np.array_equal(again["action_mask"], obs["action_mask"])
    actions = obs["action_mask"].argmax(axis=1)
    for one in (env.clone(), other, env):
        *_, ended, _, info = one.step(actions)
        assert ended[early].all()
        assert info["_scores"][early].all()


def test_the_other_environments_report_such_games(config: CopenhagenConfig) -> None:
    vector, tensors = GameVectorEnv(GAMES, config), GameTorchEnv(GAMES, config, "cpu")
    obs, _ = vector.reset(seed=2)
    tensors.reset(seed=2)
    words, short = random_keys(GAMES, 2), 0
    for _ in range(40):
        games = [vector.game(b) for b in range(GAMES)]
        actions = sample_actions(obs["action_mask"], words)
        obs, _, ended, _, info = vector.step(actions)
        _, _, ended_there, _, told = tensors.step(tensors.sample())
        assert np.array_equal(ended_there.numpy(), ended)
        for b in np.flatnonzero(ended):
            short += games[b].round == 1 and games[b].seat == 0
            assert np.array_equal(told["scores"][b].numpy(), info["scores"][b])
    assert short > 3
    agents = copenhagen_v0.env(components=config.components)
    early = 0
    for seed in range(30):
        agents.reset(seed=seed)
        acted = set()
        rewards = {}
        for agent in agents.agent_iter():
            observation, reward, over, _, _ = agents.last()
            acted |= set() if over else {agent}
            rewards[agent] = reward
            agents.step(None if over else int(observation["action_mask"].argmax()))
        early += len(acted) == 1
        assert sum(rewards.values()) == pytest.approx(0)
        assert len(rewards) == 2
    assert early > 2


def test_matches_play_such_games_to_their_end(config: CopenhagenConfig) -> None:
    seating = np.array([[0, 1], [1, 0]] * 10)
    streams = np.stack([init_streams(1, np.arange(20), p) for p in range(2)], axis=1)
    played = play_games([RandomPlayer(), RandomPlayer()], config, seating, deal_seeds(1, np.arange(20)), streams)
    assert (played.rounds >= 1).all()
    assert (played.seat_decisions[:, 1] == 0).any()
