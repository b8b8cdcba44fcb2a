"""The PettingZoo environments: they play the games of the game classes, give rewards to all seats, and copy exactly."""

from __future__ import annotations

import copy
import functools
import math
import pickle
import random
from typing import Any

import numpy as np
import pettingzoo
import pytest

from helsinki_env import (
    ConfigError,
    CopenhagenConfig,
    HelsinkiConfig,
    HelsinkiGame,
    IllegalActionError,
    copenhagen_v0,
    helsinki_v0,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.helsinki import notation
from tests.games import EACH_GAME, GAMES, TestedGame

HELSINKI, COPENHAGEN = GAMES
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "helsinki": (
        {"num_players": 2},
        {"num_players": 3, "dry_roads": True, "covered": "first_game", "reward": "rank"},
        {
            "num_players": 4,
            "components": "more_small_tiles",
            "denied": [["two_points"], [], [10], []],
            "reward": "margin",
        },
    ),
    "copenhagen": (
        {"num_players": 2},
        {"num_players": 3, "denied": [["construction_discount"], [], [1, 4]], "reward": "rank"},
        {"num_players": 4, "reward": "margin"},
    ),
}
EACH_OPTIONS = [
    *(
        pytest.param(game, options, id=f"{game.name}-{n}")
        for game in GAMES
        for n, options in enumerate(OPTIONS[game.name])
    ),
    pytest.param(
        HELSINKI, OPTIONS["helsinki"][2] | {"components": "alternative"}, marks=pytest.mark.nightly, id="further layout"
    ),
]
both = pytest.mark.parametrize("kind", ["raw_env", "env"])


def make(game: TestedGame, kind: str = "raw_env", **options: Any) -> Any:
    return getattr(game.module, kind)(**options)


def first_game(game: TestedGame, seed: int = 1, **options: Any) -> Any:
    return game.spec.game(game.spec.config(**options), seed=seed)


def choose(rng: random.Random, observation: dict[str, Any]) -> int:
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def play(env: Any, rng: random.Random, decisions: int = 100_000) -> None:
    """Take `count` random actions, or play to the end of the game."""
    for _ in env.agent_iter(decisions):
        observation, _, terminated, _, _ = env.last()
        env.step(None if terminated else choose(rng, observation))


def record(env: Any, rng: random.Random) -> list[Any]:
    """Play to the end at random; return everything that the agents got to see."""
    seen = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        seen.append((agent, observation["observation"].tobytes(), reward, terminated, truncated, info))
        env.step(None if terminated else choose(rng, observation))
    return seen


@both
@pytest.mark.parametrize(("game", "options"), EACH_OPTIONS)
def test_plays_the_game(game: TestedGame, options: dict[str, Any], kind: str) -> None:
    env = make(game, kind, **options)
    for seed in range(4 if JIT else 1):
        rng = random.Random(seed)
        env.reset(seed=seed)
        played = first_game(game, seed, **options)
        while not played.done:
            assert env.agents == env.possible_agents
            assert env.agent_selection == f"player_{played.seat}"
            assert env.unwrapped.game == played
            observation, reward, terminated, truncated, info = env.last()
            assert (reward, terminated, truncated, info) == (0, False, False, {})
            assert np.array_equal(observation["action_mask"], played.action_mask())
            for agent in env.agents:
                seen = env.observe(agent)
                assert env.observation_space(agent).contains(seen)
                assert np.array_equal(seen["observation"], played.observation(int(agent[-1])))
                assert seen["action_mask"].any() == (agent == env.agent_selection)
            action = choose(rng, observation)
            env.step(action)
            played.step(action)
        assert env.unwrapped.game == played
        finish(env, played)


def finish(env: Any, played: Any) -> None:
    """Let every agent see the end."""
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-5)
    expected, left = expected_rewards(played), set(env.agents)
    for agent in env.agent_iter():
        left.remove(agent)
        observation, reward, terminated, truncated, info = env.last()
        assert (terminated, truncated) == (True, False)
        assert not observation["action_mask"].any()
        assert np.array_equal(observation["observation"], played.observation(int(agent[-1])))
        assert info == {"scores": tuple(played.scores().tolist()), "places": tuple(played.ranks().tolist())}
        assert reward == pytest.approx(expected[int(agent[-1])])
        assert isinstance(reward, float)
        env.step(None)
    assert not left
    assert env.agents == []


