"""One learning seat against opponents: the games are those of the game class; agents act exactly on their turns."""

from __future__ import annotations

import copy
import pickle
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from helsinki_env import (
    HelsinkiConfig,
    HelsinkiSeatEnv,
    HelsinkiSeatVectorEnv,
    HelsinkiVectorEnv,
    IllegalActionError,
    RandomEpisodes,
    helsinki_v0,
)
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.seat import GameSeatVectorEnv
from tests.games import EACH_GAME, GAMES, TestedGame
from tests.test_aec import expected_rewards

HELSINKI, COPENHAGEN = GAMES
OPTIONS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "dry_roads": True, "covered": "first_game", "reward": "rank", "seat": "rotate"},
    {
        "num_players": 4,
        "components": "more_small_tiles",
        "denied": [["two_points"], [], [10], []],
        "reward": "margin",
        "seat": 2,
    },
)
OF_COPENHAGEN: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "denied": [[1], [], [4]], "reward": "rank", "seat": "rotate"},
    {"num_players": 4, "reward": "margin", "seat": 2},
)
MODES = tuple(AutoresetMode)
SIZE = 4 if JIT else 2
STEPS = 200 if JIT else 60
EACH_BATCH = [
    *((HELSINKI, options, mode) for options in OPTIONS for mode in MODES),
    *((COPENHAGEN, options, mode) for options, mode in zip(OF_COPENHAGEN, MODES, strict=True)),
    # Its records are of a further layout.
    pytest.param(HELSINKI, OPTIONS[2] | {"components": "alternative"}, MODES[0], marks=pytest.mark.nightly),
]


