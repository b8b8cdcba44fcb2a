"""Records and positions that earlier versions wrote can still be read, and players have their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helsinki_env import HelsinkiConfig, notation
from helsinki_env.agents.registry import make_player
from helsinki_env.games.helsinki.position import from_dict, to_dict
from helsinki_env.records import Record, replay

#: Written by the version before there was a second game.
OLD = Path(__file__).parent / "old"


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
    assert make_player(name, HelsinkiConfig(num_players=3)).name == name
