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

**Turns.** A turn consists of several actions (move, draw or build, pay card by card, place the tile, ...), one per
step. An agent therefore takes several steps in a row during its turn. For the rules, see `docs/rules.md`.

**Actions.** `helsinki_env.notation` converts between action ids and text: `notation.action_to_string(65)` is
`'PAY blue 1/2'`. The ids are the same for every number of players and every setup with the same components.

**Mask.** `action_mask` is 1 for each legal action. At least one action is legal until the game ends. The mask is all
zeros for agents that are not acting, and for all agents after the end.

**Observation.** The public information and the agent's private information, from the perspective of its seat.
`helsinki_env.games.helsinki.observation.unpack` returns the fields by name, and
`helsinki_env.games.helsinki.observation.observation_layout().markdown()` lists them. All values are between 0 and 127.

**Rewards.** Rewards are 0 until the game ends. Then all agents terminate and get their rewards, which `last()` returns.
The rewards sum to zero.

| `reward` | reward of an agent |
| --- | --- |
| `"win"` | 1 for the winner, -1 / (n - 1) for the others |
| `"rank"` | from 1 for the first rank to -1 for the last rank, in equal steps |
| `"margin"` | points minus the mean of the other players' points |

At the end, `infos[agent]` holds `scores` and `places` of all seats (0 is the first rank).

**Illegal actions** end the game: the agent gets -1 (-100 with `reward="margin"`), the others share the opposite amount,
and `infos[agent]["illegal_action"]` contains the message. The first illegal action also triggers a warning. With
`illegal_action="raise"`, an illegal action raises `IllegalActionError`, which names the action, the phase and the legal
actions. The game is left unchanged.

**Reset.** `reset(seed=s)` deals the same game as `HelsinkiGame(config, seed=s)`. `reset()` without a seed deals the
next game of the same series, so one seed determines a whole series of games. `reset(options=...)` accepts `covered`,
`denied` and `dry_roads`, which also apply to later games. The number of players is fixed.

**Copies.** `copy.copy`, `copy.deepcopy`, `pickle` and the faster `clone()` copy a game in progress, including its
random state. `get_state()` and `set_state()` save and restore it in place. `env.unwrapped.game` is a copy of the game
as `helsinki_env.HelsinkiGame`.

**Global state.** With `global_state=True`, `state()` returns all hands and the draw pile as one vector, for centralized
critics. `helsinki_env.envs.global_state` describes it and computes it for batches. It must not be given to policies.

**Rendering.** `render_mode` is `"ansi"` (text), `"rgb_array"` (requires the `render` extra; `render_width` pixels
wide), `"svg"` (text) or `"human"` (prints the text after every step and in `render`). Text is colored on terminals
unless ``NO_COLOR`` is set. All cards are visible.

**Speed.** On one core, `raw_env()` runs about 350,000 steps per second and `env()` about 310,000, with the loop above
and a fast sampler (`legal[int(random() * len(legal))]`; docs/speed.md). `env.action_space(agent).sample(mask)` takes
far longer than a step. `env()` adds one wrapper, which checks the call order. For training, use
`helsinki_env.HelsinkiVectorEnv`, which runs a batch of games.

Version policy
--------------
Any change that an agent could observe bumps the version in `helsinki_v0`: a change to rules, action ids, masks,
observation fields, rewards, or the games dealt for a seed. Results with different versions are not comparable. Changes
to speed or drawings, and new options whose defaults keep the behavior, do not bump it. Component files with different
data define different games. `helsinki_v0` is stable.

Version History
---------------
* v0: first version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, Unpack

from helsinki_env.envs.aec import OrderEnforced, metadata_of
from helsinki_env.envs.arguments import render_modes
from helsinki_env.envs.by_options import (
    EnvOptions,
    OptionsAECEnv,
    OptionsSeatEnv,
    OptionsSeatVectorEnv,
    OptionsVectorEnv,
)
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import HELSINKI, HelsinkiGame

__all__ = ["HelsinkiOptions", "HelsinkiSeatEnv", "HelsinkiSeatVectorEnv", "HelsinkiVectorEnv", "env", "raw_env"]


class HelsinkiOptions(EnvOptions[HelsinkiConfig, RandomEpisodes], total=False):
    """Keyword arguments of the environments; `HelsinkiConfig` describes the options of the game."""

    covered: Iterable[SupportsIndex | str] | Literal["first_game"]
    dry_roads: bool


class HelsinkiArgs:
    """Types of the constructor arguments, for type checkers."""

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **options: Unpack[HelsinkiOptions]) -> None: ...


class raw_env(HelsinkiArgs, OptionsAECEnv[HelsinkiConfig, HelsinkiGame]):  # noqa: N801  # PettingZoo's name
    """PettingZoo AEC environment for Helsinki; see the module docstring for observations, actions and rewards.

    For arguments, see `OptionsAECEnv`; for options, see `HelsinkiConfig`.
    """

    game_spec = HELSINKI
    metadata = metadata_of(HELSINKI)


def env(*args: Any, **options: Unpack[HelsinkiOptions]) -> OrderEnforced:
    """Return the environment wrapped in `OrderEnforced`. Takes the same arguments as `raw_env`."""
    return OrderEnforced(raw_env(*args, **options))


class HelsinkiVectorEnv(HelsinkiArgs, OptionsVectorEnv[HelsinkiConfig, HelsinkiGame, RandomEpisodes]):
    """Batch of games for self-play of all seats; see `OptionsVectorEnv` for arguments, `HelsinkiConfig` for options.

    `helsinki_env.games.helsinki.observation.unpack` returns the observation fields by name.
    """

    game_spec = HELSINKI


class HelsinkiSeatVectorEnv(HelsinkiArgs, OptionsSeatVectorEnv[HelsinkiConfig, HelsinkiGame, RandomEpisodes]):
    """Batch of games with one learning seat each.

    For arguments, see `OptionsSeatVectorEnv`; for options, see `HelsinkiConfig`.
    """

    game_spec = HELSINKI


class HelsinkiSeatEnv(HelsinkiArgs, OptionsSeatEnv[HelsinkiConfig, HelsinkiGame, RandomEpisodes]):
    """Game with one learning seat; see `OptionsSeatEnv` for arguments, `HelsinkiConfig` for options."""

    game_spec = HELSINKI
    metadata = {"render_modes": render_modes(HELSINKI), "render_fps": 2}  # noqa: RUF012  # as in the base
