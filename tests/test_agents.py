"""Players: legal actions, independent rows, names, other packages' players, and strength."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import CopenhagenConfig, HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.base import choose_action, init_streams, next_keys
from helsinki_env.agents.helsinki.forced import ForcedPlayer
from helsinki_env.agents.helsinki.greedy import GreedyPlayer, GreedyWeights
from helsinki_env.agents.random import EpsilonPlayer, RandomPlayer
from helsinki_env.agents.registry import PlayerError, make_player, player_names
from helsinki_env.agents.replaced_actions import CountedPlayer, replaced_actions_of
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.rng import mix
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.match import play_match
from tests.support.players import check_rows_alone

CONFIGS = [
    HelsinkiConfig(),
    HelsinkiConfig(num_players=3, dry_roads=True, covered="first_game"),
    HelsinkiConfig(num_players=4, components="alternative"),
    CopenhagenConfig(num_players=3),
]
SEARCHING = ["mc:8", "ismcts:8"] if JIT else []
PLAYERS = ["random", "greedy", "heuristic", *SEARCHING]


def marks(config: Any) -> list[pytest.MarkDecorator]:
    """For records of another component file, each player is compiled again."""
    return [pytest.mark.nightly] if config.components == "alternative" else []


EACH_PLAYER = [
    pytest.param(name, one, marks=marks(one))
    for one in CONFIGS
    for name in PLAYERS
    if name not in SEARCHING or isinstance(one, HelsinkiConfig)
]
NAMES = [
    "random",
    "greedy",
    "heuristic",
    "mc",
    "ismcts",
    "net",
    "net+search",
    "mlp",
    "forced",
    "counted",
    "program",
    "llm",
    "epsilon",
    "response",
]


def rows(config: Any, games: int = 40, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks from the middle of greedy games."""
    env = GameVectorEnv(games, config)
    player = make_player("greedy", config)
    obs, _ = env.reset(seed=5)
    seen, masks = [], []
    for _ in range(steps if JIT else 8):
        seen.append(obs["observation"])
        masks.append(obs["action_mask"])
        obs, *_ = env.step(player.act(obs["observation"], obs["action_mask"], np.zeros(games, np.uint64)))
    return np.concatenate(seen), np.concatenate(masks)


@pytest.mark.parametrize(("name", "config"), EACH_PLAYER, ids=str)
def test_decisions_are_legal_and_depend_on_their_row_alone(name: str, config: Any) -> None:
    observation, mask = rows(config, games=8 if ":" in name else 40)
    keys = next_keys(init_streams(3, np.arange(len(mask)), 0))
    check_rows_alone(make_player(name, config), name, observation, mask, keys, every=1 if JIT else 20)


@pytest.mark.skipif(not JIT, reason="kernels only run side by side when they are compiled")
@pytest.mark.parametrize("name", PLAYERS)
def test_threads_may_ask_one_player_at_once(name: str) -> None:
    player = make_player(name)
    observation, mask = rows(CONFIGS[0], games=4)
    words = next_keys(init_streams(3, np.arange(len(mask)), 0))
    alone = player.act(observation, mask, words)
    with ThreadPoolExecutor(3) as pool:
        parts = np.array_split(np.arange(len(mask)), 3)
        asked = [pool.submit(player.act, observation[part], mask[part], words[part]) for part in 2 * parts]
        for part, answer in zip(2 * parts, asked, strict=True):
            np.testing.assert_array_equal(answer.result(), alone[part])


def test_random_player_takes_every_decision_equally_often() -> None:
    game = HelsinkiGame(seed=0)
    n = 20_000 if JIT else 800
    mask = np.repeat(game.action_mask()[None], n, axis=0)
    actions = RandomPlayer().act(
        np.repeat(game.observation()[None], n, axis=0), mask, next_keys(init_streams(0, np.arange(n), 0))
    )
    counts = np.bincount(actions, minlength=8)
    expected = n / 8
    assert ((counts - expected) ** 2 / expected).sum() < 24.3  # chi square with 7 degrees of freedom, 0.1 %


def test_streams_of_games_and_players_differ_and_advance() -> None:
    words = np.concatenate([init_streams(seed, np.arange(50), player) for seed in (0, 1) for player in (0, 1)])
    assert len(set(words.tolist())) == 200
    streams = init_streams(7, np.arange(4), 0)
    kept = streams.copy()
    some = next_keys(streams, np.array([1, 3]))
    np.testing.assert_array_equal(streams[[0, 2]], kept[[0, 2]])
    assert some.tolist() == [int(mix(streams[1])), int(mix(streams[3]))]
    np.testing.assert_array_equal(next_keys(kept)[[1, 3]], some)


