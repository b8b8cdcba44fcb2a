"""Root search with a network: sequential halving over the actions that it prefers, in shared determinizations.

Method: root search after Danihelka et al. (2022), "Policy improvement by planning with Gumbel". The policy selects the
candidate actions, and sequential halving (Karnin, Koren and Somekh 2013) allocates the budget. The final choice
combines the policy with the simulated values. No noise is added to the policy, because the aim is the best action, not
training data. Every simulation determinizes the hidden cards and plays with the heuristic to the end of the searching
seat's second turn after this one. There, the network predicts the win probabilities. All games of a batch are evaluated
in the same network calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.base import FloatArray, Int8Array, Int64Array, KeyArray, default_errstate
from helsinki_env.agents.evaluation import Evaluation
from helsinki_env.agents.net.afterstates import AfterstateBatch, Afterstates, Choices, Simulations, simulate_games
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.player import InferenceModel, NetPlayer, choice_index, make_evaluations
from helsinki_env.agents.rows import forced_and_open, validate_arrays, validate_extra_actions
from helsinki_env.agents.search.workspace import new_workspace
from helsinki_env.data import Node, UserError
from helsinki_env.engine.arrays import key_array
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.determinization import states_from_observations
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import default_config
from helsinki_env.engine.states import States

__all__ = ["HalvingResult", "NetSearchPlayer", "NetSearchSettings"]


@dataclass(frozen=True)
class NetSearchSettings:
    """Settings of the search.

    Args:
        turns: number of turns of the searching seat that a simulation plays after the current one.
        arms: number of candidate actions, as a multiple of the square root of the budget.
        trust: minimum weight of the network's policy, as a number of simulations.
        share: minimum weight of the policy, as a fraction of the budget, because more simulations reduce the variance
            of their values but not the bias.
    """

    turns: int = 2
    arms: float = 0.7
    trust: float = 20.0
    share: float = 0.2


class HalvingResult(NamedTuple):
    """Result of sequential halving over m candidate actions in B games."""

    arms: Int64Array  # (B, m): candidate actions; the first is chosen
    priors: FloatArray  # (B, m): policy values: win probabilities relative to the policy's best action
    shares: FloatArray  # (B, m, 4): sums of win probabilities over simulations, the searching seat first
    trials: Int64Array  # (B, m): number of simulations

    @default_errstate
    def preferences(self, trust: float, width: float) -> FloatArray:
        """Return an improved policy over the candidates, float64 (B, m); all zeros if no action was simulated.

        `trust`: weight of the network's policy, as a number of simulations. `width`: factor that converts values to
        logits.
        """
        tried, own = self.trials > 0, self.shares[..., 0]
        priors = np.where(tried, self.priors, 0.0)
        # Policy values are relative, so shift them until their mean agrees with the simulations.
        level = (own - self.trials * priors).sum(axis=1) / np.maximum(1, self.trials.sum(axis=1))
        value = (trust * (level[:, None] + priors) + own) / (trust + self.trials)
        best = np.where(tried, value, -np.inf).max(axis=1, initial=-1.0, keepdims=True)
        likely = np.exp(width * np.minimum(0.0, value - best)) * tried
        preferred: FloatArray = likely / np.maximum(1e-300, likely.sum(axis=1, keepdims=True))
        return preferred


class NetSearchPlayer:
    """Player that simulates a network's preferred actions before it chooses one.

    Args:
        budget: number of simulations per action, at least 1.
        model: the network.
        config: game configuration; only its component file is used.
        name: display name.
        settings: search settings.
    """

    #: Enough games to fill a network batch; see `helsinki_env.agents.base.Player`.
    max_batch_size = 32

    def __init__(
        self,
        budget: int,
        model: InferenceModel,
        config: Any = None,
        name: str = "",
        settings: NetSearchSettings | None = None,
    ) -> None:
        self.budget, self.settings = Node(budget, UserError, "budget").integer(1), settings or NetSearchSettings()
        self.name = name or f"net+search:{self.budget}"
        self.config = config or default_config()
        self.net = NetPlayer(model, self.config)

    @default_errstate
    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        observation, action_mask, keys = validate_arrays(self.config, observation, action_mask, keys)
        actions, open_rows = forced_and_open(action_mask)
        if len(open_rows):
            inputs, log_probs = self.net.policy(observation[open_rows], action_mask[open_rows])
            result = self.search_choices(inputs, log_probs, observation[open_rows], keys[open_rows])
            actions[open_rows] = result.arms[:, 0]
        return actions

    @property
    def max_arms(self) -> int:
        """The maximum number of candidate actions."""
        return max(2, int(self.settings.arms * self.budget**0.5))

    @property
    def trust(self) -> float:
        """The weight of the network's policy, as a number of simulations."""
        return max(self.settings.trust, self.settings.share * self.budget)

    @property
    def width(self) -> float:
        """The factor that converts win probabilities to logits of the policy.

        When chances are nearly even, the logit has a slope of 4, which the policy multiplies by its sharpness.
        """
        return 4.0 * self.net.model.sharpness

    @default_errstate
    def search_choices(
        self, inputs: AfterstateBatch, log_probs: FloatArray, observation: Int8Array, keys: KeyArray
    ) -> HalvingResult:
        """Search in B games with at least two legal actions each.

        Args:
            inputs: network inputs for the games.
            log_probs: log-probability of every action, float64 (C,).
            observation: observations of the games, int8 (B, F).
            keys: random keys, uint64 (B,).
        """
        arms, priors, counts = self._candidates(inputs, log_probs)
        games = states_from_observations(self.config, observation)
        return self._halve(games, arms, priors, counts, key_array("keys", keys, len(games)).copy())

    @default_errstate
    def evaluate_actions(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, also: Int64Array | None = None
    ) -> list[Evaluation]:
        """Return an evaluation for each row; see `helsinki_env.agents.evaluation.evaluate_actions`.

        The chosen and the additional actions are simulated afterwards if the search did not simulate them, in as many
        determinizations as in the first round.
        """
        observation, action_mask, keys = validate_arrays(self.config, observation, action_mask, keys)
        also = validate_extra_actions(also, action_mask)
        inputs, log_probs = self.net.policy(observation, action_mask)
        arms, priors, counts = self._candidates(inputs, log_probs)
        games = states_from_observations(self.config, observation)
        deals = np.maximum(1, self.budget // np.maximum(1, counts * _halvings(counts)))  # in the first round
        result = self._halve(games, arms, priors, counts, keys.copy())
        shares = np.full((len(inputs.action), MAX_SEATS), np.nan)
        row, arm = np.nonzero(result.trials)
        means = result.shares[row, arm] / result.trials[row, arm, None]
        shares[choice_index(inputs, row, result.arms[row, arm])] = means
        best = result.arms[:, 0]
        for wanted in (best,) if also is None else (best, also):
            at = choice_index(inputs, np.arange(len(inputs)), wanted)
            rows = np.flatnonzero(np.isnan(shares[at, 0]))
            if len(rows):
                ones = np.ones(len(rows), np.int64)
                sums = self._simulate(games[rows], wanted[rows, None], ones, deals[rows], keys[rows])
                shares[at[rows]] = sums[:, 0] / deals[rows, None]
        return make_evaluations(self.net.encoder, inputs, observation, log_probs, shares, best)

    @default_errstate
    def simulate_actions(
        self, games: States, arms: Int64Array, counts: Int64Array, deals: int, keys: KeyArray
    ) -> FloatArray:
        """Return the acting seat's mean win probability after the given actions of B games, float64 (B, m).

        All actions of a game share its determinizations, so the differences between them have little noise.

        Args:
            games: states reconstructed from observations (`states_from_observations`).
            arms: actions, int64 (B, m).
            counts: number of actions of each game, int64 (B,); the remaining columns of the result stay zero.
            deals: number of determinizations.
            keys: random keys for the games, uint64 (B,).
        """
        sums = self._simulate(games, arms, counts, np.full(len(games), deals), keys.copy())
        means: FloatArray = sums[..., 0] / deals
        return means

    def _candidates(self, inputs: AfterstateBatch, log_probs: FloatArray) -> tuple[Int64Array, FloatArray, Int64Array]:
        """Return the candidates, best first, int64 (B, m), their policy values, and their numbers, int64 (B,).

        Policy values are win probabilities relative to the best action, float64 (B, m); see `width`.
        """
        most = self.max_arms
        arms = np.zeros((len(inputs), most), np.int64)
        priors = np.full((len(inputs), most), -np.inf)
        order = np.lexsort((-log_probs, inputs.row))  # best first within each row
        row = inputs.row[order]
        rank = np.arange(len(order)) - inputs.first[row]
        row, rank, chosen = (values[rank < most] for values in (row, rank, order))
        arms[row, rank] = inputs.action[chosen]
        priors[row, rank] = log_probs[chosen] / self.width
        return arms, priors - priors[:, :1], np.minimum(np.diff(inputs.first), most)

    def _halve(
        self, games: States, arms: Int64Array, priors: FloatArray, counts: Int64Array, keys: KeyArray
    ) -> HalvingResult:
        """Simulate the candidates and drop the worse half until one is left; advance `keys` in place."""
        totals = self.trust * priors
        shares, trials = np.zeros((*arms.shape, MAX_SEATS)), np.zeros(arms.shape, np.int64)
        budget = np.full(len(games), self.budget)
        halvings = _halvings(counts)
        while True:
            rows = np.flatnonzero((counts > 1) & (budget > 0))
            if not len(rows):
                return HalvingResult(arms, priors, shares, trials)
            deals = np.maximum(1, budget[rows] // (counts[rows] * halvings[rows]))
            streams = keys[rows]
            sums = self._simulate(games[rows], arms[rows], counts[rows], deals, streams)
            keys[rows] = streams
            totals[rows] += sums[..., 0]
            shares[rows] += sums
            is_candidate = np.arange(arms.shape[1]) < counts[rows, None]
            trials[rows] += is_candidate * deals[:, None]
            budget[rows] -= deals * counts[rows]
            halvings[rows] = np.maximum(1, halvings[rows] - 1)
            order = np.argsort(np.where(is_candidate, -totals[rows], np.inf), axis=1, kind="stable")
            for values in (arms, priors, totals, trials):
                values[rows] = np.take_along_axis(values[rows], order, axis=1)
            shares[rows] = np.take_along_axis(shares[rows], order[..., None], axis=1)
            counts[rows] = (counts[rows] + 1) // 2

    def _simulate(
        self, games: States, arms: Int64Array, counts: Int64Array, deals: Int64Array, keys: KeyArray
    ) -> FloatArray:
        """Simulate `counts` actions of each game in `deals` determinizations; advance `keys` in place.

        Return the sums of the win probabilities after each action, the searching seat first, float64 (B, m, 4).
        """
        offsets, simulations = feature_offsets(self.config, self.net.model.ahead), deals * counts
        out = Afterstates.of(int(simulations.sum()), int(games["players"].max()), offsets)
        plan = Simulations(keys, GOLDEN, deals, counts, arms, self.settings.turns)
        simulate_games(new_workspace(self.config), games, Choices.none(self.config), plan, offsets, out)
        wins = np.where(out.shares[:, :1] >= 0, out.shares, self.net.model(out.seats, out.table).wins)
        game = np.repeat(np.arange(len(games)), simulations)
        number = np.arange(len(game)) - np.repeat(np.cumsum(simulations) - simulations, simulations)  # within the game
        sums = np.zeros((*arms.shape, MAX_SEATS))
        np.add.at(sums, (game, number % counts[game]), wins)
        return sums


def _halvings(counts: Int64Array) -> Int64Array:
    """Return how many times `counts` candidates are halved until one is left, int64 (B,)."""
    return np.ceil(np.log2(np.maximum(1, counts))).astype(np.int64)
