"""Which actions are denied to whom: balanced designs of experiments, checked whenever they are made.

A design is a list of runs; a run is a set of actions that one seat may not use. The base is the balanced incomplete
block design BIBD(15, 42, 14, 5, 4): 42 sets of five of the fifteen actions, in which every action is denied 14 times
and every pair of actions together 4 times. It develops three base blocks modulo 14 (Colbourn and Dinitz 2007,
"Handbook of Combinatorial Designs", chapter II.1). Copies with the actions relabelled keep both balances, and tell
pairs of actions apart that one copy confounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Entry, UserError
from helsinki_env.engine.spec import spec_of, usual_spec

__all__ = [
    "ACTIONS",
    "DESIGNS",
    "Boards",
    "Cover",
    "DesignError",
    "Handicap",
    "Screen",
    "as_bits",
    "as_sets",
    "base_design",
    "check_balance",
    "pairs_identified",
    "random_sets",
    "read_designs",
    "relabelled",
    "subsets",
]

ACTIONS = 15
"""Actions of the action board that designs deny or cover, by id."""
_DENIED = 5
_TIMES = 14
_TOGETHER = 4
_MODULUS = 14
#: Of the base design: more do not tell more.
_MOST_COPIES = 1000
#: Points 0 to 13 are developed; 14 stands for infinity, which stays.
_BASE = ((14, 0, 1, 2, 5), (0, 1, 2, 6, 9), (0, 2, 4, 7, 10))

Sets = npt.NDArray[np.bool_]


def as_bits(sets: Sets) -> npt.NDArray[np.int16]:
    """Return sets of actions, bool (..., 15), as numbers, int16 (...): bit i for action i."""
    numbers: npt.NDArray[np.int16] = (sets @ (1 << np.arange(ACTIONS))).astype(np.int16)
    return numbers


def as_sets(numbers: npt.NDArray[np.integer]) -> Sets:
    """Return what `as_bits` made numbers of."""
    sets: Sets = (numbers.astype(np.int64)[..., None] >> np.arange(ACTIONS)) & 1 > 0
    return sets


class DesignError(UserError):
    """A design that is not what it should be."""


def base_design() -> Sets:
    """Return the BIBD, bool (42, 15): row r says which actions run r denies."""
    design = np.zeros((len(_BASE) * _MODULUS, ACTIONS), np.bool_)
    for block, points in enumerate(_BASE):
        for step in range(_MODULUS):
            denied = [point if point == _MODULUS else (point + step) % _MODULUS for point in points]
            design[block * _MODULUS + step, denied] = True
    check_balance(design)
    return design


def relabelled(copies: int, seed: int) -> Sets:
    """Return so many copies of the base design, bool (42 copies, 15), all but the first with the actions relabelled.

    Args:
        copies: how many, at least 1.
        seed: of the labels.
    """
    if copies < 1:
        raise DesignError(f"copies: found {copies}, expected at least 1")
    base, generator = base_design(), np.random.default_rng(seed)
    labels = [np.arange(ACTIONS), *(generator.permutation(ACTIONS) for _ in range(copies - 1))]
    design = np.concatenate([base[:, label] for label in labels])
    check_balance(design)
    return design


def check_balance(design: Sets) -> None:
    """Check that runs deny five actions each, every action equally often, and every pair of them equally often.

    Raises:
        DesignError: naming what is out of balance.
    """
    copies, rest = divmod(len(design), len(_BASE) * _MODULUS)
    if rest or not copies or design.shape[1:] != (ACTIONS,):
        raise DesignError(f"design: found shape {design.shape}, expected whole copies of 42 runs of {ACTIONS} actions")
    sizes = design.sum(axis=1)
    if (sizes != _DENIED).any():
        run = int(np.flatnonzero(sizes != _DENIED)[0])
        raise DesignError(f"run {run}: found {sizes[run]} actions denied, expected {_DENIED}")
    together = design.T.astype(np.int64) @ design.astype(np.int64)
    expected = np.full((ACTIONS, ACTIONS), copies * _TOGETHER)
    np.fill_diagonal(expected, copies * _TIMES)
    if (together != expected).any():
        one, two = (int(i) for i in np.argwhere(together != expected)[0])
        raise DesignError(
            f"actions {one} and {two}: found {together[one, two]} runs that deny both, expected {expected[one, two]}"
        )


def pairs_identified(design: Sets) -> bool:
    """Whether effects of all single actions and all pairs can be told apart by the runs."""
    one, two = np.triu_indices(ACTIONS, 1)
    single = design.astype(np.float64)
    columns = np.concatenate([single, single[:, one] * single[:, two]], axis=1)
    # Every run denies five: a constant and the single actions are sums of pairs, so pairs determine everything.
    return int(np.linalg.matrix_rank(columns)) == len(one)


def random_sets(
    count: int, low: int, high: int, generator: np.random.Generator, ids: tuple[int, ...] = tuple(range(ACTIONS))
) -> Sets:
    """Return sets of some of the `ids`, bool (count, 15): sizes uniform from `low` to `high`, then sets of a size."""
    if not 0 <= low <= high <= len(ids):
        raise DesignError(f"sizes: found {low} to {high}, expected 0 <= low <= high <= {len(ids)}")
    sizes = generator.integers(low, high + 1, count)
    ranks = generator.random((count, len(ids))).argsort(axis=1).argsort(axis=1)
    sets = np.zeros((count, ACTIONS), np.bool_)
    sets[:, list(ids)] = ranks < sizes[:, None]
    return sets


@dataclass(frozen=True)
class Screen:
    """Every seat is denied a set of actions of its own: who has what is independent of who plays well.

    Attributes:
        copies: of the base design, all but the first with the actions relabelled.
        loose: part of the blocks in which sets of any size are drawn instead; they tell absolute values.
        sizes: of those sets, (low, high).
    """

    copies: int = 8
    loose: float = 0.2
    sizes: tuple[int, int] = (0, 10)

    def __post_init__(self) -> None:
        """Check the values."""
        Entry(self.copies, DesignError, "copies").integer(1, _MOST_COPIES)
        Entry(self.loose, DesignError, "loose").number(0, 1, expected="a part of the blocks, 0 to 1")
        object.__setattr__(self, "sizes", _sizes(self.sizes, "sizes"))

    def sets(self, seed: int, blocks: npt.NDArray[np.int64], places: int) -> Sets:
        """Return what each place of the line-up may not use in some blocks, bool (B, places, 15).

        Every place goes through all runs of the design in an order of its own, again and again in new orders; a block
        whose sets are drawn instead leaves out the run that would have been its own. It depends on seed and number of
        the block alone.
        """
        design = relabelled(self.copies, seed)
        found = np.zeros((len(blocks), places, ACTIONS), np.bool_)
        for i, block in enumerate(blocks.tolist()):
            generator = np.random.default_rng([seed, 1, block])
            if generator.random() < self.loose:
                found[i] = random_sets(places, *self.sizes, generator)
                continue
            turn, run = divmod(block, len(design))
            for place in range(places):
                found[i, place] = design[_order(seed, place, turn, len(design))[run]]
        return found


@lru_cache(maxsize=64)
def _order(seed: int, place: int, turn: int, runs: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng([seed, 2, place, turn]).permutation(runs)


@dataclass(frozen=True)
class Boards:
    """Every block has an action board of its own: a set of actions covered for all, and one denied to each seat.

    What a seat is denied stays with the seat, so in the games of a block everybody has it once.

    Attributes:
        covered: how many are covered, (low, high), each number equally likely; so are the sets of a size.
        denied: how many are denied to each seat, likewise.
    """

    covered: tuple[int, int] = (0, 0)
    denied: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("covered", "denied"):
            object.__setattr__(self, name, _sizes(getattr(self, name), name))

    def sets(
        self, seed: int, blocks: npt.NDArray[np.int64], seats: int, ids: tuple[int, ...] = tuple(range(ACTIONS))
    ) -> tuple[Sets, Sets]:
        """Return what is covered in some blocks, bool (B, 15), and denied to each seat, bool (B, seats, 15).

        It depends on seed and number of the block alone. `ids`: what can be denied in the game.
        """
        covered = np.zeros((len(blocks), ACTIONS), np.bool_)
        denied = np.zeros((len(blocks), seats, ACTIONS), np.bool_)
        for i, block in enumerate(blocks.tolist()):
            generator = np.random.default_rng([seed, 3, block])
            covered[i] = random_sets(1, *self.covered, generator, ids)[0]
            denied[i] = random_sets(seats, *self.denied, generator, ids)
        return covered, denied


@dataclass(frozen=True)
class Cover:
    """In every block a set of actions is covered for all: all sets of a size in turn.

    Attributes:
        size: actions that are covered; sets are counted in lexicographic order.
        only: numbers of sets, if not all of them are to be played.
    """

    size: int = 5
    only: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        Entry(self.size, DesignError, "size").integer(0, ACTIONS)
        numbers = Entry(self.only, DesignError, "only").entries("numbers of sets")
        object.__setattr__(self, "only", tuple(one.integer(0, comb(ACTIONS, self.size) - 1) for one in numbers))

    def sets(self, blocks: npt.NDArray[np.int64]) -> Sets:
        """Return what is covered in some blocks, bool (B, 15)."""
        every = subsets(self.size)
        chosen = every[list(self.only)] if self.only else every
        sets: Sets = chosen[blocks % len(chosen)]
        return sets


@dataclass(frozen=True)
class Handicap:
    """Every place of the line-up is denied the same actions in all blocks, in whatever seat it sits.

    Attributes:
        denied: for each place, ids or names of actions.
    """

    denied: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Check the values."""
        places = Entry(self.denied, DesignError, "denied").entries("lists of actions, one for each seat")
        denied = tuple(tuple(_action(name) for name in place.entries("actions")) for place in places)
        object.__setattr__(self, "denied", denied)

    def sets(self, blocks: npt.NDArray[np.int64], places: int) -> Sets:
        """Return what each place of the line-up may not use in some blocks, bool (B, places, 15)."""
        if len(self.denied) != places:
            raise DesignError(f"denied: found {len(self.denied)} sets of actions, expected {places}, one for each seat")
        found = np.zeros((len(blocks), places, ACTIONS), np.bool_)
        for place, actions in enumerate(self.denied):
            found[:, place, list(actions)] = True
        return found


