"""Reasons in words: in positions with known reasons, and never more than the positions say."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from helsinki_env.engine.determinization import determinize
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.web.help import help_module
from helsinki_env.web.reasons import gains, hint, reason_text, reasons
from tests.games import EACH_GAME, TestedGame
from tests.test_help import bits, positions


def action_of(game: Any, text: str) -> int:
    """The legal action with a notation."""
    return next(int(one) for one in game.legal_actions() if game.spec.action_to_string(int(one), game.config) == text)


def changed(game: Any) -> Any:
    """A game whose state was changed by hand: its legal actions are found again."""
    game._mask_fresh = False
    return game


def with_wild_tiles(*cells: int) -> Any:
    """A position of seat 0, which puts a wild tile on a cell next to those."""
    one = HelsinkiGame(HelsinkiConfig(2), seed=3)
    one.step(0)  # token on space 0
    one.state.built[0] |= bits(*cells)
    one.state.wild[0] = bits(*cells)
    one.state.wild_supply = one.state.wild_supply - len(cells)
    one.state.meadow[0], one.state.coats[0] = 1, bits(1, 2, 3, 4, 5, 6, 7)
    return changed(one)


def test_a_full_row_is_the_reason() -> None:
    one = with_wild_tiles(0, 1, 2, 3, 4, 5)
    one.step(action_of(one, "USE one_wild_tile"))
    said = reasons(one, action_of(one, "WILD r0c6"), action_of(one, "WILD r1c2"))
    assert said[:2] == ["it makes 2 more points", "it fills 1 row"]
    text = reason_text(one, action_of(one, "WILD r0c6"), action_of(one, "WILD r1c2"))
    assert text.startswith("It makes 2 more points")
    assert text.endswith(".")
    assert "it fills" not in " ".join(reasons(one, action_of(one, "WILD r1c2"), action_of(one, "WILD r0c6")))


def test_cells_of_a_line_are_the_reason_before_it_is_full() -> None:
    one = with_wild_tiles(0, 1, 2, 3, 5)
    one.step(action_of(one, "USE one_wild_tile"))
    said = reasons(one, action_of(one, "WILD r0c4"), action_of(one, "WILD r1c2"))
    assert said == ["the nearest line then has 6 of 7 cells"]


def test_cards_of_one_color_are_the_reason() -> None:
    found = 0
    for seed in range(12):
        one, rng = HelsinkiGame(HelsinkiConfig(2), seed=seed), random.Random(seed)
        for _ in range(60):
            texts = {one.spec.action_to_string(int(a), one.config): int(a) for a in one.legal_actions()}
            builds = [action for text, action in texts.items() if text.startswith("BUILD")]
            if "DRAW" in texts and builds:
                g, c, token = one.state, one.config.component_set, int(one.state.token[one.seat])
                hand = [card for card in range(c.wild_type) for _ in range(int(g.hand[one.seat, card]))]
                drawn = [int(g.display[slot]) for slot in ((token - 1) % 8, token)]
                colors = Counter(c.card_color(card) for card in (*hand, *drawn) if 0 <= card < c.wild_type)
                before = Counter(c.card_color(card) for card in hand)
                most = max(colors.values())
                if most >= 3 and most > max(before.values()):
                    found += 1
                    assert f"the hand then has {most} cards of one color" in reasons(one, texts["DRAW"], builds[0])
            one.step(rng.choice([texts["DRAW"]] if "DRAW" in texts and rng.random() < 0.7 else [*texts.values()]))
            if one.done:
                break
    assert found >= 5


@EACH_GAME
def test_points_are_a_reason_exactly_if_the_actions_differ_in_them(game: TestedGame) -> None:
    named = 0
    for one in positions(game, 160):
        ends = {}
        for action in one.legal_actions().tolist():
            after = one.clone()
            after.step(action)
            if after.seat != one.seat or after.done:
                ends[action] = int(after.scores()[one.seat])
        for better in list(ends)[:4]:
            for taken in list(ends)[-4:]:
                found = gains(one, better, taken)
                assert ("points" in found) == (ends[better] > ends[taken])
                if "points" in found:
                    assert found["points"] == (ends[better], ends[taken])
                    named += 1
    assert named > 0 or game.name == "helsinki"


@EACH_GAME
def test_every_named_fact_has_words_and_a_larger_value(game: TestedGame) -> None:
    module, seen = help_module(game.name), set[str]()
    rng = random.Random(3)
    for one in positions(game, 60):
        legal = one.legal_actions().tolist()
        better, taken = rng.choice(legal), rng.choice(legal)
        found = gains(one, better, taken)
        for name, (more, less) in found.items():
            assert more > less
            assert module is not None
            assert module.fact_words(name, more, less)[0].islower()
            seen.add(name)
        if better == taken:
            assert found == {}
        assert hint(one, better, taken).endswith(".")
    assert len(seen) >= 4


@pytest.mark.thorough
@EACH_GAME
def test_reasons_do_not_depend_on_hidden_cards(game: TestedGame) -> None:
    rng = random.Random(5)
    for seed, one in enumerate(positions(game, 40)):
        legal = one.legal_actions().tolist()
        better, taken = rng.choice(legal), rng.choice(legal)
        other = determinize(one, seed=seed)
        assert reason_text(one, better, taken) == reason_text(other, better, taken)
        assert hint(one, better, taken) == hint(other, better, taken)