def crafty(
    obs: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """An opponent that makes use of everything it gets: a mistake in any of it leads to another game."""
    actions = [
        row_legal[zlib.crc32(row.tobytes() + row_mask.tobytes() + word.tobytes()) % len(row_legal)]
        for row, row_mask, word in zip(obs, mask, words, strict=True)
        for row_legal in [np.flatnonzero(row_mask)]
    ]
    obs[:], mask[:], words[:] = 0, 1, 0  # its own until it returns
    return np.array(actions)


def crude(
    obs: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """An opponent that lets its observation alone decide."""
    return crafty(obs, mask, np.zeros_like(words))


def act_random(obs: Any, mask: Any, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    return sample_actions(mask, words.copy())


def play(env: GameSeatVectorEnv, obs: Any, steps: int, seed: int = 0) -> list[Any]:
    """Play on at random and return everything that came back, as copies."""
    words = random_keys(env.num_envs, seed)
    seen = []
    for _ in range(steps):
        obs, *rest = env.step(sample_actions(obs["action_mask"], words))
        seen.append(copy.deepcopy((obs, *rest)))
    return seen


def same(one: Any, other: Any) -> bool:
    """Whether nested results are the same, types and all."""
    return pickle.dumps(_plain(one)) == pickle.dumps(_plain(other))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _plain(inner)) for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, repr(value.tolist())
    return value


class Twin:
    """The batch once more, game by game, with the game class and the opponent `crude`."""

    def __init__(self, env: GameSeatVectorEnv, seed: int, obs: Any, info: dict[str, Any]) -> None:
        self.env = env
        self.mode: AutoresetMode = env.metadata["autoreset_mode"]
        self.games = [spec_of(env.config).game(env.config, seed=seed, stream=b) for b in range(env.num_envs)]
        self.seats = info["seat"].tolist()
        self.endings = 0
        for b in range(env.num_envs):
            self.let_others_play(b)
        self.compare(obs, info)

    def let_others_play(self, b: int) -> None:
        game = self.games[b]
        while not game.done and game.seat != self.seats[b]:
            action = crude(game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64))
            game.step(int(action[0]))

    def dealt(self, b: int, info: dict[str, Any]) -> None:
        """A new game, at the learner's first decision: that it is as dealt, other tests check."""
        self.seats[b] = int(info["seat"][b])
        self.games[b] = self.env.game(b)
        assert self.games[b].round == 1
        assert self.games[b].seat == self.seats[b]

    def step(self, actions: Any, result: Any) -> None:
        obs, reward, terminated, truncated, info = result
        assert reward.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_
        assert not truncated.any()
        assert ("rewards" in info) == terminated.any()
        for b, game in enumerate(self.games):
            if game.done:
                assert self.mode == AutoresetMode.NEXT_STEP
                assert not terminated[b]
                assert reward[b] == 0
                self.dealt(b, info)
                continue
            game.step(int(actions[b]))
            self.let_others_play(b)
            assert terminated[b] == game.done
            if terminated[b]:
                self.ended(b, reward[b], info)
                if self.mode == AutoresetMode.SAME_STEP:
                    self.dealt(b, info)
            else:
                assert reward[b] == 0
        self.compare(obs, info)

    def ended(self, b: int, reward: float, info: dict[str, Any]) -> None:
        self.endings += 1
        game, seat = self.games[b], self.seats[b]
        rewards = expected_rewards(game)
        assert reward == pytest.approx(rewards[seat], abs=1e-5)
        assert info["rewards"][b].tolist()[: len(rewards)] == pytest.approx(rewards, abs=1e-5)
        assert info["scores"][b].tolist()[: len(rewards)] == game.scores().tolist()
        assert info["places"][b].tolist()[: len(rewards)] == game.ranks().tolist()
        if self.mode == AutoresetMode.SAME_STEP:
            final = info["final_obs"][b]
            assert info["_final_obs"][b]
            assert np.array_equal(final["observation"], game.observation(seat))
            assert final["action_mask"].all()
            assert info["final_info"]["seat"][b] == seat
        else:
            assert info["seat"][b] == seat

    def compare(self, obs: Any, info: dict[str, Any]) -> None:
        masks = self.env.action_masks()
        assert masks.dtype == np.bool_
        assert np.array_equal(masks, obs["action_mask"])
        for b, game in enumerate(self.games):
            assert np.array_equal(obs["observation"][b], game.observation(self.seats[b]))
            assert info["seat"][b] == self.seats[b]
            assert np.array_equal(obs["action_mask"][b], np.ones_like(masks[b]) if game.done else game.action_mask())


@pytest.mark.parametrize(("game", "options", "mode"), EACH_BATCH)
def test_every_game_is_the_game(game: TestedGame, options: dict[str, Any], mode: AutoresetMode) -> None:
    env = game.seat_vector_env(SIZE, crude, **options, autoreset_mode=mode)
    obs, info = env.reset(seed=4)
    twin = Twin(env, 4, obs, info)
    words = random_keys(SIZE, seed=1)
    for _ in range(STEPS):
        actions = sample_actions(obs["action_mask"], words)
        obs, _, ended, _, _ = result = env.step(actions)
        twin.step(actions, result)
        if mode == AutoresetMode.DISABLED and ended.any():
            obs, info = env.reset(options={"reset_mask": ended})
            for b in np.flatnonzero(ended):
                twin.dealt(int(b), info)
            twin.compare(obs, info)
    assert twin.endings >= SIZE or not JIT
    assert env.observation_space.contains(obs)


def single_envs(game: TestedGame, count: int, **options: Any) -> list[Any]:
    return [lambda: game.seat_env(**options)] * count


@EACH_GAME
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [{}, {"num_players": 4, "seat": "rotate", "opponents": crafty}])
def test_the_batch_is_a_vector_of_single_environments(
    game: TestedGame, options: dict[str, Any], mode: AutoresetMode
) -> None:
    one = SyncVectorEnv(single_envs(game, SIZE, **options), autoreset_mode=mode)
    other = game.seat_vector_env(SIZE, autoreset_mode=mode, **options)
    assert other.autoreset_mode == one.autoreset_mode == other.metadata["autoreset_mode"]
    seeds: Any = [7, 2, 9, 4][:SIZE]
    found: Any = one.reset(seed=seeds)
    expected: Any = other.reset(seed=seeds)
    words = random_keys(SIZE, 1)
    endings = 0
    for _ in range(STEPS):
        for key in ("observation", "action_mask"):
            assert np.array_equal(found[0][key], expected[0][key])
        told = found[-1]["_seat"]  # after a reset of some games, only theirs
        assert np.array_equal(found[-1]["seat"][told], expected[-1]["seat"][told])
        actions = sample_actions(expected[0]["action_mask"], words)
        found, expected = one.step(actions), other.step(actions)
        for i in (1, 2, 3):
            assert np.allclose(found[i], expected[i])
        ended = expected[2]
        endings += int(ended.sum())
        for b in np.flatnonzero(ended):
            told, known = found[-1], expected[-1]
            if mode == AutoresetMode.SAME_STEP:
                for key in ("observation", "action_mask"):
                    assert np.array_equal(told["final_obs"][b][key], known["final_obs"][b][key])
                told, known = told["final_info"], known["final_info"]
            for key in ("rewards", "scores", "places"):
                assert np.array_equal(told[key][b], known[key][b])
        if mode == AutoresetMode.DISABLED and ended.any():
            found, expected = (env.reset(options={"reset_mask": ended}) for env in (one, other))
    assert endings >= SIZE or not JIT


