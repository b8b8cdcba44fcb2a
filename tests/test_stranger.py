"""Tic-tac-toe, stated by the contract alone, plays everywhere."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium.utils.env_checker
import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from helsinki_env.agents.base import Player, choose_action
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.engine.determinization import (
    ObservationError,
    determinize,
    determinize_observation,
    states_from_observations,
)
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.loops import observe_part
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import config_from_dict, config_to_dict, spec_by_name, spec_of
from helsinki_env.envs.aec import GameAECEnv, OrderEnforced
from helsinki_env.envs.seat import GameSeatEnv
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.arena.load import MatchupGames, load_run
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.records import Record
from helsinki_env.records.animation import make_animation
from tests.support import tictactoe
from tests.support.tictactoe import TICTACTOE, TicTacToeConfig

pytestmark = pytest.mark.thorough

CONFIG = TicTacToeConfig()
GAME = TICTACTOE.game
#: Decisions of a draw, and of the shortest win of either seat.
DRAW, FIRST_WINS, SECOND_WINS = (0, 1, 2, 4, 3, 5, 7, 6, 8), (0, 3, 1, 4, 2), (0, 3, 1, 4, 8, 5)
#: What `win` gives the seats for them; places are shared in a draw.
ENDS = ((DRAW, (0.0, 0.0), (0, 0)), (FIRST_WINS, (1.0, -1.0), (0, 1)), (SECOND_WINS, (-1.0, 1.0), (1, 0)))
slow = pytest.mark.skipif(not JIT, reason="too slow without the compiler")


def after(*decisions: int) -> Any:
    game = GAME(CONFIG, seed=0)
    for decision in decisions:
        game.step(decision)
    return game


def wins(board: list[int], seat: int) -> bool:
    return any(all(board[cell] == seat + 1 for cell in line) for line in tictactoe.TABLES["lines"][0].tolist())


def test_it_states_no_more_than_the_contract() -> None:
    source = Path(tictactoe.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 150
    ours = {line.split()[1] for line in source.splitlines() if line.startswith("from helsinki_env")}
    assert ours == {f"helsinki_env.engine{part}" for part in ("", ".configuration", ".kernel", ".spec")}


def test_it_is_known_by_its_name_and_its_configurations() -> None:
    assert spec_of(CONFIG) is spec_by_name("tictactoe") is TICTACTOE
    assert config_to_dict(CONFIG)["game"] == "tictactoe"
    assert config_from_dict(config_to_dict(CONFIG)) == CONFIG
    assert pickle.loads(pickle.dumps(TICTACTOE)) is TICTACTOE
    with pytest.raises(ValueError, match="num_players: found 3, expected 2"):
        config_from_dict({"game": "tictactoe", "num_players": 3})


def test_one_game() -> None:
    game = after(4, 0)
    assert repr(game) == "Game(2 players, round 2, MARK of seat 0)"
    assert game.legal_actions().tolist() == [1, 2, 3, 5, 6, 7, 8]
    with pytest.raises(IllegalActionError, match="MARK 4 is not legal"):
        game.step(4)
    for copied in (game.clone(), pickle.loads(pickle.dumps(game))):
        assert type(copied) is GAME
        assert copied == game
        copied.step(8)
        assert copied != game
    for decisions, _, places in ENDS:
        over = after(*decisions)
        assert over.done
        assert not over.action_mask().any()
        assert over.ranks().tolist() == list(places)


def test_a_record_of_it_shows_itself_in_no_picture() -> None:
    record = Record(CONFIG, seed=0, players=("a", "b"), decisions=(0,))
    with pytest.raises(ValueError, match=r"found a game of tictactoe, expected a game with drawings"):
        make_animation(record)
    assert record._repr_html_() is None


def test_pettingzoo_plays_it() -> None:
    env = OrderEnforced(GameAECEnv(CONFIG))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dicts, as for every game, and of an empty board
        api_test(env, num_cycles=200)
    seed_test(lambda: GameAECEnv(CONFIG), num_cycles=100)
    assert str(env) == "tictactoe_v0"
    for decisions, rewards, places in ENDS:
        env.reset(seed=1)
        for decision in decisions:
            assert env.agent_selection == f"player_{env.env.game.seat}"
            env.step(decision)
        assert tuple(env.rewards.values()) == rewards
        assert env.infos["player_0"]["places"] == places


def test_a_batch_plays_it() -> None:
    env = GameVectorEnv(16, CONFIG)
    obs, info = env.reset(seed=1)
    words, found = random_keys(16, 1), Counter[tuple[float, ...]]()
    for _ in range(60):
        moved, boards = info["seat"], env.states["board"].copy()
        actions = sample_actions(obs["action_mask"], words)
        played = env.states["done"] == 0
        obs, reward, over, _, info = env.step(actions)
        rows = np.flatnonzero(played)
        boards[rows, actions[rows]] = moved[rows] + 1
        assert np.array_equal(env.states["board"][rows], boards[rows])
        for b in np.flatnonzero(over):
            won = wins(boards[b].tolist(), moved[b])
            assert reward[b] == won
            assert info["rewards"][b].sum() == 0
            found[tuple(info["rewards"][b].tolist())] += 1
    assert set(found) == {(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)}
    assert env.get_state()["states"].dtype == tictactoe.STATE
    env.set_state(env.get_state())


def test_where_many_lanes_share_a_row_the_first_one_writes_it() -> None:
    game = after(4, 0, 8)
    row = np.full(18, 7, np.int8)
    for lane in range(1, 32):
        observe_part(CONFIG.tables[0], game.state, 1, row, lane, 32)
    assert (row == 7).all()
    observe_part(CONFIG.tables[0], game.state, 1, row, 0, 32)
    assert np.array_equal(row, game.observation(1))


def test_one_seat_can_learn_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gymnasium.utils.env_checker.check_env(GameSeatEnv(CONFIG, RandomPlayer(), "rotate"), skip_render_check=True)


def test_games_are_made_of_observations() -> None:
    game = after(4, 0, 8)
    for one in (
        GAME.from_state(CONFIG, determinize_observation(CONFIG, game.observation(), 1, seed=5)[0]),
        determinize(game, seed=3),
    ):
        assert np.array_equal(one.observation(0), game.observation(0))
        assert np.array_equal(one.observation(1), game.observation(1))
        assert (one.seat, one.round, one.legal_actions().tolist()) == (1, 2, game.legal_actions().tolist())
    seen = np.zeros((3, 18), np.int8)
    seen[1, [0, 9]] = 1  # both seats in one cell
    with pytest.raises(ObservationError, match=r"observations\[1\]: found error"):
        states_from_observations(CONFIG, seen)


# -- players


def outcomes(player: Player, own: int) -> Counter[str]:
    """How a player ends against every sequence of decisions of the other seat."""
    found, games = Counter[str](), [GAME(CONFIG, seed=0)]
    while games:
        game = games.pop()
        if game.done:
            places = game.ranks()
            found["draw" if places[own] == places[1 - own] else "won" if places[own] == 0 else "lost"] += 1
            continue
        for action in [choose_action(player, game)] if game.seat == own else game.legal_actions().tolist():
            games.append(game.clone())
            games[-1].step(action)
    return found


@slow
@pytest.mark.parametrize("own", [0, 1])
def test_a_search_that_has_time_never_loses(own: int) -> None:
    found = outcomes(make_player("ismcts:1000", CONFIG), own)
    assert found["lost"] == 0
    assert found["won"] > 3 * found["draw"] > 0


@slow
def test_a_quick_search_beats_random_play() -> None:
    results = play_match(["ismcts:50", "random"], CONFIG, games=600, seed=1)
    starts, follows = results.result(0, seat=0), results.result(0, seat=1)
    assert outcomes(make_player("ismcts:50", CONFIG), 0)["lost"] == 0
    assert starts.share > 0.97
    assert follows.share > 0.8
    assert results.result(0).share + results.result(1).share == pytest.approx(1)


@slow
@pytest.mark.parametrize(("name", "least"), [("mc:50", 0.75), ("ismcts:50", 0.9)])
def test_searches_find_the_decision_that_wins_whatever_its_number(name: str, least: float) -> None:
    """Nothing tells decisions apart before they have been tried, so all of them must be."""
    player, found = make_player(name, CONFIG), []
    for line in tictactoe.TABLES["lines"][0].tolist():
        for last in line:
            own, others = [cell for cell in line if cell != last], [cell for cell in range(9) if cell not in line]
            game = after(own[0], others[0], own[1], others[1])
            game.step(choose_action(player, game))
            found.append(game.done)
    assert sum(found) >= least * len(found)


@pytest.mark.parametrize("name", ["heuristic", "mc:9", "ismcts:9"])
def test_players_that_are_guided_by_chance_decide_by_their_random_word(name: str) -> None:
    """The same word, the same decision; and there is more than one answer to the same position."""
    player, game = make_player(name, CONFIG), GAME(CONFIG, seed=0)
    seen, mask = (np.repeat(array[None], 32, axis=0) for array in (game.observation(), game.action_mask()))
    words = random_keys(32, 1)
    found = player.act(seen, mask, words)
    assert len(set(found.tolist())) > 2
    assert np.array_equal(player.act(seen[::-1], mask, words[::-1]), found[::-1])


def test_players_that_only_a_game_of_its_own_has_are_refused_by_name() -> None:
    with pytest.raises(PlayerError, match="player 'greedy': found none for the game tictactoe"):
        make_player("greedy", CONFIG)


# -- tournaments and ratings


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> MatchupGames:
    players = ["random", "mc:20", "ismcts:50"] if JIT else ["random", "mc:1", "ismcts:1"]
    tables = [{"game": {"game": "tictactoe"}, "players": players, "games": 120 if JIT else 20}]
    plan = plan_from_dict({"seed": 2, "matchups": tables})
    assert plan.to_dict()["environment"] == "tictactoe_v0"
    folder = tmp_path_factory.mktemp("stranger") / "run"
    run_arena(plan, folder, processes=1)
    (played,) = load_run(folder)
    return played


def test_a_tournament_of_it_is_played_and_read(table: MatchupGames) -> None:
    assert (table.config, table.missing, len(table)) == (CONFIG, 0, 360 if JIT else 60)
    shared = table.places[:, 0] == table.places[:, 1]
    assert 0 < shared.sum() < len(table)
    assert (table.places[shared] == 0).all()
    assert (np.sort(table.places[~shared], axis=1) == [0, 1]).all()
    assert (table.scores == (table.places == 0) * ~shared[:, None]).all()
    assert (table.rounds <= 5).all()


def test_its_players_are_rated_with_their_draws(table: MatchupGames) -> None:
    ratings = rate(table, resamples=100)
    shares = ratings.cross_table.share
    np.testing.assert_allclose(shares + shares.T + np.eye(3), np.where(np.eye(3) > 0, np.nan, 1))
    assert ratings.seat[0] > 0 > ratings.seat[1], "who begins is better off"
    drawn = (table.places == 0).all(axis=1).sum()
    assert drawn > 0
    if JIT:
        assert [ratings.players[i] for i in ratings.order] == ["ismcts:50", "mc:20", "random"]
        assert ratings.elo[2] > 200
