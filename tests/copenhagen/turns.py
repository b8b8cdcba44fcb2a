"""What is legal in a turn, by brute force: a decision is legal if some way to complete the turn begins with it.

The moves here look at nothing that lies ahead; whether a turn can be completed after one of them is found out by trying
everything that may follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from helsinki_env.games.copenhagen.components import COLOURS
from tests.copenhagen.positions import act, near, placements, supported

LIMIT = 7


@dataclass(frozen=True)
class Turn:
    """The part of a position that the moves of a turn change, until a tile lies or the turn is over."""

    phase: str
    hand: tuple[int, ...]
    display: tuple[int | None, ...]
    active: frozenset[int]
    using: frozenset[int] = frozenset()
    first: int | None = None
    tile: tuple[int, int] | None = None
    recolour: int | None = None
    due: int = 0
    last: int = 0  # no card of a lower colour may be discarded or paid
    discarded: bool = False
    recoloured_paid: bool = False


class Judge:
    """What is legal in the turns that begin with a position."""

    def __init__(self, position: dict[str, Any]) -> None:
        seat = position["seats"][position["to_move"]]
        self.filled = {cell for tile in seat["tiles"] for cell in tile["cells"]} | set(seat["white"])
        self.own = [{c for t in seat["tiles"] if t["colour"] == name for c in t["cells"]} for name in COLOURS]
        self.supply = [position["tile_supply"][COLOURS[kind // 4]][kind % 4] for kind in range(20)]
        active = frozenset(seat["abilities"]) - frozenset(seat["used"])
        self.turn = Turn(position["phase"], tuple(seat["hand"]), tuple(position["display"]), active)
        self.completes = cache(self._completes)
        self.costs = cache(self._costs)

    def _costs(self, tile: tuple[int, int]) -> dict[int, int]:
        """The cost of every placement without the discount."""
        touching = near(self.own[tile[0]])
        return {a: tile[1] - bool(cells & touching) for a, (cells, _) in placements(*tile, self.filled).items()}

    def legal(self, turn: Turn) -> dict[int, Turn]:
        return {action: after for action, after in self.moves(turn) if self.completes(after)}

    def _completes(self, turn: Turn) -> bool:
        return turn.phase == "OVER" or any(self.completes(after) for _, after in self.moves(turn))

    def moves(self, turn: Turn) -> Iterator[tuple[int, Turn]]:
        if turn.phase == "MAIN":
            yield from self._main(turn)
        elif turn.phase == "TAKE":
            yield from self._take(turn)
        elif turn.phase in ("DISCARD", "END"):
            yield from self._taken(turn)
        elif turn.phase == "PLACE":
            yield from self._place(turn)
        elif turn.phase == "RECOLOUR":
            for colour in range(5):
                if turn.tile and colour != turn.tile[0]:
                    yield act("RECOLOUR", colour), replace(turn, phase="PLACE", recolour=colour)
        elif turn.phase == "PAY":
            yield from self._pay(turn)

    def _main(self, turn: Turn) -> Iterator[tuple[int, Turn]]:
        for slot, card in enumerate(turn.display):
            if card is not None and 4 not in turn.using:
                yield act("TAKE", slot), replace(self._with(turn, slot), phase="TAKE", first=slot)
        for kind in range(20):
            if self.supply[kind]:
                tile = kind // 4, kind % 4 + 2
                yield act("BUILD", kind), replace(turn, phase="PLACE", tile=tile)

    @staticmethod
    def _with(turn: Turn, slot: int) -> Turn:
        colour = turn.display[slot]
        assert colour is not None
        display = tuple(None if i == slot else card for i, card in enumerate(turn.display))
        return replace(turn, hand=_changed(turn.hand, colour, 1), display=display)

    @staticmethod
    def _use(turn: Turn, ability: int, **changes: Any) -> tuple[int, Turn]:
        after = replace(turn, active=turn.active - {ability}, using=turn.using | {ability}, **changes)
        return act("USE", ability), after

    def _take(self, turn: Turn) -> Iterator[tuple[int, Turn]]:
        for slot, card in enumerate(turn.display):
            if turn.first is None:
                fits = True
            elif 0 in turn.using:
                fits = slot > turn.first + 1
            else:
                fits = slot == turn.first + 1
            if fits and card is not None:
                after = replace(self._with(turn, slot), first=None, using=turn.using - {0, 1})
                yield act("TAKE", slot), self._limited(after)
        if turn.first is not None and 0 in turn.active:
            yield self._use(turn, 0)

    @staticmethod
    def _limited(turn: Turn) -> Turn:
        return replace(turn, phase="DISCARD" if sum(turn.hand) > LIMIT else "END")

    def _taken(self, turn: Turn) -> Iterator[tuple[int, Turn]]:
        if turn.phase == "DISCARD":
            for colour in range(turn.last, 5):
                if turn.hand[colour]:
                    after = replace(turn, hand=_changed(turn.hand, colour, -1), last=colour, discarded=True)
                    yield act("DISCARD", colour), self._limited(after)
        else:
            yield act("END"), replace(turn, phase="OVER")
            if 4 in turn.active:
                yield self._use(turn, 4, phase="MAIN", last=0)
        if 1 in turn.active and not turn.discarded:
            yield self._use(turn, 1, phase="TAKE")

    def _place(self, turn: Turn) -> Iterator[tuple[int, Turn]]:
        assert turn.tile is not None
        for argument, cost in self.costs(turn.tile).items():
            due = cost - (2 in turn.using)
            if turn.recolour is not None:
                yield act("PLACE", argument), self._paid(replace(turn, phase="PAY", due=due))
            elif turn.hand[turn.tile[0]] >= due:
                yield act("PLACE", argument), replace(turn, phase="OVER")
        if 2 in turn.active:
            yield self._use(turn, 2)
        if 3 in turn.active:
            yield self._use(turn, 3, phase="RECOLOUR")

    @staticmethod
    def _paid(turn: Turn) -> Turn:
        return replace(turn, phase="OVER") if turn.due == 0 and turn.recoloured_paid else turn

    def _pay(self, turn: Turn) -> Iterator[tuple[int, Turn]]:
        assert turn.tile is not None
        for colour in {turn.tile[0], turn.recolour}:
            if colour is not None and turn.due and colour >= turn.last and turn.hand[colour]:
                shown = turn.recoloured_paid or colour == turn.recolour
                hand = _changed(turn.hand, colour, -1)
                after = replace(turn, hand=hand, due=turn.due - 1, last=colour, recoloured_paid=shown)
                yield act("PAY", colour), self._paid(after)


def _changed(hand: tuple[int, ...], colour: int, change: int) -> tuple[int, ...]:
    return tuple(held + change * (c == colour) for c, held in enumerate(hand))


def rewards(position: dict[str, Any]) -> set[int]:
    """What is legal in COAT, plainly."""
    seat = position["seats"][position["to_move"]]
    filled = {cell for tile in seat["tiles"] for cell in tile["cells"]} | set(seat["white"])
    denied = position.get("denied", [[]] * position["players"])[position["to_move"]]
    free = [cell for cell in range(45) if cell not in filled and supported(cell, filled)]
    found = {act("WHITE", cell) for cell in free if position["white_tiles"]}
    found |= {act("ABILITY", ability) for ability in range(5) if ability not in [*seat["abilities"], *denied]}
    return found | ({act("REACTIVATE")} if seat["used"] else set())