@pytest.mark.parametrize("opponents", ["random", act_random, crafty], ids=["random", "act_random", "crafty"])
def test_a_game_does_not_depend_on_the_batch(opponents: Any) -> None:
    episodes = RandomEpisodes(num_players=(2, 3, 4), covered=(0, 5), dry_roads=(False, True))
    found = []
    for size in (40, 7, 3) if JIT else (4, 3):
        env = HelsinkiSeatVectorEnv(size, opponents, autoreset_mode="SameStep", episodes=episodes)
        obs, _ = env.reset(seed=2)
        seen = play(env, obs, STEPS)
        found.append([(obs["observation"][:3].tobytes(), reward[:3].tolist()) for obs, reward, *_ in seen])
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("opponents", ["random", RandomPlayer()], ids=["compiled", "object"])
def test_results_of_a_single_game_are_those_of_its_players(opponents: Any) -> None:
    env = HelsinkiSeatEnv(opponents, episodes=RandomEpisodes(num_players=(2, 3, 4)), seat=0)
    counts = set()
    for seed in range(12):
        _, info = env.reset(seed=seed)
        players, ended = int(env.game.num_players), False
        while not ended:
            _, _, ended, _, info = env.step(int(info["action_mask"].argmax()))
        counts.add(players)
        assert {info[name].shape for name in ("rewards", "scores", "places")} == {(players,)}
        assert info["places"].min() == 0
        assert info["scores"].tolist() == env.game.scores().tolist()
    assert counts == {2, 3, 4}


@pytest.mark.thorough
@EACH_GAME
def test_random_opponents_in_compiled_code_play_as_the_random_player_does(game: TestedGame) -> None:
    found = []
    for opponents in ("random", RandomPlayer(), act_random, ["random", RandomPlayer(), "random"]):
        env = game.seat_vector_env(SIZE, opponents, num_players=4, autoreset_mode="SameStep")
        found.append(play(env, env.reset(seed=3)[0], STEPS))
    assert all(same(found[0], other) for other in found[1:])


@EACH_GAME
def test_opponents_by_name_are_those_of_the_game(game: TestedGame) -> None:
    found = []
    for opponent in ("greedy", make_player("greedy", game.spec.config(num_players=3)), "random"):
        env = game.seat_vector_env(2, opponent, num_players=3, seat=1, autoreset_mode="SameStep")
        found.append(play(env, env.reset(seed=1)[0], 40))
        assert env.observation_space.contains(found[-1][-1][0])
    assert same(found[0], found[1])
    assert not same(found[0], found[2])


def test_opponents_get_arrays_that_lead_nowhere() -> None:
    kept: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []

    def act(obs: Any, action_mask: Any, keys: Any) -> Any:
        for array in (obs, action_mask, keys):
            assert array.base is None
            assert array.flags.owndata
            kept.append((array, array.copy()))
        return act_random(obs, action_mask, keys)

    one = HelsinkiSeatVectorEnv(SIZE, act, num_players=4, autoreset_mode="SameStep")
    play(one, one.reset(seed=1)[0], 20)
    other = HelsinkiSeatEnv([act, "random", act], num_players=4)
    other.reset(seed=1)
    assert len(kept) > 60
    assert all(np.array_equal(*pair) for pair in kept)  # no later step writes into them


def test_opponents_never_get_a_random_number_twice() -> None:
    seen: list[int] = []

    def act(obs: Any, action_mask: Any, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        seen.extend(keys.tolist())
        return act_random(obs, action_mask, keys)

    env = HelsinkiSeatVectorEnv(SIZE, act, num_players=4, seat=0, autoreset_mode="SameStep")
    endings = sum(int(ended.sum()) for _, _, ended, *_ in play(env, env.reset(seed=1)[0], STEPS))
    assert endings > SIZE or not JIT
    env.reset()
    assert len(seen) == len(set(seen)) > STEPS


def test_another_seed_brings_other_opponents_and_other_games() -> None:
    env = HelsinkiSeatVectorEnv(2, "random", seat=1)
    states = []
    for seed in (1, 2, 1):
        env.reset(seed=seed)
        states.append(env.states.tobytes())
    assert states[0] == states[2] != states[1]


@EACH_GAME
def test_each_opponent_of_a_list_sits_in_its_place_and_sees_what_its_seat_sees(game: TestedGame) -> None:
    asked: Counter[int] = Counter()

    def player(place: int) -> Any:
        def act(obs: Any, action_mask: Any, keys: Any) -> Any:
            played = env.game(0)
            assert len(obs) == 1
            assert played.seat == (learners[0] + 1 + place) % 4
            assert np.array_equal(obs[0], played.observation(played.seat))
            assert np.array_equal(action_mask[0], played.action_mask())
            asked[place] += 1
            return act_random(obs, action_mask, keys)

        return act

    env = game.seat_vector_env(1, [player(0), player(1), player(2)], seat=2, num_players=4)
    learners = [2]
    play(env, env.reset(seed=1)[0], 30)
    assert set(asked) == {0, 1, 2}
    learners[0] = 0
    env.reset(options={"seat": 0})
    play(env, env.reset(seed=1)[0], 30)
    with pytest.raises(ValueError, match="opponents: found a list of 3"):
        env.reset(options={"num_players": 2})
    with pytest.raises(ValueError, match="opponents: found a list of 2"):
        game.seat_env(["random", "random"], num_players=4)


def test_one_opponent_follows_the_number_of_players() -> None:
    for opponent in ("random", crafty):
        env = HelsinkiSeatVectorEnv(2, opponent)
        env.reset(seed=1)
        obs, _ = env.reset(options={"num_players": 4})
        play(env, obs, 30)
        assert env.states["players"].tolist() == [4, 4]


@EACH_GAME
@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats(game: TestedGame, players: int) -> None:
    env = game.seat_vector_env(50, num_players=players, seat=players - 1)
    assert (env.reset(seed=1)[1]["seat"] == players - 1).all()
    for episode in range(3):
        _, info = env.reset(seed=1 if episode == 0 else None, options={"seat": "rotate"})
        assert np.array_equal(info["seat"], (np.arange(50) + episode) % players)
    counts: Counter[int] = Counter()
    env.reset(seed=1, options={"seat": "random"})
    for _ in range(12):
        counts.update(env.reset()[1]["seat"].tolist())
    assert set(counts) == set(range(players))
    assert all(abs(n / 600 - 1 / players) < 0.08 for n in counts.values())


def test_seats_change_at_automatic_resets() -> None:
    env = HelsinkiSeatVectorEnv(1, seat="rotate", num_players=3, autoreset_mode="SameStep")
    obs, info = env.reset(seed=1)
    seats = [int(info["seat"][0])]
    for _, _, ended, _, info in play(env, obs, 3 * STEPS):
        if ended[0]:
            assert info["final_info"]["seat"][0] == seats[-1]
            seats.append(int(info["seat"][0]))
    assert seats == [i % 3 for i in range(len(seats))]
    assert len(seats) > (3 if JIT else 1)


@pytest.mark.parametrize("seat", [2, -1, "first", True, 0.5, None])
def test_a_bad_seat_changes_nothing(seat: Any) -> None:
    with pytest.raises(ValueError, match="seat: found"):
        HelsinkiSeatEnv(seat=seat)
    env = HelsinkiSeatVectorEnv(2, seat=1)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match="seat: found"):
        env.reset(options={"seat": seat, "covered": [1]})
    assert same(env.get_state(), before)
    assert env.config.covered == ()
    assert (env.reset(seed=1)[1]["seat"] == 1).all()
    with pytest.raises(ValueError, match="seat: found 3"):
        HelsinkiSeatVectorEnv(1, num_players=4, seat=3, episodes=RandomEpisodes(num_players=(2, 4)))


