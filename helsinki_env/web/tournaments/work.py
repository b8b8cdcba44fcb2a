"""Process that plays a tournament and computes its statistics, so that neither blocks the server."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from math import isfinite
from multiprocessing.connection import Connection
from typing import Any

from helsinki_env.evaluation.arena.load import RatableGames, group_records
from helsinki_env.evaluation.arena.plan import WorkUnit
from helsinki_env.evaluation.arena.store import records_of
from helsinki_env.evaluation.arena.work_unit import play_work_unit
from helsinki_env.evaluation.arena.workers import init_worker_process
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.shares import cross_table, player_statistics
from helsinki_env.records import Record
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.web.tournaments.storage import MIN_TOURNAMENT_DEALS, Tournament

__all__ = ["next_chunk", "tournament_statistics", "work"]

_CHUNK_SECONDS = 1.0
"""Target seconds for a batch of games played in parallel: large batches are faster, small ones show results sooner."""
_RATING_SHARE = 0.2
"""Maximum fraction of the time spent on ratings."""
_BEHIND = 5
"""Niceness of the process relative to the server and the players at tables (`os.nice`)."""


def work(line: Connection, tournament: Tournament, kept: Sequence[tuple[int, str]], playing: bool) -> None:
    """Play the missing games of a tournament; the main function of the process.

    Args:
        line: receives ("games", [(number, line), ...]) for finished games, ("figures", data) with the result of
            `tournament_statistics`, and ("failed", why) after an error.
        tournament: its settings.
        kept: number and line of the games already played.
        playing: whether to play; otherwise only statistics are sent.
    """
    init_worker_process()
    if hasattr(os, "nice"):
        os.nice(_BEHIND)
    try:
        _work(line, tournament, kept, playing)
    except OSError:
        return  # the server has closed the connection
    except Exception as problem:  # a third-party player may raise anything
        line.send(("failed", f"{type(problem).__name__}: {problem}"))


def _work(line: Connection, tournament: Tournament, kept: Sequence[tuple[int, str]], playing: bool) -> None:
    games = {number: Record.from_json(text) for number, text in kept}
    done, decks = tournament.decks_done(list(games)), 1
    rested, rating = time.monotonic(), 0.0
    while playing and (chunk := next_chunk(done, tournament.decks, decks)) is not None:
        began = time.monotonic()
        played = play_work_unit(tournament.plan.tables[0], tournament.seed, chunk)
        records = list(records_of(tournament.plan, [(chunk, played)]))
        new = dict(zip(tournament.numbers(chunk), records, strict=True))
        line.send(("games", [(number, record.to_json()) for number, record in new.items()]))
        games |= new
        done[chunk.lineup] = chunk.end
        now = time.monotonic()
        decks = max(1, min(2 * decks, int(decks * _CHUNK_SECONDS / (now - began + 1e-9))))
        if rating <= _RATING_SHARE * (now - rested):
            line.send(("figures", tournament_statistics(tournament, games)))
            rested = time.monotonic()
            rating = rested - now
    if games:
        line.send(("figures", tournament_statistics(tournament, games)))


def next_chunk(done: Sequence[int], decks: int, most: int) -> WorkUnit | None:
    """Return the next work unit, from the line-up with the fewest deals so far; None when all are finished.

    Args:
        done: number of deals that each line-up has finished.
        decks: number of deals for each line-up.
        most: maximum number of deals in the unit.
    """
    lineup = min(range(len(done)), key=done.__getitem__)
    first = done[lineup]
    return WorkUnit(0, lineup, 0, first, min(decks, first + most)) if first < decks else None


def tournament_statistics(tournament: Tournament, games: dict[int, Record]) -> dict[str, Any]:
    """Return the statistics of the players.

    Args:
        tournament: its settings.
        games: finished games by number; at least one.

    Returns:
        ``games`` and ``decks``, their numbers; ``players``, best first, and ``cross_table``, as returned by
        `helsinki_env.evaluation.rating.report.matchup_rating_data`; ``reference``, the player with rating zero;
        ``without``, the reason why there are no ratings, or None. Without ratings, they and unknown interval bounds are
        None.
    """
    (table,) = group_records((games[number] for number in sorted(games)), lambda _: tournament.title)
    if len(set(table.deck.tolist())) < MIN_TOURNAMENT_DEALS:
        return _unrated(table, "ratings come with the second deck: their intervals say how much decks differ")
    try:
        from helsinki_env.evaluation.rating.ratings import rate
        from helsinki_env.evaluation.rating.report import matchup_rating_data

        data = matchup_rating_data(rate(table))
    except (RatingError, MissingExtraError) as problem:
        return _unrated(table, str(problem))
    return {key: data[key] for key in ("games", "decks", "reference", "players", "pairs")} | {"without": None}


def _unrated(table: RatableGames, why: str) -> dict[str, Any]:
    """Return the statistics without a rating model: wins, pairwise results, points and ranks."""
    many = len(table.players)
    stands = player_statistics(many, table.seating, table.places, table.scores, table.deck)
    against = cross_table(many, table.seating, table.places, table.deck)
    best = sorted(range(many), key=lambda i: -stands.win_rate[i])
    players = [
        {
            "player": table.players[i],
            "rating": None,
            "low": None,
            "high": None,
            "games": int(stands.games[i]),
            "win_share": float(stands.win_rate[i]),
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
