"""The search for the smallest change of a board after which no action stands out, from screen to proof.

1. The board as it is goes through a screen. If no action lies beyond the band for sure, there is nothing to put right.
2. Boards with random numbers tell how worth moves with cost and strength, or boards with random actions covered how it
   moves with what is covered (`agents.helsinki.balance.tune.model`).
3. The boards that seem nearest to balance are played, and the worse half is left out, round by round (sequential
   halving; Karnin, Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits"). What a screen of
   few games says of a board and what the model says are weighed by their errors (Fay and Herriot 1979, "Estimates of
   income for small places", Journal of the American Statistical Association 74).
4. The board as it is and those that are left meet fresh decks. All intervals hold together, so that what is said of the
   winner holds although it was chosen: it is proposed only if the worst end of its intervals lies nearer to the band
   than the best ends of those of the board as it is. With the stated probability no such statement is wrong.

Nothing here plays: whoever calls gives a function that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from agents.balance.effects import Effects, Study, estimate
from agents.helsinki.balance.tune.candidates import best_boards, beyond, ranked
from agents.helsinki.balance.tune.config import TuneConfig
from agents.helsinki.balance.tune.model import Evidence, Model, Terms
from agents.helsinki.balance.tune.numbers import Board, random_boards, same, sizes
from agents.helsinki.balance.verdicts import Finding, Measured, deviations, findings
from helsinki_env.games.helsinki.action_numbers import ACTIONS

__all__ = ["Asked", "Found", "Outcome", "Play", "Proven", "Tried", "proven", "search"]

Array = npt.NDArray[np.float64]
Outcome = Literal["in the band", "not surely beyond", "proposed", "nothing better"]
"""What came of it: all actions lie within the band; none lies beyond it for sure; a change is proposed; none is, as no
board is nearer to the band for sure."""


@dataclass(frozen=True)
class Asked:
    """A screen that shall be played.

    Attributes:
        board: on which.
        players: how many play.
        games: how many games.
    """

    board: Board
    players: int
    games: int


Play = Callable[[str, Sequence[Asked]], list[Study]]
"""Plays the screens of a part, given its name, and returns their games in the same order."""


@dataclass(frozen=True)
class Proven:
    """What a proof, or the first screen, says of a board.

    Attributes:
        board: which.
        findings: of every number of players and action; intervals hold for all boards of the part together.
    """

    board: Board
    findings: tuple[Finding, ...]

    def surely(self, band: float) -> float:
        """Return by how much some action lies beyond the band at least."""
        return max(0.0, *(max(one.low, -one.high) - band for one in self.findings))

    def at_most(self, band: float) -> float:
        """Return by how much any action lies beyond the band at most; 0: all lie within."""
        return max(0.0, *(max(-one.low, one.high) - band for one in self.findings))

    def about(self, band: float) -> float:
        """Return by how much the farthest action seems to lie beyond the band."""
        return max(0.0, *(abs(one.deviation) - band for one in self.findings))


@dataclass(frozen=True)
class Tried:
    """A board of the halving.

    Attributes:
        board: which.
        predicted: how far beyond the band the model saw it.
        seen: the same after each round that it took part in.
    """

    board: Board
    predicted: float
    seen: tuple[float, ...] = ()


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        outcome: in a word.
        screen: the board as it is, in the first screen.
        models: what was learnt, for every number of players; empty if nothing had to be learnt.
        tried: the boards of the halving, best first.
        proof: the board as it is, then those that were left; empty likewise.
        proposal: the board that is proposed.
    """

    outcome: Outcome
    screen: Proven
    models: tuple[Model, ...] = ()
    tried: tuple[Tried, ...] = ()
    proof: tuple[Proven, ...] = ()
    proposal: Proven | None = None


