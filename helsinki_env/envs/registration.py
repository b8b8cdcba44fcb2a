"""Makes environments known to PettingZoo and Gymnasium by name."""

from __future__ import annotations

import gymnasium
import pettingzoo

__all__ = ["register"]


def register(aec_id: str, env: str, seat_id: str, seat_env: str, seat_vector_env: str) -> None:
    """Register the environments of a game, unless they are registered already.

    Args:
        aec_id: for `pettingzoo.make("aec", ...)`, from PettingZoo 1.27 on.
        env: what makes that environment, as ``module:name``.
        seat_id: for `gymnasium.make` and `gymnasium.make_vec`.
        seat_env: the environment of one learning seat, likewise.
        seat_vector_env: many of them.
    """
    if hasattr(pettingzoo, "register") and aec_id not in pettingzoo.aec_registry:  # from PettingZoo 1.27 on
        pettingzoo.register("aec", aec_id, env)
    if seat_id not in gymnasium.registry:
        gymnasium.register(seat_id, entry_point=seat_env, vector_entry_point=seat_vector_env)
