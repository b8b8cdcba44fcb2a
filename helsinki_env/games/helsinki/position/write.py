"""Write games as plain data for JSON."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from helsinki_env.engine.positions import cell_list, record_to_namespace
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLOURS, ROOFS
from helsinki_env.games.helsinki.game import ENV_VERSION, HelsinkiGame
from helsinki_env.games.helsinki.state import PHASES, RECORD

__all__ = ["SEAT_FIELDS", "to_dict"]

SEAT_FIELDS = tuple(RECORD[name] for name in ("meadow", "used", "token", "points", "limit_lifted"))
"""Fields of a seat that positions show by the table."""
#: Pending keys after the flags and the numbers.
_LAST_KEYS = ("paid", "action", "resume")


def to_dict(game: HelsinkiGame, seat: int | None = None) -> dict[str, Any]:
    """Return a game as plain data for JSON.

    Args:
        game: the game.
        seat: None for the whole position; otherwise limit it to what this seat may see (rules page, section 7): other
            hands become ``{"size": n, "known": counts}``, the draw pile its size, and chance is left out.
    """
    p, components = record_to_namespace(game.state), game.config.component_set
    types, players = components.types, game.num_players
    position: dict[str, Any] = {
        "game": "helsinki",
        "version": ENV_VERSION,
        "components": game.config.components,
        "players": players,
        "covered": list(game.config.covered),
        "denied": [list(actions) for actions in game.config.denied],
        "dry_roads": game.config.dry_roads,
        "phase": str(game.phase),
        "to_move": p.seat,
        "round": p.round_number,
        "last_round": bool(p.last_round),
        "done": bool(p.done),
        "draw_pile": p.pile[: p.pile_size][::-1],
        "discard_pile": p.discard[:types],
        "display": RECORD["display"].to_json(p),
        "tile_supply": {colour: p.supply[4 * i : 4 * i + 4] for i, colour in enumerate(COLOURS)},
        "wild_tiles": p.wild_supply,
        "superstructures": p.superstructure_supply,
        "bonus_cards": [value for i, value in enumerate(components.bonus_cards) if p.bonus_cards >> i & 1],
        "seats": [_seat(game, p, i) for i in range(players)],
        "pending": _pending(p, types, players),
        "chance": {"word": f"0x{p.chance:016x}"},
    }
    if seat is not None:
        _hide(position, game.validate_seat(seat))
    return position


def _seat(game: HelsinkiGame, p: SimpleNamespace, seat: int) -> dict[str, Any]:
    components = game.config.component_set
    tiles = range(p.tile_count[seat])
    shown = {field.name: field.to_json(p, seat) for field in SEAT_FIELDS}
    return {
        "pavilions": [_pavilion(game, p.tile_piece[seat][i], p.tile_cell[seat][i]) for i in tiles],
        "wild": cell_list(p.wild[seat]),
        "superstructures": cell_list(p.superstructures[seat]),
        "coats_on_board": sorted(cell for i, cell in enumerate(components.coats) if p.coats[seat] >> i & 1),
        "meadow": shown["meadow"],
        "used": shown["used"],
        "hand": p.hand[seat][: components.types],
        "known": p.known[seat][: components.types],
        "token": shown["token"],
        "points": shown["points"],
        "bonus": None if p.bonus[seat] < 0 else components.bonus_cards[p.bonus[seat]],
        "limit_lifted": shown["limit_lifted"],
    }


def _pavilion(game: HelsinkiGame, piece: int, corner: int) -> dict[str, Any]:
    cells = int(game.config.tables[0]["roofs_mask"][piece]) << corner
    return {"colour": COLOURS[piece // 32], "roofs": ROOFS[piece // 8 % 4], "cells": cell_list(cells)}


def _pending(p: SimpleNamespace, types: int, players: int) -> dict[str, Any]:
    found = RECORD.pending_to_json(
        p,
        paid=lambda count: p.paid[:count],
        action=BOARD_ACTIONS.__getitem__,
        resume=PHASES.__getitem__,
    )
    if p.phase not in RECORD["resume"].required:
        found.pop("resume", None)
    pending = dict(sorted(found.items(), key=lambda item: (item[0] in _LAST_KEYS, item[1] is not True)))
    if any(p.reshuffled):
        pending["reshuffled"] = p.reshuffled[:types]
        unseen = [[card for card in cards if card >= 0] for cards in p.unseen[:players]]
        if any(unseen):
            pending["unseen_draws"] = unseen
    return pending


def _hide(position: dict[str, Any], seat: int) -> None:
    """Remove what a seat may not see from a position."""
    del position["chance"]
    position["draw_pile"] = len(position["draw_pile"])
    for i, other in enumerate(position["seats"]):
        if i != seat:
            other["hand"] = {"size": sum(other["hand"]), "known": other["known"]}
    unseen = position["pending"].get("unseen_draws", [])
    for i, cards in enumerate(unseen):
        if i != seat:
            unseen[i] = [None] * len(cards)
