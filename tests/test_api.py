"""The checks that PettingZoo, Gymnasium and Stable-Baselines3 make of an environment; all warnings are errors.

And what all public functions have in common: a value of the wrong kind is a ValueError that says so.
"""

from __future__ import annotations

import copy
import io
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import gymnasium.utils.env_checker
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.test import api_test, render_test, seed_test, state_test
from pettingzoo.utils.wrappers import CaptureStdoutWrapper

from helsinki_env import (
    CopenhagenVectorEnv,
    HelsinkiGame,
    HelsinkiSeatEnv,
    HelsinkiSeatVectorEnv,
    HelsinkiVectorEnv,
    flatten,
    helsinki_v0,
)
from helsinki_env.engine.determinization import determinize, determinize_observation, sample_determinizations
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.envs.seat import GameSeatVectorEnv
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.games.helsinki import notation, observation
from tests.games import EACH_GAME, ONE_GAME_OR_EACH_NIGHTLY, TestedGame

# PettingZoo expects plain arrays and says so for dicts, although it recommends them for action masks.
DICT_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])


def only_dict_warnings(caught: list[warnings.WarningMessage]) -> None:
    assert {str(warning.message) for warning in caught} == DICT_WARNINGS


@EACH_GAME
@PLAYERS
@pytest.mark.parametrize("make", ["raw_env", "env"])
def test_pettingzoo_api(game: TestedGame, make: str, players: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(getattr(game.module, make)(num_players=players), num_cycles=1000)
    only_dict_warnings(caught)


@EACH_GAME
@PLAYERS
def test_pettingzoo_seed(game: TestedGame, players: int) -> None:
    seed_test(lambda: game.module.env(num_players=players), num_cycles=200)


@pytest.mark.thorough
@EACH_GAME
def test_pettingzoo_render(game: TestedGame) -> None:
    render_test(game.module.env, custom_tests={"svg": lambda drawn: drawn.startswith("<svg")})


@EACH_GAME
@PLAYERS
@pytest.mark.parametrize("make", ["raw_env", "env"])
def test_pettingzoo_state(game: TestedGame, make: str, players: int) -> None:
    env = getattr(game.module, make)(num_players=players, global_state=True)
    with pytest.warns(UserWarning, match="illegal action") as caught:
        state_test(env, env)  # it samples actions without the mask; the environment also has what a parallel one needs
    assert {str(warning.message).split(":")[0] for warning in caught} == {"illegal action"}


@EACH_GAME
@PLAYERS
def test_gymnasium_checks(game: TestedGame, players: int) -> None:
    made = gymnasium.make(game.seat_id, num_players=players)
    with pytest.warns(UserWarning, match="illegal action") as caught:
        gymnasium.utils.env_checker.check_env(made.unwrapped)  # it samples actions without the mask
    assert {str(warning.message).split(":")[0] for warning in caught} == {"illegal action"}
    made.reset(seed=1)
    made.step(made.get_wrapper_attr("action_masks")().argmax())  # within the passive checker


@EACH_GAME
def test_stable_baselines3_checks(game: TestedGame) -> None:
    env_checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with pytest.warns(UserWarning, match="illegal action"):  # it samples actions without the mask
        env_checker.check_env(game.seat_env())


@EACH_GAME
def test_maskable_ppo_runs_and_takes_legal_decisions_only(game: TestedGame) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env_util = pytest.importorskip("stable_baselines3.common.env_util")
    env = env_util.make_vec_env(
        game.seat_id, n_envs=2, seed=1, env_kwargs={"seat": "rotate", "illegal_action": "raise"}
    )
    model = sb3_contrib.MaskablePPO(
        "MultiInputPolicy",
        env,
        n_steps=96,
        batch_size=64,
        n_epochs=1,
        policy_kwargs={"net_arch": [8]},
        device="cpu",
        seed=1,
    )
    model.learn(2 * 2 * 96)  # an illegal decision would raise an error
    assert model.num_timesteps == 2 * 2 * 96
    assert len(model.ep_info_buffer) > 0  # games have ended, and training went on after them
    masks = env.env_method("action_masks")
    assert all(mask.any() and mask.dtype == bool for mask in masks)
    env.close()


@EACH_GAME
@pytest.mark.parametrize("copies", [True, False])
@pytest.mark.parametrize("mode", tuple(AutoresetMode))
@pytest.mark.parametrize("vector", ["learner", "all seats"])
def test_the_mask_is_in_the_info_of_batches(game: TestedGame, vector: str, mode: AutoresetMode, copies: bool) -> None:
    config = game.configs[0]
    make: Any = GameVectorEnv if vector == "all seats" else GameSeatVectorEnv
    env = make(3, config, autoreset_mode=mode, copy=copies)
    obs, info = env.reset(seed=1)
    words, kept, endings = random_keys(3, 1), [], 0
    for _ in range(400 if JIT else 40):
        assert info["action_mask"] is obs["action_mask"]
        assert info["action_mask"].dtype == np.int8
        assert info["_action_mask"].all()
        if copies:
            kept.append((info["action_mask"], info["action_mask"].copy()))
        obs, _, ended, _, info = env.step(sample_actions(obs["action_mask"], words))
        for b in np.flatnonzero(ended):
            endings += 1
            if mode == AutoresetMode.SAME_STEP:
                final = info["final_info"]["action_mask"][b]
                assert np.array_equal(final, info["final_obs"][b]["action_mask"])
                assert final.all() if vector == "learner" else not final.any()
        if mode == AutoresetMode.DISABLED and ended.any():
            obs, info = env.reset(options={"reset_mask": ended})
    assert endings > 3 or not JIT
    assert all(np.array_equal(mask, copy) for mask, copy in kept)  # they are never written again
    again, told = env.set_state(env.get_state())
    assert told["action_mask"] is again["action_mask"]


@EACH_GAME
def test_the_mask_is_in_the_info_of_one_game_through_gymnasiums_vectors(game: TestedGame) -> None:
    env = gymnasium.make(f"helsinki_env:{game.seat_id}")
    obs, info = env.reset(seed=1)
    kept = []
    for _ in range(30):
        assert np.array_equal(info["action_mask"], obs["action_mask"])
        kept.append((info["action_mask"], info["action_mask"].copy()))
        obs, _, ended, _, info = env.step(info["action_mask"].argmax())
        if ended:
            break
    assert all(np.array_equal(mask, copy) for mask, copy in kept)
    many = gymnasium.make_vec(f"helsinki_env:{game.seat_id}", num_envs=2, vectorization_mode="sync")
    obs, info = many.reset(seed=1)
    for _ in range(5):
        assert np.array_equal(info["action_mask"], obs["action_mask"])
        obs, _, _, _, info = many.step(info["action_mask"].argmax(axis=1))


@pytest.mark.thorough
@ONE_GAME_OR_EACH_NIGHTLY
def test_processes_that_are_spawned_find_the_environments_by_the_name_with_the_module(game: TestedGame) -> None:
    env = gymnasium.make_vec(
        f"helsinki_env:{game.seat_id}",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"context": "spawn"},
    )
    try:
        obs, info = env.reset(seed=1)
        assert np.array_equal(info["action_mask"], obs["action_mask"])
    finally:
        env.close()


