"""Public alias of `helsinki_env.engine.hidden`: game states from observations."""

from helsinki_env.engine.hidden import ObservationError, deals, restore

__all__ = ["ObservationError", "deals", "restore"]
