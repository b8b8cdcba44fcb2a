"""Check byte for byte that a server sends a browser nothing hidden from its seat."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from helsinki_env.engine.determinization import determinize
from helsinki_env.web.help import explanation, rules_text
from helsinki_env.web.requests import STATIC, page_html
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import GameTable
from helsinki_env.web.views import applied, change_between, choices, encode_message, picture, selection_view, table_view
from tests.support.browser import Player

__all__ = ["assert_explained", "assert_nothing_hidden_was_sent"]


def assert_nothing_hidden_was_sent(player: Player, data: Path, name: str) -> int:
    """Check everything sent to a browser during a game without undo; return the number of messages before its end.

    HTTP responses are files of the package. WebSocket messages equal, byte for byte, those for a table that differs in
    everything hidden from the seat: other hands, order of the draw pile, chance, seed and keys of the seats.
    """
    for response in player.responses:
        path = urlsplit(response.url).path
        assert path.startswith(("/static/", "/tables/")), f"{path}: what it may hold is nowhere said"
        is_page = path.startswith("/tables/")
        known = page_html("table.html").encode() if is_page else (STATIC / path.removeprefix("/static/")).read_bytes()
        assert response.body() == known, path
    store = TableStore(data)
    table, checked, looked, differed = store.load(name), 0, 0, 0
    store.close()
    shown = ""
    for number, raw in enumerate(player.frames):
        frame = json.loads(raw)
        if frame["type"] == "clock":
            assert set(frame) == {"type", "seconds"}
            continue
        if frame["type"] == "explained":
            assert_explained(table, frame, number)
            continue
        if frame["type"] == "rules":
            assert frame["sections"] == rules_text(table.config)
            continue
        if frame["type"] in ("done", "pong"):
            assert set(frame) == ({"type", "once"} if frame["type"] == "done" else {"type"})
            continue  # the page's own id
        if frame["type"] == "change":
            text = applied(shown, frame["parts"])
            assert change_between(shown, text) == raw, "a change follows from two views and nothing else"
            frame = json.loads(text)
        else:
            text = raw
        assert frame["type"] == "table", "what else may be sent is compared in tests/test_advice.py"
        shown = text
        real = _at(table, frame)
        if real.game.done:
            assert _sent(real, frame) == text
            continue
        kept = frame["mine"] if frame["handover"] is not None else [frame["viewer"]]
        for seat in kept:
            other = _at(table, frame)
            other.game = determinize(real.game, seat, seed=number)
            looked, differed = looked + 1, differed + (other.game != real.game)
            other.seed, other.chairs = number, tuple(chair._replace(key=f"key {number}") for chair in table.chairs)
            assert _sent(other, frame) == text, f"message {number} is not the same whatever is hidden"
        if frame["thinking"] is not None:
            assert set(frame["thinking"]) == {"seat", "player", "seconds"}
        checked += 1
    assert differed > 0.9 * looked, "the other tables are too much like the real one"
    return checked


def assert_explained(table: GameTable, frame: dict[str, Any], seed: int) -> None:
    """Check that an explanation is the same whatever is hidden from the seat that asked."""
    real, viewer = _at(table, {"paused": False} | frame), frame["viewer"]
    other = _at(table, {"paused": False} | frame)
    if not real.game.done and viewer is not None:
        other.game = determinize(real.game, viewer, seed=seed)
    for one in (real, other):
        selection = selection_view(one.game)
        legal = [*choices(one.game), *(selection["items"] if selection else [])]
        mine = real.humans if viewer is not None else ()
        told = explanation(one, mine, viewer, frame["spot"], picture(one, viewer)["spots"], legal)
        assert told == frame


def _at(table: GameTable, frame: dict[str, Any]) -> GameTable:
    """Return a table in its state when a message was sent."""
    told = [(decision.seat, decision.action, decision.said) for decision in table.decisions[: frame["number"]]]
    then = replace(table, past_actions=told)
    then.paused = frame["paused"]
    return then


def _sent(table: GameTable, frame: dict[str, Any]) -> str:
    """Return the message for a table with the same recipient and time as a message."""
    view = table_view(
        table,
        tuple(frame["mine"]),
        frame["viewer"],
        frame["handover"],
        frame["thinking"],
        frame["message"],
        lambda viewer: picture(table, viewer),
        lambda: choices(table.game),
    )
    return encode_message(view)
