"""Balanced experimental designs that disable actions for single seats or all seats.

A design is a list of runs. Each run is a set of actions that one seat may not use. The base is the balanced incomplete
block design BIBD(15, 42, 14, 5, 4): 42 sets of five actions, in which every action occurs 14 times and every pair of
actions 4 times. It is developed from three base blocks modulo 14 (Colbourn and Dinitz 2007, "Handbook of Combinatorial
Designs", chapter II.1). Copies with permuted action labels preserve the balance and separate pairs of actions that a
single copy confounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node, UserError
from helsinki_env.engine.spec import default_spec, spec_of

MAX_DENIABLE_IDS = 15
"""Number of board actions that designs can disable, with ids from 0."""
MIN_SCREENING_DEALS = 150
"""Minimum number of deals of a screening experiment. With fewer deals, the 95% intervals are too narrow. With four
players, all fifteen intervals cover the truth in 108 of 200 simulated experiments with 12 deals, in 174 with 40 deals,
and in 186 with 150 deals. With two players they do so in 108 with 24 deals and in 183 with 150 deals."""
_MODULUS = 14
_MAX_COPIES = 1000
#: Base blocks. Points 0 to 13 are developed modulo 14, and point 14 (infinity) is fixed.
_BASE = ((14, 0, 1, 2, 5), (0, 1, 2, 6, 9), (0, 2, 4, 7, 10))

Sets = npt.NDArray[np.bool_]


def encode_action_sets(sets: Sets) -> npt.NDArray[np.int16]:
    """Encode sets of actions, bool (..., 15), as bit sets, int16 (...), with bit i for action i."""
    bits: npt.NDArray[np.int16] = (sets @ (1 << np.arange(MAX_DENIABLE_IDS))).astype(np.int16)
    return bits


def decode_action_sets(bits: npt.NDArray[np.integer]) -> Sets:
    """Decode bit sets from `encode_action_sets`."""
    sets: Sets = (bits.astype(np.int64)[..., None] >> np.arange(MAX_DENIABLE_IDS)) & 1 > 0
    return sets


def decode_setup(covered: int, denied: Sequence[int]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Decode bit sets into action ids: those disabled for all seats, and those disabled for each seat."""
    for_all, *by_seat = (
        tuple(np.flatnonzero(ids).tolist()) for ids in decode_action_sets(np.array([covered, *denied]))
    )
    return for_all, tuple(by_seat)


def with_disabled(config: Any, covered: int, denied: Sequence[int]) -> Any:
    """Return a configuration with other disabled actions, given as bit sets for all seats and for each seat."""
    changes = dict(zip(("covered", "denied"), decode_setup(covered, denied), strict=True))
    return config.replace(**{key: ids for key, ids in changes.items() if key in spec_of(config).setup_fields})


class DesignError(UserError):
    """Invalid design."""


def base_design() -> Sets:
    """Return the BIBD as bool (42, 15). Row r is the set of actions that run r disables."""
    design = np.zeros((len(_BASE) * _MODULUS, MAX_DENIABLE_IDS), np.bool_)
    for block, points in enumerate(_BASE):
        for step in range(_MODULUS):
            denied = [point if point == _MODULUS else (point + step) % _MODULUS for point in points]
            design[block * _MODULUS + step, denied] = True
    return design


def relabeled(copies: int, seed: int) -> Sets:
    """Return copies of the base design, all but the first with permuted labels, bool (42 * copies, 15)."""
    if copies < 1:
        raise DesignError(f"copies: found {copies}, expected at least 1")
    base, generator = base_design(), np.random.default_rng(seed)
    labels = [np.arange(MAX_DENIABLE_IDS), *(generator.permutation(MAX_DENIABLE_IDS) for _ in range(copies - 1))]
    return np.concatenate([base[:, label] for label in labels])


