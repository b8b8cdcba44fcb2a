"""Features of a Copenhagen position for a network (`helsinki_env.agents.net.features`).

Codes are one-hot and counts are unary, so that a linear layer can use them. All seats have the same features, so that
they can share an encoder.

Look-ahead features describe what a seat could take and construct in its next turn, which is hard for a network to
compute. With the current hand, the heuristic values the cards of the display, each tile and its best position.
Opponents' actions in between are ignored.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.base import Int64Array
from helsinki_env.agents.copenhagen.board_view import white_gain
from helsinki_env.agents.copenhagen.decide import best_pair
from helsinki_env.agents.copenhagen.hand import ability_price, best_build, build_value, hand_value
from helsinki_env.agents.copenhagen.heuristic_api import expected_points
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.agents.net import features
from helsinki_env.agents.net.features import FeatureSpec, GameFeatures, lead_of, to_int8
from helsinki_env.engine.bits import lowest_bit
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import observe
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.bits import supported
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, COLUMNS, DISPLAY, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.observation import LAYOUT, SEAT_FACTS, TABLE_FACTS
from helsinki_env.games.copenhagen.state import GAME, MAX_SEATS

_CELLS = ROWS * COLUMNS
_COLORS, _ABILITIES = len(COLORS), len(ABILITIES)
_STEPS = 8
_HELD = 10  # largest unary count of cards in another seat's hand
_MOST_OF_COLOUR = 7
_GOAL = 12
#: Expected points are encoded in halves, turns in quarters, gains in eighths of a point.
_WORTH_UNIT, _TURN_UNIT, _GAIN_UNIT = 2.0, 4.0, 8.0
_PAIRS, _KINDS = DISPLAY - 1, _COLORS * len(TILE_SIZES)


def seat_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the features of one seat, in order."""
    return (
        FeatureSpec("tiles by colour", _CELLS * (_COLORS + 1)),
        FeatureSpec("bricks", _CELLS),
        FeatureSpec("coats", _CELLS),
        FeatureSpec("coats beside rows", ROWS),
        FeatureSpec("empty cells by row", ROWS * (COLUMNS + 1)),
        FeatureSpec("empty cells by column", COLUMNS * (ROWS + 1)),
        FeatureSpec("rows with a brick", ROWS),
        FeatureSpec("columns with a brick", COLUMNS),
        FeatureSpec("cards in hand, at least", _HELD),
        FeatureSpec("present", 1),
        FeatureSpec("points", 1, 6.0),
        FeatureSpec("points, at least", _GOAL),
        FeatureSpec("expected points", 1, 5.0 * _WORTH_UNIT),
        FeatureSpec("lead in expected points", 1, 2.0 * _WORTH_UNIT),
        FeatureSpec("owned", _ABILITIES),
        FeatureSpec("used", _ABILITIES),
        FeatureSpec("denied", _ABILITIES),
        FeatureSpec("known cards", types, 3.0),
    )


def next_turn_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the look-ahead features of a seat, in order; they follow the other features of the seat."""
    gain = 2.0 * _GAIN_UNIT
    return (
        FeatureSpec("gain of taking, by first card", _PAIRS, gain),
        FeatureSpec("gain of constructing, by tile", _KINDS, gain),
        FeatureSpec("can construct, by tile", _KINDS),
        FeatureSpec("gain of placing, by tile", _KINDS, gain),
        FeatureSpec("gain of placing next to its color, by tile", _KINDS, gain),
        FeatureSpec("plans by color", _COLORS, gain),
        FeatureSpec("plans by color with one more card", _COLORS, gain),
        FeatureSpec("gain of a white tile", 1, gain),
        FeatureSpec("gain of both actions", 1, gain),
        FeatureSpec("gain of the next turn", 1, gain),
        FeatureSpec("lead in expected points after the next turn", 1, 2.0 * _WORTH_UNIT),
    )


def table_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the features of the table and of the viewer's private information, in order."""
    return (
        FeatureSpec("hand", types, 3.0),
        FeatureSpec("hand, at least", types * _MOST_OF_COLOUR),
        FeatureSpec("display", DISPLAY * (_COLORS + 1)),
        FeatureSpec("display by colour", _COLORS, 2.0),
        FeatureSpec("players", 3),
        FeatureSpec("turn order", MAX_SEATS),
        FeatureSpec("round", 1, 10.0),
        FeatureSpec("turns left", 1, 4.0 * _TURN_UNIT),
        FeatureSpec("draw pile", 1, 25.0),
        FeatureSpec("draw pile nearly empty, at most", _STEPS),
        FeatureSpec("End of Game card to come", 1),
        FeatureSpec("white tiles", 1, 10.0),
        FeatureSpec("tile supply", _COLORS * len(TILE_SIZES), 2.0),
        FeatureSpec("discard", types, 5.0),
        FeatureSpec("reshuffled", types, 5.0),
    )


