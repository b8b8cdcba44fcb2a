"""Data from outside: hostile text gives one clear error quickly, and values are checked when they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from helsinki_env.data import (
    Node,
    choices_text,
    parse_json,
    parse_yaml,
    parsing,
    read_json,
    read_yaml,
    short_repr,
    shorten,
)


class WrongError(ValueError):
    """The error class of the tests."""


# Text


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
YAML = {
    "brackets": ("a: " + "[" * 100_000, "line 1: found more than 40 nested lists and mappings"),
    "mappings": ("{a: " * 100_000, "found more than 40 nested lists and mappings"),
    "alias bomb": (BOMB, "line 6: found more than 1,000,000 values"),
    "alias within itself": ("a: &a [*a]", "found the alias 'a'"),
    "alias of nothing": ("a: *b", "found the alias 'b'"),
    "no number": ("a: 1\nb: !!int ''", "line 2: found ''"),
    "no number either": ("a: 0b_", "found '0b_'"),
    "no fraction": ("a: !!float x", "found 'x'"),
    "no truth": ("a: !!bool perhaps", "found 'perhaps'"),
    "timestamp": ("a: !!timestamp x", "found 'x' of the type 'timestamp'"),
    "a date": ("a: 2026-02-30", "found '2026-02-30' of the type 'timestamp'"),
    "bytes": ("a: !!binary '#'", "found '#' of the type 'binary'"),
    "set": ("a: !!set {b, c}", "found the type 'tag:yaml.org,2002:set'"),
    "code": ("a: !!python/object/apply:os.getcwd []", "python/object/apply:os.getcwd', expected a plain list"),
    "merged": ("a: {<<: {b: 1}}", "found '<<' of the type 'merge'"),
    "list for a key": ("? [a, {b: c}]\n: d", "found an invalid key"),
    "truth for a key": ("true: 1", "found an invalid key"),
    "key twice": ("a: {b: 1, c: 2, b: 3}", "found the key 'b' twice"),
    "number twice": ("a: {2: 1, 0x2: 3}", "found the key 2 twice"),
    "digits": ("a: " + "9" * 5000, "found '999999"),
    "two documents": ("a: 1\n---\nb: 2", "line 2: found a second document"),
    "cut off": ("a: [1, 2", "cannot be read as YAML"),
    "no character": ("a: \x00", "characters are not allowed"),
}
JSON = {
    "brackets": ("[" * 100_000, "found more than 40 nested lists and mappings"),
    "mappings": ('{"a": ' * 100_000, "found more than 40 nested lists and mappings"),
    "brackets after text": ('["\\"[[[", ' + "[" * 100, "found more than 40 nested lists"),
    "key twice": ('{"a": 1, "b": 2, "a": 3}', "found the key 'a' twice"),
    "no number": ('{"a": NaN}', "found NaN"),
    "endless": ('{"a": -Infinity}', "found -Infinity"),
    "too large": ('{"a": 1e999}', "found 1e999"),
    "digits": ("9" * 5000, "thousands of digits"),
    "cut off": ('{"a', "Unterminated string starting at (line 1, column 2)"),
    "nothing": ("", "Expecting value (line 1, column 1)"),
}


@pytest.fixture(params=["libyaml", "python"])
def parsers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every PyYAML is built with the parser in C."""
    if request.param == "python":
        monkeypatch.setattr(parsing._Yaml, "_LOADER", yaml.SafeLoader)


def check_refused(parse: Callable[..., object], kind: str, text: str, expected: str) -> None:
    name = f"some.{kind.lower()}"
    with pytest.raises(WrongError) as caught:
        parse(text, WrongError, name)
    message = str(caught.value)
    assert message.startswith(f"{name}: cannot be read as {kind}: ")
    assert expected in message
    assert len(message) < 500
    assert "\n" not in message


@pytest.mark.usefixtures("parsers")
@pytest.mark.parametrize("case", YAML)
def test_yaml_that_is_refused(case: str) -> None:
    check_refused(parse_yaml, "YAML", *YAML[case])


@pytest.mark.parametrize("case", JSON)
def test_json_that_is_refused(case: str) -> None:
    check_refused(parse_json, "JSON", *JSON[case])


