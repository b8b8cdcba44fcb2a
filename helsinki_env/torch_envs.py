"""Batches of games in tensors, on a GPU or CPU: one class per game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig, CopenhagenOptions
from helsinki_env.games.copenhagen.episodes import RandomEpisodes as CopenhagenEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN
from helsinki_env.games.copenhagen.game import CopenhagenGame as CopenhagenGame
from helsinki_env.games.helsinki.config import HelsinkiConfig, HelsinkiOptions
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import HELSINKI, HelsinkiGame

if TYPE_CHECKING:
    import torch

__all__ = ["CopenhagenTorchEnv", "HelsinkiTorchEnv"]


class HelsinkiTorchEnv(GameTorchEnv):
    """A batch of games of Helsinki in tensors; see `GameTorchEnv` for returned values and autoreset.

    `helsinki_env.games.helsinki.observation.observation_layout` names the observation fields.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        device, check: see `GameTorchEnv`.
        episodes: options to draw at random for each game (`RandomEpisodes`).
        config: a `HelsinkiConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `HelsinkiConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments, or a missing GPU.
    """

    config: HelsinkiConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        device: str | torch.device = "cuda",
        episodes: RandomEpisodes | None = None,
        check: bool = False,
        config: HelsinkiConfig | None = None,
        **options: Unpack[HelsinkiOptions],
    ) -> None:
        super().__init__(num_envs, HELSINKI.config_or(config, num_players, **options), device, episodes, check)

    def to_cpu(self, b: int) -> HelsinkiGame:
        """Return a copy of game `b` as an object, to inspect, draw or save. ValueError for an invalid index."""
        game: HelsinkiGame = super().to_cpu(b)
        return game


class CopenhagenTorchEnv(GameTorchEnv):
    """A batch of games of Copenhagen in tensors; see `GameTorchEnv` for returned values and autoreset.

    `helsinki_env.games.copenhagen.observation.LAYOUT` names the observation fields.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        device, check: see `GameTorchEnv`.
        episodes: options to draw at random for each game (`helsinki_env.games.copenhagen.episodes.RandomEpisodes`).
        config: a `CopenhagenConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `CopenhagenConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments, or a missing GPU.
    """

    config: CopenhagenConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        device: str | torch.device = "cuda",
        episodes: CopenhagenEpisodes | None = None,
        check: bool = False,
        config: CopenhagenConfig | None = None,
        **options: Unpack[CopenhagenOptions],
    ) -> None:
        super().__init__(num_envs, COPENHAGEN.config_or(config, num_players, **options), device, episodes, check)

    def to_cpu(self, b: int) -> CopenhagenGame:
        """Return a copy of game `b` as an object, to inspect, draw or save. ValueError for an invalid index."""
        game: CopenhagenGame = super().to_cpu(b)
        return game
