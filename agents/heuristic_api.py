"""The heuristic interface: the fast playout policy and position evaluation that each game provides.

Search players, supervised pretraining and the heuristic player are written once for all games. Their kernels call the
functions below. The dtype of the game record selects the game's implementation (`helsinki_env.engine.overloads`):

- `reset_view(v, key)`: reset the cached content of a view; `key`, uint64, seeds its random numbers.
- `view_index(w, g, seat, views)`: return the index, among all views of a search, of the view for a seat's current
  board. It is the seat's own view unless extra views cache earlier boards.
- `select_action(t, p, w, g, v, mask, values, every)`: return the best legal action of the seat to move, based on a fast
  evaluation. Write the value of each legal action to `values`, float64 (ids,). Values are comparable only with each
  other. Some legal actions may be left without a value unless `every` is set.
- `select_action_lookahead(t, p, w, g, v, u, work, mask, values)`: the same with look-ahead, as used by the heuristic
  player. Scratch: `u`, a second view, and `work`, an array of one record.
- `write_win_probabilities(t, p, weights, g, views, lead, lead_growth, shares)`: write every seat's win probability,
  float64 (4,); they sum to 1. The logistic model has `lead` + `lead_growth` * sqrt(turns left) points per unit.

`t` is the record of the component file's tables, `p` the record of the heuristic's `pieces`, and `w` the weights. `g`
is a game reconstructed from the observation of the searching seat, or a determinization of it in a playout. `v` is a
view, the scratch record of a seat; its field `turns` is the number of turns left.

A game defines `HEURISTIC` in `agents/<name of the game>/heuristic_api.py`. Games without a heuristic use random play.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.contract import rank_of
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.playout import random_keys, sample_action
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.engine.spec import spec_of
from helsinki_env.utils.modules import import_if_exists

__all__ = [
    "ILLEGAL_VALUE",
    "SETTINGS_DTYPE",
    "Heuristic",
    "MonteCarloSettings",
    "heuristic_of",
    "onset",
    "points_to_probabilities",
    "reset_view",
    "select_action",
    "select_action_lookahead",
    "settings_record",
    "view_index",
    "weights_record",
    "write_win_probabilities",
]


@dataclass(frozen=True)
class MonteCarloSettings:
    """Settings of the search players.

    Attributes:
        turns: number of turns of the searching seat that a playout covers before the evaluation.
        lead: points per unit of the logistic model of win probabilities in the last turn.
        lead_growth: factor on the square root of the turns left, a term that is added to `lead`.
        arms: number of candidate actions, as a multiple of the square root of the budget (flat search).
        trust: weight of the heuristic's value, as a number of simulations (flat search).
        explore: weight of the exploration bonus (tree search).
        temperature: difference in points that makes an action e times as probable in the prior (tree search).
        widen: exponent of the visit count that limits the number of children of a node (tree search).
        widen_others: the same for nodes of other seats (tree search).
        catch_up: fraction of the remaining simulations that the second most visited action is assumed to receive. The
            search stops if they cannot change the result. With 1, it stops only when the result is certain (tree
            search).
    """

    turns: float = 3.0
    lead: float = 1.0
    lead_growth: float = 1.5
    arms: float = 0.7
    trust: float = 50.0
    explore: float = 0.5
    temperature: float = 0.5
    widen: float = 0.6
    widen_others: float = 0.4
    catch_up: float = 0.4


SETTINGS_DTYPE = np.dtype((np.record, [(item.name, np.float64) for item in fields(MonteCarloSettings)]))
"""Settings as a record for kernels."""


def settings_record(settings: MonteCarloSettings) -> npt.NDArray[Any]:
    """Return the settings as an array of one record, shape (1,), dtype `SETTINGS_DTYPE`."""
    record = np.zeros(1, SETTINGS_DTYPE)
    for item in fields(MonteCarloSettings):
        record[item.name] = getattr(settings, item.name)
    return record


ILLEGAL_VALUE = -1e9
"""The value of an illegal action."""


@kernel
def _own_view(w, g, seat, views):
    return np.int64(seat)


reset_view = OverloadedKernel("reset_view")
"""Reset the cached content of a view."""
view_index = OverloadedKernel("view_index", _own_view)
"""Return the index of the view for a seat's current board."""
select_action = OverloadedKernel("select_action")
"""Return the best legal action according to a fast evaluation."""
select_action_lookahead = OverloadedKernel("select_action_lookahead")
"""Return the best legal action according to an evaluation with look-ahead."""
write_win_probabilities = OverloadedKernel("write_win_probabilities")
"""Write every seat's win probability."""