@pytest.mark.parametrize(
    ("game", "options", "another"),
    [
        (HELSINKI, {"covered": ["two_points"], "dry_roads": True}, {}),
        (COPENHAGEN, {"denied": [[1], [], []]}, {"denied": None}),
    ],
    ids=lambda value: value.name if isinstance(value, TestedGame) else "",
)
def test_options_and_episodes_hold_for_later_games(
    game: TestedGame, options: dict[str, Any], another: dict[str, Any]
) -> None:
    env, options = game.seat_env(seat=0), {"num_players": 3, "reward": "rank", **options}
    _, info = env.reset(seed=1, options={**options, "seat": 1})
    assert info["seat"] == 1
    assert env.game.config == env.config == game.spec.config(**options)
    env.reset(options={**another, "episodes": game.spec.episodes(num_players=(4,))})
    _, info = env.reset()
    assert info["seat"] == 1
    assert env.game.num_players == 4
    for bad in ({"cover": 1}, {"num_players": 7}, {"episodes": 3}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            env.reset(options=bad)


@EACH_GAME
def test_an_illegal_decision_leaves_everything_unchanged(game: TestedGame) -> None:
    env = game.seat_vector_env(3, num_players=3, illegal_action="raise")
    obs = play(env, env.reset(seed=1)[0], 20)[-1][0]
    before, illegal = env.get_state(), int(np.flatnonzero(obs["action_mask"][1] == 0)[0])
    for bad in (-1, illegal, env.single_action_space.n, -(2**40), 2**40):
        actions = sample_actions(obs["action_mask"], random_keys(3))
        actions[1] = bad
        with pytest.raises(
            IllegalActionError, match=r"^game 1: .*(is not legal in phase [A-Z]+ of seat \d\. Legal|ids run)"
        ):
            env.step(actions)
        assert same(env.get_state(), before)
    env.step(sample_actions(obs["action_mask"], random_keys(3)))
    for no_batch in ([0], [0.0, 0.0, 0.0], None):
        with pytest.raises(ValueError, match=r"expected whole numbers of shape \(3,\)"):
            env.step(no_batch)


@EACH_GAME
@pytest.mark.parametrize("action", [-1, "illegal", 10**30, 1.0, None, True, False, np.True_, "MOVE 1"])
def test_an_illegal_decision_in_one_game(game: TestedGame, action: Any) -> None:
    env = game.seat_env(seat=1, illegal_action="raise")
    env.reset(seed=1)
    before = env.game
    with pytest.raises(IllegalActionError, match=r"Legal: |whole number|ids run"):
        env.step(int(np.flatnonzero(~env.action_masks())[0]) if action == "illegal" else action)
    assert env.game == before


def test_messages_of_the_single_environment_name_the_action_and_the_remedy() -> None:
    env = HelsinkiSeatEnv(seat=1, illegal_action="raise")
    obs, _ = env.reset(seed=1)
    for action in (-7, 100_000):
        with pytest.raises(IllegalActionError, match=f"action {action}"):
            env.step(action)
    mask: Any = obs["action_mask"]
    while not env.step(mask.argmax())[2]:
        mask = env.action_masks()
    with pytest.raises(IllegalActionError, match=r"^the game is over; deal the next one with reset\(\)$"):
        env.step(0)


def test_the_warning_of_an_illegal_action_points_to_the_caller() -> None:
    env = HelsinkiSeatEnv(seat=1)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match=r"info\['action_mask'\]") as caught:
        env.step(-1)
    assert caught[0].filename == __file__
    alone = helsinki_v0.raw_env()
    alone.reset(seed=1)
    with pytest.warns(UserWarning, match=r"observation\['action_mask'\]") as caught:
        alone.step(-1)
    assert caught[0].filename == __file__


