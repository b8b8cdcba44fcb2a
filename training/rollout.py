"""Rollouts, which play parallel games between the learner and its opponents and collect training data.

A rollout depends only on the weights, the seed and its number. The state of the games can be saved and restored
(`RolloutCollector.state`, `RolloutCollector.restore`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from helsinki_env.agents.base import Player
from helsinki_env.agents.net.afterstates import AfterstateBatch, AfterstateEncoder
from helsinki_env.agents.net.network import AfterstateTensors, Network
from helsinki_env.agents.net.player import best_choices, choice_index
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.play import check_legal, query_player
from helsinki_env.training.checkpoint_io import state_array
from helsinki_env.training.matchups import MatchupConfig, divide_games, fixed_opponent_games
from helsinki_env.training.random_streams import RandomStream
from helsinki_env.training.search_targets import SearchTargetConfig, SearchTargets, TargetSearcher
from helsinki_env.training.values import VALUE_COMPONENTS, outcome_components, to_seat_order
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

EVALUATED_CHOICES = 5
"""Choices evaluated per action. Players evaluate more (`net.afterstates.MAX_EVALUATED_CHOICES`). Fewer choices teach
state values equally well, and rollouts are a fifth faster."""
MIN_PROBABILITY = 3e-3
"""Minimum probability of a choice in the training data. Less likely choices are almost never sampled; omitting them
halves the data. Their probability, 0.05% in total, is redistributed among the others."""


@dataclass
class Rollout:
    """Training data from T steps of B games, with n learner actions; m in `SearchTargets` is 0 without search."""

    inputs: AfterstateBatch  # network inputs, without choices with a probability below `MIN_PROBABILITY`
    action: npt.NDArray[np.int64]  # chosen actions, int64 (n,)
    log_prob: npt.NDArray[np.float32]  # log probability of the action among the retained choices, float32 (n,)
    #: Predicted values before the action, by seat, float32 (n, 8); see `helsinki_env.training.values`.
    expected: npt.NDArray[np.float32]
    after: npt.NDArray[np.float32]  # predicted values after the action, float32 (n, 8)
    viewer: npt.NDArray[np.int64]  # the learner's seat, int64 (n,)
    players: npt.NDArray[np.int64]  # number of players in the game, int64 (n,)
    arms: npt.NDArray[np.int64]
    policy_target: npt.NDArray[np.float32]
    value_target: npt.NDArray[np.float32]
    decision: npt.NDArray[np.int64]  # index of the action taken at each step, int64 (T, B); -1 if it is not a sample
    seat: npt.NDArray[np.int64]  # acting seat, int64 (T, B)
    ended: npt.NDArray[np.bool_]  # whether the game ended at this step, bool (T, B)
    outcome: npt.NDArray[np.float32]  # result of the game, float32 (T, B, 8)
    points: float = float("nan")  # mean points per seat in finished games; NaN if there were none
    games: int = 0  # number of finished games
    #: Time in seconds spent on the environment, on inputs, in the network and on search.
    seconds: dict[str, float] = field(default_factory=dict)


class RolloutCollector:
    """Collector that plays parallel games of several matchups.

    `fixed_opponent_fraction` is the fraction of the games in which the learner has one seat. `random_start_fraction` is
    the fraction that begins with 1 to `random_start_actions` random actions, which are not training data. `ahead` adds
    look-ahead features for every seat's next turn.
    """

    def __init__(
        self,
        game: Any,
        matchups: Sequence[MatchupConfig],
        games: int,
        fixed_opponent_fraction: float,
        seed: int,
        device: torch.device,
        search: SearchTargetConfig | None = None,
        ahead: bool = False,
        random_start_fraction: float = 0.0,
        random_start_actions: int = 1,
    ) -> None:
        self.game, self.games, self.seed, self.device = game, games, seed, device
        self.search = search or SearchTargetConfig()
        parts = divide_games(matchups, game, games)
        self.envs = [
            GameVectorEnv(part.games, part.config, AutoresetMode.SAME_STEP, part.matchup.episodes(part.config))
            for part in parts
        ]
        self.most_players = max(max(matchup.players) for matchup in matchups)
        self._starts = np.cumsum([0, *(env.num_envs for env in self.envs)])
        #: Configurations with different component files, and the first game of each.
        firsts = [
            i for i, part in enumerate(parts) if i == 0 or part.config.components != parts[i - 1].config.components
        ]
        self.configs = [parts[i].config for i in firsts]
        self._config_starts = self._starts[firsts]
        self.encoders = [AfterstateEncoder(config, EVALUATED_CHOICES, ahead) for config in self.configs]
        starts = [env.reset(seed=seed * 1009 + i) for i, env in enumerate(self.envs)]
        self._gather([obs for obs, _ in starts], [info for _, info in starts])
        #: Whether the learner has only one seat, bool (B,).
        self.against_opponent = fixed_opponent_games(games, fixed_opponent_fraction)
        self._random_start = random_start_fraction, random_start_actions
        #: Number of random actions left in each game.
        self.random_left = np.zeros(games, np.int64)
        self._deal_random_starts(np.ones(games, np.bool_), RandomStream.FIRST_STARTS.generator(seed))

    @property
    def own(self) -> npt.NDArray[np.int64]:
        """The learner's seat in games against opponents, the next one in each new deal; -1 if it has all seats."""
        deals = np.concatenate([env.runs["stream"] + env.runs["episode"] for env in self.envs]).astype(np.int64)
        return np.where(self.against_opponent, deals % self._players(), -1)

    def _deal_random_starts(self, chosen: npt.NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Draw the number of random actions in newly dealt games."""
        fraction, most = self._random_start
        if fraction:
            count = int(chosen.sum())
            self.random_left[chosen] = (rng.random(count) < fraction) * rng.integers(1, most + 1, count)

    def _players(self) -> npt.NDArray[np.int64]:
        return np.concatenate([env.states["players"] for env in self.envs]).astype(np.int64)

    def _gather(self, obs: list[Any], infos: list[dict[str, Any]]) -> None:
        self.observation = np.concatenate([o["observation"] for o in obs])
        self.mask = np.concatenate([o["action_mask"] for o in obs])
        self.seat = np.concatenate([info["seat"] for info in infos])

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state of all games as arrays, by name."""
        saved: dict[str, npt.NDArray[Any]] = {"random_left": self.random_left.copy()}
        for i, env in enumerate(self.envs):
            saved |= {f"env{i}.{name}": array for name, array in env.get_state().items()}
        return saved

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore a state returned by `state`; raise StateError if it does not match."""
        self.random_left = state_array(state, "random_left", self.random_left).copy()
        started = []
        for i, env in enumerate(self.envs):
            saved = {name: state_array(state, f"env{i}.{name}", array) for name, array in env.get_state().items()}
            started.append(env.set_state(saved))
        self._gather([obs for obs, _ in started], [info for _, info in started])

    def _by_config(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
        """Yield the index of each configuration and its slice of the ascending game indices `rows`."""
        ends = [*np.searchsorted(rows, self._config_starts).tolist(), len(rows)]
        for i, (begin, end) in enumerate(pairwise(ends)):
            if begin < end:
                yield i, slice(begin, end)

    def play(self, network: Network, opponent: Sequence[Player], steps: int, number: int, fast: bool) -> Rollout:
        """Play T steps of every game.

        `opponent` plays the other seats in fixed-opponent games: one player for each of `configs`. All random draws are
        determined by the seed and `number`.
        """
        generator = torch.Generator("cpu").manual_seed((self.seed * 1_000_003 + number) % 2**64)
        rng = RandomStream.ROLLOUT.generator(self.seed, number)
        shape = (steps, self.games)
        decision, seat = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
        ended, outcome = np.zeros(shape, np.bool_), np.zeros((*shape, VALUE_COMPONENTS), np.float32)
        parts: dict[str, list[Any]] = {name: [] for name in _DATA}
        seconds = dict.fromkeys(("environment", "inputs", "network", "search"), 0.0)
        searcher = TargetSearcher(network, self.search, self.game, fast) if self.search.share else None
        count, points = 0, []
        for t in range(steps):
            free = self.mask.sum(axis=1, dtype=np.int64) > 1
            random = free & (self.random_left > 0)
            own = self.own
            mine = free & ~random & ((own < 0) | (own == self.seat))
            actions: npt.NDArray[np.int64] = self.mask.argmax(axis=1)
            players = self._players()
            rows = np.flatnonzero(random)
            if len(rows):
                actions[rows] = self._random_actions(rows, rng)
            rows = np.flatnonzero(free & ~mine & ~random)
            if len(rows):
                actions[rows] = self._opponent_actions(rows, opponent, rng)
            rows = np.flatnonzero(mine)
            if len(rows):
                data = self._act(network, rows, players[rows], generator, fast, seconds, searcher, rng)
                for name, value in data.items():
                    parts[name].append(value)
                actions[rows] = data["action"]
                decision[t, rows] = count + np.arange(len(rows))
                count += len(rows)
            seat[t] = self.seat
            began = time.perf_counter()
            over, ended[t], scores, ranks = self._step(actions)
            seconds["environment"] += time.perf_counter() - began
            if len(over):
                outcome[t, over] = outcome_components(scores, ranks, players[over])
                points += [row[:n].mean() for row, n in zip(scores, players[over], strict=True)]
                self._deal_random_starts(ended[t], rng)
        if not count:
            raise UserError(
                f"ppo: found no action of the learner in {steps} steps of {self.games} games, expected some; increase "
                "num_envs or num_steps, or reduce random_start_actions"
            )
        return Rollout(
            inputs=AfterstateBatch.join(parts.pop("inputs")),
            **{name: np.concatenate(arrays) for name, arrays in parts.items()},
            decision=decision,
            seat=seat,
            ended=ended,
            outcome=outcome,
            points=float(np.mean(points)) if points else float("nan"),
            games=len(points),
            seconds=seconds,
        )

    def _random_actions(self, rows: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return random legal actions in the given games, which have random actions left."""
        self.random_left[rows] -= 1
        mask = self.mask[rows]
        actions: npt.NDArray[np.int64] = (rng.random(mask.shape) * mask).argmax(axis=1)
        return actions

    def _opponent_actions(
        self, rows: npt.NDArray[np.int64], opponent: Sequence[Player], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Return the actions of the opponent in the given games."""
        keys = rng.integers(0, 2**64, len(rows), dtype=np.uint64)
        actions = np.empty(len(rows), np.int64)
        for i, some in self._by_config(rows):
            player, its = opponent[i], rows[some]
            chosen = query_player(player, self.observation[its], self.mask[its], keys[some])
            actions[some] = check_legal(player, chosen, self.mask, its)
        return actions

    @torch.no_grad()
    def _act(
        self,
        network: Network,
        rows: npt.NDArray[np.int64],
        players: npt.NDArray[np.int64],
        generator: torch.Generator,
        fast: bool,
        seconds: dict[str, float],
        searcher: TargetSearcher | None,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        """Sample the learner's actions in the given games and return the training data."""
        began = time.perf_counter()
        inputs = AfterstateBatch.join(
            [
                self.encoders[i].write(self.observation[rows[some]], self.mask[rows[some]], self.most_players)
                for i, some in self._by_config(rows)
            ]
        )
        seconds["inputs"] += time.perf_counter() - began
        began = time.perf_counter()
        x = AfterstateTensors.of(inputs, self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=fast):
            output = network(x.seats, x.table)
        log_probs = network.log_probs(x, output).cpu()
        values = torch.cat([torch.softmax(output.win_logits, 1), output.scores], 1).cpu().numpy()
        # Exponential race: with the probabilities as rates of independent clocks, the first clock is an exact policy
        # sample.
        clock = torch.empty_like(log_probs).exponential_(generator=generator).log()
        chosen = best_choices(inputs, (log_probs - clock).numpy())
        viewer = self.seat[rows]
        probs = log_probs.exp().numpy()
        expected = np.add.reduceat(probs[:, None] * values[inputs.position], inputs.first[:-1], axis=0)
        likely = probs >= MIN_PROBABILITY
        likely[chosen] = True
        seconds["network"] += time.perf_counter() - began
        began = time.perf_counter()
        searched = SearchTargets.none(len(rows))
        if searcher is not None:
            searched = searcher.search(inputs, log_probs.double().numpy(), self.observation[rows], rng)
            row, arm = np.nonzero(searched.arms >= 0)
            likely[choice_index(inputs, row, searched.arms[row, arm])] = True
        seconds["search"] += time.perf_counter() - began
        return {
            "inputs": inputs.keep(likely),
            "action": inputs.action[chosen].astype(np.int64),
            "log_prob": log_probs.numpy()[chosen] - np.log(np.add.reduceat(probs * likely, inputs.first[:-1])),
            "expected": _in_order(expected, viewer, players),
            "after": _in_order(values[inputs.position[chosen]], viewer, players),
            "viewer": viewer.copy(),
            "players": players,
            **searched._asdict(),
        }

    def _step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[Any], npt.NDArray[Any]]:
        """Step every game; return indices (k,) and mask (B,) of finished games, and their scores and ranks (k, 4)."""
        observations, infos = [], []
        ended = np.zeros(self.games, np.bool_)
        scores, ranks = np.zeros((2, self.games, MAX_SEATS), np.int64)
        for env, begin, end in zip(self.envs, self._starts, self._starts[1:], strict=False):
            obs, _, over, _, info = env.step(actions[begin:end])
            observations.append(obs)
            infos.append(info)
            ended[begin:end] = over
            if "_rewards" in info:
                seats = info["scores"].shape[1]
                scores[begin:end, :seats], ranks[begin:end, :seats] = info["scores"], info["places"]
        self._gather(observations, infos)
        games = np.flatnonzero(ended)
        return games, ended, scores[games], ranks[games]


_DATA = ("inputs", "action", "log_prob", "expected", "after", "viewer", "players", *SearchTargets._fields)


def _in_order(
    values: npt.NDArray[np.float32], viewer: npt.NDArray[np.int64], players: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Reorder both halves of the predicted values, (n, 8), by seat number."""
    halves = values[:, :MAX_SEATS], values[:, MAX_SEATS:]
    return np.concatenate([to_seat_order(half, viewer, players) for half in halves], axis=1)
