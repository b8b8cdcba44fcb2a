"""What the golden data of Copenhagen say, computed anew; see `tests.support.golden`.

Perft files state their position and depth themselves. A playthrough is one game, decision by decision; the signature is
taken over some thousand games that the batch kernels play.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import loops
from helsinki_env.games.copenhagen import notation
from helsinki_env.games.copenhagen.actions import KIND_OF, KINDS
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import COPENHAGEN, CopenhagenGame, apply_setup
from helsinki_env.games.copenhagen.observation import OBSERVATION_SIZE as FEATURES
from helsinki_env.games.copenhagen.state import new_states
from tests.oracles.copenhagen import GOLDEN, MASK64, mix
from tests.support.golden import chosen_of, digest_batch, digest_of, perft_anew, short, signature_text

Position = dict[str, Any]

FOLDER = Path(__file__).resolve().parent
PERFT = FOLDER / "perft"
PLAYTHROUGHS = FOLDER / "playthroughs"
SIGNATURE = FOLDER / "signature.json"
NAMES = {"two_players": 2, "three_players": 3, "four_players": 4}
"""The playthroughs, with the number of players, which is also the seed."""


def playthrough(name: str) -> str:
    """Return a game as text: each decision with what was legal, what was seen, and what it changed."""
    game = CopenhagenGame(CopenhagenConfig(NAMES[name]), seed=NAMES[name])
    before, number, word = game.to_dict(), 0, 1
    lines = [f"# {name}", f"# first: {json.dumps(before['chance'])}, display {before['display']}"]
    while not game.done:
        number, word = number + 1, (word + GOLDEN) & MASK64
        mask, seen = game.action_mask(), game.observation()
        action = int(_pick(mask[None], np.array([mix(word)], np.uint64))[0])
        where = f"round {game.round}  seat {game.seat}  {game.phase}"
        lines.append(f"{number:4}  {where:27}{notation.action_to_string(action)}")
        game.step(action)
        after = game.to_dict()
        scores = " ".join(str(score) for score in game.scores())
        lines.append(f"      legal {int(mask.sum())} {short(mask)}  seen {short(seen)}  scores {scores}")
        lines += [f"      {change}" for change in _changes(before, after)]
        before = after
    lines.append(f"# places {game.ranks().tolist()}, position {digest_of([json.dumps(before).encode()])[:16]}")
    return "\n".join(lines) + "\n"


def _changes(before: Position, after: Position) -> Iterator[str]:
    for key, old in before.items():
        if key == "seats":
            for number, (was, now) in enumerate(zip(old, after[key], strict=True)):
                yield from (f"seat {number} {change}" for change in _changes(was, now))
        elif old != after[key]:
            pile = key == "draw_pile"
            told = (
                f"{len(cards)} cards, next {cards[:1]}" if pile else json.dumps(cards) for cards in (old, after[key])
            )
            yield f"{key}: {' to '.join(told)}"


def _pick(masks: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Three times of four a build or an ability where there is one; for a game that is over it does not matter."""
    rows, legal = np.nonzero(masks)
    liked = np.isin(KIND_OF[legal], [KINDS.index(kind) for kind in ("BUILD", "USE")])
    every, few = (chosen_of(rows[pick], legal[pick], words) for pick in (np.ones_like(liked), liked))
    some_liked = np.bincount(rows[liked], minlength=len(masks)) > 0
    return np.where(some_liked & (words % np.uint64(4) != 0), few, every)


GROUPS: dict[str, tuple[int, CopenhagenConfig]] = {
    "two players": (1000, CopenhagenConfig(2)),
    "three players": (500, CopenhagenConfig(3)),
    "three players, denied abilities": (500, CopenhagenConfig(3, denied=[[1, 4], [], [2, 3]])),
    "four players": (1000, CopenhagenConfig(4)),
}
"""Number of games, and what is played."""

FIRST = 2
"""So many games of each group have a digest of their own, for runs without the compiler."""


def signature(games: int | None = None) -> dict[str, Any]:
    """Play the fixed games with the batch kernels; `games`: only so many of each group."""
    groups = {name: _play_group(min(count, games or count), config) for name, (count, config) in GROUPS.items()}
    return {
        "environment": f"{COPENHAGEN.name}_v{COPENHAGEN.version}",
        "games": sum(group["games"] for group in groups.values()),
        "digest": digest_of(group["digest"].encode() for group in groups.values()),
        "groups": groups,
    }


def _play_group(games: int, config: CopenhagenConfig) -> dict[str, Any]:
    tables, states = config.tables[0], new_states(games)
    apply_setup(states, config)
    numbers = np.arange(games, dtype=np.uint64)
    loops.batch_deal(tables, states, np.full(games, 7, np.uint64), numbers, np.zeros(games, np.uint64))
    masks, seen = np.zeros((games, len(KIND_OF)), np.int8), np.zeros((games, FEATURES), np.int8)
    loops.batch_mask(tables, states, masks)
    words, digest, first = numbers << np.uint64(32), hashlib.sha256(), hashlib.sha256()
    kinds, turns = np.zeros(len(KINDS), np.int64), 0
    while masks.any():
        if turns % 16 == 0:
            digest_batch(digest, tables, states, masks, seen)
            if masks[:FIRST].any():
                digest_batch(first, tables, states[:FIRST], masks[:FIRST], seen[:FIRST])
        words += np.uint64(GOLDEN)
        actions = _pick(masks, np.array([mix(int(word)) for word in words], np.uint64))
        kinds += np.bincount(KIND_OF[actions[states["done"] == 0]], minlength=len(KINDS))
        turns += 1
        assert loops.batch_step(tables, states, actions, masks) == -1
    digest_batch(digest, tables, states, masks, seen)
    digest_batch(first, tables, states[:FIRST], masks[:FIRST], seen[:FIRST])
    scores, places = np.zeros((2, games, 4), np.int64)
    loops.batch_scores(tables, states, scores, places)
    digest.update(scores.tobytes() + places.tobytes())
    return {
        "games": games,
        "decisions": int(kinds.sum()),
        "digest": digest.hexdigest()[:32],
        f"digest of the first {FIRST}": first.hexdigest()[:32],
        "points": int(scores.sum()),
        "shared wins": int(((places[:, : config.num_players] == 0).sum(axis=1) > 1).sum()),
        "kinds": dict(zip(KINDS, kinds.tolist(), strict=True)),
    }


def golden_files() -> Iterator[tuple[Path, Callable[[], str]]]:
    """Every golden file, and what makes its text."""
    for path in sorted(PERFT.glob("*.json")):
        yield path, partial(perft_anew, path, "copenhagen")
    for name in NAMES:
        yield PLAYTHROUGHS / f"{name}.txt", partial(playthrough, name)
    yield SIGNATURE, lambda: signature_text(signature())
