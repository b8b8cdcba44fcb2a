"""Features of a Helsinki position for a network (`helsinki_env.agents.net.features`).

Codes are one-hot and counts are unary, so that a linear layer can use them. All seats have the same features, so that
they can share an encoder.

Look-ahead features describe what a seat could draw, build and use in its next turn, which is hard for a network to
compute. With the current hand, the heuristic values drawing next to each space, building from each side, and the board
actions that add to the board. Opponents' actions in between are ignored.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.base import Int64Array
from helsinki_env.agents.helsinki.board import best_roof, best_wilds, roofs_worth, wilds_gain, worst_roof
from helsinki_env.agents.helsinki.board_view import first_reachable_side, is_view_current
from helsinki_env.agents.helsinki.cards import analyze_cards, best_build, draw_value, hand_value
from helsinki_env.agents.helsinki.heuristic_api import expected_points
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.agents.net import features
from helsinki_env.agents.net.features import (
    CanonicalOrientation,
    FeatureSpec,
    GameFeatures,
    lead_of,
    offsets_for_types,
    to_int8,
    view_of,
)
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import observe
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.build import free_roofs, last_tile
from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.observation import PLANES, SEAT_FACTS, TABLE_FACTS, observation_layout
from helsinki_env.games.helsinki.state import LAYOUTS, MAX_SEATS

_COLORS = len(COLORS)
#: Gains are encoded in eighths of a point.
_UNIT = 8.0
#: Reach of a token without spending a coat of arms: number of spaces, and number of sides of these spaces.
_SPACES, _SIDES = 3, 2
_DRAWING, _BUILDING, _CAN_BUILD, _PLANS, _ACTIONS, _GAIN, LEAD = range(7)


def next_turn_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the look-ahead features of a seat, in order; they follow the other features of the seat."""
    return (
        FeatureSpec("gain of drawing, by space from the token on", 8, 2.0 * _UNIT),
        FeatureSpec("gain of building, by side from the token on", 4, 2.0 * _UNIT),
        FeatureSpec("can build, by side from the token on", 4),
        FeatureSpec("plans by colour", _COLORS, 2.0 * _UNIT),
        FeatureSpec("gain of wild tiles and superstructures", 4, 2.0 * _UNIT),
        FeatureSpec("gain of the next turn", 1, 2.0 * _UNIT),
        FeatureSpec("lead in expected points after the next turn", 1, 4.0),  # in halves, like the current lead
    )


@kernel
def _write_actions(t, w, g, v, seat, begin, out):
    """Write the gains, before costs, from board actions that add tiles or superstructures to the board."""
    if (v.usable >> a.ONE_WILD_TILE) & 1 or (v.usable >> a.TWO_WILD_TILES) & 1:
        one, two = best_wilds(t, w, v)
        for place, action in enumerate((a.ONE_WILD_TILE, a.TWO_WILD_TILES)):
            if (v.usable >> action) & 1:
                number = min(t.strengths[action], np.int64(g.wild_supply))
                if number > 0:
                    out[begin + place] = to_int8(_UNIT * max(0.0, wilds_gain(t, w, v, number, one, two)))
    if (v.usable >> a.EXTRA_SUPERSTRUCTURE) & 1 and g.tile_count[seat] > 0:
        number = min(t.strengths[a.EXTRA_SUPERSTRUCTURE], np.int64(g.superstructure_supply))
        gain = roofs_worth(t, v, last_tile(t, g, seat) & ~v.standing, number, w.roof * v.later)
        out[begin + 2] = to_int8(_UNIT * max(0.0, gain))
    if (v.usable >> a.MOVE_SUPERSTRUCTURE) & 1 and v.standing:
        best, _ = best_roof(t, v, free_roofs(t, g, seat))
        worst, _ = worst_roof(t, v, v.standing)
        out[begin + 3] = to_int8(_UNIT * max(0.0, best - worst))


