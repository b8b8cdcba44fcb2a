"""OpenEnv environments for both games: a server with players as opponents, and its client.

    uvicorn helsinki_env.openenv.server:app --port 8000

starts the server, and `TextGameClient` connects to it. The ``openenv`` extra installs the framework.
"""

from helsinki_env.openenv.client import TextGameAction, TextGameClient, TextGameObservation, TextGameState
from helsinki_env.openenv.environment import TextGameEnvironment

__all__ = ["TextGameAction", "TextGameClient", "TextGameEnvironment", "TextGameObservation", "TextGameState"]
