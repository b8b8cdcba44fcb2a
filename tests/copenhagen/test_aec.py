"""Copenhagen for PettingZoo: the same games as `CopenhagenGame`, rewards of shared ranks, and copies."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pettingzoo
import pytest

from helsinki_env import ConfigError, CopenhagenConfig, IllegalActionError, copenhagen_v0, helsinki_v0
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.game import CopenhagenGame
from tests.test_aec import choose, copies, play, record

CONFIGS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "denied": [["construction_discount"], [], [1, 4]], "reward": "rank"},
    {"num_players": 4, "reward": "margin"},
)
DECISIONS = 30
both = pytest.mark.parametrize("make", [copenhagen_v0.raw_env, copenhagen_v0.env], ids=["raw_env", "env"])


@both
@pytest.mark.parametrize("options", CONFIGS)
def test_plays_the_game(make: Any, options: dict[str, Any]) -> None:
    env = make(**options)
    for seed in range(4 if JIT else 1):
        rng = random.Random(seed)
        env.reset(seed=seed)
        game = CopenhagenGame(CopenhagenConfig(**options), seed=seed)
        while not game.done:
            assert env.agent_selection == f"player_{game.seat}"
            observation, reward, terminated, truncated, info = env.last()
            assert (reward, terminated, truncated, info) == (0, False, False, {})
            assert np.array_equal(observation["action_mask"], game.action_mask())
            for agent in env.agents:
                seen = env.observe(agent)
                assert env.observation_space(agent).contains(seen)
                assert np.array_equal(seen["observation"], game.observation(int(agent[-1])))
                assert seen["action_mask"].any() == (agent == env.agent_selection)
            action = choose(rng, observation)
            env.step(action)
            game.step(action)
        assert env.unwrapped.game == game
        assert list(env.rewards.values()) == pytest.approx(expected_rewards(game))
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        told = {"scores": tuple(game.scores().tolist()), "places": tuple(game.ranks().tolist())}
        assert all(info == told for info in env.infos.values())
        play(env, rng)
        assert env.agents == []


def expected_rewards(game: CopenhagenGame) -> list[float]:
    """The rewards, with the mean of what their places bring for those who share them."""
    players, places, points = game.num_players, game.ranks().tolist(), game.scores().tolist()
    if game.config.reward == "margin":
        return [own - (sum(points) - own) / (players - 1) for own in points]
    losing = -1 / (players - 1)
    brings = [1 - 2 * n / (players - 1) if game.config.reward == "rank" else [losing, 1.0][n == 0] for n in range(4)]
    shared = [brings[place : place + places.count(place)] for place in places]
    return [sum(part) / len(part) for part in shared]


@pytest.mark.parametrize("reward", ["win", "rank", "margin"])
@pytest.mark.parametrize(
    ("points", "filled", "win", "rank"),
    [
        ([5, 5, 2], [9, 9, 9], [0.25, 0.25, -0.5], [0.5, 0.5, -1.0]),
        ([8, 3, 3], [9, 9, 9], [1.0, -0.5, -0.5], [1.0, -0.5, -0.5]),
        ([5, 5, 2], [9, 10, 9], [-0.5, 1.0, -0.5], [0.0, 1.0, -1.0]),
        ([4, 4, 4, 4], [9, 9, 9, 9], [0.0] * 4, [0.0] * 4),
        ([3, 3], [9, 9], [0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_those_who_share_a_place_share_its_reward(
    points: list[int], filled: list[int], win: list[float], rank: list[float], reward: str
) -> None:
    env = copenhagen_v0.raw_env(num_players=len(points), reward=reward)
    env.reset(seed=0)
    g = env._states[0]
    for seat, (made, cells) in enumerate(zip(points, filled, strict=True)):
        g.points[seat], g.filled[seat] = made, 2**cells - 1
    g.pile[g.pile_size - 1], g.end_card = 5, 1  # the next card ends the game
    mean = sum(points) / len(points)
    margin = [(own - mean) * len(points) / (len(points) - 1) for own in points]
    for _ in range(3):
        if not any(env.terminations.values()):
            env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert all(env.terminations.values())
    assert list(env.rewards.values()) == pytest.approx({"win": win, "rank": rank, "margin": margin}[reward])


def test_a_seed_means_a_series_of_games() -> None:
    series = []
    for _ in range(2):
        env = copenhagen_v0.env(num_players=3)
        env.reset(seed=11)
        words = [env.unwrapped.game.state.chance]
        for _ in range(4):
            play(env, random.Random(1), decisions=7)
            env.reset()
            words.append(env.unwrapped.game.state.chance)
        series.append(words)
    assert series[0] == series[1]
    assert len(set(series[0])) == 5


def test_options_hold_for_later_games_and_others_are_ignored() -> None:
    env = copenhagen_v0.env(num_players=3)
    denied: Any = [["construction_discount"], [], [2]]
    env.reset(seed=1, options={"denied": denied, "covered": [1], "num_players": 4})
    expected = CopenhagenConfig(3, denied=denied)
    assert env.unwrapped.options == ("denied",)
    assert env.unwrapped.game == CopenhagenGame(expected, seed=1)
    env.reset()
    assert env.unwrapped.game.config == expected
    assert env.unwrapped.game.state.denied.tolist() == [sum(1 << a for a in seat) for seat in (*expected.denied, ())]
    env.reset(seed=1, options={"denied": None})
    assert env.unwrapped.game == CopenhagenGame(CopenhagenConfig(3), seed=1)


@pytest.mark.parametrize("options", [{"denied": [[]]}, {"denied": [[0], []]}, {"denied": [["discount"], []]}], ids=str)
def test_bad_options_change_nothing(options: dict[str, Any]) -> None:
    env = copenhagen_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="denied"):
        env.reset(seed=2, options=options)
    assert env.game == CopenhagenGame(CopenhagenConfig(), seed=1)
    assert env.config == CopenhagenConfig()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 5}, "num_players: found 5"),
        ({"render_mode": "rgb"}, "render_mode: found 'rgb', expected None or one of ansi"),
        ({"illegal_action": "ignore"}, "illegal_action: found 'ignore', expected 'penalize' or 'raise'"),
        ({"reward": "points"}, "reward: found 'points'"),
        ({"denied": [[0], []]}, "denied"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        copenhagen_v0.env(**options)


@both
@pytest.mark.parametrize("action", [-1, 6, 458, 459, 10**30, None, 2.0, True, "TAKE 0", np.array([1, 2])], ids=repr)
def test_an_illegal_decision_changes_nothing(make: Any, action: Any) -> None:
    env = make(illegal_action="raise")
    env.reset(seed=1)
    before = env.observe("player_0")
    with pytest.raises(IllegalActionError, match=r"is not legal in phase MAIN of seat 0. Legal: TAKE|ids|whole number"):
        env.step(action)
    assert env.unwrapped.game == CopenhagenGame(CopenhagenConfig(), seed=1)
    assert np.array_equal(env.observe("player_0")["action_mask"], before["action_mask"])
    env.step(np.int32(2))
    assert env.unwrapped.game.phase == "TAKE"


@pytest.mark.parametrize(("reward", "penalty"), [("win", -1), ("rank", -1), ("margin", -100)])
@pytest.mark.parametrize("players", [2, 4])
def test_an_illegal_decision_can_end_the_game_instead(players: int, reward: str, penalty: float) -> None:
    env = copenhagen_v0.env(num_players=players, reward=reward)
    env.reset(seed=1)
    play(env, random.Random(1), decisions=25)
    offender, game = env.agent_selection, env.unwrapped.game
    with pytest.warns(UserWarning, match=f"illegal action: it ended a game with reward {penalty}"):
        env.step(459)
    assert all(env.terminations.values())
    assert env.rewards == {a: penalty if a == offender else -penalty / (players - 1) for a in env.agents}
    assert "459" in env.infos[offender]["illegal_action"]
    assert env.unwrapped.game == game
    for _ in env.agent_iter():
        assert not env.last()[0]["action_mask"].any()
        env.step(None)
    env.reset()
    assert not any(env.terminations.values())


@both
@pytest.mark.parametrize("decisions", [0, DECISIONS, 10_000])
def test_copies_go_on_alike(make: Any, decisions: int) -> None:
    env = make(num_players=3, reward="margin")
    env.reset(seed=5)
    env.reset()
    play(env, random.Random(5), decisions)
    made = copies(env)
    seen = record(env, random.Random(6))
    env.reset()
    for name, other in made.items():
        assert type(other) is type(env), name
        assert record(other, random.Random(6)) == seen, name
        other.reset()
        assert other.unwrapped.game == env.unwrapped.game, name


@both
def test_a_state_can_be_brought_back_more_than_once(make: Any) -> None:
    env = make(num_players=3)
    env.reset(seed=5, options={"denied": [[3], [], []]})
    play(env, random.Random(5), DECISIONS)
    state = pickle.loads(pickle.dumps(env.get_state()))
    seen = record(env, random.Random(6))
    for fresh in (env, make(num_players=3), env):
        if fresh is env:
            fresh.reset(seed=8, options={"denied": None})
        fresh.set_state(state)
        assert fresh.unwrapped.config.denied == ((3,), (), ())
        assert record(fresh, random.Random(6)) == seen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": 5}, "config: found 5, expected a CopenhagenConfig"),
        ({"config": CopenhagenConfig(denied=[[3], []])}, r"states: denied: found \[0 0 0 0\], expected \[8 0 0 0\]"),
        ({"config": CopenhagenConfig(3)}, "found 3 players"),
        ({"_states": np.zeros(1)}, "_states: found ndarray"),
        ({"_over": 1}, "_over: found 1"),
        ({"agents": ["player_1"]}, "agents: found"),
        ({"agent_selection": "player_1"}, "agent_selection: found 'player_1'"),
        ({"_seed": -1}, "_seed: found -1"),
        ({"_last_action": 459}, "_last_action: found 459"),
        ({"rewards": {"player_0": 0}}, "rewards: found"),
        ({"more": 1}, "expected what get_state returns"),
    ],
)
def test_a_state_that_cannot_be_changes_nothing(changes: dict[str, Any], message: str) -> None:
    env = copenhagen_v0.raw_env()
    env.reset(seed=1)
    env.step(2)
    before = env.game
    with pytest.raises(ValueError, match=message):
        env.set_state(env.get_state() | changes)
    assert env.game == before


@pytest.mark.parametrize(
    ("name", "value"), [("seat", 3), ("phase", 9), ("pile_size", 120), ("hand", -1), ("points", 50), ("players", 7)]
)
def test_a_record_that_cannot_be_changes_nothing(name: str, value: int) -> None:
    env = copenhagen_v0.raw_env()
    env.reset(seed=1)
    env.step(2)
    before, state = env.game, env.get_state()
    state["_states"][name] = value
    with pytest.raises(ValueError, match="states: game 0: "):
        env.set_state(state)
    assert env.game == before


def test_a_state_of_the_other_game_is_refused() -> None:
    env, other = copenhagen_v0.raw_env(), helsinki_v0.raw_env()
    env.reset(seed=1)
    other.reset(seed=1)
    with pytest.raises(ValueError, match="expected a CopenhagenConfig"):
        env.set_state(other.get_state())


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo has names from 1.27 on")
def test_is_known_by_name() -> None:
    env = pettingzoo.make("aec", "helsinki/copenhagen-v0", num_players=3)
    env.reset(seed=1)
    assert str(env) == "copenhagen_v0"
    assert env.num_agents == 3


def test_the_page_states_the_spaces() -> None:
    env = copenhagen_v0.raw_env()
    env.reset(seed=1)
    for name, array in env.observe("player_0").items():
        assert f"`{name}` int8 ({len(array)},)" in str(copenhagen_v0.__doc__)
    assert f"Discrete({env.action_space('player_0').n})" in str(copenhagen_v0.__doc__)


def test_drawings(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = {}
    for mode in copenhagen_v0.raw_env.metadata["render_modes"]:
        env = copenhagen_v0.env(render_mode=mode)
        env.reset(seed=1)
        env.step(2)
        drawn[mode] = env.render()
    assert "COPENHAGEN" in drawn["ansi"].upper()
    assert "TAKE 2" in drawn["ansi"]
    assert drawn["svg"].startswith("<svg")
    assert drawn["rgb_array"].dtype == np.uint8
    assert drawn["human"] is None
    assert capsys.readouterr().out.count("TAKE 2") == 2  # by step and render
