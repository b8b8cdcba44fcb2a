"""Tables of fields: what follows from a small record, and the text of its kernels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from helsinki_env.data import Node
from helsinki_env.engine.fields import Digits, Field, RecordTable, source_text
from helsinki_env.engine.observation_table import Computed, ObservationTable, Section


class Bounds(NamedTuple):
    cards: int


RECORD = RecordTable(
    __name__,
    __file__,
    (
        Field("players", np.int8, low=2, high=4, is_setup=True),
        Field("phase", np.int8, options=3),
        Field("tricks", np.int16, (4,), high=500),
        Field("cards", np.int8, (4, 5), high="cards", scale=2),
        Field("tokens", np.int8, (4,), members=("a", "b", "c"), key="owned"),
        Field("slot", np.int8, empty=-1, high=6, required=(1,)),
        Field("tile", np.int8, empty=-1, high=7, optional=(1, 2), digits=Digits(("row", "column"), 4, (1, 1), (2, 4))),
        Field("twice", np.int8, optional=(2,)),
        Field("done", np.int8),
    ),
)
TABLE = ObservationTable(
    RECORD,
    (
        Section("seats", "for each seat {}", (Computed("present", "1"), "tricks")),
        Section("owned", "tokens", "tokens"),
        Section("phase", "one-hot", "phase"),
        Section("pending", "{}", tuple(field.name for field in RECORD.pending.values())),
        Section("cards", "cards", "cards"),
        Section("table", "{}", ("players", Computed("viewer", "viewer", 3))),
    ),
)
BOUNDS = Bounds(9)


def game() -> np.ndarray:
    states = RECORD.new_states(1)
    states["players"], states["phase"], states["slot"], states["tile"] = 3, 1, 4, 6
    states["tricks"] = [[200, 3, 0, 0]]
    states["cards"][0, :3] = np.arange(15).reshape(3, 5) % 9
    states["tokens"] = [[5, 2, 0, 0]]
    return states


def observed(states: np.ndarray, viewer: int) -> np.ndarray:
    out = np.full(TABLE.layout.size, 9, np.int8)
    TABLE.write(None, states[0], viewer, out, True)
    return out


def test_record() -> None:
    assert RECORD.dtype.itemsize == 64
    assert (RECORD.dtype.names or ())[0] == "tricks"
    assert RECORD.new_states(2)["slot"].tolist() == [-1, -1]
    lows, highs = RECORD.ranges(BOUNDS)
    assert lows["players"] == 2
    assert highs["cards"].max() == 9
    assert highs["tokens"].max() == 7
    assert highs["phase"] == 2
    assert RECORD.setup == ("players",)


def test_kernels_of_a_record() -> None:
    states, blank = game(), RECORD.new_states(1)
    RECORD.clear_pending(1)(states[0])
    assert (int(states["slot"][0]), int(states["tile"][0])) == (-1, 6)
    RECORD.clear_pending()(states[0])
    assert states["tile"] == -1
    RECORD.clear(states[0])
    RECORD.copy_setup(blank[0], states[0])
    assert states.tobytes() == blank.tobytes()
    assert "g.slot = -1" in source_text(RECORD.clear_pending(1))


@pytest.mark.parametrize(
    ("phase", "slot", "tile", "twice", "fits"),
    [(0, -1, -1, 0, True), (1, 2, -1, 0, True), (1, -1, 3, 0, False), (2, -1, 3, 1, True), (1, 2, -2, 0, False)],
)
def test_phase(phase: int, slot: int, tile: int, twice: int, fits: bool) -> None:
    states = RECORD.new_states(1)
    states["phase"], states["slot"], states["tile"], states["twice"] = phase, slot, tile, twice
    assert RECORD.fits_phase(states[0]) == fits


def test_layout() -> None:
    assert [(field.name, field.shape) for field in TABLE.layout.fields] == [
        ("seats", (4, 2)),
        ("owned", (4, 3)),
        ("phase", (3,)),
        ("pending", (4,)),
        ("cards", (4, 5)),
        ("table", (2,)),
    ]
    assert TABLE.entry_names("pending") == ("slot", "row", "column", "twice")
    assert TABLE.entry_name(3) == "seats[1, 1]"
    highs = TABLE.layout.unpack(TABLE.highs(BOUNDS))
    assert highs["seats"][0].tolist() == [1, 127]
    assert highs["pending"].tolist() == [7, 2, 4, 1]
    scales = TABLE.layout.unpack(TABLE.scales()[None])
    assert (scales["cards"] == 2).all()
    assert scales["table"].tolist() == [[4, 3]]


def test_observation() -> None:
    states = game()
    found = TABLE.layout.unpack(observed(states, 1))
    assert found["seats"].tolist() == [[1, 3], [1, 0], [1, 127], [0, 0]]
    assert found["owned"].tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert found["phase"].tolist() == [0, 1, 0]
    assert found["pending"].tolist() == [5, 2, 3, 0]
    assert found["cards"].tolist() == [*np.roll(states["cards"][0, :3], -1, axis=0).tolist(), [0] * 5]
    assert found["table"].tolist() == [3, 1]


@pytest.mark.parametrize("lanes", [1, 3])
def test_lanes_write_the_same(lanes: int) -> None:
    states = game()
    out = np.full(TABLE.layout.size, 9, np.int8)
    for lane in range(lanes):
        TABLE.write_part(None, states[0], 2, out, lane, lanes)
    assert (out == observed(states, 2)).all()


def test_reading_back() -> None:
    states, again = game(), RECORD.new_states(1)
    again["done"], again["cards"] = 1, 7
    TABLE.read(again[0], observed(states, 1), 3, 1)
    states["tricks"][0, 0] = 127
    for name in RECORD.fields:
        assert (again[name] == states[name]).all(), name
    half = observed(states, 0)
    half[TABLE.layout["pending"].start + 1] = 0
    TABLE.read(again[0], half, 3, 0)
    assert again["tile"] == -2


def test_positions() -> None:
    p = SimpleNamespace(phase=2, slot=-1, tile=5, twice=1, cards=[[1, 2, 3, 4, 5]] * 4)
    pending = RECORD.pending_to_json(p)
    assert pending == {"tile": 5, "twice": True}
    again = SimpleNamespace(phase=2, slot=-1, tile=-1, twice=0)
    RECORD.pending_from_json(again, Node(pending, ValueError), ("A", "B", "C"), BOUNDS)
    assert (again.tile, again.twice) == (5, 1)
    assert RECORD["cards"].to_json(p, 1) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("phase", "pending", "message"),
    [
        (0, {"tile": 5}, "tile: found 5, expected in phase A only the keys"),
        (1, {}, "slot.*expected this key, which phase B requires"),
        (1, {"slot": 7}, "slot: found 7, expected a whole number from 0 to 6"),
        (2, {"twice": False}, "twice: found False, expected true, or no such key"),
    ],
)
def test_wrong_positions(phase: int, pending: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RECORD.pending_from_json(SimpleNamespace(phase=phase), Node(pending, ValueError), ("A", "B", "C"), BOUNDS)
