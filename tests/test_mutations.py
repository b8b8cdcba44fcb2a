"""Positions that `from_dict` accepts play to the end, and it accepts every position on the way.

The short version runs with the other tests and looks at some of the positions on the way. The long one looks at every
one of them; it takes about an hour on two cores:

    python -m pytest -m nightly tests/test_mutations.py -s
"""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import pytest

from helsinki_env import HelsinkiGame
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.position import PositionError
from helsinki_env.games.helsinki.state import PHASES
from helsinki_env.utils.machine import cpu_count
from tests.oracles.helsinki import ReferenceGame
from tests.support import mutations
from tests.support.agreement import Pair
from tests.support.positions import Position
from tests.support.small import small_components
from tests.support.wide import wide_components

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

#: Far more actions than any known game has (about 280 with four players).
MOST_DECISIONS = 2_000
#: The most points that a board can bring, with all of them at the limits of a component file, and those made in play.
MOST_POINTS = 14 * 10 + 48 * 10 + 127


@cache
def starts(seed: int, games: int, components: tuple[str, ...]) -> list[Position]:
    return mutations.starts(seed, games, components)


def examine(number: int, positions: list[Position], seen: Counter[str], share: float) -> None:
    """Change a position; if it is accepted, play it to its end and look at this share of the positions on the way."""
    rng = random.Random(f"mutation {number}")
    position = mutations.mutated(rng, rng.choice(positions))
    seen["mutations"] += 1
    try:
        game = notation.from_dict(position)
    except PositionError:
        return
    seen["accepted"] += 1
    seen[f"accepted in {game.phase}"] += 1
    seen[f"accepted with {game.num_players} players"] += 1
    seen[f"accepted with {Path(game.config.components).stem}"] += 1
    seen["accepted in the last round"] += bool(game.state.last_round)
    style, decisions = rng.choice(mutations.STYLES), 0
    try:
        look(rng, game, seen)
        while not game.done:
            assert decisions < MOST_DECISIONS, "the game does not end"
            game.step(mutations.choose(rng, style, game))
            decisions += 1
            if game.done or rng.random() < share:
                look(rng, game, seen)
    except Exception as problem:
        text = f"mutation {number}, {decisions} decisions played as {style!r}: {type(problem).__name__}: {problem}"
        raise AssertionError(f"{text}\n{json.dumps(position)}") from problem
    seen["decisions"] += decisions
    seen["longest"] = max(seen["longest"], decisions)


def look(rng: random.Random, game: HelsinkiGame, seen: Counter[str]) -> None:
    """Read and continue the position; sometimes compare the reference and determinization."""
    position = notation.to_dict(game)
    seen["positions"] += 1
    assert notation.from_dict(position) == game
    assert game.done or game.legal_actions().size, "no decision is legal"
    game.spec.check(game.state.reshape(1), game.config)  # environments take it, too
    assert all(0 <= score <= MOST_POINTS for score in game.scores())
    if rng.random() < 0.03:
        seen["masks compared"] += 1
        assert ReferenceGame.from_dict(position).legal_actions() == game.legal_actions().tolist()
    if rng.random() < 0.003:
        seen["played side by side"] += 1
        Pair.at(position, Counter()).play(lambda _, legal: rng.choice(legal), most=5)
    if rng.random() < 0.01 and not game.done:
        seen["dealt anew"] += 1
        viewer = rng.randrange(game.num_players)
        copy = determinize(game, viewer, seed=rng.getrandbits(64))
        assert notation.from_dict(notation.to_dict(copy)) == copy
        assert copy.observation(viewer).tobytes() == game.observation(viewer).tobytes()


def run_batch(numbers: range, games: int, components: tuple[str, ...], share: float) -> Counter[str]:
    seen: Counter[str] = Counter()
    positions = starts(0, games, components)
    for number in numbers:
        examine(number, positions, seen, share)
    return seen


def table(seen: Counter[str]) -> str:
    return "\n".join(f"{count:>12,}  {name}" for name, count in sorted(seen.items()))


@pytest.mark.nightly
def test_what_is_accepted_plays_to_its_end_and_can_be_read_all_the_way() -> None:
    components, count = ("default", "alternative"), 1200
    seen = run_batch(range(count), games=20, components=components, share=0.03)
    assert seen["accepted"] >= count // 4, table(seen)
    for what in (*(f"in {phase}" for phase in PHASES), *(f"with {n} players" for n in (2, 3, 4)), "in the last round"):
        assert seen[f"accepted {what}"] >= 5, table(seen)
    for name in components:
        assert seen[f"accepted with {Path(name).stem}"] >= 30, table(seen)


@pytest.fixture
def components(tmp_path: Path) -> tuple[str, ...]:
    return "default", "alternative", small_components(tmp_path), wide_components(tmp_path)


@pytest.mark.nightly
@pytest.mark.timeout(12 * 3600)
def test_a_hundred_thousand_mutations(components: tuple[str, ...]) -> None:
    count, chunk = 100_000, 500
    started = time.monotonic()
    seen: Counter[str] = Counter()
    with ProcessPoolExecutor(cpu_count(), multiprocessing.get_context("spawn")) as pool:
        jobs = [
            pool.submit(run_batch, range(n, n + chunk), games=200, components=components, share=1.0)
            for n in range(0, count, chunk)
        ]
        longest = 0
        for i, job in enumerate(as_completed(jobs), start=1):
            found = job.result()
            longest = max(longest, found.pop("longest"))
            seen += found
            if i % 10 == 0:
                print(f"{i} of {len(jobs)} batches, {time.monotonic() - started:.0f} s", flush=True)
    seen["longest"] = longest
    print(f"\n{table(seen)}\n{time.monotonic() - started:.0f} s")
    assert seen["mutations"] == count
    assert seen["accepted"] >= count // 4
