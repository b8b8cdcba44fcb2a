"""The client, and the messages that it exchanges with the server."""

from __future__ import annotations

from typing import Any

from helsinki_env.utils.extras import requires_extra

with requires_extra("openenv"):
    from openenv.core.client_types import StepResult
    from openenv.core.env_client import EnvClient
    from openenv.core.env_server.types import Action, Observation, State
    from pydantic import Field


class TextGameAction(Action):
    """The model's answer, which names an action."""

    text: str = Field(max_length=100_000, description="Id, words or notation of a legal action, or a text with one.")


class TextGameObservation(Observation):
    """The text that the model reads."""

    text: str = Field("", description="Rules at the start, events, position and legal actions; or an error.")
    legal_actions: list[str] = Field(default_factory=list, description="Legal actions, as id: words (notation).")
    error: str = Field("", description="Error of the last answer; empty if it named a legal action.")


class TextGameState(State):
    """The state of an episode, without any cards."""

    game: str = Field("", description="Name of the game.")
    player: int = Field(0, description="Seat of the model.")
    opponents: list[str] = Field(default_factory=list, description="Players of the other seats, in their order.")
    listed: bool = Field(True, description="Whether observations list the legal actions.")
    actions: int = Field(0, description="Number of actions of all players.")
    illegal: int = Field(0, description="Number of answers without a legal action.")
    forfeited: bool = Field(False, description="Whether the model has forfeited the game.")


class TextGameClient(EnvClient[TextGameAction, TextGameObservation, TextGameState]):
    """A client connected to a server; each connection has its own episode.

    with TextGameClient(base_url="http://localhost:8000").sync() as env:
        result = env.reset(seed=1, opponents=["greedy"])
        result = env.step(TextGameAction(text="0"))
    """

    def _step_payload(self, action: TextGameAction) -> dict[str, Any]:
        """Return an action as a JSON-serializable dict."""
        return dict(action.model_dump())

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextGameObservation]:
        """Parse the result of a reset or a step."""
        done, reward = payload.get("done", False), payload.get("reward")
        observation = TextGameObservation(**{**payload["observation"], "done": done, "reward": reward})
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> TextGameState:
        """Parse the state of an episode."""
        return TextGameState(**payload)
