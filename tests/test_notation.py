"""Actions as text: every id has a name that is read back, and wrong text gives a helpful error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import helsinki_env
from helsinki_env import load_components
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.actions import KINDS, SIDES, place_argument
from helsinki_env.games.helsinki.game import action_table
from tests.games import EACH_GAME, TestedGame
from tests.oracles.helsinki import action_offsets, decode, encode
from tests.support.positions import COMPONENTS


@pytest.mark.parametrize("components", COMPONENTS)
def test_every_decision_is_read_back_from_its_name(components: str) -> None:
    table = action_table(load_components(components).types)
    names = [notation.action_to_string(action, components) for action in range(table.size)]
    assert len(set(names)) == table.size
    assert [notation.string_to_action(name, components) for name in names] == list(range(table.size))


@EACH_GAME
def test_positions_of_every_game_are_written_and_read_under_the_name_that_users_know(game: TestedGame) -> None:
    for config in game.configs:
        one = game.spec.game(config, seed=3)
        rng = np.random.default_rng(5)
        while not one.done:
            position = helsinki_env.notation.to_dict(one)
            assert position["game"] == game.name
            assert (
                helsinki_env.notation.from_dict(json.loads(json.dumps(position))) == one
            )  # positions do not contain rewards
            assert isinstance(helsinki_env.notation.to_dict(one, seat=0)["draw_pile"], int)
            legal = one.legal_actions()
            one.step(int(legal[rng.integers(len(legal))]))
    wrongs: list[Any] = [{**position, "game": "chess"}, {**position, "seats": []}, {}, []]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"game: |seats: |expected a mapping"):
            helsinki_env.notation.from_dict(wrong)


@pytest.mark.parametrize("components", COMPONENTS)
def test_every_card_has_a_name_of_its_own(components: str) -> None:
    data = load_components(components)
    names = [notation.card_to_string(card, components) for card in range(data.types)]
    assert len(set(names)) == data.types
    assert names[-1] == "wild"


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (0, "START 0"),
        (8, "MOVE 1"),
        (13, "MOVE 6"),
        (14, "DRAW"),
        (15, "BUILD blue 1/2"),
        (15 + 49, "BUILD yellow 5/5+1"),
        (65 + 50, "PAY wild"),
        (116, "PLACE north o0 lane 0"),
        (339, "PLACE west o7 lane 6"),
        (340, "WILD r0c0"),
        (389 + 48, "LIFT r6c6"),
        (438 + 8, "ROOF r1c1"),
        (487 + 21, "DISCARD purple 2/2+1"),
        (538, "USE move_1_to_6"),
        (552, "USE two_points"),
        (553, "END"),
    ],
)
def test_names(action: int, text: str) -> None:
    assert notation.action_to_string(action) == text
    assert notation.action_to_string(np.int64(action)) == text
    assert notation.string_to_action(text) == action
    assert notation.string_to_action(f"  {text.replace(' ', '   ')} ") == action


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (-1, "action -1 does not exist: ids run from 0 to 553"),
        (554, "action 554 does not exist: ids run from 0 to 553"),
        (1.0, "action 1.0 is not a whole number"),
        (True, "action True is not a whole number"),
        ("DRAW", "action 'DRAW' is not a whole number"),
    ],
)
def test_ids_that_do_not_exist_are_refused(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        notation.action_to_string(action)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "action '': expected text such as 'MOVE 2'"),
        ("   ", "expected text such as 'MOVE 2'"),
        (None, "action None: expected text such as"),
        (14, "action 14: expected text such as"),
        ("JUMP 2", "'JUMP' is not a kind of action; the kinds are START, MOVE, DRAW"),
        ("draw", "'draw' is not a kind of action"),
        ("DRAW 1", "expected 'DRAW' alone"),
        ("END now", "expected 'END' alone"),
        ("START", "expected something from 'START 0' to 'START 7'"),
        ("START 8", "expected something from 'START 0' to 'START 7'"),
        ("START -1", "expected something from 'START 0' to 'START 7'"),
        ("START 01", "expected something from 'START 0' to 'START 7'"),
        ("START \u0663", "expected something from 'START 0' to 'START 7'"),  # a digit, but none of ours
        ("START ²", "expected something from 'START 0' to 'START 7'"),
        ("MOVE 0", "expected something from 'MOVE 1' to 'MOVE 6'"),
        ("MOVE 7", "expected something from 'MOVE 1' to 'MOVE 6'"),
        ("MOVE two", "expected something from 'MOVE 1' to 'MOVE 6'"),
        ("BUILD wild", "expected something from 'BUILD blue 1/2' to 'BUILD yellow 5/5+1'"),
        ("BUILD blue 9/9", "expected something from 'BUILD blue 1/2' to 'BUILD yellow 5/5+1'"),
        ("PAY pink 1/2", "expected something from 'PAY blue 1/2' to 'PAY wild'"),
        ("PLACE north", "expected something from 'PLACE north o0 lane 0' to 'PLACE west o7 lane 6'"),
        ("PLACE up o0 lane 0", "expected something from 'PLACE north o0 lane 0'"),
        ("PLACE north o8 lane 0", "expected something from 'PLACE north o0 lane 0'"),
        ("PLACE north o0 lane 7", "expected something from 'PLACE north o0 lane 0'"),
        ("WILD 3", "expected something from 'WILD r0c0' to 'WILD r6c6'"),
        ("LIFT r7c0", "expected something from 'LIFT r0c0' to 'LIFT r6c6'"),
        ("ROOF r0c0 r1c1", "expected something from 'ROOF r0c0' to 'ROOF r6c6'"),
        ("DISCARD", "expected something from 'DISCARD blue 1/2' to 'DISCARD wild'"),
        ("USE magic", "expected something from 'USE move_1_to_6' to 'USE two_points'"),
    ],
)
def test_bad_text_is_refused(text: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"^action ") as error:
        notation.string_to_action(text)
    assert message in str(error.value)


@given(st.text(max_size=12) | st.builds("{} {}".format, st.sampled_from(KINDS), st.text(max_size=8)))
def test_any_text_is_a_decision_or_refused(text: str) -> None:
    try:
        action = notation.string_to_action(text)
    except ValueError as error:
        if str(error).startswith("action "):
            return
        raise
    assert notation.action_to_string(action) == " ".join(text.split())


def test_components_are_given_by_name_or_as_loaded() -> None:
    data = load_components("alternative")
    assert notation.action_to_string(15, data) == notation.action_to_string(15, "alternative") == "BUILD blue 1/2"
    assert notation.card_to_string(8, data) == "blue 5/4+3"
    assert notation.string_to_action("PAY wild", data) == 8 + 6 + 1 + 45 + 45


# The action table


@pytest.mark.parametrize("types", [6, 46, 51, 91])
def test_the_action_table_is_the_one_of_the_plain_rules(types: int) -> None:
    table = action_table(types)
    offsets = action_offsets(types)
    assert list(offsets) == list(KINDS)
    assert [offset for offset, _ in offsets.values()] == list(table.offsets)
    for action in range(table.size):
        kind, argument = table.decode(action)
        assert decode(action, types) == (KINDS[kind], argument)
        assert table.encode(kind, argument) == encode(KINDS[kind], argument, types) == action


def test_the_default_table_has_554_ids() -> None:
    table = action_table(51)
    assert table.size == 554
    assert table.offsets == (0, 8, 14, 15, 65, 116, 340, 389, 438, 487, 538, 553)


def test_arguments_of_a_placement() -> None:
    arguments = [place_argument(side, o, lane) for side in range(len(SIDES)) for o in range(8) for lane in range(7)]
    assert arguments == list(range(224))


@pytest.mark.parametrize(("kind", "argument"), [(0, 8), (2, 1), (11, -1)])
def test_arguments_beyond_the_kind_are_refused(kind: int, argument: int) -> None:
    with pytest.raises(ValueError, match=rf"{KINDS[kind]} takes an argument from 0 to \d+, not {argument}"):
        action_table(51).encode(kind, argument)