def test_setups_with_other_numbers_of_players() -> None:
    two, four = (HelsinkiConfig(num_players=players) for players in (2, 4))
    spec = spec_of(two)
    setup = spec.new_states(four, 3)
    spec.apply_setup(setup, four)
    env = HelsinkiSeatVectorEnv(3, num_players=2, seat=1, opponents=RandomPlayer())
    obs, _ = env.reset(seed=1, options={"setup": setup})
    play(env, obs, 50)
    assert (env.get_state()["states"]["players"] == 4).all()
    listed = HelsinkiSeatVectorEnv(3, num_players=2, seat=1, opponents=[RandomPlayer()])
    with pytest.raises(ValueError, match="opponents: found a list of 1, expected 3"):
        listed.reset(seed=1, options={"setup": setup})
    with pytest.raises(ValueError, match=r"options\['setup'\]: found random episodes too, expected one of them"):
        env.reset(options={"setup": setup, "episodes": RandomEpisodes(num_players=(2, 3))})
    setup = spec.new_states(two, 3)
    spec.apply_setup(setup, two)
    fewer = HelsinkiSeatVectorEnv(3, num_players=4, opponents=[RandomPlayer()] * 3)
    play(fewer, fewer.reset(seed=1, options={"setup": setup})[0], 50)
    last = HelsinkiSeatVectorEnv(3, num_players=4, seat=3)
    with pytest.raises(ValueError, match=r"options\['setup'\]: game 0: found 2 players, expected at least 4"):
        last.reset(seed=1, options={"setup": setup})


def test_games_that_are_dealt_later_with_more_players_are_reported_in_full() -> None:
    two, four = (HelsinkiConfig(num_players=players) for players in (2, 4))
    setup = spec_of(two).new_states(two, 2)
    spec_of(two).apply_setup(setup, four)
    spec_of(two).apply_setup(setup[:1], two)
    rng = np.random.default_rng(0)
    for env in (HelsinkiVectorEnv(2), HelsinkiSeatVectorEnv(2, opponents=RandomPlayer())):
        env.reset(seed=1)
        obs, _ = env.reset(seed=2, options={"reset_mask": np.array([True, False]), "setup": setup})
        if isinstance(env, HelsinkiSeatVectorEnv):
            env.set_opponents(RandomPlayer())
        ranks = set[int]()
        for _ in range(1500):
            actions = [int(rng.choice(np.flatnonzero(row))) if row.any() else 0 for row in obs["action_mask"]]
            obs, _, _, _, info = env.step(np.array(actions))
            if "places" in info:
                assert info["places"].shape == (2, 4)
                ranks |= set(info["places"].ravel().tolist())
        assert ranks == {0, 1, 2, 3}


def test_resets_are_reproducible_after_an_error_of_an_opponent() -> None:
    def again() -> Any:
        broken = [False]

        def act(obs: Any, mask: Any, keys: Any) -> Any:
            if broken[0]:
                raise RuntimeError("broken")
            return mask.argmax(axis=1)

        env = HelsinkiSeatVectorEnv(4, opponents=act)
        obs, _ = env.reset(seed=3)
        broken[0] = True
        with pytest.raises(RuntimeError, match="broken"):
            play(env, obs, 50)
        broken[0] = False
        return env.reset()[0]

    assert same(again(), again())


@pytest.mark.parametrize("copied", [True, False])
def test_environments_from_memory_that_is_not_copied_can_be_stepped(copied: bool) -> None:
    """Shared memory returns read-only arrays."""
    buffers: list[pickle.PickleBuffer] = []
    env = HelsinkiSeatVectorEnv(2, copy=copied)
    env.reset(seed=1)
    data = pickle.dumps(env, protocol=5, buffer_callback=buffers.append)
    moved = pickle.loads(data, buffers=[bytes(one.raw()) for one in buffers])
    for _ in range(5):
        actions = env.action_masks().argmax(axis=1)
        assert same(env.step(actions), moved.step(actions))
    assert buffers
    alone = helsinki_v0.raw_env()
    alone.reset(seed=1)
    buffers.clear()
    data = pickle.dumps(alone, protocol=5, buffer_callback=buffers.append)
    moved = pickle.loads(data, buffers=[bytes(one.raw()) for one in buffers])
    moved.step(moved.last()[0]["action_mask"].argmax())
    assert buffers


