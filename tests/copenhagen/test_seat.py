"""One seat of Copenhagen against opponents: the games are `CopenhagenGame`'s, and nobody is shown what others see."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from helsinki_env import CopenhagenConfig, CopenhagenSeatEnv, CopenhagenSeatVectorEnv, IllegalActionError
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.games.copenhagen.episodes import RandomEpisodes
from helsinki_env.games.copenhagen.game import CopenhagenGame
from tests.test_aec import expected_rewards
from tests.test_seat import act_random, crafty, crude, play, same

CONFIGS: tuple[dict[str, Any], ...] = (
    {"num_players": 2},
    {"num_players": 3, "denied": [[1], [], [4]], "reward": "rank", "seat": "rotate"},
    {"num_players": 4, "reward": "margin", "seat": 2},
)
SIZE = 4 if JIT else 2
STEPS = 150 if JIT else 40


def by_hand(env: CopenhagenSeatVectorEnv, seed: int, seats: list[int]) -> list[CopenhagenGame]:
    """The games of a batch at the learners' first decisions, where the others play as `crude` does."""
    games = [CopenhagenGame(env.config, seed=seed, stream=b) for b in range(env.num_envs)]
    for game, seat in zip(games, seats, strict=True):
        let_others_play(game, seat)
    return games


def let_others_play(game: CopenhagenGame, seat: int) -> None:
    while not game.done and game.seat != seat:
        game.step(int(crude(game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64))[0]))


@pytest.mark.parametrize("options", CONFIGS, ids=lambda options: f"{options['num_players']} players")
def test_every_game_is_that_played_by_hand(options: dict[str, Any]) -> None:
    env = CopenhagenSeatVectorEnv(SIZE, crude, **options, autoreset_mode="Disabled")
    obs, info = env.reset(seed=4)
    seats = info["seat"].tolist()
    games, words = by_hand(env, 4, seats), random_keys(SIZE, 1)
    going = np.ones(SIZE, np.bool_)
    for _ in range(1000 if JIT else 20):
        for b in np.flatnonzero(going):
            assert np.array_equal(obs["observation"][b], games[b].observation(seats[b]))
            assert np.array_equal(obs["action_mask"][b], games[b].action_mask())
        actions = sample_actions(obs["action_mask"], words)
        obs, reward, ended, truncated, info = env.step(actions)
        assert not truncated.any()
        for b in np.flatnonzero(going):
            games[b].step(int(actions[b]))
            let_others_play(games[b], seats[b])
            assert ended[b] == games[b].done
            if not ended[b]:
                assert reward[b] == 0
                continue
            rewards = expected_rewards(games[b])
            assert info["rewards"][b].tolist() == pytest.approx(rewards, abs=1e-5)
            assert reward[b] == pytest.approx(rewards[seats[b]], abs=1e-5)
            assert info["scores"][b].tolist() == games[b].scores().tolist()
            assert info["places"][b].tolist() == games[b].ranks().tolist()
            assert obs["action_mask"][b].all()
            assert env.game(int(b)) == games[b]
        going &= ~ended
        if ended.any():
            break
    assert not going.all() or not JIT


def test_a_batch_is_a_vector_of_single_environments() -> None:
    options: dict[str, Any] = {"num_players": 3, "seat": "rotate", "opponents": crafty}
    one = [CopenhagenSeatEnv(**options) for _ in range(SIZE)]
    other = CopenhagenSeatVectorEnv(SIZE, autoreset_mode="SameStep", **options)
    seeds = [7, 2, 9, 4][:SIZE]
    expected, words, endings = other.reset(seed=list(seeds))[0], random_keys(SIZE, 1), 0
    single = [env.reset(seed=seed)[0] for env, seed in zip(one, seeds, strict=True)]
    for _ in range(STEPS):
        for b in range(SIZE):
            for key in ("observation", "action_mask"):
                assert np.array_equal(single[b][key], expected[key][b])
        actions = sample_actions(expected["action_mask"], words)
        expected, reward, ended, _, _ = other.step(actions)
        for b, env in enumerate(one):
            single[b], own, over, _, _ = env.step(int(actions[b]))
            assert (own, over) == (reward[b], ended[b])
            if over:
                endings += 1
                single[b] = env.reset()[0]
    assert endings > 0 or not JIT


