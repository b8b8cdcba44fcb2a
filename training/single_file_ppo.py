"""PPO in one file, in the style of CleanRL: read it from top to bottom, change it, compare.

The agent learns one seat against a given opponent in a batch of games. Run it with

    python -m helsinki_env.training.single_file_ppo --total-timesteps 2000000 --save agent.pt

It prints the training progress and, at the end, the win rate in a match against the opponent. Nothing is imported from
the project's own training (`helsinki train`), which is faster and much stronger.

Five details matter more than the rest:

1. Illegal actions get the logit -inf (`Agent.distribution`), when acting and when learning.
2. Rewards arrive at the end of a game only. Here each step is rewarded with the change of the lead in points, which
   sums to the final margin (`lead`). Such shaping does not change which policy is best.
3. Cards are codes in an observation. A network needs one weight for each code, not a multiple of the code
   (`Agent.embedding`).
4. Random play takes millions of games to find a plan. At first a teacher says what it would do in the positions that
   the agent reaches, and the policy imitates it (`teacher_coef`); the weight of the imitation is annealed to 0.
5. Steps with a single legal action teach the policy nothing and are left out of the minibatches.

Sources: Schulman and others (2017), "Proximal policy optimization algorithms"; Huang and others (2022), "The 37
implementation details of proximal policy optimization" and "CleanRL"; Huang and Ontanon (2022), "A closer look at
invalid action masking in policy gradient algorithms"; Ng and others (1999), "Policy invariance under reward
transformations".
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import tyro

from helsinki_env.agents.registry import make_player
from helsinki_env.engine.spec import spec_by_name, spec_of
from helsinki_env.envs.seat import GameSeatVectorEnv
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.match_stats import PlayerResult
from helsinki_env.utils.extras import requires_extra

with requires_extra("train", program=__name__ == "__main__"):
    import torch
    from torch import nn
    from torch.distributions import Categorical
    from torch.utils.tensorboard import SummaryWriter

__all__ = ["Agent", "Args", "train"]


@dataclass
class Args:
    """PPO in one file, in the style of CleanRL."""

    game: str = "helsinki"
    """Name of the game."""
    num_players: int = 2
    """Number of players."""
    opponent: str = "greedy"
    """Player of all other seats, in training and in the final match."""
    seed: int = 1
    """Random seed."""
    total_timesteps: int = 2_000_000
    """Number of actions of the learning seat."""
    num_envs: int = 256
    """Number of parallel games, B."""
    num_steps: int = 32
    """Steps of each game per rollout, T."""
    learning_rate: float = 1e-3
    """Initial learning rate, annealed linearly to 0."""
    gamma: float = 0.99
    """Discount factor."""
    gae_lambda: float = 0.95
    """Lambda of generalized advantage estimation."""
    num_minibatches: int = 4
    """Number of minibatches per epoch."""
    update_epochs: int = 3
    """Passes over each rollout."""
    clip_coef: float = 0.2
    """Clipping range of the probability ratio."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    vf_coef: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Maximum gradient norm."""
    teacher: str | None = "greedy"
    """Player to imitate at first; None learns from rewards alone."""
    teacher_coef: float = 1.0
    """Initial weight of the imitation loss, annealed linearly to 0."""
    teacher_fraction: float = 0.3
    """Fraction of the training in which the policy imitates the teacher."""
    hidden: int = 256
    """Width of the hidden layers."""
    eval_games: int = 1000
    """Number of games of the final match."""
    tensorboard: str | None = None
    """Folder for TensorBoard logs; None writes no logs."""
    save: str | None = None
    """File for the weights; None saves nothing."""


def layer_init(layer: nn.Linear, std: float = 2**0.5) -> nn.Linear:
    """Initialize a layer with orthogonal weights."""
    nn.init.orthogonal_(layer.weight, std)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    """Policy and value network; also a player, for matches.

    Args:
        config: configuration of the game.
        hidden: width of the hidden layers.
    """

    name = "single_file_ppo"

    def __init__(self, config: Any, hidden: int = 256) -> None:
        super().__init__()
        spec = spec_of(config)
        size, actions = spec.observation_size(config), spec.num_actions(config)
        assert spec.scales is not None
        scales = spec.scales(size)
        self.register_buffer("factors", 1 / torch.as_tensor(scales))
        # The entries of the observation that are codes: where `unpack` finds them in an array of positions.
        entries = import_module(f"helsinki_env.games.{spec.name}.observation").unpack(np.arange(size))
        coded = [entries["boards"][0, 0], *(entries[name] for name in ("display", "building") if name in entries)]
        self.register_buffer("coded", torch.as_tensor(np.concatenate([array.ravel() for array in coded])))
        codes = max(8, entries["hand"].size + 1)  # colors of tiles; card types; 0 means none
        self.register_buffer("offsets", codes * torch.arange(len(self.coded)))
        self.embedding = nn.EmbeddingBag(codes * len(self.coded), hidden, mode="sum")
        nn.init.normal_(self.embedding.weight, std=0.05)
        self.first = layer_init(nn.Linear(size, hidden))
        self.body = nn.Sequential(nn.ReLU(), layer_init(nn.Linear(hidden, hidden)), nn.ReLU())
        self.actor = layer_init(nn.Linear(hidden, actions), std=0.01)
        self.critic = layer_init(nn.Linear(hidden, 1), std=1.0)

    def features(self, observation: torch.Tensor) -> torch.Tensor:
        """Return the last hidden layer, (B, hidden), for observations int8 (B, F)."""
        codes = observation[:, self.coded].long() + self.offsets
        return self.body(self.first(observation * self.factors) + self.embedding(codes))

    def distribution(self, features: torch.Tensor, action_mask: torch.Tensor) -> Categorical:
        """Return the policy over legal actions; `action_mask` is int8 (B, A)."""
        return Categorical(logits=self.actor(features).masked_fill(action_mask == 0, -1e9), validate_args=False)

    def value(self, features: torch.Tensor) -> torch.Tensor:
        """Return the expected sum of future rewards, (B,)."""
        return self.critic(features).squeeze(1)

    @torch.no_grad()
    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the most probable actions, (B,), as every player does; see `helsinki_env.agents.base`."""
        features = self.features(torch.as_tensor(observation))
        return self.distribution(features, torch.as_tensor(action_mask)).probs.argmax(1).numpy()


def lead(env: GameSeatVectorEnv, seats: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return the points of each learner minus the mean of the others' points in the current games, (B,)."""
    points, players = env.states["points"].astype(np.float32), env.config.num_players
    own = points[np.arange(len(seats)), seats]
    return own - (points[:, :players].sum(1) - own) / (players - 1)


