"""One-sentence descriptions of the spots of a picture, and reasons why a spot cannot be used now.

Descriptions use only the viewer's information, and reasons only that of the acting seat. `scoring` explains points and
actions, and `lesson` contains the guided game.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.drawing.lines import pluralize
from helsinki_env.engine.ui_actions import spot_parts
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.action_words import action_sentence, cost_text, label_of
from helsinki_env.games.helsinki.actions import SIDES
from helsinki_env.games.helsinki.build import (
    NEVER,
    coats_to_pay,
    coats_to_place,
    fits_elsewhere,
    hand_by_color,
    last_tile,
)
from helsinki_env.games.helsinki.coats import can_move_superstructure, usable_actions, wild_cells
from helsinki_env.games.helsinki.components import COLORS, ROOFS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.help import lesson
from helsinki_env.games.helsinki.help.scoring import WEIGHTS, effects, fact_words, facts, said, score_sheet
from helsinki_env.games.helsinki.shapes import tile_cells

__all__ = ["WEIGHTS", "effects", "fact_words", "facts", "help_text", "lesson", "said", "score_sheet", "why_not"]


_SIZE = 7


def card_text(components: Components, card: int) -> str:
    """Return a description of a card."""
    if card == components.wild_type:
        return "A wild card pays as a card of any color; it starts no pavilion."
    color, roofs = COLORS[components.card_color(card)], components.card_roofs(card)
    extra = components.card_superstructures(card)
    tile = f"a {color} tile of {roofs} roofs"
    if extra:
        tile += f" with {pluralize(extra, 'superstructure')}"
    number = components.card_number(card)
    cost = "itself alone" if number == 1 else f"{number} cards, itself included"
    return f"This card builds {tile} and costs {cost}."


def help_text(game: HelsinkiGame, viewer: int | None, spot: str) -> str:
    """Return a description of a spot of the picture (`render.svg`), or an empty text if the spot is unknown."""
    name, values = spot_parts(spot)
    c, g = game.config.component_set, game.state
    if name == "space" and values:
        side = SIDES[values[0] // 2]
        return f"A space on the {side} side: a token here pushes tiles in from there, and draws the cards next to it."
    if name == "slot" and values:
        card = int(g.display[values[0]])
        return card_text(c, card) if card >= 0 else "An empty place of the display."
    if name == "card" and values:
        return card_text(c, values[0])
    if name == "action" and values:
        return action_sentence(c, values[0]) + _status(game, viewer, values[0])
    if name == "kind" and values:
        color, roofs = COLORS[values[0] // len(ROOFS)], ROOFS[values[0] % len(ROOFS)]
        left = pluralize(int(g.supply[values[0]]), "tile")
        return f"The common supply has {left} of {color} with {roofs} roofs."
    if name == "cell" and len(values) == 2:
        return _cell(game, *values)
    if name in ("board", "seat") and values:
        return (
            f"A player's board: a full row scores {c.points_row}, a full column {c.points_column}. "
            f"Coats in the meadow pay for board actions: {int(g.meadow[values[0]])} there. "
            "The score adds points made in play and what the board scores now."
        )
    return {
        "draw": f"The draw pile has {pluralize(int(g.pile_size), 'card')}: when it is empty, the round is the last.",
        "discard": "The discard pile: it becomes the new draw pile when that is empty. Small numbers count its colors.",
        "now": "The next step of the turn in progress.",
    }.get(name, "")


def _status(game: HelsinkiGame, viewer: int | None, action: int) -> str:
    """Return a sentence that explains why a board action cannot be used, or an empty text."""
    if action in game.config.covered:
        return " It is covered in this game."
    if viewer is not None and int(game.state.used[viewer]) >> action & 1:
        return " You have used it."
    return ""


def _cell(game: HelsinkiGame, seat: int, cell: int) -> str:
    """Return a description of a cell of a board."""
    c, t, g = game.config.component_set, game.config.tables[0], game.state
    if cell == c.statue:
        return "The statue: it counts as a filled cell, stops tiles, and carries no superstructure."
    if int(g.superstructures[seat]) >> cell & 1:
        return (
            f"A superstructure: {pluralize(c.points_crossing, 'point')} if its row and column are full, "
            f"{c.points_line} if one of them is."
        )
    if int(g.wild[seat]) >> cell & 1:
        return "A wild tile: it fills a cell and has no color."
    for tile in range(int(g.tile_count[seat])):
        piece = g.tile_piece[seat, tile]
        if int(tile_cells(t, int(piece), g.tile_cell[seat, tile])) >> cell & 1:
            color = COLORS[int(piece) // 32]
            return f"A {color} pavilion: another {color} tile that touches it draws a bonus card."
    for number, coat in enumerate(c.coats):
        if coat == cell and int(g.coats[seat]) >> number & 1:
            return "A coat of arms: cover it to win it; coats pay for board actions."
    row, column = divmod(cell, _SIZE)
    built = int(g.built[seat])
    in_row = _SIZE - sum(built >> (_SIZE * row + i) & 1 for i in range(_SIZE))
    in_column = _SIZE - sum(built >> (_SIZE * i + column) & 1 for i in range(_SIZE))
    text = f"An empty cell: its row needs {pluralize(in_row, 'more cell')}, its column {in_column}."
    if game.config.dry_roads and cell in c.crosswalks:
        text = "A cell next to a crosswalk: connect all four of them with tiles for a bonus card."
    return text


_MOVES = (a.MOVE_1_TO_6, a.MOVE_1_TO_5, a.MOVE_BACK)
_WILDS = (a.ONE_WILD_TILE, a.TWO_WILD_TILES)
#: Board actions that can be used before the move, before drawing or building, and before END.
_ANY_TIME = (*_WILDS, a.TWO_POINTS, a.MOVE_SUPERSTRUCTURE)
_PENDING = ("PAY", "PLACE", "WILD", "LIFT", "ROOF", "DISCARD")


def task(game: HelsinkiGame) -> str:
    """Return a sentence that states what the acting seat has to do."""
    c, g = game.config.component_set, game.state
    phase = str(game.phase)
    if phase == "PAY":
        color = COLORS[c.card_color(int(g.card))]
        if g.substitute:
            return f"Pay one card that is neither {color} nor wild."
        return f"Pay {pluralize(int(g.to_pay), 'more card')} for the pavilion: {color} or wild."
    if phase == "MAIN" and g.only_build:
        return "Build a pavilion now: a board action was paid for it."
    if phase == "MOVE" and g.move:
        return f"Move your token 4 to {int(g.move)} spaces, as paid for."
    if phase == "DISCARD":
        over = int(g.hand[g.seat].sum()) - c.hand_limit
        return f"Discard {pluralize(over, 'card')}: the hand limit is {c.hand_limit}."
    return {
        "START": "Choose the space on which your token starts.",
        "MOVE": "Move your token first: 1 to 3 spaces clockwise.",
        "MAIN": "Draw the two cards next to your token, or build with a card of your hand.",
        "PLACE": "Place the tile on your board.",
        "WILD": "Put the wild tile on an empty cell next to your tiles.",
        "LIFT": "Choose the superstructure to move.",
        "ROOF": "Put the superstructure on a free roof.",
        "END": "Use a board action, or end the turn.",
    }[phase]


def why_not(game: HelsinkiGame, spot: str) -> str:
    """Explain why the acting seat cannot use a spot of the picture; return an empty text if no reason applies.

    The spot must not belong to a legal action (`render.svg`).
    """
    name, values = spot_parts(spot)
    reasons = {"space": _space, "slot": _slot, "card": _card, "action": _action}
    if name in reasons and values:
        return reasons[name](game, values[0])
    if name == "draw":
        return _slot(game, -1)
    if name == "cell" and len(values) == 2:
        return _why_cell(game, *values)
    if name == "kind" and str(game.phase) == "MAIN":
        return "A pavilion is built with a card: choose the card in your hand that shows this tile."
    if name == "now":
        return f"The turn cannot end now. {task(game)}"
    if name in ("board", "seat") and values and values[0] != game.seat:
        return "This is another player's board; you build on your own."
    if name == "discard":
        return "You cannot take cards from the discard pile."
    return task(game)


def _space(game: HelsinkiGame, space: int) -> str:
    g = game.state
    if str(game.phase) != "MOVE":
        if str(game.phase) in _PENDING:
            return task(game)
        return "Your token has moved in this turn; it moves once."
    steps = (space - int(g.token[g.seat])) % 8
    if steps == 0:
        return "Your token stands here, and it must move."
    if g.move:
        return f"You paid for a move of 4 to {int(g.move)} spaces, and this space is {steps} away."
    c = game.config.component_set
    longer = [label_of(c, one) for one in _MOVES[:2] if c.strengths[one] >= steps and one not in game.config.covered]
    if longer:
        return f"This space is {steps} spaces away: more than 3 needs the board action {' or '.join(longer)}."
    return f"This space is {steps} spaces away, clockwise: a move has 1 to 3 spaces."


def _slot(game: HelsinkiGame, slot: int) -> str:
    g, phase = game.state, str(game.phase)
    if phase == "MAIN" and not g.only_build:
        token = int(g.token[g.seat])
        return f"You draw the two cards next to your token: those of places {(token - 1) % 8} and {token}."
    if phase == "END":
        return (
            "You have built in this turn: a turn has either drawing or building."
            if g.has_built
            else "You have drawn in this turn already."
        )
    return task(game)


def _card(game: HelsinkiGame, card: int) -> str:
    c, g, phase = game.config.component_set, game.state, str(game.phase)
    if phase == "MAIN":
        return _build(game, card)
    if phase == "PAY":
        color = COLORS[c.card_color(int(g.card))]
        wild = card == c.wild_type
        if g.substitute:
            return task(game)
        if not wild and c.card_color(card) != c.card_color(int(g.card)):
            return f"The pavilion is {color}: pay with {color} or wild cards."
        if all(game.actions.decode(one)[0] != a.KIND_PAY for one in game.legal_actions().tolist()):
            return "Your cards alone do not pay for this pavilion: use a board action first."
    if phase in ("PAY", "DISCARD"):
        return "Cards are chosen in the order of the hand: undo, and choose this card first."
    if phase == "END":
        wanted = a.SECOND_PAVILION if g.has_built else a.DRAW_AND_BUILD
        done = "built" if g.has_built else "drawn"
        return f"You have {done} in this turn: building now needs the board action {label_of(c, wanted)}."
    return task(game)


def _build(game: HelsinkiGame, card: int) -> str:
    """Explain why the tile of a card in hand cannot be built."""
    c, t, g = game.config.component_set, game.config.tables[0], game.state
    if card == c.wild_type:
        return "A wild card starts no pavilion: it only pays for one."
    color, roofs, number = COLORS[c.card_color(card)], c.card_roofs(card), c.card_number(card)
    kind = np.int64(t.kind[card])
    if g.supply[kind] == 0:
        return f"No {color} tile with {roofs} roofs is left in the supply."
    usable = np.int64(usable_actions(t, g, g.seat))
    same, wild, others = (int(one) for one in hand_by_color(t, g, g.seat, np.int64(c.card_color(card))))
    pay = int(coats_to_pay(t, np.int64(same - 1 + wild), np.int64(others), np.int64(number - 1), usable))
    coats = int(g.meadow[g.seat])
    if pay > coats:
        return f"This pavilion costs {number} {color} or wild cards, and you have {same + wild}."
    place = int(coats_to_place(t, g, kind, usable))
    if place > coats:
        side = SIDES[int(g.token[g.seat]) // 2]
        elsewhere = bool(fits_elsewhere(t, g, kind)) and place == NEVER
        more = f"; {label_of(c, a.ANY_SIDE)} would help" if elsewhere and a.ANY_SIDE not in game.config.covered else ""
        return f"A {color} tile with {roofs} roofs does not fit from the {side}, where your token stands{more}."
    return f"Payment and placement together need {pluralize(pay + place, 'coat')}, and you have {coats}."


def _action(game: HelsinkiGame, action: int) -> str:
    c, g = game.config.component_set, game.state
    label, cost, coats = label_of(c, action), c.costs[action], int(g.meadow[g.seat])
    if int(g.covered) >> action & 1:
        return f"{label} is covered in this game, so no player may use it."
    if int(g.denied[g.seat]) >> action & 1:
        return f"{label} is denied to you in this game."
    if int(g.used[g.seat]) >> action & 1:
        return f"You have used {label}: each player can use each board action once per game."
    if coats < cost:
        return f"{label} costs {cost_text(cost)}, and you have {coats if coats else 'none'} in your meadow."
    return _timing(game, action, label)


def _timing(game: HelsinkiGame, action: int, label: str) -> str:
    """Explain why an affordable board action cannot be used in this phase."""
    c, t, g, phase = game.config.component_set, game.config.tables[0], game.state, str(game.phase)
    if phase == "START":
        return task(game)
    if action in _MOVES:
        if phase == "MOVE":
            return "You have paid for a longer move already."
        return f"{label} replaces the normal move, so it is used before you move."
    if action in _ANY_TIME:
        return _any_time(game, action)
    if action == a.EXTRA_CARD:
        if phase == "MAIN" and not g.only_build:
            return f"Draw pile and discard pile together have fewer than {2 + c.strengths[action]} cards."
        return f"{label} is used instead of a normal draw, after the move."
    if action == a.NO_HAND_LIMIT:
        return f"{label} is used when a draw exceeds {c.hand_limit} cards, before the first discard."
    if action == a.EXTRA_SUPERSTRUCTURE:
        if phase != "END" or not g.has_built:
            return f"{label} is used after a build, for the tile just built."
        if g.superstructure_supply == 0:
            return "No superstructure is left in the supply."
        return "The tile just built has no free roof."
    if action in (a.SECOND_PAVILION, a.DRAW_AND_BUILD):
        wants_build = action == a.SECOND_PAVILION
        if phase != "END" or bool(g.has_built) != wants_build:
            return f"{label} is used after {'building' if wants_build else 'drawing'}."
        return "With the coats that would be left, you can build none of your cards."
    if action == a.ANY_SIDE:
        if phase == "PLACE" and not fits_elsewhere(t, g, np.int64(t.kind[g.card])):
            return "The tile fits from no other side."
        return f"{label} is used while you place a tile."
    if phase != "PAY" or g.paid_count or g.substitute:
        return f"{label} is used while you pay for a pavilion, before the first card."
    if action == a.ANY_CARD_AS_WILD and not int(hand_by_color(t, g, g.seat, np.int64(t.colour[g.card]))[2]):
        return "You have no card of another color to pay with."
    return f"After {label}, you could not complete this pavilion with your cards and coats."


def _any_time(game: HelsinkiGame, action: int) -> str:
    t, g, phase = game.config.tables[0], game.state, str(game.phase)
    if phase in _PENDING or (phase == "MOVE" and g.move) or (phase == "MAIN" and g.only_build):
        return f"Finish the step in progress first. {task(game)}"
    if action in _WILDS:
        if g.wild_supply == 0:
            return "No wild tile is left in the supply."
        if not wild_cells(t, g, g.seat):
            return "A wild tile must touch one of your tiles, and there is no such empty cell."
    if action == a.MOVE_SUPERSTRUCTURE and not can_move_superstructure(t, g, g.seat):
        if not g.superstructures[g.seat]:
            return "You have no superstructure to move."
        return "There is no other free roof for a superstructure."
    return task(game)


def _why_cell(game: HelsinkiGame, seat: int, cell: int) -> str:
    t, g, phase = game.config.tables[0], game.state, str(game.phase)
    if seat != game.seat:
        return "This is another player's board; you build on your own."
    built, statue = int(g.built[seat]) >> cell & 1, cell == game.config.component_set.statue
    stands = int(g.superstructures[seat]) >> cell & 1
    if phase == "WILD":
        if built:
            return "This cell is filled: put a wild tile on an empty one."
        return "A wild tile must touch one of your pavilion or wild tiles."
    if phase == "LIFT":
        return "No superstructure stands here."
    if phase == "ROOF":
        return _roof(game, cell, bool(built), statue, bool(stands), int(last_tile(t, g, seat)) >> cell & 1 == 1)
    if phase == "PLACE":
        if built:
            return "This cell is filled."
        return "No lane takes the tile here: it slides in until something stops it."
    if phase == "MAIN":
        return "Choose a card of your hand first; then you place its tile."
    return task(game)


def _roof(game: HelsinkiGame, cell: int, built: bool, statue: bool, stands: bool, on_last: bool) -> str:
    if statue:
        return "The statue carries no superstructure."
    if not built:
        return "There is no roof here: a superstructure needs a tile."
    if stands:
        return "A superstructure stands here already."
    if int(game.state.lifted) == cell:
        return "A superstructure moves to another roof, not back."
    if not on_last and game.state.lifted < 0:
        return "Put these superstructures on the tile just built."
    return "Roofs are chosen row by row: undo, and choose this roof first."
