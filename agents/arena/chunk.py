"""Playing a chunk: the work that processes and machines share. Needs nothing but the plan of a table and the seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agents.arena.designs import ACTIONS
from agents.arena.plan import Chunk, TablePlan, block_seating
from agents.base import Player, decide, first_words
from agents.play import Barred, Played, deck_seeds, play_games
from agents.registry import make_player
from helsinki_env import Game, GameConfig

__all__ = ["ChunkGames", "play_chunk", "ready_player"]

#: Where the seeds of line-ups come from, apart from decks and the players' streams.
_LINEUPS = 2**33
#: What stands for an action in a set of them.
_BITS = 1 << np.arange(ACTIONS)


@dataclass(frozen=True)
class ChunkGames:
    """The games of a chunk, G of them with S seats.

    Attributes:
        block: number of the block within the line-up, int64 (G,); also that of the deck.
        game: number of the game within the line-up, int64 (G,).
        seeds: of the decks, uint64 (G,), as for `Game`.
        seating: who sat in each seat, int64 (G, S), indices into the table's players.
        members: the players of the line-up, each once, int64 (P,).
        barred: actions that could not be used.
        played: what came out; its players are the members.
    """

    block: npt.NDArray[np.int64]
    game: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.uint64]
    seating: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]
    barred: Barred
    played: Played


@lru_cache(maxsize=256)
def ready_player(spec: str, config: GameConfig) -> Player:
    """Return a player that has been asked once: what must be loaded or compiled first is not part of its time.

    Raises:
        PlayerError: if there is no such player, or it cannot play these games.
    """
    player = make_player(spec, config)
    decide(player, Game(config, seed=0))
    return player


def play_chunk(table: TablePlan, seed: int, chunk: Chunk) -> ChunkGames:
    """Play the games of a chunk.

    Args:
        table: what is played.
        seed: of the run.
        chunk: which of it.

    Raises:
        PlayerError, IllegalActionError: if a player cannot be made or goes wrong.
    """
    seats = table.seats
    members, member = np.unique(table.lineups[chunk.lineup], return_inverse=True)
    blocks = np.arange(chunk.first, chunk.end)
    block = blocks.repeat(seats)
    game = np.arange(chunk.first * seats, chunk.end * seats)
    places = np.concatenate([block_seating(seats, k) for k in blocks.tolist()])
    seeds = deck_seeds(seed, block)
    lineup_seed = int(first_words(seed, [chunk.lineup], _LINEUPS + chunk.table)[0])
    by_place = np.stack([first_words(lineup_seed, game, place) for place in range(seats)], axis=1)
    players = [ready_player(table.players[i], table.config) for i in members.tolist()]
    seating = member[places]
    streams = np.take_along_axis(by_place, places, axis=1)
    barred = _barred(table, lineup_seed, blocks, places)
    played = play_games(players, table.config, seating, seeds, streams, barred=barred)
    return ChunkGames(block, game, seeds, members[seating], members, barred, played)


def _barred(table: TablePlan, seed: int, blocks: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> Barred:
    """Return what may not be used in the games of some blocks; what a place is denied moves with it."""
    seats, config = table.seats, table.config
    covered = np.full(len(places), _bits([config.covered])[0], np.int16)
    denied = np.tile(_bits(config.denied), (len(places), 1))
    if table.cover is not None:
        covered = np.repeat(table.cover.sets(blocks) @ _BITS, seats)
    if table.screen is not None:
        by_place = table.screen.sets(seed % 2**53, blocks, seats) @ _BITS
        denied = np.take_along_axis(np.repeat(by_place, seats, axis=0), places, axis=1)
    elif table.handicap is not None:
        by_place = table.handicap.sets(blocks, seats) @ _BITS
        denied = np.take_along_axis(np.repeat(by_place, seats, axis=0), places, axis=1)
    return Barred(covered.astype(np.int16), denied.astype(np.int16))


def _bits(sets: Sequence[Iterable[int]]) -> npt.NDArray[np.int16]:
    """Sets of actions as numbers, bit i for action i."""
    return np.array([sum(1 << action for action in actions) for actions in sets], np.int16)