def random_sets(
    count: int,
    low: int,
    high: int,
    generator: np.random.Generator,
    ids: tuple[int, ...] = tuple(range(MAX_DENIABLE_IDS)),
) -> Sets:
    """Return random subsets of `ids`, bool (count, 15). Their sizes are uniform from `low` to `high`."""
    if not 0 <= low <= high <= len(ids):
        raise DesignError(f"sizes: found {low} to {high}, expected 0 <= low <= high <= {len(ids)}")
    sizes = generator.integers(low, high + 1, count)
    ranks = generator.random((count, len(ids))).argsort(axis=1).argsort(axis=1)
    sets = np.zeros((count, MAX_DENIABLE_IDS), np.bool_)
    sets[:, list(ids)] = ranks < sizes[:, None]
    return sets


@dataclass(frozen=True)
class ScreeningDesign:
    """A design that denies each line-up position its own set of actions, which varies from block to block."""

    copies: int = 8  # copies of the base design, all but the first with permuted action labels
    loose: float = 0.2  # fraction of blocks with sets of random size, which make absolute effects identifiable
    sizes: tuple[int, int] = (0, 10)  # range of the random sizes, (low, high)

    def __post_init__(self) -> None:
        """Validate the values."""
        Node(self.copies, DesignError, "copies").integer(1, _MAX_COPIES)
        Node(self.loose, DesignError, "loose").number(0, 1, expected="a fraction of the blocks, 0 to 1")
        object.__setattr__(self, "sizes", _sizes(self.sizes, "sizes"))

    def action_sets(self, seed: int, blocks: npt.NDArray[np.int64], positions: int) -> Sets:
        """Return the actions denied to each line-up position in B blocks, bool (B, positions, 15).

        Each position goes through the design in a random order, which differs between positions and passes. A block
        with sets of random size skips its run.
        """
        design = relabeled(self.copies, seed)
        sets = np.zeros((len(blocks), positions, MAX_DENIABLE_IDS), np.bool_)
        for i, block in enumerate(blocks.tolist()):
            generator = np.random.default_rng([seed, 1, block])
            if generator.random() < self.loose:
                sets[i] = random_sets(positions, *self.sizes, generator)
                continue
            cycle, run = divmod(block, len(design))
            for position in range(positions):
                sets[i, position] = design[_order(seed, position, cycle, len(design))[run]]
        return sets


