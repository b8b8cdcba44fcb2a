"""The history of a game in sentences, as a seat has seen it."""

from __future__ import annotations

from typing import Any

from helsinki_env.engine.game import BoardGame
from helsinki_env.records import Record, initial_game
from helsinki_env.text.words import text_module

__all__ = ["PRIVATE", "GameHistory", "history"]

PRIVATE = " (only you see this)"
"""End of a sentence about something that only this seat sees."""


class GameHistory:
    """The events of a game from its current position on, for each seat.

    A sentence about an action names the seat that took it. The sentences after it are its consequences, found by
    comparing what the seat sees before and after the action. Hidden events therefore do not appear.

    Args:
        game: the game; the history plays on a copy.

    Raises:
        TextError: for a game without text.
    """

    def __init__(self, game: BoardGame) -> None:
        self._module, self._game = text_module(game.spec), game.clone()
        self._views = self._copies()
        self._lines: list[list[list[str]]] = [[] for _ in range(game.num_players)]
        for seat, view in enumerate(self._views):
            self._lines[seat].append(self._sentences(seat, None, view))

    @property
    def actions(self) -> int:
        """Number of actions so far."""
        return len(self._lines[0]) - 1

    def step(self, action: int) -> None:
        """Apply an action and write its events.

        Raises:
            IllegalActionError: if the action is illegal; nothing has changed.
        """
        game, seat = self._game, self._game.seat
        shown = game.spec.list_ui_actions(game, seat)  # type: ignore[misc]  # checked by `text_module`
        past = next((one.said for one in shown if one.id == action), "")
        game.step(action)
        before, self._views = self._views, self._copies()
        for viewer, lines in enumerate(self._lines):
            events = self._sentences(viewer, before[viewer], self._views[viewer])
            lines.append([f"Player {seat} {past}.", *events])

    def lines(self, seat: int, since: int = 0) -> list[str]:
        """Return the events that a seat has seen, in sentences.

        Args:
            seat: the seat.
            since: number of actions to skip; 0 begins with the first position.

        Raises:
            ValueError: for an invalid seat.
        """
        first = since + 1 if since else 0
        return [line for lines in self._lines[self._game.validate_seat(seat)][first:] for line in lines]

    def _copies(self) -> list[dict[str, Any]]:
        """Return what each seat sees."""
        game = self._game
        return [game.spec.to_dict(game, seat) for seat in range(game.num_players)]  # type: ignore[misc]  # as above

    def _sentences(self, seat: int, before: dict[str, Any] | None, after: dict[str, Any]) -> list[str]:
        events = self._module.describe_events(before, after, self._game.config.component_set, seat)
        return [sentence + PRIVATE * private for sentence, private in events]


def history(record: Record, seat: int, since: int = 0) -> list[str]:
    """Return the events of a recorded game that a seat has seen, in sentences.

    Args:
        record: the game record, finished or not.
        seat: the seat.
        since: number of actions to skip; 0 begins with the deal.

    Raises:
        TextError: for a game without text.
        IllegalActionError: if the record has an illegal action.
        ValueError: for an invalid seat.
    """
    found = GameHistory(initial_game(record))
    for action in record.decisions:
        found.step(action)
    return found.lines(seat, since)
