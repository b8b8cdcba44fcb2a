"""Import-time registration of the environments of both games with PettingZoo and Gymnasium."""

from __future__ import annotations

import gymnasium
import pettingzoo

__all__: list[str] = []


def _register(aec_id: str, env: str, seat_id: str, seat_env: str, seat_vector_env: str) -> None:
    """Register the environments of a game (entry points ``module:name``) unless they are already registered."""
    if hasattr(pettingzoo, "register") and aec_id not in pettingzoo.aec_registry:  # requires PettingZoo 1.27 or later
        pettingzoo.register("aec", aec_id, env)
    if seat_id not in gymnasium.registry:
        gymnasium.register(seat_id, entry_point=seat_env, vector_entry_point=seat_vector_env)


_register(
    "helsinki/helsinki-v0",
    "helsinki_env.helsinki_v0:env",
    "helsinki/Helsinki-v0",
    "helsinki_env.helsinki_v0:HelsinkiSeatEnv",
    "helsinki_env.helsinki_v0:HelsinkiSeatVectorEnv",
)
_register(
    "helsinki/copenhagen-v0",
    "helsinki_env.copenhagen_v0:env",
    "helsinki/Copenhagen-v0",
    "helsinki_env.copenhagen_v0:CopenhagenSeatEnv",
    "helsinki_env.copenhagen_v0:CopenhagenSeatVectorEnv",
)