@kernel
def write_next_turn(t, p, w, g, v, seat, at, out):
    """Write the `next_turn_parts`, except the lead; return the gain from the best next turn, in points.

    `v`: the seat's view after `expected_points`. `at`: feature offsets, in order. `out`: features of the seat.
    """
    token = np.int64(g.token[seat])
    if token < 0 or g.done:
        return 0.0
    first = first_reachable_side(token)
    held = hand_value(t, p, w, g, v, first)
    if v.later > 0.0:
        for colour in range(v.colours):
            plan = at[_PLANS] + np.int64(t.colour[v.held[v.begins[colour]]])
            out[plan] = to_int8(_UNIT * (v.plans[colour] * v.later))
    best = 0.0
    analyze_cards(t, p, w, g, v, first)
    for turn in range(4):
        value, card = best_build(t, p, w, g, v, (first + turn) % 4, first, v.meadow, ILLEGAL_VALUE)
        if card >= 0:
            out[at[_BUILDING] + turn] = to_int8(_UNIT * (value - held))
            out[at[_CAN_BUILD] + turn] = 1
            if turn < _SIDES:
                best = max(best, value - held)
    for ahead in range(8):
        gain = draw_value(t, p, w, g, v, (token + 1 + ahead) % 8) - held
        out[at[_DRAWING] + ahead] = to_int8(_UNIT * gain)
        if ahead < _SPACES:
            best = max(best, gain)
    _write_actions(t, w, g, v, seat, at[_ACTIONS], out)
    out[at[_GAIN]] = to_int8(_UNIT * best)
    return best


_STEPS = 8
#: Lines of a board: seven rows, then seven columns.
_LINES = 14
#: One-hot features of a card: none, five colors and wild, number 1 to 6, superstructures 0 to 2, roofs 2 to 5.
_CARD = 1 + (_COLORS + 1) + 6 + 3 + 4
_MOST_OF_COLOUR = 7
#: Expected points are encoded in halves, turns in quarters.
_WORTH_UNIT, _TURN_UNIT = 2.0, 4.0


def seat_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the features of one seat, in order."""
    return (
        FeatureSpec("built", 49),
        FeatureSpec("superstructures", 49),
        FeatureSpec("coats", 49),
        FeatureSpec("empty cells by line", _LINES * 8),
        FeatureSpec("token", 8),
        FeatureSpec("spaces ahead of the viewer", 8),
        FeatureSpec("cards in hand, at least", _STEPS),
        FeatureSpec("coats in the meadow, at least", _STEPS),
        FeatureSpec("present", 1),
        FeatureSpec("points", 1, 10.0),
        FeatureSpec("bonus points", 1, 5.0),
        FeatureSpec("limit lifted", 1),
        FeatureSpec("unseen draws", 1),
        FeatureSpec("expected points", 1, 5.0 * _WORTH_UNIT),
        FeatureSpec("lead in expected points", 1, 2.0 * _WORTH_UNIT),
        FeatureSpec("used", 15),
        FeatureSpec("denied", 15),
        FeatureSpec("still to be had", 15),
        FeatureSpec("known cards", types),
        FeatureSpec("known cards by colour", _COLORS + 1, 3.0),
    )


def table_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the features of the table and of the viewer's private information, in order."""
    return (
        FeatureSpec("own board by colour", 49 * _COLORS),
        FeatureSpec("hand", types),
        FeatureSpec("hand by colour, at least", (_COLORS + 1) * _MOST_OF_COLOUR),
        FeatureSpec("display, from the own token", 8 * _CARD),
        FeatureSpec("covered", 15),
        FeatureSpec("players", 3),
        FeatureSpec("turn order", MAX_SEATS),
        FeatureSpec("dry roads", 1),
        FeatureSpec("last round", 1),
        FeatureSpec("turns left", 1, 4.0 * _TURN_UNIT),
        FeatureSpec("round", 1, 10.0),
        FeatureSpec("draw pile", 1, 25.0),
        FeatureSpec("draw pile nearly empty, at most", _STEPS),
        FeatureSpec("wild tiles", 1, 6.0),
        FeatureSpec("superstructures left", 1, 15.0),
        FeatureSpec("tile supply", 4 * _COLORS, 3.0),
        FeatureSpec("bonus cards", MAX_SEATS),
        FeatureSpec("discard", types, 3.0),
        FeatureSpec("reshuffled", types, 3.0),
    )


