"""Proximal policy optimisation on all seats of a batch of games, with masked decisions.

Source: Schulman et al. (2017), "Proximal policy optimization algorithms"; masking as in Huang and Ontanon (2022), "A
closer look at invalid action masking". One policy plays every seat; each seat learns from its own trajectory
(`segments`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode

from agents.network import ActorCritic, NetworkConfig
from helsinki_env.config import GameConfig
from helsinki_env.envs.vector import HelsinkiVectorEnv
from training.segments import Rollout, advantages

__all__ = ["Learner", "PPOConfig", "Progress"]


@dataclass(frozen=True)
class PPOConfig:
    """How to learn. All values can stand in a preset (``configs/training/*.yaml``).

    Args:
        decisions: decisions to learn from in all.
        games: games played side by side (B).
        steps: decisions in each game between two updates (T).
        epochs: passes over a rollout.
        batch: decisions in a minibatch.
        learning_rate: at the beginning; it falls linearly to a tenth.
        discount: for each own decision.
        decay: lambda of the advantage estimate.
        clip: limit of the change of a probability ratio.
        entropy: weight of the entropy bonus at the beginning; it falls linearly to a tenth.
        value: weight of the value loss.
        max_grad_norm: limit of the gradient's norm.
        win: what a win counts (the others lose as much together).
        margin: what each point above the mean of the others counts.
    """

    decisions: int = 2_000_000
    games: int = 512
    steps: int = 64
    epochs: int = 2
    batch: int = 4096
    learning_rate: float = 1e-3
    discount: float = 1.0
    decay: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    max_grad_norm: float = 0.5
    win: float = 0.5
    margin: float = 0.1

    def __post_init__(self) -> None:
        """Check every value."""
        for item in fields(self):
            value = getattr(self, item.name)
            whole = item.type == "int"
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value < 0:
                expected = "a whole number" if whole else "a number"
                raise ValueError(f"{item.name}: found {value!r}, expected {expected} of at least 0")
            if value == 0 and whole:
                raise ValueError(f"{item.name}: found 0, expected at least 1")


@dataclass
class Progress:
    """What one update tells.

    Attributes:
        decisions: decisions learned from so far.
        games: games finished so far.
        score: mean points of a seat in the games that ended during the update, NaN if none did.
        returned: mean return of the winners in those games (the returns of all seats sum to zero).
        length: mean decisions of a game so far.
        losses: means over the update: entropy, value_loss, kl, clipped.
    """

    decisions: int = 0
    games: int = 0
    score: float = float("nan")
    returned: float = float("nan")
    length: float = float("nan")
    losses: dict[str, float] = field(default_factory=dict)


class Learner:
    """Plays and learns.

    Args:
        game: what is played.
        config: how to learn.
        network: size of the network.
        seed: of weights, games and decisions; the same seed gives the same weights on the same machine.
        device: "cpu" or "cuda".
    """

    def __init__(
        self,
        game: GameConfig,
        config: PPOConfig | None = None,
        network: NetworkConfig | None = None,
        seed: int = 0,
        device: str = "cpu",
        num_threads: int | None = None,
    ) -> None:
        self.game, self.config, self.seed = game, config or PPOConfig(), seed
        self.device = torch.device(device)
        torch.manual_seed(seed)
        self.model = ActorCritic(game, network).to(self.device)
        self.optimiser = torch.optim.Adam(self.model.parameters(), self.config.learning_rate, eps=1e-5)
        self.generator = torch.Generator(self.device).manual_seed(seed)
        self.shuffler = np.random.default_rng(seed)
        self.env = HelsinkiVectorEnv(
            self.config.games, autoreset_mode=AutoresetMode.SAME_STEP, num_threads=num_threads, config=game
        )
        self.obs, info = self.env.reset(seed=seed)
        self.seat = info["seat"]
        size, ids = self.obs["observation"].shape[1], self.obs["action_mask"].shape[1]
        self.rollout = Rollout.empty(self.config.steps, self.config.games, size, ids, game.num_players)
        self.progress = Progress()

    def updates(self) -> Iterator[Progress]:
        """Play and learn, update by update, until the configured number of decisions."""
        while self.progress.decisions < self.config.decisions:
            yield self.update(self.progress.decisions / self.config.decisions)

    def update(self, done: float) -> Progress:
        """Play one rollout and learn from it; `done` is the part of the training that lies behind."""
        scores = self._play()
        losses = self._learn(done)
        p, ended = self.progress, self.rollout.ended
        p.returned = float(self.rollout.rewards[ended].max(axis=1).mean()) if ended.any() else float("nan")
        p.decisions += self.rollout.action.size
        p.games += len(scores)
        p.score = float(np.mean(scores)) if len(scores) else float("nan")
        p.length = p.decisions / p.games if p.games else float("nan")
        p.losses = losses
        return p

    @torch.no_grad()
    def _play(self) -> npt.NDArray[np.float64]:
        r, scores = self.rollout, []
        r.rewards[:] = 0.0
        for t in range(self.config.steps):
            r.observation[t], r.mask[t] = self.obs["observation"], self.obs["action_mask"]
            r.seat[t] = self.seat
            log_probs, values = self.model(self._tensor(r.observation[t]), self._tensor(r.mask[t]))
            action = self._sample(log_probs)
            r.log_prob[t] = log_probs.gather(1, action[:, None]).squeeze(1).cpu().numpy()
            r.value[t] = values.cpu().numpy()
            r.action[t] = action.cpu().numpy()
            self.obs, _, r.ended[t], _, info = self.env.step(r.action[t])
            self.seat = info["seat"]
            if "_rewards" in info:
                ended = info["_rewards"]
                r.rewards[t][ended] = self._rewards(info["scores"][ended], info["places"][ended])
                scores.append(info["scores"][ended].mean(1))
        return np.concatenate(scores) if scores else np.zeros(0)

    def _sample(self, log_probs: torch.Tensor) -> torch.Tensor:
        """Draw from the policy by the exponential race: as exact as any other way, and fast."""
        race = torch.empty_like(log_probs).exponential_(generator=self.generator)
        return (log_probs.exp() / race).argmax(1)

    def _rewards(self, scores: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Return what each seat gets, float32 (n, P): sums to zero over the seats."""
        others = scores.shape[1] - 1
        points = scores.astype(np.float32)
        margin = points - (points.sum(1, keepdims=True) - points) / others
        win = np.where(places == 0, 1.0, -1.0 / others)
        rewards: npt.NDArray[np.float32] = (self.config.win * win + self.config.margin * margin).astype(np.float32)
        return rewards

    @torch.no_grad()
    def _last_values(self) -> npt.NDArray[np.float32]:
        values = np.zeros((self.config.games, self.game.num_players), np.float32)
        for seat in range(self.game.num_players):
            obs = self.env.observe(np.full(self.config.games, seat))
            values[:, seat] = self.model.values(self._tensor(obs)).cpu().numpy()
        return values

    def _learn(self, done: float) -> dict[str, float]:
        c, r = self.config, self.rollout
        fade = 1.0 - 0.9 * min(1.0, done)
        for group in self.optimiser.param_groups:
            group["lr"] = c.learning_rate * fade
        advantage, returns = advantages(r, self._last_values(), c.discount, c.decay)
        flat = [self._flat(x) for x in (r.observation, r.mask, r.action, r.log_prob, advantage, returns)]
        losses: list[dict[str, float]] = []
        size = r.action.size
        for _ in range(c.epochs):
            order = torch.from_numpy(self.shuffler.permutation(size)).to(self.device)
            for start in range(0, size, c.batch):
                chosen = order[start : start + c.batch]
                losses.append(self._descend([x[chosen] for x in flat], c.entropy * fade))
        return {name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]}

    def _descend(self, batch: list[torch.Tensor], entropy_weight: float) -> dict[str, float]:
        c = self.config
        obs, mask, action, old, advantage, returns = batch
        log_probs, values = self.model(obs, mask)
        new = log_probs.gather(1, action[:, None]).squeeze(1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (new - old).exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - c.clip, 1 + c.clip) * advantage).mean()
        # Decisions with one legal answer have no entropy; the mean is over all the same.
        entropy = -(log_probs.exp() * log_probs.clamp_min(-50.0)).sum(1).mean()
        value_loss = (values - returns).square().mean()
        loss = -gain - entropy_weight * entropy + c.value * value_loss
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), c.max_grad_norm)
        self.optimiser.step()
        return {
            "entropy": entropy.item(),
            "value_loss": value_loss.item(),
            "kl": ((ratio - 1) - (new - old)).mean().item(),
            "clipped": ((ratio - 1).abs() > c.clip).float().mean().item(),
        }

    def _tensor(self, array: npt.NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _flat(self, array: npt.NDArray[Any]) -> torch.Tensor:
        return self._tensor(array.reshape(-1, *array.shape[2:]))

    def describe(self) -> dict[str, Any]:
        """Return everything that a checkpoint says about how it was made."""
        return {
            "game": self.game.to_dict(),
            "ppo": asdict(self.config),
            "network": asdict(self.model.config),
            "seed": self.seed,
            "decisions": self.progress.decisions,
            "games": self.progress.games,
        }
