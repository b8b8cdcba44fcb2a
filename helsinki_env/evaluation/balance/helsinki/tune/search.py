"""Search for the smallest change of a board that surely improves it and preserves its level.

1. A screening experiment on the published board. If it does not surely miss the aim, the search ends. Its level, the
mean effect of the actions, sets the floor.
2. Boards with random numbers show how effects depend on cost and strength. Boards with random covered actions show how
they depend on the covered set (`helsinki_env.evaluation.balance.helsinki.tune.model`).
3. Sequential halving plays the boards that seem best and drops the worse half in each round (Karnin, Koren and Somekh
2013, "Almost optimal exploration in multi-armed bandits"). Boards whose level is too low rank last. The estimates of a
short experiment and of the model are weighted by their errors (Fay and Herriot 1979, "Estimates of income for small
places", Journal of the American Statistical Association 74).
4. The proof plays the published board and the finalists on fresh deals. Its intervals are simultaneous, so they also
hold for the chosen board. A proposal must satisfy two conditions. The worst end of its interval is nearer to the aim
than the best end of the interval of the published board. Its level surely reaches the floor. All these statements hold
together with the stated probability.

This module plays no games: the caller passes a function that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import AblationGames
from helsinki_env.evaluation.balance.helsinki.conclusions import deviations
from helsinki_env.evaluation.balance.helsinki.tune.candidates import (
    Objective,
    best_boards,
    predict_effects,
    rank_boards,
)
from helsinki_env.evaluation.balance.helsinki.tune.config import TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.model import EffectModel, EffectModelData
from helsinki_env.evaluation.balance.helsinki.tune.numbers import BoardValues, published_board, random_boards
from helsinki_env.evaluation.balance.helsinki.tune.proof import (
    BoardEstimates,
    ScreeningGames,
    estimate_boards,
    open_action_effects,
)

__all__ = ["BoardSearchResult", "Play", "ScreeningRequest", "SearchOutcome", "TriedBoard", "search"]

Array = npt.NDArray[np.float64]
SearchOutcome = Literal["in the band", "not surely beyond", "proposed", "level not kept", "nothing better"]
"""Outcome of a search.

"in the band": the board surely meets the aim. "not surely beyond": it does not surely miss the aim. "proposed": a
change is proposed. "level not kept": boards that are surely better do not surely preserve the level. "nothing better":
no board is surely better."""


@dataclass(frozen=True)
class ScreeningRequest:
    """A requested screening experiment.

    Attributes:
        board: the board.
        players: number of players.
        games: number of games.
    """

    board: BoardValues
    players: int
    games: int


Play = Callable[[str, Sequence[ScreeningRequest]], list[ScreeningGames]]
"""Plays the named part's screening experiments and returns their games in the same order."""


@dataclass(frozen=True)
class TriedBoard:
    """A board of the halving.

    Attributes:
        board: the board.
        predicted: distance from the aim that the model predicts.
        seen: estimated distance after each round that it took part in.
        share: latest estimate of its level as a percentage of that of the published board, at the worst number of
            players.
    """

    board: BoardValues
    predicted: float
    share: float
    seen: tuple[float, ...] = ()


@dataclass(frozen=True)
class BoardSearchResult:
    """Result of a search.

    Attributes:
        outcome: the outcome.
        screen: estimates for the published board from the first experiment.
        models: fitted model for every number of players; empty if none was needed.
        tried: boards of the halving, best first.
        proof: the published board, then the finalists; empty if there was no proof.
        proposal: the proposed board.
    """

    outcome: SearchOutcome
    screen: BoardEstimates
    models: tuple[EffectModel, ...] = ()
    tried: tuple[TriedBoard, ...] = ()
    proof: tuple[BoardEstimates, ...] = ()
    proposal: BoardEstimates | None = None


