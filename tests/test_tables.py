"""Tables: turns, undo, take-back, and the database that saves every action."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.base import choose_action
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.spec import config_from_dict
from helsinki_env.web.player_workers import PlayerPool
from helsinki_env.web.sessions import PageConnection, TableSession
from helsinki_env.web.store import StoreError, TableStore, finished_tables
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError

BOTH = pytest.mark.parametrize("game", ["helsinki", "copenhagen"])


def table(game: str, *players: str, seed: int = 3) -> GameTable:
    """Return a table without actions."""
    config = config_from_dict({"game": game, "num_players": len(players)})
    return GameTable("t1", "", config, seed, tuple(SeatAssignment(player, f"P{i}") for i, player in enumerate(players)))


def play(at: GameTable, decisions: int, player: str = "greedy") -> None:
    """Let a player take actions for all seats."""
    thinks = make_player(player, at.config)
    for _ in range(decisions):
        if not at.game.done:
            at.decide(at.number, choose_action(thinks, at.game), f"decided {at.number}")


def told(at: GameTable) -> list[tuple[int, int, str]]:
    return [(decision.seat, decision.action, decision.said) for decision in at.decisions]


@BOTH
def test_a_table_follows_from_seed_and_decisions(game: str) -> None:
    one = table(game, HUMAN, HUMAN)
    play(one, 40)
    again = GameTable("t2", "", one.config, one.seed, one.chairs, told(one))
    assert again.game == one.game
    assert again.decisions == one.decisions


@BOTH
def test_pages_that_are_behind_and_illegal_decisions_change_nothing(game: str) -> None:
    one = table(game, HUMAN, HUMAN)
    play(one, 7)
    before = one.game.clone()
    legal = set(one.game.legal_actions().tolist())
    illegal = next(action for action in range(1000) if action not in legal)
    for number, action, message in (
        (6, min(legal), "number: found 6, expected 7"),
        (8, min(legal), "number: found 8, expected 7"),
        (7, illegal, "legal"),
        (7, 10**6, "does not exist"),
    ):
        with pytest.raises(TableError, match=message):
            one.decide(number, action, "")
    assert one.game == before
    assert one.number == 7


@BOTH
def test_undoing_goes_back_to_where_something_hidden_was_seen_and_no_further(game: str) -> None:
    one, undone = table(game, HUMAN, HUMAN, HUMAN), 0
    thinks = make_player("random", one.config)
    words = np.random.default_rng(5)
    while not one.game.done:
        first = one.undoable()
        if first is not None:
            began = GameTable("t2", "", one.config, one.seed, one.chairs, told(one)[:first])
            # No card has left the pile since.
            assert began.game.state["pile_size"] == one.game.state["pile_size"]
            assert {decision.seat for decision in one.decisions[first:]} == {one.game.seat}
            copy = GameTable("t2", "", one.config, one.seed, one.chairs, told(one))
            copy.undo(copy.number, first)
            assert copy.game == began.game
            undone += 1
            with pytest.raises(TableError, match="cannot be undone"):
                one.undo(one.number, first - 1)
        elif one.number:
            with pytest.raises(TableError, match="none can be"):
                one.undo(one.number, one.number - 1)
        one.decide(one.number, choose_action(thinks, one.game, int(words.integers(2**62))), "")
    assert undone > 20
    assert one.undoable() is None


@BOTH
def test_only_who_plays_alone_against_players_may_take_back(game: str) -> None:
    alone, both = table(game, HUMAN, "greedy"), table(game, HUMAN, HUMAN)
    for at in (alone, both):
        play(at, 30)
    assert both.may_take_back() == []
    with pytest.raises(TableError, match="no other human"):
        both.take_back(both.number, 0)
    own = [decision.number for decision in alone.decisions if decision.seat == 0]
    assert alone.may_take_back() == own
    foreign = next(decision.number for decision in alone.decisions if decision.seat == 1)
    with pytest.raises(TableError, match="one of yours"):
        alone.take_back(30, foreign)
    gone = alone.take_back(30, own[2])
    assert [decision.number for decision in gone] == list(range(own[2], 30))
    assert alone.number == own[2]
    again = table(game, HUMAN, "greedy")
    play(again, own[2])
    assert again.game == alone.game


@BOTH
def test_players_get_the_same_chance_again_after_going_back(game: str) -> None:
    one = table(game, HUMAN, "random")
    while one.acting_player is None:
        play(one, 1)
    seen = [part.tobytes() for part in one.question()]
    number = one.number
    play(one, 6, "random")
    assert [part.tobytes() for part in one.question()] != seen
    again = GameTable("t2", "", one.config, one.seed, one.chairs, told(one)[:number])
    assert [part.tobytes() for part in again.question()] == seen


# -- the store -----------------------------------------------------------------------------------------------


@BOTH
def test_the_store_keeps_tables(game: str, tmp_path: Path) -> None:
    one = table(game, HUMAN, "greedy", seed=2**64 - 1)
    store = TableStore(tmp_path / "new")
    store.add(one)
    thinks = make_player("greedy", one.config)
    for _ in range(25):
        store.write(one.name, one.decide(one.number, choose_action(thinks, one.game), "said so"))
    store.close()
    store = TableStore(tmp_path / "new")
    found = store.load("t1")
    assert (found.game, found.decisions, found.chairs) == (one.game, one.decisions, one.chairs)
    assert [(kept.name, kept.decisions) for kept in store.all()] == [("t1", 25)]
    gone = found.take_back(25, found.may_take_back()[1])
    store.go_back("t1", found.number, gone)
    assert store.load("t1").game == found.game
    assert store.taken_back("t1") == len(gone) > 0
    store.remove("t1")
    with pytest.raises(TableError, match="'t1': does not exist"):
        store.load("t1")


def _as_text(path: Path) -> None:
    path.write_text("no database at all, but long enough to be looked at as one" * 20)


def _later(path: Path) -> None:
    rows = sqlite3.connect(path)
    rows.execute("PRAGMA user_version = 99")
    rows.close()


@pytest.mark.parametrize(("spoil", "message"), [(_as_text, "cannot be used as the database"), (_later, "version 99")])
def test_what_is_no_database_of_ours_is_left_alone(spoil: Any, message: str, tmp_path: Path) -> None:
    TableStore(tmp_path).close()
    path = tmp_path / "tables.sqlite"
    for beside in tmp_path.iterdir():
        if spoil is _as_text:
            beside.unlink()
    spoil(path)
    content = path.read_bytes()
    with pytest.raises(StoreError, match=message) as caught:
        TableStore(tmp_path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content


def test_tables_of_the_first_version_are_gone_on_with(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    one = table("helsinki", "heuristic", "heuristic", seed=5)
    store.add(one)
    store.close()
    rows = sqlite3.connect(tmp_path / "tables.sqlite")
    for index in ("tables_listed", "tables_made"):
        rows.execute(f"DROP INDEX {index}")
    for later in ("boards", "branches", "examined", "exercises", "tournament_games", "tournaments", "records"):
        rows.execute(f"DROP TABLE {later}")
    for column in ("start", "game", "actions", "finished", "clock"):
        rows.execute(f"ALTER TABLE tables DROP COLUMN {column}")
    rows.execute("PRAGMA user_version = 1")
    rows.commit()
    rows.close()
    assert TableStore(tmp_path).load("t1").game == one.game
    assert TableStore(tmp_path).rows.execute("SELECT count(*) FROM records").fetchone() == (0,)


def test_games_of_earlier_versions_are_found_to_be_over(tmp_path: Path) -> None:
    store, over = TableStore(tmp_path), table("helsinki", HUMAN, "greedy")
    play(over, 1000, "random")
    store.add(over)
    store.add(replace(over, name="t2", past_actions=told(over)[:5]))
    store.rows.execute("UPDATE tables SET finished = NULL")
    assert [(entry.name, entry.over) for entry in store.all(over=False)] == [("t2", None), ("t1", None)]
    assert asyncio.run(finished_tables(store, store.unknown())) == {"t1"}
    assert store.unknown() == []
    assert [entry.name for entry in store.all(over=True)] == ["t1"]
    assert [entry.name for entry in store.all(over=False)] == ["t2"]
    assert (store.count(), store.count(True), store.count(False)) == (2, 1, 1)


def test_decisions_that_fit_no_game_are_named(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    one = table("helsinki", HUMAN, "greedy")
    store.add(one)
    store.write("t1", one.decide(0, int(one.game.legal_actions()[0]), ""))
    store.rows.execute("UPDATE decisions SET action = 553")
    with pytest.raises(TableError, match=r"table t1: cannot be continued: .*legal"):
        store.load("t1")


@BOTH
def test_what_cannot_be_written_does_not_happen(game: str, tmp_path: Path) -> None:
    async def ask() -> None:
        store, one = TableStore(tmp_path), table(game, HUMAN, HUMAN)
        store.add(one)
        sent: list[str] = []

        room, page = TableSession(one, store, PlayerPool()), PageConnection(sent.append, (0, 1))
        room.pages.add(page)
        while room.table.undoable() is None:
            page.viewing_seat = room.table.game.seat
            action = int(room.table.game.legal_actions()[0])
            room.handle(page, {"type": "decide", "number": room.table.number, "action": action, "once": "", "more": []})
        page.viewing_seat = room.table.game.seat
        before, number = room.table.game.clone(), room.table.number
        undone = {"type": "undo", "number": number, "to": number - 1, "once": ""}
        decided = {"type": "decide", "number": number, "action": int(before.legal_actions()[0]), "once": "", "more": []}
        store.rows.execute("PRAGMA query_only = ON")
        for message in (undone, decided):
            with pytest.raises(StoreError, match="cannot be written"):
                room.handle(page, message)
            assert (room.table.game, room.table.number) == (before, number)
        store.rows.execute("PRAGMA query_only = OFF")
        room.handle(page, undone)
        assert room.table.number == store.load("t1").number == number - 1

    asyncio.run(ask())


@BOTH
def test_what_cannot_be_taken_back_disturbs_no_player(game: str, tmp_path: Path) -> None:
    async def ask() -> None:
        store, one, thinkers = TableStore(tmp_path), table(game, HUMAN, "heuristic"), PlayerPool()
        play(one, 30)
        while one.acting_player is None:
            play(one, 1)
        store.add(one)
        room, views = TableSession(one, store, thinkers), list[str]()

        def paused() -> bool:
            return room.table.paused

        page = PageConnection(views.append, (0,))
        room.pages.add(page)
        room.resume()
        before, number, to = one.game.clone(), one.number, one.may_take_back()[-1]
        store.rows.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="nothing has changed"):
            room.handle(page, {"type": "takeback", "number": number, "to": to, "once": ""})
        with pytest.raises(TableError, match="cannot be taken back"):
            room.handle(page, {"type": "takeback", "number": number, "to": number, "once": ""})
        assert (room.table.game, room.table.number) == (before, number)
        assert json.loads(views[0])["thinking"] is not None
        room.handle(page, {"type": "stop", "once": ""})
        with pytest.raises(StoreError, match="nothing has changed"):
            room.handle(page, {"type": "takeback", "number": number, "to": to, "once": ""})
        assert paused(), "whom somebody has stopped does not go on by that"
        room.handle(page, {"type": "go", "once": ""})
        store.rows.execute("PRAGMA query_only = OFF")
        while room.table.acting_player is not None and not paused():
            await asyncio.sleep(0.01)
        assert room.table.number > number, "it went on as if nothing had been asked"
        room.handle(page, {"type": "takeback", "number": number, "to": to, "once": ""})  # a player has acted since
        assert room.table.number == store.load("t1").number == to
        await room.close()
        thinkers.close()

    asyncio.run(ask())


@BOTH
def test_a_paused_table_stays_paused_if_another_process_continues_it(game: str, tmp_path: Path) -> None:
    async def ask() -> None:
        store, one, thinkers = TableStore(tmp_path), table(game, HUMAN, "greedy"), PlayerPool()
        store.add(one)
        room = TableSession(store.load("t1"), store, thinkers)
        room.table.paused = True
        other = TableSession(store.load("t1"), store, thinkers)
        page = PageConnection(list[str]().append, (0,))
        other.pages.add(page)
        action = int(other.table.game.legal_actions()[0])
        other.handle(page, {"type": "decide", "number": 0, "action": action, "once": "", "more": []})
        room.refresh()
        assert (room.table.number, room.table.paused) == (1, True)
        for session in (room, other):
            await session.close()
        thinkers.close()

    asyncio.run(ask())


def test_a_game_that_was_over_is_not_after_as_many_other_decisions(tmp_path: Path) -> None:
    store, over = TableStore(tmp_path), table("helsinki", HUMAN, "greedy")
    play(over, 1000, "random")
    store.add(over)
    assert asyncio.run(finished_tables(store, store.all())) == {"t1"}
    longer = table("helsinki", HUMAN, "greedy")
    play(longer, over.number)
    assert not longer.game.done, "such a game takes longer"
    store.go_back("t1", 0, over.decisions)
    for decision in longer.decisions:
        store.write("t1", decision)
    assert asyncio.run(finished_tables(store, store.all())) == set()


def test_lists_are_sent_in_parts_and_every_part_says_which_games_are_over(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    over = table("helsinki", HUMAN, "greedy")
    play(over, 1000, "random")
    for number in range(230):
        store.add(replace(over, name=f"t{number:03}", past_actions=told(over) if number in (0, 229) else ()))
    names = [kept.name for kept in store.all()]
    parts = [store.all(first, 50) for first in range(0, 300, 50)]
    assert [len(part) for part in parts] == [50, 50, 50, 50, 30, 0]
    assert [kept.name for part in parts for kept in part] == names
    assert (len(store), names[-1], names[0]) == (230, "t000", "t229")
    assert asyncio.run(finished_tables(store, parts[4])) == {"t000"}
    assert asyncio.run(finished_tables(store, store.all())) == {"t000", "t229"}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_nobody_else_reads_the_database(tmp_path: Path) -> None:
    def modes(folder: Path) -> set[int]:
        return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}

    before = os.umask(0)
    try:
        new = tmp_path / "some" / "new"
        store = TableStore(new)
        store.add(table("helsinki", HUMAN, HUMAN))
        assert (stat.S_IMODE(new.stat().st_mode), modes(new)) == (0o700, {0o600})
        assert len(list(new.iterdir())) == 3, "the database, and what SQLite has beside it"
        store.close()
        former, other = tmp_path / "former", tmp_path / "other"
        for folder in (former, other):
            folder.mkdir()
            shutil.copy(new / "tables.sqlite", folder)
            (folder / "tables.sqlite").chmod(0o644)
            folder.chmod(0o755)
        (other / "notes.txt").write_text("of somebody else")
        for folder, mode in ((former, 0o700), (other, 0o755)):
            store = TableStore(folder)
            assert stat.S_IMODE(folder.stat().st_mode) == mode
            assert stat.S_IMODE((folder / "tables.sqlite").stat().st_mode) == 0o600
            assert len(store) == 1
            store.close()
        assert stat.S_IMODE((other / "notes.txt").stat().st_mode) == 0o666
    finally:
        os.umask(before)
