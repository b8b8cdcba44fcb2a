"""Play a work unit (chunk) on a process or machine, from the plan of its matchup and the seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, decide, first_words
from helsinki_env.agents.player_errors import PlayerError
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.agents.replaced_actions import Mishaps, mishaps_of
from helsinki_env.data import shown
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.designs import ACTIONS, as_bits
from helsinki_env.evaluation.arena.plan import Chunk, TablePlan, block_seating
from helsinki_env.evaluation.play import Barred, Outcome, deck_seeds, play_games

__all__ = ["ChunkGames", "Schedule", "Spent", "files_of", "play_chunk", "ready_player", "schedule"]

#: Stream number of the line-up seeds, distinct from deals and the players' streams.
_LINEUPS = 2**33
#: Stream number of the seeds of random action boards.
_BOARDS = 2**34


@dataclass(frozen=True)
class Schedule:
    """The planned part of a chunk: G games with S seats.

    Attributes:
        block: number of the block within the line-up, int64 (G,); also the deal number.
        game: number of the game within the line-up, int64 (G,).
        seeds: seed of the deal, uint64 (G,), as for `Game`.
        places: position in the line-up of the player in each seat, int64 (G, S).
        seating: the player in each seat, int64 (G, S), indices into the matchup's players.
        barred: disabled actions.
    """

    block: npt.NDArray[np.int64]
    game: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int64]
    seating: npt.NDArray[np.int64]
    barred: Barred


class Spent(NamedTuple):
    """The thinking time of a player, with other facts that are not reproducible.

    Attributes:
        player: index into the matchup's players.
        seconds: time that its actions took.
        decisions: number of its actions.
        mishaps: replaced actions by cause.
    """

    player: int
    seconds: float
    decisions: int
    mishaps: Mishaps = Mishaps()

    def plus(self, other: Spent) -> Spent:
        """Return the sum of two times of the same player."""
        return Spent(
            self.player,
            self.seconds + other.seconds,
            self.decisions + other.decisions,
            self.mishaps.plus(other.mishaps),
        )

    def told(self) -> dict[str, Any]:
        """Return everything but the player as a dictionary; replaced actions only if there are any."""
        return {"seconds": self.seconds, "decisions": self.decisions, **self.mishaps.told()}


@dataclass(frozen=True)
class ChunkGames:
    """The games of a chunk, from any source.

    Attributes:
        schedule: the planned part.
        played: the results.
        times: times of the line-up's players; empty if unknown.
    """

    schedule: Schedule
    played: Outcome
    times: tuple[Spent, ...] = ()


def files_of(table: TablePlan) -> dict[str, str]:
    """Return the digests of the files that a matchup's players are loaded from, by name; omit players without files."""
    found = {name: files_digest(name, table.config) for name in table.players}
    return {name: digest for name, digest in found.items() if digest is not None}


@lru_cache(maxsize=256)
def ready_player(spec: str, config: Any, digest: str | None = None) -> Player:
    """Return a player after one warm-up action, so that loading and compilation are not part of its time.

    Args:
        spec: name of the player.
        config: game configuration.
        digest: required digest of its files; None: any.

    Raises:
        PlayerError: if the player is unknown, does not support the game, or its files have changed.
    """
    player = make_player(spec, config)
    if digest is not None and (found := files_digest(spec, config)) != digest:
        raise PlayerError(
            f"player {shown(spec)}: found files of digest {str(found)[:16]}, expected {digest[:16]}, as when the "
            "games began (bring those back; on a cluster every machine needs the same)"
        )
    decide(player, spec_of(config).game(config, seed=0))
    return player


def schedule(table: TablePlan, seed: int, chunk: Chunk) -> Schedule:
    """Return the planned part of a chunk.

    Args:
        table: the matchup.
        seed: seed of the run.
        chunk: the chunk.
    """
    seats = table.seats
    blocks = np.arange(chunk.first, chunk.end)
    block = blocks.repeat(seats)
    places = np.concatenate([block_seating(seats, k) for k in blocks.tolist()])
    boards_seed = int(first_words(seed, [chunk.table], _BOARDS)[0])
    return Schedule(
        block=block,
        game=np.arange(chunk.first * seats, chunk.end * seats),
        seeds=deck_seeds(seed, block),
        places=places,
        seating=np.array(table.lineups[chunk.lineup])[places],
        barred=_barred(table, boards_seed, _lineup_seed(seed, chunk), blocks, places),
    )


def play_chunk(table: TablePlan, seed: int, chunk: Chunk, files: Mapping[str, str] | None = None) -> ChunkGames:
    """Play the games of a chunk.

    Args:
        table: the matchup.
        seed: seed of the run.
        chunk: the chunk.
        files: required digests of the players' files, from `files_of` at the start of the run.

    Raises:
        PlayerError, IllegalActionError: if a player cannot be created or fails.
    """
    games = schedule(table, seed, chunk)
    members, member = np.unique(table.lineups[chunk.lineup], return_inverse=True)
    lineup_seed = _lineup_seed(seed, chunk)
    by_place = np.stack([first_words(lineup_seed, games.game, place) for place in range(table.seats)], axis=1)
    streams = np.take_along_axis(by_place, games.places, axis=1)
    names = [table.players[i] for i in members.tolist()]
    players = [ready_player(name, table.config, (files or {}).get(name)) for name in names]
    before = [mishaps_of(player) for player in players]
    played = play_games(players, table.config, member[games.places], games.seeds, streams, barred=games.barred)
    mishaps = [mishaps_of(player).plus(then, -1) for player, then in zip(players, before, strict=True)]
    times = zip(members.tolist(), played.seconds.tolist(), played.asked.tolist(), mishaps, strict=True)
    return ChunkGames(games, played, tuple(Spent(*spent) for spent in times))


def _lineup_seed(seed: int, chunk: Chunk) -> int:
    return int(first_words(seed, [chunk.lineup], _LINEUPS + chunk.table)[0])


def _barred(
    table: TablePlan, boards_seed: int, lineup_seed: int, blocks: npt.NDArray[np.int64], places: npt.NDArray[np.int64]
) -> Barred:
    """Return the disabled actions of the games of some blocks.

    Restrictions of a line-up position rotate with it through the seats; restrictions of a seat stay with the seat. All
    line-ups of a matchup share the same random boards.
    """
    seats, config = table.seats, table.config
    covered = np.zeros((len(blocks), ACTIONS), np.bool_)
    covered[:, list(getattr(config, "covered", ()))] = True
    by_seat = np.zeros((len(blocks), seats, ACTIONS), np.bool_)
    for seat, actions in enumerate(config.denied):
        by_seat[:, seat, list(actions)] = True
    by_place = None
    if table.boards is not None:
        ids = tuple(spec_of(config).deniable)
        covered, by_seat = table.boards.sets(boards_seed % 2**53, blocks, seats, ids)
    if table.cover is not None:
        covered = table.cover.sets(blocks)
    if table.screen is not None:
        by_place = table.screen.sets(lineup_seed % 2**53, blocks, seats)
    elif table.handicap is not None:
        by_place = table.handicap.sets(blocks, seats)
    if by_place is None:
        denied = np.repeat(as_bits(by_seat), seats, axis=0)
    else:
        denied = np.take_along_axis(np.repeat(as_bits(by_place), seats, axis=0), places, axis=1)
    return Barred(np.repeat(as_bits(covered), seats), denied)
