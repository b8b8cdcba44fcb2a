"""The actions of Helsinki's `greedy`, the baseline of all ratings, as a signature over fixed games.

Its actions must not change; otherwise ratings of different dates are not comparable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env import HelsinkiConfig
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.helsinki.actions import KIND_USE
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.game import action_table
from tests.support.golden import TESTS

SIGNATURE = TESTS / "greedy_signature.json"

GROUPS: dict[str, tuple[int, list[str], HelsinkiConfig]] = {
    "two players": (150, ["greedy", "greedy"], HelsinkiConfig()),
    "two players, Dry roads": (80, ["greedy", "greedy"], HelsinkiConfig(dry_roads=True)),
    "two players, alternative components": (60, ["greedy", "random"], HelsinkiConfig(components="alternative")),
    "two players, first game": (40, ["greedy", "greedy"], HelsinkiConfig(covered="first_game")),
    "three players, denied actions": (
        120,
        ["greedy", "greedy", "random"],
        HelsinkiConfig(num_players=3, denied=[[0, 1, 6, 10], [3, 9, 14], [2, 4, 5, 7, 12]]),
    ),
    "three players, covered actions": (
        60,
        ["greedy", "greedy", "greedy"],
        HelsinkiConfig(num_players=3, covered=[1, 4, 5, 6, 9, 14]),
    ),
    "four players, Dry roads, denied actions": (
        100,
        ["greedy", "random", "greedy", "greedy"],
        HelsinkiConfig(num_players=4, dry_roads=True, denied=[[1, 5, 6, 9, 14], [], [4, 7, 11, 12], [2, 8, 13]]),
    ),
    "four players, first game, Dry roads": (
        60,
        ["greedy", "random", "random", "greedy"],
        HelsinkiConfig(num_players=4, covered="first_game", dry_roads=True),
    ),
}
"""Number of games, who plays them, and settings."""


def signature() -> dict[str, Any]:
    """Play the fixed games; a digest of the decisions of each group, and how often each action was used."""
    groups = {}
    for name, (games, players, config) in GROUPS.items():
        results = play_match(players, config, games=games, seed=11)
        digest, use = hashlib.sha256(), int(action_table(config.component_set.types).offsets[KIND_USE])
        for decisions in results.decisions:
            digest.update(decisions.astype("<i2").tobytes() + b"|")
        every = np.concatenate(results.decisions)
        groups[name] = {
            "games": len(results),
            "decisions": len(every),
            "points": int(results.scores.sum()),
            "digest": digest.hexdigest()[:32],
            "used": {name: int((every == use + action).sum()) for action, name in enumerate(BOARD_ACTIONS)},
        }
    return {"games": sum(group["games"] for group in groups.values()), "groups": groups}


def signature_text(data: dict[str, Any]) -> str:
    """Return the file of the signature."""
    return json.dumps(data, indent=1) + "\n"


def golden_files() -> Iterator[tuple[Path, Callable[[], str]]]:
    """The golden file, and what makes its text."""
    yield SIGNATURE, lambda: signature_text(signature())
