"""Certificates: the results of a player in a gauntlet, with the data to verify them.

A certificate has two parts. ``certified`` is reproducible from player and stage: the gauntlet, the digest of every
chunk of games, the ranks in each game, and the ratings that follow. ``measured`` holds the time of the actions and the
number of replaced ones, which cannot be verified later.

Anyone can edit a certificate and compute a new seal, so the seal only detects accidents. A certificate is trustworthy
because its chunks can be replayed (`helsinki_env.evaluation.gauntlet.verify`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import helsinki_env
from helsinki_env.agents.registry import files_digest
from helsinki_env.agents.replaced_actions import Mishaps
from helsinki_env.data import Entry, sealed
from helsinki_env.evaluation.arena.files import packed
from helsinki_env.evaluation.arena.plan import Chunk, environment_of
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.arena.work_unit import ChunkGames
from helsinki_env.evaluation.gauntlet.errors import GauntletError
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import Pins
from helsinki_env.evaluation.gauntlet.results import PLAYER, results

__all__ = ["COUNTED", "certificate", "digest_of_games", "entry_of_chunk", "places_in"]

COUNTED = "counted:"
"""Prefix of the player's name in the plan: its illegal actions are replaced and counted."""
_FORMAT = 1


def certificate(gauntlet: Gauntlet, pins: Pins, player: str, stage: str, run: Path) -> dict[str, Any]:
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
    began = folder.networks.get(COUNTED + player)
    if began is not None and (digest is None or digest[:16] != began):
        raise GauntletError(
            f"{run}: {player} was read from files of digest {began} when this run began, found "
            f"{digest and digest[:16]} now: nobody knows which of them played (choose another --out, or bring the "
            "former back)"
        )
    chunks = [entry_of_chunk(chunk, games) for chunk, games in played]
    certified = {
        "certificate": _FORMAT,
        "gauntlet": gauntlet.name,
        "version": gauntlet.version,
        "gauntlet_digest": gauntlet.digest,
        "pins_digest": pins.digest,
        "environment": environment_of(plan.tables),
        "package": helsinki_env.__version__,
        "player": player,
        "player_digest": digest,
        "stage": stage,
        "seed": plan.seed,
        **results(plan, pins, ((chunk, games.played.places) for chunk, games in played)),
        "games_digest": digest_of_games([entry["sha256"] for entry in chunks]),
        "chunks": chunks,
    }
    return {"certified": sealed(certified), "measured": _measured(folder)}


def entry_of_chunk(chunk: Chunk, games: ChunkGames) -> dict[str, Any]:
    """Return the certificate's entry for a chunk: the digest of its games, and their ranks by seat."""
    places = " ".join("".join(map(str, row)) for row in games.played.places.tolist())
    return {"chunk": chunk.name, "sha256": hashlib.sha256(packed(games.played)).hexdigest(), "places": places}


def digest_of_games(chunks: Sequence[str]) -> str:
    """Return the digest of all games from the digests of the chunks, in the order of the plan."""
    return hashlib.sha256("".join(chunks).encode()).hexdigest()


def places_in(entry: Entry, games: int, seats: int) -> npt.NDArray[np.int64]:
    """Return the ranks of a chunk's games, int64 (games, seats), as `entry_of_chunk` wrote them.

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
    own = {table.name: table.players[PLAYER] for table in folder.plan.tables}
    times = [entry for entry in folder.times() if own[entry["table"]] == entry["player"]]
    decisions = sum(entry["decisions"] for entry in times)
    seconds = sum(entry["seconds"] for entry in times)
    return {
        "decisions": decisions,
        "seconds_per_decision": float(f"{seconds / max(1, decisions):.3g}"),
        **reduce(Mishaps.plus, map(Mishaps.among, times), Mishaps())._asdict(),
    }
