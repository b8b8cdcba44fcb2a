"""Helsinki for PettingZoo: two to four players slide pavilions into their boards; whoever has most points wins.

| | |
| --- | --- |
| Import | `from helsinki_env import helsinki_v0` |
| Also | `pettingzoo.make("aec", "helsinki/helsinki-v0")` (PettingZoo 1.27 or later) |
| Agents | `player_0` to `player_1`, `player_2` or `player_3`, in turn order |
| Actions | `Discrete(554)`, masked (with the default components) |
| Observations | dict: `observation` int8 (1385,), `action_mask` int8 (554,) |
| Parallel API | no: one agent decides at a time |

    >>> import numpy as np
    >>> from helsinki_env import helsinki_v0
    >>> env = helsinki_v0.env(num_players=3)
    >>> env.reset(seed=42)
    >>> rng = np.random.default_rng(0)
    >>> for agent in env.agent_iter():
    ...     observation, reward, termination, truncation, info = env.last()
    ...     if termination or truncation:
    ...         action = None
    ...     else:
    ...         action = rng.choice(np.flatnonzero(observation["action_mask"]))
    ...     env.step(action)

**Turns.** A turn consists of several decisions (move, draw or build, pay card by card, place the tile, ...), each of
which is one step. An agent therefore takes several steps in a row; the next player follows when its turn is over.
The rules are on the rules page, `docs/rules.md`.

**Actions.** An action is the id of a decision; `helsinki_env.notation` turns ids into text and back
(`notation.describe(65)` is `'PAY blue 1/2'`). The ids are the same for every number of players and every setup with
the same components.

**Mask.** `action_mask` is 1 for each legal decision. At least one is legal as long as the game lasts. Agents that
are not to move, and all of them when the game is over, get zeros.

**Observation.** What the agent may see and no more, from its own seat. `helsinki_env.observation.split` names the
pieces, `helsinki_env.observation.layout().markdown()` lists them. Its numbers lie between 0 and 127.

**Rewards.** 0 until the game ends; then every agent is terminated and gets its reward at once, so that `last()` of
each agent returns it. The rewards sum to zero.

| `reward` | what an agent gets |
| --- | --- |
| `"win"` | 1 for the winner, -1 / (n - 1) for the others |
| `"rank"` | from 1 for the first place to -1 for the last, in equal steps |
| `"margin"` | own points less the mean of the others' points |

`infos[agent]` then holds `scores` and `places` of all seats (0 is the first place).

**Illegal decisions** raise `IllegalActionError`, which names the decision, the phase and what is legal; the game is
as before. With `illegal="penalise"` they end the game: -1 for the offender (-100 with `reward="margin"`), and the
others share as much; `infos[offender]["illegal_action"]` says what was wrong.

**Reset.** `reset(seed=s)` deals the game of `helsinki_env.Game(config, seed=s)`. `reset()` without a seed deals the
next game after that seed, so a whole series follows from one seed. `reset(options=...)` takes `covered`, `denied` and
`dry_roads`, which then hold for later games too. The number of players belongs to the environment, as its agents do.

**Copies.** `copy.copy`, `copy.deepcopy`, `pickle` and the faster `clone()` keep a game that is under way, chance
included; `get_state()` and `set_state()` do it in place. `env.unwrapped.game` is a copy of the game as
`helsinki_env.Game`.

**Rendering.** `render_mode` is `"ansi"` (text), `"rgb_array"` (needs the `render` extra; `render_width` pixels wide),
`"svg"` (text) or `"human"` (prints the text after every step and in `render`). Text has colors on terminals, unless
``NO_COLOR`` is set. All cards are shown.

**Speed.** On one core some 350,000 steps a second for `raw_env()` and 310,000 for `env()`, with the loop above and a
quick choice (`legal[int(random() * len(legal))]`; docs/speed.md); `env.action_space(agent).sample(mask)` takes far
longer than the step. `env()` adds one wrapper, PettingZoo's own check of the order of calls.
`helsinki_env.HelsinkiVectorEnv` plays many games at once and is the one to train with.

Version policy
--------------
The number in `helsinki_v0` changes whenever an agent could notice: rules, action ids, masks, the observation's
pieces, rewards, or the games that a seed deals. Results with different numbers are not comparable. Anything else
(speed, drawings, further options whose default changes nothing) leaves it as it is, and component files with other
facts are other games by their own name. Version 0 is still being settled: until the first release it may change
without a new number.

Version History
---------------
* v0: first version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsIndex

from gymnasium.vector import AutoresetMode

from helsinki_env.envs.aec import GameAECEnv, metadata_of
from helsinki_env.envs.drawing import render_modes
from helsinki_env.envs.ordered import OrderEnforced
from helsinki_env.envs.seat import GameSeatEnv, GameSeatVectorEnv, Opponent, Seat
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.helsinki.config import GameConfig
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import HELSINKI, Game

__all__ = ["HelsinkiSeatEnv", "HelsinkiSeatVectorEnv", "HelsinkiVectorEnv", "env", "raw_env"]


class raw_env(GameAECEnv):  # noqa: N801  # PettingZoo's name
    """Helsinki as a PettingZoo AEC environment; see the module for what agents see, do and get.

    Args:
        num_players: 2 to 4.
        covered: actions that nobody may use, ids or names, or "first_game".
        denied: one such set for each seat, or None.
        dry_roads: whether the expansion is played.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        render_mode: None, "ansi", "human" (prints the text at every step and in `render`), "rgb_array" or "svg".
        illegal: what an illegal decision does: "raise" `IllegalActionError`, or "penalise": the game ends, the agent
            gets -1 (-100 with reward "margin") and the others share as much; the first one is warned of.
        render_width: of "rgb_array", in pixels; None: 1,200.

    Raises:
        ConfigError: for options that cannot be played. ValueError: for other arguments.
    """

    metadata = metadata_of(HELSINKI)
    config: GameConfig

    def __init__(
        self,
        num_players: int = 2,
        covered: Iterable[int | str] | Literal["first_game"] = (),
        denied: Iterable[Iterable[int | str]] | None = None,
        dry_roads: bool = False,
        components: str | Path = "default",
        reward: str = "win",
        render_mode: str | None = None,
        illegal: Literal["raise", "penalise"] = "raise",
        render_width: int | None = None,
    ) -> None:
        config = GameConfig(
            num_players=num_players,
            covered=covered,
            denied=denied,
            dry_roads=dry_roads,
            components=components,
            reward=reward,
        )
        super().__init__(config, render_mode, illegal, render_width)

    @property
    def game(self) -> Game:
        """A copy of the game as it stands, to look at, to search or to save."""
        game: Game = super().game
        return game


def env(*args: Any, **kwargs: Any) -> OrderEnforced:
    """Return the environment with the only wrapper that it needs. Arguments as for `raw_env`."""
    return OrderEnforced(raw_env(*args, **kwargs))


class HelsinkiVectorEnv(GameVectorEnv):
    """A batch of games for self-play, all seats; see `GameVectorEnv` for what comes back and how it goes on.

    The pieces of the observation are named by `helsinki_env.observation.split`.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        covered: actions that nobody may use, ids or names, or "first_game".
        denied: one such set for each seat, or None.
        dry_roads: whether the expansion is played.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        autoreset_mode, num_threads, copy, render_mode, render_width: see `GameVectorEnv`.
        episodes: what is drawn anew at each deal (`RandomEpisodes`).
        config: a `GameConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for options that cannot be played. ValueError: for other arguments.
        IllegalActionError: by `step`, naming game, decision, phase and the legal ones; no game has been stepped.
    """

    config: GameConfig

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
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        num_threads: int | None = 1,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: GameConfig | None = None,
    ) -> None:
        if config is None:
            config = GameConfig(
                num_players=num_players,
                covered=covered,
                denied=denied,
                dry_roads=dry_roads,
                components=components,
                reward=reward,
            )
        config = HELSINKI.checked(config)
        super().__init__(num_envs, config, autoreset_mode, episodes, num_threads, copy, render_mode, render_width)

    def game(self, b: SupportsIndex) -> Game:
        """Return a copy of game `b`, to look at, to draw or to save. ValueError if there is none."""
        game: Game = super().game(b)
        return game


class HelsinkiSeatVectorEnv(GameSeatVectorEnv):
    """Many games at once, in each of which one seat learns; see `GameSeatVectorEnv` for what comes back.

    Args:
        num_envs: number of games B.
        opponents, seat, illegal, autoreset_mode, copy, render_mode, render_width: see `GameSeatVectorEnv`.
        num_players: 2 to 4.
        covered: actions that nobody may use, ids or names, or "first_game".
        denied: one such set for each seat, or None.
        dry_roads: whether the expansion is played.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        episodes: what is drawn anew at each deal (`RandomEpisodes`).
        config: a `GameConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for options that cannot be played; see also `GameSeatVectorEnv`.
    """

    config: GameConfig

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: Seat = "random",
        num_players: int = 2,
        *,
        covered: Iterable[int | str] | Literal["first_game"] = (),
        denied: Iterable[Iterable[int | str]] | None = None,
        dry_roads: bool = False,
        components: str | Path = "default",
        reward: str = "win",
        illegal: Literal["raise", "penalise"] = "penalise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: GameConfig | None = None,
    ) -> None:
        if config is None:
            config = GameConfig(
                num_players=num_players,
                covered=covered,
                denied=denied,
                dry_roads=dry_roads,
                components=components,
                reward=reward,
            )
        config = HELSINKI.checked(config)
        super().__init__(
            num_envs, config, opponents, seat, illegal, autoreset_mode, episodes, copy, render_mode, render_width
        )

    def game(self, b: SupportsIndex) -> Game:
        """Return a copy of game `b`, with everybody's cards: for tools. ValueError if there is none."""
        game: Game = super().game(b)
        return game


