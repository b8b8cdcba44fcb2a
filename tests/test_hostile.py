"""Every reader gets the same hostile texts, and valid data with one value changed at a time.

Whatever is found ends in the reader's own error, in a line of readable length that names the file; nothing else is
raised, and nothing takes long. What each reader says of its own mistakes is tested beside it.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pytest
import yaml

from helsinki_env.agents.net.description import CheckpointError, network_description, parse_description
from helsinki_env.agents.registry import PlayerError, is_code, make_player, player_files
from helsinki_env.cli.main import main
from helsinki_env.data import Node, with_digest
from helsinki_env.engine.configuration import ConfigError
from helsinki_env.engine.positions import PositionError
from helsinki_env.engine.spec import config_from_dict, config_from_yaml, config_to_dict
from helsinki_env.evaluation.arena.load import load_run
from helsinki_env.evaluation.arena.plan import ArenaError, Plan, plan_from_dict, plan_from_yaml
from helsinki_env.evaluation.arena.store import RunFolder, decode_results, encode_results, read_metadata
from helsinki_env.evaluation.balance.helsinki.report import chapters
from helsinki_env.evaluation.balance.helsinki.results import _results_in, read_results, read_study
from helsinki_env.evaluation.balance.helsinki.retraining import RetrainingConfig
from helsinki_env.evaluation.balance.helsinki.study import StudyConfig, StudyError
from helsinki_env.evaluation.balance.helsinki.tune.config import TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.results import read_found
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.certificate import read_certificate
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet, ReferenceRatings
from helsinki_env.evaluation.gauntlet.leaderboard import rated_table
from helsinki_env.evaluation.play import GameResults
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.report import rating_report_files, read_report
from helsinki_env.games.copenhagen import components as copenhagen_components
from helsinki_env.games.helsinki import components as helsinki_components
from helsinki_env.records import Record, RecordError, read_records, record_digest
from helsinki_env.utils.yaml_files import configs_folder
from tests.copenhagen.test_position import paying
from tests.games import GAMES as TESTED
from tests.games import TestedGame
from tests.test_data import BOMB

pytestmark = pytest.mark.thorough

LONG = "x" * 5000
DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass
class Reader:
    """How a file is read.

    Attributes:
        read: the file at this path.
        error: what it may raise.
        path: of the file, from a folder on.
    """

    read: Callable[[Path], Any]
    error: type[ValueError]
    path: str


def training(name: str) -> Any:
    """The functions of the module of presets, which needs PyTorch."""
    pytest.importorskip("torch", reason="needs the extra train")
    from helsinki_env.training import preset

    return vars(preset)[name]


@cache
def the_gauntlet() -> tuple[Gauntlet, ReferenceRatings]:
    gauntlet = Gauntlet.from_yaml("helsinki")
    return gauntlet, ReferenceRatings.of(gauntlet)


#: The modules of component files.
COMPONENTS = {"helsinki": helsinki_components, "copenhagen": copenhagen_components}
YAML = {
    "any game": Reader(config_from_yaml, ConfigError, "some.yaml"),
    **{f"{game.name} game": Reader(game.spec.config.from_yaml, ConfigError, "some.yaml") for game in TESTED},
    **{
        f"{name} components": Reader(module.load_components, module.ComponentError, "some.yaml")
        for name, module in COMPONENTS.items()
    },
    "arena": Reader(plan_from_yaml, ArenaError, "some.yaml"),
    "study": Reader(StudyConfig.from_yaml, StudyError, "some.yaml"),
    "preset": Reader(lambda path: training("Preset").from_yaml(path), ValueError, "some.yaml"),
    "gauntlet": Reader(Gauntlet.from_yaml, GauntletError, "some.yaml"),
    "tuning": Reader(TuneConfig.from_yaml, StudyError, "some.yaml"),
    "retraining": Reader(RetrainingConfig.from_yaml, StudyError, "some.yaml"),
}
JSON = {
    "run": Reader(lambda path: RunFolder.open(path.parent), ArenaError, "run.json"),
    "study": Reader(lambda path: read_study(path.parent), StudyError, "study.json"),
    "results": Reader(read_results, StudyError, "balance.json"),
    "records": Reader(lambda path: list(read_records(path)), RecordError, "games.jsonl"),
    "ratings": Reader(read_report, RatingError, "ladder.json"),
    "found": Reader(read_found, StudyError, "tune.json"),
    "certificate": Reader(lambda path: read_certificate(path, *the_gauntlet()), GauntletError, "certificate.json"),
    "description": Reader(
        lambda path: parse_description(path, path.read_text(), "a file"), CheckpointError, "net.safetensors"
    ),
}

#: Texts that are no useful JSON or YAML.
TEXTS = {
    "brackets": "[" * 100_000,
    "mappings": '{"a": ' * 100_000,
    "deep but closed": "[" * 900 + "]" * 900,
    "number": "5",
    "text": '"text"',
    "list": "[1, 2]",
    "list of mappings": '[{"a": 1}]',
    "list for a value": '{"seed": [1], "matchups": [1], "classes": [1], "config": [1], "helsinki": [1]}',
    "number for a mapping": json.dumps(
        {"game": 1, "rules": 2, "shapes": 3, "network": 4, "qualification": 5, "covers": 6, "arena": 2}
    ),
    "key twice": '{"seed": 1, "seed": 2}',
    "long key": json.dumps({LONG: 1}),
    "long value": json.dumps({"seed": LONG, "num_players": LONG, "helsinki": LONG, "types": LONG}),
    "many keys": json.dumps({f"name {i}": i for i in range(60_000)}),
    "many digits": f'{{"seed": {"9" * 5000}}}',
    "no number": '{"seed": NaN, "num_players": NaN, "minutes": NaN}',
    "endless": '{"seed": 1e999}',
    "half a character": '{"\\ud800": "\\ud800"}',
    "a name with lines": '{"a\\nb": "\\u001b[31m"}',
    "cut off": '{"seed": [1, 2',
    "no text at all": "\x00\x01",
}
YAML_TEXTS = {
    "alias bomb": BOMB,
    "alias bomb below a key": "matchups:\n  " + BOMB.replace("\n", "\n  "),
    "no number": "seed: !!int ''",
    "no moment": "seed: !!timestamp x",
    "code": "seed: !!python/object/apply:os.getcwd []",
    "large number": "num_players: 0x" + "f" * 10_000 + "\nseed: 0x" + "f" * 10_000,
    "without a seed": "classes: [{player: random, games: {2: 3}}]",
}


def check(reader: Reader, folder: Path, text: str) -> None:
    path = folder / reader.path
    path.write_text(text, encoding="utf-8")
    with pytest.raises(reader.error) as caught:
        reader.read(path)
    message = str(caught.value)
    assert str(path) in message
    assert len(message) < 1000
    assert message.isprintable()


@pytest.mark.parametrize("kind", YAML)
@pytest.mark.parametrize("text", [*TEXTS, *YAML_TEXTS])
def test_hostile_yaml_is_refused_in_one_line(kind: str, text: str, tmp_path: Path) -> None:
    check(YAML[kind], tmp_path, (TEXTS | YAML_TEXTS)[text])


@pytest.mark.parametrize("kind", JSON)
@pytest.mark.parametrize("text", TEXTS)
def test_hostile_json_is_refused_in_one_line(kind: str, text: str, tmp_path: Path) -> None:
    check(JSON[kind], tmp_path, TEXTS[text])


@pytest.mark.parametrize("reader", [*YAML.values(), *(JSON[kind] for kind in ("run", "study", "records"))])
def test_bytes_that_are_no_text_and_files_that_are_not_there(reader: Reader, tmp_path: Path) -> None:
    for content in (b"\xff\xfe{}", None):
        path = tmp_path / reader.path
        path.unlink(missing_ok=True) if content is None else path.write_bytes(content)
        with pytest.raises(reader.error):
            reader.read(path)


@pytest.mark.parametrize("text", TEXTS)
def test_damaged_notes_beside_games_count_as_none(text: str, tmp_path: Path) -> None:
    note = tmp_path / "00-00000-00000.json"
    note.write_text(TEXTS[text], encoding="utf-8")
    assert read_metadata(note, 2) is None  # and the chunk is played again


GAMES, SEATS = 3, 2
#: How a file of games may be another one.
GAMES_CHANGED: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda content: b"",
    "a byte": lambda content: content[:1],
    "one game": lambda content: content[: len(content) // 4],
    "cut off": lambda content: content[:-1],
    "a decision gone": lambda content: content[:-2],
    "a decision more": lambda content: content + b"\0\0",
    "twice": lambda content: content * 2,
    "numbers as large as they can be": lambda content: b"\xff\x7f" * len(content),
    "negative numbers": lambda content: b"\xff" * len(content),
    "no decisions": lambda content: bytes(len(content)),
    "text": lambda content: json.dumps(TEXTS).encode(),
}


def outcome() -> GameResults:
    """What may have come out of games, for the form of a file."""
    by_seat = np.arange(GAMES * SEATS, dtype=np.int16).reshape(GAMES, SEATS)
    decisions = tuple(np.arange(n, dtype=np.int16) for n in by_seat.sum(axis=1).tolist())
    rounds = np.arange(GAMES, dtype=np.int16)
    return GameResults(by_seat * 2, by_seat.astype(np.int8), rounds, by_seat - 1, by_seat, decisions)


def test_a_file_of_games_holds_what_came_out() -> None:
    written, found = outcome(), decode_results(encode_results(outcome()), GAMES, SEATS)
    for name in ("scores", "places", "rounds", "used", "seat_decisions"):
        array = getattr(found, name)
        np.testing.assert_array_equal(array, getattr(written, name))
        assert array.dtype == getattr(written, name).dtype
        assert array.flags.c_contiguous
    assert [each.tolist() for each in found.decisions] == [each.tolist() for each in written.decisions]
    assert {each.dtype for each in found.decisions} == {np.dtype(np.int16)}


@pytest.mark.parametrize("change", GAMES_CHANGED)
def test_hostile_files_of_games_are_refused_in_one_line(change: str) -> None:
    with pytest.raises(ArenaError) as caught:
        decode_results(GAMES_CHANGED[change](encode_results(outcome())), GAMES, SEATS)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", [text for text in TEXTS if text not in ("half a character", "a name with lines")])
def test_a_damaged_list_of_networks_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    check(
        Reader(
            lambda path: RunFolder(path.parent, plan_from_dict(PLANS["helsinki"])).networks, ArenaError, "networks.json"
        ),
        tmp_path,
        TEXTS[text],
    )


# One value changed at a time

REPLACED: tuple[Any, ...] = (
    *(None, True, -1, 0.5, 10**30, float("nan"), "", "x", LONG),
    *([], [1], {}, {"x": 1}, [[LONG] * 9] * 9),
)
GONE = object()


def changed(data: Any, every: int) -> Iterator[tuple[str, Any]]:
    """Yield copies of plain data in which one value is another one, or gone, and which it is."""
    paths = [path for path in _paths(data) if path]
    for path, value in islice(product(paths, (GONE, *REPLACED)), 0, None, every):
        new = copy.deepcopy(data)
        at = new
        for key in path[:-1]:
            at = at[key]
        if value is GONE:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        yield f"{path}: {str(value)[:40]}", new


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if not isinstance(key, int) or key < 3:  # what follows is alike
            yield from _paths(value, (*path, key))


def shipped(kind: str, name: str) -> Any:
    return yaml.safe_load((configs_folder() / kind / f"{name}.yaml").read_text(encoding="utf-8"))


_COPENHAGEN = {"game": "copenhagen", "num_players": 3, "denied": [[], [3], ["both_actions", 1]]}
#: Tournaments with a value under every key.
PLANS: dict[str, dict[str, Any]] = {
    "helsinki": {
        "seed": 3,
        "unit_games": 9,
        "matchups": [
            {
                "name": "a",
                "seats": 2,
                "players": ["random", "greedy"],
                "games": 4,
                "screening": {"copies": 1, "sizes": [0, 3]},
            },
            {
                "lineups": [["random", "random", "greedy"]],
                "game": {"num_players": 3},
                "cover": {"size": 5, "only": [1, 2]},
            },
            {"players": ["greedy"], "game": "default", "boards": {"covered": [0, 5]}, "games": 3},
            {"players": ["greedy"], "handicap": {"denied": [["two_points"], []]}},
        ],
    },
    "copenhagen": {
        "seed": 3,
        "unit_games": 9,
        "matchups": [
            {"name": "a", "game": "copenhagen", "seats": 3, "players": ["random", "greedy"], "games": 4},
            {"lineups": [["random", "random", "greedy"]], "game": _COPENHAGEN},
            {"players": ["greedy"], "game": {"game": "copenhagen"}, "boards": {"denied": [0, 3]}, "games": 3},
        ],
    },
}
#: Games with a value under every key.
CONFIGS: dict[str, dict[str, Any]] = {
    "helsinki": {
        "num_players": 3,
        "covered": ["two_points", 1],
        "denied": [[], [3], []],
        "dry_roads": True,
        "reward": "rank",
    },
    "copenhagen": {**_COPENHAGEN, "components": "copenhagen", "reward": "margin"},
}


def record(game: TestedGame) -> dict[str, Any]:
    played = game.spec.game(game.spec.config(), seed=1)
    decisions = []
    for _ in range(5):
        decisions.append(int(played.legal_actions()[0]))
        played.step(decisions[-1])
    result = {"places": [1, 0]} if game.spec.allows_ties else {"ranking": [1, 0]}
    return {**Record.of(played, 1, ["a", "b"], decisions).to_dict(), "scores": [3, 4], **result}


def read_run(data: dict[str, Any]) -> Plan:
    """A user's plan with a valid digest."""
    told = {key: value for key, value in data.items() if key != "digest"}
    return Plan.from_dict(with_digest(told))


