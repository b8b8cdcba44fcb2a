"""The game tree of the mini game in sequence form: information sets, sequences and terminal histories as arrays.

The tree is built level by level with the kernels of the game. Cards are drawn when they become visible, so all nodes
that differ only in the order of unseen cards are one node. Only the hands that were dealt at the start are hidden. An
information set is therefore a history that all players see, together with the dealt hand of the acting player.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, perm
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import loops
from helsinki_env.envs.rewards import rewards_of
from helsinki_env.mini.game import ACTIONS, MINI, OBSERVATION, MiniConfig

__all__ = ["FloatArray", "GameTree", "IntArray", "PlayerTree", "build_tree", "deals", "rewards", "set_pile"]

FloatArray = npt.NDArray[np.float64]
"""Floating-point numbers, float64."""
IntArray = npt.NDArray[np.int64]
"""Indices, int64."""


@dataclass(frozen=True)
class PlayerTree:
    """Information sets and sequences of one player, in the order of their levels.

    A sequence is an information set with one of its actions; sequence 0 is empty. The sequences of an information set
    are consecutive.

    Attributes:
        observation: observation at each information set, int8 (I, F).
        mask: action mask at each information set, int8 (I, A).
        first: first sequence of each information set, int64 (I,).
        parent: sequence that leads to the information set, int64 (I,).
        infoset: information set of each sequence, int64 (S,); -1 for the empty sequence.
        action: action of each sequence, int64 (S,); -1 for the empty sequence.
        levels: ranges of information sets that cannot follow each other, from the root.
    """

    observation: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int8]
    first: IntArray
    parent: IntArray
    infoset: IntArray
    action: IntArray
    levels: tuple[tuple[int, int], ...]

    def uniform(self) -> FloatArray:
        """Return the policy that takes every legal action with the same probability, float64 (S,)."""
        policy: FloatArray = 1.0 / self.mask.sum(1)[self.infoset]
        policy[0] = 1.0
        return policy

    def of_actions(self, actions: npt.NDArray[np.integer]) -> FloatArray:
        """Return the policy that takes one action at each information set, float64 (S,), for actions, (I,)."""
        policy: FloatArray = (actions[self.infoset] == self.action).astype(np.float64)
        policy[0] = 1.0
        return policy

    def normalized(self, weights: FloatArray) -> FloatArray:
        """Return the policy in proportion to non-negative weights, (S,); uniform where all of them are zero."""
        total = np.add.reduceat(weights[1:], self.first - 1)[self.infoset[1:]]
        policy = self.uniform()
        np.divide(weights[1:], total, out=policy[1:], where=total > 0)
        return policy

    def sequences(self, level: tuple[int, int]) -> slice:
        """Return the sequences of the information sets of a level."""
        end = self.first[level[1]] if level[1] < len(self.first) else len(self.action)
        return slice(int(self.first[level[0]]), int(end))


@dataclass(frozen=True)
class GameTree:
    """A game tree in sequence form.

    A policy is a float64 array (S,) with the probability of each sequence's action at its information set, and 1 for
    the empty sequence.

    Attributes:
        config: configuration of the game.
        players: information sets and sequences of each player.
        terminal: last sequence of each player in each terminal history, int64 (players, T).
        chance: probability of the chance events of each terminal history, float64 (T,).
        utility: reward of each player, float64 (players, T).
        nodes: number of histories in the tree, except those where chance acts.
    """

    config: MiniConfig
    players: tuple[PlayerTree, ...]
    terminal: IntArray
    chance: FloatArray
    utility: FloatArray
    nodes: int


def deals(config: MiniConfig) -> tuple[Any, FloatArray, IntArray]:
    """Return a record for each display and dealt hands, the probabilities, and the display as a number."""
    players, hand = config.num_players, config.component_set.hand
    low, high = config.component_set.cards[players - 2]
    grid = np.indices((2, 2, *[hand + 1] * players)).reshape(2 + players, -1)
    ones, dealt = grid.sum(0), 2 + players * hand
    grid = grid[:, (ones <= high) & (dealt - ones <= low)]
    display, held, ones = grid[:2].T, grid[2:].T, grid.sum(0)
    states = MINI.new_states(config, len(ones))
    MINI.apply_setup(states, config)
    zero = np.zeros(len(ones), np.uint64)
    loops.batch_deal(config.tables[0], states, zero, zero, zero)
    states["display"] = display
    states["hand"][:, :players] = np.stack([hand - held, held], 2)
    set_pile(states, high - ones)
    orders = [perm(high, int(k)) * perm(low, dealt - int(k)) for k in ones]
    hands = [np.prod([comb(hand, int(k)) for k in row]) for row in held]
    return states, np.multiply(orders, hands) / perm(low + high, dealt), 2 * display[:, 0] + display[:, 1]


def set_pile(states: Any, ones: IntArray, top: IntArray | int = 0) -> None:
    """Write draw piles with a number of cards of color 1, one of them on top where `top` is 1."""
    pile = (np.arange(states["pile"].shape[1]) < (ones - top)[:, None]).astype(np.int8)
    row = np.flatnonzero(np.broadcast_to(top, len(states)))
    pile[row, states["pile_size"][row] - 1] = 1
    states["pile"] = pile


def rewards(config: MiniConfig, states: Any) -> FloatArray:
    """Return the rewards at the end, float64 (players, B), by the rules of `MiniConfig.reward`."""
    scores, ranks = np.zeros((2, len(states), 4), np.int64)
    loops.batch_scores(config.tables[0], states, scores, ranks)
    return rewards_of(config.reward, scores[:, : config.num_players], ranks[:, : config.num_players]).T


def _number(keys: IntArray) -> IntArray:
    """Return consecutive numbers for keys: equal keys have equal numbers."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