def expected_rewards(game: Any) -> list[float]:
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


@both
@EACH_GAME
def test_a_seed_means_a_series_of_games(game: TestedGame, kind: str) -> None:
    series = []
    for env in (make(game, kind), make(game, kind)):
        env.reset(seed=11)
        words = [env.unwrapped.game.state.chance]
        for _ in range(5):
            play(env, random.Random(1), decisions=7)
            env.reset()
            words.append(env.unwrapped.game.state.chance)
        series.append(words)
    assert series[0] == series[1]
    assert len(set(series[0])) == 6
    env.reset(seed=11)
    assert env.unwrapped.game == first_game(game, 11)
    fresh = [make(game, kind), make(game, kind)]
    for env in fresh:
        env.reset()
    assert fresh[0].unwrapped.game != fresh[1].unwrapped.game


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_a_bad_seed_changes_nothing(seed: Any) -> None:
    env = helsinki_v0.raw_env()
    env.reset(seed=3)
    before = env.game
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed, options={"covered": [0]})
    assert env.game == before
    assert env.config.covered == ()


@both
def test_options_hold_for_later_games(kind: str) -> None:
    env = make(HELSINKI, kind, num_players=3)
    env.reset(seed=1, options={"covered": ["two_points"], "dry_roads": True, "denied": [[0], [], []]})
    expected = HelsinkiConfig(num_players=3, covered=["two_points"], dry_roads=True, denied=[[0], [], []])
    assert env.unwrapped.game == HelsinkiGame(expected, seed=1)
    env.reset()
    assert env.unwrapped.game.config == expected
    assert env.unwrapped.game.state.dry_roads == 1
    env.reset(options={"covered": "first_game"})
    assert env.unwrapped.game.config == HelsinkiConfig(
        num_players=3, covered="first_game", dry_roads=True, denied=[[0], [], []]
    )


def test_denied_actions_hold_for_later_games() -> None:
    env = copenhagen_v0.env(num_players=3)
    denied: Any = [["construction_discount"], [], [2]]
    env.reset(seed=1, options={"denied": denied, "covered": [1]})
    expected = CopenhagenConfig(3, denied=denied)
    assert env.unwrapped.options == ("denied",)
    assert env.unwrapped.game == CopenhagenGame(expected, seed=1)
    env.reset()
    assert env.unwrapped.game.config == expected
    assert env.unwrapped.game.state.denied.tolist() == [sum(1 << a for a in seat) for seat in (*expected.denied, ())]
    env.reset(seed=1, options={"denied": None})
    assert env.unwrapped.game == CopenhagenGame(CopenhagenConfig(3), seed=1)


@both
@EACH_GAME
def test_other_options_are_ignored(game: TestedGame, kind: str) -> None:
    env = make(game, kind)
    env.reset(seed=1, options={"options": 1})
    assert env.unwrapped.game == first_game(game)
    with pytest.raises(ConfigError, match="options: found num_players, which cannot change; create another"):
        env.reset(seed=2, options={"num_players": 3})
    assert env.unwrapped.game == first_game(game)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        (HELSINKI, {"covered": ["two_point"]}),
        (HELSINKI, {"covered": [15], "dry_roads": True}),
        (HELSINKI, {"dry_roads": 1}),
        (HELSINKI, {"denied": [[]]}),
        (COPENHAGEN, {"denied": [[]]}),
        (COPENHAGEN, {"denied": [[0], []]}),
        (COPENHAGEN, {"denied": [["discount"], []]}),
    ],
    ids=str,
)
def test_bad_options_change_nothing(game: TestedGame, options: dict[str, Any]) -> None:
    env = make(game)
    env.reset(seed=1)
    with pytest.raises(ConfigError, match=next(iter(options))):
        env.reset(seed=2, options=options)
    assert env.game == first_game(game)
    env.reset()
    assert env.config == game.spec.config()


