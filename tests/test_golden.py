"""Golden data: numbers of action sequences, whole games as text, and a signature of thousands of games.

They record the current rules. After an intended change, `python -m tests.regenerate` rewrites them.
"""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.actions import KINDS
from helsinki_env.games.copenhagen.state import PHASES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from tests import regenerate
from tests.copenhagen import golden as copenhagen
from tests.oracles.copenhagen import ReferenceGame as CopenhagenReference
from tests.oracles.helsinki import ReferenceGame as HelsinkiReference
from tests.support import golden as helsinki
from tests.support.golden import FIRST, game_at, perft, perft_text, plain_perft

GOLDEN: dict[str, tuple[ModuleType, Any]] = {
    "helsinki": (helsinki, HelsinkiReference),
    "copenhagen": (copenhagen, CopenhagenReference),
}
EACH = pytest.mark.parametrize("game", GOLDEN)
PERFT = {game: sorted(module.PERFT.glob("*.json")) for game, (module, _) in GOLDEN.items()}
EACH_PERFT = pytest.mark.parametrize(
    ("game", "path"), [pytest.param(game, path, id=f"{game}-{path.stem}") for game in GOLDEN for path in PERFT[game]]
)
EACH_PLAYTHROUGH = pytest.mark.parametrize(
    ("golden", "name"), [(module, name) for module, _ in GOLDEN.values() for name in module.NAMES]
)
#: Counted without the compiler, and counted by the plain rules.
SLOW = {"helsinki": 3000, "copenhagen": 1500}


def depth_below(counts: list[int], most: int) -> int:
    return max(1, sum(count <= most for count in counts))


def show_difference(expected: dict[str, int], found: dict[str, int]) -> str:
    """Say which first decisions lead to more or fewer sequences."""
    return "\n".join(
        f"{name}: {expected.get(name, 'not legal')} in the file, {found.get(name, 'not legal')} now"
        for name in {**expected, **found}
        if expected.get(name) != found.get(name)
    )


@EACH_PERFT
def test_perft_by_the_kernels(game: str, path: Path) -> None:
    data = json.loads(path.read_text())
    depth = len(data["counts"]) if JIT else depth_below(data["counts"], SLOW[game])
    counts, divided = perft(game_at(game, data["position"]), depth)
    if depth == len(data["counts"]):
        assert divided == data["divided"], f"{data['about']}\n{show_difference(data['divided'], divided)}"
    assert counts == data["counts"][:depth]
    assert sum(divided.values()) == counts[-1]


@EACH_PERFT
def test_perft_by_the_plain_rules(game: str, path: Path) -> None:
    """Shallower; where they differ from the file, the kernels' counts to the same depth say for which decision."""
    data = json.loads(path.read_text())
    depth, played = depth_below(data["counts"], SLOW[game]), game_at(game, data["position"])
    counts, divided = plain_perft(GOLDEN[game][1].from_dict(data["position"]), played, depth)
    by_kernels = perft(played, depth)[1]
    assert divided == by_kernels, show_difference(by_kernels, divided)
    assert counts == data["counts"][:depth]


@EACH_PERFT
def test_perft_positions_are_as_written(game: str, path: Path) -> None:
    data = json.loads(path.read_text())
    assert game_at(game, data["position"]).to_dict() == data["position"]
    assert perft_text(data) == path.read_text()


def test_perft_positions_are_of_every_kind() -> None:
    assert len(PERFT["helsinki"]) >= 10
    found = [json.loads(path.read_text()) for path in PERFT["copenhagen"]]
    assert {data["position"]["phase"] for data in found} == set(PHASES)
    assert {data["position"]["players"] for data in found} == {2, 3, 4}
    decided = {name.split()[0] for data in found for name in data["divided"]}
    assert len(decided) >= len(KINDS) - 2


@EACH_PLAYTHROUGH
def test_playthroughs(golden: ModuleType, name: str) -> None:
    written = (golden.PLAYTHROUGHS / f"{name}.txt").read_text().splitlines()
    played = golden.playthrough(name).splitlines()
    for number, (expected, found) in enumerate(zip_longest(written, played), start=1):
        before = "\n".join(written[max(0, number - 6) : number - 1])
        assert found == expected, f"{name}.txt, line {number}, after\n{before}"


def test_a_bonus_card_is_taken_in_the_playthrough_of_dry_roads() -> None:
    text = (helsinki.PLAYTHROUGHS / "dry_roads.txt").read_text()
    assert "bonus: null to" in text
    used = {line.split("USE ")[1] for line in text.splitlines() if "USE " in line}
    assert len(used) >= 10


@EACH
def test_the_signature(game: str) -> None:
    """A change that keeps the signature has changed no rule, nothing that a seat is shown, and no state."""
    golden = GOLDEN[game][0]
    written = json.loads(golden.SIGNATURE.read_text())
    found = golden.signature(None if JIT else FIRST)
    first = f"digest of the first {FIRST}"
    assert {name: group[first] for name, group in found["groups"].items()} == {
        name: group[first] for name, group in written["groups"].items()
    }
    if JIT:
        assert found == written


@pytest.mark.parametrize(
    ("game", "games", "counted", "names"),
    [("helsinki", 10_000, "used", BOARD_ACTIONS), ("copenhagen", 3000, "kinds", KINDS)],
)
def test_the_signature_is_taken_over_games_with_everything_in_them(
    game: str, games: int, counted: str, names: tuple[str, ...]
) -> None:
    golden = GOLDEN[game][0]
    written = json.loads(golden.SIGNATURE.read_text())
    groups = written["groups"].values()
    assert written["games"] == sum(count for count, *_ in golden.GROUPS.values()) == games
    assert all(sum(group[counted][name] for group in groups) >= 25 for name in names)
    assert game == "helsinki" or sum(group["shared wins"] for group in groups) > 0


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


def test_the_command_writes_those_of_each_game() -> None:
    written = {path for path, _ in regenerate.golden_files()}
    for golden, _ in GOLDEN.values():
        ours = {path for path, _ in golden.golden_files()}
        assert ours <= written
        assert {path.suffix for path in ours} == {".json", ".txt"}
