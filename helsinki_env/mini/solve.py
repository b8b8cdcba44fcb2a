"""Exact values, best responses and exploitability in the mini game, and equilibria by CFR+.

All functions take a `GameTree` and one policy for each player, float64 (S,); see `helsinki_env.mini.tree`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from helsinki_env.mini.tree import FloatArray, GameTree, IntArray, PlayerTree

__all__ = [
    "CFRPlus",
    "best_actions",
    "best_response",
    "exploitability",
    "gains",
    "history_probabilities",
    "reach_probabilities",
    "values",
]


def reach_probabilities(player: PlayerTree, policy: FloatArray) -> FloatArray:
    """Return the product of a player's own probabilities along each sequence, float64 (S,)."""
    reach = policy.copy()
    for level in player.levels:
        part = player.sequences(level)
        reach[part] *= reach[player.parent[player.infoset[part]]]
    return reach


def _contributions(tree: GameTree, reaches: Sequence[FloatArray], player: int) -> FloatArray:
    """Return the reward that each sequence of a player earns at its terminal histories, float64 (S,)."""
    weight = tree.chance * tree.utility[player]
    for other, reach in enumerate(reaches):
        if other != player:
            weight *= reach[tree.terminal[other]]
    found: FloatArray = np.bincount(tree.terminal[player], weight, len(tree.players[player].action)).astype(np.float64)
    return found


def _back_up(player: PlayerTree, earned: FloatArray, choose: Callable[[slice, IntArray], FloatArray]) -> FloatArray:
    """Add the values of later information sets to each sequence, from the last level to the root.

    `choose` returns the values of a level's information sets, given its sequences and the first sequence of each
    information set within them. `earned` is overwritten.
    """
    for level in reversed(player.levels):
        part = player.sequences(level)
        chosen = choose(part, player.first[slice(*level)] - part.start)
        np.add.at(earned, player.parent[slice(*level)], chosen)
    return earned


def history_probabilities(tree: GameTree, policies: Sequence[FloatArray]) -> FloatArray:
    """Return the probability of each complete game, float64 (H,)."""
    weight: FloatArray = tree.chance.copy()
    for player, policy, last in zip(tree.players, policies, tree.terminal, strict=True):
        weight *= reach_probabilities(player, policy)[last]
    return weight


def values(tree: GameTree, policies: Sequence[FloatArray]) -> FloatArray:
    """Return the expected reward of each player, float64 (players,)."""
    expected: FloatArray = tree.utility @ history_probabilities(tree, policies)
    return expected


def best_response(tree: GameTree, policies: Sequence[FloatArray], player: int) -> tuple[float, FloatArray]:
    """Return the value of a player's best response to the other policies, and a best response, float64 (S,)."""
    own = tree.players[player]
    reaches = [reach_probabilities(one, policy) for one, policy in zip(tree.players, policies, strict=True)]
    earned = _contributions(tree, reaches, player)
    _back_up(own, earned, lambda part, first: np.maximum.reduceat(earned[part], first))
    return float(earned[0]), own.of_actions(best_actions(own, earned))


def best_actions(player: PlayerTree, earned: FloatArray) -> IntArray:
    """Return the first best action of each information set, int64 (I,)."""
    table = np.full(player.mask.shape, -np.inf)
    table[player.infoset[1:], player.action[1:]] = earned[1:]
    best: IntArray = table.argmax(1)
    return best


def gains(tree: GameTree, policies: Sequence[FloatArray]) -> FloatArray:
    """Return the reward that each player can gain by changing only its own policy, float64 (players,)."""
    best = [best_response(tree, policies, player)[0] for player in range(len(tree.players))]
    found: FloatArray = np.maximum(np.array(best) - values(tree, policies), 0.0)  # rounding
    return found


def exploitability(tree: GameTree, policies: Sequence[FloatArray]) -> float:
    """Return the mean of `gains`: with two players, the exploitability (NashConv / 2).

    It is zero exactly for an equilibrium and never negative. With three players, it is a third of NashConv, and zero
    means only that no player gains by changing alone.
    """
    return float(gains(tree, policies).mean())


class CFRPlus:
    """CFR+ with alternating updates and linear averaging (Tammelin et al., 2015).

    With two players, the average policies converge to an equilibrium; with three, nothing is guaranteed.

    Attributes:
        tree: the game tree.
        iterations: number of iterations so far.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree, self.iterations = tree, 0
        self._regrets = [np.zeros(len(player.action)) for player in tree.players]
        self._sums = [np.zeros(len(player.action)) for player in tree.players]
        self._reaches = [reach_probabilities(player, player.uniform()) for player in tree.players]

    def run(self, iterations: int) -> None:
        """Continue for a number of iterations."""
        for _ in range(iterations):
            self.iterations += 1
            for player in range(len(self.tree.players)):
                self._update(player)

    def _update(self, player: int) -> None:
        own, regrets, sums = self.tree.players[player], self._regrets[player], self._sums[player]
        policy = own.normalized(regrets)
        earned = _contributions(self.tree, self._reaches, player)

        def choose(part: slice, first: IntArray) -> FloatArray:
            mean = np.add.reduceat(policy[part] * earned[part], first)
            counts = np.diff(first, append=part.stop - part.start)
            regrets[part] = np.maximum(regrets[part] + earned[part] - np.repeat(mean, counts), 0)
            return mean

        _back_up(own, earned, choose)
        self._reaches[player] = reach_probabilities(own, own.normalized(regrets))
        sums += self.iterations * self._reaches[player]

    def policies(self) -> list[FloatArray]:
        """Return the average policy of each player."""
        return [player.normalized(sums) for player, sums in zip(self.tree.players, self._sums, strict=True)]
