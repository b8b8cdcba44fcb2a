"""What the greedy player thinks, compiled: a board's worth in expected points, and what each decision adds to it.

Everything is read from the observation and the mask, one row of each; nothing here sees a game. `t` is the record of
the component file's tables, `w` the weights (`greedy.Weights`), `v` a scratch record of the dtype `VIEW`.

The worth of a board: a line (row or column) with m empty cells is taken to be full at the end with chance q^m, where q
shrinks as the game runs out, and is 0 in the last turn; so the expected score is a sum over lines and superstructures.
The gain of a tile is what it adds to that sum: each of its cells raises the chance of two lines, covers coats of arms,
and may close empty cells off from all sides.
"""

from __future__ import annotations

import numpy as np

from agents.helsinki.cells import corner_of, shadow
from helsinki_env.engine.bits import bit, count, lowest
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.bits import BOARD, COLUMN, ROW, connected, neighbours
from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.observation import PENDING_FACTS, SEAT_FACTS, TABLE_FACTS, layout
from helsinki_env.games.helsinki.shapes import NORTH, SOUTH, lanes, profile
from helsinki_env.games.helsinki.state import (
    PHASE_DISCARD,
    PHASE_END,
    PHASE_LIFT,
    PHASE_MAIN,
    PHASE_MOVE,
    PHASE_PAY,
    PHASE_PLACE,
    PHASE_ROOF,
    PHASE_WILD,
    WIDE,
)

_MOST_SHOWN = 6
NOTHING = -1e9
"""The gain of what cannot be done."""

VIEW = np.dtype(
    (
        np.record,
        [
            # the own board, cells as sets
            ("built", np.int64),
            ("standing", np.int64),  # superstructures
            ("tiles", np.int64, (len(COLOURS),)),  # pavilion tiles by colour
            ("last", np.int64),  # the tile built last
            ("coats", np.int64),  # coats of arms still lying
            ("open", np.int64, (4,)),  # empty cells that are reached from a side in a straight line
            ("reach", np.int64),  # the same from any side
            ("packed", np.int64, (4,)),  # see games.helsinki.shapes.profile
            ("height", np.int64, (4, 7)),  # empty cells before the first built one, by side and lane
            # the table
            ("token", np.int64),
            ("meadow", np.int64),
            ("usable", np.int64),  # actions that a coat could pay for
            ("display", np.int64, (8,)),  # -1: empty
            ("hand", np.int64, (WIDE,)),
            ("spare", np.int64, (WIDE,)),  # the hand, kept while a payment is tried
            ("supply", np.int64, (20,)),
            ("superstructures", np.int64),
            ("players", np.int64),
            ("road", np.float64),  # the bonus card that the crosswalks would earn; 0: none
            # judgement
            ("turns", np.float64),  # turns that are left after this one
            ("later", np.float64),  # what counts only in later turns counts so much
            ("coat", np.float64),  # what a coat is worth
            ("chance", np.float64, (2, 7, 6)),  # of rows and columns to be full, with 0 to 5 more cells built
            ("gain", np.float64, (2, 7, 6)),  # expected points of the line that these cells add
            ("hole", np.float64, (49,)),  # expected points lost when an empty cell is closed off
            ("cost", np.float64, (WIDE,)),  # what giving a card away costs
            ("plan", np.float64, (WIDE,)),  # what building a card later is expected to add
            ("planned", np.int8, (WIDE,)),
            ("tile_gain", np.float64, (20, 4, _MOST_SHOWN)),  # best placement of a kind from a side with roofs
            ("tile_known", np.int8, (20, 4, _MOST_SHOWN)),
        ],
    )
)