@EACH_GAME
def test_the_first_illegal_action_alone_is_warned_of(game: TestedGame) -> None:
    def play_learner(env: Any) -> None:
        for copied in (lambda: env, lambda: env, env.clone):
            one = copied()
            one.reset()
            one.step(one.action_masks().argmin(axis=-1))

    def play_agents(env: Any) -> None:
        for _ in range(3):
            env.reset()
            env.step(env.last()[0]["action_mask"].argmin())

    for env in (game.seat_env(), GameSeatVectorEnv(2, game.configs[0])):
        with pytest.warns(
            UserWarning, match=r"^illegal action: .*info\['action_mask'\].*illegal_action='raise'"
        ) as caught:
            play_learner(env)
        assert len(caught) == 1
        assert caught[0].filename.endswith(("seat.py", "test_api.py"))
    with pytest.warns(UserWarning, match="^illegal action") as caught:
        play_agents(game.module.env())
    assert len(caught) == 1


@EACH_GAME
def test_flat_observations_hold_the_mask_at_their_end(game: TestedGame) -> None:
    config = game.configs[0]
    features, ids = game.spec.observation_size(config), game.spec.num_actions(config)

    def check(flat: Any, obs: Any, space: Any) -> None:
        assert space.contains(flat)
        assert flat.dtype == np.int8
        np.testing.assert_array_equal(flat[..., :features], obs["observation"])
        np.testing.assert_array_equal(flat[..., -ids:], obs["action_mask"])

    one, bare = flatten(gymnasium.make(f"helsinki_env:{game.seat_id}")), game.seat_env()
    assert one.observation_space == Box(0, np.repeat(np.array([127, 1], np.int8), (features, ids)), dtype=np.int8)
    gymnasium.make(one.spec).close()  # Gymnasium can make it again
    (flat, info), (obs, _) = (env.reset(seed=1) for env in (one, bare))
    for _ in range(20):
        check(flat, obs, one.observation_space)
        assert np.array_equal(info["action_mask"], flat[-ids:])
        action = int(flat[-ids:].argmax())
        flat, *_, info = one.step(action)
        obs = bare.step(action)[0]
    for mode in AutoresetMode:
        envs: list[Any] = [GameSeatVectorEnv(3, config, autoreset_mode=mode) for _ in range(2)]
        envs[0] = flatten(envs[0])
        (flat, _), (obs, _) = (env.reset(seed=1) for env in envs)
        words, ended = random_keys(3, 1), np.zeros(3, np.bool_)
        for _ in range(200 if JIT else 20):
            check(flat, obs, envs[0].observation_space)
            check(flat[1], {name: array[1] for name, array in obs.items()}, envs[0].single_observation_space)
            actions = sample_actions(np.ascontiguousarray(flat[:, -ids:]), words)
            (flat, _, ended, _, info), (obs, _, _, _, told) = (env.step(actions) for env in envs)
            if mode == AutoresetMode.SAME_STEP:
                for b in np.flatnonzero(ended):
                    check(info["final_obs"][b], told["final_obs"][b], envs[0].single_observation_space)
            if mode == AutoresetMode.DISABLED and ended.any():
                (flat, _), (obs, _) = (env.reset(options={"reset_mask": ended}) for env in envs)
    agents = flatten(game.module.env())
    agents.reset(seed=1)
    for agent in agents.agent_iter(30):
        flat = agents.last()[0]
        check(flat, agents.env.observe(agent), agents.observation_space(agent))
        agents.step(int(flat[-ids:].argmax()) if flat[-ids:].any() else None)
    sync = SyncVectorEnv([lambda: flatten(game.seat_env())] * 2)
    assert sync.reset(seed=1)[0].shape == (2, features + ids)


