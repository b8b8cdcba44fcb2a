"""Evaluate the learner: games against fixed players, and the promotion test of a candidate.

A candidate replaces the best network only if a sequential test says that it is better
(`helsinki_env.evaluation.rating.sprt`): looking again and again until something looks good would let through whatever
comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, init_streams
from helsinki_env.agents.registry import make_player
from helsinki_env.data import UserError
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.config import with_seats
from helsinki_env.evaluation.arena.designs import RandomBoards, encode_action_sets
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.evaluation.play import DisabledActions, deal_seeds, play_games
from helsinki_env.evaluation.rating.sprt import Hypotheses, SequentialTest, SprtState, expected_score
from helsinki_env.training.checks import check_numbers, player_counts

__all__ = ["PromotionConfig", "evaluate_against", "promotion_test"]


@dataclass(frozen=True)
class PromotionConfig:
    """When a candidate counts as better than the best so far.

    Args:
        elo: by so many Elo points it should be; none is the other hypothesis.
        decks: after so many decks without an answer the best stays; at least 16.
        at_once: decks that are played at once.
        players: player counts that take turns, deck by deck; none: those at the tables of the preset.
        covered: with every other deck so many actions are covered for all, (low, high): who is good at the whole board
            only is not the best.
        denied: and so many denied to each seat, likewise.
    """

    elo: float = 25.0
    deals: int = 400
    parallel_deals: int = 120
    players: tuple[int, ...] = ()
    covered: tuple[int, int] = (0, 0)
    denied: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Check every value."""
        check_numbers(self, {"deals": 16, "parallel_deals": 1}, {"parallel_deals": 100_000})
        if not 0 < self.elo <= 1000:
            raise UserError(f"elo: found {self.elo}, expected a number above 0, at most 1000")
        if self.players != ():
            object.__setattr__(self, "players", player_counts(self.players))
        object.__setattr__(self, "covered", self.boards.covered)
        object.__setattr__(self, "denied", self.boards.denied)

    @property
    def boards(self) -> RandomBoards:
        """The action boards of every other deck."""
        return RandomBoards(self.covered, self.denied)

    @property
    def hypotheses(self) -> Hypotheses:
        """What is tested."""
        return Hypotheses(expected_score(0.0), expected_score(self.elo), max_blocks=self.deals)


def evaluate_against(
    player: Player,
    game: Any,
    opponents: Sequence[str],
    players: Sequence[int],
    games: int,
    seed: int,
    make: Callable[[str, Any], Player] = make_player,
) -> list[dict[str, Any]]:
    """Let a player meet others, one seat against them on all others, all seats in turn.

    Args:
        player: who is measured.
        game: a configuration of what is played.
        opponents: names of players.
        players: numbers of players.
        games: against each opponent with each number of players.
        seed: of the decks.
        make: makes a player of a name for a configuration.

    Returns:
        For each player count and opponent: players, opponent, and how it did
        (`helsinki_env.evaluation.match_stats.PlayerResult`), with `other_score` the points of the opponent and
        `times_fair` the share of games won by what is fair.
    """
    found = []
    for count in players:
        config = with_seats(game, count)
        for name in opponents:
            others = [make(name, config)] * (count - 1)
            results = play_match([player, *others], config, games=games, seed=seed)
            own, other = results.result(0), results.result(1)
            found.append(
                {"players": count, "opponent": name}
                | asdict(own)
                | {"other_score": other.score, "times_fair": own.share * count}
            )
    return found


def promotion_test(candidate: Player, best: Player, game: Any, config: PromotionConfig, seed: int) -> SprtState:
    """Let a candidate meet the best, deck by deck, until the test says something.

    With two and four players each of them has half of the seats, with three one and then two of them, and every deck is
    played in all rotations: whoever is as good wins half of the games of a deck, whatever cards and actions its seats
    have got.
    """
    tables = [_Table([candidate, best], game, count, config.boards, seed) for count in config.players]
    test = SequentialTest(config.hypotheses)
    for first in range(0, config.deals, config.parallel_deals):
        decks = np.arange(first, min(config.deals, first + config.parallel_deals))
        won = np.zeros(len(decks))
        for number, table in enumerate(tables):
            mine = decks % len(tables) == number
            if mine.any():  # the last lot may have fewer decks than there are tables
                won[mine] = table.play(decks[mine], decks[mine] // len(tables) % 2 == 1)
        state = test.update(won)
        if state.verdict != "running":
            break
    return state


class _Table:
    """Where a player meets another with one number of players, with half of the seats."""

    def __init__(self, both: list[Player], game: Any, players: int, boards: RandomBoards, seed: int) -> None:
        self.players, self.game, self.boards, self.seed = both, with_seats(game, players), boards, seed
        half = np.arange(players) >= players // 2
        lineups = [half, ~half] if players % 2 else [half]
        rotations = (np.arange(players)[:, None] + np.arange(players)) % players
        self.seating = np.concatenate([lineup[rotations] for lineup in lineups]).astype(np.int64)

    def play(self, decks: npt.NDArray[np.int64], other_boards: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Return the part of the games with each deck that the first player wins, float64 (D,).

        Args:
            decks: their numbers, int64 (D,).
            other_boards: whether actions are covered and denied with each, bool (D,).
        """
        times, seats = self.seating.shape
        deck, seating = decks.repeat(times), np.tile(self.seating, (len(decks), 1))
        games = (decks[:, None] * times + np.arange(times)).ravel()  # the same however many decks are asked for at once
        streams = np.stack([init_streams(self.seed, games, seat) for seat in range(seats)], axis=1)
        covered, denied = self.boards.action_sets(self.seed, decks, seats, tuple(spec_of(self.game).deniable))
        covered &= other_boards[:, None]
        covered[:, list(getattr(self.game, "covered", ()))] = True
        barred = DisabledActions(
            encode_action_sets(covered).repeat(times),
            encode_action_sets(denied & other_boards[:, None, None]).repeat(times, axis=0),
        )
        played = play_games(self.players, self.game, seating, deal_seeds(self.seed, deck), streams, disabled=barred)
        won = (fractional_wins(played.places) * (seating == 0)).sum(axis=1)
        shares: npt.NDArray[np.float64] = won.reshape(-1, times).mean(axis=1)
        return shares
