"""Results of a gauntlet: the rating by matchup and overall, and the score against each opponent.

The results follow from the plan and the ranks alone, so they can be recomputed from the ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.plan import Chunk, Plan
from helsinki_env.evaluation.arena.work_unit import schedule
from helsinki_env.evaluation.gauntlet.reference_ratings import Pins
from helsinki_env.evaluation.match_stats import share_interval, win_shares
from helsinki_env.evaluation.rating.anchored import Anchored, AnchoredGames, anchored

__all__ = ["PLAYER", "expected_ahead", "results"]

PLAYER = 0
"""Index of the rated player in a matchup; its opponents follow."""


@dataclass(frozen=True)
class _Games:
    """The games of one matchup: seating int64 (G, S), places int (G, S), deck int64 (G,)."""

    seating: npt.NDArray[np.int64]
    places: npt.NDArray[np.integer]
    deck: npt.NDArray[np.int64]


def results(plan: Plan, pins: Pins, chunks: Iterable[tuple[Chunk, npt.NDArray[np.integer]]]) -> dict[str, Any]:
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
        planned = schedule(plan.tables[chunk.table], plan.seed, chunk)
        played[chunk.table].append(_Games(planned.seating, places, planned.block))
    tables = [
        _Games(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("seating", "places", "deck")))
        for parts in played
    ]
    known = [
        _anchored_games(games, plan.tables[number].players, pins, plan.tables[number].name)
        for number, games in enumerate(tables)
    ]
    overall, alone = anchored(known)
    return {
        "rating": _plain(overall),
        "tables": [
            {"table": plan.tables[number].name, **_plain(rating), **_won(tables[number])}
            for number, rating in enumerate(alone)
        ],
        "opponents": _opponents(plan, tables),
    }


def expected_ahead(plan: Plan, pins: Pins, ratings: Sequence[float]) -> dict[str, float]:
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
        seating = schedule(table, plan.seed, chunk).seating
        fixed = pins.tables[table.name]
        strengths = np.array([ratings[chunk.table], *(fixed.players[name] for name in table.players[PLAYER + 1 :])])
        worth = strengths[seating] + np.array(fixed.seats)
        own = np.take_along_axis(worth, (seating == PLAYER).argmax(axis=1)[:, None], axis=1)
        ahead = 1 / (1 + 10 ** ((worth - own) / 400))
        for i, opponent in enumerate(table.players[PLAYER + 1 :], start=PLAYER + 1):
            chances.setdefault(opponent, []).append(ahead[seating == i])
    return {opponent: float(np.concatenate(parts).mean()) for opponent, parts in chances.items()}


def _anchored_games(games: _Games, players: Sequence[str], pins: Pins, name: str) -> AnchoredGames:
    fixed = pins.tables[name]
    strengths = np.array([0.0, *(fixed.players[player] for player in players[PLAYER + 1 :])])
    return AnchoredGames(
        known=strengths[games.seating] + np.array(fixed.seats),
        own=games.seating == PLAYER,
        places=games.places,
        deck=games.deck,
    )


def _plain(rating: Anchored) -> dict[str, Any]:
    elo = {name: _finite(getattr(rating, name)) for name in ("rating", "low", "high")}
    return {**elo, "games": rating.games, "decks": rating.decks}


def _finite(elo: float) -> float | None:
    """Round Elo points for the output; None for an unbounded end of an interval."""
    return round(elo, 1) if np.isfinite(elo) else None


def _share(decks: npt.NDArray[np.int64], happened: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return a proportion with its interval; the independent units are deals."""
    _, unit = np.unique(decks, return_inverse=True)
    found = share_interval(
        np.bincount(unit, happened)[:, None].astype(np.float64), np.bincount(unit).astype(np.float64)[:, None]
    )
    return {name: round(float(value[0]), 4) for name, value in zip(("share", "low", "high"), found, strict=True)}


def _won(games: _Games) -> dict[str, Any]:
    won = (win_shares(games.places) * (games.seating == PLAYER)).sum(axis=1)
    return {"won": _share(games.deck, won)}


def _opponents(plan: Plan, tables: Sequence[_Games]) -> list[dict[str, Any]]:
    """Return the score against each opponent: the fraction of meetings in which the player was ahead, ties as half."""
    ahead: dict[str, list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]] = {}
    for number, games in enumerate(tables):
        own = np.take_along_axis(games.places, (games.seating == PLAYER).argmax(axis=1)[:, None], axis=1)
        better = (own < games.places) + (own == games.places) / 2
        for i, opponent in enumerate(plan.tables[number].players[PLAYER + 1 :], start=PLAYER + 1):
            game, seat = np.nonzero(games.seating == i)
            ahead.setdefault(opponent, []).append((games.deck[game], better[game, seat]))
    found = []
    for opponent, parts in ahead.items():
        decks, shares = (np.concatenate(column) for column in zip(*parts, strict=True))
        found.append({"opponent": opponent, "meetings": len(decks), **_share(decks, shares)})
    return found
