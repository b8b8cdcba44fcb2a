"""Validate positions: a valid position can be played to the end of the game, and every later position is valid, too.

A position need not be reachable: it may have smaller supplies, or different hidden cards, points, abilities or rounds.
However, it must be consistent:

- There are at most as many components as in the published game.
- Tiles have support.
- The operation in progress was possible and can be completed.
- The game ends, and no number exceeds its range.

Every legal action preserves these properties.

[R] Points may differ from the points for the full lines, and abilities from those won with coats of arms. However,
every tile is on the ground or on earlier tiles, denied abilities are not owned, and END is never the only legal action.
"""

from __future__ import annotations

from types import SimpleNamespace

from helsinki_env.engine.positions import MAX_OBSERVED, cell_list, check_supply, fail, or_none, record_to_namespace
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.components import CELLS, COLORS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.game import CopenhagenGame, Phase
from helsinki_env.games.copenhagen.state import END_CARD

_BOARD, _GROUND, _LEFT = (1 << CELLS) - 1, 31, sum(1 << 5 * y for y in range(9))
_BUILDING = (Phase.PLACE, Phase.RECOLOUR, Phase.PAY)
_BOTH = 1 << a.BOTH_ACTIONS
_ANY = 1 << a.ANY_CARDS
_ADDITIONAL = 1 << a.ADDITIONAL_CARD
_CHANGE = 1 << a.CHANGE_OF_COLOURS
_DISCOUNT = 1 << a.CONSTRUCTION_DISCOUNT


def check_position(game: CopenhagenGame) -> None:
    """Check that a game can be played to its end.

    Args:
        game: a game in which every field is in range. This function checks whether they are consistent.

    Raises:
        PositionError: if the game is inconsistent. The message names the key, the value found and the expected value.
    """
    p, components = record_to_namespace(game.state), game.config.component_set
    phase = game.phase
    _check_cards(p, components)
    _check_box(p, components)
    for seat in range(p.players):
        _check_seat(p, game, seat)
    _check_draw_pile(p, components)
    if p.done:
        _check_over(p, components, phase)
        return
    _check_limits(p, components, phase)
    _check_using(p, phase)
    _check_display(p, phase)
    _check_hand(p, components, phase)
    if phase in _BUILDING:
        _check_build(game, p, phase)
    if phase == Phase.COAT:
        _check_rewards(p, components)
    legal = game.action_mask()
    if not legal.any():
        fail("phase", phase, "a phase with a legal action for this board and hand")
    if phase == Phase.END and legal.sum() == 1:
        fail("phase", phase, "another phase: END is applied automatically if no ability can be used")


def _names(abilities: int) -> list[int]:
    return cell_list(abilities)


# component limits (rules, section 1)


_ALL_CARDS = "draw_pile, discard_pile, display and seats.hand"


def _check_cards(p: SimpleNamespace, components: Components) -> None:
    """Check that piles, display and hands contain all cards, and that each hand contains its publicly known cards."""
    pile = p.pile[: p.pile_size]
    for colour, name in enumerate(COLORS):
        held = sum(hand[colour] for hand in p.hand)
        found = pile.count(colour) + p.display.count(colour) + p.discard[colour] + held
        expected = components.cards[p.players - 2]
        if found != expected:
            fail(_ALL_CARDS, found, f"{expected} {name} cards in all of them")
    for seat, (hand, known) in enumerate(zip(p.hand, p.known, strict=True)):
        if any(seen > held for seen, held in zip(known, hand, strict=True)):
            fail(f"seats[{seat}].known", known, f"at most the cards in hand: {hand}")


