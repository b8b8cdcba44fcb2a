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

**Rendering.** `render_mode` is `"ansi"` (text), `"rgb_array"` (needs the `render` extra), `"svg"` (text) or `"human"`
(prints the text after every step). All cards are shown.

**Speed.** On one core about 200,000 steps a second for `raw_env()` and 175,000 for `env()`, with the loop above and a
quick choice (`legal[int(random() * len(legal))]`); the choice takes longer than the step where it is made by
`env.action_space(agent).sample(mask)`, which leaves 50,000. `env()` adds one wrapper, PettingZoo's own check of the
order of calls. `helsinki_env.HelsinkiVectorEnv` plays many games at once and is the one to train with.

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

from helsinki_env.envs.aec import env, raw_env

__all__ = ["env", "raw_env"]