class HelsinkiSeatEnv(GameSeatEnv):
    """One game in which one seat learns; see `GameSeatEnv` for what comes back.

    Args:
        opponents, seat, illegal, render_mode, render_width: see `GameSeatEnv`.
        num_players: 2 to 4.
        covered: actions that nobody may use, ids or names, or "first_game".
        denied: one such set for each seat, or None.
        dry_roads: whether the expansion is played.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        episodes: what is drawn anew at each deal (`RandomEpisodes`).
        config: a `GameConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for options that cannot be played. ValueError: for other arguments.
    """

    metadata = {"render_modes": render_modes(HELSINKI), "render_fps": 2}  # noqa: RUF012  # as in the base

    def __init__(
        self,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: Seat = "random",
        num_players: int = 2,
        *,
        covered: Iterable[int | str] | Literal["first_game"] = (),
        denied: Iterable[Iterable[int | str]] | None = None,
        dry_roads: bool = False,
        components: str | Path = "default",
        reward: str = "win",
        illegal: Literal["raise", "penalise"] = "penalise",
        episodes: RandomEpisodes | None = None,
        render_mode: str | None = None,
        render_width: int | None = None,
        config: GameConfig | None = None,
    ) -> None:
        if config is None:
            config = GameConfig(
                num_players=num_players,
                covered=covered,
                denied=denied,
                dry_roads=dry_roads,
                components=components,
                reward=reward,
            )
        super().__init__(HELSINKI.checked(config), opponents, seat, illegal, episodes, render_mode, render_width)

    @property
    def config(self) -> GameConfig:
        """What is played."""
        config: GameConfig = super().config
        return config

    @property
    def game(self) -> Game:
        """A copy of the game as it stands, with everybody's cards: for tools."""
        game: Game = super().game
        return game
