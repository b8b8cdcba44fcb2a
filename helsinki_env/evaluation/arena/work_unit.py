"""Play and validate work units. Their games depend only on the seed and the plan of the matchup.

Letters in shapes: G games, S seats, B blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, PlayerError, choose_action, init_streams
from helsinki_env.agents.llm.usage import ModelUsage, model_usage_of
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.agents.replaced_actions import ReplacedActions, replaced_actions_of
from helsinki_env.data import short_repr
from helsinki_env.engine.spec import GameSpec, spec_of
from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, encode_action_sets
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, WorkUnit, block_seating
from helsinki_env.evaluation.play import DisabledActions, GameResults, deal_seeds, play_games

#: Stream number for line-up seeds, distinct from those of deals and players.
_LINEUPS = 2**33
#: Stream number for the seeds of random action boards.
_BOARDS = 2**34


@dataclass(frozen=True)
class Schedule:
    """The games of a work unit before they are played."""

    block: npt.NDArray[np.int64]  # number of the block within the line-up, and of the deal, (G,)
    game: npt.NDArray[np.int64]  # number of the game within the line-up, (G,)
    seeds: npt.NDArray[np.uint64]  # seed of each deal, (G,), as for `HelsinkiGame`
    lineup_positions: npt.NDArray[np.int64]  # line-up position of the player in each seat, (G, S)
    seating: npt.NDArray[np.int64]  # index into the matchup's players for each seat, (G, S)
    disabled: DisabledActions


class ThinkingTime(NamedTuple):
    """Thinking time, replaced actions and costs of a player, which are not reproducible."""

    player: int  # index into the matchup's players
    seconds: float
    decisions: int  # number of actions taken by the player
    replaced_actions: ReplacedActions = ReplacedActions()
    usage: ModelUsage = ModelUsage()

    def add(self, other: ThinkingTime) -> ThinkingTime:
        """Return the sum of this entry and another entry of the same player."""
        return ThinkingTime(
            self.player,
            self.seconds + other.seconds,
            self.decisions + other.decisions,
            self.replaced_actions.add(other.replaced_actions),
            self.usage.add(other.usage),
        )

    @property
    def negative(self) -> ThinkingTime:
        """The entry with negative values, to subtract it from a sum."""
        zero = ReplacedActions(), ModelUsage()
        minus = zero[0].add(self.replaced_actions, -1), zero[1].add(self.usage, -1)
        return ThinkingTime(self.player, -self.seconds, -self.decisions, *minus)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary without the player. It contains replaced actions and costs only if they are not zero."""
        counts = self.replaced_actions.to_dict() | self.usage.to_dict()
        return {"seconds": self.seconds, "decisions": self.decisions, **counts}


@dataclass(frozen=True)
class WorkUnitGames:
    """The schedule and the results of a work unit."""

    schedule: Schedule
    played: GameResults
    times: tuple[ThinkingTime, ...] = ()  # one for each player in the line-up; empty if unknown


def player_file_digests(matchup: MatchupPlan) -> dict[str, str]:
    """Return the digest of each player's files by player name. Players without files are omitted."""
    found = {name: files_digest(name, matchup.config) for name in matchup.players}
    return {name: digest for name, digest in found.items() if digest is not None}


@lru_cache(maxsize=256)
def make_warm_player(spec: str, config: Any, digest: str | None = None) -> Player:
    """Return a player after a warm-up action that loads and compiles it.

    Raises PlayerError if its files have changed.
    """
    player = make_player(spec, config)
    if digest is not None and (found := files_digest(spec, config)) != digest:
        raise PlayerError(
            f"player {short_repr(spec)}: found files with digest {str(found)[:16]}, expected {digest[:16]} as at the "
            "start of the run; restore these files on every machine"
        )
    if model_usage_of(player) is None:  # calls to a remote model cost money and load nothing
        choose_action(player, spec_of(config).game(config, seed=0))
    return player


def schedule_games(matchup: MatchupPlan, seed: int, unit: WorkUnit) -> Schedule:
    """Return the schedule of the games in a work unit."""
    seats = matchup.seats
    blocks = np.arange(unit.first, unit.end)
    block = blocks.repeat(seats)
    positions = np.concatenate([block_seating(seats, k) for k in blocks.tolist()])
    stream = unit.matchup if matchup.stream is None else matchup.stream
    boards_seed = int(init_streams(seed, [stream], _BOARDS)[0])
    return Schedule(
        block=block,
        game=np.arange(unit.first * seats, unit.end * seats),
        seeds=deal_seeds(seed, block),
        lineup_positions=positions,
        seating=np.array(matchup.lineups[unit.lineup])[positions],
        disabled=_disabled(matchup, boards_seed, _lineup_seed(matchup, seed, unit), blocks, positions),
    )


