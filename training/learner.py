"""Learners of a training run: the network, its training phases and its opponent pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from helsinki_env.agents.base import Player
from helsinki_env.agents.net.checkpoint import load_checkpoint
from helsinki_env.agents.net.description import PLAIN_KIND
from helsinki_env.agents.net.make import check_network_game, network_path
from helsinki_env.agents.net.network import Network, TorchModel
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.data import UserError
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.opponents import PAST_SELVES, OpponentPool
from helsinki_env.training.ppo import PPO
from helsinki_env.training.preset import Preset
from helsinki_env.training.pretraining import Pretraining
from helsinki_env.training.progress import Progress
from helsinki_env.training.rollout import RolloutCollector
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["AfterstateLearner", "Learner", "RunContext", "SelfPlayPhase", "TrainingPhase", "make_learner"]


@dataclass(frozen=True)
class RunContext:
    """Where a run takes place.

    Attributes:
        folder: of its files.
        seed: of weights, games and evaluation.
        device: where the network computes.
        fast: whether it computes in bfloat16.
        group: the processes that share it.
    """

    folder: Path
    seed: int
    device: torch.device
    fast: bool
    group: ProcessGroup


class TrainingPhase(Protocol):
    """A part of the training, done by one update after the other.

    Attributes:
        updates: how many there have been.
        counts: those and other numbers; set before `restore`.
    """

    updates: int
    counts: dict[str, int]

    @property
    def done(self) -> float:
        """Part that lies behind, 0 to 1."""
        ...

    def begin(self) -> None:
        """Get ready, once the part before is over."""

    def update(self) -> Progress:
        """Learn a little."""
        ...

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything that the next update depends on, but for `counts`."""
        ...

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore a result of `state`."""

    def close(self) -> None:
        """Let go of what works in the background."""


class SelfPlayPhase(TrainingPhase, Protocol):
    """A part in which it learns by playing.

    Attributes:
        decisions: learnt from so far.
        games: finished so far.
    """

    decisions: int
    games: int


class Learner(Protocol):
    """What a run trains.

    Attributes:
        network: what learns.
        parts: of the training, in order; the last one is `ppo`.
        ppo: the part that is measured on the way.
        pool: the opponents.
    """

    network: Any
    parts: dict[str, TrainingPhase]
    ppo: SelfPlayPhase
    pool: OpponentPool

    @property
    def positions(self) -> int:
        """How many positions of the heuristic's games have been learnt from."""
        ...

    def player(self, network: Any, name: str) -> Player:
        """Return a network as a player of that name."""
        ...


class AfterstateLearner:
    """A network that judges the ends of turns: taught by the heuristic's games, then by its own."""

    def __init__(self, preset: Preset, place: RunContext) -> None:
        if place.group.size > 1:
            raise UserError(f"learner: {preset.learner} is trained by one process, found {place.group.size}")
        game, tables, ppo, seed = preset.game, preset.matchups, preset.ppo, place.seed
        self._game, self._fast = game, place.fast
        self.network = (_begun(preset) if preset.start else Network(game, preset.network)).to(place.device)
        met = 0 if preset.against else PAST_SELVES
        self.pool = OpponentPool(
            game, preset.opponents if ppo.fixed_opponent_fraction else (), place.folder / "past", seed, place.fast, met
        )
        stage = RolloutCollector(
            game,
            tables,
            ppo.num_envs,
            ppo.fixed_opponent_fraction,
            seed,
            place.device,
            preset.search,
            preset.network.ahead,
        )
        self.pretraining = Pretraining(self.network, game, tables, preset.pretraining, seed, place.fast)
        self.ppo: SelfPlayPhase = PPO(self.network, stage, ppo, seed, self.pool.choose, place.fast)
        self.parts: dict[str, TrainingPhase] = {"warm": self.pretraining, "ppo": self.ppo}

    @property
    def positions(self) -> int:
        """How many positions of the heuristic's games have been learnt from."""
        return self.pretraining.positions

    def player(self, network: Network, name: str) -> Player:
        """Return a network as a player of that name."""
        return NetPlayer(TorchModel(network, self._fast), self._game, name)


def _begun(preset: Preset) -> Network:
    """Return the network that a run begins with; ValueError if it is of another size or for other games."""
    path = network_path("" if preset.start == "net" else preset.start, preset.game)
    network, description = load_checkpoint(path)
    check_network_game(path, description, preset.game)
    size, wanted = network.config, preset.network
    may_become = replace(size, turned=size.turned or wanted.turned, ahead=size.ahead or wanted.ahead)
    if wanted != may_become:
        raise UserError(f"network: found {asdict(preset.network)}, expected that of {path}, {asdict(network.config)}")
    if network.config == preset.network:
        return network
    # The rules are the same from all sides, and so the weights say the same of positions that are turned. What it was
    # not told counts nothing yet.
    other = Network(preset.game, preset.network)
    weights = network.state_dict()
    more = other.seat_in.in_features - network.seat_in.in_features
    weights["seat_in.weight"] = torch.nn.functional.pad(weights["seat_in.weight"], (0, more))
    other.load_state_dict(weights)
    return other


def make_learner(preset: Preset, place: RunContext) -> Learner:
    """Return what a preset trains; ValueError if it cannot be trained there."""
    if preset.learner != PLAIN_KIND:
        return AfterstateLearner(preset, place)
    from helsinki_env.training.gpu.learner import PlainLearner

    return PlainLearner(preset, place)
