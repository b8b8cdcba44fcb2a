"""Messages between client and server."""

from __future__ import annotations

from helsinki_env.utils.extras import requires_extra

with requires_extra("openenv"):
    from openenv.core.env_server.types import Action, Observation, State
    from pydantic import Field

__all__ = ["TextGameAction", "TextGameObservation", "TextGameState"]


class TextGameAction(Action):
    """An answer of the model."""

    text: str = Field(max_length=100_000, description="Id, words or notation of a legal action, or a text with one.")


class TextGameObservation(Observation):
    """Text for the model to read."""

    text: str = Field("", description="Rules at the start, events, position and legal actions; or an error.")
    legal_actions: list[str] = Field(default_factory=list, description="Legal actions, as id: words (notation).")
    error: str = Field("", description="Why the last answer was no legal action; empty if it was one.")


class TextGameState(State):
    """The state of an episode; it shows no cards."""

    game: str = Field("", description="Name of the game.")
    player: int = Field(0, description="Seat of the model.")
    opponents: list[str] = Field(default_factory=list, description="Players of the other seats, in their order.")
    listed: bool = Field(True, description="Whether observations list the legal actions.")
    actions: int = Field(0, description="Number of actions of all players.")
    illegal: int = Field(0, description="Number of answers without a legal action.")
    forfeited: bool = Field(False, description="Whether the model has forfeited the game.")