def rich_position(game: TestedGame) -> dict[str, Any]:
    """A position with something of everything, in the middle of a decision."""
    spec: Any = game.spec
    position: dict[str, Any] = spec.to_dict(game.built(random.Random(3))) if game.name == "helsinki" else paying()
    return position


def results() -> dict[str, Any]:
    """What a study found, with little of what comes often."""
    path = Path(__file__).resolve().parent.parent / "docs" / "balance" / "balance.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for key in ("qualification", "pairs", "variants", "quality", "skill", "covers"):
        del data[key][1:]
    data["screening"] = [entry for entry in data["screening"] if entry["players"] == 2]
    for entry in data["covers"]:
        del entry["again"][1:]
        entry["distribution"] = {key: values[:3] for key, values in entry["distribution"].items()}
    return {key: value for key, value in data.items() if key not in ("digest", "conclusions", "summary")}


def read_and_report(data: dict[str, Any]) -> None:
    """The text of a report on a user's data with a valid digest."""
    list(chapters(_results_in(Node(with_digest(data), StudyError, file="balance.json"))))


def ratings() -> dict[str, Any]:
    """A report on ratings with something under every key."""
    data: dict[str, Any] = json.loads((DOCS / "ladder-copenhagen.json").read_text(encoding="utf-8"))
    del data["matchups"][1:]
    optional = {"missing_games": 3, "networks": {"net": "0" * 16}, "replaced": ["some"], "matchups": {"x": {"a": [1]}}}
    return {"provenance": data["provenance"] | optional, "matchups": data["matchups"]}