@EACH_GAME
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 5}, "num_players: found 5"),
        ({"render_mode": "rgb"}, "render_mode: found 'rgb', expected None or one of ansi"),
        ({"render_mode": ["ansi"]}, "render_mode: found"),
        ({"illegal_action": "ignore"}, "illegal_action: found 'ignore', expected 'penalize' or 'raise'"),
        ({"illegal_action": np.array(["raise", "penalize"])}, "illegal_action: found array"),
        ({"reward": "points"}, "reward: found 'points'"),
        ({"denied": [[]]}, "denied"),
    ],
)
def test_bad_arguments_are_named(game: TestedGame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(game, "env", **options)


@both
@EACH_GAME
@pytest.mark.parametrize(
    "action",
    [-1, "next", "last", "beyond", 10**30, None, 2.0, True, False, np.True_, "START 2", np.array([1, 2])],
    ids=repr,
)
def test_an_illegal_decision_changes_nothing(game: TestedGame, kind: str, action: Any) -> None:
    env = make(game, kind, illegal_action="raise")
    env.reset(seed=1)
    before = env.observe("player_0")
    mask = before["action_mask"]
    numbers = {"next": int(mask.nonzero()[0][-1]) + 1, "last": len(mask) - 1, "beyond": len(mask)}
    with pytest.raises(IllegalActionError, match=r"phase \w+ of seat 0. Legal: |whole number"):
        env.step(numbers.get(action, action) if isinstance(action, str) else action)
    assert env.unwrapped.game == first_game(game)
    assert np.array_equal(env.observe("player_0")["action_mask"], mask)
    env.step(np.int32(2))
    assert env.unwrapped.game != first_game(game)


@both
@pytest.mark.parametrize("action", [None, 2.0, True, "START 2", np.array([1, 2])])
def test_an_action_that_is_not_an_integer_is_always_an_error(kind: str, action: Any) -> None:
    env = make(HELSINKI, kind)
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="whole number"):
        env.step(action)
    assert env.unwrapped.game == HelsinkiGame(seed=1)
    assert not any(env.terminations.values())


def test_the_error_names_decision_phase_and_what_is_legal() -> None:
    env = helsinki_v0.env(illegal_action="raise")
    env.reset(seed=1)
    with pytest.raises(
        IllegalActionError, match=r"\(DRAW\) is not legal in phase START of seat 0. Legal: START 0, START 1"
    ):
        env.step(notation.string_to_action("DRAW"))


@pytest.mark.parametrize(("reward", "penalty"), [("win", -1), ("rank", -1), ("margin", -100)])
@pytest.mark.parametrize("players", [2, 3, 4])
@EACH_GAME
def test_an_illegal_decision_can_end_the_game_instead(
    game: TestedGame, players: int, reward: str, penalty: float
) -> None:
    env = make(game, "env", num_players=players, reward=reward)
    env.reset(seed=1)
    play(env, random.Random(1), decisions=25)
    offender, played = env.agent_selection, env.unwrapped.game
    action = int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]) if players < 4 else env.action_space(offender).n
    with pytest.warns(UserWarning, match=f"illegal action: it ended a game with reward {penalty}"):
        env.step(action)
    assert all(env.terminations.values())
    assert env.rewards == {a: penalty if a == offender else -penalty / (players - 1) for a in env.agents}
    name = game.spec.action_to_string(action, played.config) if players < 4 else action
    assert str(name) in env.infos[offender]["illegal_action"]
    assert env.unwrapped.game == played
    for agent in env.agent_iter():
        observation, got, terminated, _, _ = env.last()
        assert terminated
        assert got == (penalty if agent == offender else -penalty / (players - 1))
        assert not observation["action_mask"].any()
        env.step(None)
    env.reset()
    assert not any(env.terminations.values())


def copies(env: Any) -> dict[str, Any]:
    return {
        "deepcopy": copy.deepcopy(env),
        "copy": copy.copy(env),
        "copy of a copy": copy.copy(copy.copy(env)),
        "pickle": pickle.loads(pickle.dumps(env)),
        "clone": env.clone(),
    }


