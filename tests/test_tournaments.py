"""Tournaments of `helsinki play` with requests like those of pages; tests/test_page_tournament.py tests the pages."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.cli.main import main
from helsinki_env.evaluation.arena.load import group_records, load_records, load_run
from helsinki_env.evaluation.arena.plan import plan_from_dict
from helsinki_env.evaluation.arena.run import run_arena
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.evaluation.rating.report import matchup_rating_data
from helsinki_env.records import Record, RecordError, read_records, replay
from helsinki_env.web.store import TableStore
from helsinki_env.web.tournaments import (
    Tournament,
    TournamentManager,
    TournamentStore,
    next_work_unit,
    tournament_statistics,
)
from tests.games import ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.server import Server, serving

pytestmark = pytest.mark.thorough

#: Players too slow to finish a game during the tests.
SLOW = ["ismcts:400", "mc:400"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving(tmp_path_factory.mktemp("tournaments")) as running:
        yield running


def begin(server: Server, players: list[str], **more: Any) -> str:
    status, made, _ = server.ask("POST", "/api/tournaments", {"players": players} | more)
    assert status == 201, made
    return str(made["tournament"])


def standing(server: Server, name: str) -> dict[str, Any]:
    status, found, _ = server.ask("GET", f"/api/tournaments/{name}")
    assert status == 200, found
    assert isinstance(found, dict)
    return found


def wait(server: Server, name: str, wanted: Any) -> dict[str, Any]:
    while not wanted(found := standing(server, name)):
        assert not found["message"], found
        time.sleep(0.05)
    return found


def finished(server: Server, name: str) -> dict[str, Any]:
    wait(server, name, lambda now: (now["figures"] or {}).get("games") == now["games"])
    return wait(server, name, lambda now: now["state"] == "finished")


def games_of(server: Server, name: str) -> str:
    status, text, _ = server.ask("GET", f"/api/tournaments/{name}/games")
    assert status == 200
    return str(text)


@pytest.fixture(scope="module")
def small(server: Server) -> str:
    """A finished tournament."""
    name = begin(server, ["random", "greedy"], games=10, seed=1)
    finished(server, name)
    return name


# -- games ---------------------------------------------------------------------------------------------------


@ONE_GAME_OR_EACH_NIGHTLY
def test_the_games_are_those_of_the_arena_with_the_same_seed(game: TestedGame, server: Server, tmp_path: Path) -> None:
    players = ["random", "greedy", "heuristic"]
    name = begin(server, players, game=game.name, games=40, seed=5, title="Three")
    found, lines = finished(server, name), games_of(server, name)
    assert (found["games"], found["lineups"], found["deals"]) == (42, 3, 7)
    assert (found["title"], found["players"], found["state"]) == ("Three", players, "finished")
    table = {"players": players, "games": 14, "seats": 2, "game": {"game": game.name}}
    run_arena(plan_from_dict({"seed": 5, "matchups": [table]}), tmp_path / "run", processes=1, form="jsonl")
    assert sorted(lines.splitlines()) == sorted(record.to_json() for record in load_records(tmp_path / "run"))
    (path := tmp_path / "games.jsonl").write_text(lines, encoding="utf-8")
    of_file = matchup_rating_data(rate(group_records(read_records(path), lambda _: "Three")[0]))
    of_run = matchup_rating_data(rate(load_run(tmp_path / "run")[0]))
    for key in ("games", "deals", "players", "pairs", "reference"):
        assert found["figures"][key] == of_file[key] == of_run[key], key


def test_the_file_is_rated_by_the_command(
    server: Server, small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, best = small, standing(server, small)["figures"]["players"][0]
    (path := tmp_path / "games.jsonl").write_text(games_of(server, name), encoding="utf-8")
    for options, expected in (
        ((), f"{best['rating']:.0f}"),
        (("--better", "greedy,random"), "5 of 5 deals used"),
    ):
        assert main(["rate", str(path), *options]) == 0
        assert expected in capsys.readouterr().out
    assert main(["rate", str(path), "--out", str(tmp_path / "report")]) == 2
    assert "expected the folder of a run" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()


@ONE_GAME_OR_EACH_NIGHTLY
def test_everybody_sits_in_every_seat_of_every_deck(game: TestedGame, server: Server) -> None:
    seats, players = 4 if game.spec.is_default else 3, ["random", "greedy"]
    name = begin(server, players, game=game.name, seats=seats, games=10, seed=2)
    found = finished(server, name)
    played = [Record.from_json(line) for line in games_of(server, name).splitlines()]
    assert len(played) == found["games"] == found["lineups"] * found["deals"] * seats
    by_deck: dict[Any, list[tuple[str, ...]]] = {}
    for record in played:
        assert replay(record).done
        by_deck.setdefault((record.seed, tuple(sorted(record.players))), []).append(record.players)
    for seatings in by_deck.values():
        assert len(seatings) == seats
        first = seatings[0]
        assert sorted(seatings) == sorted(first[turn:] + first[:turn] for turn in range(seats))
    assert sum(row["games"] for row in found["figures"]["players"]) == seats * len(played)


def test_options_are_played(server: Server) -> None:
    name = begin(server, ["random", "greedy"], games=10, options={"first_game": True, "dry_roads": True})
    assert finished(server, name)["options"] == ["First game", "Dry roads"]
    config = Record.from_json(games_of(server, name).splitlines()[0]).config
    assert (len(config.covered), config.dry_roads) == (5, True)


def test_the_latest_games_are_told_and_each_can_be_had(server: Server, small: str) -> None:
    latest, lines = standing(server, small)["latest"], games_of(server, small).splitlines()
    assert [game["number"] for game in latest] == list(range(9, 1, -1))
    for game in latest:
        record = Record.from_json(lines[game["number"]])
        assert [seat["player"] for seat in game["seats"]] == list(record.players)
        assert [seat["score"] for seat in game["seats"]] == list(record.scores or ())
        assert [seat["place"] for seat in game["seats"]] == list(record.places or ())
        status, told, _ = server.ask("GET", f"/api/tournaments/{small}/games/{game['number']}")
        assert (status, Record.from_dict(told)) == (200, record)


def test_who_has_played_least_goes_on() -> None:
    done, order = [0, 0, 0], []
    while (chunk := next_work_unit(done, 3, 2)) is not None:
        order.append((chunk.lineup, chunk.first, chunk.end))
        done[chunk.lineup] = chunk.end
    assert order == [(0, 0, 2), (1, 0, 2), (2, 0, 2), (0, 2, 3), (1, 2, 3), (2, 2, 3)]


def test_games_that_have_not_ended_are_not_rated(server: Server, small: str) -> None:
    record = Record.from_json(games_of(server, small).splitlines()[0])
    broken = Record(record.config, record.seed, record.players, record.decisions[:5])
    with pytest.raises(RecordError, match="game 2: found an unfinished game"):
        group_records([record, broken], lambda _: "")


def test_before_there_are_ratings_it_is_told_who_has_won(server: Server, small: str) -> None:
    played = [Record.from_json(line) for line in games_of(server, small).splitlines()]
    tournament = Tournament("t", "", 0.0, played[0].config, ("random", "greedy"), 5, 1)
    found = tournament_statistics(tournament, dict(enumerate(played[:2])))
    assert (found["games"], found["deals"], found["reference"]) == (2, 1, None)
    assert "at least two deals" in found["without"]
    won = Counter(record.players[(record.ranking or ())[0]] for record in played[:2])
    assert {row["player"]: 2 * row["win_share"] for row in found["players"]} == {"greedy": 0, "random": 0} | won
    assert [row["rating"] for row in found["players"]] == [None, None]
    assert json.dumps(found, allow_nan=False)
    assert tournament_statistics(tournament, dict(enumerate(played)))["without"] is None


# -- stop and resume ----------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_whatever_kills_the_server_a_tournament_goes_on_to_the_same_result(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"players": ["random", "greedy", "heuristic"], "games": 400, "seed": 9}
    with serving(tmp_path) as running:
        whole = begin(running, **asked)
        expected, games = finished(running, whole)["figures"], games_of(running, whole)
        name = begin(running, **asked)
        shown = wait(running, name, lambda now: now["done"] > 0)
        assert shown["done"] < shown["games"]
        running.end(signal.SIGKILL)
    with serving(tmp_path) as running:
        stopped = standing(running, name)
        assert (stopped["state"], shown["done"] <= stopped["done"] < stopped["games"]) == ("stopped", True)
        before = wait(running, name, lambda now: now["figures"])["figures"]
        assert before["games"] == stopped["done"]
        running.ask("POST", f"/api/tournaments/{name}/go")
        assert finished(running, name)["figures"] == expected
        assert games_of(running, name) == games
        assert standing(running, whole)["state"] == "finished"


def test_a_tournament_is_stopped_in_the_middle_of_a_game(server: Server) -> None:
    name = begin(server, SLOW, games=10)
    assert wait(server, name, lambda now: now["state"] == "playing")["done"] == 0
    assert server.ask("POST", f"/api/tournaments/{name}/stop")[0] == 200
    stopped = standing(server, name)
    assert (stopped["state"], stopped["done"], stopped["figures"]) == ("stopped", 0, None)
    for _ in range(2):  # a second click changes nothing
        assert server.ask("POST", f"/api/tournaments/{name}/go")[0] == 200
        assert standing(server, name)["state"] in ("waiting", "playing")
    assert server.ask("DELETE", f"/api/tournaments/{name}")[0] == 200
    for method, path in (("GET", ""), ("GET", "/games"), ("POST", "/go"), ("POST", "/stop"), ("DELETE", "")):
        status, answer, _ = server.ask(method, f"/api/tournaments/{name}{path}")
        assert (status, "does not exist" in answer["error"]) == (404, True)


def test_few_are_played_at_a_time(server: Server) -> None:
    names = [begin(server, SLOW, games=10) for _ in range(4)]
    states = [wait(server, name, lambda now: now["state"] != "waiting")["state"] for name in names[:2]]
    assert states == ["playing", "playing"]
    assert [standing(server, name)["state"] for name in names[2:]] == ["waiting", "waiting"]
    server.ask("POST", f"/api/tournaments/{names[2]}/stop")  # leaves the queue
    server.ask("POST", f"/api/tournaments/{names[0]}/stop")
    wait(server, names[3], lambda now: now["state"] == "playing")
    assert [standing(server, name)["state"] for name in names] == ["stopped", "playing", "stopped", "playing"]
    for name in names:
        assert server.ask("DELETE", f"/api/tournaments/{name}")[0] == 200


def test_a_player_that_fails_stops_its_tournament_and_says_why(tmp_path: Path) -> None:
    async def failed() -> str:
        store = TableStore(tmp_path)
        tournaments = TournamentManager(store)
        tournaments.add(Tournament("t", "", 0.0, HelsinkiConfig(), ("random", "net:nowhere"), 5, 1))
        while tournaments.state("t").state != "stopped":
            await asyncio.sleep(0.05)
        message = tournaments.state("t").message
        await tournaments.close()
        store.close()
        return message

    message = asyncio.run(failed())
    assert "it cannot continue" in message
    assert "nowhere" in message


@pytest.mark.parametrize("key", ["later", "deals"])
def test_a_tournament_of_another_version_hides_no_other(key: str, tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    for name in ("one", "other"):
        TournamentStore(store).add(Tournament(name, "", 0.0, HelsinkiConfig(), ("random", "greedy"), 5, 1))
    with store.rows as rows:
        settings = json.loads(rows.execute("SELECT settings FROM tournaments WHERE name = 'one'").fetchone()[0])
        if key == "later":
            settings["config"][key] = 1
        else:
            settings["decks"] = settings.pop(key)
        rows.execute("UPDATE tournaments SET settings = ? WHERE name = 'one'", (json.dumps(settings),))
    store.close()
    with serving(tmp_path) as running:
        states = {found["tournament"]: found["state"] for found in running.ask("GET", "/api/tournaments")[1]}
        assert states == {"one": "closed", "other": "stopped"}
        status, answer, _ = running.ask("GET", "/api/tournaments/one")
        assert (status, key in answer["error"]) == (400, True)
        assert running.ask("DELETE", "/api/tournaments/one")[0] == 200
        assert len(running.ask("GET", "/api/tournaments")[1]) == 1


# -- invalid requests ----------------------------------------------------------------------------------------

_TWO = ["random", "greedy"]
_WRONG: list[tuple[Any, str]] = [
    (b"", "body"),
    (b"{", "JSON"),
    (b"[]", "found"),
    ({}, "players"),
    ({"players": []}, "players"),
    ({"players": ["random"]}, "players"),
    ({"players": ["random"] * 9}, "players"),
    ({"players": "random,greedy"}, "players"),
    ({"players": ["random", 1]}, "players.1"),
    ({"players": ["random", "human"]}, "players.1: found 'human'"),
    ({"players": ["random", "random"]}, "players.1: found 'random' again"),
    ({"players": ["random", "net:/etc/passwd"]}, "players.1: found"),
    ({"players": ["random", "x" * 5000]}, "players.1: found"),
    ({"players": _TWO, "seats": 1}, "seats"),
    ({"players": _TWO, "seats": 5}, "seats"),
    ({"players": _TWO, "seats": "two"}, "seats"),
    ({"players": _TWO, "games": 9}, "games"),
    ({"players": _TWO, "games": 2001}, "games"),
    ({"players": _TWO, "games": None}, "games"),
    ({"players": _TWO, "games": 10.5}, "games"),
    ({"players": _TWO, "game": "chess"}, "game"),
    ({"players": _TWO, "seed": -1}, "seed"),
    ({"players": _TWO, "seed": 2**53}, "seed"),
    ({"players": _TWO, "title": "t" * 61}, "title"),
    ({"players": _TWO, "options": {"components": "/etc/passwd"}}, "components: found '/etc/passwd'"),
    ({"players": _TWO, "options": {"covered": "all"}}, "covered"),
    ({"players": _TWO, "more": 1}, "more"),
]


@pytest.mark.parametrize("number", range(len(_WRONG)))
def test_tournaments_that_cannot_be_played(number: int, server: Server) -> None:
    body, message = _WRONG[number]
    before = len(server.ask("GET", "/api/tournaments")[1])
    status, answer, _ = server.ask("POST", "/api/tournaments", body)
    assert 400 <= status < 500, answer
    assert message in answer["error"]
    assert len(answer["error"]) < 2000
    assert len(server.ask("GET", "/api/tournaments")[1]) == before


def test_only_pages_of_this_server_and_who_has_the_token_may_ask(server: Server, tmp_path: Path) -> None:
    foreign = {"origin": "http://evil.example"}
    assert server.ask("POST", "/api/tournaments", {"players": _TWO}, foreign)[0] == 403
    with serving(tmp_path, "--host", "0.0.0.0") as running:
        token = running.page.partition("#token=")[2]
        running.address = running.address.replace("0.0.0.0", "127.0.0.1")
        for method, path in (("GET", ""), ("POST", ""), ("GET", "/x/games"), ("POST", "/x/go"), ("DELETE", "/x")):
            assert running.ask(method, f"/api/tournaments{path}")[0] == 401
        assert running.ask("GET", "/api/tournaments", headers={"authorization": f"Bearer {token}"})[0] == 200
