"""A player that looks one turn ahead and takes what its evaluation likes best.

At each decision it sums up what the rest of the turn could bring: the cards that it would draw beside each space that
it can reach, each pavilion that it could build there with its best placement, and what a coat of arms would buy.
`agents.helsinki.lookahead` has the evaluation, compiled; here are its weights.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.helsinki.lookahead import VIEW, choose_batch
from helsinki_env import GameConfig
from helsinki_env.games.helsinki import observation

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


_WEIGHTS = np.dtype((np.record, [(item.name, np.float64) for item in fields(Weights)]))


class GreedyPlayer:
    """Looks one turn ahead; plays without chance, so that the same observation always gets the same decision.

    Args:
        config: the games to be played; only their component file matters.
        weights: of the evaluation.
    """

    name = "greedy"

    def __init__(self, config: GameConfig | None = None, weights: Weights | None = None) -> None:
        config = config or GameConfig()
        self.weights = weights or Weights()
        self._tables: Any = config.tables[0]
        self._size = observation.layout(config.loaded.types).size
        self._record = np.zeros(1, _WEIGHTS)
        for item in fields(Weights):
            self._record[item.name] = getattr(self.weights, item.name)

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `agents.base.Player`."""
        if observation.ndim != 2 or observation.shape[1] != self._size:
            raise ValueError(
                f"observation: found shape {observation.shape}, expected (B, {self._size}): "
                "from games with other components?"
            )
        actions = np.zeros(len(mask), np.int64)
        scratch = np.zeros(1, VIEW)  # its own for each call: several threads may ask one player
        choose_batch(self._tables, self._record[0], scratch[0], observation, mask, actions)
        return actions
