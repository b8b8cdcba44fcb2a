"""Results of a gauntlet: the rating by matchup and overall, and the score against each opponent.

The results follow from the plan and the ranks alone, so they can be recomputed from the ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.plan import Plan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import schedule_games
from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
from helsinki_env.evaluation.match_stats import fractional_wins, proportion_interval
from helsinki_env.evaluation.rating.anchored import AnchoredGames, AnchoredRating, anchored_ratings

__all__ = ["RATED_PLAYER", "expected_opponent_scores", "gauntlet_results"]

RATED_PLAYER = 0
"""Index of the rated player in a matchup; its opponents follow."""


@dataclass(frozen=True)
class _Games:
    """The games of one matchup: seating int64 (G, S), places int (G, S), deck int64 (G,)."""

    seating: npt.NDArray[np.int64]
    places: npt.NDArray[np.integer]
    deck: npt.NDArray[np.int64]


def gauntlet_results(
    plan: Plan, pins: ReferenceRatings, chunks: Iterable[tuple[WorkUnit, npt.NDArray[np.integer]]]
) -> dict[str, Any]:
    """Return the results of a player as plain data.

    Args:
        plan: the tournament, see `helsinki_env.evaluation.gauntlet.gauntlet.Gauntlet.plan`.
        pins: the reference ratings.
        chunks: all chunks with the ranks by seat, 0 is first, int (G, S).

    Raises:
        RatingError: if there are too few games.
    """
    played: list[list[_Games]] = [[] for _ in plan.tables]
    for chunk, places in chunks:
        planned = schedule_games(plan.tables[chunk.table], plan.seed, chunk)
        played[chunk.table].append(_Games(planned.seating, places, planned.block))
    tables = [
        _Games(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("seating", "places", "deck")))
        for parts in played
    ]
    known = [
        _anchored_games(games, plan.tables[number].players, pins, plan.tables[number].name)
        for number, games in enumerate(tables)
    ]
    overall, alone = anchored_ratings(known)
    return {
        "rating": _plain(overall),
        "tables": [
            {"table": plan.tables[number].name, **_plain(rating), **_won(tables[number])}
            for number, rating in enumerate(alone)
        ],
        "opponents": _opponents(plan, tables),
    }


def expected_opponent_scores(plan: Plan, pins: ReferenceRatings, ratings: Sequence[float]) -> dict[str, float]:
    """Return the expected score against each opponent, the probability to finish ahead, for given ratings.

    If the score against one opponent is far from this, the player's strength is not a single number: its rating depends
    on the opponents.

    Args:
        plan: the tournament.
        pins: the reference ratings.
        ratings: ratings of the player in each matchup of the plan, Elo points.
    """
    chances: dict[str, list[npt.NDArray[np.float64]]] = {}
    for chunk in plan.chunks:
        table = plan.tables[chunk.table]
        seating = schedule_games(table, plan.seed, chunk).seating
        fixed = pins.tables[table.name]
        strengths = np.array(
            [ratings[chunk.table], *(fixed.players[name] for name in table.players[RATED_PLAYER + 1 :])]
        )
        worth = strengths[seating] + np.array(fixed.seats)
        own = np.take_along_axis(worth, (seating == RATED_PLAYER).argmax(axis=1)[:, None], axis=1)
        ahead = 1 / (1 + 10 ** ((worth - own) / 400))
        for i, opponent in enumerate(table.players[RATED_PLAYER + 1 :], start=RATED_PLAYER + 1):
            chances.setdefault(opponent, []).append(ahead[seating == i])
    return {opponent: float(np.concatenate(parts).mean()) for opponent, parts in chances.items()}


def _anchored_games(games: _Games, players: Sequence[str], pins: ReferenceRatings, name: str) -> AnchoredGames:
    fixed = pins.tables[name]
    strengths = np.array([0.0, *(fixed.players[player] for player in players[RATED_PLAYER + 1 :])])
    return AnchoredGames(
        known=strengths[games.seating] + np.array(fixed.seats),
        own=games.seating == RATED_PLAYER,
        places=games.places,
        deck=games.deck,
    )


def _plain(rating: AnchoredRating) -> dict[str, Any]:
    elo = {name: _finite(getattr(rating, name)) for name in ("rating", "low", "high")}
    return {**elo, "games": rating.games, "decks": rating.decks}


def _finite(elo: float) -> float | None:
    """Round Elo points for the output; None for an unbounded end of an interval."""
    return round(elo, 1) if np.isfinite(elo) else None


def _share(decks: npt.NDArray[np.int64], happened: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return a proportion with its interval; the independent units are deals."""
    _, unit = np.unique(decks, return_inverse=True)
    found = proportion_interval(
        np.bincount(unit, happened)[:, None].astype(np.float64), np.bincount(unit).astype(np.float64)[:, None]
    )
    return {name: round(float(value[0]), 4) for name, value in zip(("share", "low", "high"), found, strict=True)}


def _won(games: _Games) -> dict[str, Any]:
    won = (fractional_wins(games.places) * (games.seating == RATED_PLAYER)).sum(axis=1)
    return {"won": _share(games.deck, won)}


def _opponents(plan: Plan, tables: Sequence[_Games]) -> list[dict[str, Any]]:
    """Return the score against each opponent: the fraction of meetings in which the player was ahead, ties as half."""
    ahead: dict[str, list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]] = {}
    for number, games in enumerate(tables):
        own = np.take_along_axis(games.places, (games.seating == RATED_PLAYER).argmax(axis=1)[:, None], axis=1)
        better = (own < games.places) + (own == games.places) / 2
        for i, opponent in enumerate(plan.tables[number].players[RATED_PLAYER + 1 :], start=RATED_PLAYER + 1):
            game, seat = np.nonzero(games.seating == i)
            ahead.setdefault(opponent, []).append((games.deck[game], better[game, seat]))
    found = []
    for opponent, parts in ahead.items():
        decks, shares = (np.concatenate(column) for column in zip(*parts, strict=True))
        found.append({"opponent": opponent, "meetings": len(decks), **_share(decks, shares)})
    return found
