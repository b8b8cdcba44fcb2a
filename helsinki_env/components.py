"""The facts of the box, read from a component file: tiles, cards, cells, action board, scoring values.

A component file (``configs/components/*.yaml``) is validated in full when it is loaded; what comes out is
immutable and can be trusted by everything else. Which of the facts are reconstructions, and where the others
come from, stands in the file.

Rules page: section 1, Components.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NoReturn

from helsinki_env.yaml_files import find_yaml, one_of, read_yaml

__all__ = ["ACTIONS", "COLOURS", "ROOFS", "CardVariant", "ComponentError", "Components", "load_components"]

COLOURS = ("blue", "green", "purple", "red", "yellow")
"""The colours of cards and tiles in index order. They are no player colours."""

ROOFS = (2, 3, 4, 5)
"""The sizes of pavilion tiles; a tile of r roofs has index r - 2."""

ACTIONS = (
    "move_1_to_6",
    "two_wild_tiles",
    "any_side",
    "extra_card",
    "extra_superstructure",
    "move_1_to_5",
    "one_wild_tile",
    "second_pavilion",
    "one_card_fewer",
    "move_superstructure",
    "move_back",
    "no_hand_limit",
    "draw_and_build",
    "any_card_as_wild",
    "two_points",
)
"""The 15 actions of the action board in id order. Ids are fixed; a file only says where each is printed."""

SIZE = 7
STATUE = 24
FREE_CELLS = SIZE * SIZE - 1
BOX_CARDS = 100
MAX_VARIANTS = 18
MAX_PAVILIONS = 22
DISPLAY = 8
SEATS = (2, 3, 4)


class ComponentError(ValueError):
    """A component file that cannot be used. The message names file, key, value found and what is expected."""


@dataclass(frozen=True)
class CardVariant:
    """One kind of pavilion card, the same in every colour but for the number of copies.

    Attributes:
        number: cards to be paid in all, this one counted (1..8).
        roofs: size of the tile it shows (2..5).
        superstructures: superstructures it shows (0..5).
        copies: copies in the box by colour index, five of them.
        removed3: copies of each colour that go back to the box with three players.
        removed2: the same with two players.
    """

    number: int
    roofs: int
    superstructures: int
    copies: tuple[int, ...]
    removed3: int
    removed2: int

    def removed(self, players: int) -> int:
        """Return how many copies of each colour go back to the box with this number of players (2..4)."""
        return {2: self.removed2, 3: self.removed3, 4: 0}[players]


@dataclass(frozen=True)
class Components:
    """The content of a component file. Made by `load_components`, which validates it.

    A card type is ``len(variants) * colour + variant``, the wild card last; a cell is ``7 * row + column``.

    Attributes:
        name: the file's name without its suffix.
        types: number of card types, the wild one counted.
        wild_type: the index of the wild card, ``types - 1``.
        shapes: drawings by shape name; rows from north to south, ``X`` a roof and ``.`` nothing.
        tiles: shape name by ``[colour][roofs - 2]``.
        tile_copies: tiles of each colour by ``[roofs - 2]``.
        variants: the kinds of coloured cards.
        wild_cards: wild cards in the box.
        wild_removed3: wild cards that go back to the box with three players.
        wild_removed2: the same with two players.
        any_removed2_number: with two players one more card of this number goes, by the seed, unseen.
        wild_tiles: wild tiles in the common supply.
        superstructures: superstructures in the common supply.
        hand_limit: cards that a hand may hold.
        statue: the statue's cell, 24.
        coats: the cells with a coat of arms, in the file's order.
        crosswalks: the cells beside the crosswalks (Dry roads).
        bonus_cards: their values, ascending; with p players the p lowest are in play.
        action_rows: action names as printed: top, middle and bottom row.
        points_row: points for a full row.
        points_column: points for a full column.
        points_crossing: points for a superstructure whose row and column are both full.
        points_line: points for a superstructure of which only the row or only the column is full.
        points_two_points: points that the action ``two_points`` gives.
    """

    name: str
    types: int
    wild_type: int
    shapes: Mapping[str, tuple[str, ...]]
    tiles: tuple[tuple[str, ...], ...]
    tile_copies: tuple[int, ...]
    variants: tuple[CardVariant, ...]
    wild_cards: int
    wild_removed3: int
    wild_removed2: int
    any_removed2_number: int
    wild_tiles: int
    superstructures: int
    hand_limit: int
    statue: int
    coats: tuple[int, ...]
    crosswalks: tuple[int, ...]
    bonus_cards: tuple[int, ...]
    action_rows: tuple[tuple[str, ...], ...]
    points_row: int
    points_column: int
    points_crossing: int
    points_line: int
    points_two_points: int

    def __hash__(self) -> int:
        """Return a hash of the content; written out because the drawings are a mapping."""
        return hash((self.name, self.digest))

    def card_colour(self, card: int) -> int:
        """Return the colour index of a card type, -1 for the wild card."""
        return -1 if self._is_wild(card) else card // len(self.variants)

    def card_number(self, card: int) -> int:
        """Return how many cards a card type asks for, itself counted; 0 for the wild card."""
        return 0 if self._is_wild(card) else self.variants[card % len(self.variants)].number

    def card_roofs(self, card: int) -> int:
        """Return the size of the tile that a card type shows; 0 for the wild card."""
        return 0 if self._is_wild(card) else self.variants[card % len(self.variants)].roofs

    def card_superstructures(self, card: int) -> int:
        """Return how many superstructures a card type shows; 0 for the wild card."""
        return 0 if self._is_wild(card) else self.variants[card % len(self.variants)].superstructures

    def deck(self, players: int) -> tuple[int, ...]:
        """Return the deck by card type after the fixed removals (rules page, section 2, step 1).

        With two players it still holds the one more card that the seed removes: ``deck_size(2) + 1`` in all.
        """
        if players not in SEATS:
            raise ValueError(f"players: found {players!r}, expected 2, 3 or 4")
        coloured = [
            variant.copies[colour] - variant.removed(players)
            for colour in range(len(COLOURS))
            for variant in self.variants
        ]
        wild = self.wild_cards - {2: self.wild_removed2, 3: self.wild_removed3, 4: 0}[players]
        return (*coloured, wild)

    def deck_size(self, players: int) -> int:
        """Return how many cards a game with 2, 3 or 4 players is played with, before the first is dealt."""
        return sum(self.deck(players)) - (players == 2)

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the content; the file's name does not count."""
        content = asdict(self)
        del content["name"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def _is_wild(self, card: int) -> bool:
        if not 0 <= card < self.types:
            raise ValueError(f"card type: found {card!r}, expected 0 to {self.wild_type}")
        return card == self.wild_type


def load_components(name_or_path: str | Path = "default") -> Components:
    """Return the content of a component file.

    Args:
        name_or_path: the name of a file in ``configs/components`` or a path; an unchanged file is read once.

    Raises:
        ComponentError: for anything wrong with the file; names file, key, value and what is expected.
    """
    path = find_yaml(name_or_path, "components", ComponentError).resolve()
    return _load(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _load(path: Path, _changed_ns: int) -> Components:
    """Read one file. The time of its last change is only part of the key: an edited file is read again."""
    return _File(path).components()


class _File:
    """A component file that is being validated: takes values out of it, and complains in one form."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = read_yaml(path, ComponentError)

    def fail(self, key: str, found: object, expected: str) -> NoReturn:
        raise ComponentError(f"{self.path}: {key}: found {found!r}, expected {expected}")

    def section(self, value: object, key: str, names: Sequence[str]) -> dict[str, Any]:
        """Return a mapping with exactly these keys."""
        where = key or "the file"
        if not isinstance(value, dict):
            self.fail(where, value, f"a mapping with the keys {', '.join(names)}")
        for name in value:
            if name not in names:
                found = f"no such key (found {value[name]!r})"
                where = f"{key}.{name}".lstrip(".")
                raise ComponentError(f"{self.path}: {where}: {found}, expected {one_of(names, name)}")
        for name in names:
            if name not in value:
                self.fail(where, sorted(value), f"the missing key {name!r} as well")
        return value

    def integer(self, value: object, key: str, low: int, high: int) -> int:
        """Return a whole number from low to high."""
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fail(key, value, f"a whole number from {low} to {high}")
        return value

    def listing(self, value: object, key: str, length: int | None, what: str) -> list[Any]:
        """Return a list, of a given length unless that is None."""
        if not isinstance(value, list) or (length is not None and len(value) != length):
            self.fail(key, value, f"a list of {what}" if length is None else f"a list of {length} {what}")
        return value

    def integers(self, value: object, key: str, length: int, low: int, high: int, what: str) -> tuple[int, ...]:
        """Return a list of whole numbers, each from low to high."""
        items = self.listing(value, key, length, what)
        return tuple(self.integer(item, f"{key}[{i}]", low, high) for i, item in enumerate(items))

    def components(self) -> Components:
        """Return the validated content."""
        names = (
            "shapes",
            "tiles",
            "superstructures",
            "cards",
            "board",
            "action_rows",
            "bonus_cards",
            "rules",
        )
        top = self.section(self.data, "", names)
        tiles = self.section(top["tiles"], "tiles", ("total", "copies", "shapes", "wild"))
        shapes = self.shapes(top["shapes"])
        cards = self.section(top["cards"], "cards", ("variants", "wild", "any_removed_2_players", "totals"))
        variants = self.variants(cards["variants"])
        wild_keys = ("copies", "removed_3_players", "removed_2_players")
        wild = self.section(cards["wild"], "cards.wild", wild_keys)
        wild_cards = self.integer(wild["copies"], "cards.wild.copies", 0, BOX_CARDS)
        wild_removed = [self.integer(wild[key], f"cards.wild.{key}", 0, wild_cards) for key in wild_keys[1:]]
        board = self.section(top["board"], "board", ("coats", "crosswalks"))
        points = ("points_row", "points_column", "points_crossing", "points_line", "points_two_points")
        rules = self.section(top["rules"], "rules", ("hand_limit", *points))
        types = len(COLOURS) * len(variants) + 1
        result = Components(
            name=self.path.stem,
            types=types,
            wild_type=types - 1,
            shapes=shapes,
            tiles=self.tiles(tiles["shapes"], shapes),
            tile_copies=self.tile_copies(tiles),
            variants=variants,
            wild_cards=wild_cards,
            wild_removed3=wild_removed[0],
            wild_removed2=wild_removed[1],
            any_removed2_number=self.integer(cards["any_removed_2_players"], "cards.any_removed_2_players", 1, 8),
            wild_tiles=self.integer(tiles["wild"], "tiles.wild", 0, FREE_CELLS),
            superstructures=self.integer(top["superstructures"], "superstructures", 0, BOX_CARDS),
            hand_limit=self.integer(rules["hand_limit"], "rules.hand_limit", 1, 20),
            statue=STATUE,
            coats=self.cells(board["coats"], "board.coats", 8),
            crosswalks=self.cells(board["crosswalks"], "board.crosswalks", 4),
            bonus_cards=self.bonus_cards(top["bonus_cards"]),
            action_rows=self.action_rows(top["action_rows"]),
            **{key: self.integer(rules[key], f"rules.{key}", 0, 10) for key in points},
        )
        self.check_decks(result, cards["totals"])
        return result

    def shapes(self, value: object) -> dict[str, tuple[str, ...]]:
        """Return the drawings, each a connected figure without empty margins."""
        if not isinstance(value, dict) or not value:
            self.fail("shapes", value, "a mapping of shape names to drawings such as X./XX")
        shapes = {}
        for name, drawing in value.items():
            key = f"shapes.{name}"
            if not isinstance(name, str):
                self.fail(key, name, "a name that is text, such as L3")
            if not isinstance(drawing, str) or not drawing or set(drawing) - set("X./"):
                self.fail(key, drawing, "a drawing of the characters X and . with / between its rows")
            rows = tuple(drawing.split("/"))
            if len({len(row) for row in rows}) != 1:
                self.fail(key, drawing, "rows of the same length")
            if any(
                "X" not in line for line in (rows[0], rows[-1], [row[0] for row in rows], [row[-1] for row in rows])
            ):
                self.fail(key, drawing, "no empty row or column at its edges: leave them out")
            if len(rows) > 5 or len(rows[0]) > 5:
                self.fail(key, drawing, "a drawing of at most 5 rows and 5 columns")
            if not _connected(rows):
                self.fail(key, drawing, "roofs that are connected edge to edge")
            if drawing.count("X") not in ROOFS:
                self.fail(key, drawing, "2 to 5 roofs")
            shapes[name] = rows
        return shapes

    def tiles(self, value: object, shapes: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        """Return the shape name by colour and roofs."""
        colours = self.section(value, "tiles.shapes", COLOURS)
        for colour in COLOURS:
            key = f"tiles.shapes.{colour}"
            for roofs, name in zip(ROOFS, self.listing(colours[colour], key, len(ROOFS), "shape names"), strict=True):
                where = f"{key}[{roofs - 2}]"
                if not isinstance(name, str) or name not in shapes:
                    self.fail(where, name, f"a shape that is drawn under shapes: {one_of(shapes, name)}")
                if "".join(shapes[name]).count("X") != roofs:
                    self.fail(where, name, f"a shape of {roofs} roofs; this one is {'/'.join(shapes[name])}")
        return tuple(tuple(colours[colour]) for colour in COLOURS)

    def tile_copies(self, tiles: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the tiles of each colour by roofs. No more may fit on a board than a state has room for."""
        copies = self.integers(tiles["copies"], "tiles.copies", len(ROOFS), 0, 20, "counts by roofs")
        total = self.integer(tiles["total"], "tiles.total", 0, 400)
        if total != len(COLOURS) * sum(copies):
            self.fail(
                "tiles.total",
                total,
                f"{len(COLOURS) * sum(copies)}, which is what tiles.copies gives in five colours",
            )
        most, room = 0, FREE_CELLS
        for roofs, count in zip(ROOFS, copies, strict=True):
            fit = min(len(COLOURS) * count, room // roofs)
            most, room = most + fit, room - fit * roofs
        if most > MAX_PAVILIONS:
            self.fail(
                "tiles.copies",
                list(copies),
                f"fewer small tiles: {most} of them fit on a board, and a game keeps {MAX_PAVILIONS}",
            )
        return copies

    def variants(self, value: object) -> tuple[CardVariant, ...]:
        """Return the kinds of coloured cards."""
        items = self.listing(value, "cards.variants", None, "card variants")
        if not 1 <= len(items) <= MAX_VARIANTS:
            self.fail("cards.variants", f"{len(items)} variants", f"1 to {MAX_VARIANTS} of them")
        variants = tuple(self.variant(item, f"cards.variants[{i}]") for i, item in enumerate(items))
        seen: dict[tuple[int, int, int], int] = {}
        for i, variant in enumerate(variants):
            face = (variant.number, variant.roofs, variant.superstructures)
            if face in seen:
                expected = f"another face than that of cards.variants[{seen[face]}]: add to its copies"
                self.fail(f"cards.variants[{i}]", face, expected)
            seen[face] = i
        return variants

    def variant(self, value: object, key: str) -> CardVariant:
        """Return one kind of coloured card."""
        names = ("number", "roofs", "superstructures", "copies", "removed_3_players", "removed_2_players")
        item = self.section(value, key, names)
        copies = item["copies"]
        if isinstance(copies, list):
            copies = self.integers(
                copies, f"{key}.copies", len(COLOURS), 0, BOX_CARDS, "counts by colour, or one count for all"
            )
        else:
            copies = (self.integer(copies, f"{key}.copies", 0, BOX_CARDS),) * len(COLOURS)
        removed = [self.integer(item[name], f"{key}.{name}", 0, BOX_CARDS) for name in names[4:]]
        for name, count in zip(names[4:], removed, strict=True):
            if count > min(copies):
                self.fail(
                    f"{key}.{name}",
                    count,
                    f"at most {min(copies)}: every colour has to have that many copies to remove",
                )
        return CardVariant(
            number=self.integer(item["number"], f"{key}.number", 1, 8),
            roofs=self.integer(item["roofs"], f"{key}.roofs", ROOFS[0], ROOFS[-1]),
            superstructures=self.integer(item["superstructures"], f"{key}.superstructures", 0, 5),
            copies=copies,
            removed3=removed[0],
            removed2=removed[1],
        )

    def cells(self, value: object, key: str, length: int) -> tuple[int, ...]:
        """Return different cells of the board, given as [row, column], none of them the statue's."""
        found: list[int] = []
        for i, item in enumerate(self.listing(value, key, length, "cells [row, column]")):
            row, column = self.integers(item, f"{key}[{i}]", 2, 0, SIZE - 1, "numbers, row and column")
            cell = SIZE * row + column
            if cell == STATUE:
                self.fail(f"{key}[{i}]", item, "another cell: the statue stands on this one")
            if cell in found:
                self.fail(
                    f"{key}[{i}]",
                    item,
                    f"a cell that is not in the list yet; this one is also {key}[{found.index(cell)}]",
                )
            found.append(cell)
        return tuple(found)

    def bonus_cards(self, value: object) -> tuple[int, ...]:
        """Return the values of the four bonus cards, ascending."""
        values = self.integers(value, "bonus_cards", 4, 1, 100, "values")
        if list(values) != sorted(set(values)):
            self.fail("bonus_cards", list(values), "four different values in ascending order")
        return values

    def action_rows(self, value: object) -> tuple[tuple[str, ...], ...]:
        """Return the three rows of the action board: every action once."""
        names = ("top", "middle", "bottom")
        section = self.section(value, "action_rows", names)
        rows = [self.listing(section[name], f"action_rows.{name}", 5, "action names") for name in names]
        seen: list[str] = []
        for name, row in zip(names, rows, strict=True):
            for i, action in enumerate(row):
                where = f"action_rows.{name}[{i}]"
                if action not in ACTIONS:
                    self.fail(where, action, f"the name of an action: {one_of(ACTIONS, action)}")
                if action in seen:
                    missing = [other for other in ACTIONS if not any(other in row for row in rows)]
                    self.fail(where, action, f"every action once; missing: {', '.join(missing)}")
                seen.append(action)
        return tuple(tuple(row) for row in rows)

    def check_decks(self, components: Components, value: object) -> None:
        """Compare the cards with the totals that the file states, and see that every game can be dealt."""
        keys = ("per_colour", "players_4", "players_3", "players_2")
        totals = self.section(value, "cards.totals", keys)
        stated = {key: self.integer(totals[key], f"cards.totals.{key}", 0, BOX_CARDS) for key in keys}
        for colour, name in enumerate(COLOURS):
            count = sum(variant.copies[colour] for variant in components.variants)
            if count != stated["per_colour"]:
                self.fail(
                    "cards.totals.per_colour",
                    stated["per_colour"],
                    f"{count}, which is what the copies in {name} add up to",
                )
        box = sum(components.deck(4))
        if box > BOX_CARDS:
            self.fail("cards", f"{box} cards", f"at most {BOX_CARDS} in all: lower some copies")
        number = components.any_removed2_number
        if not any(count and components.card_number(card) == number for card, count in enumerate(components.deck(2))):
            self.fail("cards.any_removed_2_players", number, "a number of which a card is left with two players")
        for players in SEATS:
            key, size = f"players_{players}", components.deck_size(players)
            if size != stated[key]:
                self.fail(f"cards.totals.{key}", stated[key], f"{size}, which is what copies less removals give")
            if size < DISPLAY + 2 * players:
                self.fail(
                    f"cards.totals.{key}",
                    size,
                    f"at least {DISPLAY + 2 * players}: the display and two cards a player are dealt",
                )


def _connected(rows: Sequence[str]) -> bool:
    """Return whether the roofs of a drawing hang together edge to edge."""
    left = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "X"}
    edge = [left.pop()]
    while edge:
        r, c = edge.pop()
        near = left & {(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)}
        left -= near
        edge.extend(near)
    return not left
