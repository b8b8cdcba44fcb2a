"""Numbers and configurations from outside, as every game takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helsinki_env import GameConfig
from helsinki_env.engine.values import as_word, whole_number
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import COPENHAGEN
from helsinki_env.games.helsinki.game import HELSINKI


def test_whole_numbers_of_any_type_are_integers_and_nothing_else_is() -> None:
    for number in (3, np.int8(3), np.uint64(3)):
        found = whole_number(number)
        assert found == 3
        assert type(found) is int
    others: tuple[Any, ...] = (True, np.True_, 3.0, "3", None, [3], np.array([3, 4]))
    assert [whole_number(other) for other in others] == [None] * len(others)


def test_a_seed_is_one_word_and_none_is_another_one_each_time() -> None:
    assert as_word(7) == 7
    assert as_word(2**64 + 7) == 7
    assert type(as_word(2**64 - 1)) is np.uint64
    assert as_word(None) != as_word(None)
    for wrong in (-1, 1.5, True, "7"):
        with pytest.raises(ValueError, match=r"stream: found .*, expected a whole number of at least 0, or None"):
            as_word(wrong, "stream")  # type: ignore[arg-type]


def test_a_game_takes_its_own_configurations_alone() -> None:
    assert HELSINKI.checked(GameConfig()) == GameConfig()
    with pytest.raises(ValueError, match=r"config: found CopenhagenConfig\(.*, expected a GameConfig, such as"):
        HELSINKI.checked(CopenhagenConfig())
    with pytest.raises(ValueError, match=r"config: found GameConfig\(.*, expected a CopenhagenConfig, such as"):
        COPENHAGEN.checked(GameConfig())
