"""Read positions back from their text: a second, independent statement of the format."""

from __future__ import annotations

import re
from typing import Any

from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.components import COLORS as COPENHAGEN_COLORS
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, Components
from helsinki_env.games.helsinki.notation import card_to_string

Position = dict[str, Any]


def found(pattern: str, text: str) -> re.Match[str]:
    match = re.search(pattern, text, re.MULTILINE)
    assert match, (pattern, text)
    return match


def listed(text: str, separator: str = ", ") -> list[str]:
    return [] if text == "none" else text.split(separator)


def acting_seat(top: str) -> int:
    last = re.search(r"\(player (\d) acted last\)", top)
    return int(last[1] if last else found(r"^Player (\d) ", top)[1])


def areas(text: str) -> list[str]:
    """The players' areas."""
    parts = re.split(r"(?m)^(?=Player \d(?: \(you\))?: )", text)[1:]
    return [part.strip("\n") for part in parts]


def head(text: str) -> str:
    return re.split(r"(?m)^Boards: ", text)[0]


def supply(text: str, sizes: str, colours: tuple[str, ...]) -> dict[str, list[int]]:
    line = found(rf"^Tiles left of 2, 3, 4, 5 {sizes}: (.*)$", text)[1]
    counts = {part.split()[0]: [int(n) for n in part.split()[1:]] for part in line.split("; ")}
    assert tuple(counts) == colours
    return counts


