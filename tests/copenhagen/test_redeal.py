"""Determinization in Copenhagen: every step of games, and the probability of each deal."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine import loops
from helsinki_env.engine.determinization import (
    DeterminizationError,
    determinize,
    determinize_batch,
    sample_determinizations,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame, apply_setup
from helsinki_env.games.copenhagen.state import END_CARD, new_states
from tests.copenhagen import positions
from tests.copenhagen.positions import built_position
from tests.copenhagen.test_equal import random_config
from tests.copenhagen.test_setup import written
from tests.games import rare_action
from tests.oracles.copenhagen import ReferenceGame, brute_force_legal_actions
from tests.support.chances import chi_square
from tests.test_redeal import check as check_any

#: Phases in which the cards in hand must suffice to complete the turn.
BOUND = ("DISCARD", "END", "MAIN", "PAY", "PLACE", "RECOLOUR")


def built(number: int, components: str = "copenhagen") -> Iterator[CopenhagenGame]:
    """A built position and what follows it."""
    rng = random.Random(f"redealt {number}")
    if number % 4 or components != "copenhagen":
        game = CopenhagenGame.from_dict(built_position(random_config(rng, [components]), rng))
    else:
        game = CopenhagenGame.from_dict(positions.rich(rng))
    for _ in range(8):
        yield game
        if game.done:
            return
        game.step(rare_action(game, rng))


def check(game: CopenhagenGame, viewer: int, seed: int) -> CopenhagenGame:
    """Sample hidden cards, and check everything that holds for every sample."""
    copy: CopenhagenGame = check_any(game, viewer, seed)
    assert not copy.state.pile[copy.state.pile_size :].any()
    return copy


@pytest.mark.parametrize(
    "players", [2, pytest.param(3, marks=pytest.mark.nightly), pytest.param(4, marks=pytest.mark.thorough)]
)
def test_every_step_of_whole_games(players: int) -> None:
    different = 0
    for seed in range(4 if JIT else 1):
        rng, game = random.Random(seed), CopenhagenGame(CopenhagenConfig(players), seed=seed)
        while not game.done:
            for viewer in range(players):
                different += check(game, viewer, seed + 100) != game
            game.step(rare_action(game, rng))
        for viewer in range(players):
            check(game, viewer, seed + 100)
    assert different > 100


@pytest.mark.thorough
def test_built_positions_and_what_follows() -> None:
    seen: Counter[str] = Counter()
    for number in range(120 if JIT else 5):
        for game in built(number):
            for viewer in range(game.num_players):
                check(game, viewer, number)
                seen[f"{game.phase} {'own' if viewer == game.seat else 'of another seat'}"] += 1
    if JIT:
        assert len(seen) == 16
        assert min(seen.values()) > 10, seen


# positions that cannot come up


def _more_cards_in_hand(game: CopenhagenGame) -> None:
    game.state.hand[1, 0] += 9
    game.state.known[1, 0] += 9


def _fewer_cards_in_the_pile(game: CopenhagenGame) -> None:
    game.state.pile_size -= 1


def _cards_of_no_pile(game: CopenhagenGame) -> None:
    game.state.reshuffled[0] += 1


def _more_known_than_held(game: CopenhagenGame) -> None:
    game.state.known[1, 0] += game.state.hand[1].sum() - game.state.known[1].sum() + 1


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize(
    "spoil", [_more_cards_in_hand, _fewer_cards_in_the_pile, _cards_of_no_pile, _more_known_than_held]
)
def test_a_position_that_no_game_leads_to(spoil: Callable[[CopenhagenGame], None], players: int) -> None:
    rng, game = random.Random(5), CopenhagenGame(CopenhagenConfig(players), seed=5)
    while not (
        game.state.end_card and game.state.pile_size < 20
    ):  # with three players, the discard pile was reshuffled
        game.step(rare_action(game, rng))
    assert determinize(game, 0) != game
    spoil(game)
    with pytest.raises(DeterminizationError, match="the observation of seat 0"):
        determinize(game, 0)


def test_a_hand_that_all_know_and_that_cannot_go_on() -> None:
    game = positions.game(
        positions.seat(hand=(2, 0, 0, 0, 0), known=(2, 0, 0, 0, 0)), phase="PLACE", pending={"tile": TILE}
    )
    assert determinize(game, 1).action_mask().any()
    game.state.hand[0, :2] = game.state.known[0, :2] = (0, 2)
    game.state.discard[:2] = (2, 0)
    game.state.pile[:2] = (0, 0)
    with pytest.raises(DeterminizationError, match="game 0: found no deal that fits the observation of seat 1"):
        determinize(game, 1)


TILE = {"colour": "blue", "size": 2}


# how likely deals are

Outcome = tuple[Any, ...]


def small_box(folder: Path) -> str:
    """Three or four cards of each colour; the End of Game card is put among the last three."""
    return str(
        written(
            folder,
            cards__copies={"players_2": 3, "players_3": 4, "players_4": 4},
            cards__hands=[3, 2, 2, 3],
            cards__last=3,
        )
    )


def arrangements(cards: list[int]) -> Counter[tuple[int, ...]]:
    """Return every order of some cards with its number of permutations of distinct cards."""
    return Counter(itertools.permutations(cards))


class Known:
    """What a viewer knows of where the cards are, from a copy of the game for this seat alone."""

    def __init__(self, game: CopenhagenGame, viewer: int) -> None:
        self.copy = game.to_dict(viewer)
        self.components, self.viewer = game.config.component_set, viewer
        seats = self.copy["seats"]
        self.others = [seat for seat in range(game.num_players) if seat != viewer]
        self.sizes = [seats[seat]["hand"]["size"] - sum(seats[seat]["known"]) for seat in self.others]
        self.others_in_pile = self.copy["draw_pile"] - self.copy["end_card"]
        left = Counter(dict.fromkeys(range(5), self.components.cards[game.num_players - 2]))
        left.subtract(dict(enumerate(self.copy["discard_pile"])))
        left.subtract(card for card in self.copy["display"] if card is not None)
        left.subtract(dict(enumerate(seats[viewer]["hand"])))
        for seat in self.others:
            left.subtract(dict(enumerate(seats[seat]["known"])))
        told = Counter(dict(enumerate(self.copy.get("reshuffled", ()))))
        left.subtract(told)
        self.left, self.told = sorted(left.elements()), sorted(told.elements())
        assert len(self.left) + len(self.told) == sum(self.sizes) + self.others_in_pile

    @property
    def is_made_anew(self) -> bool:
        return "reshuffled" in self.copy

    def hands(self, order: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Hidden cards of every other hand, the first of an order."""
        ends = itertools.accumulate(self.sizes)
        return tuple(tuple(sorted(order[end - size : end])) for size, end in zip(self.sizes, ends, strict=True))

    def can_go_on(self, hands: tuple[tuple[int, ...], ...]) -> bool:
        """Whether the seat to move can complete its turn, found out by trying, by the plain rules."""
        mover = self.copy["to_move"]
        if mover == self.viewer or self.copy["done"]:
            return True
        hidden = Counter(hands[self.others.index(mover)])
        known = self.copy["seats"][mover]["known"]
        seats = [{**one, "hand": [0] * 5} for one in self.copy["seats"]]
        seats[mover]["hand"] = [known[colour] + hidden[colour] for colour in range(5)]
        pile = [END_CARD] * self.copy["end_card"]
        game = ReferenceGame.from_dict(
            {**self.copy, "seats": seats, "draw_pile": pile, "chance": {"word": "0x" + 16 * "0"}}
        )
        if game.phase == "END":
            return game.legal_actions() != [actions.NUM_ACTIONS - 1]
        return bool(brute_force_legal_actions(game))

    def deals(self) -> tuple[Counter[Outcome], int]:
        """Return every consistent deal with its number of permutations of distinct cards.

        The second value counts the deals after which the acting seat could not complete its turn.
        """
        found: Counter[Outcome] = Counter()
        judged: dict[Any, bool] = {}
        refused = 0
        piles = arrangements(self.told)
        beneath = min(self.others_in_pile, self.components.last_cards - 1)
        for order, ways in arrangements(self.left).items():
            hands = self.hands(order)
            if hands not in judged:
                judged[hands] = self.can_go_on(hands)
            if not judged[hands]:
                refused += ways
                continue
            rest = {order[sum(self.sizes) :]: 1} if not self.is_made_anew else piles
            for pile, more in rest.items():
                places = range(beneath + 1) if self.copy["end_card"] else [None]
                for place in places:
                    cards = list(pile)
                    if place is not None:
                        cards.insert(len(cards) - place, END_CARD)
                    found[(*hands, tuple(cards))] += ways * more
        return found, refused


