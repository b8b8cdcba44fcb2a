"""Rollouts on a device, with parallel games between the learner and its past versions.

As in `helsinki_env.training.rollout`, a rollout depends only on the weights, the seed and its number, not on the number
of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.mlp.network import MLPNetwork, MLPOutput
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.training.checkpoint_io import state_array
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.gpu.tensors import game_keys, hash_key, outcome_components, sample_categorical, to_seat_order
from helsinki_env.training.matchups import MatchupConfig, divide_games, fixed_opponent_games
from helsinki_env.training.values import VALUE_COMPONENTS
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

#: Number of eager calls before the capture, because libraries choose their algorithms in the first calls.
_WARMUP_CALLS = 3
#: Arrays in the state of an environment that do not have one row per game.
_GLOBAL_ARRAYS = ("illegal",)


class CudaGraph:
    """Callable that runs `function`; on a GPU, the fourth and later calls replay a CUDA graph of it.

    The function must use the same tensors in every call. It must not synchronize or branch on tensor contents.
    Source: PyTorch's notes on CUDA semantics, "CUDA Graphs".
    """

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._function, self._device = function, device
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Run the function once."""
        if self._device.type != "cuda":
            self._function()
            return
        if self._graph is None and self._calls < _WARMUP_CALLS:
            self._calls += 1
            current = torch.cuda.current_stream(self._device)
            side = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]  # PyTorch's own
            side.wait_stream(current)
            with torch.cuda.stream(side):  # a capture requires warm-up calls on a side stream
                self._function()
            current.wait_stream(side)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):  # records without executing
                self._function()
        self._graph.replay()


class RolloutBuffer:
    """Training data from T steps of B games, in tensors that each rollout overwrites.

    Attributes:
        observation: int8 (T, B, F). mask: int8 (T, B, A). action: int64 (T, B).
        log_prob: log probability of the action, float32 (T, B).
        seat: acting seat, int64 (T, B). players: number of players in the game, int64 (T, B).
        expected: predicted values by seat, float32 (T, B, 8); see `helsinki_env.training.values`.
        trained: whether the learner acted and had a choice, bool (T, B).
        ended: whether the game ended at this step, bool (T, B).
        outcome: result of the game, float32 (T, B, 8).
        last: predicted values after the last step, float32 (B, 8).
    """

    def __init__(self, steps: int, games: int, entries: int, ids: int, device: torch.device) -> None:
        def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros((steps, games, *shape), dtype=dtype, device=device)

        self.observation, self.mask = zeros(entries, dtype=torch.int8), zeros(ids, dtype=torch.int8)
        self.action, self.seat, self.players = zeros(), zeros(), zeros()
        self.log_prob = zeros(dtype=torch.float32)
        self.expected, self.outcome = (
            zeros(VALUE_COMPONENTS, dtype=torch.float32),
            zeros(VALUE_COMPONENTS, dtype=torch.float32),
        )
        self.trained, self.ended = zeros(dtype=torch.bool), zeros(dtype=torch.bool)
        self.last = torch.zeros((games, VALUE_COMPONENTS), dtype=torch.float32, device=device)


