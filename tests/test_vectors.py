"""SIMD kernels and their plain twins give the same results, within and beyond their range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helsinki_env.engine import loops, vectors
from helsinki_env.engine.kernel import JIT, kernel
from helsinki_env.engine.spec import config_from_dict, spec_of
from helsinki_env.games.helsinki import shapes
from helsinki_env.games.helsinki.observation import write_observation
from helsinki_env.games.helsinki.state import GAME, LAYOUTS, new_states

needs_compiler = pytest.mark.skipif(not JIT, reason="without the compiler a word is its twin")

spread_16, spread_32, spread_64 = (vectors.spreader(width) for width in (16, 32, 64))
spread_three, spread_five = vectors.spreader(64, 3), vectors.spreader(64, 5)
gather_32, gather_64 = vectors.gatherer(32), vectors.gatherer(64)
copy_4, copy_16, copy_64, copy_codes = (*map(vectors.copier, (4, 16, 64)), vectors.copier(8, plus=1))
clear_5, clear_64, clear_196 = (vectors.clearer(width) for width in (5, 64, 196))
store_4, store_8 = vectors.storer(4), vectors.storer(8)
sum_10, sum_51 = vectors.byte_summer(10, 16), vectors.byte_summer(51, 64)
ahead = vectors.prefetcher(4)


def numbers(rng: np.random.Generator, size: int) -> Any:
    return rng.integers(-(2**63), 2**63 - 1, size, dtype=np.int64, endpoint=True)


@needs_compiler
@pytest.mark.parametrize(
    ("word", "planes", "width"),
    [(spread_16, 1, 16), (spread_32, 1, 32), (spread_64, 1, 64), (spread_three, 3, 64), (spread_five, 5, 64)],
)
def test_sets_become_bytes(word: Any, planes: int, width: int) -> None:
    @kernel
    def compiled(out, at, sets):
        word(out, at, sets)

    rng = np.random.default_rng(1)
    for _ in range(50):
        sets = tuple(numbers(rng, planes))
        before = rng.integers(-128, 128, 100, dtype=np.int8)
        found, expected = before.copy(), before.copy()
        at = int(rng.integers(0, 100 - width + 1))
        compiled(found, at, sets)
        word.plain(expected, at, sets)
        assert (found == expected).all()
        beside = np.ones(100, bool)
        beside[at : at + width] = False
        assert (found[beside] == before[beside]).all()


@needs_compiler
@pytest.mark.parametrize("word", [gather_32, gather_64, sum_10, sum_51])
def test_bytes_become_a_number(word: Any) -> None:
    @kernel
    def compiled(source, begin):
        return word(source, begin)

    rng = np.random.default_rng(2)
    for _ in range(100):
        source = rng.integers(-1, 3, 90).astype(np.int8).clip(0 if word in (sum_10, sum_51) else -1)
        begin = int(rng.integers(0, 27))
        found, expected = compiled(source, begin), word.plain(source, begin)
        assert (found, type(expected)) == (expected, np.int64)


@needs_compiler
@pytest.mark.parametrize("word", [copy_4, copy_16, copy_64, copy_codes])
def test_bytes_are_copied(word: Any) -> None:
    @kernel
    def compiled(out, at, source, begin):
        word(out, at, source, begin)

    rng = np.random.default_rng(3)
    for _ in range(50):
        source = rng.integers(-1, 120, 100).astype(np.int8)
        found = rng.integers(-128, 128, 100, dtype=np.int8)
        expected = found.copy()
        at, begin = (int(n) for n in rng.integers(0, 36, 2))
        compiled(found, at, source, begin)
        word.plain(expected, at, source, begin)
        assert (found == expected).all()


@needs_compiler
@pytest.mark.parametrize("word", [clear_5, clear_64, clear_196])
def test_bytes_are_cleared(word: Any) -> None:
    @kernel
    def compiled(out, at):
        word(out, at)
        ahead(out, at)

    found = np.arange(1, 301).astype(np.int8)
    expected = found.copy()
    compiled(found, 7)
    word.plain(expected, 7)
    ahead.plain(expected, 7)  # changes nothing
    assert (found == expected).all()


@needs_compiler
def test_words_of_eight_bytes() -> None:
    @kernel
    def compiled(out, word):
        store_8(out, 3, word)
        store_4(out, 15, word)
        return vectors.reverse_bytes(word), vectors.leading_zeros(word)

    rng = np.random.default_rng(4)
    for word in (*numbers(rng, 100), *(np.int64(1) << np.arange(63))):
        found = np.full(20, 9, np.int8)
        expected = found.copy()
        returned = compiled(found, word)
        store_8.plain(expected, 3, word)
        store_4.plain(expected, 15, word)
        assert (found == expected).all()
        assert returned == (vectors.reverse_bytes.plain(word), vectors.leading_zeros.plain(word))


@needs_compiler
def test_arrays_with_gaps_are_refused() -> None:
    @kernel
    def compiled(source):
        return gather_32(source, 0)

    with pytest.raises(Exception, match="expected a contiguous one"):
        compiled(np.zeros((64, 2), np.int8)[:, 0])


def test_twins_do_not_write_beyond_an_array() -> None:
    for word, more in ((spread_16, ((1,),)), (store_8, (1,)), (copy_16, (np.ones(16, np.int8), 0))):
        with pytest.raises(IndexError):
            word.plain(np.zeros(20, np.int8), 13, *more)


@needs_compiler
def test_all_orientations_slide_at_once() -> None:
    t = config_from_dict({"game": "helsinki"}).tables[0]

    @kernel
    def compiled(tables, kind, side, packed):
        return shapes.legal_slides(tables[0], kind, side, packed)

    rng = np.random.default_rng(5)
    for _ in range(300):
        built = int(numbers(rng, 1)[0] & numbers(rng, 1)[0]) & (1 << 49) - 1
        kind, side = int(rng.integers(20)), int(rng.integers(4))
        packed = shapes.profile(np.int64(built), side)
        found = compiled(np.array([t]), kind, side, packed)
        expected = 0
        for orientation in range(t.orientations[kind]):
            expected |= int(shapes.lanes(t, 8 * kind + orientation, side, packed)) << 7 * orientation
        assert found == expected
        twin = shapes.slides_of.plain(t.low_of_kind, t.high_of_kind, t.lanes_of_kind, 4 * kind + side, packed)
        assert twin == expected


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_is_written_at_once_is_what_loops_write(players: int) -> None:
    """The records of 51 card types have kernels of their own; those of other numbers hold the same games."""
    config = config_from_dict({"game": "helsinki", "num_players": players})
    loose = np.zeros(1, LAYOUTS[1])
    names = [name for name in GAME.names or () if name != "pad"]
    rng = np.random.default_rng(players)
    for seed in range(3 if JIT else 1):
        game = spec_of(config).game(config, seed=seed)
        t = config.tables[0]
        while not game.done:
            for name in names:
                loose[name] = game.state[name]
            marked, observed = np.full(554, 5, np.int8), np.full(len(game.observation()), 5, np.int8)
            loops.batch_mask(t, loose, marked[None])
            assert (marked == game.action_mask()).all()
            for viewer in range(players):
                expected = np.zeros_like(observed)
                write_observation(t, loose[0], viewer, expected)
                at = np.array([viewer])
                loops.batch_observe(t, np.array([game.state]), at, observed[None])
                assert (observed == expected).all()
            game.step(int(rng.choice(np.flatnonzero(marked))))


def test_each_number_of_types_has_its_record() -> None:
    assert [new_states(1, types).dtype for types in (46, 51, 60)] == [LAYOUTS[1], GAME, LAYOUTS[2]]
