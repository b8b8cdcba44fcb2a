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
reward for a covered coat of arms, ...), one step each. For the rules, see `docs/rules-copenhagen.md`.

**Actions.** `helsinki_env.games.copenhagen.notation` converts between action ids and text (`action_to_string(3)`
is `'TAKE 3'`). The ids are the same for every number of players.

**Mask.** `action_mask` is 1 for each legal action. At least one action is legal until the game ends. The mask is all
zeros for agents that are not acting, and for all agents after the end.

**Observation.** The public information and the agent's own hidden information, from its own seat.
`helsinki_env.games.copenhagen.observation.unpack` returns the fields by name. All values are from 0 to 127.

**Rewards** are those of `helsinki_v0`. Tied players receive the average reward of the ranks they share: with `"win"`,
two tied winners of a game of three get (1 - 1/2) / 2 each.

At the end, `infos[agent]` holds `scores` and `places` of all seats (0 is the first rank; ties share a rank).

Illegal actions, resets (`reset(options=...)` takes `denied`), copies, rendering and `global_state=True` work as in
`helsinki_v0`.

Version History
---------------
`copenhagen_v0` is fixed: a change that an agent could notice needs a new number (see `helsinki_v0`).

* v0: first version.
"""

from __future__ import annotations

from typing import Any

from helsinki_env.envs.aec import OrderEnforced, metadata_of
from helsinki_env.envs.arguments import render_modes
from helsinki_env.envs.by_options import OptionsAECEnv, OptionsSeatEnv, OptionsSeatVectorEnv, OptionsVectorEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.episodes import RandomEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN, CopenhagenGame

__all__ = ["CopenhagenSeatEnv", "CopenhagenSeatVectorEnv", "CopenhagenVectorEnv", "env", "raw_env"]


class raw_env(OptionsAECEnv[CopenhagenConfig, CopenhagenGame]):  # noqa: N801  # PettingZoo's name
    """Copenhagen as a PettingZoo AEC environment; see the module for observations, actions and rewards.

    Arguments: see `OptionsAECEnv`; options: see `CopenhagenConfig`.
    """

    game_spec = COPENHAGEN
    metadata = metadata_of(COPENHAGEN)


def env(*args: Any, **kwargs: Any) -> OrderEnforced:
    """Return the environment wrapped in `OrderEnforced`. Arguments as for `raw_env`."""
    return OrderEnforced(raw_env(*args, **kwargs))


class CopenhagenVectorEnv(OptionsVectorEnv[CopenhagenConfig, CopenhagenGame, RandomEpisodes]):
    """A batch of games for self-play, all seats. Arguments: see `OptionsVectorEnv`; options: see `CopenhagenConfig`.

    `helsinki_env.games.copenhagen.observation.unpack` returns the observation fields by name.
    """

    game_spec = COPENHAGEN


class CopenhagenSeatVectorEnv(OptionsSeatVectorEnv[CopenhagenConfig, CopenhagenGame, RandomEpisodes]):
    """A batch of games with one learning seat each.

    Arguments: see `OptionsSeatVectorEnv`; options: see `CopenhagenConfig`.
    """

    game_spec = COPENHAGEN


class CopenhagenSeatEnv(OptionsSeatEnv[CopenhagenConfig, CopenhagenGame, RandomEpisodes]):
    """A game with one learning seat. Arguments: see `OptionsSeatEnv`; options: see `CopenhagenConfig`."""

    game_spec = COPENHAGEN
    metadata = {"render_modes": render_modes(COPENHAGEN), "render_fps": 2}  # noqa: RUF012  # as in the base
