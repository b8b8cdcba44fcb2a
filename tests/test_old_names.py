"""What users have written against earlier versions goes on working: names, records, positions, checkpoints, players."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

import helsinki_env
from agents.net.make import shipped
from agents.registry import make_player
from helsinki_env import GameConfig, notation
from helsinki_env.engine.kernel import JIT
from helsinki_env.position import from_dict, to_dict
from helsinki_env.record import Record, replay

#: Written by the version before there was a second game.
OLD = Path(__file__).parent / "old"


@pytest.mark.parametrize(
    ("short", "place", "names"),
    [
        ("components", "games.helsinki.components", ["COLOURS", "ACTIONS", "Components", "load_components"]),
        ("config", "games.helsinki.config", ["REWARDS", "ConfigError", "GameConfig"]),
        ("game", "games.helsinki.game", ["Game", "IllegalActionError", "Phase"]),
        ("notation", "games.helsinki.notation", ["describe", "parse", "card_name"]),
        ("observation", "games.helsinki.observation", ["layout", "split"]),
        ("position", "games.helsinki.position", ["PositionError", "check", "from_dict", "to_dict"]),
        ("reference", "games.helsinki.reference", ["ReferenceGame"]),
        ("render", "games.helsinki.render", ["ansi", "rgb_array", "svg"]),
        ("record", "play.record", ["Record", "RecordError", "RecordWriter", "read_records", "replay", "write_records"]),
        ("redeal", "engine.hidden", ["RedealError", "batch_redeal", "redeal", "redeal_many"]),
        ("restore", "engine.hidden", ["ObservationError", "deals", "restore"]),
        ("playout", "engine.playout", ["choose_uniformly", "play_out", "player_words"]),
    ],
)
def test_short_names_are_what_stands_at_its_place(short: str, place: str, names: list[str]) -> None:
    alias, module = import_module(f"helsinki_env.{short}"), import_module(f"helsinki_env.{place}")
    for name in names:
        assert getattr(alias, name) is getattr(module, name), name


def test_the_package_has_all_its_names() -> None:
    names = (
        "ComponentError ConfigError Game GameConfig HelsinkiSeatEnv HelsinkiSeatVectorEnv HelsinkiVectorEnv "
        "IllegalActionError Phase RandomEpisodes helsinki_v0 load_components notation observation"
    )
    for name in names.split():
        assert name in helsinki_env.__all__
        assert hasattr(helsinki_env, name)
    assert {"env", "raw_env"} <= set(dir(helsinki_env.helsinki_v0))


def test_a_record_of_before_is_read_replayed_and_written_as_it_was() -> None:
    line = (OLD / "record.json").read_text()
    record = Record.from_json(line)
    assert replay(record).scores().tolist() == list(record.scores or ())
    assert record.to_json() == line


def test_a_position_of_before_is_read_and_written_as_it_was() -> None:
    position = json.loads((OLD / "position.json").read_text())
    game = from_dict(position)
    assert to_dict(game) == position
    assert notation.from_dict(position) == game
    assert not game.done


@pytest.mark.parametrize("name", ["random", "greedy", "heuristic", "mc:2", "ismcts:2", "forced:two_points:greedy"])
def test_players_go_by_their_names(name: str) -> None:
    assert make_player(name, GameConfig(num_players=3)).name == name


@pytest.mark.skipif(not JIT, reason="too slow")
def test_a_checkpoint_of_before_plays() -> None:
    assert make_player(f"net:{shipped()}").name.startswith("net:")
