"""Public functions around kernels reject wrong arrays with a clear error and never crash."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine.arrays import ArrayError
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from tests.support.blocks import ROOT

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")


@pytest.mark.parametrize(
    "players",
    [
        pytest.param(("random", "greedy"), marks=pytest.mark.thorough),
        pytest.param(("heuristic", "ismcts:2"), marks=pytest.mark.nightly),
        pytest.param(("counted:greedy", "mc:2", "net", "net+search:2"), marks=pytest.mark.nightly),
    ],
    ids=" ".join,
)
def test_wrong_arrays_are_rejected_by_every_public_function(players: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "tests.support.wrong_arrays", *players]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *found, last = done.stdout.splitlines()
    assert found == []
    assert last.endswith(" functions")
    assert int(last.split()[0]) >= 40


@pytest.mark.parametrize(("ids", "row", "at"), [(5, 2, 0), (63, 0, 62), (64, 2, 63), (554, 1, 100), (554, 2, 553)])
@pytest.mark.parametrize("value", [2, -1, 127, -128])
def test_a_mask_with_another_number_is_rejected_and_no_random_number_is_used(
    ids: int, row: int, at: int, value: int
) -> None:
    masks, words = np.zeros((3, ids), np.int8), random_keys(3)
    masks[:, 1] = 1
    masks[row, at] = value
    before = words.copy()
    with pytest.raises(ArrayError, match=rf"masks\[{row}, {at}\]: found {value}, expected 0 or 1"):
        sample_actions(masks, words)
    assert np.array_equal(words, before)


def test_masks_of_other_types_are_as_good_as_int8() -> None:
    masks = (np.random.default_rng(1).random((50, 130)) < 0.1).astype(np.int8)
    expected = sample_actions(masks, random_keys(50))
    others: list[Any] = [masks.astype(bool), masks.astype(np.int64), masks.tolist(), np.asfortranarray(masks)]
    for other in others:
        assert np.array_equal(sample_actions(other, random_keys(50)), expected)
    words, out = np.repeat(random_keys(50), 2)[::2], np.zeros(100, np.int64)[::2]
    assert sample_actions(masks, words, out) is out
    assert np.array_equal(out, expected)
    again = random_keys(50)
    sample_actions(masks, again)
    assert np.array_equal(words, again)


def test_random_numbers_and_results_need_memory_of_their_own() -> None:
    words = random_keys(4)
    with pytest.raises(ArrayError, match="out: found memory shared with keys"):
        sample_actions(np.ones((4, 8), np.int8), words, words.view(np.int64))