@dataclass(frozen=True)
class Heuristic:
    """A game's heuristic interface, except for its kernels.

    Attributes:
        weights: weights of the heuristic; a frozen dataclass of floats.
        quick: weights used in playouts.
        pieces: function that returns the lookup data of the kernels for a configuration, as an array of one record.
        new_views: function that returns the given number of blank views, (count,).
        settings: settings of the search players.
        not_tuned: names of weights that tuning changes only on request.
        boards: number of extra views per seat, in which `view_index` caches earlier boards.
        search_weights: weights that search players use in their simulations; None uses `quick`.
    """

    weights: Any
    quick: Any
    pieces: Callable[[Any], npt.NDArray[Any]]
    new_views: Callable[[int], npt.NDArray[Any]]
    settings: MonteCarloSettings = field(default_factory=MonteCarloSettings)
    not_tuned: tuple[str, ...] = ()
    boards: int = 0
    search_weights: Any = None


@lru_cache(maxsize=8)
def _weights_dtype(kind: type[Any]) -> np.dtype[Any]:
    """Return the record dtype of a weights class.

    Always return the same object, because Numba takes ten times as long to recognize an equal dtype.
    """
    return np.dtype((np.record, [(item.name, np.float64) for item in fields(kind)]))


def weights_record(weights: Any) -> npt.NDArray[Any]:
    """Return the weights as an array of one record, shape (1,)."""
    record = np.zeros(1, _weights_dtype(type(weights)))  # type: ignore[arg-type]  # a type is hashable
    for item in fields(weights):
        record[item.name] = getattr(weights, item.name)
    return record


@kernel
def onset(turns, patience, steepness):
    """Return a weight that rises from 0 to 1 with the turns left and is 0.5 at `patience` turns (Hill function)."""
    if turns <= 0.0:
        return 0.0
    return 1.0 / (1.0 + (patience / turns) ** steepness)


@kernel
def points_to_probabilities(shares, players, unit):
    """Convert expected points to win probabilities of a logistic model, in place; `unit`: points per unit."""
    highest = shares[0]
    for seat in range(1, players):
        highest = max(highest, shares[seat])
    total = 0.0
    for seat in range(players):
        shares[seat] = math.exp((shares[seat] - highest) / unit)
        total += shares[seat]
    for seat in range(players):
        shares[seat] /= total


# The interface for games without a heuristic: random play.


@dataclass(frozen=True)
class NoWeights:
    """Weights for random play: a placeholder, because records cannot be empty."""

    nothing: float = 0.0


#: View of a seat that plays at random: a number unique to the view, and the state of its random stream.
_CHANCE = np.dtype((np.record, [("first", np.uint64), ("key", np.uint64), ("turns", np.float64)]))


@kernel
def _reset_chance(v, key):
    v.key = mix(v.first ^ key)


@kernel
def _select_random(t, p, w, g, v, mask, values, every):
    for action in range(len(mask)):
        values[action] = 0.0 if mask[action] else ILLEGAL_VALUE
    v.key += GOLDEN
    return sample_action(mask, mix(v.key))


@kernel
def _select_random_lookahead(t, p, w, g, v, u, work, mask, values):
    return _select_random(t, p, w, g, v, mask, values, True)


@kernel
def final_win_probability(t, g, seat):
    """Return a seat's win probability at the end of a game, or by its current rank; winners share it equally."""
    first = 0
    for other in range(g.players):
        first += rank_of(t, g, other) == 0
    return 1.0 / first if rank_of(t, g, seat) == 0 else 0.0


@kernel
def _write_rank_probabilities(t, p, weights, g, views, lead, lead_growth, shares):
    """Write win probabilities by current rank, even in unfinished games: the leading seats share the win."""
    for seat in range(g.players):
        shares[seat] = final_win_probability(t, g, seat)


reset_view.implements(_CHANCE, _reset_chance)


def _chance_views(count: int) -> npt.NDArray[Any]:
    """Return views with different random streams: seats with the same stream would play identically."""
    views = np.zeros(count, _CHANCE)
    views["first"] = views["key"] = random_keys(count)
    return views


@lru_cache(maxsize=8)
def _by_chance(dtype: np.dtype[Any]) -> Heuristic:
    """Return the random-play heuristic for the record dtype of a game that defines no heuristic."""
    select_action.implements(dtype, _select_random)
    select_action_lookahead.implements(dtype, _select_random_lookahead)
    write_win_probabilities.implements(dtype, _write_rank_probabilities)
    nothing = np.zeros(1, np.dtype((np.record, [("nothing", np.float64)])))
    # Random play rates all actions equally: search all of them, explore widely, and stop only when the result is
    # certain.
    settings = MonteCarloSettings(turns=1e9, arms=1e9, explore=2.0, widen=1.0, widen_others=1.0, catch_up=1.0)
    return Heuristic(NoWeights(), NoWeights(), lambda config: nothing, _chance_views, settings)


def heuristic_of(config: Any) -> Heuristic:
    """Return the heuristic of a configuration's game."""
    spec = spec_of(config)
    module = import_if_exists(f"helsinki_env.agents.{spec.name}.heuristic_api")
    return _by_chance(spec.new_states(config, 0).dtype) if module is None else module.HEURISTIC
