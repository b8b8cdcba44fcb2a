"""Pages and routes of tournaments."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Annotated, Any

from helsinki_env.data import choices_text, short_repr
from helsinki_env.engine.spec import config_from_dict, default_spec, spec_by_name, spec_of
from helsinki_env.evaluation.arena.plan import round_robin_lineups
from helsinki_env.records import Record
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.errors import STATIC, error_response, not_found_response
from helsinki_env.web.levels import levels_of, offered_players
from helsinki_env.web.requests import MAX_LIST_ENTRIES, TOTAL, Limit, Name, Offset
from helsinki_env.web.setups import chosen_options, labels_of
from helsinki_env.web.tournaments.running import MOST_AT_ONCE, TournamentManager, TournamentState
from helsinki_env.web.tournaments.storage import MIN_TOURNAMENT_DEALS, NoTournamentError, Tournament

with requires_extra("play"):
    from fastapi import FastAPI, Request
    from fastapi import Path as InPath
    from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
    from pydantic import BaseModel, ConfigDict, Field

__all__ = ["NewTournament", "add_tournaments"]

_MOST = 1000
_LATEST = 8
"""Number of games that a page lists."""
_Number = Annotated[int, InPath(ge=0, lt=1_000_000)]


class NewTournament(BaseModel):
    """A tournament to play."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    game: str = Field("", max_length=40, description="which game; empty: the usual one")
    title: Name = Field("", max_length=60, description="what the pages call it")
    seats: int = Field(2, ge=2, le=4, description="players at a table")
    players: list[str] = Field(min_length=2, max_length=8, description="who meets, each once")
    games: int = Field(200, ge=10, le=2000, description="made up to whole rounds of line-ups and seats")
    options: dict[str, Any] = Field(default_factory=dict, max_length=20, description="of the game's configuration")
    seed: int | None = Field(None, ge=0, lt=2**53, description="of decks and players; none: a new one")


def add_tournaments(app: FastAPI, tournaments: TournamentManager, players: Sequence[str]) -> None:
    """Add the pages and routes.

    Args:
        app: the application.
        tournaments: the tournaments of the server.
        players: names of additional players that may take part.
    """

    @app.exception_handler(NoTournamentError)
    async def unknown(_: Request, problem: NoTournamentError) -> JSONResponse:
        return error_response(str(problem), 404)

    _add_pages(app, tournaments)
    _add_reading(app, tournaments)
    _add_doing(app, tournaments, players)


def _add_pages(app: FastAPI, tournaments: TournamentManager) -> None:
    @app.get("/tournaments", include_in_schema=False)
    async def start() -> FileResponse:
        return FileResponse(STATIC / "tournaments.html")

    @app.get("/tournaments/{name}", include_in_schema=False)
    async def one(name: str) -> Response:
        try:
            tournaments.kept.check(name)
        except NoTournamentError:
            return not_found_response()
        return FileResponse(STATIC / "tournament.html")


def _add_reading(app: FastAPI, tournaments: TournamentManager) -> None:
    @app.get("/api/tournaments")
    async def listed(answer: Response, offset: Offset = 0, limit: Limit = MAX_LIST_ENTRIES) -> list[dict[str, Any]]:
        """Return the saved tournaments, newest first; the header X-Total-Count gives their total number."""
        answer.headers[TOTAL] = str(len(tournaments.kept))
        return [_listed(tournaments, name) for name in tournaments.kept.names(offset, limit)]

    @app.get("/api/tournaments/{name}")
    async def standing(name: str) -> dict[str, Any]:
        """Return the state of a tournament: its progress, its statistics, and its latest games."""
        tournaments.look(name)
        found = tournaments.standing(name)
        latest = [_game(number, line) for number, line in tournaments.kept.latest(name, _LATEST)]
        return _described(found) | {"figures": found.figures, "latest": latest}

    @app.get("/api/tournaments/{name}/games")
    async def games(name: str) -> PlainTextResponse:
        """Return all finished games, one record per line."""
        tournaments.kept.check(name)
        lines = "".join(f"{line}\n" for _, line in tournaments.kept.lines(name))
        named = {"content-disposition": f'attachment; filename="tournament-{name}.jsonl"'}
        return PlainTextResponse(lines, headers=named, media_type="application/jsonl")

    @app.get("/api/tournaments/{name}/games/{number}")
    async def game(name: str, number: _Number) -> dict[str, Any]:
        """Return the record of a game."""
        return Record.from_json(tournaments.kept.line(name, number)).to_dict()