def test_decide_plays_a_whole_game() -> None:
    game, player = HelsinkiGame(seed=1), GreedyPlayer()
    while not game.done:
        game.step(choose_action(player, game))
    assert max(game.scores()) > 5


def test_weights_change_decisions() -> None:
    observation, mask = rows(CONFIGS[0])
    words = np.zeros(len(mask), np.uint64)
    usual = GreedyPlayer().act(observation, mask, words)
    hoarding = GreedyPlayer(weights=GreedyWeights(card=9.0)).act(observation, mask, words)
    assert (usual != hoarding).any()


def test_greedy_refuses_games_with_other_components() -> None:
    observation, mask = rows(HelsinkiConfig(), steps=1)
    with pytest.raises(ValueError, match="other components"):
        GreedyPlayer(HelsinkiConfig(components="alternative")).act(observation, mask, np.zeros(len(mask), np.uint64))


# names


def test_names() -> None:
    assert player_names()[: len(NAMES)] == NAMES
    assert isinstance(make_player(" greedy "), GreedyPlayer)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", f"found an unknown name, expected one of {', '.join(NAMES)}; did you mean 'greedy'?"),
        ("", f"expected a name: {', '.join(NAMES)}"),
        ("nosuch:Builder", "found an unknown name and no module of this name in the current folder or the installed"),
        ("human", "found a person, expected a player; people play only in helsinki play"),
        ("greedy:3", "greedy takes no argument"),
        ("random:x", "random takes no argument"),
        ("heuristic:2", "heuristic takes no argument"),
    ],
)
def test_wrong_names_are_explained(spec: str, message: str) -> None:
    with pytest.raises(PlayerError, match=re.escape(message)):
        make_player(spec)


class _Point:
    """An entry point of another package."""

    def __init__(self, name: str, target: object) -> None:
        self.name, self.target, self.value = name, target, "their_package:make"

    def load(self) -> object:
        if isinstance(self.target, Exception):
            raise self.target
        return self.target


def _install(monkeypatch: pytest.MonkeyPatch, *points: _Point) -> None:
    monkeypatch.setattr(
        "helsinki_env.agents.registry.entry_points", lambda group: points if group == "helsinki.players" else ()
    )


def test_players_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def make(argument: str, config: HelsinkiConfig) -> RandomPlayer:
        asked.extend((argument, config))
        return RandomPlayer()

    _install(monkeypatch, _Point("theirs", make), _Point("greedy", make))
    assert player_names() == [*NAMES, "theirs"]
    config = HelsinkiConfig(num_players=3)
    assert make_player("theirs:a:b", config).name == "random"
    assert asked == ["a:b", config]
    assert isinstance(make_player("greedy"), GreedyPlayer), "nobody takes the place of the project's own players"


def test_players_of_other_packages_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, _Point("broken", ImportError("no module")), _Point("odd", lambda argument, config: 3))
    with pytest.raises(PlayerError, match="their_package:make cannot be loaded: no module"):
        make_player("broken")
    with pytest.raises(PlayerError, match="found int, expected an object with a name"):
        make_player("odd")


class Returns:
    """A player that returns something for its decisions."""

    name = "mine"

    def __init__(self, something: object) -> None:
        self.something = something

    def act(self, observation: np.ndarray, action_mask: np.ndarray, keys: np.ndarray) -> object:
        return self.something


@pytest.mark.parametrize(
    ("something", "message"),
    [
        ([], r"act returned float64 of shape \(0,\), expected whole numbers of shape \(1,\)"),
        (None, r"act returned object of shape \(\), expected"),
        (["15"], r"act returned <U2 of shape \(1,\), expected"),
        ([[15]], r"act returned int64 of shape \(1, 1\), expected"),
        ([15.5], r"act returned float64 of shape \(1,\), expected"),
        ([15.0], r"act returned float64 of shape \(1,\), expected"),
        ([[1], [1, 2]], "does not decide: ValueError: "),
    ],
)
def test_whoever_returns_what_are_no_decisions_is_named(something: object, message: str) -> None:
    player: Any = Returns(something)
    for asked in (lambda: choose_action(player, HelsinkiGame(seed=0)), lambda: play_match([player, "random"], games=1)):
        with pytest.raises(PlayerError, match=f"^player '?mine'?: {message}"):
            asked()