def outcome_of(hidden: list[list[int]], pile: list[int], others: list[int]) -> Outcome:
    """A deal as `Known.deals` names it, from hidden cards by seat and colour and the draw pile."""
    hands = [tuple(card for card, n in enumerate(hidden[seat]) for _ in range(n)) for seat in others]
    return (*hands, tuple(pile[::-1]))


def with_a_small_pile(game: CopenhagenGame, rng: random.Random) -> CopenhagenGame:
    """The same position but for the draw pile: most of it lies on the discard pile."""
    position = game.to_dict()
    cards = [card for card in position["draw_pile"] if card != END_CARD]
    keep = rng.randint(0, min(3, len(cards)))
    for card in cards[keep:]:
        position["discard_pile"][card] += 1
    place = rng.randint(max(0, keep - 2), keep)
    position["draw_pile"] = cards[:place] + [END_CARD] * (END_CARD in position["draw_pile"]) + cards[place:keep]
    return CopenhagenGame.from_dict(position)


def some_knowledge(components: str, most: int) -> Iterator[tuple[CopenhagenGame, Known, Counter[Outcome], str]]:
    """Positions in which few cards are hidden from a viewer, `most` of each kind, with all deals and the kind."""
    kinds: Counter[str] = Counter()
    for number in range(400):
        rng = random.Random(number)
        for dealt in built(number, components):
            if dealt.done:
                continue
            game = with_a_small_pile(dealt, rng)
            viewer = rng.randrange(game.num_players)
            known = Known(game, viewer)
            if not 2 <= sum(known.sizes) <= len(known.left) <= 6:
                continue
            pile = "made anew" if known.is_made_anew else "the first"
            kind = f"{game.num_players} players, pile {pile}, {game.phase} {'own' if viewer == game.seat else ''}"
            bound = f"bound {game.phase}"
            if kinds[kind] >= most and (kinds[bound] >= most or game.phase not in BOUND):
                continue
            deals, refused = known.deals()
            if refused:
                kind = bound
            if 2 <= len(deals) <= 400 and kinds[kind] < most:
                kinds[kind] += 1
                yield game, known, deals, kind


