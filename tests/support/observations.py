"""A second implementation of Helsinki's observation in plain Python, written from the documentation's table of fields.

It shares only that table with the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, Components

PHASES = ("START", "MOVE", "MAIN", "PAY", "PLACE", "WILD", "LIFT", "ROOF", "DISCARD", "END")
SEATS = 4
CELLS = 49
PAID = 7
UNSEEN = 3


def observations(position: dict[str, Any], components: Components) -> list[bytes]:
    """Return the observation of each seat in a whole position, as bytes."""
    players = position["players"]
    boards = [_board(seat, components) for seat in position["seats"]]
    facts = [_seat_facts(position, number) for number in range(players)]
    used = [_flags(seat["used"], len(BOARD_ACTIONS)) for seat in position["seats"]]
    denied = [_flags(actions, len(BOARD_ACTIONS)) for actions in position["denied"]]
    known = [bytes(seat["known"]) for seat in position["seats"]]
    covered = _flags(position["covered"], len(BOARD_ACTIONS))
    phase = _flags([PHASES.index(position["phase"])], len(PHASES))
    supply = b"".join(bytes(position["tile_supply"][colour]) for colour in COLORS)
    bonus = bytes(value in position["bonus_cards"] for value in components.bonus_cards)
    pending = _pending(position["pending"])
    shown = [position["pending"].get("card"), *position["pending"].get("paid", [])]
    building = _codes(shown, 1 + PAID)
    display = _codes(position["display"], 8)
    discard = bytes(position["discard_pile"])
    reshuffled = bytes(position["pending"].get("reshuffled", [0] * components.types))
    found = []
    for viewer in range(players):
        order = [(viewer + turn) % players for turn in range(players)]
        found.append(
            b"".join(
                (
                    _seen(boards, order),
                    _seen(facts, order),
                    _seen(used, order),
                    _seen(denied, order),
                    covered,
                    phase,
                    _table(position, viewer),
                    supply,
                    bonus,
                    pending,
                    building,
                    display,
                    _codes(_unseen(position, viewer), UNSEEN),
                    bytes(position["seats"][viewer]["hand"]),
                    _seen(known, order),
                    discard,
                    reshuffled,
                )
            )
        )
    return found


def _seen(pieces: list[bytes], order: list[int]) -> bytes:
    """Return one field for each of four seats, the viewer first; zeros for unused seats."""
    present = b"".join(pieces[seat] for seat in order)
    return present + bytes(len(pieces[0]) * (SEATS - len(order)))


def _board(seat: dict[str, Any], components: Components) -> bytes:
    tile, number = bytearray(CELLS), bytearray(CELLS)
    for i, pavilion in enumerate(seat["pavilions"], start=1):
        colour = 1 + COLORS.index(pavilion["colour"])
        for cell in pavilion["cells"]:
            tile[cell], number[cell] = colour, i
    for cell in seat["wild"]:
        tile[cell] = 6
    tile[components.statue] = 7
    return bytes(tile + number) + _flags(seat["superstructures"], CELLS) + _flags(seat["coats_on_board"], CELLS)


def _seat_facts(position: dict[str, Any], number: int) -> bytes:
    seat = position["seats"][number]
    token = 0 if seat["token"] is None else seat["token"] + 1
    unseen = len(_unseen(position, number))
    points = min(127, seat["points"])
    lifted = seat["limit_lifted"]
    return bytes((1, sum(seat["hand"]), seat["meadow"], token, points, seat["bonus"] or 0, lifted, unseen))


def _table(position: dict[str, Any], viewer: int) -> bytes:
    return bytes(
        (
            position["players"],
            viewer,
            position["dry_roads"],
            min(127, position["round"]),
            position["last_round"],
            len(position["draw_pile"]),
            position["wild_tiles"],
            position["superstructures"],
        )
    )


def _pending(pending: dict[str, Any]) -> bytes:
    def code(key: str) -> int:
        """Return a cell or card plus one; 0 for None."""
        return int(pending[key]) + 1 if key in pending else 0

    return bytes(
        (
            pending.get("move", 0),
            pending.get("drew", 0),
            pending.get("built", 0),
            pending.get("only_build", 0),
            pending.get("to_pay", 0),
            pending.get("substitute", 0),
            pending.get("any_side", 0),
            BOARD_ACTIONS.index(pending["action"]) + 1 if "action" in pending else 0,
            PHASES.index(pending["resume"]) if "resume" in pending else 0,
            pending.get("wilds_left", 0),
            code("lifted"),
            pending.get("roofs_left", 0),
            code("last_roof"),
            code("last_discard"),
            pending.get("lifted_now", 0),
            pending.get("turn_over", 0),
        )
    )


def _unseen(position: dict[str, Any], seat: int) -> list[int]:
    draws = position["pending"].get("unseen_draws")
    return list(draws[seat]) if draws else []


def _flags(members: Iterable[int], size: int) -> bytes:
    flags = bytearray(size)
    for member in members:
        flags[member] = 1
    return bytes(flags)


def _codes(values: Sequence[int | None], size: int) -> bytes:
    """Return card types plus one, padded with 0; 0 for None."""
    return bytes(0 if value is None else value + 1 for value in values) + bytes(size - len(values))
