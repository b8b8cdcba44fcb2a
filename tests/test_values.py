"""Numbers and configurations from outside, as every game reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helsinki_env import (
    CopenhagenSeatEnv,
    HelsinkiConfig,
    HelsinkiGame,
    HelsinkiSeatEnv,
    HelsinkiSeatVectorEnv,
    HelsinkiVectorEnv,
    IllegalActionError,
    RandomEpisodes,
    copenhagen_v0,
    helsinki_v0,
    notation,
)
from helsinki_env.agents.base import choose_action
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.data import Node, as_integer, seed_to_uint64
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.engine.playout import random_keys
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import COPENHAGEN
from helsinki_env.games.helsinki.game import HELSINKI


def test_whole_numbers_of_any_type_are_integers_and_nothing_else_is() -> None:
    for number in (3, np.int8(3), np.uint64(3)):
        found = as_integer(number)
        assert found == 3
        assert type(found) is int
    others: tuple[Any, ...] = (3.0, "3", None, [3], np.array([3, 4]))
    assert [as_integer(other) for other in others] == [None] * len(others)


class Tensor:
    """A boolean of another library: it passes for an integer, as those of PyTorch and of NumPy below 2.3 do."""

    dtype = "torch.bool"

    def __index__(self) -> int:
        return 1


#: Booleans of every kind.
BOOLEANS: tuple[Any, ...] = (
    True, False, np.True_, np.array(True), np.array([True]), np.array([[True]]), np.array([True], object)[0], Tensor()
)  # fmt: skip


def seated(value: Any) -> None:
    act: Any = lambda obs, mask, words: [value, *mask[1:].argmax(axis=1)]  # noqa: E731
    HelsinkiSeatVectorEnv(2, act, seat=1).reset(seed=0)


def decided(value: Any) -> None:
    class Player:
        name = "player"

        def act(self, obs: Any, action_mask: Any, keys: Any) -> Any:
            return [value, *action_mask[1:].argmax(axis=1)]

    play_match([Player(), "random"], games=4)


@pytest.mark.parametrize("value", BOOLEANS, ids=lambda value: f"{type(value).__name__}-{np.ndim(value)}")
def test_booleans_of_every_kind_are_no_integers(value: Any) -> None:
    assert as_integer(value) is None
    environments: list[Any] = []
    for module in (helsinki_v0, copenhagen_v0):
        environments += [module.raw_env(), module.env()]
    environments += [HelsinkiSeatEnv(), CopenhagenSeatEnv(), HelsinkiVectorEnv(2), HelsinkiSeatVectorEnv(2)]
    for env in environments:
        env.reset(seed=0)
        with pytest.raises(ValueError, match=r"whole number|booleans|expected an array"):
            env.step([value, 0] if hasattr(env, "num_envs") else value)
        with pytest.raises(ValueError, match="seed: found"):
            env.reset(seed=value)
    batch = environments[-2]
    calls: list[Callable[[], Any]] = [
        lambda: Node(value, ValueError, "n").integer(0),
        lambda: HelsinkiConfig(num_players=value),
        lambda: HelsinkiConfig(covered=[value]),
        lambda: HelsinkiConfig(covered=value),
        lambda: HelsinkiConfig(denied=[[value], []]),
        lambda: CopenhagenConfig(denied=[[value], []]),
        lambda: RandomEpisodes(num_players=value),
        lambda: RandomEpisodes(covered=(value, 3)),
        lambda: HelsinkiVectorEnv(value),
        lambda: HelsinkiVectorEnv(2, num_threads=value),
        lambda: HelsinkiSeatEnv(seat=value),
        lambda: HelsinkiGame(seed=value),
        lambda: HelsinkiGame(stream=value),
        lambda: HelsinkiGame(seed=1).step(value),
        lambda: HelsinkiGame(seed=1).observation(value),
        lambda: notation.action_to_string(value),
        lambda: batch.game(value),
        lambda: batch.observe([value, 0]),
        lambda: batch.reset(seed=[value, 1]),
        lambda: random_keys(value),
        lambda: play_match(["random", "random"], games=value),
        lambda: choose_action(RandomPlayer(), HelsinkiGame(seed=1), value),
        lambda: seated(value),
        lambda: decided(value),
        lambda: rgb_array("<svg/>", value),
    ]
    for i, call in enumerate(calls):
        try:
            call()
        except ValueError:
            continue
        pytest.fail(f"call {i} took {value!r}")


def test_booleans_of_pytorch_are_no_integers() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    for value in (torch.tensor(True), torch.tensor([True])):
        assert as_integer(value) is None
        with pytest.raises(IllegalActionError, match="whole number"):
            HelsinkiGame(seed=1).step(value)
    game = HelsinkiGame(seed=1)
    game.step(torch.tensor(2))
    assert game.phase == "MOVE"


def test_a_seed_is_one_word_and_none_is_another_one_each_time() -> None:
    assert seed_to_uint64(7) == 7
    assert seed_to_uint64(2**64 + 7) == 7
    assert type(seed_to_uint64(2**64 - 1)) is np.uint64
    assert seed_to_uint64(None) != seed_to_uint64(None)
    for wrong in (-1, 1.5, True, "7"):
        with pytest.raises(ValueError, match=r"stream: found .*, expected a whole number of at least 0, or None"):
            seed_to_uint64(wrong, "stream")  # type: ignore[arg-type]


def test_a_game_takes_its_own_configurations_alone() -> None:
    assert HELSINKI.check_config(HelsinkiConfig()) == HelsinkiConfig()
    with pytest.raises(ValueError, match=r"config: found CopenhagenConfig\(.*, expected a HelsinkiConfig, such as"):
        HELSINKI.check_config(CopenhagenConfig())
    with pytest.raises(ValueError, match=r"config: found HelsinkiConfig\(.*, expected a CopenhagenConfig, such as"):
        COPENHAGEN.check_config(HelsinkiConfig())
