"""States reconstructed from observations: the seat sees the same, and public information is equal."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.heuristic import HeuristicPlayer
from helsinki_env.engine import loops
from helsinki_env.engine.determinization import (
    DeterminizationError,
    ObservationError,
    determinize_batch,
    determinize_observation,
    sample_determinizations,
    states_from_observations,
)
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen import observation as copenhagen
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.observation import unpack
from helsinki_env.games.helsinki.state import PHASES, TILES
from tests.copenhagen.positions import built_position, rich
from tests.copenhagen.test_equal import random_config as random_copenhagen
from tests.games import EACH_GAME, GAMES, TestedGame, rare_action
from tests.support import positions
from tests.support.agreement import random_config
from tests.support.wide import wide_components

HELSINKI = GAMES[0]
UNPACK = {"helsinki": unpack, "copenhagen": copenhagen.unpack}
NOTHING = "found no phase or no players"
#: Fields that the acting seat cannot see in full.
HIDDEN = {"chance", "hand", "pile", "unseen"}


def uniform_action(game: Any, rng: random.Random) -> int:
    return int(rng.choice(game.legal_actions().tolist()))


def moments(
    rng: random.Random, game: Any, most: int = 1000, choose: Callable[[Any, random.Random], int] = uniform_action
) -> Iterator[Any]:
    """The positions of a game played on at random, up to its end."""
    for _ in range(most):
        if game.done:
            return
        yield game.clone()
        game.step(choose(game, rng))


def dealt_games(count: int, components: str) -> Iterator[HelsinkiGame]:
    """Positions from whole games of all kinds."""
    for number in range(count):
        rng = random.Random(number)
        kind = random_config(rng).to_dict() | {"components": components}
        yield from moments(rng, HelsinkiGame(HelsinkiConfig.from_dict(kind), seed=number), 1000)


def built_games(count: int, components: str) -> Iterator[HelsinkiGame]:
    """Positions in which rare things happen, and what follows them."""
    for number in range(count):
        rng = random.Random(number)
        theme = positions.THEMES[number % len(positions.THEMES)]
        yield from moments(rng, notation.from_dict(positions.build(rng, theme, components=components)), 25)


def copenhagen_games(count: int, components: str = "copenhagen") -> Iterator[Any]:
    """Positions from whole games of two, three and four players, and from turns that begin with built ones."""
    for number in range(count):
        rng = random.Random(f"restored {number}")
        yield from moments(rng, CopenhagenGame(random_copenhagen(rng, [components]), seed=number), choose=rare_action)
        for _ in range(10 if JIT else 1):
            built = CopenhagenGame.from_dict(built_position(random_copenhagen(rng, [components]), rng))
            yield from moments(rng, built, 6, rare_action)
        if components == "copenhagen":
            yield from moments(rng, CopenhagenGame.from_dict(rich(rng)), 12, rare_action)


def observed(games: list[Any]) -> tuple[Any, Any, Any]:
    """Records, observations of the seats to move, and masks."""
    states = np.concatenate([game._states for game in games])
    observations = np.stack([game.observation() for game in games])
    return states, observations, np.stack([game.action_mask() for game in games])


def check(games: list[Any], components: str) -> None:
    """Reconstruct all states from observations and the component file; then determinize and observe again."""
    states, observations, masks = observed(games)
    config = games[0].spec.config(components=components)
    restored = states_from_observations(config, observations)
    for name in states.dtype.names:
        if name not in HIDDEN:
            np.testing.assert_array_equal(restored[name], states[name], err_msg=name)
    every, viewers = np.arange(len(games)), states["seat"].astype(np.int64)
    np.testing.assert_array_equal(restored["hand"][every, viewers], states["hand"][every, viewers])
    np.testing.assert_array_equal(restored["hand"].sum(axis=2), states["hand"].sum(axis=2))
    if "unseen" in states.dtype.names:
        np.testing.assert_array_equal(restored["unseen"][every, viewers], states["unseen"][every, viewers])
        np.testing.assert_array_equal((restored["unseen"] >= 0).sum(axis=2), (states["unseen"] >= 0).sum(axis=2))
    assert (restored["hand"] >= restored["known"]).all()
    assert not restored["chance"].any()
    determinize_batch(config, restored, viewers, np.arange(1, 1 + len(games), dtype=np.uint64))
    seen_again, masks_again = np.zeros_like(observations), np.zeros_like(masks)
    loops.batch_observe(config.tables[0], restored, viewers, seen_again)
    loops.batch_mask(config.tables[0], restored, masks_again)
    assert seen_again.tobytes() == observations.tobytes()
    assert masks_again.tobytes() == masks.tobytes()


def kinds_of(games: list[HelsinkiGame]) -> Counter[str]:
    """How often everything came up that a record can hold."""
    seen: Counter[str] = Counter()
    for game in games:
        g = game.state
        seen.update((str(game.phase), f"{game.num_players} players"))
        seen["dry roads"] += int(g.dry_roads)
        seen["bonus card taken"] += int((g.bonus >= 0).any())
        seen["covered"] += int(g.covered != 0)
        seen["denied"] += int(g.denied.any())
        seen["reshuffled"] += int(g.reshuffled.any())
        seen["cards drawn unseen"] += int((g.unseen >= 0).any())
        seen["last round"] += int(g.last_round)
        seen["substitute"] += int(g.substitute)
        seen["any side"] += int(g.any_side)
        seen["hand limit lifted"] += int(g.limit_lifted.any())
        seen["two tiles or more"] += int((g.tile_count > 1).any())
        seen["superstructure lifted"] += int(g.lifted >= 0)
    return seen


@pytest.mark.thorough
@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
def test_what_is_public_comes_back_and_the_seat_sees_the_same(components: str) -> None:
    games = [*dealt_games(30 if JIT else 1, components), *built_games(400 if JIT else 10, components)]
    check(games, components)
    if JIT:
        seen = kinds_of(games)
        assert len(games) > 8000
        assert set(PHASES) <= set(seen)
        assert min(seen.values()) >= 20, seen


@pytest.mark.nightly
def test_the_wide_layout(tmp_path: Path) -> None:
    components = wide_components(tmp_path)
    assert HelsinkiConfig(components=components).component_set.types == 91
    games = list(dealt_games(6 if JIT else 1, components))
    check(games, components)
    copies = determinize_observation(HelsinkiConfig(components=components), games[50].observation(), 3, seed=1)
    assert copies.tobytes() == sample_determinizations(games[50], 3, seed=1).tobytes()


@EACH_GAME
def test_deals_are_those_of_a_redeal_that_had_the_game(game: TestedGame) -> None:
    """Determinization uses only the observation, and an observation contains everything that it needs."""
    games = (
        [*dealt_games(3 if JIT else 1, "default"), *built_games(60 if JIT else 3, "default")][::5]
        if game is HELSINKI
        else list(copenhagen_games(6 if JIT else 1))[:: 1 if JIT else 20]
    )
    for number, one in enumerate(games):
        copies = determinize_observation(game.spec.config(), one.observation(), 2, seed=number)
        assert copies.tobytes() == sample_determinizations(one, 2, seed=number).tobytes()


def middle(seed: int = 1, *, game: TestedGame = HELSINKI, **kind: Any) -> Any:
    return list(moments(random.Random(seed), game.spec.game(game.spec.config(**kind), seed=seed), 61))[-1]


@EACH_GAME
def test_deals_follow_from_the_seed(game: TestedGame) -> None:
    config, seen = game.spec.config(), middle(game=game).observation()
    some = determinize_observation(config, seen, 3, seed=5)
    assert some.shape == (3,)
    assert len({state.tobytes() for state in some}) == 3
    assert determinize_observation(config, seen, 3, seed=5).tobytes() == some.tobytes()
    assert determinize_observation(config, seen, 7, seed=5)[:3].tobytes() == some.tobytes()
    assert determinize_observation(config, seen, 3, seed=6).tobytes() != some.tobytes()
    assert determinize_observation(config, seen, 3).tobytes() != determinize_observation(config, seen, 3).tobytes()
    assert determinize_observation(config, seen, 0, seed=5).shape == (0,)
    with pytest.raises(ValueError, match="seed: found -1"):
        determinize_observation(config, seen, 1, seed=-1)


@EACH_GAME
@pytest.mark.parametrize("players", [2, 3, 4])
def test_deals_can_be_played_on(game: TestedGame, players: int) -> None:
    config = game.spec.config(num_players=players)
    seen = middle(game=game, num_players=players).observation()
    for number, state in enumerate(determinize_observation(config, seen, 2 if JIT else 1, seed=2)):
        copy = game.spec.game.from_state(config, state)
        for one in moments(random.Random(number), copy):
            assert type(one).from_dict(one.to_dict()) == one, "every card is somewhere"
        assert copy.done


@EACH_GAME
def test_nothing_is_kept_of_what_a_caller_holds(game: TestedGame) -> None:
    seen = middle(game=game).observation()
    before = seen.copy()
    states = determinize_observation(game.spec.config(), seen, 2, seed=1)
    states["hand"] = 9
    np.testing.assert_array_equal(seen, before)


def same(states: Any, others: Any) -> bool:
    """Whether records are the same, but for what pads them."""
    return all((states[name] == others[name]).all() for name in states.dtype.names if name != "pad")


@EACH_GAME
def test_any_array_of_the_right_kind_will_do(game: TestedGame) -> None:
    """Slices with gaps, arrays in another order, or that may not be written to."""
    config = game.spec.config()
    seen = np.stack([one.observation() for one in moments(random.Random(0), game.spec.game(config, seed=0))])
    whole = states_from_observations(config, seen)
    assert same(states_from_observations(config, seen[::2]), whole[::2])
    assert same(states_from_observations(config, np.asfortranarray(seen)), whole)
    seen.flags.writeable = False
    assert same(states_from_observations(config, seen), whole)
    assert states_from_observations(config, seen[:0]).shape == (0,)


@EACH_GAME
def test_what_was_in_a_record_is_not_kept(game: TestedGame) -> None:
    config = game.spec.config()
    states, seen, _ = observed(list(moments(random.Random(1), game.spec.game(config, seed=1))))
    filled = np.roll(states, 7)
    assert loops.batch_reconstruct(config.tables[0], seen, filled) == (-1, -1)
    assert same(filled, states_from_observations(config, seen))


# errors


def entry(value: int, *, of: str, at: Any = ...) -> Any:
    """Change an entry of an observation."""

    def spoil(game: TestedGame, seen: Any) -> Any:
        UNPACK[game.name](seen)[of][at] = value
        return seen[None]

    return spoil


@EACH_GAME
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda _, seen: seen, "observations: found int8 of shape (SIZE,)"),
        (lambda _, seen: seen[None, :-1], "found int8 of shape (1, SHORT)"),
        (lambda _, seen: seen[None].astype(np.int16), "found int16 of shape (1, SIZE)"),
        (lambda _, seen: seen[None].astype(np.float32), "found float32 of shape (1, SIZE)"),
        (lambda _, seen: [seen[None]], "found int8 of shape (1, 1, SIZE)"),
        (lambda _, seen: np.zeros((2, len(seen)), np.int8), f"observations[0]: {NOTHING}"),
        (entry(0, of="phase"), f"observations[0]: {NOTHING}"),
        (entry(1, of="phase"), f"observations[0]: {NOTHING}"),
        (entry(7, of="table", at=0), f"observations[0]: {NOTHING}"),
        (entry(1, of="table", at=0), f"observations[0]: {NOTHING}"),
        (
            lambda game, seen: np.stack([seen.copy(), entry(0, of="phase")(game, seen)[0]]),
            f"observations[1]: {NOTHING}",
        ),
    ],
)  # fmt: skip
def test_what_is_no_observation(game: TestedGame, spoil: Any, message: str) -> None:
    seen = middle(game=game).observation()
    expected = message.replace("SIZE", str(len(seen))).replace("SHORT", str(len(seen) - 1))
    with pytest.raises(ObservationError, match=re.escape(expected)):
        states_from_observations(game.spec.config(), spoil(game, seen.copy()))


#: Entries that the message names as they are written here.
OUT_OF_RANGE = {
    "helsinki": """
        display[3]=52 display[3]=-1 own_unseen[0]=100 building[0]=51 pending[8]=10 table[1]=4 table[5]=127
        seats[1,3]=9 seats[1,7]=4 discard[50]=-128 reshuffled[0]=127 boards[0,0,2,2]=100 boards[0,1,2,2]=100
    """,
    "copenhagen": """
        phase[0]=2 display[3]=6 display[3]=-1 table[1]=4 table[3]=102 table[4]=2 table[5]=13 seats[1,1]=-1
        seats[0,1]=90 seats[1,0]=0 seats[2,2]=3 tile_supply[0,3]=2 discard[4]=-128 hand[0]=15 reshuffled[0]=127
        boards[0,0,2,2]=7 boards[0,1,2,2]=23 boards[1,0,8,4]=3 boards[1,2,8,4]=1 boards[2,0,0,0]=6 boards[1,3,0,0]=1
        row_coats[0,1]=0 abilities[3,0]=1 used[0,2]=2 pending[8]=6 pending[9]=9 paid[2]=6
    """,
}
#: Entries that contradict others, which the message names.
CONTRADICTORY = {
    "helsinki": {"table[1]: found 2": "table[1]=2", "known: found more cards": "known[1,5]=60"},
    "copenhagen": {
        "table[1]: found 2": "table[1]=2",
        "known: found more cards": "known[1,3]=14 known[0,3]=14",
        "reshuffled: found cards": "reshuffled[0]=1",
        "boards: found numbers that form no tile": "boards[1,1,8,4]=22",
        "pending: found entries that do not fit the phase": """
            pending[0]=1 pending[6]=1 pending[7]=2 pending[8]=2 pending[9]=2 pending[11]=2 paid[2]=2 rewards[0]=2
        """,
    },
}


def wrong_entries() -> Iterator[tuple[TestedGame, str, str]]:
    """A game, an entry to write into an observation, and where and what the message must have found."""
    for game in GAMES:
        for one in OUT_OF_RANGE[game.name].split():
            yield game, one, one.replace(",", ", ").replace("=", ": found ")
        for message, entries in CONTRADICTORY[game.name].items():
            yield from ((game, one, message) for one in entries.split())


@pytest.mark.parametrize(("game", "change", "message"), list(wrong_entries()), ids=str)
def test_an_entry_that_cannot_be_is_named(game: TestedGame, change: str, message: str) -> None:
    name, place, value = re.fullmatch(r"(\w+)\[(.*)\]=(-?\d+)", change).groups()  # type: ignore[union-attr]
    played = moments(random.Random(1), game.spec.game(seed=1))
    one = middle() if game is HELSINKI else next(at for at in played if at.phase == "MAIN" and at.round == 4)
    seen = one.observation()
    UNPACK[game.name](seen)[name][tuple(int(index) for index in place.split(","))] = int(value)
    with pytest.raises(ObservationError, match=re.escape(f"observations[1]: {message}")):
        states_from_observations(one.config, np.stack([middle(2, game=game).observation(), seen]))
    with pytest.raises(ObservationError, match=re.escape(f"observations[0]: {message}")):
        determinize_observation(one.config, seen, 1)
    with pytest.raises(ObservationError, match=re.escape(f"observations[0]: {message}")):
        HeuristicPlayer(one.config).act(seen[None], one.action_mask()[None], np.ones(1, np.uint64))


@pytest.mark.parametrize("number", [TILES, 1, 0])
def test_tiles_that_are_none_are_refused(number: int) -> None:
    game = next(game for game in dealt_games(1, "default") if game.state.tile_count[game.seat] > 1)
    seen = game.observation()
    numbers = unpack(seen)["boards"][0, 1]
    numbers[tuple(np.argwhere(numbers == 2)[0])] = number  # a cell is taken from a tile
    with pytest.raises(ObservationError, match=re.escape("observations[0]: boards: found numbers that form no tile")):
        states_from_observations(game.config, seen[None])


def test_observations_of_other_components() -> None:
    with pytest.raises(ObservationError, match="from games with other components"):
        determinize_observation(HelsinkiConfig(components="alternative"), middle().observation(), 1)
    with pytest.raises(ObservationError, match="from games with other components"):
        determinize_observation(HelsinkiConfig(), middle().action_mask(), 1)


@EACH_GAME
def test_an_observation_that_cannot_come_up(game: TestedGame) -> None:
    one = middle(game=game)
    seen = one.observation()
    pieces = UNPACK[game.name](seen)
    more = 20 if game is HELSINKI else 5
    pieces["hand"][3] += more
    pieces["seats"][0, 1] += more  # the size of the hand
    with pytest.raises(DeterminizationError, match="game 0: found no deal that fits the observation of seat"):
        determinize_observation(one.config, seen, 1)
