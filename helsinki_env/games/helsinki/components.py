"""Game components, read from a component file: tiles, cards, cells, action board, scoring values.

A component file (``configs/components/*.yaml``) is fully validated when it is loaded, and the result is immutable. The
file cites its sources and marks reconstructed values.

Rules page: section 1, Components.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from helsinki_env.data import Node, UserError, digest_of
from helsinki_env.engine.component_reader import (
    component_facts,
    distinct_values,
    integer_list,
    load_component_file,
    read_shape,
)
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS, changed_numbers, read_actions

__all__ = ["BOARD_ACTIONS", "COLORS", "ROOFS", "CardVariant", "ComponentError", "Components", "load_components"]

COLORS = ("blue", "green", "purple", "red", "yellow")
"""Colors of cards and tiles in index order, not player colors."""

ROOFS = (2, 3, 4, 5)
"""Sizes of pavilion tiles; a tile of r roofs has index r - 2."""

BOARD_SIZE = 7
STATUE = 24
FREE_CELLS = BOARD_SIZE * BOARD_SIZE - 1
PUBLISHED_CARDS = 100
MAX_VARIANTS = 18
MAX_PAVILIONS = 22
DISPLAY = 8
PLAYER_COUNTS = (2, 3, 4)
_MOVED = "points_two_points"  # a key used in older files
_KEYS = ("shapes", "tiles", "superstructures", "cards", "board", "action_rows", "actions", "bonus_cards", "rules")


class ComponentError(UserError):
    """Error for an invalid component file. The message names the file, key, value found and value expected."""


@dataclass(frozen=True)
class CardVariant:
    """A kind of pavilion card. It exists in all colors, which differ only in the number of copies.

    Attributes:
        number: total cost in cards, including the card itself (1..8).
        roofs: size of the tile on the card (2..5).
        superstructures: number of superstructures on the card (0..5).
        copies: number of copies by color index (five numbers).
        removed3: number of copies of each color that are removed with three players.
        removed2: number of copies of each color that are removed with two players.
    """

    number: int
    roofs: int
    superstructures: int
    copies: tuple[int, ...]
    removed3: int
    removed2: int

    def removed(self, players: int) -> int:
        """Return the number of copies of each color that are removed for a number of players (2..4)."""
        return {2: self.removed2, 3: self.removed3, 4: 0}[players]


@dataclass(frozen=True)
class Components:
    """Validated content of a component file, as returned by `load_components`.

    A card type is ``len(variants) * color + variant``, with the wild card last. A cell is ``7 * row + column``.

    Attributes:
        name: name of the file without its suffix.
        types: number of card types, including the wild card.
        wild_type: card type of the wild card, ``types - 1``.
        shapes: drawings by shape name, as rows from north to south; ``X`` is a roof and ``.`` an empty cell.
        tiles: shape names, indexed by ``[color][roofs - 2]``.
        tile_copies: number of tiles of each color, indexed by ``[roofs - 2]``.
        variants: kinds of colored cards.
        wild_cards: number of wild cards before any are removed.
        wild_removed3: number of wild cards removed with three players.
        wild_removed2: number of wild cards removed with two players.
        any_removed2_number: number on the card that is also removed, at random and unseen, with two players.
        wild_tiles: number of wild tiles in the common supply.
        superstructures: number of superstructures in the common supply.
        hand_limit: maximum number of cards in a hand.
        statue: cell of the statue, 24.
        coats: cells with a coat of arms, in the order of the file.
        crosswalks: cells next to the crosswalks (Dry roads).
        bonus_cards: values of the bonus cards, in ascending order; with p players, the p lowest are in play.
        action_rows: names of the board actions in the printed top, middle and bottom rows.
        points_row: points for a full row.
        points_column: points for a full column.
        points_crossing: points for a superstructure if its row and its column are both full.
        points_line: points for a superstructure if only its row or only its column is full.
        costs: cost of each board action in coats of arms, by id.
        strengths: strength of each board action, by id; 0 if it has none (`action_numbers.STRENGTHS`).
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
    costs: tuple[int, ...]
    strengths: tuple[int, ...]

    def __hash__(self) -> int:
        """Return a hash of the name and the digest."""
        return hash((self.name, self.digest))

    def card_color(self, card: int) -> int:
        """Return the color index of a card type, or -1 for the wild card."""
        return -1 if self._is_wild(card) else card // len(self.variants)

    def card_number(self, card: int) -> int:
        """Return the total cost of a card type in cards, including the card itself, or 0 for the wild card."""
        return 0 if self._is_wild(card) else self.variants[card % len(self.variants)].number

    def card_roofs(self, card: int) -> int:
        """Return the size of the tile on a card type, or 0 for the wild card."""
        return 0 if self._is_wild(card) else self.variants[card % len(self.variants)].roofs

    def card_superstructures(self, card: int) -> int:
        """Return the number of superstructures on a card type, or 0 for the wild card."""
        return 0 if self._is_wild(card) else self.variants[card % len(self.variants)].superstructures

    def deck(self, players: int) -> tuple[int, ...]:
        """Return the number of cards of each type after the fixed removals (rules page, section 2, step 1).

        With two players, the deck still includes the card that is removed at random: ``deck_size(2) + 1`` cards in
        total.
        """
        if players not in PLAYER_COUNTS:
            raise ValueError(f"players: found {players!r}, expected 2, 3 or 4")
        coloured = [
            variant.copies[colour] - variant.removed(players)
            for colour in range(len(COLORS))
            for variant in self.variants
        ]
        wild = self.wild_cards - {2: self.wild_removed2, 3: self.wild_removed3, 4: 0}[players]
        return (*coloured, wild)

    def deck_size(self, players: int) -> int:
        """Return the number of cards in the deck of a game with 2, 3 or 4 players, before any card is dealt."""
        return sum(self.deck(players)) - (players == 2)

    @cached_property
    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify the content, regardless of the file name.

        Of the costs and strengths, only those that differ from the published ones are included, so a file may state the
        defaults.
        """
        facts = component_facts(self)
        numbers = changed_numbers(facts.pop("costs"), facts.pop("strengths"))
        return digest_of(facts | numbers)

    def _is_wild(self, card: int) -> bool:
        if not 0 <= card < self.types:
            raise ValueError(f"card type: found {card!r}, expected 0 to {self.wild_type}")
        return card == self.wild_type


def load_components(name_or_path: str | Path = "default") -> Components:
    """Load and validate a component file.

    Args:
        name_or_path: name of a file in ``configs/components``, or a path. A file is read again only if it has changed.

    Raises:
        ComponentError: if the file is invalid; the message names the file, the key, the value and the expected value.
    """
    components: Components = load_component_file(name_or_path, ComponentError, _components)
    return components


def _components(data: Node, name: str) -> Components:
    """Return the validated content of a component file."""
    data.mapping(_KEYS)
    tiles = data["tiles"].mapping(("total", "copies", "shapes", "wild"))
    shapes = _shapes(data["shapes"])
    cards = data["cards"].mapping(("variants", "wild", "any_removed_2_players", "totals"))
    variants = _variants(cards["variants"])
    wild = cards["wild"].mapping(("copies", "removed_3_players", "removed_2_players"))
    wild_cards = wild["copies"].integer(0, PUBLISHED_CARDS)
    board = data["board"].mapping(("coats", "crosswalks"))
    points = ("points_row", "points_column", "points_crossing", "points_line")
    rules = data["rules"]
    if isinstance(rules.value, Mapping) and _MOVED in rules.value:
        rules[_MOVED].fail("no such key", "write it as actions.two_points.strength")
    rules.mapping(("hand_limit", *points))
    costs, strengths = read_actions(data["actions"])
    types = len(COLORS) * len(variants) + 1
    result = Components(
        name=name,
        types=types,
        wild_type=types - 1,
        shapes=shapes,
        tiles=_tiles(tiles["shapes"], shapes),
        tile_copies=_tile_copies(tiles),
        variants=variants,
        wild_cards=wild_cards,
        wild_removed3=wild["removed_3_players"].integer(0, wild_cards),
        wild_removed2=wild["removed_2_players"].integer(0, wild_cards),
        any_removed2_number=cards["any_removed_2_players"].integer(1, 8),
        wild_tiles=tiles["wild"].integer(0, FREE_CELLS),
        superstructures=data["superstructures"].integer(0, PUBLISHED_CARDS),
        hand_limit=rules["hand_limit"].integer(1, 20),
        statue=STATUE,
        coats=_cells(board["coats"], 8),
        crosswalks=_cells(board["crosswalks"], 4),
        bonus_cards=_bonus_cards(data["bonus_cards"]),
        action_rows=_action_rows(data["action_rows"]),
        **{key: rules[key].integer(0, 10) for key in points},
        costs=costs,
        strengths=strengths,
    )
    _check_decks(result, cards)
    return result


def _shapes(data: Node) -> dict[str, tuple[str, ...]]:
    """Return the drawings by shape name; each must be connected and have no empty margins."""
    if not data.value or not isinstance(data.value, Mapping):
        data.fail("a mapping of shape names to drawings such as X./XX")
    shapes = {}
    for name, item in data.items():
        if not isinstance(name, str):
            item.fail("a name that is text, such as L3", found=str(name))
        rows = read_shape(item, "X", "roofs")
        if "".join(rows).count("X") not in ROOFS:
            item.fail("2 to 5 roofs")
        shapes[name] = rows
    return shapes


def _tiles(data: Node, shapes: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the shape names by color and number of roofs."""
    colours = data.mapping(COLORS)
    tiles = []
    for colour in COLORS:
        names = colours[colour].entries("shape names", length=len(ROOFS))
        for roofs, name in zip(ROOFS, names, strict=True):
            drawn = shapes[name.choice(tuple(shapes), "a shape that is drawn under shapes: ")]
            if "".join(drawn).count("X") != roofs:
                name.fail(f"a shape of {roofs} roofs; this one is {'/'.join(drawn)}")
        tiles.append(tuple(name.value for name in names))
    return tuple(tiles)


