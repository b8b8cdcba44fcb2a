"""Rules, positions, legal actions and histories as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, short_repr
from helsinki_env.engine.determinization import determinize_observation
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.records import Record, initial_game


class TextError(UserError):
    """Raised if a game has no text module; the message names the game."""


@dataclass(frozen=True)
class WrittenAction:
    """A legal action, described in words.

    Attributes:
        id: id of the action in the action table.
        notation: notation of the action, such as ``MOVE 2``.
        words: description, such as ``Move 2 spaces``. All legal actions have different descriptions.
        past: description in the past tense without a subject, such as ``moved 2 spaces``.
    """

    id: int
    notation: str
    words: str
    past: str


def text_module(spec: GameSpec) -> Any:
    """Return the text module of a game; raise TextError if the game has none."""
    if spec.text is None or spec.to_dict is None or spec.list_ui_actions is None:
        raise TextError(f"game: found {short_repr(spec.name)}, which has no text, expected a game with text")
    return spec.text()


def rules(config: Any) -> str:
    """Return the rules for a configuration as text.

    Args:
        config: game configuration, which determines the component values, options and disabled actions.

    Returns:
        The text, as lines separated by newlines.

    Raises:
        TextError: if the game has no text.
    """
    spec = spec_of(config)
    lines = [
        f"Rules of {spec.name.capitalize()} for this game",
        "",
        f"Players: {config.num_players}, numbered from 0 in clockwise order. Player 0 begins.",
    ]
    for section in text_module(spec).rule_sections(config):
        rules = [" ".join(section.rules)] if section.rules else []
        lines += ["", section.title.upper(), *rules, *section.details]
    return "\n".join(lines)


def position_text(game: BoardGame, seat: int) -> str:
    """Describe a position in words, as a seat sees it.

    Args:
        game: the game; information that is hidden from the seat is not read.
        seat: the seat.

    Returns:
        The text, as lines separated by newlines.

    Raises:
        TextError: if the game has no text.
        ValueError: if the seat is invalid.
    """
    spec = game.spec
    module = text_module(spec)
    copy = spec.to_dict(game, game.validate_seat(seat))  # type: ignore[misc]  # checked by `text_module`
    lines: list[str] = module.position_lines(game, copy, seat)
    return "\n".join(lines)


def game_from_observation(config: Any, observation: npt.NDArray[np.int8]) -> BoardGame:
    """Return a game that matches the acting seat's observation; hidden cards are sampled with a fixed seed.

    Args:
        config: configuration with the same components; all other options are read from the observation.
        observation: observation of the acting seat, int8 (F,).

    Raises:
        ObservationError: if the observation is invalid.
    """
    spec = spec_of(config)
    record = determinize_observation(config, observation, 1, seed=0)[0]
    return spec.game._from_valid_state(spec.config_of(config, record), record)


def observation_text(config: Any, observation: npt.NDArray[np.int8]) -> str:
    """Describe the position of an observation in words, as the acting seat sees it.

    Args:
        config: as for `game_from_observation`.
        observation: observation of the acting seat, int8 (F,).

    Raises:
        TextError: if the game has no text.
        ObservationError: if the observation is invalid.
    """
    game = game_from_observation(config, observation)
    return position_text(game, game.seat)


def legal_actions(game: BoardGame) -> tuple[WrittenAction, ...]:
    """Return the legal actions of the acting seat in words, in order of id; empty if the game is over.

    Args:
        game: the game; information that is hidden from the acting seat is not read.

    Raises:
        TextError: if the game has no text.
    """
    module, found = text_module(game.spec), []
    for one in game.spec.list_ui_actions(game, game.seat):  # type: ignore[misc]  # checked by `text_module`
        cells = [module.cell_name(int(spot.split()[2])) for spot in one.covers]
        where = f", to cover {' '.join(cells)}" if len(cells) > 1 else ""
        found.append(WrittenAction(one.id, one.text, one.words + where, one.said))
    return tuple(found)


def legal_text(actions: Iterable[WrittenAction]) -> str:
    """List legal actions as lines ``ID: WORDS (NOTATION)``. Each of the three parts is a valid answer."""
    return "\n".join(f"{one.id}: {one.words} ({one.notation})" for one in actions)


# histories

PRIVATE = " (only you see this)"
"""Suffix of a sentence about an event that only this seat observes."""


class GameHistory:
    """The events of a game for each seat, starting at the current position.

    The first sentence about an action names the seat that took it. The following sentences describe the consequences,
    which are found by comparing the observing seat's views before and after the action. They therefore contain no
    hidden events.

    Args:
        game: the game in its current position, which is copied.

    Raises:
        TextError: if the game has no text.
    """

    def __init__(self, game: BoardGame) -> None:
        self._module, self._game = text_module(game.spec), game.clone()
        self._views = self._copies()
        self._lines: list[list[list[str]]] = [[] for _ in range(game.num_players)]
        for seat, view in enumerate(self._views):
            self._lines[seat].append(self._sentences(seat, None, view))

    @property
    def actions(self) -> int:
        """Number of actions taken so far."""
        return len(self._lines[0]) - 1

    def step(self, action: int) -> None:
        """Apply an action and record its events.

        Raises:
            IllegalActionError: if the action is illegal; the history is left unchanged.
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
        """Return the events that a seat has observed, as sentences.

        Args:
            seat: the seat.
            since: number of actions to skip; 0 starts at the first position.

        Raises:
            ValueError: if the seat is invalid.
        """
        first = since + 1 if since else 0
        return [line for lines in self._lines[self._game.validate_seat(seat)][first:] for line in lines]

    def _copies(self) -> list[dict[str, Any]]:
        """Return a copy of the game as each seat sees it."""
        game = self._game
        return [game.spec.to_dict(game, seat) for seat in range(game.num_players)]  # type: ignore[misc]  # as above

    def _sentences(self, seat: int, before: dict[str, Any] | None, after: dict[str, Any]) -> list[str]:
        events = self._module.describe_events(before, after, self._game.config.component_set, seat)
        return [sentence + PRIVATE * private for sentence, private in events]


def history(record: Record, seat: int, since: int = 0) -> list[str]:
    """Describe, in sentences, the events of a recorded game that a seat observed.

    Args:
        record: record of a finished or unfinished game.
        seat: the seat.
        since: number of actions to skip; 0 starts at the deal.

    Raises:
        TextError: if the game has no text.
        IllegalActionError: if an action in the record is illegal.
        ValueError: if the seat is invalid.
    """
    found = GameHistory(initial_game(record))
    for action in record.decisions:
        found.step(action)
    return found.lines(seat, since)
