"""What a game's own player lends to players of any game: a fast policy for playouts, and a judgement of positions.

Players that search, the warm start of training and the heuristic itself are written once. They call these words in
their kernels, and the type of the game's record says whose thinking is meant (`helsinki_env.engine.rule`):

- `forget(v, word)`: what a view remembers of a game is forgotten; what it leaves to chance comes from `word`, uint64.
- `recall(w, g, seat, views)`: the number of the view, among all of a search, with which the board of a seat is to be
  thought of: its own, unless there are views for boards that have come up before.
- `decide(t, p, w, g, v, mask, values, every)`: the best legal decision of the seat to move, quickly found. Writes what
  each legal decision is worth into `values`, float64 (ids,), comparable with each other and with nothing else; only
  with `every` all of them need a value.
- `decide_ahead(t, p, w, g, v, u, work, mask, values)`: the same with second thoughts, as the heuristic plays; `u` is a
  second view, `work` an array of one record: scratch.
- `win_shares(t, p, weights, g, views, lead, lead_growth, shares)`: every seat's share of the win, float64 (4,), which
  add up to 1; `lead` points make one unit of the logistic model in the last turn, and `lead_growth` says how much that
  grows with the square root of the turns left.

`t` is the record of the component file's tables, `p` that of the guide's `pieces`, `w` the weights, `g` a game that is
restored from the observation of the seat that thinks, or a deal of it that is played out, `v` a view: scratch of a seat
in which `turns` holds how many it has left.

A game keeps its guide in `agents/<name of the game>/guide.py` as `GUIDE`. One that has none is guided by chance alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.search.settings import Settings
from helsinki_env.engine.contract import place_of
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.playout import pick, player_words
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.engine.rule import Rule
from helsinki_env.engine.spec import spec_of

__all__ = ["NOTHING", "Guide", "decide", "decide_ahead", "forget", "guide_of", "recall", "weights_record", "win_shares"]

NOTHING = -1e9
"""The worth of what cannot be done."""


@kernel
def _own_view(w, g, seat, views):
    return np.int64(seat)


forget = Rule("forget")
recall = Rule("recall", _own_view)
decide = Rule("decide")
decide_ahead = Rule("decide_ahead")
win_shares = Rule("win_shares")


@dataclass(frozen=True)
class Guide:
    """A game's guide, besides its kernels.

    Attributes:
        weights: of the heuristic; a frozen dataclass of floats.
        quick: weights of playouts.
        pieces: of a configuration, an array of one record: whatever the kernels look up.
        new_views: so many views, (count,), that hold for nothing.
        settings: of the search players.
        not_tuned: names of weights that tuning leaves alone unless asked for.
        boards: views for boards of each seat that `recall` finds again; 0: none.
        trials: weights of what search players try; None: those of playouts.
    """

    weights: Any
    quick: Any
    pieces: Callable[[Any], npt.NDArray[Any]]
    new_views: Callable[[int], npt.NDArray[Any]]
    settings: Settings = field(default_factory=Settings)
    not_tuned: tuple[str, ...] = ()
    boards: int = 0
    trials: Any = None


@lru_cache(maxsize=8)
def _weights_dtype(kind: type[Any]) -> np.dtype[Any]:
    """One object for each: Numba takes ten times as long to recognise one that is merely equal."""
    return np.dtype((np.record, [(item.name, np.float64) for item in fields(kind)]))


def weights_record(weights: Any) -> npt.NDArray[Any]:
    """Return weights as an array of one record, shape (1,)."""
    record = np.zeros(1, _weights_dtype(type(weights)))  # type: ignore[arg-type]  # a type can be hashed
    for item in fields(weights):
        record[item.name] = getattr(weights, item.name)
    return record


# Chance as a guide.


@dataclass(frozen=True)
class NoWeights:
    """Chance weighs nothing.

    Attributes:
        nothing: as records are never empty.
    """

    nothing: float = 0.0


#: What a seat that plays by chance keeps: a number that no other view has, and where its random numbers stand.
_CHANCE = np.dtype((np.record, [("first", np.uint64), ("word", np.uint64), ("turns", np.float64)]))


@kernel
def _start_anew(v, word):
    v.word = mix(v.first ^ word)


@kernel
def _decide_by_chance(t, p, w, g, v, mask, values, every):
    for action in range(len(mask)):
        values[action] = 0.0 if mask[action] else NOTHING
    v.word += GOLDEN
    return pick(mask, mix(v.word))


@kernel
def _decide_once(t, p, w, g, v, u, work, mask, values):
    return _decide_by_chance(t, p, w, g, v, mask, values, True)


@kernel
def _share_by_place(t, p, weights, g, views, lead, lead_growth, shares):
    """Those who are first share the win; a game that is cut short counts as it stands."""
    winners = 0
    for seat in range(g.players):
        winners += place_of(t, g, seat) == 0
    for seat in range(g.players):
        shares[seat] = 1.0 / winners if place_of(t, g, seat) == 0 else 0.0


forget.belongs_to(_CHANCE, _start_anew)


def _chance_views(count: int) -> npt.NDArray[Any]:
    """Views with random numbers of their own: seats that had the same would all play alike."""
    views = np.zeros(count, _CHANCE)
    views["first"] = views["word"] = player_words(count)
    return views


@lru_cache(maxsize=8)
def _by_chance(dtype: np.dtype[Any]) -> Guide:
    """Return the guide for records of a type whose game has none of its own."""
    for rule, stated in (
        (decide, _decide_by_chance),
        (decide_ahead, _decide_once),
        (win_shares, _share_by_place),
    ):
        rule.belongs_to(dtype, stated)
    nothing = np.zeros(1, np.dtype((np.record, [("nothing", np.float64)])))
    # Chance tells no decision from another: all of them enter, what is tried little counts for more, and a search goes
    # on until nothing can change.
    settings = Settings(turns=1e9, arms=1e9, explore=2.0, widen=1.0, widen_others=1.0, catch_up=1.0)
    return Guide(NoWeights(), NoWeights(), lambda config: nothing, _chance_views, settings)


def guide_of(config: Any) -> Guide:
    """Return the guide of the game that a configuration is of."""
    spec = spec_of(config)
    module = f"agents.{spec.name}.guide"
    if find_spec(f"agents.{spec.name}") is None or find_spec(module) is None:
        return _by_chance(spec.new_states(config, 0).dtype)
    guide: Guide = import_module(module).GUIDE
    return guide
