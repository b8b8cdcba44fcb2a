"""Actions of Copenhagen as text: every id in both directions, and messages with a remedy."""

from typing import Any

import numpy as np
import pytest

from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.game import CopenhagenConfig, CopenhagenGame, IllegalActionError
from helsinki_env.games.copenhagen.notation import action_to_string, string_to_action
from tests.copenhagen.positions import act


def test_every_decision_has_one_text_that_is_read_back() -> None:
    texts = [action_to_string(action) for action in range(actions.NUM_ACTIONS)]
    assert len(set(texts)) == actions.NUM_ACTIONS == 459
    assert [string_to_action(text) for text in texts] == list(range(actions.NUM_ACTIONS))
    assert all(text.split()[0] == actions.KINDS[actions.decode(i)[0]] for i, text in enumerate(texts))


@pytest.mark.parametrize(
    ("kind", "argument", "text"),
    [
        ("TAKE", 3, "TAKE 3"),
        ("BUILD", 2, "BUILD blue 4"),
        ("BUILD", 19, "BUILD yellow 5"),
        ("PLACE", 45 * 2 + 20, "PLACE 2 at 0,4"),
        ("PAY", 3, "PAY red"),
        ("DISCARD", 4, "DISCARD yellow"),
        ("USE", 2, "USE construction_discount"),
        ("RECOLOUR", 1, "RECOLOUR green"),
        ("WHITE", 5 * 8 + 4, "WHITE 4,8"),
        ("ABILITY", 4, "ABILITY both_actions"),
        ("REACTIVATE", 0, "REACTIVATE"),
        ("END", 0, "END"),
    ],
)
def test_what_the_kinds_look_like(kind: str, argument: int, text: str) -> None:
    assert action_to_string(act(kind, argument)) == text
    assert string_to_action(text) == act(kind, argument)


def test_numbers_of_numpy_have_texts_and_blanks_do_not_matter() -> None:
    assert action_to_string(np.int64(3)) == "TAKE 3"
    assert string_to_action("  PLACE   2 at  0 , 4 ") == string_to_action("PLACE 2 at 0,4")


@pytest.mark.parametrize("text", ["", "  ", None, 7, []])
def test_what_is_no_text_is_told_what_one_looks_like(text: Any) -> None:
    with pytest.raises(ValueError, match=r"^action .*: expected text such as 'TAKE 3' or 'BUILD blue 4'$"):
        string_to_action(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("take 3", r"^action 'take 3': 'take' is not a kind of action; the kinds are TAKE, BUILD, PLACE, PAY"),
        ("TAKE 7", r"^action 'TAKE 7': expected something from 'TAKE 0' to 'TAKE 6'$"),
        ("TAKE", r"^action 'TAKE': expected something from 'TAKE 0' to 'TAKE 6'$"),
        ("TAKE 03", r"expected something from 'TAKE 0'"),
        ("TAKE \u0663", r"expected something from 'TAKE 0'"),
        ("BUILD blue 6", r"expected something from 'BUILD blue 2' to 'BUILD yellow 5'$"),
        ("BUILD 4 blue", r"expected something from 'BUILD blue 2' to 'BUILD yellow 5'$"),
        ("PLACE 8 at 0,0", r"expected something from 'PLACE 0 at 0,0' to 'PLACE 7 at 4,8'$"),
        ("PLACE 0 at 5,0", r"expected something from 'PLACE 0 at 0,0' to 'PLACE 7 at 4,8'$"),
        ("PAY", r"^action 'PAY': expected 'PAY' and one of blue, green, purple, red, yellow$"),
        ("RECOLOUR white", r"expected 'RECOLOUR' and one of blue, green, purple, red, yellow$"),
        ("USE any cards", rf"expected 'USE' and one of {', '.join(ABILITIES)}$"),
        ("WHITE 0,9", r"expected something from 'WHITE 0,0' to 'WHITE 4,8'$"),
        ("END now", r"^action 'END now': expected 'END' alone$"),
        ("REACTIVATE 0", r"expected 'REACTIVATE' alone$"),
    ],
)
def test_a_text_that_is_no_decision_is_told_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        string_to_action(text)


@pytest.mark.parametrize("action", [-1, 459, 10**30, True, 1.0, "TAKE 3", None])
def test_what_is_no_id_has_no_text(action: Any) -> None:
    with pytest.raises(ValueError, match=r"^action .* does not exist: ids run from 0 to 458|is not a whole number"):
        action_to_string(action)


def test_messages_stay_short() -> None:
    for bad in ("BUILD " + "x" * 10_000, "x" * 10_000):
        with pytest.raises(ValueError, match="action") as caught:
            string_to_action(bad)
        assert len(str(caught.value)) < 600
    with pytest.raises(ValueError, match="not a whole number") as caught:
        action_to_string("x" * 10_000)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match=r"^action a number of 16,610 bits does not exist"):
        action_to_string(10**5000)


def test_a_refusal_names_decision_phase_and_what_is_legal() -> None:
    table = CopenhagenGame(CopenhagenConfig(num_players=3), seed=1)
    table.step(act("TAKE", 3))
    with pytest.raises(IllegalActionError) as caught:
        table.step(act("END"))
    assert str(caught.value) == ("action 458 (END) is not legal in phase TAKE of seat 0. Legal: TAKE 4, USE any_cards")
