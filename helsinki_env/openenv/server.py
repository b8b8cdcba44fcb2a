"""The ASGI application of the server, ``helsinki_env.openenv.server:app``, for Uvicorn."""

from __future__ import annotations

from helsinki_env.openenv.client import TextGameAction, TextGameObservation, TextGameState
from helsinki_env.openenv.environment import TextGameEnvironment
from helsinki_env.utils.extras import requires_extra

with requires_extra("openenv"):
    from openenv.core.env_server.http_server import create_fastapi_app

MAX_EPISODES = 64
"""Maximum number of concurrent episodes."""

app = create_fastapi_app(
    TextGameEnvironment,
    TextGameAction,
    TextGameObservation,
    max_concurrent_envs=MAX_EPISODES,
    env_name="helsinki-env",
    state_cls=TextGameState,
)
