"""Hidden cards dealt anew (`helsinki_env.engine.hidden`), under the name that users know."""

from helsinki_env.engine.hidden import RedealError, batch_redeal, redeal, redeal_many

__all__ = ["RedealError", "batch_redeal", "redeal", "redeal_many"]