_SEAT_PARTS = len(seat_parts(0))
_AT = observation_layout(0).starts
_SEATS, _USED, _DENIED, _COVERED = (_AT[name] for name in ("seats", "used", "denied", "covered"))
_TABLE, _SUPPLY, _BONUS, _DISPLAY, _HAND = (
    _AT[name] for name in ("table", "tile_supply", "bonus_cards", "display", "hand")
)
_PER_SEAT, _PER_BOARD = len(SEAT_FACTS), len(PLANES) * 49
_, _, _STANDING, _COATS = range(0, _PER_BOARD, 49)
_, _HAND_SIZE, _MEADOW, _TOKEN, _POINTS, _OWN_BONUS, _LIMIT, _DRAWS = range(_PER_SEAT)
_PLAYERS, _SEAT, _DRY_ROADS, _ROUND, _LAST_ROUND, _PILE, _WILDS, _ROOFS_LEFT = (
    TABLE_FACTS.index(name)
    for name in (
        "players", "turn_order", "dry_roads", "round", "last_round", "draw_pile", "wild_tiles", "superstructures",
    )
)  # fmt: skip


@kernel
def _colour_of(t, card):
    return np.int64(t.colour[card]) if t.colour[card] >= 0 else np.int64(_COLORS)


@kernel
def _write_card(t, code, out, at):
    """Write the one-hot features of a card with its code in the observation (type + 1)."""
    if code == 0:
        out[at] = 1
        return
    card = np.int64(code) - 1
    out[at + 1 + _colour_of(t, card)] = 1
    if t.colour[card] >= 0:
        out[at + _COLORS + 1 + min(6, max(1, np.int64(t.number[card])))] = 1
        out[at + _COLORS + 8 + min(2, np.int64(t.shows[card]))] = 1
        out[at + _COLORS + 11 + np.int64(t.kind[card]) % 4] = 1


@kernel
def _write_seat(t, obs, turn, at, out):
    """Write the `seat_parts` of a seat, except the expected points; `at` holds the feature offsets."""
    board, facts = _PER_BOARD * turn, _SEATS + _PER_SEAT * turn
    for cell in range(49):
        out[at[0] + cell] = obs[board + cell] > 0
        out[at[1] + cell] = obs[board + _STANDING + cell]
        out[at[2] + cell] = obs[board + _COATS + cell]
    for line in range(7):
        in_row, in_column = 0, 0
        for cell in range(7):
            in_row += obs[board + 7 * line + cell] == 0
            in_column += obs[board + 7 * cell + line] == 0
        out[at[3] + 8 * line + in_row] = 1
        out[at[3] + 8 * (7 + line) + in_column] = 1
    token, viewer = np.int64(obs[facts + _TOKEN]) - 1, np.int64(obs[_SEATS + _TOKEN]) - 1
    if token >= 0:
        out[at[4] + token] = 1
        if viewer >= 0:
            out[at[5] + (token - viewer) % 8] = 1
    for step in range(_STEPS):
        out[at[6] + step] = obs[facts + _HAND_SIZE] > step
        out[at[7] + step] = obs[facts + _MEADOW] > step
    out[at[8]] = 1
    out[at[9]] = obs[facts + _POINTS]
    out[at[10]] = obs[facts + _OWN_BONUS]
    out[at[11]] = obs[facts + _LIMIT]
    out[at[12]] = obs[facts + _DRAWS]
    for action in range(15):
        used, denied = obs[_USED + 15 * turn + action], obs[_DENIED + 15 * turn + action]
        out[at[15] + action] = used
        out[at[16] + action] = denied
        out[at[17] + action] = not (used or denied or obs[_COVERED + action])
    known = _HAND + (1 + turn) * t.types
    for card in range(t.types):
        out[at[18] + card] = obs[known + card]
        out[at[19] + _colour_of(t, card)] += obs[known + card]


