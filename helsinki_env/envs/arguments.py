"""Spaces of the environments, and checks of their shared arguments (render mode, width, arrays and others)."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt

from helsinki_env.data import as_integer, has_boolean, short_repr
from helsinki_env.drawing.raster import checked_width
from helsinki_env.engine.playout import MOST_GAMES
from helsinki_env.engine.spec import GameSpec

PENALTIES = {"win": -1.0, "rank": -1.0, "margin": -100.0}
"""Reward of an illegal action that ends the game, at most that of the worst game. The others share the opposite."""
IllegalActionMode = Literal["penalize", "raise"]
Observation = dict[str, npt.NDArray[np.int8]]


def spaces(ids: int, features: int) -> tuple[gymnasium.spaces.Dict, gymnasium.spaces.Discrete]:
    """Return the observation and action spaces of one game with `ids` actions and `features` observation entries."""
    box = gymnasium.spaces.Box
    return (
        gymnasium.spaces.Dict(
            {"observation": box(0, 127, (features,), np.int8), "action_mask": box(0, 1, (ids,), np.int8)}
        ),
        gymnasium.spaces.Discrete(ids),
    )


def as_array(name: str, given: Any) -> npt.NDArray[Any]:
    """Return the argument as an array; raise ValueError if it is invalid or a list that contains booleans."""
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError, TypeError, RuntimeError):  # RuntimeError: for tensors on a GPU, for example
        raise ValueError(f"{name}: found {short_repr(given)}, expected an array") from None
    if isinstance(given, list | tuple) and array.dtype != np.bool_ and has_boolean(given):
        raise ValueError(f"{name}: found booleans among numbers in {given!r}, expected an array")
    return array


def check_num_envs(num_envs: object) -> int:
    """Return the number of games in a batch; raise ValueError if it is invalid."""
    count = as_integer(num_envs)
    if count is None or not 1 <= count <= MOST_GAMES:
        raise ValueError(f"num_envs: found {short_repr(num_envs)}, expected a whole number from 1 to {MOST_GAMES:,}")
    return count


def check_index(b: object, num_envs: int) -> int:
    """Return the index of a game in a batch; raise ValueError if it is invalid."""
    number = as_integer(b)
    if number is None or not -num_envs <= number < num_envs:
        raise ValueError(f"game: found {short_repr(b)}, expected the number of one of {num_envs} games, from 0")
    return number


def check_episodes(spec: GameSpec, episodes: Any, name: str = "episodes") -> Any:
    """Return the random episode options of a game; raise ValueError for any other object."""
    if not isinstance(episodes, spec.episodes):
        raise ValueError(f"{name}: found {short_repr(episodes)}, expected {spec.episodes.__name__}(...)")
    return episodes


def player_range(config: Any, episodes: Any) -> tuple[int, int]:
    """Return the minimum and maximum number of players; raise ValueError if it is random and actions are denied."""
    if episodes.num_players is None:
        return config.num_players, config.num_players
    if any(config.denied):
        raise ValueError("denied: found sets for each seat, expected None with a random number of players")
    return min(episodes.num_players), max(episodes.num_players)


def check_options(options: object) -> dict[str, Any]:
    """Return a copy of the options of a reset; raise ValueError unless they are a mapping or None."""
    if not isinstance(options, Mapping | None):
        raise ValueError(f"options: found {short_repr(options)}, expected a mapping of option names to values, or None")
    return dict(options or {})


def check_state_keys(state: object, names: Collection[str]) -> None:
    """Raise ValueError unless a saved state is a mapping with exactly these keys."""
    if not isinstance(state, Mapping) or set(state) != set(names):
        found = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise ValueError(f"state: found {found}, expected what get_state returns: {', '.join(names)}")


def render_modes(spec: GameSpec) -> list[str]:
    """Return the render modes of one game, including "human", which prints the text after every step."""
    return sorted((*spec.render_modes, "human")) if spec.render_modes else []


def check_mode(mode: str | None, modes: tuple[str, ...]) -> str | None:
    """Return a render mode; raise ValueError if it is not in `modes`."""
    if mode is not None and (not isinstance(mode, str) or mode not in modes):
        raise ValueError(f"render_mode: found {short_repr(mode)}, expected None or one of {', '.join(modes)}")
    return mode


def check_width(width: int | None) -> int | None:
    """Return the width of an rgb_array in pixels, or None for the default width; raise ValueError if it is invalid."""
    return None if width is None else checked_width(width, "render_width")


def check_flag(name: str, value: object) -> bool:
    """Return a flag; raise ValueError unless it is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: found {short_repr(value)}, expected True or False")
    return value


def check_illegal_action(value: object) -> IllegalActionMode:
    """Return the `illegal_action` argument; raise ValueError if it is invalid."""
    if isinstance(value, str) and value in ("penalize", "raise"):
        return value  # type: ignore[return-value]  # one of the two
    raise ValueError(f"illegal_action: found {short_repr(value)}, expected 'penalize' or 'raise'")


def warn_illegal_action(reward: str, mask: str, depth: int) -> None:
    """Warn the caller of `step` that an illegal action ended a game; called once per environment.

    Without the warning, it is easy to miss that a policy ignores the mask: it loses its games and does not learn.
    `mask` says where the mask is, and `depth` is the number of calls from `step` to this one.
    """
    warnings.warn(
        f"illegal action: it ended a game with reward {PENALTIES[reward]:g}; expected one with a 1 in "
        f"{mask}. Use a policy and an evaluation that apply the mask (of "
        "sb3_contrib for Stable-Baselines3: MaskablePPO, maskable.evaluation, maskable.callbacks), or "
        "illegal_action='raise' to make it an error. Further ones are reported as info['illegal_action'] only",
        UserWarning,
        stacklevel=2 + depth,
    )
