"""The helpers of the kernels against plain definitions, and the decorator that compiles them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import HelsinkiConfig, HelsinkiGame, RandomEpisodes, load_components
from helsinki_env.engine import bits as sets
from helsinki_env.engine import component_reader, contract, loops, rng
from helsinki_env.engine.determinization import (
    DeterminizationError,
    ObservationError,
    determinize_batch,
    determinize_observation,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.states import copy_states, repeat_state
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import bits, legal, observation, score, shapes, state
from helsinki_env.games.helsinki.components import ROOFS
from helsinki_env.games.helsinki.state_from_observation import states_from_observations
from tests.games import EACH_GAME, TestedGame
from tests.oracles.helsinki import entry_paths, neighbours, orientations, slide
from tests.oracles.shared import GOLDEN, first_word, mix
from tests.support.positions import COMPONENTS

CELLS = st.sets(st.integers(0, 48))
FEW = settings(max_examples=100 if JIT else 20)


def as_bits(cells: Any) -> np.int64:
    return np.int64(sum(1 << cell for cell in cells))


def as_cells(cells: Any) -> set[int]:
    return {cell for cell in range(64) if int(cells) >> cell & 1}


# Sets of cells


@given(CELLS)
@FEW
def test_sets_of_cells(cells: set[int]) -> None:
    board = as_bits(cells)
    assert sets.popcount(board) == len(cells)
    assert as_cells(bits.neighbors(board)) == {near for cell in cells for near in neighbours(cell)}
    assert as_cells(bits.neighbors(bits.BOARD)) == set(range(49))
    if cells:
        assert sets.lowest_bit(board) == min(cells)
        assert as_cells(legal._highest(board)) == {max(cells)}
    for cell in cells:
        assert as_cells(sets.bit(cell)) == {cell}


def in_one_part(cells: set[int], targets: set[int]) -> bool:
    reached = {min(targets)} & cells
    while True:
        more = {near for cell in reached for near in neighbours(cell)} & cells - reached
        if not more:
            return targets <= reached
        reached |= more


@given(CELLS, st.sets(st.integers(0, 48), min_size=1, max_size=4))
@FEW
def test_connected_cells(cells: set[int], targets: set[int]) -> None:
    for board in (cells, cells | targets):
        assert bits.connected(as_bits(board), as_bits(targets)) == in_one_part(board, targets)


@given(CELLS)
@FEW
def test_full_lines(cells: set[int]) -> None:
    lines = [{7 * i + j for j in range(7)} for i in range(7)], [{7 * j + i for j in range(7)} for i in range(7)]
    for board in (cells, cells | lines[0][2] | lines[1][6] | lines[1][0]):
        rows, columns = ([line for line in kind if line <= board] for kind in lines)
        in_rows, in_columns, row_count, column_count = score.full_lines(as_bits(board))
        assert (as_cells(in_rows), as_cells(in_columns)) == (set().union(*rows), set().union(*columns))
        assert (row_count, column_count) == (len(rows), len(columns))


# The slide


@pytest.mark.parametrize("components", COMPONENTS)
def test_orientations_are_numbered_like_those_of_the_plain_rules(components: str) -> None:
    for drawing in load_components(components).shapes.values():
        ours = [frozenset(shapes.cells_of(rows)) for rows in component_reader.orientations(drawing)]
        assert ours == orientations(drawing)


@pytest.mark.parametrize("components", COMPONENTS)
@given(board=CELLS, more=CELLS)
@settings(max_examples=30 if JIT else 10)
def test_every_slide_ends_where_pushing_step_by_step_ends(components: str, board: set[int], more: set[int]) -> None:
    config = HelsinkiConfig(components=components)
    data, t = config.component_set, config.tables[0]
    for cells in (board & more, board):  # sparse boards let tiles pass more often
        built = as_bits(cells)
        for colour in range(5):
            for size in range(len(ROOFS)):
                _check_slides(data.shapes[data.tiles[colour][size]], t, 4 * colour + size, cells, built)


def _check_slides(drawing: tuple[str, ...], t: Any, kind: int, cells: set[int], built: np.int64) -> None:
    for side in range(4):
        packed = shapes.profile(built, side)
        found = {}
        for orientation in range(t.orientations[kind]):
            piece = 8 * kind + orientation
            legal_lanes = shapes.lanes(t, piece, side, packed)
            for lane in range(7):
                if legal_lanes >> lane & 1:
                    corner = shapes.resting_corner(t, piece, side, lane, built)
                    found[a.place_argument(side, orientation, lane)] = as_cells(shapes.tile_cells(t, piece, corner))
        ends = {argument: slide(path, cells) for argument, path in entry_paths(drawing, side)}
        assert found == {argument: set(end) for argument, end in ends.items() if end is not None}
        assert shapes.fits(t, kind, side, built) == bool(found)


# Chance


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
@FEW
def test_random_words(seed: int, stream: int, episode: int) -> None:
    assert int(rng.mix(np.uint64(seed))) == mix(seed)
    word = rng.initial_state(np.uint64(seed), np.uint64(stream), np.uint64(episode))
    assert int(word) == first_word(seed, stream, episode)


def test_the_generator_gives_the_published_numbers() -> None:
    """The first outputs of splitmix64 for seed 1234567, as its authors' program prints them."""
    word, found = 1234567, []
    for _ in range(5):
        word = (word + GOLDEN) % 2**64
        assert int(rng.mix(np.uint64(word))) == mix(word)
        found.append(mix(word))
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