def test_an_environment_with_a_program_as_opponent_can_be_copied() -> None:
    env = HelsinkiSeatEnv(opponents="program:cat")
    new = env.clone()
    assert new._batch._opponents is not env._batch._opponents


@pytest.mark.parametrize("action", [1.0, None, True, False, np.True_, "MOVE 1"])
def test_what_is_no_decision_is_an_error_in_any_case(action: Any) -> None:
    env = HelsinkiSeatEnv(seat=1)
    env.reset(seed=1)
    before = env.game
    with pytest.raises(IllegalActionError, match="whole number"):
        env.step(action)
    assert env.game == before


@EACH_GAME
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("action", [-1, "illegal", 2**40])
def test_an_illegal_decision_can_end_the_game_instead(game: TestedGame, action: Any, mode: AutoresetMode) -> None:
    env = game.seat_vector_env(2, num_players=3, reward="margin", illegal_action="penalize", autoreset_mode=mode)
    obs = play(env, env.reset(seed=1)[0], 20)[-1][0]
    actions = sample_actions(obs["action_mask"], random_keys(2))
    actions[1] = np.flatnonzero(obs["action_mask"][1] == 0)[0] if action == "illegal" else action
    played, seat = env.game(1), int(env.get_state()["seatings"]["learner"][1])
    with pytest.warns(UserWarning, match=r"^illegal action: it ended a game with reward -100; .*info\['action_mask'\]"):
        obs, reward, ended, _, info = env.step(actions)
    assert reward.tolist() == [0, -100]
    assert ended.tolist() == info["illegal_action"].tolist() == [False, True]
    assert info["rewards"][1].tolist() == [-100 if s == seat else 50 for s in range(3)]
    ranks = played.ranks()
    expected = [2 if s == seat else ranks[s] - (ranks[s] > ranks[seat]) for s in range(3)]
    assert info["places"][1].tolist() == expected, "the learner is last, and the others keep their order"
    if mode == AutoresetMode.SAME_STEP:
        assert info["final_info"]["illegal_action"].tolist() == [False, True]
        assert np.array_equal(info["final_obs"][1]["observation"], played.observation(seat))
        assert env.game(1).round == 1
        return
    assert np.array_equal(obs["observation"][1], played.observation(seat))
    assert obs["action_mask"][1].all()
    if mode == AutoresetMode.DISABLED:
        with pytest.raises(IllegalActionError, match="game 1 is over; "):
            env.step(sample_actions(obs["action_mask"], random_keys(2)))
        env.reset(options={"reset_mask": ended})
    else:
        obs, reward, ended, _, info = env.step(sample_actions(obs["action_mask"], random_keys(2)))
        assert reward[1] == 0
        assert not ended[1]
    assert env.game(1).round == 1
    assert not env.action_masks()[1].all()


def test_an_illegal_decision_ends_one_game_and_says_why() -> None:
    env = HelsinkiSeatEnv(seat=1)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="^illegal action: it ended a game with reward -1; ") as caught:
        obs, reward, terminated, truncated, info = env.step(0)
    assert len(caught) == 1
    assert (reward, terminated, truncated) == (-1, True, False)
    assert "(START 0) is not legal in phase MOVE of seat 1" in info["illegal_action"]
    assert obs["action_mask"].all()
    assert env.action_masks().all()
    with pytest.raises(ValueError, match="over"):
        env.step(0)
    env.reset()
    assert not env.action_masks().all()
    for other in (env, env.clone(), pickle.loads(pickle.dumps(env))):
        assert other.step(0)[2]  # no further warning: here it would be an error


def test_an_opponent_that_errs_is_named() -> None:
    class Cheat:
        name = "cheat"
        answer: Any = 0

        def act(self, obs: Any, action_mask: Any, keys: Any) -> Any:
            return np.full(len(obs), self.answer)

    player = Cheat()
    env = HelsinkiSeatVectorEnv(2, player, seat=1)
    with pytest.raises(
        IllegalActionError, match=r"opponent 'cheat': game 0: action 0 \(START 0\) is not legal in phase"
    ):
        play(env, env.reset(seed=1)[0], 30)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step([0, 0])
    player.answer = 0.5
    with pytest.raises(ValueError, match=r"opponent 'cheat': found actions float64 of shape \(2,\)"):
        env.reset(seed=1)
    player.answer = [1, [2]]
    player.act = lambda *_: player.answer  # type: ignore[method-assign]
    env.set_opponents(player)
    with pytest.raises(ValueError, match=r"opponent 'cheat': found \[1, \[2\]\]"):
        env.reset(seed=1)
    env.set_opponents("random")
    play(env, env.reset(seed=1)[0], 30)


