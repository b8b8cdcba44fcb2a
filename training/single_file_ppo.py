"""PPO in a single file, in the style of CleanRL, to read from top to bottom, modify and compare.

The agent learns to play one seat against a given opponent in a batch of games. Run it with

    python -m helsinki_env.training.single_file_ppo --total-timesteps 500000 --save agent.pt

It prints the training progress and, at the end, the win rate in a match against the opponent. It is separate from the
project's main training code (`helsinki train`), which uses self-play and produces much stronger players.

Four details matter most:

1. The network scores positions, not actions: for each legal action, `AfterstateEncoder` writes the features of the
   position at the end of the turn. The policy is a softmax over these scores (`Agent.forward`).
2. Illegal actions have a logit of -1e9, both when acting and when learning.
3. The environment gives a reward only at the end of a game. Here, the reward of each step is the change in the lead in
   points, which sums to the final margin (`lead`). In Helsinki, the points for full rows and columns and for
   superstructures arrive only at the end of a game. Without discounting, this shaping does not change the optimal
   policy.
4. Steps with a single legal action cannot train the policy and are left out of the minibatches.

Sources: Schulman et al. (2017), "Proximal policy optimization algorithms"; Huang et al. (2022), "The 37
implementation details of proximal policy optimization" and "CleanRL"; Huang and Ontanon (2022), "A closer look at
invalid action masking in policy gradient algorithms"; Ng et al. (1999), "Policy invariance under reward
transformations".
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tyro

from helsinki_env.agents.net.afterstates import AfterstateBatch, AfterstateEncoder
from helsinki_env.data import Node, UserError
from helsinki_env.engine.spec import spec_by_name, spec_of
from helsinki_env.envs.seat import GameSeatVectorEnv
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.match_stats import PlayerResult, fractional_wins
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, check_writable
from helsinki_env.utils.terminal import prepare_output

with requires_extra("train", program=__name__ == "__main__"):
    import torch
    from torch import nn
    from torch.distributions import Categorical
    from torch.utils.tensorboard import SummaryWriter

__all__ = ["Agent", "Args", "train"]


@dataclass
class Args:
    """PPO in a single file, in the style of CleanRL."""

    game: str = "helsinki"
    """Name of the game."""
    num_players: int = 2
    """Number of players."""
    opponent: str = "greedy"
    """Player for all other seats, in training and in the final match."""
    seed: int = 1
    """Random seed."""
    total_timesteps: int = 500_000
    """Total number of actions taken by the learning seat."""
    num_envs: int = 256
    """Number of parallel games B."""
    num_steps: int = 32
    """Number of steps T per game in each rollout."""
    learning_rate: float = 1e-3
    """Initial learning rate, annealed linearly to 0."""
    gamma: float = 1.0
    """Discount factor."""
    gae_lambda: float = 0.95
    """Lambda of generalized advantage estimation."""
    num_minibatches: int = 8
    """Number of minibatches per epoch."""
    update_epochs: int = 4
    """Number of passes over each rollout."""
    clip_coef: float = 0.2
    """Clipping range of the probability ratio."""
    ent_coef: float = 0.01
    """Entropy coefficient."""
    vf_coef: float = 0.5
    """Value loss coefficient."""
    max_grad_norm: float = 0.5
    """Maximum norm for gradient clipping."""
    hidden: int = 128
    """Width of the hidden layers."""
    eval_games: int = 1000
    """Number of games in the final match."""
    tensorboard: str | None = None
    """Folder for TensorBoard logs; None writes no logs."""
    save: str | None = None
    """File in which to save the weights; None does not save them."""


def layer_init(layer: nn.Linear, std: float = 2**0.5) -> nn.Linear:
    """Initialize a layer with orthogonal weights."""
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    """Policy and value network, which is also a player for matches.

    Args:
        config: game configuration.
        hidden: width of the hidden layers.
    """

    name = "single_file_ppo"

    def __init__(self, config: Any, hidden: int = 128) -> None:
        super().__init__()
        spec = spec_of(config)
        self.num_actions, self.num_players = spec.num_actions(config), config.num_players
        self.encoder = AfterstateEncoder(config)
        game = spec.game(config, seed=0)
        example = self.encode(game.observation()[None], game.action_mask()[None])
        size = example.seats[0].size + example.table[0].size
        self.body = nn.Sequential(
            layer_init(nn.Linear(size, hidden)), nn.ReLU(), layer_init(nn.Linear(hidden, hidden)), nn.ReLU()
        )
        self.actor = layer_init(nn.Linear(hidden, 1), std=0.01)
        self.critic = layer_init(nn.Linear(hidden, 1), std=1.0)
        self.advice = nn.Parameter(torch.zeros(()))  # weight of the heuristic's action values

    def encode(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> AfterstateBatch:
        """Encode observations int8 (B, F) with masks int8 (B, A) as network inputs, with features of N afterstates."""
        return self.encoder.write(observation, action_mask, self.num_players)

    def forward(self, inputs: AfterstateBatch) -> tuple[Categorical, torch.Tensor]:
        """Return the policies for B rows over all actions, and the values of these rows, (B,)."""
        seats, table = torch.as_tensor(inputs.seats), torch.as_tensor(inputs.table)
        features = self.body(torch.cat([seats.flatten(1), table], 1).float() / 8)
        rating, value = self.actor(features).squeeze(1), self.critic(features).squeeze(1)  # (N,) each
        # Rows, ids and afterstate indices of the C legal actions.
        row, action = torch.as_tensor(inputs.row), torch.as_tensor(inputs.action).long()
        position = torch.as_tensor(inputs.position)
        logits = torch.full((len(inputs), self.num_actions), -1e9)
        logits[row, action] = rating[position] + self.advice * torch.as_tensor(inputs.advice)
        policy = Categorical(logits=logits, validate_args=False)
        expected = policy.probs[row, action] * value[position]
        return policy, torch.zeros(len(inputs)).index_add(0, row, expected)

    @torch.no_grad()
    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the most probable actions, int64 (B,), given observations (B, entries) and masks (B, actions).

        This is the interface of players (`helsinki_env.agents.base`).
        """
        policy, _ = self(self.encode(observation, action_mask))
        actions: npt.NDArray[np.int64] = policy.logits.argmax(1).numpy()
        return actions


