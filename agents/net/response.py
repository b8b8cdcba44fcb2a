"""Response to a player by search: a network's search whose simulations play with that player as all other seats.

As in `helsinki_env.agents.net.search`, the network proposes and evaluates actions. In simulations it plays the
searching seat, and the target plays all others. This is an approximate best response (compare Timbers et al. 2022,
"Approximate exploitability: learning a best response", and the local best response of Lisý and Bowling 2017). Unlike
those, it does not infer hidden cards from the target's actions. The expected excess of its win rate over chance level
is a lower bound on what one seat can gain against the target in all others. With two players, this bounds the target's
exploitability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from helsinki_env.agents.base import (
    FloatArray,
    Int8Array,
    Int64Array,
    KeyArray,
    Player,
    PlayerError,
    checked_actions,
    default_errstate,
    mix_keys,
    next_keys,
)
from helsinki_env.agents.net.player import InferenceModel, best_choices, choice_log_probs
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.engine import loops
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.determinization import determinize_batch
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States

__all__ = ["ResponsePlayer"]

#: Separates the random numbers of the players in a simulation from those of its deal.
_SALT = np.uint64(0xD1342543DE82EF95)


class ResponsePlayer(NetSearchPlayer):
    """Player that searches for the best actions against another player, the target.

    A simulation ends where the searching seat's second turn after the current one begins. There, the network predicts
    its win probability after the action that it prefers.

    Args:
        budget: number of simulations per action, at least 1.
        target: the player that the simulations use for all other seats.
        model: the network.
        config: game configuration; only its component file is used.
        name: display name.
    """

    def __init__(self, budget: int, target: Player, model: InferenceModel, config: Any = None, name: str = "") -> None:
        if getattr(target, "wants_history", False):
            raise PlayerError(
                f"player response: found the target {target.name!r}, which needs the history of a game (such as a "
                "language model), expected a player that needs only observations"
            )
        super().__init__(budget, model, config, name or f"response:{budget}:{target.name}")
        self.target = target

    @property
    def replaced_actions(self) -> Any:
        """The replaced actions of the target in simulations, or None (`helsinki_env.agents.replaced_actions`)."""
        return getattr(self.target, "replaced_actions", None)

    def _simulate(
        self, games: States, arms: Int64Array, counts: Int64Array, deals: Int64Array, keys: KeyArray
    ) -> FloatArray:
        """Simulate like `NetSearchPlayer`, but with the target as all other seats."""
        game = np.repeat(np.arange(len(games)), deals * counts)
        number = np.arange(len(game)) - np.searchsorted(game, game)  # within the game
        deal, arm = np.divmod(number, counts[game])
        # Without mixing, a deal would use the random numbers of the one before, shifted by one.
        states, words = games[game], mix_keys(keys[game] + GOLDEN * (deal + 1).astype(np.uint64))
        keys += GOLDEN * deals.astype(np.uint64)
        determinize_batch(self.config, states, states["seat"].astype(np.int64), words)
        sums = np.zeros((*arms.shape, MAX_SEATS))
        np.add.at(sums, (game, arm), self._play(states, arms[game, arm], words ^ _SALT))
        return sums

    def _play(self, states: States, actions: Int64Array, keys: KeyArray) -> FloatArray:
        """Continue N games with the given actions; return win probabilities, the acting seat first, float64 (N, 4).

        `keys` are random keys for the players, uint64 (N,).
        """
        t, wins, rows = self.config.tables[0], np.zeros((len(states), MAX_SEATS)), np.arange(len(states))
        masks = np.zeros((len(states), spec_of(self.config).num_actions(self.config)), np.int8)
        viewer, turns = states["seat"].astype(np.int64), np.full(len(states), self.settings.turns)
        loops.batch_mask(t, states, masks)
        while len(rows):
            before = states["seat"].astype(np.int64)
            if (b := loops.batch_step(t, states, actions, masks)) >= 0:
                raise PlayerError(
                    f"player {self.name!r}: found action {actions[b]} in a simulation, expected a legal one"
                )
            seat, over = states["seat"].astype(np.int64), states["done"].astype(bool)
            turns -= (seat == viewer) & (before != viewer)
            leaf = ~over & (turns == 0)
            wins[rows[over]] = self._final_wins(states[over], viewer[over])
            wins[rows[leaf]] = self._predicted_wins(states[leaf], masks[leaf])
            open_ = ~over & ~leaf
            states, masks, keys, viewer, turns, rows, seat = (
                values[open_] for values in (states, masks, keys, viewer, turns, rows, seat)
            )
            actions, drawn = np.zeros(len(rows), np.int64), next_keys(keys)
            for player, mine in ((self.net, seat == viewer), (self.target, seat != viewer)):
                if mine.any():
                    chosen = player.act(self._observe(states[mine]), masks[mine], drawn[mine])
                    actions[mine] = checked_actions(player.name, chosen, int(mine.sum()))
        return wins

    def _observe(self, states: States) -> Int8Array:
        """Return the acting seats' observations, int8 (N, F)."""
        observations = np.empty((len(states), spec_of(self.config).observation_size(self.config)), np.int8)
        loops.batch_observe(self.config.tables[0], states, states["seat"].astype(np.int64), observations)
        return observations

    def _final_wins(self, states: States, viewer: Int64Array) -> FloatArray:
        """Return the win probabilities in N finished games, the viewer first, float64 (N, 4); winners share equally."""
        scores, ranks = np.ones((2, len(states), MAX_SEATS), np.int64)
        loops.batch_scores(self.config.tables[0], states, scores, ranks)
        wins = (ranks == 0) / (ranks == 0).sum(axis=1, keepdims=True)
        players, seats = states["players"].astype(np.int64)[:, None], np.arange(MAX_SEATS)
        return np.take_along_axis(wins, (viewer[:, None] + seats) % players, axis=1) * (seats < players)

    @default_errstate
    def _predicted_wins(self, states: States, masks: Int8Array) -> FloatArray:
        """Return the win probabilities after the network's preferred actions, the acting seat first, float64 (N, 4)."""
        if not len(states):
            return np.zeros((0, MAX_SEATS))
        observations, model = self._observe(states), self.net.model
        inputs = self.net.encoder.write(observations, masks)
        output = model(inputs.seats, inputs.table)
        best = best_choices(inputs, choice_log_probs(inputs, output, model))
        wins = output.wins[inputs.position[best]].astype(np.float64)
        over = np.flatnonzero(inputs.ended[inputs.position[best]] >= 0)
        if len(over):
            wins[over] = self.net.encoder.ends(observations[over], inputs.action[best[over]].astype(np.int64))
        return wins