def _check_box(p: SimpleNamespace, components: Components) -> None:
    """Check that boards and supplies together hold at most the components of the published game."""
    laid = [0] * len(p.supply)
    for pieces, count in zip(p.tile_piece, p.tile_count, strict=True):
        for piece in pieces[:count]:
            laid[piece // a.ORIENTATIONS] += 1
    for kind, left in enumerate(p.supply):
        box = components.copies[p.players - 2][kind % 4]
        check_supply(f"tile_supply.{COLORS[kind // 4]}[{kind % 4}]", left, laid[kind], box)
    check_supply("white_tiles", p.white_tiles, sum(cells.bit_count() for cells in p.white), components.white_tiles)


def _check_draw_pile(p: SimpleNamespace, components: Components) -> None:
    """Check the position of the End of Game card, which two-player games always contain (section 2)."""
    pile = p.pile[: p.pile_size]
    if pile.count(END_CARD) > 1:
        fail("draw_pile", pile[::-1], "one End of Game card (5)")
    if p.end_card and pile.index(END_CARD) >= components.last_cards:
        fail("draw_pile", pile[::-1], f"the End of Game card (5) among the last {components.last_cards}")
    if p.players == 2 and not p.end_card and not p.done:
        fail("draw_pile", pile[::-1], "the End of Game card (5) in it during a game of two players")


# boards and abilities


def _supported(filled: int) -> int:
    """Return the cells that have support: those on the ground or directly above a filled cell."""
    return (_GROUND | filled << 5) & _BOARD


def _check_seat(p: SimpleNamespace, game: CopenhagenGame, seat: int) -> None:
    _check_standing(p, game, seat)
    if not p.owned[seat] & _ANY:
        fail(f"seats[{seat}].abilities", _names(p.owned[seat]), "0 (any_cards) among them: every player owns it")
    if p.used[seat] & ~p.owned[seat]:
        fail(f"seats[{seat}].used", _names(p.used[seat]), f"some of the abilities owned: {_names(p.owned[seat])}")
    if p.owned[seat] & p.denied[seat]:
        found = _names(p.owned[seat] & p.denied[seat])
        fail(f"seats[{seat}].abilities", found, "none of those that are denied to this seat")


def _check_standing(p: SimpleNamespace, game: CopenhagenGame, seat: int) -> None:
    """Check that each tile had support when it was built; white tiles may come at any time (section 3, Placement)."""
    masks = game.config.tables["cells"][0]
    filled, white = 0, p.white[seat]
    for number in range(p.tile_count[seat] + 1):
        while standing := white & _supported(filled):
            filled, white = filled | standing, white & ~standing
        if number < p.tile_count[seat]:
            cells = int(masks[p.tile_piece[seat][number]]) << p.tile_cell[seat][number]
            if not cells & _supported(filled):
                expected = "a cell on the ground or directly above one that was filled before"
                fail(f"seats[{seat}].tiles[{number}].cells", cell_list(cells), expected)
            filled |= cells
    if white:
        fail(f"seats[{seat}].white", cell_list(white), "cells on the ground or directly above filled ones")


# limits of numbers that grow


def _rounds_to_come(p: SimpleNamespace, components: Components, phase: str) -> int:
    """Return an upper bound on the remaining rounds: each turn uses up two cards of the draw pile, or places a tile."""
    cards = int(p.pile_size)
    if not p.end_card:  # the discard pile may still become the draw pile, once
        cards += len(COLORS) * components.cards[p.players - 2] + 1
    room = sum((CELLS - int(filled).bit_count()) // min(TILE_SIZES) for filled in p.filled[: p.players])
    turns = cards // 2 + min(sum(p.supply), room) + (phase == Phase.COAT)
    return int(p.seat + turns) // int(p.players)


def _check_limits(p: SimpleNamespace, components: Components, phase: str) -> None:
    """Check that the round number will stay in range and that all points are below the goal."""
    rounds = _rounds_to_come(p, components, phase)
    if p.round_number > MAX_OBSERVED - rounds:
        most = MAX_OBSERVED - rounds
        expected = f"at most {most}: {rounds} rounds may follow, and {MAX_OBSERVED} is the maximum"
        fail("round", p.round_number, expected)
    for seat, points in enumerate(p.points):
        if points >= components.goal:
            expected = f"less than {components.goal}, unless done is true"
            fail(f"seats[{seat}].points", points, expected)


# consistency of the game (sections 3 and 4)


def _check_over(p: SimpleNamespace, components: Components, phase: str) -> None:
    """Check that the last acting seat reached the goal, or that the End of Game card was drawn."""
    if phase != Phase.END:
        fail("phase", phase, "END once the game is over")
    for seat, points in enumerate(p.points):
        if points >= components.goal and seat != p.seat:
            fail(f"seats[{seat}].points", points, f"less than {components.goal}: seat {p.seat} acted last")
    for seat in range(p.players):
        if sum(p.hand[seat]) > components.hand_limit:
            fail(f"seats[{seat}].hand", p.hand[seat], f"at most {components.hand_limit} cards")
    empty, found = p.display.count(-1), [*map(or_none, p.display)]
    if p.points[p.seat] >= components.goal:
        if p.players == 2 and not p.end_card:
            fail("draw_pile", "no End of Game card", "the End of Game card (5) in it: the game ended by points")
        if empty not in (0, 2, 3):
            fail("display", found, "a full row, or two or three cards taken in the last turn")
        return
    if p.end_card:
        fail("done", True, f"the End of Game card (5) out of the draw pile, or {components.goal} points")
    if p.pile_size >= components.last_cards:
        fail("draw_pile", p.pile_size, f"less than {components.last_cards} cards after the End of Game card was drawn")
    if not 1 <= empty <= 3:
        fail("display", found, "one to three empty slots, which the End of Game card left empty")


def _check_using(p: SimpleNamespace, phase: str) -> None:
    """Check that the phase allows the abilities in use, and that they are owned and used (section 3)."""
    can = _BOTH | _CHANGE | _DISCOUNT if phase in _BUILDING else _BOTH
    must = 0
    if phase == Phase.TAKE:
        can, must = (_ANY, 0) if p.first >= 0 else (_ADDITIONAL, _ADDITIONAL)
    elif phase == Phase.RECOLOUR or p.recolour >= 0:
        must = _CHANGE
    elif phase == Phase.PLACE:
        can &= ~_CHANGE
    found = _names(p.using)
    if p.using & ~can:
        fail("pending.using", found, f"some of {_names(can)} here")
    if must & ~p.using:
        fail("pending.using", found, f"{_names(must)} among them here")
    if p.using & ~p.owned[p.seat]:
        fail("pending.using", found, f"some of the abilities owned: {_names(p.owned[p.seat])}")
    if p.using & ~p.used[p.seat] and not _reactivated(p, phase):
        fail(f"seats[{p.seat}].used", _names(p.used[p.seat]), f"pending.using, {found}, among them")


def _reactivated(p: SimpleNamespace, phase: str) -> bool:
    """Return whether used abilities may have been flipped back during this turn."""
    return phase == Phase.COAT and p.used[p.seat] == 0


def _taken(p: SimpleNamespace, phase: str) -> bool:
    """Return whether at least two cards were taken during this turn."""
    return phase in (Phase.DISCARD, Phase.END) or bool(p.using & (_BOTH | _ADDITIONAL))


def _check_display(p: SimpleNamespace, phase: str) -> None:
    """Check that the empty slots match a legal choice of cards taken during this turn (section 3)."""
    empty = [slot for slot, card in enumerate(p.display) if card < 0]
    found = [*map(or_none, p.display)]
    if not _taken(p, phase):
        expected = [p.first] if p.first >= 0 else []
        if empty != expected:
            fail("display", found, f"a card in every slot but {expected}" if expected else "a card in every slot")
        return
    usable = p.owned[p.seat] if _reactivated(p, phase) else p.used[p.seat]
    if p.using & _ADDITIONAL:
        usable &= ~_ADDITIONAL  # the additional card has not been taken yet
    most = 3 if usable & _ADDITIONAL else 2
    if not 2 <= len(empty) <= most:
        fail("display", found, f"2 empty slots, or 3 after additional_card: cards were taken, not put back ({most})")
    if not usable & _ANY and not any(slot + 1 in empty for slot in empty):
        fail("display", found, "two empty slots next to each other, or any_cards used")


def _check_hand(p: SimpleNamespace, components: Components, phase: str) -> None:
    """Check that the phase allows the hand sizes (section 3, Hand limit)."""
    limit = components.hand_limit
    for seat in range(p.players):
        if seat != p.seat and sum(p.hand[seat]) > limit:
            fail(f"seats[{seat}].hand", p.hand[seat], f"at most {limit} cards")
    if p.last_discard >= 0 and not _taken(p, phase):
        fail("pending.last_discard", p.last_discard, "no such key: cards are discarded after they were taken")
    held, taken, discarded = sum(p.hand[p.seat]) + sum(p.paid), p.display.count(-1), p.last_discard >= 0
    least, most = limit if discarded else taken, limit  # hand size in phases after any discards
    if phase == Phase.TAKE:
        most = limit + taken
    elif phase == Phase.DISCARD:
        least, most = limit + 1, limit + taken - discarded
    elif phase == Phase.COAT:
        least = 0
    if not least <= held <= most:
        expected = f"{least} to {most} cards, those paid counted, in phase {phase}"
        fail(f"seats[{p.seat}].hand", p.hand[p.seat], expected)
    if discarded and p.discard[p.last_discard] == 0:
        fail("discard_pile", p.discard, f"a card of colour {p.last_discard}, the last one discarded")


# the operation in progress


def _check_build(game: CopenhagenGame, p: SimpleNamespace, phase: str) -> None:
    """Check that the tile is in the supply, and that cards of the recolored color are held or paid (section 3)."""
    colour, size = p.tile // 4, TILE_SIZES[p.tile % 4]
    if p.supply[p.tile] == 0:
        fail("pending.tile", f"{COLORS[colour]} {size}", "a tile that the supply holds")
    if p.recolour < 0:
        return
    if p.recolour == colour:
        fail("pending.recolour", p.recolour, "a colour other than that of the tile")
    hand = p.hand[p.seat]
    if hand[p.recolour] + p.paid[p.recolour] == 0:
        fail("pending.recolour", p.recolour, "a colour of a card that the acting seat holds or has paid")
    if phase == Phase.PAY:
        _check_pay(game, p, colour, size)


def _check_pay(game: CopenhagenGame, p: SimpleNamespace, colour: int, size: int) -> None:
    """Check that paid and due cards add up to the cost, and that the payment can be completed (section 3, Paying)."""
    t = game.config.tables[0]
    orientation, corner = divmod(p.place, CELLS)
    piece = a.ORIENTATIONS * p.tile + orientation
    filled, near = p.filled[p.seat], _neighbours(p.coloured[p.seat][colour])
    lies = orientation < t.orientations[p.tile] and int(t.corners[piece]) >> corner & 1
    cells = int(t.cells[piece]) << corner
    if not lies or cells & filled or not cells & _supported(filled):
        fail("pending.place", p.place, "an argument of PLACE that puts the tile on empty cells with support")
    cost = size - bool(cells & near) - bool(p.using & _DISCOUNT)
    if sum(p.paid) + p.due != cost:
        fail("pending.due", p.due, f"{cost} with the {sum(p.paid)} cards paid: the cost at this place")
    if sum(p.paid) != p.paid[colour] + p.paid[p.recolour]:
        fail("pending.paid", p.paid, f"cards of the colours {colour} and {p.recolour} only")
    if any(paid > held for paid, held in zip(p.paid, p.discard, strict=True)):
        fail("pending.paid", p.paid, f"at most the cards of the discard pile: {p.discard}")
    hand, low, high = p.hand[p.seat], min(colour, p.recolour), max(colour, p.recolour)
    left = hand[high] + (0 if p.paid[high] else hand[low])
    shut = p.paid[high] > 0 and low == p.recolour and p.paid[low] == 0  # a recolored card can no longer be paid
    if left < p.due or shut:
        expected = "cards in hand that pay it in non-decreasing colour order, at least one of them recoloured"
        fail("pending.due", p.due, expected)


def _neighbours(cells: int) -> int:
    """Return the cells that share an edge with a cell of the set."""
    return (cells << 5 | cells >> 5 | (cells & ~(_LEFT << 4)) << 1 | (cells & ~_LEFT) >> 1) & _BOARD


def _check_rewards(p: SimpleNamespace, components: Components) -> None:
    """Check that there are at most as many pending rewards as covered coats of arms (section 3)."""
    filled = p.filled[p.seat]
    won = sum(filled >> cell & 1 for cell in components.coats)
    won += sum(filled >> 5 * y & _GROUND == _GROUND for y in components.coat_rows)
    if p.rewards > won:
        fail("pending.rewards", p.rewards, f"at most {won}: the number of coats of arms covered on this board")
    if not p.tile_count[p.seat]:
        fail("phase", "COAT", "a coloured tile on the board of the acting seat")