class HelsinkiReader:
    """Reads texts of games with a component file, whose card names it knows."""

    def __init__(self, components: Components) -> None:
        self.components = components
        self.cards = {card_to_string(card, components): card for card in range(components.types)}

    def counts(self, text: str) -> list[int]:
        counts = [0] * self.components.types
        for part in listed(text):
            name, count = part.rsplit(" x", 1)
            counts[self.cards[name]] = int(count)
        return counts

    def cells(self, text: str) -> list[int]:
        return [7 * int(cell[1]) + int(cell[3]) for cell in listed(text, " ")]

    def actions(self, text: str) -> list[int]:
        return [BOARD_ACTIONS.index(name) for name in listed(text)]

    def drawn(self, text: str) -> list[int | None]:
        return [None if name == "?" else self.cards[name] for name in listed(text)]

    def pending(self, text: str) -> Position:
        pending: Position = {}
        for key, pattern in {
            "move": r"longer move is paid for: at least 4 and at most (\d)", "to_pay": r"Cards still to pay: (\d+)",
            "wilds_left": r"Wild tiles still to place: (\d+)", "roofs_left": r"Superstructures still to place: (\d+)",
        }.items():  # fmt: skip
            if match := re.search(pattern, text):
                pending[key] = int(match[1])
        for key, sentence in {
            "drew": "Cards were drawn in this turn.", "built": "A pavilion was built in this turn.",
            "only_build": "only BUILD is possible", "substitute": "The next payment is one card of another color.",
            "any_side": "enters from a side other than that of the token",
            "lifted_now": "The hand limit was lifted in this turn.", "turn_over": "The turn ends after the discards.",
        }.items():  # fmt: skip
            if sentence in text:
                pending[key] = True
        for key, pattern in {
            "card": "Card being built: (.*)\\.",
            "last_discard": "Last card discarded: (.*)\\.",
        }.items():
            if match := re.search(pattern, text):
                pending[key] = self.cards[match[1]]
        for key, pattern in {
            "lifted": r"lifted from (r\dc\d)",
            "last_roof": r"Last superstructure placed on (r\dc\d)",
        }.items():
            if match := re.search(pattern, text):
                pending[key] = self.cells(match[1])[0]
        if match := re.search(r"Cards paid so far, in order: (.*)\.", text):
            pending["paid"] = self.drawn(match[1])
        for key, pattern in {
            "action": r"Board action in progress: (\w+)\.",
            "resume": r"The phase after it: (\w+)\.",
        }.items():
            if match := re.search(pattern, text):
                pending[key] = match[1]
        if match := re.search(r"not come to the display since: (.*)\.", text):
            pending["reshuffled"] = self.counts(match[1])
        if match := re.search(r"Cards drawn from it unseen: (.*)\.", text):
            pending["unseen_draws"] = [self.drawn(part.split(" ", 2)[2]) for part in match[1].split("; ")]
        return pending

    def seat(self, area: str, mine: bool) -> tuple[Position, list[int]]:
        token = re.search(r"Token: space (\d)", area)
        seat: Position = {
            "pavilions": [],
            "meadow": int(found(r"meadow: (\d)\.", area)[1]),
            "used": self.actions(found(r"Board actions used: (.*)$", area)[1]),
            "token": None if token is None else int(token[1]),
            "points": int(found(r", (\d+) of them made in play", area)[1]),
            "bonus": int(match[1]) if (match := re.search(r"Bonus card: (\d+)", area)) else None,
            "limit_lifted": "The hand limit is lifted." in area,
        }
        if mine:
            seat["hand"] = self.counts(found(r"Hand of \d+: (.*)$", area)[1])
            seat["known"] = self.counts(found(r"the others know: (.*)$", area)[1])
        else:
            match = found(r"Hand of (\d+); known cards: (.*)$", area)
            seat["known"] = self.counts(match[2])
            seat["hand"] = {"size": int(match[1]), "known": seat["known"]}
        for part in listed(found(r"Pavilions in the order built: (.*)$", area)[1], "; "):
            kind, cells = part.split(": ")
            colour, roofs = kind.split()
            seat["pavilions"].append({"colour": colour, "roofs": int(roofs), "cells": self.cells(cells)})
        seat |= self.grid(area, seat["pavilions"])
        denied = re.search(r"Board actions denied: (.*)$", area, re.MULTILINE)
        return seat, self.actions(denied[1]) if denied else []

    def grid(self, area: str, pavilions: list[Position]) -> Position:
        seen: Position = {"wild": [], "superstructures": [], "coats_on_board": []}
        owner = {cell: one["colour"][0] for one in pavilions for cell in one["cells"]}
        for row in range(7):
            line = found(rf"^  r{row} (.*)$", area)[1].ljust(14)
            for column in range(7):
                cell, mark = 7 * row + column, line[2 * column]
                if cell in owner:
                    assert mark == owner[cell]
                elif mark in "wo":
                    seen["wild" if mark == "w" else "coats_on_board"].append(cell)
                else:
                    assert mark == ("S" if cell == 24 else ".")
                if line[2 * column + 1] == "^":
                    seen["superstructures"].append(cell)
        return seen

    def position(self, text: str) -> Position:
        """The copy of the seat."""
        top = head(text)
        viewer = int(found(r"You are player (\d)", top)[1])
        phase = re.search(r"\(phase (\w+)\)", top)
        display = [part.split(" ", 1)[1] for part in found(r"^Display by slot: (.*)$", top)[1].split("; ")]
        bonus = re.search(r"^Bonus cards left: (.*)$", top, re.MULTILINE)
        seats = [self.seat(area, number == viewer) for number, area in enumerate(areas(text))]
        assert len(seats) == int(found(r"(\d) players", top)[1])
        return {
            "players": len(seats),
            "covered": self.actions(found(r"^Covered board actions: (.*)$", top)[1]),
            "denied": [denied for _, denied in seats],
            "dry_roads": bonus is not None,
            "phase": phase[1] if phase else "END",
            "to_move": acting_seat(top),
            "round": int(found(r"^Round (\d+)", top)[1]),
            "last_round": "This is the last round." in top,
            "done": "The game is over." in top,
            "draw_pile": int(found(r"^Draw pile: (\d+)", top)[1]),
            "discard_pile": self.counts(found(r"Discard pile: (.*)$", top)[1]),
            "display": [None if name == "empty" else self.cards[name] for name in display],
            "tile_supply": supply(top, "roofs", COLORS),
            "wild_tiles": int(found(r"Wild tiles left: (\d+)", top)[1]),
            "superstructures": int(found(r"Superstructures left: (\d+)", top)[1]),
            "bonus_cards": [int(n) for n in listed(bonus[1])] if bonus else [],
            "seats": [seat for seat, _ in seats],
            "pending": self.pending(top),
        }


def colour_counts(text: str) -> list[int]:
    counts = [0] * 5
    for part in listed(text):
        name, count = part.rsplit(" x", 1)
        counts[COPENHAGEN_COLORS.index(name)] = int(count)
    return counts


def xy(text: str) -> int:
    x, y = text.split(",")
    return 5 * int(y) + int(x)


def abilities(text: str) -> list[int]:
    return [ABILITIES.index(name) for name in listed(text)]


