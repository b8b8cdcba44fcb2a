"""The argument `illegal` of the environments, and the warning when an illegal action ends a game."""

from __future__ import annotations

import warnings
from typing import Literal

from helsinki_env.envs.rewards import PENALTIES

__all__ = ["IllegalMode", "checked_illegal", "warn_illegal"]

IllegalMode = Literal["raise", "penalise"]


def checked_illegal(value: object) -> IllegalMode:
    """Return the argument `illegal`; ValueError if it is invalid."""
    if isinstance(value, str) and value in ("raise", "penalise"):
        return value  # type: ignore[return-value]  # one of the two
    raise ValueError(f"illegal: found {value!r}, expected 'raise' or 'penalise'")


def warn_illegal(reward: str) -> None:
    """Warn the caller of `step` that an illegal action has ended a game; environments warn once.

    A policy that ignores the mask loses its games this way and learns nothing.

    Args:
        reward: reward type of the configuration.
    """
    warnings.warn(
        f"illegal action: it ended a game with reward {PENALTIES[reward]:g}; expected one with a 1 in "
        "info['action_mask'], the mask of the observation. Use a policy and an evaluation that apply the mask (of "
        "sb3_contrib for Stable-Baselines3: MaskablePPO, maskable.evaluation, maskable.callbacks), or illegal='raise' "
        "to make it an error. Further ones are reported as info['illegal_action'] only",
        UserWarning,
        stacklevel=3,
    )
