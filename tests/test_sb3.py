"""Stable-Baselines3: its environment is the seat environment, its masks are those of the games, and it learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy as evaluate_without_masks
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecNormalize

from helsinki_env import HelsinkiConfig, HelsinkiGame, HelsinkiSeatVectorEnv, IllegalActionError, RandomEpisodes
from helsinki_env.agents.base import Player
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.envs.flat import scale_observation
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.helsinki import observation
from helsinki_env.training.sb3 import GamesVecEnv, SB3Player, evaluate_sb3_player, main, make_sb3_env, train

pytestmark = pytest.mark.thorough

CONFIGS: tuple[dict[str, Any], ...] = (
    {},
    {"num_players": 3, "opponents": "greedy", "seat": "rotate", "dry_roads": True, "reward": "margin"},
    {"num_players": 4, "components": "alternative", "reward": "rank", "seat": 2},
    {"num_players": 4, "episodes": RandomEpisodes(num_players=(2, 3, 4))},
)
SIZE, STEPS = (16, 250) if JIT else (2, 60)
slow = pytest.mark.skipif(not JIT, reason="too slow")


def make(*args: Any, **options: Any) -> Any:
    """`make_sb3_env` without its types, which allow for dicts and tuples as observations."""
    return make_sb3_env(*args, **options)


def masks_of(env: Any) -> npt.NDArray[np.int8]:
    return get_action_masks(env).astype(np.int8)


def play(env: Any, steps: int = STEPS, seed: int = 1) -> list[Any]:
    """Play on at random and return what came back."""
    words, seen = random_keys(env.num_envs, seed), []
    for _ in range(steps):
        seen.append(env.step(sample_actions(masks_of(env), words)))
    return seen


# the environment


@pytest.mark.parametrize("options", CONFIGS)
def test_it_plays_the_games_of_the_seat_environment(options: dict[str, Any]) -> None:
    env = make(SIZE, seed=5, **options)
    bare = HelsinkiSeatVectorEnv(SIZE, autoreset_mode="SameStep", **options)
    expected, _ = bare.reset(seed=5)
    found = env.reset()
    words, endings = random_keys(SIZE, 1), 0
    for _ in range(STEPS):
        np.testing.assert_array_equal(found, scale_observation(expected["observation"]))
        np.testing.assert_array_equal(get_action_masks(env), expected["action_mask"])
        assert env.observation_space.contains(found[0])
        actions = sample_actions(expected["action_mask"], words)
        found, rewards, dones, infos = env.step(actions)
        expected, reward, ended, _, info = bare.step(actions)
        assert (found.dtype, rewards.dtype, dones.dtype) == (np.float32, np.float32, np.bool_)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(dones, ended)
        for b in range(SIZE):
            if not ended[b]:
                assert infos[b] == {}
                continue
            endings += 1
            last, final = infos[b]["terminal_observation"], info["final_info"]
            np.testing.assert_array_equal(last, scale_observation(info["final_obs"][b]["observation"][None])[0])
            assert observation.unpack(np.round(last))["phase"].argmax() == 9  # END: it is not the new game's
            assert infos[b]["TimeLimit.truncated"] is False
            assert infos[b]["seat"] == final["seat"][b]
            assert infos[b]["is_success"] == (final["places"][b, final["seat"][b]] == 0)
            seen = observation.unpack(info["final_obs"][b]["observation"])
            players = int(seen["table"][0])  # other columns are those of absent seats
            for name in ("rewards", "scores", "places"):
                np.testing.assert_array_equal(infos[b][name], final[name][b, :players])
    assert endings >= SIZE or not JIT


def test_masks_are_there_under_the_name_that_is_looked_for_and_never_empty() -> None:
    env = make(SIZE, seed=1)
    env.reset()
    assert is_masking_supported(env)
    for _ in range(STEPS):
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_
        assert masks.shape == (SIZE, env.action_space.n)
        assert masks.any(axis=1).all()
        env.step(masks.argmax(axis=1))
    some = env.env_method("action_masks", indices=[1, 0])
    np.testing.assert_array_equal(some, get_action_masks(env)[[1, 0]])
    np.testing.assert_array_equal(env.get_attr("action_masks")[1](), some[0])


def test_what_was_returned_is_never_written_again() -> None:
    env = make(SIZE, seed=1)
    seen = [env.reset()]
    words, kept = random_keys(SIZE, 1), [seen[0].copy()]
    for _ in range(8):
        masks = env.env_method("action_masks")
        obs, rewards, dones, _ = env.step(sample_actions(np.stack(masks).astype(np.int8), words))
        seen += [obs, rewards, dones, *masks]
        kept += [array.copy() for array in (obs, rewards, dones, *masks)]
    for array, copy in zip(seen, kept, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(
    "numbers", [{"total_timesteps": -5}, {"total_timesteps": 0}, {"num_envs": 0}, {"seed": -1}], ids=str
)
def test_numbers_that_are_none_are_refused(numbers: dict[str, Any]) -> None:
    ((name, value),) = numbers.items()
    with pytest.raises(ValueError, match=f"^{name}: found {value}, expected a whole number from"):
        train(**numbers)


@slow
def test_episodes_are_summed_up_as_monitors_do() -> None:
    env = make(SIZE, seed=1, reward="margin")
    env.reset()
    total, length, endings = np.zeros(SIZE), np.zeros(SIZE, np.int64), 0
    for _, rewards, dones, infos in play(env):
        total += rewards
        length += 1
        for b in np.flatnonzero(dones):
            episode = infos[b]["episode"]
            assert episode["r"] == pytest.approx(total[b])
            assert episode["r"] == pytest.approx(infos[b]["rewards"][infos[b]["seat"]])
            assert episode["l"] == length[b]
            assert episode["t"] >= 0
            total[b] = length[b] = 0
            endings += 1
    assert endings > SIZE


def test_a_seed_decides_the_games_and_another_shares_none_of_them() -> None:
    env = make(8)
    first = []
    for seed in (3, 3, 4):
        assert env.seed(seed) == [seed] * 8
        first.append(env.reset())
        second = env.reset()  # a seed applies to one reset; later games continue its random stream
        assert not (second == first[-1]).all(axis=1).any()
    np.testing.assert_array_equal(first[0], first[1])
    assert not (first[2][:, None] == first[0]).all(axis=2).any()
    np.testing.assert_array_equal(make(8, seed=3).reset(), first[0])


def test_options_attributes_and_methods_are_for_all_games() -> None:
    env = make(3, seed=1)
    env.set_options({"num_players": 4, "seat": 3})
    obs = env.reset()
    assert [info["seat"] for info in env.unwrapped.reset_infos] == [3, 3, 3]
    assert (observation.unpack(obs)["seats"][:, :, 0] == 1).all()  # four are present
    assert env.get_attr("num_envs", indices=[0, 2]) == [3, 3]
    assert not env.has_attr("nonsense")
    assert env.env_is_wrapped(Monitor, indices=0) == [False]
    asked: list[int] = []

    def act(obs: Any, action_mask: Any, keys: Any) -> Any:
        asked.append(len(obs))
        return action_mask.argmax(axis=1)

    env.env_method("set_opponents", act)
    play(env, 20)
    assert asked
    env.set_attr("render_mode", "ansi")
    assert len(env.env_method("render")[0]) == 3
    for call in (lambda: env.env_method("set_opponents", act, indices=1), lambda: env.set_attr("a", 1, indices=[0])):
        with pytest.raises(ValueError, match="one environment; leave indices out"):
            call()
    env.set_options([{"num_players": 2}, {}, {}])
    with pytest.raises(ValueError, match="one dict for all"):
        env.reset()


def test_pictures() -> None:
    pytest.importorskip("resvg_py")
    env = make(2, seed=1, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert len(images) == 2
    assert images[0] is not None
    assert env.render().shape[0] >= images[0].shape[0]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="autoreset_mode='SameStep'"):
        GamesVecEnv(HelsinkiSeatVectorEnv(2))
    env = make(2, seed=1)
    env.reset()
    with pytest.raises(IllegalActionError, match="game 1"):
        env.step(np.array([get_action_masks(env)[0].argmax(), get_action_masks(env)[1].argmin()]))


@slow
def test_features_keep_their_places_and_a_usual_size() -> None:
    env = HelsinkiSeatVectorEnv(64, "greedy", num_players=4, dry_roads=True)
    obs, _ = env.reset(seed=1)
    words = random_keys(64, 1)
    largest = np.zeros(obs["observation"].shape[1])
    for _ in range(200):
        scaled = scale_observation(obs["observation"])
        assert np.array_equal(scaled > 0, obs["observation"] > 0)
        largest = np.maximum(largest, scaled.max(axis=0))
        obs, *_ = env.step(sample_actions(obs["action_mask"], words))
    for name, piece in observation.unpack(largest).items():
        assert piece.max() <= 3.01, name
    assert (largest <= 1).mean() > 0.95


# learning

TINY: dict[str, Any] = {"n_steps": 16, "batch_size": 128, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}


def weights(model: MaskablePPO) -> list[torch.Tensor]:
    return list(model.policy.state_dict().values())


def test_the_same_seed_learns_the_same() -> None:
    found = []
    for seed in (1, 1, 2):
        model = MaskablePPO("MlpPolicy", make(8), seed=seed, device="cpu", **TINY).learn(256)
        found.append(weights(model))
    assert all(torch.equal(a, b) for a, b in zip(found[0], found[1], strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(found[0], found[2], strict=True))


def test_it_learns_through_other_wrappers() -> None:
    env = VecNormalize(make(8, reward="margin"), norm_obs=False)
    model = MaskablePPO("MlpPolicy", env, seed=1, device="cpu", **TINY).learn(256)
    assert model.num_timesteps >= 256


def test_an_evaluation_without_masks_is_warned_of_or_an_error() -> None:
    single = make_vec_env("helsinki_env:helsinki/Helsinki-v0", 1, seed=1, env_kwargs={"opponents": "random"})
    model = MaskablePPO("MultiInputPolicy", single, seed=1, device="cpu", **TINY)
    with pytest.warns(UserWarning, match=r"^illegal action: .*sb3_contrib .*maskable\.evaluation") as caught:
        evaluate_without_masks(model, single, n_eval_episodes=5, warn=False)
    assert len(caught) == 1
    evaluate_policy(model, single, n_eval_episodes=2, warn=False)  # with masks: a warning would be an error
    games = make(4, seed=1)
    model = MaskablePPO("MlpPolicy", games, seed=1, device="cpu", **TINY)
    with pytest.raises(IllegalActionError, match="game 0"):
        evaluate_without_masks(model, games, n_eval_episodes=5, warn=False)


@pytest.fixture(scope="module")
def trained() -> MaskablePPO:
    return train(64 * 1024, seed=0)  # an illegal decision would be an error


@slow
@pytest.mark.nightly
def test_it_learns_to_beat_random_play(trained: MaskablePPO) -> None:
    untrained = MaskablePPO("MlpPolicy", make(8), seed=0, device="cpu")
    before, after = (evaluate_sb3_player(SB3Player(model), "random", games=600) for model in (untrained, trained))
    assert after.games == 600
    assert after.low > 0.65  # the fair share is a half
    assert before.high < after.low


@slow
@pytest.mark.nightly
def test_evaluate_policy_finds_the_same_strength(trained: MaskablePPO) -> None:
    env = make(100, seed=77, reward="win")
    found: Any = evaluate_policy(trained, env, n_eval_episodes=400, return_episode_rewards=True)
    rewards, lengths = found
    assert len(rewards) == len(lengths) == 400
    assert set(np.round(rewards, 3)) == {-1.0, 1.0}
    assert np.mean(np.array(rewards) > 0) == pytest.approx(evaluate_sb3_player(SB3Player(trained)).share, abs=0.1)


@slow
def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    path, model = tmp_path / "model.zip", MaskablePPO("MlpPolicy", make(2), seed=1, device="cpu")
    model.save(path)
    env = make(64, seed=3)
    obs = env.reset()
    loaded = MaskablePPO.load(path, device="cpu")
    for _ in range(20):
        masks = get_action_masks(env)
        actions, _ = model.predict(obs, deterministic=True, action_masks=masks)
        again, _ = loaded.predict(obs, deterministic=True, action_masks=masks)
        np.testing.assert_array_equal(actions, again)
        obs, *_ = env.step(actions)
    player = SB3Player(path)
    assert isinstance(player, Player)
    assert player.name == f"sb3:{path}"
    results = play_match([player, SB3Player(model, "same")], games=20, seed=1)
    assert results.players == (f"sb3:{path}", "same")
    # Both decide alike: the two games of a deck are the same game.
    for one, other in zip(results.decisions[::2], results.decisions[1::2], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_player_decides_the_same_in_any_batch() -> None:
    model = MaskablePPO("MlpPolicy", make(2), seed=1, device="cpu")
    player = SB3Player(model)
    env = HelsinkiSeatVectorEnv(150)
    obs, _ = env.reset(seed=0)
    words = np.zeros(150, np.uint64)
    for _ in range(4):
        together = player.act(obs["observation"], obs["action_mask"], words)
        assert (obs["action_mask"][np.arange(150), together] == 1).all()
        for rows in (slice(0, 1), slice(7, 90), slice(149, 150)):
            alone = player.act(obs["observation"][rows], obs["action_mask"][rows], words[rows])
            np.testing.assert_array_equal(alone, together[rows])
        obs, *_ = env.step(together)


def test_a_player_for_other_observations_is_refused() -> None:
    game = HelsinkiGame(HelsinkiConfig(components="alternative"), seed=1)
    player = SB3Player(MaskablePPO("MlpPolicy", make(2), device="cpu"))
    with pytest.raises(ValueError, match="use the component file it was trained with"):
        player.act(game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64))
    other = MaskablePPO("MultiInputPolicy", make_vec_env("helsinki/Helsinki-v0", 1), device="cpu", **TINY)
    with pytest.raises(ValueError, match="expected make_sb3_env"):
        SB3Player(other)


@slow
def test_the_command_trains_saves_and_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "model.zip"
    main(path, total_timesteps=4096, players=3, num_envs=32, games=6)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3] == f"saved {path}"
    assert lines[-2].startswith("against random: won ")
    assert lines[-1].startswith("against greedy: won ")
    assert len(lines) > 5
    assert SB3Player(path).model.num_timesteps == 4096


def test_a_number_of_games_that_cannot_be_is_named_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("helsinki_env.training.sb3.train")
    with pytest.raises(ValueError, match="--games: found 0, expected a whole number from 1 to"):
        main(tmp_path / "sb3.zip", games=0)


def test_a_game_that_ends_with_an_illegal_action_is_lost() -> None:
    env = make_sb3_env(2, seat=1, illegal_action="penalize", seed=1)
    env.reset()
    with pytest.warns(UserWarning, match="illegal action"):
        *_, infos = env.step(np.full(2, 939))
    assert [(info["is_success"], info["places"].tolist()) for info in infos] == [(0.0, [0, 1])] * 2


def test_pictures_of_different_numbers_of_players_have_one_size() -> None:
    episodes = RandomEpisodes(num_players=(2, 3, 4))
    env = make_sb3_env(8, seed=1, episodes=episodes, render_mode="rgb_array", render_width=300)
    env.reset()
    images = env.get_images()
    assert {image.shape for image in images if image is not None} == {(max(map(len, images)), 300, 3)}  # type: ignore[arg-type]
    assert env.render("rgb_array").ndim == 3  # type: ignore[union-attr]
