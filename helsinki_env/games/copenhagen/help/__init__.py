"""Describe each spot of a picture, or explain why it cannot be used now, in one or two sentences.

Descriptions use only information that the viewer may see, and reasons use only information that the acting seat may
see. `scoring` explains points and actions, and `lesson` is the guided game.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.drawing.lines import pluralize
from helsinki_env.engine.ui_actions import spot_parts
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.abilities import active
from helsinki_env.games.copenhagen.ability_words import ability_label, ability_sentence
from helsinki_env.games.copenhagen.bits import supported
from helsinki_env.games.copenhagen.build import costs
from helsinki_env.games.copenhagen.components import COLORS, COLUMNS, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.help import lesson
from helsinki_env.games.copenhagen.help.scoring import WEIGHTS, effects, fact_words, facts, score_sheet

__all__ = ["WEIGHTS", "effects", "fact_words", "facts", "help_text", "lesson", "score_sheet", "why_not"]


def help_text(game: CopenhagenGame, viewer: int | None, spot: str) -> str:
    """Return a description of a spot of the picture (`render.svg`), or an empty text for an unknown spot."""
    name, values = spot_parts(spot)
    c, g = game.config.component_set, game.state
    if name == "slot" and values:
        if g.display[values[0]] < 0:
            return "An empty place of the display: it is filled at the end of the turn."
        return f"A {COLORS[int(g.display[values[0]])]} card of the display: take two that lie next to each other."
    if name == "card" and values:
        color = COLORS[values[0]]
        return f"Your {color} cards: each pays for one cell of a {color} tile."
    if name == "kind" and values:
        color, size = COLORS[values[0] // len(TILE_SIZES)], TILE_SIZES[values[0] % len(TILE_SIZES)]
        left = pluralize(int(g.supply[values[0]]), "tile")
        return (
            f"A {color} tile of {size} cells: it costs {size} {color} cards, or {size - 1} if it touches {color}. "
            f"The supply has {left}."
        )
    if name == "ability" and len(values) == 2:
        return ability_sentence(values[1]) + _state(game, *values)
    if name == "cell" and len(values) == 2:
        return _cell(game, *values)
    if name in ("board", "seat") and values:
        return f"A player's facade: a full row scores {c.points_row}, a full column {c.points_column}."
    ends = " It holds the End of Game card." if g.end_card else ""
    return {
        "draw": f"The draw pile has {pluralize(int(g.pile_size), 'card')}.{ends}",
        "discard": "The discard pile: the cards that were paid or discarded.",
        "now": "The next step of the turn in progress.",
    }.get(name, "")


def _state(game: CopenhagenGame, seat: int, ability: int) -> str:
    if not int(game.state.owned[seat]) >> ability & 1:
        return " This player does not own it: it is a reward for a coat of arms."
    return " It is used: a coat of arms can turn it back." if int(game.state.used[seat]) >> ability & 1 else ""


def _cell(game: CopenhagenGame, seat: int, cell: int) -> str:
    """Return a description of a cell of a facade."""
    c, g = game.config.component_set, game.state
    if int(g.white[seat]) >> cell & 1:
        return "A white tile: a window without a color."
    for color, name in enumerate(COLORS):
        if int(g.coloured[seat, color]) >> cell & 1:
            shows = "its brick" if int(g.bricks[seat]) >> cell & 1 else "a window"
            return f"A {name} tile, here {shows}: a {name} tile that touches it costs one card less."
    if cell in c.coats:
        return "A coat of arms: cover it for a reward."
    row, column = divmod(cell, COLUMNS)
    filled = int(g.filled[seat])
    in_row = COLUMNS - sum(filled >> (COLUMNS * row + x) & 1 for x in range(COLUMNS))
    in_column = ROWS - sum(filled >> (COLUMNS * y + column) & 1 for y in range(ROWS))
    coat = " A coat of arms lies next to the row." if row in c.coat_rows else ""
    return f"An empty cell: its row needs {pluralize(in_row, 'more cell')}, its column {in_column}.{coat}"


_TAKING = (a.ANY_CARDS, a.ADDITIONAL_CARD, a.BOTH_ACTIONS)


def task(game: CopenhagenGame) -> str:
    """Return a sentence that describes the current task of the acting seat."""
    c, g, phase = game.config.component_set, game.state, str(game.phase)
    if phase == "MAIN" and int(g.using) >> a.BOTH_ACTIONS & 1:
        return "Choose a tile to construct: both actions is in use."
    if phase == "TAKE" and g.first < 0:
        return "Take one more card of the display."
    if phase == "DISCARD":
        return (
            f"Discard {pluralize(int(g.hand[g.seat].sum()) - c.hand_limit, 'card')}: the hand limit is {c.hand_limit}."
        )
    return {
        "MAIN": "Take two cards that lie next to each other, or choose a tile to construct.",
        "TAKE": "Take the second card, next to the first.",
        "END": "Use an ability, or end the turn.",
        "PLACE": "Place the tile on your facade.",
        "RECOLOUR": "Choose the color that counts as the tile's color.",
        "PAY": f"Pay {pluralize(int(g.due), 'more card')} for the tile.",
        "COAT": "Choose the reward for a coat of arms.",
    }[phase]


def why_not(game: CopenhagenGame, spot: str) -> str:
    """Return the reason why the acting seat cannot use a spot of the picture (`render.svg`).

    The spot must not belong to a legal action.
    """
    name, values = spot_parts(spot)
    if name == "slot" and values:
        return _slot(game, values[0])
    if name == "card" and values:
        return _card(game, values[0])
    if name == "kind" and values:
        return _tile(game, values[0])
    if name in ("cell", "ability", "board", "seat") and values:
        if values[0] != game.seat:
            return "This belongs to another player; you use your own."
        if name == "ability":
            return _ability(game, values[1])
        if name == "cell":
            return _why_cell(game, values[1])
    if name == "now":
        return f"The turn cannot end now. {task(game)}"
    if name == "draw":
        return "Cards are taken from the display, not from the draw pile."
    if name == "discard":
        return "You cannot take cards from the discard pile."
    return task(game)


def _slot(game: CopenhagenGame, slot: int) -> str:
    g, phase = game.state, str(game.phase)
    if phase in ("MAIN", "TAKE") and g.display[slot] < 0:
        return "There is no card in this place; the display is filled at the end of the turn."
    if phase == "TAKE" and g.first >= 0:
        return f"The second card must lie next to the first: take that of place {int(g.first) + 1}."
    if phase == "MAIN":
        if int(g.using) >> a.BOTH_ACTIONS & 1:
            return "You have taken cards in this turn: construct now."
        return "A pair begins with its left card, and this one has no card to its right."
    if phase == "END":
        return f"You have taken cards in this turn: one more needs the ability {ability_label(a.ADDITIONAL_CARD)}."
    return task(game)


def _card(game: CopenhagenGame, color: int) -> str:
    g, phase = game.state, str(game.phase)
    if phase == "MAIN":
        return "Choose a tile of the supply; the cards are paid when you place it."
    if phase == "PAY":
        own, other = COLORS[int(g.tile) // 4], COLORS[int(g.recolour)]
        if color in (int(g.tile) // 4, int(g.recolour)):
            return f"At least one {other} card must be part of the payment, and colors are paid in order."
        return f"Pay with {own} and {other} cards."
    if phase == "RECOLOUR":
        if color == int(g.tile) // 4:
            return "The tile has this color already: choose another one."
        return f"With {COLORS[color]} cards, no placement of the tile can be paid."
    if phase == "DISCARD":
        return "Cards are discarded in the order of the hand: undo, and choose this card first."
    return task(game)


def _tile(game: CopenhagenGame, kind: int) -> str:
    t, g, phase = game.config.tables[0], game.state, str(game.phase)
    color, size = COLORS[kind // 4], TILE_SIZES[kind % 4]
    if phase == "END":
        return f"You have taken cards in this turn: constructing too needs the ability {ability_label(a.BOTH_ACTIONS)}."
    if phase != "MAIN":
        return task(game)
    if g.supply[kind] == 0:
        return f"No {color} tile of {size} cells is left in the supply."
    found = int(costs(t, g, np.int64(kind)))
    if not found:
        return f"A {color} tile of {size} cells fits on no free part of your facade."
    least, held = (found & -found).bit_length() - 1, int(g.hand[g.seat, kind // 4])
    return f"This tile costs at least {pluralize(least, f'{color} card')}, and you have {held}."


def _ability(game: CopenhagenGame, ability: int) -> str:
    g, phase = game.state, str(game.phase)
    label, owned, used = ability_label(ability), int(g.owned[g.seat]), int(g.used[g.seat])
    if not owned >> ability & 1:
        if int(g.denied[g.seat]) >> ability & 1:
            return f"{label} is denied to you in this game."
        return f"You do not own {label}: it is a reward for a coat of arms."
    if phase == "COAT":
        return f"You own {label} already."
    if used >> ability & 1:
        return f"{label} is used: a coat of arms can turn it back."
    if ability == a.ANY_CARDS and phase not in ("MAIN", "TAKE"):
        return f"{label} is used while you take two cards."
    if ability in _TAKING:
        return _while_taking(game, ability, label)
    if phase != "PLACE":
        return f"{label} is used after you choose a tile, before you place it."
    return f"After {label}, no placement of this tile could be paid."


def _while_taking(game: CopenhagenGame, ability: int, label: str) -> str:
    g, phase = game.state, str(game.phase)
    if ability == a.ANY_CARDS:
        if phase == "MAIN":
            return f"{label}: take the first card; then choose any second one to its right."
        return "There is no card further to the right."
    if phase not in ("DISCARD", "END"):
        return f"{label} is used after you take two cards."
    if ability == a.ADDITIONAL_CARD:
        return f"You have discarded in this turn, so {label} comes too late."
    if phase == "DISCARD":
        return f"Discard first: {label} is used after that."
    return "You can construct none of the tiles with your cards." if active(g) else task(game)


def _why_cell(game: CopenhagenGame, cell: int) -> str:
    g, phase = game.state, str(game.phase)
    filled = int(g.filled[g.seat])
    if phase == "COAT":
        if g.white_tiles == 0:
            return "No white tile is left in the supply."
        if filled >> cell & 1:
            return "This cell is filled: put a white tile on an empty one."
        if not int(supported(np.int64(filled))) >> cell & 1:
            return "A white tile needs the ground or a filled cell directly below it."
    if phase == "PLACE":
        if filled >> cell & 1:
            return "This cell is filled."
        return "The tile cannot lie here: it needs support and free cells, and you must be able to pay for it."
    if phase == "MAIN":
        return "Choose a tile of the supply first; then you place it here."
    return task(game)