@lru_cache(maxsize=64)
def _order(seed: int, position: int, cycle: int, runs: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng([seed, 2, position, cycle]).permutation(runs)


@dataclass(frozen=True)
class RandomBoards:
    """A design that, in each block, covers a random set for all seats and denies a random set to each seat."""

    covered: tuple[int, int] = (0, 0)  # number of covered actions, (low, high)
    denied: tuple[int, int] = (0, 0)  # number of actions denied to each seat, (low, high)

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
        """Return the covered actions, bool (B, 15), and the denied actions, bool (B, seats, 15), in B blocks."""
        covered = np.zeros((len(blocks), MAX_DENIABLE_IDS), np.bool_)
        denied = np.zeros((len(blocks), seats, MAX_DENIABLE_IDS), np.bool_)
        for i, block in enumerate(blocks.tolist()):
            generator = np.random.default_rng([seed, 3, block])
            covered[i] = random_sets(1, *self.covered, generator, ids)[0]
            denied[i] = random_sets(seats, *self.denied, generator, ids)
        return covered, denied


@dataclass(frozen=True)
class CoverDesign:
    """A design that covers a set of actions for all seats in each block, cycling through all sets of one size."""

    size: int = 5  # number of covered actions
    only: tuple[int, ...] = ()  # lexicographic indices of the sets to play; all sets if empty

    def __post_init__(self) -> None:
        """Validate the values."""
        Node(self.size, DesignError, "size").integer(0, MAX_DENIABLE_IDS)
        numbers = Node(self.only, DesignError, "only").entries("numbers of sets")
        last = comb(MAX_DENIABLE_IDS, self.size) - 1
        object.__setattr__(self, "only", tuple(number.integer(0, last) for number in numbers))

    def action_sets(self, blocks: npt.NDArray[np.int64]) -> Sets:
        """Return the actions covered in B blocks, bool (B, 15)."""
        sets = subsets(self.size)
        if self.only:
            sets = sets[list(self.only)]
        covered: Sets = sets[blocks % len(sets)]
        return covered


@dataclass(frozen=True)
class HandicapDesign:
    """A design that denies each line-up position the same actions in all blocks and in every seat."""

    denied: tuple[tuple[int, ...], ...]  # ids or names of actions for each position

    def __post_init__(self) -> None:
        """Validate the values."""
        lists = Node(self.denied, DesignError, "denied").entries("lists of actions, one for each seat")
        denied = tuple(tuple(_action(name) for name in names.entries("actions")) for names in lists)
        object.__setattr__(self, "denied", denied)

    def action_sets(self, blocks: npt.NDArray[np.int64], positions: int) -> Sets:
        """Return the actions denied to each line-up position in B blocks, bool (B, positions, 15)."""
        if len(self.denied) != positions:
            found = [list(actions) for actions in self.denied]
            raise DesignError(f"denied: found {found}, expected {positions} lists, one for each seat")
        sets = np.zeros((len(blocks), positions, MAX_DENIABLE_IDS), np.bool_)
        for position, actions in enumerate(self.denied):
            sets[:, position, list(actions)] = True
        return sets


DESIGNS: Mapping[str, Any] = {
    "boards": RandomBoards,
    "screening": ScreeningDesign,
    "cover": CoverDesign,
    "handicap": HandicapDesign,
}
"""The designs of a matchup, by their keys in a tournament file."""


def read_designs(data: Node, config: Any) -> dict[str, Any]:
    """Return the designs of a matchup by key. All except `RandomBoards` require an action board with 15 actions."""
    spec = spec_of(config)
    has_board = len(spec.deniable) == MAX_DENIABLE_IDS and "covered" in spec.setup_fields
    designs = {}
    for key, design in DESIGNS.items():
        if data[key].is_present:
            if not has_board and design is not RandomBoards:
                expected = f"no {key}, because the game {spec.name} has no board of {MAX_DENIABLE_IDS} actions"
                data[key].fail(expected, "use boards with denied, which every game supports")
            designs[key] = data[key].build(design)
    for one, other in combinations(designs, 2):
        if {one, other} not in ({"cover", "screening"}, {"cover", "handicap"}):
            data.fail("one of them, because both disable actions", found=str([one, other]))
    if "boards" in designs:
        check_set_sizes(data["boards"], designs["boards"], config)
    if "handicap" in designs and len(designs["handicap"].denied) != config.num_players:
        data["handicap"]["denied"].fail(f"{config.num_players} lists, one for each seat")
    return designs


def check_set_sizes(data: Node, boards: RandomBoards, config: Any) -> None:
    """Raise the node's error if the sets of covered or denied actions can be larger than the game allows."""
    spec = spec_of(config)
    limits = {"covered": len(spec.deniable) if "covered" in spec.setup_fields else 0, "denied": len(spec.deniable)}
    for key, limit in limits.items():
        if getattr(boards, key)[1] > limit:
            data[key].fail(f"at most {limit} in the game {spec.name}")


def _action(data: Node) -> int:
    names = tuple(default_spec().deniable.values())
    expected = f"an id from 0 to {MAX_DENIABLE_IDS - 1} or "
    if isinstance(data.value, str):
        return names.index(data.choice(names, expected))
    return data.integer(0, MAX_DENIABLE_IDS - 1, f"{expected}a name such as {names[0]!r}")


def _sizes(value: Any, name: str) -> tuple[int, int]:
    """Return a range of set sizes, (low, high), after validating it."""
    expected = f"a range of sizes, [low, high], 0 to {MAX_DENIABLE_IDS}"
    data = Node(value, DesignError, name)
    if not isinstance(value, list | tuple) or len(value) != 2:
        data.fail(expected)
    low, high = (size.integer(0, MAX_DENIABLE_IDS) for size in data.entries(expected))
    if low > high:
        data.fail(expected)
    return low, high


@lru_cache(maxsize=16)
def subsets(size: int) -> Sets:
    """Return all sets of `size` actions in lexicographic order, bool (n, 15)."""
    sets = np.zeros((comb(MAX_DENIABLE_IDS, size), MAX_DENIABLE_IDS), np.bool_)
    for row, actions in enumerate(combinations(range(MAX_DENIABLE_IDS), size)):
        sets[row, list(actions)] = True
    return sets