def test_random_opponents_in_compiled_code_play_as_the_random_player_does() -> None:
    found = []
    for opponents in ("random", make_player("random"), act_random, ["random", act_random, "random"]):
        env = CopenhagenSeatVectorEnv(SIZE, opponents, num_players=4, autoreset_mode="SameStep")
        found.append(play(env, env.reset(seed=3)[0], STEPS))
    assert all(same(found[0], other) for other in found[1:])


def test_opponents_by_name_are_those_of_the_game() -> None:
    found = []
    for opponent in ("greedy", make_player("greedy", CopenhagenConfig(3)), "random"):
        env = CopenhagenSeatVectorEnv(2, opponent, num_players=3, seat=1, autoreset_mode="SameStep")
        found.append(play(env, env.reset(seed=1)[0], 40))
    assert same(found[0], found[1])
    assert not same(found[0], found[2])


def test_opponents_see_what_their_own_seats_see_and_no_other_row() -> None:
    asked: Counter[int] = Counter()

    def player(place: int) -> Any:
        def act(obs: Any, action_mask: Any, keys: Any) -> Any:
            for array in (obs, action_mask, keys):
                assert array.base is None
                assert array.flags.owndata
            game = env.game(0)
            assert len(obs) == 1
            assert game.seat == (learner + 1 + place) % 4
            assert np.array_equal(obs[0], game.observation(game.seat))
            assert np.array_equal(action_mask[0], game.action_mask())
            asked[place] += 1
            return act_random(obs, action_mask, keys)

        return act

    env = CopenhagenSeatVectorEnv(1, [player(0), player(1), player(2)], seat=2, num_players=4)
    learner = 2
    play(env, env.reset(seed=1)[0], 30)
    assert set(asked) == {0, 1, 2}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_rotate_or_are_drawn(players: int) -> None:
    env = CopenhagenSeatVectorEnv(50, num_players=players, seat=players - 1)
    assert (env.reset(seed=1)[1]["seat"] == players - 1).all()
    for episode in range(3):
        _, info = env.reset(seed=1 if episode == 0 else None, options={"seat": "rotate"})
        assert np.array_equal(info["seat"], (np.arange(50) + episode) % players)
    counts: Counter[int] = Counter()
    env.reset(seed=1, options={"seat": "random"})
    for _ in range(12):
        counts.update(env.reset()[1]["seat"].tolist())
    assert all(abs(counts[seat] / 600 - 1 / players) < 0.08 for seat in range(players))


@pytest.mark.parametrize("mode", tuple(AutoresetMode))
@pytest.mark.parametrize("action", [-1, 459, 2**40])
def test_an_illegal_decision_ends_that_game(action: int, mode: AutoresetMode) -> None:
    env = CopenhagenSeatVectorEnv(2, num_players=3, reward="margin", autoreset_mode=mode)
    obs = play(env, env.reset(seed=1)[0], 20)[-1][0]
    actions = sample_actions(obs["action_mask"], random_keys(2))
    actions[1] = action
    seat = int(env.get_state()["seatings"]["learner"][1])
    with pytest.warns(UserWarning, match="illegal action: it ended a game with reward -100"):
        _, reward, ended, _, info = env.step(actions)
    assert reward.tolist() == [0, -100]
    assert ended.tolist() == info["illegal_action"].tolist() == [False, True]
    assert info["rewards"][1].tolist() == [-100 if s == seat else 50 for s in range(3)]


