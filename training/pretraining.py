"""Supervised pretraining, which learns state values from games that the heuristic plays against itself.

Such a game takes half a millisecond in compiled code, so a minute of pretraining achieves more than an hour of
self-play. Some actions are random, to cover states that the heuristic does not reach. Self-play
(`helsinki_env.training.ppo`) follows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import final_win_probability, select_action
from helsinki_env.agents.net.features import FeatureOffsets, apply_and_track_reveals, feature_offsets, write_features
from helsinki_env.agents.net.network import Network, NetworkOutput, pad_rows
from helsinki_env.agents.search.workspace import SearchWorkspace, new_workspace, reset_views
from helsinki_env.data import UserError
from helsinki_env.engine.arrays import key_array, writable_array
from helsinki_env.engine.contract import MAX_SEATS, determinize_state, score
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import batch_scores, write_mask
from helsinki_env.engine.playout import random_keys
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.training.checkpoint_io import load_module, load_optimizer, module_arrays, optimizer_arrays
from helsinki_env.training.matchups import MatchupConfig, check_numbers, divide_games
from helsinki_env.training.progress import PhaseCounters, Progress, cosine_anneal
from helsinki_env.training.random_streams import RandomStream
from helsinki_env.training.values import value_losses
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import nn

__all__ = ["Pretraining", "PretrainingConfig", "PretrainingSamples", "generate_samples"]


@dataclass(frozen=True)
class PretrainingConfig:
    """Settings of supervised pretraining.

    Args:
        samples: total number of samples; 0 skips pretraining.
        games: number of games per generated dataset.
        share: fraction of the turns that are used as samples.
        epsilon: probability of a random action.
        minibatch_size: minimum number of samples per minibatch, which has less than twice as many; a smaller dataset
            is one minibatch.
        learning_rate: learning rate after a linear warm-up over 5% of the samples, with cosine annealing to
            `final_lr_fraction` times this value.
        final_lr_fraction: final learning rate as a fraction of `learning_rate`.
        weight_decay: AdamW weight decay.
        score_coef: weight of the score loss (squared error in units of ten points).
        max_grad_norm: maximum norm for gradient clipping.
    """

    samples: int = 2_000_000
    games: int = 600
    share: float = 0.3
    epsilon: float = 0.03
    minibatch_size: int = 1024
    learning_rate: float = 2e-3
    final_lr_fraction: float = 0.02
    weight_decay: float = 0.05
    score_coef: float = 0.3
    max_grad_norm: float = 1.0

    def __post_init__(self) -> None:
        """Validate all values."""
        parts = dict.fromkeys(("share", "epsilon", "final_lr_fraction"), 1)
        positive = "learning_rate", "max_grad_norm"
        check_numbers(self, {"games": 1, "minibatch_size": 1}, parts | {"games": 1_000_000}, positive)
        if self.samples and not self.share:
            raise UserError("share: found 0, expected a fraction of the turns above 0")


@dataclass
class PretrainingSamples:
    """Training samples: positions at the ends of turns, with the results of their games.

    Attributes:
        seats: int8 (N, P, S). table: int8 (N, G). See `helsinki_env.agents.net.afterstates.AfterstateBatch`.
        wins: fractional win of each seat, viewer first, float32 (N, 4). scores: points of each seat, float32 (N, 4).
    """

    seats: npt.NDArray[np.int8]
    table: npt.NDArray[np.int8]
    wins: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float32]


@kernel
def _bernoulli(key, chance):
    """Return True with probability `chance`, using a random key."""
    return np.float64(key >> np.uint64(11)) * 2.0**-53 < chance


@kernel
def _random_legal(mask, key):
    """Sample a legal action uniformly at random."""
    legal = np.int64(0)
    for i in range(len(mask)):
        legal += mask[i]
    left = np.int64(key % np.uint64(legal))
    for i in range(len(mask)):
        if mask[i]:
            if left == 0:
                return np.int64(i)
            left -= 1
    return np.int64(-1)


@kernel
def _play(workspace, games, keys, share, epsilon, seat_at, table_at, seats, table, wins, scores, max_samples):
    """Play games to the end, store sampled positions at the ends of turns, and return the number of these samples."""
    t, p = workspace.tables[0], workspace.pieces[0]
    count = 0
    for b in range(len(games)):
        g = games[b]
        reset_views(workspace, keys[b])
        key, begin, drawn = keys[b], count, 0
        while not g.done:
            seat = np.int64(g.seat)
            write_mask(t, g, workspace.mask)
            key += GOLDEN
            if _bernoulli(mix(key), epsilon):
                action = _random_legal(workspace.mask, mix(key ^ GOLDEN))
            else:
                action = select_action(
                    t, p, workspace.weights[seat], g, workspace.views[seat], workspace.mask, workspace.values, False
                )
            drawn = apply_and_track_reveals(t, g, action, drawn)
            if g.seat == seat and not g.done:
                continue
            key += GOLDEN
            if _bernoulli(mix(key), share) and count < max_samples and not g.done:
                # Determinize first, because the sample must not reveal cards that the seat has not seen.
                workspace.trial[0] = g
                determinize_state(t, workspace.trial[0], seat, mix(~key), workspace.hidden[0], workspace.mask)
                write_features(
                    workspace, workspace.trial[0], seat, drawn, seat_at, table_at, seats[count], table[count]
                )
                wins[count, 0] = seat  # the viewer, stored here until the game ends
                count += 1
            drawn = 0
        for i in range(begin, count):
            viewer = np.int64(wins[i, 0])
            for turn in range(g.players):
                seat = (viewer + turn) % g.players
                wins[i, turn] = final_win_probability(t, g, seat)
                scores[i, turn] = score(t, g, seat)
    return count


def generate_samples(
    workspace: SearchWorkspace,
    offsets: FeatureOffsets,
    games: npt.NDArray[Any],
    keys: npt.NDArray[np.uint64],
    share: float,
    epsilon: float,
    seats: int = MAX_SEATS,
) -> PretrainingSamples:
    """Play dealt games (B,) to the end, in place, with the heuristic and return samples with `seats` seats each.

    `keys` are random keys, uint64 (B,). A fraction `share` of the turns is sampled, and a fraction `epsilon` of the
    actions is random.
    """
    games, keys = writable_array("games", games, workspace.trial.dtype, None), key_array("keys", keys, len(games))
    max_samples = int(len(games) * 120 * share) + 64  # 120 turns make a long game
    samples = PretrainingSamples(
        np.zeros((max_samples, seats, offsets.seat[-1]), np.int8),
        np.zeros((max_samples, offsets.table[-1]), np.int8),
        np.zeros((max_samples, MAX_SEATS), np.float32),
        np.zeros((max_samples, MAX_SEATS), np.float32),
    )
    arrays = samples.seats, samples.table, samples.wins, samples.scores
    n = _play(workspace, games, keys, share, epsilon, offsets.seat, offsets.table, *arrays, max_samples)
    return PretrainingSamples(samples.seats[:n], samples.table[:n], samples.wins[:n], samples.scores[:n])


class Pretraining(PhaseCounters):
    """Pretraining phase, which trains on one dataset while a thread generates the next one."""

    counted = ("updates", "positions", "games")
    updates: int
    positions: int
    games: int

    def __init__(
        self,
        network: Network,
        game: Any,
        matchups: Sequence[MatchupConfig],
        config: PretrainingConfig,
        seed: int,
        fast: bool,
    ) -> None:
        super().__init__(config.samples)
        self.network, self.game, self.config, self.seed, self.fast = network, game, config, seed, fast
        self.optimizer = torch.optim.AdamW(
            network.parameters(), config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.most_players = max(max(matchup.players) for matchup in matchups)
        parts = divide_games(matchups, game, config.games)
        self.envs = [
            GameVectorEnv(part.games, part.config, episodes=part.matchup.episodes(part.config)) for part in parts
        ]
        workspaces = {part.config.components: new_workspace(part.config) for part in parts}
        self._workspaces = [workspaces[part.config.components] for part in parts]
        self._offsets = feature_offsets(game, network.config.ahead)
        self._worker = ThreadPoolExecutor(1, "pretraining")
        self._next: Future[tuple[list[PretrainingSamples], float]] | None = None

    def _generate(self, number: int) -> tuple[list[PretrainingSamples], float]:
        """Return a dataset and the mean points per seat in its games, which depend only on the seed and the number."""
        samples, points = [], []
        for i, (env, workspace) in enumerate(zip(self.envs, self._workspaces, strict=True)):
            seed = int(RandomStream.DATASET.generator(self.seed, number, i).integers(2**50))
            env.reset(seed=seed)
            keys, c = random_keys(env.num_envs, seed + 1), self.config
            samples.append(
                generate_samples(workspace, self._offsets, env.states, keys, c.share, c.epsilon, self.most_players)
            )
            scores, ranks = np.zeros((2, env.num_envs, MAX_SEATS), np.int64)
            batch_scores(workspace.tables[0], env.states, scores, ranks)
            points.append(scores.sum(axis=1) / env.states["players"])
        return samples, float(np.concatenate(points).mean())

    def begin(self) -> None:
        """Do nothing, because this is the first phase."""

    def update(self) -> Progress:
        """Train on one dataset."""
        began = time.perf_counter()
        parts, points = (self._next or self._worker.submit(self._generate, self.updates)).result()
        waited = time.perf_counter() - began
        samples = PretrainingSamples(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("seats", "table", "wins", "scores"))
        )
        n, c = len(samples.table), self.config
        if not n:
            raise UserError(
                f"pretraining: found no sample in {c.games} games with share {c.share:g}, expected some; increase "
                "games or share"
            )
        self.updates += 1
        is_last = self.positions + n >= c.samples
        self._next = None if is_last else self._worker.submit(self._generate, self.updates)
        order = RandomStream.PRETRAINING_ORDER.generator(self.seed, self.updates).permutation(n)
        losses, annealed = [], cosine_anneal(self.done, c.final_lr_fraction)
        for rows in np.array_split(order, max(1, n // c.minibatch_size)):
            self.positions += len(rows)
            warmup = min(1.0, self.positions / (0.05 * c.samples))
            losses.append(self._step(samples, rows, c.learning_rate * annealed * warmup))
        self.games += c.games
        return Progress(
            part="pretraining",
            done=self.done,
            decisions=self.positions,
            games=self.games,
            points=points,
            losses={name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]},
            seconds={"waiting": waited, "learning": time.perf_counter() - began - waited},
        )

    def _step(self, samples: PretrainingSamples, rows: npt.NDArray[np.int64], learning_rate: float) -> dict[str, float]:
        c = self.config
        device = self.network.group.device
        seats, table, wins, scores = (
            torch.from_numpy(x[rows]).to(device) for x in (samples.seats, samples.table, samples.wins, samples.scores)
        )
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        with torch.autocast(device.type, torch.bfloat16, enabled=self.fast):
            output = self.network(pad_rows(seats), pad_rows(table))
        win_loss, score_loss = value_losses(NetworkOutput(*(values[: len(rows)] for values in output)), wins, scores)
        self.optimizer.zero_grad(set_to_none=True)
        (win_loss + c.score_coef * score_loss).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), c.max_grad_norm)
        self.optimizer.step()
        return {"win_loss": win_loss.item(), "score_loss": score_loss.item()}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything that the next update depends on, except `counts`."""
        return module_arrays("network", self.network) | optimizer_arrays("optimiser", self.optimizer)

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore a state returned by `state` before the first update."""
        load_module("network", self.network, arrays)
        load_optimizer("optimiser", self.optimizer, arrays)

    def close(self) -> None:
        """Wait for the dataset in progress, and stop the thread."""
        self._worker.shutdown()
