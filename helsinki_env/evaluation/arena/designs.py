"""Experimental designs that disable actions for seats: balanced, and checked on construction.

A design is a list of runs; a run is a set of actions that one seat may not use. The base is the balanced incomplete
block design BIBD(15, 42, 14, 5, 4). It has 42 sets of five of the fifteen actions; every action occurs in 14 sets and
every pair of actions in 4. It develops three base blocks modulo 14 (Colbourn and Dinitz 2007, "Handbook of
Combinatorial Designs", chapter II.1). Copies with permuted action labels preserve both balances, and separate pairs of
actions that a single copy confounds.
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

from helsinki_env.data import Node, UserError
from helsinki_env.engine.spec import default_spec, spec_of

__all__ = [
    "DESIGNS",
    "MAX_DENIABLE_IDS",
    "CoverDesign",
    "DesignError",
    "HandicapDesign",
    "RandomBoards",
    "ScreeningDesign",
    "base_design",
    "check_balance",
    "decode_action_sets",
    "encode_action_sets",
    "pairs_identified",
    "random_sets",
    "read_designs",
    "relabelled",
    "subsets",
]

MAX_DENIABLE_IDS = 15
"""Number of board actions that designs can disable, by id."""
_DENIED = 5
_TIMES = 14
_TOGETHER = 4
_MODULUS = 14
#: Maximum copies of the base design: more add no information.
_MOST_COPIES = 1000
#: Points 0 to 13 are developed; 14 is infinity, which is fixed.
_BASE = ((14, 0, 1, 2, 5), (0, 1, 2, 6, 9), (0, 2, 4, 7, 10))

Sets = npt.NDArray[np.bool_]


def encode_action_sets(sets: Sets) -> npt.NDArray[np.int16]:
    """Encode sets of actions, bool (..., 15), as bit sets, int16 (...): bit i for action i."""
    numbers: npt.NDArray[np.int16] = (sets @ (1 << np.arange(MAX_DENIABLE_IDS))).astype(np.int16)
    return numbers


def decode_action_sets(numbers: npt.NDArray[np.integer]) -> Sets:
    """Decode bit sets of `encode_action_sets`."""
    sets: Sets = (numbers.astype(np.int64)[..., None] >> np.arange(MAX_DENIABLE_IDS)) & 1 > 0
    return sets


class DesignError(UserError):
    """A design that is not balanced or not valid."""


def base_design() -> Sets:
    """Return the BIBD, bool (42, 15): row r is the set of actions that run r disables."""
    design = np.zeros((len(_BASE) * _MODULUS, MAX_DENIABLE_IDS), np.bool_)
    for block, points in enumerate(_BASE):
        for step in range(_MODULUS):
            denied = [point if point == _MODULUS else (point + step) % _MODULUS for point in points]
            design[block * _MODULUS + step, denied] = True
    check_balance(design)
    return design


def relabelled(copies: int, seed: int) -> Sets:
    """Return copies of the base design, bool (42 copies, 15), all but the first with permuted action labels.

    Args:
        copies: number of copies, at least 1.
        seed: seed of the permutations.
    """
    if copies < 1:
        raise DesignError(f"copies: found {copies}, expected at least 1")
    base, generator = base_design(), np.random.default_rng(seed)
    labels = [np.arange(MAX_DENIABLE_IDS), *(generator.permutation(MAX_DENIABLE_IDS) for _ in range(copies - 1))]
    design = np.concatenate([base[:, label] for label in labels])
    check_balance(design)
    return design


def check_balance(design: Sets) -> None:
    """Check that each run disables five actions, and that actions and pairs of actions occur equally often.

    Raises:
        DesignError: names what is out of balance.
    """
    copies, rest = divmod(len(design), len(_BASE) * _MODULUS)
    if rest or not copies or design.shape[1:] != (MAX_DENIABLE_IDS,):
        raise DesignError(
            f"design: found shape {design.shape}, expected whole copies of 42 runs of {MAX_DENIABLE_IDS} actions"
        )
    sizes = design.sum(axis=1)
    if (sizes != _DENIED).any():
        run = int(np.flatnonzero(sizes != _DENIED)[0])
        raise DesignError(f"run {run}: found {sizes[run]} actions denied, expected {_DENIED}")
    together = design.T.astype(np.int64) @ design.astype(np.int64)
    expected = np.full((MAX_DENIABLE_IDS, MAX_DENIABLE_IDS), copies * _TOGETHER)
    np.fill_diagonal(expected, copies * _TIMES)
    if (together != expected).any():
        one, two = (int(i) for i in np.argwhere(together != expected)[0])
        raise DesignError(
            f"actions {one} and {two}: found {together[one, two]} runs that deny both, expected {expected[one, two]}"
        )


def pairs_identified(design: Sets) -> bool:
    """Return whether the runs identify the effects of all single actions and all pairs."""
    one, two = np.triu_indices(MAX_DENIABLE_IDS, 1)
    single = design.astype(np.float64)
    columns = np.concatenate([single, single[:, one] * single[:, two]], axis=1)
    # Every run disables five: a constant and the single actions are sums of pairs, so pairs determine everything.
    return int(np.linalg.matrix_rank(columns)) == len(one)


def random_sets(
    count: int,
    low: int,
    high: int,
    generator: np.random.Generator,
    ids: tuple[int, ...] = tuple(range(MAX_DENIABLE_IDS)),
) -> Sets:
    """Return random subsets of the `ids`, bool (count, 15): uniform size from `low` to `high`, then uniform subset."""
    if not 0 <= low <= high <= len(ids):
        raise DesignError(f"sizes: found {low} to {high}, expected 0 <= low <= high <= {len(ids)}")
    sizes = generator.integers(low, high + 1, count)
    ranks = generator.random((count, len(ids))).argsort(axis=1).argsort(axis=1)
    sets = np.zeros((count, MAX_DENIABLE_IDS), np.bool_)
    sets[:, list(ids)] = ranks < sizes[:, None]
    return sets


@dataclass(frozen=True)
class ScreeningDesign:
    """Disable a different set of actions for each seat, independently of the players' strength.

    Attributes:
        copies: copies of the base design, all but the first with permuted action labels.
        loose: fraction of the blocks that draw sets of random size instead; they identify absolute values.
        sizes: range of the random sizes, (low, high).
    """

    copies: int = 8
    loose: float = 0.2
    sizes: tuple[int, int] = (0, 10)

    def __post_init__(self) -> None:
        """Validate the values."""
        Node(self.copies, DesignError, "copies").integer(1, _MOST_COPIES)
        Node(self.loose, DesignError, "loose").number(0, 1, expected="a part of the blocks, 0 to 1")
        object.__setattr__(self, "sizes", _sizes(self.sizes, "sizes"))

    def action_sets(self, seed: int, blocks: npt.NDArray[np.int64], places: int) -> Sets:
        """Return the actions disabled for each line-up position in some blocks, bool (B, places, 15).

        Each position runs through the design in its own random order, with a new order for each pass. A block with
        randomly drawn sets skips its run. The result depends only on the seed and the block number.
        """
        design = relabelled(self.copies, seed)
        found = np.zeros((len(blocks), places, MAX_DENIABLE_IDS), np.bool_)
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
class RandomBoards:
    """Draw a random action board for each block: one set covered for all, and one denied to each seat.

    Denied actions stay with the seat, so each player has them once within a block.

    Attributes:
        covered: number of covered actions, (low, high); sizes, and sets of a size, are equally likely.
        denied: number of actions denied to each seat, in the same form.
    """

    covered: tuple[int, int] = (0, 0)
    denied: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Validate the values."""
        for name in ("covered", "denied"):
            object.__setattr__(self, name, _sizes(getattr(self, name), name))

    def action_sets(
        self,
        seed: int,
        blocks: npt.NDArray[np.int64],
        seats: int,
        ids: tuple[int, ...] = tuple(range(MAX_DENIABLE_IDS)),
    ) -> tuple[Sets, Sets]:
        """Return the actions covered in some blocks, bool (B, 15), and denied to each seat, bool (B, seats, 15).

        The result depends only on the seed and the block number. `ids`: actions that the game can disable.
        """
        covered = np.zeros((len(blocks), MAX_DENIABLE_IDS), np.bool_)
        denied = np.zeros((len(blocks), seats, MAX_DENIABLE_IDS), np.bool_)
        for i, block in enumerate(blocks.tolist()):
            generator = np.random.default_rng([seed, 3, block])
            covered[i] = random_sets(1, *self.covered, generator, ids)[0]
            denied[i] = random_sets(seats, *self.denied, generator, ids)
        return covered, denied


