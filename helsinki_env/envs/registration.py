"""Makes the environments known to PettingZoo and Gymnasium by name; done when `helsinki_env` is imported."""

from __future__ import annotations

import gymnasium
import pettingzoo

__all__ = ["AEC_ID", "SEAT_ID", "register"]

AEC_ID = "helsinki/helsinki-v0"
"""For `pettingzoo.make("aec", ...)`, from PettingZoo 1.27 on."""
SEAT_ID = "helsinki/Seat-v0"
"""For `gymnasium.make` and `gymnasium.make_vec`."""


def register() -> None:
    """Register what is not registered yet."""
    if hasattr(pettingzoo, "register") and AEC_ID not in pettingzoo.aec_registry:  # from PettingZoo 1.27 on
        pettingzoo.register("aec", AEC_ID, "helsinki_env.helsinki_v0:env")
    if SEAT_ID not in gymnasium.registry:
        gymnasium.register(
            SEAT_ID,
            entry_point="helsinki_env.envs.seat:HelsinkiSeatEnv",
            vector_entry_point="helsinki_env.envs.seat:HelsinkiSeatVectorEnv",
        )
