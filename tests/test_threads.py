"""Threads that share the games of a batch: every game once, nobody waits for who is held up, errors come through."""

from __future__ import annotations

import threading

import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.envs.threads import Slices

pytestmark = pytest.mark.skipif(not JIT, reason="interpreted kernels are not shared out")


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 6, 13, 256, 1000, 4096])
def test_every_game_is_in_one_piece(size: int, threads: int) -> None:
    pieces: list[tuple[int, int]] = []
    slices = Slices(threads)
    for _ in range(20):
        pieces.clear()
        slices.run(lambda begin, end: pieces.append((begin, end)), size)
        assert [game for begin, end in sorted(pieces) for game in range(begin, end)] == list(range(size))
    slices.close()


def test_who_is_done_takes_what_a_thread_that_is_held_up_has_left() -> None:
    """The second thread holds its first piece until all others are done, which only the first one can do."""
    done: list[int] = []
    others_done = threading.Event()
    main = threading.current_thread()
    held_up = []

    def play(begin: int, end: int) -> None:
        if threading.current_thread() is not main:
            held_up.append(others_done.wait(30))
        done.extend(range(begin, end))
        if len(done) >= 4096 - 256:
            others_done.set()

    slices = Slices(2)
    slices.run(play, 4096)
    slices.close()
    assert sorted(done) == list(range(4096))
    assert all(held_up)


def test_an_error_in_any_thread_reaches_the_caller() -> None:
    def play(begin: int, end: int) -> None:
        if end == 4096:
            raise ValueError(f"game {end - 1}")

    slices = Slices(2)
    for _ in range(2):
        with pytest.raises(ValueError, match="game 4095"):
            slices.run(play, 4096)
    slices.close()