def _tile_copies(tiles: Node) -> tuple[int, ...]:
    """Return the number of tiles of each color by roofs. Check that a state can store all tiles of a full board."""
    copies = integer_list(tiles["copies"], len(ROOFS), 0, 20, "counts by roofs")
    total = len(COLORS) * sum(copies)
    if tiles["total"].integer(0, 400) != total:
        tiles["total"].fail(f"{total}, the sum of tiles.copies in five colours")
    most, room = 0, FREE_CELLS
    for roofs, count in zip(ROOFS, copies, strict=True):
        fit = min(len(COLORS) * count, room // roofs)
        most, room = most + fit, room - fit * roofs
    if most > MAX_PAVILIONS:
        tiles["copies"].fail(
            f"fewer small tiles: {most} tiles fit on a board, and at most {MAX_PAVILIONS} are supported"
        )
    return copies


def _variants(data: Node) -> tuple[CardVariant, ...]:
    """Return the kinds of colored cards."""
    items = data.entries("card variants")
    if not 1 <= len(items) <= MAX_VARIANTS:
        data.fail(f"1 to {MAX_VARIANTS} of them", found=f"{len(items)} variants")
    seen: dict[tuple[int, int, int], int] = {}
    variants = tuple(_variant(item) for item in items)
    for i, variant in enumerate(variants):
        face = (variant.number, variant.roofs, variant.superstructures)
        if face in seen:
            expected = f"another face than that of cards.variants[{seen[face]}]: add to its copies"
            items[i].fail(expected, found=str(face))
        seen[face] = i
    return variants


def _variant(data: Node) -> CardVariant:
    """Return one kind of colored card."""
    data.mapping(("number", "roofs", "superstructures", "copies", "removed_3_players", "removed_2_players"))
    if isinstance(data["copies"].value, list):
        copies = integer_list(data["copies"], len(COLORS), 0, PUBLISHED_CARDS, "counts by colour, or one count for all")
    else:
        copies = (data["copies"].integer(0, PUBLISHED_CARDS),) * len(COLORS)
    removed = [data[name].integer(0, PUBLISHED_CARDS) for name in ("removed_3_players", "removed_2_players")]
    for name, count in zip(("removed_3_players", "removed_2_players"), removed, strict=True):
        if count > min(copies):
            data[name].fail(f"at most {min(copies)}: every colour must have enough copies")
    return CardVariant(
        number=data["number"].integer(1, 8),
        roofs=data["roofs"].integer(ROOFS[0], ROOFS[-1]),
        superstructures=data["superstructures"].integer(0, 5),
        copies=copies,
        removed3=removed[0],
        removed2=removed[1],
    )


def _cells(data: Node, length: int) -> tuple[int, ...]:
    """Read distinct cells of the board, given as [row, column], excluding the statue's cell."""
    items = data.entries("cells [row, column]", length=length)
    return tuple(distinct_values(data, ((item, _cell(item)) for item in items), "cell"))


def _cell(item: Node) -> int:
    """Read a cell that tiles may cover."""
    row, column = integer_list(item, 2, 0, BOARD_SIZE - 1, "numbers, row and column")
    cell = BOARD_SIZE * row + column
    if cell == STATUE:
        item.fail("another cell: this is the cell of the statue")
    return cell


def _bonus_cards(data: Node) -> tuple[int, ...]:
    """Return the values of the four bonus cards, in ascending order."""
    values = integer_list(data, 4, 1, 100, "values")
    if list(values) != sorted(set(values)):
        data.fail("four different values in ascending order")
    return values


def _action_rows(data: Node) -> tuple[tuple[str, ...], ...]:
    """Return the three rows of the action board, which must contain every board action exactly once."""
    data.mapping(("top", "middle", "bottom"))
    rows = [data[name].entries("action names", length=5) for name in ("top", "middle", "bottom")]
    seen: list[str] = []
    for action in (action for row in rows for action in row):
        if action.choice(BOARD_ACTIONS, "the name of an action: ") in seen:
            missing = [name for name in BOARD_ACTIONS if not any(other.value == name for row in rows for other in row)]
            action.fail(f"every action once; missing: {', '.join(missing)}")
        seen.append(action.value)
    return tuple(tuple(action.value for action in row) for row in rows)


def _check_decks(components: Components, cards: Node) -> None:
    """Check that the card counts match the totals in the file and that every game can be dealt."""
    totals = cards["totals"].mapping(("per_color", *(f"players_{players}" for players in reversed(PLAYER_COUNTS))))
    per_color = totals["per_color"].integer(0, PUBLISHED_CARDS)
    for colour, name in enumerate(COLORS):
        count = sum(variant.copies[colour] for variant in components.variants)
        if count != per_color:
            totals["per_color"].fail(f"{count}, the sum of the copies in {name}")
    box = sum(components.deck(4))
    if box > PUBLISHED_CARDS:
        cards.fail(f"at most {PUBLISHED_CARDS} in all: lower some copies", found=f"{box} cards")
    number = components.any_removed2_number
    if not any(count and components.card_number(card) == number for card, count in enumerate(components.deck(2))):
        cards["any_removed_2_players"].fail("the number of a card that is in the deck with two players")
    for players in PLAYER_COUNTS:
        total, size = totals[f"players_{players}"], components.deck_size(players)
        if total.integer(0, PUBLISHED_CARDS) != size:
            total.fail(f"{size}, the copies minus the removals")
        least = DISPLAY + 2 * players
        if size < least:
            total.fail(f"at least {least} for the display and two cards per player")