@dataclass(frozen=True)
class CoverDesign:
    """Cover a set of actions for all seats in each block, cycling through all sets of a size.

    Attributes:
        size: number of covered actions; sets are numbered in lexicographic order.
        only: numbers of the sets to play; default: all.
    """

    size: int = 5
    only: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Validate the values."""
        Node(self.size, DesignError, "size").integer(0, MAX_DENIABLE_IDS)
        numbers = Node(self.only, DesignError, "only").entries("numbers of sets")
        object.__setattr__(
            self, "only", tuple(one.integer(0, comb(MAX_DENIABLE_IDS, self.size) - 1) for one in numbers)
        )

    def action_sets(self, blocks: npt.NDArray[np.int64]) -> Sets:
        """Return the actions covered in some blocks, bool (B, 15)."""
        every = subsets(self.size)
        chosen = every[list(self.only)] if self.only else every
        sets: Sets = chosen[blocks % len(chosen)]
        return sets


@dataclass(frozen=True)
class HandicapDesign:
    """Deny each line-up position the same actions in all blocks, independent of its seat.

    Attributes:
        denied: for each position, ids or names of actions.
    """

    denied: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Validate the values."""
        places = Node(self.denied, DesignError, "denied").entries("lists of actions, one for each seat")
        denied = tuple(tuple(_action(name) for name in place.entries("actions")) for place in places)
        object.__setattr__(self, "denied", denied)

    def action_sets(self, blocks: npt.NDArray[np.int64], places: int) -> Sets:
        """Return the actions denied to each line-up position in some blocks, bool (B, places, 15)."""
        if len(self.denied) != places:
            raise DesignError(f"denied: found {len(self.denied)} sets of actions, expected {places}, one for each seat")
        found = np.zeros((len(blocks), places, MAX_DENIABLE_IDS), np.bool_)
        for place, actions in enumerate(self.denied):
            found[:, place, list(actions)] = True
        return found


