"""The evaluation cache of the heuristic changes no value."""

from __future__ import annotations

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.helsinki.board import defer_gain, gain_upper_bound, tile_gain
from helsinki_env.agents.helsinki.board_view import analyze_board, piece_table, read_hand
from helsinki_env.agents.helsinki.decide import best_legal, has_alternatives, reset_values
from helsinki_env.agents.helsinki.eval_cache import new_views
from helsinki_env.agents.helsinki.weights import QUICK
from helsinki_env.agents.heuristic_api import weights_record
from helsinki_env.engine.kernel import JIT, kernel
from tests.test_restore import dealt_games


@kernel
def _gains(t, p, w, states, v, later, gains, ceilings):
    """What the tile of every card adds from every side, two cards being drawn; `later`: put off, looked at after."""
    for b in range(len(states)):
        g = states[b]
        v.of_turns = -1.0
        analyze_board(t, w, g, g.seat, v)
        read_hand(t, g, g.seat, v)
        for rounds in range(2 if later else 1):
            v.later = v.later_now if rounds else v.later_drawn
            for card in range(t.types - 1):
                for side in range(4):
                    if later and not rounds:
                        defer_gain(t, g, v, card, side)
                    else:
                        gains[b, card, side] = tile_gain(t, p, w, g, v, card, side)
                        ceilings[b, card] = gain_upper_bound(t, w, v, card)


@pytest.fixture(scope="module")
def judged() -> list[np.ndarray]:
    """Gains as they are, ceilings, and gains that were put off, of positions all over some games."""
    config = HelsinkiConfig()
    games = list(dealt_games(4, "default"))[:: 3 if JIT else 60]
    states = np.concatenate([game._states for game in games if not game.done])
    t, p, w, v = config.tables[0], piece_table(config)[0], weights_record(QUICK)[0], new_views(1)[0]
    found = []
    for later in (False, True):
        gains, ceilings = np.zeros((len(states), t.types - 1, 4)), np.zeros((len(states), t.types - 1))
        _gains(t, p, w, states, v, later, gains, ceilings)
        found += [gains, ceilings]
    return found


@pytest.mark.thorough
def test_no_tile_adds_more_than_its_ceiling(judged: list[np.ndarray]) -> None:
    gains, ceilings, _, _ = judged
    possible = gains > 0
    assert possible.sum() > (1000 if JIT else 50)
    assert (gains <= ceilings[..., None]).all()
    assert (
        np.median((ceilings[..., None] / np.where(possible, gains, np.nan))[possible]) < 10
    )  # and is worth looking at


@pytest.mark.thorough
def test_what_was_put_off_is_what_it_was(judged: list[np.ndarray]) -> None:
    gains, _, put_off_gains, _ = judged
    np.testing.assert_array_equal(put_off_gains, gains)


@pytest.mark.parametrize("ids", [40, 64, 554])
def test_the_best_of_the_legal_ones_is_found(ids: int) -> None:
    """64 at once are looked at, wherever they begin and end."""
    rng = np.random.default_rng(ids)
    for _ in range(60):
        first, last = sorted(rng.integers(0, ids + 1, 2).tolist())
        mask, values = (rng.random(ids) < rng.choice([0.01, 0.1, 0.9])).astype(np.int8), rng.integers(0, 9, ids) / 2
        legal = [action for action in range(first, last) if mask[action]]
        best = max(legal, key=lambda action: (values[action], -action), default=-1)
        assert best_legal(values, mask, first, last) == best
        assert has_alternatives(mask) == (mask.sum() > 1)
        before = values.copy()
        count, one = reset_values(values, mask, first, last)
        assert count == len(legal)
        assert not legal or one in legal
        assert (values[first:last] == -1e9).all()
        values[first:last] = before[first:last]
        np.testing.assert_array_equal(values, before)
