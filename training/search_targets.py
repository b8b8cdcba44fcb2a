"""Policy and value targets from search with the network.

The search (`helsinki_env.agents.net.search`) runs for a fraction of the actions in a rollout. The policy is trained on
the improved policy of the search over the evaluated actions, as in Danihelka et al. (2022), "Policy improvement by
planning with Gumbel". The values of their afterstates are trained on the mean values of the simulations.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.afterstates import AfterstateBatch
from helsinki_env.agents.net.network import ABSENT, AfterstateTensors, Network, NetworkOutput, TorchModel
from helsinki_env.agents.net.player import NetPlayer, choice_index, evaluated_choices
from helsinki_env.agents.net.response import ResponsePlayer
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.data import Node, UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.training.matchups import check_numbers
from helsinki_env.training.values import value_losses
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["SearchTargetConfig", "SearchTargets", "TargetSearcher", "search_losses"]

#: Number of actions per batch, and number of parallel batches. Neither affects the results.
_BATCH, _THREADS = 32, 2


@dataclass(frozen=True)
class SearchTargetConfig:
    """Settings of search targets: section ``search`` of a preset (``configs/training/*.yaml``).

    Args:
        share: fraction of the learner's actions for which the search runs; 0 disables search.
        trials: number of simulations per search.
        player: player of all seats in the simulations, ``heuristic`` (`NetSearchPlayer`) or ``net``, the network itself
            (`ResponsePlayer`), which takes about twenty times as long.
        policy: weight of the cross-entropy between search policy and policy, averaged over the searched actions. If the
            weight is much larger than `share`, the noise of the few searches dominates the gradient.
        values: weight of the value loss on the evaluated afterstates.
    """

    share: float = 0.0
    trials: int = 32
    player: str = "heuristic"
    policy: float = 0.1
    values: float = 0.5

    def __post_init__(self) -> None:
        """Validate all values."""
        check_numbers(self, {"trials": 2}, {"share": 1, "trials": 100_000})
        Node(self.player, UserError, "player").choice(("heuristic", "net"))


class SearchTargets(NamedTuple):
    """Search results for n actions; actions without a search have no arms.

    Attributes:
        arms: evaluated actions, int64 (n, m), padded with -1.
        policy_target: target probability of each arm, float32 (n, m).
        value_target: win probabilities after each arm, float32 (n, m, 4), acting seat first; NaN if there is no target.
    """

    arms: npt.NDArray[np.int64]
    policy_target: npt.NDArray[np.float32]
    value_target: npt.NDArray[np.float32]

    @classmethod
    def none(cls, actions: int, arms: int = 0) -> SearchTargets:
        """Create results for `actions` actions without a search, with space for `arms` arms each."""
        shape = actions, arms
        values = np.full((*shape, MAX_SEATS), np.nan, np.float32)
        return cls(np.full(shape, -1, np.int64), np.zeros(shape, np.float32), values)


class TargetSearcher:
    """Searcher that runs the search for some actions of a rollout."""

    def __init__(self, network: Network, config: SearchTargetConfig, game: Any, fast: bool) -> None:
        self.config = config
        model = TorchModel(network, fast)
        self._player = (
            ResponsePlayer(config.trials, NetPlayer(model, game), model, game)
            if config.player == "net"
            else NetSearchPlayer(config.trials, model, game)
        )

    def search(
        self,
        inputs: AfterstateBatch,
        log_probs: npt.NDArray[np.float64],
        observation: npt.NDArray[np.int8],
        rng: np.random.Generator,
    ) -> SearchTargets:
        """Search for a random sample of n actions that have at least two choices each.

        `log_probs` contains the log probability of every choice, float64 (C,), and `observation` is int8 (n, F).
        """
        targets = SearchTargets.none(len(inputs), self._player.max_arms)
        rows = np.flatnonzero(rng.random(len(inputs)) < self.config.share)
        keys = rng.integers(0, 2**64, len(rows), dtype=np.uint64)
        batches = [slice(begin, begin + _BATCH) for begin in range(0, len(rows), _BATCH)]
        likely = np.split(log_probs, inputs.first[1:-1])
        with ThreadPoolExecutor(_THREADS, "search") as pool:
            races = pool.map(
                lambda batch: self._player.search_choices(
                    inputs.take(rows[batch]), np.concatenate([likely[row] for row in rows[batch]]),
                    observation[rows[batch]], keys[batch],
                ),
                batches,
            )  # fmt: skip
            for batch, race in zip(batches, races, strict=True):
                tried = race.trials > 0
                targets.arms[rows[batch]] = np.where(tried, race.arms, -1)
                targets.policy_target[rows[batch]] = race.preferences(self._player.trust, self._player.width)
                targets.value_target[rows[batch]] = race.shares / np.where(tried, race.trials, np.nan)[..., None]
        self._drop_unevaluated(inputs, targets)
        return targets

    def _drop_unevaluated(self, inputs: AfterstateBatch, targets: SearchTargets) -> None:
        """Remove the value targets of unevaluated choices, which share an afterstate with another choice."""
        row, arm = np.nonzero(targets.arms >= 0)
        at = choice_index(inputs, row, targets.arms[row, arm])
        unevaluated = ~evaluated_choices(inputs)[at]
        targets.value_target[row[unevaluated], arm[unevaluated]] = np.nan


def search_losses(
    x: AfterstateTensors,
    output: NetworkOutput,
    log_probs: torch.Tensor,
    arms: torch.Tensor,
    policy_target: torch.Tensor,
    value_target: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the policy cross-entropy and value loss for `SearchTargets`; 0 without targets.

    `log_probs` contains the log probability of every choice, float32 (C,). Every arm must be one of the choices.
    """
    row, arm = torch.nonzero(arms >= 0, as_tuple=True)
    if not len(row):
        return log_probs.sum() * 0.0, log_probs.sum() * 0.0
    stride = int(x.action.max()) + 1
    at = torch.searchsorted(x.row * stride + x.action, row * stride + arms[row, arm])
    arm_log_probs = log_probs.new_full(arms.shape, ABSENT).index_put((row, arm), log_probs[at])
    arm_log_probs = torch.log_softmax(arm_log_probs, 1)
    searched = (arms >= 0).any(1)
    policy = -(policy_target * arm_log_probs)[searched].sum(1).mean()
    values = value_target[row, arm]
    known = ~values[:, 0].isnan()
    afterstate = x.position[at[known]]
    if not len(afterstate):
        return policy, log_probs.sum() * 0.0
    predictions = NetworkOutput(*(part[afterstate] for part in output))
    value, _ = value_losses(predictions, values[known], predictions.scores.detach())
    return policy, value