DESIGNS: Mapping[str, Any] = {
    "boards": RandomBoards,
    "screen": ScreeningDesign,
    "cover": CoverDesign,
    "handicap": HandicapDesign,
}
"""The designs of a matchup, by their keys in a file."""


def read_designs(data: Node, config: Any) -> dict[str, Any]:
    """Return the designs of a matchup, by key.

    Args:
        data: the matchup, which may have other keys than those of `DESIGNS`.
        config: its game. All designs except `RandomBoards` require an action board of fifteen actions that can be
            covered.

    Raises:
        ValueError: of the entry's own kind, for designs that are invalid or incompatible with the game or each other.
    """
    spec = spec_of(config)
    whole = len(spec.deniable) == MAX_DENIABLE_IDS and "covered" in spec.setup_fields
    found = {}
    for key, design in DESIGNS.items():
        if data[key].is_present:
            if not whole and design is not RandomBoards:
                expected = f"no such key: the game {spec.name} has no board of {MAX_DENIABLE_IDS} actions"
                data[key].fail(expected, "boards, with what is denied, is for any game")
            found[key] = data[key].build(design)
    for one, other in combinations(found, 2):
        if {one, other} not in ({"cover", "screen"}, {"cover", "handicap"}):
            data.fail("one of them: both say which actions may not be used", found=str([one, other]))
    if "boards" in found:
        most = {"covered": len(spec.deniable) if "covered" in spec.setup_fields else 0, "denied": len(spec.deniable)}
        for key, count in most.items():
            if getattr(found["boards"], key)[1] > count:
                data["boards"][key].fail(f"at most {count} in the game {spec.name}")
    if "handicap" in found and len(found["handicap"].denied) != config.num_players:
        data["handicap"]["denied"].fail(f"{config.num_players} lists, one for each seat")
    return found


def _action(data: Node) -> int:
    names = tuple(default_spec().deniable.values())
    if isinstance(data.value, str):
        return names.index(data.choice(names, f"an id from 0 to {MAX_DENIABLE_IDS - 1} or "))
    return data.integer(
        0, MAX_DENIABLE_IDS - 1, f"an id from 0 to {MAX_DENIABLE_IDS - 1} or a name such as {names[0]!r}"
    )


def _sizes(value: Any, name: str) -> tuple[int, int]:
    """Return the smallest and the largest number of actions."""
    what = f"how many actions, [from, to], 0 to {MAX_DENIABLE_IDS}"
    data = Node(value, DesignError, name)
    if not isinstance(value, list | tuple) or len(value) != 2:
        data.fail(what)
    low, high = (size.integer(0, MAX_DENIABLE_IDS) for size in data.entries(what))
    if low > high:
        data.fail(what)
    return low, high


@lru_cache(maxsize=16)
def subsets(size: int) -> Sets:
    """Return all sets of `size` actions in lexicographic order, bool (n, 15)."""
    found = np.zeros((comb(MAX_DENIABLE_IDS, size), MAX_DENIABLE_IDS), np.bool_)
    for row, actions in enumerate(combinations(range(MAX_DENIABLE_IDS), size)):
        found[row, list(actions)] = True
    return found
