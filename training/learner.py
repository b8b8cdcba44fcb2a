"""Learners of a training run, with the network, its training phases and its opponent pool.

Pure self-play can cycle and forget how to beat earlier opponents (Vinyals et al. 2019, "Grandmaster level in StarCraft
II using multi-agent reinforcement learning", section on leagues).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from helsinki_env.agents.base import Player, converted_player_errors
from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.agents.mlp.player import MLPPlayer
from helsinki_env.agents.net.checkpoint import load_checkpoint, load_network
from helsinki_env.agents.net.description import MLP_KIND
from helsinki_env.agents.net.make import check_network_game, network_path
from helsinki_env.agents.net.network import Network, TorchModel
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.data import UserError
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.gpu.ppo import GpuPPO
from helsinki_env.training.gpu.rollout import GpuRolloutCollector
from helsinki_env.training.ppo import PPO
from helsinki_env.training.preset import Preset
from helsinki_env.training.pretraining import Pretraining
from helsinki_env.training.random_streams import RandomStream
from helsinki_env.training.rollout import RolloutCollector
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

#: Maximum number of past versions in the opponent pool.
_PAST_VERSIONS = 8


@dataclass(frozen=True)
class RunContext:
    """Folder, seed, device, precision (bfloat16 if `fast`) and process group of a run."""

    folder: Path
    seed: int
    device: torch.device
    fast: bool
    group: ProcessGroup


TrainingPhase = Pretraining | PPO | GpuPPO


class OpponentPool:
    """Opponents of the learner: baselines and past versions, each of which plays only after a given rollout.

    An opponent consists of one player for each game configuration in `configs`, which differ in their component files.
    Past versions are stored in `folder` and run on `device`, in bfloat16 if `fast`. The pool samples from the first
    version and the latest `size - 1` versions; with size 0, it does not sample past versions.
    """

    def __init__(
        self,
        configs: Sequence[Any],
        baselines: Sequence[str],
        folder: Path,
        seed: int,
        fast: bool,
        size: int = _PAST_VERSIONS,
        device: torch.device | str = "cpu",
    ) -> None:
        self.configs, self.folder, self.seed, self.fast, self.size = configs, folder, seed, fast, size
        self.device = device
        self.baselines = [tuple(make_player(name, config) for config in configs) for name in baselines]
        for name, (player, *_) in zip(baselines, self.baselines, strict=True):
            with converted_player_errors(name, "does not decide"):
                reads_history = getattr(player, "wants_history", False)
            if reads_history:
                raise UserError(
                    f"opponents: found {name}, which reads the history of a game, expected a player that needs only "
                    "the observation; name it in evaluation.opponents instead"
                )
        #: Past versions: file name, and number of the rollout after which the version plays.
        self.past: list[tuple[str, int]] = []
        self._loaded: dict[str, Any] = {}

    def add(self, name: str, network: Any, rollout: int) -> None:
        """Add the current learner as an opponent for rollouts after the given one."""
        if self.size:
            self._loaded[name] = self._player(name, network)
        self.past.append((name, rollout))
        # Cache only candidates that can still be sampled; reload the rest on demand.
        cached = {known for known, _ in self.past[:1] + self.past[-2 * self.size :]}
        self._loaded = {known: player for known, player in self._loaded.items() if known in cached}

    def choose(self, rollout: int) -> Any:
        """Choose the opponent of a rollout: a baseline in half of the rollouts, otherwise a past version.

        The choice depends only on the seed, the rollout number and the pool. Raise ValueError if the pool is empty.
        """
        past = [name for name, since in self.past if since < rollout]
        past = past[:1] + past[1:][max(0, len(past) - self.size) :] if self.size else []
        if not past and not self.baselines:
            raise UserError("opponents: found no opponent yet, expected a baseline such as heuristic")
        generator = RandomStream.OPPONENT.generator(self.seed, rollout)
        if self.baselines and (not past or generator.random() < 0.5):
            return self.baselines[int(generator.integers(len(self.baselines)))]
        name = past[int(generator.integers(len(past)))]
        if name not in self._loaded:
            self._loaded[name] = self._player(name, self.load(name))
        return self._loaded[name]

    def load(self, name: str) -> Any:
        """Load the network of a past version."""
        return load_checkpoint(self.folder / name)[0].to(self.device)

    def _player(self, name: str, network: Any) -> Any:
        """Create the opponent that plays with the network of a past version."""
        model = TorchModel(network, self.fast)
        return tuple(NetPlayer(model, config, name, sample=True) for config in self.configs)


class _NetworkPool(OpponentPool):
    """Opponent pool of MLPs on a device."""

    def __init__(self, folder: Path, seed: int, device: torch.device) -> None:
        super().__init__((), (), folder, seed, fast=False, device=device)

    def load(self, name: str) -> MLPNetwork:
        """Load the network of a past version."""
        return load_network(self.folder / name, MLPNetwork)[0].to(self.device)

    def _player(self, name: str, network: MLPNetwork) -> MLPNetwork:
        return network


class AfterstateLearner:
    """Learner with an afterstate network, pretrained on games of the heuristic and then trained by self-play."""

    def __init__(self, preset: Preset, run: RunContext) -> None:
        if run.group.size > 1:
            raise UserError(f"learner: found {run.group.size} processes, expected one for {preset.learner}")
        game, matchups, ppo, seed = preset.game, preset.matchups, preset.ppo, run.seed
        self._game, self._fast = game, run.fast
        self.network = (_initial_network(preset) if preset.start else Network(game, preset.network)).to(run.device)
        past_versions = 0 if preset.against else _PAST_VERSIONS
        baselines, fraction = preset.opponents if ppo.fixed_opponent_fraction else (), ppo.fixed_opponent_fraction
        collector = RolloutCollector(
            game,
            matchups,
            ppo.num_envs,
            fraction,
            seed,
            run.device,
            preset.search,
            preset.network.ahead,
            ppo.random_start_fraction,
            ppo.random_start_actions,
        )
        self.pool = OpponentPool(
            collector.configs, baselines, run.folder / "past", seed, run.fast, past_versions, run.device
        )
        self.pretraining = Pretraining(self.network, game, matchups, preset.pretraining, seed, run.fast)
        self.ppo = PPO(self.network, collector, ppo, seed, self.pool.choose, run.fast)
        self.phases: dict[str, TrainingPhase] = {"pretraining": self.pretraining, "ppo": self.ppo}

    @property
    def positions(self) -> int:
        """Return the number of pretraining samples so far."""
        return self.pretraining.positions

    def player(self, network: Any, name: str, game: Any = None) -> Player:
        """Create a player that plays with a network, by default the game of the preset."""
        return NetPlayer(TorchModel(network, self._fast), game or self._game, name)


class MLPLearner:
    """Learner with an MLP, which learns only by self-play, with games and training on one device."""

    def __init__(self, preset: Preset, run: RunContext) -> None:
        game, c, seed, device = preset.game, preset.ppo, run.seed, run.device
        self._fast = run.fast
        self.network = MLPNetwork(game, preset.network).to(device)
        self.pool: OpponentPool = _NetworkPool(run.folder / "past", seed, device)
        collector = GpuRolloutCollector(
            game, preset.matchups, c.num_envs, c.num_steps, c.fixed_opponent_fraction, seed, device, run.group
        )
        self.ppo = GpuPPO(self.network, collector, c, seed, self.pool.choose, run.fast)
        self.phases: dict[str, TrainingPhase] = {"ppo": self.ppo}
        self.positions = 0  # there is no pretraining

    def player(self, network: Any, name: str, game: Any = None) -> Player:
        """Create a player that plays with a network."""
        return MLPPlayer(network, name, self._fast)


def _initial_network(preset: Preset) -> Network:
    """Load the initial network of a run; raise ValueError if its size or game does not match."""
    path = network_path("" if preset.start == "net" else preset.start, preset.game)
    network, description = load_checkpoint(path)
    check_network_game(path, description, preset.game)
    config, expected = network.config, preset.network
    extended = replace(config, turned=config.turned or expected.turned, ahead=config.ahead or expected.ahead)
    if expected != extended:
        raise UserError(f"network: found {asdict(expected)}, expected that of {path}, {asdict(config)}")
    if config == expected:
        return network
    # The rules are symmetric under reorientation, so the weights remain valid. Added features get zero weights.
    other = Network(preset.game, expected)
    weights = network.state_dict()
    added = other.seat_in.in_features - network.seat_in.in_features
    weights["seat_in.weight"] = torch.nn.functional.pad(weights["seat_in.weight"], (0, added))
    other.load_state_dict(weights)
    return other


Learner = AfterstateLearner | MLPLearner


def make_learner(preset: Preset, run: RunContext) -> Learner:
    """Create the learner of a preset; raise ValueError if it does not support the number of processes."""
    return MLPLearner(preset, run) if preset.learner == MLP_KIND else AfterstateLearner(preset, run)
