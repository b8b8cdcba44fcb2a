"""Environments for a specific game, which accept its configuration options as keyword arguments.

`helsinki_v0`, `copenhagen_v0` and `torch_envs` derive the environments for each game from these classes. A subclass
sets `game_spec` and declares its constructor with `EnvOptions` for type checkers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, SupportsIndex, TypedDict, TypeVar

from gymnasium.vector import AutoresetMode

from helsinki_env.engine.configuration import Configuration
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import GameSpec
from helsinki_env.envs.aec import GameAECEnv
from helsinki_env.envs.arguments import IllegalActionMode
from helsinki_env.envs.seat import GameSeatEnv, GameSeatVectorEnv, Opponent, SeatOption
from helsinki_env.envs.vector import GameVectorEnv

if TYPE_CHECKING:
    import torch

__all__ = ["EnvOptions", "OptionsAECEnv", "OptionsSeatEnv", "OptionsSeatVectorEnv", "OptionsVectorEnv"]

ConfigT = TypeVar("ConfigT", bound=Configuration[Any])
GameT = TypeVar("GameT", bound=BoardGame)
EpisodesT = TypeVar("EpisodesT")


class EnvOptions(TypedDict, Generic[ConfigT, EpisodesT], total=False):
    """Keyword arguments of a game's environments: the options of its configuration and the arguments of the classes.

    Type checkers reject other names and types. An argument that a class does not accept raises TypeError at run time.
    """

    num_players: int
    reward: str
    denied: Iterable[Iterable[SupportsIndex | str]] | None
    components: str | Path
    num_envs: int
    opponents: Opponent | Sequence[Opponent]
    seat: SeatOption
    config: ConfigT | None
    episodes: EpisodesT | None
    render_mode: str | None
    render_width: int | None
    illegal_action: IllegalActionMode
    global_state: bool
    autoreset_mode: AutoresetMode | str
    num_threads: int | None
    copy: bool
    device: str | torch.device
    check: bool


class BatchOf(Generic[ConfigT, GameT]):
    """Attribute types of a batch of one game."""

    game_spec: GameSpec
    config: ConfigT

    if TYPE_CHECKING:

        def game(self, b: SupportsIndex) -> GameT:
            """Return a copy of game `b`."""


class OptionsAECEnv(GameAECEnv, Generic[ConfigT, GameT]):
    """PettingZoo AEC environment for one game; see `GameAECEnv`.

    Args:
        num_players: number of players, 2 to 4; default: 2.
        render_mode, illegal_action, render_width, global_state: see `GameAECEnv`.
        config, options: see `OptionsVectorEnv`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
    """

    game_spec: GameSpec
    config: ConfigT

    def __init__(
        self,
        num_players: int | None = None,
        *,
        render_mode: str | None = None,
        illegal_action: IllegalActionMode = "penalize",
        render_width: int | None = None,
        global_state: bool = False,
        config: ConfigT | None = None,
        **options: Any,
    ) -> None:
        chosen = self.game_spec.config_or(type(self), config, num_players, **options)
        super().__init__(chosen, render_mode, illegal_action, render_width, global_state)

    @property
    def game(self) -> GameT:
        """A copy of the current game to inspect, search or save."""
        game: GameT = super().game
        return game


class OptionsVectorEnv(BatchOf[ConfigT, GameT], GameVectorEnv, Generic[ConfigT, GameT, EpisodesT]):
    """Batch of games for self-play of all seats; see `GameVectorEnv` for returned values and autoreset.

    Args:
        num_envs: number of games B.
        num_players: number of players, 2 to 4; default: 2.
        autoreset_mode, num_threads, copy, render_mode, render_width: see `GameVectorEnv`.
        episodes: options drawn at random for each episode, an instance of the game's `RandomEpisodes`.
        config: game configuration, in place of num_players and options.
        options: other configuration options of the game, such as `reward`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
        IllegalActionError: by `step`; names the game, action, phase and legal actions. In that case no game is
            advanced.
    """

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: EpisodesT | None = None,
        num_threads: int | None = 1,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: ConfigT | None = None,
        **options: Any,
    ) -> None:
        chosen = self.game_spec.config_or(type(self), config, num_players, **options)
        super().__init__(num_envs, chosen, autoreset_mode, episodes, num_threads, copy, render_mode, render_width)


class OptionsSeatVectorEnv(BatchOf[ConfigT, GameT], GameSeatVectorEnv, Generic[ConfigT, GameT, EpisodesT]):
    """Batch of games with one learning seat each; see `GameSeatVectorEnv` for returned values.

    Args:
        num_envs: number of games B.
        opponents, seat, illegal_action, autoreset_mode, copy, render_mode, render_width: see `GameSeatVectorEnv`.
        num_players, episodes, config, options: see `OptionsVectorEnv`.

    Raises:
        ConfigError: for invalid options; see also `GameSeatVectorEnv`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: SeatOption = "random",
        num_players: int | None = None,
        *,
        illegal_action: IllegalActionMode = "penalize",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: EpisodesT | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: ConfigT | None = None,
        **options: Any,
    ) -> None:
        chosen = self.game_spec.config_or(type(self), config, num_players, **options)
        super().__init__(
            num_envs, chosen, opponents, seat, illegal_action, autoreset_mode, episodes, copy, render_mode, render_width
        )


class OptionsSeatEnv(GameSeatEnv, Generic[ConfigT, GameT, EpisodesT]):
    """Game with one learning seat; see `GameSeatEnv` for returned values.

    Args:
        opponents, seat, illegal_action, render_mode, render_width: see `GameSeatEnv`.
        num_players, episodes, config, options: see `OptionsVectorEnv`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
    """

    game_spec: ClassVar[GameSpec]

    def __init__(
        self,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: SeatOption = "random",
        num_players: int | None = None,
        *,
        illegal_action: IllegalActionMode = "penalize",
        episodes: EpisodesT | None = None,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: ConfigT | None = None,
        **options: Any,
    ) -> None:
        chosen = self.game_spec.config_or(type(self), config, num_players, **options)
        super().__init__(chosen, opponents, seat, illegal_action, episodes, render_mode, render_width)

    @property
    def config(self) -> ConfigT:
        """The game configuration."""
        config: ConfigT = super().config
        return config

    @property
    def game(self) -> GameT:
        """A copy of the current game with all cards visible, for tools."""
        game: GameT = super().game
        return game
