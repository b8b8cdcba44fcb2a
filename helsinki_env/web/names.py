"""Names of tables and seats as pages show them: a name that a person chose is marked, so that it is not translated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.levels import level_data
from helsinki_env.web.setups import levels_of
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment

LESSON_TITLE, LESSON_NAME = "Guided game", "You"
"""Title of the table of a guided game, and name of its person."""


def verbatim(name: str) -> str:
    """Mark a name that a person chose, so that pages do not translate it; names cannot contain the marks."""
    return f"\u2068{name}\u2069" if name else ""


@cache
def default_names(game: str) -> dict[str, str]:
    """Return the default names of the players of a game's levels."""
    names = {one["player"]: f"Level {number}" for number, one in enumerate(level_data(game), 1)}
    return names | {level.player: level.label for level in levels_of(spec_by_name(game))}


def is_lesson(title: str, chairs: Sequence[SeatAssignment]) -> bool:
    """Return whether a table is one of a guided game."""
    return title == LESSON_TITLE and chairs[0].name == LESSON_NAME


def shown_names(title: str, chairs: Iterable[SeatAssignment], game: str) -> tuple[str, tuple[str, ...]]:
    """Return a table's title and the names of its seats, marked unless they are defaults."""
    defaults, seats = default_names(game), tuple(chairs)
    guided = is_lesson(title, seats)

    def shown(chair: SeatAssignment) -> str:
        if chair.player == HUMAN:
            is_default = re.fullmatch(r"Player \d", chair.name) or (guided and chair.name == LESSON_NAME)
        else:
            is_default = chair.name.startswith(defaults.get(chair.player, chair.player))
        return chair.name if is_default else verbatim(chair.name)

    return title if guided else verbatim(title), tuple(map(shown, seats))


def seat_name(table: GameTable, seat: int) -> str:
    """Return the name of a seat as pages show it."""
    return shown_names(table.title, table.chairs, table.game.spec.name)[1][seat]
