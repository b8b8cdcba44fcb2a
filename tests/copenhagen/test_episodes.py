"""Random episodes: what each deal draws, how often, and from which random key."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine import contract, loops
from helsinki_env.engine.kernel import JIT, kernel
from helsinki_env.envs.kernels import RUN, begin_episode
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.episodes import RandomEpisodes, draw_setup
from helsinki_env.games.copenhagen.game import apply_setup
from helsinki_env.games.copenhagen.state import GAME, new_states
from tests.support.chances import far_from_uniform

COUNT = 12_000 if JIT else 60


@kernel
def begin_all(t, states, runs, setups, drawn):
    for b in range(len(states)):
        begin_episode(t, states[b], runs[b], setups[0], drawn[0])


def begun(episodes: RandomEpisodes, config: CopenhagenConfig | None = None, count: int = COUNT, seed: int = 1) -> Any:
    """Return the first positions of `count` episodes of a batch environment."""
    config = config or CopenhagenConfig()
    states, setups, runs = new_states(count), new_states(1), np.zeros(count, RUN)
    apply_setup(setups, config)
    runs["seed"], runs["episode"] = seed, np.arange(count)
    begin_all(config.tables[0], states, runs, setups, episodes.record())
    return states


def test_nothing_drawn_is_as_configured() -> None:
    config = CopenhagenConfig(3, denied=[[1], [], [2, 4]])
    states, expected = begun(RandomEpisodes(), config, count=5), new_states(5)
    apply_setup(expected, config)
    episodes = np.arange(5, dtype=np.uint64)
    loops.batch_deal(config.tables[0], expected, np.ones_like(episodes), np.zeros_like(episodes), episodes)
    assert states.tobytes() == expected.tobytes()


def test_players_are_drawn_uniformly() -> None:
    states = begun(RandomEpisodes(num_players=(2, 3, 4)))
    assert far_from_uniform(states["players"].tolist(), 3) < 4
    assert not states["denied"].any()
    assert set(begun(RandomEpisodes(num_players=(4, 2)), count=50)["players"]) == {2, 4}
    assert set(begun(RandomEpisodes(num_players=3), count=50)["players"]) == {3}
    dealt = states["hand"].sum(axis=2)
    assert ((dealt > 0) == (np.arange(4) < states["players"][:, None])).all(), "dealt for as many as were drawn"


def test_denied_abilities_are_drawn_uniformly_for_each_seat() -> None:
    states = begun(RandomEpisodes(num_players=(2, 3, 4), denied=(1, 3)))
    for seat in range(4):
        there = states["players"] > seat
        assert not states["denied"][~there, seat].any(), "seats that nobody sits on stay blank"
        denied = states["denied"][there, seat].astype(np.int64)
        assert not (denied & ~0b11110).any(), "everybody owns any_cards"
        sizes = np.array([int(one).bit_count() for one in denied])
        assert set(sizes) <= {1, 2, 3}
        if JIT:
            assert far_from_uniform(sizes.tolist(), 3) < 4
            for size, sets in ((1, 4), (2, 6), (3, 4)):
                assert far_from_uniform(denied[sizes == size].tolist(), sets) < 4
    if JIT:
        four = states[states["players"] == 4]["denied"]
        assert abs((four[:, 0] == four[:, 1]).mean() - (2 / 4 + 1 / 6) / 9) < 0.02, "each seat a set of its own"
    assert (begun(RandomEpisodes(denied=4), count=20)["denied"] == [30, 30, 0, 0]).all()
    assert not begun(RandomEpisodes(denied=0), CopenhagenConfig(2, [[1], [2]]), count=20)["denied"].any()


def test_who_is_denied_what_does_not_depend_on_how_many_play() -> None:
    two, four = (begun(RandomEpisodes(players, denied=(0, 4)), count=20)["denied"] for players in (2, 4))
    np.testing.assert_array_equal(two[:, :2], four[:, :2])


def test_what_is_denied_to_seats_that_are_not_played_is_forgotten() -> None:
    config = CopenhagenConfig(4, denied=[[1], [2], [3], [4]])
    states = begun(RandomEpisodes(num_players=(2, 4)), config, count=40)
    for state in states:
        assert state["denied"].tolist() == ([2, 4, 0, 0] if state["players"] == 2 else [2, 4, 8, 16])


def test_episodes_follow_from_their_seed_and_number() -> None:
    drawn = RandomEpisodes((2, 3, 4), (0, 4))
    states = begun(drawn, count=30)
    assert begun(drawn, count=40)[:30].tobytes() == states.tobytes()
    assert begun(drawn, count=30, seed=2).tobytes() != states.tobytes()
    assert contract.draw_setup._by_dtype[GAME] is draw_setup


def test_values_are_kept_as_tuples() -> None:
    assert RandomEpisodes(np.int8(2), np.int64(3)) == RandomEpisodes((2,), (3, 3))
    assert RandomEpisodes([4, 2], (0, 4)) == RandomEpisodes((4, 2), (0, 4))
    assert RandomEpisodes() == RandomEpisodes(None, None)
    assert hash(RandomEpisodes(2)) == hash(RandomEpisodes([2]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_players": 5}, "num_players: found 5"),
        ({"num_players": ()}, "num_players: found ()"),
        ({"num_players": (2, True)}, "num_players: found (2, True)"),
        ({"num_players": "23"}, "num_players: found '23'"),
        ({"denied": 5}, "denied: found 5"),
        ({"denied": (3, 2)}, "denied: found (3, 2)"),
        ({"denied": (0, 1, 2)}, "denied: found (0, 1, 2)"),
        ({"denied": 1.5}, "denied: found 1.5"),
        ({"denied": -1}, "denied: found -1"),
    ],
)
def test_values_that_cannot_be_drawn(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        RandomEpisodes(**arguments)