def read_and_show(data: dict[str, Any]) -> None:
    """The page and figures of ratings with the digest that belongs to them."""
    in_a_file(with_digest(data), "ladder.json", lambda path: rating_report_files(read_report(path)))


def in_a_file(data: Any, name: str, read: Callable[[Path], Any]) -> None:
    """Read data from a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(json.dumps(data))
        read(path)


def in_yaml(kind: str, name: str, read: Callable[[Path], Any]) -> Data:
    """The data of a shipped YAML file, which are read from one."""
    return Data(lambda: shipped(kind, name), lambda data: in_a_file(data, "some.yaml", read), ValueError)


def pins() -> dict[str, Any]:
    """The opponents' ratings of the shipped gauntlet."""
    data: dict[str, Any] = json.loads((configs_folder() / "gauntlets" / "helsinki.json").read_text(encoding="utf-8"))
    del data["digest"]
    return data


def read_pins(data: dict[str, Any]) -> None:
    """Opponents' ratings beside a gauntlet, with the digest that belongs to them."""

    def read(path: Path) -> None:
        gauntlet = replace(the_gauntlet()[0], path=path.with_suffix(".yaml"))
        ReferenceRatings.of(gauntlet)

    in_a_file(with_digest(data), "helsinki.json", read)


def certified() -> dict[str, Any]:
    """A certificate, of few chunks."""
    data = json.loads((DOCS / "leaderboard" / "helsinki" / "net.json").read_text(encoding="utf-8"))
    del data["certified"]["digest"]
    return dict(data)


