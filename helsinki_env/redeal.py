"""Public alias of `helsinki_env.engine.hidden`: determinization."""

from helsinki_env.engine.hidden import RedealError, batch_redeal, redeal, redeal_many

__all__ = ["RedealError", "batch_redeal", "redeal", "redeal_many"]
