"""Evaluation of the learner by games against fixed players, the promotion test, and sequential halving.

A candidate replaces the best network only if a sequential test accepts it (`helsinki_env.evaluation.rating.sprt`).
Repeated comparisons of plain win rates would accept some candidates by chance.
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
from helsinki_env.evaluation.arena.designs import RandomBoards, encode_action_sets
from helsinki_env.evaluation.match import Results, play_match
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.evaluation.play import DisabledActions, deal_seeds, play_games
from helsinki_env.evaluation.rating.sprt import Hypotheses, SequentialTest, SprtState, expected_score
from helsinki_env.training.matchups import check_numbers, component_configs, component_names, player_counts

__all__ = ["PromotionConfig", "against_row", "best_contender", "evaluate_against", "promotion_test"]


@dataclass(frozen=True)
class PromotionConfig:
    """Settings of the promotion test: section ``promotion`` of a preset (``configs/training/*.yaml``).

    Args:
        elo: Elo difference under the alternative hypothesis; under the null hypothesis it is 0.
        deals: maximum number of deals, at least 16; if the test is inconclusive, the best network is kept.
        parallel_deals: number of deals played in parallel; at least ten for each component file and player count.
        players: player counts, which alternate between deals; default: those of the matchups.
        covered: range (low, high) of the number of board actions disabled for all seats, on every other deal.
        denied: range (low, high) of the number of board actions denied to each seat, on every other deal.
        components: component files, which alternate between deals; default: that of the preset.
    """

    elo: float = 25.0
    deals: int = 400
    parallel_deals: int = 120
    players: tuple[int, ...] = ()
    covered: tuple[int, int] = (0, 0)
    denied: tuple[int, int] = (0, 0)
    components: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Validate all values."""
        check_numbers(self, {"deals": 16, "parallel_deals": 1}, {"parallel_deals": 100_000})
        if not 0 < self.elo <= 1000:
            raise UserError(f"elo: found {self.elo}, expected a number above 0, at most 1000")
        if self.players != ():
            object.__setattr__(self, "players", player_counts(self.players))
        object.__setattr__(self, "components", component_names(self.components))
        object.__setattr__(self, "covered", self.boards.covered)
        object.__setattr__(self, "denied", self.boards.denied)

    @property
    def boards(self) -> RandomBoards:
        """Return the distribution of disabled board actions for every other deal."""
        return RandomBoards(self.covered, self.denied)

    @property
    def hypotheses(self) -> Hypotheses:
        """Return the hypotheses of the sequential test."""
        return Hypotheses(expected_score(0.0), expected_score(self.elo), max_blocks=self.deals)


def evaluate_against(
    player: Player,
    game: Any,
    opponents: Sequence[str],
    players: Sequence[int],
    games: int,
    seed: int,
    make: Callable[[str, Any], Player] = make_player,
    progress: Callable[[float], None] | None = None,
) -> list[dict[str, Any]]:
    """Evaluate a player against opponents; each deal is played once with the player in each seat.

    Args:
        player: player to evaluate, in one seat of each game.
        game: game configuration.
        opponents: names of the opponents; in each game, one opponent plays all other seats.
        players: player counts.
        games: number of games per opponent and player count.
        seed: random seed for the deals.
        make: function that creates a player from its name and a game configuration.
        progress: function called before each opponent and player count with the completed fraction, from 0 to 1.

    Returns:
        One dict per player count and opponent with "players", "opponent", the fields of
        `helsinki_env.evaluation.match_stats.PlayerResult`, "other_score" (points of the opponent) and "times_fair" (win
        rate divided by the chance level).
    """
    results: list[dict[str, Any]] = []
    for count in players:
        config = game.replace(num_players=count)
        for name in opponents:
            if progress is not None:
                progress(len(results) / (len(players) * len(opponents)))
            others = [make(name, config)] * (count - 1)
            results.append(against_row(play_match([player, *others], config, games=games, seed=seed), name))
    return results


def against_row(match: Results, opponent: str) -> dict[str, Any]:
    """Return the row of `evaluate_against` for a match; the evaluated player is the first."""
    own, other, count = match.result(0), match.result(1), match.config.num_players
    return (
        {"players": count, "opponent": opponent}
        | asdict(own)
        | {"other_score": other.score, "times_fair": own.share * count}
    )


def promotion_test(
    candidate: Callable[[Any], Player],
    best: Callable[[Any], Player],
    game: Any,
    config: PromotionConfig,
    seed: int,
    progress: Callable[[float], None] | None = None,
) -> SprtState:
    """Play a candidate against the best network until the sequential test reaches a conclusion.

    `candidate` and `best` create the players for a game configuration; `progress` takes the fraction of the maximum
    number of deals that was played, from 0 to 1.

    Each player has half of the seats; with three seats, it has one seat in some games and two in the others. Every deal
    is played in all rotations, so equally strong players win half of the games on average, whatever the cards and
    disabled actions.
    """
    pairings = [
        _Pairing([candidate(one), best(one)], one, count, config.boards, seed)
        for one in component_configs(config.components, game)
        for count in config.players
    ]
    test = SequentialTest(config.hypotheses)
    parallel = max(config.parallel_deals, 10 * len(pairings))  # networks evaluate small batches slowly
    for first in range(0, config.deals, parallel):
        deals = np.arange(first, min(config.deals, first + parallel))
        won = np.zeros(len(deals))
        for number, pairing in enumerate(pairings):
            if progress is not None:
                progress((first + len(deals) * number / len(pairings)) / config.deals)
            mine = deals % len(pairings) == number
            if mine.any():  # there may be fewer deals than pairings
                won[mine] = pairing.play(deals[mine], deals[mine] // len(pairings) % 2 == 1)
        state = test.update(won)
        if state.decision != "running":
            break
    return state


class _Pairing:
    """Games between two players for one player count, in which each has half of the seats."""

    def __init__(self, both: list[Player], game: Any, players: int, boards: RandomBoards, seed: int) -> None:
        self.players, self.game, self.boards, self.seed = both, game.replace(num_players=players), boards, seed
        half = np.arange(players) >= players // 2
        lineups = [half, ~half] if players % 2 else [half]
        rotations = (np.arange(players)[:, None] + np.arange(players)) % players
        self.seating = np.concatenate([lineup[rotations] for lineup in lineups]).astype(np.int64)

    def play(self, deals: npt.NDArray[np.int64], other_boards: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Return the win rate of the first player for each deal, float64 (D,).

        `deals` contains deal indices, int64 (D,); `other_boards`, bool (D,), marks the deals with disabled actions.
        """
        times, seats = self.seating.shape
        deal, seating = deals.repeat(times), np.tile(self.seating, (len(deals), 1))
        games = (deals[:, None] * times + np.arange(times)).ravel()  # for results that do not depend on the batch size
        streams = np.stack([init_streams(self.seed, games, seat) for seat in range(seats)], axis=1)
        covered, denied = self.boards.action_sets(self.seed, deals, seats, tuple(spec_of(self.game).deniable))
        covered &= other_boards[:, None]
        covered[:, list(getattr(self.game, "covered", ()))] = True
        disabled = DisabledActions(
            encode_action_sets(covered).repeat(times),
            encode_action_sets(denied & other_boards[:, None, None]).repeat(times, axis=0),
        )
        played = play_games(self.players, self.game, seating, deal_seeds(self.seed, deal), streams, disabled=disabled)
        won = (fractional_wins(played.places) * (seating == 0)).sum(axis=1)
        win_rates: npt.NDArray[np.float64] = won.reshape(-1, times).mean(axis=1)
        return win_rates


def best_contender(
    contenders: int,
    games: int,
    win_rate: Callable[[int, int, int], float],
    progress: Callable[[float], None] | None = None,
) -> int:
    """Find the contender with the most wins by sequential halving (Karnin, Koren and Somekh 2013).

    Each round divides `games` games equally among the remaining contenders, which all play the same new deals. The
    half with more total wins remains; in a tie, the later contender is kept. `win_rate` takes a contender, the number
    of games and the round number; `progress` takes the completed fraction, from 0 to 1.
    """
    remaining = list(range(contenders))
    wins = [0.0] * contenders
    rounds = max(1, contenders - 1).bit_length()
    number = 0
    while len(remaining) > 1:
        each = max(2, games // len(remaining))
        for i, contender in enumerate(remaining):
            wins[contender] += each * win_rate(contender, each, number)
            if progress is not None:
                progress((number + (i + 1) / len(remaining)) / rounds)
        remaining = sorted(remaining, key=lambda i: (-wins[i], -i))[: (len(remaining) + 1) // 2]
        number += 1
    return remaining[0]