@kernel
def _write_hand(t, obs, at, out):
    """Write the viewer's cards by type and by color, the discard pile and a reshuffled draw pile."""
    for card in range(t.types):
        held = obs[_HAND + card]
        out[at[1] + card] = held
        step = at[2] + _MOST_OF_COLOUR * _colour_of(t, card)
        end = step + _MOST_OF_COLOUR
        for _ in range(held):
            while step < end and out[step]:
                step += 1
            if step < end:
                out[step] = 1
        out[at[17] + card] = obs[_HAND + 5 * t.types + card]
        out[at[18] + card] = obs[_HAND + 6 * t.types + card]


@kernel
def _write_table(t, obs, drawn, at, out):
    """Write the features of the table, except the turns left. Display slots in the bit set `drawn` are left blank."""
    for cell in range(49):
        if 0 < obs[cell] <= _COLORS:
            out[at[0] + 49 * (np.int64(obs[cell]) - 1) + cell] = 1
    _write_hand(t, obs, at, out)
    token = max(0, np.int64(obs[_SEATS + _TOKEN]) - 1)
    for ahead in range(8):
        slot = (token + ahead) % 8
        _write_card(t, 0 if (drawn >> slot) & 1 else obs[_DISPLAY + slot], out, at[3] + _CARD * ahead)
    for action in range(15):
        out[at[4] + action] = obs[_COVERED + action]
    out[at[5] + np.int64(obs[_TABLE + _PLAYERS]) - 2] = 1
    out[at[6] + np.int64(obs[_TABLE + _SEAT])] = 1
    out[at[7]] = obs[_TABLE + _DRY_ROADS]
    out[at[8]] = obs[_TABLE + _LAST_ROUND]
    out[at[10]] = obs[_TABLE + _ROUND]
    out[at[11]] = obs[_TABLE + _PILE]
    for step in range(_STEPS):
        out[at[12] + step] = obs[_TABLE + _PILE] <= 2 * step
    out[at[13]] = obs[_TABLE + _WILDS]
    out[at[14]] = obs[_TABLE + _ROOFS_LEFT]
    for kind in range(4 * _COLORS):
        out[at[15] + kind] = obs[_SUPPLY + kind]
    for card in range(MAX_SEATS):
        out[at[16] + card] = obs[_BONUS + card]


@kernel
def write_features(ws, g, viewer, drawn, seat_at, table_at, seats, table):
    """Write the features of a game, as `viewer` sees it at the end of its turn, to zeroed int8 arrays (P, S) and (G,).

    `drawn`: set of slots whose cards were revealed in this turn; these slots are emptied. The next turn's gains are
    written only if `seat_at` has offsets for them.
    """
    t, p = ws.tables[0], ws.pieces[0]
    players = np.int64(g.players)
    next_turn = _SEAT_PARTS if len(seat_at) > _SEAT_PARTS + 1 else np.int64(0)
    view = view_of(ws, g, viewer)
    observe(t, g, viewer, ws.seen)
    for slot in range(8):
        if (drawn >> slot) & 1:
            g.display[slot] = -1
    for turn in range(players):
        seat = (viewer + turn) % players
        w, v = ws.weights[seat], ws.views[seat if turn else view]
        _write_seat(t, ws.seen, turn, seat_at, seats[turn])
        value = expected_points(t, p, w, g, seat, v)
        ws.shares[turn] = value
        if next_turn:
            ws.worths[turn] = value + write_next_turn(t, p, w, g, v, seat, seat_at[next_turn:], seats[turn])
        seats[turn, seat_at[13]] = to_int8(_WORTH_UNIT * value)
    for turn in range(players):
        seats[turn, seat_at[14]] = to_int8(_WORTH_UNIT * lead_of(ws.shares, turn, players))
        if next_turn:
            seats[turn, seat_at[next_turn + LEAD]] = to_int8(_WORTH_UNIT * lead_of(ws.worths, turn, players))
    _write_table(t, ws.seen, drawn, table_at, table)
    table[table_at[9]] = to_int8(_TURN_UNIT * ws.views[view].turns)