def read_certified(data: dict[str, Any]) -> None:
    """A certificate with the digest that belongs to it, which is then put on a page."""
    if isinstance(data.get("certified"), dict):
        data = data | {"certified": with_digest(data["certified"])}
    gauntlet, scale = the_gauntlet()
    in_a_file(data, "some.json", lambda path: rated_table(scale, [read_certificate(path, gauntlet, scale)]))


def read_record(data: dict[str, Any]) -> Record:
    """A user's record with a valid digest."""
    return Record.from_dict(data if "digest" not in data else data | {"digest": record_digest(data)})


@dataclass
class Data:
    """How plain data is read.

    Attributes:
        make: valid data.
        read: it.
        error: what that may raise.
    """

    make: Callable[[], Any]
    read: Callable[[Any], Any]
    error: type[ValueError]


def of_game(game: TestedGame) -> dict[str, Data]:
    """All that is read of a game."""
    facts, spec = COMPONENTS[game.name], cast(Any, game.spec)
    return {
        "config": Data(lambda: CONFIGS[game.name], config_from_dict, ConfigError),
        "components": Data(
            lambda: shipped("components", "alternative" if game.name == "helsinki" else game.name),
            lambda data: facts._components(Node(data, facts.ComponentError), "mine"),
            facts.ComponentError,
        ),
        "position": Data(lambda: rich_position(game), spec.from_dict, PositionError),
        "record": Data(lambda: record(game), read_record, RecordError),
        "arena": Data(lambda: PLANS[game.name], plan_from_dict, ArenaError),
        "run": Data(lambda: plan_from_dict(PLANS[game.name]).to_dict() | {"digest": ""}, read_run, ArenaError),
        "description": Data(
            lambda: json.loads(
                network_description(spec.config(), {"network": {"width": 8}, "game": config_to_dict(spec.config())})
            ),
            lambda data: parse_description(Path("x"), json.dumps(data), "a file"),
            CheckpointError,
        ),
        "preset": Data(
            lambda: shipped("training", "quick" if game.name == "helsinki" else game.name),
            lambda data: training("Preset").from_dict(data),
            ValueError,
        ),
    }


