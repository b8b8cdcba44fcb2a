"""Validate positions: a valid position can be played to the end, and every later position is valid, too.

A position need not be reachable: supplies may be smaller, coats of arms fewer, and hidden cards, points, used board
actions and rounds different. It may also be in the last round before the draw pile is empty. But it must be consistent:

- No component occurs more often than in the component file.
- The pending action can have started and can be completed.
- The game ends before any number exceeds its range.

Play preserves each of these rules: if it holds now, it holds after every legal action.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from helsinki_env.engine.positions import MAX_OBSERVED, cell_list, check_supply, fail, or_none, record_to_namespace
from helsinki_env.games.helsinki.build import coats_to_place
from helsinki_env.games.helsinki.coats import usable_actions
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame, Phase
from helsinki_env.games.helsinki.state import PHASES, TILES, UNSEEN

#: Board actions that are followed by a move.
MOVES = ("move_1_to_6", "move_1_to_5")
#: Board actions that may be in progress in each phase; None is the placement of superstructures after a build.
CARRIED_OUT: dict[str, tuple[str | None, ...]] = {
    "WILD": ("one_wild_tile", "two_wild_tiles"),
    "LIFT": ("move_superstructure",),
    "ROOF": (None, "move_superstructure", "extra_superstructure"),
}


def check_position(game: HelsinkiGame) -> None:
    """Check that a game can be played to the end.

    Args:
        game: a game in which each field is in range; this function checks that they are consistent.

    Raises:
        PositionError: if the game is inconsistent; names the key, the value found and the expected value.
    """
    p, components = record_to_namespace(game.state), game.config.component_set
    phase = PHASES[p.phase]
    _check_cards_add_up(p, components)
    _check_box(p, components)
    _check_draw_pile(p, components)
    _check_limits(p, components)
    _check_lifted(p, phase)
    if p.done:
        _check_over(p, phase)
        return
    if phase == Phase.START:
        _check_start(p)
    else:
        _check_turn(p, components, phase)
        _check_decision(game, p, phase)
    if not game.action_mask().any():
        fail("phase", phase, "a phase with a legal action for this board and hand")


# component counts (rules page, section 1)


_ALL_CARDS = "draw_pile, discard_pile, display, seats.hand, pending.card and pending.paid"


def _check_cards_add_up(p: SimpleNamespace, components: Components) -> None:
    """Check that the cards in both piles, the display and the hands, plus those being played, make up the deck."""
    found = list(p.discard)
    for hand in p.hand:
        for card, count in enumerate(hand):
            found[card] += count
    for card in [*p.pile[: p.pile_size], *p.display, *p.paid[: p.paid_count], p.card]:
        if card >= 0:
            found[card] += 1
    deck = components.deck(p.players)
    removed = 1 if p.players == 2 else 0
    for card, expected in enumerate(deck):
        spare = removed and components.card_number(card) == components.any_removed2_number
        if not expected - bool(spare) <= found[card] <= expected:
            fail(_ALL_CARDS, found[card], f"{expected} of type {card} in all of them")
    if sum(found) != sum(deck) - removed:
        one = f"one card {components.any_removed2_number} is removed unseen"
        fail(_ALL_CARDS, sum(found), f"{sum(deck) - removed} cards in all of them: {one}")


def _check_box(p: SimpleNamespace, components: Components) -> None:
    """Check that boards and supplies together hold no more components than the component file lists."""
    laid = [0] * len(p.supply)
    for pieces, count in zip(p.tile_piece, p.tile_count, strict=True):
        for piece in pieces[:count]:
            laid[piece // 8] += 1
    for kind, left in enumerate(p.supply):
        key = f"tile_supply.{COLORS[kind // 4]}[{kind % 4}]"
        check_supply(key, left, laid[kind], components.tile_copies[kind % 4])
    for key, left, on_boards, box in (
        ("wild_tiles", p.wild_supply, p.wild, components.wild_tiles),
        ("superstructures", p.superstructure_supply, p.superstructures, components.superstructures),
    ):
        lifted = key == "superstructures" and p.lifted >= 0
        check_supply(key, left, sum(cells.bit_count() for cells in on_boards) + lifted, box)
    for seat in range(p.players):
        lying = p.coats[seat].bit_count()
        most = len(components.coats) - lying
        if p.meadow[seat] > most:
            fail(
                f"seats[{seat}].meadow", p.meadow[seat], f"at most {most} coats of arms: {lying} are still on the board"
            )
    _check_bonus_cards(p, components)


def _check_bonus_cards(p: SimpleNamespace, components: Components) -> None:
    """Check that each bonus card is available or taken at most once, and only if it is in play (section 6)."""
    in_play = list(components.bonus_cards[: p.players]) if p.dry_roads else []
    for index, value in enumerate(components.bonus_cards):
        taken = [seat for seat, bonus in enumerate(p.bonus[: p.players]) if bonus == index]
        left = p.bonus_cards >> index & 1
        if (left or taken) and value not in in_play:
            key = "bonus_cards" if left else f"seats[{taken[0]}].bonus"
            fail(key, value, f"one of those in play: {in_play}" if in_play else "none: they belong to Dry roads")
        if left + len(taken) > 1:
            fail(f"seats[{taken[-1]}].bonus", value, "a bonus card that no other seat has and that is not left")


# the draw pile (section 4)


def _check_draw_pile(p: SimpleNamespace, components: Components) -> None:
    """Check that an empty or reshuffled pile occurs only in the last round."""
    if not p.last_round:
        if not p.pile_size:
            fail("draw_pile", [], "at least one card before the last round, or last_round to be true")
        if any(card < 0 for card in p.display):
            fail("display", [*map(or_none, p.display)], "a card in every slot before the last round")
        if any(p.reshuffled):
            fail("pending.reshuffled", "a pile", "no such key before the last round")
    unseen = [[card for card in cards if card >= 0] for cards in p.unseen[: p.players]]
    if not any(p.reshuffled):
        if any(unseen):
            fail("pending.unseen_draws", unseen, "no draws without pending.reshuffled")
        return
    _check_unseen(p, components, unseen)
    drawn = [card for cards in unseen for card in cards]
    pile = p.pile[: p.pile_size] + drawn
    for card, count in enumerate(p.reshuffled):
        if count != pile.count(card):
            where = "in the draw pile and among the unseen draws"
            fail(f"pending.reshuffled[{card}]", count, f"the {pile.count(card)} cards of type {card} {where}")
    for card in set(drawn):
        shown = p.discard[card] + [p.card, *p.paid[: p.paid_count]].count(card)
        missing = sum(
            max(0, cards.count(card) - (p.hand[seat][card] - p.known[seat][card])) for seat, cards in enumerate(unseen)
        )
        if missing > shown:
            fail(
                "pending.unseen_draws", unseen, f"cards of type {card} that are in these hands, unseen, or shown since"
            )


def _check_unseen(p: SimpleNamespace, components: Components, unseen: list[list[int]]) -> None:
    """Check that a seat drew face down only in its last turn, and only for extra cards and at most two builds."""
    building = p.phase in (PHASES.index("PAY"), PHASES.index("PLACE")) or p.only_build
    second = int(_has_used(p, p.seat, "second_pavilion") and not building)
    so_far = min(UNSEEN, _strength(components, "extra_card") * p.drew + (1 + second if p.has_built else 0))
    for seat, found in enumerate(unseen):
        most = UNSEEN if seat < p.seat else so_far if seat == p.seat else 0
        if len(found) > most:
            fail(f"pending.unseen_draws[{seat}]", found, f"at most {most} draws of this seat so far")


# increasing numbers


def _rounds_to_come(p: SimpleNamespace) -> int:
    """Return an upper bound on the remaining rounds: each turn takes two cards from the draw pile, or a tile."""
    if p.last_round:
        return 0
    tiles = min(sum(p.supply), sum(TILES - count for count in p.tile_count[: p.players]))
    turns = (p.pile_size - 1) // 2 + tiles + (1 if p.drew or p.has_built else 0)
    return int(p.seat + turns) // int(p.players)


def _check_limits(p: SimpleNamespace, components: Components) -> None:
    """Check that the round number and the points stay in their ranges."""
    rounds = _rounds_to_come(p)
    if p.round_number > MAX_OBSERVED - rounds:
        expected = f"at most {MAX_OBSERVED - rounds}: {rounds} rounds may follow, and {MAX_OBSERVED} is the maximum"
        fail("round", p.round_number, expected)
    for seat in range(p.players):
        more = 0 if _has_used(p, seat, "two_points") else _strength(components, "two_points")
        if p.bonus[seat] < 0:
            more += max((value for i, value in enumerate(components.bonus_cards) if p.bonus_cards >> i & 1), default=0)
        if p.points[seat] > MAX_OBSERVED - more:
            expected = f"at most {MAX_OBSERVED - more}: {more} may follow, and {MAX_OBSERVED} is the maximum"
            fail(f"seats[{seat}].points", p.points[seat], expected)


# game progress (sections 2, 3 and 5)


def _strength(components: Components, action: str) -> int:
    return components.strengths[BOARD_ACTIONS.index(action)]


def _has_used(p: SimpleNamespace, seat: int, action: str) -> bool:
    return bool(p.used[seat] >> BOARD_ACTIONS.index(action) & 1)


def _check_lifted(p: SimpleNamespace, phase: str) -> None:
    """Check that seats without a hand limit have used `no_hand_limit`, and that the limit applies in DISCARD."""
    for seat in range(p.players):
        if p.limit_lifted[seat] and not _has_used(p, seat, "no_hand_limit"):
            fail(f"seats[{seat}].limit_lifted", True, "no_hand_limit to be among the used actions of this seat")
    if p.lifted_now and not (p.drew and p.limit_lifted[p.seat]):
        fail("pending.lifted_now", True, "pending.drew and limit_lifted of the acting seat to be true too")
    if phase == Phase.DISCARD and p.limit_lifted[p.seat]:
        fail(f"seats[{p.seat}].limit_lifted", True, "false while cards are discarded")


def _check_over(p: SimpleNamespace, phase: str) -> None:
    pending = p.drew or p.has_built or p.lifted_now or any(p.reshuffled)
    if phase != Phase.END or pending:
        fail("done", True, "phase END with nothing pending once the game is over")
    if not p.last_round or p.seat != p.players - 1:
        fail("done", True, "the last round, and the last seat to move in it, once the game is over")
    _check_tokens(p)


def _check_start(p: SimpleNamespace) -> None:
    """Check that START is the initial phase: only the display has been dealt (section 2)."""
    if any(token >= 0 for token in p.token):
        fail("seats.token", [*map(or_none, p.token[: p.players])], "null for every seat in phase START")
    begun = p.seat or p.last_round or p.round_number > 1
    built = any(cells.bit_count() > 1 for cells in p.built)  # the statue is always there
    held = any(map(any, p.hand))
    if begun or built or held or any(p.discard) or any(card < 0 for card in p.display):
        expected = "START only for seat 0 in round 1, with empty hands and boards, a full display and no discards"
        fail("phase", "START", expected)


def _check_tokens(p: SimpleNamespace) -> None:
    if any(token < 0 for token in p.token[: p.players]):
        fail("seats.token", [*map(or_none, p.token[: p.players])], "a space for every seat except in phase START")


def _check_turn(p: SimpleNamespace, components: Components, phase: str) -> None:
    """Check that the progress of the turn is consistent with the phase and the used board actions."""
    _check_tokens(p)
    begun = bool(p.drew or p.has_built)
    if p.has_built and p.tile_count[p.seat] == 0:
        fail("pending.built", True, "a pavilion tile on the board of the acting seat")
    if phase == Phase.END and not begun:
        fail("phase", phase, "pending.drew or pending.built to be true in phase END")
    if phase == Phase.MAIN and begun != bool(p.only_build):
        fail("phase", phase, "pending.only_build in MAIN exactly if the seat has drawn or built already")
    if phase in CARRIED_OUT and (PHASES[p.resume] == Phase.END) != begun:
        fail("pending.resume", PHASES[p.resume], "END exactly if the seat has drawn or built already")
    building = phase in (Phase.PAY, Phase.PLACE) or p.only_build
    came_from: list[tuple[str, str, bool | int | str]] = [
        ("draw_and_build", "drew", bool(p.drew and (p.has_built or building))),
        ("second_pavilion", "built", bool(p.has_built and building)),
        ("any_card_as_wild", "substitute", bool(p.substitute)),
        ("any_side", "any_side", bool(p.any_side)),
        ("no_hand_limit", "turn_over", bool(p.turn_over)),
    ]
    movers = [name for name in MOVES if _strength(components, name) == p.move]
    if p.move and not any(_has_used(p, p.seat, name) for name in movers):
        expected = f"{' or '.join(movers)} to be among the used actions of the acting seat"
        fail("pending.move", p.move, expected if movers else f"the spaces of {' or '.join(MOVES)}")
    if p.action >= 0:
        came_from.append((BOARD_ACTIONS[p.action], "action", BOARD_ACTIONS[p.action]))
    for action, key, found in came_from:
        if found and not _has_used(p, p.seat, action):
            fail(f"pending.{key}", found, f"{action} to be among the used actions of the acting seat")


# the pending action (section 3)


def _check_decision(game: HelsinkiGame, p: SimpleNamespace, phase: str) -> None:
    if phase == Phase.DISCARD:
        _check_discard(p, game.config.component_set.hand_limit)
    elif phase in (Phase.PAY, Phase.PLACE):
        _check_build(game, p)
    elif phase == Phase.WILD:
        _check_wild(p, game.config.component_set)
    elif phase == Phase.LIFT:
        _check_lift(p, game.config.component_set)
    elif phase == Phase.ROOF:
        _check_roof(game, p)


def _check_discard(p: SimpleNamespace, limit: int) -> None:
    if sum(p.hand[p.seat]) <= limit:
        fail("phase", "DISCARD", f"a hand above the limit of {limit} in phase DISCARD")
    if p.turn_over and not (p.drew or p.has_built):
        fail("pending.turn_over", True, "pending.drew or pending.built to be true at the end of a turn")
    if not p.turn_over and not p.drew:
        fail("phase", "DISCARD", "pending.drew to be true: the limit is checked after drawing")
    if not p.turn_over and p.has_built:
        fail("pending.built", True, "no such key: the limit is checked before anything is built")


def _check_build(game: HelsinkiGame, p: SimpleNamespace) -> None:
    """Check that the supply contains the tile and that the cards were paid in a legal order."""
    components = game.config.component_set
    paid = p.paid[: p.paid_count]
    if p.substitute and paid:
        fail("pending.substitute", True, "no card paid before the substitute")
    colour, roofs = components.card_color(p.card), components.card_roofs(p.card)
    if p.supply[4 * colour + roofs - 2] == 0:
        fail("pending.card", p.card, f"a card whose tile ({COLORS[colour]}, {roofs} roofs) is in the supply")
    due = components.card_number(p.card) - 1
    fewer = _strength(components, "one_card_fewer")
    if len(paid) + p.to_pay not in (due, max(0, due - fewer * _has_used(p, p.seat, "one_card_fewer"))):
        less = "one" if fewer == 1 else fewer
        fail("pending.paid", paid, f"{due} cards paid or still to be paid, {less} less after one_card_fewer")
    _check_build_ends(game, p)
    if p.substitute:
        return
    fits = [components.card_color(other) in (colour, -1) for other in paid]
    substituted = _has_used(p, p.seat, "any_card_as_wild") and not all(fits[:1])
    in_order = paid[1:] if substituted else paid
    if not all(fits[len(paid) - len(in_order) :]) or in_order != sorted(in_order):
        fail("pending.paid", paid, "cards of the colour or wild in ascending order, after a substitute if any")


def _check_build_ends(game: HelsinkiGame, p: SimpleNamespace) -> None:
    """Check that the hand contains the cards due after the substitute, and that the tile can be placed."""
    g, t, components = game.state, game.config.tables[0], game.config.component_set
    colour = components.card_color(p.card)
    fitting = sum(
        n for card, n in enumerate(p.hand[p.seat][: components.types]) if components.card_color(card) in (colour, -1)
    )
    if p.substitute and fitting < p.to_pay - 1:
        fail("pending.to_pay", p.to_pay, f"at most 1 more than the {fitting} cards in hand that can be paid")
    if (
        not p.any_side
        and coats_to_place(t, g, np.int64(t.kind[p.card]), usable_actions(t, g, g.seat)) > p.meadow[p.seat]
    ):
        fail("pending.card", p.card, "a card whose tile can be placed on the board of the acting seat")


def _check_wild(p: SimpleNamespace, components: Components) -> None:
    most = min(components.strengths[p.action], p.wild_supply)
    if p.wilds_left > most:
        fail("pending.wilds_left", p.wilds_left, f"at most {most}, by the action and the supply")


def _roofs(p: SimpleNamespace, components: Components) -> int:
    """Return the cells of pavilion and wild tiles on the board of the acting seat."""
    return int(p.built[p.seat]) & ~(1 << components.statue)


def _check_lift(p: SimpleNamespace, components: Components) -> None:
    if not _roofs(p, components) & ~p.superstructures[p.seat]:
        fail("phase", "LIFT", "another roof to which a superstructure can be moved")


def _check_roof(game: HelsinkiGame, p: SimpleNamespace) -> None:
    action = BOARD_ACTIONS[p.action] if p.action >= 0 else None
    if action:
        most = max(1, game.config.component_set.strengths[p.action])
        if p.roofs_left > most - (p.last_roof >= 0):
            expected = "1, and no last_roof," if most == 1 else f"at most {most}, one less with a last_roof,"
            fail("pending.roofs_left", p.roofs_left, f"{expected} for {action}")
    moving = action == "move_superstructure"
    if moving != (p.lifted >= 0):
        fail("pending.lifted", or_none(p.lifted), "the cell that move_superstructure emptied, and only then")
    if moving:
        bare = _roofs(p, game.config.component_set) & ~p.superstructures[p.seat]
        if not bare >> p.lifted & 1:
            fail("pending.lifted", p.lifted, f"a roof without a superstructure, one of {cell_list(bare)}")
        return
    if p.superstructure_supply < p.roofs_left:
        fail("pending.roofs_left", p.roofs_left, f"at most the supply of {p.superstructure_supply}")
    if not p.has_built:
        fail("phase", "ROOF", "pending.built: superstructures go on the tile that was just built")
    last = p.tile_count[p.seat] - 1
    piece, corner = p.tile_piece[p.seat][last], p.tile_cell[p.seat][last]
    standing = int(game.config.tables[0].roofs_mask[piece]) << corner & p.superstructures[p.seat]
    if p.last_roof >= 0 and not standing >> p.last_roof & 1:
        fail("pending.last_roof", p.last_roof, f"a superstructure on the last tile, one of {cell_list(standing)}")
