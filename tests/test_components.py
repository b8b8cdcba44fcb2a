"""The component files: the shipped facts, and helpful messages for mistakes in a file."""

import os
import pickle
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from helsinki_env.games.helsinki.action_numbers import PUBLISHED_COSTS, PUBLISHED_STRENGTHS, STRENGTHS
from helsinki_env.games.helsinki.components import (
    BOARD_ACTIONS,
    COLORS,
    ROOFS,
    CardVariant,
    ComponentError,
    Components,
    load_components,
)
from helsinki_env.utils.yaml_files import configs_folder, list_yaml

DEFAULT = configs_folder() / "components" / "default.yaml"


@pytest.fixture
def default() -> Components:
    return load_components()


@pytest.fixture(params=[name for name in list_yaml("components") if name != "copenhagen"])
def shipped(request: pytest.FixtureRequest) -> Components:
    return load_components(request.param)


# The default component file


def test_default_deck_totals(default: Components) -> None:
    assert [default.deck_size(players) for players in (4, 3, 2)] == [100, 81, 53]
    assert [sum(default.deck(players)) for players in (4, 3, 2)] == [100, 81, 54]


def test_default_has_18_cards_of_each_colour_and_10_wild_ones(default: Components) -> None:
    deck = default.deck(4)
    assert [sum(deck[10 * colour : 10 * colour + 10]) for colour in range(5)] == [18] * 5
    assert deck[default.wild_type] == 10
    assert (default.types, default.wild_type, len(deck)) == (51, 50, 51)


@pytest.mark.parametrize(
    ("players", "removed", "wild"),
    [(4, {}, 0), (3, {1: 2, 5: 1}, 4), (2, {1: 2, 2: 2, 3: 2, 4: 2}, 6)],
    ids=["four", "three", "two"],
)
def test_cards_that_go_back_to_the_box(shipped: Components, players: int, removed: dict[int, int], wild: int) -> None:
    box, deck = shipped.deck(4), shipped.deck(players)
    gone: Counter[tuple[int, int]] = Counter()
    for card in range(shipped.types):
        gone[shipped.card_color(card), shipped.card_number(card)] += box[card] - deck[card]
    expected = {(colour, number): count for colour in range(5) for number, count in removed.items()}
    assert +gone == Counter(expected | ({(-1, 0): wild} if wild else {}))
    assert shipped.any_removed2_number == 5


def test_default_number_follows_from_roofs_and_superstructures(default: Components) -> None:
    for variant in default.variants:
        assert variant.number == variant.roofs - 1 + variant.superstructures, variant


def test_default_card_table(default: Components) -> None:
    # number, roofs, superstructures, copies, removed with three and two players, as on the rules page
    table = [
        (1, 2, 0, 4, 2, 2),
        (2, 2, 1, 2, 0, 1),
        (2, 3, 0, 2, 0, 1),
        (3, 3, 1, 2, 0, 1),
        (3, 4, 0, 2, 0, 1),
        (4, 3, 2, 1, 0, 1),
        (4, 4, 1, 2, 0, 1),
        (4, 5, 0, 1, 0, 0),
        (5, 4, 2, 1, 1, 0),
        (5, 5, 1, 1, 0, 0),
    ]
    assert default.variants == tuple(
        CardVariant(number, roofs, superstructures, (copies,) * 5, removed3, removed2)
        for number, roofs, superstructures, copies, removed3, removed2 in table
    )


def test_default_tiles(default: Components) -> None:
    assert default.tiles == (
        ("I2", "L3", "L4", "T5"),
        ("I2", "I3", "T4", "X5"),
        ("I2", "I3", "I4", "I5"),
        ("I2", "L3", "O4", "P5"),
        ("I2", "L3", "S4", "Z5"),
    )
    assert default.tile_copies == (3, 3, 3, 1)
    assert {name: "/".join(rows) for name, rows in default.shapes.items()} == {
        "I2": "XX",
        "I3": "XXX",
        "I4": "XXXX",
        "I5": "XXXXX",
        "L3": "X./XX",
        "L4": "X./X./XX",
        "O4": "XX/XX",
        "S4": ".XX/XX.",
        "T4": "XXX/.X.",
        "P5": "XX/XX/X.",
        "T5": "XXX/.X./.X.",
        "X5": ".X./XXX/.X.",
        "Z5": "X../XXX/..X",
    }