class _Builder:
    """The information sets and sequences of a player that were found so far."""

    def __init__(self) -> None:
        self.infosets, self.sequences = 0, 1
        self.parts: list[tuple[Any, ...]] = []
        self.levels: list[tuple[int, int]] = []

    def add(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], parent: IntArray
    ) -> npt.NDArray[np.int64]:
        """Add the information sets of a level. Return the sequence of each action, int64 (I, A)."""
        infoset, action = np.nonzero(mask)
        table = np.zeros(mask.shape, np.int64)
        table[infoset, action] = self.sequences + np.arange(len(action))
        first = self.sequences + np.concatenate([[0], np.cumsum(mask.sum(1, dtype=np.int64))[:-1]])
        self.parts.append((observation, mask, first, parent, self.infosets + infoset, action))
        self.levels.append((self.infosets, self.infosets + len(mask)))
        self.infosets, self.sequences = self.infosets + len(mask), self.sequences + len(action)
        return table

    def build(self) -> PlayerTree:
        """Return the arrays of all levels."""
        observation, mask, first, parent, infoset, action = (
            np.concatenate(part) for part in zip(*self.parts, strict=True)
        )
        root = np.array([-1])
        numbers = np.concatenate([root, infoset]), np.concatenate([root, action])
        return PlayerTree(observation, mask, first, parent, *numbers, tuple(self.levels))


def build_tree(config: MiniConfig) -> GameTree:
    """Return the complete game tree of a configuration.

    With the components "standard", this takes 1.4 GB of memory with two players, and 3.2 GB with three.
    """
    t, players = config.tables[0], range(config.num_players)
    states, chance, history = deals(config)
    dealt = states["hand"][:, : config.num_players, 1].T.astype(np.int64)  # identifies the dealt hand of each player
    last = np.zeros((config.num_players, len(states)), np.int64)
    builders, ends, nodes = [_Builder() for _ in players], [], 0
    while len(states):
        nodes += len(states)
        over = states["done"] != 0
        ends.append((last[:, over], chance[over], rewards(config, states[over])))
        states, chance, history = states[~over], chance[~over], history[~over]
        dealt, last = dealt[:, ~over], last[:, ~over]
        masks = np.zeros((len(states), len(ACTIONS)), np.int8)
        loops.batch_mask(t, states, masks)
        row, action = np.nonzero(masks)
        sequence = np.zeros(len(row), np.int64)
        for seat in players:
            acting = np.flatnonzero(states["seat"] == seat)
            if not len(acting):
                continue
            keys = history[acting] * 8 + dealt[seat, acting]
            _, chosen, inverse = np.unique(keys, return_index=True, return_inverse=True)
            chosen = acting[chosen]
            observation = np.zeros((len(chosen), len(OBSERVATION)), np.int8)
            loops.batch_observe(t, states[chosen], np.full(len(chosen), seat), observation)
            table = builders[seat].add(observation, masks[chosen], last[seat, chosen])
            infoset = np.zeros(len(states), np.int64)
            infoset[acting] = inverse.reshape(-1)
            moves = states["seat"][row] == seat
            sequence[moves] = table[infoset[row[moves]], action[moves]]
        # A card that is taken is replaced by a card of color 0 or 1; any other action has one result.
        size, ones = states["pile_size"][row].astype(np.int64), states["pile"][row].sum(1, dtype=np.int64)
        draws = (action < 2) & (size > 0)
        edges = [np.flatnonzero(~draws), np.flatnonzero(draws & (ones < size)), np.flatnonzero(draws & (ones > 0))]
        edge = np.concatenate(edges)
        top = np.repeat([0, 0, 1], [len(part) for part in edges])
        odds = np.where(draws, np.where([[0], [1]], ones, size - ones) / np.maximum(size, 1), 1.0)
        drawn = np.where(draws[edge], 1 + top, 0)
        row, action, sequence = row[edge], action[edge], sequence[edge]
        seat = states["seat"][row]
        history = _number((history[row] * len(ACTIONS) + action) * 3 + drawn)
        chance, dealt, last = chance[row] * odds[top, edge], dealt[:, row], last[:, row]
        last[seat, np.arange(len(row))] = sequence
        states, masks = states[row], masks[row]
        set_pile(states, ones[edge], top)
        loops.batch_step(t, states, action, masks)
    terminal, weight, utility = (np.concatenate(part, axis=-1) for part in zip(*ends, strict=True))
    return GameTree(config, tuple(one.build() for one in builders), terminal, weight, utility, nodes)
