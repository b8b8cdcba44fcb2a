"""Load component data from a component file: tiles, cards, cells with coats of arms, and scoring values.

A component file (``configs/components/copenhagen.yaml``) is fully validated when it is loaded, and the result is
immutable. The file marks facts that are not stated in its source.

Rules: section 1, Components.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from helsinki_env.data import Node, UserError
from helsinki_env.engine.component_reader import (
    distinct_values,
    facts_digest,
    integer_list,
    load_component_file,
    read_shape,
)

__all__ = ["ABILITIES", "COLORS", "COLUMNS", "ROWS", "TILE_SIZES", "ComponentError", "Components", "load_components"]

COLORS = ("blue", "green", "purple", "red", "yellow")
"""The colors of cards and tiles in index order."""

TILE_SIZES = (2, 3, 4, 5)
"""The sizes of colored tiles; a tile of n cells has index n - 2."""

ABILITIES = ("any_cards", "additional_card", "construction_discount", "change_of_colours", "both_actions")
"""The abilities in id order."""

COLUMNS = 5
"""The number of columns of a facade."""
ROWS = 9
"""The number of rows of a facade."""
CELLS = COLUMNS * ROWS
DISPLAY = 7
PLAYER_COUNTS = (2, 3, 4)
MAX_CARDS = 20
MAX_TILES = 20
MAX_POINTS = 10
MAX_GOAL = 100


class ComponentError(UserError):
    """Raised for an invalid component file. The message names the file, key, value found and expected value."""


@dataclass(frozen=True)
class Components:
    """The validated content of a component file, as returned by `load_components`.

    A cell is ``5 * y + x``, with x counted from the left and y from the bottom.

    Attributes:
        name: the file's name without its suffix.
        drawings: drawing of each tile, indexed by ``[colour][size - 2]``: rows from top to bottom, with ``B`` for the
            brick, ``W`` for a window and ``.`` for an empty cell.
        copies: number of tiles of each color, indexed by ``[players - 2][size - 2]``.
        white_tiles: number of white tiles in the common supply.
        cards: number of cards of each color, indexed by ``[players - 2]``.
        hands: number of cards dealt to each seat.
        coats: cells with a coat of arms, ascending.
        coat_rows: rows y with a coat of arms next to them, ascending.
        hand_limit: maximum number of cards in a hand.
        goal: number of points that ends the game.
        last_cards: number of cards at the bottom of the draw pile that include the End of Game card.
        points_row: points for a full row.
        points_row_windows: points for a full row that shows windows only.
        points_column: points for a full column.
        points_column_windows: points for a full column that shows windows only.
    """

    name: str
    drawings: tuple[tuple[tuple[str, ...], ...], ...]
    copies: tuple[tuple[int, ...], ...]
    white_tiles: int
    cards: tuple[int, ...]
    hands: tuple[int, ...]
    coats: tuple[int, ...]
    coat_rows: tuple[int, ...]
    hand_limit: int
    goal: int
    last_cards: int
    points_row: int
    points_row_windows: int
    points_column: int
    points_column_windows: int

    def __hash__(self) -> int:
        """Return a hash of the content."""
        return hash((self.name, self.digest))

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the content, regardless of the file name."""
        return facts_digest(self)


def load_components(name_or_path: str | Path = "copenhagen") -> Components:
    """Return the content of a component file.

    Args:
        name_or_path: name of a file in ``configs/components``, or a path. An unchanged file is read only once.

    Raises:
        ComponentError: if the file is invalid. The message names the file, the key, the value and the expected value.
    """
    components: Components = load_component_file(name_or_path, ComponentError, _components)
    return components


def _components(data: Node, name: str) -> Components:
    """Return the validated content of a component file."""
    data.mapping(("tiles", "cards", "board", "rules"))
    tiles = data["tiles"].mapping(("drawings", "copies", "white"))
    cards = data["cards"].mapping(("copies", "hands", "last"))
    board = data["board"].mapping(("coats", "coat_rows"))
    points = ("points_row", "points_row_windows", "points_column", "points_column_windows")
    rules = data["rules"].mapping(("hand_limit", "goal", *points))
    hand_limit = rules["hand_limit"].integer(1, MAX_CARDS)
    result = Components(
        name=name,
        drawings=_drawings(tiles["drawings"]),
        copies=tuple(
            integer_list(item, len(TILE_SIZES), 0, MAX_TILES, "counts by size") for item in _by_players(tiles["copies"])
        ),
        white_tiles=tiles["white"].integer(0, CELLS),
        cards=tuple(item.integer(1, MAX_CARDS) for item in _by_players(cards["copies"])),
        hands=integer_list(cards["hands"], 4, 0, hand_limit, "counts by seat"),
        coats=_cells(board["coats"]),
        coat_rows=_rows(board["coat_rows"]),
        hand_limit=hand_limit,
        goal=rules["goal"].integer(1, MAX_GOAL),
        last_cards=cards["last"].integer(1, MAX_CARDS * len(COLORS)),
        **{key: rules[key].integer(0, MAX_POINTS) for key in points},
    )
    for players, item in zip(PLAYER_COUNTS, _by_players(cards["copies"]), strict=True):
        least = DISPLAY + sum(result.hands[:players])
        if len(COLORS) * item.value < least:
            item.fail(f"at least {-(-least // len(COLORS))} for the display and all hands")
    return result


def _by_players(data: Node) -> list[Node]:
    """Return the nodes of the values for two, three and four players."""
    keys = tuple(f"players_{players}" for players in PLAYER_COUNTS)
    data.mapping(keys)
    return [data[key] for key in keys]


def _drawings(data: Node) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the drawings, indexed by color and size."""
    data.mapping(COLORS)
    return tuple(
        tuple(
            _drawing(item, size)
            for size, item in zip(
                TILE_SIZES, data[colour].entries("drawings by size", length=len(TILE_SIZES)), strict=True
            )
        )
        for colour in COLORS
    )


def _drawing(item: Node, size: int) -> tuple[str, ...]:
    """Return a drawing: a connected shape of `size` cells, including one brick, without empty margins."""
    rows = read_shape(item, "BW", "cells")
    text = "".join(rows)
    if text.count("B") != 1:
        item.fail("one brick")
    if text.count("W") != size - 1:
        item.fail(f"{size} cells: a brick and {size - 1} windows")
    return rows


def _cells(data: Node) -> tuple[int, ...]:
    """Return distinct cells of the board, given as [x, y] lists, as ascending integers."""
    items = data.entries("cells [x, y]", most=CELLS)
    return tuple(sorted(distinct_values(data, ((item, _cell(item)) for item in items), "cell")))


def _cell(item: Node) -> int:
    """Convert an [x, y] entry to a cell index."""
    x, y = item.entries("numbers, x and y", length=2)
    return COLUMNS * y.integer(0, ROWS - 1) + x.integer(0, COLUMNS - 1)


def _rows(data: Node) -> tuple[int, ...]:
    """Return distinct rows of the board, ascending."""
    items = data.entries("rows", most=ROWS)
    return tuple(sorted(distinct_values(data, ((item, item.integer(0, ROWS - 1)) for item in items), "row")))
