"""Determinization: the viewer sees the same, all cards are present, and probabilities are right."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.engine.determinization import (
    DeterminizationError,
    determinize,
    determinize_batch,
    sample_determinizations,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_of
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from tests.games import EACH_GAME, TestedGame
from tests.support import positions
from tests.support.chances import chi_square
from tests.test_agreement import configs

#: What a deal may change. Everything else is in view, or says how the game is played.
HIDDEN = {"chance", "hand", "pile", "unseen"}


def played(config: Any, seed: int, decisions: int) -> Any:
    """Return a game after some random actions, or at its end."""
    rng = random.Random(seed)
    game = spec_of(config).game(config, seed=seed)
    for _ in range(decisions):
        if game.done:
            break
        game.step(int(rng.choice(game.legal_actions())))
    return game


def check(game: Any, viewer: int, seed: int) -> Any:
    """Sample hidden cards, and check everything that holds for every sample."""
    before = game.clone()
    copy = determinize(game, viewer, seed)
    assert game == before
    assert copy.observation(viewer).tobytes() == game.observation(viewer).tobytes()
    for name in game.state.dtype.names:
        if name not in HIDDEN:
            assert copy.state[name].tobytes() == game.state[name].tobytes(), name
    for name in {"hand", "unseen"} & set(game.state.dtype.names):
        assert copy.state[name][viewer].tobytes() == game.state[name][viewer].tobytes(), name
    assert copy.state.chance != game.state.chance
    assert (copy.state.hand >= copy.state.known).all()
    assert (copy.state.hand.sum(axis=1) == game.state.hand.sum(axis=1)).all()
    if viewer == game.seat:
        assert (copy.action_mask() == game.action_mask()).all()
    # Reading a position checks that no card is missing and that the turn can be completed.
    assert type(copy).from_dict(copy.to_dict()) == copy
    # Nothing but what the viewer knows goes into a deal.
    assert determinize(copy, viewer, seed + 1) == determinize(game, viewer, seed + 1)
    return copy


#: A card that asks for three more, two of its colour and one of another.
PAYING = ("blue 4/4+1", "blue 1/2", "blue 2/2+1", "red 1/2")


@pytest.mark.thorough
@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
@given(st.data(), st.integers(0, 2**32), st.integers(0, 400))
@settings(max_examples=100 if JIT else 5)
def test_any_game(components: str, data: st.DataObject, seed: int, decisions: int) -> None:
    game = played(data.draw(configs(components)), seed, decisions)
    for viewer in range(game.num_players):
        check(game, viewer, seed)


@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
@given(st.integers(0, 10**9), st.sampled_from(positions.THEMES), st.integers(0, 60))
@settings(max_examples=120 if JIT else 5)
def test_any_built_position(components: str, number: int, theme: str, decisions: int) -> None:
    rng = random.Random(number)
    game = notation.from_dict(positions.build(rng, theme, components=components))
    for _ in range(decisions):
        if game.done:
            break
        game.step(int(rng.choice(game.legal_actions())))
    for viewer in range(game.num_players):
        check(game, viewer, number)


def test_another_seat_can_pay_the_rest_after_a_card_of_another_colour() -> None:
    """Few unseen cards are blue: most samples give the hand too few of them."""
    position = notation.to_dict(played(HelsinkiConfig(), 3, 1))
    for seat in position["seats"]:  # all cards into the draw pile
        position["draw_pile"] += [card for card, count in enumerate(seat["hand"]) for _ in range(count)]
        seat["hand"], seat["known"] = [0] * 51, [0] * 51
    target, *others = (
        notation.string_to_action(f"DISCARD {name}") - notation.string_to_action("DISCARD blue 1/2") for name in PAYING
    )
    for card in (target, *others):
        if card in position["display"]:
            position["display"][position["display"].index(card)] = position["draw_pile"].pop()
        else:
            position["draw_pile"].remove(card)
    position["seats"][0]["hand"] = [others.count(card) for card in range(51)]
    position["seats"][0]["used"] = [BOARD_ACTIONS.index("any_card_as_wild")]
    position |= {"phase": "PAY", "to_move": 0, "pending": {"card": target, "to_pay": 3, "substitute": True}}
    game = notation.from_dict(position)
    for seed in range(50):
        copy = check(game, 1, seed)
        while copy.phase == "PAY":
            copy.step(int(copy.legal_actions()[0]))
        assert copy.phase == "PLACE"


@EACH_GAME
def test_copies_go_on_like_games(game: TestedGame) -> None:
    rng = random.Random(1)
    for seed in range(20 if JIT else 2):
        copy = determinize(played(game.spec.config(num_players=2 + seed % 3), seed, 60), seed=seed)
        while not copy.done:
            copy.step(int(rng.choice(copy.legal_actions())))
        assert type(copy).from_dict(copy.to_dict()) == copy


@EACH_GAME
def test_same_seed_same_deal(game: TestedGame) -> None:
    one = played(game.spec.config(num_players=4), 2, 50)
    assert determinize(one, 1, seed=5) == determinize(one, 1, seed=5)
    assert determinize(one, 1, seed=5) != determinize(one, 1, seed=6)
    assert determinize(one, 1) != determinize(one, 1)
    many = sample_determinizations(one, 4, 1, seed=5)
    assert len({state.tobytes() for state in many}) == 4
    assert many[:2].tobytes() == sample_determinizations(one, 2, 1, seed=5).tobytes()
    assert many[:1].tobytes() == determinize(one, 1, seed=5)._states.tobytes()
    assert determinize(one, seed=5) == determinize(one, one.seat, seed=5)


@EACH_GAME
def test_each_game_of_a_batch_has_its_own_viewer(game: TestedGame) -> None:
    games = [played(game.spec.config(), seed, 40) for seed in range(4)]
    states = np.concatenate([one._states for one in games])
    viewers = np.array([0, 1, 1, 0])
    determinize_batch(games[0].config, states, viewers, np.arange(4, dtype=np.uint64))
    for one, state, viewer in zip(games, states, viewers.tolist(), strict=True):
        copy = game.spec.game.from_state(one.config, state)
        assert copy.observation(viewer).tobytes() == one.observation(viewer).tobytes()
        assert copy != one


@EACH_GAME
def test_wrong_arguments(game: TestedGame) -> None:
    one = game.spec.game(game.spec.config(), seed=1)
    with pytest.raises(ValueError, match="seat: found 2, expected 0 to 1"):
        determinize(one, 2)
    with pytest.raises(ValueError, match="seed: found -1"):
        determinize(one, seed=-1)
    states, words = np.concatenate([one._states] * 2), np.ones(2, np.uint64)
    viewers: Any
    for viewers, message in (
        ([0, 2], r"viewers\[1\]: found 2, expected a seat from 0 to 1"),
        ([-1, 0], r"viewers\[0\]: found -1, expected a seat from 0 to 1"),
        ([True, 0], r"viewers: found .*, expected whole numbers of shape \(2,\)"),
        ([0], r"viewers: found int64 of shape \(1,\), expected whole numbers of shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            determinize_batch(one.config, states, viewers, words)


# how likely deals are


def _has_much_to_hide(game: HelsinkiGame) -> bool:
    """Seat 0 looks while its own decision is due: the other hand is bound by nothing."""
    return game.seat == 0 and int((game.state.hand[1] - game.state.known[1]).sum()) >= 2


@pytest.mark.skipif(not JIT, reason="too slow")
def test_places_of_the_first_pile_are_equally_likely() -> None:
    """Each hidden card is in any hidden place with the same chance, but only a 5 can be the removed one."""
    game = next(game for seed in range(100) if _has_much_to_hide(game := played(HelsinkiConfig(), seed, 20)))
    components = game.config.component_set
    n = 40_000
    g = game.state
    in_view = g.discard + g.hand[0] + g.known[1] + np.bincount(g.display[g.display >= 0], minlength=len(g.discard))
    for card in (g.card, *g.paid[: g.paid_count]):
        in_view[card] += card >= 0
    unknown = (np.array(components.deck(2)) - in_view[: components.types]).astype(float)
    fives = np.array([components.card_number(card) == 5 for card in range(components.types)])
    hidden = int((g.hand[1] - g.known[1]).sum())
    size = int(g.pile_size)
    assert unknown.sum() == size + hidden + 1
    states = sample_determinizations(game, n, 0, seed=3)
    removed = unknown * fives / (unknown * fives).sum()
    elsewhere = (unknown - removed) / (size + hidden)
    held = (states["hand"][:, 1] - states["known"][:, 1])[:, : components.types]
    places = {"next card": states["pile"][:, size - 1], "last card": states["pile"][:, 0]}
    counts = {name: np.bincount(cards, minlength=components.types) for name, cards in places.items()}
    counts["hand"] = held.sum(axis=0) / hidden
    piles = np.stack([(states["pile"][:, :size] == card).sum(axis=1) for card in range(components.types)], axis=1)
    counts["removed"] = (unknown - piles - held).sum(axis=0)
    for name, found in counts.items():
        expected = n * (removed if name == "removed" else elsewhere)
        assert (found[expected == 0] == 0).all()
        some = expected > 0
        freedom = some.sum() - 1
        value = ((found - expected)[some] ** 2 / expected[some]).sum()
        assert value < freedom + 4 * (2 * freedom) ** 0.5, name


def small_reshuffled() -> Iterator[tuple[HelsinkiGame, int]]:
    """Positions after a reshuffle in which few cards are hidden from a viewer, of various kinds."""
    kinds: Counter[tuple[int, int, bool]] = Counter()
    for number in range(4000):
        rng = random.Random(number)
        game = notation.from_dict(positions.build(rng, "thin pile", components="default"))
        for _ in range(40):
            if game.done:
                break
            game.step(int(rng.choice(game.legal_actions())))
            g = game.state
            if not g.reshuffled.any():
                continue
            for viewer in range(game.num_players):
                others = [seat for seat in range(game.num_players) if seat != viewer]
                drawn = int((g.unseen[others] >= 0).sum())
                hidden = int((g.hand[others] - g.known[others]).sum())
                if drawn and drawn + g.pile_size <= 6 and hidden <= 4:
                    bound = game.seat != viewer and str(game.phase) in ("PAY", "DISCARD")
                    kind = (game.num_players, drawn, bound)
                    kinds[kind] += 1
                    if kinds[kind] == 1:
                        yield game.clone(), viewer


Outcome = tuple[object, ...]


def all_deals(game: HelsinkiGame, viewer: int) -> Counter[Outcome]:
    """Return every consistent deal with its number of permutations of distinct cards."""
    g, components = game.state, game.config.component_set
    others = [seat for seat in range(game.num_players) if seat != viewer]
    shown = Counter(dict(enumerate(g.discard.tolist())))
    shown.update(g.paid[: g.paid_count].tolist())
    shown.update([int(g.card)] if g.card >= 0 else [])
    unknown = Counter(dict(enumerate(components.deck(game.num_players))))
    unknown.subtract(shown)
    unknown.subtract(g.display[g.display >= 0].tolist())
    unknown.subtract(dict(enumerate(g.hand[viewer].tolist())))
    for seat in others:
        unknown.subtract(dict(enumerate(g.known[seat].tolist())))
    in_pile = Counter(dict(enumerate(g.reshuffled.tolist())))
    in_pile.subtract(g.unseen[viewer][g.unseen[viewer] >= 0].tolist())
    slots = [seat for seat in others for _ in range(int((g.unseen[seat] >= 0).sum()))]
    hands = [seat for seat in others for _ in range(int((g.hand[seat] - g.known[seat]).sum()))]
    found: Counter[Outcome] = Counter()
    for order in itertools.permutations(in_pile.elements()):
        drawn, pile = order[: len(slots)], order[len(slots) :]
        rest = Counter(unknown)
        rest.subtract(pile)
        if min(rest.values()) < 0:
            continue
        pool = list(rest.elements())
        for dealt in itertools.permutations(pool):
            held: dict[int, Counter[int]] = {seat: Counter() for seat in others}
            for seat, card in zip(hands, dealt, strict=False):
                held[seat][card] += 1
            left = dealt[len(hands) :]
            if any(components.card_number(card) != 5 for card in left):
                continue
            missing: Counter[int] = Counter()
            for seat in others:
                mine = Counter(card for s, card in zip(slots, drawn, strict=True) if s == seat)
                missing.update(mine - held[seat])
            if missing - shown:
                continue
            if not _can_go_on(game, viewer, held):
                continue
            found[_outcome(pile, [drawn, *(tuple(sorted(held[seat].elements())) for seat in others)])] += 1
    return found


def _outcome(pile: tuple[int, ...], rest: list[tuple[int, ...]]) -> Outcome:
    return (tuple(pile), *rest)


def _can_go_on(game: HelsinkiGame, viewer: int, held: dict[int, Counter[int]]) -> bool:
    if game.seat == viewer:
        return True
    copy = game.clone()
    for seat, cards in held.items():
        copy.state.hand[seat] = copy.state.known[seat]
        for card, n in cards.items():
            copy.state.hand[seat, card] += n
    return bool(copy.action_mask().any())


def made_up_reshuffled(number: int) -> HelsinkiGame:
    """A position after a reshuffle with few hidden cards, many alike; seat 0 looks and has nearly all others."""
    rng = random.Random(number)
    players = rng.choice((2, 2, 3))
    game = HelsinkiGame(HelsinkiConfig(num_players=players), seed=number)
    g, components = game.state, game.config.component_set
    deck = Counter(dict(enumerate(components.deck(players))))
    g.phase, g.token[:players], g.last_round = 1, 0, 1
    g.pile[:], g.display[:] = 0, -1
    some = [0, 10, 20, 50, 50, 8, 9, 18, 28]
    left = list((Counter({card: deck[card] for card in some})).elements())
    rng.shuffle(left)
    removed = next(card for card in left if components.card_number(card) == 5)
    left.remove(removed)
    deck[removed] -= players == 2
    g.pile_size = rng.randint(1, 3)
    for place in range(g.pile_size):
        g.pile[place] = left.pop()
        g.reshuffled[g.pile[place]] += 1
    for seat in range(1, players):
        hidden = [left.pop() for _ in range(rng.randint(1, 2))]
        for slot in range(rng.randint(players == 2, 2)):
            card = hidden.pop() if hidden and rng.random() < 0.6 else left.pop()
            g.unseen[seat, slot] = card
            g.reshuffled[card] += 1
            if rng.random() < 0.5:
                g.hand[seat, card] += 1
            else:
                g.discard[card] += 1
        for card in hidden:
            g.hand[seat, card] += 1
    in_view = np.array([deck[card] for card in range(components.types)]) - g.discard - g.hand.sum(axis=0)
    np.subtract.at(in_view, g.pile[: g.pile_size], 1)
    shown = rng.random() < 0.3
    (g.discard if shown else g.hand[0])[:] += in_view.astype(np.int8)
    return game


def _compare_with_all_deals(game: HelsinkiGame, viewer: int, n: int) -> int:
    """Compare how often each deal comes up with what it should be; return how many deals there are."""
    expected = all_deals(game, viewer)
    g = game.state
    others = [seat for seat in range(game.num_players) if seat != viewer]
    counts: Counter[Outcome] = Counter()
    states = sample_determinizations(game, n, viewer, seed=11)
    piles, unseen = states["pile"][:, : g.pile_size].tolist(), states["unseen"].tolist()
    hidden = (states["hand"] - states["known"]).tolist()
    for pile, draws, held in zip(piles, unseen, hidden, strict=True):
        drawn = tuple(card for seat in others for card in draws[seat] if card >= 0)
        hands = [tuple(card for card, n in enumerate(held[seat]) if n for _ in range(n)) for seat in others]
        counts[_outcome(tuple(pile), [drawn, *hands])] += 1
    assert set(counts) <= set(expected)
    total = sum(expected.values())
    if len(expected) > 1:
        assert chi_square(dict(counts), {key: n * ways / total for key, ways in expected.items()}) < 5
    return len(expected)


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="too slow")
def test_deals_after_a_reshuffle_are_as_likely_as_they_should_be() -> None:
    found = [_compare_with_all_deals(game, viewer, 10_000) for game, viewer in itertools.islice(small_reshuffled(), 6)]
    assert sum(n > 1 for n in found) >= 3


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="too slow")
def test_deals_with_many_cards_alike_are_as_likely_as_they_should_be() -> None:
    found = [_compare_with_all_deals(made_up_reshuffled(number), 0, 10_000) for number in range(20)]
    assert sum(n > 1 for n in found) >= 16


def _too_many_cards() -> HelsinkiGame:
    game: HelsinkiGame = played(HelsinkiConfig(), 4, 70)
    game.state.hand[1, 0] += 9
    game.state.known[1, 0] += 9
    return game


def _too_large_a_pile() -> HelsinkiGame:
    game = made_up_reshuffled(1)
    game.state.reshuffled[0] += 1
    return game


def _draws_from_another_pile() -> HelsinkiGame:
    game = made_up_reshuffled(1)
    game.state.unseen[0, 0] = int(np.flatnonzero(game.state.reshuffled == 0)[0])
    return game


@pytest.mark.parametrize("make", [_too_many_cards, _too_large_a_pile, _draws_from_another_pile])
def test_a_position_that_no_game_leads_to(make: Callable[[], HelsinkiGame]) -> None:
    game = make()
    with pytest.raises(DeterminizationError, match="the observation of seat 0"):
        determinize(game, 0)
