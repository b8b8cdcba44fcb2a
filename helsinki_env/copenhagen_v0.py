"""Copenhagen for PettingZoo: two to four players build facades at the harbor; full rows and columns score.

| | |
| --- | --- |
| Import | `from helsinki_env import copenhagen_v0` |
| Also | `pettingzoo.make("aec", "helsinki/copenhagen-v0")` (PettingZoo 1.27 or later) |
| Agents | `player_0` to `player_1`, `player_2` or `player_3`, in turn order |
| Actions | `Discrete(459)`, masked |
| Observations | dict: `observation` int8 (923,), `action_mask` int8 (459,) |
| Parallel API | no: agents act one at a time |

    >>> import numpy as np
    >>> from helsinki_env import copenhagen_v0
    >>> env = copenhagen_v0.env(num_players=3)
    >>> env.reset(seed=42)
    >>> rng = np.random.default_rng(0)
    >>> for agent in env.agent_iter():
    ...     observation, reward, termination, truncation, info = env.last()
    ...     if termination or truncation:
    ...         action = None
    ...     else:
    ...         action = rng.choice(np.flatnonzero(observation["action_mask"]))
    ...     env.step(action)

**Turns.** A turn consists of several actions (take two cards, or build: which tile, where, and pay card by card; a
reward for a covered coat of arms; ...), one step each. For the rules, see `docs/rules-copenhagen.md`.

**Actions.** `helsinki_env.games.copenhagen.notation` converts between action ids and text (`action_to_string(3)`
is `'TAKE 3'`). The ids are the same for every number of players.

**Mask.** `action_mask` is 1 for each legal action. At least one action is legal until the game ends. The mask is all
zeros for agents that are not acting, and for all agents after the end.

**Observation.** The public information and the agent's own hidden information, from its own seat.
`helsinki_env.games.copenhagen.observation.unpack` returns the fields by name. All values are from 0 to 127.

**Rewards.** Rewards are 0 until the game ends. Then all agents terminate and get their rewards. The rewards sum
to zero. Tied players receive the average reward of the ranks they share: with `"win"`, two tied winners of a game of
three get (1 - 1/2) / 2 each.

| `reward` | reward of an agent |
| --- | --- |
| `"win"` | 1 for the winner, -1 / (n - 1) for the others |
| `"rank"` | from 1 for the first rank to -1 for the last, in equal steps |
| `"margin"` | own points minus the mean of the others' points |

At the end, `infos[agent]` holds `scores` and `places` of all seats (0 is the first rank; ties share a rank).

Illegal actions, resets (`reset(options=...)` takes `denied`), copies, rendering and `global_state=True` work as in
`helsinki_v0`.

Version History
---------------
`copenhagen_v0` is settled: from now on a change that an agent could notice needs a new number (see `helsinki_v0`).

* v0: first version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, Unpack

from gymnasium.vector import AutoresetMode

from helsinki_env.envs.aec import GameAECEnv, OrderEnforced, metadata_of
from helsinki_env.envs.arguments import IllegalActionMode, render_modes
from helsinki_env.envs.seat import GameSeatEnv, GameSeatVectorEnv, Opponent, SeatOption
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig, CopenhagenOptions
from helsinki_env.games.copenhagen.episodes import RandomEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN, CopenhagenGame

__all__ = ["CopenhagenSeatEnv", "CopenhagenSeatVectorEnv", "CopenhagenVectorEnv", "env", "raw_env"]


class raw_env(GameAECEnv):  # noqa: N801  # PettingZoo's name
    """Copenhagen as a PettingZoo AEC environment; see the module for observations, actions and rewards.

    Args:
        num_players: 2 to 4.
        render_mode: None, "ansi", "human" (prints the text at every step and in `render`), "rgb_array" or "svg".
        illegal_action: how to treat an illegal action. "penalize": the game ends, the agent gets -1 (-100 with reward
            "margin"), the others share the opposite amount, and the first illegal action also warns. "raise":
            `IllegalActionError`; the environment does not change. An action that is not an integer is always an error.
        render_width: width of "rgb_array" in pixels; None: 1,200.
        global_state: whether `state()` and `state_space` exist. They show all hidden cards (`global_states`).
        options: other options of the game, such as `reward`; see `CopenhagenConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
    """

    metadata = metadata_of(COPENHAGEN)
    config: CopenhagenConfig

    def __init__(
        self,
        num_players: int = 2,
        *,
        render_mode: str | None = None,
        illegal_action: IllegalActionMode = "penalize",
        render_width: int | None = None,
        global_state: bool = False,
        **options: Unpack[CopenhagenOptions],
    ) -> None:
        config = CopenhagenConfig(num_players, **options)
        super().__init__(config, render_mode, illegal_action, render_width, global_state)

    @property
    def game(self) -> CopenhagenGame:
        """A copy of the current game, to inspect, search or save."""
        game: CopenhagenGame = super().game
        return game


def env(*args: Any, **kwargs: Any) -> OrderEnforced:
    """Return the environment wrapped in `OrderEnforced`. Arguments as for `raw_env`."""
    return OrderEnforced(raw_env(*args, **kwargs))


class CopenhagenVectorEnv(GameVectorEnv):
    """A batch of games for self-play, all seats; see `GameVectorEnv` for returned values and autoreset.

    `helsinki_env.games.copenhagen.observation.unpack` returns the observation fields by name.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        autoreset_mode, num_threads, copy, render_mode, render_width: see `GameVectorEnv`.
        episodes: options to draw at random for each game (`helsinki_env.games.copenhagen.episodes.RandomEpisodes`).
        config: a `CopenhagenConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `CopenhagenConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
        IllegalActionError: by `step`; names game, action, phase and the legal actions. No game has been stepped.
    """

    config: CopenhagenConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        num_threads: int | None = 1,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: CopenhagenConfig | None = None,
        **options: Unpack[CopenhagenOptions],
    ) -> None:
        config = COPENHAGEN.config_or(config, num_players, **options)
        super().__init__(num_envs, config, autoreset_mode, episodes, num_threads, copy, render_mode, render_width)

    def game(self, b: SupportsIndex) -> CopenhagenGame:
        """Return a copy of game `b`, to inspect, draw or save. ValueError for an invalid index."""
        game: CopenhagenGame = super().game(b)
        return game


class CopenhagenSeatVectorEnv(GameSeatVectorEnv):
    """A batch of games with one learning seat each; see `GameSeatVectorEnv` for returned values.

    Args:
        num_envs: number of games B.
        opponents, seat, illegal_action, autoreset_mode, copy, render_mode, render_width: see `GameSeatVectorEnv`.
        num_players: 2 to 4.
        episodes: options to draw at random for each game (`helsinki_env.games.copenhagen.episodes.RandomEpisodes`).
        config: a `CopenhagenConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `CopenhagenConfig`.

    Raises:
        ConfigError: for invalid options; see also `GameSeatVectorEnv`.
    """

    config: CopenhagenConfig

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: SeatOption = "random",
        num_players: int = 2,
        *,
        illegal_action: IllegalActionMode = "penalize",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: CopenhagenConfig | None = None,
        **options: Unpack[CopenhagenOptions],
    ) -> None:
        config = COPENHAGEN.config_or(config, num_players, **options)
        super().__init__(
            num_envs, config, opponents, seat, illegal_action, autoreset_mode, episodes, copy, render_mode, render_width
        )

    def game(self, b: SupportsIndex) -> CopenhagenGame:
        """Return a copy of game `b` with all cards visible, for tools. ValueError for an invalid index."""
        game: CopenhagenGame = super().game(b)
        return game


class CopenhagenSeatEnv(GameSeatEnv):
    """A game with one learning seat; see `GameSeatEnv` for returned values.

    Args:
        opponents, seat, illegal_action, render_mode, render_width: see `GameSeatEnv`.
        num_players: 2 to 4.
        episodes: options to draw at random for each game (`helsinki_env.games.copenhagen.episodes.RandomEpisodes`).
        config: a `CopenhagenConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `CopenhagenConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
    """

    metadata = {"render_modes": render_modes(COPENHAGEN), "render_fps": 2}  # noqa: RUF012  # as in the base

    def __init__(
        self,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: SeatOption = "random",
        num_players: int = 2,
        *,
        illegal_action: IllegalActionMode = "penalize",
        episodes: RandomEpisodes | None = None,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: CopenhagenConfig | None = None,
        **options: Unpack[CopenhagenOptions],
    ) -> None:
        super().__init__(
            COPENHAGEN.config_or(config, num_players, **options),
            opponents,
            seat,
            illegal_action,
            episodes,
            render_mode,
            render_width,
        )

    @property
    def config(self) -> CopenhagenConfig:
        """The game configuration."""
        config: CopenhagenConfig = super().config
        return config

    @property
    def game(self) -> CopenhagenGame:
        """A copy of the current game with all cards visible, for tools."""
        game: CopenhagenGame = super().game
        return game
