"""What an environment needs of a game beyond the game itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from helsinki_env.engine.states import States
from helsinki_env.play.game import BoardGame

__all__ = ["EnvSpec"]


@dataclass(frozen=True)
class EnvSpec:
    """The environments of a game.

    Attributes:
        game: the class of one game.
        episodes: the type of what random episodes draw; its `record()` is what `contract.draw_setup` reads, and None in
            `num_players` leaves the number of players as configured.
        check: raises ValueError for records that cannot be played, naming record and field.
        draw: a drawing of a game, for a render mode; takes the last decision and the viewer as well.
        render_modes: of batches.
    """

    game: type[BoardGame]
    episodes: type[Any]
    check: Callable[[States, Any], None]
    draw: Callable[..., Any]
    render_modes: tuple[str, ...]
