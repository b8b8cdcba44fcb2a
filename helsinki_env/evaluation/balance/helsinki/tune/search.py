"""Search for the smallest change of a board that surely improves it and preserves its level.

1. A screening experiment on the published board. If it does not surely miss the aim, the search ends. Its level, the
mean effect of the actions, sets the floor.
2. Boards with random numbers show how effects depend on cost and strength. Boards with random covered actions show how
they depend on the covered set (`helsinki_env.evaluation.balance.helsinki.tune.estimates`).
3. Candidates are sets of a few changes, ranked by their distance from the aim as the model predicts it. There are too
many boards to evaluate. A beam search therefore starts with all boards with one change and extends the best by one more
change, up to the limit. All sets of five covered actions can be evaluated.
4. Sequential halving plays the boards that seem best and drops the worse half in each round (Karnin, Koren and Somekh
2013, "Almost optimal exploration in multi-armed bandits"). Boards whose level is too low rank last. The estimates of a
short experiment and of the model are weighted by their errors (Fay and Herriot 1979, "Estimates of income for small
places", Journal of the American Statistical Association 74).
5. The proof plays the published board and the finalists on fresh deals. Its intervals are simultaneous, so they also
hold for the chosen board. A proposal must satisfy two conditions. The worse end of its interval is closer to the aim
than the better end of the published board's interval. Its level surely reaches the floor. All these statements hold
together with the stated probability.

This module plays no games: the caller passes a function that does.

Letters in shapes: N boards, P numbers of players, A actions, F numbers that may change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import AblationGames
from helsinki_env.evaluation.balance.helsinki.conclusions import deviations
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
SearchOutcome = Literal["in the band", "not surely beyond", "proposed", "level not kept", "nothing better"]
"""Outcome of a search.

"in the band": the board surely meets the aim. "not surely beyond": it does not surely miss the aim. "proposed": a
change is proposed. "level not kept": boards that are surely better do not surely preserve the level. "nothing better":
no board is surely better."""

_BEAM_WIDTH = 500
#: Boards whose distances differ by less than this are equally good, win %.
_ALIKE = 0.1


@dataclass(frozen=True)
class ScreeningRequest:
    """A requested screening experiment."""

    board: BoardValues
    players: int
    games: int


Play = Callable[[str, Sequence[ScreeningRequest]], list[ScreeningGames]]
"""Plays the named part's screening experiments and returns their games in the same order."""


@dataclass(frozen=True)
class TriedBoard:
    """A board of the halving."""

    board: BoardValues
    predicted: float  # distance from the aim that the model predicts
    share: float  # latest estimate of its level, % of that of the published board, at the worst number of players
    seen: tuple[float, ...] = ()  # estimated distance after each round that it took part in


@dataclass(frozen=True)
class BoardSearchResult:
    """Result of a search."""

    outcome: SearchOutcome
    screen: BoardEstimates  # for the published board, from the first experiment
    models: tuple[EffectModel, ...] = ()  # fitted model for every number of players; empty if none was needed
    tried: tuple[TriedBoard, ...] = ()  # boards of the halving, best first
    proof: tuple[BoardEstimates, ...] = ()  # the published board, then the finalists; empty if there was no proof
    proposal: BoardEstimates | None = None


@dataclass(frozen=True)
class Objective:
    """Objective of the search, and the level (mean effect of the actions) that it must preserve.

    Methods take effects, float64 (N, P, A), and the actions that are not covered, bool (N, A), and return one number
    for each board, float64 (N,), at its worst number of players.
    """

    aim: str  # see `TuneConfig.aim`
    band: float  # half width of the equivalence margin, win %
    published: Array  # level of the published board, float64 (P,)
    least: Array  # minimum level with which the proof can confirm the floor, float64 (P,)

    @classmethod
    def of(cls, config: TuneConfig, screen: BoardEstimates) -> Objective:
        """Return the objective of a search, given the estimates for the published board."""
        games = config.games
        ratio = np.array([games.screen[n] / games.proof[n] for n in config.players])
        level = np.array([one.level.value for one in screen.levels])
        half = np.array([one.level.high - one.level.value for one in screen.levels]) * np.sqrt(ratio)
        # The proof compares the level of the proposal with the floor times that of the published board; both are noisy.
        least = config.floor * level + half * np.sqrt(1 + config.floor**2)
        return cls(config.aim, config.band, level, least if config.floor else np.full(len(level), -np.inf))

    def levels(self, effects: Array, available: Open) -> Array:
        """Return the mean effect of the actions that are not covered, float64 (N, P)."""
        means: Array = effects.mean(axis=2, where=available[:, None])
        return means

    def share(self, effects: Array, available: Open) -> Array:
        """Return the level as a percentage of that of the published board."""
        shares: Array = (100 * self.levels(effects, available) / self.published).min(axis=1)
        return shares

    def shortfall(self, effects: Array, available: Open) -> Array:
        """Return the shortfall of the level below the minimum."""
        shortfalls: Array = np.clip(self.least - self.levels(effects, available), 0.0, None).max(axis=1)
        return shortfalls

    def over(self, effects: Array, available: Open) -> Array:
        """Return the distance of each action from the aim, float64 (N, P, A); 0 for covered actions."""
        if self.aim == LIFT:
            apart = self.published[:, None] - effects
        else:
            apart = np.abs(effects - self.levels(effects, available)[..., None])
        distances: Array = np.clip(apart - self.band, 0.0, None) * available[:, None]
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
    """Return the order of boards, int64 (N, F), best first, given their distances from the aim, (N,).

    Ties go to the board with the fewest and smallest changes. A board with a shortfall of the level, (N,), ranks after
    those without, however close to the aim it is.
    """
    count, steps = sizes(numbers, boards)
    low = np.zeros(len(boards)) if shortfall is None else np.round(shortfall / _ALIKE)
    return np.lexsort((*boards.T[::-1], steps, count, np.round(distance / _ALIKE), low))