def test_default_cells_supplies_and_points(default: Components) -> None:
    assert [divmod(cell, 7) for cell in default.coats] == [
        (0, 1), (0, 5), (1, 6), (5, 6), (6, 5), (6, 1), (5, 0), (1, 0),
    ]  # fmt: skip
    assert [divmod(cell, 7) for cell in default.crosswalks] == [(0, 3), (3, 6), (6, 3), (3, 0)]
    assert default.statue == 24
    assert (default.wild_tiles, default.superstructures, default.hand_limit) == (12, 30, 7)
    assert default.bonus_cards == (3, 5, 7, 9)
    points = (default.points_row, default.points_column, default.points_crossing, default.points_line)
    assert points == (2, 2, 3, 1)
    assert default.costs == PUBLISHED_COSTS == (1,) * 15
    assert default.strengths == PUBLISHED_STRENGTHS == (6, 2, 0, 1, 1, 5, 1, 0, 1, 0, 1, 0, 0, 0, 2)


def test_default_prints_the_actions_in_id_order(default: Components) -> None:
    assert sum(default.action_rows, ()) == BOARD_ACTIONS
    assert [len(row) for row in default.action_rows] == [5, 5, 5]


# Every shipped file


def test_card_types_are_numbered_by_colour_then_variant(shipped: Components) -> None:
    card = 0
    for colour in range(len(COLORS)):
        for variant in shipped.variants:
            assert shipped.card_color(card) == colour
            assert shipped.card_number(card) == variant.number
            assert shipped.card_roofs(card) == variant.roofs
            assert shipped.card_superstructures(card) == variant.superstructures
            assert shipped.deck(4)[card] == variant.copies[colour]
            card += 1
    assert card == shipped.wild_type == shipped.types - 1
    assert (shipped.card_color(card), shipped.card_number(card)) == (-1, 0)
    assert (shipped.card_roofs(card), shipped.card_superstructures(card)) == (0, 0)


@pytest.mark.parametrize("card", [-1, 51])
def test_no_other_card_types(default: Components, card: int) -> None:
    for ask in (default.card_color, default.card_number, default.card_roofs, default.card_superstructures):
        with pytest.raises(ValueError, match=rf"card type: found {card}, expected 0 to 50"):
            ask(card)


def test_no_other_player_counts(default: Components) -> None:
    with pytest.raises(ValueError, match=r"players: found 5"):
        default.deck(5)


def test_shapes_have_the_roofs_of_their_tile(shipped: Components) -> None:
    for row in shipped.tiles:
        assert [sum(line.count("X") for line in shipped.shapes[name]) for name in row] == list(ROOFS)


def test_the_alternative_differs_in_what_the_tests_rely_on(default: Components) -> None:
    other = load_components("alternative")
    assert other.types == 46
    assert any(len(set(variant.copies)) > 1 for variant in other.variants)
    assert set(other.coats) != set(default.coats)
    assert not set(other.crosswalks) & set(default.crosswalks)
    assert other.strengths != default.strengths
    assert all(set(a) != set(b) for a, b in zip(other.action_rows, default.action_rows, strict=True))
    assert other.digest != default.digest


def test_hashable_picklable_and_read_once(shipped: Components) -> None:
    copy = pickle.loads(pickle.dumps(shipped))
    assert copy == shipped
    assert hash(copy) == hash(shipped)
    assert copy.digest == shipped.digest
    assert re.fullmatch(r"[0-9a-f]{16}", shipped.digest)
    assert load_components(shipped.name) is load_components(shipped.name)


