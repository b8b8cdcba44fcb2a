"""What a network thinks of decisions, as opinions: its probabilities, and the shares of the win it sees after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import default_errstate
from helsinki_env.agents.evaluation import Evaluation, to_seat_order
from helsinki_env.agents.net.afterstates import AfterstateEncoder
from helsinki_env.agents.net.choices import AfterstateBatch
from helsinki_env.engine.determinization import states_from_observations

if TYPE_CHECKING:
    from helsinki_env.agents.net.player import InferenceModel

__all__ = ["choice_index", "evaluated_choices", "make_evaluations", "win_probabilities_after"]


def win_probabilities_after(
    writer: AfterstateEncoder, assessor: InferenceModel, inputs: AfterstateBatch, observation: npt.NDArray[np.int8]
) -> npt.NDArray[np.float64]:
    """Return every seat's share of the win after each choice, from the viewer on, float64 (C, 4).

    Choices that were not looked at have rows of NaN.

    Args:
        writer: what made the inputs.
        assessor: the network.
        inputs: the decisions.
        observation: what they were made from, int8 (B, F).
    """
    wins = assessor(inputs.seats, inputs.table).wins.astype(np.float64)
    looked = evaluated_choices(inputs)
    shares = np.where(looked[:, None], wins[inputs.position], np.nan)
    over = np.flatnonzero(looked & (inputs.ended[inputs.position] >= 0))
    if len(over):
        shares[over] = writer.ends(observation[inputs.row[over]], inputs.action[over].astype(np.int64))
    return shares


def evaluated_choices(inputs: AfterstateBatch) -> npt.NDArray[np.bool_]:
    """Return which choices the network looked at, bool (C,).

    The others stand with the position of the favourite, which itself is no worse than the favourite.
    """
    looked: npt.NDArray[np.bool_] = (inputs.position != inputs.begin[inputs.row]) | (inputs.advice == 0)
    return looked


def choice_index(
    inputs: AfterstateBatch, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return which choices are legal decisions `actions` of decisions `rows`, all int64 (n,)."""
    beyond = int(inputs.action.max()) + 1
    return np.searchsorted(inputs.row * beyond + inputs.action, rows * beyond + actions)


@default_errstate
def make_evaluations(
    writer: AfterstateEncoder,
    inputs: AfterstateBatch,
    observation: npt.NDArray[np.int8],
    log_probs: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
    best: npt.NDArray[np.int64],
) -> list[Evaluation]:
    """Return an opinion for each decision.

    Args:
        writer: what made the inputs.
        inputs: the decisions.
        observation: what they were made from, int8 (B, F).
        log_probs: logarithm of the probability of every choice, float64 (C,).
        shares: as `win_probabilities_after` gives them, float64 (C, 4).
        best: the decision that the player would take, int64 (B,).
    """
    games = states_from_observations(writer.config, observation)
    found = []
    for b, (first, end) in enumerate(zip(inputs.first[:-1], inputs.first[1:], strict=True)):
        seat, players = int(games["seat"][b]), int(games["players"][b])
        actions = inputs.action[first:end].astype(np.int64)
        own = to_seat_order(shares[first:end], seat, players)
        found.append(Evaluation(seat, actions, np.exp(log_probs[first:end]), own, int(best[b])))
    return found
