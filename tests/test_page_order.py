"""Selections of cards and roofs in any order, by mouse, keyboard and touch, sent in the order of the rules."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.support.browser import Player
from tests.support.server import Server

pytestmark = pytest.mark.thorough

KINDS = [
    ("helsinki", "DISCARD"),
    ("helsinki", "PAY"),
    ("helsinki", "ROOF"),
    ("copenhagen", "TAKE"),
    ("copenhagen", "DISCARD"),
    ("copenhagen", "PAY"),
]


def before_a_choice(game: str, kind: str) -> GameTable:
    """A table at which seat 0 selects several different cards or roofs."""
    spec = spec_by_name(game)
    assert spec.available_selection is not None
    for seed in itertools.count():
        one, rng = spec.game(spec.config(), seed=seed), random.Random(seed)
        told: list[tuple[int, int, str]] = []
        while not one.done:
            found = spec.available_selection(one, one.seat) if one.seat == 0 else None
            if (
                found is not None
                and found.kind == kind
                and found.extreme_selections()[0] != found.extreme_selections()[1]
            ):
                chairs = (SeatAssignment(HUMAN, "Ann"), SeatAssignment("random", "random"))
                return GameTable(f"{game}-{kind}".lower(), "", one.config, seed, chairs, told)
            kinds: dict[str, list[int]] = {}
            for action in one.legal_actions().tolist():
                kinds.setdefault(spec.action_to_string(action, one.config).split()[0], []).append(action)
            often = [name for name in ("TAKE", "DRAW") if kind == "DISCARD" and name in kinds and rng.random() < 0.9]
            action = rng.choice(kinds[rng.choice(often or sorted(kinds))])
            told.append((one.seat, action, "did something"))
            one.step(action)
    raise AssertionError


def click(player: Player, item: dict[str, Any], how: str) -> None:
    if how == "keys":
        player.press(player.key_of(item))
    elif how == "touch":
        player.page.touchscreen.tap(*player.point(item["at"][0]))
    elif how == "list":
        player.page.locator("#choices button").get_by_text(item["words"], exact=True).click()
    else:
        player.page.mouse.click(*player.point(item["at"][0]))


@pytest.mark.parametrize("how", ["mouse", "list", "keys", "touch"])
@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_any_order(game: str, kind: str, how: str, server: Server, data: Path, browser: Any) -> None:
    table = before_a_choice(game, kind)
    table.name += how
    store = TableStore(data)
    store.add(table)
    store.close()
    player = Player(browser, f"{server.address}/tables/{table.name}", touch=how == "touch", confirm="yes")
    player.page.wait_for_selector("#picked:not([hidden])", timeout=30_000)
    view = player.turn()
    selection, number = view["selection"], view["number"]
    wanted = sum(selection["counts"])
    spec = table.game.spec
    assert spec.available_selection is not None
    found = spec.available_selection(table.game, 0)
    assert found is not None
    way = found.extreme_selections()[1]
    items = {item["id"]: item for item in selection["items"]}
    clicks = [action for action in reversed(way) if action in items]
    far = lambda count: f"{count} of {wanted}"  # noqa: E731
    for count, action in enumerate(clicks, 1):
        click(player, items[action], how)
        assert player.page.inner_text("#far").endswith(far(count))
        assert player.page.is_disabled("#settle") == (count < wanted)
        assert player.view["number"] == number  # the page sends nothing before the confirmation
    # A further click removes the item, and the next ones select it again.
    again = clicks[0]
    times = Counter(clicks)[again]
    click(player, items[again], how)
    assert player.page.inner_text("#far").endswith(far(wanted - times))
    for _ in range(times):
        click(player, items[again], how)
    assert player.page.inner_text("#far").endswith(far(wanted))
    if how == "keys":
        player.press("Enter")
    else:
        player.page.click("#settle")
    after = player.wait(lambda new: new["number"] >= number + len(way))
    # In the log, the names of cards omit the roofs and superstructures.
    said = {item["id"]: item["said"].partition(" (")[0] for item in selection["items"]}
    taken = [one["words"].partition(" (")[0] for one in after["log"][number : number + len(way)]]
    assert [words for words in taken if words in said.values()] == [said[action] for action in way if action in said]
    assert all(one["seat"] == 0 for one in after["log"][number : number + len(way)])
    if after["undo"] is not None and after["number"] == number + len(way) and len(way) == wanted:
        player.press("u")  # the whole selection
        assert player.wait(lambda new: new["number"] < after["number"])["number"] == number
    assert player.wrong == []
