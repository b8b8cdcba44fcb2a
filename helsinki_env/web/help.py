"""Help for users: rules, explanations of the picture, and guided games that explain each action on a fixed deal.

The texts are defined in `helsinki_env.games.<name>.help`. They depend on the configuration, the public position, and
the cards of the viewing seat.
"""

from __future__ import annotations

import secrets
from functools import cache
from typing import Any

from helsinki_env.data import short_repr
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.utils.modules import import_if_exists
from helsinki_env.web.names import LESSON_NAME, LESSON_TITLE, seat_name
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError


@cache
def help_module(game: str) -> Any | None:
    """Return the help module of a game, or None if the game has none."""
    return import_if_exists(f"helsinki_env.games.{game}.help")


def rules_text(config: Any) -> list[dict[str, str]]:
    """Return the rules for a configuration as sections with `title` and `text`; empty if the game has no texts."""
    spec = spec_of(config)
    sections = spec.text().rule_sections(config) if spec.text is not None else []
    texts = ((one.title, " ".join([*one.rules, *one.page])) for one in sections)
    return [{"title": title, "text": text} for title, text in texts if text]


def score_sheet(game: BoardGame) -> list[list[dict[str, Any]]]:
    """Return the scoring categories of each seat, each with `label`, `count`, `points` and `note`."""
    module = help_module(game.spec.name)
    return module.score_sheet(game) if module is not None else [[] for _ in range(game.config.num_players)]


def effects(before: BoardGame, after: BoardGame, seat: int) -> list[str]:
    """Return what a seat visibly gains by an action, in short phrases."""
    module = help_module(before.spec.name)
    return module.effects(before, after, seat) if module is not None else []


def said(game: BoardGame, action: int, words: str) -> str:
    """Describe an action for the log; if possible, the description names the public cards."""
    module = help_module(game.spec.name)
    named: str = words if module is None or not hasattr(module, "said") else module.said(game, action, words)
    return named


def log_text(game: BoardGame, action: int) -> str:
    """Describe an action of the seat to move for the log; empty if it is illegal or the game has no words for it."""
    listed = game.spec.list_ui_actions(game, game.seat) if game.spec.list_ui_actions is not None else ()
    return next((said(game, action, one.said) for one in listed if one.id == action), "")


def explanation(
    table: GameTable, mine: tuple[int, ...], viewer: int | None, spot: str, spots: Any, legal: list[dict[str, Any]]
) -> dict[str, Any]:
    """Explain a spot in the picture: `help` describes it, and `why` states why it cannot be used (empty if it can).

    The page plays the seats `mine`, shows the cards of `viewer` (None shows all cards) and has the named `spots`.
    `legal` contains the legal actions, with their spots in `at`. Raises TableError if the spot is unknown.
    """
    if spot not in spots:
        raise TableError(f"spot: found {short_repr(spot)}, expected the name of a spot of the picture")
    game = table.game
    module = help_module(game.spec.name)
    text = module.help_text(game, viewer, spot) if module is not None else ""
    return {
        "type": "explained",
        "number": table.number,
        "viewer": viewer,
        "spot": spot,
        "help": text,
        "why": _why_not(module, table, mine, viewer, spot, legal),
    }


def _why_not(
    module: Any | None,
    table: GameTable,
    mine: tuple[int, ...],
    viewer: int | None,
    spot: str,
    legal: list[dict[str, Any]],
) -> str:
    """Return the reason why a page cannot use a spot now; empty if it can, or if it only watches."""
    game = table.game
    if not mine or module is None:
        return ""
    if game.done:
        return "The game is over."
    if game.seat not in mine or viewer != game.seat:
        return f"It is the turn of {seat_name(table, game.seat)}."
    if any(spot in one["at"] for one in legal):
        return ""
    reason: str = module.why_not(game, spot)
    return reason


# guided games


def _lesson(spec: GameSpec) -> dict[str, Any]:
    """Return the guided game for a game, with `seed`, `opponent`, `steps` and `end`; empty if there is none."""
    module = help_module(spec.name)
    if module is None:
        return {}
    lesson, components = module.lesson, spec.config(num_players=2).component_set
    steps = [{"action": action, "text": text.format(c=components)} for action, text in lesson.STEPS]
    return {"seed": lesson.SEED, "opponent": "greedy", "steps": steps, "end": lesson.END.format(c=components)}


def has_lesson(spec: GameSpec) -> bool:
    """Return whether there is a guided game for a game."""
    return bool(_lesson(spec))


def lesson_message(spec: GameSpec) -> dict[str, Any]:
    """Return the message with a guided game's steps; each step has an action in notation and an explanation."""
    lesson = _lesson(spec)
    return {"type": "lesson", "steps": lesson.get("steps", []), "end": lesson.get("end", "")}


def lesson_table(spec: GameSpec, label: str) -> GameTable:
    """Create a table for the guided game, with `label` as the opponent's name; raise ValueError if there is none."""
    lesson = _lesson(spec)
    if not lesson:
        raise ValueError(f"game: found {spec.name}, expected a game with a guided game")
    chairs = (SeatAssignment(HUMAN, LESSON_NAME), SeatAssignment(lesson["opponent"], label))
    return GameTable(secrets.token_hex(6), LESSON_TITLE, spec.config(num_players=2), lesson["seed"], chairs)
