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

from helsinki_env import Game, GameConfig, HelsinkiVectorEnv
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.playout import choose_uniformly, player_words
from helsinki_env.play.record import (
    Record,
    RecordError,
    deal,
    positions,
    read_records,
    replay,
    write_records,
)

CONFIGS = [
    GameConfig(),
    GameConfig(num_players=3, covered="first_game", dry_roads=True),
    GameConfig(num_players=4, denied=[[0], [], [14], [2, 3]], components="alternative"),
]


def played(config: GameConfig | None = None, seed: int = 1, stream: int = 0, most: int = 10_000) -> Record:
    """The record of a random game."""
    rng = random.Random(seed)
    game = Game(config or GameConfig(), seed=seed, stream=stream)
    decisions: list[int] = []
    while not game.done and len(decisions) < most:
        decisions.append(int(rng.choice(game.legal_actions())))
        game.step(decisions[-1])
    return Record.of(game, seed, ["somebody"] * game.num_players, decisions, stream=stream)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_a_replay_is_the_game_again(config: GameConfig) -> None:
    game = Game(config, seed=3, stream=9)
    record = played(config, seed=3, stream=9)
    for action in record.decisions:
        game.step(action)
    again = Record.from_json(record.to_json())
    assert again == record
    assert "\n" not in record.to_json()
    assert replay(again) == game
    assert record.finished
    assert record.scores == tuple(game.scores())
    assert record.ranking == tuple(game.ranking())


def test_positions_are_those_before_each_decision() -> None:
    record = played()
    seen = list(positions(record))
    assert [action for _, action in seen] == [*record.decisions, None]
    assert seen[0][0] == deal(record) == Game(seed=1)
    assert seen[-1][0] == replay(record)
    for (before, action), (after, _) in pairwise(seen):
        assert action is not None
        before.step(action)
        assert before == after


def test_games_of_a_batch_are_dealt_again() -> None:
    """Also those that an environment dealt by itself, one after the other."""
    env = HelsinkiVectorEnv(3, config=CONFIGS[1])
    obs, info = env.reset(seed=8)
    words = player_words(3, seed=2)
    decisions: list[list[int]] = [[] for _ in range(3)]
    episodes, found = [0, 0, 0], 0
    while found < (6 if JIT else 1):
        actions = choose_uniformly(obs["action_mask"], words)
        for b in range(3):
            if obs["action_mask"][b].any():
                decisions[b].append(int(actions[b]))
        obs, _, ended, _, info = env.step(actions)
        for b in np.flatnonzero(ended).tolist():
            record = Record.of(env.game(b), 8, ["x"] * 3, decisions[b], stream=b, episode=episodes[b])
            assert record.scores == tuple(info["scores"][b])
            assert replay(Record.from_json(record.to_json())) == env.game(b)
            decisions[b] = []
            episodes[b] += 1
            found += 1


def test_unfinished_games() -> None:
    record = played(most=20)
    assert not record.finished
    again = Record.from_json(record.to_json())
    assert again == record
    assert not replay(again).done
    assert again.scores is None


# what is wrong with a record


