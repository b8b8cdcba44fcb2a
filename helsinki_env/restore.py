"""Games made up again from observations (`helsinki_env.engine.hidden`), under the name that users know."""

from helsinki_env.engine.hidden import ObservationError, deals, restore

__all__ = ["ObservationError", "deals", "restore"]
