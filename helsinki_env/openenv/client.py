"""The client of the environment."""

from __future__ import annotations

from typing import Any

from helsinki_env.openenv.models import TextGameAction, TextGameObservation, TextGameState
from helsinki_env.utils.extras import requires_extra

with requires_extra("openenv"):
    from openenv.core.client_types import StepResult
    from openenv.core.env_client import EnvClient

__all__ = ["TextGameClient"]


class TextGameClient(EnvClient[TextGameAction, TextGameObservation, TextGameState]):
    """A connection to a server, which has an episode of its own.

    with TextGameClient(base_url="http://localhost:8000").sync() as env:
        result = env.reset(seed=1, opponents=["greedy"])
        result = env.step(TextGameAction(text="0"))
    """

    def _step_payload(self, action: TextGameAction) -> dict[str, Any]:
        """Return an action as plain data."""
        return dict(action.model_dump())

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextGameObservation]:
        """Return the result of a reset or a step."""
        done, reward = payload.get("done", False), payload.get("reward")
        observation = TextGameObservation(**{**payload["observation"], "done": done, "reward": reward})
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> TextGameState:
        """Return the state of an episode."""
        return TextGameState(**payload)
