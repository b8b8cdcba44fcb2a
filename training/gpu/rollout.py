"""Playing on a device: batches of games between the learner and what it once was, and what is kept of them.

Nothing leaves the device, and nothing waits for it. As in `helsinki_env.training.rollout`, a rollout depends on
weights, seed and number alone; here also for any number of processes that share the games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.mlp.network import PlainNetwork, PlainOutput
from helsinki_env.data import UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.training.checkpoint_io import StateError, state_array
from helsinki_env.training.gpu.cuda_graph import CudaGraph
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.gpu.noise import game_keys, hash_key, sample_categorical
from helsinki_env.training.gpu.seat_order import outcome_components, to_seat_order
from helsinki_env.training.matchups import MatchupConfig, divide_games
from helsinki_env.training.rollout import VALUE_COMPONENTS
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["GpuRolloutCollector", "RolloutBuffer"]


class RolloutBuffer:
    """What T steps of B games leave to learn from, in tensors that every rollout writes over.

    Attributes:
        observation: int8 (T, B, F). mask: int8 (T, B, A). action: int64 (T, B).
        log_prob: the logarithm of the probability of that decision, float32 (T, B).
        seat: who decided, int64 (T, B). players: of the game, int64 (T, B).
        expected: what the seat expected, float32 (T, B, 8), by seat of the game; see
            `helsinki_env.training.rollout.VALUE_COMPONENTS`.
        learnt: whether the learner had a choice, bool (T, B).
        ended: whether the game ended with it, bool (T, B).
        outcome: what came of the game, float32 (T, B, 8).
        last: what is expected after the last step, float32 (B, 8).
    """

    def __init__(self, steps: int, games: int, entries: int, ids: int, device: torch.device) -> None:
        def room(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros((steps, games, *shape), dtype=dtype, device=device)

        self.observation, self.mask = room(entries, dtype=torch.int8), room(ids, dtype=torch.int8)
        self.action, self.seat, self.players = room(), room(), room()
        self.log_prob = room(dtype=torch.float32)
        self.expected, self.outcome = (
            room(VALUE_COMPONENTS, dtype=torch.float32),
            room(VALUE_COMPONENTS, dtype=torch.float32),
        )
        self.learnt, self.ended = room(dtype=torch.bool), room(dtype=torch.bool)
        self.last = torch.zeros((games, VALUE_COMPONENTS), dtype=torch.float32, device=device)


class GpuRolloutCollector:
    """Games side by side, at tables of several kinds.

    Args:
        game: the games; only the component file matters.
        tables: what is played.
        games: of all processes; each table kind's are shared out evenly.
        steps: T, of each rollout.
        fixed_opponent_fraction: fraction of the games in which the learner has one seat.
        seed: of decks and decisions.
        device: where everything lies.
        group: the processes.

    Raises:
        ValueError: if the games cannot be shared out evenly.
    """

    def __init__(
        self,
        game: Any,
        tables: Sequence[MatchupConfig],
        games: int,
        steps: int,
        fixed_opponent_fraction: float,
        seed: int,
        device: torch.device,
        group: ProcessGroup | None = None,
    ) -> None:
        self.seed, self.device, self.steps, self.group = seed, device, steps, group or ProcessGroup()
        self.most_players = max(max(table.players) for table in tables)
        self.envs: list[GameTorchEnv] = []
        self._infos: list[dict[str, Tensor]] = []
        rows, start = [], 0
        for i, (table, size) in enumerate(divide_games(tables, games)):
            own, rest = divmod(size, self.group.size)
            if rest:
                raise UserError(
                    f"ppo.num_envs: found {size} games of one matchup, expected a multiple of the {self.group.size} "
                    "processes"
                )
            self.envs.append(self._dealt(game, table, size, own, seed * 1009 + i))
            rows.append(start + self.group.rank * own + np.arange(own))
            start += size
        #: The numbers of this process' games among those of all.
        self.numbers = np.concatenate(rows)
        spread = np.arange(games) * fixed_opponent_fraction
        played_apart = (np.floor(spread + fixed_opponent_fraction) > np.floor(spread))[self.numbers]
        self.games = len(self.numbers)
        #: The learner's seat in games against a past self; -1: it has all seats.
        self.own = torch.from_numpy(np.where(played_apart, 0, -1)).to(device)
        #: Games that have been dealt with the last step.
        self.dealt = torch.zeros(self.games, dtype=torch.bool, device=device)
        self._apart = torch.from_numpy(np.flatnonzero(played_apart)).to(device)
        self._numbers = torch.from_numpy(self.numbers.astype(np.int32)).to(device)
        self._word = torch.zeros((), dtype=torch.int32, device=device)
        self._step = torch.zeros(1, dtype=torch.int64, device=device)
        self._action = torch.zeros(self.games, dtype=torch.int64, device=device)
        #: Games that ended in a rollout, and the sum of their mean points.
        self.counted = torch.zeros(2, dtype=torch.float64, device=device)
        spec = spec_of(game)
        self.kept = RolloutBuffer(steps, self.games, spec.observation_size(game), spec.num_actions(game), device)
        self._played: tuple[Any, ...] = ()

    def _dealt(self, game: Any, table: MatchupConfig, size: int, own: int, seed: int) -> GameTorchEnv:
        """Return an environment with this process' part of so many games."""
        env = GameTorchEnv(own, game, self.device, table.episodes(game))
        _, info = env.reset(seed=seed)
        self._infos.append(info)
        if own < size:
            whole = GameTorchEnv(size, game, self.device, table.episodes(game))
            whole.reset(seed=seed)
            env.set_state(self._mine(whole.get_state(), own))
        return env

    def _mine(self, state: Mapping[str, Tensor], own: int) -> dict[str, Tensor]:
        """Return this process' rows of what stands of all games."""
        first = self.group.rank * own
        return {name: x if name in _COMMON else x[first : first + own] for name, x in state.items()}

    def _seen(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return observations, legal decisions and seats of all games."""
        memories = [env.memory for env in self.envs]
        if len(memories) == 1:
            return memories[0].observations, memories[0].masks, memories[0].seats
        parts = zip(*((m.observations, m.masks, m.seats) for m in memories), strict=True)
        observation, mask, seat = (torch.cat(part) for part in parts)
        return observation, mask, seat

    @torch.no_grad()
    def play(self, network: PlainNetwork, rival: PlainNetwork, number: int, fast: bool) -> RolloutBuffer:
        """Play T steps of every game; what is kept is overwritten by the next rollout.

        Args:
            network: the learner's.
            rival: has the other seats where the learner has one.
            number: of the rollout; with the seed it decides about everything that is drawn.
            fast: compute in bfloat16.
        """
        if self._played[:3] != (network, rival, fast):
            decide = CudaGraph(lambda: self._decide(network, rival, fast), self.device)
            self._played = (network, rival, fast, decide, CudaGraph(self._report, self.device))
        *_, decide, report = self._played
        self.counted.zero_()
        for t in range(self.steps):
            self._word.fill_(hash_key(self.seed, number, t))
            self._step.fill_(t)
            decide()
            start = 0
            for env in self.envs:
                env.step(self._action[start : start + env.num_envs])
                start += env.num_envs
            report()
        observation, _, seat = self._seen()
        said, players = self._ask(network, observation, fast), self._players(network, observation)
        self.kept.last.copy_(self._expected(said, seat, players))
        return self.kept

    def _ask(self, network: PlainNetwork, observation: Tensor, fast: bool) -> PlainOutput:
        # Nothing may be kept between recordings, weights in bfloat16 neither.
        with torch.autocast(self.device.type, torch.bfloat16, enabled=fast, cache_enabled=False):
            said: PlainOutput = network(observation, self.most_players)
        return said

    @staticmethod
    def _players(network: PlainNetwork, observation: Tensor) -> Tensor:
        return (observation[:, network.present] != 0).sum(1)

    @staticmethod
    def _expected(said: PlainOutput, seat: Tensor, players: Tensor) -> Tensor:
        halves = torch.softmax(said.win_logits, 1), said.scores
        return torch.cat([to_seat_order(half, seat, players) for half in halves], 1)

    def _decide(self, network: PlainNetwork, rival: PlainNetwork, fast: bool) -> None:
        """Let everybody decide, and keep what is learnt from."""
        observation, mask, seat = self._seen()
        players = self._players(network, observation)
        moved = torch.where(self.dealt & (self.own >= 0), (self.own + 1) % players, self.own)
        self.own.copy_(moved)  # in new games the learner moves on by one seat
        choices = mask.sum(1, dtype=torch.int64)
        mine = (self.own < 0) | (self.own == seat)
        said = self._ask(network, observation, fast)
        log_probs = said.log_probs(mask)
        policy = log_probs
        if len(self._apart):
            theirs = self._ask(rival, observation[self._apart], fast).log_probs(mask[self._apart])
            own = mine[self._apart, None]
            policy = log_probs.index_copy(0, self._apart, torch.where(own, log_probs[self._apart], theirs))
        action = sample_categorical(policy, game_keys(self._word, self._numbers))
        self._action.copy_(action)
        self.dealt.copy_(choices == 0)  # the next step deals these anew
        found = {
            "observation": observation, "mask": mask, "action": action, "seat": seat, "players": players,
            "log_prob": log_probs.gather(1, action[:, None])[:, 0],
            "expected": self._expected(said, seat, players),
            "learnt": mine & (choices > 1),
        }  # fmt: skip
        for name, value in found.items():
            getattr(self.kept, name).index_copy_(0, self._step, value[None])

    def _report(self) -> None:
        """Keep which games have ended, and what came of them."""
        players = self.kept.players.index_select(0, self._step)[0]
        outcomes, start = [], 0
        for env, info in zip(self.envs, self._infos, strict=True):
            own = slice(start, start + env.num_envs)
            outcomes.append(outcome_components(info["scores"], info["places"], players[own], env.memory.ended))
            start += env.num_envs
        outcome, ended = torch.cat(outcomes), torch.cat([env.memory.ended for env in self.envs])
        self.kept.outcome.index_copy_(0, self._step, outcome[None])
        self.kept.ended.index_copy_(0, self._step, ended[None])
        points = outcome[:, MAX_SEATS:].sum(1) / players
        self.counted += torch.stack([ended.sum().double(), points.sum().double()])

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return where all games of all processes stand, by name; every process must call it."""
        order = np.argsort(self.group.all_gather(self._numbers).cpu().numpy())
        saved = {name: self.group.all_gather(getattr(self, name)).cpu().numpy()[order] for name in ("own", "dealt")}
        for i, env in enumerate(self.envs):
            for name, rows in env.get_state().items():
                whole = rows if name in _COMMON else self.group.all_gather(rows)
                saved[f"env{i}.{name}"] = whole.cpu().numpy()
        return saved

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from what `state` returned, also with another number of processes; StateError if it does not fit."""
        games = self.games * self.group.size
        own, dealt = (
            state_array(state, name, np.zeros(games, kind)) for name, kind in (("own", np.int64), ("dealt", bool))
        )
        if (own < -1).any():
            raise StateError("own: found seats that are not there")
        self.own.copy_(torch.from_numpy(own[self.numbers]))
        self.dealt.copy_(torch.from_numpy(dealt[self.numbers]))
        for i, env in enumerate(self.envs):
            found = {}
            for name, rows in env.get_state().items():
                times = 1 if name in _COMMON else self.group.size
                like = np.zeros((len(rows) * times, *rows.shape[1:]), rows.cpu().numpy().dtype)
                whole = torch.from_numpy(state_array(state, f"env{i}.{name}", like).copy())
                first = 0 if name in _COMMON else self.group.rank * len(rows)
                found[name] = whole[first : first + len(rows)].to(self.device)
            env.set_state(found)
        self._check_seats()

    def _check_seats(self) -> None:
        """Check that the learner sits on seats that are played; StateError if not."""
        players = np.concatenate([env.records["players"] for env in self.envs])
        if (self.own.cpu().numpy() >= players).any():
            raise StateError("own: found seats that are not there")


#: What of an environment's state is no row for each game.
_COMMON = ("illegal",)