@both
@EACH_GAME
@pytest.mark.parametrize("decisions", [0, 40, 10_000])
def test_copies_go_on_alike(game: TestedGame, kind: str, decisions: int) -> None:
    env = make(game, kind, num_players=3, reward="margin")
    env.reset(seed=5)
    env.reset()
    play(env, random.Random(5), decisions)
    made = copies(env)
    seen = record(env, random.Random(6))
    env.reset()
    after = env.unwrapped.game
    for name, other in made.items():
        assert type(other) is type(env), name
        assert record(other, random.Random(6)) == seen, name
        other.reset()
        assert other.unwrapped.game == after, name


def test_copies_share_nothing_that_changes() -> None:
    env = helsinki_v0.env()
    env.reset(seed=5)
    for name, other in copies(env).items():
        env.reset(seed=5)
        play(other, random.Random(1), 30)
        assert env.unwrapped.game == HelsinkiGame(seed=5), name
        assert env.agents == ["player_0", "player_1"], name
    one, other = env, copy.deepcopy(env)
    one.action_space("player_0").seed(1)
    other.action_space("player_0").seed(1)
    drawn = [one.action_space("player_0").sample() for _ in range(5)]
    assert [other.action_space("player_0").sample() for _ in range(5)] == drawn


@both
@EACH_GAME
def test_a_state_can_be_brought_back_more_than_once(game: TestedGame, kind: str) -> None:
    env = make(game, kind, num_players=3)
    env.reset(seed=5, options={"denied": [[3], [], []]})
    play(env, random.Random(5), 30)
    state = pickle.loads(pickle.dumps(env.get_state()))
    seen = record(env, random.Random(6))
    for fresh in (env, make(game, kind, num_players=3), env):
        if fresh is env:
            fresh.reset(seed=8, options={"denied": None})
        fresh.set_state(state)
        assert fresh.unwrapped.config.denied == ((3,), (), ())
        assert record(fresh, random.Random(6)) == seen


def test_a_state_can_be_brought_back_before_the_first_reset() -> None:
    env, other = helsinki_v0.env(num_players=3), helsinki_v0.env(num_players=3)
    env.reset(seed=5)
    play(env, random.Random(5), 30)
    other.set_state(env.get_state())
    assert record(other, random.Random(6)) == record(env, random.Random(6))


AGENTS = ["player_0", "player_1"]


@EACH_GAME
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": 5}, "config: found 5"),
        ({"config": {"denied": [[3], []]}}, r"states: denied: found \[0 0 0 0\], expected \[8 0 0 0\]"),
        ({"config": {"num_players": 3}}, "found 3 players"),
        ({"_states": np.zeros(1)}, "_states: found ndarray"),
        ({"_states": None}, "_states: found NoneType"),
        ({"_over": 1}, "_over: found 1"),
        ({"agents": ["player_1"]}, "agents: found"),
        ({"agents": "player_0"}, "agents: found"),
        ({"agent_selection": "player_1"}, "agent_selection: found 'player_1'"),
        ({"_skip_agent_selection": 3}, "_skip_agent_selection: found 3"),
        ({"_seed": -1}, "_seed: found -1"),
        ({"_episode": None}, "_episode: found None"),
        ({"_last_action": 10_000}, "_last_action: found 10000"),
        ({"_last_action": "DRAW"}, "_last_action: found 'DRAW'"),
        ({"rewards": {"player_0": 0}}, "rewards: found"),
        ({"infos": None}, "infos: found None"),
        ({"more": 1}, "expected what get_state returns"),
        ({"infos": dict.fromkeys(AGENTS, 5)}, "infos: found"),
        ({"rewards": dict.fromkeys(AGENTS, math.nan)}, "rewards: found"),
        ({"_cumulative_rewards": dict.fromkeys(AGENTS, "1")}, "_cumulative_rewards: found"),
        ({"terminations": dict.fromkeys(AGENTS, True)}, "terminations: found"),
        ({"truncations": dict.fromkeys(AGENTS, 0)}, "truncations: found"),
        ({"agents": [["player_0"]]}, "agents: found"),
        ({"agent_selection": np.array(AGENTS)}, "agent_selection: found"),
        ({"_skip_agent_selection": np.zeros(3)}, "_skip_agent_selection: found"),
        ({"_over": np.array([True])}, "_over: found"),
        ({"_seed": 2**64}, "_seed: found"),
        ({"_episode": 1.5}, "_episode: found"),
        ({"_last_action": True}, "_last_action: found"),
    ],
    ids=str,
)
def test_a_state_that_cannot_be_changes_nothing(game: TestedGame, changes: dict[str, Any], message: str) -> None:
    env = make(game)
    env.reset(seed=1)
    env.step(2)
    before, agents = env.game, pickle.dumps(env.get_state())
    if isinstance(changes.get("config"), dict):
        changes = {"config": game.spec.config(**changes["config"])}
    with pytest.raises(ValueError, match=message):
        env.set_state(env.get_state() | changes)
    wrong: tuple[Any, ...] = (None, 5, [], {})
    for bad in wrong:
        with pytest.raises(ValueError, match="state: found"):
            env.set_state(bad)
    assert env.game == before
    assert pickle.dumps(env.get_state()) == agents
    assert record(env, random.Random(1))