FROM_DATA: dict[str, Data] = {
    **{f"{game.name} {kind}": data for game in TESTED for kind, data in of_game(game).items()},
    "study": Data(
        lambda: {"name": "x", **shipped("balance", "standard")},
        lambda data: StudyConfig.from_dict(data).plan("covers"),
        StudyError,
    ),
    "results": Data(results, read_and_report, StudyError),
    "ratings": Data(ratings, read_and_show, RatingError),
    "gauntlet": in_yaml("gauntlets", "helsinki", lambda path: Gauntlet.from_yaml(path).reference),
    "tuning": in_yaml("tune", "standard", TuneConfig.from_yaml),
    "retraining": in_yaml("retrained", "standard", RetrainingConfig.from_yaml),
    "pins": Data(pins, read_pins, GauntletError),
    "certificate": Data(certified, read_certified, GauntletError),
}
#: How many of the changes are skipped for those that take long to read: of results, each is read and reported on.
SLOW = {"results": 200, "certificate": 121, "pins": 61, "ratings": 61, "gauntlet": 61}


def check_changes(kind: str, every: int) -> None:
    """Change one value after the other, or every so manyth: there are fifteen ways to change each."""
    reader = FROM_DATA[kind]
    data = reader.make()
    reader.read(data)
    messages = []
    for which, other in changed(data, every):
        try:
            reader.read(other)
        except reader.error as problem:
            messages.append(str(problem))
        except Exception as problem:
            problem.add_note(f"{kind} with {which}")
            raise
    assert len(messages) > 80 // every
    assert max(map(len, messages)) < 1000
    assert all(message.isprintable() for message in messages)


@pytest.mark.parametrize("kind", FROM_DATA)
def test_a_value_may_be_another_one(kind: str) -> None:
    check_changes(kind, SLOW.get(kind, 7))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FROM_DATA)
def test_any_value_may_be_another_one(kind: str) -> None:
    check_changes(kind, 1)


def test_a_number_of_players_cannot_fill_the_memory() -> None:
    data = results()
    data["quality"][0]["players"] = 10**30
    with pytest.raises(StudyError, match=r"quality\[0\]\.players: found 1000.*, expected a whole number from 2 to 4"):
        read_and_report(data)


# Names


