"""Supervised pretraining: learn state values from games of the heuristic against itself.

Such a game takes half a millisecond in compiled code, so one minute of them is worth more than an hour of the
network's own games. Some actions are random, to cover states outside the heuristic's policy. Self-play
(`helsinki_env.training.ppo`) follows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import select_action
from helsinki_env.agents.net.afterstates import final_win_probability
from helsinki_env.agents.net.features import FeatureOffsets, apply_and_track_reveals, feature_offsets, write_features
from helsinki_env.agents.net.network import Network, NetworkOutput, pad_rows
from helsinki_env.agents.search.workspace import SearchWorkspace, new_workspace, reset_views
from helsinki_env.data import UserError
from helsinki_env.engine.arrays import key_array, writable_array
from helsinki_env.engine.contract import MAX_SEATS, determinize_state, score
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.playout import random_keys
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.training.checkpoint_io import load_module, load_optimizer, module_arrays, optimizer_arrays
from helsinki_env.training.checks import check_numbers
from helsinki_env.training.matchups import MatchupConfig, divide_games
from helsinki_env.training.progress import Progress
from helsinki_env.training.value_loss import value_losses
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import nn

__all__ = ["Pretraining", "PretrainingConfig", "PretrainingSamples", "generate_samples"]


@dataclass(frozen=True)
class PretrainingConfig:
    """Settings of supervised pretraining.

    Args:
        positions: total number of samples; 0 skips pretraining.
        games: games per generated dataset.
        share: fraction of the turns that become samples.
        stray: probability of a random action.
        batch: samples per minibatch.
        learning_rate: initial learning rate, annealed along a cosine to `last` times this value.
        last: final learning rate as a fraction of `learning_rate`.
        weight_decay: AdamW weight decay.
        scores: weight of the score loss (squared error in units of ten points).
        max_grad_norm: maximum gradient norm.
    """

    positions: int = 2_000_000
    games: int = 600
    share: float = 0.3
    stray: float = 0.03
    batch: int = 1024
    learning_rate: float = 2e-3
    last: float = 0.02
    weight_decay: float = 0.05
    scores: float = 0.3
    max_grad_norm: float = 1.0

    def __post_init__(self) -> None:
        """Check every value."""
        parts = dict.fromkeys(("share", "stray", "last"), 1)
        check_numbers(self, {"games": 1, "batch": 1}, parts | {"games": 1_000_000})
        if self.positions and not self.share:
            raise UserError("share: found 0, expected a part of the turns above 0")


@dataclass
class PretrainingSamples:
    """Samples: positions at the ends of turns, with the results of their games.

    Attributes:
        seats: int8 (N, P, S). table: int8 (N, G). See `helsinki_env.agents.net.afterstates.AfterstateBatch`.
        wins: win share of each seat, viewer first, float32 (N, 4). scores: points of each seat, float32 (N, 4).
    """

    seats: npt.NDArray[np.int8]
    table: npt.NDArray[np.int8]
    wins: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float32]


@kernel
def _below(word, chance):
    """Return true with probability `chance`, from a random key."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53 < chance


@kernel
def _random_legal(mask, word):
    """Sample a legal action uniformly."""
    legal = np.int64(0)
    for i in range(len(mask)):
        legal += mask[i]
    left = np.int64(word % np.uint64(legal))
    for i in range(len(mask)):
        if mask[i]:
            if left == 0:
                return np.int64(i)
            left -= 1
    return np.int64(-1)


@kernel
def _play(desk, games, words, share, stray, seat_at, table_at, seats, table, wins, scores, most):
    """Play games to the end, write sampled positions at the ends of turns, and return their number."""
    t, p = desk.tables[0], desk.pieces[0]
    found = 0
    for b in range(len(games)):
        g = games[b]
        reset_views(desk, words[b])
        word, begin, drawn = words[b], found, 0
        while not g.done:
            seat = np.int64(g.seat)
            write_mask(t, g, desk.mask)
            word += GOLDEN
            if _below(mix(word), stray):
                action = _random_legal(desk.mask, mix(word ^ GOLDEN))
            else:
                action = select_action(t, p, desk.weights[seat], g, desk.views[seat], desk.mask, desk.values, False)
            drawn = apply_and_track_reveals(t, g, action, drawn)
            if g.seat == seat and not g.done:
                continue
            word += GOLDEN
            if _below(mix(word), share) and found < most and not g.done:
                # Determinize first: the sample must not reveal hidden cards that the seat has not seen.
                desk.trial[0] = g
                determinize_state(t, desk.trial[0], seat, mix(~word), desk.hidden[0], desk.mask)
                write_features(desk, desk.trial[0], seat, drawn, seat_at, table_at, seats[found], table[found])
                wins[found, 0] = seat  # kept here until the game is over
                found += 1
            drawn = 0
        for i in range(begin, found):
            viewer = np.int64(wins[i, 0])
            for turn in range(g.players):
                seat = (viewer + turn) % g.players
                wins[i, turn] = final_win_probability(t, g, seat)
                scores[i, turn] = score(t, g, seat)
    return found