def train(args: Args) -> tuple[Agent, PlayerResult]:
    """Train an agent and return it with its result in a match against the opponent."""
    random.seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # as CleanRL does; nothing here draws from it
    torch.manual_seed(args.seed)
    config = spec_by_name(args.game).config(num_players=args.num_players, reward="margin")
    env = GameSeatVectorEnv(args.num_envs, config, args.opponent, illegal_action="raise", autoreset_mode="SameStep")
    teacher = None if args.teacher is None else make_player(args.teacher, config=config)
    rng = np.random.default_rng(args.seed)
    agent = Agent(config, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    writer = SummaryWriter(args.tensorboard) if args.tensorboard else None

    # Storage of one rollout.
    size, actions_n = env.single_observation_space["observation"].shape[0], int(env.single_action_space.n)
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, size), dtype=torch.int8)
    masks = torch.zeros((*shape, actions_n), dtype=torch.int8)
    actions, advice = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    global_step, start_time = 0, time.time()
    next_obs, info = env.reset(seed=args.seed)
    next_lead = lead(env, info["seat"])
    num_iterations = max(1, args.total_timesteps // (args.num_steps * args.num_envs))
    for iteration in range(1, num_iterations + 1):
        done = (iteration - 1) / num_iterations
        optimizer.param_groups[0]["lr"] = (1 - done) * args.learning_rate
        teacher_coef = args.teacher_coef * max(0.0, 1 - done / args.teacher_fraction) if teacher else 0.0

        # Play a rollout.
        margins: list[float] = []
        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step] = torch.as_tensor(next_obs["observation"])
            masks[step] = torch.as_tensor(next_obs["action_mask"])
            with torch.no_grad():
                features = agent.features(obs[step])
                policy = agent.distribution(features, masks[step])
                actions[step] = policy.sample()
                logprobs[step] = policy.log_prob(actions[step])
                values[step] = agent.value(features)
            if teacher is not None and teacher_coef > 0:
                keys = rng.integers(0, 2**64, args.num_envs, dtype=np.uint64)
                advice[step] = torch.as_tensor(teacher.act(next_obs["observation"], next_obs["action_mask"], keys))
            next_obs, margin, terminated, _, info = env.step(actions[step].numpy())
            # The lead of a game that has just ended is its final margin, `states` holds the next game already.
            last_lead, next_lead = next_lead, lead(env, info["seat"])
            rewards[step] = torch.as_tensor(np.where(terminated, margin, next_lead) - last_lead) / 10
            dones[step] = torch.as_tensor(terminated)
            margins += margin[terminated].tolist()

        # Generalized advantage estimation.
        with torch.no_grad():
            next_value = agent.value(agent.features(torch.as_tensor(next_obs["observation"])))
            advantages, last = torch.zeros_like(rewards), torch.zeros(args.num_envs)
            for t in reversed(range(args.num_steps)):
                following = values[t + 1] if t + 1 < args.num_steps else next_value
                delta = rewards[t] + args.gamma * following * (1 - dones[t]) - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * (1 - dones[t]) * last
            returns = advantages + values

        # Learn from the steps with a choice.
        b_obs, b_masks = obs.flatten(0, 1), masks.flatten(0, 1)
        b_actions, b_logprobs, b_advice = actions.flatten(), logprobs.flatten(), advice.flatten()
        b_advantages, b_returns = advantages.flatten(), returns.flatten()
        choices = (b_masks.sum(1, dtype=torch.int64) > 1).nonzero().squeeze(1)
        for _ in range(args.update_epochs):
            for mb in choices[torch.randperm(len(choices))].chunk(args.num_minibatches):
                features = agent.features(b_obs[mb])
                policy = agent.distribution(features, b_masks[mb])
                ratio = (policy.log_prob(b_actions[mb]) - b_logprobs[mb]).exp()
                mb_advantages = b_advantages[mb]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(mb_advantages * ratio, mb_advantages * clipped).mean()
                v_loss = 0.5 * (agent.value(features) - b_returns[mb]).square().mean()
                entropy = policy.entropy().mean()
                loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
                if teacher_coef > 0:
                    loss -= teacher_coef * policy.log_prob(b_advice[mb]).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        # Report.
        sps = global_step / (time.time() - start_time)
        metrics = {
            "charts/margin": float(np.mean(margins)) if margins else float("nan"),
            "charts/win_rate": float(np.mean(np.array(margins) > 0)) if margins else float("nan"),
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
        torch.save(agent.state_dict(), args.save)
    players: list[Any] = [agent, *[args.opponent] * (args.num_players - 1)]
    result = play_match(players, games=args.eval_games, config=config, seed=args.seed).result(0)
    print(f"against {args.opponent}: {result}")
    return agent, result


if __name__ == "__main__":
    train(tyro.cli(Args))
