"""Cards and roofs selected in any order: the choices are those that the rules allow in their order."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from helsinki_env.engine.ui_actions import ActionSelection
from tests.games import EACH_GAME, TestedGame, rare_action

pytestmark = pytest.mark.thorough

SELECTIONS = 800


def selections(game: TestedGame, count: int) -> Iterator[tuple[Any, ActionSelection]]:
    """Positions of random play in which several actions may be chosen in any order."""
    rng = random.Random(f"selections of {game.name}")
    assert game.spec.available_selection is not None
    while True:
        one = game.start(rng)
        for _ in range(60):
            if one.done:
                break
            found = game.spec.available_selection(one, one.seat)
            if found is not None:
                yield one, found
                count -= 1
                if count == 0:
                    return
            one.step(rare_action(one, rng))


def chosen_by_clicks(found: ActionSelection, rng: random.Random) -> list[int]:
    """Choose items at random, in any order, by the rules that a page has for clicks; return the ids as clicked."""
    clicked: list[int] = []
    while len(clicked) < sum(found.counts):
        have, parts = (
            Counter(clicked),
            Counter(item.part for item in found.items for _ in range(clicked.count(item.touch.id))),
        )
        free = [
            item.touch.id
            for item in found.items
            if have[item.touch.id] < item.most and parts[item.part] < found.counts[item.part]
        ]
        if found.pairs is not None:
            free = [one for one in free if not clicked or any({one, *clicked} == {a, b} for a, b, _ in found.pairs)]
        assert free, (found, clicked)
        clicked.append(rng.choice(free))
    return clicked


def in_order(found: ActionSelection, clicked: list[int]) -> list[int]:
    """Return what a page sends for a complete selection."""
    part = {item.touch.id: item.part for item in found.items}
    ordered = sorted(clicked, key=lambda one: (part[one], one))
    if found.pairs is not None and found.between is not None and (*ordered, True) in found.pairs:
        ordered.insert(1, found.between.id)
    return ordered


@EACH_GAME
def test_whatever_is_chosen_is_legal_in_the_order_of_the_rules(game: TestedGame) -> None:
    rng, kinds = random.Random(1), set()
    for one, found in selections(game, SELECTIONS):
        assert sum(found.counts) > 1
        assert {item.touch.kind for item in found.items} == {found.kind}
        for actions in (in_order(found, chosen_by_clicks(found, rng)), *found.extreme_selections()):
            after = one.clone()
            for action in actions:
                assert after.seat == one.seat
                after.step(action)
        kinds.add(found.kind)
    assert kinds == {"helsinki": {"PAY", "DISCARD", "ROOF"}, "copenhagen": {"TAKE", "PAY", "DISCARD"}}[game.name]


@EACH_GAME
def test_whatever_the_rules_allow_can_be_chosen(game: TestedGame) -> None:
    rng = random.Random(2)
    for one, found in selections(game, SELECTIONS):
        most = {item.touch.id: item.most for item in found.items}
        after, taken = one.clone(), Counter[int]()
        for _ in range(sum(found.counts)):
            legal = [
                int(a)
                for a in after.legal_actions()
                if after.spec.action_to_string(a, after.config).split()[0] == found.kind
            ]
            assert set(legal) <= set(most), (found, legal)
            action = rng.choice(legal)
            taken[action] += 1
            after.step(action)
        assert all(taken[action] <= most[action] for action in taken)


@EACH_GAME
def test_a_selection_is_offered_to_the_seat_to_move_alone(game: TestedGame) -> None:
    assert game.spec.available_selection is not None
    for one, found in selections(game, 200):
        assert game.spec.available_selection(one, (one.seat + 1) % one.num_players) is None
        data = json.loads(json.dumps(found.to_dict()))
        assert [item["id"] for item in data["items"]] == [item.touch.id for item in found.items]
