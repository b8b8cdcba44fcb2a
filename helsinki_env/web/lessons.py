"""Guided games: a fixed deal and a script that says at each own action what to do and why."""

from __future__ import annotations

import secrets
from typing import Any

from helsinki_env.engine.spec import GameSpec
from helsinki_env.web.help import help_module
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment

__all__ = ["has_lesson", "lesson_message", "lesson_table"]


def _lesson(spec: GameSpec) -> dict[str, Any]:
    """Return the lesson of a game: `seed`, `opponent`, `steps` and `end`; empty if it has none."""
    module = help_module(spec.name)
    if module is None:
        return {}
    lesson, components = module.lesson, spec.config(num_players=2).component_set
    steps = [{"action": action, "text": text.format(c=components)} for action, text in lesson.STEPS]
    return {"seed": lesson.SEED, "opponent": "greedy", "steps": steps, "end": lesson.END.format(c=components)}


def has_lesson(spec: GameSpec) -> bool:
    """Return whether a game has a guided game."""
    return bool(_lesson(spec))


def lesson_message(spec: GameSpec) -> dict[str, Any]:
    """Return the steps of a game's lesson for a page: each the notation of an action, and a text."""
    lesson = _lesson(spec)
    return {"type": "lesson", "steps": lesson.get("steps", []), "end": lesson.get("end", "")}


def lesson_table(spec: GameSpec, label: str) -> GameTable:
    """Return a new table for the guided game; ValueError if the game has none.

    Args:
        spec: the game.
        label: the name of the opponent on the page.
    """
    lesson = _lesson(spec)
    if not lesson:
        raise ValueError(f"game: found {spec.name}, expected a game with a guided game")
    chairs = (SeatAssignment(HUMAN, "You"), SeatAssignment(lesson["opponent"], label))
    return GameTable(secrets.token_hex(6), "Guided game", spec.config(num_players=2), lesson["seed"], chairs)