def test_copies_of_flat_environments_are_flat_and_independent() -> None:
    flat = flatten(helsinki_v0.env())
    flat.reset(seed=1)
    copies = [flat.clone(), copy.copy(flat), copy.deepcopy(flat)]
    before = flat.last()[0]
    for one in copies:
        one.step(int(np.flatnonzero(one.unwrapped.game.action_mask())[0]))
        assert one.last()[0].shape == before.shape
        np.testing.assert_array_equal(flat.last()[0], before)


@pytest.mark.parametrize("make", [HelsinkiSeatEnv, HelsinkiVectorEnv, HelsinkiSeatVectorEnv])
def test_copies_of_flat_gymnasium_environments_do_not_share_the_game(make: Any) -> None:
    flat = flatten(make())
    flat.reset(seed=1)
    other = copy.copy(flat)
    assert type(other) is type(flat)
    before = flat.unwrapped.get_state()["states"].tobytes()
    other.reset(seed=2)
    assert flat.unwrapped.get_state()["states"].tobytes() == before
    assert other.unwrapped.get_state()["states"].tobytes() != before


def test_what_has_no_such_observations_is_not_flattened() -> None:
    with pytest.raises(ValueError, match="env: found str, expected an environment of Gymnasium"):
        flatten("helsinki/Helsinki-v0")
    with pytest.raises(ValueError, match=r"^env: found observations in Box\(.*, expected a dict of observation and"):
        flatten(gymnasium.make("CartPole-v1"))