_TAKING, _CONSTRUCTING, _CAN_CONSTRUCT, _PLACING, _TOUCHING = range(5)
_PLANS, _PLANS_MORE, _WHITE, _BOTH, _GAIN, _LEAD = range(5, 11)
_SEAT_PARTS = len(seat_parts(0))
_AT = {piece.name: piece.start for piece in LAYOUT.fields}
_BOARDS, _ROW_COATS, _SEATS, _TABLE = (_AT[name] for name in ("boards", "row_coats", "seats", "table"))
_OWNED, _USED, _DENIED, _SUPPLY = (_AT[name] for name in ("abilities", "used", "denied", "tile_supply"))
_DISPLAY, _HAND, _KNOWN = (_AT[name] for name in ("display", "hand", "known"))
_DISCARD, _RESHUFFLED = _AT["discard"], _AT["reshuffled"]
_PER_BOARD, _PER_SEAT = LAYOUT["boards"].size // MAX_SEATS, len(SEAT_FACTS)
_HAND_SIZE, _POINTS = SEAT_FACTS.index("hand_size"), SEAT_FACTS.index("points")
_PLAYERS, _SEAT, _ROUND, _PILE, _END_CARD, _WHITES = (
    TABLE_FACTS.index(name) for name in ("players", "turn_order", "round", "draw_pile", "end_card", "white_tiles")
)


@kernel
def _write_board(obs, board, at, out):
    """Write the tiles, coats and lines of the board at offset `board` of the observation."""
    for cell in range(_CELLS):
        tile = np.int64(obs[board + cell])
        if tile:
            out[at[0] + _CELLS * (tile - 1) + cell] = 1
        out[at[1] + cell] = obs[board + 2 * _CELLS + cell]
        out[at[2] + cell] = obs[board + 3 * _CELLS + cell]
    for y in range(ROWS):
        first = board + COLUMNS * y
        _write_line(obs, range(first, first + COLUMNS), out, at[4] + (COLUMNS + 1) * y, at[6] + y)
    for x in range(COLUMNS):
        _write_line(obs, range(board + x, board + _CELLS, COLUMNS), out, at[5] + (ROWS + 1) * x, at[7] + x)


@kernel
def _write_line(obs, cells, out, empties, bricked):
    """Write the number of empty cells of a line as a one-hot code at `empties`, and whether it has a brick."""
    empty, brick = 0, 0
    for cell in cells:
        empty += obs[cell] == 0
        brick |= obs[2 * _CELLS + cell]
    out[empties + empty] = 1
    out[bricked] = brick


@kernel
def _write_seat(obs, turn, at, out):
    """Write the `seat_parts` of a seat, except the expected points; `at` holds the feature offsets."""
    facts = _SEATS + _PER_SEAT * turn
    _write_board(obs, _BOARDS + _PER_BOARD * turn, at, out)
    for y in range(ROWS):
        out[at[3] + y] = obs[_ROW_COATS + ROWS * turn + y]
    for step in range(_HELD):
        out[at[8] + step] = obs[facts + _HAND_SIZE] > step
    out[at[9]] = 1
    out[at[10]] = obs[facts + _POINTS]
    for step in range(_GOAL):
        out[at[11] + step] = obs[facts + _POINTS] > step
    for ability in range(_ABILITIES):
        out[at[14] + ability] = obs[_OWNED + _ABILITIES * turn + ability]
        out[at[15] + ability] = obs[_USED + _ABILITIES * turn + ability]
        out[at[16] + ability] = obs[_DENIED + _ABILITIES * turn + ability]
    for colour in range(_COLORS):
        out[at[17] + colour] = obs[_KNOWN + _COLORS * turn + colour]


