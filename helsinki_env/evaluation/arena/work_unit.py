"""Play a work unit (chunk) on a process or machine, from the plan of its matchup and the seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, PlayerError, choose_action, init_streams
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.agents.replaced_actions import ReplacedActions, replaced_actions_of
from helsinki_env.data import short_repr
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, encode_action_sets
from helsinki_env.evaluation.arena.plan import MatchupPlan, WorkUnit, block_seating
from helsinki_env.evaluation.play import DisabledActions, GameResults, deal_seeds, play_games

__all__ = [
    "Schedule",
    "ThinkingTime",
    "WorkUnitGames",
    "make_warm_player",
    "play_work_unit",
    "player_file_digests",
    "schedule_games",
]

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
        seeds: seed of the deal, uint64 (G,), as for `HelsinkiGame`.
        lineup_positions: position in the line-up of the player in each seat, int64 (G, S).
        seating: the player in each seat, int64 (G, S), indices into the matchup's players.
        disabled: disabled actions.
    """

    block: npt.NDArray[np.int64]
    game: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.uint64]
    lineup_positions: npt.NDArray[np.int64]
    seating: npt.NDArray[np.int64]
    disabled: DisabledActions


class ThinkingTime(NamedTuple):
    """The thinking time of a player, with other facts that are not reproducible.

    Attributes:
        player: index into the matchup's players.
        seconds: time that its actions took.
        decisions: number of its actions.
        replaced_actions: replaced actions by cause.
    """

    player: int
    seconds: float
    decisions: int
    replaced_actions: ReplacedActions = ReplacedActions()

    def add(self, other: ThinkingTime) -> ThinkingTime:
        """Return the sum of two times of the same player."""
        return ThinkingTime(
            self.player,
            self.seconds + other.seconds,
            self.decisions + other.decisions,
            self.replaced_actions.add(other.replaced_actions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the player as a dictionary; replaced actions only if there are any."""
        return {"seconds": self.seconds, "decisions": self.decisions, **self.replaced_actions.to_dict()}


@dataclass(frozen=True)
class WorkUnitGames:
    """The games of a chunk, from any source.

    Attributes:
        schedule: the planned part.
        played: the results.
        times: times of the line-up's players; empty if unknown.
    """

    schedule: Schedule
    played: GameResults
    times: tuple[ThinkingTime, ...] = ()


def player_file_digests(table: MatchupPlan) -> dict[str, str]:
    """Return the digests of the files that a matchup's players are loaded from, by name; omit players without files."""
    found = {name: files_digest(name, table.config) for name in table.players}
    return {name: digest for name, digest in found.items() if digest is not None}


@lru_cache(maxsize=256)
def make_warm_player(spec: str, config: Any, digest: str | None = None) -> Player:
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
            f"player {short_repr(spec)}: found files of digest {str(found)[:16]}, expected {digest[:16]}, as when the "
            "games began (bring those back; on a cluster every machine needs the same)"
        )
    choose_action(player, spec_of(config).game(config, seed=0))
    return player


def schedule_games(table: MatchupPlan, seed: int, chunk: WorkUnit) -> Schedule:
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
    boards_seed = int(init_streams(seed, [chunk.table], _BOARDS)[0])
    return Schedule(
        block=block,
        game=np.arange(chunk.first * seats, chunk.end * seats),
        seeds=deal_seeds(seed, block),
        lineup_positions=places,
        seating=np.array(table.lineups[chunk.lineup])[places],
        disabled=_barred(table, boards_seed, _lineup_seed(seed, chunk), blocks, places),
    )


def play_work_unit(
    table: MatchupPlan, seed: int, chunk: WorkUnit, files: Mapping[str, str] | None = None
) -> WorkUnitGames:
    """Play the games of a chunk.

    Args:
        table: the matchup.
        seed: seed of the run.
        chunk: the chunk.
        files: required digests of the players' files, from `player_file_digests` at the start of the run.

    Raises:
        PlayerError, IllegalActionError: if a player cannot be created or fails.
    """
    games = schedule_games(table, seed, chunk)
    members, member = np.unique(table.lineups[chunk.lineup], return_inverse=True)
    lineup_seed = _lineup_seed(seed, chunk)
    by_place = np.stack([init_streams(lineup_seed, games.game, place) for place in range(table.seats)], axis=1)
    streams = np.take_along_axis(by_place, games.lineup_positions, axis=1)
    names = [table.players[i] for i in members.tolist()]
    players = [make_warm_player(name, table.config, (files or {}).get(name)) for name in names]
    before = [replaced_actions_of(player) for player in players]
    played = play_games(
        players, table.config, member[games.lineup_positions], games.seeds, streams, disabled=games.disabled
    )
    mishaps = [replaced_actions_of(player).add(then, -1) for player, then in zip(players, before, strict=True)]
    times = zip(members.tolist(), played.seconds.tolist(), played.action_counts.tolist(), mishaps, strict=True)
    return WorkUnitGames(games, played, tuple(ThinkingTime(*spent) for spent in times))


def _lineup_seed(seed: int, chunk: WorkUnit) -> int:
    return int(init_streams(seed, [chunk.lineup], _LINEUPS + chunk.table)[0])


def _barred(
    table: MatchupPlan, boards_seed: int, lineup_seed: int, blocks: npt.NDArray[np.int64], places: npt.NDArray[np.int64]
) -> DisabledActions:
    """Return the disabled actions of the games of some blocks.

    Restrictions of a line-up position rotate with it through the seats; restrictions of a seat stay with the seat. All
    line-ups of a matchup share the same random boards.
    """
    seats, config = table.seats, table.config
    covered = np.zeros((len(blocks), MAX_DENIABLE_IDS), np.bool_)
    covered[:, list(getattr(config, "covered", ()))] = True
    by_seat = np.zeros((len(blocks), seats, MAX_DENIABLE_IDS), np.bool_)
    for seat, actions in enumerate(config.denied):
        by_seat[:, seat, list(actions)] = True
    by_place = None
    if table.boards is not None:
        ids = tuple(spec_of(config).deniable)
        covered, by_seat = table.boards.action_sets(boards_seed % 2**53, blocks, seats, ids)
    if table.cover is not None:
        covered = table.cover.action_sets(blocks)
    if table.screen is not None:
        by_place = table.screen.action_sets(lineup_seed % 2**53, blocks, seats)
    elif table.handicap is not None:
        by_place = table.handicap.action_sets(blocks, seats)
    if by_place is None:
        denied = np.repeat(encode_action_sets(by_seat), seats, axis=0)
    else:
        denied = np.take_along_axis(np.repeat(encode_action_sets(by_place), seats, axis=0), places, axis=1)
    return DisabledActions(np.repeat(encode_action_sets(covered), seats), denied)