def search(config: TuneConfig, play: Play) -> BoardSearchResult:
    """Run the search described in the module docstring.

    Args:
        config: configuration of the search.
        play: function that plays the requested experiments.
    """
    box, games = published_board(config.free), config.games
    screens = play("screen", [ScreeningRequest(box, n, games.screen[n]) for n in config.players])
    (screen,) = estimate_boards(config, [box], screens)
    if screen.distance.low == 0:
        return BoardSearchResult("in the band" if screen.distance.high == 0 else "not surely beyond", screen)
    objective = Objective.of(config, screen)
    evidence = [EffectModelData(config.free, n) for n in config.players]
    for known, screening in zip(evidence, screens, strict=True):
        known.add(screening.study, box)
    boards = random_boards(config.free, config.boards, config.seed)
    _learn(config, play, "slopes", boards, {n: games.slopes[n] // config.boards for n in config.players}, evidence)
    models = tuple(known.fit() for known in evidence)
    tried = _halved(config, play, evidence, models, objective)
    proof = _proof(config, play, [box, *(one.board for one in tried[: config.finalists])])
    better = [one for one in proof[1:] if one.distance.high < proof[0].distance.low]
    proposal = _chosen(config, [one for one in better if one.kept])
    outcome: SearchOutcome = "proposed" if proposal else "level not kept" if better else "nothing better"
    return BoardSearchResult(outcome, screen, models, tuple(tried), tuple(proof), proposal)


def _learn(
    config: TuneConfig,
    play: Play,
    part: str,
    boards: Sequence[BoardValues],
    games: dict[int, int],
    evidence: Sequence[EffectModelData],
) -> list[list[AblationGames]]:
    """Play the experiment on each board with each number of players; return the games by board.

    The games are added to the evidence.
    """
    asked = [ScreeningRequest(board, n, games[n]) for board in boards for n in config.players]
    studies = [screening.study for screening in play(part, asked)]
    count = len(config.players)
    for i, (one, study) in enumerate(zip(asked, studies, strict=True)):
        evidence[i % count].add(study, one.board)
    return [studies[i : i + count] for i in range(0, len(studies), count)]


def _halved(
    config: TuneConfig,
    play: Play,
    evidence: Sequence[EffectModelData],
    models: Sequence[EffectModel],
    objective: Objective,
) -> list[TriedBoard]:
    """Return the boards of the halving, the last remaining first."""
    boards = best_boards(config.free, models, objective, config.most, config.candidates)
    predicted = predict_effects(models, np.array(boards, np.int64), objective.published)
    far, share = objective.distance(*predicted).tolist(), objective.share(*predicted).tolist()
    alive = list(map(TriedBoard, boards, far, share))
    played: dict[BoardValues, list[AblationGames]] = {}
    out: list[TriedBoard] = []
    number = 0
    while len(alive) > config.finalists:
        number += 1
        games = {n: config.games.halving[n] // len(alive) for n in config.players}
        fresh = _learn(config, play, f"halving-{number}", [one.board for one in alive], games, evidence)
        for one, studies in zip(alive, fresh, strict=True):
            before = played.get(one.board)
            played[one.board] = studies if before is None else list(map(_together, before, studies))
        boards_left = np.array([one.board for one in alive], np.int64)
        predicted = predict_effects([known.fit() for known in evidence], boards_left, objective.published)
        seen = _weighed(*predicted, [played[one.board] for one in alive]), predicted[1]
        distance = objective.distance(*seen)
        share = objective.share(*seen).tolist()
        alive = [
            replace(one, seen=(*one.seen, far), share=level)
            for one, far, level in zip(alive, distance.tolist(), share, strict=True)
        ]
        order = rank_boards(config.free, boards_left, distance, objective.shortfall(*seen))
        left = max(config.finalists, (len(alive) + 1) // 2)
        out = [*(alive[i] for i in order[left:]), *out]
        alive = [alive[i] for i in order[:left]]
    return [*alive, *out]


def _together(one: AblationGames, other: AblationGames) -> AblationGames:
    """Return the combined games of two experiments with different deals."""
    block = np.concatenate([one.block, other.block + one.block.max() + 1])
    return AblationGames(np.concatenate([one.denied, other.denied]), np.concatenate([one.places, other.places]), block)


def _weighed(predicted: Array, there: npt.NDArray[np.bool_], played: Sequence[Sequence[AblationGames]]) -> Array:
    """Return the effects on boards, weighting own games and the model, float64 (N, P, A).

    Deviations and levels are weighted separately, because a model may only predict one of them well.

    Args:
        predicted: effects predicted by the model, float64 (N, P, A).
        there: actions that are not covered, bool (N, A).
        played: games of each board, by number of players.
    """
    everywhere = there[:, None].repeat(predicted.shape[1], axis=1)
    means = predicted.mean(axis=2, where=there[:, None])
    apart = (predicted - means[..., None]) * everywhere
    # A covered action has no effect, so it says nothing about the quality of the models.
    own, variance = np.zeros_like(apart), np.ones_like(apart)
    level, level_variance = np.zeros_like(means), np.ones_like(means)
    for i, studies in enumerate(played):
        for j, study in enumerate(studies):
            found = open_action_effects(study, there[i])
            own[i, j, there[i]], covariance = deviations(found.power, found.covariance)
            variance[i, j, there[i]] = np.diag(covariance)
            level[i, j], level_variance[i, j] = found.power.mean(), found.covariance.mean()
    weighed = _between(apart, own, variance, everywhere)
    levels = _between(means, level, level_variance, np.ones_like(means, np.bool_))
    effects: Array = weighed + levels[..., None]
    return effects


def _between(predicted: Array, own: Array, variance: Array, there: npt.NDArray[np.bool_]) -> Array:
    """Return predictions and own estimates weighted by their errors; `there` selects those that measure the model."""
    wrong = max(0.0, float(((own - predicted) ** 2 - variance)[there].mean()))
    weighed: Array = predicted + wrong / (wrong + variance) * (own - predicted)
    return weighed


def _proof(config: TuneConfig, play: Play, boards: Sequence[BoardValues]) -> list[BoardEstimates]:
    asked = [ScreeningRequest(board, n, config.games.proof[n]) for board in boards for n in config.players]
    return estimate_boards(config, boards, play("proof", asked))


def _chosen(config: TuneConfig, better: Sequence[BoardEstimates]) -> BoardEstimates | None:
    """Return the proposed board among the eligible ones.

    It is the smallest change that surely meets the aim, or else the one with the smallest estimated distance.
    """
    if not better:
        return None
    best = [one for one in better if one.distance.high == 0]
    boards = np.array([one.board for one in best or better], np.int64)
    distance = np.array([0.0 if best else one.distance.value for one in best or better])
    return (best or better)[int(rank_boards(config.free, boards, distance)[0])]
