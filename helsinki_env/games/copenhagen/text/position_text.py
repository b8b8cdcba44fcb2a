"""Describe positions of Copenhagen and the events of an action in words, as one seat sees them.

The text includes every value of the position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helsinki_env.drawing.lines import counts_text, pluralize, slots_text
from helsinki_env.engine.positions import seen_hand
from helsinki_env.games.copenhagen.actions import KIND_PLACE, encode
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, COLUMNS, ROWS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.notation import action_to_string
from helsinki_env.games.copenhagen.render.view import read_table_view

#: The sentence for each key of `pending`. The value replaces the braces.
PENDING = {
    "first": "First of two cards taken from slot {}.",
    "using": "Abilities in use: {}.",
    "tile": "Tile being built: {}.",
    "recolour": "Cards that count as the color of the tile: {}.",
    "place": "Place of the tile: {}.",
    "due": "Cards still to pay: {}.",
    "paid": "Cards paid so far: {}.",
    "last_discard": "Last card discarded in this turn: {}.",
    "rewards": "Rewards pending, this one included: {}.",
}
_LEGEND = (
    f"Boards: the upper line is row {ROWS - 1}, the lower one row 0; cell x,y is column x of row y.",
    "b g p r y window by color, capital letter the brick of a tile, w white tile, o coat of arms, . empty;",
    "(o) after a line: a coat of arms lies next to this row.",
)


def cell_name(cell: int) -> str:
    """Return the name of a cell, such as ``2,5``."""
    return f"{cell % COLUMNS},{cell // COLUMNS}"


def cells_text(cells: Sequence[int]) -> str:
    """Return the names of cells, or ``none``."""
    return " ".join(map(cell_name, cells)) or "none"


def abilities_text(abilities: Sequence[int]) -> str:
    """Return the names of abilities, or ``none``."""
    return ", ".join(ABILITIES[ability] for ability in abilities) or "none"


def position_lines(game: CopenhagenGame, position: Mapping[str, Any], viewer: int) -> list[str]:
    """Return the lines that describe a position, where `position` is `to_dict(game, viewer)`."""
    table, components = read_table_view(game, viewer), game.config.component_set
    p = position
    lines = [f"Copenhagen, {p['players']} players. You are player {viewer}."]
    lines.append(f"Round {p['round']}.{' The game is over.' if p['done'] else ''}")
    detail = f": {table.decision.detail}" if table.decision.detail else ""
    phase = f" (player {p['to_move']} acted last)" if p["done"] else f" (phase {p['phase']})"
    lines.append(f"{table.decision.who} {table.decision.headline}{detail}{phase}.")
    lines += [_pending(key, value) for key, value in p["pending"].items()]
    end, discards = "" if p["end_card"] else "out", counts_text(COLORS, p["discard_pile"])
    lines += [
        "",
        f"Display by slot: {slots_text(COLORS, p['display'])}",
        f"Draw pile: {p['draw_pile']}, with{end} the End of Game card. Discard pile: {discards}",
    ]
    if "reshuffled" in p:
        lines.append(f"Colored cards in the draw pile: {counts_text(COLORS, p['reshuffled'])}")
    lines += [
        f"Tiles left of {', '.join(map(str, TILE_SIZES))} cells: "
        + "; ".join(f"{colour} {' '.join(map(str, p['tile_supply'][colour]))}" for colour in COLORS),
        f"White tiles left: {p['white_tiles']}",
        "",
        *_LEGEND,
    ]
    for seat in range(p["players"]):
        lines += ["", *_seat_lines(p, components, seat, viewer)]
    return lines


def _pending(key: str, value: Any) -> str:
    """Return the sentence for a pending key and its value."""
    if key == "using":
        value = abilities_text(value)
    elif key == "tile":
        value = f"{value['colour']} {value['size']}"
    elif key in ("recolour", "last_discard"):
        value = COLORS[value]
    elif key == "place":
        value = action_to_string(encode(KIND_PLACE, value))
    elif key == "paid":
        value = counts_text(COLORS, value)
    return PENDING[key].format(value)


def _seat_lines(p: Mapping[str, Any], components: Components, number: int, viewer: int) -> list[str]:
    """Return the lines that describe a player's area."""
    seat = p["seats"][number]
    size, known = seen_hand(seat)
    denied = p["denied"][number] if "denied" in p else []
    lines = [
        f"Player {number}{' (you)' if number == viewer else ''}: {pluralize(seat['points'], 'point')}",
        f"  Abilities owned: {abilities_text(seat['abilities'])}; used: {abilities_text(seat['used'])}",
    ]
    if denied:
        lines.append(f"  Abilities denied: {abilities_text(denied)}")
    if number == viewer:
        lines.append(f"  Hand of {size}: {counts_text(COLORS, seat['hand'])}")
        lines.append(f"  Of these, the others know: {counts_text(COLORS, known)}")
    else:
        lines.append(f"  Hand of {size}; known cards: {counts_text(COLORS, known)}")
    built = [
        f"{tile['colour']} {tile['size']}: {cells_text(tile['cells'])} brick {cell_name(tile['brick'])}"
        for tile in seat["tiles"]
    ]
    lines.append(f"  Tiles in the order built: {'; '.join(built) or 'none'}")
    return lines + [f"  {row}" for row in _grid(seat, components)]