def test_an_illegal_decision_can_be_an_error_that_changes_nothing() -> None:
    env = CopenhagenSeatEnv(illegal_action="raise", seat=0)
    env.reset(seed=1)
    before = env.game
    for action in (-1, 6, 459, 1.0, None, True):
        with pytest.raises(IllegalActionError, match=r"phase MAIN of seat 0. Legal: TAKE|ids|whole number"):
            env.step(action)
        assert env.game == before
    penalized = CopenhagenSeatEnv(seat=0)
    penalized.reset(seed=1)
    with pytest.warns(UserWarning, match="illegal action: it ended a game with reward -1"):
        _, reward, terminated, _, info = penalized.step(6)
    assert (reward, terminated) == (-1, True)
    assert "(TAKE 6) is not legal in phase MAIN of seat 0" in info["illegal_action"]
    with pytest.raises(ValueError, match="over"):
        penalized.step(0)


def test_copies_and_states_go_on_alike() -> None:
    env = CopenhagenSeatVectorEnv(3, "greedy", num_players=3, seat="rotate", autoreset_mode="SameStep")
    obs = play(env, env.reset(seed=1)[0], 20)[-1][0]
    state = env.get_state()
    made = [env.clone(), copy.copy(env), pickle.loads(pickle.dumps(env))]
    seen = play(env, obs, 40)
    for other in made:
        assert same(play(other, obs, 40), seen)
    again, _ = env.set_state(state)
    assert same(again, obs)
    assert same(play(env, again, 40), seen)
    for array, name, value in (("states", "phase", 9), ("seatings", "learner", 3)):
        broken = {key: kept.copy() for key, kept in state.items()}
        broken[array][name][1] = value
        before = env.get_state()
        with pytest.raises(ValueError, match=f"{array}: game 1"):
            env.set_state(broken)
        assert same(env.get_state(), before)


def test_options_and_episodes_hold_for_later_games() -> None:
    env = CopenhagenSeatEnv(seat=0)
    _, info = env.reset(seed=1, options={"num_players": 3, "denied": [[1], [], []], "seat": 1, "reward": "rank"})
    assert info["seat"] == 1
    assert env.game.config == env.config == CopenhagenConfig(3, denied=[[1], [], []], reward="rank")
    env.reset(options={"denied": None, "episodes": RandomEpisodes(num_players=(4,))})
    assert env.game.num_players == 4
    for bad in ({"covered": 1}, {"num_players": 7}, {"episodes": 3}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            env.reset(options=bad)


def test_the_learner_is_drawn_its_own_cards_only() -> None:
    drawn: list[Any] = []
    for _ in range(2):
        env = CopenhagenSeatVectorEnv(1, render_mode="ansi", seat=0)
        env.reset(seed=1)
        if drawn:
            hand = env.states["hand"][0, 1]
            assert len(set(hand.tolist())) > 1
            env.states["hand"][0, 1] = np.roll(hand, 1)
        drawn += [env.render(), env.observe([1]).tobytes()]
    assert drawn[0] == drawn[2]
    assert drawn[1] != drawn[3]


def test_is_known_by_name() -> None:
    env = gymnasium.make("helsinki/Copenhagen-v0", num_players=3, disable_env_checker=True)
    assert env.reset(seed=1, options={"seat": 1})[1]["seat"] == 1
    assert isinstance(env.unwrapped, CopenhagenSeatEnv)
    assert env.get_wrapper_attr("action_masks")().any()
    many = gymnasium.make_vec("helsinki/Copenhagen-v0", num_envs=3, opponents="random", autoreset_mode="SameStep")
    assert isinstance(many, CopenhagenSeatVectorEnv)
    assert many.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    sync = gymnasium.make_vec("helsinki/Copenhagen-v0", num_envs=2, vectorization_mode="sync")
    assert sync.reset(seed=1)[0]["observation"].shape == (2, 923)


@pytest.mark.parametrize(
    "arguments", [{"illegal_action": "ignore"}, {"render_mode": "rgb"}, {"reward": "x"}, {"config": 5}]
)
def test_bad_arguments_are_named(arguments: dict[str, Any]) -> None:
    for make in (CopenhagenSeatEnv, CopenhagenSeatVectorEnv):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            make(**arguments)