def bound_games() -> Iterator[tuple[CopenhagenGame, Known, Counter[Outcome], str]]:
    """Yield positions in which seat 0 needs two cards that seat 1 has not seen to complete its turn."""
    taken = {"display": (None, None, 2, 3, 4, 0, 1)}
    turns: tuple[tuple[str, list[int], list[int], list[int], list[int], dict[str, Any]], ...] = (
        # phase, cards known and hidden by colour, draw pile but for the End of Game card, abilities used, others
        ("DISCARD", [3, 2, 2, 0, 0], [0, 0, 0, 1, 1], [0, 3, 4], [1],
         {"display": (None, None, None, 3, 4, 0, 1), "pending": {"last_discard": 3}}),
        ("END", [0, 1, 1, 0, 0], [2, 0, 0, 0, 0], [0, 1, 3], [], taken),
        ("MAIN", [0, 1, 1, 0, 0], [0, 1, 0, 1, 0], [0, 3, 4], [4], taken | {"pending": {"using": [4]}}),
        ("PLACE", [1, 0, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 1], [3],
         {"pending": {"tile": TILE, "using": [3], "recolour": 2}}),
        ("PLACE", [1, 0, 0, 0, 0], [1, 0, 0, 1, 0], [0, 1, 1], [3], {"pending": {"tile": TILE}}),
        ("RECOLOUR", [1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1], [3], {"pending": {"tile": TILE, "using": [3]}}),
        ("PAY", [0, 2, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 2], [3],
         {"pending": {"tile": {"colour": "green", "size": 3}, "using": [3], "recolour": 0, "place": 0, "due": 3}}),
    )  # fmt: skip
    for phase, known, hidden, pile, used, others in turns:
        hand = [a + b for a, b in zip(known, hidden, strict=True)]
        mover = positions.seat(hand=hand, known=known, abilities=(0, *(used or [4])), used=used)
        viewer = positions.seat(hand=(1, 1, 1, 1, 1))
        game = positions.game(mover, viewer, pile=[*pile, END_CARD], phase=phase, **others)
        knows = Known(game, 1)
        deals, refused = knows.deals()
        assert refused, phase
        yield game, knows, deals, f"bound {phase}"


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="too slow")
def test_deals_are_as_likely_as_they_should_be(tmp_path: Path) -> None:
    """Every deal that fits, and no other, comes up; each as often as its cards alone make it."""
    compared: Counter[str] = Counter()
    for game, known, deals, kind in itertools.chain(bound_games(), some_knowledge(small_box(tmp_path), most=2)):
        n, total = 20 * len(deals) + 2000, sum(deals.values())
        states = sample_determinizations(game, n, known.viewer, seed=11)
        hidden, piles = (states["hand"] - states["known"]).tolist(), states["pile"][:, : game.state.pile_size].tolist()
        counts = Counter(outcome_of(*one, known.others) for one in zip(hidden, piles, strict=True))
        assert set(counts) <= set(deals)
        assert chi_square(counts, {key: n * ways / total for key, ways in deals.items()}) < 5
        compared[kind] += 1
    assert {f"bound {phase}" for phase in BOUND} <= set(compared), compared
    assert sum(compared.values()) > 50, compared
    for kind in ("2 players, pile the first", "3 players, pile made anew", "4 players, pile the first"):
        assert sum(count for found, count in compared.items() if found.startswith(kind)) > 4, compared


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="too slow")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_where_the_end_of_game_card_lies(players: int) -> None:
    """In games that chance deals, played on regardless of the card, it lies where deals put it: anywhere that it may.

    Beneath so many cards as the draw pile holds besides, or nine: counted when the pile first is that small, in those
    games that are not over by then.
    """
    config, n = CopenhagenConfig(players), 6000
    t, states = config.tables[0], new_states(n)
    apply_setup(states, config)
    seeds = np.arange(n, dtype=np.uint64)
    loops.batch_deal(t, states, seeds, np.zeros(n, np.uint64), np.zeros(n, np.uint64))
    words, masks = random_keys(n, seed=4), np.zeros((n, actions.NUM_ACTIONS), np.int8)
    loops.batch_mask(t, states, masks)
    sizes = (16, 8, 4, 1)
    found = {size: np.zeros(size + 2, np.int64) for size in sizes}
    open_for = {size: np.ones(n, bool) for size in sizes}
    dealt = {size: np.zeros(size + 2, np.int64) for size in sizes}
    while not states["done"].all():
        assert loops.batch_step(t, states, sample_actions(masks, words), masks) == -1
        others = states["pile_size"] - states["end_card"]
        there = (states["end_card"] == 1) & (states["done"] == 0)
        beneath = (states["pile"] == END_CARD).argmax(axis=1)
        for size in sizes:
            now = there & (others == size) & open_for[size]
            open_for[size] &= ~now
            np.add.at(found[size], beneath[now], 1)
            if now.any():
                copies = states[now]
                determinize_batch(config, copies, copies["seat"].astype(np.int64), seeds[now])
                np.add.at(dealt[size], (copies["pile"] == END_CARD).argmax(axis=1), 1)
    for size in sizes:
        places = min(size, 9) + 1
        for counts in (found[size], dealt[size]):
            assert not counts[places:].any()
            total = counts.sum()
            assert total > 100
            expected = {(place,): total / places for place in range(places)}
            assert chi_square(Counter({(p,): int(c) for p, c in enumerate(counts) if c}), expected) < 5, (size, counts)
