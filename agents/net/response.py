"""Response to a player by search: a network's search whose simulations play with that player as all other seats.

As in `helsinki_env.agents.net.search`, the network proposes and evaluates actions, but the simulations do not play with
the heuristic: the network plays the searching seat, and the target plays the others. This is a local best response in
the sense of Lisý and Bowling (2017), "Equilibrium approximation quality of current no-limit poker bots", so its win
rate in one seat against targets in all others is a lower bound on how much the target can lose.
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
    checked_actions,
    default_errstate,
)
from helsinki_env.agents.net.player import InferenceModel, best_choices, choice_log_probs
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.agents.registry import PlayerError
from helsinki_env.engine import loops
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.determinization import determinize_batch
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States

__all__ = ["ResponsePlayer"]


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
            raise PlayerError(f"player response: found the target {target.name}, expected one without game histories")
        super().__init__(budget, model, config, name or f"response:{budget}:{target.name}")
        self.target = target

    def _simulate(
        self, games: States, arms: Int64Array, counts: Int64Array, deals: Int64Array, keys: KeyArray
    ) -> FloatArray:
        """Simulate like `NetSearchPlayer`, but with the target as all other seats."""
        game = np.repeat(np.arange(len(games)), deals * counts)
        number = np.arange(len(game)) - np.searchsorted(game, game)  # within the game
        deal, arm = np.divmod(number, counts[game])
        states, streams = games[game], keys[game] + GOLDEN * (deal + 1).astype(np.uint64)
        keys += GOLDEN * deals.astype(np.uint64)
        determinize_batch(self.config, states, states["seat"].astype(np.int64), streams)
        sums = np.zeros((*arms.shape, MAX_SEATS))
        np.add.at(sums, (game, arm), self._play(states, arms[game, arm], streams))
        return sums

    def _play(self, states: States, actions: Int64Array, keys: KeyArray) -> FloatArray:
        """Continue N games with the given actions; return win probabilities, the acting seat first, float64 (N, 4)."""
        t, wins, rows = self.config.tables[0], np.zeros((len(states), MAX_SEATS)), np.arange(len(states))
        masks = np.zeros((len(states), spec_of(self.config).num_actions(self.config)), np.int8)
        viewer, turns = states["seat"].astype(np.int64), np.full(len(states), self.settings.turns)
        loops.batch_mask(t, states, masks)
        while len(rows):
            before, keys = states["seat"].astype(np.int64), keys + GOLDEN
            if (b := loops.batch_step(t, states, actions, masks)) >= 0:
                raise PlayerError(f"player {self.target.name!r}: found action {actions[b]}, expected a legal action")
            seat, over = states["seat"].astype(np.int64), states["done"].astype(bool)
            turns -= (seat == viewer) & (before != viewer)
            leaf = ~over & (turns == 0)
            wins[rows[over]] = self._final_wins(states[over], viewer[over])
            wins[rows[leaf]] = self._predicted_wins(states[leaf], masks[leaf])
            open_ = ~over & ~leaf
            states, masks, keys, viewer, turns, rows, seat = (
                values[open_] for values in (states, masks, keys, viewer, turns, rows, seat)
            )
            actions = np.zeros(len(rows), np.int64)
            for player, mine in ((self.net, seat == viewer), (self.target, seat != viewer)):
                if mine.any():
                    chosen = player.act(self._observe(states[mine]), masks[mine], keys[mine])
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
