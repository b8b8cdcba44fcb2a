"""Random valid positions in which the rare things happen: short hands, full boards, thin piles, nearly finished roads.

A position is a dict in the public format. `build` makes one from a random generator and the name of a theme; every card
of the deck is somewhere and every tile has its shape, so `from_dict` takes them all. Themes only make something likely;
nothing is promised, and the tests count what really happens.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import pytest

from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS, Components, load_components
from tests.oracles.helsinki import entry_paths, neighbours, orientations, slide

CELLS = frozenset(range(49))
THEMES = (
    "short by one",
    "short by two",
    "many builds",
    "crowded hand",
    "thin pile",
    "one gap",
    "roads",
    "nearly full",
    "no supply",
    "plain",
)
COMPONENTS = ("default", "alternative")
#: Their records have different layouts: the rules and each player take as long again to compile for another than the
#: box's, and players that search take longest.
EACH_LAYOUT = [COMPONENTS[0], *(pytest.param(name, marks=pytest.mark.nightly) for name in COMPONENTS[1:])]
Position = dict[str, Any]


@cache
def lyings(drawing: tuple[str, ...]) -> tuple[frozenset[int], ...]:
    """Every way in which a shape can lie on the board, pushed or not."""
    found = []
    for shape in orientations(drawing):
        height, width = 1 + max(r for r, _ in shape), 1 + max(c for _, c in shape)
        for top in range(8 - height):
            for left in range(8 - width):
                found.append(frozenset(7 * (top + r) + left + c for r, c in shape))
    return tuple(found)


def build(rng: random.Random, theme: str | None = None, **setup: Any) -> Position:
    """Return a random position of a theme (None: any). `setup` fixes players, components or dry_roads."""
    return _Builder(rng, theme or rng.choice(THEMES), setup).position()


class _Builder:
    """One position in the making."""

    def __init__(self, rng: random.Random, theme: str, setup: dict[str, Any]) -> None:
        self.rng = rng
        self.theme = theme
        self.players: int = setup.get("players") or rng.choice((2, 2, 3, 4))
        self.file: str = setup.get("components") or rng.choice(COMPONENTS)
        self.components: Components = load_components(self.file)
        self.dry_roads: bool = setup.get("dry_roads", theme == "roads" or rng.random() < 0.4)
        self.seat = rng.randrange(self.players)
        self.supply = {colour: list(self.components.tile_copies) for colour in COLORS}
        self.wild_tiles = self.components.wild_tiles
        self.superstructures = self.components.superstructures
        self.deck = self._deck()

    # Cards

    def _deck(self) -> list[int]:
        cards = [card for card, n in enumerate(self.components.deck(self.players)) for _ in range(n)]
        if self.players == 2:
            number = self.components.any_removed2_number
            cards.remove(self.rng.choice([c for c in cards if self.components.card_number(c) == number]))
        self.rng.shuffle(cards)
        return cards

    def _take(self, fits: Callable[[int], bool], count: int = 1) -> list[int]:
        """Take up to `count` cards that fit out of the deck, which is in random order."""
        taken = [card for card in self.deck if fits(card)][:count]
        for card in taken:
            self.deck.remove(card)
        return taken

    def _hand_short_by(self, missing: int) -> list[int]:
        """A card that asks for several, with `missing` too few of its colour, and a few of other colours."""
        data, rng = self.components, self.rng
        least = 1 + missing + rng.randrange(2)
        target = self._take(lambda card: data.card_number(card) >= least) or self._take(lambda _: True)
        colour, number = data.card_color(target[0]), data.card_number(target[0])

        def fits(card: int) -> bool:
            return data.card_color(card) == colour or (card == data.wild_type and rng.random() < 0.5)

        own = self._take(fits, max(0, number - 1 - missing))
        others = self._take(lambda card: data.card_color(card) not in (colour, -1), rng.randint(0, 3))
        return target + own + others

    def _hand_of_many_builds(self) -> list[int]:
        data = self.components
        cheap = self._take(lambda card: 1 <= data.card_number(card) <= 2, self.rng.randint(2, 4))
        colours = {data.card_color(card) for card in cheap}
        return cheap + self._take(lambda card: data.card_color(card) in colours, self.rng.randint(0, 3))

    def _hand(self, number: int) -> list[int]:
        limit, rng = self.components.hand_limit, self.rng
        if number != self.seat:
            return self._take(lambda _: True, rng.randint(0, limit))
        if self.theme == "short by one":
            return self._hand_short_by(1)
        if self.theme == "short by two":
            return self._hand_short_by(2)
        if self.theme in ("many builds", "one gap", "no supply"):
            return self._hand_of_many_builds()
        if self.theme == "crowded hand":
            return self._take(lambda _: True, rng.randint(limit - 1, limit))
        if self.theme == "thin pile":
            return self._hand_of_many_builds() if rng.random() < 0.6 else self._take(lambda _: True, limit)
        return self._take(lambda _: True, rng.randint(0, limit))

    # Boards

    def _drawings(self) -> list[tuple[str, int, tuple[str, ...]]]:
        data = self.components
        return [
            (name, roofs, tuple(data.shapes[data.tiles[colour][i]]))
            for colour, name in enumerate(COLORS)
            for i, roofs in enumerate(ROOFS)
            if self.supply[name][i] > 0
        ]

    def _lay(self, name: str, roofs: int, cells: Iterable[int]) -> dict[str, Any]:
        self.supply[name][roofs - 2] -= 1
        return {"colour": name, "roofs": roofs, "cells": sorted(cells)}

    def _pushed_board(self, count: int) -> list[dict[str, Any]]:
        """Tiles pushed in one after the other, as in a game."""
        built = {self.components.statue}
        board: list[dict[str, Any]] = []
        for _ in range(3 * count):
            if len(board) == count:
                break
            name, roofs, drawing = self.rng.choice(self._drawings())
            _, path = self.rng.choice(entry_paths(drawing, self.rng.randrange(4)))
            cells = slide(path, built)
            if cells is not None:
                board.append(self._lay(name, roofs, cells))
                built |= cells
        return board

    def _covering(self, region: Iterable[int], wilds: int) -> tuple[list[dict[str, Any]], list[int]]:
        """Tiles (and up to so many wild tiles) that cover a region as far as they go."""
        open_cells = set(region)
        board: list[dict[str, Any]] = []
        wild: list[int] = []
        order = sorted(open_cells)
        if self.rng.random() < 0.5:
            self.rng.shuffle(order)
        for cell in order:
            if cell not in open_cells:
                continue
            choices = [
                (name, roofs, lying)
                for name, roofs, drawing in self._drawings()
                for lying in lyings(drawing)
                if cell in lying and lying <= open_cells
            ]
            if choices and len(board) < 20:
                big = max(roofs for _, roofs, _ in choices)
                name, roofs, lying = self.rng.choice([c for c in choices if c[1] >= big - self.rng.randrange(2)])
                board.append(self._lay(name, roofs, lying))
                open_cells -= lying
            elif len(wild) < min(wilds, self.wild_tiles):
                wild.append(cell)
                open_cells.remove(cell)
        self.wild_tiles -= len(wild)
        return board, sorted(wild)

    def _roads(self) -> set[int]:
        """A connected set of cells that holds all crosswalks and goes round the statue, or sometimes across it."""
        statue = self.components.statue
        weight = {cell: self.rng.random() + 0.2 for cell in CELLS - {statue}}
        if self.rng.random() < 0.25:
            weight[statue] = 0.0  # which is no tile, so these roads do not count
        goals = list(self.components.crosswalks)
        self.rng.shuffle(goals)
        region = {goals[0]}
        for goal in goals[1:]:
            queue: list[tuple[float, int, tuple[int, ...]]] = [(0.0, cell, (cell,)) for cell in region]
            seen: set[int] = set()
            while queue:
                cost, cell, path = heapq.heappop(queue)
                if cell == goal:
                    region.update(path)
                    break
                if cell in seen:
                    continue
                seen.add(cell)
                for near in neighbours(cell):
                    if near in weight:
                        heapq.heappush(queue, (cost + weight[near], near, (*path, near)))
        return region - {statue}

    def _board(self, number: int) -> tuple[list[dict[str, Any]], list[int]]:
        rng, theme = self.rng, self.theme
        free = CELLS - {self.components.statue}
        own = number == self.seat
        if own and theme == "roads":
            region = self._roads()
            gaps = set(rng.sample(sorted(region), rng.choice((1, 1, 2))))
            extra = set(rng.sample(sorted(free - region), rng.choice((0, 0, 5, 15))))
            return self._covering((region | extra) - gaps, self.wild_tiles - rng.randint(1, 2))
        if own and theme == "one gap":
            return self._covering(free - set(rng.sample(sorted(free), 1)), self.wild_tiles - rng.randint(0, 2))
        if own and theme == "nearly full":
            start = rng.choice(sorted(free))
            gaps = {start}
            while len(gaps) < rng.choice((2, 3, 4, 6, 9)):
                gaps.add(rng.choice([n for cell in gaps for n in neighbours(cell) if n in free]))
            return self._covering(free - gaps, rng.randint(0, self.wild_tiles))
        board = self._pushed_board(rng.choice((0, 1, 2, 4, 6, 9)))
        built = {cell for tile in board for cell in tile["cells"]}
        around = sorted({n for cell in built for n in neighbours(cell)} - built - {self.components.statue})
        wild = rng.sample(around, min(len(around), rng.choice((0, 0, 1, 2)), self.wild_tiles))
        self.wild_tiles -= len(wild)
        return board, sorted(wild)

    # The whole

    def _seat(self, number: int) -> dict[str, Any]:
        rng, data = self.rng, self.components
        pavilions, wild = self._board(number)
        roofs = sorted({cell for tile in pavilions for cell in tile["cells"]} | set(wild))
        share = rng.choice((0.0, 0.1, 0.3, 0.9))
        standing = [cell for cell in roofs if rng.random() < share][: self.superstructures]
        self.superstructures -= len(standing)
        keep_coats = rng.choice((0.0, 0.3, 1.0))
        coats = sorted(cell for cell in data.coats if cell not in roofs and rng.random() < keep_coats)
        meadow = rng.randint(0, 8 - len(coats))
        if number == self.seat and rng.random() < 0.7:
            meadow = 8 - len(coats)
        hand_cards = self._hand(number)
        hand = [hand_cards.count(card) for card in range(data.types)]
        seen = rng.choice((0.0, 0.5, 1.0))
        used = rng.sample(range(len(BOARD_ACTIONS)), rng.choice((0, 0, 1, 3, 6)))
        return {
            "pavilions": pavilions,
            "wild": wild,
            "superstructures": standing,
            "coats_on_board": coats,
            "meadow": meadow,
            "used": sorted(used),
            "hand": hand,
            "known": [sum(rng.random() < seen for _ in range(count)) for count in hand],
            "token": rng.randrange(8),
            "points": rng.choice((0, 0, 2, 9)),
            "bonus": None,
            "limit_lifted": False,
        }

    def _piles(self) -> tuple[list[int | None], list[int], list[int]]:
        """Display, draw pile and discard pile from what is left of the deck."""
        rng, data = self.rng, self.components
        slots: list[int | None] = [self.deck.pop() if self.deck else None for _ in range(8)]
        thin = self.theme == "thin pile" or rng.random() < 0.2
        size = rng.choice((0, 0, 1, 2, 3, 5)) if thin else rng.randint(0, len(self.deck))
        size = min(size, len(self.deck))
        pile, rest = self.deck[:size], self.deck[size:]
        if thin and rng.random() < 0.8:  # almost nothing to reshuffle either: the others hold the cards
            rest = self._deal_out(rest, rng.choice((0, 0, 1, 2)))
            if rng.random() < 0.7:
                pile = self._deal_out(pile, 0)
        if not pile and not rest:
            for slot in rng.sample(range(8), rng.randint(0, 3)):
                card = slots[slot]
                if card is not None:
                    slots[slot] = None
                    rng.choice(self.others)["hand"][card] += 1
        return slots, pile, [rest.count(card) for card in range(data.types)]

    def _deal_out(self, cards: list[int], keep: int) -> list[int]:
        """Put all but a few cards into the hands of the others, however many that makes."""
        for card in cards[keep:]:
            self.rng.choice(self.others)["hand"][card] += 1
        return cards[:keep]

    def position(self) -> Position:
        rng = self.rng
        order = list(range(self.players))
        order.sort(key=lambda number: number != self.seat)  # whom it is about gets the tiles and cards first
        made = {number: self._seat(number) for number in order}
        seats = [made[number] for number in range(self.players)]
        self.others = [seats[number] for number in range(self.players) if number != self.seat]
        display, pile, discard = self._piles()
        if self.theme == "no supply" or rng.random() < 0.15:
            self._empty_supplies()
        bonus_cards = self._bonus_cards(seats)
        last_round = not pile or rng.random() < 0.15
        phase, pending = self._phase(seats)
        if last_round and rng.random() < 0.5:
            pending |= self._reshuffled(seats, pile, phase)
        if phase == "END" or rng.random() < 0.1:
            seats[self.seat]["limit_lifted"] = rng.random() < 0.3 or bool(pending.get("lifted_now"))
        if seats[self.seat]["limit_lifted"]:
            seats[self.seat]["used"] = sorted({*seats[self.seat]["used"], BOARD_ACTIONS.index("no_hand_limit")})
        return {
            "game": "helsinki",
            "version": 0,
            "components": self.file,
            "players": self.players,
            "covered": self._some_actions(0.15),
            "denied": [self._some_actions(0.15) for _ in seats],
            "dry_roads": self.dry_roads,
            "phase": phase,
            "to_move": self.seat,
            "round": rng.randint(1, 20),
            "last_round": last_round,
            "done": False,
            "draw_pile": pile,
            "discard_pile": discard,
            "display": display,
            "tile_supply": self.supply,
            "wild_tiles": self.wild_tiles,
            "superstructures": self.superstructures,
            "bonus_cards": bonus_cards,
            "seats": seats,
            "pending": pending,
            "chance": {"word": f"0x{rng.getrandbits(64):016x}"},
        }

    def _some_actions(self, chance: float) -> list[int]:
        if self.rng.random() >= chance:
            return []
        return sorted(self.rng.sample(range(len(BOARD_ACTIONS)), self.rng.randint(1, 8)))

    def _empty_supplies(self) -> None:
        rng = self.rng
        for counts in self.supply.values():
            for size in range(len(counts)):
                counts[size] = min(counts[size], rng.choice((0, 1, 9)))
        self.wild_tiles = min(self.wild_tiles, rng.choice((0, 1, 1, 2)))
        self.superstructures = min(self.superstructures, rng.choice((0, 1, 1, 2)))

    def _bonus_cards(self, seats: Sequence[dict[str, Any]]) -> list[int]:
        if not self.dry_roads:
            return []
        cards = sorted(self.components.bonus_cards)[: self.players]
        for seat in seats:
            if seat is not seats[self.seat] and len(cards) > 1 and self.rng.random() < 0.3:
                seat["bonus"] = cards.pop()
                seat["points"] += seat["bonus"]
        return cards

    def _phase(self, seats: Sequence[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        rng = self.rng
        phase = rng.choice(("MOVE", "MAIN", "MAIN", "END"))
        if phase != "END":
            return phase, {}
        pending: dict[str, Any] = {"drew": True}
        if seats[self.seat]["pavilions"] and rng.random() < 0.6:
            pending = {"built": True}
        elif rng.random() < 0.2:
            pending["lifted_now"] = True
        return phase, pending

    def _reshuffled(self, seats: Sequence[dict[str, Any]], pile: list[int], phase: str) -> dict[str, Any]:
        """As if the pile had been made from the discard pile, and some seats had drawn from it."""
        draws = []
        for number, seat in enumerate(seats):
            most = 3 if number < self.seat else int(number == self.seat and phase == "END")
            hidden = [
                c for c, (held, known) in enumerate(zip(seat["hand"], seat["known"], strict=True)) if held > known
            ]
            draws.append(self.rng.sample(hidden, min(len(hidden), self.rng.randint(0, most))))
        counts = [pile.count(card) + sum(d.count(card) for d in draws) for card in range(self.components.types)]
        if not any(counts):
            return {}
        return {"reshuffled": counts, **({"unseen_draws": draws} if any(draws) else {})}


def rich_deal(position: Position) -> Position:
    """A game as dealt, but with all coats of arms in the meadows already: every action can be paid for."""
    seats = [seat | {"coats_on_board": [], "meadow": 8} for seat in position["seats"]]
    return position | {"seats": seats}