def test_an_opponent_that_steps_the_environment_which_asks_it_is_told_so_at_once() -> None:
    calls = 0

    def meddler(observation: Any, mask: Any, words: Any) -> Any:
        nonlocal calls
        calls += 1
        call()
        return mask.argmax(axis=1)

    many, one = HelsinkiSeatVectorEnv(2, meddler, seat=1), HelsinkiSeatEnv(meddler, seat=1)
    wrong: tuple[tuple[Any, str, Callable[[], Any]], ...] = (
        (many, "reset", lambda: many.reset(seed=2)),
        (many, "step", lambda: many.step([0, 0])),
        (many, "set_state", lambda: many.set_state(many.get_state())),
        (one, "reset", lambda: one.reset(seed=2)),
        (one, "step", lambda: one.step(0)),
        (one, "set_state", lambda: one.set_state(one.get_state())),
    )
    for number, (env, name, wrong_call) in enumerate(wrong):
        call = wrong_call
        with pytest.raises(RuntimeError, match=f"^{name}: found a call by the opponent '.*meddler.*'"):
            env.reset(seed=1)
        assert calls == number + 1

    def try_things_out() -> None:  # a copy is another environment
        copied = many.clone()
        copied.set_opponents("random")
        play(copied, copied.reset(seed=3)[0], 2)

    call = try_things_out
    play(many, many.reset(seed=1)[0], 3)
    assert calls > len(wrong)


def test_an_opponent_must_be_able_to_decide() -> None:
    with pytest.raises(ValueError, match="opponents: found 3"):
        HelsinkiSeatEnv(3)
    with pytest.raises(ValueError, match="nobody"):
        HelsinkiSeatEnv("nobody")


def test_opponents_can_change_during_a_game() -> None:
    env = HelsinkiSeatEnv("random", num_players=3, seat=0)
    env.reset(seed=1)
    state = env.get_state()
    ends = []
    for opponents in ("random", act_random, crafty, [crafty, "random"]):
        env.set_state(state)
        env.set_opponents(opponents)
        for _ in range(8):
            env.step(int(np.flatnonzero(env.action_masks())[0]))
        ends.append(env.game)
    assert ends[0] == ends[1]
    assert ends[0] != ends[2] != ends[3] != ends[0]


def record(env: HelsinkiSeatEnv, steps: int) -> list[Any]:
    """Play on at random, new games included; return everything that came back."""
    word = random_keys(1, 5)
    seen: list[Any] = []
    for _ in range(steps):
        obs, reward, terminated, _, info = env.step(
            int(sample_actions(env.action_masks().astype(np.int8)[None], word)[0])
        )
        seen.append((obs, reward, terminated, info))
        if terminated:
            seen.append(env.reset())
    return seen


def test_a_state_of_one_game_can_be_brought_back_more_than_once() -> None:
    env = HelsinkiSeatEnv("greedy", num_players=3, seat="rotate")
    env.reset(seed=1)
    env.reset(options={"covered": [4]})
    record(env, 30)
    state = env.get_state()
    seen = record(env, STEPS)
    for _ in range(2):
        env.set_state(state)
        assert same(record(env, STEPS), seen)


@EACH_GAME
@pytest.mark.parametrize("mode", MODES)
def test_copies_of_a_batch_go_on_alike(game: TestedGame, mode: AutoresetMode) -> None:
    env = game.seat_vector_env(3, crafty, num_players=4, autoreset_mode=mode, illegal_action="penalize")
    obs = play(env, env.reset(seed=1)[0], 20)[-1][0]
    actions = sample_actions(obs["action_mask"], random_keys(3))
    actions[0] = -1
    with pytest.warns(UserWarning, match="illegal action"):
        obs, *_, info = env.step(actions)
    if mode == AutoresetMode.DISABLED:
        obs, info = env.reset(options={"reset_mask": np.array([True, False, False])})
    state = env.get_state()
    copies = [env.clone(), copy.copy(env), pickle.loads(pickle.dumps(env))]
    seen = play(env, obs, 15)
    for other in copies:
        assert same(play(other, obs, 15), seen)
    again, told = env.set_state(state)
    assert same(again, obs)
    assert np.array_equal(told["seat"], info["seat"])
    assert same(play(env, again, 15), seen)
    with pytest.raises(ValueError, match="expected what get_state returns: states, runs, seatings"):
        env.set_state({"states": state["states"]})


def test_arrays_are_reused_when_asked_to() -> None:
    env, other = (HelsinkiSeatVectorEnv(2, copy=copies, autoreset_mode="SameStep") for copies in (False, True))
    obs, expected = env.reset(seed=1)[0], other.reset(seed=1)[0]
    kept = []
    words = random_keys(2)
    for _ in range(100):
        actions = sample_actions(obs["action_mask"], words)
        again = env.step(actions)[0]
        expected = other.step(actions)[0]
        assert again["observation"] is obs["observation"]
        assert same(again, expected)
        kept.append((expected, copy.deepcopy(expected)))
    assert all(same(*pair) for pair in kept)


