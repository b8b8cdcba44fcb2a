"""What the references of both games share: action ids, randomness, and the frame of a game. It imports no kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, TypeAlias

__all__ = [
    "GOLDEN",
    "MASK64",
    "Decision",
    "Reference",
    "decode_action",
    "encode_action",
    "first_word",
    "mix",
    "number_actions",
    "spread",
]

MASK64: Final = (1 << 64) - 1
GOLDEN: Final = 0x9E3779B97F4A7C15

Decision: TypeAlias = tuple[str, int]
"""A kind of action and its argument, such as ``("TAKE", 2)``."""


def number_actions(sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the first id and the number of ids of each kind of action."""
    table, offset = {}, 0
    for kind, size in sizes.items():
        table[kind] = (offset, size)
        offset += size
    return table


def encode_action(table: Mapping[str, tuple[int, int]], kind: str, argument: int) -> int:
    """Return the flat id of an action."""
    offset, size = table[kind]
    if not 0 <= argument < size:
        raise ValueError(f"{kind}: argument {argument} is outside 0..{size - 1}")
    return offset + argument


def decode_action(table: Mapping[str, tuple[int, int]], action: int) -> Decision:
    """Return the action with a flat id."""
    for kind, (offset, size) in table.items():
        if offset <= action < offset + size:
            return kind, action - offset
    raise ValueError(f"{action} is no action id")


def mix(word: int) -> int:
    """Apply the output function of splitmix64 to a key."""
    z = word
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    return z ^ (z >> 31)


def first_word(seed: int, stream: int = 0, episode: int = 0) -> int:
    """Return the random key at the start of a game."""

    def h(x: int) -> int:
        return mix((x + GOLDEN) & MASK64)

    return h(h(h(seed & MASK64) ^ (stream & MASK64)) ^ (episode & MASK64))


def spread(counts: Iterable[int]) -> list[int]:
    """Return cards with given counts one by one, ascending by type."""
    return [card for card, count in enumerate(counts) for _ in range(count)]


class Reference:
    """A game played by flat action ids; subclasses state the rules."""

    phase: str
    seat: int
    round: int
    done: bool
    word: int
    seats: list[Any]
    pending: Any
    tile_supply: list[list[int]]
    discard: list[int]
    draw_pile: list[int]
    display: list[int | None]
    _legal: list[int] | None

    def encode(self, decision: Decision) -> int:
        """Return the flat id of an action."""
        raise NotImplementedError

    def decode(self, action: int) -> Decision:
        """Return the action with a flat id."""
        raise NotImplementedError

    def legal_decisions(self) -> list[Decision]:
        """Return all legal actions, in no particular order; empty when the game is over."""
        return [] if self.done else list(getattr(self, f"_legal_{self.phase.lower()}")())

    def apply(self, decision: Decision) -> None:
        """Apply an action that is assumed to be legal. Does not take END automatically."""
        raise NotImplementedError

    def legal_actions(self) -> list[int]:
        """Return the ids of all legal actions, ascending; empty when the game is over."""
        if self._legal is None:
            self._legal = sorted(self.encode(decision) for decision in self.legal_decisions())
        return list(self._legal)

    def step(self, action: int) -> None:
        """Apply an action, then END if it is the only legal one. Raises ValueError if the action is illegal."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is illegal in phase {self.phase}; legal: {self.legal_actions()}")
        self.apply(self.decode(int(action)))
        if self.phase == "END" and self.legal_decisions() == [("END", 0)]:
            self.apply(("END", 0))

    def clone(self) -> Self:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin.tile_supply = [list(row) for row in self.tile_supply]
        twin.discard = list(self.discard)
        twin.seats = [seat.clone() for seat in self.seats]
        twin.pending = self.pending.clone()
        twin.draw_pile = list(self.draw_pile)
        twin.display = list(self.display)
        return twin

    def _below(self, n: int) -> int:
        """Return a uniform integer in 0..n-1; one step of splitmix64."""
        self.word = (self.word + GOLDEN) & MASK64
        return ((mix(self.word) >> 32) * n) >> 32

    def _shuffled(self, counts: Iterable[int]) -> list[int]:
        """Return cards with given counts in random order; the next card is the last one."""
        cards = spread(counts)
        for i in range(len(cards) - 1, 0, -1):
            j = self._below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        return cards

    def _read_frame(self, position: Mapping[str, Any], colours: Iterable[str]) -> None:
        """Take over what the positions of both games state in the same way."""
        self.phase = str(position["phase"])
        self.seat = position["to_move"]
        self.round = position["round"]
        self.done = position["done"]
        self.draw_pile = list(position["draw_pile"])[::-1]
        self.discard = list(position["discard_pile"])
        self.display = list(position["display"])
        self.tile_supply = [list(position["tile_supply"][name]) for name in colours]
        self.word = int(position["chance"]["word"], 16)
