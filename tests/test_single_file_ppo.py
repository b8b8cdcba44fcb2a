"""The single-file PPO: independent of the project's training, legal and repeatable."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helsinki_env.data import UserError
from helsinki_env.engine.playout import random_keys
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.training import single_file_ppo
from helsinki_env.training.single_file_ppo import Agent, Args, train
from tests.games import EACH_GAME, GAMES, TestedGame

pytestmark = pytest.mark.thorough

SOURCE = Path(single_file_ppo.__file__)
SHORT = Args(total_timesteps=3 * 8 * 16, num_envs=16, num_steps=8, hidden=16, eval_games=4)


def test_the_file_is_short_and_alone() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 350
    imported = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name and "training" in name]


@pytest.mark.parametrize(
    ("game", "players"),
    [
        (GAMES[0], 2),
        (GAMES[1], 3),
        *(pytest.param(GAMES[i], players, marks=pytest.mark.nightly) for i, players in ((0, 3), (1, 2))),
    ],
    ids=str,
)
def test_training_changes_the_network_and_is_repeatable(
    game: TestedGame, players: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = Args(
        **{**vars(SHORT), "game": game.name, "num_players": players, "save": str(tmp_path / "new" / "agent.pt")}
    )
    agent, result = train(args)
    assert result.games >= SHORT.eval_games  # whole blocks
    printed = capsys.readouterr().out
    assert printed.count(" steps, ") == 3
    assert "against greedy: single_file_ppo: " in printed
    again, _ = train(args)
    config = game.spec.config(num_players=players, reward="margin")
    torch.manual_seed(args.seed)
    first = Agent(config, args.hidden)
    saved = torch.load(args.save or "", weights_only=True)
    for name, trained in agent.state_dict().items():
        assert torch.equal(trained, again.state_dict()[name])
        assert torch.equal(trained, saved[name])
    assert any(not torch.equal(trained, first.state_dict()[name]) for name, trained in agent.state_dict().items())


@EACH_GAME
def test_the_policy_gives_weight_to_legal_actions_only(game: TestedGame) -> None:
    config = game.configs[0]
    agent, env = Agent(config, 16), GameVectorEnv(32, config)
    obs, _ = env.reset(seed=1)
    for _ in range(30):
        inputs = agent.encode(obs["observation"], obs["action_mask"])
        policy, value = agent(inputs)
        assert value.shape == (32,)
        assert torch.equal(policy.probs > 0, torch.as_tensor(obs["action_mask"]) == 1)
        actions = agent.act(obs["observation"], obs["action_mask"], random_keys(32, seed=1))
        assert obs["action_mask"][np.arange(32), actions].all()
        obs = env.step(actions)[0]


def test_minibatches_of_one_step_leave_numbers_finite() -> None:
    agent, _ = train(replace(SHORT, num_envs=2, total_timesteps=16, num_minibatches=1000))
    assert all(torch.isfinite(weights).all() for weights in agent.state_dict().values())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_steps": 0}, "num_steps: found 0"),
        ({"num_minibatches": 0}, "num_minibatches: found 0"),
        ({"update_epochs": 0}, "update_epochs: found 0"),
        ({"total_timesteps": -1}, "total_timesteps: found -1"),
        ({"eval_games": 0}, "eval_games: found 0"),
        ({"seed": -1}, "seed: found -1"),
        ({"save": f"{SOURCE}/agent.pt"}, "save: .*Not a directory"),
    ],
)
def test_mistakes_are_named_before_training(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        train(replace(SHORT, **changes))