def test_actions_that_the_mask_omits_are_not_chosen() -> None:
    """A mask may omit legal actions, as that of a seat that must not take one."""
    config = HelsinkiConfig()
    observation, masks = (array[20:40:2].copy() for array in rows(config, 1, 40))
    keys = np.arange(len(masks), dtype=np.uint64)
    for name in ("greedy", "heuristic", "mc:20", "ismcts:20", "net"):
        player, allowed = make_player(name, config), masks.copy()
        open_rows = np.flatnonzero(masks.sum(axis=1) > 1)
        chosen = player.act(observation, masks, keys)
        allowed[open_rows, chosen[open_rows]] = 0
        again = player.act(observation, allowed, keys)
        assert len(open_rows) > 3
        assert allowed[np.arange(len(allowed)), again].all(), name
        rng = np.random.default_rng(0)
        for _ in range(5):
            some = masks * rng.integers(2, size=masks.shape, dtype=np.int8)
            some[some.sum(axis=1) == 0] = masks[some.sum(axis=1) == 0]
            assert some[np.arange(len(some)), player.act(observation, some, keys)].all(), name


class Scribbler:
    """A player that writes into what it is given, and is wrong all the same."""

    name = "scribbler"

    def act(self, observation: np.ndarray, action_mask: np.ndarray, keys: np.ndarray) -> np.ndarray:
        observation[:], action_mask[:], keys[:] = 0, 1, 0
        return np.full(len(action_mask), action_mask.shape[1] - 1)


def test_whoever_writes_into_its_arguments_changes_nothing_that_is_played() -> None:
    player = CountedPlayer(Scribbler())
    match = play_match([player, "greedy"], games=6)
    assert match.result(0).games == 6
    assert player.replaced_actions.illegal > 100


@pytest.mark.parametrize("wrap", [lambda one: EpsilonPlayer(one, 0), lambda one: ForcedPlayer("two_points", one)])
def test_wrappers_share_replaced_actions_and_check_what_is_returned(wrap: Any) -> None:
    observation, mask = (array[:1] for array in rows(HelsinkiConfig(), 1, 1))
    counted = CountedPlayer(Scribbler())
    wrapped = wrap(counted)
    wrapped.act(observation, mask, np.zeros(1, np.uint64))
    assert replaced_actions_of(wrapped).illegal == 1
    with pytest.raises(PlayerError, match="act returned float64"):
        wrap(Returns([3.7])).act(observation, mask, np.zeros(1, np.uint64))


def test_how_long_one_thinks_beside_another_can_be_measured() -> None:
    script = Path(__file__).resolve().parents[1] / "docs" / "decision_time.py"
    command = [sys.executable, str(script), "greedy", "random", "--seats", "2", "3", "--blocks", "3"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    told = re.findall(
        r"(\d) players: greedy takes ([\d.]+) times as long as random \(([\d.]+) to ([\d.]+) in 3 blocks\), [\d.]+ ms",
        shown,
    )
    assert [seats for seats, *_ in told] == ["2", "3"]
    assert all(0 < float(low) <= float(median) <= float(high) for _, median, low, high in told)


# strength


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("player", "other", "config", "least"),
    [
        ("greedy", "random", HelsinkiConfig(), 0.99),
        ("greedy", "random", HelsinkiConfig(num_players=3), 0.95),
        ("greedy", "random", HelsinkiConfig(num_players=4, dry_roads=True), 0.95),
        pytest.param(
            *("greedy", "random", HelsinkiConfig(covered="first_game", components="alternative"), 0.95),
            marks=pytest.mark.nightly,
        ),
        ("greedy", "random", CopenhagenConfig(), 0.95),
        ("heuristic", "greedy", CopenhagenConfig(), 0.85),
        ("heuristic", "greedy", CopenhagenConfig(3), 0.75),
        ("heuristic", "greedy", CopenhagenConfig(4), 0.7),
    ],
    ids=str,
)
def test_the_better_player_wins(player: str, other: str, config: Any, least: float) -> None:
    players = config.num_players
    games = (400 if isinstance(config, HelsinkiConfig) else 60 * players) if JIT else 4 * players
    result = play_match([player, *[other] * (players - 1)], config, games=games, seed=7).result(0)
    assert result.games >= games
    assert result.share >= (least if JIT else 0.6), result
