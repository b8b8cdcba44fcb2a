"""PPO as in `helsinki_env.training.ppo`, but with games, network and training data on one device.

Playing and learning alternate. A minibatch has the same number of steps from every game, so it is split equally among
the processes.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.training.checkpoint_io import module_arrays, optimizer_arrays
from helsinki_env.training.gpu.rollout import CudaGraph, GpuRolloutCollector, RolloutBuffer
from helsinki_env.training.gpu.tensors import (
    compute_gae,
    game_keys,
    hash_key,
    shuffled_steps,
    to_viewer_order,
    viewer_value,
)
from helsinki_env.training.ppo import SelfPlayPhase
from helsinki_env.training.progress import Progress, cosine_anneal
from helsinki_env.training.values import value_errors
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor, nn

_LOSSES = ("entropy", "win_loss", "score_loss", "kl", "clipped")
#: Seed offset that makes the order of the minibatches independent of the actions.
_ORDER = 1 << 40


class GpuPPO(SelfPlayPhase[MLPNetwork, GpuRolloutCollector, MLPNetwork]):
    """Self-play training of an MLP. In `config`, `minibatch_size` is a minimum number of game steps."""

    def set_up(self) -> None:
        """Create the optimizer, the opponent's network and the tensors for the training data."""
        network, collector, config = self.network, self.collector, self.config
        device, on_gpu = collector.device, collector.device.type == "cuda"
        rate = (
            torch.tensor(config.learning_rate, dtype=torch.float32, device=device) if on_gpu else config.learning_rate
        )
        self.optimizer = torch.optim.Adam(network.parameters(), rate, eps=1e-5, fused=True, capturable=on_gpu)
        self.rival = copy.deepcopy(network)
        steps = collector.steps * config.num_envs
        #: Number of equally sized minibatches per pass.
        self.num_minibatches = next(
            n
            for n in range(min(collector.steps, max(1, steps // config.minibatch_size)), 0, -1)
            if collector.steps % n == 0
        )
        rows = collector.steps // self.num_minibatches * collector.games
        self._rows = torch.zeros(rows, dtype=torch.int64, device=device)
        self._lr_anneal = torch.ones((), dtype=torch.float32, device=device)
        self._losses = torch.zeros(len(_LOSSES), dtype=torch.float32, device=device)
        targets = collector.steps * collector.games
        self._advantage = torch.zeros(targets, dtype=torch.float32, device=device)
        self._wins, self._scores = torch.zeros((2, targets, MAX_SEATS), dtype=torch.float32, device=device)
        # Communication between processes cannot be captured in a CUDA graph.
        alone = collector.group.size == 1
        self._step = CudaGraph(self._train_minibatch, device if alone else torch.device("cpu"))

    def begin(self) -> None:
        """Do nothing, because the network that learns also plays."""

    def update(self) -> Progress:
        """Play a rollout and train on it."""
        began = time.perf_counter()
        self.updates += 1
        if self.config.fixed_opponent_fraction:
            self.rival.load_state_dict(self.opponent(self.updates).state_dict())
        buffer = self.collector.play(self.network, self.rival, self.updates, self.fast)
        counted = torch.cat([buffer.trained.sum().double()[None], self.collector.counted])
        decisions, games, points = self.collector.group.all_reduce(counted).tolist()  # synchronizes with the device
        played = time.perf_counter()
        losses = self._learn(buffer)
        self.decisions += int(decisions)
        self.games += int(games)
        return Progress(
            part="self-play",
            done=self.done,
            decisions=self.decisions,
            games=self.games,
            points=points / games if games else float("nan"),
            losses=losses,
            seconds={"playing": played - began, "learning": time.perf_counter() - played},
        )

    def _learn(self, buffer: RolloutBuffer) -> dict[str, float]:
        c = self.config
        lr_anneal = cosine_anneal(self.done, c.final_lr_fraction)
        self._lr_anneal.fill_(lr_anneal)
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(c.learning_rate * lr_anneal)
            else:
                group["lr"] = c.learning_rate * lr_anneal
        self._write_targets(buffer)
        self._losses.zero_()
        games = torch.arange(self.collector.games, device=self.collector.device)
        numbers = torch.from_numpy(self.collector.numbers.astype(np.int32)).to(self.collector.device)
        for epoch in range(c.update_epochs):
            hashed = hash_key(self.seed + _ORDER, self.updates, epoch)
            key = torch.tensor(hashed, dtype=torch.int32, device=self.collector.device)
            order = shuffled_steps(game_keys(key, numbers), self.collector.steps)
            for steps in (order * self.collector.games + games).chunk(self.num_minibatches):
                self._rows.copy_(steps.flatten())
                self._step()
        losses = self.collector.group.all_reduce(self._losses) / (c.update_epochs * self.num_minibatches)
        return dict(zip(_LOSSES, losses.tolist(), strict=True))

    @torch.no_grad()
    def _write_targets(self, buffer: RolloutBuffer) -> None:
        """Compute value targets and normalized advantages."""
        c = self.config
        advantages = compute_gae(
            buffer.trained, buffer.seat, buffer.ended, buffer.outcome, buffer.expected, buffer.last, MAX_SEATS,
            c.gamma, c.gae_lambda,
        )  # fmt: skip
        returns = buffer.expected + advantages
        halves = returns[..., :MAX_SEATS], returns[..., MAX_SEATS:]
        wins, scores = (to_viewer_order(half, buffer.seat, buffer.players) for half in halves)
        wins = wins.clamp(0.0, 1.0)
        self._wins.copy_((wins / wins.sum(-1, keepdim=True).clamp_min(1e-6)).flatten(0, 1))
        self._scores.copy_(scores.flatten(0, 1))
        value = viewer_value(advantages, buffer.seat, buffer.players, c.margin_coef).double()
        mine = buffer.trained.double()
        count, total, squares = self.collector.group.all_reduce(
            torch.stack([mine.sum(), (value * mine).sum(), (value.square() * mine).sum()])
        )
        mean = total / count.clamp_min(1)
        deviation = (squares / count.clamp_min(1) - mean.square()).clamp_min(0).sqrt()
        self._advantage.copy_(((value - mean) / (deviation + 1e-8)).flatten())

    def _train_minibatch(self) -> None:
        """Take one optimizer step on the minibatch `_rows`."""
        c, buffer, rows = self.config, self.collector.buffer, self._rows

        def taken(values: Tensor) -> Tensor:
            return values.flatten(0, 1).index_select(0, rows)

        mine = taken(buffer.trained).float()
        # The gradients of all processes are added, so each loss is divided by the number of samples in all processes.
        share = mine * (1 / self.collector.group.all_reduce(mine.sum()).clamp_min(1))
        with torch.autocast(self.collector.device.type, torch.bfloat16, enabled=self.fast, cache_enabled=False):
            output = self.network(taken(buffer.observation), self.collector.most_players)
        log_probs = output.log_probs(taken(buffer.mask))
        new = log_probs.gather(1, taken(buffer.action)[:, None])[:, 0]
        old, advantage = taken(buffer.log_prob), self._advantage.index_select(0, rows)
        ratio = (new - old).exp()
        gain = (torch.min(ratio * advantage, ratio.clamp(1 - c.clip_coef, 1 + c.clip_coef) * advantage) * share).sum()
        entropy = -((log_probs.exp() * log_probs).sum(1) * share).sum()
        wins, scores = self._wins.index_select(0, rows), self._scores.index_select(0, rows)
        win_loss, score_loss = ((error * share).sum() for error in value_errors(output, wins, scores))
        loss = (
            -c.policy_coef * gain
            - c.ent_coef * self._lr_anneal * entropy
            + c.vf_coef * (win_loss + c.score_coef * score_loss)
        )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.collector.group.sum_gradients(self.network)
        nn.utils.clip_grad_norm_(self.network.parameters(), c.max_grad_norm)
        self.optimizer.step()
        with torch.no_grad():
            kl = ((ratio - 1 - (new - old)) * share).sum()
            clipped = (((ratio - 1).abs() > c.clip_coef).float() * share).sum()
            self._losses += torch.stack([entropy, win_loss, score_loss, kl, clipped]).detach()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything that the next update depends on, except `counts`; all processes must call this."""
        arrays = module_arrays("network", self.network) | optimizer_arrays("optimiser", self.optimizer)
        return arrays | {f"stage.{name}": array for name, array in self.collector.state().items()}

    def close(self) -> None:
        """Do nothing, because there is no background thread."""
