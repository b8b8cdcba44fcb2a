"""Policies of players in the mini game, and tabular learners that sample whole games from the exact game tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray, Player
from helsinki_env.engine import loops
from helsinki_env.engine.determinization import states_from_observations
from helsinki_env.engine.playout import random_keys
from helsinki_env.mini.game import MiniConfig
from helsinki_env.mini.solve import best_actions, history_probabilities, reach_probabilities
from helsinki_env.mini.tree import FloatArray, GameTree, IntArray

__all__ = ["Games", "GreedyPlayer", "PolicyGradient", "QLearner", "policy_of", "rollout_response", "sample_games"]


class GreedyPlayer:
    """Player that takes the most points now, then the most cells; the lowest action id if several are equal.

    Args:
        config: configuration of the game.
    """

    name = "greedy"

    def __init__(self, config: MiniConfig) -> None:
        self.config = config

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one action for each row; see `helsinki_env.agents.base.Player`."""
        states = states_from_observations(self.config, observation)
        seat = states["seat"].astype(np.int64)
        worth = np.full(action_mask.shape, -1, np.int64)
        scores, ranks = np.zeros((2, len(states), 4), np.int64)
        for action in range(action_mask.shape[1]):
            legal = np.flatnonzero(action_mask[:, action])
            after, masks = states[legal], action_mask[legal].copy()
            loops.batch_step(self.config.tables[0], after, np.full(len(legal), action), masks)
            loops.batch_scores(self.config.tables[0], after, scores, ranks)
            own = np.arange(len(legal)), seat[legal]
            cells = np.bitwise_count(after["built"][own]).astype(np.int64)
            worth[legal, action] = 16 * scores[: len(legal)][own] + cells
        best: Int64Array = worth.argmax(1)
        return best


def policy_of(tree: GameTree, player: Player, seat: int, samples: int = 1, seed: int = 0) -> FloatArray:
    """Return the policy of a player in a seat, float64 (S,).

    A player sees only its observation, so information sets with equal observations have equal probabilities.

    Args:
        tree: the game tree.
        player: the player.
        seat: its seat.
        samples: number of actions that are drawn for each observation; their frequencies are the policy. For a player
            that is not deterministic, fewer samples give a higher exploitability.
        seed: seed of the random keys.
    """
    own = tree.players[seat]
    rows = np.ascontiguousarray(own.observation).view(np.dtype((np.void, own.observation.shape[1]))).reshape(-1)
    _, chosen, inverse = np.unique(rows, return_index=True, return_inverse=True)
    policy = np.zeros(len(own.action))
    for sample in range(samples):
        keys = random_keys(len(chosen), seed * 1_000_003 + 1000 * sample + seat)
        actions = player.act(own.observation[chosen], own.mask[chosen], keys)
        policy += own.of_actions(actions[inverse.reshape(-1)])
    return policy / samples


class Games:
    """Games that were sampled from a game tree.

    Attributes:
        utility: reward of each player, float64 (players, B).
    """

    def __init__(self, tree: GameTree, terminals: IntArray) -> None:
        self._tree, self._last = tree, tree.terminal[:, terminals]
        self.utility = tree.utility[:, terminals]

    def steps(self, player: int) -> list[tuple[IntArray, IntArray]]:
        """Return a player's steps from the last to the first: sequences, and the games to which they belong."""
        own, found = self._tree.players[player], []
        sequence, game = self._last[player], np.arange(self._last.shape[1])
        while len(game := game[sequence > 0]):
            sequence = sequence[sequence > 0]
            found.append((sequence, game))
            sequence = own.parent[own.infoset[sequence]]
        return found


def sample_games(tree: GameTree, policies: Sequence[FloatArray], count: int, rng: np.random.Generator) -> Games:
    """Return independent games between policies."""
    total = np.cumsum(history_probabilities(tree, policies))
    return Games(tree, np.searchsorted(total, rng.random(count) * total[-1], side="right"))


def rollout_response(
    tree: GameTree, policies: Sequence[FloatArray], seat: int, rollouts: int, rng: np.random.Generator
) -> FloatArray:
    """Return the policy of a player that knows the policies of all seats and rolls out each legal action, float64 (S,).

    At each information set, it takes the action with the highest mean reward. A rollout samples a game that leads
    there, and all seats continue it with their policies. With many rollouts, the result is one step of policy
    improvement, which need not be a best response.

    Args:
        tree: the game tree.
        policies: policies of all players; the result replaces that of its own seat.
        seat: seat of the player.
        rollouts: number of rollouts of each action.
        rng: random generator.
    """
    own, policy = tree.players[seat], policies[seat]
    weight = tree.chance.copy()  # of each terminal history after a sequence, given that this seat plays the sequence
    for other, player in enumerate(tree.players):
        if other != seat:
            weight *= reach_probabilities(player, policies[other])[tree.terminal[other]]
    found, sequence, history = [], tree.terminal[seat], np.arange(len(weight))
    while (part := sequence > 0).any():
        sequence, history, weight = sequence[part], history[part], weight[part]
        found.append((sequence, history, weight))
        weight, sequence = weight * policy[sequence], own.parent[own.infoset[sequence]]
    sequences, histories, weights = map(np.concatenate, zip(*found, strict=True))
    of_sequence = np.bincount(sequences, weights, len(own.action))
    part = weights > 0
    sequences, histories, weights = sequences[part], histories[part], weights[part]
    order = np.argsort(sequences, kind="stable")
    reached, first = np.unique(sequences[order], return_index=True)
    # Each sequence has a total weight of 1, so that rounding of the sum does not lose rare sequences.
    total = np.cumsum((weights / of_sequence[sequences])[order])
    low, last = np.concatenate([[0.0], total])[first], np.append(first[1:], len(total)) - 1
    means = np.zeros(len(own.action))
    for _ in range(rollouts):
        drawn = low + rng.random(len(reached)) * (total[last] - low)
        at = np.clip(np.searchsorted(total, drawn, side="right"), first, last)
        means[reached] += tree.utility[seat, histories[order[at]]] / rollouts
    return own.of_actions(best_actions(own, means))