@EACH_GAME
@pytest.mark.parametrize(
    ("name", "value"), [("seat", 3), ("phase", 17), ("pile_size", 120), ("hand", -1), ("points", -1), ("players", 7)]
)
def test_a_record_that_cannot_be_changes_nothing(game: TestedGame, name: str, value: int) -> None:
    env = make(game)
    env.reset(seed=1)
    env.step(2)
    before, state = env.game, env.get_state()
    state["_states"][name] = value
    with pytest.raises(ValueError, match="states: "):
        env.set_state(state)
    assert env.game == before


@EACH_GAME
def test_a_state_of_the_other_game_is_refused(game: TestedGame) -> None:
    other = next(one for one in GAMES if one is not game)
    envs = make(game), make(other)
    for env in envs:
        env.reset(seed=1)
    with pytest.raises(ValueError, match=f"expected a {game.spec.config.__name__}"):
        envs[0].set_state(envs[1].get_state())


def test_what_is_legal_is_worked_out_from_the_state() -> None:
    env = helsinki_v0.raw_env()
    env.reset(seed=1)
    env.last()[0]["action_mask"][:] = 1
    state = env.get_state()
    env.step(2)
    env.set_state(state)
    assert np.flatnonzero(env.last()[0]["action_mask"]).tolist() == list(range(8))


@both
@pytest.mark.parametrize("options", [[1], 5, "covered", [("covered", [1])]], ids=repr)
def test_options_are_a_mapping(kind: str, options: Any) -> None:
    env = make(HELSINKI, kind)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"options: found .* expected a mapping"):
        env.reset(seed=2, options=options)
    assert env.unwrapped.game == HelsinkiGame(seed=1)


@pytest.mark.parametrize("agent", ["player_2", "nobody", None, 0, []], ids=repr)
def test_an_agent_that_does_not_play_is_named(agent: Any) -> None:
    env = helsinki_v0.raw_env()
    env.reset(seed=1)
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match=r"agent: found .* expected one of player_0, player_1"):
            ask(agent)


def test_a_state_of_another_environment_is_refused() -> None:
    env, other = helsinki_v0.raw_env(), helsinki_v0.raw_env(num_players=4)
    env.reset()
    other.reset()
    with pytest.raises(ValueError, match="found 4 players"):
        env.set_state(other.get_state())


def test_every_observation_has_arrays_of_its_own() -> None:
    env = helsinki_v0.env()
    env.reset(seed=1)
    seen = []
    for _ in range(30):
        for _ in range(2):
            seen += [env.last()[0], env.observe("player_0"), env.observe("player_1")]
        env.step(choose(random.Random(1), seen[-6]))
    arrays = [array for observation in seen for array in observation.values()]
    kept = [array.copy() for array in arrays]
    play(env, random.Random(1))
    for i, array in enumerate(arrays):
        assert np.array_equal(array, kept[i])
        assert not any(np.shares_memory(array, other) for other in arrays[:i])


def test_writing_into_a_mask_makes_nothing_legal() -> None:
    env = helsinki_v0.env(illegal_action="raise")
    env.reset(seed=1)
    env.last()[0]["action_mask"][:] = 1
    with pytest.raises(IllegalActionError):
        env.step(100)


