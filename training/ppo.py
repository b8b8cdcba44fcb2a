"""Proximal policy optimization with action masks, on all seats of parallel games.

One policy plays all seats; in some games an opponent plays all seats except one. Each seat learns from its own
trajectory (`helsinki_env.training.values`). A copy of the network plays the next rollout while the network learns from
the previous one. The copy is updated only between rollouts, so results do not depend on timing.

Source: Schulman et al. (2017), "Proximal policy optimization algorithms"; masking as in Huang and Ontanon (2022),
"A closer look at invalid action masking".
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player
from helsinki_env.agents.net.network import AfterstateTensors, Network, NetworkOutput
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.training.checkpoint_io import load_module, load_optimizer, module_arrays, optimizer_arrays
from helsinki_env.training.matchups import check_numbers
from helsinki_env.training.progress import PhaseCounters, Progress, cosine_anneal
from helsinki_env.training.random_streams import RandomStream
from helsinki_env.training.rollout import Rollout, RolloutCollector
from helsinki_env.training.search_targets import search_losses
from helsinki_env.training.values import compute_gae, to_viewer_order, value_losses, viewer_value
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import nn

__all__ = ["PPO", "PPOConfig", "SelfPlayPhase"]

StateArrays = dict[str, npt.NDArray[Any]]
NetworkT = TypeVar("NetworkT", bound=nn.Module)
CollectorT = TypeVar("CollectorT", bound=Any)
OpponentT = TypeVar("OpponentT")

#: Upper bounds to limit memory use.
_MOST = {"num_envs": 100_000, "num_steps": 10_000}


@dataclass(frozen=True)
class PPOConfig:
    """Settings of PPO: section ``ppo`` of a preset (``configs/training/*.yaml``).

    Args:
        total_timesteps: total number of self-play steps; 0 skips self-play.
        num_envs: number of parallel games B.
        num_steps: number of steps T per game in each rollout.
        fixed_opponent_fraction: fraction of the games in which the learner has one seat and an opponent from the pool
            plays the others.
        random_start_fraction: fraction of the games that begin with random actions, which are not training data.
        random_start_actions: maximum number of these actions; each number from 1 is equally likely.
        update_epochs: number of passes over each rollout.
        minibatch_size: minimum number of actions per minibatch, which has less than twice as many; a smaller rollout
            is one minibatch.
        learning_rate: initial learning rate, with cosine annealing to `final_lr_fraction` times this value.
        final_lr_fraction: final learning rate and entropy bonus as a fraction of their initial values.
        gamma: discount factor per action of the same seat.
        gae_lambda: lambda for generalized advantage estimation.
        clip_coef: clipping range of the probability ratio.
        policy_coef: policy loss coefficient; with 0, the policy follows only from the values, or from search targets.
        ent_coef: initial entropy coefficient, annealed like the learning rate.
        vf_coef: value loss coefficient.
        score_coef: weight of the final scores in the value loss (squared error in units of ten points).
        margin_coef: value of each point of lead over the mean score of the others, where a win is worth 1.
        max_grad_norm: maximum norm for gradient clipping.
    """

    total_timesteps: int = 2_000_000
    num_envs: int = 512
    num_steps: int = 64
    fixed_opponent_fraction: float = 0.0
    random_start_fraction: float = 0.0
    random_start_actions: int = 60
    update_epochs: int = 2
    minibatch_size: int = 2048
    learning_rate: float = 3e-4
    final_lr_fraction: float = 0.1
    gamma: float = 1.0
    gae_lambda: float = 0.92
    clip_coef: float = 0.2
    policy_coef: float = 1.0
    ent_coef: float = 0.003
    vf_coef: float = 0.5
    score_coef: float = 0.3
    margin_coef: float = 0.02
    max_grad_norm: float = 0.5

    def __post_init__(self) -> None:
        """Validate all values."""
        fractions = "fixed_opponent_fraction", "random_start_fraction", "final_lr_fraction", "gamma", "gae_lambda"
        counts = "num_envs", "num_steps", "random_start_actions", "update_epochs", "minibatch_size"
        positive = "learning_rate", "clip_coef", "max_grad_norm"
        check_numbers(self, dict.fromkeys(counts, 1), dict.fromkeys(fractions, 1) | _MOST, positive)


class SelfPlayPhase(PhaseCounters, Generic[NetworkT, CollectorT, OpponentT]):
    """Base class for self-play phases.

    Args:
        network: network to train.
        collector: collector that plays the rollouts.
        config: PPO settings.
        seed: random seed.
        opponent: function that returns the opponent of a rollout, given its number.
        fast: whether to compute in bfloat16.
    """

    updates: int
    decisions: int
    games: int
    optimizer: torch.optim.Optimizer

    def __init__(
        self,
        network: NetworkT,
        collector: CollectorT,
        config: PPOConfig,
        seed: int,
        opponent: Callable[[int], OpponentT],
        fast: bool,
    ) -> None:
        super().__init__(config.total_timesteps)
        self.network, self.collector, self.config = network, collector, config
        self.envs = collector.envs
        self.seed, self.opponent, self.fast = seed, opponent, fast
        self.set_up()

    def set_up(self) -> None:
        """Create the optimizer and all other objects needed for the updates."""
        raise NotImplementedError

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore a state returned by `state` before the first update; `counts` must already be set."""
        load_module("network", self.network, arrays)
        load_optimizer("optimiser", self.optimizer, arrays)
        collector = {name.removeprefix("stage."): array for name, array in arrays.items() if name.startswith("stage.")}
        self.collector.restore(collector)


class PPO(SelfPlayPhase[Network, RolloutCollector, Sequence[Player]]):
    """Self-play training of an afterstate network."""

    def set_up(self) -> None:
        """Create the optimizer, the copy of the network that plays rollouts, and its thread."""
        self.optimizer = torch.optim.Adam(self.network.parameters(), self.config.learning_rate, eps=1e-5, fused=True)
        self.playing = copy.deepcopy(self.network)
        self._worker = ThreadPoolExecutor(1, "rollout")
        self._next: Future[Rollout] | None = None
        self._rollout_start: StateArrays = {}

    def begin(self) -> None:
        """Start self-play with the pretrained weights."""
        self.playing.load_state_dict(self.network.state_dict())

    def update(self) -> Progress:
        """Train on one rollout while a thread plays the next one."""
        began = time.perf_counter()
        rollout = (self._next or self._play()).result()
        waited = time.perf_counter() - began
        self.updates += 1
        self.playing.load_state_dict(self.network.state_dict())
        self._rollout_start = self.collector.state()
        is_last = self.decisions + len(rollout.action) >= self.config.total_timesteps
        self._next = None if is_last else self._play()
        losses = self._learn(rollout)
        self.decisions += len(rollout.action)
        self.games += rollout.games
        return Progress(
            part="self-play",
            done=self.done,
            decisions=self.decisions,
            games=self.games,
            points=rollout.points,
            losses=losses,
            seconds=rollout.seconds | {"learning": time.perf_counter() - began - waited, "waiting": waited},
        )

    def _play(self) -> Future[Rollout]:
        """Start the next rollout."""
        opponent = self.opponent(self.updates) if self.config.fixed_opponent_fraction else ()
        return self._worker.submit(
            self.collector.play, self.playing, opponent, self.config.num_steps, self.updates, self.fast
        )

    def _learn(self, rollout: Rollout) -> dict[str, float]:
        c, n = self.config, len(rollout.action)
        lr_anneal = cosine_anneal(self.done, c.final_lr_fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = c.learning_rate * lr_anneal
        advantages = compute_gae(
            rollout.decision, rollout.seat, rollout.ended, rollout.outcome, rollout.expected, rollout.after, MAX_SEATS,
            c.gamma, c.gae_lambda,
        )  # fmt: skip
        returns = rollout.expected + advantages
        halves = returns[:, :MAX_SEATS], returns[:, MAX_SEATS:]
        wins, scores = (to_viewer_order(half, rollout.viewer, rollout.players) for half in halves)
        wins = np.clip(wins, 0.0, 1.0)
        wins /= np.maximum(wins.sum(axis=1, keepdims=True), 1e-6)
        advantage = viewer_value(advantages, rollout.viewer, rollout.players, c.margin_coef)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        searched = rollout.arms, rollout.policy_target, rollout.value_target
        shuffled = RandomStream.PPO_ORDER.generator(self.seed, self.updates)
        losses: list[dict[str, float]] = []
        for _ in range(c.update_epochs):
            order = shuffled.permutation(n)
            for rows in np.array_split(order, max(1, n // c.minibatch_size)):
                targets = (rollout.action, rollout.log_prob, advantage, wins, scores, *searched)
                batch = [torch.from_numpy(target[rows]).to(self.collector.device) for target in targets]
                losses.append(
                    self._step(AfterstateTensors.of(rollout.inputs.take(rows), self.collector.device), batch, lr_anneal)
                )
        return {name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]}

    def _step(self, x: AfterstateTensors, batch: list[torch.Tensor], lr_anneal: float) -> dict[str, float]:
        c, search = self.config, self.collector.search
        action, old, advantage, wins, scores, *searched = batch
        with torch.autocast(self.collector.device.type, torch.bfloat16, enabled=self.fast):
            output = self.network(x.seats, x.table)
        log_probs = self.network.log_probs(x, output)
        taken = x.action == action[x.row]
        new = log_probs[taken]
        ratio = (new - old).exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - c.clip_coef, 1 + c.clip_coef) * advantage).mean()
        entropy = -(log_probs.exp() * log_probs).sum() / x.decisions
        # The value target of an afterstate is the return of its action.
        afterstate = x.position[taken]
        win_loss, score_loss = value_losses(NetworkOutput(*(part[afterstate] for part in output)), wins, scores)
        loss = (
            -c.policy_coef * gain
            - c.ent_coef * lr_anneal * entropy
            + c.vf_coef * (win_loss + c.score_coef * score_loss)
        )
        search_terms: dict[str, float] = {}
        if search.share:
            policy_loss, value_loss = search_losses(x, output, log_probs, *searched)
            loss = loss + search.policy * policy_loss + search.values * value_loss
            search_terms = {"search_policy": policy_loss.item(), "search_values": value_loss.item()}
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # PyTorch's own
        nn.utils.clip_grad_norm_(self.network.parameters(), c.max_grad_norm)
        self.optimizer.step()
        return {
            "entropy": entropy.item(),
            "win_loss": win_loss.item(),
            "score_loss": score_loss.item(),
            "kl": ((ratio - 1) - (new - old)).mean().item(),
            "clipped": ((ratio - 1).abs() > c.clip_coef).float().mean().item(),
            **search_terms,
        }

    def state(self) -> StateArrays:
        """Return everything that the next update depends on, except `counts`; a resumed run repeats the rollout."""
        arrays = module_arrays("network", self.network) | module_arrays("playing", self.playing)
        arrays |= optimizer_arrays("optimiser", self.optimizer)
        arrays |= {f"stage.{name}": array for name, array in (self._rollout_start or self.collector.state()).items()}
        return arrays

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore a state returned by `state` before the first update; `counts` must already be set."""
        super().restore(arrays)
        load_module("playing", self.playing, arrays)

    def wait_for_rollout(self) -> None:
        """Wait until the current rollout ends."""
        if self._next is not None:
            self._next.result()

    def close(self) -> None:
        """Wait until the current rollout ends, and stop the thread."""
        self._worker.shutdown()
