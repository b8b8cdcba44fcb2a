"""A plain network that learns by playing alone, all on one device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helsinki_env.agents.base import Player
from helsinki_env.agents.mlp.network import PlainNetwork
from helsinki_env.agents.mlp.player import PlainPlayer
from helsinki_env.agents.net.checkpoint import load_network
from helsinki_env.training.gpu.ppo import GpuPPO
from helsinki_env.training.gpu.rollout import GpuRolloutCollector
from helsinki_env.training.learner import RunContext, SelfPlayPhase, TrainingPhase
from helsinki_env.training.opponents import OpponentPool
from helsinki_env.training.preset import Preset
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["PlainLearner"]


class _PastSelves(OpponentPool):
    """A pool of networks, on the device where they are met."""

    def __init__(self, game: Any, folder: Path, seed: int, device: torch.device) -> None:
        super().__init__(game, (), folder, seed, fast=False)
        self._device = device

    def load(self, name: str) -> PlainNetwork:
        """Return the network that a past self was."""
        return load_network(self.folder / name, PlainNetwork)[0].to(self._device)

    def _player(self, name: str, network: PlainNetwork) -> PlainNetwork:
        return network


class PlainLearner:
    """What a run of a plain network trains, see `helsinki_env.training.learner.Learner`."""

    def __init__(self, preset: Preset, place: RunContext) -> None:
        game, c, seed = preset.game, preset.ppo, place.seed
        self._fast = place.fast
        self.network = PlainNetwork(game, preset.network).to(place.device)
        self.pool: OpponentPool = _PastSelves(game, place.folder / "past", seed, place.device)
        stage = GpuRolloutCollector(
            game, preset.matchups, c.num_envs, c.num_steps, c.fixed_opponent_fraction, seed, place.device, place.group
        )
        self.ppo: SelfPlayPhase = GpuPPO(self.network, stage, c, seed, self.pool.choose, place.fast)
        self.parts: dict[str, TrainingPhase] = {"ppo": self.ppo}
        #: It learns nothing from the heuristic's games.
        self.positions = 0

    def player(self, network: PlainNetwork, name: str) -> Player:
        """Return a network as a player of that name."""
        return PlainPlayer(network, name, self._fast)
