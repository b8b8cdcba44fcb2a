"""The actions of Helsinki's `greedy`, the baseline of all ratings, never change."""

from __future__ import annotations

import json

import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from tests.support import yardstick


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="too slow")
def test_greedy_decides_as_ever() -> None:
    """After an intended change, `python -m tests.regenerate` rewrites the file; all ratings must follow."""
    assert yardstick.signature() == json.loads(yardstick.SIGNATURE.read_text())


def test_the_signature_is_taken_over_games_with_every_action() -> None:
    groups = json.loads(yardstick.SIGNATURE.read_text())["groups"]
    assert {name: group["games"] for name, group in groups.items()} == {
        name: games for name, (games, _, _) in yardstick.GROUPS.items()
    }
    assert all(any(group["used"][name] for group in groups.values()) for name in BOARD_ACTIONS)