def generate_samples(
    desk: SearchWorkspace,
    at: FeatureOffsets,
    games: npt.NDArray[Any],
    words: npt.NDArray[np.uint64],
    share: float,
    stray: float,
    seats: int = MAX_SEATS,
) -> PretrainingSamples:
    """Let the heuristic play games to their end, in place, and keep some of the positions.

    Args:
        desk: to play at.
        at: where the parts of the inputs begin.
        games: records with all cards dealt, (B,).
        words: random numbers, uint64 (B,).
        share: part of the turns that is kept.
        stray: chance of a decision to be taken at random.
        seats: P, at least the players of the fullest game.
    """
    games, words = writable_array("games", games, desk.trial.dtype, None), key_array("words", words, len(games))
    most = int(len(games) * 120 * share) + 64  # turns of a long game
    lessons = PretrainingSamples(
        np.zeros((most, seats, at.seat[-1]), np.int8),
        np.zeros((most, at.table[-1]), np.int8),
        np.zeros((most, MAX_SEATS), np.float32),
        np.zeros((most, MAX_SEATS), np.float32),
    )
    n = _play(
        desk,
        games,
        words,
        share,
        stray,
        at.seat,
        at.table,
        lessons.seats,
        lessons.table,
        lessons.wins,
        lessons.scores,
        most,
    )
    return PretrainingSamples(lessons.seats[:n], lessons.table[:n], lessons.wins[:n], lessons.scores[:n])


class Pretraining:
    """Learns what positions are worth from lessons, while the next lesson is being played.

    Args:
        network: what learns, on its device.
        game: the games; only the component file matters.
        tables: what is played.
        config: how.
        seed: of games and minibatches.
        fast: compute in bfloat16.
    """

    def __init__(
        self,
        network: Network,
        game: Any,
        tables: Sequence[MatchupConfig],
        config: PretrainingConfig,
        seed: int,
        fast: bool,
    ) -> None:
        self.network, self.game, self.config, self.seed, self.fast = network, game, config, seed, fast
        self.optimizer = torch.optim.AdamW(
            network.parameters(), config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.updates, self.positions, self.games = 0, 0, 0
        self.most_players = max(max(table.players) for table in tables)
        self._envs = [
            GameVectorEnv(size, game, episodes=table.episodes(game))
            for table, size in divide_games(tables, config.games)
        ]
        self._desk, self._at = new_workspace(game), feature_offsets(game, network.config.ahead)
        self._worker = ThreadPoolExecutor(1, "lesson")
        self._next: Future[list[PretrainingSamples]] | None = None

    @property
    def done(self) -> float:
        """Part that lies behind, 0 to 1."""
        return min(1.0, self.positions / self.config.positions) if self.config.positions else 1.0

    def _lesson(self, number: int) -> list[PretrainingSamples]:
        """Play a lesson; it depends on seed and number alone."""
        found = []
        for i, env in enumerate(self._envs):
            seed = int(np.random.default_rng([self.seed, number, i]).integers(2**50))
            env.reset(seed=seed)
            words = random_keys(env.num_envs, seed + 1)
            c = self.config
            found.append(generate_samples(self._desk, self._at, env.states, words, c.share, c.stray, self.most_players))
        return found

    def begin(self) -> None:
        """Nothing comes before this part."""

    def update(self) -> Progress:
        """Learn from one lesson while the next is being played."""
        began = time.perf_counter()
        if self._next is None:
            self._next = self._worker.submit(self._lesson, self.updates)
        parts = self._next.result()
        waited = time.perf_counter() - began
        self.updates += 1
        self._next = self._worker.submit(self._lesson, self.updates)
        lessons = PretrainingSamples(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("seats", "table", "wins", "scores"))
        )
        n, c = len(lessons.table), self.config
        order = np.random.default_rng([self.seed, self.updates]).permutation(n)
        losses = [self._descend(lessons, rows) for rows in np.array_split(order, max(1, n // c.batch))]
        self.positions += n
        self.games += c.games
        scores = lessons.scores[:, 0]
        return Progress(
            part="warm start",
            done=self.done,
            decisions=self.positions,
            games=self.games,
            points=float(scores.mean()),
            losses={name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]},
            seconds={"waiting": waited, "learning": time.perf_counter() - began - waited},
        )

    def _descend(self, lessons: PretrainingSamples, rows: npt.NDArray[np.int64]) -> dict[str, float]:
        c = self.config
        device = self.network.group.device
        seats, table, wins, scores = (
            torch.from_numpy(x[rows]).to(device) for x in (lessons.seats, lessons.table, lessons.wins, lessons.scores)
        )
        rising = min(1.0, (1 + self.positions) / (0.05 * c.positions))
        fade = c.last + (1 - c.last) * 0.5 * (1 + math.cos(math.pi * self.done))
        for group in self.optimizer.param_groups:
            group["lr"] = c.learning_rate * fade * rising
        with torch.autocast(device.type, torch.bfloat16, enabled=self.fast):
            said = self.network(pad_rows(seats), pad_rows(table))
        win_loss, score_loss = value_losses(NetworkOutput(*(values[: len(rows)] for values in said)), wins, scores)
        self.optimizer.zero_grad(set_to_none=True)
        (win_loss + c.scores * score_loss).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), c.max_grad_norm)
        self.optimizer.step()
        return {"win_loss": win_loss.item(), "score_loss": score_loss.item()}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything that the next update depends on, but for `counts`."""
        return module_arrays("network", self.network) | optimizer_arrays("optimiser", self.optimizer)

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from what `state` returned, before the first update."""
        load_module("network", self.network, arrays)
        load_optimizer("optimiser", self.optimizer, arrays)

    @property
    def counts(self) -> dict[str, int]:
        """How far it is."""
        return {"updates": self.updates, "positions": self.positions, "games": self.games}

    @counts.setter
    def counts(self, counts: Mapping[str, int]) -> None:
        self.updates, self.positions, self.games = counts["updates"], counts["positions"], counts["games"]

    def close(self) -> None:
        """Let the lesson that is being played end, and its thread."""
        self._worker.shutdown()
