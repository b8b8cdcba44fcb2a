"""Clicks on a page: every legal action in words, and its place in the picture."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.pieces import card_spots
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.ui_actions import UIAction, tile_orientations
from tests.games import EACH_GAME, GAMES, TestedGame, rare_action

pytestmark = pytest.mark.thorough

POSITIONS = 300


def played(game: TestedGame, count: int) -> Iterator[Any]:
    """Positions of random play with any number of players, most of them from boards that are well filled."""
    rng = random.Random(f"touches of {game.name}")
    while True:
        one = game.start(rng)
        for _ in range(20):
            if one.done:
                break
            yield one
            count -= 1
            if count == 0:
                return
            one.step(rare_action(one, rng))


def touches(game: TestedGame, one: Any) -> list[UIAction]:
    assert game.spec.list_ui_actions is not None
    return game.spec.list_ui_actions(one, one.seat)


def drawn(game: TestedGame, one: Any) -> tuple[dict[str, tuple[float, ...]], float, float]:
    """The spots of the picture that the seat to move sees, and the width and height of that picture."""
    assert game.spec.render is not None
    svg = game.spec.render().svg(one, viewer=one.seat)
    assert f'viewBox="0 0 {svg.size[0]:.0f} {svg.size[1]:.0f}"' in svg
    return svg.spots, *svg.size


def filled(one: Any, seat: int) -> set[str]:
    """Spots of the cells on which tiles lie."""
    board = one.spec.to_dict(one)["seats"][seat]
    tiles = board["pavilions"] if "pavilions" in board else board["tiles"]
    return {f"cell {seat} {cell}" for cell in (*board["white" if "tiles" in board else "wild"], *cells_of(tiles))}


def cells_of(tiles: list[dict[str, Any]]) -> list[int]:
    return [cell for tile in tiles for cell in tile["cells"]]


@EACH_GAME
def test_every_legal_decision_has_one_touch(game: TestedGame) -> None:
    kinds: set[str] = set()
    for one in played(game, POSITIONS):
        found = touches(game, one)
        assert [touch.id for touch in found] == one.legal_actions().tolist()
        assert [touch.text for touch in found] == [game.spec.action_to_string(touch.id, one.config) for touch in found]
        assert all(touch.text.startswith(touch.kind) for touch in found)
        assert len({touch.words for touch in found}) == len({touch.said for touch in found}) == len(found)
        assert all(touch.words[0].isupper() and touch.said[0].islower() for touch in found)
        assert all("_" not in touch.words + touch.said for touch in found)
        kinds.update(touch.kind for touch in found)
    assert kinds == {kind for kind, _ in game.spec.action_kinds(game.configs[0])}


@EACH_GAME
def test_spots_lie_in_the_picture(game: TestedGame) -> None:
    for one in played(game, 100):
        spots, width, height = drawn(game, one)
        for x, y, w, h in spots.values():
            assert 0 <= x < x + w <= width
            assert 0 <= y < y + h <= height
        for touch in touches(game, one):
            assert touch.at, touch.text
            assert {*touch.at, *touch.covers} <= spots.keys(), touch.text


@EACH_GAME
def test_spots_that_are_clicked_do_not_overlap(game: TestedGame) -> None:
    around = ("now", "seat", "board")
    for one in played(game, 12):
        clicked = [box for name, box in drawn(game, one)[0].items() if not name.startswith(around)]
        for i, (x, y, w, h) in enumerate(clicked):
            for left, top, wide, high in clicked[:i]:
                apart = max(x, left) + 0.2 >= min(x + w, left + wide) or max(y, top) + 0.2 >= min(y + h, top + high)
                assert apart, (clicked[i], (left, top, wide, high))


@EACH_GAME
def test_a_tile_covers_what_was_said(game: TestedGame) -> None:
    rng, seen = random.Random(1), 0
    for one in played(game, POSITIONS):
        seat, before = one.seat, filled(one, one.seat)
        for touch in touches(game, one):
            if touch.kind not in ("PLACE", "WILD", "WHITE"):
                assert (touch.covers, touch.turn, touch.lane) == ((), None, None)
                continue
            if touch.kind == "PLACE" and rng.random() > 0.2:
                continue
            after = one.clone()
            after.step(touch.id)
            while after.phase == "PAY" and touch.kind == "PLACE":
                after.step(int(after.legal_actions()[0]))
            assert set(touch.covers) == filled(after, seat) - before, touch.text
            assert len(set(touch.covers)) == len(touch.covers)
            assert set(touch.covers) <= set(touch.at)
            assert before.isdisjoint(touch.at), "it passed over a tile"
            newest = after.spec.to_dict(after)["seats"][seat].get("tiles", [{}])[-1].get("brick")
            assert touch.marked == (f"cell {seat} {newest}" if newest is not None and touch.kind == "PLACE" else None)
            seen += 1
    assert seen > 100


@EACH_GAME
def test_four_quarter_turns_and_two_flips_come_back(game: TestedGame) -> None:
    whole = 0
    for one in played(game, POSITIONS):
        rotated = {t.turn: t.rotated[0] for t in touches(game, one) if t.rotated}
        flipped = {t.turn: t.flipped[0] for t in touches(game, one) if t.flipped}
        if not rotated or rotated.keys() != {*rotated.values(), *flipped.values()}:
            continue  # not every orientation has a place
        whole += 1
        for turn in rotated:
            assert rotated[rotated[rotated[rotated[turn]]]] == turn
            assert flipped[flipped[turn]] == turn
    assert whole > 5


def test_turns_of_a_tile_without_symmetry() -> None:
    drawings = [("XX", "X.", "X."), ("XXX", "..X"), (".X", ".X", "XX"), ("X..", "XXX")]
    drawings += [("XX", ".X", ".X"), ("..X", "XXX"), ("X.", "X.", "XX"), ("XXX", "X..")]
    found = tile_orientations(drawings)
    assert [turn.rotated[0] for turn in found] == [1, 2, 3, 0, 5, 6, 7, 4]
    assert [turn.flipped[0] for turn in found] == [4, 7, 6, 5, 0, 3, 2, 1]
    assert [turn.words for turn in found][:5] == ["", "turned right", "upside down", "turned left", "mirrored"]
    assert [turn.words for turn in found][5:] == [
        f"mirrored, {words}" for words in ("turned right", "upside down", "turned left")
    ]
    assert [(turn.rotated, turn.flipped, turn.words) for turn in tile_orientations([("XX", "XX")])] == [
        ((0, 0, 0), (0, 0, 0, 0), "")
    ]


@EACH_GAME
def test_nothing_hidden_is_used(game: TestedGame) -> None:
    for seed, one in enumerate(played(game, 40)):
        assert touches(game, determinize(one, seed=seed)) == touches(game, one)


@EACH_GAME
def test_only_the_seat_to_move_decides(game: TestedGame) -> None:
    assert game.spec.list_ui_actions is not None
    one = game.spec.game(game.configs[0], seed=0)
    assert game.spec.list_ui_actions(one, 1 - one.seat) == []
    with pytest.raises(ValueError, match="seat"):
        game.spec.list_ui_actions(one, 2)
    while not one.done:
        one.step(int(one.legal_actions()[-1]))
    assert game.spec.list_ui_actions(one, one.seat) == []


def test_cards_of_a_hand_are_clicked_where_they_show() -> None:
    canvas = Canvas()
    card_spots(canvas, [(4, 0, 0), (4, 6, 0), (7, 12, 0), (7, 0, 40), (9, 20, 40), (None, 30, 40)], 10)
    assert canvas.spots == {
        "card 4": (0, 0, 12, 13.6),  # two of them, the second under the next one
        "card 7": (12, 0, 10, 13.6),  # and not the other one, in the next row
        "card 9": (20, 40, 10, 13.6),
    }


def test_plain_data() -> None:
    one = GAMES[0].spec.game(GAMES[0].configs[0], seed=0)
    assert touches(GAMES[0], one)[3].to_dict() == {
        "id": 3,
        "kind": "START",
        "text": "START 3",
        "words": "Start on space 3",
        "said": "started on space 3",
        "at": ("space 3",),
        "covers": (),
        "marked": None,
        "turn": None,
        "lane": None,
        "rotated": None,
        "flipped": None,
    }
