"""A player that looks one turn ahead and takes what its evaluation likes best.

At each decision it sums up what the rest of the turn could bring: the cards that it would draw beside each space that
it can reach, each pavilion that it could build there with its best placement, and what a coat of arms would buy.
`agents.helsinki.greedy_decide` has the decisions, compiled; here are the weights of the evaluation, which is the
heuristic's without what that learnt later.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from agents.guide import weights_record
from agents.helsinki import weights as heuristic
from agents.helsinki.greedy_decide import choose_batch
from agents.helsinki.memory import new_views
from agents.helsinki.view import pieces
from agents.rows import checked_rows
from helsinki_env import GameConfig

__all__ = ["GreedyPlayer", "Weights"]


@dataclass(frozen=True)
class Weights:
    """What the evaluation is made of; points if nothing else is said.

    Attributes:
        cell_chance: chance that an empty cell is built in the end, early in the game.
        line_patience: turns left at which that chance is halved.
        closed: what remains of a line's chance for each empty cell that no tile can reach.
        room: worth of a full line besides its points, for superstructures to come.
        hole: loss for each cell that is closed off, besides the chances of its lines.
        coat: worth of a coat of arms early in the game.
        coat_patience: turns left at which it is halved.
        spend: how much more a coat must bring than it is worth.
        cards_a_turn: cards that a turn takes from the draw pile: how the pile tells the turns that are left.
        hand_patience: turns left at which the worth of a hand is halved.
        card: worth of a card in hand.
        wild_card: extra worth of a wild card.
        best_plan: share of the best build in hand that counts before it is built.
        other_plans: the same for the best build of each other colour.
        short: factor for each card that is missing for a build.
        bonus_card: worth of the card for touching the own colour.
        extra_card: worth of the card that `extra_card` draws.
        kept_card: worth of each card that `no_hand_limit` keeps.
        tempo: worth of building without using up a turn.
        crosswalk: share of a bonus card that each cell beside a crosswalk counts (Dry roads).
    """

    cell_chance: float = 0.98
    line_patience: float = 3.0
    closed: float = 0.84
    room: float = 0.97
    hole: float = 0.07
    coat: float = 0.21
    coat_patience: float = 0.54
    spend: float = 0.44
    cards_a_turn: float = 0.72
    hand_patience: float = 3.0
    card: float = 0.068
    wild_card: float = 0.36
    best_plan: float = 0.22
    other_plans: float = 0.045
    short: float = 0.3
    bonus_card: float = 0.26
    extra_card: float = 0.54
    kept_card: float = 0.35
    tempo: float = 0.68
    crosswalk: float = 0.051


#: What the heuristic weighs besides, as if it did not: curves are of the simplest form, and tiles are put down
#: together with their superstructures.
_PLAIN = {
    "last_turn": 0.5,
    "hurry": 0.0,
    "line_onset": 1.0,
    "line_depth": 1.0,
    "lonely": 1.0,
    "cell": 0.0,
    "roof": 0.0,
    "coat_onset": 1.0,
    "hand_onset": 1.0,
    "far": 1.0,
    "clash": 1.0,
    "apart": 0.0,
}


class GreedyPlayer:
    """Looks one turn ahead; plays without chance, so that the same observation always gets the same decision.

    Args:
        config: the games to be played; only their component file matters.
        weights: of the evaluation.
    """

    name = "greedy"

    def __init__(self, config: GameConfig | None = None, weights: Weights | None = None) -> None:
        self.config = config or GameConfig()
        self.weights = weights or Weights()
        judgement = asdict(self.weights) | _PLAIN | {"spend": 0.0}  # what a coat must bring is not part of it
        self._record = weights_record(heuristic.Weights(**judgement))

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `agents.base.Player`."""
        states, mask, _ = checked_rows(self.config, observation, mask, words)
        actions: npt.NDArray[np.int64] = mask.argmax(axis=1)
        free = np.flatnonzero(mask.sum(axis=1, dtype=np.int16) > 1)
        states, masks, chosen = states[free], mask[free], actions[free]
        # scratch of its own for each call: several threads may ask one player
        views, tables, parts = new_views(1), self.config.tables, pieces(self.config)
        choose_batch(tables, parts, self._record, float(self.weights.spend), states, views, masks, chosen)
        actions[free] = chosen
        return actions