_AT = {piece.name: piece.start for piece in layout(0).pieces}
_BOARDS, _SEATS, _USED, _DENIED, _COVERED = (_AT[name] for name in ("boards", "seats", "used", "denied", "covered"))
_PHASE, _TABLE, _SUPPLY, _BONUS = (_AT[name] for name in ("phase", "table", "tile_supply", "bonus_cards"))
_PENDING, _BUILDING, _DISPLAY, _HAND = (_AT[name] for name in ("pending", "building", "display", "hand"))
_MEADOW = _SEATS + SEAT_FACTS.index("meadow")
_TOKEN = _SEATS + SEAT_FACTS.index("token")
_OWN_BONUS = _SEATS + SEAT_FACTS.index("bonus")
_PLAYERS = _TABLE + TABLE_FACTS.index("players")
_LAST_ROUND = _TABLE + TABLE_FACTS.index("last_round")
_PILE = _TABLE + TABLE_FACTS.index("draw_pile")
_SUPERSTRUCTURES = _TABLE + TABLE_FACTS.index("superstructures")
_TO_PAY = _PENDING + PENDING_FACTS.index("to_pay")
_ROOFS_LEFT = _PENDING + PENDING_FACTS.index("roofs_left")
_SUBSTITUTE = _PENDING + PENDING_FACTS.index("substitute")


@kernel
def _read_board(t, obs, v):
    """The own board as sets of cells."""
    v.built = 0
    v.standing = 0
    v.coats = 0
    v.tiles[:] = 0
    v.last = 0
    newest = 1
    for cell in range(49):
        here = np.int64(1) << cell
        tile = obs[_BOARDS + cell]
        if tile:
            v.built |= here
            if tile <= 5:
                v.tiles[tile - 1] |= here
                number = obs[_BOARDS + 49 + cell]
                if number > newest:
                    newest = number
                    v.last = here
                elif number == newest:
                    v.last |= here
        if obs[_BOARDS + 98 + cell]:
            v.standing |= here
        if obs[_BOARDS + 147 + cell]:
            v.coats |= here


@kernel
def _read_table(t, obs, v):
    """Token, coats, cards and supplies."""
    v.token = np.int64(obs[_TOKEN]) - 1
    v.meadow = obs[_MEADOW]
    v.usable = 0
    for action in range(15):
        if obs[_USED + action] == 0 and obs[_DENIED + action] == 0 and obs[_COVERED + action] == 0:
            v.usable |= np.int64(1) << action
    for slot in range(8):
        v.display[slot] = np.int64(obs[_DISPLAY + slot]) - 1
    for card in range(t.types):
        v.hand[card] = obs[_HAND + card]
    for kind in range(20):
        v.supply[kind] = obs[_SUPPLY + kind]
    v.superstructures = obs[_SUPERSTRUCTURES]
    v.players = obs[_PLAYERS]
    v.road = 0.0
    if obs[_OWN_BONUS] == 0:
        for card in range(4):
            if obs[_BONUS + card]:
                v.road = np.float64(t.bonus_cards[card])


@kernel
def _judge(t, w, obs, v):
    """How much of the game is left, and what lines, coats and holes are worth therefore."""
    v.turns = 0.0
    if obs[_LAST_ROUND] == 0:
        v.turns = 0.5 + np.float64(obs[_PILE]) / (w.cards_a_turn * v.players)
    v.later = v.turns / (v.turns + w.hand_patience)
    v.coat = w.coat * v.turns / (v.turns + w.coat_patience)
    for side in range(4):
        v.packed[side] = profile(v.built, side)
        v.open[side] = BOARD & ~shadow(v.built, side)
        for lane in range(7):
            path = COLUMN << lane if side in (NORTH, SOUTH) else ROW << (7 * lane)
            v.height[side, lane] = count(v.open[side] & path)
    v.reach = v.open[0] | v.open[1] | v.open[2] | v.open[3]
    q = w.cell_chance * v.turns / (v.turns + w.line_patience)
    closed = BOARD & ~v.built & ~v.reach
    for line in range(7):
        for way in range(2):
            cells = COLUMN << line if way else ROW << (7 * line)
            missing = 7 - count(v.built & cells)
            chance = 1.0
            for _ in range(count(closed & cells)):
                chance *= w.closed if v.turns > 0 else 0.0
            for _ in range(missing):
                chance *= q
            if q == 0.0:
                for more in range(6):
                    v.chance[way, line, more] = 1.0 if missing <= more else 0.0
            else:
                for more in range(6):
                    v.chance[way, line, more] = min(1.0, chance)
                    chance /= q
    _judge_lines(t, w, v)