@pytest.mark.usefixtures("parsers")
def test_plain_yaml_is_read_as_pyyaml_reads_it() -> None:
    text = (
        "# what files hold\na: {b: [1, -2, 0x1F, 1_000, 1.5, 1e3, .inf], 2: yes, c: no, d: null, e: ~}\n"
        "text: plain\nquoted: '1'\nlong: |\n  two\n  lines\ntagged: !!str 5\nempty:\n- x\n- []\n- {}\n"
        "one: &one {x: [1]}\nagain: *one\n"
    )
    assert parse_yaml(text, WrongError).value == yaml.safe_load(text)
    assert parse_yaml("", WrongError).value == {}
    assert parse_yaml("# nothing", WrongError).value == {}


def test_what_may_be_deep_and_wide_is_read() -> None:
    text = "[" * 40 + "]" * 40
    assert parse_json(text, WrongError).value == parse_yaml(text, WrongError).value
    many = {f"name {i}": i for i in range(60_000)}
    assert parse_yaml("".join(f"{key}: {i}\n" for key, i in many.items()), WrongError).value == many
    brackets = '{"a": "' + "[" * 1000 + '"}'
    assert parse_json(brackets, WrongError)["a"].value == "[" * 1000


@pytest.mark.parametrize(("read", "most"), [(read_yaml, 2**20), (read_json, 2**26)])
def test_files_that_cannot_be_read(tmp_path: Path, read: Callable[..., Node], most: int) -> None:
    path = tmp_path / "some"
    for content, expected in (
        (None, "cannot be read: No such file or directory"),
        (b"\xff\xfe", "cannot be read as UTF-8"),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(WrongError) as caught:
            read(path, WrongError)
        assert str(caught.value).startswith(f"{path}: {expected}")
    with path.open("wb") as file:
        file.truncate(most + 1)
    with pytest.raises(WrongError, match=f"found more than {most:,} bytes, expected a smaller file"):
        read(path, WrongError)
    with pytest.raises(WrongError, match="cannot be read: File name too long") as caught:
        read(Path("x" * 5000), WrongError)
    assert len(str(caught.value)) < 300
    with pytest.raises(WrongError, match="cannot be read: Is a directory"):
        read(tmp_path, WrongError)


# Values


def test_where_a_value_stands_is_said() -> None:
    tables = parse_json('{"tables": [{"a b": 1}, {"x\\n": {"y": 2}}]}', WrongError, "run.json")["tables"].entries("")
    assert tables[0]["a b"].path == "tables[0].a b"
    for entry, expected in (
        (tables[1]["x\n"]["y"], "run.json: tables[1].'x\\n'.y: found 2, expected a word"),
        (tables[1]["z"], "run.json: tables[1].z: found nothing, expected a word"),
        (Node(5, WrongError, what="the plan"), "the plan: found 5, expected a word"),
        (Node(5, WrongError, "name"), "name: found 5, expected a word"),
        (Node([5], WrongError, file="a.json"), "a.json: found [5], expected a word"),
        (Node({"x" * 5000: 5}, WrongError)["x" * 5000], f"'{'x' * 47}...{'x' * 48}': found 5, expected a word"),
    ):
        with pytest.raises(WrongError) as caught:
            entry.fail("a word")
        assert str(caught.value) == expected


TAKEN: dict[str, tuple[Callable[[Node], Any], list[Any], list[Any], str]] = {
    "integer": (
        lambda entry: entry.integer(0, 9),
        [0, 9, np.int8(3)],
        [-1, 10, True, 2.0, "3", None, [1], float("nan"), np.bool_(True), 10**10_000],
        "a whole number from 0 to 9",
    ),
    "without an end": (
        lambda entry: entry.integer(1),
        [1, 2**63 - 1],
        [0, 1.5, -(10**30)],
        "a whole number of at least 1",
    ),
    "beyond 64 bits": (lambda entry: entry.integer(1), [], [2**63], f"a whole number from 1 to {2**63 - 1:,}"),
    "number": (
        lambda entry: entry.number(0, 1),
        [0, 1, 0.5, np.float32(0.25)],
        [-0.1, 1.1, True, "0.5", None, float("nan"), float("inf"), 10**400, 1j, [0.5]],
        "a number from 0 to 1",
    ),
    "at least": (lambda entry: entry.number(0), [0, 1e300], [float("inf"), float("nan"), -1], "a number of at least 0"),
    "above": (lambda entry: entry.number(0, inside=True), [1e-9], [0, float("inf")], "a number above 0"),
    "between": (lambda entry: entry.number(0, 1, inside=True), [0.5], [0, 1], "a number between 0 and 1"),
    "flag": (lambda entry: entry.boolean(), [True, False], [1, "yes", None], "True or False"),
    "text": (lambda entry: entry.text("a name"), ["a", "é"], ["", "  ", 3, None, ["a"]], "a name"),
    "short text": (lambda entry: entry.text("a name"), ["x" * 1000], ["x" * 1001], "a name of at most 1,000 char"),
    "choice": (lambda entry: entry.choice(["win", "rank"]), ["win"], ["wins", 3, ["win"]], "one of win, rank"),
    "entries": (lambda entry: [e.value for e in entry.entries("x")], [[], [1]], [{}, "ab", 3, None], "a list of x"),
    "some": (lambda entry: [e.value for e in entry.entries("x", least=1)], [[1]], [[]], "a list of x"),
    "two": (lambda entry: [e.value for e in entry.entries("x", length=2)], [[1, 2]], [[1]], "a list of 2 x"),
    "mapping": (lambda entry: entry.mapping(["a"]).value, [{}, {"a": 1}], [[], "a", 3], "a mapping of some of a"),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_values_are_taken_out_and_checked(kind: str) -> None:
    take, good, bad, expected = TAKEN[kind]
    for value in good:
        taken = take(Node(value, WrongError))
        assert taken == value
        assert not isinstance(taken, np.generic)
    for value in bad:
        with pytest.raises(WrongError) as caught:
            take(Node(value, WrongError, "key"))
        assert str(caught.value).startswith(f"key: found {short_repr(value)}, expected {expected}")


def test_unknown_keys_are_named_with_those_they_may_stand_for() -> None:
    with pytest.raises(WrongError, match=r"^a\.jason: no such key \(found 3\)"):
        Node({"a": {"jason": 3}}, WrongError)["a"].mapping(["json", "yaml"])
    with pytest.raises(WrongError) as caught:
        Node({"j" * 5000: ["x" * 5000] * 5000}, WrongError).mapping(["json"])
    assert len(str(caught.value)) < 400


@dataclass
class Part:
    size: int
    name: str = "part"

    def __post_init__(self) -> None:
        Node(self.size, ValueError, "size").integer(1)
        if self.name == "nobody":
            raise ValueError("there is no such player")


def test_a_dataclass_checks_itself_and_the_place_is_added() -> None:
    whole = Node({"parts": [{"size": 2}, {"size": 0}, {}, {"size": 1, "name": "nobody"}, {"sise": 1}]}, WrongError)
    good, *bad = whole["parts"].entries("parts")
    assert good.build(Part) == Part(2)
    messages = []
    for entry in bad:
        with pytest.raises(WrongError) as caught:
            entry.build(Part)
        messages.append(str(caught.value))
    assert messages == [
        "parts[1].size: found 0, expected a whole number of at least 1",
        "parts[2].size: found nothing, expected a whole number of at least 1",
        "parts[3]: there is no such player",
        "parts[4].sise: no such key (found 1), expected one of size, name; did you mean 'size'?",
    ]


# Messages


def test_what_is_shown_stays_short() -> None:
    bomb: Any = ["x"]
    for _ in range(40):
        bomb = [bomb] * 9
    endless: list[Any] = []
    endless.append(endless)
    for value in (
        bomb,
        endless,
        "x" * 10**6,
        {str(i): i for i in range(10**5)},
        10**10_000,
        np.zeros(10**6),
        b"x" * 999,
    ):
        assert len(short_repr(value)) <= 160
    assert short_repr(10**10_000) == "a number of 33,220 bits"
    assert (short_repr("a"), short_repr([1, "b"]), short_repr({2: None})) == ("'a'", "[1, 'b']", "{2: None}")
    assert shorten("x" * 160) == "x" * 160
    assert len(shorten("x" * 5000)) == 160


def test_suggestions_do_not_take_long_either() -> None:
    assert choices_text(["win", "rank"], "wim") == "one of win, rank; did you mean 'win'?"
    assert choices_text(["win", "rank"], "w" * 10**6) == "one of win, rank"
    assert choices_text([str(i) for i in range(60_000)], "x").endswith("18, 19 and 59980 more")
    assert len(choices_text(["w" * 5000, "x" * 5000], "x")) < 1100


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    """Editors of Windows put one before what they save."""
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"a": 1}\n')
    assert read_json(path, WrongError).value == read_yaml(path, WrongError).value == {"a": 1}
    assert parse_json('\ufeff{"a": 1}', WrongError).value == {"a": 1}
    assert parse_yaml("\ufeffa: 1\n", WrongError).value == {"a": 1}
