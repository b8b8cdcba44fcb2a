"""Learn policy and value targets from the network's own search.

In some of the decisions of a rollout the network's own search (`helsinki_env.agents.net.search`) tries what the network
prefers. Two lessons come of it. The policy learns to prefer what the search prefers, among the decisions that were
tried: the network's opinion and the values found, put together in proportion to the trials, as in the policy
improvement of Danihelka and others (2022), "Policy improvement by planning with Gumbel". And the positions that these
decisions lead to are worth what the trials found, two turns later: a mean over deals, where the outcome of a game is a
single one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.afterstates import AfterstateBatch
from helsinki_env.agents.net.network import ABSENT, AfterstateTensors, Network, NetworkOutput, TorchModel
from helsinki_env.agents.net.player import choice_index, evaluated_choices
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.training.checks import check_numbers
from helsinki_env.training.value_loss import value_losses
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["SearchConfig", "SearchTargets", "TargetSearcher", "search_losses"]

#: Decisions that are searched together, and how many such lots at once. Neither changes what is found.
_LOT, _THREADS = 32, 2


@dataclass(frozen=True)
class SearchConfig:
    """How to learn from search. All values can stand in a preset (``configs/training/*.yaml``).

    Args:
        share: part of the learner's decisions that is searched; 0 leaves search out.
        trials: for each of them.
        policy: weight of the cross-entropy between what the search prefers and the policy, a mean over the decisions
            that were searched: with much more weight than their share, their noise decides where the weights go.
        values: weight of the value loss of the positions that were tried.
        gain: weight of what PPO itself gains from the outcomes of games; 0: the policy learns from search alone.
    """

    share: float = 0.0
    trials: int = 32
    policy: float = 0.1
    values: float = 0.5
    gain: float = 1.0

    def __post_init__(self) -> None:
        """Check every value."""
        check_numbers(self, {"trials": 2}, {"share": 1, "trials": 100_000})


class SearchTargets(NamedTuple):
    """What search found in n decisions; those that were not searched have no arms.

    Attributes:
        arms: the decisions that were tried, int64 (n, m); -1 where there is none.
        policy_target: how likely the policy should take each of them, among them, float32 (n, m).
        value_target: every seat's share of the win after them, from the searcher's on, float32 (n, m, 4); NaN where
            nobody can learn from it.
    """

    arms: npt.NDArray[np.int64]
    policy_target: npt.NDArray[np.float32]
    value_target: npt.NDArray[np.float32]

    @classmethod
    def none(cls, decisions: int, most: int = 0) -> SearchTargets:
        """Return what there is before anything was searched."""
        arms = np.full((decisions, most), -1, np.int64)
        return cls(arms, np.zeros(arms.shape, np.float32), np.full((*arms.shape, MAX_SEATS), np.nan, np.float32))


class TargetSearcher:
    """Searches some of the decisions of a rollout.

    Args:
        network: whose decisions they are.
        config: how.
        game: the games; only the component file matters.
        fast: compute in bfloat16.
    """

    def __init__(self, network: Network, config: SearchConfig, game: Any, fast: bool) -> None:
        self.config = config
        self._player = NetSearchPlayer(config.trials, TorchModel(network, fast), game)

    def search(
        self,
        inputs: AfterstateBatch,
        log_probs: npt.NDArray[np.float64],
        observation: npt.NDArray[np.int8],
        words: np.random.Generator,
    ) -> SearchTargets:
        """Search some decisions, drawn at random.

        Args:
            inputs: the decisions (n), each with at least two choices.
            log_probs: logarithm of the probability of every choice, float64 (C,).
            observation: what they are made from, int8 (n, F).
            words: decides which, and about everything that is dealt.
        """
        found = SearchTargets.none(len(inputs), self._player.max_arms)
        rows = np.flatnonzero(words.random(len(inputs)) < self.config.share)
        drawn = words.integers(0, 2**64, len(rows), dtype=np.uint64)
        lots = [slice(begin, begin + _LOT) for begin in range(0, len(rows), _LOT)]
        likely = np.split(log_probs, inputs.first[1:-1])
        with ThreadPoolExecutor(_THREADS, "search") as pool:
            races = pool.map(
                lambda lot: self._player.search_choices(
                    inputs.take(rows[lot]), np.concatenate([likely[row] for row in rows[lot]]),
                    observation[rows[lot]], drawn[lot],
                ),
                lots,
            )  # fmt: skip
            for lot, race in zip(lots, races, strict=True):
                tried = race.trials > 0
                found.arms[rows[lot]] = np.where(tried, race.arms, -1)
                found.policy_target[rows[lot]] = race.preferences(self._player.trust, self._player.width)
                found.value_target[rows[lot]] = race.shares / np.where(tried, race.trials, np.nan)[..., None]
        self._forget_unseen(inputs, found)
        return found

    def _forget_unseen(self, inputs: AfterstateBatch, found: SearchTargets) -> None:
        """Choices that were not looked at stand with another one's position: what they are worth says nothing of it."""
        row, arm = np.nonzero(found.arms >= 0)
        at = choice_index(inputs, row, found.arms[row, arm])
        unseen = ~evaluated_choices(inputs)[at]
        found.value_target[row[unseen], arm[unseen]] = np.nan


def search_losses(
    x: AfterstateTensors,
    said: NetworkOutput,
    log_probs: torch.Tensor,
    arms: torch.Tensor,
    aim: torch.Tensor,
    worth: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy of the policy, and the value loss; 0 where there is nothing to learn from.

    Args:
        x: decisions (n).
        said: of the positions that they lead to.
        log_probs: of every choice, float32 (C,).
        arms: what search found, see `SearchTargets`; every arm is one of the choices.
        aim: policy target, likewise.
        worth: value target, likewise.
    """
    row, arm = torch.nonzero(arms >= 0, as_tuple=True)
    if not len(row):
        return log_probs.sum() * 0.0, log_probs.sum() * 0.0
    beyond = int(x.action.max()) + 1
    at = torch.searchsorted(x.row * beyond + x.action, row * beyond + arms[row, arm])
    among = log_probs.new_full(arms.shape, ABSENT).index_put((row, arm), log_probs[at])
    among = torch.log_softmax(among, 1)
    searched = (arms >= 0).any(1)
    policy = -(aim * among)[searched].sum(1).mean()
    told = worth[row, arm]
    known = ~told[:, 0].isnan()
    led = x.position[at[known]]
    if not len(led):
        return policy, log_probs.sum() * 0.0
    values, _ = value_losses(NetworkOutput(*(part[led] for part in said)), told[known], said.scores[led].detach())
    return policy, values
