"""Records as animations and pages: every picture is reproduced, in little space, as the seat saw it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from helsinki_env.engine.determinization import determinize
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.records import Record, RecordError, replay_steps
from helsinki_env.records.animation import GameEvaluation, make_animation, page, svg_frames
from tests.games import EACH_GAME, GAMES, TestedGame

pytestmark = pytest.mark.thorough

MOST_BYTES = 1_500_000


@cache
def played(game: TestedGame, seats: int) -> Record:
    """A whole game, decided neither at random nor at length."""
    return next(play_match(["greedy", *["random"] * (seats - 1)], game.spec.config(seats), games=seats).records())


def played_by_name(name: str) -> Record:
    return next(played(game, 2) for game in GAMES if game.name == name)


def begun(record: Record, decisions: int) -> Record:
    return replace(record, decisions=record.decisions[:decisions], scores=None, ranking=None, places=None)


def shown(data: dict[str, Any]) -> list[str]:
    """The pictures of an animation, put together as the viewer does it."""
    numbers: list[int] = []
    found = []
    for frame in data["frames"]:
        for at, gone, elements in frame:
            numbers[at : at + gone] = elements
        found.append("".join(data["elements"][number] for number in numbers))
    return found


@EACH_GAME
@pytest.mark.parametrize("seats", [2, *(pytest.param(seats, marks=pytest.mark.nightly) for seats in (3, 4))])
def test_every_picture_comes_back_from_little_data(game: TestedGame, seats: int) -> None:
    record = played(game, seats)
    data = make_animation(record)
    assert shown(data) == list(svg_frames(record))
    assert len(data["frames"]) == len(data["scores"]) == len(data["steps"]) + 1 == len(record.decisions) + 1
    assert data["scores"][-1] == list(record.scores or ())
    assert data["result"] == {"scores": list(record.scores or ()), "places": list(record.places or ())}
    assert len(json.dumps(data)) < MOST_BYTES


@EACH_GAME
def test_steps_are_the_decisions_in_words_by_turns(game: TestedGame) -> None:
    record = played(game, 3)
    steps = make_animation(begun(record, 40))["steps"]
    touches, turn = game.spec.list_ui_actions, 0
    assert touches is not None
    for number, ((before, action), step) in enumerate(zip(replay_steps(record), steps, strict=False)):
        assert (step["seat"], step["round"]) == (before.seat, before.round)
        assert step["forced"] == (len(before.legal_actions()) == 1)
        assert step["said"] == next(one.said for one in touches(before, before.seat) if one.id == action)
        turn += number > 0 and (steps[number - 1]["seat"], steps[number - 1]["round"]) != (step["seat"], step["round"])
        assert step["turn"] == turn
    assert turn > 3


@EACH_GAME
def test_a_game_that_is_not_over_and_one_that_has_not_begun(game: TestedGame) -> None:
    record = begun(played(game, 2), 7)
    data = make_animation(record)
    assert data["result"] is None
    assert shown(data) == list(islice(svg_frames(played(game, 2)), 8))
    nothing = make_animation(begun(record, 0))
    assert (nothing["steps"], len(nothing["frames"])) == ([], 1)
    assert page(record) == page(record)


@EACH_GAME
def test_a_seat_is_shown_nothing_that_is_hidden_from_it(game: TestedGame) -> None:
    """Other hidden cards in every position leave the seat's animation unchanged."""
    record, seat, spec, differed = begun(played(game, 3), 60), 1, game.spec, 0
    data, last = make_animation(record, seat=seat), None
    assert spec.render is not None
    for number, ((before, action), picture) in enumerate(zip(replay_steps(record), shown(data), strict=True)):
        other = determinize(before, seat, seed=number)
        differed += other != before
        drawn = spec.render().svg(other, last_decision=last, viewer=seat)
        assert picture == drawn
        assert data["scores"][number] == other.scores().tolist()
        last = None if action is None else spec.action_to_string(action, record.config)
    assert differed > 50
    assert all(step["seat"] == seat for step in data["steps"] if step["forced"]), "this depends on the hands of others"


def test_what_would_have_been_better_is_said_in_words() -> None:
    record = begun(played_by_name("helsinki"), 3)
    first = [game.legal_actions().tolist() for game, _ in replay_steps(record)]
    better = (first[0][-1], None, first[2][0])
    told = GameEvaluation("mine", ((0.5, 0.5),) * 4, (0.123456, None, 0.0), better).to_dict(record)
    assert told["evaluator"] == "mine"
    assert told["costs"] == [0.1235, None, 0.0]
    assert told["better"][0].startswith("Start on space")
    assert told["better"][1] is None
    assert (
        make_animation(record, GameEvaluation("mine", ((0.5, 0.5),) * 4, (None,) * 3, better))["evaluation"]["better"]
        == told["better"]
    )


def test_what_no_film_is_made_of_is_said() -> None:
    record = begun(played_by_name("copenhagen"), 4)
    evaluation = GameEvaluation("mine", ((0.5, 0.5),), (), ())
    with pytest.raises(ValueError, match=r"found \(1, 0, 0\) shares, costs and better actions, expected \(5, 4, 4\)"):
        make_animation(record, evaluation)
    with pytest.raises(ValueError, match=r"evaluation: found one for seat 1, expected None"):
        make_animation(record, evaluation, 1)
    with pytest.raises(ValueError, match=r"seat: found 2, expected 0 to 1"):
        make_animation(record, seat=2)
    with pytest.raises(RecordError, match=r"decisions\[1\]: .* is not legal"):
        make_animation(Record(HelsinkiConfig(), seed=0, players=("a", "b"), decisions=(0, 0)))


def test_progress_is_told_picture_by_picture() -> None:
    told: list[tuple[int, int]] = []
    make_animation(begun(played_by_name("copenhagen"), 4), progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
