"""Makes the environments known to PettingZoo by name; done when `helsinki_env` is imported."""

from __future__ import annotations

import pettingzoo

__all__ = ["register"]

AEC_ID = "helsinki/helsinki-v0"


def register() -> None:
    """Register what is not registered yet."""
    if hasattr(pettingzoo, "register") and AEC_ID not in pettingzoo.aec_registry:  # from PettingZoo 1.27 on
        pettingzoo.register("aec", AEC_ID, "helsinki_env.helsinki_v0:env")
