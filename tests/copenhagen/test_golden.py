"""Golden data of Copenhagen: how many sequences of decisions there are, whole games, and a signature over thousands.

They hold what the rules do today. If a change is meant to change that, `python -m tests.regenerate` writes them anew.
"""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path

import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.actions import KINDS
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.state import PHASES
from tests import regenerate
from tests.copenhagen import golden
from tests.support.golden import perft_text
from tests.test_golden import SLOW, depth_below, show_difference

PERFT = sorted(golden.PERFT.glob("*.json"))


@pytest.mark.parametrize("path", PERFT, ids=lambda path: path.stem)
def test_perft_by_the_kernels(path: Path) -> None:
    data = json.loads(path.read_text())
    depth = len(data["counts"]) if JIT else depth_below(data["counts"], SLOW)
    counts, divided = golden.perft(data["position"], depth)
    if depth == len(data["counts"]):
        assert divided == data["divided"], f"{data['about']}\n{show_difference(data['divided'], divided)}"
    assert counts == data["counts"][:depth]
    assert sum(divided.values()) == counts[-1]


@pytest.mark.parametrize("path", PERFT, ids=lambda path: path.stem)
def test_perft_by_the_plain_rules(path: Path) -> None:
    data = json.loads(path.read_text())
    depth = depth_below(data["counts"], SLOW // 2)
    counts, divided = golden.plain_perft(data["position"], depth)
    by_kernels = golden.perft(data["position"], depth)[1]
    assert divided == by_kernels, show_difference(by_kernels, divided)
    assert counts == data["counts"][:depth]


def test_perft_positions_are_as_written_and_of_every_kind() -> None:
    found = [json.loads(path.read_text()) for path in PERFT]
    for path, data in zip(PERFT, found, strict=True):
        assert CopenhagenGame.from_dict(data["position"]).to_dict() == data["position"]
        assert perft_text(data) == path.read_text()
    assert {data["position"]["phase"] for data in found} == set(PHASES)
    assert {data["position"]["players"] for data in found} == {2, 3, 4}
    decided = {name.split()[0] for data in found for name in data["divided"]}
    assert len(decided) >= len(KINDS) - 2


@pytest.mark.parametrize("name", golden.NAMES)
def test_playthroughs(name: str) -> None:
    written = (golden.PLAYTHROUGHS / f"{name}.txt").read_text().splitlines()
    played = golden.playthrough(name).splitlines()
    for number, (expected, found) in enumerate(zip_longest(written, played), start=1):
        before = "\n".join(written[max(0, number - 6) : number - 1])
        assert found == expected, f"{name}.txt, line {number}, after\n{before}"


def test_the_signature() -> None:
    """A change that keeps the signature has changed no rule, nothing that a seat is shown, and no state."""
    written = json.loads(golden.SIGNATURE.read_text())
    found = golden.signature(None if JIT else golden.FIRST)
    first = f"digest of the first {golden.FIRST}"
    for name, group in found["groups"].items():
        assert group[first] == written["groups"][name][first], name
    if JIT:
        assert found == written


def test_the_signature_is_taken_over_games_with_everything_in_them() -> None:
    written = json.loads(golden.SIGNATURE.read_text())
    groups = written["groups"].values()
    assert written["games"] == sum(count for count, _ in golden.GROUPS.values()) == 3000
    assert all(sum(group["kinds"][kind] for group in groups) >= 25 for kind in KINDS)
    assert sum(group["shared wins"] for group in groups) > 0


def test_one_command_writes_these_too() -> None:
    ours = [path for path, _ in golden.golden_files()]
    assert set(ours) <= {path for path, _ in regenerate.golden_files()}
    assert {path.suffix for path in ours} == {".json", ".txt"}