@kernel
def _write_table(obs, drawn, at, out):
    """Write the `table_parts`, except the turns left; cards in `drawn`, a set of slots, are left blank."""
    for colour in range(_COLORS):
        held = obs[_HAND + colour]
        out[at[0] + colour] = held
        for step in range(_MOST_OF_COLOUR):
            out[at[1] + _MOST_OF_COLOUR * colour + step] = held > step
        out[at[13] + colour] = obs[_DISCARD + colour]
        out[at[14] + colour] = obs[_RESHUFFLED + colour]
    for slot in range(DISPLAY):
        card = 0 if (drawn >> slot) & 1 else np.int64(obs[_DISPLAY + slot])
        out[at[2] + (_COLORS + 1) * slot + card] = 1
        if card:
            out[at[3] + card - 1] += 1
    out[at[4] + np.int64(obs[_TABLE + _PLAYERS]) - 2] = 1
    out[at[5] + np.int64(obs[_TABLE + _SEAT])] = 1
    out[at[6]] = obs[_TABLE + _ROUND]
    out[at[8]] = obs[_TABLE + _PILE]
    for step in range(_STEPS):
        out[at[9] + step] = obs[_TABLE + _PILE] <= 2 * step
    out[at[10]] = obs[_TABLE + _END_CARD]
    out[at[11]] = obs[_TABLE + _WHITES]
    for kind in range(_COLORS * len(TILE_SIZES)):
        out[at[12] + kind] = obs[_SUPPLY + kind]


@kernel
def _gain(value):
    return to_int8(_GAIN_UNIT * value)


@kernel
def _write_placements(t, w, g, v, seat, at, out):
    """Write the gains from placing tiles that are not paid for, and from the best white tile."""
    for kind in range(_KINDS):
        if g.supply[kind] > 0:
            for touching in range(2):
                if v.place[kind, touching] >= 0:
                    out[at[_PLACING + touching] + kind] = _gain(v.best[kind, touching])
    best = 0.0
    if g.white_tiles > 0:
        cells = supported(np.int64(g.filled[seat]))
        while cells:
            best = max(best, white_gain(t, w, v, lowest_bit(cells)))
            cells &= cells - 1
    out[at[_WHITE]] = _gain(best)


@kernel
def _take(t, p, w, g, v, usable, held, at, out):
    """Write the gains from taking cards, without and with construction in the same turn; return the largest."""
    best, slot, second = 0.0, np.int64(-1), np.int64(-1)
    for first in range(_PAIRS):
        if g.display[first] >= 0:
            value, with_it = best_pair(t, w, g, v, first, usable)
            if with_it >= 0:
                out[at[_TAKING] + first] = _gain(value - held)
                if slot < 0 or value - held > best:
                    best, slot, second = value - held, np.int64(first), with_it
    if slot >= 0 and (usable >> a.BOTH_ACTIONS) & 1:
        first = np.int64(g.display[slot])
        v.hand[first] += 1
        v.hand[second] += 1
        value = best_build(t, p, w, g, v, usable)
        v.hand[second] -= 1
        v.hand[first] -= 1
        if value > ILLEGAL_VALUE:
            gain = value + w.tempo * v.later - ability_price(w, v, a.BOTH_ACTIONS) - held
            out[at[_BOTH]] = _gain(gain)
            best = max(best, gain)
    return best