def predict_effects(models: Sequence[EffectModel], boards: BoardArray, published: Array) -> tuple[Array, Open]:
    """Return the predicted effects on boards, float64 (N, P, A), and the actions that are not covered, bool (N, A).

    A linear model understates levels where seats with many denied actions have little left to lose. Only the difference
    from the published board, whose level is `published`, float64 (P,), is therefore taken from it.
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
    """Return boards with up to `most` changes, the most promising of each step."""
    published = np.array(published_board(numbers), np.int64)
    level = published[None]
    pool = []
    for _ in range(min(most, len(numbers))):
        level = np.unique(np.concatenate([_with(level, i, number) for i, number in enumerate(numbers)]), axis=0)
        predicted = predict_effects(models, level, objective.published)
        # A later change may raise the level again, so a shortfall counts here like distance.
        far = objective.distance(*predicted) + objective.shortfall(*predicted)
        order = np.lexsort(((objective.over(*predicted) ** 2).sum(axis=(1, 2)), np.round(far / _ALIKE)))
        level = level[np.sort(order[:_BEAM_WIDTH])]
        pool.append(level)
    return np.concatenate(pool)


def _with(boards: BoardArray, column: int, number: BoardNumber) -> BoardArray:
    """Return the boards on which a number has not changed, once for each alternative value."""
    unchanged = boards[boards[:, column] == number.was]
    changed = np.repeat(unchanged, len(number.others), axis=0)
    changed[:, column] = np.tile(np.array(number.others, np.int64), len(unchanged))
    return changed


def search(config: TuneConfig, play: Play) -> BoardSearchResult:
    """Run the search described in the module docstring; `play` plays the requested experiments."""
    published, games = published_board(config.free), config.games
    screens = play("screen", [ScreeningRequest(published, n, games.screen[n]) for n in config.players])
    (screen,) = estimate_boards(config, [published], screens)
    if screen.distance.low == 0:
        return BoardSearchResult("in the band" if screen.distance.high == 0 else "not surely beyond", screen)
    objective = Objective.of(config, screen)
    evidence = [EffectModelData(config.free, n) for n in config.players]
    for data, screening in zip(evidence, screens, strict=True):
        data.add(screening.study, published)
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
    proposal = _choose(config, [one for one in better if one.kept])
    outcome: SearchOutcome = "proposed" if proposal else "level not kept" if better else "nothing better"
    return BoardSearchResult(outcome, screen, models, tuple(tried), tuple(proof), proposal)


def _play_boards(
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
    """Return the boards of the halving, the last remaining first."""
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
    """Return the combined games of two experiments with different deals."""
    block = np.concatenate([one.block, other.block + one.block.max() + 1])
    return AblationGames(np.concatenate([one.denied, other.denied]), np.concatenate([one.places, other.places]), block)


def _weighted(predicted: Array, available: Open, played: Sequence[Sequence[AblationGames]]) -> Array:
    """Return the effects on boards, weighting the model and the games of each board, float64 (N, P, A).

    Deviations and levels are weighted separately, because a model may only predict one of them well.
    """
    everywhere = available[:, None].repeat(predicted.shape[1], axis=1)
    means = predicted.mean(axis=2, where=available[:, None])
    apart = (predicted - means[..., None]) * everywhere
    # A covered action has no effect, so it says nothing about the quality of the models.
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
    """Return own estimates shrunk towards predictions by their errors; `measured` selects those that test the model."""
    model_error = max(0.0, float(((own - predicted) ** 2 - variance)[measured].mean()))
    weighted: Array = predicted + model_error / (model_error + variance) * (own - predicted)
    return weighted


def _choose(config: TuneConfig, better: Sequence[BoardEstimates]) -> BoardEstimates | None:
    """Return the proposed board among the eligible ones.

    It is the smallest change that surely meets the aim, or else the one with the smallest estimated distance.
    """
    if not better:
        return None
    best = [one for one in better if one.distance.high == 0]
    boards = np.array([one.board for one in best or better], np.int64)
    distance = np.array([0.0 if best else one.distance.value for one in best or better])
    return (best or better)[int(rank_boards(config.free, boards, distance)[0])]