# States and masks


@pytest.mark.parametrize("types", [46, 51, 91])
def test_records_are_a_multiple_of_a_cache_line(types: int) -> None:
    dtype = state.game_dtype(types)
    assert dtype.itemsize % 64 == 0
    assert dtype["hand"].shape == (4, 51 if types <= 51 else 91)
    assert state.GAME.itemsize == 1024


def test_blank_records_hold_nothing() -> None:
    states = state.new_states(3)
    assert (states["players"] == 2).all()
    for field in state.RECORD.fields.values():
        assert (states[field.name] == (2 if field.name == "players" else field.empty)).all()


def test_copies_of_records_are_copies() -> None:
    states = state.new_states(3)
    states["points"][1] = 7
    for other in (copy_states(states), copy_states(states, state.new_states(3))):
        assert other.tobytes() == states.tobytes()
        other["points"][1] = 8
        assert states["points"][1, 0] == 7


def test_one_record_many_times() -> None:
    states = state.new_states(1)
    states["points"] = 7
    copies = repeat_state(states, 3)
    assert copies.tobytes() == 3 * states.tobytes()
    copies["points"][0] = 8
    assert (states["points"] == 7).all()
    assert repeat_state(states, 0).shape == (0,)


def test_drawing_from_sets() -> None:
    chance = RandomEpisodes().record()[0]
    members = Counter(int(rng.draw_member(chance, 0b10110, 5)) for _ in range(600))
    assert set(members) == {1, 2, 4}
    assert min(members.values()) > 140
    assert rng.draw_member(chance, 0, 5) == 0
    subsets = Counter(int(rng.draw_subset(chance, 3, 2, 2)) for _ in range(600))
    assert set(subsets) == {0b011, 0b101, 0b110}
    assert min(subsets.values()) > 140
    assert {int(rng.draw_subset(chance, 3, 0, 3)) for _ in range(200)} == set(range(8))


