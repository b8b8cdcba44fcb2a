"""Helsinki for PettingZoo: two to four players slide pavilions into their boards; the most points win.

| | |
| --- | --- |
| Import | `from helsinki_env import helsinki_v0` |
| Also | `pettingzoo.make("aec", "helsinki/helsinki-v0")` (PettingZoo 1.27 or later) |
| Agents | `player_0` to `player_1`, `player_2` or `player_3`, in turn order |
| Actions | `Discrete(554)`, masked (with the default components) |
| Observations | dict: `observation` int8 (1385,), `action_mask` int8 (554,) |
| Parallel API | no: agents act one at a time |

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

**Turns.** A turn consists of several actions (move, draw or build, pay card by card, place the tile, ...), one step
each. An agent therefore takes several steps in a row until its turn is over. For the rules, see `docs/rules.md`.

**Actions.** `helsinki_env.notation` converts between action ids and text: `notation.action_to_string(65)` is
`'PAY blue 1/2'`. The ids are the same for every number of players and every setup with the same components.

**Mask.** `action_mask` is 1 for each legal action. At least one action is legal until the game ends. The mask is all
zeros for agents that are not acting, and for all agents after the end.

**Observation.** The public information and the agent's own hidden information, from its own seat.
`helsinki_env.games.helsinki.observation.unpack` returns the fields by name, and
`helsinki_env.games.helsinki.observation.observation_layout().markdown()` lists them. All values are from 0 to 127.

**Rewards.** Rewards are 0 until the game ends. Then all agents terminate and get their rewards, so that
`last()` of each agent returns its reward. The rewards sum to zero.

| `reward` | reward of an agent |
| --- | --- |
| `"win"` | 1 for the winner, -1 / (n - 1) for the others |
| `"rank"` | from 1 for the first rank to -1 for the last, in equal steps |
| `"margin"` | own points minus the mean of the others' points |

At the end, `infos[agent]` holds `scores` and `places` of all seats (0 is the first rank).

**Illegal actions** end the game: the agent gets -1 (-100 with `reward="margin"`), the others share the opposite amount,
and `infos[agent]["illegal_action"]` contains the message. The first one also warns. With `illegal_action="raise"` they
raise `IllegalActionError`, which names the action, the phase and the legal actions; the game does not change.

**Reset.** `reset(seed=s)` deals the game of `HelsinkiGame(config, seed=s)`. `reset()` without a seed deals the
next game after that seed, so one seed determines a whole series. `reset(options=...)` takes `covered`, `denied` and
`dry_roads`, which also apply to later games. The number of players is fixed for an environment.

**Copies.** `copy.copy`, `copy.deepcopy`, `pickle` and the faster `clone()` copy a game in progress, including its
random state. `get_state()` and `set_state()` save and load it in place. `env.unwrapped.game` is a copy of the game as
`helsinki_env.HelsinkiGame`.

**Global state.** With `global_state=True`, `state()` returns all hands and the draw pile as one vector, for central
critics; `helsinki_env.envs.global_state` describes it and makes the same for batches. Policies must not see it.

**Rendering.** `render_mode` is `"ansi"` (text), `"rgb_array"` (needs the `render` extra; `render_width` pixels wide),
`"svg"` (text) or `"human"` (prints the text after every step and in `render`). Text has colors on terminals, unless
``NO_COLOR`` is set. All cards are visible.

**Speed.** On one core, `raw_env()` runs about 350,000 steps per second and `env()` about 310,000, with the loop above
and a fast sampler (`legal[int(random() * len(legal))]`; docs/speed.md). `env.action_space(agent).sample(mask)` takes
far longer than the step. `env()` adds one wrapper, PettingZoo's check of the call order. For training, use
`helsinki_env.HelsinkiVectorEnv`, which plays a batch of games.

Version policy
--------------
The number in `helsinki_v0` changes with anything that an agent could notice: rules, action ids, masks, observation
fields, rewards, or the games that a seed deals. Results with different numbers are not comparable. Other changes
(speed, drawings, new options whose defaults change nothing) keep the number. Component files with other facts define
different games with their own names. `helsinki_v0` is settled: from now on a change that an agent could notice needs a
new number.

Version History
---------------
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
from helsinki_env.games.helsinki.config import HelsinkiConfig, HelsinkiOptions
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import HELSINKI, HelsinkiGame

__all__ = ["HelsinkiSeatEnv", "HelsinkiSeatVectorEnv", "HelsinkiVectorEnv", "env", "raw_env"]


class raw_env(GameAECEnv):  # noqa: N801  # PettingZoo's name
    """Helsinki as a PettingZoo AEC environment; see the module for observations, actions and rewards.

    Args:
        num_players: 2 to 4.
        render_mode: None, "ansi", "human" (prints the text at every step and in `render`), "rgb_array" or "svg".
        illegal_action: how to treat an illegal action. "penalize": the game ends, the agent gets -1 (-100 with reward
            "margin"), the others share the opposite amount, and the first illegal action also warns. "raise":
            `IllegalActionError`; the environment does not change. An action that is not an integer is always an error.
        render_width: width of "rgb_array" in pixels; None: 1,200.
        global_state: whether `state()` and `state_space` exist. They show all hidden cards (`global_states`).
        options: other options of the game, such as `reward`; see `HelsinkiConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
    """

    metadata = metadata_of(HELSINKI)
    config: HelsinkiConfig

    def __init__(
        self,
        num_players: int = 2,
        *,
        render_mode: str | None = None,
        illegal_action: IllegalActionMode = "penalize",
        render_width: int | None = None,
        global_state: bool = False,
        **options: Unpack[HelsinkiOptions],
    ) -> None:
        config = HelsinkiConfig(num_players, **options)
        super().__init__(config, render_mode, illegal_action, render_width, global_state)

    @property
    def game(self) -> HelsinkiGame:
        """A copy of the current game, to inspect, search or save."""
        game: HelsinkiGame = super().game
        return game


def env(*args: Any, **kwargs: Any) -> OrderEnforced:
    """Return the environment wrapped in `OrderEnforced`. Arguments as for `raw_env`."""
    return OrderEnforced(raw_env(*args, **kwargs))


class HelsinkiVectorEnv(GameVectorEnv):
    """A batch of games for self-play, all seats; see `GameVectorEnv` for returned values and autoreset.

    `helsinki_env.games.helsinki.observation.unpack` returns the observation fields by name.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        autoreset_mode, num_threads, copy, render_mode, render_width: see `GameVectorEnv`.
        episodes: options to draw at random for each game (`RandomEpisodes`).
        config: a `HelsinkiConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `HelsinkiConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
        IllegalActionError: by `step`; names game, action, phase and the legal actions. No game has been stepped.
    """

    config: HelsinkiConfig

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
        config: HelsinkiConfig | None = None,
        **options: Unpack[HelsinkiOptions],
    ) -> None:
        config = HELSINKI.config_or(config, num_players, **options)
        super().__init__(num_envs, config, autoreset_mode, episodes, num_threads, copy, render_mode, render_width)

    def game(self, b: SupportsIndex) -> HelsinkiGame:
        """Return a copy of game `b`, to inspect, draw or save. ValueError for an invalid index."""
        game: HelsinkiGame = super().game(b)
        return game


class HelsinkiSeatVectorEnv(GameSeatVectorEnv):
    """A batch of games with one learning seat each; see `GameSeatVectorEnv` for returned values.

    Args:
        num_envs: number of games B.
        opponents, seat, illegal_action, autoreset_mode, copy, render_mode, render_width: see `GameSeatVectorEnv`.
        num_players: 2 to 4.
        episodes: options to draw at random for each game (`RandomEpisodes`).
        config: a `HelsinkiConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `HelsinkiConfig`.

    Raises:
        ConfigError: for invalid options; see also `GameSeatVectorEnv`.
    """

    config: HelsinkiConfig

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
        config: HelsinkiConfig | None = None,
        **options: Unpack[HelsinkiOptions],
    ) -> None:
        config = HELSINKI.config_or(config, num_players, **options)
        super().__init__(
            num_envs, config, opponents, seat, illegal_action, autoreset_mode, episodes, copy, render_mode, render_width
        )

    def game(self, b: SupportsIndex) -> HelsinkiGame:
        """Return a copy of game `b` with all cards visible, for tools. ValueError for an invalid index."""
        game: HelsinkiGame = super().game(b)
        return game


class HelsinkiSeatEnv(GameSeatEnv):
    """A game with one learning seat; see `GameSeatEnv` for returned values.

    Args:
        opponents, seat, illegal_action, render_mode, render_width: see `GameSeatEnv`.
        num_players: 2 to 4.
        episodes: options to draw at random for each game (`RandomEpisodes`).
        config: a `HelsinkiConfig` instead of num_players and options.
        options: other options of the game, such as `reward`; see `HelsinkiConfig`.

    Raises:
        ConfigError: for invalid options. ValueError: for other invalid arguments.
    """

    metadata = {"render_modes": render_modes(HELSINKI), "render_fps": 2}  # noqa: RUF012  # as in the base

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
        config: HelsinkiConfig | None = None,
        **options: Unpack[HelsinkiOptions],
    ) -> None:
        super().__init__(
            HELSINKI.config_or(config, num_players, **options),
            opponents,
            seat,
            illegal_action,
            episodes,
            render_mode,
            render_width,
        )

    @property
    def config(self) -> HelsinkiConfig:
        """The game configuration."""
        config: HelsinkiConfig = super().config
        return config

    @property
    def game(self) -> HelsinkiGame:
        """A copy of the current game with all cards visible, for tools."""
        game: HelsinkiGame = super().game
        return game