@pytest.mark.parametrize(
    "name", ["counted:" * 1000 + "random", "forced:two_points:" * 1000 + "random", "counted:forced:two_points:" * 9999]
)
def test_players_around_players_without_an_end(name: str, tmp_path: Path) -> None:
    with pytest.raises(PlayerError, match=r"found [\d,]+ nested wrappers") as caught:
        make_player(name)
    assert len(str(caught.value)) < 400
    for words in (["simulate", "--players", f"{name},random"], ["arena", "--players", f"{name},random"]):
        done = main([*words, "--games", "2", "--out", str(tmp_path / "out")])
        assert done == 2
    assert make_player("counted:" * 16 + "random").name == "random"
    assert [player_files(name), is_code(name)] == [(), not name.endswith("random")]


@pytest.mark.parametrize("name", [LONG, f"{LONG}.yaml", f"some/{LONG}", "a\x00b.yaml", "\ud800.yaml", ""])
@pytest.mark.parametrize("kind", YAML)
def test_names_that_no_file_can_have(kind: str, name: str) -> None:
    with pytest.raises(YAML[kind].error) as caught:
        YAML[kind].read(name)  # type: ignore[arg-type]  # a name, not a path
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", [LONG, "a\x00b", "\ud800"])
def test_folders_and_files_with_such_names(name: str) -> None:
    for read, error in (
        (lambda name: load_run(Path(name)), ArenaError),
        (lambda name: read_study(Path(name)), StudyError),
        (lambda name: list(read_records(name)), RecordError),
        (lambda name: make_player(f"net:{name}"), ValueError),
        (lambda name: make_player(f"net+search:9:{name}.onnx"), ValueError),
        (lambda name: make_player(f"{name}:9"), PlayerError),
        (lambda name: make_player(f"forced:{name}:random"), PlayerError),
        *(
            (lambda name, game=game: game.spec.config(components=name), COMPONENTS[game.name].ComponentError)
            for game in TESTED
        ),
        (lambda name: training("Preset").from_dict({"components": name}), ValueError),
    ):
        with pytest.raises(error) as caught:
            read(name)
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": 10**12}, r"matchups\[0\]\.games: found 1000000000000"),
        ({"games": 10**9}, "games: found 1,000,000,000 in 16,666,667 work units"),
    ],
)
def test_work_without_an_end_is_refused_before_it_is_planned(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArenaError, match=message):
        plan_from_dict({"matchups": [{"players": ["a"], **changes}]})


@pytest.mark.parametrize(
    ("key", "design", "message"),
    [
        ("screening", {}, r"screening: found {}"),
        ("cover", {"size": 1}, "cover: found "),
        ("handicap", {"denied": [["both_actions"], []]}, "handicap: found "),
        ("boards", {"covered": [0, 1]}, r"boards.covered: found \[0, 1\]"),
        ("boards", {"denied": [0, 5]}, r"boards.denied: found \[0, 5\]"),
    ],
)
def test_designs_that_the_game_is_too_small_for_are_refused_in_files_and_runs(
    key: str, design: dict[str, Any], message: str
) -> None:
    table = {"players": ["a"], "game": "copenhagen"}
    with pytest.raises(ArenaError, match=rf"matchups\[0\]\.{message}"):
        plan_from_dict({"matchups": [{**table, key: design}]})
    run = plan_from_dict({"matchups": [table]}).to_dict()
    run["matchups"][0][key] = design
    with pytest.raises(ArenaError, match=rf"matchups\[0\]\.{message}"):
        read_run(run)


def test_work_without_an_end_is_refused_in_runs_and_studies() -> None:
    run = plan_from_dict(PLANS["helsinki"]).to_dict()
    run["matchups"][0]["blocks"] = 10**12
    with pytest.raises(ArenaError, match=r"matchups\[0\]\.blocks: found 1000000000000"):
        read_run(run)
    study = {**shipped("balance", "quick"), "name": "x", "quality": 10**12}
    with pytest.raises(StudyError, match="quality: found 1000000000000"):
        StudyConfig.from_dict(study)
    with pytest.raises(ArenaError, match=r"matchups: found a list of 1,001"):
        plan_from_dict({"matchups": [{"players": ["a"]}] * 1001})
    with pytest.raises(ValueError, match=r"opponents: found a list of 60,000"):
        training("Preset").from_dict({"opponents": ["heuristic"] * 60_000})