def _add_doing(app: FastAPI, tournaments: TournamentManager, players: Sequence[str]) -> None:
    @app.post("/api/tournaments", status_code=201)
    async def make(wanted: NewTournament) -> dict[str, Any]:
        """Create and start a tournament."""
        if len(tournaments.kept) >= _MOST:
            raise ValueError(f"tournaments: found {_MOST:,}, which is enough; remove some first")
        tournament = _new_tournament(wanted, players)
        tournaments.add(tournament)
        return {"tournament": tournament.name, "games": tournament.games}

    @app.post("/api/tournaments/{name}/go")
    async def go_on(name: str) -> dict[str, Any]:
        """Play the missing games."""
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


def _listed(tournaments: TournamentManager, name: str) -> dict[str, Any]:
    """Return the list entry of a tournament; one that this version cannot play must not hide the others."""
    try:
        return _described(tournaments.standing(name))
    except ValueError as problem:
        return {"tournament": name, "state": "closed", "message": str(problem)}


def _described(standing: TournamentState) -> dict[str, Any]:
    """Return the state of a tournament as plain data for pages."""
    tournament, left = standing.tournament, standing.seconds_left
    spec, table = spec_of(tournament.config), tournament.plan.tables[0]
    return {
        "tournament": tournament.name,
        "title": tournament.title,
        "made": tournament.made,
        "game": spec.name.capitalize(),
        "options": list(tournament.options),
        "seats": table.seats,
        "players": list(tournament.players),
        "lineups": len(table.lineups),
        "decks": tournament.decks,
        "seed": tournament.seed,
        "games": tournament.games,
        "done": standing.done,
        "state": standing.state,
        "at_once": MOST_AT_ONCE,
        "seconds_left": None if left is None else round(left, 1),
        "message": standing.message,
    }


def _game(number: int, line: str) -> dict[str, Any]:
    record = Record.from_json(line)
    seats = zip(record.players, record.scores or (), record.places or (), strict=True)
    told = [{"player": player, "score": score, "place": place} for player, score, place in seats]
    return {"number": number, "seats": told}


def _new_tournament(wanted: NewTournament, more: Sequence[str]) -> Tournament:
    spec = spec_by_name(wanted.game or default_spec().name)
    if spec.list_ui_actions is None:
        raise ValueError(f"game: {spec.name} cannot be played in a browser")
    options = chosen_options(spec, wanted.options)
    config = config_from_dict(options | {"game": spec.name, "num_players": wanted.seats})
    offered = (*(level.player for level in levels_of(spec)), *offered_players(spec, more))
    for number, player in enumerate(wanted.players):
        if player not in offered:
            raise ValueError(f"players.{number}: found {short_repr(player)}, expected {choices_text(offered, player)}")
        if player in wanted.players[:number]:
            raise ValueError(f"players.{number}: found {short_repr(player)} again, expected each player once")
    in_a_round = len(round_robin_lineups(len(wanted.players), wanted.seats)) * wanted.seats
    decks = max(MIN_TOURNAMENT_DEALS, -(-wanted.games // in_a_round))
    seed = secrets.randbits(31) if wanted.seed is None else wanted.seed
    chosen = labels_of(spec, wanted.options)
    name, who = secrets.token_hex(6), tuple(wanted.players)
    return Tournament(name, wanted.title, time.time(), config, who, decks, seed, chosen)