class GpuRolloutCollector:
    """Collector that plays parallel games of several matchups on a device.

    `games` is the total over all processes; each process in `group` plays an equal part of every matchup. In a fraction
    `fixed_opponent_fraction` of the games, the learner has one seat and a past version has the others.
    """

    def __init__(
        self,
        game: Any,
        matchups: Sequence[MatchupConfig],
        games: int,
        steps: int,
        fixed_opponent_fraction: float,
        seed: int,
        device: torch.device,
        group: ProcessGroup | None = None,
    ) -> None:
        self.seed, self.device, self.steps, self.group = seed, device, steps, group or ProcessGroup()
        self.most_players = max(max(matchup.players) for matchup in matchups)
        self.envs: list[GameTorchEnv] = []
        self._infos: list[dict[str, Tensor]] = []
        rows, start = [], 0
        for i, (matchup, config, size) in enumerate(divide_games(matchups, game, games)):
            own, rest = divmod(size, self.group.size)
            if rest:
                raise UserError(
                    f"ppo.num_envs: found {size} games of one matchup, expected a multiple of the {self.group.size} "
                    "processes"
                )
            self.envs.append(self._make_env(config, matchup, size, own, seed * 1009 + i))
            rows.append(start + self.group.rank * own + np.arange(own))
            start += size
        #: Indices of this process's games among all games.
        self.numbers = np.concatenate(rows)
        against_opponent = fixed_opponent_games(games, fixed_opponent_fraction)[self.numbers]
        self.games = len(self.numbers)
        #: Whether the learner has only one seat, bool (B,).
        self.against_opponent = torch.from_numpy(against_opponent).to(device)
        self._opposed = torch.from_numpy(np.flatnonzero(against_opponent)).to(device)
        self._numbers = torch.from_numpy(self.numbers.astype(np.int32)).to(device)
        self._key = torch.zeros((), dtype=torch.int32, device=device)
        self._step = torch.zeros(1, dtype=torch.int64, device=device)
        self._action = torch.zeros(self.games, dtype=torch.int64, device=device)
        #: Number of games that ended during the rollout, and the sum of their mean points.
        self.counted = torch.zeros(2, dtype=torch.float64, device=device)
        spec = spec_of(game)
        self.buffer = RolloutBuffer(steps, self.games, spec.observation_size(game), spec.num_actions(game), device)
        self._graphs: tuple[Any, ...] = ()

    def _make_env(self, game: Any, matchup: MatchupConfig, size: int, own: int, seed: int) -> GameTorchEnv:
        """Create an environment with this process's share of `own` games out of `size`."""
        env = GameTorchEnv(own, game, self.device, matchup.episodes(game))
        _, info = env.reset(seed=seed)
        self._infos.append(info)
        if own < size:
            whole = GameTorchEnv(size, game, self.device, matchup.episodes(game))
            whole.reset(seed=seed)
            env.set_state(self._own_rows(whole.get_state(), own))
        return env

    def _own_rows(self, state: Mapping[str, Tensor], own: int) -> dict[str, Tensor]:
        """Return the rows of this process in the state of all games."""
        first = self.group.rank * own
        return {name: x if name in _GLOBAL_ARRAYS else x[first : first + own] for name, x in state.items()}

    def _gather(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return observations, action masks and acting seats of all games."""
        memories = [env.memory for env in self.envs]
        if len(memories) == 1:
            return memories[0].observations, memories[0].masks, memories[0].seats
        parts = zip(*((m.observations, m.masks, m.seats) for m in memories), strict=True)
        observation, mask, seat = (torch.cat(part) for part in parts)
        return observation, mask, seat

    @torch.no_grad()
    def play(self, network: MLPNetwork, rival: MLPNetwork, number: int, fast: bool) -> RolloutBuffer:
        """Play T steps of every game; the result is overwritten by the next rollout.

        `rival` plays the other seats in fixed-opponent games. All random draws are determined by the seed and `number`.
        """
        if self._graphs[:3] != (network, rival, fast):
            act = CudaGraph(lambda: self._act(network, rival, fast), self.device)
            self._graphs = (network, rival, fast, act, CudaGraph(self._record_outcomes, self.device))
        *_, act, record_outcomes = self._graphs
        self.counted.zero_()
        for t in range(self.steps):
            self._key.fill_(hash_key(self.seed, number, t))
            self._step.fill_(t)
            act()
            start = 0
            for env in self.envs:
                env.step(self._action[start : start + env.num_envs])
                start += env.num_envs
            record_outcomes()
        observation, _, seat = self._gather()
        output, players = self._predict(network, observation, fast), self._players(network, observation)
        self.buffer.last.copy_(self._expected(output, seat, players))
        return self.buffer

    def _predict(self, network: MLPNetwork, observation: Tensor, fast: bool) -> MLPOutput:
        # CUDA graphs must not use cached tensors, such as bfloat16 copies of weights.
        with torch.autocast(self.device.type, torch.bfloat16, enabled=fast, cache_enabled=False):
            output: MLPOutput = network(observation, self.most_players)
        return output

    @staticmethod
    def _players(network: MLPNetwork, observation: Tensor) -> Tensor:
        return (observation[:, network.present] != 0).sum(1)

    def _deals(self) -> Tensor:
        """Return numbers that increase by 1 with every deal of a game; modulo the players, the learner's seat."""
        _, stream, episode = torch.cat([env.memory.runs for env in self.envs]).view(torch.int64).unbind(1)
        return stream + episode

    @staticmethod
    def _expected(output: MLPOutput, seat: Tensor, players: Tensor) -> Tensor:
        halves = torch.softmax(output.win_logits, 1), output.scores
        return torch.cat([to_seat_order(half, seat, players) for half in halves], 1)

    def _act(self, network: MLPNetwork, rival: MLPNetwork, fast: bool) -> None:
        """Sample an action in every game and record the training data."""
        observation, mask, seat = self._gather()
        players = self._players(network, observation)
        choices = mask.sum(1, dtype=torch.int64)
        mine = ~self.against_opponent | (self._deals() % players == seat)
        output = self._predict(network, observation, fast)
        log_probs = output.log_probs(mask)
        policy = log_probs
        if len(self._opposed):
            theirs = self._predict(rival, observation[self._opposed], fast).log_probs(mask[self._opposed])
            own = mine[self._opposed, None]
            policy = log_probs.index_copy(0, self._opposed, torch.where(own, log_probs[self._opposed], theirs))
        action = sample_categorical(policy, game_keys(self._key, self._numbers))
        self._action.copy_(action)
        data = {
            "observation": observation, "mask": mask, "action": action, "seat": seat, "players": players,
            "log_prob": log_probs.gather(1, action[:, None])[:, 0],
            "expected": self._expected(output, seat, players),
            "trained": mine & (choices > 1),
        }  # fmt: skip
        for name, value in data.items():
            getattr(self.buffer, name).index_copy_(0, self._step, value[None])

    def _record_outcomes(self) -> None:
        """Record which games ended, and their results."""
        players = self.buffer.players.index_select(0, self._step)[0]
        outcomes, start = [], 0
        for env, info in zip(self.envs, self._infos, strict=True):
            own = slice(start, start + env.num_envs)
            outcomes.append(outcome_components(info["scores"], info["places"], players[own], env.memory.ended))
            start += env.num_envs
        outcome, ended = torch.cat(outcomes), torch.cat([env.memory.ended for env in self.envs])
        self.buffer.outcome.index_copy_(0, self._step, outcome[None])
        self.buffer.ended.index_copy_(0, self._step, ended[None])
        points = outcome[:, MAX_SEATS:].sum(1) / players
        self.counted += torch.stack([ended.sum().double(), points.sum().double()])

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state of all games in all processes, by name; all processes must call this."""
        saved = {}
        for i, env in enumerate(self.envs):
            for name, rows in env.get_state().items():
                whole = rows if name in _GLOBAL_ARRAYS else self.group.all_gather(rows)
                saved[f"env{i}.{name}"] = whole.cpu().numpy()
        return saved

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore a state returned by `state`, from any number of processes; raise StateError if it does not match."""
        for i, env in enumerate(self.envs):
            restored = {}
            for name, rows in env.get_state().items():
                times = 1 if name in _GLOBAL_ARRAYS else self.group.size
                like = np.zeros((len(rows) * times, *rows.shape[1:]), rows.cpu().numpy().dtype)
                whole = torch.from_numpy(state_array(state, f"env{i}.{name}", like).copy())
                first = 0 if name in _GLOBAL_ARRAYS else self.group.rank * len(rows)
                restored[name] = whole[first : first + len(rows)].to(self.device)
            env.set_state(restored)