def change(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def changed(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, **values}

    return changed


def without(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda data: {k: v for k, v in data.items() if k != key}


def with_digest(data: dict[str, Any]) -> dict[str, Any]:
    """The same data with the digest that belongs to it: somebody who writes records of their own."""
    from helsinki_env.play.record import _digest

    return {**data, "digest": _digest(data)}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (change(helsinki=1), "helsinki: found 1, expected 0, the version of this environment (other versions play by"),
        (change(helsinki=False), "helsinki: found False"),
        (without("helsinki"), "helsinki: found nothing, expected 0 (this is no record of a Helsinki game)"),
        (change(colour="red"), "colour: no such key (found 'red'), expected one of helsinki, config"),
        (without("seed"), "seed: found nothing, expected this key (write records"),
        (change(seed=-1), "seed: found -1, expected a whole number from 0 to 18446744073709551615"),
        (change(seed=2.0), "seed: found 2.0"),
        (change(stream=True), "stream: found True"),
        (change(episode="0"), "episode: found '0'"),
        (change(players=["a"]), "players: found ['a'], expected a list of 2 names, one for each seat"),
        (change(players=["a", ""]), "players[1]: found '', expected a name"),
        (change(decisions="1 2 3"), "decisions: found '1 2 3', expected a list of ids of the action table"),
        (change(decisions=[3, 554]), "decisions[1]: found 554, expected a whole number from 0 to 553"),
        (change(decisions=[3, None]), "decisions[1]: found None"),
        (change(scores=None), "ranking: found [1, 0], expected null exactly if scores is null"),
        (change(scores=[1]), "scores: found [1], expected a list of 2 whole numbers"),
        (change(scores=[1, -2]), "scores[1]: found -2"),
        (change(ranking=[1, 1]), "ranking: found [1, 1], expected each of the seats 0 to 1 once, best first"),
        (change(ranking=[1, 2]), "ranking[1]: found 2, expected a whole number from 0 to 1"),
        (change(config=3), "config: found 3, expected a mapping"),
        (change(config={"num_players": 5}), "config.num_players: found 5, expected 2, 3 or 4"),
        (change(config={"components": "none"}), "config.components: found 'none'"),
        (change(config_digest="0" * 16), "the component file 'default' is not the one that was played with"),
    ],
)  # fmt: skip
def test_malformed_records_are_explained(edit: Callable[[dict[str, Any]], dict[str, Any]], message: str) -> None:
    data = {**played().to_dict(), "ranking": [1, 0]}
    with pytest.raises(RecordError, match=re.escape(message)):
        Record.from_dict(with_digest(edit(data)))


def test_a_changed_record_is_noticed() -> None:
    data = played().to_dict()
    with pytest.raises(RecordError, match=r"digest: found '[0-9a-f]{16}', expected [0-9a-f]{16}.*changed or damaged"):
        Record.from_dict({**data, "players": ["somebody", "else"]})


@pytest.mark.parametrize("line", ["", "{", '{"helsinki": 0', "[1, 2]", "null", "games"])
def test_lines_that_are_no_records(line: str) -> None:
    with pytest.raises(RecordError, match=r"^record: (found .*, expected a mapping|cannot be read .*remove this line)"):
        Record.from_json(line)


def test_a_replay_checks_decisions_and_result() -> None:
    record = played()
    first = record.decisions

    def altered(**values: Any) -> Record:
        return Record.from_dict(with_digest({**record.to_dict(), **values}))

    illegal = altered(decisions=[*first[:9], 0, *first[10:]])
    for use in (replay, lambda r: list(positions(r))):
        with pytest.raises(RecordError, match=r"decisions\[9\]: action 0 \(START 0\) is not legal in phase .*Legal: "):
            use(illegal)
    with pytest.raises(RecordError, match=r"not over after \d+ decisions \(decisions are missing, or the result\)"):
        replay(altered(decisions=first[:-1]))
    with pytest.raises(RecordError, match="the game is over; start a new one"):
        replay(altered(decisions=[*first, 8]))
    with pytest.raises(RecordError, match="expected null exactly if the game is not over; it is over"):
        replay(altered(scores=None, ranking=None))
    assert record.scores is not None
    assert record.ranking is not None
    with pytest.raises(RecordError, match=r"scores: found .* which the replay gives"):
        replay(altered(scores=[n + 1 for n in record.scores]))
    with pytest.raises(RecordError, match=r"ranking: found .* which the replay gives"):
        replay(altered(ranking=record.ranking[::-1]))


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
    with pytest.raises(RecordError, match=r"line 2: record: cannot be read as JSON: .*cut off\? remove this line"):
        list(read_records(path))
    with pytest.raises(RecordError, match=r"games\.jsonl: the last line has no end"):
        write_records(path, [played()], append=True)
    assert path.read_text() == f"{line}\n{line[:70]}"
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="is no text"):
        list(read_records(path))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file or directory; helsinki simulate --out writes such files"):
        list(read_records(tmp_path / "none.jsonl"))
    with pytest.raises(RecordError, match="cannot be written: it is a folder"):
        write_records(tmp_path, [])
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="cannot be written"):
        write_records(tmp_path / "file" / "games.jsonl", [])
