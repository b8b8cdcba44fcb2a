"""The search players: legal, reproducible from their random keys, and better than their guide."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.base import choose_action, init_streams, next_keys
from helsinki_env.agents.heuristic_api import MonteCarloSettings
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.agents.search.player import FlatPlayer, TreePlayer
from helsinki_env.agents.search.tree import NODE
from helsinki_env.agents.search.tree import _decided as decided
from helsinki_env.agents.search.workspace import WorkspacePool
from helsinki_env.engine.determinization import DeterminizationError
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.helsinki.observation import SEAT_FACTS, unpack
from tests.support import positions
from tests.support.endings import ENDINGS
from tests.support.wide import wide_components
from tests.test_heuristic import KINDS
from tests.test_restore import built_games, dealt_games, observed

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")
KINDS_OF_SEARCH = ("mc", "ismcts")


def words(count: int, seed: int = 0) -> np.ndarray:
    return next_keys(init_streams(seed, np.arange(count), 0))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
@pytest.mark.parametrize("budget", [1, 3])
def test_every_decision_is_legal(kind: str, components: str, budget: int) -> None:
    rng = random.Random(budget)
    games = [*dealt_games(6, components), *built_games(200, components)]
    _, observation, mask = observed(rng.sample(games, 1500))
    actions = make_player(f"{kind}:{budget}", HelsinkiConfig(components=components)).act(
        observation, mask, words(len(mask), budget)
    )
    assert mask[np.arange(len(mask)), actions].all()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
def test_a_wide_component_file(kind: str, tmp_path: Path) -> None:
    components = wide_components(tmp_path)
    _, observation, mask = observed(list(dealt_games(1, components)))
    actions = make_player(f"{kind}:2", HelsinkiConfig(components=components)).act(observation, mask, words(len(mask)))
    assert mask[np.arange(len(mask)), actions].all()


@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
def test_random_numbers_decide_and_nothing_else(kind: str) -> None:
    _, observation, mask = observed(list(dealt_games(2, "default")))
    one = make_player(f"{kind}:4").act(observation, mask, words(len(mask)))
    again = make_player(f"{kind}:4").act(observation, mask, words(len(mask)))
    np.testing.assert_array_equal(again, one)
    assert (make_player(f"{kind}:4").act(observation, mask, words(len(mask), seed=1)) != one).any()
    assert (make_player(f"{kind}:8").act(observation, mask, words(len(mask))) != one).any()


def test_settings_change_decisions() -> None:
    _, observation, mask = observed(list(dealt_games(3, "default")))
    for player in (FlatPlayer, TreePlayer):
        usual = player(8).act(observation, mask, words(len(mask)))
        assert (
            player(8, settings=MonteCarloSettings(turns=1.0)).act(observation, mask, words(len(mask))) != usual
        ).any()


@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
def test_what_is_forced_needs_no_search(kind: str) -> None:
    """These searches would take hours."""
    forced = [game for game in built_games(300, "default") if len(game.legal_actions()) == 1]
    assert len(forced) > 100
    _, observation, mask = observed(forced)
    actions = make_player(f"{kind}:1000000").act(observation, mask, words(len(mask)))
    np.testing.assert_array_equal(actions, mask.argmax(axis=1))


@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
@pytest.mark.parametrize("name", ENDINGS)
def test_what_is_plain_to_see_in_the_last_turn_is_done(kind: str, name: str) -> None:
    game, points = ENDINGS[name]()
    player, word = make_player(f"{kind}:32", game.config), 0
    while not game.done:
        game.step(choose_action(player, game, word))
        word += 1
    assert game.scores()[-1] == points


@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
@pytest.mark.parametrize("budget", ["", "0", "x", "-3", "1.5", "1000001", "٣", " 8", "8:2"])
def test_budgets_that_are_none(kind: str, budget: str) -> None:
    message = f"player '{kind}:{budget}': found the budget '{budget}', expected a whole number from 1 to 1,000,000"
    with pytest.raises(PlayerError, match=re.escape(message)) as raised:
        make_player(f"{kind}:{budget}")
    assert str(raised.value).endswith(f"such as {kind}:200")


def test_a_name_without_a_budget() -> None:
    for kind in KINDS_OF_SEARCH:
        with pytest.raises(PlayerError, match=f"found the budget '', .* such as {kind}:200"):
            make_player(kind)


@pytest.mark.parametrize("name", ["mc:4", "ismcts:4", "net", "net+search:4"])
def test_an_observation_of_no_game_is_no_guide(name: str) -> None:
    """More cards of a type than exist: determinization reports that no deal fits."""
    games = [game for game in dealt_games(1, "default") if len(game.legal_actions()) > 1]
    _, observation, mask = observed(games[:20])
    player = make_player(name)
    player.act(observation, mask, words(len(mask)))
    for piece in unpack(observation)["hand"], unpack(observation)["seats"][:, 0, SEAT_FACTS.index("hand_size")]:
        piece[10, ...] += 9
    with pytest.raises(DeterminizationError, match="found no deal that fits what the seat to move knows"):
        player.act(observation, mask, words(len(mask)))


@pytest.mark.parametrize(("gain", "over"), [(5.9, True), (6.0, False), (100.0, False)])
def test_a_search_is_over_when_the_second_can_no_longer_catch_up(gain: float, over: bool) -> None:
    nodes = np.zeros(4, NODE)
    nodes["visits"] = [16, 4, 10, 2]
    nodes["child"][0], nodes["sibling"][1:3] = 1, [2, 3]
    assert decided(nodes, gain) == over


def test_a_search_that_waits_for_certainty_mostly_decides_alike() -> None:
    _, observation, mask = observed(list(dealt_games(2, "default")))
    sure = TreePlayer(40, settings=MonteCarloSettings(catch_up=1.0)).act(observation, mask, words(len(mask)))
    usual = TreePlayer(40).act(observation, mask, words(len(mask)))
    assert 0 < (usual != sure).sum() < 0.1 * len(mask)


@pytest.mark.parametrize("player", [FlatPlayer, TreePlayer])
def test_no_budget_at_all(player: type[FlatPlayer] | type[TreePlayer]) -> None:
    with pytest.raises(ValueError, match="budget: found 0, expected at least 1 simulation"):
        player(0)
    assert player(5).name in ("mc:5", "ismcts:5")


# matches


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("players", "config"),
    [(["heuristic", "mc:4"], KINDS[0]), (["ismcts:4", "heuristic", "mc:4"], KINDS[1])],
    ids=["two", "three"],
)
def test_games_are_the_same_for_any_number_of_threads(players: list[str], config: HelsinkiConfig) -> None:
    one, two, three = (
        play_match(players, config, games=12, seed=4, threads=threads, batch=batch)
        for threads, batch in ((1, 2048), (2, 2048), (3, 3))
    )
    records = [record.to_json() for record in one.records()]
    assert [record.to_json() for record in two.records()] == records
    assert [record.to_json() for record in three.records()] == records


# strength


@pytest.mark.thorough
@pytest.mark.parametrize(("player", "least"), [("mc:16", 55), ("ismcts:16", 60)])
def test_search_beats_what_guides_it(player: str, least: int) -> None:
    """Binomial: one that wins 70 % (mc) or 79 % (ismcts) of its games fails with probability 5e-4 and 5e-6, one that is
    no better than the heuristic passes with 0.18 and 0.03. They win more than those 70 and 79 %.
    """
    won = play_match([player, "heuristic"], games=100, seed=3).result(0)
    assert won.games == 100
    assert won.share * 100 >= least


@pytest.mark.parametrize("kind", KINDS_OF_SEARCH)
def test_boards_that_are_found_again_are_what_they_were(kind: str) -> None:
    """With views for boards that have come up before, and without any, every decision is the same."""
    make: type[FlatPlayer] | type[TreePlayer] = FlatPlayer if kind == "mc" else TreePlayer
    finding, fresh = make(40), make(40)
    fresh._workspaces = WorkspacePool(fresh.config, fresh.weights, boards=0)
    with finding._workspaces.borrow() as known, fresh._workspaces.borrow() as blank:
        assert len(known.views) > len(blank.views)
    _, observation, mask = observed(random.Random(1).sample(list(dealt_games(6, "default")), 60))
    given = observation, mask, words(len(mask))
    decisions = fresh.act(*given).tolist()
    assert finding.act(*given).tolist() == decisions
    assert finding.act(*given).tolist() == decisions  # once more, on the desk that was used
