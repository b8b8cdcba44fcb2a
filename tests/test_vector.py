"""The self-play batch: each of its games equals that of the game class, whatever the others do."""

from __future__ import annotations

import copy
import os
import signal
import time
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from helsinki_env import (
    ConfigError,
    HelsinkiConfig,
    HelsinkiGame,
    HelsinkiVectorEnv,
    IllegalActionError,
    RandomEpisodes,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.copenhagen.episodes import RandomEpisodes as CopenhagenEpisodes
from tests.games import EACH_GAME, GAMES, TestedGame
from tests.test_aec import expected_rewards

HELSINKI, COPENHAGEN = GAMES
CONFIGS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "dry_roads": True, "covered": "first_game", "reward": "rank"},
    {"num_players": 4, "components": "more_small_tiles", "denied": [["two_points"], [], [10], []], "reward": "margin"},
)
OF_COPENHAGEN: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "denied": [[1], [], [4]], "reward": "rank"},
    {"num_players": 4, "reward": "margin"},
)
EPISODES: dict[str, Any] = {
    "helsinki": RandomEpisodes(num_players=(2, 3, 4), covered=(0, 5), denied=(0, 2), dry_roads=(False, True)),
    "copenhagen": CopenhagenEpisodes(num_players=(2, 3, 4), denied=(0, 4)),
}
MODES = tuple(AutoresetMode)
STEPS = 600 if JIT else 150
SIZE = 5 if JIT else 2
EACH_BATCH = [
    *((HELSINKI, options, mode) for options in CONFIGS for mode in MODES),
    *((COPENHAGEN, options, mode) for options, mode in zip(OF_COPENHAGEN, MODES, strict=True)),
    # Its records are of a further layout.
    pytest.param(HELSINKI, CONFIGS[2] | {"components": "alternative"}, MODES[0], marks=pytest.mark.nightly),
]