@EACH_GAME
def test_a_state_that_cannot_be_changes_nothing(game: TestedGame) -> None:
    env = game.seat_vector_env(2, num_players=3)
    play(env, env.reset(seed=1)[0], 10)
    before = env.get_state()
    for array, field, value, message in (
        ("states", "phase", 17, "states: game 1: "),
        ("seatings", "learner", 3, "seatings: game 1: found .* expected the learner on an occupied seat"),
        ("seatings", "learner", -1, "seatings: game 1: found .* expected the learner on an occupied seat"),
    ):
        state = env.get_state()
        state[array][field][1] = value
        with pytest.raises(ValueError, match=message):
            env.set_state(state)
        assert same(env.get_state(), before)


def test_opponents_follow_a_state_of_more_players() -> None:
    many = HelsinkiSeatVectorEnv(2, num_players=4)
    many.reset(seed=1)
    for opponents in (crafty, "random"):
        env = HelsinkiSeatVectorEnv(2, opponents)
        env.reset(seed=1)
        obs, _ = env.set_state(many.get_state())
        play(env, obs, 20)
    two = HelsinkiSeatVectorEnv(2, [crafty])
    two.reset(seed=1)
    before = two.get_state()
    with pytest.raises(ValueError, match="opponents: found a list of 1"):
        two.set_state(many.get_state())
    assert same(two.get_state(), before)


def test_opponents_are_enough_for_every_running_game() -> None:
    env = HelsinkiSeatVectorEnv(2, "random", num_players=4, autoreset_mode="SameStep")
    env.reset(seed=1)
    obs, _ = env.reset(options={"num_players": 2, "reset_mask": np.array([True, False])})
    with pytest.raises(ValueError, match="opponents: found a list of 1"):
        env.set_opponents([crafty])
    env.set_opponents(crafty)
    play(env, obs, 30)


@EACH_GAME
@pytest.mark.parametrize(
    "arguments", [{"illegal_action": "ignore"}, {"render_mode": "rgb"}, {"reward": "points"}, {"config": 5}]
)
def test_bad_arguments_are_named(game: TestedGame, arguments: dict[str, Any]) -> None:
    for make in (game.seat_env, game.seat_vector_env):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            make(**arguments)


def test_before_the_first_reset() -> None:
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        HelsinkiSeatEnv().step(0)


@pytest.mark.parametrize("seed", [-1, 0.5, "1", [1], (1,), np.array([1]), [None], True], ids=repr)
def test_a_bad_seed_changes_nothing(seed: Any) -> None:
    env = HelsinkiSeatEnv()
    env.reset(seed=1)
    before = env.game
    with pytest.raises(ValueError, match="seed: found"):
        env.reset(seed=seed)
    assert env.game == before


@EACH_GAME
def test_drawings_show_the_learners_cards_only(game: TestedGame, capsys: pytest.CaptureFixture[str]) -> None:
    drawn: dict[str, Any] = {}
    for mode in game.seat_env.metadata["render_modes"]:
        env = game.seat_env(render_mode=mode, seat=0)
        env.reset(seed=1)
        env.step(2)
        drawn[mode] = env.render()
    assert game.name.upper() in drawn["ansi"].upper()
    assert drawn["svg"].startswith("<svg")
    assert drawn["rgb_array"].dtype == np.uint8
    assert drawn["rgb_array"].std() > 10
    assert drawn["human"] is None
    assert capsys.readouterr().out.upper().count(game.name.upper()) == 3  # by reset, step and render
    before = drawn["ansi"]
    batch = game.seat_vector_env(1, render_mode="ansi", seat=0)
    batch.reset(seed=[1])
    batch.step([2])
    assert batch.render() == (before,)
    hand, seen = batch.states["hand"][0, 1], batch.observe([1]).tobytes()
    hand[:] = np.roll(hand, 1)  # other cards for the opponent
    assert batch.render() == (before,)
    assert batch.observe([1]).tobytes() != seen
    silent = HelsinkiSeatEnv()
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None


@EACH_GAME
def test_is_known_by_name(game: TestedGame) -> None:
    env = gymnasium.make(game.seat_id, num_players=3, render_mode="ansi", disable_env_checker=True)
    assert env.reset(seed=1, options={"seat": 1})[1]["seat"] == 1
    assert isinstance(env.unwrapped, game.seat_env)
    assert env.get_wrapper_attr("action_masks")().any()
    many = gymnasium.make_vec(game.seat_id, num_envs=3, opponents="random", autoreset_mode="SameStep")
    assert isinstance(many, game.seat_vector_env)
    assert many.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    sync = gymnasium.make_vec(game.seat_id, num_envs=2, vectorization_mode="sync")
    seen = game.spec.game(game.spec.config(), seed=1).observation()
    assert sync.reset(seed=1)[0]["observation"].shape == (2, len(seen))
