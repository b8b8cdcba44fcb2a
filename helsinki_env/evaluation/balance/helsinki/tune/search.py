"""Search for the smallest change of the action board that significantly improves it and preserves its level.

1. A screening experiment measures the published board. The search ends unless the board misses the aim significantly.
   The level of the board (the mean effect of its actions) determines the floor.
2. Games on boards with random costs and strengths, or with random covered actions, train a model of the effects
   (`helsinki_env.evaluation.balance.helsinki.tune.estimates`).
3. Candidates are boards with a few changes that have the smallest predicted distance from the aim. There are too many
   boards to evaluate, so a beam search starts with all boards with one change and repeatedly adds a change to the best
   boards. If actions are covered, all sets of five are evaluated.
4. Sequential halving plays the best candidates and drops the worse half in each round (Karnin, Koren and Somekh 2013,
   "Almost optimal exploration in multi-armed bandits"). Boards with a low level rank last. Estimates from games and the
   model are weighted by their errors (Fay and Herriot 1979, "Estimates of income for small places", Journal of the
   American Statistical Association 74).
5. The proof plays the published board and the finalists on fresh deals. Its intervals are simultaneous, so they remain
   valid for the board that is chosen. A proposal must satisfy two conditions. Its interval must lie entirely closer to
   the aim than the published board's interval, and the interval of its level must lie above the floor.

This module does not play games itself. The caller passes a function that does.

Letters in shapes: N boards, P player counts, A actions, F parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import AblationGames, deviations
from helsinki_env.evaluation.balance.helsinki.tune.config import (
    LIFT,
    BoardArray,
    BoardNumber,
    BoardValues,
    TuneConfig,
    coverings,
    published_board,
    random_boards,
    searches_covers,
    sizes,
)
from helsinki_env.evaluation.balance.helsinki.tune.estimates import (
    BoardEstimates,
    EffectModel,
    EffectModelData,
    ScreeningGames,
    estimate_boards,
    open_action_effects,
)

Array = npt.NDArray[np.float64]
Open = npt.NDArray[np.bool_]
SearchOutcome = Literal["within the margin", "not significant", "proposed", "below the floor", "nothing better"]
"""Outcome of a search.

