"""Threads that share the games of a batch: every game once, no blocked threads, and errors reported."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

from helsinki_env.engine.atomics import fetch_add, spin_until
from helsinki_env.engine.kernel import JIT, kernel
from helsinki_env.envs.threads import ThreadPool, _Team

needs_compiler = pytest.mark.skipif(not JIT, reason="interpreted kernels are not shared out")


@kernel
def _count(shares, piece, counts, owners, own):
    begin = fetch_add(shares, 0, piece)
    while begin < len(counts):
        for b in range(begin, min(begin + piece, len(counts))):
            counts[b] += 1
            owners[b] = own
        begin = fetch_add(shares, 0, piece)


def counted(slices: ThreadPool, size: int, before: threading.Event | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Have the threads count games; all but the calling one begin when told. Return (how often, by whom)."""
    shares, counts, owners = np.zeros(1, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)

    def work(own: int) -> None:
        if own and before:
            assert before.wait(30)
        _count(shares, 64, counts, owners, own)
        if before:
            before.set()

    slices.each(work)
    return counts, owners


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 6, 13, 256, 1000, 4096])
def test_every_game_is_in_one_slice_and_taken_once(size: int, threads: int) -> None:
    pieces: list[tuple[int, int]] = []
    slices = ThreadPool(threads)
    for _ in range(20):
        pieces.clear()
        slices.run(lambda begin, end: pieces.append((begin, end)), size)
        assert [game for begin, end in sorted(pieces) for game in range(begin, end)] == list(range(size))
        assert (counted(slices, size)[0] == 1).all()
    slices.close()


@needs_compiler
def test_games_that_a_thread_does_not_come_to_are_taken_by_the_others() -> None:
    """The second thread begins when there is nothing left, which only the first one can bring about."""
    slices = ThreadPool(2)
    counts, owners = counted(slices, 4096, threading.Event())
    slices.close()
    assert (counts == 1).all()
    assert (owners == 0).all()


@needs_compiler
def test_who_went_to_sleep_is_woken() -> None:
    slices = ThreadPool(2)
    for _ in range(5):
        assert (counted(slices, 4096)[0] == 1).all()
        time.sleep(0.02)
    slices.close()


def test_a_word_is_waited_for_so_long_and_no_longer() -> None:
    words = np.array([0, 7], np.int64)
    assert spin_until(words, 1, 7, 1)
    assert not spin_until(words, 1, 8, 1000)


@needs_compiler
def test_an_error_in_any_thread_reaches_the_caller() -> None:
    def play(begin: int, end: int) -> None:
        if end == 4096:
            raise ValueError(f"game {end - 1}")

    slices = ThreadPool(2)
    for _ in range(2):
        with pytest.raises(ValueError, match="game 4095"):
            slices.run(play, 4096)
    assert (counted(slices, 4096)[0] == 1).all()
    slices.close()


class InterruptionError(Exception):
    """What a signal raises in the thread that waits."""


@needs_compiler
@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no such signal here")
def test_who_is_interrupted_while_waiting_for_others_can_go_on() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def interrupt(number: int, frame: object) -> None:
        raise InterruptionError

    def work(own: int) -> None:
        if own:
            begun.set()
            assert go_on.wait(30)
        else:
            begun.wait(30)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()

    slices, former = ThreadPool(2), signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(InterruptionError):
            slices.each(work)
    finally:
        signal.signal(signal.SIGUSR1, former)
    assert (counted(slices, 4096)[0] == 1).all()
    abandoned = next(one for one in threading.enumerate() if one.name == "games-1")
    go_on.set()
    abandoned.join(30)
    assert not abandoned.is_alive()
    slices.close()


@needs_compiler
def test_an_interruption_right_after_the_start_leaves_no_work_out(monkeypatch: pytest.MonkeyPatch) -> None:
    slices = ThreadPool(2)
    counted(slices, 4096)
    start = _Team._start_round

    def interrupted(team: _Team) -> None:
        start(team)
        raise InterruptionError

    with monkeypatch.context() as patched:
        patched.setattr(_Team, "_start_round", interrupted)
        with pytest.raises(InterruptionError):
            counted(slices, 4096)
    for _ in range(3):
        assert (counted(slices, 4096)[0] == 1).all()
    slices.close()


@needs_compiler
def test_threads_end_with_those_whose_they_are() -> None:
    before = set(threading.enumerate())
    slices = ThreadPool(3)
    counted(slices, 4096)
    assert len(set(threading.enumerate()) - before) == 2
    slices.close()
    assert not set(threading.enumerate()) - before
    assert (counted(slices, 4096)[0] == 1).all()
    del slices
    gc.collect()
    assert not set(threading.enumerate()) - before
