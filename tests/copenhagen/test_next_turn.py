"""Look-ahead features of Copenhagen agree with the rules and the heuristic, and show nothing hidden."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from helsinki_env.agents.copenhagen.decide import select_action
from helsinki_env.agents.copenhagen.features import next_turn_parts, seat_parts, write_next_turn
from helsinki_env.agents.copenhagen.hand import hand_value
from helsinki_env.agents.copenhagen.heuristic_api import expected_points
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.agents.net.afterstates import AfterstateBatch, AfterstateEncoder
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.search.workspace import new_workspace, reset_views
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.state import PHASE_MAIN
from tests.copenhagen.test_players import observed, some_games
from tests.support.networks import assert_only_adds_features

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

CONFIG = CopenhagenConfig()
PARTS = next_turn_parts(5)
AT = np.cumsum([0, *(part.size for part in PARTS)])
TAKE, BUILD = (
    slice(a.KIND_OFFSETS[kind], a.KIND_OFFSETS[kind] + n) for kind, n in ((a.KIND_TAKE, 6), (a.KIND_BUILD, 20))
)
EXTRA = 1 << a.ADDITIONAL_CARD | 1 << a.BOTH_ACTIONS
desk_of = cache(new_workspace)


def by_part(numbers: npt.NDArray[np.int8]) -> dict[str, npt.NDArray[np.int64]]:
    """The numbers of a seat by the name of their part."""
    features = numbers[-AT[-1] :].astype(np.int64)
    return {part.name: features[begin:end] for part, begin, end in zip(PARTS, AT, AT[1:], strict=False)}


def written(game: CopenhagenGame, seat: int) -> tuple[dict[str, npt.NDArray[np.int64]], float]:
    """Return the look-ahead features of a seat, and the value of its hand."""
    desk: Any = desk_of(game.config)
    reset_views(desk, GOLDEN)
    t, p, w, v = desk.tables[0], desk.pieces[0], desk.weights[0], desk.views[0]
    expected_points(t, p, w, game.state, seat, v)
    out = np.zeros(AT[-1], np.int8)
    write_next_turn(t, p, w, game.state, v, seat, AT, out)
    return by_part(out), hand_value(w, v)


def heuristic_values(game: CopenhagenGame) -> npt.NDArray[np.float64]:
    desk: Any = desk_of(game.config)
    reset_views(desk, GOLDEN)
    values = np.full(a.NUM_ACTIONS, ILLEGAL_VALUE)
    select_action(
        desk.tables[0], desk.pieces[0], desk.weights[0], game.state, desk.views[0], game.action_mask(), values, True
    )
    return values


@cache
def begun_turns() -> list[CopenhagenGame]:
    """Games in which the seat to move begins its turn."""
    found = [game for game in some_games() if game.state.phase == PHASE_MAIN]
    assert len(found) > 200
    return found


def encoded(games: list[CopenhagenGame], ahead: bool) -> AfterstateBatch:
    observation, mask, _ = observed(games)
    return AfterstateEncoder(CONFIG, most=a.NUM_ACTIONS, ahead=ahead).write(observation, mask)


def test_what_can_be_constructed_agrees_with_the_rules() -> None:
    possible = 0
    for game in begun_turns():
        found, _ = written(game, game.seat)
        legal = game.action_mask()[BUILD]
        np.testing.assert_array_equal(found["can construct, by tile"], legal)
        possible += legal.sum()
    assert possible > 200


def test_gains_are_those_by_which_the_heuristic_decides() -> None:
    compared = {"take": 0, "construct": 0}
    for game in begun_turns():
        found, held = written(game, game.seat)
        values, mask = heuristic_values(game), game.action_mask()
        active = int(game.state.owned[game.seat]) & ~int(game.state.used[game.seat])
        for slot in range(6):
            if mask[TAKE][slot] and not active & EXTRA:  # a third card and both actions are left out of these gains
                gain = np.clip(8.0 * (values[TAKE][slot] - held), -127, 127)
                assert abs(found["gain of taking, by first card"][slot] - gain) <= 0.51
                compared["take"] += 1
        for tile in np.flatnonzero(mask[BUILD]):
            gain = np.clip(8.0 * (values[BUILD][tile] - held), -127, 127)
            assert abs(found["gain of constructing, by tile"][tile] - gain) <= 0.51
            compared["construct"] += 1
    assert min(compared.values()) > 150, compared


def test_placing_is_worth_more_than_constructing_the_same_tile() -> None:
    """The difference is the value of the cards that are paid."""
    for game in begun_turns():
        found, _ = written(game, game.seat)
        free = np.maximum(found["gain of placing, by tile"], found["gain of placing next to its color, by tile"])
        able = found["can construct, by tile"] == 1
        assert (free[able] + 1 >= found["gain of constructing, by tile"][able]).all()
        assert (found["plans by color with one more card"] >= found["plans by color"]).all()


def test_the_best_next_turn_and_the_lead_follow_from_the_rest() -> None:
    games = some_games()[:300]
    inputs, base = encoded(games, True), feature_offsets(CONFIG).seat
    names = [part.name for part in seat_parts(5)]
    expected_at, present_at = (int(base[names.index(name)]) for name in ("expected points", "present"))
    leads = 0
    for position in range(len(inputs.table)):
        present = int((inputs.seats[position, :, present_at] > 0).sum())
        seats = [by_part(inputs.seats[position, turn]) for turn in range(present)]
        best = [int(seat["gain of the next turn"][0]) for seat in seats]
        for seat, gain in zip(seats, best, strict=True):
            able = seat["can construct, by tile"] == 1
            gains = [seat[f"gain of {name}"] for name in ("taking, by first card", "both actions")]
            assert gain == max(0, *np.concatenate([*gains, seat["gain of constructing, by tile"][able]]))
            assert not seat["gain of constructing, by tile"][~able].any()
        if max(best) > 120:
            continue
        total = [inputs.seats[position, turn, expected_at] / 2 + best[turn] / 8 for turn in range(present)]
        for turn, seat in enumerate(seats):
            lead = total[turn] - max(total[:turn] + total[turn + 1 :])
            assert abs(seat["lead in expected points after the next turn"][0] / 2 - lead) <= 0.9  # all are rounded
            leads += 1
    assert leads > 500


def test_all_other_features_are_the_same_without_it() -> None:
    games = some_games()[:300]
    with_it, without = encoded(games, True), encoded(games, False)
    assert with_it.seats.shape[2] == feature_offsets(CONFIG, ahead=True).seat[-1]
    assert_only_adds_features(with_it, without, AT[-1])


def test_cards_revealed_in_the_turn_show_nothing() -> None:
    """Cards that fill the slots of taken cards are unknown, so taking them has no gain."""
    games, shown = begun_turns()[:300], 0
    inputs = encoded(games, True)
    for choice, action in enumerate(inputs.action.tolist()):
        position = inputs.position[choice]
        if a.KIND_OFFSETS[a.KIND_TAKE] <= action < a.KIND_OFFSETS[a.KIND_TAKE] + 6 and inputs.ended[position] < 0:
            slot = action - a.KIND_OFFSETS[a.KIND_TAKE]
            for seat in inputs.seats[position]:
                assert by_part(seat)["gain of taking, by first card"][slot] == 0
                shown += 1
    assert shown > 400