# Files of one's own


def write(folder: Path, data: Any, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def content() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
    return data


def test_a_copy_has_the_same_digest_under_its_own_name(tmp_path: Path, default: Components) -> None:
    path = write(tmp_path, content())
    for copy in (load_components(path), load_components(str(path))):
        assert copy.name == "mine"
        assert copy.digest == default.digest
        assert copy != default


@pytest.mark.parametrize(
    "key",
    [
        ("superstructures",),
        ("tiles", "wild"),
        ("rules", "hand_limit"),
        ("rules", "points_row"),
        ("rules", "points_column"),
        ("rules", "points_crossing"),
        ("rules", "points_line"),
        *(("actions", name, "cost") for name in BOARD_ACTIONS),
        *(("actions", name, "strength") for name in STRENGTHS if name != "move_1_to_6"),
        ("cards", "variants", 3, "superstructures"),
    ],
    ids=lambda key: ".".join(map(str, key)),
)
def test_each_fact_counts_in_the_digest(tmp_path: Path, default: Components, key: tuple[str | int, ...]) -> None:
    data = content()
    at: Any = data
    for name in key[:-1]:
        at = at[name]
    at[key[-1]] += 1
    assert load_components(write(tmp_path, data)).digest != default.digest


def test_a_file_that_leaves_out_numbers_of_actions_means_the_box(tmp_path: Path, default: Components) -> None:
    data = content()
    del data["actions"]["any_side"]
    data["actions"]["move_back"] = {"strength": 1}
    assert load_components(write(tmp_path, data)).digest == default.digest
    del data["actions"]
    assert load_components(write(tmp_path, data)) == replace(default, name="mine")


def test_digests_are_those_of_the_first_files(default: Components) -> None:
    # records and runs contain them; the numbers of actions came later
    assert default.digest == "24d0092e1f05b79c"
    assert load_components("alternative").digest == "fabf21eb9599cf42"
    assert load_components("two_points_worth_five").digest == "2a0de01e3293b93b"


def test_one_count_stands_for_five_equal_ones(tmp_path: Path, default: Components) -> None:
    data = content()
    for variant in data["cards"]["variants"]:
        variant["copies"] = [variant["copies"]] * 5
    assert load_components(write(tmp_path, data)).digest == default.digest


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    data = content()
    path = write(tmp_path, data)
    assert load_components(path).superstructures == 30
    data["superstructures"] = 29
    changed = path.stat().st_mtime_ns + 1_000_000_000
    write(tmp_path, data)
    os.utime(path, ns=(changed, changed))
    assert load_components(path).superstructures == 29


def test_a_file_is_read_again_after_its_base_was_edited(tmp_path: Path) -> None:
    base = write(tmp_path, content(), "base.yaml")
    path = write(tmp_path, {"base": str(base), "fact": "superstructures", "reason": "a test", "superstructures": 28})
    before = load_components(path)
    assert before.superstructures == 28
    data = content()
    data["tiles"]["wild"] = int(data["tiles"]["wild"]) - 1
    changed = base.stat().st_mtime_ns + 1_000_000_000
    write(tmp_path, data, "base.yaml")
    os.utime(base, ns=(changed, changed))
    assert load_components(path).digest != before.digest


def test_the_smallest_deck_deals_the_display_and_two_cards_each(tmp_path: Path) -> None:
    data = content()
    data["cards"] |= {
        "variants": [VARIANT | {"number": 5, "copies": 2}],
        "wild": {"copies": 6, "removed_3_players": 2, "removed_2_players": 3},
        "totals": {"per_color": 2, "players_4": 16, "players_3": 14, "players_2": 12},
    }
    assert load_components(write(tmp_path, data)).deck_size(4) == 16


# Files with a mistake: where it is put, what is put there, and what the message has to name.

DROP = object()
V = ("cards", "variants")
VARIANT: dict[str, object] = {
    "number": 1,
    "roofs": 5,
    "superstructures": 0,
    "copies": 0,
    "removed_3_players": 0,
    "removed_2_players": 0,
}
MISTAKES: dict[str, tuple[tuple[str | int, ...], object, str]] = {
    # keys
    "unknown key": (("superstructure",), 3, "superstructure: no such key (found 3)"),
    "unknown inner key": (("rules", "point_row"), 3, "rules.point_row: no such key (found 3)"),
    "missing key": (("bonus_cards",), DROP, "bonus_cards: found nothing"),
    "missing inner key": (("cards", "wild", "copies"), DROP, "cards.wild.copies: found nothing"),
    "missing card key": ((*V, 4, "roofs"), DROP, "cards.variants[4].roofs: found nothing"),
    "missing colour": (("tiles", "shapes", "red"), DROP, "tiles.shapes.red: found nothing"),
    "no mapping": (("rules",), [1, 2], "rules: found [1, 2]"),
    # types
    "text for a number": (("superstructures",), "30", "superstructures: found '30'"),
    "truth for a number": (("rules", "points_line"), True, "rules.points_line: found True"),
    "fraction": (("tiles", "wild"), 12.0, "tiles.wild: found 12.0"),
    "nothing": (("rules", "hand_limit"), None, "rules.hand_limit: found None"),
    "number for a list": (V, 3, "cards.variants: found 3"),
    # ranges
    "number 0": ((*V, 0, "number"), 0, "cards.variants[0].number: found 0"),
    "number 9": ((*V, 9, "number"), 9, "cards.variants[9].number: found 9"),
    "six roofs": ((*V, 9, "roofs"), 6, "cards.variants[9].roofs: found 6"),
    "one roof": ((*V, 9, "roofs"), 1, "cards.variants[9].roofs: found 1"),
    "six superstructures": ((*V, 5, "superstructures"), 6, "variants[5].superstructures: found 6"),
    "negative copies": ((*V, 5, "copies"), -1, "cards.variants[5].copies: found -1"),
    "negative removal": ((*V, 5, "removed_2_players"), -1, "variants[5].removed_2_players: found -1"),
    "negative points": (("rules", "points_row"), -2, "rules.points_row: found -2"),
    "absurd points": (("rules", "points_line"), 11, "rules.points_line: found 11"),
    "a number of an action among the rules": (("rules", "points_two_points"), 2, "rules.points_two_points: found 2"),
    "no hand": (("rules", "hand_limit"), 0, "rules.hand_limit: found 0"),
    "too many wild tiles": (("tiles", "wild"), 49, "tiles.wild: found 49"),
    # actions
    "no actions": (("actions",), ["any_side"], "actions: found ['any_side']"),
    "unknown action with numbers": (("actions", "any_sides"), {}, "actions.any_sides: no such key"),
    "action without keys": (("actions", "any_side"), 2, "actions.any_side: found 2"),
    "unknown number": (("actions", "any_side", "price"), 2, "actions.any_side.price: no such key (found 2)"),
    "too dear": (("actions", "move_back", "cost"), 4, "actions.move_back.cost: found 4"),
    "paid for being used": (("actions", "any_side", "cost"), -1, "actions.any_side.cost: found -1"),
    "half a coat": (("actions", "any_side", "cost"), 0.5, "actions.any_side.cost: found 0.5"),
    "a truth for a cost": (("actions", "any_side", "cost"), True, "actions.any_side.cost: found True"),
    "a cost of nothing": (("actions", "any_side", "cost"), None, "actions.any_side.cost: found None"),
    "no number to be strong by": (("actions", "any_side", "strength"), 1, "actions.any_side.strength: found 1"),
    **{
        f"{name} {value}": (
            ("actions", name, "strength"),
            value,
            f"actions.{name}.strength: found {value}",
        )
        for name, known in STRENGTHS.items()
        for value in (known.least - 1, known.most + 1)
    },
    # tiles and shapes
    "three sizes": (("tiles", "copies"), [3, 3, 4], "tiles.copies: found [3, 3, 4]"),
    "tile total": (("tiles", "total"), 51, "tiles.total: found 51"),
    "too many small tiles": (("tiles", "copies"), [5, 3, 1, 1], "tiles.copies: found [5, 3, 1, 1]"),
    "unknown shape": (("tiles", "shapes", "blue", 3), "T6", "tiles.shapes.blue[3]: found 'T6'"),
    "shape of another size": (("tiles", "shapes", "red", 1), "L4", "tiles.shapes.red[1]: found 'L4'"),
    "too few shapes": (("tiles", "shapes", "red"), ["I2"], "tiles.shapes.red: found ['I2']"),
    "unknown colour": (("tiles", "shapes", "orange"), ["I2"], "tiles.shapes.orange: no such key (found ['I2'])"),
    "in two pieces": (("shapes", "L3"), "X../.XX", "shapes.L3: found 'X../.XX'"),
    "wrong character": (("shapes", "I3"), "XxX", "shapes.I3: found 'XxX'"),
    "uneven rows": (("shapes", "L3"), "X/XX", "shapes.L3: found 'X/XX'"),
    "empty margin": (("shapes", "L3"), "X../XX.", "shapes.L3: found 'X../XX.'"),
    "no cell at all": (("shapes", "L3"), "/", "shapes.L3: found '/'"),
    "one roof drawn": (("shapes", "I1"), "X", "shapes.I1: found 'X'"),
    "six roofs drawn": (("shapes", "I6"), "XXX/XXX", "shapes.I6: found 'XXX/XXX'"),
    "too long": (("shapes", "I5"), "XXXXXX", "shapes.I5: found 'XXXXXX'"),
    "no drawing": (("shapes", "I5"), 5, "shapes.I5: found 5"),
    "empty drawing": (("shapes", "I5"), "", "shapes.I5: found ''"),
    "a name that is a number": (("shapes", 5), "XX", "shapes.5: found 5"),
    "no shapes": (("shapes",), {}, "shapes: found {}"),
    # cards
    "no variants": (V, [], "cards.variants: found 0 variants"),
    "too many variants": (V, [VARIANT] * 19, "cards.variants: found 19 variants"),
    "same face twice": (
        (*V, 9),
        VARIANT | {"number": 5, "roofs": 4, "superstructures": 2},
        "cards.variants[9]: found (5, 4, 2)",
    ),
    "four colours": ((*V, 0, "copies"), [4, 4, 4, 4], "variants[0].copies: found [4, 4, 4, 4]"),
    "a colour too many": ((*V, 0, "copies"), [4, 4, 5, 4, 4], "cards.totals.per_color: found 18"),
    "a card too few": ((*V, 0, "copies"), 3, "cards.totals.per_color: found 18"),
    "removes more than there are": ((*V, 5, "removed_2_players"), 2, "cards.variants[5].removed_2_players: found 2"),
    "removes more than a colour has": (
        (*V, 0, "copies"),
        [5, 5, 5, 5, 1],
        "cards.variants[0].removed_3_players: found 2",
    ),
    "removes more wild cards": (("cards", "wild", "removed_2_players"), 11, "cards.wild.removed_2_players: found 11"),
    "total of four players": (("cards", "totals", "players_4"), 99, "cards.totals.players_4: found 99"),
    "total of three players": (("cards", "totals", "players_3"), 80, "cards.totals.players_3: found 80"),
    "total of two players": (("cards", "totals", "players_2"), 54, "cards.totals.players_2: found 54"),
    "more cards than the box": (("cards", "wild", "copies"), 11, "cards: found 101 cards"),
    "total above the box": (("cards", "totals", "players_4"), 101, "totals.players_4: found 101"),
    "none of that number": (("cards", "any_removed_2_players"), 6, "cards.any_removed_2_players: found 6"),
    # the board
    "seven coats": (("board", "coats"), [[0, 1]] * 7, "board.coats: found"),
    "five crosswalks": (("board", "crosswalks"), [[0, 3]] * 5, "board.crosswalks: found"),
    "off the board": (("board", "coats", 2), [1, 7], "board.coats[2][1]: found 7"),
    "no cell": (("board", "coats", 2), 13, "board.coats[2]: found 13"),
    "coat twice": (("board", "coats", 7), [0, 1], "board.coats[7]: found [0, 1]"),
    "on the statue": (("board", "crosswalks", 1), [3, 3], "board.crosswalks[1]: found [3, 3]"),
    # actions and bonus cards
    "unknown action": (("action_rows", "top", 0), "move_1_to_7", "action_rows.top[0]: found 'move_1_to_7'"),
    "action twice": (("action_rows", "bottom", 4), "any_side", "action_rows.bottom[4]: found 'any_side'"),
    "row of four": (("action_rows", "middle"), ["any_side"] * 4, "action_rows.middle: found"),
    "action by id": (("action_rows", "top", 1), 1, "action_rows.top[1]: found 1"),
    "list for an action": (("action_rows", "top", 1), ["any_side"], "action_rows.top[1]: found ['any_side']"),
    "three bonus cards": (("bonus_cards",), [3, 5, 7], "bonus_cards: found [3, 5, 7]"),
    "equal bonus cards": (("bonus_cards",), [3, 5, 5, 9], "bonus_cards: found [3, 5, 5, 9]"),
    "bonus cards out of order": (("bonus_cards",), [9, 7, 5, 3], "bonus_cards: found [9, 7, 5, 3]"),
    "worthless bonus card": (("bonus_cards", 0), 0, "bonus_cards[0]: found 0"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_and_named(tmp_path: Path, mistake: str) -> None:
    keys, value, expected = MISTAKES[mistake]
    data = content()
    at: Any = data
    for key in keys[:-1]:
        at = at[key]
    if value is DROP:
        del at[keys[-1]]
    else:
        at[keys[-1]] = value
    path = write(tmp_path, data)
    with pytest.raises(ComponentError) as caught:
        load_components(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert expected in message
    assert ": no such key" in message or ", expected " in message
    assert "\n" not in message


def test_the_unchanged_content_is_accepted(tmp_path: Path, default: Components) -> None:
    # Otherwise the table above could pass for a wrong reason.
    assert load_components(write(tmp_path, content())).digest == default.digest


def test_a_deck_too_small_to_deal(tmp_path: Path) -> None:
    data = content()
    data["cards"] |= {
        "variants": [VARIANT | {"number": 5, "copies": 2}],
        "wild": {"copies": 5, "removed_3_players": 0, "removed_2_players": 0},
        "totals": {"per_color": 2, "players_4": 15, "players_3": 15, "players_2": 14},
    }
    with pytest.raises(ComponentError, match=r"cards\.totals\.players_4: found 15"):
        load_components(write(tmp_path, data))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shapes: [", "cannot be read as YAML"),
        ("superstructures: 30\nsuperstructures: 31\n", "the key 'superstructures' twice"),
        ("[1, 2]", "found [1, 2]"),
        ("1: 2", "1: no such key (found 2)"),
        ("", "tiles: found nothing"),
        ("shapes: !!python/object/apply:os.getcwd []", "cannot be read as YAML"),
        ("? [a, {b: c}]\n: d", "cannot be read as YAML"),
    ],
    ids=["syntax", "key twice", "list", "number as key", "empty", "code", "unhashable key"],
)
def test_text_that_is_no_component_file(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ComponentError, match=re.escape(expected)):
        load_components(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ComponentError, match="cannot be read as UTF-8"):
        load_components(path)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ComponentError, match=r"found 'defualt', .*one of alternative, .*did you mean 'default'"):
        load_components("defualt")


@pytest.mark.parametrize("name", ["nowhere/mine", "mine.yaml", Path("mine")])
def test_a_path_that_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ComponentError, match=rf"components: found '{name}', expected"):
        load_components(name)