DESIGNS: Mapping[str, Any] = {"boards": Boards, "screen": Screen, "cover": Cover, "handicap": Handicap}
"""What a table may deny or cover from block to block, by the key that says so in a file."""


def read_designs(data: Entry, config: Any) -> dict[str, Any]:
    """Return what a table denies or covers from block to block, by key.

    Args:
        data: the table, with the keys of `DESIGNS` among others.
        config: its game. All designs but `Boards` are of an action board of fifteen, which can be covered.

    Raises:
        ValueError: of the entry's own kind, for designs that are none, or do not go with the game or each other.
    """
    spec = spec_of(config)
    whole = len(spec.deniable) == ACTIONS and "covered" in spec.setup
    found = {}
    for key, design in DESIGNS.items():
        if data[key].given:
            if not whole and design is not Boards:
                expected = f"no such key: the game {spec.name} has no board of {ACTIONS} actions"
                data[key].fail(expected, "boards, with what is denied, is for any game")
            found[key] = data[key].build(design)
    for one, other in combinations(found, 2):
        if {one, other} not in ({"cover", "screen"}, {"cover", "handicap"}):
            data.fail("one of them: both say which actions may not be used", found=str([one, other]))
    if "boards" in found:
        most = {"covered": len(spec.deniable) if "covered" in spec.setup else 0, "denied": len(spec.deniable)}
        for key, count in most.items():
            if getattr(found["boards"], key)[1] > count:
                data["boards"][key].fail(f"at most {count} in the game {spec.name}")
    if "handicap" in found and len(found["handicap"].denied) != config.num_players:
        data["handicap"]["denied"].fail(f"{config.num_players} lists, one for each seat")
    return found


def _action(data: Entry) -> int:
    names = tuple(usual_spec().deniable.values())
    if isinstance(data.value, str):
        return names.index(data.choice(names, f"an id from 0 to {ACTIONS - 1} or "))
    return data.integer(0, ACTIONS - 1, f"an id from 0 to {ACTIONS - 1} or a name such as {names[0]!r}")


def _sizes(value: Any, name: str) -> tuple[int, int]:
    """Return the least and the largest number of actions."""
    what = f"how many actions, [from, to], 0 to {ACTIONS}"
    data = Entry(value, DesignError, name)
    if not isinstance(value, list | tuple) or len(value) != 2:
        data.fail(what)
    low, high = (size.integer(0, ACTIONS) for size in data.entries(what))
    if low > high:
        data.fail(what)
    return low, high


@lru_cache(maxsize=16)
def subsets(size: int) -> Sets:
    """All sets of so many actions in lexicographic order, bool (n, 15)."""
    found = np.zeros((comb(ACTIONS, size), ACTIONS), np.bool_)
    for row, actions in enumerate(combinations(range(ACTIONS), size)):
        found[row, list(actions)] = True
    return found