@EACH_GAME
def test_what_prints_prints_in_render_too(game: TestedGame, capsys: pytest.CaptureFixture[str]) -> None:
    title = game.name.upper()
    for env in (game.module.env(render_mode="human"), game.seat_env(render_mode="human")):
        env.reset(seed=1)
        assert title in capsys.readouterr().out.upper()
        assert env.render() is None
        assert title in capsys.readouterr().out.upper()
    captured = CaptureStdoutWrapper(game.module.env(render_mode="human"))
    captured.reset(seed=1)
    assert title in captured.render().upper()


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@EACH_GAME
@pytest.mark.parametrize(
    ("stream", "variables", "colored"),
    [
        (Terminal, {}, True),
        (Terminal, {"NO_COLOR": ""}, True),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"NO_COLOR": "0", "FORCE_COLOR": "1"}, False),
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {}, False),
        (io.StringIO, {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colors_are_for_terminals(
    game: TestedGame, stream: type[io.StringIO], variables: dict[str, str], colored: bool, monkeypatch: Any
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    printed = stream()
    monkeypatch.setattr(sys, "stdout", printed)
    for mode in ("ansi", "human"):
        env = game.seat_env(render_mode=mode)
        env.reset(seed=1)
        text = env.render() or printed.getvalue()
        assert ("\x1b[" in text) == colored
    monkeypatch.setattr(sys, "stdout", None)  # as in programs without a console
    assert ("\x1b[" in game.module.env(render_mode="svg").unwrapped.game_spec.draw(env.game, "ansi")) == (
        "FORCE_COLOR" in variables and "NO_COLOR" not in variables
    )


@pytest.mark.thorough
@EACH_GAME
def test_pictures_are_as_wide_as_asked_for(game: TestedGame) -> None:
    pytest.importorskip("resvg_py", reason="needs the extra render")
    config = game.configs[0]
    for width in (None, 320):
        options: dict[str, Any] = {"render_mode": "rgb_array", "render_width": width}
        envs: list[Any] = [game.module.env(**options), game.seat_env(**options)]
        envs += [GameVectorEnv(1, config, **options), GameSeatVectorEnv(1, config, **options)]
        for env in envs:
            env.reset(seed=1)
            drawn = env.render()
            assert (drawn[0] if isinstance(drawn, tuple) else drawn).shape[1] == (width or 1200)
    for wrong in (0, True, np.True_, 2.5, "320", 10**9):
        for make in (game.module.env, game.seat_env, game.module.raw_env):
            with pytest.raises(ValueError, match=r"^render_width: found .*, expected a whole number from 1 to 10,000"):
                make(render_width=wrong)


#: Values that a user may pass as a number.
NO_NUMBERS: tuple[Any, ...] = (None, True, "2", 1.5, float("nan"), [1], np.array([1, 2]), -1, 10**30)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_numbers_of_the_wrong_kind_are_value_errors(value: Any) -> None:
    game = HelsinkiGame(seed=1)
    game.step(0)
    seen = game.observation()
    calls: list[Callable[[], Any]] = [
        lambda: notation.card_to_string(value),
        lambda: random_keys(value),
        lambda: random_keys(2, value),
        lambda: sample_determinizations(game, value, 0, 1),
        lambda: determinize_observation(game.config, seen, value, 1),
    ]
    if value is not None:  # there it stands for something
        calls += [
            lambda: observation.unpack(seen, value),
            lambda: game.observation(value),
            lambda: determinize(game, value, 1),
        ]
    for call in calls:
        with pytest.raises(ValueError, match=r"found .*, expected "):
            call()


def test_what_is_no_observation_is_a_value_error() -> None:
    values: list[Any] = [None, 3, [], "abc", np.zeros((2, 0)), np.zeros(1384)]
    for value in values:
        with pytest.raises(ValueError, match="observation: found shape"):
            observation.unpack(value)


def test_a_wrong_option_is_an_error_for_callers_and_type_checkers() -> None:
    """mypy reports a `type: ignore` where it finds no error."""
    with pytest.raises(TypeError, match="covred"):
        helsinki_v0.env(covred=["two_points"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="dry_roads"):
        CopenhagenVectorEnv(2, dry_roads=True)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="reward"):
        helsinki_v0.env(reward=3)  # type: ignore[arg-type]


@EACH_GAME
@pytest.mark.parametrize("value", ["x" * 10**6, 10**5000, -(10**5000)], ids=["text", "number", "negative"])
def test_errors_about_huge_values_are_short(game: TestedGame, value: Any) -> None:
    one = game.spec.game(game.spec.config(), seed=1)
    calls: list[Callable[[], object]] = [
        lambda: one.step(value),
        lambda: game.module.env().reset(seed=value if isinstance(value, str) else -abs(value)),
        lambda: game.vector_env(value),
        lambda: game.vector_env(2).game(value),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r".") as caught:
            call()
        assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    ("make", "argument", "meant"),
    [
        (HelsinkiSeatEnv, "num_player", "num_players"),
        (HelsinkiVectorEnv, "num_env", "num_envs"),
        (helsinki_v0.env, "illegal_actions", "illegal_action"),
        (lambda **options: gymnasium.make("helsinki/Helsinki-v0", **options), "opponent", "opponents"),
        (lambda **options: gymnasium.make_vec("helsinki/Copenhagen-v0", **options), "render_modes", "render_mode"),
    ],
)
def test_a_misspelled_argument_names_all_arguments(make: Callable[..., object], argument: str, meant: str) -> None:
    message = f"^found argument '{argument}', expected one of .*num_players, .*reward; did you mean '{meant}'"
    with pytest.raises(TypeError, match=message):
        make(**{argument: 3})


@EACH_GAME
def test_every_class_takes_a_configuration(game: TestedGame) -> None:
    config = game.spec.config(num_players=3, reward="rank")
    assert game.module.env(config=config).unwrapped.config == config
    with pytest.raises(ValueError, match="config: found num_players too"):
        game.module.env(num_players=3, config=config)


@pytest.mark.parametrize("name", ["helsinki.py", "train.py"])
def test_environments_are_registered_for_a_script_of_any_name(tmp_path: Path, name: str) -> None:
    script = tmp_path / name
    script.write_text("import gymnasium\nprint(gymnasium.make('helsinki_env:helsinki/Helsinki-v0').spec.id)\n")
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout.strip() == "helsinki/Helsinki-v0"


def test_batches_seed_their_random_generator() -> None:
    env = HelsinkiVectorEnv(2)
    env.reset(seed=5)
    drawn = env.np_random.integers(2**60)
    env.reset(seed=5)
    assert env.np_random_seed == 5
    assert env.np_random.integers(2**60) == drawn
