"""Format text: phrases with counts, and colored lines for terminals, arranged in blocks or as boards with walls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from helsinki_env.drawing import palette
from helsinki_env.utils.markdown import printable

_OUTSIDE = -1_000_000  # cells outside the board; no piece has this number
# indexed by the bits of the walls: up, right, down, left
_JOINTS = " \u2575\u2576\u2514\u2577\u2502\u250c\u251c\u2574\u2518\u2500\u2534\u2510\u2524\u252c\u253c"
INK_ON = ("#ffffff", "#ffffff", "#ffffff", "#ffffff", "#3d2b08")

"""Color of the letters on tiles and cards of each color."""


def pluralize(amount: int, word: str) -> str:
    """Format an amount with a noun in the singular or plural: ``1 card``, ``2 cards``."""
    return f"{amount} {word}" if amount == 1 else f"{amount} {word}s"


def counts_text(names: Sequence[str], counts: Sequence[int]) -> str:
    """Format the counts that are not zero with their names: ``blue x2, red x1``, or ``none``."""
    return ", ".join(f"{name} x{count}" for name, count in zip(names, counts, strict=True) if count) or "none"


def slots_text(names: Sequence[str], cards: Sequence[int | None]) -> str:
    """Format the cards in the slots of a display: ``0 blue; 1 empty``."""
    return "; ".join(f"{slot} {'empty' if card is None else names[card]}" for slot, card in enumerate(cards))


@dataclass
class TextLine:
    """A line of text, made of (text, foreground, background, bold) segments; colors are ``#rrggbb`` or empty."""

    segments: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def add(self, text: str, ink: str = "", ground: str = "", bold: bool = False) -> TextLine:
        """Append a segment, with control characters replaced, and return the line."""
        self.segments.append((printable(text), ink, ground, bold))
        return self

    def __len__(self) -> int:
        return sum(len(piece[0]) for piece in self.segments)

    def padded(self, width: int) -> TextLine:
        """Pad the line with spaces to a width, and return it."""
        return self.add(" " * max(0, width - len(self)))

    def to_ansi(self, color: bool) -> str:
        """Return the line as text, with escape sequences if `color` is set."""
        if not color:
            return "".join(piece[0] for piece in self.segments).rstrip()
        return "".join(_coloured(*piece) for piece in self.segments)


def _coloured(text: str, ink: str, ground: str, bold: bool) -> str:
    codes = (
        (["1"] if bold else []) + ([f"38;2;{_rgb(ink)}"] if ink else []) + ([f"48;2;{_rgb(ground)}"] if ground else [])
    )
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes else text


def _rgb(colour: str) -> str:
    return ";".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))


def add_player_text(line: TextLine, seat: int, text: str) -> None:
    """Add text to a line in the colors of a player."""
    tone = palette.PLAYERS[seat]
    line.add(text, tone.line, tone.base, True)


def lines_to_text(lines: Iterable[TextLine], color: bool) -> str:
    """Return lines as text, each followed by a newline, with escape sequences if `color` is set."""
    return "".join(f"{line.to_ansi(color)}\n" for line in lines)


def wrap(items: Iterable[TextLine], width: int) -> list[TextLine]:
    """Arrange items in one or more lines of at most `width` columns."""
    lines = [TextLine()]
    for item in items:
        if len(lines[-1]) + len(item) > width:
            lines.append(TextLine())
        lines[-1].segments += item.segments
    return lines


def join_columns(blocks: list[list[TextLine]], widths: list[int], gap: int) -> list[TextLine]:
    """Join blocks of lines side by side, padded to `widths` and separated by `gap` columns."""
    lines = []
    for number in range(max(len(block) for block in blocks)):
        joined = TextLine()
        for block, width in zip(blocks, widths, strict=True):
            line = block[number] if number < len(block) else TextLine()
            joined.segments += line.padded(width + gap).segments
        lines.append(joined)
    return lines


def arrange_blocks(blocks: list[list[TextLine]], block_width: int, width: int) -> list[TextLine]:
    """Arrange blocks in rows of as many as fit into `width` columns. Four blocks are never split into three and one."""
    per_row = max(1, min(len(blocks), (width + 3) // (block_width + 3)))
    if len(blocks) == 4 and per_row == 3:
        per_row = 2
    lines = []
    for first in range(0, len(blocks), per_row):
        row = blocks[first : first + per_row]
        lines += [TextLine(), *join_columns(row, [block_width] * len(row), 3)]
    return lines


def walled(
    rows: int,
    columns: int,
    owner: Callable[[int, int], int | None],
    ground: Callable[[int, int], str],
    cell: Callable[[TextLine, int, int], None],
) -> list[TextLine]:
    """Return a board as ``2 * rows + 1`` lines of ``4 * columns + 1`` characters, with walls between pieces.

    Given a row (from the top) and a column, `owner` returns the piece on the cell, and `ground` its background color.
    `cell` adds the three characters of a cell to a line.
    """
    paving = palette.PAVING

    def at(row: int, column: int) -> int | None:
        return owner(row, column) if 0 <= row < rows and 0 <= column < columns else _OUTSIDE

    lines = []
    for row in range(rows + 1):
        line = TextLine()
        for column in range(columns + 1):
            nw, ne, sw, se = (at(row - 1, column - 1), at(row - 1, column), at(row, column - 1), at(row, column))
            joint = (nw != ne) + 2 * (ne != se) + 4 * (sw != se) + 8 * (nw != sw)
            inside = joint == 0 and se is not None
            text = _JOINTS[joint] if joint or inside else "\u00b7"
            line.add(text, palette.INK if joint else palette.FAINT, ground(row, column) if inside else paving)
            if column < columns:
                split = ne != se
                line.add("\u2500" * 3 if split else "   ", palette.INK, paving if split else ground(row, column))
        lines.append(line)
        if row == rows:
            break
        line = TextLine()
        for column in range(columns + 1):
            split = at(row, column - 1) != at(row, column)
            line.add("\u2502" if split else " ", palette.INK, paving if split else ground(row, column))
            if column < columns:
                cell(line, row, column)
        lines.append(line)
    return lines