@both
@EACH_GAME
def test_spaces_are_the_same_objects_at_every_call(game: TestedGame, kind: str) -> None:
    env = make(game, kind, num_players=4)
    for agent in env.possible_agents:
        space, actions = env.observation_space(agent), env.action_space(agent)
        env.reset(seed=1)
        assert env.observation_space(agent) is space
        assert env.action_space(agent) is actions
        assert actions == env.action_space("player_0")
        assert actions.n == space["action_mask"].shape[0]
        assert all(piece.dtype == np.int8 for piece in space.spaces.values())
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == 4


def test_before_the_first_reset() -> None:
    raw, env = helsinki_v0.raw_env(), helsinki_v0.env()
    for name in ("agents", "rewards", "terminations", "infos", "game"):
        with pytest.raises(AttributeError, match="reset"):
            getattr(raw, name)
    observe = functools.partial(raw.observe, "player_0")
    for call in (lambda: raw.step(0), raw.get_state, raw.last, observe, lambda: list(raw.agent_iter())):
        with pytest.raises(AttributeError, match="reset"):
            call()
    for name in ("agent", "agent_selection"):  # the latter is what every step reads: nothing stands in its place
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(raw, name)
    for call in (lambda: env.step(0), env.render, env.agent_iter, lambda: env.observe("player_0")):
        with pytest.raises(AssertionError, match="reset"):
            call()
    for name in ("agents", "agent_selection", "rewards", "last"):
        with pytest.raises(AttributeError, match="reset"):
            getattr(env, name)()


def test_after_the_end() -> None:
    env = helsinki_v0.raw_env()
    env.reset(seed=1)
    play(env, random.Random(1))
    with pytest.raises(ValueError, match="reset"):
        env.step(None)


def test_every_turn_of_the_loop_needs_a_step() -> None:
    env = helsinki_v0.env()
    env.reset(seed=1)
    turns = iter(env.agent_iter())
    assert next(turns) == "player_0"
    with pytest.raises(AssertionError, match="agent_iter"):
        next(turns)


def test_an_agent_whose_game_is_over_takes_no_decision() -> None:
    env = helsinki_v0.env()
    env.reset(seed=1)
    while not all(env.terminations.values()):
        env.step(choose(random.Random(1), env.last()[0]))
    with pytest.raises(ValueError, match="None"):
        env.step(3)


@EACH_GAME
def test_drawings(game: TestedGame, capsys: pytest.CaptureFixture[str]) -> None:
    drawn, last = {}, game.spec.action_to_string(2, game.spec.config())
    for mode in game.module.raw_env.metadata["render_modes"]:
        env = make(game, "env", render_mode=mode)
        env.reset(seed=1)
        env.step(2)
        drawn[mode] = env.render()
    assert last in drawn["ansi"]
    assert drawn["svg"].startswith("<svg")
    assert drawn["rgb_array"].dtype == np.uint8
    assert drawn["rgb_array"].shape[2] == 3
    assert drawn["rgb_array"].std() > 10  # not one colour
    assert drawn["human"] is None
    printed = capsys.readouterr().out
    assert printed.upper().count(game.name.upper()) == 3  # by reset, step and render
    assert printed.count(last) == 2  # by step and render


def test_no_drawing_without_a_mode() -> None:
    env = helsinki_v0.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@EACH_GAME
@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo has names from 1.27 on")
def test_is_known_by_name(game: TestedGame) -> None:
    env = pettingzoo.make("aec", f"helsinki/{game.name}-v0", num_players=3)
    env.reset(seed=1)
    assert str(env) == f"{game.name}_v0"
    assert env.num_agents == 3
    assert env.metadata["is_parallelizable"] is False


@EACH_GAME
def test_the_page_states_the_spaces(game: TestedGame) -> None:
    env = make(game)
    env.reset(seed=1)
    for name, array in env.observe("player_0").items():
        assert f"`{name}` int8 ({len(array)},)" in str(game.module.__doc__)
    assert f"Discrete({env.action_space('player_0').n})" in str(game.module.__doc__)


def test_attributes_stay_few_enough_to_be_found_fast() -> None:
    """From the thirtieth on, Python 3.11 keeps them where a step takes a tenth longer."""
    env = helsinki_v0.raw_env()
    env.reset(seed=1)
    play(env, random.Random(1), 3)
    assert len(vars(env)) <= 29
