"""Both games as games of OpenSpiel, checked by OpenSpiel's own tests and played by its own players."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import generate_playthrough, ismcts, mcts
from open_spiel.python.observation import make_observation

from helsinki_env import copenhagen_v0, helsinki_v0, notation
from helsinki_env.openspiel import OpenSpielGame
from tests.games import EACH_GAME, TestedGame

LOADED = (
    "helsinki(deals=8)",
    "helsinki(players=3,deals=8,dry_roads=true,covered=two_points+move_back,reward=rank)",
    "helsinki(players=4,deals=8,covered=first_game,reward=margin)",
    "copenhagen(deals=8,reward=rank)",
    "copenhagen(players=4,deals=8,reward=margin)",
)
EACH = pytest.mark.parametrize("text", LOADED)


def played(game: Any, actions: int, seed: int = 1) -> Any:
    """A state after random actions, at the latest the end."""
    rng, state = random.Random(seed), game.new_initial_state()
    state.apply_action(seed % game.max_chance_outcomes())
    for _ in range(actions):
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def sampler(seed: int) -> Any:
    return np.random.RandomState(seed).uniform


@pytest.mark.thorough
@EACH
def test_openspiel_checks_the_game(text: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(text), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("text", [pytest.param(LOADED[0], marks=pytest.mark.nightly), LOADED[3]])
def test_playthroughs_are_reproducible(text: str) -> None:
    lines = generate_playthrough.playthrough_lines(text, seed=1, action_sequence=[2])
    assert any(line.startswith("Returns() = ") and "-" in line for line in lines)  # it reaches the end
    actions = [int(line.removeprefix("action: ")) for line in lines if line.startswith("action: ")]
    assert generate_playthrough.playthrough_lines(text, seed=2, action_sequence=actions) == lines


@EACH
def test_a_game_is_that_of_the_environment(text: str) -> None:
    game = pyspiel.load_game(text)
    assert isinstance(game, OpenSpielGame)
    config = game.config
    module = {"helsinki": helsinki_v0, "copenhagen": copenhagen_v0}[game.spec.name]
    options = {name: value for name, value in config.to_dict().items() if name != "denied"}
    env = module.raw_env(**options)
    env.reset(seed=5)
    state = game.new_initial_state()
    assert state.is_chance_node()
    assert len(state.chance_outcomes()) == 8
    state.apply_action(5)
    observation = make_observation(game)
    rng = random.Random(5)
    while not state.is_terminal():
        player = state.current_player()
        seen = env.last()[0]
        assert player == env.possible_agents.index(env.agent_selection)
        assert state.legal_actions() == seen["action_mask"].nonzero()[0].tolist()
        observation.set_from(state, player)
        assert np.array_equal(observation.tensor, seen["observation"])
        assert np.array_equal(state.observation_tensor(player), seen["observation"])
        action = rng.choice(state.legal_actions())
        assert state.string_to_action(player, state.action_to_string(player, action)) == action
        state.apply_action(action)
        env.step(action)
    assert np.allclose(state.returns(), list(env.rewards.values()), atol=1e-6)
    assert abs(sum(state.returns())) < 1e-9
    assert game.min_utility() <= min(state.returns())
    assert max(state.returns()) <= game.max_utility()


@EACH
def test_states_continue_from_positions_and_pickles(text: str) -> None:
    game = pyspiel.load_game(text)
    for actions in (0, 10, 60):
        state = played(game, actions)
        assert json.loads(str(state)) == notation.to_dict(state.board) == json.loads(state.to_struct().to_json())
        seen = json.loads(state.observation_string(1))
        assert seen == notation.to_dict(state.board, 1) == json.loads(state.to_observation_struct(1).to_json())
        copies = [
            game.new_initial_state(str(state)),
            game.new_initial_state(json.loads(str(state))),
            game.deserialize_state(state.serialize()),
            pickle.loads(pickle.dumps(state)),
            state.clone(),
        ]
        before = str(state)
        rng = random.Random(actions)
        for _ in range(20):
            if copies[0].is_terminal():
                break
            action = rng.choice(copies[0].legal_actions())
            for copied in copies:
                copied.apply_action(action)
        assert {copied.board.config for copied in copies} == {game.config}
        assert {str(copied) for copied in copies} == {str(copies[0])}
        assert str(state) == before


@EACH
def test_resampling_changes_hidden_cards_only(text: str) -> None:
    game = pyspiel.load_game(text)
    changed = False
    for actions in (0, 12, 40):
        state = played(game, actions, seed=actions)
        for player in range(game.num_players()):
            before = str(state)
            found = [state.resample_from_infostate(player, sampler(seed)) for seed in range(4)]
            assert str(state) == before
            again = state.resample_from_infostate(player, sampler(3))
            assert str(again) == str(found[3])
            for other in found:
                assert other.information_state_string(player) == state.information_state_string(player)
                assert other.observation_string(player) == state.observation_string(player)
                assert other.observation_tensor(player) == state.observation_tensor(player)
                changed |= str(other) != before
    assert changed


@EACH
def test_information_states_are_equal_after_equal_actions_and_observations_only(text: str) -> None:
    game = pyspiel.load_game(text)
    found: dict[str, set[Any]] = {}
    differing = 0
    for actions in (0, 9, 30):
        state = played(game, actions, seed=actions)
        player = state.current_player()
        group: list[tuple[Any, list[Any]]] = [(state, [])]
        group += [(state.resample_from_infostate(player, sampler(seed)), []) for seed in range(3)]
        for _ in range(12):
            legal = set.intersection(*(set(one.legal_actions()) for one, _ in group))
            if not legal:
                break
            for one, history in group:
                one.apply_action(min(legal))
                history.append(tuple(one.board.observation(player).tolist()))
                name = one.information_state_string(player)
                found.setdefault(name, set()).add((player, tuple(one.history()), tuple(history)))
        for one, history in group[1:]:
            other = group[0][0].clone()
            if history != group[0][1]:  # the same position after other observations
                other.board = one.board.clone()
                assert other.information_state_string(player) != one.information_state_string(player)
                differing += 1
    assert all(len(histories) == 1 for histories in found.values())
    assert len(set.union(*found.values())) == len(found)
    assert differing


@pytest.mark.parametrize("text", LOADED[::3])
def test_openspiels_search_players_play_legally(text: str) -> None:
    game = pyspiel.load_game(text)
    rollouts = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bots = [
        ismcts.ISMCTSBot(game, rollouts, uct_c=2.0, max_simulations=6, random_state=np.random.RandomState(2)),
        mcts.MCTSBot(game, 2.0, 6, rollouts, random_state=np.random.RandomState(3)),
    ]
    state = played(game, 20)
    for _ in range(12):
        action = bots[state.current_player() % 2].step(state)
        assert action in state.legal_actions()
        state.apply_action(action)


@EACH_GAME
def test_openspiels_environment_gives_observations_to_learners(game: TestedGame) -> None:
    env = rl_environment.Environment(f"{game.name}(deals=8)")
    assert env.observation_spec()["info_state"] == (game.spec.observation_size(game.configs[0]),)
    step, rng = env.reset(), random.Random(1)
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([rng.choice(step.observations["legal_actions"][player])])
    assert sum(step.rewards) == 0


def test_public_information_alone_has_no_observer() -> None:
    game = pyspiel.load_game("helsinki")
    for public, private in ((True, pyspiel.PrivateInfoType.NONE), (False, pyspiel.PrivateInfoType.SINGLE_PLAYER)):
        assert make_observation(game, pyspiel.IIGObservationType(public, False, private)) is None


def test_invalid_arguments_are_value_errors() -> None:
    wrong = {
        "players=5": "num_players",
        "reward=points": "reward",
        "components=nowhere": "nowhere",
        "covered=nothing": "covered",
        "deals=0": "deals",
    }
    for parameters, named in wrong.items():
        with pytest.raises(ValueError, match=named):
            pyspiel.load_game(f"helsinki({parameters})")
    game = pyspiel.load_game("helsinki")
    position = str(played(pyspiel.load_game("helsinki(players=3)"), 5))
    with pytest.raises(ValueError, match=r"^position: found"):
        game.new_initial_state(position)
    with pytest.raises(ValueError, match="position"):
        game.new_initial_state("{}")


def test_the_interpreter_ends_without_an_error() -> None:
    """OpenSpiel holds the registered classes until after the interpreter has ended."""
    program = "import pyspiel, helsinki_env.openspiel; pyspiel.load_game('helsinki')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["helsinki", "copenhagen"])
def test_a_tensor_of_an_information_state_has_the_observation_and_the_last_actions(name: str) -> None:
    game = pyspiel.load_game(f"{name}(deals=8,history=40)")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    size, ids = game.observation_tensor_size(), game.num_distinct_actions()
    assert game.information_state_tensor_size() == size + 40
    for count in (0, 12, 40, 55):
        state = played(game, count)
        actions = [one.action for one in state.full_history()][1:]
        for player in range(2):
            tensor = np.array(state.information_state_tensor(player))
            np.testing.assert_array_equal(tensor[:size], state.observation_tensor(player))
            expected = np.zeros(40)
            expected[: len(actions[-40:])] = (np.array(actions[-40:]) + 1) / ids
            np.testing.assert_allclose(tensor[size:], expected, rtol=1e-6)
    assert not any(game.new_initial_state().information_state_tensor(0))
    assert not pyspiel.load_game(name).get_type().provides_information_state_tensor
    with pytest.raises(ValueError, match="history: found -1, expected 0 to"):
        pyspiel.load_game(f"{name}(history=-1)")


def test_only_numbered_deals_exist() -> None:
    game = pyspiel.load_game("helsinki(deals=5)")
    with pytest.raises(ValueError, match="found deal 5, expected 0 to 4"):
        game.new_initial_state().apply_action(5)


def test_a_game_can_be_sent_to_another_process() -> None:
    game = pyspiel.load_game("helsinki(players=3,deals=7)")
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


def test_a_component_path_with_any_characters_can_be_sent(tmp_path: Path) -> None:
    path = tmp_path / "mine,a=1 (2).yaml"
    path.write_text("base: default\n")
    game = pyspiel.load_game("helsinki", {"components": str(path)})
    assert pickle.loads(pickle.dumps(game)).config == game.config


def test_a_game_with_a_single_deal() -> None:
    seed = 2**53 + 11
    game = pyspiel.load_game(f"helsinki(deal=seed_{seed})")
    state = game.new_initial_state()
    assert state.chance_outcomes() == [(0, 1.0)]
    copy = pickle.loads(pickle.dumps(state))
    state.apply_action(0)
    dealt = helsinki_v0.raw_env(num_players=2)
    dealt.reset(seed=seed)
    assert json.loads(str(state)) == notation.to_dict(dealt.game)
    copy.apply_action(0)
    assert str(copy) == str(state)
    with pytest.raises(ValueError, match="deal: found 'seed_x', expected 'seed_' and a seed"):
        pyspiel.load_game("helsinki(deal=seed_x)")
