"""The range of every field of a record, by the component file (`helsinki_env.engine.limits`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from helsinki_env.engine.limits import Limits, register_limits
from helsinki_env.games.copenhagen.actions import KIND_PLACE, NUM_ACTIONS, ORIENTATIONS
from helsinki_env.games.copenhagen.actions import KIND_SIZES as ARGUMENTS
from helsinki_env.games.copenhagen.components import CELLS, COLOURS, DISPLAY, TILE_SIZES
from helsinki_env.games.copenhagen.state import END_CARD, GAME, MAX_SEATS, NONE_FIELDS, PHASES, PILE, TILES, new_states
from helsinki_env.games.copenhagen.tables import TABLES, TILE_KINDS

__all__ = ["limits"]

#: Far above the points of any game and well within 16 bits. Positions may have up to this many points.
_MOST_POINTS = 1000
_MOST_ROUNDS = 20_000


def limits(t: Any) -> Limits:
    """Return the limits of records for the tables `t`."""
    return _limits(tuple(t["supply"].max(axis=0).tolist()), int(t["white_tiles"]), int(t["cards"].max()))


@lru_cache(maxsize=32)
def _limits(supply: tuple[int, ...], white_tiles: int, cards: int) -> Limits:
    least, most = new_states(1), new_states(1)
    for name in GAME.names or ():
        least[name] = -1 if name in NONE_FIELDS else 0
    least["players"] = 2
    least["round_number"] = 1
    largest: dict[str, Any] = {
        "chance": 2**64 - 1,
        "points": _MOST_POINTS,
        "round_number": _MOST_ROUNDS,
        "place": ARGUMENTS[KIND_PLACE] - 1,
        "tile_piece": ORIENTATIONS * TILE_KINDS - 1,
        "tile_cell": CELLS - 1,
        "tile_count": TILES,
        "pile": END_CARD,
        "pile_size": PILE,
        "supply": supply,
        "white_tiles": white_tiles,
        "players": MAX_SEATS,
        "seat": MAX_SEATS - 1,
        "phase": len(PHASES) - 1,
        "first": DISPLAY - 1,
        "tile": TILE_KINDS - 1,
        "rewards": CELLS,
        "pad": 255,
    }
    for same, names in (
        (2**CELLS - 1, ("filled", "coloured", "white", "bricks")),
        (2**5 - 1, ("owned", "used", "denied", "using")),
        (cards, ("hand", "known", "discard", "reshuffled")),
        (len(COLOURS) - 1, ("display", "recolour", "last_discard")),
        (TILE_SIZES[-1], ("due", "paid")),
    ):
        largest |= dict.fromkeys(names, same)
    for name in GAME.names or ():
        most[name] = largest.get(name, 1)  # a flag
    return Limits(NUM_ACTIONS, least, most)


register_limits(GAME, TABLES, limits)