"within the margin": the published board meets the aim significantly. "not significant": it does not miss the aim
significantly. "proposed": a change is proposed. "below the floor": boards are significantly better, but their levels
are not significantly above the floor. "nothing better": no board is significantly better."""

_BEAM_WIDTH = 500
#: Step, in win %, to which distances from the aim are rounded before boards are ranked.
_ALIKE = 0.1


@dataclass(frozen=True)
class ScreeningRequest:
    """A screening experiment to play."""

    board: BoardValues
    players: int
    games: int


Play = Callable[[str, Sequence[ScreeningRequest]], list[ScreeningGames]]
"""Function that plays the screening experiments of a part, given its name, and returns their games in order."""


@dataclass(frozen=True)
class TriedBoard:
    """A board that took part in the halving."""

    board: BoardValues
    predicted: float  # distance from the aim that the model predicts
    share: float  # latest estimate of its level at the worst player count, % of the published level
    seen: tuple[float, ...] = ()  # estimated distance from the aim after each of its rounds


@dataclass(frozen=True)
class BoardSearchResult:
    """Result of a search for a balanced board."""

    outcome: SearchOutcome
    screening: BoardEstimates  # estimates for the published board, from the first experiment
    models: tuple[EffectModel, ...] = ()  # one model per player count; empty if the search ended early
    tried: tuple[TriedBoard, ...] = ()  # boards that took part in the halving, best first
    proof: tuple[BoardEstimates, ...] = ()  # published board, then finalists; empty if there was no proof
    proposal: BoardEstimates | None = None


@dataclass(frozen=True)
class Objective:
    """The objective of the search, and the level (mean effect of the actions) that a board must preserve.

    Methods take effects, float64 (N, P, A), and a mask of the actions that are not covered, bool (N, A). Unless stated
    otherwise, they return a value for each board at its worst player count, float64 (N,).
    """

    aim: str  # see `TuneConfig.aim`
    equivalence_margin: float  # half-width of the equivalence margin, win %
    published: Array  # level of the published board, float64 (P,)
    least: Array  # minimum level at which the proof can confirm the floor, float64 (P,)

    @classmethod
    def of(cls, config: TuneConfig, screening: BoardEstimates) -> Objective:
        """Return the objective of a search, given the estimates for the published board."""
        games = config.games
        ratio = np.array([games.screening[n] / games.proof[n] for n in config.players])
        level = np.array([one.level.value for one in screening.levels])
        half = np.array([one.level.high - one.level.value for one in screening.levels]) * np.sqrt(ratio)
        # The proof compares two estimates: the level of the proposal, and the published level times the floor.
        least = config.floor * level + half * np.sqrt(1 + config.floor**2)
        return cls(
            config.aim, config.equivalence_margin, level, least if config.floor else np.full(len(level), -np.inf)
        )

    def levels(self, effects: Array, available: Open) -> Array:
        """Return the mean effect of the actions that are not covered, at each player count, float64 (N, P)."""
        means: Array = effects.mean(axis=2, where=available[:, None])
        return means

    def share(self, effects: Array, available: Open) -> Array:
        """Return the level as a percentage of the published level."""
        shares: Array = (100 * self.levels(effects, available) / self.published).min(axis=1)
        return shares

    def shortfall(self, effects: Array, available: Open) -> Array:
        """Return by how much the level falls short of the minimum."""
        shortfalls: Array = np.clip(self.least - self.levels(effects, available), 0.0, None).max(axis=1)
        return shortfalls

    def over(self, effects: Array, available: Open) -> Array:
        """Return the distance of each action from the aim, float64 (N, P, A), with 0 for covered actions."""
        if self.aim == LIFT:
            apart = self.published[:, None] - effects
        else:
            apart = np.abs(effects - self.levels(effects, available)[..., None])
        distances: Array = np.clip(apart - self.equivalence_margin, 0.0, None) * available[:, None]
        return distances

    def distance(self, effects: Array, available: Open) -> Array:
        """Return the distance of each board from the aim."""
        over = self.over(effects, available)
        by_players = over.mean(axis=2, where=available[:, None]) if self.aim == LIFT else over.max(axis=2)
        distances: Array = by_players.max(axis=1)
        return distances


def rank_boards(
    numbers: Sequence[BoardNumber], boards: BoardArray, distance: Array, shortfall: Array | None = None
) -> npt.NDArray[np.intp]:
    """Return the indices that sort boards by shortfall, distance from the aim, and number and size of changes."""
    count, steps = sizes(numbers, boards)
    low = np.zeros(len(boards)) if shortfall is None else np.round(shortfall / _ALIKE)
    return np.lexsort((*boards.T[::-1], steps, count, np.round(distance / _ALIKE), low))


def predict_effects(models: Sequence[EffectModel], boards: BoardArray, published: Array) -> tuple[Array, Open]:
    """Return the predicted effects on boards, float64 (N, P, A), and a mask of the actions not covered, bool (N, A).

    A linear model understates levels, because seats with many denied actions have little left to lose. Therefore only
    the predicted difference from the published board is used. It is added to the level of the published board,
    `published`, float64 (P,).
    """
    shift = published - np.array([model.power.mean() for model in models])
    return np.stack([model.powers(boards) for model in models], axis=1) + shift[:, None], models[0].terms.open(boards)


def best_boards(
    numbers: Sequence[BoardNumber], models: Sequence[EffectModel], objective: Objective, most: int, count: int
) -> list[BoardValues]:
    """Return the `count` boards with at most `most` changes that the models predict to be best, best first."""
    boards = coverings() if searches_covers(numbers) else _promising(numbers, models, objective, most)
    predicted = predict_effects(models, boards, objective.published)
    order = rank_boards(numbers, boards, objective.distance(*predicted), objective.shortfall(*predicted))[:count]
    return [tuple(board) for board in boards[order].tolist()]


def _promising(
    numbers: Sequence[BoardNumber], models: Sequence[EffectModel], objective: Objective, most: int
) -> BoardArray:
    """Return the best boards with 1 to `most` changes, found by beam search."""
    published = np.array(published_board(numbers), np.int64)
    level = published[None]
    pool = []
    for _ in range(min(most, len(numbers))):
        level = np.unique(np.concatenate([_with(level, i, number) for i, number in enumerate(numbers)]), axis=0)
        predicted = predict_effects(models, level, objective.published)
        # A later change may raise the level, so a shortfall counts like distance.
        far = objective.distance(*predicted) + objective.shortfall(*predicted)
        order = np.lexsort(((objective.over(*predicted) ** 2).sum(axis=(1, 2)), np.round(far / _ALIKE)))
        level = level[np.sort(order[:_BEAM_WIDTH])]
        pool.append(level)
    return np.concatenate(pool)


def _with(boards: BoardArray, column: int, number: BoardNumber) -> BoardArray:
    """Return copies, with each alternative value, of the boards on which a parameter has its published value."""
    unchanged = boards[boards[:, column] == number.was]
    changed = np.repeat(unchanged, len(number.others), axis=0)
    changed[:, column] = np.tile(np.array(number.others, np.int64), len(unchanged))
    return changed


def search_boards(config: TuneConfig, play: Play) -> BoardSearchResult:
    """Run the search described in the module docstring, with `play` to play the experiments."""
    published, games = published_board(config.free), config.games
    screenings = play("screening", [ScreeningRequest(published, n, games.screening[n]) for n in config.players])
    (screening,) = estimate_boards(config, [published], screenings)
    if screening.distance.low == 0:
        return BoardSearchResult("within the margin" if screening.distance.high == 0 else "not significant", screening)
    objective = Objective.of(config, screening)
    evidence = [EffectModelData(config.free, n) for n in config.players]
    for data, experiment in zip(evidence, screenings, strict=True):
        data.add(experiment.study, published)
    boards = random_boards(config.free, config.boards, config.seed)
    _play_boards(
        config, play, "slopes", boards, {n: games.slopes[n] // config.boards for n in config.players}, evidence
    )
    models = tuple(data.fit() for data in evidence)
    tried = _halve(config, play, evidence, models, objective)
    finalists = [published, *(one.board for one in tried[: config.finalists])]
    requests = [ScreeningRequest(board, n, games.proof[n]) for board in finalists for n in config.players]
    proof = estimate_boards(config, finalists, play("proof", requests))
    better = [one for one in proof[1:] if one.distance.high < proof[0].distance.low]
    proposal = _choose(config, [one for one in better if one.above_floor])
    outcome: SearchOutcome = "proposed" if proposal else "below the floor" if better else "nothing better"
    return BoardSearchResult(outcome, screening, models, tuple(tried), tuple(proof), proposal)


def _play_boards(
    config: TuneConfig,
    play: Play,
    part: str,
    boards: Sequence[BoardValues],
    games: dict[int, int],
    evidence: Sequence[EffectModelData],
) -> list[list[AblationGames]]:
    """Play an experiment on each board at each player count, and return the games by board.

    The games are also added to `evidence`.
    """
    requests = [ScreeningRequest(board, n, games[n]) for board in boards for n in config.players]
    studies = [screening.study for screening in play(part, requests)]
    count = len(config.players)
    for i, (one, study) in enumerate(zip(requests, studies, strict=True)):
        evidence[i % count].add(study, one.board)
    return [studies[i : i + count] for i in range(0, len(studies), count)]


def _halve(
    config: TuneConfig,
    play: Play,
    evidence: Sequence[EffectModelData],
    models: Sequence[EffectModel],
    objective: Objective,
) -> list[TriedBoard]:
    """Run sequential halving and return its boards, starting with those that remain at the end."""
    boards = best_boards(config.free, models, objective, config.most, config.candidates)
    predicted = predict_effects(models, np.array(boards, np.int64), objective.published)
    far, share = objective.distance(*predicted).tolist(), objective.share(*predicted).tolist()
    alive = list(map(TriedBoard, boards, far, share))
    played: dict[BoardValues, list[AblationGames]] = {}
    dropped: list[TriedBoard] = []
    number = 0
    while len(alive) > config.finalists:
        number += 1
        games = {n: config.games.halving[n] // len(alive) for n in config.players}
        fresh = _play_boards(config, play, f"halving-{number}", [one.board for one in alive], games, evidence)
        for one, studies in zip(alive, fresh, strict=True):
            before = played.get(one.board)
            played[one.board] = studies if before is None else list(map(_combine, before, studies))
        boards_left = np.array([one.board for one in alive], np.int64)
        predicted = predict_effects([data.fit() for data in evidence], boards_left, objective.published)
        weighted = _weighted(*predicted, [played[one.board] for one in alive]), predicted[1]
        distance = objective.distance(*weighted)
        share = objective.share(*weighted).tolist()
        alive = [
            replace(one, seen=(*one.seen, far), share=level)
            for one, far, level in zip(alive, distance.tolist(), share, strict=True)
        ]
        order = rank_boards(config.free, boards_left, distance, objective.shortfall(*weighted))
        left = max(config.finalists, (len(alive) + 1) // 2)
        dropped = [*(alive[i] for i in order[left:]), *dropped]
        alive = [alive[i] for i in order[:left]]
    return [*alive, *dropped]


def _combine(one: AblationGames, other: AblationGames) -> AblationGames:
    """Combine the games of two experiments that were played on different deals."""
    block = np.concatenate([one.block, other.block + one.block.max() + 1])
    return AblationGames(np.concatenate([one.denied, other.denied]), np.concatenate([one.places, other.places]), block)


def _weighted(predicted: Array, available: Open, played: Sequence[Sequence[AblationGames]]) -> Array:
    """Return weighted means of the effects in the model and in games, float64 (N, P, A).

    Deviations and levels have separate weights.
    """
    everywhere = available[:, None].repeat(predicted.shape[1], axis=1)
    means = predicted.mean(axis=2, where=available[:, None])
    apart = (predicted - means[..., None]) * everywhere
    # A covered action has no effect, so it does not test the models.
    own, variance = np.zeros_like(apart), np.ones_like(apart)
    level, level_variance = np.zeros_like(means), np.ones_like(means)
    for i, studies in enumerate(played):
        for j, study in enumerate(studies):
            effects = open_action_effects(study, available[i])
            own[i, j, available[i]], covariance = deviations(effects.power, effects.covariance)
            variance[i, j, available[i]] = np.diag(covariance)
            level[i, j], level_variance[i, j] = effects.power.mean(), effects.covariance.mean()
    weighted = _shrink(apart, own, variance, everywhere)
    levels = _shrink(means, level, level_variance, np.ones_like(means, np.bool_))
    combined: Array = weighted + levels[..., None]
    return combined


def _shrink(predicted: Array, own: Array, variance: Array, measured: Open) -> Array:
    """Shrink estimates from games toward predictions, based on their errors.

    `measured` selects the values from which the error of the model is estimated.
    """
    model_error = max(0.0, float(((own - predicted) ** 2 - variance)[measured].mean()))
    weighted: Array = predicted + model_error / (model_error + variance) * (own - predicted)
    return weighted


def _choose(config: TuneConfig, better: Sequence[BoardEstimates]) -> BoardEstimates | None:
    """Return the proposal: the smallest change that significantly meets the aim, otherwise the closest board."""
    if not better:
        return None
    best = [one for one in better if one.distance.high == 0]
    boards = np.array([one.board for one in best or better], np.int64)
    distance = np.array([0.0 if best else one.distance.value for one in best or better])
    return (best or better)[int(rank_boards(config.free, boards, distance)[0])]
