"""The events of recorded games, compared with a plain replay of one action at a time."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.base import init_streams
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.arena.load import load_records as run_records
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import ArenaError, plan_from_dict
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.balance.helsinki.replay import Course, LeadMeasure, replay_games, replay_run
from helsinki_env.evaluation.play import DisabledActions, deal_seeds, play_games
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("same_workers")]

GAMES = 12 if JIT else 2


@dataclass
class Recorded:
    """What `replay_games` takes."""

    config: HelsinkiConfig
    seeds: npt.NDArray[np.uint64]
    covered: npt.NDArray[np.int16]
    denied: npt.NDArray[np.int16]
    decisions: list[npt.NDArray[np.int16]]

    def __len__(self) -> int:
        return len(self.decisions)

    def replay(self, standing: LeadMeasure = "points") -> Course:
        return replay_games(self.config, self.seeds, self.covered, self.denied, self.decisions, standing=standing)

    def game(self, g: int) -> HelsinkiGame:
        """The game before its first decision, with a configuration of its own."""

        def actions(bits: Any) -> list[int]:
            return [action for action in range(len(BOARD_ACTIONS)) if int(bits) >> action & 1]

        sets = {"covered": actions(self.covered[g]), "denied": [actions(bits) for bits in self.denied[g]]}
        return HelsinkiGame(HelsinkiConfig.from_dict({**self.config.to_dict(), **sets}), seed=int(self.seeds[g]))


def recorded(seats: int, dry_roads: bool, seed: int, games: int = GAMES, components: str = "default") -> Recorded:
    """Games of random and greedy players; the later ones bar actions. Greedy is not compiled for other components."""
    generator = np.random.default_rng(seed)
    # actions denied by the configuration must not count
    config = HelsinkiConfig(num_players=seats, covered=range(10), dry_roads=dry_roads, components=components)
    covered = (1 << generator.integers(0, 15, games)).astype(np.int16) * (np.arange(games) % 2)
    denied = generator.integers(0, 2**15, (games, seats)) & generator.integers(0, 2**15, (games, seats))
    denied[: games // 3] = 0
    barred = DisabledActions(covered.astype(np.int16), denied.astype(np.int16))
    players = [make_player(name, config) for name in ("random", "greedy" if components == "default" else "random")]
    seeds = deal_seeds(seed, np.arange(games))
    streams = np.stack([init_streams(seed, np.arange(games), seat) for seat in range(seats)], axis=1)
    seating = generator.integers(0, 2, (games, seats))
    played = play_games(players, config, seating, seeds, streams, disabled=barred)
    return Recorded(config, seeds, barred.covered, barred.denied, list(played.decisions))


def plainly(games: Recorded, g: int, standing: LeadMeasure) -> dict[str, Any]:
    """The course of a game, one decision at a time; the keys are those of `Course`."""
    game = games.game(g)
    seats = range(game.num_players)
    first_use = np.full((len(seats), len(BOARD_ACTIONS)), -1)
    at_ends: list[list[int]] = []
    legal: list[int] = []
    for action in games.decisions[g].tolist():
        seat, turn, before = game.seat, (game.round, game.seat), int(game.state.used[game.seat])
        legal.append(len(game.legal_actions()))
        game.step(action)
        for bit in range(len(BOARD_ACTIONS)):
            if (int(game.state.used[seat]) & ~before) >> bit & 1:
                first_use[seat, bit] = turn[0]
        if game.done or (game.round, game.seat) != turn:
            has = game.state.points if standing == "points" else game.scores()
            at_ends.append([int(has[other]) for other in seats])
    assert game.done
    leaders = [{seat for seat in seats if has[seat] == max(has)} for has in at_ends]
    single = [min(leading) for leading in leaders if len(leading) == 1]
    winner = game.ranking()[0]
    return {
        "first_use": first_use.tolist(),
        "lead_changes": sum(now != before for before, now in pairwise(single)),
        "behind": np.mean([winner not in leading for leading in leaders]),
        "choices": np.mean([n for n in legal if n > 1]),
        "forced": np.mean([n == 1 for n in legal]),
        "decisions": len(legal),
        "turns": len(at_ends),
        "rounds": game.round,
        "points": game.scores().tolist(),
        "places": [game.ranking().index(seat) for seat in seats],
    }


def agree(course: Course, games: Recorded, standing: LeadMeasure) -> None:
    assert len(course) == len(games)
    for g in range(len(games)):
        for name, expected in plainly(games, g, standing).items():
            found = getattr(course, name)[g].tolist()
            assert found == (pytest.approx(expected, abs=1e-5) if isinstance(expected, float) else expected), (g, name)


# courses


@pytest.mark.parametrize("standing", ["points", "score"])
@pytest.mark.parametrize(("seats", "dry_roads"), [(2, False), (3, True), (4, False), (4, True)])
def test_courses_are_those_of_a_plain_replay(seats: int, dry_roads: bool, standing: LeadMeasure) -> None:
    games = recorded(seats, dry_roads, seed=seats)
    course = games.replay(standing)
    agree(course, games, standing)
    if JIT and (standing == "score" or dry_roads):
        assert course.lead_changes.any(), "the games would show a wrong count"
        assert (course.behind > 0).any()


def test_another_component_file() -> None:
    games = recorded(2, False, seed=9, games=2, components="alternative")
    agree(games.replay("score"), games, "score")


def test_shapes_and_types_are_those_that_are_promised() -> None:
    games = recorded(3, False, seed=1, games=2)
    expected = {
        "first_use": ("int16", (2, 3, 15)), "lead_changes": ("int16", (2,)), "behind": ("float32", (2,)),
        "choices": ("float32", (2,)), "forced": ("float32", (2,)), "decisions": ("int32", (2,)),
        "turns": ("int16", (2,)), "rounds": ("int16", (2,)), "points": ("int16", (2, 3)), "places": ("int8", (2, 3)),
    }  # fmt: skip
    course = games.replay()
    found = {field.name: getattr(course, field.name) for field in fields(Course)}
    assert {name: (str(array.dtype), array.shape) for name, array in found.items()} == expected


def test_an_action_of_a_known_round_and_the_lead_that_it_brings() -> None:
    game = HelsinkiGame(HelsinkiConfig(), seed=2)  # seat 0 wins
    two_points, uses = game.actions.encode(a.KIND_USE, a.TWO_POINTS), game.actions.offsets[a.KIND_USE]
    decisions: list[int] = []
    used: list[tuple[int, int, int]] = []  # seat, action, round
    since = 0  # turns that ended after seat 1 had used two points
    while not game.done:
        turn, legal = (game.round, game.seat), game.legal_actions().tolist()
        if two_points in legal and game.seat == 1 and game.round >= 5:
            chosen = two_points
        else:  # builds whatever it can, and uses only what a build that has begun cannot do without
            builds = [action for action in legal if game.actions.decode(action)[0] == a.KIND_BUILD]
            chosen = (builds or [action for action in legal if not 0 <= action - uses < 15] or legal)[0]
        if 0 <= chosen - uses < 15:
            used.append((game.seat, chosen - uses, game.round))
        decisions.append(chosen)
        game.step(chosen)
        ended = game.done or (game.round, game.seat) != turn
        since += ended and any(action == a.TWO_POINTS for _, action, _ in used)
    none = np.zeros((1, 2), np.int16)
    course = replay_games(HelsinkiConfig(), np.array([2], np.uint64), none[:, 0], none, [np.array(decisions, np.int16)])
    (first,) = course.first_use
    assert [(seat, bit, first[seat, bit]) for seat, bit in np.argwhere(first != -1).tolist()] == sorted(used)
    assert first[0, a.TWO_POINTS] == -1
    assert first[1, a.TWO_POINTS] >= 5
    # From then on seat 1 has the only points made in play, and leads alone at the end of every turn.
    assert course.lead_changes.tolist() == [0]
    assert course.places.tolist() == [[0, 1]]
    assert 0 < since < course.turns[0] == 2 * game.round
    assert course.behind[0] == pytest.approx(since / course.turns[0])


def test_no_games_have_no_course() -> None:
    none = np.zeros(0, np.int16)
    course = replay_games(HelsinkiConfig(), none.astype(np.uint64), none, none.reshape(0, 2), [])
    assert (len(course), course.first_use.shape, course.points.shape) == (0, (0, 2, 15), (0, 2))


# records that are at fault


def test_what_is_not_legal_is_named() -> None:
    games = recorded(2, False, seed=3, games=3)
    games.decisions[1][7] = 0  # where to start: long decided
    with pytest.raises(
        ValueError, match=r"game 1, decision 7: action 0 \(.*\) is not legal in phase .*Legal: .*seed, "
    ):
        games.replay()
    for no_id in (-1, 554, 32_000):
        games.decisions[1][7] = no_id
        with pytest.raises(ValueError, match=rf"game 1, decision 7: .*{no_id}"):
            games.replay()


def test_what_is_barred_is_not_legal() -> None:
    games = recorded(2, False, seed=3, games=3)
    assert not games.covered[0]
    assert not games.denied[0].any()
    seat, action = np.argwhere(games.replay().first_use[0] > 0)[0].tolist()
    for bar in (games.covered, games.denied[:, seat]):
        bar[0] = 1 << action
        with pytest.raises(ValueError, match=r"game 0, decision \d+: .* is not legal in phase"):
            games.replay()
        bar[0] = 0
    games.replay()


def test_games_must_be_whole() -> None:
    games = recorded(2, False, seed=3, games=3)
    whole = games.decisions[1]
    n = len(whole)
    games.decisions[1] = whole[:-1]
    with pytest.raises(ValueError, match=rf"game 1: found {n - 1} decisions of an unfinished game"):
        games.replay()
    games.decisions[1] = whole[:0]
    with pytest.raises(ValueError, match="game 1: found 0 decisions of an unfinished game"):
        games.replay()
    games.decisions[1] = np.append(whole, whole[-1])
    with pytest.raises(ValueError, match=rf"game 1, decision {n}: .*: the game is over"):
        games.replay()


@pytest.mark.parametrize("name", ["seeds", "covered", "denied"])
def test_arrays_must_belong_together(name: str) -> None:
    games = recorded(2, False, seed=3, games=2)
    setattr(games, name, getattr(games, name)[:1])
    with pytest.raises(ValueError, match=rf"{name}: found \w+ of shape \(1.*\), expected .* of shape \(2"):
        games.replay()


# runs of the arena


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tables: two line-ups of three, actions denied by design, a covered row; chunks of two blocks."""
    screen = {"copies": 1, "loose": 0.3, "sizes": [0, 10]}
    tables: list[dict[str, Any]] = [
        {"name": "line-ups", "seats": 3, "players": ["random", "greedy"], "games": 24 if JIT else 6},
        {"name": "screened", "players": ["random"], "games": 12 if JIT else 4, "screening": screen},
        {"name": "covered", "players": ["random"], "games": 4, "game": {"covered": "first_game", "dry_roads": True}},
    ]
    folder = tmp_path_factory.mktemp("replay") / "run"
    run_arena(plan_from_dict({"seed": 3, "unit_games": 4, "matchups": tables}), folder, processes=1)
    return folder


