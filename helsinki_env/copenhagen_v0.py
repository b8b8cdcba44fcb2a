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

**Turns.** A turn consists of several actions (take two cards, or build: choose the tile and its place, pay card by
card; choose the reward for a covered coat of arms; ...), one per step. For the rules, see `docs/rules-copenhagen.md`.

**Actions.** `helsinki_env.games.copenhagen.notation` converts between action ids and text (`action_to_string(3)`
is `'TAKE 3'`). The ids are the same for every number of players.

**Mask.** `action_mask` is 1 for each legal action. At least one action is legal until the game ends. The mask is all
zeros for agents that are not acting, and for all agents after the end.

**Observation.** The public information and the agent's private information, from the perspective of its seat.
`helsinki_env.games.copenhagen.observation.unpack` returns the fields by name. All values are between 0 and 127.

**Rewards** are defined as in `helsinki_v0`. Tied players receive the average reward of the ranks they share: with
`"win"`, two tied winners of a three-player game get (1 - 1/2) / 2 each.

At the end, `infos[agent]` holds `scores` and `places` of all seats (0 is the first rank; ties share a rank).

Illegal actions, resets (`reset(options=...)` accepts `denied`), copies, rendering and `global_state=True` work as in
`helsinki_v0`.

Version History
---------------
`copenhagen_v0` is stable: any change that an agent could observe bumps the version (see `helsinki_v0`).

* v0: first version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from helsinki_env.envs.aec import OrderEnforced, metadata_of
from helsinki_env.envs.arguments import render_modes
from helsinki_env.envs.by_options import (
    EnvOptions,
    OptionsAECEnv,
    OptionsSeatEnv,
    OptionsSeatVectorEnv,
    OptionsVectorEnv,
)
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.episodes import RandomEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN, CopenhagenGame

__all__ = ["CopenhagenOptions", "CopenhagenSeatEnv", "CopenhagenSeatVectorEnv", "CopenhagenVectorEnv", "env", "raw_env"]

CopenhagenOptions = EnvOptions[CopenhagenConfig, RandomEpisodes]
"""Keywords of the environments; `CopenhagenConfig` describes the options of the game."""


class CopenhagenArgs:
    """Types of the constructor arguments, for type checkers."""

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **options: Unpack[CopenhagenOptions]) -> None: ...


class raw_env(CopenhagenArgs, OptionsAECEnv[CopenhagenConfig, CopenhagenGame]):  # noqa: N801  # PettingZoo's name
    """PettingZoo AEC environment for Copenhagen; see the module docstring for observations, actions and rewards.

    For arguments, see `OptionsAECEnv`; for options, see `CopenhagenConfig`.
    """

    game_spec = COPENHAGEN
    metadata = metadata_of(COPENHAGEN)


def env(*args: Any, **options: Unpack[CopenhagenOptions]) -> OrderEnforced:
    """Return the environment wrapped in `OrderEnforced`. Takes the same arguments as `raw_env`."""
    return OrderEnforced(raw_env(*args, **options))


class CopenhagenVectorEnv(CopenhagenArgs, OptionsVectorEnv[CopenhagenConfig, CopenhagenGame, RandomEpisodes]):
    """Batch of games for self-play of all seats; see `OptionsVectorEnv` for arguments, `CopenhagenConfig` for options.

    `helsinki_env.games.copenhagen.observation.unpack` returns the observation fields by name.
    """

    game_spec = COPENHAGEN


class CopenhagenSeatVectorEnv(CopenhagenArgs, OptionsSeatVectorEnv[CopenhagenConfig, CopenhagenGame, RandomEpisodes]):
    """Batch of games with one learning seat each.

    For arguments, see `OptionsSeatVectorEnv`; for options, see `CopenhagenConfig`.
    """

    game_spec = COPENHAGEN


class CopenhagenSeatEnv(CopenhagenArgs, OptionsSeatEnv[CopenhagenConfig, CopenhagenGame, RandomEpisodes]):
    """Game with one learning seat; see `OptionsSeatEnv` for arguments, `CopenhagenConfig` for options."""

    game_spec = COPENHAGEN
    metadata = {"render_modes": render_modes(COPENHAGEN), "render_fps": 2}  # noqa: RUF012  # as in the base