def _grid(seat: Mapping[str, Any], components: Components) -> list[str]:
    """Return the lines of a board, drawn with one letter per cell."""
    marks = dict.fromkeys(components.coats, "o") | dict.fromkeys(seat["white"], "w")
    filled = set(seat["white"])
    for tile in seat["tiles"]:
        letter = tile["colour"][0]
        marks |= dict.fromkeys(tile["cells"], letter) | {tile["brick"]: letter.upper()}
        filled |= set(tile["cells"])
    lines = []
    for row in reversed(range(ROWS)):
        cells = range(COLUMNS * row, COLUMNS * (row + 1))
        beside = " (o)" if row in components.coat_rows and not filled.issuperset(cells) else ""
        lines.append(f"{row} {' '.join(marks.get(cell, '.') for cell in cells)}{beside}")
    return [*lines, "  " + " ".join(map(str, range(COLUMNS)))]


def describe_events(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], components: Components, viewer: int
) -> Iterator[tuple[str, bool]]:
    """Yield (sentence, private) for each visible effect of an action. Private effects are seen only by the viewer.

    `before` and `after` are copies of the position as seen by `viewer`. `before` is None for the deal.
    """
    if before is None:
        yield f"The display by slot: {slots_text(COLORS, after['display'])}.", False
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}.", False
        for number, seat in enumerate(after["seats"]):
            yield f"Player {number} holds {pluralize(seen_hand(seat)[0], 'card')}.", False
        yield f"Your hand: {counts_text(COLORS, after['seats'][viewer]['hand'])}.", True
        return
    for number, (then, now) in enumerate(zip(before["seats"], after["seats"], strict=True)):
        for sentence in _seat_events(f"Player {number}", then, now):
            yield sentence, False
    for sentence in _table_events(before, after):
        yield sentence, False


def _seat_events(who: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about the changes in a player's area."""
    for tile in now["tiles"][len(then["tiles"]) :]:
        yield (
            f"The tile {tile['colour']} {tile['size']} of {who.lower()} covers {cells_text(tile['cells'])}, with its "
            f"brick on {cell_name(tile['brick'])}."
        )
    if now["points"] != then["points"]:
        yield f"{who} scores {pluralize(now['points'] - then['points'], 'point')} and has {now['points']}."
    if now["used"] != then["used"]:
        yield f"The used abilities of {who.lower()}: {abilities_text(now['used'])}."


def _table_events(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences about the changes in the display, the piles and the turn."""
    pairs = zip(before["discard_pile"], after["discard_pile"], strict=True)
    discarded = [max(0, now - then) for then, now in pairs]
    if any(discarded):
        yield f"To the discard pile: {counts_text(COLORS, discarded)}."
    if after["pending"].get("rewards", 0) > before["pending"].get("rewards", 0):
        yield f"Rewards pending: {after['pending']['rewards']}."
    if after["draw_pile"] > before["draw_pile"] or ("reshuffled" in after and "reshuffled" not in before):
        yield "The discard pile is shuffled into a new draw pile, with the End of Game card."
    if after["display"] != before["display"]:
        yield f"The display by slot: {slots_text(COLORS, after['display'])}."
    if after["draw_pile"] != before["draw_pile"]:
        yield f"The draw pile has {pluralize(after['draw_pile'], 'card')}."
    if before["end_card"] and not after["end_card"]:
        yield "The End of Game card is drawn."
    if after["done"]:
        yield "The game is over."
        return
    if after["round"] != before["round"]:
        yield f"Round {after['round']} begins."
    if after["to_move"] != before["to_move"]:
        yield f"It is the turn of player {after['to_move']}."