def lead(env: GameSeatVectorEnv, seats: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return each learner's points minus the mean points of the other players in the current games, (B,)."""
    points, players = env.states["points"].astype(np.float32), env.config.num_players
    own = points[np.arange(len(seats)), seats]
    ahead: npt.NDArray[np.float32] = own - (points[:, :players].sum(1) - own) / (players - 1)
    return ahead


def train(args: Args) -> tuple[Agent, PlayerResult]:
    """Train an agent; return it and its result in a match against the opponent."""
    counts = "num_envs", "num_steps", "total_timesteps", "num_minibatches", "update_epochs", "hidden", "eval_games"
    for name in counts:
        Node(getattr(args, name), UserError, name).integer(1)
    Node(args.seed, UserError, "seed").integer(0, 2**32 - 1)
    try:
        if args.save:
            check_writable(Path(args.save))
    except OSError as problem:
        raise UserError(f"save: {problem}") from None
    random.seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # as CleanRL does; nothing here draws from it
    torch.manual_seed(args.seed)
    config = spec_by_name(args.game).config(num_players=args.num_players, reward="margin")
    env = GameSeatVectorEnv(args.num_envs, config, args.opponent, illegal_action="raise", autoreset_mode="SameStep")
    agent = Agent(config, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    writer = SummaryWriter(args.tensorboard) if args.tensorboard else None

    # Storage for one rollout.
    shape = (args.num_steps, args.num_envs)
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    global_step, start_time = 0, time.time()
    next_obs, info = env.reset(seed=args.seed)
    next_lead = lead(env, info["seat"])
    num_iterations = max(1, args.total_timesteps // (args.num_steps * args.num_envs))
    for iteration in range(1, num_iterations + 1):
        optimizer.param_groups[0]["lr"] = (1 - (iteration - 1) / num_iterations) * args.learning_rate

        # Play a rollout.
        margins: list[float] = []
        wins: list[float] = []
        inputs: list[AfterstateBatch] = []
        for step in range(args.num_steps):
            global_step += args.num_envs
            inputs.append(agent.encode(next_obs["observation"], next_obs["action_mask"]))
            with torch.no_grad():
                policy, values[step] = agent(inputs[step])
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
            next_obs, margin, terminated, _, info = env.step(actions[step].numpy())
            # For a game that has just ended, use the final margin: `states` already contains the next game.
            last_lead, next_lead = next_lead, lead(env, info["seat"])
            rewards[step] = torch.as_tensor(np.where(terminated, margin, next_lead) - last_lead) / 10
            dones[step] = torch.as_tensor(terminated)
            if terminated.any():
                final = info["final_info"]
                margins += margin[terminated].tolist()
                wins += fractional_wins(final["places"])[np.arange(args.num_envs), final["seat"]][terminated].tolist()

        # Generalized advantage estimation.
        with torch.no_grad():
            _, next_value = agent(agent.encode(next_obs["observation"], next_obs["action_mask"]))
            advantages, last = torch.zeros_like(rewards), torch.zeros(args.num_envs)
            for t in reversed(range(args.num_steps)):
                following = values[t + 1] if t + 1 < args.num_steps else next_value
                delta = rewards[t] + args.gamma * following * (1 - dones[t]) - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * (1 - dones[t]) * last
            returns = advantages + values

        # Train on the steps with at least two legal actions.
        b_inputs = AfterstateBatch.join(inputs)
        b_actions, b_logprobs = actions.flatten(), logprobs.flatten()
        b_advantages, b_returns = advantages.flatten(), returns.flatten()
        choices = torch.as_tensor(np.diff(b_inputs.first) > 1).nonzero().squeeze(1)
        for _ in range(args.update_epochs):
            for mb in choices[torch.randperm(len(choices))].chunk(args.num_minibatches):
                policy, value = agent(b_inputs.take(mb.numpy()))
                ratio = (policy.log_prob(b_actions[mb]) - b_logprobs[mb]).exp()
                mb_advantages = b_advantages[mb]
                deviation = mb_advantages.std(correction=min(1, len(mb) - 1))  # 0 for a single step
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (deviation + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(mb_advantages * ratio, mb_advantages * clipped).mean()
                v_loss = 0.5 * (value - b_returns[mb]).square().mean()
                entropy = policy.entropy().mean()
                loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        # Report.
        sps = global_step / (time.time() - start_time)
        metrics = {
            "charts/margin": float(np.mean(margins)) if margins else float("nan"),
            "charts/win_rate": float(np.mean(wins)) if wins else float("nan"),
            "charts/SPS": sps,
            "losses/policy": pg_loss.item(),
            "losses/value": v_loss.item(),
            "losses/entropy": entropy.item(),
        }
        if writer is not None:
            for name, value in metrics.items():
                writer.add_scalar(name, value, global_step)
        if iteration % max(1, num_iterations // 20) == 0:
            print(
                f"{global_step:>9,} steps, {sps:,.0f} a second: margin {metrics['charts/margin']:+.1f} points, "
                f"won {metrics['charts/win_rate']:.1%}, entropy {metrics['losses/entropy']:.2f}",
                flush=True,
            )

    if writer is not None:
        writer.close()
    if args.save:
        with atomic_write(Path(args.save), follow=True) as file:
            torch.save(agent.state_dict(), file)
    players: list[Any] = [agent, *[args.opponent] * (args.num_players - 1)]
    result = play_match(players, games=args.eval_games, config=config, seed=args.seed).result(0)
    print(f"against {args.opponent}: {result}")
    return agent, result


if __name__ == "__main__":
    prepare_output()
    try:
        train(tyro.cli(Args))
    except UserError as problem:
        sys.exit(f"helsinki_env.training.single_file_ppo: {problem}")
