"""Root search with a network: sequential halving over its preferred actions in shared determinizations.

Method: root search after Danihelka and others (2022), "Policy improvement by planning with Gumbel": the policy chooses
which decisions enter, sequential halving (Karnin, Koren and Somekh 2013) spends the budget on them, and what decides
in the end is the policy's opinion and the values found, together. As here the best decision is wanted and not one to
learn from, no noise is added to the policy. Every trial deals the hidden cards anew, lets the heuristic play to the
end of the searcher's turn after next, and asks the network for the share of the win there. All games of a batch go
through the network together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import default_errstate
from helsinki_env.agents.evaluation import Evaluation
from helsinki_env.agents.heuristic_api import select_action
from helsinki_env.agents.net.afterstates import finish_turn, write_final_win_probabilities
from helsinki_env.agents.net.choices import AfterstateBatch
from helsinki_env.agents.net.evaluation import choice_index, make_evaluations
from helsinki_env.agents.net.features import apply_and_track_reveals, feature_offsets, write_features
from helsinki_env.agents.net.player import InferenceModel, NetPlayer
from helsinki_env.agents.rows import validate_extra_actions, validate_masks_and_keys
from helsinki_env.agents.search.playout import determinize_trial
from helsinki_env.agents.search.workspace import new_workspace, reset_views
from helsinki_env.data import UserError
from helsinki_env.engine.arrays import key_array
from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.determinization import states_from_observations
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import default_config
from helsinki_env.engine.states import States

__all__ = ["HalvingResult", "NetSearchPlayer", "NetSearchSettings"]


@dataclass(frozen=True)
class NetSearchSettings:
    """How to search.

    Args:
        turns: own turns that a trial plays after the present one.
        arms: decisions that enter the race, as a multiple of the root of the budget.
        trust: trials that the network's own opinion counts for, at least.
        share: trials that it counts for at least, as a part of the budget. More trials make what is found surer, but no
            truer than the heuristic that plays them on.
    """

    turns: int = 2
    arms: float = 0.7
    trust: float = 20.0
    share: float = 0.2


@kernel
def _try(desk, games, arms, counts, deals, words, turns, seat_at, table_at, seats, table, ended):
    """Try the first `counts[b]` arms of every game in `deals[b]` deals; describe the positions they lead to."""
    t, p = desk.tables[0], desk.pieces[0]
    found = 0
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        reset_views(desk, words[b])
        for _ in range(deals[b]):
            words[b] += GOLDEN
            determinize_trial(desk, g, words[b])
            for i in range(counts[b]):
                desk.trial[0] = desk.deal[0]
                trial = desk.trial[0]
                drawn = apply_and_track_reveals(t, trial, arms[b, i], 0)
                drawn = finish_turn(desk, trial, seat, drawn)
                for _ in range(turns):
                    while not trial.done and trial.seat != seat:
                        write_mask(t, trial, desk.mask)
                        other, view = desk.weights[trial.seat], desk.views[trial.seat]
                        apply_action(t, trial, select_action(t, p, other, trial, view, desk.mask, desk.values, False))
                    drawn = finish_turn(desk, trial, seat, 0)
                write_features(desk, trial, seat, drawn, seat_at, table_at, seats[found], table[found])
                ended[found, 0] = -1.0
                if trial.done:
                    write_final_win_probabilities(t, trial, seat, ended[found])
                found += 1


class HalvingResult(NamedTuple):
    """What a race found.

    Attributes:
        arms: the decisions that were in it, int64 (B, m); the first one is left.
        opinions: what the network thought of them, in shares of the win behind its favourite, float64 (B, m).
        shares: every seat's share of the win after them, from the searcher on, summed over trials, float64 (B, m, 4).
        trials: how often they were tried, int64 (B, m).
    """

    arms: npt.NDArray[np.int64]
    opinions: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    trials: npt.NDArray[np.int64]

    @default_errstate
    def preferences(self, trust: float, width: float) -> npt.NDArray[np.float64]:
        """Return how likely a policy should take each decision, among those that were tried, float64 (B, m).

        What the network thought counts for so many trials (`trust`) as in the race itself; `width` makes shares logits
        again. Where nothing was tried, all are 0.
        """
        tried, own = self.trials > 0, self.shares[..., 0]
        opinions = np.where(tried, self.opinions, 0.0)
        # The favourite's worth is not part of an opinion: it is such that opinions and trials agree on the whole.
        level = (own - self.trials * opinions).sum(axis=1) / np.maximum(1, self.trials.sum(axis=1))
        worth = (trust * (level[:, None] + opinions) + own) / (trust + self.trials)
        best = np.where(tried, worth, -np.inf).max(axis=1, initial=-1.0, keepdims=True)
        likely = np.exp(width * np.minimum(0.0, worth - best)) * tried
        preferred: npt.NDArray[np.float64] = likely / np.maximum(1e-300, likely.sum(axis=1, keepdims=True))
        return preferred


class NetSearchPlayer:
    """A network that tries its favourite decisions before it decides.

    Args:
        budget: trials for each decision, at least 1.
        assessor: the network.
        config: the games to be played; only their component file matters.
        name: how the player is called.
        settings: of the search.
    """

    #: So few games fill what goes through the network together, see `helsinki_env.agents.base.Player`.
    max_batch_size = 32

    def __init__(
        self,
        budget: int,
        assessor: InferenceModel,
        config: Any = None,
        name: str = "",
        settings: NetSearchSettings | None = None,
    ) -> None:
        if budget < 1:
            raise UserError(f"budget: found {budget}, expected at least 1 trial for each decision")
        self.budget, self.settings = budget, settings or NetSearchSettings()
        self.name = name or f"net+search:{budget}"
        self.config = config or default_config()
        self.net = NetPlayer(assessor, self.config)

    @default_errstate
    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal decision for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        action_mask, keys = validate_masks_and_keys(self.config, observation, action_mask, keys)
        actions: npt.NDArray[np.int64] = np.argmax(action_mask, axis=1)
        asked = np.flatnonzero(action_mask.sum(axis=1, dtype=np.int64) > 1)  # the others have no choice
        if len(asked):
            inputs, log_probs = self.net.policy(observation[asked], action_mask[asked])
            actions[asked] = self.search_choices(inputs, log_probs, observation[asked], keys[asked]).arms[:, 0]
        return actions

    @property
    def max_arms(self) -> int:
        """How many decisions enter at most."""
        return max(2, int(self.settings.arms * self.budget**0.5))

    @property
    def trust(self) -> float:
        """How many trials the network's own opinion counts for."""
        return max(self.settings.trust, self.settings.share * self.budget)

    @property
    def width(self) -> float:
        """What makes logits of shares of the win.

        Where chances are about even, four shares make a unit of the logit, and the policy multiplies logits by its
        sharpness.
        """
        return 4.0 * self.net.assessor.sharpness

    @default_errstate
    def search_choices(
        self,
        inputs: AfterstateBatch,
        log_probs: npt.NDArray[np.float64],
        observation: npt.NDArray[np.int8],
        words: npt.NDArray[np.uint64],
    ) -> HalvingResult:
        """Return what a race finds in each of B decisions with at least two choices.

        Args:
            inputs: the decisions.
            log_probs: the logarithm of the network's probability of every choice, float64 (C,).
            observation: what they were made from, int8 (B, F).
            words: random numbers, uint64 (B,).
        """
        arms, opinions, counts = self._enter(inputs, log_probs)
        games = states_from_observations(self.config, observation)
        return self._race(games, arms, opinions, counts, key_array("words", words, len(games)).copy())

    @default_errstate
    def evaluate_actions(
        self,
        observation: npt.NDArray[np.int8],
        action_mask: npt.NDArray[np.int8],
        keys: npt.NDArray[np.uint64],
        also: npt.NDArray[np.int64] | None = None,
    ) -> list[Evaluation]:
        """Return an opinion for each row; see `helsinki_env.agents.evaluation.evaluate_actions`.

        What was not in the race, or had no rival there, is tried in the deals of its first round.
        """
        action_mask, keys = validate_masks_and_keys(self.config, observation, action_mask, keys)
        also = validate_extra_actions(also, action_mask)
        inputs, log_probs = self.net.policy(observation, action_mask)
        arms, behind, counts = self._enter(inputs, log_probs)
        games = states_from_observations(self.config, observation)
        deals = np.maximum(1, self.budget // np.maximum(1, counts * _halvings(counts)))  # of the first round
        race = self._race(games, arms, behind, counts, keys.copy())
        shares = np.full((len(inputs.action), MAX_SEATS), np.nan)
        row, arm = np.nonzero(race.trials)
        shares[choice_index(inputs, row, race.arms[row, arm])] = race.shares[row, arm] / race.trials[row, arm, None]
        best = race.arms[:, 0]
        for wanted in (best,) if also is None else (best, also):
            at = choice_index(inputs, np.arange(len(inputs)), wanted)
            rows = np.flatnonzero(np.isnan(shares[at, 0]))
            alone = wanted[rows, None], np.ones(len(rows), np.int64), deals[rows]
            if len(rows):
                shares[at[rows]] = self._tried(games[rows], *alone, keys.copy(), rows)[:, 0] / deals[rows, None]
        return make_evaluations(self.net.writer, inputs, observation, log_probs, shares, best)

    def _enter(
        self, inputs: AfterstateBatch, log_probs: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the decisions that enter, best first, int64 (B, m), what the network thinks of each, and how many.

        An opinion is told in shares of the win behind the favourite, float64 (B, m), see `width`.
        """
        most = self.max_arms
        arms = np.zeros((len(inputs), most), np.int64)
        opinions = np.full((len(inputs), most), -np.inf)
        rank = np.lexsort((-log_probs, inputs.row))  # best first within each decision
        place = np.arange(len(rank)) - inputs.first[inputs.row[rank]]
        enters = place < most
        row, place, chosen = inputs.row[rank][enters], place[enters], rank[enters]
        arms[row, place] = inputs.action[chosen]
        opinions[row, place] = log_probs[chosen] / self.width
        return arms, opinions - opinions[:, :1], np.minimum(np.diff(inputs.first), most)

    def _race(
        self,
        games: States,
        arms: npt.NDArray[np.int64],
        opinions: npt.NDArray[np.float64],
        counts: npt.NDArray[np.int64],
        words: npt.NDArray[np.uint64],
    ) -> HalvingResult:
        """Drop the worse half of the arms again and again until one is left."""
        totals = self.trust * opinions
        shares, trials = np.zeros((*arms.shape, MAX_SEATS)), np.zeros(arms.shape, np.int64)
        left = np.full(len(games), self.budget)
        halvings = _halvings(counts)
        while True:
            racing = np.flatnonzero((counts > 1) & (left > 0))
            if not len(racing):
                return HalvingResult(arms, opinions, shares, trials)
            deals = np.maximum(1, left[racing] // (counts[racing] * halvings[racing]))
            tried = self._tried(games[racing], arms[racing], counts[racing], deals, words, racing)
            totals[racing] += tried[..., 0]
            shares[racing] += tried
            in_race = np.arange(arms.shape[1]) < counts[racing, None]
            trials[racing] += in_race * deals[:, None]
            left[racing] -= deals * counts[racing]
            halvings[racing] = np.maximum(1, halvings[racing] - 1)
            # The better ones come first again; of equals, the one that came first before.
            order = np.argsort(np.where(in_race, -totals[racing], np.inf), axis=1, kind="stable")
            for of_arms in (arms, opinions, totals, trials):
                of_arms[racing] = np.take_along_axis(of_arms[racing], order, axis=1)
            shares[racing] = np.take_along_axis(shares[racing], order[..., None], axis=1)
            counts[racing] = (counts[racing] + 1) // 2

    def _tried(
        self,
        games: States,
        arms: npt.NDArray[np.int64],
        counts: npt.NDArray[np.int64],
        deals: npt.NDArray[np.int64],
        words: npt.NDArray[np.uint64],
        racing: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.float64]:
        """Try arms; return all shares of the win after them, summed over deals, float64 (B, m, 4)."""
        at = feature_offsets(self.config, self.net.assessor.ahead)
        tries = deals * counts
        n, seats = int(tries.sum()), int(games["players"].max())
        described = np.zeros((n, seats, at.seat[-1]), np.int8), np.zeros((n, at.table[-1]), np.int8)
        ended = np.zeros((n, MAX_SEATS))
        drawn = words[racing]
        desk = new_workspace(self.config)
        _try(desk, games, arms, counts, deals, drawn, self.settings.turns, at.seat, at.table, *described, ended)
        words[racing] = drawn
        share = np.where(ended[:, :1] >= 0, ended, self.net.assessor(*described).wins)
        row = np.repeat(np.arange(len(games)), tries)
        arm = (np.arange(n) - np.repeat(np.cumsum(tries) - tries, tries)) % counts[row]
        totals = np.zeros((*arms.shape, MAX_SEATS))
        np.add.at(totals, (row, arm), share)
        return totals


def _halvings(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how often so many arms are halved until one is left, int64 (B,)."""
    return np.ceil(np.log2(np.maximum(1, counts))).astype(np.int64)