def search(config: TuneConfig, play: Play) -> Found:
    """Return what is found, see above.

    Args:
        config: what is asked.
        play: plays what shall be played.
    """
    box, games = same(config.free), config.games
    screens = play("screen", [Asked(box, n, games.screen[n]) for n in config.players])
    (screen,) = proven(config, [box], screens)
    if screen.surely(config.band) == 0:
        return Found("in the band" if screen.at_most(config.band) == 0 else "not surely beyond", screen)
    evidence = [Evidence(config.free, n) for n in config.players]
    for known, study in zip(evidence, screens, strict=True):
        known.add(study, box)
    boards = random_boards(config.free, config.boards, config.seed)
    _learn(config, play, "slopes", boards, {n: games.slopes[n] // config.boards for n in config.players}, evidence)
    models = tuple(known.fit() for known in evidence)
    tried = _halved(config, play, evidence, models)
    proof = _proof(config, play, [box, *(one.board for one in tried[: config.finalists])])
    proposal = _chosen(config, proof)
    outcome: Outcome = "nothing better" if proposal is None else "proposed"
    return Found(outcome, screen, models, tuple(tried), tuple(proof), proposal)


def _learn(
    config: TuneConfig,
    play: Play,
    part: str,
    boards: Sequence[Board],
    games: dict[int, int],
    evidence: Sequence[Evidence],
) -> list[list[Study]]:
    """Play a screen on each board with each number of players, and add the games to the evidence; by board."""
    asked = [Asked(board, n, games[n]) for board in boards for n in config.players]
    studies = play(part, asked)
    count = len(config.players)
    for i, (one, study) in enumerate(zip(asked, studies, strict=True)):
        evidence[i % count].add(study, one.board)
    return [studies[i : i + count] for i in range(0, len(studies), count)]


def _halved(config: TuneConfig, play: Play, evidence: Sequence[Evidence], models: Sequence[Model]) -> list[Tried]:
    """Return the boards of the halving, those that were left first."""
    boards, predicted = best_boards(config.free, models, config.band, config.most, config.candidates)
    alive = [Tried(board, float(far)) for board, far in zip(boards, predicted, strict=True)]
    played: dict[Board, list[Study]] = {}
    out: list[Tried] = []
    number = 0
    while len(alive) > config.finalists:
        number += 1
        games = {n: config.games.halving[n] // len(alive) for n in config.players}
        fresh = _learn(config, play, f"halving-{number}", [one.board for one in alive], games, evidence)
        for one, studies in zip(alive, fresh, strict=True):
            before = played.get(one.board)
            played[one.board] = studies if before is None else list(map(_together, before, studies))
        seen = _weighed(alive, played, [known.fit() for known in evidence])
        distance = beyond(seen, config.band)
        alive = [replace(one, seen=(*one.seen, far)) for one, far in zip(alive, distance.tolist(), strict=True)]
        order = ranked(config.free, np.array([one.board for one in alive], np.int64), distance)
        left = max(config.finalists, (len(alive) + 1) // 2)
        out = [*(alive[i] for i in order[left:]), *out]
        alive = [alive[i] for i in order[:left]]
    return [*alive, *out]


def _together(one: Study, other: Study) -> Study:
    """Return the games of two screens of different decks."""
    block = np.concatenate([one.block, other.block + one.block.max() + 1])
    return Study(np.concatenate([one.denied, other.denied]), np.concatenate([one.places, other.places]), block)


def _weighed(alive: Sequence[Tried], played: dict[Board, list[Study]], models: Sequence[Model]) -> Array:
    """Return the deviations of boards, from their own games and from the model, float64 (N, numbers of players, A)."""
    boards = np.array([one.board for one in alive], np.int64)
    predicted = np.stack([model.deviations(boards) for model in models], axis=1)
    # What is covered has no worth: whatever is said of it, it says nothing of how good the models are.
    own, variance = np.zeros_like(predicted), np.ones_like(predicted)
    there = models[0].terms.open(boards)
    for i, one in enumerate(alive):
        for j, study in enumerate(played[one.board]):
            found = _estimate(study, there[i])
            own[i, j, there[i]], covariance = deviations(found.power, found.covariance)
            variance[i, j, there[i]] = np.diag(covariance)
    apart = ((own - predicted) ** 2 - variance)[there[:, None].repeat(len(models), axis=1)]
    wrong = max(0.0, float(apart.mean()))  # how far models are from the truth
    weighed: Array = predicted + wrong / (wrong + variance) * (own - predicted)
    return weighed


def _proof(config: TuneConfig, play: Play, boards: Sequence[Board]) -> list[Proven]:
    asked = [Asked(board, n, config.games.proof[n]) for board in boards for n in config.players]
    return proven(config, boards, play("proof", asked))


def proven(config: TuneConfig, boards: Sequence[Board], studies: Sequence[Study]) -> list[Proven]:
    """Return what screens say of boards, with intervals that hold for all of them together.

    Args:
        config: what is asked.
        boards: which.
        studies: the screens of the first board with each number of players, then of the next.
    """
    there = Terms(config.free).open(np.array(boards, np.int64))
    measured = []
    for i, study in enumerate(studies):
        board, count = divmod(i, len(config.players))
        found = _estimate(study, there[board])
        names = tuple(name for name, is_open in zip(ACTIONS, there[board], strict=True) if is_open)
        measured.append(Measured(config.players[count], config.player, 0, found.power, found.covariance, names))
    told = iter(findings(measured, config.level))
    each = there.sum(axis=1).tolist()
    return [
        Proven(board, tuple(islice(told, len(config.players) * count)))
        for board, count in zip(boards, each, strict=True)
    ]


def _estimate(study: Study, there: npt.NDArray[np.bool_]) -> Effects:
    """Return what the actions that are not covered are worth, bool (A,)."""
    return estimate(replace(study, denied=study.denied[..., there]))


def _chosen(config: TuneConfig, proof: Sequence[Proven]) -> Proven | None:
    """Return the board that is proposed: within the band the smallest change, else the one nearest to it."""
    box, *others = proof
    surely = box.surely(config.band)
    nearer = [one for one in others if one.at_most(config.band) < surely]
    if not nearer:
        return None
    within = [one for one in nearer if one.at_most(config.band) == 0]
    if within:
        count, steps = sizes(config.free, np.array([one.board for one in within], np.int64))
        return within[int(np.lexsort((steps, count))[0])]
    boards = np.array([one.board for one in nearer], np.int64)
    return nearer[int(ranked(config.free, boards, np.array([one.about(config.band) for one in nearer]))[0])]