def play_work_unit(
    matchup: MatchupPlan, seed: int, unit: WorkUnit, files: Mapping[str, str] | None = None
) -> WorkUnitGames:
    """Play the games of a work unit.

    `files` contains the digests of the players' files at the start of the run.
    """
    games = schedule_games(matchup, seed, unit)
    members, member = np.unique(matchup.lineups[unit.lineup], return_inverse=True)
    lineup_seed = _lineup_seed(matchup, seed, unit)
    by_position = np.stack([init_streams(lineup_seed, games.game, k) for k in range(matchup.seats)], axis=1)
    streams = np.take_along_axis(by_position, games.lineup_positions, axis=1)
    names = [matchup.players[i] for i in members.tolist()]
    players = [make_warm_player(name, matchup.config, (files or {}).get(name)) for name in names]
    before = [(replaced_actions_of(player), model_usage_of(player) or ModelUsage()) for player in players]
    played = play_games(
        players, matchup.config, member[games.lineup_positions], games.seeds, streams, disabled=games.disabled
    )
    counts = [
        (replaced_actions_of(player).add(replaced, -1), (model_usage_of(player) or ModelUsage()).add(used, -1))
        for player, (replaced, used) in zip(players, before, strict=True)
    ]
    times = zip(
        members.tolist(),
        played.seconds.tolist(),
        played.action_counts.tolist(),
        *zip(*counts, strict=True),
        strict=True,
    )
    return WorkUnitGames(games, played, tuple(ThinkingTime(*time) for time in times))


def _lineup_seed(matchup: MatchupPlan, seed: int, unit: WorkUnit) -> int:
    stream = unit.matchup if matchup.stream is None else matchup.stream
    return int(init_streams(seed, [unit.lineup], _LINEUPS + stream)[0])


def _disabled(
    matchup: MatchupPlan,
    boards_seed: int,
    lineup_seed: int,
    blocks: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
) -> DisabledActions:
    """Return the disabled actions in all games of the given blocks. Line-up positions rotate through the seats."""
    seats, config = matchup.seats, matchup.config
    covered = np.zeros((len(blocks), MAX_DENIABLE_IDS), np.bool_)
    covered[:, list(getattr(config, "covered", ()))] = True
    by_seat = np.zeros((len(blocks), seats, MAX_DENIABLE_IDS), np.bool_)
    for seat, actions in enumerate(config.denied):
        by_seat[:, seat, list(actions)] = True
    by_position = None
    if matchup.boards is not None:
        ids = tuple(spec_of(config).deniable)
        covered, by_seat = matchup.boards.action_sets(boards_seed % 2**53, blocks, seats, ids)
    if matchup.cover is not None:
        covered = matchup.cover.action_sets(blocks)
    if matchup.screening is not None:
        by_position = matchup.screening.action_sets(lineup_seed % 2**53, blocks, seats)
    elif matchup.handicap is not None:
        by_position = matchup.handicap.action_sets(blocks, seats)
    if by_position is None:
        denied = np.repeat(encode_action_sets(by_seat), seats, axis=0)
    else:
        denied = np.take_along_axis(np.repeat(encode_action_sets(by_position), seats, axis=0), positions, axis=1)
    return DisabledActions(np.repeat(encode_action_sets(covered), seats), denied)


def validate_games(games: WorkUnitGames, config: Any) -> None:
    """Raise ArenaError unless game results are consistent with the plan. The message names the game and its values."""
    planned, played = games.schedule, games.played
    check_equal("places", played.places, _places(played, spec_of(config)), planned.game)
    disabled = planned.disabled.denied | planned.disabled.covered[:, None]
    check_equal("used actions", played.used, played.used & ~disabled, planned.game)
    taken = np.array([len(decisions) for decisions in played.decisions])
    check_equal("sum of seat_decisions", played.seat_decisions.sum(axis=1), taken, planned.game)


def check_equal(what: str, found: npt.NDArray[Any], expected: npt.NDArray[Any], game: npt.NDArray[np.int64]) -> None:
    """Raise ArenaError for the first game whose values differ, given arrays (G,) or (G, S)."""
    wrong = np.asarray(found != expected)
    if wrong.any():
        g = int(np.flatnonzero(wrong.reshape(len(game), -1).any(axis=1))[0])
        one, other = (values[g : g + 1].tolist()[0] for values in (found, expected))
        raise ArenaError(f"game {game[g]}: {what}: found {one!r:.100}, expected {other!r:.100}")


def _places(played: GameResults, spec: GameSpec) -> npt.NDArray[np.int64]:
    """Return the ranks that follow from the points, (G, S).

    In games with a tiebreaker, `played.places` determines the order of seats with equal points.
    """
    scores, places = played.scores, played.places
    if spec.ranks is not None:
        return spec.ranks(scores)
    more, equal = (compared(scores[:, None], scores[..., None]) for compared in (np.greater, np.equal))
    better: npt.NDArray[np.int64] = (more | equal & (places[:, None] < places[..., None])).sum(axis=2)
    return better
