"""Arguments that the environments share: render modes, picture widths, illegal actions, arrays; and their spaces."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt

from helsinki_env.data import has_boolean
from helsinki_env.drawing.raster import checked_width
from helsinki_env.engine.spec import GameSpec
from helsinki_env.envs.rewards import PENALTIES

__all__ = [
    "IllegalActionMode",
    "Observation",
    "as_array",
    "check_flag",
    "check_illegal_action",
    "check_mode",
    "check_width",
    "render_modes",
    "spaces",
    "warn_illegal_action",
]

IllegalActionMode = Literal["penalize", "raise"]
Observation = dict[str, npt.NDArray[np.int8]]


def spaces(ids: int, features: int) -> tuple[gymnasium.spaces.Dict, gymnasium.spaces.Discrete]:
    """Return the observation space and the action space of one game with `ids` actions and `features` entries."""
    box = gymnasium.spaces.Box
    return (
        gymnasium.spaces.Dict(
            {"observation": box(0, 127, (features,), np.int8), "action_mask": box(0, 1, (ids,), np.int8)}
        ),
        gymnasium.spaces.Discrete(ids),
    )


def as_array(name: str, given: Any) -> npt.NDArray[Any]:
    """Return the argument as an array; ValueError if that is impossible, or if a list mixes in booleans."""
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError, TypeError, RuntimeError):  # RuntimeError: for example, tensors on a GPU
        raise ValueError(f"{name}: found {given!r}, expected an array") from None
    if isinstance(given, list | tuple) and array.dtype != np.bool_ and has_boolean(given):
        raise ValueError(f"{name}: found booleans among numbers in {given!r}, expected an array")
    return array


def render_modes(spec: GameSpec) -> list[str]:
    """Return the render modes of one game, including "human", which prints the text at every step."""
    return sorted((*spec.render_modes, "human")) if spec.render_modes else []


def check_mode(mode: str | None, modes: tuple[str, ...]) -> str | None:
    """Return a render mode; ValueError if it is not in `modes`."""
    if mode is not None and (not isinstance(mode, str) or mode not in modes):
        raise ValueError(f"render_mode: found {mode!r}, expected None or one of {', '.join(modes)}")
    return mode


def check_width(width: int | None) -> int | None:
    """Return the width of an rgb_array in pixels, or None for the picture's own width; ValueError if invalid."""
    return None if width is None else checked_width(width, "render_width")


def check_flag(name: str, value: object) -> bool:
    """Return a flag; ValueError unless it is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: found {value!r}, expected True or False")
    return value


def check_illegal_action(value: object) -> IllegalActionMode:
    """Return the argument `illegal_action`; ValueError if it is invalid."""
    if isinstance(value, str) and value in ("penalize", "raise"):
        return value  # type: ignore[return-value]  # one of the two
    raise ValueError(f"illegal_action: found {value!r}, expected 'penalize' or 'raise'")


def warn_illegal_action(reward: str) -> None:
    """Warn the caller of `step` that an illegal action ended a game with this reward type; environments warn once.

    A policy that ignores the mask loses its games this way and learns nothing.
    """
    warnings.warn(
        f"illegal action: it ended a game with reward {PENALTIES[reward]:g}; expected one with a 1 in "
        "info['action_mask'], the mask of the observation. Use a policy and an evaluation that apply the mask (of "
        "sb3_contrib for Stable-Baselines3: MaskablePPO, maskable.evaluation, maskable.callbacks), or "
        "illegal_action='raise' to make it an error. Further ones are reported as info['illegal_action'] only",
        UserWarning,
        stacklevel=3,
    )
