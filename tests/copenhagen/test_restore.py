"""Games made up again from an observation: the seat sees the same, and everything that is public is what it was."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine import loops
from helsinki_env.engine.determinization import (
    DeterminizationError,
    ObservationError,
    determinize_batch,
    determinize_observation,
    sample_determinizations,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.components import load_components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.observation import FIELDS, unpack
from helsinki_env.games.copenhagen.state import PHASES, TILES
from helsinki_env.games.copenhagen.state_from_observation import states_from_observations
from tests.copenhagen.positions import built_position, rich
from tests.copenhagen.test_equal import another_box, random_config
from tests.games import rare_action
from tests.test_restore import check as check_any


def moments(rng: random.Random, game: CopenhagenGame, most: int = 1000) -> Iterator[CopenhagenGame]:
    """The positions of a game played on at random, up to its end."""
    for _ in range(most):
        if game.done:
            return
        yield game.clone()
        game.step(rare_action(game, rng))


def some_games(count: int, components: str = "copenhagen") -> Iterator[CopenhagenGame]:
    """Positions from whole games of two, three and four players, and from turns that begin with built ones."""
    for number in range(count):
        rng = random.Random(f"restored {number}")
        yield from moments(rng, CopenhagenGame(random_config(rng, [components]), seed=number))
        for _ in range(10 if JIT else 1):
            built = CopenhagenGame.from_dict(built_position(random_config(rng, [components]), rng))
            yield from moments(rng, built, 6)
        if components == "copenhagen":
            yield from moments(rng, CopenhagenGame.from_dict(rich(rng)), 12)


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


def test_deals_are_those_of_a_redeal_that_had_the_game() -> None:
    """So a redeal uses nothing that the seat cannot see, and an observation says all that it needs."""
    for number, game in enumerate(some_games(6 if JIT else 1)):
        if number % (1 if JIT else 20) == 0:
            copies = determinize_observation(game.config, game.observation(), 2, seed=number)
            assert copies.tobytes() == sample_determinizations(game, 2, seed=number).tobytes()


def middle(seed: int = 1, players: int = 2, steps: int = 61) -> CopenhagenGame:
    return list(moments(random.Random(seed), CopenhagenGame(CopenhagenConfig(players), seed=seed), steps))[-1]


def test_rounds_and_points_that_are_not_told() -> None:
    game = middle()
    game.state.round_number, game.state.points[0] = 300, 200
    restored = states_from_observations(game.config, game.observation()[None])
    assert (restored["round_number"][0], restored["points"][0, 0]) == (127, 127)


# what goes wrong


def changed(seen: Any, name: str, place: Any, value: int) -> Any:
    """An observation with one entry of a piece changed."""
    other = seen.copy()
    unpack(other)[name][place] = value
    return other


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("phase", 0, 2, "phase[0]: found 2"),
        ("display", 3, 6, "display[3]: found 6"),
        ("display", 3, -1, "display[3]: found -1"),
        ("table", 1, 4, "table[1]: found 4"),
        ("table", 1, 2, "table[1]: found the seat 2"),
        ("table", 3, 102, "table[3]: found 102"),
        ("table", 4, 2, "table[4]: found 2"),
        ("table", 5, 13, "table[5]: found 13"),
        ("seats", (1, 1), -1, "seats[1, 1]: found -1"),
        ("seats", (0, 1), 90, "seats[0, 1]: found 90"),
        ("seats", (1, 0), 0, "seats[1, 0]: found 0"),
        ("seats", (2, 2), 3, "seats[2, 2]: found 3"),
        ("tile_supply", (0, 3), 2, "tile_supply[0, 3]: found 2"),
        ("discard", 4, -128, "discard[4]: found -128"),
        ("hand", 0, 15, "hand[0]: found 15"),
        ("reshuffled", 0, 127, "reshuffled[0]: found 127"),
        ("reshuffled", 0, 1, "reshuffled: found cards"),
        ("boards", (0, 0, 2, 2), 7, "boards[0, 0, 2, 2]: found 7"),
        ("boards", (0, 1, 2, 2), TILES + 1, "boards[0, 1, 2, 2]: found 23"),
        ("boards", (1, 1, 8, 4), TILES, "boards: found numbers of tiles that are no tiles of the box"),
        ("boards", (1, 0, 8, 4), 3, "boards[1, 0, 8, 4]: found 3"),
        ("boards", (1, 2, 8, 4), 1, "boards[1, 2, 8, 4]: found 1"),
        ("boards", (2, 0, 0, 0), 6, "boards[2, 0, 0, 0]: found 6"),
        ("boards", (1, 3, 0, 0), 1, "boards[1, 3, 0, 0]: found 1"),
        ("row_coats", (0, 1), 0, "row_coats[0, 1]: found 0"),
        ("abilities", (3, 0), 1, "abilities[3, 0]: found 1"),
        ("used", (0, 2), 2, "used[0, 2]: found 2"),
        ("known", (1, 3), 14, "known: found more cards than the hand holds"),
        ("known", (0, 3), 14, "known: found more cards than the hand holds"),
        ("pending", 8, 6, "pending[8]: found 6"),
        ("pending", 9, 9, "pending[9]: found 9"),
        ("pending", 0, 1, "pending: found what is not in progress in this phase"),
        ("pending", 6, 1, "pending: found what is not in progress in this phase"),
        ("pending", 7, 2, "pending: found what is not in progress in this phase"),
        ("pending", 8, 2, "pending: found what is not in progress in this phase"),
        ("pending", 9, 2, "pending: found what is not in progress in this phase"),
        ("pending", 11, 2, "pending: found what is not in progress in this phase"),
        ("paid", 2, 2, "pending: found what is not in progress in this phase"),
        ("paid", 2, 6, "paid[2]: found 6"),
        ("rewards", 0, 2, "pending: found what is not in progress in this phase"),
    ],
)
def test_an_entry_that_cannot_be_is_named(name: str, place: Any, value: int, message: str) -> None:
    game = next(
        game for game in moments(random.Random(1), CopenhagenGame(seed=1)) if game.phase == "MAIN" and game.round == 4
    )
    seen = changed(game.observation(), name, place, value)
    with pytest.raises(ObservationError, match=re.escape(f"observations[1]: {message}")):
        states_from_observations(game.config, np.stack([middle(2).observation(), seen]))
    with pytest.raises(ObservationError, match=re.escape(f"observations[0]: {message}")):
        determinize_observation(game.config, seen, 1)


@pytest.mark.thorough
def test_every_mutation_is_refused_or_can_be_looked_at() -> None:
    """One entry or a few changed at random: what is accepted is seen as it is; whatever follows names its fault."""
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
    return next(game for game in some_games(60) if game.phase == phase)


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
        with pytest.raises(ObservationError, match="pending: found what is not"):
            states_from_observations(game.config, seen[None])
    other = next(c for c in range(5) if c not in (game.state.tile // 4, game.state.recolour))
    with pytest.raises(ObservationError, match="pending: found what is not"):
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


def test_an_observation_that_cannot_come_up() -> None:
    game = middle()
    seen = game.observation()
    unpack(seen)["hand"][3] += 5
    unpack(seen)["seats"][0, 1] += 5
    with pytest.raises(DeterminizationError, match=r"game 0: found no deal that fits the observation of seat \d"):
        determinize_observation(game.config, seen, 1)