def choose(obs: dict[str, npt.NDArray[np.int8]], words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    return sample_actions(obs["action_mask"], words)


def play(env: GameVectorEnv, obs: Any, steps: int, seed: int = 0) -> list[Any]:
    """Play on at random and return everything that came back, as copies."""
    words = random_keys(env.num_envs, seed)
    seen = []
    for _ in range(steps):
        obs, *rest = env.step(choose(obs, words))
        seen.append(copy.deepcopy((obs, *rest)))
    return seen


def same(one: Any, other: Any) -> bool:
    """Whether nested results are the same, types and all."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return same(one.tolist(), other.tolist()) if one.dtype == object else np.array_equal(one, other)
    return bool(one == other)


class Twin:
    """The batch once more, game by game, with the game class."""

    def __init__(self, env: GameVectorEnv, seed: int) -> None:
        self.env = env
        self.mode: AutoresetMode = env.metadata["autoreset_mode"]
        self.games = [spec_of(env.config).game(env.config, seed=seed, stream=b) for b in range(env.num_envs)]
        self.endings = 0

    def step(self, actions: npt.NDArray[np.int64], result: Any) -> None:
        obs, reward, terminated, truncated, info = result
        assert reward.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_
        assert not truncated.any()
        ended = []
        for b, game in enumerate(self.games):
            over = game.done
            if over:
                assert self.mode == AutoresetMode.NEXT_STEP
                self.games[b] = self.env.game(b)  # which game that is, other tests check
                assert self.games[b].round == 1
            else:
                game.step(int(actions[b]))
                if game.done:
                    ended.append(b)
        assert np.flatnonzero(terminated).tolist() == ended
        assert ("rewards" in info) == bool(ended)
        for b, game in enumerate(self.games):
            expected = expected_rewards(game)[game.seat] if b in ended else 0
            assert reward[b] == pytest.approx(expected, abs=1e-6)
            if b in ended:
                self.ended(b, game, info)
        if self.mode == AutoresetMode.SAME_STEP:
            for b in ended:
                self.games[b] = self.env.game(b)
                assert self.games[b].round == 1
        self.compare(obs, info)

    def ended(self, b: int, game: Any, info: dict[str, Any]) -> None:
        self.endings += 1
        players = game.num_players
        for name, values in (
            ("rewards", expected_rewards(game)),
            ("scores", game.scores()),
            ("places", game.ranks()),
        ):
            assert info[f"_{name}"][b]
            assert info[name].shape == (self.env.num_envs, players)
            assert np.allclose(info[name][b], values, atol=1e-5)
        assert info["rewards"][b].sum() == pytest.approx(0, abs=1e-4)
        assert ("final_obs" in info) == (self.mode == AutoresetMode.SAME_STEP)
        if "final_obs" in info:
            final = info["final_obs"][b]
            assert info["_final_obs"][b]
            assert info["_final_info"][b]
            assert np.array_equal(final["observation"], game.observation())
            assert not final["action_mask"].any()
            assert self.env.single_observation_space.contains(final)
            assert info["final_info"]["seat"][b] == game.seat
            assert np.array_equal(info["final_info"]["scores"][b], game.scores())

    def compare(self, obs: Any, info: dict[str, Any]) -> None:
        for b, game in enumerate(self.games):
            assert np.array_equal(obs["observation"][b], game.observation())
            assert np.array_equal(obs["action_mask"][b], game.action_mask())
            assert info["seat"][b] == game.seat
        assert info["_seat"].all()
        assert info["seat"].dtype == np.int64


@pytest.mark.parametrize(("game", "options", "mode"), EACH_BATCH)
def test_every_game_is_the_game(game: TestedGame, options: dict[str, Any], mode: AutoresetMode) -> None:
    env = game.vector_env(SIZE, **options, autoreset_mode=mode)
    obs, info = env.reset(seed=4)
    twin = Twin(env, seed=4)
    twin.compare(obs, info)
    words = random_keys(SIZE, seed=1)
    for _ in range(STEPS):
        actions = choose(obs, words)
        obs, _, ended, *_ = result = env.step(actions)
        twin.step(actions, result)
        if mode == AutoresetMode.DISABLED and ended.any():
            obs, info = env.reset(options={"reset_mask": ended})
            for b in np.flatnonzero(ended):
                twin.games[b] = env.game(b)
            twin.compare(obs, info)
    assert twin.endings >= SIZE or not JIT
    assert env.observation_space.contains(obs)


def episode_starts(env: HelsinkiVectorEnv, obs: Any, steps: int) -> dict[int, list[int]]:
    """The random words with which the episodes of each game begin."""
    words = random_keys(env.num_envs, 3)
    starts: dict[Any, list[int]] = {b: [int(w)] for b, w in enumerate(env.states["chance"])}
    for _ in range(steps):
        obs, _, ended, *_ = env.step(choose(obs, words))
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and ended.any():
            obs, _ = env.reset(options={"reset_mask": ended})
        for b in np.flatnonzero(env.states["phase"] == 0):
            if starts[b][-1] != int(env.states["chance"][b]):
                starts[b].append(int(env.states["chance"][b]))
    return starts


def test_the_modes_deal_the_same_episodes() -> None:
    found = []
    for mode in MODES:
        env = HelsinkiVectorEnv(SIZE, autoreset_mode=mode)
        found.append(episode_starts(env, env.reset(seed=9)[0], STEPS))
    for b in range(SIZE):
        most = min(len(starts[b]) for starts in found)
        assert most >= 3 or not JIT
        assert len({tuple(starts[b][:most]) for starts in found}) == 1
        assert len(set(found[0][b])) == len(found[0][b])


@pytest.mark.skipif(not JIT, reason="interpreted kernels are too slow for batches")
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@EACH_GAME
def test_a_game_depends_neither_on_the_batch_nor_on_threads(game: TestedGame, mode: AutoresetMode) -> None:
    episodes = EPISODES[game.name]
    found = []
    for size, threads in ((64, 1), (64, 2), (64, 3), (9, 1), (9, 4)):
        env = game.vector_env(size, autoreset_mode=mode, num_threads=threads, episodes=episodes)
        obs, _ = env.reset(seed=2)
        obs = play(env, obs, 400)[-1][0]
        found.append(
            (env.states[:9].tobytes(), obs["observation"][:9].tobytes(), env.get_state()["runs"][:9].tobytes())
        )
        env.close()
    assert all(state == found[0] for state in found)


def test_copies_of_a_threaded_batch_have_threads_of_their_own() -> None:
    env = HelsinkiVectorEnv(8, num_threads=2)
    obs, _ = env.reset(seed=0)
    play(env, obs, 3)
    other = env.clone()
    env.close()
    assert len(play(other, other.set_state(other.get_state())[0], 3)) == 3
    other.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system starts processes in another way")
def test_a_forked_process_goes_on_with_threads_of_its_own() -> None:
    env = HelsinkiVectorEnv(8, num_threads=2)
    obs = play(env, env.reset(seed=0)[0], 3)[-1][0]
    child = os.fork()
    if not child:  # its exit status is the result
        try:
            play(env, obs, 3)
            env.close()
            os._exit(7)
        finally:
            os._exit(1)
    end = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)
    assert os.waitstatus_to_exitcode(ended[1]) == 7
    assert len(play(env, obs, 3)) == 3
    env.close()


@pytest.mark.parametrize("mode", MODES)
@EACH_GAME
def test_an_illegal_action_leaves_everything_unchanged(game: TestedGame, mode: AutoresetMode) -> None:
    env = game.vector_env(4, autoreset_mode=mode, num_players=3)
    obs, _ = env.reset(seed=1)
    words = random_keys(4, 1)
    for _ in range(37):
        obs = env.step(choose(obs, words))[0]
    before = env.get_state()
    for bad in (-1, int((obs["action_mask"][2] == 0).argmax()), 10**3, 2**40):
        actions = choose(obs, words.copy())
        actions[2] = bad
        with pytest.raises(
            IllegalActionError, match=r"^game 2: .*(is not legal in phase [A-Z]+ of seat \d\. Legal|ids run)"
        ):
            env.step(actions)
        assert same(env.get_state(), before)
    after = env.step(choose(obs, words.copy()))
    env.set_state(before)
    assert same(after, env.step(choose(obs, words.copy())))


@pytest.mark.parametrize(
    "actions",
    [[0, 0], [[0], [0], [0]], [0.0, 0.0, 0.0], [True, True, True], [0, True, 0], [0, [0], 0], "abc", None, 0],
    ids=repr,
)
def test_what_is_no_batch_of_actions_is_refused(actions: Any) -> None:
    env = HelsinkiVectorEnv(3)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match=r"^actions: .*(expected whole numbers of shape \(3,\)|expected an array)"):
        env.step(actions)
    assert same(env.get_state(), before)


def test_writing_into_a_mask_makes_nothing_legal() -> None:
    env = HelsinkiVectorEnv(2)
    obs, _ = env.reset(seed=1)
    obs["action_mask"][:] = 1
    with pytest.raises(IllegalActionError, match="game 0"):
        env.step([100, 100])


def test_finished_games_wait_for_a_reset_when_told_to() -> None:
    env = HelsinkiVectorEnv(3, autoreset_mode="Disabled")
    obs, _ = env.reset(seed=1)
    words = random_keys(3, 5)
    ended = np.zeros(3, np.bool_)
    while not ended.any():
        obs, _, ended, *_ = env.step(choose(obs, words))
    b = int(ended.argmax())
    with pytest.raises(IllegalActionError, match=rf"game {b}: .*the game is over.*reset_mask"):
        env.step(choose(obs, words.copy()))
    before = env.get_state()
    obs, info = env.reset(options={"reset_mask": ended})
    after = env.get_state()
    assert np.array_equal(after["states"][~ended], before["states"][~ended])
    assert np.array_equal(after["runs"]["episode"], before["runs"]["episode"] + ended)
    assert (env.states["phase"][ended] == 0).all()
    assert info["seat"].shape == (3,)


@pytest.mark.parametrize("mask", [[True, False], [1, 0, 1], np.zeros(3, np.bool_), "all"], ids=repr)
def test_a_bad_reset_mask_changes_nothing(mask: Any) -> None:
    env = HelsinkiVectorEnv(3)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match=r"reset_mask.*expected bool of shape \(3,\)"):
        env.reset(seed=3, options={"reset_mask": mask, "num_players": 4})
    assert same(env.get_state(), before)
    assert env.config.num_players == 2


def test_the_first_reset_deals_all_games() -> None:
    env = HelsinkiVectorEnv(2)
    with pytest.raises(ValueError, match="first reset"):
        env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ValueError, match="reset"):
        env.step([0, 0])


def test_seeds() -> None:
    env = HelsinkiVectorEnv(3)
    env.reset(seed=7)
    assert [env.game(b) for b in range(3)] == [HelsinkiGame(seed=7, stream=b) for b in range(3)]
    first = env.states["chance"].copy()
    env.reset()
    second = env.states["chance"].copy()
    assert not (first == second).any()
    env.reset(seed=7)
    env.reset()
    assert np.array_equal(env.states["chance"], second)
    env.reset(seed=[5, 6, 5])
    assert [env.game(b) for b in range(3)] == [HelsinkiGame(seed=s) for s in (5, 6, 5)]
    env.reset(seed=9, options={"reset_mask": np.array([False, True, False])})
    assert [env.game(b) for b in range(3)] == [
        HelsinkiGame(seed=5),
        HelsinkiGame(seed=9, stream=1),
        HelsinkiGame(seed=5),
    ]
    env.reset(seed=[None, 1, None])
    assert env.game(0) != env.game(2)
    others = [HelsinkiVectorEnv(1), HelsinkiVectorEnv(1)]
    for other in others:
        other.reset()
    assert others[0].game(0) != others[1].game(0)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", [1, 2], [1, 2, -3], [1, 2, "3"]], ids=repr)
def test_a_bad_seed_changes_nothing(seed: Any) -> None:
    env = HelsinkiVectorEnv(3)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed, options={"num_players": 3})
    assert same(env.get_state(), before)
    assert env.config.num_players == 2


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_options_hold_for_automatic_resets(mode: AutoresetMode) -> None:
    env = HelsinkiVectorEnv(SIZE, autoreset_mode=mode)
    env.reset(seed=1)
    options = {"num_players": 3, "covered": ["two_points", 3], "dry_roads": True, "reward": "rank"}
    obs, _ = env.reset(seed=1, options=options)
    expected = HelsinkiConfig(num_players=3, covered=(3, 14), dry_roads=True, reward="rank")
    assert [env.game(b) for b in range(SIZE)] == [HelsinkiGame(expected, seed=1, stream=b) for b in range(SIZE)]
    endings = 0
    for _, _, ended, _, info in play(env, obs, STEPS):
        endings += ended.sum()
        if ended.any():
            assert set(np.unique(info["rewards"][ended])) == {-1, 0, 1}
    assert endings >= SIZE or not JIT
    assert all(env.game(b).config == expected for b in range(SIZE))
    env.reset(options={"denied": [[1], [2], []]})
    assert env.game(0).config == HelsinkiConfig(
        num_players=3, covered=(3, 14), dry_roads=True, reward="rank", denied=[[1], [2], []]
    )
    env.reset(options={"num_players": 4})  # three players' denied actions mean nothing for four
    assert env.game(0).config.denied == ((),) * 4


def test_options_for_some_games_leave_the_others() -> None:
    env = HelsinkiVectorEnv(2, num_players=4, autoreset_mode="SameStep")
    env.reset(seed=1)
    obs, _ = env.reset(options={"reset_mask": np.array([True, False]), "num_players": 2})
    assert env.states["players"].tolist() == [2, 4]
    for _, _, ended, _, info in play(env, obs, STEPS):
        if ended.any():
            assert info["rewards"].shape == (2, 4)
            assert np.allclose(info["rewards"].sum(axis=1), 0, atol=1e-6)
    assert env.states["players"].tolist() == [2, 2] or not JIT


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 5},
        {"covered": ["two_point"], "num_players": 3},
        {"cover": []},
        {"episodes": {"num_players": (2, 3)}},
        {"denied": [[0], []], "episodes": RandomEpisodes(num_players=(2, 3))},
        {"reset_mask": [[1], 2]},
    ],
    ids=repr,
)
def test_bad_options_change_nothing(options: dict[str, Any]) -> None:
    env = HelsinkiVectorEnv(2)
    env.reset(seed=1)
    before, config, episodes = env.get_state(), env.config, env.episodes
    with pytest.raises(ValueError, match=next(iter(options))):
        env.reset(seed=2, options=options)
    assert same(env.get_state(), before)
    assert (env.config, env.episodes) == (config, episodes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs: found 0"),
        ({"num_envs": True}, "num_envs"),
        ({"num_envs": 2.0}, "num_envs: found 2.0"),
        ({"num_envs": 10**30}, "num_envs: found 10+"),
        ({"config": 5}, "config: found 5"),
        ({"config": {"num_players": 2}}, "config: found"),
        ({"copy": 2}, "copy: found 2"),
        ({"autoreset_mode": "same"}, "autoreset_mode: found 'same'"),
        ({"config": HelsinkiConfig(), "reward": "margin"}, "config: found reward too, expected either"),
        ({"config": HelsinkiConfig(), "num_players": 2}, "config: found num_players too, expected either"),
        ({"num_threads": 0}, "num_threads: found 0"),
        ({"num_threads": 2.0}, "num_threads: found 2.0"),
        ({"render_mode": "human"}, "render_mode: found 'human'"),
        ({"episodes": (2, 3)}, "episodes"),
        ({"reward": "points"}, "reward"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HelsinkiVectorEnv(**{"num_envs": 2} | arguments)


def everything(result: Any) -> list[npt.NDArray[Any]]:
    """All arrays within a result."""
    if isinstance(result, dict):
        return [array for value in result.values() for array in everything(value)]
    if isinstance(result, list | tuple):
        return [array for value in result for array in everything(value)]
    if isinstance(result, np.ndarray):
        return everything(result.tolist()) if result.dtype == object else [result]
    return []


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_returned_arrays_are_never_written_again(mode: AutoresetMode) -> None:
    env = HelsinkiVectorEnv(2, autoreset_mode=mode)
    results: list[Any] = [env.reset(seed=1)]
    words = random_keys(2, 1)
    for _ in range(40):
        results.append(env.step(choose(results[-1][0], words)))
    results += [env.set_state(env.get_state()), env.reset()]
    kept = copy.deepcopy(results)
    play(env, results[-1][0], 200)
    assert all(map(same, results, kept))
    for obs, *_, info in results:
        assert info.pop("action_mask") is obs["action_mask"]
        assert info.pop("_action_mask").all()
    arrays = [array for result in results for array in everything(result)]
    assert not any(np.shares_memory(one, arrays[j]) for i, one in enumerate(arrays) for j in range(i))


def test_a_view_keeps_its_array() -> None:
    env = HelsinkiVectorEnv(2)
    row = env.reset(seed=1)[0]["observation"][1]
    kept = row.copy()
    for _ in range(10):
        env.reset()
    assert np.array_equal(row, kept)


def test_arrays_are_reused_when_asked_to() -> None:
    env, other = HelsinkiVectorEnv(2, copy=False), HelsinkiVectorEnv(2)
    obs, info = env.reset(seed=1)
    words = random_keys(2, 1)
    expected, _ = other.reset(seed=1)
    for _ in range(50):
        actions = choose(obs, words)
        again, *_, told = env.step(actions)
        assert again["observation"] is obs["observation"]
        assert again["action_mask"] is obs["action_mask"]
        assert told["seat"] is info["seat"]
        expected = other.step(actions)[0]
        assert same(obs, expected)


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    env = HelsinkiVectorEnv(3)
    env.reset(seed=1)
    before = env.get_state()
    larger = HelsinkiVectorEnv(4)
    larger.reset(seed=2)
    with pytest.raises(ValueError, match=r"states: found .* of shape \(4,\)"):
        env.set_state(larger.get_state())
    with pytest.raises(ValueError, match="found states"):
        env.set_state({"states": before["states"]})
    bad: Any
    for bad in (None, 5, [1], {1: 2}):
        with pytest.raises(ValueError, match="state: found"):
            env.set_state(bad)
    with pytest.raises(ValueError, match=r"runs: found list"):
        env.set_state(before | {"runs": [1, 2, 3]})  # type: ignore[arg-type]
    assert same(env.get_state(), before)


#: A field of a record, a wrong value, and the start of the message.
OF_HELSINKI: tuple[tuple[str, Any, str], ...] = (
    ("players", 5, "players: found 5"),
    ("seat", 3, "to_move: found 3"),
    ("phase", 17, "phase: found 17"),
    ("phase", 3, "pending.card: found nothing"),
    ("hand", 3, r"draw_pile, .*seats.hand, .* found 8"),
    ("discard", -1, r"discard\[0\]: found -1"),
    ("pile_size", 101, "pile_size: found 101"),
    ("pile_size", 0, "draw_pile, .* found 0"),
    ("token", -1, r"seats.token: found \[None, None\]"),
    ("token", 8, r"token\[0\]: found 8"),
    ("tile_count", 22, r"seats\[0\].pavilions\[1\].cells: found"),
    ("built", 1 << 49, r"built\[0\]"),
    ("superstructures", 1, r"seats\[0\].superstructures: found"),
    ("meadow", 8, r"seats\[0\].meadow: found 8"),
    ("bonus_cards", 16, "bonus_cards: found 16"),
    ("supply", 4, r"supply\[0\]: found 4"),
    ("round_number", -5, "round_number: found -5"),
    ("done", 1, "done: found True"),
    ("move", 3, "pending.move: found 3"),
    ("wilds_left", 1, "pending.wilds_left: found 1"),
)
BROKEN = [
    *((HELSINKI, *broken) for broken in OF_HELSINKI),
    (COPENHAGEN, "players", 5, "players: found 5"),
    (COPENHAGEN, "seat", 3, "to_move: found 3"),
    (COPENHAGEN, "phase", 9, "phase: found 9"),
    (COPENHAGEN, "pile_size", 120, "pile_size: found 120"),
    (COPENHAGEN, "hand", -1, r"hand\[0, 0\]: found -1"),
    (COPENHAGEN, "points", 50, r"seats\[0\].points: found 50"),
]


@pytest.mark.parametrize(("game", "field", "value", "message"), BROKEN)
def test_a_state_that_cannot_be_changes_nothing(game: TestedGame, field: str, value: Any, message: str) -> None:
    env = game.vector_env(3)
    obs, _ = env.reset(seed=1)
    env.step(choose(obs, random_keys(3)))
    before = env.get_state()
    state = env.get_state()
    state["states"][field][1] = value
    with pytest.raises(ValueError, match=f"^states: game 1: ({message})"):
        env.set_state(state)
    assert same(env.get_state(), before)


def mutate(state: Any, rng: np.random.Generator) -> None:
    """Write something else into some places of a record."""
    names = [name for name in state.dtype.names if name not in ("chance", "pad")]
    for _ in range(rng.integers(1, 4)):
        name = names[rng.integers(len(names))]
        shape, kind = np.shape(state[name]), np.iinfo(state.dtype[name].base)
        values = np.array(state[name]).reshape(-1)
        i = rng.integers(values.size)
        value = [
            int(values[i]) + int(rng.integers(-2, 3)),
            int(rng.integers(-1, 10)),
            int(rng.integers(kind.min, kind.max, endpoint=True)),
            int(values[rng.integers(values.size)]),
            int(values[i]) ^ 1 << int(rng.integers(min(49, kind.bits - 1))),
        ][rng.integers(5)]
        values[i] = min(max(value, kind.min), kind.max)
        state[name] = values.reshape(shape) if shape else values[0]


def play_mutated(count: int, seed: int) -> int:
    """Mutate records of games at random, play on what is taken over; return how many that were.

    All that is accepted must be playable to the end, and every state on the way must be accepted, too.
    """
    accepted = 0
    rng = np.random.default_rng(seed)
    for options in (
        CONFIGS[0],
        {"num_players": 3, "dry_roads": True},
        {"num_players": 4, "components": "more_small_tiles"},
    ):
        source = HelsinkiVectorEnv(16, **options, autoreset_mode="SameStep")
        env = HelsinkiVectorEnv(1, **options, autoreset_mode="Disabled")
        obs, _ = source.reset(seed=seed)
        words = random_keys(16, seed)
        for number in range(count // 3):
            if number % 16 == 0:
                obs = play(source, obs, 3, number)[-1][0]
            state = {name: array[number % 16 :][:1] for name, array in source.get_state().items()}
            mutate(state["states"][0], rng)
            try:
                found = env.set_state(state)[0]
            except ValueError:
                continue
            accepted += 1
            word, ended = words[number % 16 :][:1].copy(), bool(state["states"]["done"][0])
            for _ in range(2000):
                if ended:
                    break
                found, _, over, *_ = env.step(choose(found, word))
                ended = bool(over[0])
                env.set_state(env.get_state())
            assert ended, state
    return accepted


def test_what_is_accepted_can_be_played_to_the_end() -> None:
    assert play_mutated(300 if JIT else 9, seed=1) > (30 if JIT else 0)


def test_a_reshuffled_pile_with_more_cards_than_recorded_is_played_to_the_end() -> None:
    env = HelsinkiVectorEnv(1, autoreset_mode="Disabled")
    for seed in range(20 if JIT else 2):
        env.reset(seed=seed)
        state = env.get_state()
        state["states"]["reshuffled"][:, 0] = 1
        state["states"]["unseen"][:, :2] = 0  # what is drawn from now on all see
        found, word, ended = env.set_state(state)[0], random_keys(1, seed), False
        while not ended:
            found, _, over, *_ = env.step(choose(found, word))
            ended = bool(over[0])
            assert (env.states["reshuffled"] >= 0).all()
            env.set_state(env.get_state())


@pytest.mark.nightly
def test_what_is_accepted_can_be_played_to_the_end_at_length() -> None:
    assert play_mutated(60_000 if JIT else 300, seed=2) > (6_000 if JIT else 10)


@pytest.mark.skipif(not JIT, reason="interpreted kernels are too slow to count")
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_episodes_are_drawn_anew_and_evenly(mode: AutoresetMode) -> None:
    episodes = RandomEpisodes(num_players=(2, 3, 4), covered=(0, 3), denied=(1, 2), dry_roads=(False, True))
    env = HelsinkiVectorEnv(300, autoreset_mode=mode)
    env.reset(seed=1)
    obs, _ = env.reset(seed=2, options={"episodes": episodes})
    seen: Counter[Any] = Counter()
    words = random_keys(300, 1)
    ended = np.ones(300, np.bool_)
    deals = 0
    for _ in range(700):
        fresh = (env.states["phase"] == 0) & ended
        for state in env.states[fresh]:
            players = int(state.players)
            deals += 1
            seen["players", players] += 1
            seen["dry_roads", int(state.dry_roads)] += 1
            covered = [a for a in range(15) if state.covered >> a & 1]
            seen["covered", len(covered)] += 1
            seen.update(("covers", a) for a in covered)
            for seat in range(4):
                denied = int(state.denied[seat]).bit_count()
                assert (1 <= denied <= 2) if seat < players else denied == 0
        obs, _, now, _, info = env.step(choose(obs, words))
        if now.any():
            assert info["rewards"].shape == (300, 4)
            assert np.allclose(info["rewards"].sum(axis=1), 0, atol=1e-5)
        ended = (ended | now) & ~fresh if mode == AutoresetMode.NEXT_STEP else now
    assert deals > 900
    assert all(seen["players", players] > 200 for players in (2, 3, 4))  # short games are over sooner: not even
    for name, values in (("dry_roads", (0, 1)), ("covered", (0, 1, 2, 3))):
        for value in values:
            assert abs(seen[name, value] / deals - 1 / len(values)) < 0.06, (name, value, seen[name, value], deals)
    for action in range(15):
        assert 0.06 < seen["covers", action] / deals < 0.15  # 1.5 of 15 on average


def test_the_number_of_players_is_drawn_evenly() -> None:
    env = HelsinkiVectorEnv(3000 if JIT else 300, episodes=RandomEpisodes(num_players=(2, 4)))
    env.reset(seed=1)
    counts = Counter(env.states["players"].tolist())
    assert set(counts) == {2, 4}
    assert abs(counts[2] / env.num_envs - 0.5) < 0.1
    env.reset(seed=1)
    assert counts == Counter(env.states["players"].tolist())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_players": (1, 2)}, "num_players"),
        ({"num_players": ()}, "num_players"),
        ({"covered": 16}, "covered"),
        ({"covered": (3, 2)}, "covered"),
        ({"denied": (-1, 2)}, "denied"),
        ({"dry_roads": (0, 1)}, "dry_roads"),
        ({"num_players": 5}, "num_players"),
        ({"num_players": 2.0}, "num_players"),
        ({"num_players": "2"}, "num_players"),
        ({"num_players": True}, "num_players"),
        ({"covered": (1, [2])}, "covered"),
        ({"denied": "ab"}, "denied"),
        ({"dry_roads": 1}, "dry_roads"),
    ],
)
def test_bad_episodes_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}: found"):
        RandomEpisodes(**values)


def test_episodes_of_one_value() -> None:
    one = RandomEpisodes(num_players=2, covered=5, dry_roads=True)
    assert one == RandomEpisodes((2,), (5, 5), None, [True]) == RandomEpisodes(np.array([2]), np.int8(5), None, (True,))
    assert hash(one)
    env = HelsinkiVectorEnv(2, 4, episodes=one)
    env.reset(seed=1)
    assert env.states["players"].tolist() == [2, 2]
    assert all(len(env.game(b).config.covered) == 5 and env.game(b).config.dry_roads for b in range(2))


def test_fixed_denied_actions_need_a_fixed_number_of_players() -> None:
    for players in (3, 4):
        with pytest.raises(ValueError, match="denied"):
            HelsinkiVectorEnv(
                1, players, denied=[[0]] + [[]] * (players - 1), episodes=RandomEpisodes(num_players=(2, players))
            )


def test_what_every_seat_sees() -> None:
    env = HelsinkiVectorEnv(3, num_players=3)
    obs, _ = env.reset(seed=1)
    play(env, obs, 40)
    for seat in range(3):
        seen = env.observe([seat] * 3)
        assert all(np.array_equal(seen[b], env.game(b).observation(seat)) for b in range(3))
    for seats in ([0, 0], [0, 0, 3], [-1, 0, 0], None, "abc", [[0], [0, 1], [0]], [0.5, 0, 0], [True, False, False]):
        with pytest.raises(ValueError, match=r"^seats(\[\d\])?: found"):
            env.observe(seats)  # type: ignore[arg-type]


def test_games_by_number() -> None:
    env = HelsinkiVectorEnv(2)
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.game(0)
    env.reset(seed=1)
    assert env.game(np.int8(1)) == env.game(-1) == HelsinkiGame(seed=1, stream=1)
    for number in (2, -3, True, "0", None, 0.0):
        with pytest.raises(ValueError, match="game: found"):
            env.game(number)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [[1], 5, "covered", [("covered", [1])]], ids=repr)
def test_options_are_a_mapping(options: Any) -> None:
    env = HelsinkiVectorEnv(2)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match=r"options: found .* expected a mapping"):
        env.reset(seed=2, options=options)
    assert same(env.get_state(), before)


@EACH_GAME
def test_drawings(game: TestedGame) -> None:
    env = game.vector_env(2, render_mode="ansi")
    env.reset(seed=1)
    one, other = env.render()
    assert one != other
    assert game.name.upper() in one
    env.render_mode = None
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_gymnasium_wrappers_understand_it(mode: AutoresetMode) -> None:
    wrapped = DictInfoToList(HelsinkiVectorEnv(2, autoreset_mode=mode))
    counting = RecordEpisodeStatistics(HelsinkiVectorEnv(2, autoreset_mode=mode))
    obs, infos = wrapped.reset(seed=1)
    counting.reset(seed=1)
    words = random_keys(2, 1)
    ended = np.zeros(2, np.bool_)
    steps = 0
    while not ended.any():
        assert [set(info) for info in infos] == [{"seat", "action_mask"}] * 2
        assert np.array_equal([info["action_mask"] for info in infos], obs["action_mask"])
        actions = choose(obs, words)
        obs, _, ended, _, infos = wrapped.step(actions)
        counted = counting.step(actions)[-1]
        steps += 1
    b = int(ended.argmax())
    assert infos[b]["scores"].shape == (2,)
    assert counted["episode"]["l"][b] == steps
    if mode == AutoresetMode.SAME_STEP:
        assert np.array_equal(infos[b]["final_info"]["scores"], infos[b]["scores"])
        assert not infos[b]["final_info"]["action_mask"].any()


def test_errors_of_the_configuration_come_through() -> None:
    with pytest.raises(ConfigError, match="num_players"):
        HelsinkiVectorEnv(1, num_players=1)