def check_rows(path: Path, standing: LeadMeasure) -> None:
    """Every row belongs to the same row of its table, and to the record of that game."""
    courses, tables, records = replay_run(path, standing=standing), load_run(path), run_records(path)
    assert list(courses) == [table.name for table in tables]
    for table in tables:
        course = courses[table.name]
        assert len(course) == len(table)
        for name, column in (("points", table.scores), ("places", table.places), ("rounds", table.rounds)):
            np.testing.assert_array_equal(getattr(course, name), column)
        np.testing.assert_array_equal((course.first_use > 0) @ (1 << np.arange(len(BOARD_ACTIONS))), table.used)
        played = [next(records) for _ in range(len(table))]
        seeds, decisions = [record.seed for record in played], [np.array(r.decisions, np.int16) for r in played]
        games = Recorded(table.config, np.array(seeds, np.uint64), table.covered, table.denied, decisions)
        agree(course, games, standing)


@pytest.mark.parametrize("standing", ["points", "score"])
def test_rows_of_a_run_are_those_of_its_tables(run: Path, standing: LeadMeasure) -> None:
    check_rows(run, standing)


def test_a_run_that_is_not_finished(run: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    shutil.copytree(run, part)
    (part / "games.parquet").unlink()
    for chunk in [*sorted((part / "work_units").glob("00-00001-*")), *(part / "work_units").glob("02-*")]:
        chunk.unlink()
    assert [table.missing > 0 for table in load_run(part)] == [True, False, True]
    assert len(replay_run(part)["covered"]) == 0
    check_rows(part, "points")


def test_a_game_of_a_run_that_cannot_be_replayed_is_found(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_decks(config: HelsinkiConfig, seeds: npt.NDArray[np.uint64], *others: Any, **named: Any) -> Course:
        return replay_games(config, seeds + np.uint64(1), *others, **named)

    monkeypatch.setattr("helsinki_env.evaluation.balance.helsinki.replay.replay_games", other_decks)
    where = (
        "work unit 00-00000-00000 (matchup 'line-ups', line-up random,random,greedy, blocks 0 to 1): game 0, decision "
    )
    with pytest.raises(ValueError, match=f"{re.escape(str(run))}: {re.escape(where)}"):
        replay_run(run)


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="found no run"):
        replay_run(tmp_path)