class QLearner:
    """Learn a best response to fixed policies by Q-learning with an epsilon-greedy policy.

    Args:
        tree: the game tree.
        policies: policies of all players; the learner replaces that of its own seat.
        seat: seat of the learner.
        seed: random seed.
        epsilon: probability of a random action.
        min_step_size: lowest step size; the step size is 1 / visits until then.
    """

    def __init__(
        self, tree: GameTree, policies: Sequence[FloatArray], seat: int, seed: int,
        epsilon: float = 0.2, min_step_size: float = 0.01,
    ) -> None:  # fmt: skip
        self.tree, self.seat, self.epsilon, self.min_step_size = tree, seat, epsilon, min_step_size
        self.own, self.policies = tree.players[seat], list(policies)
        self.rng = np.random.default_rng([seed, seat])
        self.values, self.visits = np.zeros((2, len(self.own.action)))

    def greedy(self) -> FloatArray:
        """Return the policy with the highest learned values, float64 (S,)."""
        return self.own.of_actions(best_actions(self.own, self.values))

    def learn(self, games: int) -> None:
        """Play a batch of games and learn from it."""
        own, values = self.own, self.values
        self.policies[self.seat] = (1 - self.epsilon) * self.greedy() + self.epsilon * own.uniform()
        played = sample_games(self.tree, self.policies, games, self.rng)
        target = played.utility[self.seat].copy()
        for sequence, game in played.steps(self.seat):
            visits = np.bincount(sequence, minlength=len(values))
            found = np.bincount(sequence, target[game], len(values))
            at = np.flatnonzero(visits)
            self.visits[at] += visits[at]
            step = np.maximum(visits[at] / self.visits[at], 1 - (1 - self.min_step_size) ** visits[at])
            values[at] += step * (found[at] / visits[at] - values[at])
            target[game] = np.maximum.reduceat(values, own.first)[own.infoset[sequence]]


class PolicyGradient:
    """Learn by self-play with the policy gradient of a table of logits, a baseline and an entropy bonus.

    With several epochs, this is PPO (Schulman et al., 2017): each batch is used several times, and samples whose
    probability ratio has left the clip range in the direction of their advantage are left out.

    Args:
        tree: the game tree.
        seed: random seed.
        fixed: policies of players that do not learn, by seat.
        learning_rate: learning rate; the gradient at an information set is the mean over its visits in a batch.
        entropy_coef: weight of the entropy bonus.
        update_epochs: number of updates from each batch.
        clip_coef: clip range of the probability ratio.
    """

    def __init__(
        self, tree: GameTree, seed: int, fixed: Mapping[int, FloatArray] | None = None,
        learning_rate: float = 0.3, entropy_coef: float = 0.05, update_epochs: int = 1, clip_coef: float = 0.2,
    ) -> None:  # fmt: skip
        self.tree, self.fixed = tree, dict(fixed or {})
        self.learning_rate, self.entropy_coef = learning_rate, entropy_coef
        self.update_epochs, self.clip_coef = update_epochs, clip_coef
        self.rng = np.random.default_rng([seed, len(self.fixed)])
        self.logits = [np.zeros(len(player.action)) for player in tree.players]
        self.baseline = [np.zeros(len(player.first)) for player in tree.players]

    def policies(self) -> list[FloatArray]:
        """Return the current policy of each player."""
        return [
            self.fixed[seat] if seat in self.fixed else player.normalized(np.exp(self.logits[seat]))
            for seat, player in enumerate(self.tree.players)
        ]

    def learn(self, games: int) -> None:
        """Play a batch of games and learn from it."""
        policies = self.policies()
        played = sample_games(self.tree, policies, games, self.rng)
        for seat, own in enumerate(self.tree.players):
            if seat in self.fixed:
                continue
            steps = played.steps(seat)
            sequence = np.concatenate([step[0] for step in steps])
            result = played.utility[seat, np.concatenate([step[1] for step in steps])]
            infoset, sets = own.infoset[sequence], len(own.first)
            visits = np.bincount(infoset, minlength=sets)
            share = 1 / np.maximum(visits, 1)
            advantage = result - self.baseline[seat][infoset]
            self.baseline[seat] += self.learning_rate * np.bincount(infoset, advantage, sets) * share
            of = own.infoset[1:]
            for _ in range(self.update_epochs):
                policy = own.normalized(np.exp(self.logits[seat]))
                ratio = policy[sequence] / policies[seat][sequence]
                clipped = np.where(advantage > 0, ratio > 1 + self.clip_coef, ratio < 1 - self.clip_coef)
                weight = np.where(clipped, 0.0, ratio * advantage)
                mean, policy = np.bincount(infoset, weight, sets) * share, policy[1:]
                surprise = -np.log(np.maximum(policy, 1e-12))
                entropy = np.add.reduceat(policy * surprise, own.first - 1)
                gradient = np.bincount(sequence, weight, len(policy) + 1)[1:] * share[of] - policy * mean[of]
                gradient += self.entropy_coef * (visits > 0)[of] * policy * (surprise - entropy[of])
                self.logits[seat][1:] = np.clip(self.logits[seat][1:] + self.learning_rate * gradient, -15, 15)