@kernel
def _judge_lines(t, w, v):
    """What more cells in a line add: its own points and those of the superstructures that stand in it."""
    for line in range(7):
        worth_row, worth_column = np.float64(t.points_row), np.float64(t.points_column)
        for other in range(7):
            if (v.standing >> (7 * line + other)) & 1:
                crossing = t.points_crossing - 2 * t.points_line
                worth_row += t.points_line + crossing * v.chance[1, other, 0]
            if (v.standing >> (7 * other + line)) & 1:
                crossing = t.points_crossing - 2 * t.points_line
                worth_column += t.points_line + crossing * v.chance[0, other, 0]
        for more in range(6):
            v.gain[0, line, more] = (worth_row + w.room) * (v.chance[0, line, more] - v.chance[0, line, 0])
            v.gain[1, line, more] = (worth_column + w.room) * (v.chance[1, line, more] - v.chance[1, line, 0])
    for cell in range(49):
        row, column = cell // 7, cell % 7
        loss = v.chance[0, row, 0] + v.chance[1, column, 0]
        v.hole[cell] = (1.0 - w.closed) * (t.points_row + w.room) * loss + w.hole * v.later


@kernel
def _roof_value(t, v, cell, more_row, more_column):
    """Expected points of a superstructure on a cell, once so many more cells of its lines are built."""
    row, column = v.chance[0, cell // 7, more_row], v.chance[1, cell % 7, more_column]
    both = row * column
    return t.points_line * (row + column - 2.0 * both) + t.points_crossing * both


@kernel
def _gain(t, w, v, cells, rows, columns):
    """Expected points that building on these empty cells adds.

    `rows` and `columns` count the cells by line, four bits each.
    """
    total = 0.0
    for line in range(7):
        total += v.gain[0, line, (rows >> (4 * line)) & 7] + v.gain[1, line, (columns >> (4 * line)) & 7]
    if cells & v.coats:
        total += v.coat * count(cells & v.coats)
    still = np.int64(0)
    for side in range(4):
        still |= v.open[side] & ~shadow(cells, side)
    closed = v.reach & ~cells & ~still
    while closed:
        total -= v.hole[lowest(closed)]
        closed &= closed - 1
    if v.road > 0.0 and cells & t.crosswalks:
        total += w.crosswalk * v.road * v.later * count(cells & t.crosswalks)
    if v.road > 0.0:
        built = (v.built | cells) & ~t.statue
        if t.crosswalks & ~built == 0 and connected(built, t.crosswalks):
            total += v.road
    return total


@kernel
def _cell_gain(t, w, v, cell):
    return _gain(t, w, v, bit(cell), np.int64(1) << (4 * (cell // 7)), np.int64(1) << (4 * (cell % 7)))


@kernel
def _spread(cells):
    """Cells by row and by column, four bits each."""
    rows, columns = np.int64(0), np.int64(0)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        rows += np.int64(1) << (4 * (cell // 7))
        columns += np.int64(1) << (4 * (cell % 7))
    return rows, columns


@kernel
def _roofs_value(t, v, cells, rows, columns, roofs):
    """Expected points of so many superstructures on the best of these cells."""
    total = 0.0
    left = cells
    for _ in range(roofs):
        best, chosen = -1.0, np.int64(0)
        rest = left
        while rest:
            cell = lowest(rest)
            rest &= rest - 1
            value = _roof_value(t, v, cell, (rows >> (4 * (cell // 7))) & 7, (columns >> (4 * (cell % 7))) & 7)
            if value > best:
                best, chosen = value, bit(cell)
        if chosen == 0:
            break
        total += best
        left &= ~chosen
    return total


@kernel
def _best_placement(t, w, v, kind, side, roofs):
    """Return (gain, orientation and lane as in PLACE) of the best placement from a side; NOTHING if there is none."""
    best, chosen = NOTHING, np.int64(0)
    friends = v.tiles[kind // 4]
    for orientation in range(t.orientations[kind]):
        piece = 8 * kind + orientation
        legal = lanes(t, piece, side, v.packed[side])
        while legal:
            lane = lowest(legal)
            legal &= legal - 1
            corner = corner_of(t, v, piece, side, lane)
            cells = np.int64(t.roofs_mask[piece]) << corner
            rows, columns = _spread(cells)
            gain = _gain(t, w, v, cells, rows, columns)
            if friends & neighbours(cells):
                gain += w.bonus_card * v.later
            if roofs > 0:
                gain += _roofs_value(t, v, cells, rows, columns, roofs)
            if gain > best:
                best, chosen = gain, orientation * a.LANES + lane
    return best, chosen


@kernel
def _tile_gain(t, w, v, card, side):
    """Gain of the best placement of a card's tile from a side, remembered."""
    kind = np.int64(t.kind[card])
    if v.supply[kind] == 0:
        return NOTHING
    roofs = min(np.int64(t.shows[card]), v.superstructures, _MOST_SHOWN - 1)
    if not v.tile_known[kind, side, roofs]:
        gain, _ = _best_placement(t, w, v, kind, side, roofs)
        v.tile_gain[kind, side, roofs] = gain
        v.tile_known[kind, side, roofs] = 1
    return v.tile_gain[kind, side, roofs]


@kernel
def _plan(t, w, v, card):
    """What building a card in a later turn is expected to add, from whatever side is best."""
    if not v.planned[card]:
        best = 0.0
        for side in range(4):
            best = max(best, _tile_gain(t, w, v, card, side))
        v.plan[card] = best
        v.planned[card] = 1
    return v.plan[card]


@kernel
def _hand_value(t, w, v):
    """What a hand is worth for later turns: its cards, and the best thing to build in each colour."""
    if v.later == 0.0:
        return 0.0
    last = t.types - 1
    wild = v.hand[last]
    cards = wild
    best, total = 0.0, 0.0
    for colour in range(len(COLOURS)):
        begin = colour * t.variants
        held = np.int64(0)
        for card in range(begin, begin + t.variants):
            held += v.hand[card]
        if held == 0:
            continue
        cards += held
        plan = 0.0
        for card in range(begin, begin + t.variants):
            if v.hand[card] > 0:
                worth = _plan(t, w, v, card)
                for _ in range(np.int64(t.number[card]) - held - wild):
                    worth *= w.short
                plan = max(plan, worth)
        total += plan
        best = max(best, plan)
    value = w.card * min(cards, t.hand_limit) + w.wild_card * wild
    value += w.best_plan * best + w.other_plans * (total - best)
    return value * v.later


@kernel
def _judge_cards(t, w, v):
    """What giving away one card of each type in hand costs."""
    before = _hand_value(t, w, v)
    for card in range(t.types):
        if v.hand[card] > 0:
            v.hand[card] -= 1
            v.cost[card] = before - _hand_value(t, w, v)
            v.hand[card] += 1


@kernel
def _take_cheapest(t, v, begin, end, wild, number):
    """Take so many of the cheapest cards of types from `begin` to `end` (and wild ones) out of the hand.

    Return (lowest type taken, cost of the dearest, how many there were).
    """
    first, dearest, taken = int(t.types), 0.0, 0
    while taken < number:
        best, chosen = 1e9, -1
        for card in range(begin, end):
            if v.hand[card] > 0 and v.cost[card] < best:
                best, chosen = v.cost[card], card
        last = t.types - 1
        if wild and v.hand[last] > 0 and v.cost[last] < best:
            best, chosen = v.cost[last], last
        if chosen < 0:
            break
        v.hand[chosen] -= 1
        if chosen < first:
            first = chosen
        dearest = max(dearest, best)
        taken += 1
    return first, dearest, taken


@kernel
def _build_value(t, w, v, card, side, coats):
    """What building a card now is worth, with what it costs in cards and coats; NOTHING if it cannot be done.

    `coats` may be spent at most.
    """
    gain = _tile_gain(t, w, v, card, side)
    spent = 0
    if (v.usable >> a.ANY_SIDE) & 1 and coats > 0:
        for turn in range(1, 4):
            other = _tile_gain(t, w, v, card, (side + turn) % 4)
            if other - v.coat > gain - spent * v.coat:
                gain, spent = other, 1
    if gain <= NOTHING:
        return NOTHING
    number = np.int64(t.number[card]) - 1
    before = _hand_value(t, w, v)
    for held in range(t.types):
        v.spare[held] = v.hand[held]
    v.hand[card] -= 1
    begin = np.int64(t.colour[card]) * t.variants
    _, _, taken = _take_cheapest(t, v, begin, begin + t.variants, True, number)
    if taken < number and (v.usable >> a.ONE_CARD_FEWER) & 1:
        number -= 1
        spent += 1
    if taken < number and (v.usable >> a.ANY_CARD_AS_WILD) & 1:
        _, _, more = _take_cheapest(t, v, 0, t.types - 1, False, 1)
        taken += more
        spent += 1
    value = gain - spent * v.coat - (before - _hand_value(t, w, v))
    for held in range(t.types):
        v.hand[held] = v.spare[held]
    if taken < number or spent > coats:
        return NOTHING
    return value


@kernel
def _best_build(t, w, v, side, coats):
    """The best build from a side; NOTHING if there is none."""
    best = NOTHING
    for card in range(t.types - 1):
        if v.hand[card] > 0:
            best = max(best, _build_value(t, w, v, card, side, coats))
    return best


@kernel
def _draw_value(t, w, v, space):
    """What taking the two cards beside a space is worth."""
    before = _hand_value(t, w, v)
    first, second = v.display[(space + 7) % 8], v.display[space]
    if first >= 0:
        v.hand[first] += 1
    if second >= 0:
        v.hand[second] += 1
    after = _hand_value(t, w, v)
    if first >= 0:
        v.hand[first] -= 1
    if second >= 0:
        v.hand[second] -= 1
    return after - before


@kernel
def _turn_value(t, w, v, space):
    """What the rest of a turn is worth that begins by moving to a space."""
    return max(_draw_value(t, w, v, space), _best_build(t, w, v, space // 2, v.meadow))


@kernel
def _choose_start(t, w, v, mask):
    best, chosen = NOTHING, 0
    for space in range(8):
        for steps in range(1, 4):
            value = _draw_value(t, w, v, (space + steps) % 8)
            if value > best and mask[t.offset[a.KIND_START] + space]:
                best, chosen = value, t.offset[a.KIND_START] + space
    return chosen


@kernel
def _choose_move(t, w, v, mask):
    """The space with the best draw or build; a coat is spent on the move if it gains more than the coat is worth."""
    move, use = t.offset[a.KIND_MOVE], t.offset[a.KIND_USE]
    best, chosen = NOTHING, -1
    _judge_cards(t, w, v)
    for steps in range(1, 7):
        way = move + steps - 1
        price = 0.0
        if not mask[way]:
            if steps <= 5 and mask[use + a.MOVE_1_TO_5]:
                way = use + a.MOVE_1_TO_5
            elif mask[use + a.MOVE_1_TO_6]:
                way = use + a.MOVE_1_TO_6
            else:
                continue
            if steps < 4:
                continue
            price = v.coat + w.spend
            v.meadow -= 1
        value = _turn_value(t, w, v, (v.token + steps) % 8) - price
        if price > 0.0:
            v.meadow += 1
        if value > best:
            best, chosen = value, way
    if mask[use + a.MOVE_BACK]:
        v.meadow -= 1
        value = _turn_value(t, w, v, (v.token + 7) % 8) - v.coat - w.spend
        v.meadow += 1
        if value > best:
            chosen = use + a.MOVE_BACK
    return chosen


@kernel
def _choose_main(t, w, v, mask):
    """Draw or build."""
    best, chosen = NOTHING, -1
    draw, build, extra = t.offset[a.KIND_DRAW], t.offset[a.KIND_BUILD], t.offset[a.KIND_USE] + a.EXTRA_CARD
    if mask[draw]:
        best, chosen = _draw_value(t, w, v, v.token), draw
        if mask[extra] and w.extra_card * v.later > v.coat + w.spend:
            chosen = extra
    _judge_cards(t, w, v)
    for card in range(t.types - 1):
        if mask[build + card]:
            value = _build_value(t, w, v, card, v.token // 2, v.meadow)
            if value > best or chosen < 0:
                best, chosen = value, build + card
    return chosen


@kernel
def _choose_payment(t, w, v, obs, mask):
    """Pay with the cards that are missed least; with a coat if that is cheaper, or if there is no other way."""
    pay, use = t.offset[a.KIND_PAY], t.offset[a.KIND_USE]
    fewer, as_wild = use + a.ONE_CARD_FEWER, use + a.ANY_CARD_AS_WILD
    _judge_cards(t, w, v)
    floor = 0
    while floor < t.types and not mask[pay + floor]:
        floor += 1
    if floor == t.types:
        return fewer if mask[fewer] else as_wild
    if obs[_SUBSTITUTE]:
        for card in range(t.types - 1):
            v.hand[card] *= mask[pay + card]
        first, _, _ = _take_cheapest(t, v, 0, t.types - 1, False, 1)
        return pay + first
    end = np.int64(t.colour[np.int64(obs[_BUILDING]) - 1] + 1) * t.variants
    first, dearest, _ = _take_cheapest(t, v, floor, end, True, np.int64(obs[_TO_PAY]))
    if mask[fewer] and dearest > v.coat + w.spend:
        return fewer
    return pay + first


@kernel
def _choose_placement(t, w, v, obs, mask):
    """The best placement; from another side if that is worth a coat."""
    place, use = t.offset[a.KIND_PLACE], t.offset[a.KIND_USE] + a.ANY_SIDE
    card = np.int64(obs[_BUILDING]) - 1
    kind = np.int64(t.kind[card])
    roofs = min(np.int64(t.shows[card]), v.superstructures)
    v.supply[kind] = 1
    best, chosen = NOTHING, -1
    for side in range(4):
        first = place + side * a.ORIENTATIONS * a.LANES
        legal = False
        for i in range(a.ORIENTATIONS * a.LANES):
            if mask[first + i]:
                legal = True
                break
        if legal:
            gain, argument = _best_placement(t, w, v, kind, side, roofs)
            if gain > best:
                best, chosen = gain, first + argument
    if mask[use]:
        for turn in range(1, 4):
            gain, _ = _best_placement(t, w, v, kind, (v.token // 2 + turn) % 4, roofs)
            if gain - v.coat - w.spend > best:
                return use
    return chosen


@kernel
def _best_cell(t, w, v, mask, first):
    """The legal cell for a wild tile with the highest gain."""
    best, chosen = NOTHING, -1
    for cell in range(49):
        if mask[first + cell]:
            gain = _cell_gain(t, w, v, cell)
            if gain > best:
                best, chosen = gain, cell
    return chosen


@kernel
def _best_wilds(t, w, v):
    """Return the gain of the best cell for a wild tile, and that of the best pair."""
    cells = neighbours(v.built & ~t.statue) & ~v.built
    best, chosen = 0.0, -1
    rest = cells
    while rest:
        cell = lowest(rest)
        rest &= rest - 1
        gain = _cell_gain(t, w, v, cell)
        if gain > best or chosen < 0:
            best, chosen = gain, cell
    pair = best
    rest = (cells | neighbours(bit(chosen))) & ~v.built & ~bit(chosen) if chosen >= 0 else np.int64(0)
    while rest:
        both = (rest & -rest) | bit(chosen)
        rest &= rest - 1
        rows, columns = _spread(both)
        pair = max(pair, _gain(t, w, v, both, rows, columns))
    return best, pair


@kernel
def _choose_roof(t, v, obs, mask):
    """The roofs worth most, lowest cell first."""
    first = t.offset[a.KIND_ROOF]
    left = np.int64(obs[_ROOFS_LEFT])
    legal = np.int64(0)
    begin = -1
    for cell in range(49):
        if mask[first + cell]:
            if begin < 0:
                begin = cell
            legal |= bit(cell)
    if left > 1:  # the last roofs are kept for those still to come
        legal |= v.last & ~v.standing & ~(bit(begin) - 1)
    lowest_chosen = 49
    for _ in range(left):
        best, chosen = -1.0, -1
        rest = legal
        while rest:
            cell = lowest(rest)
            rest &= rest - 1
            value = _roof_value(t, v, cell, 0, 0)
            if value > best:
                best, chosen = value, cell
        if chosen < 0:
            break
        legal &= ~bit(chosen)
        if chosen < lowest_chosen:
            lowest_chosen = chosen
    return first + lowest_chosen


@kernel
def _choose_lift(t, v, mask):
    """The superstructure that is worth least where it stands."""
    first = t.offset[a.KIND_LIFT]
    worst, chosen = 1e9, -1
    for cell in range(49):
        if mask[first + cell]:
            value = _roof_value(t, v, cell, 0, 0)
            if value < worst:
                worst, chosen = value, cell
    return first + chosen


@kernel
def _choose_discard(t, w, v, mask):
    """Discard what is missed least; keep all if that is worth a coat."""
    first, keep = t.offset[a.KIND_DISCARD], t.offset[a.KIND_USE] + a.NO_HAND_LIMIT
    _judge_cards(t, w, v)
    cards = np.int64(0)
    floor = -1
    for card in range(t.types):
        cards += v.hand[card]
        if floor < 0 and mask[first + card]:
            floor = card
    due = cards - t.hand_limit
    lost = 0.0
    for card in range(t.types):
        lost = max(lost, v.cost[card])
    if mask[keep] and w.kept_card * due * v.later > v.coat + w.spend:
        return keep
    chosen, _, _ = _take_cheapest(t, v, floor, t.types, False, due)
    return first + chosen


@kernel
def _choose_end(t, w, v, mask):
    """Spend coats on what is worth more than they are, the most valuable first."""
    use = t.offset[a.KIND_USE]
    best, chosen = v.coat + w.spend * v.later, t.offset[a.KIND_END]
    again = a.SECOND_PAVILION if mask[use + a.SECOND_PAVILION] else a.DRAW_AND_BUILD
    if mask[use + again]:
        _judge_cards(t, w, v)
        v.usable &= ~(np.int64(1) << again)
        value = _best_build(t, w, v, v.token // 2, v.meadow - 1)
        if value > NOTHING and value + w.tempo * v.later > best:
            best, chosen = value + w.tempo * v.later, use + again
    if mask[use + a.ONE_WILD_TILE] or mask[use + a.TWO_WILD_TILES]:
        one, two = _best_wilds(t, w, v)
        if mask[use + a.TWO_WILD_TILES] and two > best:
            best, chosen = two, use + a.TWO_WILD_TILES
        if mask[use + a.ONE_WILD_TILE] and one > best:
            best, chosen = one, use + a.ONE_WILD_TILE
    if mask[use + a.TWO_POINTS] and t.points_two_points > best:
        best, chosen = np.float64(t.points_two_points), use + a.TWO_POINTS
    if mask[use + a.EXTRA_SUPERSTRUCTURE]:
        value = _best_roof(t, v, v.last & ~v.standing)
        if value > best:
            best, chosen = value, use + a.EXTRA_SUPERSTRUCTURE
    if mask[use + a.MOVE_SUPERSTRUCTURE]:
        value = _best_roof(t, v, v.built & ~t.statue & ~v.standing) - _worst_roof(t, v)
        if value > best:
            best, chosen = value, use + a.MOVE_SUPERSTRUCTURE
    return chosen


@kernel
def _best_roof(t, v, cells):
    best = 0.0
    while cells:
        best = max(best, _roof_value(t, v, lowest(cells), 0, 0))
        cells &= cells - 1
    return best


@kernel
def _worst_roof(t, v):
    worst = 1e9
    cells = v.standing
    while cells:
        worst = min(worst, _roof_value(t, v, lowest(cells), 0, 0))
        cells &= cells - 1
    return worst


@kernel
def choose(t, w, v, obs, mask):
    """Return the greedy decision for one observation, int8 (F,), and mask, int8 (A,)."""
    phase = 0
    while obs[_PHASE + phase] == 0:
        phase += 1
    _read_board(t, obs, v)
    _read_table(t, obs, v)
    _judge(t, w, obs, v)
    v.planned[:] = 0
    v.tile_known[:] = 0
    if phase == PHASE_MOVE:
        return _choose_move(t, w, v, mask)
    if phase == PHASE_MAIN:
        return _choose_main(t, w, v, mask)
    if phase == PHASE_PAY:
        return _choose_payment(t, w, v, obs, mask)
    if phase == PHASE_PLACE:
        return _choose_placement(t, w, v, obs, mask)
    if phase == PHASE_ROOF:
        return _choose_roof(t, v, obs, mask)
    if phase == PHASE_DISCARD:
        return _choose_discard(t, w, v, mask)
    if phase == PHASE_END:
        return _choose_end(t, w, v, mask)
    if phase == PHASE_WILD:
        return t.offset[a.KIND_WILD] + _best_cell(t, w, v, mask, t.offset[a.KIND_WILD])
    if phase == PHASE_LIFT:
        return _choose_lift(t, v, mask)
    return _choose_start(t, w, v, mask)


@kernel
def choose_batch(t, w, v, observations, masks, actions):
    """Write the greedy decision of every row into `actions`, int64 (B,)."""
    for b in range(len(masks)):
        actions[b] = choose(t, w, v, observations[b], masks[b])