@kernel
def apply_and_track_reveals(t, g, action, drawn):
    """Apply an action; return the set of slots with revealed cards, `drawn` and new ones."""
    if action == t.offset[a.KIND_DRAW] or action == t.offset[a.KIND_USE] + a.EXTRA_CARD:
        token = np.int64(g.token[g.seat])
        drawn |= 1 << token | 1 << (token + 7) % 8
    apply_action(t, g, action)
    return drawn


def _groups(types: int) -> Int64Array:
    """Group actions by kind for the network; each board action is a separate group."""
    table = a.action_table(types)
    group = np.array(table.kind_of, np.int64)
    first = table.offsets[a.KIND_USE]
    group[first : first + 15] = len(table.sizes) + np.arange(15)
    return group


def _permute(sources: Int64Array, begin: int, piece: Int64Array) -> None:
    """Permute the entries that start at `begin` by `piece`."""
    sources[begin : begin + len(piece)] = begin + piece


def _turning(types: int) -> CanonicalOrientation:
    """Return the permutations of boards, lines and tokens for each side; the rules are symmetric (rulebook, "Setup").

    Coats of arms and crosswalks have the same quarter-turn symmetry, and tokens move in the same direction from any
    side. The display is already relative to the viewer's token.
    """
    at = offsets_for_types(FEATURES, types)
    names = [[part.name for part in parts] for parts in (seat_parts(types), table_parts(types))]
    begin = [dict(zip(part_names, where, strict=False)) for part_names, where in zip(names, at, strict=True)]
    seat, table = (np.tile(np.arange(where[-1]), (4, 1)) for where in at)
    cells, lines, spaces = np.arange(49).reshape(7, 7), np.arange(_LINES * 8).reshape(2, 7, 8), np.arange(8)
    for side in range(4):
        for name in ("built", "superstructures", "coats"):
            _permute(seat[side], begin[0][name], cells.ravel())
        _permute(seat[side], begin[0]["empty cells by line"], lines.ravel())
        _permute(seat[side], begin[0]["token"], spaces)
        for colour in range(_COLORS):
            _permute(table[side], begin[1]["own board by colour"] + 49 * colour, cells.ravel())
        # The next side becomes north, so its lines, starting from the right, become rows, starting from the north.
        cells, spaces = np.rot90(cells), np.roll(spaces, -2)
        lines = np.stack([lines[1, ::-1], lines[0]])
    return CanonicalOrientation(begin[0]["token"], np.arange(8) // 2, seat, table)


def _interface(types: int) -> dict[str, str]:
    table = a.action_table(types)
    return {"actions": repr((table.sizes, table.offsets)), "observation": observation_layout(types).markdown()}


for _layout in LAYOUTS:
    features.apply_and_track_reveals.implements(_layout, apply_and_track_reveals)
    features.write_features.implements(_layout, write_features)
    features.is_view_current.implements(_layout, is_view_current)

FEATURES = GameFeatures(
    types=lambda config: int(config.component_set.types),
    seat_parts=seat_parts,
    next_turn_parts=next_turn_parts,
    table_parts=table_parts,
    groups=_groups,
    interface=_interface,
    layout=observation_layout,
    score_unit=10.0,
    score_middle=15.0,
    turning=_turning,
)
