"""A process that plays a tournament and works out its figures, so that nothing else waits for either."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from math import isfinite
from multiprocessing.connection import Connection
from typing import Any

from agents.arena.chunk import play_chunk
from agents.arena.plan import Chunk
from agents.arena.recorded import Recorded, recorded_tables
from agents.arena.store import records_of
from agents.arena.workers import begin
from agents.rating.errors import RatingError
from agents.rating.shares import pairs, standings
from helsinki_env.extras import MissingExtraError
from helsinki_env.play.record import Record
from helsinki_env.web.tournaments.kept import LEAST_DECKS, Tournament

__all__ = ["figures", "next_chunk", "work"]

_CHUNK_SECONDS = 1.0
"""About how long the games take that are played side by side: many are played faster, few are seen sooner."""
_RATING_SHARE = 0.2
"""Largest part of the time that ratings may take."""
_BEHIND = 5
"""How far the process stands back behind the server and those who play at tables (`os.nice`)."""


def work(line: Connection, tournament: Tournament, kept: Sequence[tuple[int, str]], playing: bool) -> None:
    """Play what is missing of a tournament: what the process does.

    Args:
        line: takes ("games", [(number, line), ...]) for games that have ended, ("figures", data) as `figures` returns
            it, and ("failed", why) if it cannot go on.
        tournament: what is played.
        kept: number and line of the games that have been played.
        playing: whether to play; otherwise only figures are sent.
    """
    begin()
    if hasattr(os, "nice"):
        os.nice(_BEHIND)
    try:
        _work(line, tournament, kept, playing)
    except OSError:
        return  # nobody listens any more
    except Exception as problem:  # a player may be anybody's
        line.send(("failed", f"{type(problem).__name__}: {problem}"))


def _work(line: Connection, tournament: Tournament, kept: Sequence[tuple[int, str]], playing: bool) -> None:
    games = {number: Record.from_json(text) for number, text in kept}
    done, decks = tournament.decks_done(list(games)), 1
    rested, rating = time.monotonic(), 0.0
    while playing and (chunk := next_chunk(done, tournament.decks, decks)) is not None:
        began = time.monotonic()
        played = play_chunk(tournament.plan.tables[0], tournament.seed, chunk)
        records = list(records_of(tournament.plan, [(chunk, played)]))
        new = dict(zip(tournament.numbers(chunk), records, strict=True))
        line.send(("games", [(number, record.to_json()) for number, record in new.items()]))
        games |= new
        done[chunk.lineup] = chunk.end
        now = time.monotonic()
        decks = max(1, min(2 * decks, int(decks * _CHUNK_SECONDS / (now - began + 1e-9))))
        if rating <= _RATING_SHARE * (now - rested):
            line.send(("figures", figures(tournament, games)))
            rested = time.monotonic()
            rating = rested - now
    if games:
        line.send(("figures", figures(tournament, games)))


def next_chunk(done: Sequence[int], decks: int, most: int) -> Chunk | None:
    """Return what is played next: the line-up that has played the fewest decks goes on; None at the end.

    Args:
        done: how many decks every line-up has played.
        decks: how many it shall play.
        most: how many of them at once.
    """
    lineup = min(range(len(done)), key=done.__getitem__)
    first = done[lineup]
    return Chunk(0, lineup, 0, first, min(decks, first + most)) if first < decks else None


def figures(tournament: Tournament, games: dict[int, Record]) -> dict[str, Any]:
    """Return how the players stand.

    Args:
        tournament: what is played.
        games: those that have ended, by number; at least one.

    Returns:
        ``games`` and ``decks``, how many there are; ``players``, the best first, and ``pairs``, as
        `agents.rating.report.table_data` makes them; ``reference``, the player at zero; ``without``, why there are no
        ratings, or None. Without them their ends and those of intervals that nobody knows are None.
    """
    (table,) = recorded_tables((games[number] for number in sorted(games)), lambda _: tournament.title)
    if len(set(table.deck.tolist())) < LEAST_DECKS:
        return _unrated(table, "ratings come with the second deck: their intervals say how much decks differ")
    try:
        from agents.rating.ratings import rate
        from agents.rating.report import table_data

        data = table_data(rate(table))
    except (RatingError, MissingExtraError) as problem:
        return _unrated(table, str(problem))
    return {key: data[key] for key in ("games", "decks", "reference", "players", "pairs")} | {"without": None}


def _unrated(table: Recorded, why: str) -> dict[str, Any]:
    """Return what is known without a model: how often each player has won and was ahead of others, points, places."""
    many = len(table.players)
    stands = standings(many, table.seating, table.places, table.scores, table.deck)
    against = pairs(many, table.seating, table.places, table.deck)
    best = sorted(range(many), key=lambda i: -stands.win_share[i])
    players = [
        {
            "player": table.players[i],
            "rating": None,
            "low": None,
            "high": None,
            "games": int(stands.games[i]),
            "win_share": float(stands.win_share[i]),
            "win_share_low": _known(stands.low[i]),
            "win_share_high": _known(stands.high[i]),
            "mean_points": float(stands.points[i]),
            "mean_place": float(stands.place[i]),
        }
        for i in best
    ]
    met = [
        {
            "player": table.players[i],
            "opponent": table.players[j],
            "games": int(against.games[i, j]),
            "ahead": _known(against.share[i, j]),
            "low": _known(against.low[i, j]),
            "high": _known(against.high[i, j]),
        }
        for i in best
        for j in best
        if i != j
    ]
    found = {"games": len(table.deck), "decks": len(set(table.deck.tolist())), "reference": None}
    return found | {"players": players, "pairs": met, "without": why}


def _known(value: float) -> float | None:
    return float(value) if isfinite(value) else None
