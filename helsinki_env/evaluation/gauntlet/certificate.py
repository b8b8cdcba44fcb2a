"""Certificates: the results of a player in a gauntlet, with the data to verify them.

A certificate has two parts. ``certified`` is reproducible from player and stage: the gauntlet, the digest of every
chunk of games, the ranks in each game, and the ratings that follow. ``measured`` holds the time of the actions and the
number of replaced ones, which cannot be verified later.

Anyone can edit a certificate and compute a new seal, so the seal only detects accidents. A certificate is trustworthy
because its chunks can be replayed (`helsinki_env.evaluation.gauntlet.verify`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import helsinki_env
from helsinki_env.agents.registry import files_digest
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import Node, with_digest
from helsinki_env.evaluation.arena.files import encode_results
from helsinki_env.evaluation.arena.plan import Plan, WorkUnit, environment_versions
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames, schedule_games
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
from helsinki_env.evaluation.match_stats import fractional_wins, proportion_interval
from helsinki_env.evaluation.rating.anchored import AnchoredGames, AnchoredRating, anchored_ratings

__all__ = ["COUNTED_PREFIX", "decode_ranks", "games_digest", "make_certificate", "work_unit_entry"]

COUNTED_PREFIX = "counted:"
"""Prefix of the player's name in the plan: its illegal actions are replaced and counted."""
_FORMAT = 1


def make_certificate(gauntlet: Gauntlet, pins: ReferenceRatings, player: str, stage: str, run: Path) -> dict[str, Any]:
    """Return the certificate of a finished run.

    Args:
        gauntlet: the gauntlet.
        pins: its reference ratings.
        player: name of the player.
        stage: name of the stage.
        run: folder of the run.

    Raises:
        ArenaError: if the run cannot be read.
        GauntletError: if games are missing, or the player's files have changed since the run began.
        RatingError: if the run has too few games.
    """
    folder = RunFolder.open(run)
    plan, played = folder.plan, list(folder.games())
    if missing := plan.games - sum(len(games.played.rounds) for _, games in played):
        raise GauntletError(f"{run}: found {missing} games missing, expected all of them (go on with the run)")
    digest = files_digest(player, plan.tables[0].config)
    began = folder.networks.get(COUNTED_PREFIX + player)
    if began is not None and (digest is None or digest[:16] != began):
        raise GauntletError(
            f"{run}: {player} was read from files of digest {began} when this run began, found "
            f"{digest and digest[:16]} now: nobody knows which of them played (choose another --out, or bring the "
            "former back)"
        )
    chunks = [work_unit_entry(chunk, games) for chunk, games in played]
    certified = {
        "certificate": _FORMAT,
        "gauntlet": gauntlet.name,
        "version": gauntlet.version,
        "gauntlet_digest": gauntlet.digest,
        "pins_digest": pins.digest,
        "environment": environment_versions(plan.tables),
        "package": helsinki_env.__version__,
        "player": player,
        "player_digest": digest,
        "stage": stage,
        "seed": plan.seed,
        **gauntlet_results(plan, pins, ((chunk, games.played.places) for chunk, games in played)),
        "games_digest": games_digest([entry["sha256"] for entry in chunks]),
        "chunks": chunks,
    }
    return {"certified": with_digest(certified), "measured": _measured(folder)}


def work_unit_entry(chunk: WorkUnit, games: WorkUnitGames) -> dict[str, Any]:
    """Return the certificate's entry for a chunk: the digest of its games, and their ranks by seat."""
    places = " ".join("".join(map(str, row)) for row in games.played.places.tolist())
    return {"chunk": chunk.name, "sha256": hashlib.sha256(encode_results(games.played)).hexdigest(), "places": places}


def games_digest(chunks: Sequence[str]) -> str:
    """Return the digest of all games from the digests of the chunks, in the order of the plan."""
    return hashlib.sha256("".join(chunks).encode()).hexdigest()


def decode_ranks(entry: Node, games: int, seats: int) -> npt.NDArray[np.int64]:
    """Return the ranks of a chunk's games, int64 (games, seats), as `work_unit_entry` wrote them.

    Raises:
        GauntletError: for invalid ranks.
    """
    value = entry.value
    rows = value.split(" ") if isinstance(value, str) else []
    if len(rows) != games or any(len(row) != seats or not row.isascii() or not row.isdigit() for row in rows):
        entry.fail(f"the places of {games} games, {seats} digits for each")
    found = np.array([[int(digit) for digit in row] for row in rows], np.int64)
    if (found != (found[:, None, :] < found[:, :, None]).sum(axis=2)).any():
        entry.fail("places: for each seat how many did better")
    return found


def _measured(folder: RunFolder) -> dict[str, Any]:
    """Return the time of the player's actions and the number of replaced ones."""
    own = {table.name: table.players[RATED_PLAYER] for table in folder.plan.tables}
    times = [entry for entry in folder.times() if own[entry["table"]] == entry["player"]]
    decisions = sum(entry["decisions"] for entry in times)
    seconds = sum(entry["seconds"] for entry in times)
    return {
        "decisions": decisions,
        "seconds_per_decision": float(f"{seconds / max(1, decisions):.3g}"),
        **reduce(ReplacedActions.add, map(ReplacedActions.from_mapping, times), ReplacedActions())._asdict(),
    }


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
    """Return the results of a player as plain data."""
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