@kernel
def write_next_turn(t, p, w, g, v, seat, at, out):
    """Write the `next_turn_parts`, except the lead; return the gain from the best next turn, in points.

    `v`: the seat's view after `expected_points`. `at`: feature offsets, in order. `out`: features of the seat.
    """
    if g.done:
        return 0.0
    held, usable = hand_value(w, v), np.int64(g.owned[seat]) & ~np.int64(g.used[seat])
    _write_placements(t, w, g, v, seat, at, out)
    for colour in range(_COLORS):
        out[at[_PLANS] + colour] = _gain(v.later * v.plan[colour, v.hand[colour]])
        out[at[_PLANS_MORE] + colour] = _gain(v.later * v.plan[colour, v.hand[colour] + 1])
    best = _take(t, p, w, g, v, usable, held, at, out)
    for kind in range(_KINDS):
        if g.supply[kind] > 0:
            value = build_value(t, p, w, v, kind, usable)
            if value > ILLEGAL_VALUE:
                out[at[_CONSTRUCTING] + kind] = _gain(value - held)
                out[at[_CAN_CONSTRUCT] + kind] = 1
                best = max(best, value - held)
    out[at[_GAIN]] = _gain(best)
    return best


@kernel
def write_features(ws, g, viewer, drawn, seat_at, table_at, seats, table):
    """Write the features of a game, as `viewer` sees it at the end of its turn, to zeroed int8 arrays (P, S) and (G,).

    `drawn`: set of slots whose cards were revealed in this turn; these slots are emptied. The next turn's gains are
    written only if `seat_at` has offsets for them.
    """
    t, p = ws.tables[0], ws.pieces[0]
    players = np.int64(g.players)
    next_turn = _SEAT_PARTS if len(seat_at) > _SEAT_PARTS + 1 else np.int64(0)
    observe(t, g, viewer, ws.seen)
    for slot in range(DISPLAY):
        if (drawn >> slot) & 1:
            g.display[slot] = -1
    for turn in range(players):
        seat = (viewer + turn) % players
        _write_seat(ws.seen, turn, seat_at, seats[turn])
        w, v = ws.weights[seat], ws.views[seat]
        ws.shares[turn] = expected_points(t, p, w, g, seat, v)
        if next_turn:
            gain = write_next_turn(t, p, w, g, v, seat, seat_at[next_turn:], seats[turn])
            ws.worths[turn] = ws.shares[turn] + gain
        seats[turn, seat_at[12]] = to_int8(_WORTH_UNIT * ws.shares[turn])
    for turn in range(players):
        seats[turn, seat_at[13]] = to_int8(_WORTH_UNIT * lead_of(ws.shares, turn, players))
        if next_turn:
            seats[turn, seat_at[next_turn + _LEAD]] = to_int8(_WORTH_UNIT * lead_of(ws.worths, turn, players))
    _write_table(ws.seen, drawn, table_at, table)
    table[table_at[7]] = to_int8(_TURN_UNIT * ws.views[viewer].turns)


@kernel
def apply_and_track_reveals(t, g, action, drawn):
    """Apply an action and return `drawn` with the slot of a taken card added, whose refill is unknown."""
    if t.offset[a.KIND_TAKE] <= action < t.offset[a.KIND_TAKE] + DISPLAY:
        drawn |= np.int64(1) << (action - t.offset[a.KIND_TAKE])
    apply_action(t, g, action)
    return drawn


@kernel
def is_view_current(w, g, seat, v):
    """Return False, because views detect changed boards themselves (`helsinki_env.agents.copenhagen.board_view`)."""
    return False


def _groups(types: int) -> Int64Array:
    """Group actions by kind for the network; each use and each choice of an ability is a separate group."""
    group = np.array(a.KIND_OF, np.int64)
    more = len(a.KINDS)
    for kind in (a.KIND_USE, a.KIND_ABILITY):
        group[a.KIND_OFFSETS[kind] : a.KIND_OFFSETS[kind] + _ABILITIES] = more + np.arange(_ABILITIES)
        more += _ABILITIES
    return group


def _interface(types: int) -> dict[str, str]:
    return {"actions": repr((a.KIND_SIZES, a.KIND_OFFSETS)), "observation": LAYOUT.markdown()}


features.apply_and_track_reveals.implements(GAME, apply_and_track_reveals)
features.write_features.implements(GAME, write_features)
features.is_view_current.implements(GAME, is_view_current)

FEATURES = GameFeatures(
    types=lambda config: _COLORS,
    seat_parts=seat_parts,
    next_turn_parts=next_turn_parts,
    table_parts=table_parts,
    groups=_groups,
    interface=_interface,
    layout=lambda types: LAYOUT,
    score_unit=4.0,
    score_middle=8.0,
)