class CopenhagenReader:
    """Reads texts of any component file."""

    def pending(self, text: str) -> Position:
        pending: Position = {}
        if match := re.search(r"First of two cards taken from slot (\d)", text):
            pending["first"] = int(match[1])
        if match := re.search(r"Abilities in use: (.*)\.", text):
            pending["using"] = abilities(match[1])
        if match := re.search(r"Tile being built: (\w+) (\d)", text):
            pending["tile"] = {"colour": match[1], "size": int(match[2])}
        if match := re.search(r"Cards that count as the color of the tile: (\w+)", text):
            pending["recolour"] = COPENHAGEN_COLORS.index(match[1])
        if match := re.search(r"Place of the tile: PLACE (\d) at (\d,\d)", text):
            pending["place"] = 45 * int(match[1]) + xy(match[2])
        if match := re.search(r"Cards still to pay: (\d)", text):
            pending["due"] = int(match[1])
        if match := re.search(r"Cards paid so far: (.*)\.", text):
            pending["paid"] = colour_counts(match[1])
        if match := re.search(r"Last card discarded in this turn: (\w+)", text):
            pending["last_discard"] = COPENHAGEN_COLORS.index(match[1])
        if match := re.search(r"this one included: (\d+)", text):
            pending["rewards"] = int(match[1])
        return pending

    def seat(self, area: str, mine: bool) -> tuple[Position, list[int]]:
        owned = found(r"Abilities owned: (.*); used: (.*)$", area)
        seat: Position = {
            "tiles": [],
            "abilities": abilities(owned[1]),
            "used": abilities(owned[2]),
            "points": int(found(r"^Player \d(?: \(you\))?: (\d+) point", area)[1]),
        }
        if mine:
            seat["hand"] = colour_counts(found(r"Hand of \d+: (.*)$", area)[1])
            seat["known"] = colour_counts(found(r"the others know: (.*)$", area)[1])
        else:
            match = found(r"Hand of (\d+); known cards: (.*)$", area)
            seat["known"] = colour_counts(match[2])
            seat["hand"] = {"size": int(match[1]), "known": seat["known"]}
        for part in listed(found(r"Tiles in the order built: (.*)$", area)[1], "; "):
            kind, cells, brick = re.fullmatch(r"(.*): (.*) brick (.*)", part).groups()  # type: ignore[union-attr]
            colour, size = kind.split()
            cells = [xy(cell) for cell in cells.split()]
            seat["tiles"].append({"colour": colour, "size": int(size), "cells": cells, "brick": xy(brick)})
        owner = {
            cell: tile["colour"][0].upper() if cell == tile["brick"] else tile["colour"][0]
            for tile in seat["tiles"]
            for cell in tile["cells"]
        }
        seat["white"] = []
        for y in reversed(range(9)):
            marks = found(rf"^  {y} ((?:\S )*\S)(?: \(o\))?$", area)[1].split()
            assert len(marks) == 5
            for x, mark in enumerate(marks):
                if mark == "w":
                    seat["white"].append(5 * y + x)
                assert mark == owner.get(5 * y + x, mark if mark in ".ow" else None)
        seat["white"].sort()
        denied = re.search(r"Abilities denied: (.*)$", area, re.MULTILINE)
        return seat, abilities(denied[1]) if denied else []

    def position(self, text: str) -> Position:
        """The copy of the seat."""
        top = head(text)
        viewer = int(found(r"You are player (\d)", top)[1])
        phase = re.search(r"\(phase (\w+)\)", top)
        seats = [self.seat(area, number == viewer) for number, area in enumerate(areas(text))]
        display = [part.split(" ", 1)[1] for part in found(r"^Display by slot: (.*)$", top)[1].split("; ")]
        position: Position = {
            "players": len(seats),
            "denied": [denied for _, denied in seats],
            "phase": phase[1] if phase else "END",
            "to_move": acting_seat(top),
            "round": int(found(r"^Round (\d+)", top)[1]),
            "done": "The game is over." in top,
            "draw_pile": int(found(r"^Draw pile: (\d+)", top)[1]),
            "discard_pile": colour_counts(found(r"Discard pile: (.*)$", top)[1]),
            "end_card": "with the End of Game card" in top,
            "display": [None if name == "empty" else COPENHAGEN_COLORS.index(name) for name in display],
            "tile_supply": supply(top, "cells", COPENHAGEN_COLORS),
            "white_tiles": int(found(r"^White tiles left: (\d+)", top)[1]),
            "seats": [seat for seat, _ in seats],
            "pending": self.pending(top),
        }
        if match := re.search(r"Colored cards in the draw pile: (.*)$", top, re.MULTILINE):
            position["reshuffled"] = colour_counts(match[1])
        return position
