"""Game records: contents, replays, files, and messages for damaged records."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import CopenhagenConfig, CopenhagenVectorEnv, HelsinkiConfig, HelsinkiVectorEnv
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import random_keys, sample_actions
from helsinki_env.engine.spec import spec_of
from helsinki_env.records import (
    Record,
    RecordError,
    initial_game,
    read_records,
    record_digest,
    replay,
    replay_steps,
    write_records,
)

CONFIGS = [
    HelsinkiConfig(),
    HelsinkiConfig(num_players=3, covered="first_game", dry_roads=True),
    HelsinkiConfig(num_players=4, denied=[[0], [], [14], [2, 3]], components="alternative"),
    CopenhagenConfig(),
    CopenhagenConfig(num_players=3),
    CopenhagenConfig(num_players=4, denied=[["both_actions"], [], [2, 3], []]),
]
GAMES = {spec_of(config).name: config for config in (HelsinkiConfig(), CopenhagenConfig())}
every_game = pytest.mark.parametrize("config", GAMES.values(), ids=GAMES)


def played(config: Any = None, seed: int = 1, stream: int = 0, most: int = 10_000) -> Record:
    """The record of a random game."""
    rng = random.Random(seed)
    config = HelsinkiConfig() if config is None else config
    game = spec_of(config).game(config, seed=seed, stream=stream)
    decisions: list[int] = []
    while not game.done and len(decisions) < most:
        decisions.append(int(rng.choice(game.legal_actions())))
        game.step(decisions[-1])
    return Record.of(game, seed, ["somebody"] * game.num_players, decisions, stream=stream)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_a_replay_is_the_game_again(config: Any) -> None:
    game = spec_of(config).game(config, seed=3, stream=9)
    record = played(config, seed=3, stream=9)
    for action in record.decisions:
        game.step(action)
    again = Record.from_json(record.to_json())
    assert again == record
    assert again.to_json() == record.to_json()
    assert "\n" not in record.to_json()
    assert next(iter(record.to_dict())) == record.spec.name
    assert replay(again) == game
    assert record.finished
    assert record.scores == tuple(game.scores())
    assert record.places == tuple(game.ranks())


def test_games_without_ties_say_who_is_best_first() -> None:
    record = played(CONFIGS[1])
    assert record.places is not None
    assert record.ranking == tuple(np.argsort(record.places))
    assert list(record.to_dict())[-3:] == ["scores", "ranking", "digest"]
    told = {"config": record.config, "seed": 1, "players": record.players, "decisions": record.decisions}
    assert Record(**told, scores=record.scores, places=record.places) == record
    assert Record(**told, scores=record.scores, ranking=record.ranking) == record
    with pytest.raises(RecordError, match=r"places: found "):
        Record(**told, scores=record.scores, ranking=record.ranking, places=record.places[::-1])


@pytest.mark.parametrize(
    ("players", "seed", "places"),
    [(2, 42, [0, 0]), (3, 4, [0, 0, 2]), (3, 21, [0, 1, 1]), (3, 327, [0, 0, 0]), (4, 53, [0, 0, 2, 2])],
)
def test_places_may_be_shared(players: int, seed: int, places: list[int]) -> None:
    config = CopenhagenConfig(num_players=players)
    game = spec_of(config).game(config, seed=seed)
    words, decisions = random_keys(1, seed), []
    while not game.done:
        decisions.append(int(sample_actions(game.action_mask()[None], words)[0]))
        game.step(decisions[-1])
    record = Record.of(game, seed, ["somebody"] * players, decisions)
    assert record.places == tuple(places)
    assert record.ranking is None
    data = json.loads(record.to_json())
    assert list(data) == [
        "copenhagen", "config", "config_digest", "seed", "stream", "episode", "players", "decisions", "scores",
        "places", "digest",
    ]  # fmt: skip
    assert data["places"] == places
    again = Record.from_json(record.to_json())
    assert again == record
    assert replay(again) == game
    with pytest.raises(
        RecordError, match=rf"places: found .*, expected {re.escape(str(places))}, the result of the replay"
    ):
        replay(Record.from_dict(with_digest({**data, "places": list(range(players))})))


@every_game
def test_positions_are_those_before_each_decision(config: Any) -> None:
    record = played(config)
    seen = list(replay_steps(record))
    assert [action for _, action in seen] == [*record.decisions, None]
    assert seen[0][0] == initial_game(record) == spec_of(config).game(config, seed=1)
    assert seen[-1][0] == replay(record)
    for (before, action), (after, _) in pairwise(seen):
        assert action is not None
        before.step(action)
        assert before == after


@pytest.mark.parametrize(
    "env",
    [HelsinkiVectorEnv(3, config=HelsinkiConfig(3, dry_roads=True)), CopenhagenVectorEnv(3, 3)],
    ids=["helsinki", "copenhagen"],
)
def test_games_of_a_batch_are_dealt_again(env: HelsinkiVectorEnv | CopenhagenVectorEnv) -> None:
    """Also games that an environment dealt automatically, one after the other."""
    obs, info = env.reset(seed=8)
    words = random_keys(3, seed=2)
    decisions: list[list[int]] = [[] for _ in range(3)]
    episodes, found = [0, 0, 0], 0
    while found < (6 if JIT else 1):
        actions = sample_actions(obs["action_mask"], words)
        for b in range(3):
            if obs["action_mask"][b].any():
                decisions[b].append(int(actions[b]))
        obs, _, ended, _, info = env.step(actions)
        for b in np.flatnonzero(ended).tolist():
            record = Record.of(env.game(b), 8, ["x"] * 3, decisions[b], stream=b, episode=episodes[b])
            assert record.scores == tuple(info["scores"][b])
            assert record.places == tuple(info["places"][b])
            assert replay(Record.from_json(record.to_json())) == env.game(b)
            decisions[b] = []
            episodes[b] += 1
            found += 1


@every_game
def test_unfinished_games(config: Any) -> None:
    record = played(config, most=20)
    assert not record.finished
    again = Record.from_json(record.to_json())
    assert again == record
    assert not replay(again).done
    assert again.scores is None
    assert again.places is None


# what is wrong with a record


def change(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def changed(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, **values}

    return changed


def without(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda data: {k: v for k, v in data.items() if k != key}


def with_digest(data: dict[str, Any]) -> dict[str, Any]:
    """The same data with a valid digest."""

    return {**data, "digest": record_digest(data)}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (change(GAME=1), "GAME: found 1"),
        (change(GAME=False), "GAME: found False"),
        (without("GAME"), "expected exactly one of the keys copenhagen and helsinki"),
        (change(oslo=0), "oslo: no such key (found 0)"),
        (change(helsinki=0, copenhagen=0), "record: found the keys 'copenhagen', 'helsinki'"),
        (change(colour="red"), "colour: no such key (found 'red')"),
        (without("seed"), "seed: found nothing"),
        (change(seed=-1), "seed: found -1"),
        (change(seed=2.0), "seed: found 2.0"),
        (change(stream=True), "stream: found True"),
        (change(episode="0"), "episode: found '0'"),
        (change(players=["a"]), "players: found ['a']"),
        (change(players=["a", ""]), "players[1]: found ''"),
        (change(decisions="1 2 3"), "decisions: found '1 2 3'"),
        (change(decisions=[3, 10_000]), "decisions[1]: found 10000"),
        (change(decisions=[3, None]), "decisions[1]: found None"),
        (change(scores=None), "RESULT: found [1, 0]"),
        (change(RESULT=None), "RESULT: found None"),
        (without("RESULT"), "RESULT: found nothing"),
        (change(OTHER=[1, 0]), "OTHER: no such key (found [1, 0])"),
        (change(scores=[1]), "scores: found [1]"),
        (change(scores=[1, -2]), "scores[1]: found -2"),
        (change(RESULT=[1]), "RESULT: found [1]"),
        (change(RESULT=[1, 1]), "RESULT: found [1, 1]"),
        (change(RESULT=[1, 2]), "RESULT[1]: found 2"),
        (change(config=3), "config: found 3"),
        (change(config={"num_players": 5}), "config.num_players: found 5"),
        (change(config={"components": "none"}), "config.components: found 'none'"),
        (change(config_digest="0" * 16), "the component file 'FILE' has changed"),
    ],
)  # fmt: skip
@every_game
def test_malformed_records_are_explained(
    config: Any, edit: Callable[[dict[str, Any]], dict[str, Any]], message: str
) -> None:
    """What a game calls its parts stands for the words in capitals."""
    spec = spec_of(config)
    result, other = ("places", "ranking") if spec.allows_ties else ("ranking", "places")
    keys = {"GAME": spec.name, "RESULT": result, "OTHER": other}
    words = {**keys, "MOST": f"{spec.num_actions(config) - 1}", "FILE": config.components}
    words["WRONG"] = (
        "for each seat the number of seats that did better" if spec.allows_ties else "each of the seats 0 to 1 once"
    )
    plain = {name: word for word, name in keys.items()}
    data = {**played(config).to_dict(), result: [1, 0]}
    edited = edit({plain.get(key, key): value for key, value in data.items()})
    for word, name in words.items():
        message = message.replace(word, name)
    with pytest.raises(RecordError, match=re.escape(message)):
        Record.from_dict(with_digest({keys.get(key, key): value for key, value in edited.items()}))


def test_records_that_are_made_wrong_are_explained() -> None:
    told: dict[str, Any] = {"seed": 1, "players": ["a", "b"], "decisions": [], "scores": [3, 3]}
    with pytest.raises(RecordError, match=r"config: found 3"):
        Record(3, **told)
    with pytest.raises(RecordError, match=r"places: found \[0, 0\]"):
        Record(HelsinkiConfig(), **told, places=[0, 0])  # type: ignore[arg-type]  # as JSON has it
    with pytest.raises(RecordError, match=r"ranking: found \(0, 1\)"):
        Record(CopenhagenConfig(), **told, ranking=(0, 1))
    with pytest.raises(RecordError, match="places: found None"):
        Record(CopenhagenConfig(), **told)
    assert Record(CopenhagenConfig(), **told, places=(0, 0)).places == (0, 0)


def test_a_changed_record_is_noticed() -> None:
    data = played().to_dict()
    with pytest.raises(RecordError, match=r"digest: found '[0-9a-f]{16}'"):
        Record.from_dict({**data, "players": ["somebody", "else"]})


@pytest.mark.parametrize("line", ["", "{", '{"helsinki": 0', "[1, 2]", "null", "games", "{}", '{"oslo": 0}'])
def test_lines_that_are_no_records(line: str) -> None:
    found = r"found .*, expected (a mapping|exactly one of the keys copenhagen and helsinki)"
    with pytest.raises(RecordError, match=rf"^record: ({found}|cannot be read .*remove this line)"):
        Record.from_json(line)


@every_game
def test_a_replay_checks_decisions_and_result(config: Any) -> None:
    record = played(config)
    result = "places" if record.spec.allows_ties else "ranking"
    first = record.decisions

    def altered(**values: Any) -> Record:
        return Record.from_dict(with_digest({**record.to_dict(), **values}))

    at = next(i for i, (game, _) in enumerate(replay_steps(record)) if i > 5 and not game.action_mask()[0])
    illegal = altered(decisions=[*first[:at], 0, *first[at + 1 :]])
    for use in (replay, lambda r: list(replay_steps(r))):
        with pytest.raises(RecordError, match=rf"decisions\[{at}\]: action 0 \(.*\) is not legal in phase .*Legal: "):
            use(illegal)
    with pytest.raises(RecordError, match=r"unfinished after \d+ decisions \(add the missing decisions"):
        replay(altered(decisions=first[:-1]))
    with pytest.raises(RecordError, match="the game is over; start a new one"):
        replay(altered(decisions=[*first, 8]))
    with pytest.raises(RecordError, match="expected scores, because the game is over"):
        replay(altered(**{"scores": None, result: None}))
    assert record.scores is not None
    assert record.places is not None
    with pytest.raises(RecordError, match=r"scores: found .* the result of the replay"):
        replay(altered(scores=[n + 1 for n in record.scores]))
    with pytest.raises(RecordError, match=rf"{result}: found .* the result of the replay"):
        replay(altered(**{result: getattr(record, result)[::-1]}))


# files


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "new" / "games.jsonl"
    records = [played(seed=n) for n in range(3)]
    assert write_records(path, records[:2]) == 2
    assert list(read_records(path)) == records[:2]
    assert write_records(path, records[2:], append=True) == 1
    assert list(read_records(path)) == records
    assert write_records(path, iter(records[1:])) == 2
    assert list(read_records(path)) == records[1:]
    assert [item.name for item in path.parent.iterdir()] == ["games.jsonl"], "nothing temporary is left"
    assert write_records(tmp_path / "other.jsonl", records[:1], append=True) == 1


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_new_files_have_usual_permissions(tmp_path: Path) -> None:
    path, plain = tmp_path / "games.jsonl", tmp_path / "plain"
    write_records(path, [])
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("append", [False, True])
def test_a_run_that_breaks_off_leaves_the_file_as_it_was(tmp_path: Path, append: bool) -> None:
    path = tmp_path / "games.jsonl"
    write_records(path, [played()])
    before = path.read_bytes()

    def breaking_off() -> Iterator[Record]:
        yield played(seed=2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_records(path, breaking_off(), append=append)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    line = played().to_json()
    path.write_text(f"{line}\n\n{json.dumps({**json.loads(line), 'seed': -4})}\n")
    with pytest.raises(RecordError, match=r"games\.jsonl, line 3: digest: found"):
        list(read_records(path))
    path.write_text(f"{line}\n{line[:70]}")
    with pytest.raises(RecordError, match=r"line 2: record: cannot be read as JSON: .*truncated, remove this line"):
        list(read_records(path))
    with pytest.raises(RecordError, match=r"games\.jsonl: found a truncated last line"):
        write_records(path, [played()], append=True)
    assert path.read_text() == f"{line}\n{line[:70]}"
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="found binary data"):
        list(read_records(path))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file or directory; helsinki simulate --out writes records"):
        list(read_records(tmp_path / "none.jsonl"))
    with pytest.raises(RecordError, match="cannot be written: it is a folder"):
        write_records(tmp_path, [])
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="cannot be written"):
        write_records(tmp_path / "file" / "games.jsonl", [])


def test_a_byte_order_mark_is_no_part_of_a_record(tmp_path: Path) -> None:
    """Before the first, and before others where such files were joined."""
    path, mark = tmp_path / "games.jsonl", b"\xef\xbb\xbf"
    line = played().to_json().encode() + b"\n"
    path.write_bytes(mark + line + line + mark + line)
    assert len(list(read_records(path))) == 3
    assert write_records(path, [played()], append=True) == 1
    assert len(list(read_records(path))) == 4
    path.write_bytes(mark)
    assert list(read_records(path)) == []
