"""Value range of every field of a game record, given the component file (`helsinki_env.engine.limits`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from helsinki_env.engine.limits import Limits, register_limits
from helsinki_env.games.helsinki.actions import ONE_WILD_TILE, TWO_WILD_TILES, action_table
from helsinki_env.games.helsinki.bits import CELLS
from helsinki_env.games.helsinki.state import DECK, LAYOUTS, MAX_SEATS, NONE_FIELDS, PAID, PHASE_END, TILES, new_states
from helsinki_env.games.helsinki.tables import TABLES

__all__ = ["limits"]

#: Upper bound for rounds and points: beyond any real game and well within int16.
_MOST = 20_000
_BOX = 8  # coats of arms


def limits(t: Any) -> Limits:
    """Return the limits of records that use the tables `t`."""
    strengths = t["strengths"]
    wilds = int(max(strengths[ONE_WILD_TILE], strengths[TWO_WILD_TILES]))
    return _limits(int(t["types"]), tuple(t["supply"].tolist()), int(t["wild_tiles"]), int(t["superstructures"]), wilds)


@lru_cache(maxsize=32)
def _limits(types: int, supply: tuple[int, ...], wild_tiles: int, superstructures: int, wilds: int) -> Limits:
    least, most = new_states(1, types), new_states(1, types)
    for name in least.dtype.names or ():
        least[name] = -1 if name in NONE_FIELDS else 0
    least["players"] = 2
    least["round_number"] = 1
    largest: dict[str, Any] = {
        "chance": 2**64 - 1,
        "round_number": _MOST,
        "points": _MOST,
        "tile_piece": 8 * 20 - 1,
        "tile_count": TILES,
        "coats": 2**_BOX - 1,
        "meadow": _BOX,
        "token": 7,
        "bonus": 3,
        "bonus_cards": 2**4 - 1,
        "supply": supply,
        "wild_supply": wild_tiles,
        "superstructure_supply": superstructures,
        "players": MAX_SEATS,
        "seat": MAX_SEATS - 1,
        "phase": PHASE_END,
        "resume": PHASE_END,
        "move": 6,
        "card": types - 2,
        "to_pay": PAID,
        "paid_count": PAID,
        "action": 14,
        "wilds_left": wilds,
        "roofs_left": 5,
        "pad": 255,
    }
    for same, names in (
        (2**15 - 1, ("covered", "used", "denied")),
        (2**CELLS - 1, ("built", "wild", "superstructures")),
        (CELLS - 1, ("tile_cell", "lifted", "last_roof")),
        (types - 1, ("pile", "display", "unseen", "paid", "last_discard")),
        (DECK, ("hand", "known", "discard", "reshuffled", "pile_size")),
    ):
        largest |= dict.fromkeys(names, same)
    for name in most.dtype.names or ():
        most[name] = largest.get(name, 1)  # a flag
    for name in ("hand", "known", "discard", "reshuffled"):
        most[name][..., types:] = 0
    return Limits(action_table(types).size, least, most)


for _layout in LAYOUTS:
    register_limits(_layout, TABLES, limits)