def test_games_from_observations_up_to_the_first_that_is_none() -> None:
    game = HelsinkiGame(seed=1)
    seen = game.observation()
    states = determinize_observation(game.config, seen, 2, seed=1)
    assert len({state.tobytes() for state in states}) == 2
    spoilt = seen.copy()
    observation.unpack(spoilt)["known"][1, 5] = 60
    with pytest.raises(ObservationError, match=r"observations\[1\]: known"):
        states_from_observations(game.config, np.stack([seen, spoilt]))
    for index, message in (((0, 2, 2, 2), "on the cells of"), ((0, 3, 2, 2), "according to the other entries")):
        contradicting = seen.copy()
        observation.unpack(contradicting)["boards"][index] = 1  # a superstructure without a tile, and no coat of arms
        with pytest.raises(ObservationError, match=rf"observations\[1\]: .*{message}"):
            states_from_observations(game.config, np.stack([seen, contradicting]))
    states["pile_size"][1] += 1
    with pytest.raises(DeterminizationError, match="game 1"):
        determinize_batch(game.config, states, np.zeros(2, np.int64), np.ones(2, np.uint64))


@EACH_GAME
def test_a_record_takes_over_which_game_is_played_and_nothing_else(game: TestedGame) -> None:
    setups, states = (game.spec.new_states(config, 1) for config in (game.configs[1],) * 2)
    game.spec.apply_setup(setups, game.configs[1])
    copied = setups.copy()
    setups["points"] = 9
    contract.copy_setup(states[0], setups[0])
    assert states.tobytes() == copied.tobytes()


def dealt(game: TestedGame, size: int = 4) -> tuple[Any, Any, Any]:
    """Tables, a batch of new games of three players, and its masks."""
    config = game.configs[1]
    t, states = config.tables[0], game.spec.new_states(config, size)
    game.spec.apply_setup(states, config)
    seeds = np.arange(size, dtype=np.uint64)
    loops.batch_deal(t, states, seeds, seeds, seeds)
    masks = np.zeros((size, game.spec.num_actions(config)), np.int8)
    loops.batch_mask(t, states, masks)
    return t, states, masks


@EACH_GAME
def test_a_batch_is_stepped_up_to_the_first_illegal_action(game: TestedGame) -> None:
    t, states, masks = dealt(game)
    for wrong in (int((masks[2] == 0).argmax()), -1, masks.shape[1]):
        batch = copy_states(states)
        assert loops.batch_step(t, batch, np.array([0, 1, wrong, 0]), masks.copy()) == 2
        assert (batch["phase"][:2] != states["phase"][:2]).all()
        assert (batch[2:] == states[2:]).all()
    assert loops.batch_step(t, states, np.array([0, 1, 2, 3]), masks) == -1
    expected = np.zeros_like(masks)
    loops.batch_mask(t, states, expected)
    assert (masks == expected).all()


@EACH_GAME
def test_a_game_is_dealt_over_another_one(game: TestedGame) -> None:
    """Nothing of the game before is left in the record but which game is played."""
    t, states, masks = dealt(game)
    fresh, keys, seeds = copy_states(states), random_keys(4, seed=1), np.arange(4, dtype=np.uint64)
    for _ in range(60):
        loops.batch_step(t, states, sample_actions(masks, keys), masks)
    assert states.tobytes() != fresh.tobytes()
    loops.batch_deal(t, states, seeds, seeds, seeds)
    assert states.tobytes() == fresh.tobytes()


# The decorator


RUN = """
from helsinki_env.engine import kernel
from helsinki_env import HelsinkiGame
game = HelsinkiGame(seed=1)
game.step(0)
print(kernel.JIT, kernel.DEBUG, game.legal_actions().tolist())
"""


@pytest.mark.skipif(not JIT, reason="starts processes with and without the compiler itself")
@pytest.mark.parametrize(
    ("variables", "jit", "debug"), [({"NUMBA_DISABLE_JIT": "1"}, False, False), ({"HELSINKI_DEBUG": "0"}, True, False)]
)
def test_the_environment_decides_how_kernels_run(variables: dict[str, str], jit: bool, debug: bool) -> None:
    run = subprocess.run(
        [sys.executable, "-c", RUN], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    assert run.stdout == f"{jit} {debug} [8, 9, 10]\n"
