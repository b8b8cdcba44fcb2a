"""States of Copenhagen reconstructed from observations, and observations that are rejected."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine import loops
from helsinki_env.engine.determinization import (
    DeterminizationError,
    ObservationError,
    determinize_batch,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.components import load_components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.observation import FIELDS, unpack
from helsinki_env.games.copenhagen.state import PHASES
from helsinki_env.games.copenhagen.state_from_observation import states_from_observations
from tests.copenhagen.test_equal import another_box
from tests.test_restore import check as check_any
from tests.test_restore import copenhagen_games as some_games
from tests.test_restore import moments


def check(games: list[CopenhagenGame], components: str) -> None:
    """Check everything that holds for any game, and that the pile is blank."""
    check_any(games, components)
    seen = np.stack([game.observation() for game in games])
    assert not states_from_observations(CopenhagenConfig(components=components), seen)["pile"].any()


def kinds_of(games: list[CopenhagenGame]) -> Counter[str]:
    """How often everything came up that a record can hold."""
    seen: Counter[str] = Counter()
    for game in games:
        g = game.state
        seen.update((str(game.phase), f"{game.num_players} players"))
        seen["End of Game card in the pile of three or four"] += int(g.players > 2 and g.end_card)
        seen["denied"] += int(g.denied.any())
        seen["white tiles"] += int(g.white.any())
        seen["two tiles or more"] += int((g.tile_count > 1).any())
        seen["using abilities"] += int(g.using != 0)
        seen["recoloured"] += int(g.recolour >= 0)
        seen["some paid"] += int(g.paid.any())
        seen["some discarded"] += int(g.last_discard >= 0)
        seen["rewards"] += int(g.rewards)
    return seen


@pytest.mark.thorough
def test_what_is_public_comes_back_and_the_seat_sees_the_same() -> None:
    games = list(some_games(40 if JIT else 2))
    check(games, "copenhagen")
    if JIT:
        seen = kinds_of(games)
        assert set(PHASES) <= set(seen)
        assert min(seen.values()) >= 10, seen


def test_another_box(tmp_path: Path) -> None:
    components = another_box(tmp_path)
    check(list(some_games(10 if JIT else 1, components)), components)


def test_rounds_and_points_that_are_not_told() -> None:
    game = list(moments(random.Random(1), CopenhagenGame(seed=1), 61))[-1]
    game.state.round_number, game.state.points[0] = 300, 200
    restored = states_from_observations(game.config, game.observation()[None])
    assert (restored["round_number"][0], restored["points"][0, 0]) == (127, 127)


# errors


def changed(seen: Any, name: str, place: Any, value: int) -> Any:
    """An observation with one entry of a piece changed."""
    other = seen.copy()
    unpack(other)[name][place] = value
    return other


@pytest.mark.thorough
def test_every_mutation_is_refused_or_can_be_looked_at() -> None:
    """Change one to three random entries: accepted observations are reproduced, all others name an error."""
    rng = np.random.default_rng(7)
    config = CopenhagenConfig()
    games = [game for i, game in enumerate(some_games(20 if JIT else 1)) if i % 3 == 0]
    refused: Counter[str] = Counter()
    for game in games:
        seen = game.observation()
        for _ in range(6 if JIT else 1):
            other = seen.copy()
            for number in rng.integers(1, len(FIELDS), rng.integers(1, 4)):
                piece = FIELDS[number]
                at = piece.start + rng.integers(piece.size)
                other[at] = rng.choice([0, 1, 2, min(int(other[at]) + 1, 127), int(rng.integers(-128, 128))])
            if rng.random() < 0.3:
                board = unpack(other)["boards"][rng.integers(game.num_players)]
                board[rng.integers(4), rng.integers(9), rng.integers(5)] = rng.integers(0, 7)
            try:
                states = states_from_observations(config, other[None])
            except ObservationError as error:
                refused[re.split(r"[\[:]", str(error).split(": ", 1)[1])[0]] += 1
                continue
            assert loops.batch_reconstruct(config.tables[0], other[None], states) == (-1, -1)
            again = np.zeros_like(other[None])
            loops.batch_observe(config.tables[0], states, states["seat"].astype(np.int64), again)
            assert again[0].tobytes() == other.tobytes()
            loops.batch_mask(config.tables[0], states, np.zeros((1, 459), np.int8))
            try:
                determinize_batch(config, states, states["seat"].astype(np.int64), np.array([3], np.uint64))
            except (DeterminizationError, ValueError):  # the latter names a field that is out of range
                refused["no deal"] += 1
                continue
            refused["accepted"] += 1
    if JIT:
        assert {piece.name for piece in FIELDS} - {"phase", "rewards", "paid"} <= set(refused), refused
        assert refused["no deal"] > 50
        assert refused["accepted"] > 50


def tile_of(game: CopenhagenGame) -> tuple[Any, Any]:
    """An observation, and the cells of the second tile of the seat to move."""
    seen = game.observation()
    return seen, np.argwhere(unpack(seen)["boards"][0, 1] == 2)


@pytest.mark.parametrize("fault", ["a cell of the first", "a cell of none", "no brick", "two bricks", "a white cell"])
def test_tiles_that_are_none_are_refused(fault: str) -> None:
    game = next(game for game in some_games(3) if game.state.tile_count[game.seat] > 1)
    seen, cells = tile_of(game)
    colours, numbers, bricks, _ = unpack(seen)["boards"][0]
    brick = next(tuple(cell) for cell in cells if bricks[tuple(cell)])
    window = next(tuple(cell) for cell in cells if not bricks[tuple(cell)])
    if fault == "a cell of the first":
        numbers[window] = 1
    elif fault == "a cell of none":
        numbers[window] = 0
    elif fault == "no brick":
        bricks[brick] = 0
    elif fault == "two bricks":
        bricks[window] = 1
    else:
        colours[window] = 6
    with pytest.raises(ObservationError, match=r"observations\[0\]: boards"):
        states_from_observations(game.config, seen[None])


def in_phase(phase: str) -> CopenhagenGame:
    found: CopenhagenGame = next(game for game in some_games(60) if game.phase == phase)
    return found


@pytest.mark.parametrize(
    ("phase", "changes"),
    [
        ("PLACE", {6: 0}),
        ("PLACE", {7: 0}),
        ("PLACE", {7: 1}),
        ("PLACE", {9: 1, 10: 1}),
        ("PLACE", {11: 1}),
        ("RECOLOUR", {6: 0, 7: 0}),
        ("RECOLOUR", {8: 1}),
        ("PAY", {8: 0}),
        ("PAY", {9: 0}),
        ("PAY", {10: 0}),
        ("PAY", {11: 0}),
        ("PAY", {9: 1, 10: 45}),
        ("COAT", {0: 1}),
        ("TAKE", {12: 6}),
        ("TAKE", {0: 8}),
    ],
)
def test_what_is_in_progress_belongs_to_the_phase(phase: str, changes: dict[int, int]) -> None:
    game = in_phase(phase)
    seen = game.observation()
    for place, value in changes.items():
        unpack(seen)["pending"][place] = value
    with pytest.raises(ObservationError, match=r"observations\[0\]: pending"):
        states_from_observations(game.config, seen[None])


def test_a_tile_that_lies_nowhere_and_cards_of_a_third_colour() -> None:
    game = in_phase("PAY")
    filled = int(game.state.filled[game.seat])
    for cell in (cell for cell in range(45) if filled >> cell & 1):
        seen = changed(game.observation(), "pending", 10, cell + 1)
        seen = changed(seen, "pending", 9, 1)
        with pytest.raises(ObservationError, match="pending: found entries that do not fit the phase"):
            states_from_observations(game.config, seen[None])
    other = next(c for c in range(5) if c not in (game.state.tile // 4, game.state.recolour))
    with pytest.raises(ObservationError, match="pending: found entries that do not fit the phase"):
        states_from_observations(game.config, changed(game.observation(), "paid", other, 1)[None])


def test_numbers_beyond_what_another_box_holds(tmp_path: Path) -> None:
    """What is in range depends on the component file."""
    config = CopenhagenConfig(4, components=another_box(tmp_path))
    assert max(load_components(config.components).cards) == 10
    seen = CopenhagenGame(config, seed=1).observation()
    assert states_from_observations(config, seen[None])["players"][0] == 4
    with pytest.raises(ObservationError, match=r"discard\[0\]: found 11"):
        states_from_observations(config, changed(seen, "discard", 0, 11)[None])
    with pytest.raises(ObservationError, match=r"table\[5\]: found 12"):
        states_from_observations(config, CopenhagenGame(seed=1).observation()[None])
