"""The rules page of Copenhagen agrees with code and component file."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

from helsinki_env.engine.component_reader import orientations
from helsinki_env.games.copenhagen import actions, observation
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, TILE_SIZES, load_components
from helsinki_env.games.copenhagen.state import RECORD
from tests.oracles.copenhagen import PHASES, action_offsets

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "rules-copenhagen.md").read_text(encoding="utf-8")
SECTIONS = {int(part.split(".")[0]): part for part in re.split(r"^## (?=\d)", PAGE, flags=re.MULTILINE)[1:]}
BOX = load_components()


def table(section: int, heading: str, number: int = 0) -> list[list[str]]:
    """The rows of a table of the page, known by its section and first heading; the cells of each without margins."""
    lines = [line.strip() for line in SECTIONS[section].splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith(f"| {heading} |")]
    rows = takewhile(lambda line: line.startswith("|"), lines[starts[number] + 2 :])
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in rows]


def test_sections_are_numbered_in_order() -> None:
    assert list(SECTIONS) == list(range(1, 13))


def test_actions() -> None:
    found = [(name, int(size), int(first)) for name, size, first, *_ in table(3, "kind")]
    assert found == list(zip(actions.KINDS, actions.KIND_SIZES, actions.KIND_OFFSETS, strict=True))
    assert found == [(name, size, first) for name, (first, size) in action_offsets().items()]
    assert f"There are {actions.NUM_ACTIONS} actions" in SECTIONS[3]


def test_size_and_planes_of_the_observation() -> None:
    assert f"`int8` array of {observation.OBSERVATION_SIZE} entries" in SECTIONS[9]
    assert all(f"`{plane}`" in SECTIONS[9].split("Board planes")[1] for plane in observation.PLANES)


def test_keys_of_pending() -> None:
    found = {key.strip("`"): phases.split(", ") for key, _, phases, _ in table(6, "key")}
    phases = {key: {*field.required, *field.optional} for key, field in RECORD.pending.items()}
    assert found == {key: [phase for i, phase in enumerate(PHASES) if i in some] for key, some in phases.items()}


def test_colours_abilities_and_phases() -> None:
    assert ", ".join(f"{i} {name}" for i, name in enumerate(COLORS)) in SECTIONS[1]
    assert ", ".join(f"{i} `{name}`" for i, name in enumerate(ABILITIES)) in SECTIONS[1]
    assert f"Phases: {', '.join(PHASES)}." in " ".join(SECTIONS[6].split())


def test_tiles() -> None:
    drawings, counts = table(1, "color"), table(1, "color", 1)
    for colour, name in enumerate(COLORS):
        kinds = [BOX.drawings[colour][i] for i in range(len(TILE_SIZES))]
        assert drawings[colour] == [name, *(f"`{'/'.join(drawing)}`" for drawing in kinds)]
        assert counts[colour] == [name, *(str(len(orientations(drawing))) for drawing in kinds)]


def test_the_other_facts_of_the_box() -> None:
    assert table(1, "players") == [
        [str(players), " / ".join(str(count) for count in BOX.copies[players - 2]), str(BOX.cards[players - 2])]
        for players in (2, 3, 4)
    ]
    cells = sorted(BOX.coats)
    coats = " ".join(f"({cell % 5},{cell // 5})" for cell in cells)
    rows = f"y = {', '.join(str(y) for y in BOX.coat_rows)}"
    data = {fact: value for fact, value, _ in table(11, "fact")}
    assert (data["coat cells"], data["rows with coats"]) == (coats, rows)
    assert coats in SECTIONS[1]
    assert rows in SECTIONS[1]
    assert data["hands dealt"] == ", ".join(str(count) for count in BOX.hands)
    assert data["white tiles"] == str(BOX.white_tiles)
    assert f"**White tiles**: {BOX.white_tiles} [D]" in SECTIONS[1]
    points = {line: (int(plain), int(windows)) for line, plain, windows in table(3, "line")}
    assert points == {
        "row": (BOX.points_row, BOX.points_row_windows),
        "column": (BOX.points_column, BOX.points_column_windows),
    }
    assert f"With {BOX.goal} points or more, the game ends" in SECTIONS[3]
    assert (BOX.hand_limit, BOX.last_cards) == (7, 10)  # in words there


def test_component_data_stand_where_the_page_says() -> None:
    """Every line of the component file that is marked [D] is a row of section 11, and the other way round."""
    text = (ROOT / "configs" / "components" / "copenhagen.yaml").read_text(encoding="utf-8")
    marked, part = set(), ""
    for line in text.splitlines():
        if found := re.match(r"( *)(\w+):", line):
            part = found[2] if not found[1] else part
            if "[D]" in line:
                marked.add(f"`{part}: {found[2]}`")
    assert {where for *_, where in table(11, "fact")} - {"fixed"} == marked


def test_what_the_code_calls_a_section_is_on_the_page() -> None:
    """Docstrings and comments say "rules, section 3, "Placement""; readers must find it there."""
    found = set()
    rules = sorted((ROOT / "helsinki_env" / "games" / "copenhagen").rglob("*.py"))
    for path in (*rules, ROOT / "tests" / "oracles" / "copenhagen.py"):
        text = path.read_text(encoding="utf-8")
        found |= {(int(number), "") for number in re.findall(r"[Ss]ections? (\d+)", text)}
        found |= {(int(number), title) for number, title in re.findall(r'[Ss]ections? (\d+), "([\w ]+)"', text)}
    assert len(found) > 10
    for number, title in found:
        shown = (f"### {title}\n", f"**{title}.**", f"`{title}`")
        assert not title or any(mark in SECTIONS[number] for mark in shown), (number, title)
