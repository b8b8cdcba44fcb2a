"""Golden data: how many sequences of decisions there are, whole games to be read, and a signature over ten thousand.

They hold what the rules do today. If a change is meant to change that, `python -m tests.regenerate` writes them anew.
"""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from tests import regenerate
from tests.support import golden

PERFT = sorted(golden.PERFT.glob("*.json"))
#: Counted without the compiler, and counted by the plain rules.
SLOW = 3000


def depth_below(counts: list[int], most: int) -> int:
    return max(1, sum(count <= most for count in counts))


def show_difference(expected: dict[str, int], found: dict[str, int]) -> str:
    """Say which first decisions lead to more or fewer sequences."""
    return "\n".join(
        f"{name}: {expected.get(name, 'not legal')} in the file, {found.get(name, 'not legal')} now"
        for name in {**expected, **found}
        if expected.get(name) != found.get(name)
    )


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
    """Shallower; where they differ from the file, the kernels' counts to the same depth say for which decision."""
    data = json.loads(path.read_text())
    depth = depth_below(data["counts"], SLOW)
    counts, divided = golden.plain_perft(data["position"], depth)
    by_kernels = golden.perft(data["position"], depth)[1]
    assert divided == by_kernels, show_difference(by_kernels, divided)
    assert counts == data["counts"][:depth]


def test_perft_positions_are_as_written() -> None:
    assert len(PERFT) >= 10
    for path in PERFT:
        data = json.loads(path.read_text())
        assert notation.to_dict(notation.from_dict(data["position"])) == data["position"]
        assert golden.perft_text(data) == path.read_text()


@pytest.mark.parametrize("name", golden.NAMES)
def test_playthroughs(name: str) -> None:
    written = (golden.PLAYTHROUGHS / f"{name}.txt").read_text().splitlines()
    played = golden.playthrough(name).splitlines()
    for number, (expected, found) in enumerate(zip_longest(written, played), start=1):
        before = "\n".join(written[max(0, number - 6) : number - 1])
        assert found == expected, f"{name}.txt, line {number}, after\n{before}"


def test_a_bonus_card_is_taken_in_the_playthrough_of_dry_roads() -> None:
    text = (golden.PLAYTHROUGHS / "dry_roads.txt").read_text()
    assert "bonus: null to" in text
    used = {line.split("USE ")[1] for line in text.splitlines() if "USE " in line}
    assert len(used) >= 10


def test_the_signature() -> None:
    """A change that keeps the signature has changed no rule, nothing that a seat is shown, and no state."""
    written = json.loads(golden.SIGNATURE.read_text())
    found = golden.signature(None if JIT else golden.FIRST)
    first = f"digest of the first {golden.FIRST}"
    assert {name: group[first] for name, group in found["groups"].items()} == {
        name: group[first] for name, group in written["groups"].items()
    }
    if JIT:
        assert found == written


def test_the_signature_is_taken_over_ten_thousand_games_with_every_action() -> None:
    written = json.loads(golden.SIGNATURE.read_text())
    assert written["games"] == sum(count for count, _, _ in golden.GROUPS.values()) == 10_000
    assert all(sum(group["used"][name] for group in written["groups"].values()) >= 25 for name in BOARD_ACTIONS)


def test_one_command_writes_them_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    same, changed, new = (tmp_path / name for name in ("same.txt", "changed.txt", "new.txt"))
    same.write_text("a\n")
    changed.write_text("a\nb\n")
    files: list[tuple[Path, Any]] = [(path, lambda: "a\n") for path in (same, changed, new)]
    monkeypatch.setattr(regenerate, "TESTS", tmp_path)
    monkeypatch.setattr(regenerate, "golden_files", lambda: iter(files))
    regenerate.main()
    out = [line.replace(tmp_path.name, "") for line in capsys.readouterr().out.splitlines()]
    assert out == [
        "same     /same.txt",
        "changed  /changed.txt, 4 lines of difference",
        "           @@ -2 +1,0 @@",
        "           -b",
        "new      /new.txt, 4 lines of difference",
    ]
    assert [path.read_text() for path in (same, changed, new)] == ["a\n"] * 3
    assert {path.suffix for path, _ in golden.golden_files()} == {".json", ".txt"}
