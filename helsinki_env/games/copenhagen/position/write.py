"""Convert games to plain data for JSON."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from helsinki_env.engine.positions import cell_list, record_to_namespace
from helsinki_env.games.copenhagen.components import COLOURS, TILE_SIZES
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.state import RECORD

__all__ = ["POSITION_VERSION", "SEAT_FIELDS", "to_dict"]

POSITION_VERSION = 0
"""Version of the environment, `copenhagen_v0`."""

SEAT_FIELDS = tuple(RECORD[name] for name in ("owned", "used", "hand", "known", "points"))
"""Fields of a seat with the same values in records and positions."""


def to_dict(game: CopenhagenGame, seat: int | None = None) -> dict[str, Any]:
    """Return a game as plain data for JSON.

    Args:
        game: the game.
        seat: None for the whole position, otherwise only what this seat may see (rules, section 5). Other hands become
            ``{"size": n, "known": counts}``, the draw pile its size, and chance is omitted. The copy adds ``end_card``,
            whether the End of Game card is in the draw pile. It also adds ``reshuffled``, the contents of a draw pile
            made from the discard pile.
    """
    p, players = record_to_namespace(game.state), game.num_players
    position: dict[str, Any] = {
        "game": "copenhagen",
        "version": POSITION_VERSION,
        "components": game.config.components,
        "players": players,
        "denied": [list(abilities) for abilities in game.config.denied],
        "phase": str(game.phase),
        "to_move": p.seat,
        "round": p.round_number,
        "done": bool(p.done),
        "draw_pile": p.pile[: p.pile_size][::-1],
        "discard_pile": p.discard,
        "end_card": bool(p.end_card),
        "reshuffled": p.reshuffled,
        "display": RECORD["display"].to_json(p),
        "tile_supply": {colour: p.supply[4 * i : 4 * i + 4] for i, colour in enumerate(COLOURS)},
        "white_tiles": p.white_tiles,
        "seats": [_seat(game, p, i) for i in range(players)],
        "pending": RECORD.pending_to_json(p, tile=_kind),
        "chance": {"word": f"0x{p.chance:016x}"},
    }
    if not any(position["denied"]):
        del position["denied"]
    if seat is None:
        del position["end_card"], position["reshuffled"]
    else:
        _hide(position, game.validate_seat(seat))
    return position


def _seat(game: CopenhagenGame, p: SimpleNamespace, seat: int) -> dict[str, Any]:
    tiles = range(p.tile_count[seat])
    return {
        "tiles": [_tile(game, p.tile_piece[seat][i], p.tile_cell[seat][i]) for i in tiles],
        "white": cell_list(p.white[seat]),
        **{field.public_name: field.to_json(p, seat) for field in SEAT_FIELDS},
    }


def _kind(kind: int) -> dict[str, Any]:
    return {"colour": COLOURS[kind // 4], "size": TILE_SIZES[kind % 4]}


def _tile(game: CopenhagenGame, piece: int, corner: int) -> dict[str, Any]:
    t = game.config.tables
    cells = int(t["cells"][0, piece]) << corner
    return {**_kind(piece // 8), "cells": cell_list(cells), "brick": int(t["brick"][0, piece]) + corner}


def _hide(position: dict[str, Any], seat: int) -> None:
    """Remove what a seat may not see (section 5)."""
    del position["chance"]
    position["draw_pile"] = len(position["draw_pile"])
    # With three and four players, the draw pile comes from the discard pile exactly if it has the End of Game card.
    # [R] The key remains until that card is drawn, even if no other card is left.
    if position["players"] == 2 or not position["end_card"]:
        del position["reshuffled"]
    for i, other in enumerate(position["seats"]):
        if i != seat:
            other["hand"] = {"size": sum(other["hand"]), "known": other["known"]}
