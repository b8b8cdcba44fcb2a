"""Batches of games in tensors, on a GPU or CPU: one class per game."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.episodes import RandomEpisodes as CopenhagenEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN
from helsinki_env.games.copenhagen.game import CopenhagenGame as CopenhagenGame
from helsinki_env.games.helsinki.config import HelsinkiConfig
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
        covered: board actions disabled for all players, ids or names, or "first_game".
        denied: board actions disabled for each seat, one such set per seat, or None.
        dry_roads: whether to play with the expansion.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        device, check: see `GameTorchEnv`.
        episodes: options to draw at random for each game (`RandomEpisodes`).
        config: a `HelsinkiConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments, or a missing GPU.
    """

    config: HelsinkiConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        covered: Iterable[int | str] | Literal["first_game"] = (),
        denied: Iterable[Iterable[int | str]] | None = None,
        dry_roads: bool = False,
        components: str | Path = "default",
        reward: str = "win",
        device: str | torch.device = "cuda",
        episodes: RandomEpisodes | None = None,
        check: bool = False,
        config: HelsinkiConfig | None = None,
    ) -> None:
        if config is None:
            config = HelsinkiConfig(
                num_players=num_players,
                covered=covered,
                denied=denied,
                dry_roads=dry_roads,
                components=components,
                reward=reward,
            )
        super().__init__(num_envs, HELSINKI.check_config(config), device, episodes, check)

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
        denied: abilities disabled for each seat, ids (1 to 4) or names; or None.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        device, check: see `GameTorchEnv`.
        episodes: options to draw at random for each game (`helsinki_env.games.copenhagen.episodes.RandomEpisodes`).
        config: a `CopenhagenConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments, or a missing GPU.
    """

    config: CopenhagenConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        denied: Iterable[Iterable[int | str]] | None = None,
        components: str | Path = "copenhagen",
        reward: str = "win",
        device: str | torch.device = "cuda",
        episodes: CopenhagenEpisodes | None = None,
        check: bool = False,
        config: CopenhagenConfig | None = None,
    ) -> None:
        if config is None:
            config = CopenhagenConfig(num_players=num_players, denied=denied, components=components, reward=reward)
        super().__init__(num_envs, COPENHAGEN.check_config(config), device, episodes, check)

    def to_cpu(self, b: int) -> CopenhagenGame:
        """Return a copy of game `b` as an object, to inspect, draw or save. ValueError for an invalid index."""
        game: CopenhagenGame = super().to_cpu(b)
        return game
