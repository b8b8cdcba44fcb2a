"""Tensor batches of games on a GPU or CPU, with one class per game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from helsinki_env.copenhagen_v0 import CopenhagenArgs
from helsinki_env.engine.spec import GameSpec
from helsinki_env.envs.by_options import ConfigT, EpisodesT, GameT
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.episodes import RandomEpisodes as CopenhagenEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN, CopenhagenGame
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import HELSINKI, HelsinkiGame
from helsinki_env.helsinki_v0 import HelsinkiArgs

if TYPE_CHECKING:
    import torch

__all__ = ["CopenhagenTorchEnv", "HelsinkiTorchEnv", "OptionsTorchEnv"]


class OptionsTorchEnv(GameTorchEnv, Generic[ConfigT, GameT, EpisodesT]):
    """Batch of games in tensors; see `GameTorchEnv` for returned values and autoreset.

    Args:
        num_envs: number of games B.
        device, check: see `GameTorchEnv`.
        num_players, episodes, config, options: see `helsinki_env.envs.by_options.OptionsVectorEnv`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments, or if the GPU is missing.
    """

    game_spec: GameSpec
    config: ConfigT

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        device: str | torch.device = "cuda",
        episodes: EpisodesT | None = None,
        check: bool = False,
        config: ConfigT | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            num_envs, self.game_spec.config_or(type(self), config, num_players, **options), device, episodes, check
        )

    def game(self, b: int) -> GameT:
        """Return a copy of game `b` as an object to inspect, draw or save. Raise ValueError for an invalid index."""
        game: GameT = super().game(b)
        return game


class HelsinkiTorchEnv(HelsinkiArgs, OptionsTorchEnv[HelsinkiConfig, HelsinkiGame, RandomEpisodes]):
    """Batch of Helsinki games in tensors; see `OptionsTorchEnv` for arguments, `HelsinkiConfig` for options.

    `helsinki_env.games.helsinki.observation.observation_layout` describes the observation fields.
    """

    game_spec = HELSINKI


class CopenhagenTorchEnv(CopenhagenArgs, OptionsTorchEnv[CopenhagenConfig, CopenhagenGame, CopenhagenEpisodes]):
    """Batch of Copenhagen games in tensors; see `OptionsTorchEnv` for arguments, `CopenhagenConfig` for options.

    `helsinki_env.games.copenhagen.observation.LAYOUT` describes the observation fields.
    """

    game_spec = COPENHAGEN
