"""Pages and routes for tournaments."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Annotated, Any

from helsinki_env.data import choices_text, short_repr
from helsinki_env.engine.spec import config_from_dict, spec_of
from helsinki_env.evaluation.arena.plan import round_robin_lineups
from helsinki_env.records import Record
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.requests import MAX_LIST_ENTRIES, TOTAL, Limit, Name, Offset, RequestBody, add_page
from helsinki_env.web.setups import browser_game, chosen_options, labels_of, offered_players
from helsinki_env.web.tournaments import MAX_PARALLEL, MIN_DEALS, Tournament, TournamentManager, TournamentState

with requires_extra("play"):
    from fastapi import FastAPI
    from fastapi import Path as InPath
    from fastapi.responses import PlainTextResponse, Response
    from pydantic import Field

_MAX_TOURNAMENTS = 1000
_LATEST_GAMES = 8
"""Number of games listed on a page."""
_Number = Annotated[int, InPath(ge=0, lt=1_000_000)]


class NewTournament(RequestBody):
    """The settings of a new tournament."""

    game: str = Field("", max_length=40, description="Name of the game; empty: the default game.")
    title: Name = Field("", max_length=60, description="Displayed title.")
    seats: int = Field(2, ge=2, le=4, description="Number of players at a table.")
    players: list[str] = Field(min_length=2, max_length=8, description="Names of the players, each once.")
    games: int = Field(
        200, ge=10, le=2000, description="Minimum number of games; rounded up to complete rounds of line-ups and seats."
    )
    options: dict[str, Any] = Field(default_factory=dict, max_length=20, description="Options of the game.")
    seed: int | None = Field(None, ge=0, lt=2**53, description="Seed of deals and players; null: a random one.")


def add_tournaments(app: FastAPI, tournaments: TournamentManager, players: Sequence[str]) -> None:
    """Add the pages and routes for tournaments; `players` are additional players to offer."""
    add_page(app, "/tournaments", "tournaments.html")
    add_page(app, "/tournaments/{name}", "tournament.html", tournaments.store.has)
    _add_results(app, tournaments)
    _add_control(app, tournaments, players)


def _add_results(app: FastAPI, tournaments: TournamentManager) -> None:
    @app.get("/api/tournaments")
    async def listed(answer: Response, offset: Offset = 0, limit: Limit = MAX_LIST_ENTRIES) -> list[dict[str, Any]]:
        """Return the saved tournaments, newest first; the header X-Total-Count contains the total number."""
        answer.headers[TOTAL] = str(len(tournaments.store))
        return [_entry_data(tournaments, name) for name in tournaments.store.names(offset, limit)]

    @app.get("/api/tournaments/{name}")
    async def state(name: str) -> dict[str, Any]:
        """Return the state of a tournament: progress, statistics, and the latest games."""
        tournaments.update_statistics(name)
        state = tournaments.state(name)
        latest = [_game_data(number, line) for number, line in tournaments.store.latest(name, _LATEST_GAMES)]
        return _state_data(state) | {"figures": state.statistics, "latest": latest}

    @app.get("/api/tournaments/{name}/games")
    async def games(name: str) -> PlainTextResponse:
        """Return all finished games, one record per line."""
        tournaments.store.check(name)
        lines = "".join(f"{line}\n" for _, line in tournaments.store.lines(name))
        headers = {"content-disposition": f'attachment; filename="tournament-{name}.jsonl"'}
        return PlainTextResponse(lines, headers=headers, media_type="application/jsonl")

    @app.get("/api/tournaments/{name}/games/{number}")
    async def game(name: str, number: _Number) -> dict[str, Any]:
        """Return the record of a game."""
        return Record.from_json(tournaments.store.line(name, number)).to_dict()


def _add_control(app: FastAPI, tournaments: TournamentManager, players: Sequence[str]) -> None:
    @app.post("/api/tournaments", status_code=201)
    async def make(wanted: NewTournament) -> dict[str, Any]:
        """Create and start a tournament."""
        if len(tournaments.store) >= _MAX_TOURNAMENTS:
            raise ValueError(f"tournaments: found {_MAX_TOURNAMENTS:,}, expected fewer; delete some first")
        tournament = _new_tournament(wanted, players)
        tournaments.add(tournament)
        return {"tournament": tournament.name, "games": tournament.games}

    @app.post("/api/tournaments/{name}/go")
    async def resume(name: str) -> dict[str, Any]:
        """Resume a tournament by playing the missing games."""
        tournaments.resume(name)
        return {"tournament": name}

    @app.post("/api/tournaments/{name}/stop")
    async def stop(name: str) -> dict[str, Any]:
        """Stop a tournament; finished games are saved."""
        await tournaments.stop(name)
        return {"tournament": name}

    @app.delete("/api/tournaments/{name}")
    async def remove(name: str) -> dict[str, Any]:
        """Delete a tournament and its games."""
        await tournaments.remove(name)
        return {"tournament": name}


def _entry_data(tournaments: TournamentManager, name: str) -> dict[str, Any]:
    """Return the list entry for a tournament, even if this version cannot play it."""
    try:
        return _state_data(tournaments.state(name))
    except ValueError as problem:
        return {"tournament": name, "state": "closed", "message": str(problem)}


def _state_data(state: TournamentState) -> dict[str, Any]:
    tournament, left = state.tournament, state.seconds_left
    spec, matchup = spec_of(tournament.config), tournament.plan.matchups[0]
    return {
        "tournament": tournament.name,
        "title": tournament.title,
        "made": tournament.made,
        "game": spec.name.capitalize(),
        "options": list(tournament.options),
        "seats": matchup.seats,
        "players": list(tournament.players),
        "lineups": len(matchup.lineups),
        "deals": tournament.deals,
        "seed": tournament.seed,
        "games": tournament.games,
        "done": state.done,
        "state": state.state,
        "at_once": MAX_PARALLEL,
        "seconds_left": None if left is None else round(left, 1),
        "message": state.message,
    }


def _game_data(number: int, line: str) -> dict[str, Any]:
    record = Record.from_json(line)
    seats = zip(record.players, record.scores or (), record.places or (), strict=True)
    data = [{"player": player, "score": score, "place": rank} for player, score, rank in seats]
    return {"number": number, "seats": data}


def _new_tournament(wanted: NewTournament, more: Sequence[str]) -> Tournament:
    spec = browser_game(wanted.game)
    options = chosen_options(spec, wanted.options)
    config = config_from_dict(options | {"game": spec.name, "num_players": wanted.seats})
    offered = offered_players(spec, more)
    for number, player in enumerate(wanted.players):
        if player not in offered:
            raise ValueError(f"players.{number}: found {short_repr(player)}, expected {choices_text(offered, player)}")
        if player in wanted.players[:number]:
            raise ValueError(f"players.{number}: found {short_repr(player)} again, expected each player once")
    games_per_deal = len(round_robin_lineups(len(wanted.players), wanted.seats)) * wanted.seats
    deals = max(MIN_DEALS, -(-wanted.games // games_per_deal))
    seed = secrets.randbits(31) if wanted.seed is None else wanted.seed
    labels = labels_of(spec, wanted.options)
    return Tournament(
        secrets.token_hex(6), wanted.title, time.time(), config, tuple(wanted.players), deals, seed, labels
    )
